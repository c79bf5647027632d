"""Decisions: what somebody chooses, what each outcome is worth, and what a test costs.

Utilities of several lines add up: U(x) = Σ amount of every line whose conditions x meets. A decision on which nothing
depends is no variable of the network; one that is a parent is learned about like every other variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from credo.errors import closest, listing
from credo.knowledge.expressions import condition_state, conditions_text, event_mistakes, label_number
from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    OtherThan,
    Part,
    SeveralStates,
    Threshold,
    checked_name,
    checked_names,
    checked_number,
    joined,
    mistake_at,
    name_text,
    repeated_names,
    state_text,
)
from credo.knowledge.network_names import NetworkNames, check_threshold, states_beyond, unknown_state, unknown_variable
from credo.knowledge.statement_base import Reported, Span, StatementBase, line_text
from credo.model.network import Network, Variable

MAX_OPTIONS = 1000  # that all decisions together may have


@dataclass(frozen=True, slots=True)
class DecisionDeclaration(StatementBase):
    """`decision treat: no, yes`: something that somebody sets.

    Attributes
    ----------
    variable
        What is decided.
    states
        The options.
    span
        Where it is written; None for one that was made in Python.
    """

    variable: str
    states: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The one variable, as other declarations list theirs."""
        return (self.variable,)

    def __str__(self) -> str:
        return f"decision {name_text(self.variable)}: {', '.join(map(state_text, self.states))}"


