"""Moves along the thin sets that equalities leave, and between them and what is outside of them.

`P(top=yes) is 1e-9` leaves CPTs a hundredth of that number. With all else fixed, every probability N/D is linear in the
share t that one state has of what two states of a distribution have together, so that an equality allows an interval of
t, however narrow it is, and a statement that may be wrong is a step of the density at its ends. Given its component, t
is a Beta variate: the mass of every piece is known, and t is drawn exactly.

Steps along such an interval are short. So other distributions are drawn anew before, from their Dirichlet distributions
or all about one rate, or make a step in log-odds, and t makes up for them. With Z(θ) the integral of the Beta density
times the statements' factors over t, those that are drawn from their own are

    accepted with   min(1, Z(θ')·R(θ') / (Z(θ)·R(θ)))

where R are the factors of what is not linear in t; the others also by the ratio of their densities. A chain leaves
1e-9 = 1e-4 · 1e-5 for 1e-8 · 1e-1 at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from credo.posterior.walls import HOLDS, LinearWalls, NetworkWalls, Walls, are_kept, excesses, true_statements
from credo.tolerances import EQUALITY_SHARE, EQUALITY_WIDTH
from credo.types import Flags, Indices, Numbers

TRIES, MOST_TRIES = 2, 8  # for each distribution of a thin set in a step, and for each set
MOST_IN_ALL = 24  # for all sets together
MOST_RENEWED = 3  # distributions that are drawn anew in a try, or all others
TOGETHER, APART = 15.0, 1.5  # deviations of log-odds that are proposed together, and of each from these
LEAST_STEP, MOST_STEP = 0.05, 12.0  # of steps in log-odds
LEAST = 1e-300
FEW = (
    1e-4  # a difference of two values of a distribution function that is smaller than this share of them is integrated
)
LIKELY = 0.02  # the probability of a piece in which Beta variates are tried until one is in it
ATTEMPTS = 400
FAR = 45.0  # by how much a log density falls where its tail is cut off
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(32)

Density = Callable[[Numbers], float]


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A Beta density times steps: pieces of the line of log-odds, and their logarithms of mass."""

    shapes: tuple[float, float]
    ends: Numbers  # (pieces + 1,) of log-odds
    masses: Numbers  # (pieces,) logarithms, with the factors of statements
    total: float  # log Z

    def draw(self, random: np.random.Generator) -> float:
        """Log-odds."""
        shares = np.exp(self.masses - self.total)
        number = min(int(np.searchsorted(np.cumsum(shares), random.random() * shares.sum())), len(shares) - 1)
        return draw_between(*self.shapes, self.ends[number], self.ends[number + 1], random)


