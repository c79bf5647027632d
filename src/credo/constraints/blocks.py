"""Independent blocks: the rows of tables that constraints connect, each with its own small system of rows.

What happens in one block says nothing about another, so that feasibility, estimates and samples are worked out block
by block. Hard rows, soft rows and product rows all connect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from credo.arrays import Indices
from credo.constraints.constraint_set import Constraints, LinearConstraints, ProductConstraint
from credo.model.graphs import connected_components
from credo.model.layout import Layout


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of tables, their parameters in local numbers from 0, and the constraints between them.

    Parameters stand distribution after distribution: local parameters distributions[d] to distributions[d + 1] sum
    to one. `linear` and `products` speak in local numbers; `parameters` leads back to the network's numbers.
    """

    configurations: tuple[tuple[str, int], ...]  # (variable, row of its table) of each distribution
    parameters: Indices  # (parameters,) local → global
    distributions: Indices  # (distributions + 1,)
    distribution_of: Indices  # (parameters,) the distribution that each local parameter belongs to
    linear: LinearConstraints
    constraint_numbers: Indices  # which rows of the knowledge's linear rows these are
    products: tuple[ProductConstraint, ...] = ()

    @property
    def size(self) -> int:
        """How many parameters the block has."""
        return len(self.parameters)

    @property
    def statements(self) -> tuple[int, ...]:
        """The statements that have rows here."""
        found = set(self.linear.statements.tolist()) | {row.statement for row in self.products}
        return tuple(sorted(found))


def blocks_of(constraints: Constraints) -> tuple[Block, ...]:
    """The independent blocks, in the order of their first parameter; rows without entries belong to none."""
    linear, products = constraints.linear, constraints.products
    if not linear.indices.size and not products:
        return ()
    layout = constraints.layout
    product_lengths = [len(row.indices) for row in products]
    product_indices = np.array([index for row in products for index in row.indices], dtype=np.int64)
    entry_constraints = np.concatenate(
        (linear.entry_constraints, len(linear) + np.repeat(np.arange(len(products)), product_lengths))
    )
    touched, entry_nodes = np.unique(
        layout.distribution_of(np.concatenate((linear.indices, product_indices))), return_inverse=True
    )
    # Entries connect table rows with the rows of statements, which come after them.
    size = len(touched) + len(linear) + len(products)
    label = connected_components(entry_nodes, len(touched) + entry_constraints, size)

    node_groups = _grouped(label[: len(touched)])
    row_label = label[len(touched) :]
    full = np.flatnonzero(linear.lengths > 0)
    rows_by_label = _by_label(full, row_label[full])
    products_by_label: dict[int, list[ProductConstraint]] = {}
    for row, of_block in zip(products, row_label[len(linear) :].tolist(), strict=True):
        products_by_label.setdefault(of_block, []).append(row)

    no_rows = np.empty(0, dtype=np.int64)
    return tuple(
        _block(
            layout,
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
    layout: Layout,
    configurations: Indices,
    linear: LinearConstraints,
    rows: Indices,
    products: Iterable[ProductConstraint],
) -> Block:
    variable, own_row = layout.locate_distributions(configurations)
    sizes = layout.sizes[layout.members[layout.member_starts[variable + 1] - 1]]
    distributions = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    first = layout.cell_starts[variable] + own_row * sizes
    parameters = np.repeat(first - distributions[:-1], sizes) + np.arange(distributions[-1])
    own = linear.take(rows)
    names = tuple((layout.names[which], row) for which, row in zip(variable.tolist(), own_row.tolist(), strict=True))
    return Block(
        names,
        parameters,
        distributions,
        np.repeat(np.arange(len(sizes)), sizes),
        replace(own, indices=np.searchsorted(parameters, own.indices).astype(np.int64)),
        rows,
        tuple(_localised(row, parameters) for row in products),
    )


def _localised(row: ProductConstraint, parameters: Indices) -> ProductConstraint:
    local = np.searchsorted(parameters, row.indices)
    return ProductConstraint(tuple(local.tolist()), row.exponents, row.log_bound, row.statement, row.confidence)
