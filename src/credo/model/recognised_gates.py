"""Gates in CPTs of zeros and ones: deterministic nodes of other programs come back as gates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.model.gates import GateForm, GateInput
from credo.types import Flags, Indices, Numbers

# Pairs of states in which the second is the event, whichever a program lists first.
EVENTS = (("no", "yes"), ("false", "true"), ("absent", "present"), ("ok", "failed"), ("off", "on"), ("0", "1"))


def recognised_gate(
    cpt: Numbers, parents: Sequence[str], states: Sequence[str], states_of: Sequence[Sequence[str]]
) -> GateForm | None:
    """The gate of a CPT, axes (parents…, child), all of whose numbers are 0 or 1; None where it is none.

    `states` are those of the child, `states_of` has those of each parent. A parent with several states has to be an
    event, one of its states against all others; for `max` and `min` all variables have equally many states.
    """
    if not parents or not np.isin(cpt, (0.0, 1.0)).all():
        return None
    result = cpt.argmax(axis=-1)
    if len(states) == 2:
        return _of_events(result, parents, states, states_of)
    return _of_ranks(result, parents, states, states_of)


def _of_events(
    result: Indices, parents: Sequence[str], states: Sequence[str], states_of: Sequence[Sequence[str]]
) -> GateForm | None:
    order = _ordered(states)
    happens: Flags = np.asarray(result == list(states).index(order[-1]))
    inputs = []
    for axis, name in enumerate(parents):
        own = _event(happens, axis, states_of[axis])
        if own is None:
            return None
        inputs.append(GateInput(name, own))
        happens = np.stack([happens.take(list(states_of[axis]).index(own[k]), axis) for k in (0, -1)], axis)
    rises = [_rises(happens, axis) for axis in range(len(parents))]
    if any(each is None for each in rises):
        return _parity(happens, inputs, order)
    for axis, rise in enumerate(rises):
        happens = happens if rise else np.flip(happens, axis)
    signed = tuple(GateInput(each.name, each.order, not rise) for each, rise in zip(inputs, rises, strict=True))
    counts = np.indices(happens.shape).sum(axis=0)
    least = int(counts[happens].min())
    if not (happens == (counts >= least)).all():
        return None
    if least == 1:
        if len(signed) == 1 and signed[0].is_negated:
            return GateForm("or", tuple(inputs), order, is_negated=True)
        return GateForm("or", signed, order)
    return GateForm("and", signed, order) if least == len(signed) else GateForm("atleast", signed, order, least)


def _parity(happens: Flags, inputs: Sequence[GateInput], order: tuple[str, ...]) -> GateForm | None:
    odd = np.indices(happens.shape).sum(axis=0) % 2 == 1
    if (happens == odd).all():
        return GateForm("xor", tuple(inputs), order)
    return GateForm("xor", tuple(inputs), order, is_negated=True) if (happens != odd).all() else None


def _event(happens: Flags, axis: int, states: Sequence[str]) -> tuple[str, ...] | None:
    """The states of an input with the event last; None where the others differ from each other."""
    if len(states) == 2:
        return _ordered(states)
    for place, state in enumerate(states):
        others = np.delete(happens, place, axis)
        first = others.take([0], axis)
        if (others == first).all() and (happens.take([place], axis) != first).any():
            return (*(each for each in states if each != state), state)
    return None


def _rises(happens: Flags, axis: int) -> bool | None:
    """Whether the result goes with an input or against it; None for neither, or where it plays no part."""
    without, with_it = happens.take(0, axis), happens.take(1, axis)
    if (without == with_it).all():
        return None
    return True if (without <= with_it).all() else False if (without >= with_it).all() else None


def _of_ranks(
    result: Indices, parents: Sequence[str], states: Sequence[str], states_of: Sequence[Sequence[str]]
) -> GateForm | None:
    if any(len(each) != len(states) for each in states_of):
        return None
    ranks = np.indices(result.shape)
    inputs = tuple(GateInput(name, tuple(own)) for name, own in zip(parents, states_of, strict=True))
    if any(set(own) == set(states) and tuple(own) != tuple(states) for own in states_of):
        return None  # ranks go by names there
    for kind, value in (("max", ranks.max(axis=0)), ("min", ranks.min(axis=0))):
        if (result == value).all():
            return GateForm(kind, inputs, tuple(states))
    return None


def _ordered(states: Sequence[str]) -> tuple[str, ...]:
    """Two states with the event last: as they are listed, but for words whose order is obvious."""
    folded = tuple(state.casefold() for state in states)
    return tuple(states[::-1]) if folded[::-1] in EVENTS else tuple(states)
