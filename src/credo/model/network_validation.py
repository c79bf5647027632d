"""Validation of what a network is made of: parents, their order, noisy families and CPTs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import ArrayLike

from credo.errors import NetworkError, UnknownVariableError, counted, first_duplicate, listing, suggestion
from credo.model.cut_points import CutPoints
from credo.model.noisy import NoisyForm
from credo.model.state_texts import is_number
from credo.tolerances import SUM_TOLERANCE
from credo.types import Numbers


def is_list(value: object) -> bool:
    """Whether a value is an ordered collection; a text is not meant as one, and a set has no order."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Set | Mapping)


def checked_ordered(names: tuple[str, ...], ordered: Sequence[str]) -> tuple[str, ...]:
    """The variables whose states are listed from low to high; one that is not in the network is an error."""
    if not is_list(ordered):
        raise NetworkError(f"The ordered variables are a list of names, not {ordered!r}.")
    for name in ordered:
        if name not in names:
            raise UnknownVariableError(name, names)
    return tuple(ordered)


def check_cuts(name: str, states: Sequence[str], cuts: CutPoints) -> None:
    """Raise where cut points do not fit the states of a variable."""
    if not isinstance(cuts, CutPoints):
        raise NetworkError(f"The cut points of {name} are a CutPoints, not {cuts!r}.")
    if len(cuts.points) + 1 != len(states):
        count = len(cuts.points)
        raise NetworkError(
            f"Variable {name} has {counted(len(states), 'state')}, but {counted(count, 'cut point')} "
            f"make{'s' if count == 1 else ''} {count + 1}."
        )
    if (number := next((state for state in states if is_number(state)), None)) is not None:
        raise NetworkError(
            f"Variable {name} is cut at {cuts}, so that its state {number} could be meant as a number. Give the state "
            "another name."
        )


def with_edges(
    known: Sequence[str] | None, parents: Mapping[str, Sequence[str]], edges: Iterable[tuple[str, str]]
) -> Mapping[str, Sequence[str]]:
    """The parents with those that arcs (parent, child) add; where both name the parents of a child, they agree.

    `known` are the variables, if that is decided.
    """
    if not is_list(edges):
        raise NetworkError(f"The edges are a list of pairs (parent, child), not {edges!r}.")
    added: dict[str, list[str]] = {}
    for edge in edges:
        if not is_list(edge) or len(tuple(edge)) != 2 or not all(isinstance(end, str) for end in edge):
            raise NetworkError(f"An edge is a pair (parent, child) of names, not {edge!r}.")
        parent, child = edge
        if known is not None and child not in known:
            raise NetworkError(f'The edge {parent} → {child} ends in "{child}", no variable.{suggestion(child, known)}')
        added.setdefault(child, []).append(parent)
    for child, own in added.items():
        if child in parents and is_list(parents[child]) and set(parents[child]) != set(own):
            given = listing(tuple(map(str, parents[child]))) or "none"
            raise NetworkError(f"The parents of {child} are {given}, but its edges come from {listing(own)}.")
    return {**added, **parents} if added else parents


def checked_parents(known: tuple[str, ...], parents: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """The parents of every variable; variables not listed have no parents."""
    names = set(known)
    for name in parents:
        if name not in names:
            raise NetworkError(f'Parents are given for "{name}", which is not a variable.{suggestion(name, known)}')
    checked: dict[str, tuple[str, ...]] = {}
    for name in known:
        given = parents.get(name, ())
        if not is_list(given):
            what = f"the text {given!r}" if isinstance(given, str) else repr(given)
            raise NetworkError(f"The parents of {name} are a list of names, not {what}.")
        for parent in given:
            if not isinstance(parent, str) or parent not in names:
                raise NetworkError(f'The parent "{parent}" of {name} is not a variable.{suggestion(parent, known)}')
        if (duplicate := first_duplicate(given)) is not None:
            raise NetworkError(f"Variable {name} has the parent {duplicate} twice.")
        checked[name] = tuple(given)
    return checked


def topological_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The names, parents before children."""
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " → ".join(error.args[1])
        raise NetworkError(f"The network has a cycle: {cycle}. Parents must come before their children.") from None


def check_form(name: str, states: Sequence[str], parent_sizes: Mapping[str, int], form: NoisyForm) -> None:
    """Raise where a noisy family does not fit the states of its child and the numbers of states of its parents."""
    named = [parent for causes in form.sets for parent in causes]
    for parent in named:
        if parent not in parent_sizes:
            raise NetworkError(f'"{parent}" is not a parent of {name}.{suggestion(parent, tuple(parent_sizes))}')
    if omitted := [parent for parent in parent_sizes if parent not in named]:
        raise NetworkError(f"The parent {omitted[0]} of {name} is in no set of causes.")
    if set(form.order) != set(states):
        raise NetworkError(f"The order {' < '.join(form.order)} does not list exactly the states of {name}.")
    for causes, cpt in zip(form.causes, form.cpts, strict=False):
        shape = (*(parent_sizes[parent] for parent in causes), len(states))
        if cpt.shape != shape:
            raise NetworkError(f"A small CPT of {name} has the shape {cpt.shape}; it needs {shape}.")


def checked_cpt(
    family: tuple[str, ...], shape: tuple[int, ...], values: ArrayLike, describe: Callable[..., str]
) -> Numbers:
    """A CPT with axes (parents…, child) as a read-only array; `describe(configuration, state)` names what is wrong."""
    name = family[-1]
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and _is_sealed(values):
        cpt = values  # from another network: shared, since nobody can change it
    else:
        try:
            cpt = np.array(values, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise NetworkError(f"The CPT of {name} is not an array of numbers: {error}.") from None
    if cpt.shape != shape:
        axes = ", ".join(family)
        raise NetworkError(f"The CPT of {name} has the shape {cpt.shape}; its axes ({axes}) need {shape}.")
    distributions = cpt.reshape(-1, shape[-1])
    if distributions.size and not (distributions.min() >= 0.0 and distributions.max() < np.inf):
        wrong, what = ~np.isfinite(distributions), "is not a finite number"
        if not wrong.any():
            wrong, what = distributions < 0, "is negative"
        place, state = (int(i) for i in np.argwhere(wrong)[0])
        raise NetworkError(f"{describe(place, state)} = {distributions[place, state]} {what}.")
    sums = distributions.sum(axis=1)
    off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
    if off.size:
        more = f", nor do {counted(off.size - 1, 'more distribution')} of this CPT" if off.size > 1 else ""
        raise NetworkError(
            f"{describe(int(off[0]))} sums to {sums[off[0]]:.9g}, not to 1{more}. Divide the numbers by their sum."
        )
    cpt.setflags(write=False)
    return cpt


def _is_sealed(values: Numbers) -> bool:
    return values.flags.owndata and values.flags.c_contiguous and not values.flags.writeable
