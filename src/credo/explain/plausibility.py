"""How plausible each statement is: its probability before and after the data, on its own.

Conditional distributions are independent Dirichlet(prior + counts). A statement's probability under them, divided by
its probability before any data (the share of the volume that it keeps), is the Bayes factor of the statement against no
statement at all [Klugkist and Hoijtink, 2007]. It may be spread over blocks: these are independent, so probabilities
multiply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from math import inf, nan, prod, sqrt

import numpy as np

from credo.constraints.blocks import Block, blocks_of, shape_of
from credo.constraints.constraint_set import Constraints, ProductConstraint
from credo.constraints.program import constraints_of_statements
from credo.types import Flags, Indices, Numbers

# Beta distributions ---------------------------------------------------------------------------------------------------


Beta = tuple[float, float]

_PANEL_NODES, _PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)


def interval_probability(beta: Beta, low: float, high: float) -> float:
    """P(low ≤ X ≤ high)."""
    from scipy.special import betainc, betaincc

    low, high = max(low, 0.0), min(high, 1.0)
    if low > high:
        return 0.0
    if high >= 1.0:  # from above, so that a small probability keeps its digits
        return float(betaincc(*beta, low))
    return float(betainc(*beta, high) - betainc(*beta, low))


@lru_cache(maxsize=100_000)
def difference_probability(first: Beta, second: Beta, low: float, high: float) -> float:
    """P(low ≤ X − Y ≤ high) = ∫ f_Y(y) · [F_X(y + high) − F_X(y + low)] dy.

    With y = sin²φ the ends of the unit interval get as much room as its middle; panels of Gauss-Legendre nodes are
    as many as the narrower of the two needs (a Beta of n counts is about 1/√n wide in φ).
    """
    from scipy.special import betainc, betaln, xlogy

    counts = max(sum(first), sum(second))
    kinks = tuple(edge for edge in (-low, 1.0 - low, -high, 1.0 - high) if 0.0 < edge < 1.0)
    phi, weights = _panels(int(np.clip(np.sqrt(counts), 12, 400)), kinks)
    y, rest = np.sin(phi) ** 2, np.cos(phi) ** 2
    log_density = xlogy(second[0] - 1.0, y) + xlogy(second[1] - 1.0, rest) - betaln(*second)
    measure = weights * np.exp(log_density) * np.sin(2.0 * phi)
    upper = betainc(*first, np.clip(y + high, 0.0, 1.0)) if high < 1.0 else 1.0
    lower = betainc(*first, np.clip(y + low, 0.0, 1.0)) if low > -1.0 else 0.0
    return float(np.clip(np.sum(measure * (upper - lower)), 0.0, 1.0)) if high >= low else 0.0


def _panels(count: int, kinks: tuple[float, ...]) -> tuple[Numbers, Numbers]:
    """Nodes and weights on (0, π/2), with panels that end where y meets a kink."""
    edges = np.sort(np.concatenate((np.linspace(0.0, np.pi / 2, count + 1), np.arcsin(np.sqrt(kinks)))))
    half = np.diff(edges)[:, None] / 2
    nodes = edges[:-1, None] + half * (1.0 + _PANEL_NODES)
    return nodes.ravel(), (half * _PANEL_WEIGHTS).ravel()


# Plausibility ---------------------------------------------------------------------------------------------------------


CountsOfConfiguration = Callable[[str, int], Numbers]

EQUALITY_TOLERANCE = 0.01  # an equality has probability zero: what is asked is |difference| ≤ this
_MAX_CELLS = 2_000_000  # numbers held at a time
_MAX_CELLS_IN_ALL = 400_000_000  # numbers drawn in all: some ten seconds
_LEAST_DRAWS = 200
_MAX_FACTOR = 64  # equal blocks share up to this many times the draws of one
_LEAST_PROBABILITY = 1e-300
_TOLERANCE = 1e-12


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
class Plausibility:
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
    """

    before_data: ProbabilityEstimate
    after_data: ProbabilityEstimate | None
    bayes_factor: float | None
    is_upper_bound: bool
    equality_tolerance: float | None

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
        not weighed against.
        """
        if self.after_data is None:
            return None
        after = self.after_data.value if self.after_data.upper_bound is None else self.after_data.upper_bound
        before = self.before_data.value if self.before_data.upper_bound is None else self.before_data.upper_bound
        if before <= 0.0 or before >= 1.0:
            return Verdict.INCONCLUSIVE
        ratio = inf if after >= 1.0 else after / (1.0 - after) * (1.0 - before) / before
        if ratio < 1 / 3 and after < 0.5:
            return Verdict.CONTRADICTED if ratio < 1 / 20 and after < 1 / 20 else Verdict.DOUBTED
        return Verdict.SUPPORTED if ratio > 3 else Verdict.INCONCLUSIVE


def plausibilities(
    constraints: Constraints,
    counts_of: CountsOfConfiguration | None = None,
    *,
    blocks: Sequence[Block] | None = None,
    prior: float = 1.0,
    draws: int = 4_000,
    seed: int = 0,
) -> dict[int, Plausibility]:
    """The plausibility of every statement that became constraints; the same seed gives the same answer."""
    blocks = blocks_of(constraints) if blocks is None else blocks
    shapes = [shape_of(block) for block in blocks]
    alone = [np.full(block.size, prior) for block in blocks]
    before = _probabilities_of_all(blocks, shapes, alone, draws, seed)
    counted = None if counts_of is None else _counted(blocks, counts_of, prior)
    after = {} if counted is None else _probabilities_of_all(blocks, shapes, counted, draws, seed)
    linear = constraints.linear
    for statement in linear.statements[linear.lengths == 0].tolist():  # false whatever the numbers are
        before[statement] = after[statement] = [(ProbabilityEstimate(0.0, 0.0, is_exact=True), 1)]
    with_equalities = set(linear.statements[linear.equality].tolist())
    found = {}
    for statement, parts in sorted(before.items()):
        before_data = _product(parts)
        after_data = _product(after[statement]) if counts_of is not None else None
        tolerance = EQUALITY_TOLERANCE if statement in with_equalities else None
        found[statement] = Plausibility(before_data, after_data, *_bayes_factor(before_data, after_data), tolerance)
    return found


Part = tuple[ProbabilityEstimate, int]  # the probability of one of several equal, independent parts, and their number


def _counted(blocks: Sequence[Block], counts_of: CountsOfConfiguration, prior: float) -> list[Numbers]:
    return [
        prior + np.concatenate([np.asarray(counts_of(*place), dtype=np.float64) for place in block.configurations])
        for block in blocks
    ]


def _probabilities_of_all(
    blocks: Sequence[Block],
    shapes: Sequence[tuple[bytes, ...]],
    concentrations: Sequence[Numbers],
    draws: int,
    seed: int,
) -> dict[int, list[Part]]:
    """The parts of every statement. Equal blocks are sampled once, with n times the draws where there are n of them.

    So the error is that of sampling each on its own: n copies of one estimate multiply its error by n, and n times the
    draws divide it by √n. The number of draws is limited, and with it the time.
    """
    groups: dict[tuple[bytes, ...], list[int]] = {}
    for place, (shape, concentration) in enumerate(zip(shapes, concentrations, strict=True)):
        groups.setdefault((*shape, concentration.tobytes()), []).append(place)
    cells = draws * sum(blocks[places[0]].size * min(len(places), _MAX_FACTOR) for places in groups.values())
    draws = max(min(draws, _LEAST_DRAWS), draws * min(cells, _MAX_CELLS_IN_ALL) // max(1, cells))
    found: dict[int, list[Part]] = {}
    for places in groups.values():
        first = blocks[places[0]]
        times_draws = draws * min(len(places), _MAX_FACTOR)
        estimates = statement_probabilities(first, concentrations[places[0]], times_draws, seed)
        by_rank = [estimates[statement] for statement in first.statements]
        times = Counter(blocks[place].statements for place in places)
        for statements, count in times.items():
            for statement, estimate in zip(statements, by_rank, strict=True):
                found.setdefault(statement, []).append((estimate, count))
    return found


def statement_probabilities(
    block: Block, concentration: Numbers, draws: int, seed: int
) -> dict[int, ProbabilityEstimate]:
    """The probability of each of a block's statements under independent Dirichlet distributions."""
    with_products = {product.statement for product in block.products}
    found: dict[int, ProbabilityEstimate] = {}
    for statement, own in constraints_of_statements(block.linear).items():
        exact = None if statement in with_products else _exact(block, own, concentration)
        if exact is not None:
            found[statement] = ProbabilityEstimate(exact, 0.0, is_exact=True)
    others = [statement for statement in block.statements if statement not in found]
    if others:
        held = _draws_that_hold(block, others, concentration, draws, seed)
        for statement, count in held.items():
            value = count / draws
            error = sqrt(value * (1.0 - value) / draws)
            found[statement] = ProbabilityEstimate(value, error, upper_bound=None if count else 1.0 / draws)
    return found


