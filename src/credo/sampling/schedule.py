"""How often compiled chains update each distribution: those that mix slowly take part in several passes of a sweep.

A few distributions of a CPT may be held together by statements, and need ten times as many updates as all others. So
effort is given to distributions, by the effective sizes of their parameters, and not to CPTs: a pass makes the moves
and joint updates that change a distribution which takes part in it, and draws the components, m and π of its CPT: where
a few distributions go from one mode to another, these go with them. The schedule is fixed between two stages, and every
update keeps the posterior: so does any order of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.kernels.sampler_arrays import DistributionArrays, Geometry, JointUpdates, Passes, Ranges, Schedule
from credo.types import Indices, Numbers

SMALLEST = 1e-3  # effective draws
WITH_OTHERS = 0.5  # of the effort of a distribution that is tied to another


def schedule_of(
    effort: Indices,
    geometry: Geometry,
    updates: JointUpdates,
    ranges: Ranges,
    arrays: DistributionArrays,
    first: int = 0,
) -> Schedule:
    """The passes of all updates; `effort`, (distributions,), says in how many each distribution takes part.

    Passes before the `first` are not made: with 1, distributions with an effort of one stay as they are, and so does w.
    """
    closed = np.repeat(ranges.closed, np.diff(geometry.group_moves))
    moves = np.where(closed, 0, _largest(effort[geometry.owners[geometry.move_indices]], geometry.move_starts))
    changed = geometry.owners[updates.numbers]
    joint = _largest(effort[changed], updates.starts)
    classes = _largest(effort[ranges.numbers], ranges.class_starts)
    families = np.ones(len(arrays.cells) - 1, dtype=np.int64)
    np.maximum.at(families, arrays.families, effort)
    # Updates may join CPTs; those that they change follow.
    np.maximum.at(families, arrays.families[changed], np.repeat(joint, np.diff(updates.starts)))
    components = families[arrays.families]
    groups = _largest(components[: geometry.group_distributions[-1]], geometry.group_distributions)
    reached = effort.copy()
    np.maximum.at(reached, changed, np.repeat(joint, np.diff(updates.starts)))
    np.maximum.at(reached, geometry.owners[geometry.move_indices], np.repeat(moves, np.diff(geometry.move_starts)))
    groups = np.where(ranges.closed, 0, groups)
    classes = np.where(ranges.shared, 0, classes)

    def taking_part(least: int) -> Passes:
        """What takes part in more than so many passes."""
        free = np.arange(len(effort)) >= arrays.constrained[0]
        chosen = components, np.where(free, effort, 0), families, groups, joint, classes
        return Passes(*(np.flatnonzero(passes > least) for passes in chosen))

    passes = effort, reached, components, families, groups, moves, joint, classes
    return Schedule(*passes, np.array([first]), taking_part(0), taking_part(1))


def _largest(values: Indices, starts: Indices) -> Indices:
    """The largest of each stretch, none of which is empty."""
    return np.maximum.reduceat(values, starts[:-1]) if len(values) else np.zeros(len(starts) - 1, dtype=np.int64)


def still_needed(sizes: Numbers, wanted: Numbers | float, share: float) -> Numbers:
    """How many effective draws the next stage has to add, so that all draws together are worth `wanted`.

    `sizes` are those of the draws so far, and the next stage makes `share` of all draws. The mean over all of them has
    the variance σ²·((1 − share)²/size + share²/added): draws that are added with less effort than those before can
    leave it less certain than it was. Infinite where no stage of this length is enough.
    """
    spare = 1.0 / np.asarray(wanted) - (1.0 - share) ** 2 / np.maximum(sizes, SMALLEST)
    return np.where(np.isnan(sizes), 0.0, np.where(spare > 0.0, share**2 / np.where(spare > 0.0, spare, 1.0), np.inf))


def needed_effort(
    spent: Numbers,
    sizes: Numbers,
    lacking: Numbers,
    sweeps: int,
    starts: Indices,
    tied: Sequence[tuple[Indices, Indices]],
    limit: int,
    most: float,
) -> Indices:
    """In how many passes of each of the next sweeps distributions have to take part, from 1 to `limit`.

    `sizes`, effective draws of parameters, NaN where nothing moves, are what so many passes, `spent`, (distributions,),
    gave; `lacking` are those that are wanted in addition. There may be fewer of both than parameters. Distributions
    that are `tied` together, stretches of lists and where these start, mix together: effective sizes are not known
    well, and one that looks better than what it is tied to gets half of its effort. Where all together would update
    more than `most` parameters in a sweep, the limit is less.
    """
    worst = np.zeros(len(spent))
    owners = np.repeat(np.arange(len(spent)), np.diff(starts))[: len(sizes)]
    ratios = np.where(np.isnan(sizes), 0.0, np.maximum(lacking, 0.0) / np.maximum(sizes, SMALLEST))
    np.maximum.at(worst, owners, ratios)
    needed = np.ceil(worst * spent / max(1, sweeps))
    for members, ties in tied:
        if len(members):
            spread = np.repeat(np.maximum.reduceat(needed[members], ties[:-1]), np.diff(ties))
            np.maximum.at(needed, members, np.ceil(WITH_OTHERS * spread))
    needed = np.clip(needed, 1, limit).astype(np.int64)
    counts = np.diff(starts)
    while limit > 1 and int(counts @ needed) > most:
        limit -= 1
        needed = np.minimum(needed, limit)
    return np.asarray(needed, dtype=np.int64)
