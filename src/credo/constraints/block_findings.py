"""What one block tells: whether it can hold, what follows, what is pinned; worked out once for all blocks alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from credo.constraints.block_cache import anonymous, shape_of
from credo.constraints.blocks import Block
from credo.constraints.conflicts import Clash, clashes
from credo.constraints.consequences import (
    ForcedEqual,
    Pinned,
    cannot_hold,
    constant_rows,
    forced_equal,
    freedom_of,
    pinned,
)
from credo.constraints.feasibility import interior_of
from credo.constraints.product_feasibility import ProductFinding, product_finding
from credo.constraints.program import Program, rows_of_statements
from credo.constraints.redundancy import followers


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What was found out about a block; where its linear rows cannot hold together, only `clashes` speak."""

    feasible: bool
    clashes: tuple[Clash, ...] = ()
    follows_from: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    undecided: tuple[int, ...] = ()
    explored: bool = True  # whether pinned numbers were looked for
    varying: tuple[int, ...] = ()  # statements with a row whose value is not settled without it
    pins: tuple[Pinned, ...] = ()
    forced: tuple[ForcedEqual, ...] = ()
    impossible: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    product_statements: tuple[int, ...] = ()  # those without a confidence
    products_hold: bool = False  # whether a point was found where they hold with everything else


class Findings:
    """What was found for each shape of block so far; a class because it remembers."""

    def __init__(self) -> None:
        self._known: dict[object, Finding] = {}

    def of(self, block: Block, clashing: Collection[int]) -> Finding:
        """The finding of a block; statements that are `clashing` already are not reported again."""
        members = block.statements
        without = frozenset(rank for rank, number in enumerate(members) if number in clashing) if clashing else ()
        key = (shape_of(block), without)
        if key not in self._known:
            self._known[key] = _found(anonymous(block), without)
        return _named(self._known[key], block, members)


def _found(block: Block, without: Collection[int]) -> Finding:
    interior = interior_of(block)
    if interior is None:
        return Finding(False, clashes(block, without))
    program = Program(block)
    found = followers(block, interior, program)
    freedom = freedom_of(block, interior)
    pins = pinned(block, interior, freedom, program) if freedom is not None and len(freedom.parameters) else ()
    constant = constant_rows(block, freedom)
    varying = {
        number
        for number, rows in rows_of_statements(block.linear).items()
        if number not in found.follows_from or not constant[rows].all()
    }
    products = tuple(sorted({row.statement for row in block.products if row.confidence is None}))
    finding = product_finding(block, interior, program) if products else ProductFinding(None, None)
    return Finding(
        True,
        () if finding.clash is None else (finding.clash,),
        found.follows_from,
        found.undecided,
        freedom is not None,
        tuple(varying | {row.statement for row in block.products}),
        pins,
        forced_equal(block, interior, program, found.follows_from, [pin.parameter for pin in pins]),
        cannot_hold(block, interior, program),
        products,
        finding.point is not None,
    )


def _named(found: Finding, block: Block, members: tuple[int, ...]) -> Finding:
    """A finding in local numbers and ranks, with the network's numbers and the statements of one block."""
    if not found.clashes and not found.pins and not found.forced and members == tuple(range(len(members))):
        return found  # nothing in it has to be named anew

    def all_named(ranks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(members[rank] for rank in ranks)

    def table_named(table: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
        return {members[rank]: all_named(others) for rank, others in table.items()}

    return replace(
        found,
        clashes=tuple(_named_clash(clash, block, members) for clash in found.clashes),
        follows_from=table_named(found.follows_from),
        undecided=all_named(found.undecided),
        varying=all_named(found.varying),
        pins=tuple(
            Pinned(int(block.parameters[pin.parameter]), pin.value, all_named(pin.statements)) for pin in found.pins
        ),
        forced=tuple(
            replace(each, parameters=block.parameters[each.parameters], statements=all_named(each.statements))
            for each in found.forced
        ),
        impossible=table_named(found.impossible),
        product_statements=all_named(found.product_statements),
    )


def _named_clash(clash: Clash, block: Block, members: tuple[int, ...]) -> Clash:
    witnesses = tuple(
        replace(each, left_out=members[each.left_out], parameters=block.parameters[each.parameters])
        for each in clash.witnesses
    )
    return replace(clash, statements=tuple(members[rank] for rank in clash.statements), witnesses=witnesses)
