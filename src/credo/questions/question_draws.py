"""The draws under which a question is answered, and the numbers of a CPT that are an answer by themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np

from credo.model.network import Network
from credo.results.fit_results import FitResult
from credo.sampling.intervals import cpt_draws
from credo.sampling.posterior import PosteriorResult
from credo.statistics.questions import BatchedCPTs, Factors, relevant_evidence
from credo.types import Numbers

MOST_DRAWS = 1000  # of all CPTs, under which a question is answered
LEAST_DRAWS = 100  # below which the ends of a 95% interval rest on two or three draws
MOST_CELLS = 2**28  # of all cliques, under all draws together: about ten seconds


def why_no_interval(fit: FitResult) -> str:
    """Why answers of this fit have no credible interval; empty where they have one."""
    if not isinstance(fit.posterior, PosteriorResult):
        return f"There is no interval: the method {fit.method} gives one estimate. Learn with method=posterior for one."
    return fit.no_interval


def draws_for(
    fit: FitResult, network: Network, factors: Factors, most_cells: int = MOST_CELLS
) -> tuple[BatchedCPTs | None, str]:
    """Draws of the CPTs that a question depends on, or None and the reason why there are none."""
    note = why_no_interval(fit)
    if note:
        return None, note
    count = min(MOST_DRAWS, most_cells // max(1, factors.plan.cells))
    if count < LEAST_DRAWS:
        return None, "There is no interval: this question is too large to be answered under a hundred draws."
    return {name: cpts_under_draws(fit, network, count, name) for name in factors.families}, ""


def cpts_under_draws(fit: FitResult, network: Network, count: int, name: str) -> Numbers:
    posterior = fit.posterior
    assert isinstance(posterior, PosteriorResult)
    if name not in posterior.sampled.names:
        return network.cpt_array(name)[None]
    return _kept_draws(posterior, count, name)


@lru_cache(maxsize=512)  # questions about one fit follow each other, and need the same CPTs
def _kept_draws(posterior: PosteriorResult, count: int, name: str) -> Numbers:
    return cpt_draws(posterior, name, count)


def interval_ends(values: Numbers, level: float) -> Numbers:
    together = np.ascontiguousarray(np.moveaxis(values, 0, -1))  # quantiles of lines in memory are found faster
    return np.asarray(np.quantile(together, quantile_levels(level), axis=-1), dtype=np.float64)


def quantile_levels(level: float) -> list[float]:
    return [(1 - level) / 2, (1 + level) / 2]


def cpt_distribution(network: Network, name: str, given: Mapping[str, tuple[str, ...]]) -> Numbers | None:
    """The distribution of a variable in its CPT, if that is what is asked for: nothing but its parents matters."""
    if not _asks_for_cpt(network, name, given) or any(len(given[parent]) != 1 for parent in network.parents[name]):
        return None
    place = tuple(network.states(parent).index(given[parent][0]) for parent in network.parents[name])
    return np.asarray(network.cpt_array(name)[place], dtype=np.float64)


def _asks_for_cpt(network: Network, name: str, given: Iterable[str]) -> bool:
    parents, known = set(network.parents[name]), set(given)
    return name not in known and parents <= known and set(relevant_evidence(network, name, known)) == parents
