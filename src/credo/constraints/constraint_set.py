"""What statements become: constraints on parameters, ties between data rows, and forms of noisy families."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import OptionError
from credo.model.expansion import Expansion
from credo.model.layout import Layout
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array


TRUE_TOLERANCE = 1e-12  # what rounding of decimals such as 0.1 + 0.2 may leave in a bound or a coefficient


@dataclass(frozen=True, slots=True)
class LinearConstraint:
    """Σ coefficients · θ[indices] ≤ bound (or = bound). With a confidence it is soft."""

    indices: tuple[int, ...]
    coefficients: tuple[float, ...]
    bound: float
    statement: int  # number of its statement, from 0
    equality: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LinearConstraints(Sequence[LinearConstraint]):
    """Many linear constraints in columns: constraint r has entries starts[r] to starts[r + 1].

    A parent left out can make a hundred thousand constraints of one statement; columns hold them in little space, and
    every later stage computes with them as they are. As a sequence it gives `LinearConstraint` objects.
    """

    starts: Indices  # (constraints + 1,)
    indices: Indices  # (entries,)
    coefficients: Numbers  # (entries,)
    bounds: Numbers  # (constraints,)
    statements: Indices  # (constraints,)
    equality: Flags  # (constraints,)
    confidences: Numbers  # (constraints,), NaN where the constraint is hard

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
        )

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
        )

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
        )


NO_CONSTRAINTS = LinearConstraints.of(())


@dataclass(frozen=True, slots=True)
class ProductConstraint:
    """Σ exponents · log θ[indices] ≤ log_bound: linear in log θ, not convex in θ [guo, table 1, type 8]."""

    indices: tuple[int, ...]
    exponents: tuple[float, ...]
    log_bound: float
    statement: int
    confidence: float | None = None


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
class UnloweredStatement:
    """A statement that constrains no CPT, and why."""

    statement: int
    reason: str


@dataclass(frozen=True, slots=True)
class Constraints:
    """All constraints of a knowledge, each with the number of its statement."""

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
    products = tuple(
        rest for product in constraints.products if (rest := _substitute_product(product, known)) is not None
    )
    return replace(constraints, linear=linear, products=products)


def _substitute_linear(linear: LinearConstraints, known: Numbers) -> LinearConstraints:
    values = known[linear.indices]
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
    )
    emptied = (lengths == 0) & (linear.lengths > 0)
    excess = np.where(left.equality, np.abs(left.bounds), -left.bounds)
    violated: Indices = np.flatnonzero(emptied & left.hard & (excess > HOLDS_WITHIN))
    if violated.size:
        raise _contradiction(int(left.statements[violated[0]]))
    return left.take(~emptied)


def _substitute_product(product: ProductConstraint, known: Numbers) -> ProductConstraint | None:
    values = known[list(product.indices)]
    free = np.flatnonzero(np.isnan(values))
    if free.size == len(values):
        return product
    gone = np.flatnonzero(~np.isnan(values))
    exponents = np.array(product.exponents)
    with np.errstate(divide="ignore"):
        bound = product.log_bound - float(exponents[gone] @ np.log(values[gone]))
    if free.size == 0:
        if product.confidence is None and bound < -HOLDS_WITHIN:
            raise _contradiction(product.statement)
        return None
    indices = tuple(product.indices[i] for i in free)
    return replace(product, indices=indices, exponents=tuple(exponents[free].tolist()), log_bound=bound)


def _contradiction(statement: int) -> OptionError:
    return OptionError(
        f"Statement {statement + 1} cannot hold: it is about fixed CPTs only, and they contradict it. "
        "Leave the statement out, or let one of the CPTs be learned."
    )
