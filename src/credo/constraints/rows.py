"""What statements become: rows over parameters, ties between data rows, forms of families; each knows its statement."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType

from credo.network import Network


@dataclass(frozen=True, slots=True)
class Parameters:
    """The address book: every number of every table has one index, in the order of the variables, child fastest."""

    network: Network
    offsets: Mapping[str, int] = field(repr=False)
    size: int
    _starts: tuple[int, ...] = field(repr=False)

    @classmethod
    def of(cls, network: Network) -> Parameters:
        offsets, start = {}, 0
        for name in network.names:
            offsets[name] = start
            start += prod(network.shape(name))
        return cls(network, MappingProxyType(offsets), start, tuple(offsets.values()))

    def index(self, name: str, row: int, state: int) -> int:
        """The index of one number: state `state` of `name` in row `row` of its table."""
        return self.offsets[name] + row * len(self.network.states(name)) + state

    def locate(self, index: int) -> tuple[str, int, int]:
        """The inverse of `index`: name, row and state."""
        name = self.network.names[bisect_right(self._starts, index) - 1]
        row, state = divmod(index - self.offsets[name], len(self.network.states(name)))
        return name, row, state

    def describe(self, index: int) -> str:
        """`P(lung=yes | smoke=no)`."""
        return self.network.describe(*self.locate(index))


@dataclass(frozen=True, slots=True)
class LinearRow:
    """Σ coefficients · θ[indices] ≤ bound (or = bound). A row with a confidence is soft."""

    indices: tuple[int, ...]
    coefficients: tuple[float, ...]
    bound: float
    statement: int  # which statement of the knowledge, from 0
    equality: bool = False
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ProductRow:
    """Σ exponents · log θ[indices] ≤ log_bound: linear in log θ, not convex in θ [guo, table 1, type 8]."""

    indices: tuple[int, ...]
    exponents: tuple[float, ...]
    log_bound: float
    statement: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class RowTie:
    """Data rows that hold the same, perhaps hidden, value of `variables`: by equal values of a column, or by number."""

    variables: tuple[str, ...]
    by: str | None
    rows: tuple[int, ...]
    statement: int


@dataclass(frozen=True, slots=True)
class FamilyForm:
    """A family that is no full table: independent sets of causes, combined."""

    child: str
    kind: str
    sets: tuple[tuple[str, ...], ...]
    leak: bool
    statement: int


@dataclass(frozen=True, slots=True)
class Constraints:
    """All rows of a knowledge, each with the number of its statement."""

    parameters: Parameters
    linear: tuple[LinearRow, ...] = ()
    products: tuple[ProductRow, ...] = ()
    ties: tuple[RowTie, ...] = ()
    forms: tuple[FamilyForm, ...] = ()
