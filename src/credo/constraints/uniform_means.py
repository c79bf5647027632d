"""The mean of the uniform distribution on what each block allows [guo, section 4.1: α].

A chain moves along sparse directions of θ that keep sums and equalities: pairs of states first, then where its own
draws lead, too. Where there is one direction alone, the mean is the middle of what it allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.constraints.blocks import Block, shape_of, starts_of
from credo.constraints.feasibility import InfeasibleError, Interior, interior_of
from credo.constraints.merged_states import merged_states
from credo.constraints.product_feasibility import product_finding
from credo.constraints.program import Program
from credo.core.line_sampler import Lines
from credo.threads import map_in_threads
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

STANDARD_ERROR = 0.03  # of the mean, in standard deviations
_NOTHING = 1e-12
_PIVOT = 1e-9

# Chains along lines
ALL_PAIRS = 6  # up to this many states every pair is a direction; above, each state with the next and some far ones
SNAPSHOTS, SPACING = 400, 2  # draws from which directions are learned, and sweeps between them
PER_DIRECTION = 20  # of these draws for each direction, where there are few
ROUNDS = 2  # of learning
LEAST_LEARNED, LEARNED_ENTRIES = 4, 20_000  # directions in which draws spread: so many, or with so many entries
FLATTEST = 1e-5  # of a learned direction, how far draws spread along it, as a share of the longest
BATCHES, FIRST_BATCH = 32, 16  # sweeps
MOST_ENTRIES = 400_000_000  # of directions that a chain moves along


def uniform_means(
    blocks: Sequence[Block], *, seed: int = 0, standard_error: float = STANDARD_ERROR
) -> tuple[Numbers, ...]:
    """The mean of each block; equal blocks are answered once."""
    shapes = [shape_of(block) for block in blocks]
    distinct = dict(zip(shapes, blocks, strict=True))

    def mean(item: tuple[int, Block]) -> Numbers:
        number, block = item
        own_seed = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        return uniform_mean(block, own_seed, standard_error)

    means = dict(zip(distinct, map_in_threads(mean, enumerate(distinct.values())), strict=True))
    return tuple(means[shape] for shape in shapes)


def uniform_mean(block: Block, seed: int, standard_error: float = STANDARD_ERROR) -> Numbers:
    """The mean of one block; it satisfies every hard linear constraint."""
    if any(product.confidence is None for product in block.products):
        return _mean_along_lines(block, np.zeros(block.size), seed, standard_error)  # not convex
    if not block.linear.hard.any():
        return np.asarray(1.0 / np.diff(block.distributions)[block.distribution_of], dtype=np.float64)
    merged = merged_states(block)
    if merged is None:
        return _mean_along_lines(block, np.zeros(block.size), seed, standard_error)
    # States that no constraint distinguishes share equally what their sum T, of density T^(n − 1), has for a mean.
    powers = merged.sizes.astype(np.float64) - 1.0
    return merged.shared(_mean_along_lines(merged.block, powers, seed, standard_error))


def _equal(block: Block, interior: Interior) -> Flags:
    """Which constraints are equalities, if only in effect."""
    equal = block.linear.hard & block.linear.equality
    equal[interior.tight_constraints] = True
    return equal


# Along lines ----------------------------------------------------------------------------------------------------------


def _mean_along_lines(block: Block, powers: Numbers, seed: int, standard_error: float) -> Numbers:
    """The mean of the density Π θ^powers on what the block allows."""
    from scipy.sparse import csr_array, vstack

    interior = interior_of(block)
    if interior is None:
        raise InfeasibleError
    linear = block.linear.take(block.linear.hard & ~_equal(block, interior))
    matrix = linear.matrix(block.size)
    hard = [product for product in block.products if product.confidence is None]
    products = csr_array(
        (
            np.array([value for product in hard for value in product.exponents], dtype=np.float64),
            np.array([index for product in hard for index in product.indices], dtype=np.int64),
            starts_of([len(product.indices) for product in hard]),
        ),
        shape=(len(hard), block.size),
    )
    log_bounds = np.array([product.log_bound for product in hard])
    start, pairs = _start(block, interior, products, log_bounds), _directions(block, interior)
    if not pairs.shape[0]:
        return block.normalised(start)
    slack = np.maximum(linear.bounds - linear.values(start), 0.0)
    if pairs.shape[0] == 1 and not hard and not powers.any():
        return block.normalised(start + _middle(start, slack, pairs.toarray()[0], matrix))
    lines = Lines(start, slack, powers, products, log_bounds, seed)

    def set_directions(directions: csr_array) -> None:
        changes = csr_array(directions @ matrix.T)
        changes.data[np.abs(changes.data) < _NOTHING] = 0.0
        changes.eliminate_zeros()
        lines.set_directions(directions, changes, csr_array(abs(directions) @ abs(products).T))

    directions = pairs
    set_directions(directions)
    for _ in range(ROUNDS):
        draws = np.array([lines.sweep(SPACING)[2] for _ in range(min(SNAPSHOTS, PER_DIRECTION * pairs.shape[0]))])
        directions = csr_array(vstack([pairs, _learned(draws)], format="csr"))
        set_directions(directions)
    return block.normalised(_converged(lines, directions.nnz, standard_error))


def _middle(start: Numbers, slack: Numbers, direction: Numbers, matrix: csr_array) -> Numbers:
    """The step from the start to the middle of what one direction allows."""
    changes = np.concatenate((-direction, matrix @ direction))
    room = np.concatenate((start, slack))
    up, down = changes > _NOTHING, changes < -_NOTHING
    return np.asarray(0.5 * ((room[up] / changes[up]).min() + (room[down] / changes[down]).max()) * direction)


def _converged(lines: Lines, entries: int, standard_error: float) -> Numbers:
    """The mean of a chain that goes on until batches of it agree, or it has made too many steps."""
    length = FIRST_BATCH
    sums, squares, _ = zip(*(lines.sweep(length) for _ in range(BATCHES)), strict=True)
    while True:
        means, mean = np.array(sums) / length, np.sum(sums, axis=0) / (BATCHES * length)
        variance = np.sum(squares, axis=0) / (BATCHES * length) - mean**2
        moving = variance > _NOTHING**2
        error = means.var(axis=0)[moving] / (BATCHES - 1) / variance[moving]
        if not moving.any() or error.mean() <= standard_error**2 or 2 * BATCHES * length * entries > MOST_ENTRIES:
            return np.asarray(mean)
        joined = [[one + other for one, other in zip(each[::2], each[1::2], strict=True)] for each in (sums, squares)]
        length *= 2
        more = [lines.sweep(length) for _ in range(BATCHES // 2)]
        sums, squares = ((*old, *(each[k] for each in more)) for k, old in enumerate(joined))


def _learned(draws: Numbers) -> csr_array:
    """The directions in which draws spread, the longest of them; parameters that hardly move along one stay."""
    from scipy.sparse import csr_array

    _, lengths, found = np.linalg.svd(draws - draws.mean(axis=0), full_matrices=False)
    most = max(LEAST_LEARNED, LEARNED_ENTRIES // draws.shape[1])
    found = found[: min(most, int((lengths > FLATTEST * lengths[:1].sum()).sum()))]
    return csr_array(np.where(np.abs(found) > _NOTHING, found, 0.0))


def _start(block: Block, interior: Interior, products: csr_array, log_bounds: Numbers) -> Numbers:
    """A feasible point, at which no inequality holds with equality if it need not."""
    equal = _equal(block, interior)

    def polished(point: Numbers) -> Numbers:
        """The nearest point that keeps equalities to the last digit: linear programs keep them to 1e-9 only."""
        if not equal.any() and not len(interior.zero_parameters):
            return block.normalised(point)
        from scipy.sparse import csr_array, vstack
        from scipy.sparse.linalg import lsmr

        point = point.copy()
        point[interior.zero_parameters] = 0.0
        free = np.ones(block.size)
        free[interior.zero_parameters] = 0.0
        sums = csr_array((np.ones(block.size), np.arange(block.size), block.distributions))
        kept = block.linear.take(equal)
        fixed = csr_array(vstack([sums, kept.matrix(block.size)], format="csr") * free)
        targets = np.concatenate((np.ones(len(block.configurations)), kept.bounds))
        missing = lsmr(fixed, targets - fixed @ point, atol=1e-15, btol=1e-15)[0]
        return np.asarray(np.maximum(0.0, point + missing * free), dtype=np.float64)

    if not len(log_bounds):
        return polished(interior.point)
    found = product_finding(block, interior, Program(block)).point
    if found is None:
        raise InfeasibleError  # or nothing was found; who asked says which
    # The descent may end on a face, but products that hold there hold near it.
    for share in (1e-3, 1e-6, 0.0):
        point = polished(found + share * (interior.point - found))
        if (products @ np.log(np.maximum(point, 1e-300)) <= log_bounds).all():
            return point
    raise InfeasibleError


def _directions(block: Block, interior: Interior) -> csr_array:
    """Pairs of states that keep every equality, and a basis of what else keeps them; one row for each."""
    from scipy.sparse import csr_array, vstack

    free = np.ones(block.size, dtype=np.bool_)
    free[interior.zero_parameters] = False
    pairs = _differences(*_pairs(block, free), block.size)
    kept = block.linear.take(_equal(block, interior))
    if not len(kept):
        return pairs
    equalities = kept.matrix(block.size)
    broken = abs(csr_array(pairs @ equalities.T)).max(axis=1).toarray().ravel() > _NOTHING
    touched = np.flatnonzero(np.isin(block.distribution_of, block.distribution_of[kept.indices]) & free)
    first = touched[np.searchsorted(block.distribution_of[touched], block.distribution_of[touched])]
    steps = _differences(touched[touched != first], first[touched != first], block.size)
    basis = csr_array(null_space((equalities @ steps.T).toarray()) @ steps)
    basis.data[np.abs(basis.data) < _PIVOT] = 0.0
    basis.eliminate_zeros()
    return csr_array(vstack([pairs[~broken], basis[np.diff(basis.indptr) > 0]], format="csr"))


def _pairs(block: Block, free: Flags) -> tuple[Indices, Indices]:
    found: list[tuple[int, int]] = []
    for start, stop in zip(block.distributions[:-1].tolist(), block.distributions[1:].tolist(), strict=True):
        states = (start + np.flatnonzero(free[start:stop])).tolist()
        size = len(states)
        if size <= ALL_PAIRS:
            found += [(states[i], states[j]) for i in range(size) for j in range(i + 1, size)]
        else:
            found += [(states[i], states[(i + step) % size]) for step in {1, 3, size // 2} for i in range(size)]
    pairs = np.unique(np.sort(np.array(found, dtype=np.int64).reshape(-1, 2), axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _differences(one: Indices, other: Indices, size: int) -> csr_array:
    """e_i − e_j of each pair."""
    from scipy.sparse import csr_array

    count = len(one)
    values, rows = np.repeat([1.0, -1.0], count), np.tile(np.arange(count), 2)
    return csr_array((values, (rows, np.concatenate((one, other)))), shape=(count, size))


def null_space(matrix: Numbers) -> csr_array:
    """A basis of {v : matrix v = 0}, (vectors, columns), by elimination: its vectors have few entries, unlike an SVD's.

    A column without a pivot is free: its vector has 1 there, and in the pivots' columns what that makes necessary.
    """
    from scipy.sparse import csr_array

    reduced = matrix.copy()
    pivots: list[int] = []
    for column in range(matrix.shape[1]):
        row = len(pivots)
        if row == len(reduced):
            break
        best = row + int(np.abs(reduced[row:, column]).argmax())
        if abs(reduced[best, column]) < _PIVOT:
            reduced[row:, column] = 0.0
            continue
        reduced[[row, best]] = reduced[[best, row]]
        reduced[row] /= reduced[row, column]
        others = np.arange(len(reduced)) != row
        reduced[others] -= np.outer(reduced[others, column], reduced[row])
        pivots.append(column)
    free = np.setdiff1d(np.arange(matrix.shape[1]), pivots)
    necessary = -reduced[: len(pivots), free].T
    rows, columns = np.nonzero(np.abs(necessary) >= _PIVOT)
    return csr_array(
        (
            np.concatenate((np.ones(len(free)), necessary[rows, columns])),
            (
                np.concatenate((np.arange(len(free)), rows)),
                np.concatenate((free, np.array(pivots, dtype=np.int64)[columns])),
            ),
        ),
        shape=(len(free), matrix.shape[1]),
    )
