"""Updates of what the distributions of a CPT share, its mean m and weights π, of what all CPTs share, w, and of z.

Given the components z of many distributions, π barely moves, and the other way round. So π is first drawn with z summed
over, and z given π after that. Distributions in no block take part with their θ summed over
too, which would hold z in its place (`SummedDistributions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from credo.sampling.vectorised.batches import SMALLEST
from credo.sampling.vectorised.chain_states import ChainStates, InformativeDistributions, Model, dirichlet_logs
from credo.sampling.vectorised.moves import EVERY, Which, slice_within, split, step_out, taken
from credo.types import Indices, Numbers

MEAN_STEP_OUT = 1.5  # in log-odds
MOST_STEPS_OUT = 8
FARTHEST = 300.0
WEIGHT_SHRINKS = 8  # of the stretch at most: what finds nothing stays, and is tried again in the next round
FEW = 4  # of so many points one, below which each is computed by itself
STRETCH = 40.0  # in log-odds, around the split of two components, which is shrunk


def update_shared(
    model: Model,
    state: ChainStates,
    norms: Numbers,
    logs: Numbers,
    data: bool,
    rounds: int,
    rng: np.random.Generator,
) -> None:
    """π, z, m, w, and π once more, given log θ of all distributions that are not summed over; several rounds."""
    has_mean = model.first_predicted > model.uniform_components
    values = _values(likelihoods(model, state, norms, logs, data))
    for number in range(rounds):
        if has_mean and number:
            values = _values(likelihoods(model, state, component_norms(model, state), logs, data))
        update_weights(model, state, values[model.informative.numbers], rng)
        members = update_components(model, state, values, rng)
        if has_mean:
            update_means(model, state, members, log_sums_of_pooled(model, state, logs), rng)
        update_pool(model, state, members, rng)
        concentrations = model.hyperparameters.pooling_concentration * state.pool + members
        state.weights = np.maximum(np.exp(dirichlet_logs(concentrations, rng, axis=1)), SMALLEST)


def _values(likelihood: Numbers) -> Numbers:
    """L of each distribution, as parts of the largest."""
    return np.asarray(np.exp(likelihood - likelihood.max(axis=1, keepdims=True)))


def component_norms(model: Model, state: ChainStates) -> Numbers:
    """log 1/B(s_g·b_g) of every CPT, (families, 2, components, chains); 0 where the base is predicted."""
    from scipy.special import gammaln

    strengths, uniform = model.arrays.strengths, model.uniform_components
    states = model.sampled.states[:, None, None]
    norms = np.zeros((len(states), 2, strengths.shape[1], state.chains))
    own = gammaln(strengths[None, :, :uniform]) - states * gammaln(strengths[None, :, :uniform] / states)
    norms[:, :, :uniform] = own[..., None]
    for g in range(uniform, model.first_predicted):
        sums = np.add.reduceat(gammaln(strengths[0, g] * state.means), model.sampled.cells[:-1], axis=0)
        norms[:, :, g] = (gammaln(strengths[0, g]) - sums)[:, None]
    return norms


def component_density(state: ChainStates, norms: Numbers) -> Numbers:
    """log π_g/B(s_g·b_g), of the same axes."""
    return np.asarray(norms + np.log(state.weights)[:, None])


def likelihoods(model: Model, state: ChainStates, norms: Numbers, logs: Numbers, data: bool) -> Numbers:
    """log Dir(θ | s_g·b_g) of distributions whose log θ are given, the first of all; of others θ is summed over.

    (distributions, components, chains); 0 for what is uninformative, and for what is summed over without `data`.
    """
    arrays, uniform, last = model.arrays, model.uniform_components, model.first_predicted
    given, parameters = model.sampled.constrained if model.summed is not None else len(arrays.seen), len(logs)
    families, seen = model.sampled.families[:given], arrays.seen[:given]
    found = np.zeros((len(arrays.seen), arrays.strengths.shape[1], state.chains))
    if given:
        adding = model.sum_of_distribution[:given, :parameters]
        plain = adding @ logs  # Σ log θ, (distributions, chains)
        mean = adding @ (state.means[model.cell_of[:parameters]] * logs)
        guess = adding @ (arrays.predicted[:parameters, None] * logs)
        strengths = arrays.strengths[seen][:, :, None]
        inverse = 1.0 / np.diff(model.sampled.starts[: given + 1])[:, None, None]
        own = norms[families, seen]
        own[:, :uniform] += strengths[:, :uniform] * (plain[:, None] * inverse)
        own[:, uniform:last] += strengths[:, uniform:last] * mean[:, None]
        own[:, last:] += strengths[:, last:] * guess[:, None] + arrays.predicted_logs[:given, :, None]
        own[~arrays.informative[:given]] = 0.0
        found[:given] = own
    if model.summed is not None and data:
        found[given:] = model.summed.logs[:, :, None]
    return found


def update_components(model: Model, state: ChainStates, values: Numbers, rng: np.random.Generator) -> Numbers:
    """z of each distribution; returns how many of a CPT have component g, (families, components, chains)."""
    chances = values * state.weights[model.sampled.families]
    components = chances.shape[1]
    left = rng.random((len(chances), state.chains)) * chances.sum(axis=1)
    component = np.zeros(left.shape, dtype=np.int64)
    for g in range(components - 1):  # the first component at which the sum of chances passes what was drawn
        left -= chances[:, g]
        component += left > 0.0
    state.component = component
    return np.stack(
        [model.sum_of_family @ (state.component == g).astype(np.float64) for g in range(components)], axis=1
    )


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """How two components share a part of the weights of each CPT, and what that has to do with its distributions."""

    informative: InformativeDistributions
    both: Numbers  # (CPTs, chains) π_i + π_j
    odds: Numbers  # (CPTs, chains) log π_i/π_j
    powers: tuple[Numbers, Numbers]  # κ·w_i and κ·w_j, (CPTs, chains)
    first: Numbers  # (distributions, chains) L_i
    second: Numbers  # (distributions, chains) L_j
    rest: Numbers  # (distributions, chains) Σ π_g·L_g over the other components

    @classmethod
    def of(
        cls,
        informative: InformativeDistributions,
        weights: Numbers,  # (CPTs, components, chains)
        pool: Numbers,  # (components, chains) κ·w
        values: Numbers,  # (distributions, components, chains) L
        i: Indices,
        j: Indices,
    ) -> Splits:
        """Of components i and j, (CPTs, chains)."""
        owners, every = informative.owners, np.arange(pool.shape[1])
        one, two = _chosen(weights, i), _chosen(weights, j)
        first, second = _chosen(values, i[owners]), _chosen(values, j[owners])
        sums = np.einsum("dgc,dgc->dc", weights[owners], values)
        rest = np.maximum(sums - one[owners] * first - two[owners] * second, 0.0)
        powers = pool[i, every], pool[j, every]
        return cls(informative, one + two, np.log(one / two), powers, first, second, rest)

    def log_density(self, odds: Numbers, which: Which) -> Numbers:
        """Of the log-odds of the two components, in all CPTs of all chains, or in some of these points."""
        share, other = split(np.clip(odds, -FARTHEST, FARTHEST))
        powers = [taken(each.ravel(), which) for each in self.powers]
        both = taken(self.both.ravel(), which)
        sums = self._all_sums if len(odds) * FEW > self.both.size else self._some_sums
        value = sums(both * share, both * other, which)
        return np.asarray(value + powers[0] * np.log(share) + powers[1] * np.log(other))

    def _all_sums(self, ones: Numbers, twos: Numbers, which: Which) -> Numbers:
        """Σ log Σ_g π_g·L_g over the distributions of each CPT; of all points, though only some are wanted."""
        whole = np.zeros((2, self.both.size))
        whole[:, which] = ones, twos
        first, second = whole.reshape(2, *self.both.shape)[:, self.informative.owners]
        mixed = np.log(np.maximum(self.rest + first * self.first + second * self.second, SMALLEST))
        return np.asarray(np.add.reduceat(mixed, self.informative.starts[:-1], axis=0).ravel()[which])

    def _some_sums(self, ones: Numbers, twos: Numbers, which: Which) -> Numbers:
        """The same of the points that are wanted alone, each by itself."""
        points = np.arange(self.both.size)[which]
        family, chain = np.divmod(points, self.both.shape[1])
        sizes = np.diff(self.informative.starts)[family]
        starts = np.concatenate(([0], np.cumsum(sizes)))
        own = np.repeat(np.arange(len(points)), sizes)
        place = np.repeat(self.informative.starts[family] - starts[:-1], sizes) + np.arange(starts[-1]), chain[own]
        mixed = self.rest[place] + ones[own] * self.first[place] + twos[own] * self.second[place]
        return np.asarray(np.add.reduceat(np.log(np.maximum(mixed, SMALLEST)), starts[:-1]))


def update_weights(model: Model, state: ChainStates, values: Numbers, rng: np.random.Generator) -> None:
    """π of all CPTs, a random component against another, with z summed over: each distribution adds log Σ_g π_g·L_g.

    A stretch that nearly all of the mass is in is shrunk until a point of it is in the slice: so the log-odds of two
    components also get from one mode to another. `values` are L, (informative distributions, components, chains).
    """
    informative, components = model.informative, values.shape[1]
    if not len(informative.families) or components < 2:
        return
    weights, shape = state.weights[informative.families], (len(informative.families), state.chains)
    pool = model.hyperparameters.pooling_concentration * state.pool
    i = rng.integers(components, size=shape)
    j = (i + rng.integers(1, components, size=shape)) % components
    splits = Splits.of(informative, weights, pool, values, i, j)
    now = splits.odds.ravel()
    level = splits.log_density(now, EVERY) - rng.standard_exponential(len(now))
    left = now - STRETCH * rng.random(len(now))
    odds, _ = slice_within(splits.log_density, now, level, left, left + STRETCH, rng, WEIGHT_SHRINKS)
    for chosen, share in zip((i, j), split(np.clip(odds, -FARTHEST, FARTHEST)), strict=True):
        parts = np.maximum(splits.both * share.reshape(shape), SMALLEST)
        np.put_along_axis(weights, chosen[:, None], parts[:, None], axis=1)
    state.weights[informative.families] = weights


def _chosen(array: Numbers, components: Indices) -> Numbers:
    """(…, chains) of an array (…, components, chains)."""
    return np.asarray(np.take_along_axis(array, components[:, None], axis=1)[:, 0])


def log_sums_of_pooled(model: Model, state: ChainStates, logs: Numbers) -> Numbers:
    """Σ log θ over the distributions of each component with the CPT's mean, (such components, cells, chains)."""
    of_parameter = state.component[model.owners]
    pooled = range(model.uniform_components, model.first_predicted)
    log_sums = [model.sum_of_cell @ np.where(of_parameter == g, logs, 0.0) for g in pooled]
    return np.stack(log_sums) if log_sums else np.zeros((0, *state.means.shape))


