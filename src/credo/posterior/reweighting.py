"""Draws under evidence about any probability: those of the rest, weighed by its likelihood and drawn again.

w_i ∝ L(θ_i). How many draws that leaves, (Σ w)² / Σ w², is compared with what intervals need.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credo.findings import Finding
from credo.posterior.draws import PosteriorResult
from credo.types import Numbers

ENOUGH = 400.0  # effective draws, from which on the ends of a 95% interval rest on ten draws each
MOST_KEPT = 1000  # draws of a chain that are drawn again


def effective_draws(log_weights: Numbers) -> float:
    """(Σ w)² / Σ w²."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def reweighted(result: PosteriorResult, log_weights: Numbers, seed: int) -> PosteriorResult:
    """The draws drawn again in proportion to their weights, by systematic resampling; (chains · draws,) weights."""
    chains, draws, cells = result.draws.shape
    total = chains * draws
    weights = np.exp(log_weights - log_weights.max())
    left = effective_draws(log_weights)
    random = np.random.default_rng([seed, 7])
    kept = min(draws, MOST_KEPT)
    places = (random.random() + np.arange(chains * kept)) / (chains * kept)
    chosen = np.searchsorted(np.cumsum(weights) / weights.sum(), places, side="right").clip(0, total - 1)
    order = random.permutation(chosen)
    again = result.draws.reshape(total, cells)[order].reshape(chains, kept, cells)
    share = left / total
    doubt = result.doubt
    if doubt is not None:
        again_true = doubt.truth.reshape(total, -1)[order].reshape(chains, kept, -1)
        doubt = replace(doubt, truth=again_true)
    mean, deviation = again.mean(axis=(0, 1)), again.std(axis=(0, 1))
    sizes = np.maximum(1.0, result.effective_sizes * share)
    error = deviation / np.sqrt(sizes)
    shapes = {name: result.means[name].shape for name in result.names}

    def by_name(values: Numbers) -> dict[str, Numbers]:
        return {name: values[result.layout.slice_of(name)].reshape(shapes[name]) for name in result.names}

    message = (
        "Studies, and numbers about one state of several or about probabilities that depend on several CPTs, weigh "
        f"the draws: {left:,.0f} of {total:,} draws are left in effect."
    )
    return replace(
        result,
        draws=again,
        means=by_name(mean),
        deviations=by_name(deviation),
        errors=by_name(error),
        effective_sizes=sizes,
        doubt=doubt,
        findings=(*result.findings, Finding("weighed draws", message)),
    )
