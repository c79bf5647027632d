"""Which rows to collect next, for some questions: where one more observation is expected to narrow the answers most.

One observation of a distribution, whichever state x it shows, reduces the variance of an answer q by

    Σ_x Cov(q, θ_x)² / m_x        on average over what it may show,

since E[q | x] = E[q·θ_x] / m_x, with m the mean of θ; the covariance is that of the fit's draws. Where q is a
probability of the distribution itself this is the formula of `credo.explain.next_observation`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.explain.next_observation import NextObservation, is_observable
from credo.knowledge.query import Query, as_query
from credo.model.expansion import expand
from credo.questions.question_draws import draws_for
from credo.results.fit_results import Fit
from credo.statistics.questions import answer, factors_of
from credo.types import Numbers


def next_rows(fit: Fit, questions: Sequence[str | Query], most: int = 10) -> list[NextObservation]:
    """The distributions of which another row narrows the answers most, the best first; none where there are no draws.

    The variance of all answers is their sum, and so is its reduction.
    """
    network = expand(fit.network).network
    problem = fit._problem
    if problem is None:
        return []
    reductions: dict[str, Numbers] = {}
    deviations: dict[str, Numbers] = {}
    variance = 0.0
    for question in questions:
        asked = as_query(fit.network, question)
        factors = factors_of(network, asked.targets, asked.evidence, asked.interventions, memory_limit=fit.memory_limit)
        cpts, _ = draws_for(fit, network, factors)
        if cpts is None:
            return []
        values, log_evidence = answer(network, cpts, asked, memory_limit=fit.memory_limit)
        possible = np.isfinite(log_evidence)
        answers = values.reshape(len(values), -1)[possible]
        centred = answers - answers.mean(axis=0)
        variance += float((centred**2).mean(axis=0).sum())
        for name, own in cpts.items():
            if len(own) != len(values) or not is_observable(problem, network, name):
                continue
            draws = own[possible].reshape(len(answers), -1, own.shape[-1])
            mean = draws.mean(axis=0)
            covariances = np.einsum("da,dcx->acx", centred, draws) / len(answers)  # the mean of `centred` is zero
            parts = np.divide((covariances**2).sum(axis=0), mean, out=np.zeros_like(mean), where=mean > 0.0)
            reductions[name] = reductions.get(name, 0.0) + parts.sum(axis=-1)
            deviations[name] = draws.std(axis=0)
    if variance <= 0.0:
        return []
    found = []
    for name, own in reductions.items():
        counts = problem.data.counts.of(name)
        for index in np.argsort(-own, kind="stable")[:most].tolist():
            deviation = float(np.sqrt((deviations[name][index] ** 2).mean()))
            label = network.describe(name, index)
            seen = float(counts[index].sum())
            found.append(
                NextObservation(name, index, label, seen, deviation, float(own[index]), float(own[index]) / variance)
            )
    return sorted(found, key=lambda each: -each.variance_reduction)[:most]
