"""Which columns of a table are variables, which variables are hidden, and which other columns are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from credo.errors import DataError, MissingColumnError, UnknownStateError, closest, listing, suggestion
from credo.model.names import first_duplicate
from credo.model.network import Network, Variable


@dataclass(frozen=True, slots=True)
class Columns:
    """The part of a table's header that matters."""

    variables: tuple[str, ...]  # variables of the network that have a column, in the network's order
    hidden: tuple[str, ...]  # variables of the network that have none
    others: tuple[str, ...]  # columns that are no variable but that somebody asked for
    ignored: tuple[str, ...]

    @property
    def used(self) -> tuple[str, ...]:
        """All columns to read, none of them twice."""
        return (*self.variables, *self.others)


def match_columns(header: Sequence[str], network: Network, others: Sequence[str] = ()) -> Columns:
    """Match a header with a network; `others` are columns that a weight or a statement needs."""
    if (twice := first_duplicate(header)) is not None:
        raise DataError(f'The table has two columns named "{twice}": rename or remove one of them.')
    present = set(header)
    for name in others:
        if name not in present:
            raise MissingColumnError(name, list(header))
    variables = tuple(name for name in network.names if name in present)
    if not variables:
        hint = next(
            (
                f' The column "{name}" comes closest to the variable "{near}".'
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
    """The error for cells that hold no state: variable, value and data row (from 1) of each."""
    sentences = []
    for variable, value, row in found[:5]:
        hint = suggestion(str(value), variable.states)
        if "\ufffd" in str(value):  # what stands for bytes that are no UTF-8
            hint = f" It is not UTF-8: save the file as UTF-8.{hint}"
        sentences.append(f'Column {variable.name}, row {row}: "{value}" is no state of {variable.name}.{hint}')
    if len(found) > 5:
        sentences.append(f"{len(found) - 5} more values of this table are unknown too.")
    return UnknownStateError("\n".join(sentences))


def no_rows() -> DataError:
    """The error for a table without rows."""
    return DataError("The table has no rows: there is nothing to learn from.")
