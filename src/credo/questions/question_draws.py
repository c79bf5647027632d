"""The draws under which a question is answered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.drawing.network_boxes import influence
from credo.model.network import Network
from credo.posterior.draws import (
    LEAST_DRAWS,
    MOST_CELLS,
    MOST_DRAWS,
    PosteriorResult,
    cpts_under_draws,
    draws_of,
)
from credo.results.fit_results import FROM_FILE, Fit
from credo.statistics.questions import BatchedCPTs, Factors, as_batch
from credo.types import Numbers

DRAWS_OF_ARROWS = 200
TOO_LARGE = "There is no interval: this question is too large to be answered under a hundred draws."


def why_no_interval(fit: Fit) -> str:
    """Why answers of this fit have no credible interval; empty where they have one."""
    if fit.method == FROM_FILE:
        return "A network file holds no draws: there is no interval."
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


def with_mean(probabilities: Numbers, mean: float) -> Numbers:
    """Probabilities under draws, moved in proportion so that they have this mean and stay between 0 and 1."""
    possible = probabilities[~np.isnan(probabilities)]
    own = float(possible.mean()) if possible.size else 0.0
    if own == mean or not 0.0 < own < 1.0:
        return probabilities
    if mean < own:
        return probabilities * (mean / own)
    return np.asarray(1.0 - (1.0 - probabilities) * ((1.0 - mean) / (1.0 - own)), dtype=np.float64)


def arrow_kinds(source: Fit | Network) -> dict[tuple[str, str], str]:
    """What each arrow means, parent first, by the numbers and their draws: see `influence`."""
    network, posterior = (source, None) if isinstance(source, Network) else (source.network, source.posterior)
    found = {}
    for name in network.names:
        draws = None
        if isinstance(posterior, PosteriorResult) and name in posterior.names:
            draws = cpts_under_draws(posterior, network, DRAWS_OF_ARROWS, name)
        for parent in network.parents[name]:
            found[parent, name] = influence(network, parent, name, draws)
    return found
