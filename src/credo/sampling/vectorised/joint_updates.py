"""Joint updates of many chains at once: parameters that statements hold close are proposed together.

The target is the density with the components z summed over: a distribution that goes from a corner to its middle also
changes what it was drawn from, and neither can go first. Parameter after parameter is proposed within what constraints
leave it, given those before and what those after can still be; a proposal is accepted by Metropolis and Hastings.
`kernels/joint_updates.py` is the same for one chain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.kernels.sampler_arrays import DistributionArrays, Geometry, JointUpdates
from credo.sampling.vectorised.batches import SMALLEST, ExtraTerms, independent_batches, padded, padded_values
from credo.types import Flags, Indices, Numbers

POWER = 0.1  # proposals near an end: as θ^(POWER − 1), no lighter there than components of strength 0.2 and two states
SAME = 0.8  # how often a parameter is proposed like most of its update: uniformly, near zero, or near one
NOTHING = 1e-15  # a change of a constraint that is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One parameter of each update of a batch, and the constraints that bound it; padded, updates on the last axis."""

    numbers: Indices  # (updates,)
    others: Indices  # (states − 1, updates) of the same distribution
    is_other: Numbers  # (states − 1, updates) 1, or 0 for padding
    states: Numbers  # (updates, 1)
    distributions: Indices  # (updates,)
    lowest: Numbers  # (updates, 1)
    highest: Numbers  # (updates, 1)
    entries: Indices  # (constraints, entries, updates) parameters that are drawn already
    coefficients: Numbers  # (constraints, entries, updates)
    own: Numbers  # (constraints, updates) the coefficient of the parameter itself
    other: Numbers  # (constraints, states − 1, updates) those of the others
    spare: Numbers  # (constraints, updates, 1) the bound, less what later parameters add at least


@dataclass(frozen=True, slots=True, eq=False)
class UpdateBatch:
    """Joint updates of as many parameters each that are made at once."""

    steps: tuple[Step, ...]
    extras: Indices  # (extras, updates)
    chance: float


def update_batches(geometry: Geometry, updates: JointUpdates, extras: ExtraTerms) -> list[UpdateBatch]:
    """All joint updates, in batches that share no distribution, constraint, product or soft statement."""
    parameters, no_extra = len(geometry.owners), len(extras.bounds) - 1
    touching: list[list[int]] = [[] for _ in range(len(geometry.distributions) - 1)]
    owners = np.repeat(np.arange(len(geometry.bounds)), np.diff(geometry.constraint_starts))
    for constraint, d in sorted(
        set(zip(owners.tolist(), geometry.owners[geometry.constraint_indices].tolist(), strict=True))
    ):
        touching[d].append(constraint)
    resources, kinds = [], []
    steps_of = [range(updates.starts[u], updates.starts[u + 1]) for u in range(len(updates.chances))]
    named = [
        updates.extras[updates.extra_starts[u] : updates.extra_starts[u + 1]].tolist()
        for u in range(len(updates.chances))
    ]
    for u, steps in enumerate(steps_of):
        drawn = [int(geometry.owners[updates.numbers[step]]) for step in steps]
        resources.append(
            {
                *(("distribution", d) for d in drawn),
                *(("constraint", c) for d in drawn for c in touching[d]),
                *(("extra", e) for e in named[u]),
            }
        )
        kinds.append((len(steps), len(named[u]) > 0))
    return [
        UpdateBatch(
            tuple(
                _step(geometry, updates, [steps_of[u] for u in members], position, parameters)
                for position in range(len(steps_of[members[0]]))
            ),
            padded([named[u] for u in members], no_extra),
            float(np.mean(updates.chances[members])),
        )
        for members in independent_batches(resources, kinds)
    ]


