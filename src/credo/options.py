"""Options that many functions share, checked in one place."""

from __future__ import annotations

from math import inf
from pathlib import Path

from credo.errors import OptionError


def checked_seed(seed: object) -> int:
    """A seed that random numbers can start from."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or int(seed.__index__()) < 0:
        raise OptionError(f"A seed is a whole number that is not negative; it is {seed!r}.")
    return int(seed.__index__())


def checked_hidden_draws(draws: object) -> float:
    """The s of the imprecise Dirichlet model."""
    if isinstance(draws, bool) or not isinstance(draws, int | float) or not 0.0 < draws < inf:
        raise OptionError(
            f"hidden_draws (the s of the imprecise Dirichlet model) is a number above zero, not {draws!r}."
        )
    return float(draws)


def checked_page(path: str | Path) -> Path:
    """The place of a page that is to be written, or the error that writing would be."""
    target = Path(path)
    if target.is_dir():
        raise OptionError(f"{target} is a folder, not a file to write the report to.")
    if not target.parent.is_dir():
        raise OptionError(f"There is no folder {target.parent} to write the report to.")
    return target
