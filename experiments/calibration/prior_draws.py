"""CPTs drawn from the prior of `posterior`, in plain NumPy: what its intervals are calibrated for.

A change of the prior is a change of the truths. Distributions without data have another prior than those with data, and
which these are is known only when there are data: then the former are drawn once more, around the same base.
Statements are conditioned on by drawing again until they hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credo.model.network import Network
from credo.posterior.chains import PriorConstants
from credo.types import Flags, Numbers

CONSTANTS = PriorConstants()
LEAST = 1e-12  # of the shape of a distribution, so that it is one


@dataclass(frozen=True, slots=True, eq=False)
class PriorDraw:
    """One draw of CPTs, (parents…, child), and of what they were drawn from."""

    cpts: Mapping[str, Numbers]
    bases: Mapping[str, Numbers]  # (parents…, child)
    weights: Mapping[str, Numbers]  # π, (components,)


def draw_from_prior(network: Network, names: Sequence[str], rng: np.random.Generator) -> PriorDraw:
    """One draw of the CPTs of `names`, all of whose distributions have data."""
    components = len(CONSTANTS.following) + len(CONSTANTS.free)
    pool, of_roots = CONSTANTS.share_deviation * rng.normal(size=(2, components))
    centres = rng.normal(CONSTANTS.centres, CONSTANTS.deviations)
    bases, weights, cpts = {}, {}, {}
    for name in names:
        bases[name] = _base(network.shape(name), centres, rng)
        logits = pool + CONSTANTS.share_spread * rng.normal(size=components)
        if len(network.shape(name)) == 1:
            logits = np.where(np.arange(components) < len(CONSTANTS.following), -np.inf, of_roots)
        shares = np.exp(logits - logits.max())
        weights[name] = shares / shares.sum()
        cpts[name] = _draw_cpt(bases[name], weights[name], True, rng)
    return PriorDraw(cpts, bases, weights)


def with_unseen(draw: PriorDraw, unseen: Mapping[str, Flags], rng: np.random.Generator) -> PriorDraw:
    """The same with other distributions where there are no data, (configurations,), drawn as such."""
    cpts = {}
    for name, cpt in draw.cpts.items():
        other = _draw_cpt(draw.bases[name], draw.weights[name], False, rng)
        cpts[name] = np.where(unseen[name].reshape(*cpt.shape[:-1], 1), other, cpt)
    return replace(draw, cpts=cpts)


def _base(shape: tuple[int, ...], centres: Numbers, rng: np.random.Generator) -> Numbers:
    """softmax(c + Σ_p f_p), for every configuration."""
    *sizes, states = shape
    scale = np.exp(rng.normal(centres[0], CONSTANTS.spreads[0]))
    scores = np.arange(states) - (states - 1) / 2
    scores = scores / (2 * scores.std()) if states > 1 else scores
    logs = np.zeros(shape) + scale * rng.normal(size=states)
    for axis, size in enumerate(sizes):
        slope, rest = (scale * np.exp(rng.normal(centres[kind], CONSTANTS.spreads[kind])) for kind in (1, 2))
        steps = slope * rng.normal(size=(size - 1, 1)) * scores
        if states > 2:
            steps = steps + rest * rng.normal(size=(size - 1, states))
        effects = np.concatenate((np.zeros((1, states)), np.cumsum(steps, axis=0)))
        effects -= effects.mean(axis=0)
        logs += effects.reshape(*(size if other == axis else 1 for other in range(len(sizes))), states)
    found = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def _draw_cpt(base: Numbers, weights: Numbers, seen: bool, rng: np.random.Generator) -> Numbers:
    strengths = np.array((*CONSTANTS.following, *(each * base.shape[-1] for each in CONSTANTS.free)))
    strengths = strengths if seen else np.maximum(strengths, CONSTANTS.least_unseen)
    states, cpt = base.shape[-1], np.empty(base.shape)
    for place in np.ndindex(*base.shape[:-1]):
        component = rng.choice(len(strengths), p=weights)
        around = base[place] if component < len(CONSTANTS.following) else np.full(states, 1.0 / states)
        shapes = strengths[component] * around + LEAST
        logs = np.log(rng.gamma(shapes + 1.0)) + np.log(rng.random(states)) / shapes
        cpt[place] = np.exp(logs - logs.max())
        cpt[place] /= cpt[place].sum()
    return cpt
