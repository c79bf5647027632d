"""How much the data alone agree with each statement, before it does good or harm.

Rows of tables are independent Dirichlet(prior + counts). A statement's probability under them, against its
probability before any data (the share of the volume that it keeps), is the Bayes factor of the statement against no
statement at all [Klugkist and Hoijtink, 2007]. It may break up over blocks: these are independent, so chances multiply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, nan, prod, sqrt

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.constraints.blocks import Block, blocks_of, shape_of
from credo.constraints.constraint_set import Constraints, ProductConstraint
from credo.constraints.program import constraints_of_statements
from credo.explain.beta_probabilities import Beta, difference_chance, interval_chance

RowCounts = Callable[[str, int], Numbers]

EQUALITY_REGION = 0.01  # an equality has probability zero: what is asked is |difference| ≤ this
_CELLS = 2_000_000  # numbers held at a time
_ALL_CELLS = 400_000_000  # numbers drawn in all: some ten seconds
_FEWEST_DRAWS = 200
_TIMES_DRAWS = 64  # blocks that are alike have up to this many times the draws of one
_LEAST_CHANCE = 1e-300
_HOLDS = 1e-12


class Verdict(Enum):
    """What the data say about a statement; the value is what a user reads."""

    CONTRADICTED = "contradict it"
    DOUBTED = "speak against it"
    OPEN = "say little"
    SUPPORTED = "agree"


@dataclass(frozen=True, slots=True)
class Share:
    """A probability: worked out exactly, or as the share of draws in which a statement held, with standard error.

    Where no draw held, `value` is 0 and the truth is somewhere below `below`.
    """

    value: float
    error: float
    below: float | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Plausibility:
    """A statement before and after the data.

    `volume` is its probability before any data, `probability` after (None without data); `bayes_factor` is their
    ratio. `relation` is "<" where the factor is only known to be below, "" where it is an estimate, and `region` is
    the width that equalities were read with, where there are any.
    """

    volume: Share
    probability: Share | None
    bayes_factor: float | None
    relation: str
    region: float | None

    @property
    def is_too_small(self) -> bool:
        """Whether both chances are below all numbers, so that nothing can be said of their ratio."""
        shares = (self.volume, self.probability)
        return all(share is not None and share.below is not None and share.below <= _LEAST_CHANCE for share in shares)

    def without_data(self) -> Plausibility:
        """The same before any data."""
        return Plausibility(self.volume, None, None, "", self.region)

    @property
    def verdict(self) -> Verdict | None:
        """What the data say, by the odds of the statement against its opposite after and before the data.

        Their ratio below 1/20 contradicts, below 1/3 speaks against, above 3 agrees [Kass and Raftery, 1995]. But
        what still has a chance of 1/20 is not contradicted, and what is likely true is not spoken against.
        """
        if self.probability is None:
            return None
        after = self.probability.below if self.probability.below is not None else self.probability.value
        before = self.volume.below if self.volume.below is not None else self.volume.value
        if before <= 0.0 or before >= 1.0:
            return Verdict.OPEN
        ratio = inf if after >= 1.0 else after / (1.0 - after) * (1.0 - before) / before
        if ratio < 1 / 3 and after < 0.5:
            return Verdict.CONTRADICTED if ratio < 1 / 20 and after < 1 / 20 else Verdict.DOUBTED
        return Verdict.SUPPORTED if ratio > 3 else Verdict.OPEN


def plausibilities(
    constraints: Constraints,
    row_counts: RowCounts | None = None,
    *,
    blocks: Sequence[Block] | None = None,
    prior: float = 1.0,
    draws: int = 4_000,
    seed: int = 0,
) -> dict[int, Plausibility]:
    """The plausibility of every statement that has rows; the same seed gives the same answer."""
    blocks = blocks_of(constraints) if blocks is None else blocks
    before = _shares_of_all(blocks, [np.full(block.size, prior) for block in blocks], draws, seed)
    after = {} if row_counts is None else _shares_of_all(blocks, _counted(blocks, row_counts, prior), draws, seed)
    linear = constraints.linear
    for statement in linear.statements[linear.lengths == 0].tolist():  # false whatever the numbers are
        before[statement] = after[statement] = [(Share(0.0, 0.0, exact=True), 1)]
    with_equalities = set(linear.statements[linear.equality].tolist())
    found = {}
    for statement, parts in sorted(before.items()):
        volume = _product(parts)
        probability = _product(after[statement]) if row_counts is not None else None
        region = EQUALITY_REGION if statement in with_equalities else None
        found[statement] = Plausibility(volume, probability, *_bayes_factor(volume, probability), region)
    return found


Part = tuple[Share, int]  # the chance of one of several independent parts that are alike, and how many they are


def _counted(blocks: Sequence[Block], row_counts: RowCounts, prior: float) -> list[Numbers]:
    return [
        prior
        + np.concatenate([np.asarray(row_counts(name, row), dtype=np.float64) for name, row in block.configurations])
        for block in blocks
    ]


def _shares_of_all(
    blocks: Sequence[Block], concentrations: Sequence[Numbers], draws: int, seed: int
) -> dict[int, list[Part]]:
    """The parts of every statement. Blocks that are alike in all are drawn once, with as many more draws as they are.

    So the error is that of drawing each by itself: n parts of one estimate are off n times as much together, and n
    times the draws are off √n times less. The number of draws has its limits, so that the time has.
    """
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for place, (block, concentration) in enumerate(zip(blocks, concentrations, strict=True)):
        groups.setdefault((*shape_of(block), concentration.tobytes()), []).append(place)
    cells = draws * sum(blocks[places[0]].size * min(len(places), _TIMES_DRAWS) for places in groups.values())
    draws = max(min(draws, _FEWEST_DRAWS), draws * min(cells, _ALL_CELLS) // max(1, cells))
    found: dict[int, list[Part]] = {}
    for places in groups.values():
        first = blocks[places[0]]
        drawn = shares(first, concentrations[places[0]], draws * min(len(places), _TIMES_DRAWS), seed)
        by_rank = [drawn[statement] for statement in first.statements]
        times = Counter(blocks[place].statements for place in places)
        for statements, count in times.items():
            for statement, share in zip(statements, by_rank, strict=True):
                found.setdefault(statement, []).append((share, count))
    return found


def shares(block: Block, concentration: Numbers, draws: int, seed: int) -> dict[int, Share]:
    """The probability of each of a block's statements under independent Dirichlet distributions."""
    rows = constraints_of_statements(block.linear)
    with_products = {row.statement for row in block.products}
    found: dict[int, Share] = {}
    for statement, own in rows.items():
        exact = None if statement in with_products else _exact(block, own, concentration)
        if exact is not None:
            found[statement] = Share(exact, 0.0, exact=True)
    open_statements = [statement for statement in block.statements if statement not in found]
    if open_statements:
        held = _draws_that_hold(block, open_statements, concentration, draws, seed)
        for statement, count in held.items():
            value = count / draws
            error = sqrt(value * (1.0 - value) / draws)
            found[statement] = Share(value, error, below=None if count else 1.0 / draws)
    return found


