"""Independent blocks: the conditional distributions that constraints connect, each with its own small system.

Blocks do not depend on each other, so that feasibility, estimates and samples are computed block by block. Hard, soft
and product constraints all connect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.constraint_set import Constraints, LinearConstraints, ProductConstraint, joined
from credo.model.graphs import connected_components
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

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

    def totals(self, values: Numbers) -> Numbers:
        """For each parameter the sum of the values of its distribution."""
        return np.asarray(np.add.reduceat(values, self.distributions[:-1])[self.distribution_of])

    def normalised(self, theta: Numbers) -> Numbers:
        """The same with every distribution summing to one, to the last bit that rounding allows."""
        theta = np.maximum(theta, 0.0)
        return np.asarray(theta / self.totals(theta), dtype=np.float64)

    def take(self, chosen: Flags) -> Block:
        """The block with these of its linear constraints."""
        return replace(self, linear=self.linear.take(chosen), constraint_numbers=self.constraint_numbers[chosen])

    @property
    def statements(self) -> tuple[int, ...]:
        """The statements that have constraints here."""
        own = self.linear.statements.tolist()
        if len(own) == 1 and not self.products:
            return tuple(own)
        return tuple(sorted({*own, *(product.statement for product in self.products)}))


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

    firsts = np.unique(label[: len(touched)], return_index=True)[1]
    rank = np.full(size, -1)  # of a label: blocks are in the order of their first distribution
    rank[label[np.sort(firsts)]] = np.arange(len(firsts))
    block_of, constraint_block = rank[label[: len(touched)]], rank[label[len(touched) :]]

    full = np.flatnonzero(linear.lengths > 0)
    full = full[np.argsort(constraint_block[full], kind="stable")]
    whole = _block(layout, touched[np.argsort(block_of, kind="stable")], linear.take(full), full)
    counts = (np.bincount(of, minlength=len(firsts)) for of in (block_of, constraint_block[full]))
    blocks = split_block(whole, *(starts_of(count) for count in counts))
    products_by_block: dict[int, list[ProductConstraint]] = {}
    for product, of_block in zip(products, constraint_block[len(linear) :].tolist(), strict=True):
        if of_block >= 0:
            products_by_block.setdefault(of_block, []).append(product)
    for k, own in products_by_block.items():
        local = tuple(_localised(product, blocks[k].parameters) for product in own)
        blocks[k] = replace(blocks[k], products=local)
    return tuple(blocks)


def one_block(constraints: Constraints) -> Block | None:
    """All distributions that constraints mention and all constraints with entries, connected or not; None for none."""
    linear, products = constraints.linear, constraints.products
    product_indices = np.array([index for product in products for index in product.indices], dtype=np.int64)
    indices = np.concatenate((linear.indices, product_indices))
    if not indices.size:
        return None
    touched = np.unique(constraints.layout.distribution_of(indices))
    full = np.flatnonzero(linear.lengths > 0)
    own = linear if len(full) == len(linear) else linear.take(full)
    block = _block(constraints.layout, touched, own, full)
    if not products:
        return block
    return replace(block, products=tuple(_localised(product, block.parameters) for product in products))


def _block(layout: Layout, configurations: Indices, own: LinearConstraints, numbers: Indices) -> Block:
    """One block of these distributions, in this order, and of these constraints with their numbers."""
    variable, configuration = layout.locate_distributions(configurations)
    sizes = layout.sizes[layout.members[layout.member_starts[variable + 1] - 1]]
    distributions = starts_of(sizes)
    first = layout.cell_starts[variable] + configuration * sizes
    parameters = np.repeat(first - distributions[:-1], sizes) + np.arange(distributions[-1])
    ascending = np.argsort(parameters, kind="stable")
    local = ascending[np.searchsorted(parameters, own.indices, sorter=ascending)]
    places = zip(variable.tolist(), configuration.tolist(), strict=True)
    return Block(
        tuple((layout.names[which], number) for which, number in places),
        parameters,
        distributions,
        np.repeat(np.arange(len(sizes)), sizes),
        replace(own, indices=local.astype(np.int64)),
        numbers,
    )


def _localised(product: ProductConstraint, parameters: Indices) -> ProductConstraint:
    local = np.searchsorted(parameters, product.indices)
    return replace(product, indices=tuple(local.tolist()))


# Many blocks as one ---------------------------------------------------------------------------------------------------


def starts_of(sizes: Sequence[int] | Indices) -> Indices:
    """Where each of parts of these sizes starts, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def stacked(blocks: Sequence[Block]) -> Block:
    """All blocks in one, numbered on; `constraint_numbers` counts its constraints from 0, and products are left out."""
    linear = [block.linear for block in blocks]
    parameters = starts_of([len(block.parameters) for block in blocks])
    distributions = starts_of([len(block.distributions) - 1 for block in blocks])
    count = sum(len(each) for each in linear)
    return Block(
        tuple(pair for block in blocks for pair in block.configurations),
        np.concatenate([block.parameters for block in blocks]),
        _numbered_on([block.distributions for block in blocks], parameters),
        np.concatenate([block.distribution_of for block in blocks])
        + np.repeat(distributions[:-1], np.diff(parameters)),
        joined(linear, parameters[:-1]),
        np.arange(count),
    )


def _numbered_on(starts: Sequence[Indices], offsets: Indices) -> Indices:
    """Lists of starts, each with its end, as one such list."""
    sizes = np.array([len(each) for each in starts])
    inside = np.ones(sizes.sum(), dtype=np.bool_)
    inside[np.cumsum(sizes) - 1] = False  # the ends
    return np.append(np.concatenate(starts)[inside] + np.repeat(offsets[:-1], sizes - 1), offsets[-1])


def split_block(block: Block, distribution_starts: Indices, constraint_starts: Indices) -> list[Block]:
    """The blocks that a stacked one is made of, given where the distributions and constraints of each start.

    What is computed is computed for all of them at once, so that each block is no more than slices.
    """
    linear, numbers = block.linear, np.arange(len(distribution_starts) - 1)
    parameters, entries = block.distributions[distribution_starts], linear.starts[constraint_starts]
    distribution_of = block.distribution_of - np.repeat(distribution_starts[:-1], np.diff(parameters))
    indices = linear.indices - np.repeat(parameters[:-1], np.diff(entries))
    distributions = _local_starts(block.distributions, distribution_starts)
    starts = _local_starts(linear.starts, constraint_starts)
    ends = zip(
        numbers.tolist(),
        *(
            bound
            for starts in (distribution_starts, constraint_starts, parameters, entries)
            for bound in (starts[:-1].tolist(), starts[1:].tolist())
        ),
        strict=True,
    )
    return [
        Block(
            block.configurations[first:last],
            block.parameters[begin:end],
            distributions[first + k : last + k + 1],
            distribution_of[begin:end],
            LinearConstraints(
                starts[start + k : stop + k + 1],
                indices[entry:until],
                linear.coefficients[entry:until],
                linear.bounds[start:stop],
                linear.statements[start:stop],
                linear.equality[start:stop],
                linear.confidences[start:stop],
                linear.scales[start:stop],
            ),
            block.constraint_numbers[start:stop],
        )
        for k, first, last, start, stop, begin, end, entry, until in ends
    ]


def _local_starts(starts: Indices, parts: Indices) -> Indices:
    """The starts within each part, counted from its own, and its end: part k stands from parts[k] + k on."""
    sizes = np.diff(parts) + 1
    places = np.arange(sizes.sum()) - np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(starts[places] - np.repeat(starts[parts[:-1]], sizes))


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
    if not block.products and (len(statements) == 1 or len(set(statements.tolist())) == 1):
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
