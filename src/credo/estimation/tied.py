"""Learning from tied rows: the counts with which an M-step increases log P(data | ties).

With N1 expected of data and ties and N2 of the ties alone, the derivative for log θ is N1 − N2 [yao, eq. 5].
An M-step on the counts

    N1 − N2 + κ·θ        (κ a number for each distribution, large enough that no count is negative)

has its fixed points exactly where that derivative vanishes, under a prior and under any linear statements too: κ·θ
pulls a distribution towards its present value, and nowhere else. With κ = N2 of the distribution it keeps its own
count, and without ties it is EM [yao, eq. 7]. The paper's own iteration [yao, eq. 6] has the same fixed points, but its
intermediate distributions do not sum to one, and it has no statements.

Messages start from the fixed point of the last CPTs. Where ties form many cycles there can be several fixed points, and
messages may stay at one where log P(ties) is far too low, which N1 − N2 then moves towards. Without memory they start
uninformative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.constraint_set import RowTie
from credo.estimation.em.steps import NO_MEMORY
from credo.estimation.solution import TiedLikelihood
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.model.layout import Layout
from credo.options import TieReading
from credo.statistics.inference.expected_counts import PreparedRows
from credo.statistics.partitioned_rows import PartitionedRows
from credo.statistics.ties.likelihood import TiedData, tie_rows
from credo.statistics.ties.relaxation import TOLERANCE
from credo.statistics.ties.tied_parts import TiedParts, tie_parts
from credo.types import Indices, Numbers

# An error of the logarithm that is as large as the effect of a row or two moves the optimum about as far as they do.
FAR_OFF = 1.0
LEAST_COUNT = 0.1  # of a distribution, as a share of its count in the ties alone
LEAST_OF_STATE = 1e-3  # of the count of what rows show, as a share of what its count falls by


@dataclass(frozen=True, slots=True, eq=False)
class TiedEStep:
    """The E-step of tied rows; its memory is the messages between them."""

    rows: TiedData | TiedParts
    distributions: Indices  # where each conditional distribution begins
    tolerance: float = TOLERANCE  # of the messages

    @property
    def prepared(self) -> PreparedRows:
        """The rows on their own, with the values that ties reveal."""
        return self.rows.prepared

    @property
    def is_bound(self) -> bool:
        """Merged and joint ties are EM; where rows are conditioned on their ties a step may lead too far."""
        return not self.rows.is_conditioned and self.rows.is_exact

    def start(self) -> Numbers:
        """Uninformative messages."""
        return self.rows.start()

    def __call__(self, theta: Numbers, memory: Numbers) -> tuple[Numbers, float, Numbers]:
        """The counts for the M-step, log P(data | ties), and the messages."""
        found = self.rows.expected(theta, memory if len(memory) else self.start(), self.tolerance)
        counts = countable(found.seen, found.chance, theta, self.distributions)
        return counts, found.log_likelihood, found.evidence if len(memory) else NO_MEMORY


def tied_rows(
    count_layout: Layout,
    ties: Sequence[RowTie],
    dataset: Dataset | PartitionedRows,
    reading: TieReading = TieReading.SELECTED,
    memory_limit: int | None = None,
) -> TiedData | TiedParts:
    """Rows with these ties, in one part or in several."""
    if isinstance(dataset, PartitionedRows):
        return tie_parts(dataset, ties, reading)
    return tie_rows(count_layout, ties, dataset, reading=reading, memory_limit=memory_limit)


def tied_e_step(
    count_layout: Layout,
    ties: Sequence[RowTie],
    dataset: Dataset | PartitionedRows,
    reading: TieReading,
    memory_limit: int | None,
    known: TiedData | None = None,
) -> TiedEStep:
    """The E-step for rows with these ties, under one reading of them; where the tied rows are `known`, for these."""
    rows = tied_rows(count_layout, ties, dataset, reading, memory_limit) if known is None else known
    return TiedEStep(rows, rows.prepared.layout.distribution_starts())


def tied_likelihood(rows: TiedData | TiedParts, theta: Numbers, seed: int = 0) -> TiedLikelihood:
    """log P(data | ties) under CPTs, whether it is exact, and about how far it is from the exact one."""
    found = rows.expected(theta, rows.start())
    exact = rows.is_exact and found.converged
    correction = rows.correction(theta, seed) if found.converged else None
    if correction is None:
        return TiedLikelihood(found.log_likelihood, exact, found.converged)
    return TiedLikelihood(found.log_likelihood, exact, found.converged, correction.value, correction.error)


def is_far_off(likelihood: TiedLikelihood) -> bool:
    """Whether the likelihood is, or may be, so far from the exact one that its optimum is another."""
    if likelihood.correction is None:
        return True
    return abs(likelihood.correction) > FAR_OFF + 2 * likelihood.correction_error


def tie_finding(rows: TiedData | TiedParts, likelihood: TiedLikelihood) -> Finding:
    """What a user should know about the ties."""
    values, shared, pairs = rows.figures.values, rows.figures.shared, rows.figures.pairs
    parts = []
    if shared:
        parts.append(f"{values:,} values are tied into {shared:,} shared {'value' if shared == 1 else 'values'}")
    if pairs:
        parts.append(f"{pairs:,} {'pair differs' if pairs == 1 else 'pairs differ'}")
    return Finding("ties", f"{' and '.join(parts) or 'No two rows are tied'}. {_quality(likelihood)}")


def _quality(likelihood: TiedLikelihood) -> str:
    if likelihood.is_exact:
        return "The likelihood of the tied rows is exact."
    if not likelihood.converged:
        return (
            "Some ties form cycles, and the messages between them did not converge: the likelihood of the tied rows is "
            "a rough approximation. Tie fewer variables of a row."
        )
    start = "Some ties form cycles: the likelihood of the tied rows is an approximation (its messages converged)."
    if likelihood.correction is None:
        return f"{start} There are too many cycles to estimate how far it is off. Tie fewer variables of a row."
    size, error = abs(likelihood.correction), likelihood.correction_error
    side = "below" if likelihood.correction > 0 else "above"
    by = f"{size:.2g}" if error == 0 else f"{size:.2g} ± {error:.2g}"
    advice = " Do not trust the estimate: tie fewer variables of a row." if is_far_off(likelihood) else ""
    return f"{start} Its logarithm is about {by} {side} the exact one.{advice}"


def countable(seen: Numbers, chance: Numbers, theta: Numbers, starts: Indices) -> Numbers:
    """N1 − N2 + κ·θ with the least κ that is no less than the distribution's N2 and leaves no count negative.

    A distribution that no row shows may matter to the ties alone. It keeps a count, so that an M-step does not take it
    for one without data. What rows show keeps a count, too: its probability may fall towards zero, but where it is
    zero, these rows and their ties are impossible.
    """
    lengths = np.diff(starts, append=len(theta))
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.where(chance > seen, (chance - seen) / theta, 0.0)
    needed = np.where(seen > 0.0, (1.0 + LEAST_OF_STATE) * needed, needed)
    all_seen, all_chance = np.add.reduceat(seen, starts), np.add.reduceat(chance, starts)
    hold = np.maximum(all_chance, np.maximum.reduceat(needed, starts))
    hold = np.maximum(hold, (1.0 + LEAST_COUNT) * all_chance - all_seen)
    return np.maximum(seen - chance + np.repeat(hold, lengths) * theta, 0.0)
