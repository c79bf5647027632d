"""Noisy families: sets of causes act independently, and the strongest effect determines the child.

A noisy family has a small CPT P(effect | set) for each set of parents, with the states of the child as effects, and
perhaps one more effect without parents, the leak. The child is the highest of all effects (noisy-or, noisy-max) or the
lowest (noisy-and, noisy-min), in the order of its states:

    P(child ≤ k | parents) = Π_i P(effect_i ≤ k | set_i)        for the highest [yang, eq. 8]

The paper's inhibition q_i is part of the small CPT: only the product q_i·P_i can be seen in the child.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from credo.errors import NetworkError, counted, first_duplicate
from credo.tolerances import SUM_TOLERANCE
from credo.types import Numbers

# Published networks carry rounded decimals: the worst distribution of the bnlearn repository is off by 3e-7.
FULL_CELLS = 2**16  # a full CPT up to this size is computed
EQUAL_WITHIN = 1e-9  # small CPTs that differ by no more are equal
HIGHEST, LOWEST = ("noisy-or", "noisy-max"), ("noisy-and", "noisy-min")


@dataclass(frozen=True, slots=True, eq=False)
class NoisyForm:
    """How the child of a noisy family depends on its parents.

    Two forms are equal if their numbers are, within 1e-9. `same` also accepts forms that give the child the same
    distribution in different scales (see `canonical`); networks are compared that way.

    Parameters
    ----------
    kind : {"noisy-or", "noisy-max", "noisy-and", "noisy-min"}
        Whether the highest effect wins (or, max) or the lowest (and, min).
    sets : sequence of sequence of str
        The sets of causes; each parent of the child is in exactly one.
    order : sequence of str
        The states of the child, from low to high.
    leak : bool, default False
        Whether there is an effect without causes.
    cpts : sequence of array_like, optional
        A small CPT for each set, and for the leak last, with axes (parents of the set…, child). The states of the
        child are in the order of the network, not in `order`.

    Raises
    ------
    NetworkError
        If a parent is in two sets, a set is empty, or a distribution does not sum to one.

    Examples
    --------
    >>> form = NoisyForm("noisy-or", (("flu",), ("cold",)), ("no", "yes"), leak=True)
    >>> form.causes
    (('flu',), ('cold',), ())
    """

    kind: str
    sets: tuple[tuple[str, ...], ...]
    order: tuple[str, ...]
    leak: bool = False
    cpts: tuple[Numbers, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in (*HIGHEST, *LOWEST):
            raise NetworkError(f"A noisy family is noisy-or, noisy-and, noisy-max or noisy-min, not {self.kind!r}.")
        object.__setattr__(self, "sets", tuple(tuple(causes) for causes in self.sets))
        object.__setattr__(self, "order", tuple(self.order))
        if not self.sets or not all(self.sets):
            raise NetworkError("A noisy family needs at least one set of causes, and no set is empty.")
        if (duplicate := first_duplicate(parent for causes in self.sets for parent in causes)) is not None:
            raise NetworkError(f"The parent {duplicate} of a noisy family is in two sets.")
        if self.kind in ("noisy-or", "noisy-and") and len(self.order) != 2:
            raise NetworkError(f"{self.kind} needs a child of two states; this one has {len(self.order)}.")
        object.__setattr__(self, "cpts", tuple(_checked_cpt(cpt) for cpt in self.cpts))
        if self.cpts and len(self.cpts) != len(self.causes):
            causes, cpts = counted(len(self.causes), "cause"), counted(len(self.cpts), "small CPT")
            raise NetworkError(f"The noisy family has {causes}, but {cpts}.")

    @property
    def takes_highest(self) -> bool:
        """Whether the highest effect wins."""
        return self.kind in HIGHEST

    @property
    def causes(self) -> tuple[tuple[str, ...], ...]:
        """The sets of parents, and an empty one for the leak."""
        return (*self.sets, ()) if self.leak else self.sets

    @property
    def has_numbers(self) -> bool:
        """Whether its small CPTs are given."""
        return self.cpts != ()

    def wins(self, states: Sequence[str]) -> Numbers:
        """P(winner | one effect, another): 1 where the winner is the stronger of the two.

        Parameters
        ----------
        states : sequence of str
            The states of the child as the network lists them.

        Returns
        -------
        ndarray
            The CPT with axes (one effect, another effect, winner).
        """
        rank = np.array([self.order.index(state) for state in states])
        sign = 1 if self.takes_highest else -1
        cpt = np.zeros((len(states),) * 3)
        for a in range(len(states)):
            for b in range(len(states)):
                cpt[a, b, a if sign * rank[a] >= sign * rank[b] else b] = 1.0
        return cpt

    def without_cpts(self) -> NoisyForm:
        """The form without numbers.

        Returns
        -------
        NoisyForm
            The same causes, and no CPTs.
        """
        return replace(self, cpts=())

    def with_cpts(self, cpts: Sequence[Numbers]) -> NoisyForm:
        """The form with these small CPTs.

        Parameters
        ----------
        cpts : sequence of ndarray
            One for each of `causes`.

        Returns
        -------
        NoisyForm
            The same causes, with these CPTs.
        """
        return replace(self, cpts=tuple(cpts))

    def canonical(self, states: Sequence[str]) -> NoisyForm:
        """The same family in the scale that credo keeps.

        A factor can be moved from the losing state of one cause to that of another without changing the child. In the
        canonical scale the weakest configuration of each set has no effect, and the leak contains what happens without
        any cause; without a leak all sets share that equally. A child of more than two states is left as it is: there
        the scaled numbers need not be distributions.

        Parameters
        ----------
        states : sequence of str
            The states of the child as the network lists them.

        Returns
        -------
        NoisyForm
            A form that gives the child the same distribution.
        """
        if len(self.order) != 2 or not self.cpts:
            return self
        loser = states.index(self.order[0] if self.takes_highest else self.order[1])
        losing = [cpt[..., loser] for cpt in self.cpts]
        largest = [float(probabilities.max()) for probabilities in losing]
        if min(largest) <= 0:
            return self
        total = prod(largest)
        shares = [1.0] * len(self.sets) + [total] if self.leak else [total ** (1 / len(largest))] * len(largest)
        scaled = []
        for probabilities, maximum, share in zip(losing, largest, shares, strict=True):
            cpt = np.empty((*probabilities.shape, 2))
            cpt[..., loser] = np.minimum(probabilities / maximum * share, 1.0)
            cpt[..., 1 - loser] = 1 - cpt[..., loser]
            scaled.append(cpt)
        return self.with_cpts(scaled)

    def same(self, other: object, states: Sequence[str]) -> bool:
        """Whether two forms give the child the same distribution, in whatever scale.

        Parameters
        ----------
        other : object
            Another form.
        states : sequence of str
            The states of the child as the network lists them.

        Returns
        -------
        bool
            True if the canonical forms are equal.
        """
        return isinstance(other, NoisyForm) and self.canonical(states) == other.canonical(states)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NoisyForm) or self._key() != other._key() or len(self.cpts) != len(other.cpts):
            return False
        pairs = zip(self.cpts, other.cpts, strict=True)
        return all(one.shape == two.shape and np.allclose(one, two, rtol=0, atol=EQUAL_WITHIN) for one, two in pairs)

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return self.kind, self.sets, self.order, self.leak


def full_cpt(
    form: NoisyForm,
    parents: Sequence[str],
    states: Sequence[str],
    effects: Sequence[tuple[Sequence[str], Numbers]] | None = None,
) -> Numbers:
    """The full CPT P(child | all parents) of a noisy family, axes (parents…, child).

    Distributions are cumulated from the losing end, multiplied, and differenced again. `effects` are the causes and
    the small CPT of each effect, where they are not those of the form because the states of some causes are known.
    """
    if effects is None:
        effects = list(zip(form.causes, form.cpts, strict=True))
    places = [states.index(state) for state in (form.order if form.takes_highest else reversed(form.order))]
    product: Numbers = np.ones(())
    for causes, cpt in effects:
        cumulative = np.cumsum(cpt[..., places], axis=-1)
        cumulative[..., -1] = 1.0
        axes = [parents.index(parent) for parent in causes]
        moved = cumulative.transpose([*np.argsort(axes), len(axes)])
        shape = [1] * len(parents)
        for axis, size in zip(sorted(axes), moved.shape, strict=False):
            shape[axis] = size
        product = product * moved.reshape([*shape, len(states)])
    ordered = np.diff(product, axis=-1, prepend=0.0)
    full = np.empty_like(ordered)
    full[..., places] = np.maximum(ordered, 0.0)
    return full


def _checked_cpt(values: ArrayLike) -> Numbers:
    cpt = np.array(values, dtype=np.float64)
    if not np.isfinite(cpt).all() or (cpt < 0).any() or (np.abs(cpt.sum(axis=-1) - 1) > SUM_TOLERANCE).any():
        raise NetworkError("The distributions of a small CPT are probabilities that sum to one.")
    cpt.setflags(write=False)
    return cpt
