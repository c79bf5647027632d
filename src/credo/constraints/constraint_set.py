"""What statements become: constraints on parameters, ties between data rows, and forms of noisy families."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.constraints.boundaries import network_constraint_without_room, without_room
from credo.errors import OptionError
from credo.knowledge.query import Query
from credo.model.expansion import Expansion
from credo.model.layout import Layout
from credo.model.network import Network
from credo.tolerances import EQUALITY_SHARE, EQUALITY_WIDTH
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


LARGEST_BOUND = 1e9  # in units of the largest coefficient


@dataclass(frozen=True, slots=True)
class LinearConstraint:
    """Σ coefficients · θ[indices] ≤ bound (or = bound). With a confidence it is soft."""

    indices: tuple[int, ...]
    coefficients: tuple[float, ...]
    bound: float
    statement: int  # number of its statement, from 0
    equality: bool = False
    confidence: float | None = None
    scale: float = 1.0  # what the numbers of the statement were divided by


@dataclass(frozen=True, slots=True, eq=False)
class LinearConstraints(Sequence[LinearConstraint]):
    """Many linear constraints in columns: constraint r has entries starts[r] to starts[r + 1].

    A parent left out can make a hundred thousand constraints of one statement; columns hold them in little space, and
    every later stage computes with them as they are. As a sequence it gives `LinearConstraint` objects.

    Statements may be written in any unit, 1e9·P(…) ≤ 3e8 among them; `scaled` divides each constraint by its largest
    coefficient, so that every tolerance, solver and sampler means probabilities. `scales` leads back: a violation in
    the unit of the statement is scale · violation, a multiplier in it multiplier / scale.
    """

    starts: Indices  # (constraints + 1,)
    indices: Indices  # (entries,)
    coefficients: Numbers  # (entries,)
    bounds: Numbers  # (constraints,)
    statements: Indices  # (constraints,)
    equality: Flags  # (constraints,)
    confidences: Numbers  # (constraints,), NaN where the constraint is hard
    scales: Numbers = field(default_factory=lambda: np.zeros(0))  # (constraints,), all one where not given

    def __post_init__(self) -> None:
        if len(self.scales) != len(self.bounds):
            object.__setattr__(self, "scales", np.ones(len(self.bounds)))

    @classmethod
    def of(cls, constraints: Iterable[LinearConstraint]) -> LinearConstraints:
        """The columns of single constraints."""
        constraints = tuple(constraints)
        return cls(
            np.cumsum([0, *(len(each.indices) for each in constraints)], dtype=np.int64),
            np.array([index for each in constraints for index in each.indices], dtype=np.int64),
            np.array([value for each in constraints for value in each.coefficients], dtype=np.float64),
            np.array([each.bound for each in constraints], dtype=np.float64),
            np.array([each.statement for each in constraints], dtype=np.int64),
            np.array([each.equality for each in constraints], dtype=np.bool_),
            np.array([nan if each.confidence is None else each.confidence for each in constraints], dtype=np.float64),
            np.array([each.scale for each in constraints], dtype=np.float64),
        )

    def equality_widths(self, share: float = EQUALITY_SHARE) -> Numbers:
        """How far from equal the sides of each equality may be in draws, (constraints,); 0 for inequalities.

        It is 0.002, but no more than this share of the number that a sum of probabilities must have, nor of what a
        single one lacks to 1. See `drawn` for comparisons.
        """
        widths = np.where(self.equality, EQUALITY_WIDTH, 0.0)
        full = self.lengths > 0
        if not (full & self.equality).any():
            return widths
        firsts = self.starts[:-1][full]
        least, most = np.minimum.reduceat(self.coefficients, firsts), np.maximum.reduceat(self.coefficients, firsts)
        value = np.abs(self.bounds[full])
        lacking = np.where(self.lengths[full] == 1, np.maximum(np.abs(least), np.abs(most)) - value, np.inf)
        room = share * np.minimum(value, lacking)
        is_narrow = self.equality[full] & (least * most > 0.0) & (room > 0.0)
        widths[full] = np.where(is_narrow, np.minimum(widths[full], room), widths[full])
        return widths

    def drawn(self, share: float = 1.0) -> LinearConstraints:
        """The inequalities that draws hold. For an equality l = r, with this share of its width w,

            l − r ≤ w,    r − l ≤ w,    and where both sides have parameters    l − r ≤ l/100,    r − l ≤ r/100.

        One that may be wrong is true where these hold.
        """
        if not self.equality.any():
            return self
        widths = share * self.equality_widths()
        compared = self.equality
        for sign in (1.0, -1.0):
            found = np.bincount(self.entry_constraints, sign * self.coefficients > 0.0, len(self))
            compared = compared & (found > 0)
        return self._as_ranges(self.equality, widths, compared, share * EQUALITY_SHARE)

    def compared_with_data(self) -> LinearConstraints:
        """The same with equalities to small numbers as the ranges as which they are compared with data.

        Within 0.002 nothing would contradict that a probability is 1e-9: it is read as at most twice that. So are
        numbers near 1, by what they lack to it.
        """
        widths = self.equality_widths(share=1.0)
        chosen = self.equality & (widths < EQUALITY_WIDTH)
        return self._as_ranges(chosen, widths, np.zeros_like(chosen), 0.0) if chosen.any() else self

    def _as_ranges(self, chosen: Flags, widths: Numbers, compared: Flags, narrow: float) -> LinearConstraints:
        """Some equalities l = r as |l − r| ≤ w, and those `compared` also as |l − r| ≤ narrow · max(l, r)."""
        parts, numbers = [self.take(~chosen)], [np.flatnonzero(~chosen)]
        for sign, own in ((1.0, chosen), (-1.0, chosen), (1.0, compared), (-1.0, compared)):
            given = self.take(own)
            coefficients, bounds = sign * given.coefficients, sign * given.bounds
            if own is chosen:
                bounds = bounds + widths[own]
            else:
                coefficients = np.where(coefficients > 0.0, (1.0 - narrow) * coefficients, coefficients)
                bounds = bounds + narrow * np.maximum(-bounds, 0.0)
            is_equality = np.zeros(len(given), dtype=np.bool_)
            parts.append(replace(given, coefficients=coefficients, bounds=bounds, equality=is_equality))
            numbers.append(np.flatnonzero(own))
        return joined(parts).take(np.argsort(np.concatenate(numbers), kind="stable"))

    @property
    def hard(self) -> Flags:
        """Which constraints have no confidence, and so must hold."""
        return np.isnan(self.confidences)

    @property
    def lengths(self) -> Indices:
        """How many entries each constraint has."""
        return np.diff(self.starts)

    @property
    def entry_constraints(self) -> Indices:
        """The constraint that each entry belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, chosen: Indices | Flags) -> LinearConstraints:
        """Some of the constraints, in the order given."""
        numbers = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else chosen
        lengths = self.starts[numbers + 1] - self.starts[numbers]  # of these alone: blocks take a few of many
        starts = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.repeat(self.starts[numbers] - starts[:-1], lengths) + np.arange(starts[-1])
        return LinearConstraints(
            starts,
            self.indices[entries],
            self.coefficients[entries],
            self.bounds[numbers],
            self.statements[numbers],
            self.equality[numbers],
            self.confidences[numbers],
            self.scales[numbers],
        )

    def scaled(self) -> LinearConstraints:
        """The same constraints with one as the largest coefficient of each."""
        if not self.coefficients.size:
            return self
        full = self.lengths > 0
        largest = np.ones(len(self))
        largest[full] = np.maximum.reduceat(np.abs(self.coefficients), self.starts[:-1][full])
        if (largest == 1.0).all():
            return self
        # Not by 1/largest, which overflows for the smallest numbers that there are.
        coefficients = self.coefficients / np.repeat(largest, self.lengths)
        # No sum of probabilities comes near this bound: what exceeds it is as false, or as true, at the bound.
        most = LARGEST_BOUND * np.maximum(1.0, self.lengths)
        with np.errstate(over="ignore"):
            bounds = np.clip(self.bounds / largest, -most, most)
        return replace(self, coefficients=coefficients, bounds=bounds, scales=self.scales * largest)

    def excess(self, theta: Numbers) -> Numbers:
        """By how much each constraint is violated at a point; negative where it holds, the room that is left."""
        excess = self.values(theta) - self.bounds
        return np.asarray(np.where(self.equality, np.abs(excess), excess), dtype=np.float64)

    def matrix(self, columns: int) -> csr_array:
        """The coefficients as a sparse matrix (constraints, columns)."""
        from scipy.sparse import csr_array

        return csr_array((self.coefficients, self.indices, self.starts), shape=(len(self), columns))

    def values(self, theta: Numbers) -> Numbers:
        """Σ coefficients · θ[indices] of every constraint; `theta` has the parameters on its last axis."""
        if theta.ndim == 1:
            sums = np.bincount(self.entry_constraints, self.coefficients * theta[self.indices], len(self))
            return np.asarray(sums, dtype=np.float64)  # without constraints bincount gives integers
        return np.asarray((self.matrix(theta.shape[-1]) @ theta.T).T, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.bounds)

    def __iter__(self) -> Iterator[LinearConstraint]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return tuple(self[one] for one in range(*number.indices(len(self))))
        number = range(len(self))[number]
        entries = slice(self.starts[number], self.starts[number + 1])
        confidence = float(self.confidences[number])
        return LinearConstraint(
            tuple(self.indices[entries].tolist()),
            tuple(self.coefficients[entries].tolist()),
            float(self.bounds[number]),
            int(self.statements[number]),
            bool(self.equality[number]),
            None if isnan(confidence) else confidence,
            float(self.scales[number]),
        )


