"""The posterior of small networks under the prior of `credo.core.additive_base`, in plain NumPy.

Bases, widths and shares are drawn from their prior and weighed by the rows, with distributions summed over; statements
about distributions say nothing about them. Given each of these, distributions are drawn until all statements hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from credo.posterior.chains import PriorConstants
from credo.posterior.convergence import effective_sizes

ROUNDS = 150
PROPOSALS = 15_000  # of distributions in a round, at least

Theta = Mapping[str, np.ndarray]  # (draws, configurations, states) of each variable
Holds = Callable[[Theta], np.ndarray]  # (draws,) whether the statements are true


@dataclass(frozen=True)
class Family:
    """One CPT: the states of its parents and its own, the counts of rows, and the signs of influences."""

    sizes: Sequence[int]
    counts: np.ndarray  # (configurations, states)
    signs: Sequence[int] = ()
    barred: np.ndarray | None = None  # (configurations, states)

    @property
    def grid(self) -> np.ndarray:
        """The states of the parents, (configurations, parents)."""
        shape = tuple(self.sizes)
        return (
            np.stack(np.unravel_index(np.arange(len(self.counts)), shape), axis=1) if shape else np.zeros((1, 0), int)
        )


@dataclass(frozen=True)
class Bases:
    """What a CPT's distributions are drawn from: `n` draws of bases and of the logarithms of shares."""

    base: np.ndarray  # (n, configurations, states)
    log_shares: np.ndarray  # (n, components)

    def take(self, chosen: np.ndarray) -> Bases:
        """Some of them."""
        return Bases(self.base[chosen], self.log_shares[chosen])


def log_gammas(rng: np.random.Generator, shapes: np.ndarray) -> np.ndarray:
    """The logarithms of gamma variates, which small shapes do not make underflow."""
    return np.asarray(np.log(rng.standard_gamma(shapes + 1.0)) + np.log(rng.random(shapes.shape)) / shapes)


def normalised(logs: np.ndarray) -> np.ndarray:
    """Softmax over the last axis."""
    values = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(values / values.sum(axis=-1, keepdims=True))


def draw_bases(
    rng: np.random.Generator, family: Family, centres: np.ndarray, shares: np.ndarray, constants: PriorConstants
) -> Bases:
    """From the prior, given the network's centres (n, 3) and logits of shares (n, components)."""
    n, states = len(centres), family.counts.shape[1]
    signs = family.signs or [0] * len(family.sizes)
    width = np.exp(centres[:, 0] + constants.spreads[0] * rng.normal(size=n))
    logits = np.repeat((width[:, None] * rng.normal(size=(n, states)))[:, None], len(family.counts), axis=1)
    scores = np.arange(states) - (states - 1) / 2
    scores = scores / (2 * scores.std())
    for p, (size, sign) in enumerate(zip(family.sizes, signs, strict=True)):
        slopes = rng.normal(size=(n, size - 1))
        slopes *= (width * np.exp(centres[:, 1] + constants.spreads[1] * rng.normal(size=n)))[:, None]
        slopes = sign * np.abs(slopes) if sign else slopes
        steps = slopes[:, :, None] * scores
        if states > 2:
            rests = width * np.exp(centres[:, 2] + constants.spreads[2] * rng.normal(size=n))
            steps = steps + rests[:, None, None] * rng.normal(size=(n, size - 1, states))
        effects = np.concatenate([np.zeros((n, 1, states)), steps.cumsum(axis=1)], axis=1)
        effects -= effects.mean(axis=1, keepdims=True)
        logits += effects[:, family.grid[:, p]]
    if family.barred is not None:
        logits = np.where(family.barred, -1000.0, logits)
    if family.sizes:
        logs = shares + constants.share_spread * rng.normal(size=shares.shape)
    else:  # nothing to follow, and shares that all roots have in common
        logs = np.where(np.arange(shares.shape[1]) < len(constants.following), -np.inf, shares)
    return Bases(np.maximum(normalised(logits), 1e-30), logs - logsumexp(logs, axis=1, keepdims=True))


