"""What can go wrong for a user: errors, warnings, and the words that messages are made of.

Every error is a `CredoError`, and also the built-in error that a program would catch for it: `ValueError` for a value
that cannot be used, `KeyError` for a name that does not exist, `FileNotFoundError`, `MemoryError`, `ImportError`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import islice
from math import log10
from typing import Any, TypeVar


class CredoError(Exception):
    """The base of all errors that credo raises: the message describes what is wrong, where, and what to do.

    Attributes
    ----------
    exit_code : int
        The exit code of the command line: 2, or 3 where the knowledge contradicts itself.

    Examples
    --------
    >>> import credo
    >>> try:
    ...     credo.Network({"lung": ["no", "yes"]}).variable("lungs")
    ... except credo.CredoError as error:
    ...     print(error)
    The network has no variable "lungs". Did you mean "lung"? Known: lung.
    """

    exit_code = 2

    def __str__(self) -> str:
        # KeyError would show the message in quotes, OSError would look for an error number in it.
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[Any, ...]:
        # Constructors take more than the message, so that copying by pickle must not call them again.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[CredoError], arguments: tuple[Any, ...], attributes: Mapping[str, Any]) -> CredoError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(attributes)
    return error


class NetworkError(CredoError, ValueError):
    """A network is not valid: a cycle, probabilities that do not sum to one, a duplicate name."""


class UnknownVariableError(NetworkError, KeyError):
    """A name is not a variable of the network.

    Attributes
    ----------
    name : str
        The unknown name.
    """

    def __init__(self, name: object, known: Sequence[str]) -> None:
        super().__init__(f'The network has no variable "{name}".{suggestion(str(name), known)}')
        self.name = str(name)


class FormatError(CredoError, ValueError):
    """A network file does not follow its format.

    Attributes
    ----------
    path : str or None
        The file.
    line : int or None
        The line of the mistake, counted from 1.
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        place = ", ".join(part for part in (path, f"line {line}" if line else None) if part)
        super().__init__(f"{place}: {message}" if place else message)
        self.path, self.line = path, line


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be saved now, on a full disk for instance; learning goes on, and it is tried again."""


class IncompleteCPTWarning(UserWarning):
    """Some distributions of a CPT in a network file are NaN, so that the variable has no CPT."""


class MissingCodeWarning(UserWarning):
    """Cells of a column look like codes for missing values, such as -999, n/a or unknown."""


class LargeCPTWarning(UserWarning):
    """A variable has so many parents that few configurations have data, and that answers take long."""


class LossyFormatWarning(UserWarning):
    """A network was written in a format that cannot hold all of it; the message names what is lost."""


class OutsideRangeWarning(UserWarning):
    """A number lies outside of the range that was seen when a variable's cut points were chosen or learned with."""


class RoundedNumbersWarning(UserWarning):
    """Distributions of a network that was read do not sum to one, because their digits are rounded; now they do."""


class FileError(CredoError, OSError):
    """A file cannot be read or written.

    Attributes
    ----------
    path : str
        The file.
    """

    def __init__(self, message: str, path: str | os.PathLike[str]) -> None:
        super().__init__(f"{os.fspath(path)}: {message}")
        self.path = os.fspath(path)


class MissingFileError(FileError, FileNotFoundError):
    """A file or folder does not exist."""


class DataError(CredoError, ValueError):
    """A table of data does not fit the network."""

    cells: tuple[tuple[str, tuple[int, ...]], ...] = ()  # sentences with {rows}, and the rows, where cells are named


class UnknownStateError(DataError):
    """A cell holds a value that is not a state of its variable."""


class MissingColumnError(DataError, KeyError):
    """A column that was asked for is not in the table.

    Attributes
    ----------
    column : str
        The missing column.
    columns : tuple of str
        The columns of the table.
    """

    def __init__(self, column: str, columns: Sequence[str]) -> None:
        super().__init__(f'The table has no column "{column}".{suggestion(column, columns)}')
        self.column, self.columns = column, tuple(columns)