class ThinSets:
    """The moves of one chain. A class because it has a generator of its own."""

    def __init__(
        self,
        sets: Sequence[Indices],  # the cells that matter to each thin set
        starts: Indices,  # (distributions,) the first cell of each, in vectors of all cells
        moving: Flags,  # (cells,)
        walls: Sequence[Walls],
        seed: list[int],
    ) -> None:
        owner = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(moving)))
        cells = [np.flatnonzero(moving & (owner == number)) for number in range(len(starts))]
        own = [[number for number in np.unique(owner[each]).tolist() if len(cells[number]) > 1] for each in sets]
        self._cells, self._sets = cells, [each for each in own if each]
        self._walls = walls
        self._lines = [each for wall in walls if (each := _line_walls(wall)) is not None]
        self._are_lines = len(self._lines) == len(walls) and all(each.linear.all() for each in self._lines)
        self._random = np.random.default_rng(seed)

    def move(self, theta: Numbers, shapes: Numbers, support: Numbers, evidence: Density | None) -> None:
        """Move θ, which is changed in place; `shapes` are Dirichlet parameters with counts."""
        most = max(1, min(MOST_TRIES, MOST_IN_ALL // max(1, len(self._sets))))
        for own in self._sets:
            for _ in range(min(most, TRIES * len(own)) if len(own) > 1 else 1):
                self._try(own, theta, shapes, support, evidence)

    def _try(
        self, own: Sequence[int], theta: Numbers, shapes: Numbers, support: Numbers, evidence: Density | None
    ) -> None:
        random = self._random
        order = random.permutation(len(own)).tolist()
        pair = random.choice(self._cells[own[order[0]]], 2, replace=False)
        count = min(int(random.integers(MOST_RENEWED + 2)), len(own) - 1)
        renewed = [own[place] for place in (order[1 : 1 + count] if count <= MOST_RENEWED else order[1:])]
        tried, change = theta.copy(), 0.0
        kind = random.integers(3)
        if kind == 0 and renewed:
            pairs = [np.sort(random.choice(self._cells[number], 2, replace=False)) for number in renewed]
            change += _shift_together(tried, np.array(pairs), shapes, random)
        for number in renewed if kind else ():
            cells = self._cells[number]
            if kind == 1:
                change += _step(tried, random.choice(cells, 2, replace=False), shapes, random)
            else:
                tried[cells] = theta[cells].sum() * _dirichlet(shapes[cells], random)
        covered = self._covered(len(support))
        before = self._pieces(theta, shapes, pair, support, covered)
        after = self._pieces(tried, shapes, pair, support, covered) if renewed else before
        if before is None or after is None:
            return
        _split(tried, pair, after.draw(random))
        change += after.total - before.total + self._rest(tried, support, covered, evidence)
        if not (self._are_lines and covered.all() and evidence is None):
            change -= self._rest(theta, support, covered, evidence)
        if np.log(random.random()) < change:
            theta[:] = tried

    def _covered(self, statements: int) -> Flags:
        """The statements that may be wrong all of whose constraints are linear on lines."""
        found = np.ones(statements, dtype=np.bool_)
        for wall in self._walls:
            lines = next((each for each in self._lines if each.walls is wall), None)
            uncovered = wall.statements if lines is None else wall.statements[~lines.linear]
            found[uncovered[uncovered >= 0]] = False
        return found

    def _pieces(
        self, theta: Numbers, shapes: Numbers, pair: Indices, support: Numbers, covered: Flags
    ) -> Pieces | None:
        """The density on a line; None where what must hold leaves nothing of it."""
        low, high = -np.inf, np.inf
        limits = np.full((2, len(support)), [[-np.inf], [np.inf]])
        at = theta.copy()
        for lines in self._lines:
            _split(at, pair, -np.inf)
            first = lines.values(at)
            _split(at, pair, np.inf)
            last = lines.values(at)
            least, most = _where_negative(first, last)
            statements = lines.statements
            must = statements < 0
            low, high = max(low, least[must].max(initial=low)), min(high, most[must].min(initial=high))
            own = ~must & covered[np.maximum(statements, 0)] if len(covered) else np.zeros(len(must), dtype=np.bool_)
            np.maximum.at(limits[0], statements[own], least[own])
            np.minimum.at(limits[1], statements[own], most[own])
        if not low < high:
            return None
        some = covered & (limits[0] < limits[1]) & (limits[0] < high) & (limits[1] > low)
        ends = np.unique(np.clip(np.concatenate(([low, high], limits[:, some].ravel())), low, high))
        inside = (limits[0][some] <= ends[:-1, None]) & (limits[1][some] >= ends[1:, None])
        a, b = (float(each) for each in shapes[pair])
        masses = log_masses(a, b, ends[:-1], ends[1:]) + inside @ support[some]
        total = _log_sum(masses)
        return Pieces((a, b), ends, masses, total) if total > -np.inf else None

    def _rest(self, theta: Numbers, support: Numbers, covered: Flags, evidence: Density | None) -> float:
        """The logarithm of the factors of what lines do not see."""
        found = excesses(self._walls, theta)
        true = true_statements(self._walls, found, len(support))
        if not are_kept(self._walls, found, np.zeros_like(true)):
            return -np.inf
        rest = float(support @ (true & ~covered))
        return rest if evidence is None else rest + evidence(theta)


# What walls are on lines ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """Constraints as inequalities that are linear on every line: values at most zero."""

    walls: Walls
    values: Callable[[Numbers], Numbers]  # of θ: (inequalities,)
    statements: Indices  # (inequalities,) as in `Walls`
    linear: Flags  # (constraints of the walls,) which of them these are


def _line_walls(walls: Walls) -> _Lines | None:
    if isinstance(walls, LinearWalls):
        return _Lines(walls, walls.excess, walls.statements, np.ones(len(walls.statements), dtype=np.bool_))
    return _network_lines(walls) if isinstance(walls, NetworkWalls) else None


def _network_lines(walls: NetworkWalls) -> _Lines:
    """Σ c·N − bound·D ≤ 0, for constraints whose terms have one condition D in common, or none.

    An equality l = r is  l − r ≤ w·D,  r − l ≤ w·D,  and where both sides have probabilities  l − r ≤ l/100,
    r − l ≤ r/100.
    """
    own = walls.constraints
    below = [np.unique(own.below[own.owners == number]) for number in range(len(own))]
    entries, columns, factors = own.entries
    has_entries = np.isin(np.arange(len(own)), entries)
    linear = np.array(
        [len(each) <= 1 and not (has and (each >= 0).any()) for each, has in zip(below, has_entries, strict=True)]
    )
    condition = np.array([each[0] if len(each) == 1 else -1 for each in below], dtype=np.int64)
    chosen = np.flatnonzero(linear)
    equal = np.flatnonzero(linear & own.equality)
    compared = np.flatnonzero(linear & own.compared)

    def sides(sign: float, sums: Numbers, theta: Numbers) -> Numbers:
        found: Numbers = np.zeros(len(own))
        found += np.bincount(own.owners, np.maximum(sign * own.coefficients, 0.0) * sums[own.above], len(own))
        found += np.bincount(entries, np.maximum(sign * factors, 0.0) * theta[columns], len(own))
        return found

    def values(theta: Numbers) -> Numbers:
        sums = own.sums.values(theta)
        given = np.where(condition >= 0, sums[condition], 1.0)
        left = sides(1.0, sums, theta) + np.maximum(-own.bounds, 0.0) * given
        right = sides(-1.0, sums, theta) + np.maximum(own.bounds, 0.0) * given
        difference, room = left - right, HOLDS * own.sizes * given
        most = np.where(own.compared, EQUALITY_WIDTH, own.equality_widths) * given + room
        larger = EQUALITY_SHARE * left + room, EQUALITY_SHARE * right + room
        return np.concatenate(
            (
                (difference - most)[chosen],
                (-difference - most)[equal],
                (difference - larger[0])[compared],
                (-difference - larger[1])[compared],
            )
        )

    statements = walls.statements[np.concatenate((chosen, equal, compared, compared))]
    return _Lines(walls, values, statements, linear)


def _where_negative(first: Numbers, last: Numbers) -> tuple[Numbers, Numbers]:
    """Between which log-odds of t a function is at most zero that is linear in t, from its values at 0 and at 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = np.log(np.abs(first)) - np.log(np.abs(last))
    low = np.where(first <= 0.0, -np.inf, np.where(last <= 0.0, zero, np.inf))
    high = np.where(last <= 0.0, np.inf, np.where(first <= 0.0, zero, -np.inf))
    return low, high


# Beta variates in log-odds --------------------------------------------------------------------------------------------


def expit(y: Numbers | float) -> Numbers:
    """1/(1 + exp(−y))."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -np.asarray(y, dtype=np.float64))))


def _split(theta: Numbers, pair: Indices, log_odds: float) -> None:
    """Divide what two states have together."""
    total = theta[pair].sum()
    theta[pair] = total * expit(log_odds), total * expit(-log_odds)
    if np.isfinite(log_odds):
        theta[pair] = np.maximum(theta[pair], LEAST)


def _step(theta: Numbers, pair: Indices, shapes: Numbers, random: np.random.Generator) -> float:
    """A step of any size in the log-odds of two states; what it adds to the logarithm of their density."""
    size = LEAST_STEP * (MOST_STEP / LEAST_STEP) ** random.random()
    before = float(np.log(np.maximum(theta[pair], LEAST)) @ (1.0, -1.0))
    after = before + size * random.normal()
    a, b = (float(each) for each in shapes[pair])
    _split(theta, pair, after)
    return float(_log_densities(a, b, np.asarray(after)) - _log_densities(a, b, np.asarray(before)))


def _shift_together(theta: Numbers, pairs: Indices, shapes: Numbers, random: np.random.Generator) -> float:
    """New log-odds of pairs of states, all about one number; the logarithm of densities' over proposals' ratios.

    Normal variates with the covariance APART² I + TOGETHER² 11ᵀ: so causes become as rare as an effect at once.
    """
    logs = np.log(np.maximum(theta[pairs], LEAST))
    before = logs[:, 0] - logs[:, 1]
    after = TOGETHER * random.normal() + APART * random.normal(size=len(pairs))
    for pair, value in zip(pairs, after.tolist(), strict=True):
        _split(theta, pair, value)
    share = TOGETHER**2 / (APART**2 + len(pairs) * TOGETHER**2)

    def proposed(y: Numbers) -> float:
        return -0.5 * float(y @ y - share * y.sum() ** 2) / APART**2

    a, b = shapes[pairs].T
    change = float(np.sum(_log_densities(a, b, after) - _log_densities(a, b, before)))
    return change + proposed(before) - proposed(after)


def _log_densities(a: Numbers | float, b: Numbers | float, y: Numbers) -> Numbers:
    """Of log-odds y of Beta variates, but for constants."""
    return np.asarray(-a * np.logaddexp(0.0, -y) - b * np.logaddexp(0.0, y))


def _log_sum(logs: Numbers) -> float:
    """The logarithm of the sum of exponentials."""
    highest = float(logs.max())
    return highest + float(np.log(np.exp(logs - highest).sum())) if np.isfinite(highest) else highest


def _slope(a: float, b: float, y: Numbers) -> Numbers:
    return np.asarray(a * expit(-y) - b * expit(y))


def log_masses(a: float, b: float, low: Numbers, high: Numbers) -> Numbers:
    """log P(low ≤ y ≤ high) of the log-odds of a Beta(a, b) variate, also far out and where limits nearly agree."""
    from scipy.special import betainc

    below = betainc(a, b, expit(high)), betainc(a, b, expit(low))
    above = betainc(b, a, expit(-low)), betainc(b, a, expit(-high))
    is_low = below[0] <= above[0]
    larger = np.where(is_low, below[0], above[0])
    found = larger - np.where(is_low, below[1], above[1])
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(found, 0.0))
    for place in np.flatnonzero(((found < FEW * larger) | (larger < LEAST)) & (low < high)).tolist():
        logs[place] = _integral(a, b, low[place], high[place])
    return np.asarray(logs)


def _integral(a: float, b: float, low: float, high: float) -> float:
    """The same by quadrature, from where the density is largest to where nothing is left."""
    from scipy.special import betaln

    top = min(max(np.log(a / b), low), high)
    slope = float(_slope(a, b, np.asarray(top)))
    if top == low:
        high = min(high, low + FAR / max(-slope, 1e-12))
    elif top == high:
        low = max(low, high - FAR / max(slope, 1e-12))
    if not np.isfinite(high - low):
        return -np.inf
    y = 0.5 * (low + high) + 0.5 * (high - low) * _NODES
    return float(_log_sum(_log_densities(a, b, y) + np.log(0.5 * (high - low) * _WEIGHTS)) - betaln(a, b))


def draw_between(a: float, b: float, low: float, high: float, random: np.random.Generator) -> float:
    """Log-odds of a Beta(a, b) variate between two limits.

    Where that is improbable, by rejection from the exponential tangent at the point of largest density: the logarithm
    of the density is concave.
    """
    if float(np.exp(log_masses(a, b, np.array([low]), np.array([high]))[0])) > LIKELY:
        y = _log_gamma(a, random, ATTEMPTS) - _log_gamma(b, random, ATTEMPTS)
        inside = np.flatnonzero((low <= y) & (y <= high))
        if len(inside):
            return float(y[inside[0]])
    top = min(max(np.log(a / b), low), high)
    slope = float(_slope(a, b, np.asarray(top))) if top in {low, high} else 0.0
    if slope == 0.0 and not np.isfinite(high - low):
        from scipy.special import betainc, betaincinv

        first, last = betainc(a, b, expit(low)), betainc(a, b, expit(high))
        share = betaincinv(a, b, first + (last - first) * random.random())
        return float(np.clip(np.log(max(share, LEAST)) - np.log(max(1.0 - share, LEAST)), low, high))
    length = high - low
    while True:
        u = random.random(64)
        if abs(slope) * length > 1e-9:
            steps = -np.log1p(u * np.expm1(-abs(slope) * length)) / slope
            y = top - steps
        else:
            y = low + length * u
        tangent = _log_densities(a, b, np.asarray(top)) + slope * (y - top)
        good = np.flatnonzero(np.log(random.random(64)) < _log_densities(a, b, y) - tangent)
        if len(good):
            return float(min(max(y[good[0]], low), high))


def _log_gamma(shape: float, random: np.random.Generator, count: int) -> Numbers:
    """Logarithms of gamma variates, which a small shape cannot make underflow."""
    return np.asarray(np.log(random.gamma(shape + 1.0, size=count)) + np.log(random.random(count)) / shape)


def _dirichlet(shapes: Numbers, random: np.random.Generator) -> Numbers:
    logs = np.array([_log_gamma(float(shape), random, 1)[0] for shape in shapes])
    theta = np.maximum(np.exp(logs - logs.max()), LEAST)
    return np.asarray(theta / theta.sum())
