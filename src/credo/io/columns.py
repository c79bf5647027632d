"""Which columns of a table are variables, which variables are hidden, and which other columns are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from credo.errors import DataError, MissingColumnError, UnknownStateError, closest, first_duplicate, listing, suggestion
from credo.model.network import Network, Variable


@dataclass(frozen=True, slots=True)
class Columns:
    """The header of a table, matched with a network."""

    variables: tuple[str, ...]  # variables of the network that have a column, in the network's order
    hidden: tuple[str, ...]  # variables of the network that have none
    others: tuple[str, ...]  # columns that are not variables but are used
    ignored: tuple[str, ...]

    @property
    def used(self) -> tuple[str, ...]:
        """All columns to read, each once."""
        return (*self.variables, *self.others)


def match_columns(header: Sequence[str], network: Network, others: Sequence[str] = ()) -> Columns:
    """Match a header with a network; `others` are columns that a weight or a statement needs."""
    require_distinct(header)
    present = set(header)
    for name in others:
        if name not in present:
            raise MissingColumnError(name, list(header))
    variables = tuple(name for name in network.names if name in present)
    if not variables:
        hint = next(
            (
                f' The column "{name}" is similar to the variable "{near}".'
                for name in header
                if (near := closest(name, network.names))
            ),
            "",
        )
        raise DataError(
            f"No column of the table is a variable of the network.{hint} Columns: {listing(list(header))}. "
            f"Variables: {listing(network.names)}."
        )
    hidden = tuple(name for name in network.names if name not in present)
    others = tuple(dict.fromkeys(name for name in others if name not in network))
    wanted = {*variables, *others}
    return Columns(variables, hidden, others, tuple(name for name in header if name not in wanted))


def unknown_states(found: Sequence[tuple[Variable, object, int]]) -> UnknownStateError:
    """The error for values that are not states: variable, value and row, counted from 1, of each."""
    sentences = []
    for variable, value, row in found[:5]:
        hint = suggestion(str(value), variable.states)
        if "\ufffd" in str(value):  # which replaces bytes that are not UTF-8
            hint = f" It is not UTF-8: save the file as UTF-8.{hint}"
        sentences.append(f'Column {variable.name}, row {row}: "{value}" is not a state of {variable.name}.{hint}')
    if len(found) > 5:
        sentences.append(f"{len(found) - 5} more values of this table are unknown too.")
    return UnknownStateError("\n".join(sentences))


def require_distinct(header: Sequence[str]) -> None:
    """Raise if two columns have one name."""
    if (duplicate := first_duplicate(header)) is not None:
        raise DataError(f'The table has two columns named "{duplicate}": rename or remove one of them.')


def no_rows() -> DataError:
    """The error for a table without rows."""
    return DataError("The table has no rows: there is nothing to learn from.")