def _step(geometry: Geometry, updates: JointUpdates, members: list[range], position: int, padding: int) -> Step:
    numbers = np.array([updates.numbers[steps[position]] for steps in members], dtype=np.int64)
    drawn = geometry.owners[numbers]
    others = [
        [i for i in range(geometry.distributions[d], geometry.distributions[d + 1]) if i != number]
        for number, d in zip(numbers.tolist(), drawn.tolist(), strict=True)
    ]
    checks = []  # of each update: (entries, their coefficients, own, others' coefficients, spare) of each constraint
    for member, (steps, number, rest) in enumerate(zip(members, numbers.tolist(), others, strict=True)):
        step = steps[position]
        later = {int(geometry.owners[updates.numbers[each]]) for each in steps if each > step}
        found = []
        for check in range(updates.check_starts[step], updates.check_starts[step + 1]):
            constraint = updates.checks[check]
            entries: dict[int, float] = {}
            for e in range(geometry.constraint_starts[constraint], geometry.constraint_starts[constraint + 1]):
                i = int(geometry.constraint_indices[e])
                if int(geometry.owners[i]) not in later:
                    entries[i] = entries.get(i, 0.0) + float(geometry.constraint_values[e])
            found.append(
                (
                    list(entries),
                    list(entries.values()),
                    entries.get(number, 0.0),
                    [entries.get(i, 0.0) for i in rest],
                    float(geometry.bounds[constraint] - updates.reserves[check]),
                )
            )
        checks.append(found)
        assert int(drawn[member]) not in later
    most = max(map(len, checks))
    longest = max((len(check[0]) for found in checks for check in found), default=0)
    widest = max(map(len, others), default=0)
    entries_array = np.full((most, longest, len(members)), padding, dtype=np.int64)
    coefficients = np.zeros((most, longest, len(members)))
    own, other = np.zeros((most, len(members))), np.zeros((most, widest, len(members)))
    spare = np.ones((most, len(members)))
    for u, found in enumerate(checks):
        for c, (indices, values, own_value, other_values, room) in enumerate(found):
            entries_array[c, : len(indices), u], coefficients[c, : len(indices), u] = indices, values
            own[c, u], other[c, : len(other_values), u], spare[c, u] = own_value, other_values, room
    return Step(
        numbers,
        padded(others, padding),
        padded_values([[1.0] * len(rest) for rest in others], 0.0),
        np.array([[len(rest) + 1.0] for rest in others]),
        drawn,
        updates.lowest[numbers][:, None],
        updates.highest[numbers][:, None],
        entries_array,
        coefficients,
        own,
        other,
        spare[:, :, None],
    )


@dataclass(frozen=True, slots=True, eq=False)
class MixtureDensity:
    """log Π θ^N · Σ_g π_g·Dir(θ | s_g·b_g) of distributions, for the present π and m of every chain."""

    arrays: DistributionArrays
    counts: Numbers  # (parameters + 1, chains), or (parameters + 1, 1) where all chains share them
    cell_of: Indices  # (parameters + 1,) the cell of m that belongs to each parameter; the last is padding
    means: Numbers  # (cells + 1, chains), the last of which is 0
    density: Numbers  # (families, 2, components, chains) log of π_g/B(s_g·b_g), of π_g where the base is predicted

    def __call__(self, step: Step, value: Numbers, others: Numbers) -> Numbers:
        """(updates, chains), for the parameter of a step and the others of its distribution."""
        logs = np.log(np.concatenate((value[None], others)))  # padding is one, and its logarithm zero
        indices = np.concatenate((step.numbers[None], step.others))
        plain = logs.sum(axis=0)
        mean = (self.means[self.cell_of[indices]] * logs).sum(axis=0)
        data = (self.counts[indices] * logs).sum(axis=0)
        families, seen = self.arrays.families[step.distributions], self.arrays.seen[step.distributions]
        strengths = self.arrays.strengths[seen].T[:, :, None]  # (components, updates, 1)
        guess = (np.append(self.arrays.predicted, 0.0)[indices][:, :, None] * logs).sum(axis=0)
        uniform, last = int(self.arrays.uniform_components[0]), int(self.arrays.first_predicted[0])
        terms = self.density[families, seen].transpose(1, 0, 2).copy()
        terms[:uniform] += strengths[:uniform] * (plain / step.states)
        terms[uniform:last] += strengths[uniform:last] * mean
        terms[last:] += strengths[last:] * guess + self.arrays.predicted_logs[step.distributions].T[:, :, None]
        highest = terms.max(axis=0)
        total = np.exp(terms - highest).sum(axis=0)
        return np.asarray(data - plain + highest + np.log(total))


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """Between which values constraints leave θ_k, all others of its distribution giving in proportion."""

    low: Numbers  # (updates, chains)
    high: Numbers
    near_zero: tuple[Numbers, Numbers]  # low^POWER and high^POWER
    near_one: tuple[Numbers, Numbers]  # (1 − high)^POWER and (1 − low)^POWER
    rest: Numbers  # 1 − θ_k
    others: Numbers  # (states − 1, updates, chains)


