"""What the blocks of a check show, gathered by statements: conflicts, what follows, what is forced."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from credo.constraints.block_findings import BlockFinding, BlockFindings
from credo.constraints.blocks import Block
from credo.constraints.conflicts import MinimalConflict, false_statements, minimal_sets
from credo.constraints.consequences import ForcedEqual, Pinned
from credo.constraints.constraint_set import Constraints
from credo.estimation.network_feasibility import NetworkSearch
from credo.progress import (
    CHECKING_KNOWLEDGE,
    ProgressEvent,
    ProgressListener,
)

_REPORT_EVERY = 256  # blocks between two progress events


@dataclass(slots=True)
class BlockSummary:
    """What the blocks showed so far, by the numbers of statements."""

    found_conflicts: dict[tuple[int, ...], MinimalConflict] = field(default_factory=dict)
    conflicting: set[int] = field(default_factory=set)
    is_cut_short: bool = False  # whether a block may have more conflicts
    unresolved: set[int] = field(default_factory=set)  # in blocks with conflicts, and perhaps part of one
    follows: dict[int, set[tuple[int, ...]]] = field(default_factory=dict)
    needed: set[int] = field(default_factory=set)  # with a constraint that does not follow, or was not decided
    undecided: set[int] = field(default_factory=set)
    unexplored: set[int] = field(default_factory=set)  # in blocks too large or too narrow to look into
    varying: set[int] = field(default_factory=set)  # with a constraint whose value is not settled without it
    pins: list[Pinned] = field(default_factory=list)
    excluded: dict[int, set[int]] = field(default_factory=dict)
    forced: list[ForcedEqual] = field(default_factory=list)
    notes: dict[tuple[int, str], None] = field(default_factory=dict)
    open_products: set[int] = field(default_factory=set)
    suspected: tuple[int, ...] = ()  # the smallest set for which a search found no CPTs
    open_network_constraints: dict[int, str] = field(
        default_factory=dict
    )  # about several CPTs, and what is not known of each

    @property
    def conflicts(self) -> list[MinimalConflict]:
        """The minimal conflicts of all blocks: what is minimal in one may contain a conflict of another."""
        return [self.found_conflicts[statements] for statements in minimal_sets(self.found_conflicts)]

    @property
    def not_decided(self) -> set[int]:
        """Statements of which it is not known whether they are part of a conflict."""
        in_conflict = {each for found in self.conflicts for each in found.statements}
        return {*self.unresolved, *self.open_products, *self.open_network_constraints, *self.suspected} - in_conflict

    def add_conflict(self, conflict: MinimalConflict) -> None:
        known = self.found_conflicts.get(conflict.statements)
        if known is None or known.relaxation < conflict.relaxation:  # all blocks have to give way
            self.found_conflicts[conflict.statements] = conflict
        self.conflicting |= set(conflict.statements)

    def redundant(self, constraints: Constraints) -> dict[int, set[int]]:
        """Statements whose constraints follow in every block, with all they follow from."""
        with_products = {product.statement for product in constraints.products}
        closed = self.needed | self.conflicting | with_products
        return {number: set().union(*parts) for number, parts in self.follows.items() if number not in closed}


def summarise_blocks(
    constraints: Constraints, blocks: Collection[Block], findings: BlockFindings, notify: ProgressListener
) -> BlockSummary:
    summary = BlockSummary()
    for conflict in false_statements(constraints):
        summary.add_conflict(conflict)
    false = frozenset(summary.conflicting)
    for done, block in enumerate(blocks):
        if done % _REPORT_EVERY == 0:
            notify(ProgressEvent(CHECKING_KNOWLEDGE, done, len(blocks)))
        _add_block(summary, block, findings.of(block, false))
    notify(ProgressEvent(CHECKING_KNOWLEDGE, len(blocks), len(blocks)))
    return summary


def _add_block(summary: BlockSummary, block: Block, found: BlockFinding) -> None:
    members = set(block.statements)
    for conflict in found.conflicts:
        summary.add_conflict(conflict)
    if not found.has_all_conflicts:
        summary.is_cut_short = True
        summary.unresolved |= members
    if not found.feasible:
        # Of products it is only known which are excluded; of soft statements, nothing where hard ones conflict.
        hard = set(block.linear.statements[block.linear.hard].tolist())
        summary.unresolved |= members - hard | {product.statement for product in block.products}
        if not summary.conflicting & members:
            summary.unexplored |= members
        summary.needed |= members  # where nothing can hold, nothing is reported as redundant
        summary.varying |= members
        return
    for number, sources in found.follows_from.items():
        summary.follows.setdefault(number, set()).add(sources)
    summary.needed |= members - set(found.follows_from)
    summary.undecided |= set(found.undecided)
    if not found.explored:
        summary.unexplored |= members
    summary.varying |= set(found.varying)
    summary.pins += found.pins
    summary.forced += found.forced
    for number, others in found.impossible.items():
        summary.excluded.setdefault(number, set()).update(others)
    if found.products_hold:
        sentence = "compares products, which is not convex: CPTs were found where it holds with all the others."
        summary.notes.update(dict.fromkeys((number, sentence) for number in found.product_statements))
    else:
        summary.open_products |= set(found.product_statements)  # those in a conflict are taken out at the end


def add_search(summary: BlockSummary, constraints: Constraints, search: NetworkSearch | None) -> None:
    """What the search for CPTs showed of statements about probabilities that depend on several CPTs."""
    numbers = [number for number in constraints.network_statements if number not in summary.conflicting]
    if search is None:
        if summary.conflicts:
            sentence = (
                "is about a probability that depends on several CPTs: it was not checked against the others, some of "
            )
            summary.open_network_constraints |= dict.fromkeys(numbers, f"{sentence}which conflict.")
        return
    if search.is_found:
        sentence = (
            "is about a probability that depends on several CPTs: CPTs were found where it holds with all others."
        )
        hard = {each.statement for each in constraints.network_constraints if each.confidence is None}
        summary.notes.update(dict.fromkeys((number, sentence) for number in numbers if number in hard))
        return
    summary.suspected = search.smallest
    for number in () if search.smallest else {*numbers, *search.culprits}:
        if number in search.culprits:
            summary.open_network_constraints[number] = (
                "may contradict the others: no CPTs were found where all statements hold, but without it some were. "
                "That is no proof."
            )
        else:
            summary.open_network_constraints[number] = (
                "is about a probability that depends on several CPTs: no CPTs were found where it holds with all "
                f"others. The nearest CPTs miss a statement by {search.missed:.2g}. "
                "That is no proof that there are none."
            )