NO_CONSTRAINTS = LinearConstraints.of(())


def joined(parts: Sequence[LinearConstraints], firsts: Sequence[int] | Indices | None = None) -> LinearConstraints:
    """The constraints of several sets, one after another; `firsts` is added to the indices of each."""
    if not parts:
        return NO_CONSTRAINTS
    none = NO_CONSTRAINTS
    lengths = np.diff(np.concatenate([part.starts for part in parts]))
    inside = np.ones(len(lengths), dtype=np.bool_)  # not from one part to the next
    inside[np.cumsum([len(part.starts) for part in parts])[:-1] - 1] = False
    indices = np.concatenate([part.indices for part in parts])
    if firsts is not None:
        indices = indices + np.repeat(firsts, [len(part.indices) for part in parts])
    return LinearConstraints(
        np.concatenate(([0], np.cumsum(lengths[inside]))).astype(np.int64),
        indices,
        np.concatenate([none.coefficients, *(part.coefficients for part in parts)]),
        np.concatenate([none.bounds, *(part.bounds for part in parts)]),
        np.concatenate([none.statements, *(part.statements for part in parts)]),
        np.concatenate([none.equality, *(part.equality for part in parts)]),
        np.concatenate([none.confidences, *(part.confidences for part in parts)]),
        np.concatenate([none.scales, *(part.scales for part in parts)]),
    )