def update_means(
    model: Model, state: ChainStates, members: Numbers, log_sums: Numbers, rng: np.random.Generator
) -> None:
    """m of each CPT, state against state, by slices in the log-odds of their split.

    The log density of m_k is c·log m_k + Σ s·m_k·log θ_k − log Γ(s·m_k) over the distributions of pooled components.
    """
    uniform, chains = model.uniform_components, state.chains
    last = model.first_predicted
    strengths = model.arrays.strengths[0, uniform:last][:, None]  # (pooled, 1)
    concentration, states = model.hyperparameters.mean_concentration, model.sampled.states
    if not len(strengths):
        return  # no component has it
    every = np.arange(chains)
    for place in range(int(states.max(initial=0))):
        families = np.flatnonzero((states > place) & ((states > 2) | ((states == 2) & (place == 0))))
        if not len(families):
            continue
        first = model.sampled.cells[families][:, None]
        sizes = states[families][:, None]
        partner = (place + 1 + np.floor(rng.random((len(families), chains)) * (sizes - 1)).astype(np.int64)) % sizes
        i, j, chain = (np.broadcast_to(a, partner.shape).ravel() for a in (first + place, first + partner, every))
        one, two = state.means[i, chain], state.means[j, chain]
        counts = members[np.repeat(families, chains), uniform:last, chain].T  # (pooled, points)
        sums = log_sums[:, i, chain], log_sums[:, j, chain]
        total, now = one + two, np.log(one / two)

        log_density = partial(_log_density_of_split, total, counts, sums, strengths, concentration)
        level = log_density(now, EVERY) - rng.standard_exponential(len(now))
        left, right = step_out(log_density, now, level, MEAN_STEP_OUT, MOST_STEPS_OUT, rng)
        odds, moved = slice_within(log_density, now, level, left, right, rng)
        share, rest = split(np.clip(odds, -FARTHEST, FARTHEST))
        state.means[i, chain] = np.where(moved, np.maximum(total * share, SMALLEST), one)
        state.means[j, chain] = np.where(moved, np.maximum(total * rest, SMALLEST), two)


