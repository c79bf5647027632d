"""TiedRows: rows of the data that share the value of a variable, or differ in it, even where it is missing."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from credo.errors import closest, listing
from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    Part,
    checked_items,
    checked_name,
    checked_names,
    joined,
    mistake_at,
    name_text,
    repeated_names,
)
from credo.knowledge.network_names import NetworkNames, unknown_variable
from credo.knowledge.statement_base import (
    Kind,
    Reported,
    Span,
    StatementBase,
    StatementRules,
    line_text,
    linked_groups,
)

Cell = tuple[str, Hashable]  # a variable and a row


@dataclass(frozen=True, slots=True)
class TiedRows(StatementBase):
    """`rows with equal twin_id share variant` (by a column) or `rows 3, 9 differ in variant` (by number, from 1).

    Each of the variables has one value in all the rows, or, where they differ, another value in every one of them.

    Attributes
    ----------
    variables
        What the rows share, or differ in.
    by
        The column whose equal values tie rows; None where they are given by number.
    rows
        Their numbers, from 1; empty where a column ties them.
    differ
        Whether the rows differ.
    span
        Where it is written; None for one that was made in Python.
    """

    variables: tuple[str, ...]
    by: str | None = None
    rows: tuple[int, ...] = ()
    differ: bool = False
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        variables = ", ".join(name_text(name) for name in self.variables)
        numbers = ", ".join(str(row) for row in self.rows)
        rows = numbers if self.by is None else f"with equal {name_text(self.by)}"
        return f"rows {rows} {'differ in' if self.differ else 'share'} {variables}"


# The Python form ------------------------------------------------------------------------------------------------------


def same(*variables: str, by: str | None = None, rows: Iterable[int] = ()) -> TiedRows:
    """State that rows share the values of variables: `rows with equal twin_id share variant`.

    Parameters
    ----------
    *variables : str
        The variables whose values the rows share.
    by : str, optional
        A column of the data: rows with equal values in it are tied. Give either `by` or `rows`.
    rows : iterable of int, optional
        The numbers of the tied rows, counted from 1.

    Returns
    -------
    TiedRows
        The statement.

    Raises
    ------
    KnowledgeError
        If no variable is given, both or none of `by` and `rows` are, or a row number is not an integer.

    Examples
    --------
    >>> import credo
    >>> print(credo.same("variant", by="twin_id"))
    rows with equal twin_id share variant
    >>> print(credo.same("variant", rows=(2, 4)))
    rows 2, 4 share variant
    """
    return _tie("same", variables, by, rows)


def different(*variables: str, by: str | None = None, rows: Iterable[int] = ()) -> TiedRows:
    """State that rows differ in the values of variables: `rows with equal match_id differ in variant`.

    Parameters
    ----------
    *variables : str
        The variables in whose values every two of the rows differ.
    by : str, optional
        A column of the data: rows with equal values in it are tied. Give either `by` or `rows`.
    rows : iterable of int, optional
        The numbers of the tied rows, counted from 1.

    Returns
    -------
    TiedRows
        The statement.

    Raises
    ------
    KnowledgeError
        If no variable is given, both or none of `by` and `rows` are, or a row number is not an integer.

    Examples
    --------
    >>> import credo
    >>> print(credo.different("variant", rows=(3, 9)))
    rows 3, 9 differ in variant
    """
    return _tie("different", variables, by, rows)


def _tie(
    form: Literal["same", "different"], variables: tuple[str, ...], by: str | None, rows: Iterable[int]
) -> TiedRows:
    numbers = tuple(checked_items(rows))
    if not variables or (by is None) == (not numbers):
        text = f"{form}({', '.join(map(repr, variables))}, by={by!r}, rows={numbers!r})"
        raise python_error("by-or-rows", text, form=form)
    if not all(isinstance(row, int) and not isinstance(row, bool) for row in numbers):
        raise python_error("row-number", repr(numbers))
    return TiedRows(checked_names(variables), None if by is None else checked_name(by), numbers, form == "different")


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_tied_by_column(children: list[Any]) -> Part:
    """`ROWS WITH_EQUAL name TIE names`."""
    _, _, column, verb, names = children
    tie = TiedRows(names.value, by=column.value, differ=verb.startswith("differ"))
    tied_by_itself = tuple(
        mistake_at(name, "tied-by-itself", name=name) for name in names.value if name == column.value
    )
    return joined(tie, [column, names], repeated_names(names.value, "tied-twice") + tied_by_itself)


def parse_tied_by_number(children: list[Any]) -> Part:
    """`ROWS row_number, … TIE names`."""
    _, *numbers, verb, names = children
    numbers = numbers[::2]
    rows, mistakes = _row_numbers(numbers)
    tie = TiedRows(names.value, rows=rows, differ=verb.startswith("differ"))
    return joined(tie, [*numbers, names], mistakes + repeated_names(names.value, "tied-twice"))


def _row_numbers(numbers: Sequence[Part]) -> tuple[tuple[int, ...], tuple[LineMistake, ...]]:
    """Row numbers count from 1; a tie needs two different ones."""
    rows: list[int] = []
    mistakes: list[LineMistake] = []
    for part in numbers:
        value = part.value.constant
        if not (value >= 1 and value < 2**53 and value == int(value)):
            mistakes.append(LineMistake("row-number", part.column, part.end))
        elif int(value) in rows:
            mistakes.append(LineMistake("row-twice", part.column, part.end, {"row": int(value)}))
        else:
            rows.append(int(value))
    if len(numbers) < 2:
        mistakes.append(LineMistake("too-few-rows", numbers[0].column, numbers[0].end))
    return tuple(rows), tuple(mistakes)


# Checks ---------------------------------------------------------------------------------------------------------------


def _check_tie(statement: TiedRows, names: NetworkNames) -> Iterator[LineMistake]:
    rows = len(statement.rows) if statement.differ else 0
    for name in statement.variables:
        if name not in names.states:
            yield unknown_variable(name, names)
        elif rows > (states := len(names.states[name])):
            yield mistake_at(name, "too-few-states", name=name, rows=rows, states=states)


def data_mistakes(tie: TiedRows, columns: Sequence[str], rows: int | None) -> Iterator[LineMistake]:
    """A column or a row that the data do not have."""
    if tie.by is not None and tie.by not in columns:
        near = closest(tie.by, columns)
        hint = f'Did you mean "{near}"?' if near else "Name the column that tells which rows belong together."
        yield mistake_at(tie.by, "unknown-column", name=tie.by, known=listing(columns), hint=hint)
    for row in tie.rows:
        if rows is not None and row > rows:
            # Row numbers are plain integers without columns; each is a word of its own in the line.
            word = re.search(rf"(?<!\w){row}(?!\w)", str(tie) if tie.span is None else tie.span.text)
            column = word.start() + 1 if word else 0
            yield LineMistake("row-outside", column, column + len(str(row)), {"rows": rows, "found": row})


def _check_ties(statements: Sequence[Any]) -> Iterator[Reported]:
    """Two rows that differ in a variable which they share, perhaps through other rows."""
    ties = [statement for statement in statements if isinstance(statement, TiedRows)]
    shares, differences = ([tie for tie in ties if tie.differ == differ] for differ in (False, True))
    if not differences:
        return
    group = linked_groups(cells for tie in shares for cells in _cells(tie))
    sharing: dict[Cell, list[TiedRows]] = {}
    for tie in shares:
        for cell in chain(*_cells(tie)):
            sharing.setdefault(cell, []).append(tie)
    for tie in differences:
        for left, right in filter(None, (_linked(cells, group) for cells in _cells(tie))):
            both = (line_text(share) for share in sharing[left] if share in sharing[right])
            rows = f"Rows {left[1]} and {right[1]}" if tie.rows else f'Rows with equal "{tie.by}"'
            how = next(both, " through other rows")
            yield tie, mistake_at(left[0], "share-and-differ", name=left[0], rows=rows, how=how)


def _cells(tie: TiedRows) -> list[list[Cell]]:
    """The values that are tied to each other, for each variable; by a column, those of any two rows stand for all."""
    rows = tie.rows or ((tie.by, "one"), (tie.by, "another"))
    return [[(name, row) for row in rows] for name in tie.variables]


def _linked(cells: Iterable[Cell], group: Mapping[Cell, Cell]) -> tuple[Cell, Cell] | None:
    """The first two cells that are in one group."""
    first: dict[Cell, Cell] = {}
    for cell in cells:
        before = first.setdefault(group.get(cell, cell), cell)
        if before is not cell:
            return before, cell
    return None


TIED_ROWS = StatementRules(
    "a tie between rows",
    {"tied_by_column": parse_tied_by_column, "tied_by_number": parse_tied_by_number},
    _check_tie,
    lambda statement, network: Kind("tied rows"),
    check_together=_check_ties,
)
