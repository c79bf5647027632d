"""Independent blocks: the rows of tables that constraints connect, each with its own small system of rows.

What happens in one block says nothing about another, so that feasibility, estimates and samples are worked out block
by block. Hard rows, soft rows and product rows all connect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.constraint_set import Constraints, Indices, LinearRows, Parameters, ProductRow
from credo.model.graphs import parts


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of tables, their parameters in local numbers from 0, and the constraints between them.

    Parameters stand distribution after distribution: local parameters distributions[d] to distributions[d + 1] sum
    to one. `linear` and `products` speak in local numbers; `parameters` leads back to the network's numbers.
    """

    table_rows: tuple[tuple[str, int], ...]  # (variable, row of its table) of each distribution
    parameters: Indices  # (parameters,) local → global
    distributions: Indices  # (distributions + 1,)
    distribution_of: Indices  # (parameters,) the distribution that each local parameter belongs to
    linear: LinearRows
    linear_rows: Indices  # which rows of the knowledge's linear rows these are
    products: tuple[ProductRow, ...] = ()

    @property
    def size(self) -> int:
        """How many parameters the block has."""
        return len(self.parameters)

    @property
    def statements(self) -> tuple[int, ...]:
        """The statements that have rows here."""
        found = set(self.linear.statements.tolist()) | {row.statement for row in self.products}
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """All rows of all tables in one numbering: for each variable its first parameter, first row and states."""

    names: tuple[str, ...]
    first_parameter: Indices  # (variables,)
    first_row: Indices  # (variables,)
    states: Indices  # (variables,)

    @classmethod
    def of(cls, parameters: Parameters) -> TableRows:
        names = tuple(parameters.offsets)
        states = [len(parameters.network.states(name)) for name in names]
        rows = [parameters.network.configurations(name) for name in names]
        return cls(
            names,
            np.array(list(parameters.offsets.values()), dtype=np.int64),
            np.concatenate(([0], np.cumsum(rows, dtype=np.int64)))[:-1].astype(np.int64),
            np.array(states, dtype=np.int64),
        )

    def row_of(self, indices: Indices) -> Indices:
        """The row of a table, in the one numbering, that each parameter stands in."""
        variable = np.searchsorted(self.first_parameter, indices, side="right") - 1
        within = (indices - self.first_parameter[variable]) // self.states[variable]
        return np.asarray(self.first_row[variable] + within, dtype=np.int64)

    def locate(self, rows: Indices) -> tuple[Indices, Indices]:
        """The variable, by position, and the row of its own table, of each row in the one numbering."""
        variable = np.searchsorted(self.first_row, rows, side="right") - 1
        return variable, rows - self.first_row[variable]


def blocks_of(constraints: Constraints) -> tuple[Block, ...]:
    """The independent blocks, in the order of their first parameter; rows without entries belong to none."""
    linear, products = constraints.linear, constraints.products
    if not linear.indices.size and not products:
        return ()
    book = TableRows.of(constraints.parameters)
    product_lengths = [len(row.indices) for row in products]
    product_indices = np.array([index for row in products for index in row.indices], dtype=np.int64)
    entry_rows = np.concatenate((linear.entry_rows, len(linear) + np.repeat(np.arange(len(products)), product_lengths)))
    touched, entry_nodes = np.unique(
        book.row_of(np.concatenate((linear.indices, product_indices))), return_inverse=True
    )
    # Entries connect table rows with the rows of statements, which come after them.
    label = parts(entry_nodes, len(touched) + entry_rows, len(touched) + len(linear) + len(products))

    node_groups = _grouped(label[: len(touched)])
    row_label = label[len(touched) :]
    full = np.flatnonzero(linear.lengths > 0)
    rows_by_label = _by_label(full, row_label[full])
    products_by_label: dict[int, list[ProductRow]] = {}
    for row, of_block in zip(products, row_label[len(linear) :].tolist(), strict=True):
        products_by_label.setdefault(of_block, []).append(row)

    no_rows = np.empty(0, dtype=np.int64)
    return tuple(
        _block(
            book,
            touched[nodes],
            linear,
            rows_by_label.get(key, no_rows),
            products_by_label.get(key, ()),
        )
        for key, nodes in node_groups
    )


def _grouped(label: Indices) -> list[tuple[int, Indices]]:
    """The members of each label, in the order of their first member."""
    groups = _by_label(np.arange(len(label)), label)
    return sorted(groups.items(), key=lambda group: int(group[1][0]))


def _by_label(members: Indices, label: Indices) -> dict[int, Indices]:
    if not len(members):
        return {}
    order = np.argsort(label, kind="stable")
    firsts = np.flatnonzero(np.diff(label[order], prepend=-1))
    pieces = np.split(members[order], firsts[1:])
    return dict(zip(label[order][firsts].tolist(), pieces, strict=True))


def _block(
    book: TableRows, table_rows: Indices, linear: LinearRows, rows: Indices, products: Iterable[ProductRow]
) -> Block:
    variable, own_row = book.locate(table_rows)
    sizes = book.states[variable]
    distributions = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    first = book.first_parameter[variable] + own_row * sizes
    parameters = np.repeat(first - distributions[:-1], sizes) + np.arange(distributions[-1])
    own = linear.take(rows)
    names = tuple((book.names[which], row) for which, row in zip(variable.tolist(), own_row.tolist(), strict=True))
    return Block(
        names,
        parameters,
        distributions,
        np.repeat(np.arange(len(sizes)), sizes),
        replace(own, indices=np.searchsorted(parameters, own.indices).astype(np.int64)),
        rows,
        tuple(_localised(row, parameters) for row in products),
    )


def _localised(row: ProductRow, parameters: Indices) -> ProductRow:
    local = np.searchsorted(parameters, row.indices)
    return ProductRow(tuple(local.tolist()), row.exponents, row.log_bound, row.statement, row.confidence)