@dataclass(frozen=True, slots=True)
class ProductConstraint:
    """Σ exponents · log θ[indices] ≤ log_bound: linear in log θ, not convex in θ [guo, table 1, type 8]."""

    indices: tuple[int, ...]
    exponents: tuple[float, ...]
    log_bound: float
    statement: int
    confidence: float | None = None


def as_linear(product: ProductConstraint) -> LinearConstraint | None:
    """θ_above^e ≤ bound · θ_below^e, either of which may be missing (one), as a linear constraint; None for others."""
    above = [index for index, exponent in zip(product.indices, product.exponents, strict=True) if exponent > 0.0]
    below = [index for index, exponent in zip(product.indices, product.exponents, strict=True) if exponent < 0.0]
    powers = {abs(exponent) for exponent in product.exponents}
    if len(above) > 1 or len(below) > 1 or len(powers) > 1:
        return None
    log_factor = product.log_bound / powers.pop()
    # θ_above ≤ factor · θ_below, divided by the factor where that is large: it may be too large for a number.
    ours, theirs = (1.0, exp(log_factor)) if log_factor <= 0.0 else (exp(-log_factor), 1.0)
    coefficients = (*(ours for _ in above), *(-theirs for _ in below))
    bound = theirs if not below else (0.0 if above else -ours)
    return LinearConstraint((*above, *below), coefficients, bound, product.statement, confidence=product.confidence)


@dataclass(frozen=True, slots=True)
class RowTie:
    """Data rows with the same, perhaps missing, value of `variables`: by equal values of a column, or by number.

    Where they differ, every two of the rows have different values of each variable.
    """

    variables: tuple[str, ...]
    by: str | None
    rows: tuple[int, ...]
    statement: int
    differ: bool = False


