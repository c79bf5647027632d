"""The findings of a block: feasibility, conflicts, redundancy and consequences, once for blocks of one shape."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from credo.constraints.blocks import Block, shape_of, stacked, with_local_numbers
from credo.constraints.conflicts import (
    MOST_STEPS,
    MinimalConflict,
    enumerate_conflicts,
    minimal_conflict,
    minimal_conflicts,
)
from credo.constraints.consequences import (
    ForcedEqual,
    Pinned,
    constant_constraints,
    feasible_directions,
    forced_equal,
    impossible_statements,
    pinned,
)
from credo.constraints.feasibility import interior_of
from credo.constraints.product_feasibility import ProductFinding, product_conflict, product_finding
from credo.constraints.program import FEASIBILITY_TOLERANCE, Program, constraints_of_statements
from credo.constraints.redundancy import redundant_statements
from credo.constraints.violations import product_excess
from credo.types import Numbers

MOST_WORK = 2_000_000  # sets examined, times parameters and constraints: about ten seconds for the largest blocks
FEWEST_STEPS = 10


@dataclass(frozen=True, slots=True, eq=False)
class BlockFinding:
    """The findings of a block; where its linear constraints are infeasible, only `conflicts` is filled."""

    feasible: bool
    conflicts: tuple[MinimalConflict, ...] = ()
    has_all_conflicts: bool = True
    follows_from: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    undecided: tuple[int, ...] = ()
    explored: bool = True  # whether pinned parameters were searched
    varying: tuple[int, ...] = ()  # statements with a constraint whose value other statements do not fix
    pins: tuple[Pinned, ...] = ()
    forced: tuple[ForcedEqual, ...] = ()
    impossible: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    product_statements: tuple[int, ...] = ()  # those without a confidence
    products_hold: bool = False  # whether a point was found that satisfies them and everything else


MOST_KNOWN = 50_000  # shapes of blocks whose findings are kept


class BlockFindings:
    """The findings of each shape of block so far; a class because it is a cache."""

    def __init__(self) -> None:
        self._known: dict[object, BlockFinding] = {}

    def of(self, block: Block, false: Collection[int]) -> BlockFinding:
        """The findings of a block; statements that are known to be `false` by themselves are no part of conflicts."""
        members = block.statements
        without = frozenset(rank for rank, number in enumerate(members) if number in false) if false else ()
        key = (shape_of(block), without)
        if key not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = _found(with_local_numbers(block), without)
        return _renumbered(self._known[key], block, members)


def block_conflicts(block: Block) -> tuple[MinimalConflict, ...]:
    """The conflicts among the hard statements of a block; none where they can all hold, or where that is not known."""
    interior = interior_of(block)
    if interior is None:
        return minimal_conflicts(block)
    if all(product.confidence is not None for product in block.products):
        return ()
    conflict = product_finding(block, interior, Program(block)).conflict
    return () if conflict is None else (conflict,)


def conflicts_behind(blocks: Sequence[Block], theta: Numbers) -> dict[int, tuple[MinimalConflict, ...]]:
    """The conflicts in those blocks, by position, whose hard statements a point in all parameters does not satisfy.

    Statements that conflict cannot be satisfied, so that no others need to be looked at.
    """
    found: dict[int, tuple[MinimalConflict, ...]] = {}
    if not blocks:
        return found
    whole = stacked(blocks)
    violated = whole.linear.hard & (whole.linear.excess(theta[whole.parameters]) > FEASIBILITY_TOLERANCE)
    owner = np.repeat(np.arange(len(blocks)), [len(block.linear) for block in blocks])
    suspects = set(owner[violated].tolist())
    for k, block in enumerate(blocks):
        if block.products and k not in suspects:
            own = theta[block.parameters]
            if any(
                product.confidence is None and product_excess(product, own) > FEASIBILITY_TOLERANCE
                for product in block.products
            ):
                suspects.add(k)
    for k in sorted(suspects):
        conflicts = block_conflicts(blocks[k])
        if conflicts:
            found[k] = conflicts
    return found


def all_conflicts(
    block: Block, program: Program, without: Collection[int] = (), known: Collection[MinimalConflict] = ()
) -> tuple[tuple[MinimalConflict, ...], bool]:
    """All minimal conflicts among the hard statements of a block, and whether the search came to its end.

    With products, they are those that the ranges of factors prove. The number of sets that are looked at depends on the
    size of the block alone, never on the clock, so that the same knowledge always gives the same answer.
    """
    products = [product for product in block.products if product.confidence is None]
    linear = set(block.linear.statements[block.linear.hard].tolist()) - set(without)
    owners = {product.statement for product in products} - set(without)  # of soft statements all parts are soft
    found = {conflict.statements: conflict for conflict in known}

    def conflict_in(chosen: list[int]) -> tuple[int, ...] | None:
        members = set(chosen)
        conflict = minimal_conflict(program, members & linear)
        if conflict is None and owners:
            conflict = product_conflict(program, products, members)
        if conflict is None:
            return None
        found[conflict.statements] = conflict
        return conflict.statements

    steps = max(FEWEST_STEPS, min(MOST_STEPS, MOST_WORK // (block.size + len(block.linear))))
    search = enumerate_conflicts(linear | owners, conflict_in, most_steps=steps, known=list(found))
    return tuple(found[statements] for statements in search.conflicts), search.is_complete


def _found(block: Block, without: Collection[int]) -> BlockFinding:
    interior = interior_of(block)
    program = Program(block)
    if interior is None:
        return BlockFinding(False, *all_conflicts(block, program, without, minimal_conflicts(block, without)))
    found = redundant_statements(block, interior, program)
    directions = feasible_directions(block, interior)
    explored = directions is not None and len(directions.parameters) > 0
    pins = pinned(block, interior, directions, program) if directions is not None and explored else ()
    constant = constant_constraints(block, directions)
    varying = {
        number
        for number, own in constraints_of_statements(block.linear).items()
        if number not in found.follows_from or not constant[own].all()
    }
    products = tuple(sorted({product.statement for product in block.products if product.confidence is None}))
    finding = product_finding(block, interior, program) if products else ProductFinding(None, None)
    conflicts = ((), True) if finding.conflict is None else all_conflicts(block, program, without)
    return BlockFinding(
        True,
        *conflicts,
        found.follows_from,
        found.undecided,
        directions is not None,
        tuple(varying | {product.statement for product in block.products}),
        pins,
        forced_equal(block, interior, program, found.follows_from, [pin.parameter for pin in pins]),
        impossible_statements(block, interior, program),
        products,
        finding.point is not None,
    )


def _renumbered(found: BlockFinding, block: Block, members: tuple[int, ...]) -> BlockFinding:
    """Findings in local numbers and ranks, with the network's parameters and the statements of one block."""
    if not found.conflicts and not found.pins and not found.forced and members == tuple(range(len(members))):
        return found  # all its numbers are right already

    def statements_of(ranks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(members[rank] for rank in ranks)

    def renumbered(found_for: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
        return {members[rank]: statements_of(others) for rank, others in found_for.items()}

    return replace(
        found,
        conflicts=tuple(_renumbered_conflict(conflict, block, members) for conflict in found.conflicts),
        follows_from=renumbered(found.follows_from),
        undecided=statements_of(found.undecided),
        varying=statements_of(found.varying),
        pins=tuple(
            Pinned(int(block.parameters[pin.parameter]), pin.value, statements_of(pin.statements)) for pin in found.pins
        ),
        forced=tuple(
            replace(forced, parameters=block.parameters[forced.parameters], statements=statements_of(forced.statements))
            for forced in found.forced
        ),
        impossible=renumbered(found.impossible),
        product_statements=statements_of(found.product_statements),
    )


def _renumbered_conflict(conflict: MinimalConflict, block: Block, members: tuple[int, ...]) -> MinimalConflict:
    witnesses = tuple(
        replace(witness, left_out=members[witness.left_out], parameters=block.parameters[witness.parameters])
        for witness in conflict.witnesses
    )
    statements = tuple(members[rank] for rank in conflict.statements)
    return replace(conflict, statements=statements, witnesses=witnesses)
