"""Options as typed values, and the checks that several functions share."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from math import inf, isfinite
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from credo.errors import OptionError, suggestion

P = ParamSpec("P")
R = TypeVar("R")
TRAINERS = ("em", "gradient")


class TieReading(Enum):
    """How rows that are tied together came about, which decides what is maximised.

    A member or its text can be given: `credo.EMOptions(tie_reading="joint")`.
    """

    SELECTED = "selected"
    """The rows were selected because they agree, or drawn until they agreed: log P(data | ties) [yao, eq. 3]."""
    JOINT = "joint"
    """The rows are part of an ordinary sample and were found to agree: log P(data, ties)."""
    MERGED = "merged"
    """The tied value was drawn once for all rows of a tie, as with twins [shental et al., 2003]."""

    @classmethod
    def _missing_(cls, value: object) -> TieReading:
        renamed = ' What was called "cll" is "selected" now.' if value == "cll" else ""
        raise OptionError(
            "tie_reading is selected (rows were drawn until they agreed), joint (rows were drawn, and found to agree) "
            f"or merged (one draw for all tied rows), not {value!r}.{renamed}"
        )


@dataclass(frozen=True, slots=True)
class EMOptions:
    """How incomplete and tied rows are learned from, by EM and what continues from it.

    Parameters
    ----------
    starts : int
        From how many starting points EM is run; the best result is kept.
        If not given, 5; or 1 for `posterior`, where at least half of the values of every variable are there.
    max_iterations : int
        How many E-steps each start may take.
    tolerance : float
        EM stops once an iteration changes the objective by no more than this share of itself.
    accelerate : bool
        Whether SQUAREM extrapolates between iterations.
    checkpoint : path, optional
        A file from which an interrupted run continues.
    trainer : {"em", "gradient"}
        "gradient" maximises the likelihood directly, with a growing penalty on what the knowledge forbids
        [yang, algorithm 1]; it works for ml, map, cml and cmap.
    complete_rows : bool
        Learn from the rows without missing values alone, which is quicker; a finding counts those left out.
    tie_reading : TieReading or {"selected", "joint", "merged"}
        How rows that the knowledge ties together came about: drawn until they agreed, found to agree in a sample, or
        one draw for all of them.

    Examples
    --------
    >>> EMOptions(starts=1).max_iterations
    1000
    """

    starts: int = 5
    max_iterations: int = 1000
    tolerance: float = 1e-8
    accelerate: bool = True
    checkpoint: str | Path | None = None
    trainer: str = "em"
    complete_rows: bool = False
    tie_reading: TieReading | str = TieReading.SELECTED

    def __post_init__(self) -> None:
        object.__setattr__(self, "tie_reading", TieReading(self.tie_reading))
        if not isinstance(self.complete_rows, bool):
            raise OptionError(f"complete_rows is True or False, not {self.complete_rows!r}.")
        if self.starts < 1:
            raise OptionError(f"At least one start is needed; starts is {self.starts}.")
        if self.max_iterations < 1:
            raise OptionError(f"At least one iteration is needed; max_iterations is {self.max_iterations}.")
        if not self.tolerance >= 0:
            raise OptionError(f"A tolerance is a number that is not negative; tolerance is {self.tolerance}.")
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | os.PathLike):
            raise OptionError(f"checkpoint is the path of a file, not {self.checkpoint!r}.")
        if self.trainer not in TRAINERS:
            raise OptionError(f'There is no trainer "{self.trainer}".{suggestion(self.trainer, TRAINERS)}')
        if self.trainer == "gradient" and self.checkpoint is not None:
            raise OptionError("The gradient trainer writes no checkpoint: leave the checkpoint out, or use EM.")


@dataclass(frozen=True, slots=True)
class OptimiserOptions:
    """What the methods take that maximise an objective, and do not sample.

    They cannot treat a confidence as what it is, the probability that a statement is true: they make it a cost,
    (W/2)·confidence·violation² [liao, eq. 5]. `posterior` needs no such weight.

    Parameters
    ----------
    soft_weight : float, optional
        The weight W of statements with a confidence; chosen by cross-validation if not given.
    range_weight, relation_weight : float, optional
        For cem, where every statement is such a cost: the weights w₁ of statements that bound one number and w₂ of
        statements that compare several. Where they are not given, both are `soft_weight`, and without that ten for each
        row of data.
    hidden_draws : float
        For me and cme: how cautious they are, the s of the imprecise Dirichlet model [walley 1996].

    Raises
    ------
    OptionError
        If a number is negative or none.

    Examples
    --------
    >>> OptimiserOptions(soft_weight=10.0).hidden_draws
    1.0
    """

    soft_weight: float | None = None
    range_weight: float | None = None
    relation_weight: float | None = None
    hidden_draws: float = 1.0

    def __post_init__(self) -> None:
        for name in ("soft_weight", "range_weight", "relation_weight"):
            if getattr(self, name) is not None:
                check_weight(name, getattr(self, name))
        draws: Any = self.hidden_draws
        if isinstance(draws, bool) or not isinstance(draws, int | float) or not 0.0 < draws < inf:
            raise OptionError(
                f"hidden_draws (the s of the imprecise Dirichlet model) is a number above zero, not {draws!r}."
            )


@dataclass(frozen=True, slots=True)
class PosteriorOptions:
    """How many draws the method `posterior` makes.

    Parameters
    ----------
    chains : int
        Chains that are run side by side. Fewer than two say nothing about convergence.
    draws : int
        Draws that each chain keeps at first.
    warmup : int
        Steps that each chain makes before its first draw.
    thinning : int
        Steps from one draw that is kept to the next.
    max_draws : int
        Draws of each chain up to which it goes on while some numbers have not mixed; at least `draws`. All draws
        together hold no more than 40 million numbers, unless `draws` are more.

    Raises
    ------
    OptionError
        If a number is not a whole one or is too small.

    Examples
    --------
    >>> PosteriorOptions(draws=1000, max_draws=4000).chains
    4
    """

    chains: int = 4
    draws: int = 250
    warmup: int = 200
    thinning: int = 1
    max_draws: int = 2000

    def __post_init__(self) -> None:
        for name, least in (("chains", 1), ("draws", 1), ("warmup", 0), ("thinning", 1), ("max_draws", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not hasattr(value, "__index__") or int(value.__index__()) < least:
                raise OptionError(f"{name} is a whole number, {least} or more; it is {value!r}.")
        if self.max_draws < self.draws:
            raise OptionError(f"max_draws is at least draws, which is {self.draws}; it is {self.max_draws}.")


@dataclass(frozen=True, slots=True)
class Options:
    """All options of an estimation; each method reads its own."""

    em: EMOptions = EMOptions()
    posterior: PosteriorOptions = PosteriorOptions()
    optimiser: OptimiserOptions = OptimiserOptions()

    def __post_init__(self) -> None:
        kinds = {"em": EMOptions, "posterior": PosteriorOptions, "optimiser": OptimiserOptions}
        for name, kind in kinds.items():
            if not isinstance(getattr(self, name), kind):
                raise OptionError(f"{name}= takes {kind.__name__}(…), not {getattr(self, name)!r}.")


def arguments_moved(**places: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function say where an argument went that it had once: for each, what to write now."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name in places:
                    raise OptionError(f"{function.__name__} has no argument {name} any more: write {places[name]}.")
            return function(*args, **kwargs)

        return call

    return decorate


def check_weight(name: str, value: object) -> float:
    """A weight: a number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise OptionError(f"{name} is a number that is not negative; it is {value}.")
    return float(value)


