"""Everything that can go wrong for a user, as a type with a sentence they can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from enum import Enum


class CredoError(Exception):
    """What the user gave cannot be used. The message says what, where, and what to do."""

    exit_code = 2


class NetworkError(CredoError):
    """The network itself is not one: a cycle, a row that does not sum to one, a name twice."""


class FormatError(CredoError):
    """A network file does not follow its format."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        place = ", ".join(part for part in (path, f"line {line}" if line else None) if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.path, self.line = path, line


class LossyFormatWarning(UserWarning):
    """A network file was written that does not hold all of the network; the message says what is lost."""


class DataError(CredoError):
    """The table does not fit the network."""


class UnknownStateError(DataError):
    """A cell holds a value that is no state of its variable."""


class MissingColumnError(DataError):
    """A column that somebody asked for is not in the table."""

    def __init__(self, column: str, columns: Sequence[str]) -> None:
        super().__init__(f'The table has no column "{column}".{suggestion(column, columns)}')
        self.column, self.columns = column, tuple(columns)


class ImpossibleRowError(DataError):
    """A row has probability zero under the network; `row` counts from one."""

    def __init__(self, row: int, values: Sequence[str]) -> None:
        super().__init__(
            f"Row {row} is impossible: the network gives probability zero to {listing(values)}. "
            "Correct the row, or take tables without zeros there."
        )
        self.row, self.values = row, tuple(values)

    def later(self, rows: int) -> ImpossibleRowError:
        """The same error in a table of which this many rows came before."""
        return ImpossibleRowError(self.row + rows, self.values)


class PriorError(CredoError):
    """The prior cannot be used with this network."""


class OptionError(CredoError):
    """An option has a value that makes no sense."""


class TooLargeError(CredoError):
    """What was asked for does not fit into memory; `bytes_needed` is the estimate."""

    def __init__(self, message: str, bytes_needed: int) -> None:
        super().__init__(message)
        self.bytes_needed = bytes_needed


class MissingExtraError(CredoError):
    """An optional package is needed for this."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}. Install it with: pip install 'credo[{extra}]'")
        self.package, self.extra = package, extra


class Status(Enum):
    """How an estimate ended; the value is the sentence that a user reads."""

    EXACT = "The estimate is exact: it was computed in closed form."
    OPTIMAL = "The estimate is the optimum under the knowledge; its certificate proves it."
    NOT_CERTIFIED = "No solver could prove that the estimate is the optimum; the findings say how far off it can be."
    LOCAL = "The estimate satisfies the knowledge, but with products in it only a local optimum is certain."
    VIOLATED = "The estimate does not satisfy every statement; the findings say which, and by how much."
    AVERAGED = "The estimate is the mean of draws from the distribution that data and knowledge leave."
    CONVERGED = "The iterations converged: neither the objective nor the tables move any more."
    NOT_CONVERGED = "The iterations stopped before they converged: raise max_iterations, or read the findings first."
    NOT_MIXED = "The draws did not mix well everywhere: take more of them, or read the findings first."


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` was most likely meant to be, if one is near."""
    by_folded = {candidate.casefold(): candidate for candidate in known}
    found = difflib.get_close_matches(str(name).casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def suggestion(name: str, known: Sequence[str]) -> str:
    """` Did you mean "yes"?` where a near name exists, and the known ones where the list is short enough to read."""
    near = closest(name, known)
    hint = f' Did you mean "{near}"?' if near is not None else ""
    return f"{hint} Known: {listing(known)}."


def listing(names: Sequence[str], limit: int = 12) -> str:
    """Names for a message: all of them, or the first few and how many more."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown}, … ({len(names) - limit} more)"


def readable_bytes(count: float) -> str:
    """A size as people say it: `1.5 GB`."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("unreachable")