def update_jointly(
    batch: UpdateBatch, mixture: MixtureDensity, extras: ExtraTerms, theta: Numbers, rng: np.random.Generator
) -> Numbers:
    """Propose one update of each kind for every chain, and accept it or not; returns the share that was accepted.

    With others in proportion, θ_k and their shares are the coordinates, and the volume element is (1 − θ_k)^(K − 2).
    """
    shape = len(batch.steps[0].numbers), theta.shape[1]
    gain, possible = np.zeros(shape), np.ones(shape, dtype=np.bool_)
    logs = np.zeros((3, *shape))
    for step in batch.steps:
        interval = _allowed_interval(step, theta, possible)
        value = theta[step.numbers]
        _add_proposal(value, interval.rest, interval, logs)
        gain -= mixture(step, value, interval.others) + (step.states - 2.0) * np.log(interval.rest)
    gain += _log_mean(logs)
    logs[:] = 0.0
    common = rng.integers(3, size=shape)
    proposed = theta.copy()
    for step in batch.steps:
        interval = _allowed_interval(step, proposed, possible)
        different = rng.random(shape)
        kind = np.where(different < SAME, common, (common + np.where(different < 0.5 * (1.0 + SAME), 1, 2)) % 3)
        value, left = _proposed(interval, kind, rng.random(shape))
        shrunk = np.maximum(interval.others * (left / interval.rest), SMALLEST)
        moved = np.where(step.is_other[:, :, None] > 0.0, shrunk, 1.0)
        _add_proposal(value, left, interval, logs)
        gain += mixture(step, value, moved) + (step.states - 2.0) * np.log(left)
        proposed[step.numbers], proposed[step.others] = value, moved
    gain -= _log_mean(logs)
    if len(batch.extras):
        for point, sign in ((proposed, 1.0), (theta, -1.0)):
            values = extras.values(point)[batch.extras]  # (extras, updates, chains)
            gain += sign * extras.log_density(values, batch.extras).sum(axis=0)
    accepted = possible & (-rng.standard_exponential(shape) < gain)
    for step in batch.steps:
        for places in (step.numbers, *step.others):
            theta[places] = np.where(accepted, proposed[places], theta[places])
    theta[-1] = 1.0
    return np.asarray(accepted.mean(axis=1))


def _allowed_interval(step: Step, theta: Numbers, possible: Flags) -> Interval:
    """Where there is no such value, or none that differs from another, `possible` becomes false."""
    others = theta[step.others]
    rest = (step.is_other[:, :, None] * others).sum(axis=0)
    low, high = np.broadcast_to(step.lowest, rest.shape), np.broadcast_to(step.highest, rest.shape)
    if len(step.spare):
        spare = step.spare - (step.coefficients[:, :, :, None] * theta[step.entries]).sum(axis=1)
        slope = step.own[:, :, None] - (step.other[:, :, :, None] * others).sum(axis=1) / rest
        steep = np.abs(slope) > NOTHING
        limit = theta[step.numbers] + spare / np.where(steep, slope, 1.0)
        high = np.minimum(high, np.where(steep & (slope > 0.0), limit, np.inf).min(axis=0))
        low = np.maximum(low, np.where(steep & (slope < 0.0), limit, -np.inf).max(axis=0))
        possible &= ~(~steep & (spare < 0.0)).any(axis=0)
    low, high = np.where(low > NOTHING, low, 0.0), np.where(high < 1.0 - NOTHING, high, 1.0)
    possible &= low < high
    low, high = np.where(possible, low, 0.0), np.where(possible, high, 1.0)
    near_zero, near_one = (low**POWER, high**POWER), ((1.0 - high) ** POWER, (1.0 - low) ** POWER)
    distinct = (near_zero[0] < near_zero[1]) & (near_one[0] < near_one[1])
    if not distinct.all():
        possible &= distinct
        low, high = np.where(distinct, low, 0.0), np.where(distinct, high, 1.0)
        near_zero, near_one = (
            (np.where(distinct, near, 0.0), np.where(distinct, far, 1.0)) for near, far in (near_zero, near_one)
        )
    return Interval(low, high, near_zero, near_one, rest, others)


def _proposed(interval: Interval, kind: Indices, share: Numbers) -> tuple[Numbers, Numbers]:
    """θ and 1 − θ: uniform between the ends (kind 0), or as powers of the distance from zero (1) or from one (2)."""
    uniform = interval.low + share * (interval.high - interval.low)
    near, far = (
        np.where(kind == 1, zero, one) for zero, one in zip(interval.near_zero, interval.near_one, strict=True)
    )
    distance = (near + share * (far - near)) ** (1.0 / POWER)
    value = np.where(kind == 0, uniform, np.where(kind == 1, distance, 1.0 - distance))
    left = np.where(kind == 2, distance, 1.0 - value)
    return np.maximum(value, SMALLEST), np.maximum(left, SMALLEST)


def _add_proposal(value: Numbers, rest: Numbers, interval: Interval, logs: Numbers) -> None:
    """Add the log density of one parameter to that of an update, for each kind that the update as a whole may have."""
    uniform = 1.0 / (interval.high - interval.low)
    below, above = (
        POWER * distance ** (POWER - 1.0) / (far - near)
        for distance, (near, far) in ((value, interval.near_zero), (rest, interval.near_one))
    )
    other = 0.5 * (1.0 - SAME) * (uniform + below + above)
    more = 1.5 * SAME - 0.5
    for kind, density in enumerate((uniform, below, above)):
        logs[kind] += np.log(other + more * density)


def _log_mean(logs: Numbers) -> Numbers:
    """The log density of an update whose kind is drawn uniformly."""
    highest = logs.max(axis=0)
    return np.asarray(highest + np.log(np.exp(logs - highest).mean(axis=0)))