@dataclass(frozen=True, slots=True)
class NoisyFamilyForm:
    """A child whose CPT is not full: independent sets of causes, combined by noisy-or, -and, -max or -min."""

    child: str
    kind: str
    sets: tuple[tuple[str, ...], ...]
    leak: bool
    statement: int


@dataclass(frozen=True, slots=True)
class NetworkProbability:
    """P(events | conditions) of the expanded network: variables, each with the positions of the states that it has."""

    events: tuple[tuple[str, tuple[int, ...]], ...]
    conditions: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @classmethod
    def of(cls, asked: Query, network: Network) -> NetworkProbability:
        """What a question asks for, in a canonical form."""

        def places(given: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, tuple[int, ...]]]:
            for name, states in sorted(given.items()):
                yield name, tuple(sorted(map(network.states(name).index, states)))

        return cls(tuple(places(asked.targets)), tuple(places(asked.evidence)))

    def question(self, network: Network) -> Query:
        """The question that asks for it."""

        def labelled(places: Sequence[tuple[str, tuple[int, ...]]]) -> dict[str, tuple[str, ...]]:
            return {name: tuple(network.states(name)[state] for state in states) for name, states in places}

        return Query(labelled(self.events), labelled(self.conditions))


@dataclass(frozen=True, slots=True)
class NetworkConstraint:
    """Σ coefficient · P(events | conditions) + Σ coefficients · θ[indices] ≤ bound (or = bound).

    Its largest coefficient is one. With a confidence it is soft.
    """

    terms: tuple[tuple[float, NetworkProbability], ...]
    indices: tuple[int, ...]
    coefficients: tuple[float, ...]
    bound: float
    statement: int
    equality: bool = False
    confidence: float | None = None
    scale: float = 1.0  # what the numbers of the statement were divided by


@dataclass(frozen=True, slots=True)
class UnloweredStatement:
    """A statement that constrains no CPT, and why."""

    statement: int
    reason: str


@dataclass(frozen=True, slots=True)
class InfluenceOrder:
    """That a parent raises (sign 1) or lowers (-1) its child, whatever the other parents are."""

    statement: int
    parent: str
    child: str
    sign: int
    alone: bool  # whether its statement says nothing else, such as a margin or a synergy


@dataclass(frozen=True, slots=True)
class Constraints:
    """All constraints that the knowledge states, each with the number of its statement."""

    layout: Layout
    linear: LinearConstraints = NO_CONSTRAINTS
    products: tuple[ProductConstraint, ...] = ()
    ties: tuple[RowTie, ...] = ()
    forms: tuple[NoisyFamilyForm, ...] = ()
    unlowered: tuple[UnloweredStatement, ...] = ()
    always_true: Mapping[int, int] = field(
        default_factory=dict
    )  # statement → how many of its constraints hold for all parameters
    expansion: Expansion | None = None  # of the network's noisy families, whose effects have the CPTs
    network_constraints: tuple[NetworkConstraint, ...] = ()  # about probabilities that depend on several CPTs
    influences: tuple[InfluenceOrder, ...] = ()  # that must hold,
    orders: Mapping[str, Indices] = field(default_factory=dict)  # and states from low to high, where listed otherwise
    evidence: tuple[Any, ...] = ()  # records of `constraints/evidence.py`, which weigh like cases

    @property
    def network_statements(self) -> tuple[int, ...]:
        """The statements about probabilities that depend on several CPTs, by number."""
        return tuple(dict.fromkeys(each.statement for each in self.network_constraints))

    @property
    def statements(self) -> frozenset[int]:
        """All statements that limit probabilities, by number."""
        return frozenset(
            (*self.linear.statements.tolist(), *(each.statement for each in self.products), *self.network_statements)
        )

    def without(self, statements: Collection[int]) -> Constraints:
        """The constraints of all other statements."""
        left_out = frozenset(statements)
        return replace(
            self,
            linear=self.linear.take(~np.isin(self.linear.statements, list(left_out))),
            products=tuple(each for each in self.products if each.statement not in left_out),
            network_constraints=tuple(each for each in self.network_constraints if each.statement not in left_out),
            influences=tuple(each for each in self.influences if each.statement not in left_out),
        )


