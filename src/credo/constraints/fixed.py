"""Numbers that are not to be learned are put into the rows: what is left speaks of free numbers only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from credo.arrays import Indices, Numbers
from credo.constraints.constraint_set import Constraints, LinearConstraints, ProductConstraint
from credo.errors import OptionError

HOLDS_WITHIN = 1e-9


def with_fixed(constraints: Constraints, tables: Mapping[str, Numbers]) -> Constraints:
    """The constraints with the numbers of these tables put in; Σ over free entries ≤ bound − Σ over fixed ones.

    A hard row that has no free number left and does not hold is an error: the table and the statement contradict
    each other, and neither may be changed.
    """
    if not tables:
        return constraints
    known = constraints.layout.pack(tables, missing=np.nan)
    linear = _linear_with(constraints.linear, known)
    products = tuple(row for each in constraints.products if (row := _product_with(each, known)) is not None)
    return replace(constraints, linear=linear, products=products)


def _linear_with(linear: LinearConstraints, known: Numbers) -> LinearConstraints:
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
    broken: Indices = np.flatnonzero(emptied & left.hard & (excess > HOLDS_WITHIN))
    if broken.size:
        raise _contradiction(int(left.statements[broken[0]]))
    return left.take(~emptied)


def _product_with(row: ProductConstraint, known: Numbers) -> ProductConstraint | None:
    values = known[list(row.indices)]
    free = np.flatnonzero(np.isnan(values))
    if free.size == len(values):
        return row
    gone = np.flatnonzero(~np.isnan(values))
    exponents = np.array(row.exponents)
    with np.errstate(divide="ignore"):
        bound = row.log_bound - float(exponents[gone] @ np.log(values[gone]))
    if free.size == 0:
        if row.confidence is None and bound < -HOLDS_WITHIN:
            raise _contradiction(row.statement)
        return None
    indices = tuple(row.indices[i] for i in free)
    return replace(row, indices=indices, exponents=tuple(exponents[free].tolist()), log_bound=bound)


def _contradiction(statement: int) -> OptionError:
    return OptionError(
        f"Statement {statement + 1} cannot hold: all its numbers stand in tables that are to stay as they are."
    )
