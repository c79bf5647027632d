"""In which directions a point of a block can move: pairs of states, what statements tie together, null spaces.

A direction v keeps every distribution's sum and every equality: Ev = 0. Without equalities the pairs e_i − e_j of
states of one distribution reach every point. With them, pairs that break none are kept, and the null space of the
equalities gives the rest. Constraints that are equalities in effect count as equalities, parameters that can only be
zero stay zero: so an empty interior is no trouble.

Reaching is not mixing. Two parameters that are "about the same" leave a corner together or not at all, so constraints
on two distributions give moves that keep their value, and constraints that hold closely from both sides give their null
space. Where a polytope is long and narrow for other reasons, directions learned from draws follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.feasibility import NO_SLACK, Interior
from credo.small_products import product
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

ALL_PAIRS = 6  # up to this many states every pair is a move; above, each state with its next two and some far ones
TOGETHER = 0.4  # the correlation from which distributions are moved together; chosen by effective draws a second
# Longer moves cost what they have entries: of each kind a sweep makes so many that these are this often the pairs.
LONGER = 1.0
CLOSE = 0.4  # the distance of two bounds of one sum of parameters below which the sum is nearly fixed
MOST_CLOSE = 500  # parameters in such sums, above which elimination takes too long
BASES = 4
_ZERO = 1e-12
_PIVOT = 1e-9
_COLUMNS = 256  # of a covariance matrix, held at a time
_DENSE_CELLS = 4_000_000  # of a matrix of equalities, up to which a dense solver is the quicker one
MOST_LEARNED = 100  # entries of learned moves for each parameter of a block; a sweep makes two of these hundred
MOST_LINKED = 50  # parameters of a constraint, above which pairs of them are too many to be moves

Move = tuple[tuple[int, float], ...]  # (parameter, how much it changes) of each entry


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """What one block contributes to a geometry, in local numbers."""

    inequalities: LinearConstraints
    equalities: csr_array  # (equalities, parameters), the sums of the distributions that they touch among them
    targets: Numbers  # (equalities,)
    moves: csr_array  # (moves, parameters)
    chances: Numbers  # (moves,) how likely a sweep makes each
    rays: Flags  # (moves,) which are rays: states that are raised at the cost of all others of their distributions
    extras: csr_array  # (products, then soft statements; parameters)
    extra_bounds: Numbers
    extra_weights: Numbers  # NaN: a hard product; below zero: a soft one
    extra_equality: Flags
    compared: Flags  # (distributions,) which an equality compares with others, or states of which with each other


def directions(
    block: Block, interior: Interior, soft_weight: float | None = None, with_rays: bool = True
) -> Directions:
    """The moves of a block, its inequalities without repetitions, and its products and soft statements.

    Rays are for corners; without them, other updates have to reach these.
    """
    linear = block.linear
    equal = linear.hard & linear.equality
    equal[interior.tight_constraints] = True
    fixed = np.zeros(block.size, dtype=np.bool_)
    fixed[interior.zero_parameters] = True
    kept = _without_traces(linear.take(equal), np.where(fixed, 0.0, interior.point))
    equalities, targets = _equalities(block, kept, interior.zero_parameters)
    inequalities = _distinct_inequalities(block, linear.take(linear.hard & ~equal))
    moves, chances, rays = _moves(block, inequalities, equalities, fixed, with_rays)
    extras = _extras(block, soft_weight)
    compared = _compared(block, linear.take(equal))
    return Directions(inequalities, equalities, targets, moves, chances, rays, *extras, compared)


def learned(block: Block, part: Directions, draws: Numbers) -> Directions:
    """The same with moves along cov(θ, θ_i) / var(θ_i), the way in which a block follows when θ_i moves.

    Only distributions with a parameter whose correlation with θ_i is at least `TOGETHER` move with it: the direction
    stays short, and keeps their sums, as a distribution's covariances with θ_i add up to zero. Equalities tie more than
    that: with them all distributions move. `draws` is (draws, parameters).
    """
    from scipy.sparse import csr_array, vstack

    if not part.moves.shape[0]:
        return part  # nothing moves, or something else moves it
    if len(block.configurations) < 2 and not part.equalities.shape[0]:
        return part  # a distribution has nothing to follow but itself
    centred = draws - draws.mean(axis=0)
    deviation = centred.std(axis=0)
    still = deviation < _ZERO
    sizes = np.diff(block.distributions)
    found = [part.moves]
    # One parameter determines a distribution of two states.
    second = (sizes[block.distribution_of] == 2) & (np.diff(block.distribution_of, prepend=-1) == 0)
    wanted = np.flatnonzero(~still & ~second)
    entries, most = 0, max(_COLUMNS * block.size, MOST_LEARNED * block.size)
    # In the order of bits reversed, so that where there are too many those that are made lie everywhere.
    wanted = wanted[np.argsort(_reversed_bits(len(wanted)), kind="stable")] if len(wanted) > _COLUMNS else wanted
    for piece in np.array_split(wanted, -(-len(wanted) // _COLUMNS) or 1):
        if entries > most:
            break
        covariance = product(centred[:, piece].T, centred) / len(draws)  # (piece, parameters)
        correlation = np.abs(covariance) / np.outer(deviation[piece], np.where(still, np.inf, deviation))
        strong = np.maximum.reduceat(correlation, block.distributions[:-1], axis=1) >= TOGETHER
        if part.equalities.shape[0]:
            strong[:] = True
        strong[strong.sum(axis=1) < 2] = False
        moving = strong[:, block.distribution_of] & ~still
        moves = np.where(moving, covariance, 0.0)[strong.any(axis=1)]
        found.append(csr_array(moves / np.abs(moves).max(axis=1, keepdims=True, initial=_ZERO)))
        entries += found[-1].nnz
    moves = csr_array(vstack(found, format="csr"))
    fresh = moves.shape[0] - part.moves.shape[0]
    entries = moves.nnz - part.moves.nnz
    chance = min(1.0, 2.0 * LONGER * block.size / max(1, entries))
    chances, rays = np.full(fresh, chance), np.zeros(fresh, dtype=np.bool_)
    return replace(
        part,
        moves=moves,
        chances=np.concatenate((part.chances, chances)),
        rays=np.concatenate((part.rays, rays)),
    )


def _reversed_bits(count: int) -> Indices:
    """0, 1, … with their bits in reverse order: any first part of the numbers sorted by these is spread evenly."""
    numbers, reverse = np.arange(count), np.zeros(count, dtype=np.int64)
    for _ in range(max(count - 1, 0).bit_length()):
        reverse, numbers = 2 * reverse + numbers % 2, numbers // 2
    return reverse


def without_rays(part: Directions) -> Directions:
    """The same without moves that only corners need."""
    lines = ~part.rays
    return replace(part, moves=part.moves[lines], chances=part.chances[lines], rays=part.rays[lines])


def without_moves(part: Directions) -> Directions:
    """The same for a block that other updates move."""
    return replace(part, moves=part.moves[:0], chances=part.chances[:0], rays=part.rays[:0])


def polished(part: Directions, point: Numbers) -> Numbers:
    """The nearest point that keeps the equalities to the last digit: linear programs keep them to 1e-9 only."""
    if not part.equalities.shape[0]:
        return point
    missing = part.targets - part.equalities @ point
    if part.equalities.shape[0] * part.equalities.shape[1] <= _DENSE_CELLS:
        return np.asarray(point + np.linalg.lstsq(part.equalities.toarray(), missing)[0], dtype=np.float64)
    from scipy.sparse.linalg import lsmr

    return np.asarray(point + lsmr(part.equalities, missing, atol=1e-15, btol=1e-15)[0], dtype=np.float64)


# Constraints ----------------------------------------------------------------------------------------------------------


def _equalities(block: Block, linear: LinearConstraints, zeros: Indices) -> tuple[csr_array, Numbers]:
    """Equalities, zero parameters, and the sums of the distributions that these touch."""
    from scipy.sparse import csr_array, vstack

    touched = np.unique(block.distribution_of[np.concatenate((linear.indices, zeros))])
    if not len(linear) and not len(zeros):
        return csr_array((0, block.size)), np.zeros(0)
    members = np.concatenate([np.arange(*block.distributions[d : d + 2]) for d in touched])
    lengths = np.diff(block.distributions)[touched]
    sums = csr_array((np.ones(len(members)), members, starts_of(lengths.tolist())), shape=(len(touched), block.size))
    pinned = csr_array((np.ones(len(zeros)), zeros, np.arange(len(zeros) + 1)), shape=(len(zeros), block.size))
    matrix = csr_array(vstack([linear.matrix(block.size), pinned, sums], format="csr"))
    return matrix, np.concatenate((linear.bounds, np.zeros(len(zeros)), np.ones(len(touched))))


def _without_traces(linear: LinearConstraints, point: Numbers) -> LinearConstraints:
    """Equalities without what is below the precision of a program: 1e-9·θ₁ + θ₂ = 1 says nothing about θ₁."""
    owners = linear.entry_constraints
    largest = np.maximum.reduceat(np.abs(linear.coefficients), linear.starts[:-1]) if len(linear) else np.zeros(0)
    traces = np.abs(linear.coefficients) < NO_SLACK * largest[owners]
    if not traces.any():
        return linear
    without = replace(linear, coefficients=np.where(traces, 0.0, linear.coefficients))
    changed = np.zeros(len(linear), dtype=np.bool_)
    changed[owners[traces]] = True
    return replace(without, bounds=np.where(changed, without.values(point), linear.bounds))


def _compared(block: Block, equalities: LinearConstraints) -> Flags:
    """The distributions that an equality compares.

    Where θ₁ = θ₂ both priors count, and θ^(2(a − 1)) has no finite integral from a = 1/2 down: all of the posterior
    would lie in a corner. Given such an equality the prior is flat instead, and the data of both decide.
    """
    found = np.zeros(len(block.configurations), dtype=np.bool_)
    for number in range(len(equalities)):
        entries = slice(equalities.starts[number], equalities.starts[number + 1])
        owners, values = block.distribution_of[equalities.indices[entries]], equalities.coefficients[entries]
        if (owners != owners[0]).any() or values.min() < 0.0 < values.max():
            found[owners] = True
    return found


def _distinct_inequalities(block: Block, linear: LinearConstraints) -> LinearConstraints:
    """The constraints without those that every distribution keeps, and the tightest of those that mean the same.

    On distributions Σ c_k θ_k = c_K + Σ (c_k − c_K) θ_k: constraints are compared in the form in which the last state
    has no coefficient, and the largest coefficient is one. "P(no) ≤ 0.3" and "P(yes) ≥ 0.7" are then the same.
    """
    tightest: dict[tuple[tuple[int, float], ...], tuple[float, int]] = {}
    owners, ends = block.distribution_of.tolist(), block.distributions.tolist()
    starts, indices, values = linear.starts.tolist(), linear.indices.tolist(), linear.coefficients.tolist()
    for constraint, bound in enumerate(linear.bounds.tolist()):
        forms: dict[int, dict[int, float]] = {}  # of each distribution, the coefficients of its states
        for e in range(starts[constraint], starts[constraint + 1]):
            form = forms.setdefault(owners[indices[e]], {})
            form[indices[e]] = form.get(indices[e], 0.0) + values[e]
        entries: list[tuple[int, float]] = []
        most = 0.0
        for d, form in forms.items():
            shift = form.get(ends[d + 1] - 1, 0.0)
            bound -= shift
            if shift != 0.0:
                form = {i: form.get(i, 0.0) - shift for i in range(ends[d], ends[d + 1])}
            kept = [(i, value) for i, value in form.items() if abs(value) > _ZERO]
            entries += kept
            most += max([value for _, value in kept if value > 0.0], default=0.0)  # the last state has none
        scale = max([abs(value) for _, value in entries], default=0.0)
        if scale == 0.0 or most <= bound:
            continue
        key = tuple(sorted([(i, round(value / scale, 9)) for i, value in entries]))
        if key not in tightest or bound / scale < tightest[key][0]:
            tightest[key] = (bound / scale, constraint)
    return linear.take(np.array(sorted(constraint for _, constraint in tightest.values()), dtype=np.int64))


def _extras(block: Block, soft_weight: float | None) -> tuple[csr_array, Numbers, Numbers, Flags]:
    """Products, and soft linear statements with the weight W·C each [liao, eq. 5].

    Hard products have no weight, soft ones that of their logarithm, with a minus to tell them from linear statements.
    """
    from scipy.sparse import csr_array, vstack

    hard = [product for product in block.products if product.confidence is None]
    weighed = [product for product in block.products if product.confidence is not None] if soft_weight else []
    products = [*hard, *(product for product in weighed if np.isfinite(product.log_bound))]
    costs = [-(soft_weight or 0.0) * product.confidence for product in products if product.confidence is not None]
    lengths = [len(product.indices) for product in products]
    values = np.array([value for product in products for value in product.exponents], dtype=np.float64)
    places = np.array([index for product in products for index in product.indices], dtype=np.int64)
    matrix = csr_array((values, places, starts_of(lengths)), shape=(len(products), block.size))
    soft = block.linear.take(~block.linear.hard if soft_weight else np.zeros(len(block.linear), dtype=np.bool_))
    return (
        csr_array(vstack([matrix, soft.matrix(block.size)], format="csr")),
        np.concatenate((np.array([product.log_bound for product in products]), soft.bounds)),
        np.concatenate((np.full(len(hard), np.nan), costs, (soft_weight or 0.0) * soft.confidences)),
        np.concatenate((np.zeros(len(products), dtype=np.bool_), soft.equality)),
    )


def starts_of(sizes: Sequence[int]) -> Indices:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64)


# Moves ----------------------------------------------------------------------------------------------------------------


def _moves(
    block: Block, inequalities: LinearConstraints, equalities: csr_array, fixed: Flags, with_rays: bool
) -> tuple[csr_array, Numbers, Flags]:
    """Pairs and what is linked; with equalities, pairs that break none and a basis of their null space."""
    from scipy.sparse import csr_array, vstack

    first, second = _pairs(block, fixed)
    pairs = _matrix([((i, 1.0), (j, -1.0)) for i, j in zip(first, second, strict=True)], block.size)
    if not equalities.shape[0]:
        narrow_rays, narrow_lines = _narrow(block, inequalities, with_rays)
        rays = list(dict.fromkeys([*_linked(block, inequalities), *narrow_rays])) if with_rays else []
        counts = [pairs.shape[0], len(rays), len(narrow_lines)]
        entries = sum(map(len, narrow_lines))
        chances = [1.0, *(min(1.0, LONGER * counts[0] / max(1, cost)) for cost in (2 * len(rays), entries))]
        made = csr_array(vstack([pairs, _matrix([*rays, *narrow_lines], block.size)], format="csr"))
        return made, np.repeat(chances, counts), np.repeat([False, True, False], counts)
    broken = abs(csr_array(pairs @ equalities.T)).max(axis=1).toarray().ravel() > _ZERO
    made = csr_array(vstack([pairs[~broken], _equality_moves(block, equalities, fixed)], format="csr"))
    return made, np.ones(made.shape[0]), np.zeros(made.shape[0], dtype=np.bool_)


def _equality_moves(block: Block, equalities: csr_array, fixed: Flags) -> csr_array:
    """Moves that keep the equalities, and with pairs that do reach every point: a basis of their null space.

    States of one distribution whose columns are equal exchange mass freely, in a ring. One of each class, less the
    last of its distribution, is a column of what is eliminated: a few, however many states there are.
    """
    from scipy.sparse import csr_array, vstack

    free = np.flatnonzero(np.isin(block.distribution_of, np.unique(block.distribution_of[equalities.indices])) & ~fixed)
    matrix = csr_array(equalities[:, free].T)  # (parameters, equalities)
    random = np.random.default_rng(matrix.shape[1]).standard_normal((matrix.shape[1], 2))
    keys = np.column_stack((block.distribution_of[free], matrix @ random))
    order = np.lexsort(keys.T[::-1])
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(keys[order], axis=0) != 0.0).any(axis=1))))
    following = np.roll(order, -1)
    following[np.append(starts[1:], len(order)) - 1] = order[starts]
    ring = order != following
    rings = _differences(free[order[ring]], free[following[ring]], block.size)
    classes = free[np.minimum.reduceat(order, starts)] if len(order) else free
    last_of = dict(zip(block.distribution_of[np.sort(classes)].tolist(), np.sort(classes).tolist(), strict=True))
    last = np.array([last_of[d] for d in block.distribution_of[classes].tolist()], dtype=np.int64)
    inner = classes != last
    steps = _differences(classes[inner], last[inner], block.size)
    changes = csr_array(equalities @ steps.T)
    changes = changes[np.unique(changes.nonzero()[0])]  # sums and zeros are kept by every step
    basis = csr_array(sparse_null_space(changes.toarray()) @ steps)
    basis.data[np.abs(basis.data) < _PIVOT] = 0.0
    basis.eliminate_zeros()
    found = csr_array(vstack([rings, basis[np.diff(basis.indptr) > 0]], format="csr"))
    found.sort_indices()
    found.data /= np.repeat(found.data[found.indptr[:-1]], np.diff(found.indptr))  # a pair is 1 and −1, in this order
    return found


def _differences(one: Indices, other: Indices, size: int) -> csr_array:
    """e_i − e_j of each pair."""
    from scipy.sparse import csr_array

    count = len(one)
    values, rows = np.repeat([1.0, -1.0], count), np.tile(np.arange(count), 2)
    return csr_array((values, (rows, np.concatenate((one, other)))), shape=(count, size))


def _matrix(moves: Sequence[Sequence[tuple[int, float]]], size: int) -> csr_array:
    from scipy.sparse import csr_array

    indices = np.array([index for move in moves for index, _ in move], dtype=np.int64)
    values = np.array([value for move in moves for _, value in move], dtype=np.float64)
    made = csr_array((values, indices, starts_of([len(move) for move in moves])), shape=(len(moves), size))
    made.sort_indices()
    return made


def _pairs(block: Block, fixed: Flags) -> tuple[Indices, Indices]:
    found: list[tuple[int, int]] = []
    for start, stop in zip(block.distributions[:-1].tolist(), block.distributions[1:].tolist(), strict=True):
        free = [i for i in range(start, stop) if not fixed[i]]
        size = len(free)
        if size <= ALL_PAIRS:
            found += [(free[i], free[j]) for i in range(size) for j in range(i + 1, size)]
        else:
            steps = {1, 2, size // 2, max(3, size // 5)}
            found += [(free[i], free[(i + step) % size]) for step in steps for i in range(size)]
    pairs = np.unique(np.sort(np.array(found, dtype=np.int64).reshape(-1, 2), axis=1), axis=0)
    return pairs[:, 0], pairs[:, 1]


def _linked(block: Block, linear: LinearConstraints) -> list[Move]:
    """Two states of two distributions, raised so that a constraint c_i·θ_i + c_j·θ_j + … keeps its value.

    "About the same" holds two parameters together: alone, neither can leave a corner that the other one is in.
    """
    return [
        ((i, 1.0), (j, round(-c_i / c_j, 9)))
        for constraint in linear.take(linear.lengths <= MOST_LINKED)
        for i, c_i in zip(constraint.indices, constraint.coefficients, strict=True)
        for j, c_j in zip(constraint.indices, constraint.coefficients, strict=True)
        if block.distribution_of[i] < block.distribution_of[j]
    ]


def _narrow(block: Block, linear: LinearConstraints, with_rays: bool) -> tuple[list[Move], list[Move]]:
    """Moves that keep the value of every constraint that holds from both sides, and closely: rays, and lines.

    Such constraints are nearly equalities, and directions of their null space the only long ones. Rays raise states at
    the cost of all others; lines let each distribution move in a way of its own, and are needed from three states on.
    """
    close = close_forms(block, linear)
    columns = sorted({i for form in close for i, _ in form})
    touched = np.unique(block.distribution_of[columns]) if columns else np.zeros(0, dtype=np.int64)
    members = np.flatnonzero(np.isin(block.distribution_of, touched)).tolist()
    if not 1 < len(members) <= MOST_CLOSE:
        return [], []
    rays = _null_moves(close, columns) if with_rays else []
    # Two states of one distribution cannot both be raised at the cost of all others.
    rays = [move for move in rays if 1 < len(move) == len({block.distribution_of[i] for i, _ in move})]
    if len(members) == 2 * len(touched):
        return rays, []
    sums = [tuple((i, 1.0) for i in members if block.distribution_of[i] == d) for d in touched]
    return rays, [move for move in _null_moves([*close, *sums], members) if len(move) > 2]


def close_forms(block: Block, linear: LinearConstraints, width: float = CLOSE) -> list[Move]:
    """The forms Σ c·θ with bounds on both sides within `width`; the first of two states stands for both."""
    forms: dict[Move, float] = {}
    for constraint, bound in zip(linear, linear.bounds.tolist(), strict=True):
        form: dict[int, float] = {}
        for i, value in zip(constraint.indices, constraint.coefficients, strict=True):
            first = int(block.distributions[block.distribution_of[i]])
            second_of_two = i == first + 1 == block.distributions[block.distribution_of[i] + 1] - 1
            target = first if second_of_two else i
            form[target] = form.get(target, 0.0) + (-value if second_of_two else value)
            bound -= value if second_of_two else 0.0
        key = tuple(sorted(form.items()))
        forms[key] = min(bound, forms.get(key, np.inf))
    opposite = {key: tuple((i, -value) for i, value in key) for key in forms}
    return [key for key in forms if forms[key] + forms.get(opposite[key], np.inf) <= width and key > opposite[key]]


def _null_moves(forms: Sequence[Move], columns: Sequence[int]) -> list[Move]:
    """Sparse vectors that keep all forms: elimination in several orders of the columns gives several bases."""
    place = {i: number for number, i in enumerate(columns)}
    matrix = np.zeros((len(forms), len(columns)))
    for number, form in enumerate(forms):
        matrix[number, [place[i] for i, _ in form]] = [value for _, value in form]
    rng = np.random.default_rng(len(columns))
    moves: dict[Move, None] = {}
    for order in [np.arange(len(columns)), *(rng.permutation(len(columns)) for _ in range(BASES - 1))]:
        for vector in null_space(matrix[:, order]):
            moves[tuple(sorted((columns[order[k]], float(vector[k])) for k in np.flatnonzero(vector)))] = None
    return list(moves)


def null_space(matrix: Numbers) -> Numbers:
    """A basis of {v : matrix v = 0}, (vectors, columns), by elimination: its vectors have few entries, unlike an SVD's.

    A column without a pivot is free: its vector has 1 there, and in the pivots' columns what that makes necessary.
    """
    return np.asarray(sparse_null_space(matrix).toarray(), dtype=np.float64)


def sparse_null_space(matrix: Numbers) -> csr_array:
    """The same as a sparse matrix: of many columns and few rows the basis has few entries."""
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
