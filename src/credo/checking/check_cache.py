"""What checks of knowledge that changes little by little use again: counts, findings of blocks, plausibilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from credo.constraints.block_findings import BlockFindings
from credo.constraints.constraint_set import Constraints
from credo.constraints.lower import LoweringCache
from credo.constraints.noisy_families import expansion_of
from credo.errors import ImpossibleRowError
from credo.explain.contradictions import DataComparison, compare_with_data
from credo.explain.plausibility import Plausibility
from credo.io.dataset import extended
from credo.io.gate_rows import gate_steps, with_gates
from credo.knowledge import Knowledge
from credo.knowledge.statements import Gate, NoisyFamily, Order, SharedCPT, Statement, TiedRows
from credo.model.network import Network
from credo.progress import (
    READING_DATA,
    ProgressEvent,
    ProgressListener,
    shares_of,
)
from credo.statistics.counts import Counts, count, empty, layout_for_counts, merge
from credo.statistics.tied_columns import stream_with_ties
from credo.types import TableLike

_SHAPING = (NoisyFamily, Gate, SharedCPT)  # what the CPTs are


class DataRead(NamedTuple):
    """Counts, hidden variables, and the first row that contradicts a gate."""

    counts: Counts
    hidden: tuple[str, ...]
    impossible: ImpossibleRowError | None


@dataclass(slots=True)
class CheckCache:
    """What checks of knowledge that changes little by little can use again; not frozen, because it is a cache.

    Findings of blocks are known by the content of the block, and the plausibility of a statement depends on nothing but
    the statement, the network, the order of states and the counts.
    """

    lowering: LoweringCache = field(default_factory=LoweringCache)
    blocks: BlockFindings = field(default_factory=BlockFindings)
    mark: object = None  # of the data that were counted
    counted: tuple[Network, tuple[Statement, ...], DataRead] | None = None
    plausible: dict[Statement, tuple[Plausibility | None, bool]] = field(default_factory=dict)  # and if too small
    context: tuple[object, ...] = ()  # that these were computed in

    def read(self, knowledge: Knowledge, data: TableLike, notify: ProgressListener) -> DataRead:
        """What a check takes from the data; that of the check before where neither they nor the network changed."""
        shaping = tuple(
            each for each in knowledge.statements if isinstance(each, NoisyFamily | Gate | SharedCPT | TiedRows)
        )
        known = self.counted
        if known is None or known[1] != shaping or not _is_same_network(known[0], knowledge.network):
            known = self.counted = (knowledge.network, shaping, data_read(knowledge, data, notify))
        return known[2]

    def _is_known_context(
        self, network: Network, shaping: tuple[Statement, ...], counts: Counts | None, seed: int
    ) -> bool:
        if not self.context:
            return False
        known_network, known_shaping, known_counts, known_seed = self.context
        same = known_shaping == shaping and known_counts is counts and known_seed == seed
        return same and _is_same_network(known_network, network)

    def compared(
        self, knowledge: Knowledge, constraints: Constraints, counts: Counts | None, seed: int
    ) -> DataComparison:
        """Every statement compared with the data, those that are new here alone."""
        shaping = tuple(
            each for each in knowledge.statements if isinstance(each, NoisyFamily | Gate | SharedCPT | Order)
        )
        if not self._is_known_context(knowledge.network, shaping, counts, seed):
            self.plausible = {}
            self.context = (knowledge.network, shaping, counts, seed)
        statements = knowledge.statements
        lowered = {*constraints.linear.statements.tolist(), *(each.statement for each in constraints.products)}
        lowered.update(constraints.network_statements)
        fresh = {number for number in lowered if statements[number] not in self.plausible}
        found = compare_with_data(constraints, counts, statements=fresh, seed=seed, knowledge=knowledge)
        self.plausible |= {
            statements[number]: (found.plausible.get(number), number in found.too_small) for number in fresh
        }
        kept = {statements[number] for number in lowered}
        self.plausible = {statement: known for statement, known in self.plausible.items() if statement in kept}
        known = {number: self.plausible[statements[number]] for number in sorted(lowered)}
        return DataComparison(
            {**{number: own for number, (own, _) in known.items() if own is not None}, **found.plausible},
            frozenset(number for number, (_, too_small) in known.items() if too_small),
        )


def _is_same_network(one: object, other: Network) -> bool:
    """Whether statements mean the same in two networks."""
    if not isinstance(one, Network) or not one.same_structure(other):
        return False
    both = zip(one.variables, other.variables, strict=True)
    return all(own.is_ordered == each.is_ordered for own, each in both)


def data_read(knowledge: Knowledge, data: TableLike, notify: ProgressListener) -> DataRead:
    """The counts of every family, from the rows in which none of its values is missing, and what else a check says."""
    expansion = expansion_of(knowledge)
    families, steps = layout_for_counts(expansion.network), gate_steps(expansion)
    counts, hidden, rows = empty(families), tuple[str, ...](), 0
    impossible: ImpossibleRowError | None = None
    notify(ProgressEvent(READING_DATA))
    for part in stream_with_ties(knowledge, data, progress=shares_of(READING_DATA, notify)):
        counts, hidden = merge(counts, count(families, extended(part, expansion.network))), part.hidden
        if steps and impossible is None:
            try:
                with_gates(part, expansion.network, steps, rows)
            except ImpossibleRowError as error:
                impossible = error
        rows += len(part)
    return DataRead(counts, (*hidden, *expansion.extra), impossible)
