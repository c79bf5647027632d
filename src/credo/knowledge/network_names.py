"""Names compared with a network: which variables, states and parents exist, and which one was probably meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from credo.errors import closest, listing
from credo.knowledge.expressions import Probability, label_number
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import SeveralStates, Threshold, mistake_at, mistake_between, name_text
from credo.model.network import Network, Variable
from credo.model.state_texts import is_number

MAX_SEARCHES = 50  # close names are searched this often at most: it is slow among a thousand variables


class NetworkNames:
    """The names of a network as sets, so that ten thousand statements are looked up quickly.

    Not frozen, because it counts its searches: after `MAX_SEARCHES` names nothing is suggested any more.
    """

    def __init__(self, network: Network, is_declared: bool = False) -> None:
        self.network = network
        self.is_declared = is_declared  # by lines of the knowledge itself
        self.states = {variable.name: frozenset(variable.states) for variable in network.variables}
        self.parents = {name: frozenset(parents) for name, parents in network.parents.items()}
        self._searched: dict[tuple[str, tuple[str, ...]], str | None] = {}

    def closest(self, name: str, known: tuple[str, ...]) -> str | None:
        """The known name that was most likely meant, if one is close."""
        key = (str(name), known)
        if key not in self._searched and len(self._searched) < MAX_SEARCHES:
            self._searched[key] = closest(name, known)
        return self._searched.get(key)


def check_probability(probability: Probability, names: NetworkNames) -> Iterator[LineMistake]:
    """Mistakes in one P(…)."""
    seen: set[str] = set()
    for variable, states in probability.events:
        known = names.states.get(variable)
        if known is None:
            yield unknown_variable(variable, names)
        elif variable in seen:
            yield mistake_at(variable, "event-twice", name=variable)
        else:
            for state in states:
                if isinstance(state, Threshold):
                    yield from check_threshold(state, names.network.variable(variable))
                elif state not in known:
                    yield unknown_state(variable, state, names)
            if len(states) > 1:
                yield from _check_state_set(variable, states, known)
        seen.add(variable)
    events = frozenset(seen)
    conditions: list[tuple[str, str | None]] = [*probability.given, *((name, None) for name in probability.each)]
    for name, given_state in conditions:
        if name in events:
            yield mistake_at(name, "condition-on-itself", name=name)
        elif name in seen:
            yield mistake_at(name, "condition-twice", name=name)
        elif name not in names.states:
            yield unknown_variable(name, names)
        elif isinstance(given_state, Threshold):
            yield from check_threshold(given_state, names.network.variable(name))
        elif isinstance(given_state, SeveralStates):
            unknown = [state for state in given_state.states if state not in names.states[name]]
            yield from (unknown_state(name, state, names) for state in unknown)
            yield from () if unknown else _check_state_set(name, given_state.states, names.states[name])
        elif given_state is not None and given_state not in names.states[name]:
            yield unknown_state(name, given_state, names)
        seen.add(name)


def states_beyond(threshold: Threshold, variable: Variable) -> tuple[str, ...]:
    """The states of a variable with cut points that `>= 60` or `< 60` stands for."""
    assert variable.cuts is not None
    place = variable.cuts.points.index(threshold.number) + 1
    return variable.states[place:] if threshold.relation == ">=" else variable.states[:place]


def check_threshold(threshold: Threshold, variable: Variable) -> Iterator[LineMistake]:
    """A threshold has to be a cut point of its variable, which belongs to the state above it."""
    number = label_number(threshold.number)
    if variable.cuts is None:
        yield mistake_at(threshold, "threshold-without-cuts", name=variable.name, states=listing(variable.states))
    elif threshold.number not in variable.cuts.points:
        points = ", ".join(label_number(each) for each in sorted([*variable.cuts.points, threshold.number]))
        write = f"{name_text(variable.name)} is cut at {points}"
        facts = {"name": name_text(variable.name), "cuts": str(variable.cuts), "number": number, "write": write}
        yield mistake_at(threshold, "threshold-not-cut", **facts)
    elif threshold.relation in (">", "<="):
        write = f"{name_text(variable.name)} {'>=' if threshold.relation == '>' else '<'} {number}"
        yield mistake_at(threshold, "threshold-side", number=number, write=write)


def is_cpt_entry(probability: Probability, network: Network) -> bool:
    """Whether P(…) is a number of a CPT, or one for each state of some parents: every parent is given, nothing else."""
    if probability.further or probability.alone:
        return False
    if any(isinstance(state, SeveralStates) for _, state in probability.given):
        return False
    mentioned = {str(name) for name, _ in probability.given} | {str(name) for name in probability.each}
    parents = set(network.parents[probability.variable])
    return mentioned <= parents if probability.each_other else mentioned == parents


def each_of(probability: Probability, network: Network) -> tuple[str, ...]:
    """The variables that stand for every one of their states."""
    if not probability.each_other:
        return tuple(map(str, probability.each))
    given = {str(name) for name, _ in probability.given}
    others = (name for name in network.parents[probability.variable] if name not in given)
    return tuple(dict.fromkeys((*map(str, probability.each), *others)))


def _check_state_set(variable: str, states: Sequence[str], known: frozenset[str]) -> Iterator[LineMistake]:
    for position, state in enumerate(states):
        if state in states[:position]:
            yield mistake_at(state, "state-twice", name=variable, state=state)
    if known <= set(states):
        yield mistake_between(states[0], states[-1], "all-states", name=variable)


def check_parents(
    child: str, parents: Sequence[str], names: NetworkNames, direction: str = "", is_denied: bool = False
) -> Iterator[LineMistake]:
    """Names that are not parents of the child; with a `direction`, the reverse influence is suggested.

    `is_denied` says that the statement denies their effect, which a network without an arrow does already.
    """
    known = child in names.states
    for parent in parents:
        if parent not in names.states:
            yield unknown_variable(parent, names)
        elif known and parent not in names.parents[child]:
            facts = _parent_facts(parent, child, names)
            if is_denied and child not in names.parents[parent]:
                facts["hint"] = f"Leave it out: without an arrow from {parent}, {child} does not depend on it directly."
            if direction and child in names.parents[parent]:
                yield mistake_at(parent, "influence-reversed", reverse=f"{child} {direction} {parent}", **facts)
            else:
                yield mistake_at(parent, "not-a-parent", **facts)
    if not known:
        yield unknown_variable(child, names)


def _parent_facts(parent: str, child: str, names: NetworkNames) -> dict[str, str]:
    parents = names.network.parents[child]
    near = names.closest(parent, parents)
    line = f"the line {name_text(child)} depends on {name_text(parent)}"
    hint = f"Name a parent of {child}, or add {line if names.is_declared else 'the arc to the network'}."
    if near and not names.is_declared:
        hint = f'Did you mean "{near}"?'
    if child in names.parents[parent]:
        hint = f"The arc goes the other way: {child} is a parent of {parent}."
    choice = (
        f"one of the parents of {child}: {listing(parents)}" if parents else f"no condition: {child} has no parents"
    )
    return {"name": parent, "child": child, "parents": choice, "hint": hint}


def unknown_variable(name: str, names: NetworkNames) -> LineMistake:
    """A name that is not a variable."""
    known = names.network.names
    near = names.closest(name, known)
    hint = f'Did you mean "{near}"?' if near else "Write names as in the network, in quotes where they contain spaces."
    return mistake_at(name, "unknown-variable", name=name, known=listing(known), hint=hint)


def unknown_state(variable: str, state: str, names: NetworkNames) -> LineMistake:
    """A label that is not a state of its variable."""
    known = names.network.states(variable)
    near = names.closest(state, known) or next((label for label in known if _same_number(label, state)), None)
    hint = f'Did you mean "{near}"?' if near else _state_hint(names.network.variable(variable), state, names)
    return mistake_at(state, "unknown-state", name=variable, state=state, known=listing(known), hint=hint)


def _state_hint(variable: Variable, state: str, names: NetworkNames) -> str:
    """What to write instead of a state that is not there, and not close to one that is."""
    if variable.cuts is not None and is_number(state):
        return f'{state} is in the state "{variable.states[variable.cuts.code(float(state))]}".'
    where = "the table, or as they are declared" if names.is_declared else "the network"
    return f"Write states as in {where}, in quotes where needed."


def _same_number(left: str, right: str) -> bool:
    try:
        return float(left) == float(right)
    except ValueError:
        return False
