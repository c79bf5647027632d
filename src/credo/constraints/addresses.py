"""Where the numbers of a term are: the parameters that P(child=state | some parents) means, parent by parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from credo.arrays import Indices
from credo.constraints.constraint_set import TRUE_TOLERANCE
from credo.knowledge.expressions import Probability
from credo.model.layout import Family


def grid(axes: Mapping[str, Indices], family: Family, moving: Iterable[str]) -> Indices:
    """What to add to a base index for each configuration of `axes`, the last axis running fastest.

    `axes` gives the states that each free variable takes, by position; only those in `moving` move this family's
    index, the others repeat it: so one configuration is the same one in every term of a statement.
    """
    total = np.zeros((1,) * len(axes), dtype=np.int64)
    moving = frozenset(moving)
    for axis, (name, places) in enumerate(axes.items()):
        step = family.strides[name] * places if name in moving else np.zeros(len(places), dtype=np.int64)
        total = total + step.reshape([-1 if each == axis else 1 for each in range(len(axes))])
    return total.ravel()


def single_states(terms: Iterable[tuple[float, Probability]]) -> dict[Probability, float]:
    """Σ coefficient · P(…) with one state a term, equal terms added up, and those that cancel left out."""
    total: dict[Probability, float] = {}
    for coefficient, term in terms:
        given = tuple(sorted(term.given)) if len(term.given) > 1 else term.given
        for state in term.states:
            key = Probability(term.variable, (state,), given)
            total[key] = total.get(key, 0.0) + coefficient
    return {term: coefficient for term, coefficient in total.items() if abs(coefficient) > TRUE_TOLERANCE}