class ImpossibleRowError(DataError):
    """A row of data has probability zero under the network.

    Attributes
    ----------
    row : int
        The row, counted from 1.
    values : tuple of str
        The values that are impossible together, as `variable=state`.
    statements : tuple of int
        The statements that make them impossible, counted from 1; empty where CPTs of the network do.
    place : str
        Where the row is, if the table has several files: `data/2024.parquet, row 17`; else empty.
    gates : tuple of str
        The gates, by their children, that make them impossible.
    """

    def __init__(
        self,
        row: int,
        values: Sequence[str],
        statements: Sequence[int] = (),
        words: Sequence[str] = (),
        place: str = "",
        gates: Sequence[str] = (),
    ) -> None:
        which = place or f"Row {row}"
        if statements:
            named = words or [f"statement {number}" for number in statements]
            verb, them = ("leaves", "the statement") if len(named) == 1 else ("leave", "one of the statements")
            otherwise = f"give {them} a confidence"
            if len(named) == 1 and " is noisy-" in named[0]:
                otherwise = "add `with leak` if it happens without any of these causes"
            if gates:
                otherwise = "correct the gate" if len(named) == 1 else "correct one of the gates"
            message = (
                f"{which} is impossible: {listing(named)} {verb} no probability to {listing(values)}. "
                f"Correct the row, or {otherwise}. {ROWS_FROM_1}"
            )
        elif gates:
            message = (
                f"{which} is impossible: {listing(values)} contradict{'s' if len(values) == 1 else ''} the "
                f"gate{'' if len(gates) == 1 else 's'} of {listing(gates)}. Correct the row, or the network. "
                f"{ROWS_FROM_1}"
            )
        else:
            message = (
                f"{which} is impossible: the network gives probability zero to {listing(values)}. "
                f"Correct the row, or use CPTs without zeros there. {ROWS_FROM_1}"
            )
        super().__init__(message)
        self.row, self.values = row, tuple(values)
        self.statements, self.words, self.place = tuple(statements), tuple(words), place
        self.gates = tuple(gates)

    def later(self, rows: int) -> ImpossibleRowError:
        """The same error in a table of which this many rows came before.

        Parameters
        ----------
        rows : int
            How many rows came before.

        Returns
        -------
        ImpossibleRowError
            The error with the number of the row in the whole table.
        """
        return ImpossibleRowError(self.row + rows, self.values, self.statements, self.words, self.place, self.gates)


class QueryError(CredoError, ValueError):
    """A question to a network cannot be answered: it cannot be read, or its evidence is impossible."""


class PriorError(CredoError, ValueError):
    """A prior cannot be used with this network."""


class OptionError(CredoError, ValueError):
    """An option has a value that cannot be used."""


class TooLargeError(MemoryError, CredoError):  # in this order Python can make one without its constructor
    """The computation does not fit into memory.

    Attributes
    ----------
    bytes_needed : int
        The estimated size.
    """

    def __init__(self, message: str, bytes_needed: int) -> None:
        super().__init__(message)
        self.bytes_needed = bytes_needed


class SamplingError(CredoError, ArithmeticError):
    """Draws from the posterior are not finite numbers."""