def resolve_seed(seed: object) -> int:
    """The seed of a random computation: the given integer, or one drawn from the given NumPy generator."""
    if hasattr(seed, "integers") and hasattr(seed, "bit_generator"):
        return int(seed.integers(2**63))
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or int(seed.__index__()) < 0:
        raise OptionError(f"A seed is a whole number that is not negative, or a NumPy Generator; it is {seed!r}.")
    return int(seed.__index__())


def checked_whole_number(value: object, what: str, least: int = 1) -> int:
    """A whole number of any library, at least `least`; `what` starts the message of the error."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value.__index__()) < least:
        raise OptionError(f"{what} is a whole number, at least {least}; it is {value!r}.")
    return int(value.__index__())


@dataclass(frozen=True, slots=True)
class TableFormat:
    """How the file of a table is written, where it differs from what is usual.

    Nothing here is needed for CSV files in UTF-8 with commas, semicolons or tabs between cells.

    Parameters
    ----------
    separator : str, optional
        The character between the cells of a CSV file. If not given, a comma, semicolon or tab is found by itself.
    decimal : {".", ","}
        What stands before the decimals of a number. With ",", the cell `1,5` is the number 1.5, and `1.234` is an
        error, because it may mean 1234.
    encoding : str
        The encoding of a CSV file, under any name that Python has for it: "latin-1", "cp1252", "utf-16".
    sheet : str, optional
        The sheet of an Excel file. If not given, the file may have only one sheet that is not empty.
    missing : sequence of str or numbers, or one of them, optional
        Cells that stand for a value that is not known: `-999`, "n/a". Empty cells and `?`, `*`, `NA`, `NaN` and `null`
        do so anyway.

    Raises
    ------
    OptionError
        If a value cannot be used.

    Examples
    --------
    >>> import credo
    >>> credo.TableFormat(separator=";", decimal=",", encoding="latin-1")
    TableFormat(separator=';', decimal=',', encoding='latin-1', sheet=None, missing=())
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    sheet: str | None = None
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        given: Any = self.missing
        codes = [given] if isinstance(given, str | int | float) else list(given)
        object.__setattr__(self, "missing", tuple(str(code).strip() for code in codes))
        mark = self.separator
        if mark is not None and (
            not isinstance(mark, str) or len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0'
        ):
            raise OptionError(
                f"The separator of a table is one character, such as “;”, “|” or a tab; {mark!r} cannot be one."
            )
        if self.decimal not in (".", ","):
            raise OptionError(f"The decimal mark of a table is “.” or “,”; {self.decimal!r} is neither.")
        if not _is_encoding(self.encoding):
            raise OptionError(f"Python knows no encoding {self.encoding!r}. Common ones are utf-8, latin-1 and cp1252.")
        if self.sheet is not None and not isinstance(self.sheet, str):
            raise OptionError(f"The sheet of an Excel file is given by its name; {self.sheet!r} is not a text.")


def _is_encoding(name: object) -> bool:
    """Whether Python can decode a file of texts part by part by this name."""
    if not isinstance(name, str):
        return False
    try:
        codecs.getincrementaldecoder(name)
        b"".decode(name)
        return isinstance("\n".encode(name), bytes)
    except (LookupError, ValueError):  # ValueError: a null character, or the encoding “undefined”
        return False
