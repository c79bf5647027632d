"""Independent blocks: the conditional distributions that constraints connect, each with its own small system.

Blocks do not depend on each other, so that feasibility, estimates and samples are computed block by block. Hard, soft
and product constraints all connect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.constraint_set import Constraints, LinearConstraints, ProductConstraint
from credo.model.graphs import connected_components
from credo.model.layout import Layout
from credo.types import Indices, Numbers

NO_STATEMENT = -1  # of constraints that come from no statement


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Conditional distributions, their parameters numbered locally from 0, and the constraints between them.

    Parameters are sorted by distribution: local parameters distributions[d] to distributions[d + 1] sum
    to one. `linear` and `products` use local numbers; `parameters` maps them to the network's numbers.
    """

    configurations: tuple[tuple[str, int], ...]  # (variable, configuration of its parents) of each distribution
    parameters: Indices  # (parameters,) local → global
    distributions: Indices  # (distributions + 1,)
    distribution_of: Indices  # (parameters,) the distribution that each local parameter belongs to
    linear: LinearConstraints
    constraint_numbers: Indices  # which of the knowledge's linear constraints these are
    products: tuple[ProductConstraint, ...] = ()

    @property
    def size(self) -> int:
        """How many parameters the block has."""
        return len(self.parameters)

    @property
    def statements(self) -> tuple[int, ...]:
        """The statements that have constraints here."""
        found = set(self.linear.statements.tolist()) | {product.statement for product in self.products}
        return tuple(sorted(found))


def blocks_of(constraints: Constraints) -> tuple[Block, ...]:
    """The independent blocks, in the order of their first parameter; constraints without entries belong to none."""
    linear, products = constraints.linear, constraints.products
    if not linear.indices.size and not products:
        return ()
    layout = constraints.layout
    product_lengths = [len(product.indices) for product in products]
    product_indices = np.array([index for product in products for index in product.indices], dtype=np.int64)
    entry_constraints = np.concatenate(
        (linear.entry_constraints, len(linear) + np.repeat(np.arange(len(products)), product_lengths))
    )
    touched, entry_nodes = np.unique(
        layout.distribution_of(np.concatenate((linear.indices, product_indices))), return_inverse=True
    )
    # Entries connect distributions with constraints, whose nodes come after them.
    size = len(touched) + len(linear) + len(products)
    label = connected_components(entry_nodes, len(touched) + entry_constraints, size)

    node_groups = _grouped(label[: len(touched)])
    constraint_label = label[len(touched) :]
    full = np.flatnonzero(linear.lengths > 0)
    constraints_by_label = _by_label(full, constraint_label[full])
    products_by_label: dict[int, list[ProductConstraint]] = {}
    for product, of_block in zip(products, constraint_label[len(linear) :].tolist(), strict=True):
        products_by_label.setdefault(of_block, []).append(product)

    nothing = np.empty(0, dtype=np.int64)
    return tuple(
        _block(
            layout,
            touched[nodes],
            linear,
            constraints_by_label.get(key, nothing),
            products_by_label.get(key, ()),
        )
        for key, nodes in node_groups
    )


def one_block(constraints: Constraints) -> Block | None:
    """All distributions that constraints mention and all constraints with entries, connected or not; None for none."""
    linear, products = constraints.linear, constraints.products
    product_indices = np.array([index for product in products for index in product.indices], dtype=np.int64)
    indices = np.concatenate((linear.indices, product_indices))
    if not indices.size:
        return None
    touched = np.unique(constraints.layout.distribution_of(indices))
    return _block(constraints.layout, touched, linear, np.flatnonzero(linear.lengths > 0), products)


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
    chosen: Indices,
    products: Iterable[ProductConstraint],
) -> Block:
    variable, configuration = layout.locate_distributions(configurations)
    sizes = layout.sizes[layout.members[layout.member_starts[variable + 1] - 1]]
    distributions = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    first = layout.cell_starts[variable] + configuration * sizes
    parameters = np.repeat(first - distributions[:-1], sizes) + np.arange(distributions[-1])
    own = linear.take(chosen)
    places = zip(variable.tolist(), configuration.tolist(), strict=True)
    return Block(
        tuple((layout.names[which], number) for which, number in places),
        parameters,
        distributions,
        np.repeat(np.arange(len(sizes)), sizes),
        replace(own, indices=np.searchsorted(parameters, own.indices).astype(np.int64)),
        chosen,
        tuple(_localised(product, parameters) for product in products),
    )


def _localised(product: ProductConstraint, parameters: Indices) -> ProductConstraint:
    local = np.searchsorted(parameters, product.indices)
    return replace(product, indices=tuple(local.tolist()))


# Blocks of the same shape ---------------------------------------------------------------------------------------------


def shape_of(block: Block) -> tuple[bytes, ...]:
    """A key that two blocks share exactly where they are the same system, whatever CPTs and statements it is about.

    `p0 raises y` with eight more parents makes 65,536 blocks that differ in nothing but their configurations, and one
    answer serves them all. Statements count by their rank in the block, since a minimal conflict prefers those that
    came first.
    """
    linear = block.linear
    parts = (
        block.distributions,
        linear.starts,
        linear.indices,
        linear.coefficients,
        linear.bounds,
        linear.equality,
        linear.confidences,
    )
    statements = _ranks(block, linear.statements)
    products = [
        (
            product.indices,
            product.exponents,
            product.log_bound,
            product.confidence,
            block.statements.index(product.statement),
        )
        for product in block.products
    ]
    return (*(part.tobytes() for part in parts), statements.tobytes(), repr(products).encode())


def with_local_numbers(block: Block) -> Block:
    """The block with local numbers for parameters and ranks for statements: the same for all blocks of its shape."""
    return replace(
        block,
        parameters=np.arange(block.size, dtype=np.int64),
        linear=replace(block.linear, statements=_ranks(block, block.linear.statements)),
        products=tuple(
            replace(product, statement=block.statements.index(product.statement)) for product in block.products
        ),
    )


def _ranks(block: Block, statements: Indices) -> Indices:
    if len(statements) and (statements == statements[0]).all() and not block.products:
        return np.zeros(len(statements), dtype=np.int64)  # the common case, and the quick one
    return np.searchsorted(block.statements, statements).astype(np.int64)


# More constraints -----------------------------------------------------------------------------------------------------


def with_constraints(
    block: Block,
    constraints: Indices,
    columns: Indices,
    coefficients: Numbers,
    bounds: Numbers,
    confidences: Numbers | None = None,
) -> Block:
    """The block with inequalities added, such as intervals from data or tangents of curves.

    Entry k puts coefficients[k] at parameter columns[k] of the new constraint constraints[k]; `constraints` counts from
    0 and ascends. The new constraints are hard where `confidences` are NaN or left out.
    """
    linear, count = block.linear, len(bounds)
    lengths = np.bincount(constraints, minlength=count)
    added = LinearConstraints(
        np.concatenate((linear.starts, linear.starts[-1] + np.cumsum(lengths))),
        np.concatenate((linear.indices, columns)),
        np.concatenate((linear.coefficients, coefficients)),
        np.concatenate((linear.bounds, bounds)),
        np.concatenate((linear.statements, np.full(count, NO_STATEMENT))),
        np.concatenate((linear.equality, np.zeros(count, dtype=np.bool_))),
        np.concatenate((linear.confidences, np.full(count, np.nan) if confidences is None else confidences)),
        np.concatenate((linear.scales, np.ones(count))),
    )
    return replace(
        block, linear=added, constraint_numbers=np.concatenate((block.constraint_numbers, np.full(count, -1)))
    )