def _exact(block: Block, constraints: Indices, concentration: Numbers) -> float | None:
    """The probability of a statement whose constraints all bound one sum of states, or one difference of two sums.

    A sum in one distribution is a Beta variable, and sums in different ones are independent; None for any other form.
    """
    linear = block.linear
    shape, low, high = None, -inf, inf
    for constraint in constraints.tolist():
        entries = slice(linear.starts[constraint], linear.starts[constraint + 1])
        indices, coefficients = linear.indices[entries], linear.coefficients[entries]
        scale = abs(coefficients[0])
        if np.ptp(np.abs(coefficients)) > 0.0:
            return None
        plus, minus = frozenset(indices[coefficients > 0].tolist()), frozenset(indices[coefficients < 0].tolist())
        first, second = (plus, minus) if shape is None or (plus, minus) == shape else (minus, plus)
        shape = shape or (first, second)
        if (first, second) != shape:
            return None
        bound, width = linear.bounds[constraint] / scale, EQUALITY_TOLERANCE / scale
        sign = 1.0 if (plus, minus) == shape else -1.0
        if linear.equality[constraint]:
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
        return difference_probability(first_beta, second_beta, low, high)
    if first_beta is not None:
        return interval_probability(first_beta, low, high)
    return None if second_beta is None else interval_probability(second_beta, -high, -low)


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
    """In how many draws all constraints of each statement hold."""
    wanted = np.isin(block.linear.statements, statements)
    linear = block.linear.take(wanted)
    products = [product for product in block.products if product.statement in set(statements)]
    owner = np.concatenate((linear.statements, np.array([each.statement for each in products], dtype=np.int64)))
    order = np.argsort(owner, kind="stable")
    numbers, firsts = np.unique(owner[order], return_index=True)
    matrix = linear.matrix(block.size)
    rng = np.random.default_rng([seed, int(block.parameters[0])])
    held = np.zeros(len(numbers), dtype=np.int64)
    piece = max(1, min(draws, _MAX_CELLS // (block.size + len(owner))))
    for start in range(0, draws, piece):
        theta = dirichlet_draws(rng, block, concentration, min(piece, draws - start))
        values = matrix @ theta.T  # (constraints, draws)
        bounds = linear.bounds[:, None]
        nearly_equal = np.abs(values - bounds) <= EQUALITY_TOLERANCE
        true = np.where(linear.equality[:, None], nearly_equal, values <= bounds + _TOLERANCE)
        logs = np.log(theta, where=theta > 0.0, out=np.full_like(theta, -inf)) if products else theta
        true = np.concatenate((true, *(_product_holds(product, logs)[None, :] for product in products)))
        held += np.logical_and.reduceat(true[order], firsts, axis=0).sum(axis=1)
    return dict(zip(numbers.tolist(), held.tolist(), strict=True))


def dirichlet_draws(rng: np.random.Generator, block: Block, concentration: Numbers, draws: int) -> Numbers:
    """Draws of all parameters of a block, (draws, parameters): gammas, divided by their sum in each distribution."""
    gammas = rng.standard_gamma(concentration, size=(draws, block.size))
    sums = np.add.reduceat(gammas, block.distributions[:-1], axis=1)
    return np.asarray(gammas / np.repeat(sums, np.diff(block.distributions), axis=1), dtype=np.float64)


def _product_holds(product: ProductConstraint, logs: Numbers) -> Flags:
    """Σ exponents · log θ ≤ log bound, both sides kept apart so that zeros compare as they should."""
    indices, exponents, bound = np.array(product.indices), np.array(product.exponents), product.log_bound
    above, below = exponents > 0.0, exponents < 0.0
    left = logs[:, indices[above]] @ exponents[above]
    right = logs[:, indices[below]] @ -exponents[below]
    return np.asarray(left <= bound + right + _TOLERANCE, dtype=np.bool_)


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


def _bayes_factor(before: ProbabilityEstimate, after: ProbabilityEstimate | None) -> tuple[float | None, bool]:
    """The factor, and whether it is only an upper bound."""
    if after is None or before.upper_bound is not None or before.value == 0.0:
        return None, False
    if after.upper_bound is not None:
        return after.upper_bound / before.value, True
    return after.value / before.value, False


def bayes_factor_error(plausibility: Plausibility) -> float:
    """The standard error of the Bayes factor; NaN where it is only a bound."""
    factor, after, before = plausibility.bayes_factor, plausibility.after_data, plausibility.before_data
    if factor is None or plausibility.is_upper_bound or after is None or after.value == 0.0:
        return nan
    return factor * sqrt((after.error / after.value) ** 2 + (before.error / before.value) ** 2)
