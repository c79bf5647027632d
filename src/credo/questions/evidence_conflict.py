"""Whether what is known about a case fits together: Hugin's conflict measure, and what would explain it.

For findings e = (e_1, …, e_n) [Jensen, Chamberlain, Nordahl and Jensen, 1990]

    conf(e) = log2 Π P(e_i) / P(e)

is positive where the findings are rarer together than if they had nothing to do with each other. A state h explains the
conflict where conf(e, h) = conf(e) − log2 P(h | e)/P(h) is not positive: a rare disease, in which they do fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import TooLargeError
from credo.knowledge.query import Query, as_evidence, evidence_text
from credo.model.expansion import expand
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.posterior.draws import interval_ends
from credo.probability_texts import percent_digits
from credo.questions.expected_utility import Known
from credo.questions.question_draws import draws_for_all
from credo.results.fit_results import Fit, require_level
from credo.statistics.questions import (
    answer,
    as_batch,
    batch_size,
    factors_of,
    marginal_factors,
    marginals,
    require_possible,
)
from credo.types import Numbers

if TYPE_CHECKING:
    import polars as pl

LARGE = log2(10.0)  # bits: findings that are together ten times as rare as if they were independent
LEAST_LIFT = 1.0  # bits by which a state that explains something becomes more probable
SHOWN = 10  # states that could explain it
MOST_CELLS_BESIDE = 2**18  # of all cliques, for what is computed beside an answer


@dataclass(frozen=True, slots=True)
class EvidenceConflict(PlainResult):
    """Whether findings fit together. Printing it says so, and what would explain a conflict.

    Attributes
    ----------
    given : str
        The findings.
    measure : float
        Hugin's measure in bits: positive where the findings are rarer together than if they were independent.
    interval : tuple of two floats or None
        Its credible interval; None where there are no draws.
    explanations : polars.DataFrame
        States that are not known and would explain the conflict, the best first: `finding`, its probability `before`
        and `after` what is known, and `remaining`, the measure with it.
    findings : polars.DataFrame
        For each finding the measure `without` it, the smallest first: which one does not fit.
    level : float
        The probability with which the interval contains the true value.
    """

    given: str
    measure: float
    interval: tuple[float, float] | None
    explanations: pl.DataFrame = field(repr=False)
    findings: pl.DataFrame = field(repr=False)
    level: float

    @property
    def is_large(self) -> bool:
        """Whether the findings are together at least ten times as rare as if they were independent."""
        return self.measure >= LARGE

    def __str__(self) -> str:
        times = f"{2.0 ** abs(self.measure):.3g}"
        if self.measure <= 0.0:
            return f"{self.given}: this fits together; it is {times} times as frequent as if it were independent."
        lines = [f"{self.given}: together this is {times} times as rare as if it were independent."]
        if self.is_large:
            lines = [f"{self.given}: these findings do not fit together."]
            lines.append(f"Together they are {times} times as rare as if they were independent.")
            if len(self.findings) > 2:
                lines.append(f"Without {self.findings['finding'][0]} the others fit best.")
            explaining = self.explanations.filter(self.explanations["remaining"] <= 0.0)
            for row in explaining.head(3).iter_rows(named=True):
                lines.append(
                    f"{row['finding']} would explain it: its probability goes from {percent_digits(row['before'])} to "
                    f"{percent_digits(row['after'])}."
                )
            if not len(explaining):
                lines.append("No single state explains it: look for a mistake in what was entered.")
        return "\n".join(lines)


def evidence_conflict(fit: Fit, evidence: object, level: float = 0.95) -> EvidenceConflict:
    """How far findings fit together, and what would explain it where they do not; see `Fit.conflict`."""
    import polars as pl

    require_level(level)
    known = as_evidence(fit.network, evidence)
    network, limit = expand(fit.network).network, fit.memory_limit
    passes = [marginal_factors(network, each, memory_limit=limit) for each in ({}, known)]
    own = [factors_of(network, {}, _without(known, name), {}, memory_limit=limit) for name in ("", *known)]
    cpts, note = draws_for_all(fit, network, [*passes, *own])
    before = marginals(network, cpts, {}, memory_limit=limit)
    singles = single_logs(network, before, known)  # (findings, batch)
    log_evidence = answer(network, cpts, Query({}, dict(known)))[1] / np.log(2.0)
    require_possible(log_evidence, Query({}, dict(known)))
    draws = singles.sum(axis=0) - log_evidence
    possible = np.isfinite(draws)
    measure = float(draws[possible].mean()) if known else 0.0
    after = marginals(network, cpts, known, memory_limit=limit)
    found: list[dict[str, Any]] = []
    for name in fit.network.names:
        if name in known:
            continue
        was, now = (_mean(each[name]) for each in (before, after))
        for k, state in enumerate(network.states(name)):
            if was[k] > 0.0 and now[k] > 0.0 and (lift := log2(now[k] / was[k])) >= LEAST_LIFT:
                event = evidence_text({name: (state,)})
                numbers = {"before": float(was[k]), "after": float(now[k]), "remaining": measure - lift}
                found.append({"finding": event, **numbers})
    found.sort(key=lambda row: row["remaining"])
    kinds = {"finding": pl.String, "before": pl.Float64, "after": pl.Float64, "remaining": pl.Float64}
    left_out: list[dict[str, Any]] = []
    for number, name in enumerate(known):
        rest = answer(network, cpts, Query({}, _without(known, name)))[1] / np.log(2.0)
        without = np.delete(singles, number, axis=0).sum(axis=0) - rest
        event = evidence_text({name: known[name]})
        left_out.append({"finding": event, "without": float(without[np.isfinite(without)].mean())})
    left_out.sort(key=lambda row: row["without"])
    has_interval = not note and batch_size(cpts) > 1 and len(known) > 0
    return EvidenceConflict(
        given=evidence_text(known) or "nothing",
        measure=measure,
        interval=tuple(map(float, interval_ends(draws[possible], level))) if has_interval else None,  # type: ignore[arg-type]
        explanations=pl.DataFrame(found[:SHOWN], schema=kinds),
        findings=pl.DataFrame(left_out, schema={"finding": pl.String, "without": pl.Float64}),
        level=level,
    )


def single_logs(network: Network, before: Mapping[str, Numbers], known: Known) -> Numbers:
    """log2 P(e_i) of each finding by itself, (findings, batch)."""
    found = []
    with np.errstate(divide="ignore"):
        for name, states in known.items():
            places = [network.states(name).index(state) for state in states]
            found.append(np.log2(before[name][:, places].sum(axis=1)))
    return np.stack(found) if found else np.zeros((0, 1))


def conflict_sentence(network: Network, known: Known, log_evidence: float) -> str:
    """The sentence that stands beside an answer whose evidence does not fit together; empty where it does.

    At the learned CPTs; empty, too, where that would take much longer than the answer.
    """
    if len(known) < 2 or not np.isfinite(log_evidence):
        return ""
    if _most_by_themselves(network, known) - log_evidence / float(np.log(2.0)) < LARGE:
        return ""
    before = _before(network)
    if before is None:
        return ""
    singles = single_logs(network, before, known)
    measure = float(singles.sum()) - log_evidence / float(np.log(2.0))
    if measure < LARGE:
        return ""
    return (
        f"These findings do not fit together: they are {2.0**measure:.3g} times as rare as if they were independent. "
        "`fit.conflict(…)` says what would explain it."
    )


def _most_by_themselves(network: Network, known: Known) -> float:
    """Σ log2 of the most that each finding can be by itself: a number of its CPT. So most answers need no marginals."""
    most = 0.0
    for name, states in known.items():
        places = [network.states(name).index(state) for state in states]
        most += log2(max(float(network.cpt_array(name)[..., places].sum(axis=-1).max()), 1e-300))
    return most


@lru_cache(maxsize=8)  # questions about one network follow each other
def _before(network: Network) -> Mapping[str, Numbers] | None:
    """P(v) of every variable at the CPTs of a network; None where that takes much longer than an answer."""
    try:
        if marginal_factors(network, {}).plan.cells > MOST_CELLS_BESIDE:
            return None
    except TooLargeError:
        return None
    return marginals(network, as_batch(network), {})


def _mean(values: Numbers) -> Numbers:
    return np.asarray(values[np.isfinite(values).all(axis=1)].mean(axis=0), dtype=np.float64)


def _without(known: Known, name: str) -> dict[str, tuple[str, ...]]:
    return {other: states for other, states in known.items() if other != name}