def _exact(block: Block, rows: Indices, concentration: Numbers) -> float | None:
    """The chance of a statement whose rows all bound one sum in one distribution, or one difference of two such sums.

    Such a sum is a Beta variable, and sums in different distributions are independent; None for any other form.
    """
    linear = block.linear
    shape, low, high = None, -inf, inf
    for row in rows.tolist():
        entries = slice(linear.starts[row], linear.starts[row + 1])
        indices, coefficients = linear.indices[entries], linear.coefficients[entries]
        scale = abs(coefficients[0])
        if np.ptp(np.abs(coefficients)) > 0.0:
            return None
        plus, minus = frozenset(indices[coefficients > 0].tolist()), frozenset(indices[coefficients < 0].tolist())
        first, second = (plus, minus) if shape is None or (plus, minus) == shape else (minus, plus)
        shape = shape or (first, second)
        if (first, second) != shape:
            return None
        bound, width = linear.bounds[row] / scale, EQUALITY_REGION / scale
        sign = 1.0 if (plus, minus) == shape else -1.0
        if linear.equality[row]:
            low, high = max(low, sign * bound - width), min(high, sign * bound + width)
        elif sign > 0.0:
            high = min(high, bound)
        else:
            low = max(low, -bound)
    assert shape is not None
    if low > high:
        return 0.0
    betas = [_beta(block, states, concentration) for states in shape]
    first_beta, second_beta = betas
    if shape[0] and shape[1]:
        owners = {int(block.distribution_of[next(iter(states))]) for states in shape}
        if first_beta is None or second_beta is None or len(owners) == 1:
            return None
        return difference_chance(first_beta, second_beta, low, high)
    if first_beta is not None:
        return interval_chance(first_beta, low, high)
    return None if second_beta is None else interval_chance(second_beta, -high, -low)


