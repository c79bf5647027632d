"""Weights and spreads of ranked and interpolated families that nobody gave: learned from counts.

Each distribution of such a CPT has a Dirichlet prior around that of the form, m_j(w), worth c cases. With n_j cases,

    log P(n | w) = Σ_j log B(c·m_j(w) + n_j) − log B(c·m_j(w)),        B(x) = Π_k Γ(x_k) / Γ(Σ_k x_k),

is maximised over the logarithms of weights and spread, which have normal priors around equal weights and a spread of
0.15. What was found is the form that data then correct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log

import numpy as np

from credo.errors import listing
from credo.findings import Finding
from credo.knowledge.knowledge import Knowledge
from credo.knowledge.ranked_family import SPREAD, InterpolatedFamily, RankedFamily, form_distributions
from credo.statistics.counts import Counts
from credo.types import Numbers

Form = RankedFamily | InterpolatedFamily

WIDTH, SPREAD_WIDTH = 1.0, 0.7  # standard deviations of the logarithms, before anything is known
POINTS = 3  # in the interval of each parent's state, while weights are tried
MOST_CONFIGURATIONS = 300  # those with most cases, which weights are learned from
LEAST = 1e-9  # of a probability


def forms_of(knowledge: Knowledge) -> tuple[Form, ...]:
    """The ranked and interpolated families that are stated."""
    return tuple(each for each in knowledge.statements if isinstance(each, RankedFamily | InterpolatedFamily))


def learned_form(statement: Form, knowledge: Knowledge, counts: Counts) -> Form:
    """The family with weights and a spread that fit the counts best, where they were not given."""
    learns_weights = len(statement.terms) > 1 and all(term.weight is None for term in statement.terms)
    learns_spread = isinstance(statement, RankedFamily) and statement.spread is None
    cases = _most_seen(str(statement.child), knowledge, counts)
    if not (learns_weights or learns_spread) or not len(cases):
        return statement
    from scipy.optimize import minimize

    numbers, seen = np.array(list(cases)), np.array(list(cases.values()))
    count = len(statement.terms) if learns_weights else 0
    orders = {name: tuple(map(str, order.states)) for name, order in knowledge.orders.items()}
    options = {"points": POINTS} if isinstance(statement, RankedFamily) else {}

    def with_numbers(logs: Numbers) -> Form:
        return _with(statement, logs[:count], logs[count:])

    def loss(logs: Numbers) -> float:
        means = form_distributions(with_numbers(logs), knowledge.network, orders, numbers, **options)
        weights = statement.cases * np.maximum(means, LEAST)
        prior = 0.5 * float((logs[:count] ** 2).sum()) / WIDTH**2
        prior += 0.5 * float(((logs[count:] - log(SPREAD)) ** 2).sum()) / SPREAD_WIDTH**2
        return prior - float((_log_beta(weights + seen) - _log_beta(weights)).sum())

    start = np.array([0.0] * count + [log(SPREAD)] * learns_spread)
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-6.0, 6.0)] * len(start))
    return with_numbers(found.x - np.array([found.x[:count].min()] * count + [0.0] * learns_spread))


def learned_findings(forms: Sequence[Form], learned: Sequence[Form]) -> list[Finding]:
    """The findings that say which numbers were learned."""
    return [
        Finding("form", f"{statement.child}: {_numbers(statement, after)}, as the data suggest.", str(statement.child))
        for statement, after in zip(forms, learned, strict=True)
        if after != statement
    ]


def _numbers(statement: Form, after: Form) -> str:
    found = []
    if statement.terms[0].weight is None:
        found.append(f"weights {listing([f'{term.name} {term.weight:.2g}' for term in after.terms])}")
    if isinstance(statement, RankedFamily) and isinstance(after, RankedFamily) and statement.spread is None:
        found.append(f"spread {after.spread:.2g}")
    return " and ".join(found)


def _with(statement: Form, weights: Numbers, spread: Numbers) -> Form:
    """The family with these numbers, given by their logarithms."""
    if len(weights):
        pairs = zip(statement.terms, weights.tolist(), strict=True)
        statement = replace(statement, terms=tuple(replace(term, weight=exp(weight)) for term, weight in pairs))
    if len(spread) and isinstance(statement, RankedFamily):
        statement = replace(statement, spread=float(np.exp(spread[0])))
    return statement


def _most_seen(name: str, knowledge: Knowledge, counts: Counts) -> Mapping[int, Numbers]:
    """The cases of the configurations that were seen most often."""
    states = len(knowledge.network.states(name))
    if name in counts.layout:
        own = counts.of(name)
        seen = np.flatnonzero(own.sum(axis=1))
    else:
        seen = np.unique(counts.sparse[name][0] // states)
    found = {int(number): counts.configuration(name, int(number)) for number in seen}
    chosen = sorted(found, key=lambda number: -found[number].sum())[:MOST_CONFIGURATIONS]
    return {number: found[number] for number in chosen}


def _log_beta(x: Numbers) -> Numbers:
    from scipy.special import gammaln

    return np.asarray(gammaln(x).sum(axis=-1) - gammaln(x.sum(axis=-1)), dtype=np.float64)
