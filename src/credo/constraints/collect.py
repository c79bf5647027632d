"""Rows on their way from statements into columns: collected in pieces, counted before they are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.constraint_set import (
    TRUE_TOLERANCE,
    Constraints,
    FamilyForm,
    LinearConstraints,
    ProductConstraint,
    RowTie,
    SetAside,
)
from credo.errors import TooLargeError, readable_bytes
from credo.model.layout import Layout

ROW_LIMIT = 5_000_000
_BYTES_A_ROW, _BYTES_AN_ENTRY = 40, 16


@dataclass(slots=True)
class Collector:
    """The one thing that is written to while statements are lowered; `collected` turns it into Constraints."""

    layout: Layout
    row_limit: int = ROW_LIMIT
    rows: int = 0
    indices: list[Indices] = field(default_factory=list)
    coefficients: list[Numbers] = field(default_factory=list)
    shapes: list[tuple[int, int]] = field(default_factory=list)  # (rows, entries a row) of each piece
    bounds: list[float] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    equality: list[bool] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    products: list[ProductConstraint] = field(default_factory=list)
    ties: list[RowTie] = field(default_factory=list)
    forms: list[FamilyForm] = field(default_factory=list)
    unlowered: list[SetAside] = field(default_factory=list)
    always_true: dict[int, int] = field(default_factory=dict)


def reserve(collector: Collector, rows: int, entries: int, text: str) -> None:
    """Refuse, before any memory is taken, what would make more rows than the limit."""
    collector.rows += rows
    if collector.rows > collector.row_limit:
        bytes_needed = rows * (_BYTES_A_ROW + _BYTES_AN_ENTRY * entries)
        raise TooLargeError(
            f"{text}: this alone means {rows:,} rows, one for each configuration of the parents that it leaves out "
            f"(about {readable_bytes(bytes_needed)}); the limit for all statements is {collector.row_limit:,}. "
            "Name more of the parents, or declare the family noisy-or.",
            bytes_needed,
        )


def add_piece(
    collector: Collector,
    indices: Indices,
    coefficients: Numbers,
    bound: float,
    statement: int,
    *,
    equality: bool = False,
    confidence: float | None = None,
) -> None:
    """Rows Σ coefficients · θ[indices] ≤ bound with one set of coefficients; `indices` is (rows, entries)."""
    if not indices.size:
        add_constant(collector, bound, statement, rows=indices.shape[0], equality=equality, confidence=confidence)
        return
    collector.indices.append(indices.ravel())
    collector.coefficients.append(coefficients if len(indices) == 1 else np.tile(coefficients, len(indices)))
    collector.shapes.append(indices.shape)
    collector.bounds.append(bound)
    collector.statements.append(statement)
    collector.equality.append(equality)
    collector.confidences.append(nan if confidence is None else confidence)


def add_constant(
    collector: Collector,
    bound: float,
    statement: int,
    *,
    rows: int = 1,
    equality: bool = False,
    confidence: float | None = None,
) -> None:
    """0 ≤ bound (or 0 = bound): left out and remembered where it is true, a row without entries where it is false."""
    if bound >= -TRUE_TOLERANCE and (not equality or bound <= TRUE_TOLERANCE):
        collector.always_true[statement] = collector.always_true.get(statement, 0) + rows
        return
    collector.indices.append(np.empty(0, dtype=np.int64))
    collector.coefficients.append(np.empty(0))
    collector.shapes.append((1, 0))
    collector.bounds.append(bound)
    collector.statements.append(statement)
    collector.equality.append(equality)
    collector.confidences.append(nan if confidence is None else confidence)


def collected(collector: Collector) -> Constraints:
    """Everything that was collected, in columns."""
    shapes = np.array(collector.shapes, dtype=np.int64).reshape(-1, 2)
    rows, entries = shapes[:, 0], shapes[:, 1]
    linear = LinearConstraints(
        np.concatenate(([0], np.cumsum(np.repeat(entries, rows)))).astype(np.int64),
        np.concatenate(collector.indices) if collector.indices else np.empty(0, dtype=np.int64),
        np.concatenate(collector.coefficients) if collector.coefficients else np.empty(0),
        np.repeat(np.array(collector.bounds, dtype=np.float64), rows),
        np.repeat(np.array(collector.statements, dtype=np.int64), rows),
        np.repeat(np.array(collector.equality, dtype=np.bool_), rows),
        np.repeat(np.array(collector.confidences, dtype=np.float64), rows),
    )
    return Constraints(
        collector.layout,
        linear,
        tuple(collector.products),
        tuple(collector.ties),
        tuple(collector.forms),
        tuple(collector.unlowered),
        dict(collector.always_true),
    )
