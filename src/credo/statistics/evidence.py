"""The likelihood of evidence about probabilities of the network, with its derivatives with respect to all CPTs.

    log L(θ) = Σ over quantities of log L_q(P_1(θ), P_2(θ), …)

Each P is N/D, sums that one elimination computes together with their derivatives (`network_statements.py`). Variation
between studies makes L_q an integral over how far each study is from the network, and over how far studies vary: a
function of one number, which is tabulated once and interpolated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from credo.constraints.constraint_set import Constraints, NetworkConstraint, NetworkProbability
from credo.constraints.evidence import Cases, CountEvidence, EvidenceRecord, LogRatioEvidence
from credo.io.dataset import Dataset, code_type
from credo.knowledge.evidence import ODDS_RATIO, RISK_DIFFERENCE
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.counts import Counts, empty
from credo.statistics.network_statements import IMPOSSIBLE, NO_CONDITION, NetworkStatements
from credo.types import MISSING, Flags, Numbers

NO_PRIOR = 1e12  # believed cases of each state
LEAST = 1e-12  # a probability of zero counts as this, so that evidence against it is strong, and finite
# The scale of a half-normal prior of the standard deviation of log odds between studies [Röver et al., 2021].
HETEROGENEITY = 0.5
_DEVIATIONS = np.linspace(-8.0, 8.0, 161)  # of a study from the network, in standard deviations
_SCALES = np.linspace(0.0, 2.5, 26)  # of that standard deviation, where it is learned
_LOG_ODDS = np.linspace(-28.0, 28.0, 561)


def believed_cases(records: Sequence[EvidenceRecord], layout: Layout) -> Counts | None:
    """The counts of cases that experts stated, and nobody saw; where these are all that is known, so many that no prior
    is left beside them.
    """
    believed = [record for record in records if isinstance(record, Cases) and record.believed]
    return cases_as_counts(
        [replace(each, counts=(NO_PRIOR,) * len(each.counts)) if each.are_all else each for each in believed], layout
    )


def cases_as_counts(records: Sequence[EvidenceRecord], layout: Layout) -> Counts | None:
    """The counts of cases that are seen like rows of one family; None where there are none."""
    found = [record for record in records if isinstance(record, Cases)]
    if not found:
        return None
    counts = empty(layout)
    for record in found:
        states = len(record.counts)
        first = record.configuration * states
        if record.variable in layout:
            cells = layout.view(counts.dense, record.variable).reshape(-1)
            cells[first : first + states] += record.counts
        else:
            keys, values = counts.sparse[record.variable]
            own = dict(zip(keys.tolist(), values.tolist(), strict=True))
            for state, count in enumerate(record.counts):
                if count:
                    own[first + state] = own.get(first + state, 0.0) + count
            ordered = sorted(own)
            pair = np.array(ordered, dtype=np.int64), np.array([own[key] for key in ordered])
            counts.sparse[record.variable] = pair  # type: ignore[index]
    return counts


def evidence_as_rows(records: Sequence[EvidenceRecord], network: Network) -> Dataset | None:
    """Rows that say what evidence given nothing says, and nothing else; None where there is no such evidence."""
    codes: list[Any] = []
    weights: list[float] = []
    for record in records:
        if isinstance(record, CountEvidence) and record.is_rows:
            for asked, count in zip(record.probabilities, record.counts, strict=True):
                row = np.full(len(network), MISSING, dtype=code_type(network))
                for name, (state,) in asked.events:
                    row[network.names.index(name)] = state
                if count:
                    codes.append(row)
                    weights.append(count)
    if not codes:
        return None
    return Dataset(network.names, np.stack(codes), np.array(weights), variables=network.variables)


@dataclass(frozen=True, eq=False)
class EvidenceDensity:
    """The log-likelihood of evidence about any probabilities, as a function of all CPTs."""

    sums: NetworkStatements
    quantities: tuple[_Quantity, ...]

    @classmethod
    def of(
        cls, records: Sequence[EvidenceRecord], layout: Layout, network: Network, memory_limit: int | None = None
    ) -> EvidenceDensity:
        """The density of all records but those that are counts; `network` is the expanded one."""
        numbers: dict[NetworkProbability, int] = {}
        quantities = tuple(_quantities(records, numbers))
        constraints = tuple(
            NetworkConstraint(((1.0, asked),), (), (), 1.0, number) for number, asked in enumerate(numbers)
        )
        stated = Constraints(layout, network_constraints=constraints)
        return cls(NetworkStatements.of(stated, network, memory_limit), quantities)

    @property
    def reached(self) -> Flags:
        """The parameters that it depends on, (parameters,)."""
        return np.asarray(self.sums.mask.any(axis=0), dtype=np.bool_)

    def smooth(self, theta: Numbers) -> tuple[float, Numbers]:
        """The log-likelihood, and its derivatives with respect to the logarithms of all parameters."""
        value, slopes = self.log_density(theta)
        return value, slopes * theta

    def probabilities(self, thetas: Numbers) -> Numbers:
        """Every probability that evidence is about, at many points: (points, probabilities)."""
        return self._shares(self.sums.sums_of(np.atleast_2d(thetas)))

    def _shares(self, sums: Numbers) -> Numbers:
        """N/D of every probability, a half where a condition never occurs."""
        above, below = self.sums.above, self.sums.below
        conditions = np.where(below == NO_CONDITION, 1.0, sums[..., np.maximum(below, 0)])
        possible = conditions > IMPOSSIBLE
        return np.where(possible, sums[..., above] / np.where(possible, conditions, 1.0), 0.5)

    def log_densities(self, thetas: Numbers) -> Numbers:
        """The log-likelihood at many points, (points,)."""
        probabilities = self.probabilities(thetas)
        total = np.zeros(len(probabilities))
        for quantity in self.quantities:
            total += quantity.value(probabilities[:, quantity.places])[0]
        return total

    def log_density(self, theta: Numbers) -> tuple[float, Numbers]:
        """The log-likelihood at one point, and its derivatives with respect to all parameters of the layout.

        ∂(N/D) = (∂N − (N/D) ∂D) / D.
        """
        above, below, sums = self.sums.above, self.sums.below, self.sums.sums.values(theta)
        shares = self._shares(sums)
        total, slopes = 0.0, np.zeros(len(shares))  # with respect to the probabilities
        for quantity in self.quantities:
            value, own = quantity.value(shares[None, quantity.places])
            total += float(value[0])
            np.add.at(slopes, quantity.places, own[0])
        given = below != NO_CONDITION
        conditions = np.where(given, sums[np.maximum(below, 0)], 1.0)
        slopes = np.divide(slopes, conditions, out=np.zeros_like(slopes), where=conditions > IMPOSSIBLE)
        weights = np.asarray(np.bincount(above, slopes, len(sums)), dtype=np.float64)
        weights -= np.bincount(below[given], (slopes * shares)[given], len(sums))
        return total, self.sums.sums.slope(theta, weights)


# Quantities -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Multinomial:
    """Σ_k n_k log P_k."""

    places: list[int]
    counts: Numbers

    def value(self, probabilities: Numbers) -> tuple[Numbers, Numbers]:
        """The log-likelihood, (points,), and its derivatives, (points, places)."""
        safe = np.maximum(probabilities, LEAST)
        return np.log(safe) @ self.counts, self.counts / safe


@dataclass(frozen=True, slots=True, eq=False)
class _OfOneNumber:
    """A tabulated log-likelihood of one number, the log odds of P₁ or a ratio of P₁ and P₂."""

    places: list[int]
    measure: str
    spline: Any

    def value(self, probabilities: Numbers) -> tuple[Numbers, Numbers]:
        number, slopes = measured(self.measure, np.clip(probabilities, LEAST, 1.0 - LEAST))
        number = np.clip(number, self.spline.x[0], self.spline.x[-1])
        return self.spline(number), self.spline(number, 1)[:, None] * slopes


_Quantity = _Multinomial | _OfOneNumber
LOG_ODDS = "log odds"


def measured(measure: str, probabilities: Numbers) -> tuple[Numbers, Numbers]:
    """A number that two probabilities, or one, have, (points,), and its derivatives, (points, places)."""
    if measure == LOG_ODDS:
        p = probabilities[:, :1]
        slopes = np.zeros_like(probabilities)
        slopes[:, :1] = 1.0 / (p * (1.0 - p))
        return (np.log(p) - np.log1p(-p))[:, 0], slopes
    p, q = probabilities[:, 0], probabilities[:, 1]
    if measure == RISK_DIFFERENCE:
        return p - q, np.tile([1.0, -1.0], (len(p), 1))
    if measure == ODDS_RATIO:
        number = np.log(p) - np.log1p(-p) - np.log(q) + np.log1p(-q)
        return number, np.column_stack([1.0 / (p * (1.0 - p)), -1.0 / (q * (1.0 - q))])
    return np.log(p) - np.log(q), np.column_stack([1.0 / p, -1.0 / q])


def number_of(record: CountEvidence | LogRatioEvidence) -> tuple[str, tuple[NetworkProbability, ...]]:
    """What evidence is about: a measure, and the probabilities that it compares."""
    if isinstance(record, CountEvidence):
        return LOG_ODDS, record.probabilities
    return record.measure, (record.first, record.second)


def _quantities(records: Sequence[EvidenceRecord], numbers: dict[NetworkProbability, int]) -> list[_Quantity]:
    """What evidence is about; studies of one quantity whose variation is learned belong together."""
    found: list[_Quantity] = []
    together: dict[tuple[Any, ...], list[CountEvidence | LogRatioEvidence]] = {}
    for record in records:
        if isinstance(record, Cases):
            continue
        measure, asked = number_of(record)
        places = [numbers.setdefault(each, len(numbers)) for each in asked]
        if record.is_learned:
            together.setdefault((measure, *places), []).append(record)
        elif isinstance(record, CountEvidence) and record.variation is None:
            found.append(_Multinomial(places, np.array(record.counts)))
        else:
            found.append(_tabulated(measure, places, [record], np.array([record.variation or 0.0]), np.zeros(1)))
    for (measure, *places), own in together.items():
        log_prior = -0.5 * (_SCALES / HETEROGENEITY) ** 2
        found.append(_tabulated(measure, list(places), own, _SCALES, log_prior))
    return found


def _tabulated(
    measure: str,
    places: list[int],
    records: Sequence[CountEvidence | LogRatioEvidence],
    scales: Numbers,
    log_prior: Numbers,
) -> _OfOneNumber:
    """log Σ_s p(s) Π_i L_i(x, s) on a grid of x, as a cubic spline; s is how far studies vary."""
    from scipy.interpolate import CubicSpline
    from scipy.special import logsumexp

    grid, total = _likelihoods(measure, records, scales)
    return _OfOneNumber(places, measure, CubicSpline(grid, logsumexp(total + log_prior[:, None], axis=0)))


def _likelihoods(
    measure: str, records: Sequence[CountEvidence | LogRatioEvidence], scales: Numbers
) -> tuple[Numbers, Numbers]:
    """A grid of x, and log Π_i L_i(x, s) there, (scales, grid)."""
    if measure == LOG_ODDS:
        grid = _LOG_ODDS
    else:
        assert all(isinstance(record, LogRatioEvidence) for record in records)
        estimates = [(record.estimate, record.error) for record in records if isinstance(record, LogRatioEvidence)]
        least = min(error for _, error in estimates)
        low = min([-1.0, *(estimate - 30.0 * least for estimate, _ in estimates)])
        high = max([1.0, *(estimate + 30.0 * least for estimate, _ in estimates)])
        grid = np.linspace(low, high, int(np.clip((high - low) / (0.1 * least), 400, 40_000)))
        if measure != RISK_DIFFERENCE:
            grid = np.unique(np.concatenate([np.linspace(-56.0, 56.0, 2241), grid]))
    total = np.zeros((len(scales), len(grid)))
    for record in records:
        total += np.stack([_log_likelihood(record, grid, float(scale)) for scale in scales])
    return grid, total


def learned_variation(
    measure: str, records: Sequence[CountEvidence | LogRatioEvidence], probabilities: Numbers
) -> float:
    """√E[s² | studies], how far studies of one number vary, where it has the value that draws of probabilities give it.

    `probabilities` are those that the number is of, (draws, places).
    """
    numbers, _ = measured(measure, np.clip(probabilities, LEAST, 1.0 - LEAST))
    grid, total = _likelihoods(measure, records, _SCALES)
    logs = np.stack([np.interp(numbers, grid, own) for own in total]) - 0.5 * ((_SCALES / HETEROGENEITY) ** 2)[:, None]
    chances = np.exp(logs - logs.max(axis=0))
    chances /= chances.sum(axis=0)
    return float(np.sqrt((_SCALES**2) @ chances.mean(axis=1)))


def _log_likelihood(record: CountEvidence | LogRatioEvidence, grid: Numbers, scale: float) -> Numbers:
    if isinstance(record, LogRatioEvidence):
        variance = record.error**2 + scale**2
        return np.asarray(-0.5 * (record.estimate - grid) ** 2 / variance - 0.5 * np.log(variance), dtype=np.float64)
    return _varied(*record.counts, scale)


@lru_cache(maxsize=4096)
def _varied(seen: float, others: float, scale: float) -> Numbers:
    """log ∫ Binomial(seen; σ(y)) N(y; x, scale²) dy for every x of the grid.

    The sum runs over whichever is narrower: the normal distribution, or the likelihood of y.
    """
    from scipy.special import logsumexp

    if scale == 0.0:
        return _log_binomial(seen, others, _LOG_ODDS)
    width = np.sqrt(1.0 / (seen + 0.5) + 1.0 / (others + 0.5))
    if width < scale and seen > 0.0 and others > 0.0:
        y = np.log((seen + 0.5) / (others + 0.5)) + width * _DEVIATIONS
        normal = -0.5 * ((y - _LOG_ODDS[:, None]) / scale) ** 2 - np.log(scale * np.sqrt(2.0 * np.pi))
        step = np.log(y[1] - y[0])
        return np.asarray(logsumexp(_log_binomial(seen, others, y) + normal, axis=1) + step, dtype=np.float64)
    weights = -0.5 * _DEVIATIONS**2
    inside = _log_binomial(seen, others, _LOG_ODDS[:, None] + scale * _DEVIATIONS)
    return np.asarray(logsumexp(inside + weights, axis=1) - logsumexp(weights), dtype=np.float64)


def _log_binomial(seen: float, others: float, log_odds: Numbers) -> Numbers:
    return -seen * np.logaddexp(0.0, -log_odds) - others * np.logaddexp(0.0, log_odds)