def with_confidence(constraints: Constraints, statements: Indices) -> Constraints:
    """The constraints with a confidence of a half for these statements, so that nothing takes them for what must hold.

    Those that leave no room, as P(…) ≤ 0, become equalities, which may be missed by a little.
    """
    if not len(statements):
        return constraints
    linear = constraints.linear
    doubted = np.isin(linear.statements, statements)
    softened = replace(
        linear,
        confidences=np.where(doubted & linear.hard, 0.5, linear.confidences),
        equality=linear.equality | (doubted & without_room(linear, constraints.layout)),
    )
    numbers = set(statements.tolist())
    network_constraints = tuple(
        replace(
            each,
            confidence=0.5 if each.confidence is None else each.confidence,
            equality=each.equality or network_constraint_without_room(each),
        )
        if each.statement in numbers
        else each
        for each in constraints.network_constraints
    )
    return replace(constraints, linear=softened, network_constraints=network_constraints)


# CPTs that are not learned --------------------------------------------------------------------------------------------

HOLDS_WITHIN = 1e-9


def with_fixed(constraints: Constraints, cpts: Mapping[str, Numbers]) -> Constraints:
    """The constraints with these CPTs substituted: Σ over free entries ≤ bound − Σ over fixed ones.

    A hard constraint without free parameters that does not hold is an error: the CPT and the statement contradict
    each other, and neither may change.
    """
    if not cpts:
        return constraints
    known = constraints.layout.pack(cpts, missing=np.nan)
    linear = _substitute_linear(constraints.linear, known)
    products, single = [], []
    for product in constraints.products:
        rest = _substitute_product(product, known)
        alone = None if rest is None or rest is product else as_linear(rest)
        if alone is not None:
            single.append(alone)
        elif rest is not None:
            products.append(rest)
    if single:
        linear = joined((linear, LinearConstraints.of(single).scaled()))
    return replace(constraints, linear=linear, products=tuple(products))


def _substitute_linear(linear: LinearConstraints, known: Numbers) -> LinearConstraints:
    values = known[linear.indices]
    # What is left of a constraint is scaled again. A coefficient too small to matter would only magnify rounding.
    negligible = np.isnan(values) & (np.abs(linear.coefficients) <= HOLDS_WITHIN)
    negligible &= np.bincount(linear.entry_constraints, ~np.isnan(values), len(linear))[linear.entry_constraints] > 0
    values = np.where(negligible, 0.0, values)
    fixed = ~np.isnan(values)
    moved = np.zeros(len(linear))
    np.add.at(moved, linear.entry_constraints[fixed], (linear.coefficients * values)[fixed])
    lengths = np.bincount(linear.entry_constraints[~fixed], minlength=len(linear))
    left = LinearConstraints(
        np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        linear.indices[~fixed],
        linear.coefficients[~fixed],
        linear.bounds - moved,
        linear.statements,
        linear.equality,
        linear.confidences,
        linear.scales,
    )
    emptied = (lengths == 0) & (linear.lengths > 0)
    excess = np.where(left.equality, np.abs(left.bounds), -left.bounds)
    violated: Indices = np.flatnonzero(emptied & left.hard & (excess > HOLDS_WITHIN))
    if violated.size:
        raise _contradiction(int(left.statements[violated[0]]))
    return left.take(~emptied).scaled()


def _substitute_product(product: ProductConstraint, known: Numbers) -> ProductConstraint | None:
    values = known[list(product.indices)]
    free = np.flatnonzero(np.isnan(values))
    if free.size == len(values):
        return product
    gone = np.flatnonzero(~np.isnan(values))
    exponents = np.array(product.exponents)
    if (values[gone][exponents[gone] > 0.0] == 0.0).any():
        return None  # the left side is zero
    with np.errstate(divide="ignore"):
        bound = product.log_bound - float(exponents[gone] @ np.log(values[gone]))
    if free.size == 0:
        if product.confidence is None and bound < -HOLDS_WITHIN:
            raise _contradiction(product.statement)
        return None
    if bound == -np.inf:  # the right side is zero: a factor of the left side is, too
        free = free[exponents[free] > 0.0]
        if not free.size:
            if product.confidence is None:
                raise _contradiction(product.statement)
            return None
    indices = tuple(product.indices[i] for i in free)
    return replace(product, indices=indices, exponents=tuple(exponents[free].tolist()), log_bound=bound)


def _contradiction(statement: int) -> OptionError:
    return OptionError(
        f"Statement {statement + 1} cannot hold: it is about fixed CPTs only, and they contradict it. "
        "Leave the statement out, or let one of the CPTs be learned."
    )
