"""What statements become: rows over parameters, ties between data rows, forms of families; each knows its statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.arrays import Flags, Indices, Numbers
from credo.model.expansion import Expansion
from credo.model.layout import Layout

if TYPE_CHECKING:
    from scipy.sparse import csr_array


TRUE_TOLERANCE = 1e-12  # what rounding of decimals such as 0.1 + 0.2 may leave in a bound or a coefficient


@dataclass(frozen=True, slots=True)
class LinearConstraint:
    """Σ coefficients · θ[indices] ≤ bound (or = bound). A row with a confidence is soft."""

    indices: tuple[int, ...]
    coefficients: tuple[float, ...]
    bound: float
    statement: int  # which statement of the knowledge, from 0
    equality: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LinearConstraints(Sequence[LinearConstraint]):
    """Many linear rows in columns: row r holds entries starts[r] to starts[r + 1] of `indices` and `coefficients`.

    A left-out parent can make a hundred thousand rows of one statement; columns hold them in little space, and
    every later stage computes with them as they are. As a sequence it gives `LinearConstraint` objects.
    """

    starts: Indices  # (rows + 1,)
    indices: Indices  # (entries,)
    coefficients: Numbers  # (entries,)
    bounds: Numbers  # (rows,)
    statements: Indices  # (rows,)
    equality: Flags  # (rows,)
    confidences: Numbers  # (rows,), NaN where the row is hard

    @classmethod
    def of(cls, rows: Iterable[LinearConstraint]) -> LinearConstraints:
        """The columns of rows that are at hand one by one."""
        rows = tuple(rows)
        return cls(
            np.cumsum([0, *(len(row.indices) for row in rows)], dtype=np.int64),
            np.array([index for row in rows for index in row.indices], dtype=np.int64),
            np.array([value for row in rows for value in row.coefficients], dtype=np.float64),
            np.array([row.bound for row in rows], dtype=np.float64),
            np.array([row.statement for row in rows], dtype=np.int64),
            np.array([row.equality for row in rows], dtype=np.bool_),
            np.array([nan if row.confidence is None else row.confidence for row in rows], dtype=np.float64),
        )

    @property
    def hard(self) -> Flags:
        """Which rows carry no confidence."""
        return np.isnan(self.confidences)

    @property
    def lengths(self) -> Indices:
        """How many entries each row has."""
        return np.diff(self.starts)

    @property
    def entry_constraints(self) -> Indices:
        """The row that each entry belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Indices | Flags) -> LinearConstraints:
        """Some of the rows, in the order given."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        lengths = self.starts[rows + 1] - self.starts[rows]  # of these alone: blocks take a few of many
        starts = np.concatenate(([0], np.cumsum(lengths)))
        entries = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return LinearConstraints(
            starts,
            self.indices[entries],
            self.coefficients[entries],
            self.bounds[rows],
            self.statements[rows],
            self.equality[rows],
            self.confidences[rows],
        )

    def matrix(self, columns: int) -> csr_array:
        """The coefficients as a sparse matrix (rows, columns)."""
        from scipy.sparse import csr_array

        return csr_array((self.coefficients, self.indices, self.starts), shape=(len(self), columns))

    def values(self, theta: Numbers) -> Numbers:
        """Σ coefficients · θ[indices] of every row; `theta` has the parameters on its last axis."""
        if theta.ndim == 1:
            sums = np.bincount(self.entry_constraints, self.coefficients * theta[self.indices], len(self))
            return np.asarray(sums, dtype=np.float64)  # of no rows: bincount counts then
        return np.asarray((self.matrix(theta.shape[-1]) @ theta.T).T, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.bounds)

    def __iter__(self) -> Iterator[LinearConstraint]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return tuple(self[each] for each in range(*row.indices(len(self))))
        row = range(len(self))[row]
        entries = slice(self.starts[row], self.starts[row + 1])
        confidence = float(self.confidences[row])
        return LinearConstraint(
            tuple(self.indices[entries].tolist()),
            tuple(self.coefficients[entries].tolist()),
            float(self.bounds[row]),
            int(self.statements[row]),
            bool(self.equality[row]),
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
    """Data rows that hold the same, perhaps hidden, value of `variables`: by equal values of a column, or by number.

    Where they differ, every two of the rows hold different values of each variable.
    """

    variables: tuple[str, ...]
    by: str | None
    rows: tuple[int, ...]
    statement: int
    differ: bool = False


@dataclass(frozen=True, slots=True)
class FamilyForm:
    """A family that is no full table: independent sets of causes, combined."""

    child: str
    kind: str
    sets: tuple[tuple[str, ...], ...]
    leak: bool
    statement: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """A statement that has no rows over tables, and why."""

    statement: int
    reason: str


@dataclass(frozen=True, slots=True)
class Constraints:
    """All rows of a knowledge, each with the number of its statement."""

    layout: Layout
    linear: LinearConstraints = NO_CONSTRAINTS
    products: tuple[ProductConstraint, ...] = ()
    ties: tuple[RowTie, ...] = ()
    forms: tuple[FamilyForm, ...] = ()
    unlowered: tuple[SetAside, ...] = ()
    always_true: Mapping[int, int] = field(default_factory=dict)  # statement → rows that hold whatever the numbers are
    expansion: Expansion | None = None  # of the network's noisy families, whose effects have the CPTs
