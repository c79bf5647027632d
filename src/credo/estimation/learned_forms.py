"""Weights and spreads of ranked and interpolated families that nobody gave: learned from counts.

Each distribution of such a CPT has a Dirichlet prior around that of the form, m_j(w), worth c cases. With n_j cases,

    log P(n | w) = Σ_j log B(c·m_j(w) + n_j) − log B(c·m_j(w)),        B(x) = Π_k Γ(x_k) / Γ(Σ_k x_k),

is maximised over the logarithms of weights and spread, which have normal priors around equal weights and a spread of
0.15, or lie between given bounds, every ratio being as probable as another. What was found is the form that data then
correct.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from credo.errors import listing
from credo.findings import Finding
from credo.knowledge.knowledge import Knowledge
from credo.knowledge.ranked_family import (
    SPREAD,
    Bounds,
    InterpolatedFamily,
    RankedFamily,
    form_distributions,
    middle_of,
)
from credo.statistics.counts import Counts
from credo.statistics.pooling import log_beta
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
    return fitted_form(statement, knowledge, counts)[0] if _free(statement) else statement


def fitted_form(statement: Form, knowledge: Knowledge, counts: Counts, points: int = POINTS) -> tuple[Form, float, int]:
    """The family that fits the counts best, the logarithm of their probability then, and how many numbers are free.

    `points` are those in the interval of each parent's state.
    """
    free = _free(statement)
    cases = most_seen(str(statement.child), knowledge, counts)
    if not len(cases):
        return statement, 0.0, len(free)
    numbers, seen = np.array(list(cases)), np.array(list(cases.values()))
    orders = {name: tuple(map(str, order.states)) for name, order in knowledge.orders.items()}
    options = {"points": points} if isinstance(statement, RankedFamily) else {}
    places = [place for place, _ in free]
    start = np.array([log(middle_of(given, SPREAD if place is None else 1.0)) for place, given in free])
    is_bounded = np.array([given is not None for _, given in free], dtype=bool)
    widths = np.where(is_bounded, np.inf, [SPREAD_WIDTH if place is None else WIDTH for place in places])

    def means(logs: Numbers) -> Numbers:
        return form_distributions(_with(statement, places, logs), knowledge.network, orders, numbers, **options)

    bounds = [(-6.0, 6.0) if given is None else (log(given[0]), log(given[1])) for _, given in free]
    found, value = most_probable(means, start, widths, seen, statement.cases, bounds)
    is_relative = np.array([place is not None for place in places], dtype=bool) & ~is_bounded
    if is_relative.any():  # weights, of which none was given
        found[is_relative] -= found[is_relative].min()
    return _with(statement, places, found), value, len(free)


def most_probable(
    means: Callable[[Numbers], Numbers],
    start: Numbers,
    widths: Numbers,
    seen: Numbers,
    cases: float,
    bounds: Sequence[tuple[float, float]] | None = None,
) -> tuple[Numbers, float]:
    """The numbers w at which log P(n | w) + log p(w) is largest, and that, of distributions m_j(w)."""
    from scipy.optimize import minimize

    def loss(w: Numbers) -> float:
        weights = cases * np.maximum(means(w), LEAST)
        prior = 0.5 * float((((w - start) / widths) ** 2).sum())
        return prior - float((log_beta(weights + seen) - log_beta(weights)).sum())

    if not len(start):
        return start, -loss(start)
    result = minimize(loss, start, method="L-BFGS-B", bounds=bounds)
    return result.x, -float(result.fun)


def _free(statement: Form) -> list[tuple[int | None, Bounds | None]]:
    """The weights, by their places, and the spread, None, that are learned, with the bounds that they have."""
    terms = statement.terms
    found: list[tuple[int | None, Bounds | None]] = [
        (place, term.weight) for place, term in enumerate(terms) if isinstance(term.weight, tuple)
    ]
    if len(terms) > 1 and all(term.weight is None for term in terms):
        found += [(place, None) for place in range(len(terms))]
    if isinstance(statement, RankedFamily) and not isinstance(statement.spread, float):
        found.append((None, statement.spread))
    return found


def learned_findings(forms: Sequence[Form], learned: Sequence[Form]) -> list[Finding]:
    """The findings that say which numbers were learned."""
    return [
        Finding("form", f"{statement.child}: {_numbers(statement, after)}, as the data suggest.", str(statement.child))
        for statement, after in zip(forms, learned, strict=True)
        if after != statement
    ]


def _numbers(statement: Form, after: Form) -> str:
    found = []
    changed = [new for old, new in zip(statement.terms, after.terms, strict=True) if old != new]
    if changed:
        found.append(f"weights {listing([f'{term.name} {term.weight:.2g}' for term in changed])}")
    if isinstance(statement, RankedFamily) and isinstance(after, RankedFamily) and statement.spread != after.spread:
        found.append(f"spread {after.spread:.2g}")
    return " and ".join(found)


def _with(statement: Form, places: Sequence[int | None], logs: Numbers) -> Form:
    """The family with some weights, by their places, and the spread, None, given by their logarithms."""
    values = dict(zip(places, np.exp(logs).tolist(), strict=True))
    spread = values.pop(None, None)
    if spread is not None and isinstance(statement, RankedFamily):
        statement = replace(statement, spread=spread)
    terms = tuple(replace(term, weight=values.get(k, term.weight)) for k, term in enumerate(statement.terms))
    return replace(statement, terms=terms)


def most_seen(name: str, knowledge: Knowledge, counts: Counts) -> Mapping[int, Numbers]:
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