def additive_base(family: Family, intercept: np.ndarray, steps: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """b given c, and a (increments,) with e (increments, states) of each parent: (configurations, states)."""
    states = family.counts.shape[1]
    scores = np.arange(states) - (states - 1) / 2
    scores = scores / (2 * scores.std())
    logits = np.repeat(intercept[None], len(family.counts), axis=0)
    for p, (slopes, rests) in enumerate(steps):
        effects = np.concatenate([np.zeros((1, states)), (slopes[:, None] * scores + rests).cumsum(axis=0)])
        logits += (effects - effects.mean(axis=0))[family.grid[:, p]]
    if family.barred is not None:
        logits = np.where(family.barred, -1000.0, logits)
    return np.maximum(normalised(logits), 1e-30)


def shapes_of(family: Family, bases: Bases, constants: PriorConstants) -> np.ndarray:
    """The Dirichlet parameters of distributions under each component: (n, configurations, g, states)."""
    allowed = np.ones(family.counts.shape, bool) if family.barred is None else ~family.barred
    uniform = allowed / allowed.sum(axis=1, keepdims=True)
    seen = (family.counts * allowed).sum(axis=1, keepdims=True) > 0.0
    shapes = []
    for number, strength in enumerate((*constants.following, *constants.free)):
        mean = np.where(allowed, bases.base, 0.0) if number < len(constants.following) else uniform[None]
        every = strength if number < len(constants.following) else strength * allowed.sum(axis=1, keepdims=True)
        own = np.where(seen, every, np.maximum(every, constants.least_unseen)) * mean
        shapes.append(np.broadcast_to(own, bases.base.shape))
    return np.stack(shapes, axis=2)


def log_evidence(family: Family, bases: Bases, constants: PriorConstants) -> np.ndarray:
    """log π_g p(N_j | z_j = g): (n, configurations, g)."""
    shapes = shapes_of(family, bases, constants)
    safe = np.where(shapes > 0.0, shapes, 1.0)
    counts = np.where(shapes > 0.0, family.counts[:, None], 0.0)
    rising = (gammaln(safe + counts) - gammaln(safe)).sum(axis=-1)
    strengths, rows = shapes.sum(axis=-1), counts.sum(axis=-1)
    return np.asarray(bases.log_shares[:, None] + rising - gammaln(strengths + rows) + gammaln(strengths))


def draw_distributions(
    rng: np.random.Generator, family: Family, bases: Bases, evidence: np.ndarray, constants: PriorConstants
) -> np.ndarray:
    """θ of all configurations given bases and rows."""
    chances = normalised(evidence)
    component = (rng.random(chances.shape[:-1])[..., None] > chances.cumsum(axis=-1)).sum(axis=-1)
    component = np.minimum(component, chances.shape[-1] - 1)
    shapes = np.take_along_axis(shapes_of(family, bases, constants), component[..., None, None], axis=2)[:, :, 0]
    shapes = np.where(shapes > 0.0, shapes + family.counts, 0.0)
    return normalised(np.where(shapes > 0.0, log_gammas(rng, np.maximum(shapes, 1e-30)), -np.inf))


@dataclass(frozen=True)
class Posterior:
    """Independent draws."""

    theta: Mapping[str, np.ndarray]  # (draws, configurations, states)
    size: float  # what the weighed draws of bases are worth
    left: float  # the share of bases under which the statements are too rare to be met


def modular_posterior(
    families: Mapping[str, Family],
    holds: Holds | None = None,
    *,
    seed: int = 0,
    proposals: int = 60_000,
    draws: int = 10_000,
    constants: PriorConstants | None = None,
) -> Posterior:
    """Draws of all distributions."""
    constants = constants or PriorConstants()
    rng = np.random.default_rng(seed)
    centres = constants.centres + np.array(constants.deviations) * rng.normal(size=(proposals, 3))
    components = len(constants.following) + len(constants.free)
    shares, of_roots = constants.share_deviation * rng.normal(size=(2, proposals, components))
    bases = {
        name: draw_bases(rng, family, centres, shares if family.sizes else of_roots, constants)
        for name, family in families.items()
    }
    evidence = {name: log_evidence(family, bases[name], constants) for name, family in families.items()}
    log_weights = np.zeros(proposals)
    for own in evidence.values():
        log_weights += logsumexp(own, axis=2).sum(axis=1)
    weights = np.exp(log_weights - np.max(log_weights))
    size = float(weights.sum() ** 2 / (weights**2).sum())
    places = (rng.random() + np.arange(draws)) / draws
    chosen = np.searchsorted(weights.cumsum() / weights.sum(), places).clip(0, proposals - 1)
    theta = {name: np.zeros((draws, *family.counts.shape)) for name, family in families.items()}
    left = np.arange(draws)
    for _ in range(ROUNDS):
        tried = np.repeat(left, max(1, PROPOSALS // len(left)))
        own, new = chosen[tried], {}
        for name, family in families.items():
            new[name] = draw_distributions(rng, family, bases[name].take(own), evidence[name][own], constants)
        good = np.flatnonzero(np.ones(len(tried), bool) if holds is None else holds(new))
        found, first = np.unique(tried[good], return_index=True)
        for name, values in new.items():
            theta[name][found] = values[good[first]]
        left = np.setdiff1d(left, found)
        if not len(left):
            break
    kept = np.setdiff1d(np.arange(draws), left)
    return Posterior(
        {name: values[kept] for name, values in theta.items()}, 1.0 / (1.0 / size + 1.0 / draws), len(left) / draws
    )


def tensions(chains: np.ndarray, independent: np.ndarray, size: float, left: float = 0.0) -> np.ndarray:
    """By how many standard errors draws of chains (chains, draws, …) differ from independent ones (draws, …).

    Of the mean, and of the shares of draws that are not above five quantiles of the independent ones: (6, …).
    `left` is the share of independent draws that are missing.
    """
    found = []
    ends = np.clip(np.quantile(independent, [0.025, 0.25, 0.5, 0.75, 0.975], axis=0), 1e-4, 1.0 - 1e-4)
    functions = [lambda x: x, *((lambda x, end=end: (x <= end).astype(float)) for end in ends)]
    shape = chains.shape[2:]
    for function in functions:
        own, other = function(chains), function(independent)
        flat = own.reshape(*own.shape[:2], -1)
        sizes = np.maximum(effective_sizes(flat), 1.0).reshape(shape)
        variance = np.maximum(other.var(axis=0), own.var(axis=(0, 1)))
        error = np.sqrt(variance * (1.0 / sizes + 1.0 / size)) + 3e-4
        difference = own.mean(axis=(0, 1)) - other.mean(axis=0)
        found.append(np.sign(difference) * np.maximum(np.abs(difference) - left, 0.0) / error)
    return np.array(found)
