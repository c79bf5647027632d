"""The draws under which a question is answered, and the numbers of a CPT that are an answer by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from credo.knowledge.query import Query
from credo.model.network import Network
from credo.posterior.draws import (
    LEAST_DRAWS,
    MOST_CELLS,
    MOST_DRAWS,
    PosteriorResult,
    cpts_under_draws,
    draws_of,
)
from credo.results.fit_results import Fit
from credo.statistics.questions import BatchedCPTs, Factors, as_batch, relevant_evidence
from credo.types import Numbers

TOO_LARGE = "There is no interval: this question is too large to be answered under a hundred draws."


def why_no_interval(fit: Fit) -> str:
    """Why answers of this fit have no credible interval; empty where they have one."""
    if not isinstance(fit.posterior, PosteriorResult):
        return f"There is no interval: the method {fit.method} gives one estimate. Learn with method=posterior for one."
    return fit.no_interval


def draws_for(
    fit: Fit, network: Network, factors: Factors, most_cells: int = MOST_CELLS
) -> tuple[BatchedCPTs | None, str]:
    """Draws of the CPTs that a question depends on, or None and the reason why there are none."""
    note = why_no_interval(fit)
    if note:
        return None, note
    assert isinstance(fit.posterior, PosteriorResult)
    draws = draws_of(fit.posterior, network, factors, most_cells)
    if draws is None:
        return None, TOO_LARGE
    return draws, ""


def draws_for_all(fit: Fit, network: Network, factors: Sequence[Factors]) -> tuple[BatchedCPTs, str]:
    """The same draws for all of these questions, or the learned CPTs and the reason why there are no draws."""
    note = why_no_interval(fit)
    count = min(MOST_DRAWS, MOST_CELLS // max(1, sum(each.plan.cells for each in factors)))
    if not note and count < LEAST_DRAWS:
        note = TOO_LARGE
    if note:
        return as_batch(network), note
    assert isinstance(fit.posterior, PosteriorResult)
    families = {name for each in factors for name in each.families}
    return {name: cpts_under_draws(fit.posterior, network, count, name) for name in families}, ""


def cpt_distribution(network: Network, name: str, given: Mapping[str, tuple[str, ...]]) -> Numbers | None:
    """The distribution of a variable in its CPT, if that is what is asked for: nothing but its parents matters."""
    if not _asks_for_cpt(network, name, given) or any(len(given[parent]) != 1 for parent in network.parents[name]):
        return None
    place = tuple(network.states(parent).index(given[parent][0]) for parent in network.parents[name])
    return np.asarray(network.cpt_array(name)[place], dtype=np.float64)


def distribution_asked_for(network: Network, asked: Query) -> Numbers | None:
    """The numbers of a CPT that a question asks for, where it asks for nothing else.

    Their means are known better than the mean over a thousand draws, and `Fit.cpt` shows them.
    """
    if len(asked.targets) != 1:
        return None
    ((name, states),) = asked.targets.items()
    given = {**asked.evidence, **{each: (state,) for each, state in asked.interventions.items()}}
    if asked.interventions and set(given) != set(network.parents[name]):
        return None
    known = cpt_distribution(network, name, given)
    if known is None or not states:
        return known
    chosen = known[[network.states(name).index(state) for state in states]]
    total: Numbers = chosen.sum(keepdims=True)
    return np.minimum(total, 1.0)  # of all states, the sum may be above one by a rounding


def with_mean(probabilities: Numbers, mean: float) -> Numbers:
    """Probabilities under draws, moved in proportion so that they have this mean and stay between 0 and 1."""
    own = float(np.nanmean(probabilities))
    if own == mean or not 0.0 < own < 1.0:
        return probabilities
    if mean < own:
        return probabilities * (mean / own)
    return np.asarray(1.0 - (1.0 - probabilities) * ((1.0 - mean) / (1.0 - own)), dtype=np.float64)


def _asks_for_cpt(network: Network, name: str, given: Iterable[str]) -> bool:
    parents, known = set(network.parents[name]), set(given)
    return name not in known and parents <= known and set(relevant_evidence(network, name, known)) == parents
