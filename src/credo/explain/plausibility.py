"""How plausible each statement is: its probability before and after the data, on its own.

Conditional distributions are independent Dirichlet(prior + counts). A statement's probability under them, divided by
its probability before any data (the share of the volume that it keeps), is the Bayes factor of the statement against no
statement at all [Klugkist and Hoijtink, 2007]. It may be spread over blocks: these are independent, so probabilities
multiply.

Each statement has blocks of its own here, and draws that depend on nothing else: whether it is looked at alone or with
all the others, the answer is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from math import inf, log, nan, prod, sqrt
from zlib import crc32

import numpy as np

from credo.constraints.blocks import Block, blocks_of, one_block, shape_of
from credo.constraints.boundaries import without_room
from credo.constraints.constraint_set import Constraints, ProductConstraint
from credo.constraints.program import constraints_of_statements
from credo.explain.beta_probabilities import Beta, difference_probability, interval_probability
from credo.explain.likelihood_ratio import LEAST_CHANCE
from credo.explain.tail_bounds import tail_bounds
from credo.plain_results import PlainResult
from credo.tolerances import DECIMAL_ROUNDING, EQUALITY_WIDTH
from credo.types import Flags, Json, Numbers

CountsOfConfiguration = Callable[[str, int], Numbers]

LEAST_ODDS = 1 / 20  # what the data must leave of a statement's odds, or of its probability, not to contradict it
_MAX_CELLS = 2_000_000  # numbers held at a time
_MAX_CELLS_IN_ALL = 40_000_000  # numbers drawn for one statement: about a second
_LEAST_DRAWS = 200
_FEW_DRAWS = 400
_FIRST_SHARE = 4  # of the draws a part by this, which is enough for what is more probable than not
_LEAST_HELD = 20  # a rare statement is drawn until it held so often, or
_MOST_TIMES = 16  # that many times the draws were made
_RARE = 0.02
_MAX_FACTOR = 64  # equal blocks share up to this many times the draws of one
_LEAST_PROBABILITY = 1e-300


class Verdict(Enum):
    """What the data say about a statement; the value completes the sentence "The data …"."""

    CONTRADICTED = "contradict it"
    DOUBTED = "weigh against it"
    INCONCLUSIVE = "are inconclusive"
    SUPPORTED = "support it"


@dataclass(frozen=True, slots=True)
class ProbabilityEstimate:
    """A probability, computed exactly or as the share of draws in which a statement holds.

    Attributes
    ----------
    value
        The probability; 0 where it holds in no draw.
    error
        Its standard error.
    upper_bound
        Where it holds in no draw, the truth is somewhere below this; None elsewhere.
    is_exact
        Whether it was computed without sampling.
    """

    value: float
    error: float
    upper_bound: float | None = None
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Plausibility(PlainResult):
    """A statement before and after the data, on its own.

    Attributes
    ----------
    before_data
        Its probability if all probabilities were uniformly distributed: the share of all CPTs that it allows.
    after_data
        Its probability given the data; None without data.
    bayes_factor
        How many times as probable the data make it: the ratio of the two.
    is_upper_bound
        Whether the Bayes factor is only known to be below its value.
    equality_tolerance
        Equalities in the statement are read as equal within this; None where there are none.
    log_bayes_factor
        Where both probabilities are too small for numbers, the logarithm of the Bayes factor at most: three standard
        errors above its estimate. None elsewhere.
    chance_of_data
        How probable data are that speak at least so strongly against the statement if it is true; None where that was
        not computed, because nothing speaks against it.
    """

    before_data: ProbabilityEstimate
    after_data: ProbabilityEstimate | None
    bayes_factor: float | None
    is_upper_bound: bool
    equality_tolerance: float | None
    log_bayes_factor: float | None = None
    chance_of_data: float | None = None

    def to_dict(self) -> dict[str, Json]:
        """What JSON can hold.

        Returns
        -------
        dict
            The fields by name, and the verdict.
        """
        return {**PlainResult.to_dict(self), "verdict": None if self.verdict is None else self.verdict.value}

    @property
    def is_too_small(self) -> bool:
        """Whether both probabilities are below all numbers, so that nothing is known of their ratio."""
        estimates = (self.before_data, self.after_data)
        return all(
            estimate is not None and estimate.upper_bound is not None and estimate.upper_bound <= _LEAST_PROBABILITY
            for estimate in estimates
        )

    def without_data(self) -> Plausibility:
        """The same before any data.

        Returns
        -------
        Plausibility
            What is known without data.
        """
        return Plausibility(self.before_data, None, None, False, self.equality_tolerance)

    @property
    def verdict(self) -> Verdict | None:
        """What the data say, by the odds of the statement against its opposite after and before the data.

        Their ratio below 1/20 contradicts, below 1/3 weighs against, above 3 supports [Kass and Raftery, 1995]. But
        a statement whose probability is still 1/20 is not contradicted, and one that is more likely true than not is
        not weighed against. Nor is one contradicted with which the data are no great surprise: a statement that holds
        with equality is improbable under distributions that know nothing of it, however many rows there are.
        """
        found = self._by_odds
        if found is Verdict.CONTRADICTED and self.chance_of_data is not None and self.chance_of_data > LEAST_CHANCE:
            return Verdict.DOUBTED
        return found

    @property
    def _by_odds(self) -> Verdict | None:
        if self.after_data is None:
            return None
        after = self.after_data.value if self.after_data.upper_bound is None else self.after_data.upper_bound
        before = self.before_data.value if self.before_data.upper_bound is None else self.before_data.upper_bound
        if before <= 0.0 or before >= 1.0:
            return Verdict.INCONCLUSIVE
        if self.log_bayes_factor is not None:  # such small odds are probabilities
            contradicted = self.log_bayes_factor < log(LEAST_ODDS)
            return Verdict.CONTRADICTED if contradicted else Verdict.INCONCLUSIVE
        ratio = inf if after >= 1.0 else after / (1.0 - after) * (1.0 - before) / before
        if ratio < 1 / 3 and after < 0.5:
            return Verdict.CONTRADICTED if ratio < LEAST_ODDS and after < LEAST_ODDS else Verdict.DOUBTED
        return Verdict.SUPPORTED if ratio > 3 else Verdict.INCONCLUSIVE


def plausibilities(
    constraints: Constraints,
    counts_of: CountsOfConfiguration | None = None,
    *,
    statements: Iterable[int] | None = None,
    impossible: Collection[int] = (),
    below: float | None = None,
    prior: float | Numbers = 1.0,
    draws: int = 4_000,
    seed: int = 0,
    doubted: bool = False,
) -> dict[int, Plausibility]:
    """The plausibility of every statement that became constraints, or of some; the same seed gives the same answer.

    `prior` are pseudo-counts, one for all or of every parameter.

    The `impossible` ones leave no probability to something that was observed: given the data, their own is zero.
    With `below`, statements whose probability given the data is certainly not below it are left out: a few draws
    show that of most. Equalities are read within 0.002, or within a number that is smaller; where they are `doubted`
    as draws hold them.
    """
    known: dict[object, ProbabilityEstimate] = {}
    found = {}
    for statement, own in _one_by_one(constraints, statements):
        tolerance = None
        if own.linear.equality.any():
            tolerance = float(own.linear.equality_widths(share=1.0)[own.linear.equality].max())
            own = replace(own, linear=own.linear.drawn() if doubted else own.linear.compared_with_data())
        after_data = None
        if (own.linear.lengths == 0).any():  # false whatever the numbers are
            before_data = ProbabilityEstimate(0.0, 0.0, is_exact=True)
            after_data = None if counts_of is None else before_data
        else:
            alone = one_block(own) if _is_surely_connected(own) else None  # the common case, and quick
            blocks = blocks_of(own) if alone is None else (alone,)
            every = np.broadcast_to(prior, constraints.layout.size)
            uniform = [every[each.parameters] for each in blocks]
            counted = () if counts_of is None else _counted(blocks, counts_of, uniform)
            if below is not None and statement not in impossible:
                quick = _product(_parts(blocks, counted, _FEW_DRAWS, seed, known, is_rare=False))
                if quick.value - 6.0 * quick.error >= below:
                    continue
            parts_before = _parts(blocks, uniform, draws, seed, known, is_rare=True)
            before_data = _product(parts_before)
            if counts_of is not None:
                is_rare = before_data.value < _RARE
                parts_after = _parts(blocks, counted, draws, seed, known, is_rare=is_rare)
                after_data = _product(parts_after)
                if statement in impossible:
                    after_data = ProbabilityEstimate(0.0, 0.0, is_exact=True)
        found[statement] = Plausibility(before_data, after_data, *bayes_factor(before_data, after_data), tolerance)
        if found[statement].is_too_small:
            found[statement] = replace(found[statement], log_bayes_factor=_log_factor(parts_before, parts_after))
    return found


Part = tuple[ProbabilityEstimate, int]  # the probability of one of several equal, independent parts, and their number


def _one_by_one(constraints: Constraints, statements: Iterable[int] | None) -> Iterable[tuple[int, Constraints]]:
    """The constraints of each statement, as if there were no other."""
    every = constraints.linear
    every = replace(every, equality=every.equality | without_room(every, constraints.layout))
    numbers = constraints_of_statements(every)
    products: dict[int, list[ProductConstraint]] = {}
    for product in constraints.products:
        products.setdefault(product.statement, []).append(product)
    nothing = np.empty(0, dtype=np.int64)
    for statement in sorted({*numbers, *products} if statements is None else statements):
        linear = every.take(numbers.get(statement, nothing))
        yield statement, replace(constraints, linear=linear, products=tuple(products.get(statement, ())))


def _is_surely_connected(constraints: Constraints) -> bool:
    """Whether there is one constraint, or all have their first parameter in common, as the two of a range do."""
    linear = constraints.linear
    if constraints.products or not len(linear):
        return len(linear) + len(constraints.products) == 1
    firsts = np.minimum.reduceat(linear.indices, linear.starts[:-1])
    return bool((firsts == firsts[0]).all())


def _counted(blocks: Sequence[Block], counts_of: CountsOfConfiguration, prior: Sequence[Numbers]) -> list[Numbers]:
    return [
        own + np.concatenate([np.asarray(counts_of(*place), dtype=np.float64) for place in block.configurations])
        for block, own in zip(blocks, prior, strict=True)
    ]


def _parts(
    blocks: Sequence[Block],
    concentrations: Sequence[Numbers],
    draws: int,
    seed: int,
    known: dict[object, ProbabilityEstimate],
    *,
    is_rare: bool,
) -> list[Part]:
    """The parts of one statement. Equal blocks are sampled once, with n times the draws where there are n of them.

    So the error is that of sampling each on its own: n copies of one estimate multiply its error by n, and n times the
    draws divide it by √n. The number of draws is limited, and with it the time.
    """
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for place, (block, concentration) in enumerate(zip(blocks, concentrations, strict=True)):
        groups.setdefault((*shape_of(block), concentration.tobytes()), []).append(place)
    cells = draws * sum(blocks[places[0]].size * min(len(places), _MAX_FACTOR) for places in groups.values())
    draws = max(min(draws, _LEAST_DRAWS), draws * min(cells, _MAX_CELLS_IN_ALL) // max(1, cells))
    most = max(1, min(_MOST_TIMES, _MAX_CELLS_IN_ALL // max(1, cells))) if is_rare else 1
    parts = []
    for shape, places in groups.items():
        times = draws * min(len(places), _MAX_FACTOR)
        key = (shape, times, most)
        if key not in known:
            block, concentration = blocks[places[0]], concentrations[places[0]]
            known[key] = _probability(block, concentration, times, most, [seed, crc32(b"".join(shape[:-1]))])
        parts.append((known[key], len(places)))
    return parts


def _probability(
    block: Block, concentration: Numbers, draws: int, most: int, seed: Sequence[int]
) -> ProbabilityEstimate:
    """The probability of the one statement of a block under independent Dirichlet distributions.

    Where it has no closed form it is drawn: a quarter of the draws if it holds in half of them, else all; with `most`
    above one, until it held often enough or most times as often.
    """
    exact = None if block.products else _exact(block, concentration)
    if exact is not None:
        return ProbabilityEstimate(exact, 0.0, is_exact=True)
    rng = np.random.default_rng(seed)
    made = max(1, draws // _FIRST_SHARE)
    held = _draws_that_hold(block, concentration, made, rng)
    if 2 * held < made:
        held, made = held + _draws_that_hold(block, concentration, draws - made, rng), draws
    while made < most * draws and held < _LEAST_HELD:
        held += _draws_that_hold(block, concentration, draws, rng)
        made += draws
    if held:
        return ProbabilityEstimate(held / made, sqrt(held / made * (1.0 - held / made) / made))
    upper_bound = 1.0 / made
    if most > 1:
        upper_bound = min(upper_bound, *tail_bounds(block, concentration, EQUALITY_WIDTH).holds.tolist())
    return ProbabilityEstimate(0.0, 0.0, upper_bound=max(upper_bound, _LEAST_PROBABILITY))


def _exact(block: Block, concentration: Numbers) -> float | None:
    """The probability of a statement whose constraints all bound one sum of states, or one difference of two sums.

    A sum in one distribution is a Beta variable, and sums in different ones are independent; None for any other form.
    """
    linear = block.linear
    starts, indices, coefficients = linear.starts.tolist(), linear.indices.tolist(), linear.coefficients.tolist()
    shape, low, high = None, -inf, inf
    for (start, end), bound, is_equality in zip(
        pairwise(starts), linear.bounds.tolist(), linear.equality.tolist(), strict=True
    ):
        scale = abs(coefficients[start])
        plus: list[int] = []
        minus: list[int] = []
        for k in range(start, end):
            if abs(coefficients[k]) != scale:
                return None
            (plus if coefficients[k] > 0.0 else minus).append(indices[k])
        own = frozenset(plus), frozenset(minus)
        shape = shape or own
        if own != shape and own[::-1] != shape:
            return None
        sign = 1.0 if own == shape else -1.0
        bound, width = bound / scale, EQUALITY_WIDTH / scale
        if is_equality:
            low, high = max(low, sign * bound - width), min(high, sign * bound + width)
        elif sign > 0.0:
            high = min(high, bound)
        else:
            low = max(low, -bound)
    assert shape is not None
    if low > high:
        return 0.0
    first, second = (_beta(block, states, concentration) for states in shape)
    if shape[0] and shape[1]:
        owners = {int(block.distribution_of[next(iter(states))]) for states in shape}
        if first is None or second is None or len(owners) == 1:
            return None
        return difference_probability(first, second, low, high)
    if first is not None:
        return interval_probability(first, low, high)
    return None if second is None else interval_probability(second, -high, -low)


def _beta(block: Block, states: frozenset[int], concentration: Numbers) -> Beta | None:
    """The Beta distribution of a sum of states of one distribution; None for none, all, or states of several."""
    if not states:
        return None
    owner = int(block.distribution_of[min(states)])
    start, stop = int(block.distributions[owner]), int(block.distributions[owner + 1])
    if max(states) >= stop or len(states) == stop - start:
        return None
    part = float(concentration[sorted(states)].sum())
    return part, float(concentration[start:stop].sum()) - part


def _draws_that_hold(block: Block, concentration: Numbers, draws: int, rng: np.random.Generator) -> int:
    """In how many draws all constraints of a block hold."""
    linear, products = block.linear, block.products
    matrix, bounds = linear.matrix(block.size), linear.bounds[:, None]
    held = 0
    piece = max(1, min(draws, _MAX_CELLS // (block.size + len(linear) + len(products))))
    for start in range(0, draws, piece):
        theta = dirichlet_draws(rng, block, concentration, min(piece, draws - start))
        values = matrix @ theta.T  # (constraints, draws)
        nearly_equal = np.abs(values - bounds) <= EQUALITY_WIDTH
        true = np.where(linear.equality[:, None], nearly_equal, values <= bounds + DECIMAL_ROUNDING).all(axis=0)
        if products:
            logs = np.log(theta, where=theta > 0.0, out=np.full_like(theta, -inf))
            for product in products:
                true &= _product_holds(product, logs)
        held += int(true.sum())
    return held


def dirichlet_draws(rng: np.random.Generator, block: Block, concentration: Numbers, draws: int) -> Numbers:
    """Draws of all parameters of a block, (draws, parameters): gammas, divided by their sum in each distribution."""
    gammas = np.empty((block.size, draws))  # one parameter after the other, which is quicker than draw by draw
    if (concentration == 1.0).all():
        rng.standard_exponential(out=gammas)  # the same numbers, in half the time
    else:
        for own, value in zip(gammas, concentration.tolist(), strict=True):
            rng.standard_gamma(value, out=own)
    sums = np.add.reduceat(gammas, block.distributions[:-1], axis=0)
    gammas /= sums[block.distribution_of]
    return gammas.T


def _product_holds(product: ProductConstraint, logs: Numbers) -> Flags:
    """Σ exponents · log θ ≤ log bound, both sides kept apart so that zeros compare as they should."""
    indices, exponents, bound = np.array(product.indices), np.array(product.exponents), product.log_bound
    above, below = exponents > 0.0, exponents < 0.0
    left = logs[:, indices[above]] @ exponents[above]
    right = logs[:, indices[below]] @ -exponents[below]
    return np.asarray(left <= bound + right + DECIMAL_ROUNDING, dtype=np.bool_)


def _product(parts: Sequence[Part]) -> ProbabilityEstimate:
    """The probability that independent parts all hold; relative variances add up, relative errors of equal parts.

    A probability too small for a number is known to be below the smallest that is distinguished from zero.
    """
    exact = all(part.is_exact for part, _ in parts)
    if any(part.value == 0.0 and part.upper_bound is None for part, _ in parts):
        return ProbabilityEstimate(0.0, 0.0, is_exact=True)
    value = prod((part.value if part.upper_bound is None else part.upper_bound) ** times for part, times in parts)
    if any(part.upper_bound is not None for part, _ in parts) or value < _LEAST_PROBABILITY:
        return ProbabilityEstimate(0.0, 0.0, max(value, _LEAST_PROBABILITY))
    relative = sum((times * part.error / part.value) ** 2 for part, times in parts if part.error)
    return ProbabilityEstimate(value, value * sqrt(relative), is_exact=exact)


def bayes_factor(before: ProbabilityEstimate, after: ProbabilityEstimate | None) -> tuple[float | None, bool]:
    """The factor, and whether it is only an upper bound."""
    if after is None or before.upper_bound is not None or before.value == 0.0:
        return None, False
    if after.upper_bound is not None:
        return after.upper_bound / before.value, True
    return after.value / before.value, False


def _log_factor(before: Sequence[Part], after: Sequence[Part]) -> float | None:
    """The logarithm of the Bayes factor, three standard errors up; None where a probability before is not known."""
    if any(part.upper_bound is not None or part.value == 0.0 for part, _ in before):
        return None
    total = variance = 0.0
    for parts, sign in ((before, -1.0), (after, 1.0)):
        for part, times in parts:
            value = part.value if part.upper_bound is None else part.upper_bound
            if value == 0.0:
                return -inf
            total += sign * times * log(value)
            variance += (times * part.error / value) ** 2
    return total + 3.0 * sqrt(variance)


def bayes_factor_error(plausibility: Plausibility) -> float:
    """The standard error of the Bayes factor; NaN where it is only a bound."""
    factor, after, before = plausibility.bayes_factor, plausibility.after_data, plausibility.before_data
    if factor is None or plausibility.is_upper_bound or after is None or after.value == 0.0:
        return nan
    return factor * sqrt((after.error / after.value) ** 2 + (before.error / before.value) ** 2)