def _log_density_of_split(
    total: Numbers,  # (points,) of two states
    counts: Numbers,  # (pooled components, points)
    sums: tuple[Numbers, Numbers],  # of each state, (pooled components, points)
    strengths: Numbers,  # (pooled components, 1)
    concentration: float,
    odds: Numbers,
    which: Which,
) -> Numbers:
    """The log density of two states of m whose sum is `total`, at the log-odds of their split."""
    from scipy.special import gammaln

    whole, seen = taken(total, which), taken(counts, which)
    value = np.zeros(len(odds))
    for part, logs in zip(split(np.clip(odds, -FARTHEST, FARTHEST)), sums, strict=True):
        mean = whole * part
        weight = strengths * mean
        value += concentration * np.log(mean)
        value += (weight * taken(logs, which) - seen * gammaln(weight)).sum(axis=0)
    return value


def update_pool(model: Model, state: ChainStates, members: Numbers, rng: np.random.Generator) -> None:
    """w, by how many tables a Chinese restaurant with these customers has [Teh and others, 2006, section 5]."""
    expected = np.broadcast_to(model.hyperparameters.pooling_concentration * state.pool, members.shape).ravel()
    tables, customers = np.zeros(members.size), members.ravel()
    coming, number = np.flatnonzero(customers), 0  # where one more customer comes
    while len(coming):
        chance = expected[coming]
        tables[coming] += rng.random(len(coming)) * (chance + number) < chance
        number += 1
        coming = coming[customers[coming] > number]
    shape = 1.0 + tables.reshape(members.shape).sum(axis=0)
    state.pool = np.maximum(np.exp(dirichlet_logs(shape, rng)), SMALLEST)