@dataclass(frozen=True, slots=True)
class UtilityDeclaration(StatementBase):
    """`utility of disease=yes, treat=no is -100`: what counts where all of the conditions hold.

    Attributes
    ----------
    given
        The conditions: pairs of a variable and a state, or several states.
    amount
        What they are worth, in any unit that all lines share.
    span
        Where it is written; None for one that was made in Python.
    """

    given: tuple[tuple[str, str], ...]
    amount: float
    span: Span | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of its conditions."""
        return tuple(name for name, _ in self.given)

    def __str__(self) -> str:
        return f"utility of {conditions_text(self.given)} is {label_number(self.amount)}"


@dataclass(frozen=True, slots=True)
class CostDeclaration(StatementBase):
    """`cost of ecg is 2`: what it costs to observe a variable, in the unit of the utilities.

    Attributes
    ----------
    variable
        What would be observed.
    amount
        The cost, zero or more.
    span
        Where it is written; None for one that was made in Python.
    """

    variable: str
    amount: float
    span: Span | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[str, ...]:
        """The one variable, as other declarations list theirs."""
        return (self.variable,)

    def __str__(self) -> str:
        return f"cost of {name_text(self.variable)} is {label_number(self.amount)}"


# The Python form ------------------------------------------------------------------------------------------------------


def decision(name: str, options: Iterable[str]) -> DecisionDeclaration:
    """Declare a decision: `decision treat: no, yes`.

    Parameters
    ----------
    name : str
        What is decided.
    options : iterable of str
        The options, two or more.

    Returns
    -------
    DecisionDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or there are fewer than two options.

    Examples
    --------
    >>> import credo
    >>> print(credo.decision("treat", ["no", "yes"]))
    decision treat: no, yes
    """
    states = checked_names(options)
    if len(states) < 2:
        raise python_error("decision-options", str([*states]), name=checked_name(name))
    return DecisionDeclaration(checked_name(name), states)


def utility(given: Mapping[str, str | Sequence[str]], amount: float) -> UtilityDeclaration:
    """Say what something is worth: `utility of disease=yes, treat=no is -100`.

    Parameters
    ----------
    given : mapping from str to str or sequence of str
        The states that count together; several states of a variable as a list.
    amount : float
        What they are worth; the amounts of several utilities add up.

    Returns
    -------
    UtilityDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If a name is not a text, nothing is given, or the amount is not a number.

    Examples
    --------
    >>> import credo
    >>> print(credo.utility({"disease": "yes", "treat": "no"}, -100))
    utility of disease=yes, treat=no is -100
    """
    if not isinstance(given, Mapping) or not given:
        raise python_error("not-a-list", repr(given))
    found = tuple((checked_name(name), _state_given(states)) for name, states in given.items())
    return UtilityDeclaration(found, checked_number(amount))


def _state_given(states: Any) -> str:
    if isinstance(states, str):
        return checked_name(states)
    several = checked_names(states)
    if not several:
        raise python_error("not-a-list", repr(states))
    return several[0] if len(several) == 1 else SeveralStates.of(several)


def cost(name: str, amount: float) -> CostDeclaration:
    """Say what it costs to observe a variable: `cost of ecg is 2`.

    Parameters
    ----------
    name : str
        What would be observed.
    amount : float
        The cost, zero or more, in the unit of the utilities.

    Returns
    -------
    CostDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If the name is not a text, or the amount is not a number or below zero.

    Examples
    --------
    >>> import credo
    >>> print(credo.cost("ecg", 2))
    cost of ecg is 2
    """
    number = checked_number(amount)
    if number < 0:
        raise python_error("cost-negative", label_number(number))
    return CostDeclaration(checked_name(name), number)


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_decision(children: list[Any]) -> Part:
    """`DECISION name COLON label (SEPARATOR label)*`."""
    name, *labels = (child for child in children if isinstance(child, Part))
    states = tuple(part.value for part in labels)
    mistakes = repeated_names(states, "declared-state-twice")
    mistakes += tuple(mistake_at(each, "empty-name") for each in (name.value, *states) if not each)
    if len(set(states)) < 2 and not mistakes:
        mistakes = (mistake_at(states[0], "decision-options", name=name_text(name.value)),)
    return joined(DecisionDeclaration(name.value, states), [name, *labels], mistakes)


def parse_utility(children: list[Any]) -> Part:
    """`UTILITY conditions worth`."""
    _, conditions, amount = children
    named = [part for part in conditions.value if part.value[1] is not None]
    each = [part for part in conditions.value if part.value[1] is None]
    mistakes = event_mistakes((), named) + tuple(LineMistake("utility-each", p.column, p.end) for p in each)
    mistakes += repeated_names([part.value[0] for part in named], "condition-twice")
    given = tuple((part.value[0], condition_state(part)) for part in named if part.value[1])
    parts = [conditions._replace(mistakes=()), amount]
    return joined(UtilityDeclaration(given, amount.value), parts, mistakes)


def parse_worth(children: list[Any]) -> Part:
    """`IS_EXACTLY literal`, or `IS_MINUS literal`: the number, at its own columns."""
    word: Any = children[0]
    amount: Part = children[1]
    sign = -1.0 if str(word)[-1] in "-−" else 1.0
    return amount._replace(value=sign * amount.value.constant, column=amount.column - (sign < 0))


def parse_cost(children: list[Any]) -> Part:
    """`COST name worth`."""
    _, name, amount = children
    mistakes: tuple[LineMistake, ...] = ()
    if amount.value < 0:
        mistakes = (LineMistake("cost-negative", amount.column, amount.end),)
    return joined(CostDeclaration(name.value, amount.value), [name, amount], mistakes)


# What they say together -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Utility:
    """One line of utility: the amount that counts where every variable is in one of these states."""

    given: Mapping[str, tuple[str, ...]]
    amount: float
    declaration: UtilityDeclaration


@dataclass(frozen=True, slots=True)
class DecisionProblem:
    """The decisions of a text with their options, what is worth what, and what tests cost."""

    options: Mapping[str, tuple[str, ...]]  # of each decision
    utilities: tuple[Utility, ...]
    costs: Mapping[str, float]


def decision_problem(declarations: Iterable[object], network: Network) -> DecisionProblem:
    """What the declarations, which were checked against the network, say about decisions."""
    declared = list(declarations)
    decisions = decided_variables(declared)
    utilities = []
    for each in declared:
        if isinstance(each, UtilityDeclaration):
            given = {str(name): state for name, state in each.given}
            meant = {name: _states_meant(given[name], _variable(name, decisions, network)) for name in given}
            utilities.append(Utility(meant, each.amount, each))
    costs = {str(each.variable): each.amount for each in declared if isinstance(each, CostDeclaration)}
    return DecisionProblem({name: variable.states for name, variable in decisions.items()}, tuple(utilities), costs)


def decided_variables(declarations: Iterable[object]) -> dict[str, Variable]:
    """The decisions as variables; those with mistakes as far as they can be read."""
    found: dict[str, Variable] = {}
    for each in declarations:
        if isinstance(each, DecisionDeclaration):
            states = tuple(dict.fromkeys(filter(None, map(str, each.states))))
            if each.variable and states:
                found[str(each.variable)] = Variable(str(each.variable), states)
    return found


def _variable(name: str, decisions: Mapping[str, Variable], network: Network) -> Variable:
    return network.variable(name) if name in network else decisions[name]


def _states_meant(state: str, variable: Variable) -> tuple[str, ...]:
    """The states that a condition allows."""
    if isinstance(state, Threshold):
        return states_beyond(state, variable)
    if isinstance(state, OtherThan):
        return tuple(each for each in variable.states if each != state)
    return tuple(map(str, state.states)) if isinstance(state, SeveralStates) else (str(state),)


def decision_mistakes(declarations: Sequence[object]) -> Iterator[Reported]:
    """Two costs of one thing, the cost of a decision, utilities without a decision, and too many options."""
    decisions = decided_variables(declarations)
    costs: dict[str, CostDeclaration] = {}
    for each in declarations:
        if isinstance(each, CostDeclaration):
            before = costs.setdefault(str(each.variable), each)
            if before != each:
                facts = {"name": name_text(each.variable), "amount": label_number(before.amount)}
                yield each, mistake_at(each.variable, "cost-otherwise", place=line_text(before), **facts)
            elif each.variable in decisions:
                yield each, mistake_at(each.variable, "cost-of-decision", name=name_text(each.variable))
    first = next((each for each in declarations if isinstance(each, UtilityDeclaration) and each.given), None)
    if first is not None and not decisions:
        yield first, mistake_at(first.given[0][0], "utility-without-decision")
    last = next((each for each in reversed(declarations) if isinstance(each, DecisionDeclaration)), None)
    if last is not None and prod(len(variable.states) for variable in decisions.values()) > MAX_OPTIONS:
        yield last, mistake_at(last.variable, "too-many-options", most=MAX_OPTIONS)


def unknown_in_decisions(declarations: Iterable[object], names: NetworkNames) -> Iterator[Reported]:
    """Variables and states of utilities and costs that neither the network nor a decision has."""
    declared = list(declarations)
    decisions = decided_variables(declared)
    for each in declared:
        if isinstance(each, CostDeclaration) and each.variable not in names.network:
            yield each, _unknown(each.variable, decisions, names)
        for name, state in each.given if isinstance(each, UtilityDeclaration) else ():
            if name not in names.network and name not in decisions:
                yield each, _unknown(name, decisions, names)
                continue
            variable = _variable(str(name), decisions, names.network)
            if isinstance(state, Threshold):
                yield from ((each, mistake) for mistake in check_threshold(state, variable))
                continue
            for label in state.states if isinstance(state, SeveralStates) else (state,):
                if label not in variable.states:
                    known = names if name in names.network else NetworkNames(Network([variable]))
                    yield each, unknown_state(name, label, known)


def _unknown(name: str, decisions: Mapping[str, Variable], names: NetworkNames) -> LineMistake:
    """A name that is neither a variable nor a decision."""
    near = closest(name, [*decisions])
    if near is None:
        return unknown_variable(name, names)
    known = listing([*decisions, *names.network.names])
    return mistake_at(name, "unknown-variable", name=name, known=known, hint=f'Did you mean "{near}"?')