class MissingExtraError(CredoError, ImportError):
    """An optional package is needed and not installed.

    Attributes
    ----------
    package : str
        The package.
    extra : str
        The extra of credo that installs it.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}. Install it with: pip install 'credo[{extra}]'")
        self.package, self.extra = package, extra


class ClusterError(CredoError, RuntimeError):
    """A cluster cannot go on: its scheduler is gone, or its workers died again and again on one part of the data."""


class Status(Enum):
    """How an estimation ended; the value of each member is a sentence for the user."""

    EXACT = "The estimate is exact: it was computed in closed form."
    OPTIMAL = "The estimate is the optimum under the knowledge; its certificate proves it."
    NOT_CERTIFIED = "No solver could prove that the estimate is the optimum; the findings say how far off it can be."
    LOCAL = "The estimate satisfies the knowledge, but some statements are not convex: only a local optimum is certain."
    VIOLATED = "The estimate does not satisfy every statement; the findings say which, and by how much."
    AVERAGED = "The estimate is the posterior mean: the average of draws from what data and knowledge leave possible."
    CONVERGED = "The iterations converged: neither the objective nor the CPTs change any more."
    NOT_CONVERGED = "The iterations stopped before they converged: raise max_iterations, or read the findings first."
    NOT_MIXED = "Some probabilities are still uncertain, because the draws are too few: the findings say which."


# Words for messages ---------------------------------------------------------------------------------------------------

# The one convention, in statements and in messages. Frames and arrays count from 0, so that messages say it.
ROWS_FROM_1 = "Rows are counted from 1."
AnyDataError = TypeVar("AnyDataError", bound=DataError)
ROWS_OF_EXCEL = "Rows are numbered as in Excel."
MOST_ROWS_NAMED = 10  # rows with the same wrong cell


def cells_error(
    kind: type[AnyDataError],
    cells: Sequence[tuple[str, tuple[int, ...]]],
    numbers: Sequence[int] | None = None,
) -> AnyDataError:
    """The error about cells: sentences in which {rows} stands for rows, counted from 1.

    `numbers` are those of a spreadsheet in the place of 1, 2, …
    """
    shown = []
    for sentence, rows in cells:
        named = [f"{row if numbers is None else numbers[row - 1]:,}" for row in rows[:MOST_ROWS_NAMED]]
        rest = f" and {len(rows) - MOST_ROWS_NAMED:,} more" if len(rows) > MOST_ROWS_NAMED else ""
        shown.append(sentence.replace("{rows}", f"row{'s' if len(rows) > 1 else ''} {', '.join(named)}{rest}"))
    error = kind("\n".join([*shown, ROWS_FROM_1 if numbers is None else ROWS_OF_EXCEL]))
    error.cells = tuple(cells)
    return error


def is_text(text: str) -> bool:
    """Whether a string can be written: one with half a character (a lone surrogate) cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


# Comparing takes time with the square of the length; longer names, and more of them, are not compared.
LONGEST_COMPARED = 100
MOST_COMPARED = 2000


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a misspelling of, or the only one that has it as a word."""
    name = str(name)
    if len(name) > LONGEST_COMPARED:
        return None
    comparable = (candidate for candidate in known if len(candidate) <= LONGEST_COMPARED)
    by_folded = {candidate.casefold(): candidate for candidate in islice(comparable, MOST_COMPARED)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    if not found and len(name) > 2:
        word = re.compile(rf"(?<!\w){re.escape(name.casefold())}(?!\w)")
        with_word = [folded for folded in by_folded if word.search(folded)]
        found = with_word if len(with_word) == 1 else []
    return by_folded[found[0]] if found else None


def suggestion(name: str, known: Sequence[str]) -> str:
    """` Did you mean "yes"?` where a similar name exists, then the known names."""
    if not known:
        return ""
    near = closest(name, known)
    hint = f' Did you mean "{near}"?' if near is not None else ""
    return f"{hint} Known: {listing(known)}."


UNNAMED = "(without a name)"  # in lists of names, such as the first column of a table that R wrote


def listing(names: Sequence[str], limit: int = 12) -> str:
    """Names for a message: all of them, or the first few and how many more."""
    shown = ", ".join(name if str(name).strip() else UNNAMED for name in names[:limit])
    return shown if len(names) <= limit else f"{shown}, … ({len(names) - limit} more)"


def first_duplicate(names: Iterable[str]) -> str | None:
    """The first name that occurs twice in a list, if there is one."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def readable_count(count: int) -> str:
    """A number of things for people: `1,024`, and `2**100` or more as a power of ten."""
    return f"{count:,}" if count.bit_length() <= 60 else f"about 10^{int(count.bit_length() * log10(2))}"


def counted(number: int, noun: str) -> str:
    """A number of things and their name: `1 row`, `1,200 rows`."""
    return f"{readable_count(number)} {noun}{'' if number == 1 else 's'}"


def readable_bytes(count: float) -> str:
    """A size in bytes for people: `1.5 GB`."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if count < 1000 or unit == "PB":
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("unreachable")
