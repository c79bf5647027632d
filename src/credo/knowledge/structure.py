"""What declarations say together: variables, states, parents and cut points; and whether a network agrees with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any

from credo.errors import listing
from credo.knowledge.decisions import (
    CostDeclaration,
    DecisionDeclaration,
    UtilityDeclaration,
    decision_mistakes,
    unknown_in_decisions,
)
from credo.knowledge.declarations import (
    CutDeclaration,
    Declaration,
    DependenceDeclaration,
    MissingValuesDeclaration,
    VariableDeclaration,
)
from credo.knowledge.labels import LabelDeclaration, label_mistakes, unknown_labelled_states
from credo.knowledge.names import mistake_at, name_text
from credo.knowledge.network_names import NetworkNames, unknown_variable
from credo.knowledge.site import site_mistakes
from credo.knowledge.state_order import natural_order
from credo.knowledge.statement_base import FamilyStatement, Reported, line_text
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable

MAX_STEPS = 5  # of a cycle that a message names

StatesDeclaration = VariableDeclaration | DecisionDeclaration  # what names the states of a variable


@dataclass(frozen=True, slots=True)
class Structure:
    """What declarations say together, in the order in which they name the variables.

    `mentions` has each variable with the declarations that name it, and the name there, which has its columns. A
    decision on which nothing depends, and which depends on nothing, is no variable, and not among them.
    """

    mentions: Mapping[str, Sequence[tuple[Any, str]]] = field(default_factory=dict)
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of those whose states are declared
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of those that depend on others
    cuts: Mapping[str, CutDeclaration] = field(default_factory=dict)
    decisions: tuple[DecisionDeclaration, ...] = ()

    def place(self, name: str, kind: type) -> tuple[Any, str]:
        """The first declaration of this kind that names the variable, and the name there."""
        return next(each for each in self.mentions[name] if isinstance(each[0], kind))


def structure_of(
    declarations: Iterable[Declaration], statements: Iterable[object] = ()
) -> tuple[Structure, list[Reported]]:
    """What declarations say together, and where they contradict each other.

    Noisy families and gates among the statements name the parents of their child, as if a declaration had said so.
    """
    mentions: dict[str, list[tuple[Any, str]]] = {}
    states: dict[str, tuple[StatesDeclaration, tuple[str, ...]]] = {}
    parents: dict[str, dict[str, Any]] = {}  # child → parent → where that was declared
    cuts: dict[str, CutDeclaration] = {}
    wrong: list[Reported] = []
    everything = [*declarations, *(statement for statement in statements if isinstance(statement, FamilyStatement))]
    for declaration in everything:
        for name in _names_in(declaration):
            mentions.setdefault(str(name), []).append((declaration, name))
        if isinstance(declaration, VariableDeclaration | DecisionDeclaration) and declaration.states:
            wrong.extend(_add_states(states, declaration))
        elif isinstance(declaration, CutDeclaration):
            before = cuts.setdefault(declaration.variable, declaration)
            if before != declaration:
                facts = {"name": name_text(declaration.variable), "before": str(before), "place": line_text(before)}
                wrong.append((declaration, mistake_at(declaration.variable, "cut-otherwise", **facts)))
        elif isinstance(declaration, DependenceDeclaration | FamilyStatement):
            _add_parents(parents, declaration)
    wrong.extend(_cycle(parents, everything))
    wrong.extend(label_mistakes(everything))
    wrong.extend(decision_mistakes(everything))
    wrong.extend(site_mistakes(everything, mentions))
    named = {name: found for name, (_, found) in states.items()}
    for name, cut in cuts.items():
        wrong.extend(_cut_states(cut, states.get(name)))
        if cut.states and name not in named:
            named[name] = tuple(map(str, cut.states))
    decisions = tuple(each for each in everything if isinstance(each, DecisionDeclaration))
    linked = {*parents, *(parent for found in parents.values() for parent in found)}
    for name in {str(each.variable) for each in decisions} - linked:
        mentions.pop(name)
    families = {child: tuple(found) for child, found in parents.items()}
    return Structure(mentions, named, families, cuts, decisions), wrong


def _names_in(declaration: Any) -> Iterator[str]:
    if isinstance(declaration, CutDeclaration | LabelDeclaration):
        yield declaration.variable
    elif isinstance(declaration, MissingValuesDeclaration):
        return
    elif isinstance(declaration, DependenceDeclaration):
        yield from (*declaration.children, *declaration.parents)
    elif isinstance(declaration, FamilyStatement):
        yield from (declaration.child, *declaration.parents)
    else:
        yield from declaration.variables


def _add_states(
    states: dict[str, tuple[StatesDeclaration, tuple[str, ...]]], declaration: StatesDeclaration
) -> Iterator[Reported]:
    for name in declaration.variables:
        found = tuple(map(str, declaration.states))
        before, earlier = states.setdefault(str(name), (declaration, found))
        if earlier != found:
            facts = {"name": name_text(name), "before": listing(earlier), "place": line_text(before)}
            yield declaration, mistake_at(name, "states-otherwise", **facts)


def _cut_states(cut: CutDeclaration, declared: tuple[StatesDeclaration, tuple[str, ...]] | None) -> Iterator[Reported]:
    """States that are declared for a variable that is cut: as many as there are parts, and the same names."""
    if declared is None:
        return
    declaration, states = declared
    name = next(name for name in declaration.variables if name == cut.variable)
    needed = cut.parts if cut.rule else len(cut.points) + 1
    if cut.states and tuple(cut.states) != states:
        differ = {"name": name_text(name), "before": listing(cut.states), "place": line_text(cut)}
        yield declaration, mistake_at(name, "states-otherwise", **differ)
    elif needed != len(states):
        facts: dict[str, object] = {"name": name_text(name), "count": len(states), "needed": needed}
        yield declaration, mistake_at(name, "cut-states-count", **facts)


def _add_parents(parents: dict[str, dict[str, Any]], declaration: Any) -> None:
    """Note the parents that one declaration names, each with the declaration that named it first."""
    children = declaration.children if isinstance(declaration, DependenceDeclaration) else (declaration.child,)
    for child in children:
        for parent in declaration.parents:
            if parent != child:  # else it is a mistake of its line
                parents.setdefault(str(child), {}).setdefault(str(parent), declaration)


def _cycle(parents: Mapping[str, Mapping[str, Any]], order: Sequence[Any]) -> Iterator[Reported]:
    """A cycle of arcs, if there is one, at the arc that was declared last."""
    try:
        TopologicalSorter(parents).prepare()
        return
    except CycleError as error:
        cycle: list[str] = error.args[1]  # each is a parent of the next
    place = {id(declaration): number for number, declaration in enumerate(order)}
    arcs = [(child, parent) for parent, child in pairwise(cycle)]
    child, parent = max(arcs, key=lambda arc: place[id(parents[arc[0]][arc[1]])])
    upwards, path = dict(arcs), [parent]
    while path[-1] != child:
        path.append(upwards[path[-1]])
    steps = [
        f"{name_text(one)} depends on {name_text(other)}{line_text(parents[one][other])}"
        for one, other in pairwise(path)
    ]
    more = f", and {len(steps) - MAX_STEPS} more" if len(steps) > MAX_STEPS else ""
    declaration = parents[child][parent]
    at = next(name for name in _names_in(declaration) if name == parent)
    yield declaration, mistake_at(at, "cycle", path=", ".join(steps[:MAX_STEPS]) + more)


def with_cuts(network: Network, structure: Structure) -> Network:
    """The network with declared cut points for variables that have none; it is as it was where there are no such."""
    added = {
        name: CutPoints(cut.points)
        for name, cut in structure.cuts.items()
        if cut.rule is None and network.variable(name).cuts is None
    }
    if not added:
        return network
    variables = [replace(each, cuts=added.get(each.name, each.cuts)) for each in network.variables]
    return Network(variables, network.parents, network.cpts, network.name, network.forms)


_VALUES = (UtilityDeclaration, CostDeclaration)  # unknown names there may be meant as decisions


# A network that is given too ------------------------------------------------------------------------------------------


def disagreements(
    structure: Structure, network: Network, mentioned: Iterable[str], declarations: Sequence[Declaration]
) -> Iterator[Reported]:
    """Where a network and the declarations disagree. `mentioned` are all variables that the knowledge names.

    States have the same names; in the same order, unless their labels have an order of their own. If anything is
    declared to depend on something, all variables that the knowledge names have the parents that it declares.
    """
    names = NetworkNames(network)
    for name, places in structure.mentions.items():
        if name not in network:
            about = ((declaration, at) for declaration, at in places if not isinstance(declaration, _VALUES))
            yield from ((declaration, unknown_variable(at, names)) for declaration, at in about)
            continue
        yield from _state_disagreements(structure, network.variable(name))
        yield from unknown_labelled_states((declaration for declaration, _ in places), names)
    yield from unknown_in_decisions(declarations, names)
    yield from _decision_disagreements(structure, network)
    everywhere = (each for places in structure.mentions.values() for each in places)
    first = next((each for each in everywhere if isinstance(each[0], DependenceDeclaration)), None)
    for name in mentioned if first is not None else ():
        if name in network and first is not None:
            yield from _parent_disagreements(structure, network, name, first)


def _decision_disagreements(structure: Structure, network: Network) -> Iterator[Reported]:
    """Decisions that are variables of the network, which has other states for them."""
    for each in structure.decisions:
        if each.variable in network and set(map(str, each.states)) != set(network.states(each.variable)):
            facts = {"name": name_text(each.variable), "states": listing(network.states(each.variable)), "cuts": ""}
            yield each, mistake_at(each.variable, "states-differ", **facts)


def _state_disagreements(structure: Structure, variable: Variable) -> Iterator[Reported]:
    name, states, cut = variable.name, structure.states.get(variable.name), structure.cuts.get(variable.name)
    facts = {"name": name_text(name), "states": listing(variable.states), "cuts": str(variable.cuts)}
    if cut is not None and cut.rule is None:
        at = structure.place(name, CutDeclaration)
        if variable.cuts is not None and variable.cuts.points != cut.points:
            yield at[0], mistake_at(at[1], "cuts-differ", **facts)
            return
        if len(cut.points) + 1 != len(variable.states):
            yield at[0], mistake_at(at[1], "states-differ", **facts)
            return
    if states is not None and states != variable.states:
        has_order = natural_order(variable.states) is not None and cut is None
        if set(states) != set(variable.states) or not has_order:
            places = [each for each in structure.mentions[name] if isinstance(each[0], StatesDeclaration)]
            at = next((each for each in places if each[0].states), None) or structure.place(name, CutDeclaration)
            if isinstance(at[0], DecisionDeclaration):
                return
            yield at[0], mistake_at(at[1], "states-differ", **facts)


def _parent_disagreements(
    structure: Structure, network: Network, name: str, first: tuple[Any, str]
) -> Iterator[Reported]:
    declared, given = structure.parents.get(name, ()), network.parents[name]
    if set(declared) != set(given):
        own = (each for each in structure.mentions.get(name, ()) if isinstance(each[0], DependenceDeclaration))
        statement, at = next(own, first)
        facts = {
            "name": name_text(name),
            "given": listing(given) or "nothing",
            "declared": listing(declared) or "nothing",
        }
        yield statement, mistake_at(at, "parents-differ", **facts)
