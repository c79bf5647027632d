"""Changes that were drawn or clicked, made to the text; see `credo.knowledge.editing`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import Any

from credo.errors import OptionError
from credo.interview import number_statement
from credo.knowledge import editing
from credo.knowledge.names import name_text
from credo.knowledge.parse import parse
from credo.knowledge.state_order import Order, natural_order
from credo.knowledge.statement_base import FamilyStatement
from credo.knowledge.statements import to_text
from credo.knowledge.structure import structure_of
from credo.model.network import Network

MOST_PASTED = 1_000  # variables
GATES, NOISY, MEANS = (
    ("or", "and", "max", "min"),
    ("noisy-or", "noisy-and", "noisy-max", "noisy-min"),
    ("mean", "max", "min"),
)


def edited(
    text: str,
    network: Network | None,
    given: Network | None,
    request: Mapping[str, Any],
    columns: Collection[str] = (),
) -> str:
    """A text with one change that was drawn; `columns` are those of the table that is open."""
    op = request.get("op")
    name, parent, child = (str(request.get(key, "")) for key in ("name", "parent", "child"))
    if op == "arc_statement":
        return with_statement(text, editing.statement_text(str(request.get("verb")), parent=parent, child=child))
    if op == "probability_statement":
        if network is None:
            raise OptionError("There are no variables yet.")
        conditions = request.get("given", {})
        if not isinstance(conditions, Mapping):
            raise OptionError("What is given is a mapping from variables to states.")
        return with_statement(
            text,
            editing.probability_text(
                network,
                name,
                str(request.get("state")),
                {str(each): str(state) for each, state in conditions.items()},
                _number(request.get("low", 0.0)),
                _number(request.get("high", 1.0)),
                None if request.get("about") is None else _number(request["about"]),
            ),
        )
    if op == "answer":
        return with_statement(text, _answer(request))
    if op == "cpt_statements":
        if network is None:
            raise OptionError("There are no variables yet.")
        return _with_numbers(text, network, name, request)
    if op == "family":
        if network is None:
            raise OptionError("There are no variables yet.")
        return _with_family(text, network, given, name, request)
    if given is not None:
        raise OptionError("The variables come from a network file: write them into the text first, then change them.")
    states = [str(state) for state in _list(request, "states")]
    if op == "add_variable":
        return editing.add_variable(text, name, states)
    if op == "rename":
        new = str(request.get("new", ""))
        if name in columns and new not in columns:
            raise OptionError(
                f"{name} is a column of the table, and would be without data under another name. For people to read "
                f'another one, write label {name_text(name)}: "{new}".'
            )
        return editing.rename_variable(text, name, new)
    if op == "remove_variable":
        return editing.remove_variable(text, name)
    if op == "remove_variables":
        for each in _list(request, "names"):
            text = editing.remove_variable(text, str(each))
        return text
    if op == "paste":
        return _pasted(text, network, _list(request, "variables"))
    if op == "add_arc":
        return editing.add_arc(text, parent, child)
    if op == "remove_arc":
        return editing.remove_arc(text, parent, child)
    if op == "set_states":
        return _ordered(editing.set_states(text, name, states), name, states)
    if op == "set_cuts":
        points = [_number(point) for point in _list(request, "points")]
        return editing.set_cuts(text, name, points, states)
    raise OptionError("This change is not known.")


def _ordered(text: str, name: str, states: Sequence[str]) -> str:
    """The text with the order of states that were drawn; labels such as no and yes have one of their own."""
    if natural_order(tuple(states)) in (None, tuple(states)):
        return text
    return with_statement(text, to_text(Order(name, tuple(states))))


def _pasted(text: str, network: Network | None, copied: Sequence[Any]) -> str:
    """A text with copies of variables, under names that are free.

    Arrows among them are those of the copies; arrows from others come from the same variables, where these exist.
    """
    if len(copied) > MOST_PASTED or not all(isinstance(each, Mapping) for each in copied):
        raise OptionError(f"What is pasted are at most {MOST_PASTED} variables.")
    taken = {*editing.names_in(text), *(() if network is None else network.names)}
    names: dict[str, str] = {}
    for each in copied:
        name, number = str(each.get("name", "")), 2
        names[name] = name
        while names[name] in taken:
            names[name], number = f"{name}_{number}", number + 1
        taken.add(names[name])
    for each in copied:
        name, states = names[str(each.get("name", ""))], [str(state) for state in _list(each, "states")]
        if each.get("cuts"):
            points = [_number(point) for point in _list(each, "cuts")]
            text = editing.set_cuts(editing.add_variable(text, name), name, points, states)
        else:
            text = _ordered(editing.add_variable(text, name, states), name, states)
    for each in copied:
        for parent in map(str, _list(each, "parents")):
            if (own := names.get(parent, parent)) in taken:
                text = editing.add_arc(text, own, names[str(each.get("name", ""))])
    return text


def _with_family(text: str, network: Network, given: Network | None, child: str, request: Mapping[str, Any]) -> str:
    """A text that says how a variable follows from its parents, in place of what it said before.

    `learned` says nothing: every combination of the parents has numbers of its own.

    Weights, the spread and whether there is a leak belong to the forms that have them.
    """
    how, parents = str(request.get("how")), network.parents[network.variable(child).name]
    names = [name_text(parent) for parent in parents]
    weights = request.get("weights", {})
    if not isinstance(weights, Mapping):
        raise OptionError("Weights are a mapping from parents to numbers.")
    weighted = [
        f"{name} ({_number(weights[parent]):g})" if parent in weights else name
        for name, parent in zip(names, parents, strict=True)
    ]
    spread = "" if request.get("spread") is None else f" with spread {_number(request['spread']):g}"
    leak = " with leak" if request.get("leak") is True else ""
    described = {
        "learned": "",
        "at least": f"is {int(_number(request.get('least', 1)))} of {', '.join(names)}",
        **{gate: f"is {gate} of {', '.join(names)}" for gate in GATES},
        **{noisy: f"is {noisy} of {', '.join(f'{{{name}}}' for name in names)}{leak}" for noisy in NOISY},
        **{f"weighted {mean}": f"is a weighted {mean} of {', '.join(weighted)}{spread}" for mean in MEANS},
    }
    if how not in described or not parents:
        raise OptionError("That is no way to follow from parents, or there are none.")
    lines = text.split("\n")
    own = [each for each in parse(text).statements if isinstance(each, FamilyStatement) and str(each.child) == child]
    places = {each.span.line for each in own if each.span is not None}
    left = "\n".join(line for number, line in enumerate(lines, 1) if number not in places)
    if not described[how]:
        parsed = parse(left)
        named = structure_of(parsed.declarations, parsed.statements)[0].parents.get(child, ())
        for parent in parents if given is None else ():  # the line may have been the only one to name them
            left = left if parent in named else editing.add_arc(left, parent, child)
        return left
    statement = f"{name_text(child)} {described[how]}"
    if parse(statement).mistakes:
        raise OptionError(str(parse(statement).mistakes[0].message))
    return with_statement(left, statement)


def _answer(request: Mapping[str, Any]) -> str:
    """The statement that answers a question: given as such, or a number in words."""
    statement: str | None = str(request.get("statement", ""))
    if "words" in request:
        statement = number_statement(str(request.get("about")), " ".join(str(request["words"]).split()).casefold())
    if not statement or "\n" in statement or parse(statement).mistakes or not parse(statement).statements:
        raise OptionError("That cannot be read as an answer. Write a number of cases (12) or a range (5 to 20).")
    return statement


def _with_numbers(text: str, network: Network, name: str, request: Mapping[str, Any]) -> str:
    """A text with statements about numbers of a CPT; those that it has about the same numbers give way to them."""
    how = request.get("how", "about")
    cases = _number(request.get("cases", 0)) if how == "worth" else None
    if cases is not None and cases <= 0:
        raise OptionError("How many cases the numbers are worth is a number above 0.")
    for row in _list(request, "rows"):
        if not isinstance(row, Mapping) or not all(
            isinstance(row.get(key, {}), Mapping) for key in ("given", "numbers")
        ):
            raise OptionError("A row of a CPT has conditions and numbers.")
        conditions = {str(parent): str(state) for parent, state in row.get("given", {}).items()}
        numbers = {str(state): _number(number) for state, number in row.get("numbers", {}).items()}
        if not all(0 <= value <= 1 for value in numbers.values()):
            raise OptionError("A probability is a number from 0% to 100%.")
        events = {state: editing.event_text(network, name, state, conditions) for state in numbers}
        whole = editing.event_text(network, name, None, conditions)
        if cases is None:
            verb = "=" if how == "exactly" else "is about"
            for state, value in numbers.items():
                text = _stated_anew(
                    text, (events[state], whole), f"{events[state]} {verb} {editing.percent_text(value)}"
                )
        elif numbers:
            # Cases are cases of a distribution: two numbers of it, each with cases of its own, would count them twice.
            if 1 < len(numbers) < len(network.states(name)):
                raise OptionError("Fill in one number of a row, or all of them, to say how many cases they are worth.")
            values = [numbers[state] for state in network.states(name) if state in numbers]
            subject = whole if len(numbers) > 1 else events[next(iter(events))]
            amounts = ", ".join(map(editing.percent_text, values))
            text = _stated_anew(text, (whole, *events.values()), f"{subject} is {amounts}, worth {cases:g} cases")
    return text


def _stated_anew(text: str, probabilities: Sequence[str], statement: str) -> str:
    """A text with a statement about probabilities, in place of what it said about them before."""
    before = tuple(f"{each} {verb} " for each in probabilities for verb in ("is", "="))
    lines = text.split("\n")
    own = [place for place, line in enumerate(lines) if line.strip().startswith(before)]
    if not own:
        return with_statement(text, statement)
    lines[own[0]] = statement
    return "\n".join(line for place, line in enumerate(lines) if place not in own[1:])


def with_statement(text: str, statement: str) -> str:
    """A text with one more statement, on a line of its own at the end; not where it says so already."""
    known = {to_text(each): each for each in parse(text).statements}
    if (found := known.get(statement)) is not None:
        line = "" if found.span is None else f" in line {found.span.line}"
        raise OptionError(f"The text says so already{line}: {statement}.")
    return f"{text.rstrip()}\n{statement}\n" if text.strip() else f"{statement}\n"


def _list(request: Mapping[Any, Any], key: str) -> list[Any]:
    found = request.get(key, [])
    if not isinstance(found, list):
        raise OptionError(f"The {key} are a list.")
    return found


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise OptionError("A number is needed here.")
    return float(value)
