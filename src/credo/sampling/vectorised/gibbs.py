"""Gibbs sampling of the posterior with hundreds of chains at once; the model and its density are in `posterior.py`.

Every update is an array operation over all chains, so that a sweep costs about as many NumPy calls as the problem has
moves that depend on each other, whatever the number of chains. Chains are on the last axis of all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credo.kernels.sampler_arrays import Geometry
from credo.sampling.joint_updates import Support, joint_updates_of
from credo.sampling.region import Region, geometry_of
from credo.sampling.vectorised.batches import (
    SMALLEST,
    UNBOUNDED,
    ExtraTerms,
    MoveBatch,
    constraint_matrix,
    extra_terms_of,
    move_batches,
)
from credo.sampling.vectorised.chain_states import ChainStates, Model, log_gamma, normalised
from credo.sampling.vectorised.joint_updates import MixtureDensity, UpdateBatch, update_batches, update_jointly
from credo.sampling.vectorised.moves import move_lines, move_pairs
from credo.sampling.vectorised.shared_parameters import (
    component_density,
    component_norms,
    update_shared,
)
from credo.types import Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True, eq=False)
class SweepPlan:
    """The moves and joint updates of a sweep in batches, and the constraints Aθ ≤ b that they keep."""

    geometry: Geometry
    matrix: csr_array  # (constraints + 1, parameters + 1), the last of each is padding
    bounds: Numbers  # (constraints + 1, 1)
    extras: ExtraTerms
    moves: tuple[MoveBatch, ...]
    updates: tuple[UpdateBatch, ...]

    def slack(self, theta: Numbers) -> Numbers:
        """b − Aθ, (constraints + 1, chains)."""
        return np.asarray(self.bounds - self.matrix @ theta, dtype=np.float64)

    def normalise(self, theta: Numbers) -> None:
        """Let every distribution sum to one again: rounding adds up."""
        if len(theta) > 1:
            starts = self.geometry.distributions[:-1]
            theta[:-1] /= np.add.reduceat(theta[:-1], starts, axis=0)[self.geometry.owners]


def plan_of(region: Region, supports: list[Support] | None = None, draws: Numbers | None = None) -> SweepPlan:
    """The batches of a region; joint updates need `supports`, and `draws`, (draws, parameters), show more of them."""
    geometry, extras = geometry_of(region.blocks, region.parts)
    terms = extra_terms_of(extras, len(geometry.owners))
    updates: list[UpdateBatch] = []
    if supports is not None:
        updates = update_batches(geometry, joint_updates_of(supports, draws), terms)
    return SweepPlan(
        geometry,
        constraint_matrix(geometry),
        np.append(geometry.bounds, UNBOUNDED)[:, None],
        terms,
        tuple(move_batches(geometry, terms)),
        tuple(updates),
    )


def sweep_moves(plan: SweepPlan, shape: Numbers | None, theta: Numbers, rng: np.random.Generator) -> None:
    """Every batch of moves once, or as often as its chance has it; `shape` is (parameters + 1, chains), None: ones."""
    slack = plan.slack(theta)
    exponents = None if shape is None else shape - 1.0
    for batch in plan.moves:
        if batch.chance < 1.0 and rng.random() > batch.chance:
            continue
        if batch.is_pair and shape is not None:
            move_pairs(batch, shape, theta, slack, rng)
        else:
            move_lines(batch, exponents, theta, slack, plan.extras, rng)
    plan.normalise(theta)


def sweep(
    model: Model,
    plan: SweepPlan,
    state: ChainStates,
    rng: np.random.Generator,
    data: bool = True,
    counts: Numbers | None = None,
    rounds: int = 1,
) -> None:
    """All updates once; without the `data`, of the prior and the statements alone.

    `counts`, (parameters, chains), are those of chains that have completed their rows. What CPTs share is updated in
    several `rounds`.
    """
    arrays, edge = model.arrays, model.edge
    if counts is None:
        counts = (arrays.counts if data else np.zeros_like(arrays.counts))[:, None]
    _set_shapes(model, state, counts)
    norms = component_norms(model, state)
    if edge:
        sweep_moves(plan, np.concatenate((state.shape[:edge], np.ones((1, state.chains)))), state.theta, rng)
        padded_means = np.concatenate((state.means, np.zeros((1, state.chains))))
        density = component_density(state, norms)
        mixture = MixtureDensity(arrays, np.pad(counts, ((0, 1), (0, 0))), model.cell_of, padded_means, density)
        for batch in plan.updates:
            if rng.random() < batch.chance:
                update_jointly(batch, mixture, plan.extras, state.theta, rng)
        odds = None if model.doubtful is None else model.doubtful.update(state.theta, state.shape, rng)
        if model.general is not None:
            model.general.update(state.theta, state.shape, rng, odds)
        plan.normalise(state.theta)
    logs = np.log(np.maximum(state.theta[:-1], SMALLEST))
    if model.summed is None:
        starts = model.sampled.starts[model.sampled.constrained :] - edge
        state.free_logs = normalised(log_gamma(state.shape[edge:], rng), starts)
        logs = np.concatenate((logs, state.free_logs))
    update_shared(model, state, norms, logs, data, rounds, rng)


def _set_shapes(model: Model, state: ChainStates, counts: Numbers) -> None:
    """s_z·b_z + N of every distribution."""
    strengths = model.arrays.strengths[model.arrays.seen[:, None], state.component]  # (distributions, chains)
    uniform = (state.component < model.uniform_components)[model.owners]
    base = np.where(uniform, model.inverse_states, state.means[model.cell_of[:-1]])
    predicted = (state.component >= model.first_predicted)[model.owners]
    base = np.where(predicted, model.arrays.predicted[:, None], base)
    prior = strengths[model.owners] * base
    prior[model.arrays.flat[model.owners]] = 1.0
    state.shape = prior + counts


def free_moments(model: Model, state: ChainStates) -> tuple[Numbers, Numbers]:
    """E θ of parameters of no block, given what is drawn, (parameters, chains), and E θ² averaged over chains."""
    shape, sampled = state.shape[model.edge :], model.sampled
    starts = sampled.starts[sampled.constrained :] - model.edge
    if not len(shape):
        return np.zeros((0, state.chains)), np.zeros(0)
    owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if model.summed is None:
        total = np.add.reduceat(shape, starts[:-1], axis=0)[owners]
        return shape / total, (shape * (shape + 1.0) / (total * (total + 1.0))).mean(axis=1)
    chances = model.summed.logs[:, :, None] + np.log(state.weights)[sampled.families[sampled.constrained :]]
    chances = np.exp(chances - chances.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)  # of components, given π
    first, second = np.zeros(shape.shape), np.zeros(len(shape))
    for g in range(chances.shape[1]):
        first += chances[owners, g] * model.summed.first[g][:, None]
        second += chances[:, g].mean(axis=1)[owners] * model.summed.second[g]
    return first, second
