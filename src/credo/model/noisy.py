"""Layout that are no full table: sets of causes that act on their own, and the strongest effect wins.

A noisy family gives each set of parents a small table P(effect | set), with the states of the child as effects, and
perhaps one more effect without parents, the leak. The child is the highest of all effects (noisy-or, noisy-max) or the
lowest (noisy-and, noisy-min), in the order of its states:

    P(child ≤ k | parents) = Π_i P(effect_i ≤ k | set_i)        for the highest [yang, eq. 8]

The paper's inhibition q_i is part of the small table: only the product q_i·P_i shows in the child.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import NetworkError
from credo.model.names import first_duplicate

Table = NDArray[np.float64]

FULL_CELLS = 2**16  # of a full table that is written out
SAME = 1e-9  # within which small tables are equal
HIGHEST, LOWEST = ("noisy-or", "noisy-max"), ("noisy-and", "noisy-min")


@dataclass(frozen=True, slots=True, eq=False)
class NoisyForm:
    """How the child of a noisy family comes from its causes.

    Two forms are equal where their numbers are, within 1e-9. `same` also takes those for equal that differ only in how
    much each set takes upon itself of what happens anyway (see `canonical`); so do networks, which know the states.
    """

    kind: str
    sets: tuple[tuple[str, ...], ...]
    order: tuple[str, ...]  # the states of the child, from low to high
    leak: bool = False
    cpts: tuple[Table, ...] = ()  # one a cause, axes (set…, child's states as the network lists them); or none yet

    def __post_init__(self) -> None:
        if self.kind not in (*HIGHEST, *LOWEST):
            raise NetworkError(f"A noisy family is noisy-or, noisy-and, noisy-max or noisy-min, not {self.kind!r}.")
        object.__setattr__(self, "sets", tuple(tuple(each) for each in self.sets))
        object.__setattr__(self, "order", tuple(self.order))
        if not self.sets or not all(self.sets):
            raise NetworkError("A noisy family needs at least one set of causes, and no set is empty.")
        if (twice := first_duplicate([parent for each in self.sets for parent in each])) is not None:
            raise NetworkError(f"The parent {twice} of a noisy family is in two sets.")
        if self.kind in ("noisy-or", "noisy-and") and len(self.order) != 2:
            raise NetworkError(f"{self.kind} needs a child of two states; this one has {len(self.order)}.")
        object.__setattr__(self, "cpts", tuple(_checked(table) for table in self.cpts))
        if self.cpts and len(self.cpts) != len(self.causes):
            raise NetworkError(f"There are {len(self.causes)} causes but {len(self.cpts)} small tables.")

    @property
    def takes_highest(self) -> bool:
        """Whether the strongest effect is the highest one."""
        return self.kind in HIGHEST

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of parents, and one without parents for the leak."""
        return (*self.sets, ()) if self.leak else self.sets

    def wins(self, states: Sequence[str]) -> Table:
        """P(winner | one effect, another): one where the winner is the stronger of the two, axes in file order."""
        rank = np.array([self.order.index(state) for state in states])
        sign = 1 if self.takes_highest else -1
        table = np.zeros((len(states),) * 3)
        for a in range(len(states)):
            for b in range(len(states)):
                table[a, b, a if sign * rank[a] >= sign * rank[b] else b] = 1.0
        return table

    def without_cpts(self) -> NoisyForm:
        """The form alone."""
        return replace(self, cpts=())

    def with_cpts(self, tables: Sequence[Table]) -> NoisyForm:
        """The form with these small tables."""
        return replace(self, cpts=tuple(tables))

    def canonical(self, states: Sequence[str]) -> NoisyForm:
        """The same family in the scale that credo keeps.

        A factor can be moved from the losing state of one cause to that of another, and nothing shows. So the
        configuration of each set that does least does nothing, and the leak does what happens anyway; without a leak
        all sets share that evenly. A child of more than two states is left as it is: there the scaled numbers need not
        be distributions.
        """
        if len(self.order) != 2 or not self.cpts:
            return self
        loser = states.index(self.order[0] if self.takes_highest else self.order[1])
        chances = [table[..., loser] for table in self.cpts]
        tops = [float(chance.max()) for chance in chances]
        if min(tops) <= 0:
            return self
        everywhere = prod(tops)
        shares = [1.0] * len(self.sets) + [everywhere] if self.leak else [everywhere ** (1 / len(tops))] * len(tops)
        tables = []
        for chance, top, share in zip(chances, tops, shares, strict=True):
            table = np.empty((*chance.shape, 2))
            table[..., loser] = np.minimum(chance / top * share, 1.0)
            table[..., 1 - loser] = 1 - table[..., loser]
            tables.append(table)
        return self.with_cpts(tables)

    def same(self, other: NoisyForm, states: Sequence[str]) -> bool:
        """Whether all that shows of two forms is equal, whatever scale their tables are in."""
        return self.canonical(states) == other.canonical(states)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoisyForm) or self._key() != other._key() or len(self.cpts) != len(other.cpts):
            return False
        pairs = zip(self.cpts, other.cpts, strict=True)
        return all(one.shape == two.shape and np.allclose(one, two, rtol=0, atol=SAME) for one, two in pairs)

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.kind, self.sets, self.order, self.leak


def full_cpt(form: NoisyForm, parents: Sequence[str], states: Sequence[str]) -> Table:
    """The table P(child | all parents) of a noisy family, axes (parents…, child).

    Distributions are cumulated from the losing end, multiplied, and taken apart again.
    """
    places = [states.index(state) for state in (form.order if form.takes_highest else reversed(form.order))]
    product: Table = np.ones(())
    for own, table in zip(form.causes, form.cpts, strict=True):
        cumulative = np.cumsum(table[..., places], axis=-1)
        cumulative[..., -1] = 1.0
        axes = [parents.index(parent) for parent in own]
        moved = cumulative.transpose([*np.argsort(axes), len(axes)])
        shape = [1] * len(parents)
        for axis, size in zip(sorted(axes), moved.shape, strict=False):
            shape[axis] = size
        product = product * moved.reshape([*shape, len(states)])
    ordered = np.diff(product, axis=-1, prepend=0.0)
    table = np.empty_like(ordered)
    table[..., places] = np.maximum(ordered, 0.0)
    return table


def _checked(values: Any) -> Table:
    table = np.array(values, dtype=np.float64)
    if not np.isfinite(table).all() or (table < 0).any() or not np.allclose(table.sum(axis=-1), 1, atol=1e-6):
        raise NetworkError("The rows of a small table are probabilities that sum to one.")
    table.setflags(write=False)
    return table