def _beta(block: Block, states: frozenset[int], concentration: Numbers) -> Beta | None:
    """The Beta distribution of a sum of states of one distribution; None for none, all, or states of several."""
    owners = set(block.distribution_of[sorted(states)].tolist())
    if len(owners) != 1:
        return None
    owner = owners.pop()
    start, stop = block.distributions[owner], block.distributions[owner + 1]
    if len(states) == stop - start:
        return None
    part = float(concentration[sorted(states)].sum())
    return part, float(concentration[start:stop].sum()) - part


def _draws_that_hold(
    block: Block, statements: Sequence[int], concentration: Numbers, draws: int, seed: int
) -> dict[int, int]:
    """In how many draws all rows of each statement hold."""
    wanted = np.isin(block.linear.statements, statements)
    linear = block.linear.take(wanted)
    products = [row for row in block.products if row.statement in set(statements)]
    owner = np.concatenate((linear.statements, np.array([row.statement for row in products], dtype=np.int64)))
    order = np.argsort(owner, kind="stable")
    numbers, firsts = np.unique(owner[order], return_index=True)
    matrix = linear.matrix(block.size)
    rng = np.random.default_rng([seed, int(block.parameters[0])])
    held = np.zeros(len(numbers), dtype=np.int64)
    piece = max(1, min(draws, _CELLS // (block.size + len(owner))))
    for start in range(0, draws, piece):
        theta = dirichlet(rng, block, concentration, min(piece, draws - start))
        values = matrix @ theta.T  # (rows, draws)
        bounds = linear.bounds[:, None]
        region = np.abs(values - bounds) <= EQUALITY_REGION
        true = np.where(linear.equality[:, None], region, values <= bounds + _HOLDS)
        logs = np.log(theta, where=theta > 0.0, out=np.full_like(theta, -inf)) if products else theta
        true = np.concatenate((true, *(_product_holds(row, logs)[None, :] for row in products)))
        held += np.logical_and.reduceat(true[order], firsts, axis=0).sum(axis=1)
    return dict(zip(numbers.tolist(), held.tolist(), strict=True))


def dirichlet(rng: np.random.Generator, block: Block, concentration: Numbers, draws: int) -> Numbers:
    """Draws of all parameters of a block, (draws, parameters): gammas, divided by their sum in each distribution."""
    gammas = rng.standard_gamma(concentration, size=(draws, block.size))
    sums = np.add.reduceat(gammas, block.distributions[:-1], axis=1)
    return np.asarray(gammas / np.repeat(sums, np.diff(block.distributions), axis=1), dtype=np.float64)


def _product_holds(row: ProductConstraint, logs: Numbers) -> Flags:
    """Σ exponents · log θ ≤ log bound, both sides kept apart so that zeros compare as they should."""
    indices, exponents, bound = np.array(row.indices), np.array(row.exponents), row.log_bound
    above, below = exponents > 0.0, exponents < 0.0
    left = logs[:, indices[above]] @ exponents[above]
    right = logs[:, indices[below]] @ -exponents[below]
    return np.asarray(left <= bound + right + _HOLDS, dtype=np.bool_)


def _product(parts: Sequence[Part]) -> Share:
    """The chance that independent parts all hold; relative variances add up, relative errors of parts that are alike.

    A chance too small for a number is known to be below the smallest that can be told from zero.
    """
    exact = all(part.exact for part, _ in parts)
    if any(part.value == 0.0 and part.below is None for part, _ in parts):
        return Share(0.0, 0.0, exact=True)
    value = prod((part.value if part.below is None else part.below) ** times for part, times in parts)
    if any(part.below is not None for part, _ in parts) or value < _LEAST_CHANCE:
        return Share(0.0, 0.0, max(value, _LEAST_CHANCE))
    relative = sum((times * part.error / part.value) ** 2 for part, times in parts if part.error)
    return Share(value, value * sqrt(relative), exact=exact)


def _bayes_factor(volume: Share, probability: Share | None) -> tuple[float | None, str]:
    if probability is None or volume.below is not None or volume.value == 0.0:
        return None, ""
    if probability.below is not None:
        return probability.below / volume.value, "<"
    return probability.value / volume.value, ""


def bayes_factor_error(plausibility: Plausibility) -> float:
    """The standard error of the Bayes factor; NaN where it is only a bound."""
    factor, after, before = plausibility.bayes_factor, plausibility.probability, plausibility.volume
    if factor is None or plausibility.relation or after is None or after.value == 0.0:
        return nan
    return factor * sqrt((after.error / after.value) ** 2 + (before.error / before.value) ** 2)
