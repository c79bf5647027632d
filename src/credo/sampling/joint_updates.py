"""Which parameters of a block are updated jointly: those that statements hold close, and each on its own.

Distributions that are "about the same" have modes in common: all in one corner, all in the other, all near their base.
Between modes there is next to no probability, and the more distributions are tied, the less: moves that go there step
by step never arrive. A joint update proposes all of them, one after the other, each within what the statements leave
it, given those before; so they end up in another mode together, however far away it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints
from credo.kernels.sampler_arrays import JointUpdates
from credo.model.graphs import connected_components
from credo.sampling.directions import CLOSE, Directions, close_forms, starts_of
from credo.small_products import product
from credo.types import Flags, Indices, Numbers

WIDTHS = (CLOSE, 0.15)  # parameters are tied where bounds hold them this close: loosely, and closely
CORRELATIONS = (0.5, 0.9)  # and where draws are correlated so much
ALONE = 0.2  # how likely a sweep updates a parameter on its own
TOGETHER = 0.25  # how many parameters it proposes with others, for each of those: chosen by effective draws a second
PASSES = 4  # over all constraints, to find what they leave to each parameter
ROUNDING = 1e-12
BALANCED = 3  # ways in which a parameter of sums that are held moves with others of them
MOST_TIED = 12  # parameters of an update at most: of more, one is rejected nearly always
# An update looks at all states of its distributions, and at all of the constraints on them. Where these are more, it is
# made less often, so that a sweep takes time in proportion to the parameters.
MOST_ENTRIES = 40
MOST_CORRELATED = 4_000  # parameters of a block, above which only statements tie them: correlations take too long
_COLUMNS = 256  # of a correlation matrix, held at a time

Update = tuple[int, ...]  # parameters in the order in which they are proposed, one of a distribution
Pairs = Indices  # (pairs, 2)
Share = dict[int, tuple[float, float]]  # of each distribution, the least and the most that it adds to a constraint


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """Where the statements let the parameters of a block be, and what they tie together."""

    block: Block
    singles: tuple[int, ...]  # the parameters that can be updated: of two states the first, none beside a zero
    stated: tuple[Update, ...]  # each of these alone, and what statements tie
    sums: Pairs  # any two parameters of a sum that is held closely
    low: Numbers  # (parameters,)
    high: Numbers  # (parameters,)
    bounds: Sequence[float]  # of each constraint
    lengths: Sequence[int]  # of each constraint, how many entries it has
    shares: Sequence[Share]  # of each constraint
    most: Sequence[float]  # of each constraint, what all distributions add at most
    touching: Sequence[Sequence[int]]  # of each distribution, the constraints on its states
    touching_extras: Sequence[Sequence[int]]
    extras: int  # how many there are

    def without_updates(self) -> Support:
        """The same of a block that is drawn in another way."""
        return replace(self, singles=(), stated=())


def supports_of(blocks: Sequence[Block], parts: Sequence[Directions], start: Numbers) -> list[Support]:
    """One for each block; `start` says which parameters can be other than zero."""
    ends = np.cumsum([block.size for block in blocks], dtype=np.int64).tolist()
    known: dict[tuple[int, bytes], Support] = {}  # blocks of one shape share their directions

    def support_once(block: Block, part: Directions, possible: Flags) -> Support:
        key = id(part), possible.tobytes()
        if key not in known:
            known[key] = _support(block, part, possible)
        return known[key]

    return [
        support_once(block, part, start[end - block.size : end] > 0.0)
        for block, part, end in zip(blocks, parts, ends, strict=True)
    ]


def joint_updates_of(supports: Sequence[Support], draws: Numbers | None = None) -> JointUpdates:
    """The joint updates of all blocks in one.

    `draws`, (draws, parameters), show which parameters are correlated; without them, statements alone tie parameters.
    """
    found: list[Update] = []
    checks: list[list[tuple[int, float]]] = []  # of each step: constraints, and what later steps add at least
    extras: list[list[int]] = []  # of each update
    costs: list[int] = []  # of each update, the entries that it looks at
    first = first_constraint = first_extra = 0
    for support in supports:
        block, lengths = support.block, support.lengths
        owners, sizes = block.distribution_of.tolist(), np.diff(block.distributions).tolist()
        known: dict[tuple[int, ...], list[list[tuple[int, float]]]] = {}  # states of a distribution share them
        for update in _updates(support, None if draws is None else draws[:, first : first + block.size]):
            steps = tuple([owners[i] for i in update])
            if steps not in known:
                known[steps] = _checks(support, steps)
            costs.append(sum([sizes[d] for d in steps]))
            for bounding in known[steps]:
                checks.append([(first_constraint + constraint, least) for constraint, least in bounding])
                costs[-1] += sum([lengths[constraint] for constraint, _ in bounding])
            extras.append(sorted({first_extra + extra for d in steps for extra in support.touching_extras[d]}))
            found.append(tuple(first + i for i in update))
        first += block.size
        first_constraint += len(support.bounds)
        first_extra += support.extras
    return JointUpdates(
        starts_of([len(update) for update in found]),
        _flat(found),
        starts_of([len(step) for step in checks]),
        _flat([[constraint for constraint, _ in step] for step in checks]),
        np.array([least for step in checks for _, least in step], dtype=np.float64),
        np.concatenate([np.zeros(0), *(support.low for support in supports)]),
        np.concatenate([np.zeros(0), *(support.high for support in supports)]),
        starts_of([len(touched) for touched in extras]),
        _flat(extras),
        _chances(np.array([len(update) for update in found], dtype=np.int64), np.array(costs, dtype=np.int64)),
    )


def _chances(sizes: Indices, costs: Indices) -> Numbers:
    """How likely a sweep makes each: those of several parameters propose, together, so many as those of one."""
    alone, steps = int((sizes == 1).sum()), int(sizes[sizes > 1].sum())
    chances = np.where(sizes == 1, ALONE, min(1.0, TOGETHER * alone / max(1, steps)))
    return np.asarray(chances * np.minimum(1.0, MOST_ENTRIES * sizes / np.maximum(1, costs)))


def _flat(lists: Sequence[Sequence[int]]) -> Indices:
    return np.array([i for each in lists for i in each], dtype=np.int64)


def _touching(block: Block, starts: Indices, indices: Indices) -> list[list[int]]:
    """Of each distribution the constraints on its states."""
    found: list[dict[int, None]] = [{} for _ in block.configurations]
    for constraint in range(len(starts) - 1):
        for d in block.distribution_of[indices[starts[constraint] : starts[constraint + 1]]].tolist():
            found[d][constraint] = None
    return [list(each) for each in found]


def _ends(block: Block, linear: LinearConstraints) -> tuple[Numbers, Numbers]:
    """Between which values constraints leave each parameter, as far as one constraint after the other shows it."""
    low, high = np.zeros(block.size), np.ones(block.size)
    owners, numbers, values = linear.entry_constraints, linear.indices, linear.coefficients
    for _ in range(PASSES):
        least = np.minimum(values * low[numbers], values * high[numbers])
        spare = linear.bounds - np.bincount(owners, least, len(linear))
        limits = (spare[owners] + least) / values
        np.minimum.at(high, numbers[values > 0.0], limits[values > 0.0])
        np.maximum.at(low, numbers[values < 0.0], limits[values < 0.0])
        lows, highs = (np.add.reduceat(ends, block.distributions[:-1])[block.distribution_of] for ends in (low, high))
        low, high = np.maximum(low, 1.0 - (highs - high)), np.minimum(high, 1.0 - (lows - low))
    # Rounding must not exclude the point where a chain is.
    return np.maximum(low - ROUNDING, 0.0), np.minimum(high + ROUNDING, 1.0)


def _shares(block: Block, linear: LinearConstraints, low: Numbers, high: Numbers) -> list[Share]:
    """What distributions can add to each constraint: Σ c·θ at the ends of its parameters, at most max c."""
    sizes = np.diff(block.distributions)
    owners = block.distribution_of[linear.indices].tolist()
    at_low, at_high = linear.coefficients * low[linear.indices], linear.coefficients * high[linear.indices]
    least, most, values = np.minimum(at_low, at_high), np.maximum(at_low, at_high), linear.coefficients
    found = []
    for start, stop in zip(linear.starts[:-1].tolist(), linear.starts[1:].tolist(), strict=True):
        entries: dict[int, list[int]] = {}
        for e in range(start, stop):
            entries.setdefault(owners[e], []).append(e)
        share = {}
        for d, own in entries.items():
            corners = [*values[own], *([0.0] if len(own) < sizes[d] else ())]
            share[d] = max(least[own].sum(), min(corners)), min(most[own].sum(), max(corners))
        found.append(share)
    return found


def _checks(support: Support, steps: Sequence[int]) -> list[list[tuple[int, float]]]:
    """For each step the constraints that can bound it, with the least that distributions drawn later add to them."""
    found: list[list[tuple[int, float]]] = []
    later: dict[int, tuple[float, float]] = {}  # of a constraint, the least and the most that these add
    for d in reversed(steps):
        bounding = []
        for constraint in support.touching[d]:
            least, greatest = later.get(constraint, (0.0, 0.0))
            if least + support.most[constraint] - greatest > support.bounds[constraint] - ROUNDING:
                bounding.append((constraint, least))
            own = support.shares[constraint][d]
            later[constraint] = least + own[0], greatest + own[1]
        found.append(bounding)
    return found[::-1]


def _support(block: Block, part: Directions, possible: Flags) -> Support:
    inequalities = part.inequalities
    sizes = np.diff(block.distributions)
    complete = np.logical_and.reduceat(possible, block.distributions[:-1])  # distributions without a zero
    singles = [
        i
        for i in range(block.size if part.moves.shape[0] else 0)
        if complete[d := block.distribution_of[i]] and (sizes[d] > 2 or (sizes[d] == 2 and i == block.distributions[d]))
    ]
    forms = {width: [[i for i, _ in form] for form in close_forms(block, inequalities, width)] for width in WIDTHS}
    low, high = _ends(block, inequalities)
    shares = _shares(block, inequalities, low, high)
    # An equality holds its distributions: none of them can be proposed as if it were free.
    held = set(block.distribution_of[part.equalities.indices].tolist())
    free = tuple(i for i in singles if block.distribution_of[i] not in held) if held else tuple(singles)
    sums = _as_pairs([pair for form in forms[CLOSE] if len(form) > 2 for pair in _pairs_of(form)])
    stated: dict[frozenset[int], Update] = {frozenset((i,)): (i,) for i in free}
    for width in WIDTHS if len(block.configurations) > 1 else ():
        pairs = _as_pairs([form for form in forms[width] if len(form) == 2])
        _add_tied(stated, block, free, sums, pairs)
        _add_balanced(stated, block, free, [form for form in forms[width] if len(form) > 2], pairs)
    return Support(
        block,
        free,
        tuple(stated.values()),
        sums,
        low,
        high,
        inequalities.bounds.tolist(),
        inequalities.lengths.tolist(),
        shares,
        [sum(greatest for _, greatest in share.values()) for share in shares],
        _touching(block, inequalities.starts, inequalities.indices),
        _touching(block, part.extras.indptr, part.extras.indices),
        part.extras.shape[0],
    )


def _as_pairs(pairs: Sequence[Sequence[int]]) -> Pairs:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _pairs_of(form: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Any two parameters of a short sum; of a long one each with its next and with one far away."""
    if len(form) <= MOST_TIED:
        yield from combinations(form, 2)
        return
    for step in (1, len(form) // 2):
        yield from ((form[k], form[(k + step) % len(form)]) for k in range(len(form)))


def _updates(support: Support, draws: Numbers | None) -> list[Update]:
    """Every parameter on its own; then what is tied by statements, and by draws, more and more closely."""
    updates = {frozenset(update): update for update in support.stated}
    # Two parameters of one distribution are never updated jointly.
    if draws is not None and len(support.block.configurations) > 1 and len(support.singles) <= MOST_CORRELATED:
        for pairs in _correlated(support.singles, draws):
            if len(pairs):
                _add_tied(updates, support.block, support.singles, support.sums, pairs)
    return list(updates.values())


def _add_tied(
    updates: dict[frozenset[int], Update], block: Block, singles: tuple[int, ...], sums: Pairs, pairs: Pairs
) -> None:
    """Add updates of what these pairs tie together."""
    tied, many = _tied(block, singles, pairs)
    # Where a sum is held, no parameter can move alone, but two of it can, with what each is tied to.
    for numbers in (*((i,) for i in singles), *sums.tolist()):
        if many.intersection(numbers):
            continue
        together = [j for i in numbers if i in tied for j in _connected(i, tied)]
        update = _one_each(block, together)
        if 1 < len(update) <= MOST_TIED:
            updates.setdefault(frozenset(update), update)


def _add_balanced(
    updates: dict[frozenset[int], Update], block: Block, singles: tuple[int, ...], sums: list[list[int]], pairs: Pairs
) -> None:
    """Add updates in which every sum that is held has two parameters that change, or none.

    A parameter of several such sums needs another one of each, which may be in further sums: some ways to choose them.
    """
    sums = [form for form in sums if len(form) <= MOST_TIED]
    containing: dict[int, list[list[int]]] = {}
    for form in sums:
        for i in form:
            containing.setdefault(i, []).append(form)
    tied, many = _tied(block, singles, pairs)
    rng = np.random.default_rng(len(sums))
    for start in containing:
        for _ in range(BALANCED if start in tied and start not in many else 0):
            chosen = dict.fromkeys(_connected(start, tied))
            unbalanced = [form for i in chosen for form in containing.get(i, ())]
            while unbalanced and len(chosen) <= MOST_TIED:
                form = unbalanced.pop(0)
                if sum(i in chosen for i in form) == 1:
                    others = [i for i in form if i not in chosen and i in tied and i not in many]
                    if not others:
                        break
                    fresh = [i for i in _connected(others[int(rng.integers(len(others)))], tied) if i not in chosen]
                    chosen.update(dict.fromkeys(fresh))
                    unbalanced += [form for i in fresh for form in containing.get(i, ())]
            else:
                update = _one_each(block, list(chosen))
                if 2 < len(update) == len(chosen) <= MOST_TIED:
                    updates.setdefault(frozenset(update), update)


def _tied(block: Block, singles: tuple[int, ...], pairs: Pairs) -> tuple[dict[int, list[int]], set[int]]:
    """What each parameter is tied to; and those that are tied to too many distributions to be updated with them."""
    single = np.zeros(block.size, dtype=np.bool_)
    single[list(singles)] = True
    pairs = pairs[single[pairs].all(axis=1)]
    label = connected_components(pairs[:, 0], pairs[:, 1], block.size)
    distinct = np.unique(np.column_stack((label, block.distribution_of)), axis=0)[:, 0]
    large = np.bincount(distinct, minlength=block.size)[label] > MOST_TIED
    tied: dict[int, list[int]] = {i: [] for i in singles}
    for i, j in pairs[~large[pairs[:, 0]]].tolist():
        tied[i].append(j)
        tied[j].append(i)
    return tied, set(np.flatnonzero(large).tolist())


def _correlated(singles: tuple[int, ...], draws: Numbers) -> Iterator[Pairs]:
    """Pairs of correlated parameters: what several statements tie, and modes that chains are caught in.

    Of parameters that hundreds of others are correlated with, fewer pairs that connect the same say as much.
    """
    centred = draws - draws.mean(axis=0)
    scaled = centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), 1e-12)
    own = np.array(singles, dtype=np.int64)
    found: dict[float, list[Pairs]] = {least: [np.zeros((0, 2), dtype=np.int64)] for least in CORRELATIONS}
    for first in range(0, len(own), _COLUMNS):
        piece = own[first : first + _COLUMNS]
        correlation = np.abs(product(scaled[:, piece].T, scaled[:, own]))
        correlation[own[None] <= piece[:, None]] = 0.0
        for least in CORRELATIONS:
            one, other = np.nonzero(correlation >= least)
            pairs = np.column_stack((piece[one], own[other]))
            found[least].append(pairs if len(pairs) <= _COLUMNS * MOST_TIED else _spanning(pairs, len(scaled[0])))
    for least in CORRELATIONS:
        yield np.concatenate(found[least])


def _spanning(pairs: Pairs, size: int) -> Pairs:
    """Pairs enough to connect what all of them connect: each parameter with the first of its component."""
    members = np.unique(pairs)
    label = connected_components(pairs[:, 0], pairs[:, 1], size)[members]
    _, first, own = np.unique(label, return_index=True, return_inverse=True)
    stars = np.column_stack((members[first][own], members))
    return np.asarray(stars[stars[:, 0] != stars[:, 1]], dtype=np.int64)


def _connected(start: int, tied: dict[int, list[int]]) -> list[int]:
    """What is tied to a parameter, nearest first."""
    found = {start: None}
    for i in (queue := [start]):
        for j in tied[i]:
            if j not in found:
                found[j] = None
                queue.append(j)
    return list(found)


def _one_each(block: Block, numbers: list[int]) -> Update:
    """The first parameter of each distribution: two of one cannot both be raised at the cost of all others."""
    first: dict[int, int] = {}
    for i in numbers:
        first.setdefault(int(block.distribution_of[i]), i)
    return tuple(first.values())
