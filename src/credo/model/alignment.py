"""The CPT of one network in the order of another: variables, parents and states matched by name."""

from __future__ import annotations

from credo.errors import NetworkError, listing
from credo.model.network import Network
from credo.types import Numbers


def aligned_cpt(network: Network, other: Network, name: str) -> Numbers:
    """The CPT of `other` for a variable, with axes and states in the order of `network`."""
    if name not in other:
        raise NetworkError(f'The other network has no variable "{name}": the two must have the same structure.')
    return aligned(network, other, name, other.cpt_array(name))


def aligned(network: Network, other: Network, name: str, array: Numbers) -> Numbers:
    """An array with the axes of a CPT of `other`, with axes and states in the order of `network`."""
    mine, theirs = network.parents[name], other.parents[name]
    if set(mine) != set(theirs):
        raise NetworkError(
            f"Variable {name} has the parents {listing(mine) or 'none'} here and {listing(theirs) or 'none'} there: "
            "the two networks must have the same structure."
        )
    found = array.transpose([*(theirs.index(parent) for parent in mine), len(mine)])
    for axis, member in enumerate((*mine, name)):
        states, other_states = network.states(member), other.states(member)
        cuts, other_cuts = network.variable(member).cuts, other.variable(member).cuts
        if cuts is not None and other_cuts is not None and cuts != other_cuts:
            raise NetworkError(f"Variable {member} is cut at {cuts} here and at {other_cuts} there.")
        if states == other_states:
            continue
        if set(states) != set(other_states):
            raise NetworkError(
                f"Variable {member} has the states {listing(states)} here and {listing(other_states)} there."
            )
        found = found.take([other_states.index(state) for state in states], axis=axis)
    return found
