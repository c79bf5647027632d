"""Options that many functions share, checked in one place."""

from __future__ import annotations

from credo.errors import OptionError


def checked_seed(seed: object) -> int:
    """A seed that random numbers can start from."""
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or int(seed.__index__()) < 0:
        raise OptionError(f"A seed is a whole number that is not negative; it is {seed!r}.")
    return int(seed.__index__())
