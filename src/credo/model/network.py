"""The Bayesian network: variables with named states, parents by name, and CPTs with axes (parents…, child)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from credo.errors import NetworkError, TooLargeError, UnknownVariableError, counted, first_duplicate, listing
from credo.model.cut_points import CutPoints
from credo.model.gates import GateForm, check_gate, gate_cpt
from credo.model.network_conveniences import NetworkConveniences
from credo.model.network_validation import (
    check_cuts,
    check_form,
    checked_cpt,
    checked_ordered,
    checked_parents,
    is_list,
    topological_order,
    with_edges,
)
from credo.model.noisy import FULL_CELLS, NoisyForm, full_cpt
from credo.model.state_texts import state_of
from credo.types import Numbers

SHOWN_STATES = 8  # of a variable that is printed
Form = NoisyForm | GateForm  # of a family that has no CPT of its own


@dataclass(frozen=True, slots=True)
class Variable:
    """A discrete variable. One that is measured has cut points, which divide its numbers into states.

    Parameters
    ----------
    name : str
        The name, not empty.
    states : sequence of str
        The states in their order, each once.
    cuts : CutPoints, optional
        Where numbers are cut into these states: one point less than there are states. Tables may then hold numbers in
        this column.
    is_ordered : bool, default False
        Whether the states are listed from low to high. Statements such as `a raises b` then use this order, whatever
        the labels suggest. States with cut points always are.

    Raises
    ------
    NetworkError
        If the name or a state is not a text or is empty, if a state occurs twice, or if there is none; with cut
        points, if their number does not fit, or a state is called a number.

    Examples
    --------
    >>> Variable("smoke", ("no", "yes")).states
    ('no', 'yes')
    >>> age = Variable("age", ("young", "middle", "old"), CutPoints((40, 60)))
    >>> age.states[age.cuts.code(45)]
    'middle'
    """

    name: str
    states: tuple[str, ...]
    cuts: CutPoints | None = None
    is_ordered: bool = field(default=False, compare=False)  # says how to read statements, and nothing about numbers

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise NetworkError(f"A variable needs a name, a text that is not empty; this one has {self.name!r}.")
        if not is_list(self.states):
            raise NetworkError(f"The states of {self.name} are a list of texts, not {self.states!r}.")
        object.__setattr__(self, "states", tuple(self.states))
        if not self.states:
            raise NetworkError(f"Variable {self.name} has no states.")
        for state in self.states:
            if not isinstance(state, str) or not state:
                raise NetworkError(f"Variable {self.name}: a state is a text that is not empty, not {state!r}.")
        if (duplicate := first_duplicate(self.states)) is not None:
            raise NetworkError(f"Variable {self.name} has the state {duplicate} twice.")
        if not isinstance(self.is_ordered, bool):
            raise NetworkError(f"Whether {self.name} is ordered is True or False, not {self.is_ordered!r}.")
        if self.cuts is not None:
            check_cuts(self.name, self.states, self.cuts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(NetworkConveniences):
    """A Bayesian network: a directed acyclic graph of variables, each with its CPT P(variable | parents).

    A network cannot be changed; methods such as `with_cpts` return a new one.

    Parameters
    ----------
    variables : mapping from str to sequence of str, or sequence of Variable
        The variables with their states. In a mapping, states may be numbers and truth values: 0 is called `0`, True
        is called `true`.
    parents : mapping from str to sequence of str, optional
        The parents of each variable, in the order of the axes of its CPT. Variables not listed have no parents.
    cpts : mapping from str to array_like, optional
        CPTs with axes (parents…, child). A variable without a CPT is structure to be learned.
    name : str, default "network"
        The name of the network.
    forms : mapping from str to NoisyForm or GateForm, optional
        The families that are noisy, and the gates. Their full CPTs are computed where they are small enough.
    shared : mapping from str to str, optional
        Variables whose CPT is that of another variable, which has as many parents and states, in the same order.
    edges : sequence of pairs of str, optional
        The arcs, each as (parent, child): another way to give the parents.
    ordered : sequence of str, optional
        The variables whose states are listed from low to high.

    Attributes
    ----------
    variables : tuple of Variable
        The variables in their order.
    parents : mapping from str to tuple of str
        The parents of every variable.
    cpts : mapping from str to ndarray
        The CPTs, read-only, with axes (parents…, child).
    name : str
        The name of the network.
    forms : mapping from str to NoisyForm or GateForm
        The noisy families and the gates.
    shared : mapping from str to str
        The variables whose CPT is that of another one.
    order : tuple of str
        The names, parents before children.

    Raises
    ------
    NetworkError
        If the graph has a cycle, a name is unknown or occurs twice, a CPT has the wrong shape, or a distribution does
        not sum to one.

    Examples
    --------
    >>> network = Network(
    ...     {"smoke": ["no", "yes"], "lung": ["no", "yes"]},
    ...     {"lung": ["smoke"]},
    ...     {"smoke": [0.7, 0.3], "lung": [[0.99, 0.01], [0.9, 0.1]]},
    ... )
    >>> network
    <Network 'network': 2 variables, 1 arc, 2 CPTs>
    >>> print(network)
    Network 'network': 2 variables, 1 arc, 2 CPTs
      smoke: no, yes
      lung: no, yes; parents: smoke
    >>> network.cpts["lung"].shape
    (2, 2)
    """

    variables: tuple[Variable, ...]
    parents: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, Numbers]
    name: str
    forms: Mapping[str, Form]
    shared: Mapping[str, str]
    order: tuple[str, ...]
    _by_name: Mapping[str, Variable]

    def __init__(
        self,
        variables: Sequence[Variable] | Mapping[str, Sequence[str | bool | int | float]],
        parents: Mapping[str, Sequence[str]] | None = None,
        cpts: Mapping[str, ArrayLike] | None = None,
        name: str = "network",
        forms: Mapping[str, Form] | None = None,
        edges: Iterable[tuple[str, str]] | None = None,
        ordered: Sequence[str] = (),
        shared: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(variables, Mapping):
            variables = [Variable(key, cast("tuple[str, ...]", _texts(states))) for key, states in variables.items()]
        elif not is_list(variables) or not all(isinstance(variable, Variable) for variable in variables):
            raise NetworkError("The variables are a mapping from names to lists of states, or a list of Variable.")
        for what, given in (("parents", parents), ("cpts", cpts), ("forms", forms)):
            if given is not None and not isinstance(given, Mapping):
                raise NetworkError(f"The {what} are a mapping from names, not {given!r}.")
        if not isinstance(name, str):
            raise NetworkError(f"The name of a network is a text, not {name!r}.")
        by_name = {variable.name: variable for variable in variables}
        if (duplicate := first_duplicate(variable.name for variable in variables)) is not None:
            raise NetworkError(f"Two variables have the name {duplicate}.")
        if not by_name:
            raise NetworkError("A network needs at least one variable.")
        for each in checked_ordered(tuple(by_name), ordered):
            by_name[each] = replace(by_name[each], is_ordered=True)
        assign = object.__setattr__  # the class is frozen
        assign(self, "variables", tuple(by_name.values()))
        assign(self, "name", name)
        assign(self, "_by_name", MappingProxyType(by_name))
        parents = with_edges(tuple(by_name), parents or {}, () if edges is None else edges)
        assign(self, "parents", MappingProxyType(checked_parents(tuple(by_name), parents)))
        assign(self, "order", topological_order(self.parents))
        for name, owner in (shared or {}).items():
            if self.shape(name) != self.shape(owner) or owner in (shared or {}):
                raise NetworkError(f"{name} and {owner} cannot share a CPT: the shapes of their CPTs differ.")
        assign(self, "shared", MappingProxyType(dict(shared or {})))
        self._assign_numbers(cpts or {}, forms or {})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in their order."""
        return tuple(self._by_name)

    @property
    def is_complete(self) -> bool:
        """Whether every variable has a CPT; a noisy family has one if its small CPTs are given, a gate always."""
        return all(name in self.cpts or (name in self.forms and self.forms[name].has_numbers) for name in self.names)

    def variable(self, name: str) -> Variable:
        """The variable of this name.

        Parameters
        ----------
        name : str
            A name.

        Returns
        -------
        Variable
            The variable with its states.

        Raises
        ------
        UnknownVariableError
            If the network has no such variable. It is a `KeyError` too.
        """
        try:
            return self._by_name[name]
        except (KeyError, TypeError):  # TypeError: a list, which cannot be a key
            raise UnknownVariableError(name, self.names) from None

    def states(self, name: str) -> tuple[str, ...]:
        """The states of a variable, in order.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        tuple of str
            Its states.
        """
        return self.variable(name).states

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a CPT: the number of states of each parent, then of the child.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        tuple of int
            The shape of its CPT, whether the network has it or not.
        """
        own = len(self.states(name))
        return (*(len(self._by_name[parent].states) for parent in self.parents[name]), own)

    def configurations(self, name: str) -> int:
        """How many configurations the parents of a variable have.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        int
            The product of the numbers of states of its parents; 1 without parents.
        """
        return prod(self.shape(name)[:-1])

    def configuration(self, name: str, number: int) -> dict[str, str]:
        """The states of the parents in one configuration.

        Parameters
        ----------
        name : str
            A variable.
        number : int
            The number of a configuration, from 0, with the last parent varying fastest.

        Returns
        -------
        dict from str to str
            The state of each parent.

        Examples
        --------
        >>> network = Network({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]}, {"c": ["a", "b"]})
        >>> network.configuration("c", 1)
        {'a': '0', 'b': '1'}
        """
        places = []
        for size in reversed(self.shape(name)[:-1]):
            number, place = divmod(number, size)
            places.append(place)
        pairs = zip(self.parents[name], reversed(places), strict=True)
        return {parent: self._by_name[parent].states[place] for parent, place in pairs}

    def describe(self, name: str, configuration: int, state: int | None = None) -> str:
        """A conditional distribution, or one number of it, in the usual notation.

        Parameters
        ----------
        name : str
            A variable.
        configuration : int
            The number of a configuration of its parents.
        state : int, optional
            The number of a state; without it the whole distribution is meant.

        Returns
        -------
        str
            Such as `P(lung=yes | smoke=no)`, or `P(lung | smoke=no)`.
        """
        head = name if state is None else f"{name}={self.states(name)[state]}"
        given = listing([f"{parent}={label}" for parent, label in self.configuration(name, configuration).items()])
        return f"P({head} | {given})" if given else f"P({head})"

    def cpt_array(self, name: str) -> Numbers:
        """The CPT P(name | parents) as an array.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        ndarray
            The CPT with axes (parents…, child), read-only: `network.cpts[name]`.

        Raises
        ------
        NetworkError
            If the variable has no CPT.
        TooLargeError
            If the variable is a noisy family or a gate whose full CPT would be too large.
        """
        self.variable(name)
        try:
            return self.cpts[name]
        except KeyError:
            form = self.forms.get(name)
            if form is not None and form.has_numbers:
                cells = prod(self.shape(name))
                how = f"the gate network.forms[{name!r}]"
                if not isinstance(form, GateForm):
                    how = f"{form.kind} of small CPTs, in network.forms[{name!r}].cpts"
                message = f"The full CPT of {name} has {float(cells):.1e} numbers; it is kept as {how}."
                raise TooLargeError(message, 8 * cells) from None
            raise NetworkError(
                f"Variable {name} has no CPT: this network, or this part of it, is not learned yet."
            ) from None

    def with_cpts(self, cpts: Mapping[str, ArrayLike]) -> Network:
        """The same network with some CPTs replaced.

        Parameters
        ----------
        cpts : mapping from str to array_like
            The new CPTs, with axes (parents…, child). A noisy family given here becomes an ordinary one.

        Returns
        -------
        Network
            A new network; variables not listed keep their CPTs.
        """
        if not isinstance(cpts, Mapping):
            raise NetworkError(f"The cpts are a mapping from names, not {cpts!r}.")
        forms = {name: form for name, form in self.forms.items() if name not in cpts}
        return self._with_numbers({**self.cpts, **cpts}, forms)

    def with_forms(self, forms: Mapping[str, Form]) -> Network:
        """The same network with some families made noisy, or gates.

        Parameters
        ----------
        forms : mapping from str to NoisyForm or GateForm
            How each of these variables depends on its parents.

        Returns
        -------
        Network
            A new network.
        """
        return self._with_numbers(self.cpts, {**self.forms, **forms})

    def without_cpts(self) -> Network:
        """The structure alone: variables, parents, and which families are noisy or gates.

        Returns
        -------
        Network
            A new network without numbers, except for those of gates.
        """
        forms = {name: form.without_cpts() for name, form in self.forms.items()}
        return self._with_numbers({}, forms)

    def same_structure(self, other: Network) -> bool:
        """Whether two networks have the same names, states, cut points and parents, in the same order.

        Parameters
        ----------
        other : Network
            Another network.

        Returns
        -------
        bool
            True if the structures are identical; CPTs are not compared.
        """
        same = self.variables == other.variables and dict(self.parents) == dict(other.parents)
        return same and dict(self.shared) == dict(other.shared)

    def __eq__(self, other: object) -> bool:
        """Equal in every name, every order and every bit of every number; the network's own name is not compared.

        Noisy families are equal if their small CPTs are, in whatever scale.
        """
        if not isinstance(other, Network):
            return NotImplemented
        both = self.variables, other.variables
        return (
            self.same_structure(other)
            and all(own.cuts is None or own.cuts.same_range(each.cuts) for own, each in zip(*both, strict=True))
            and self.forms.keys() == other.forms.keys()
            and all(form.same(other.forms[name], self.states(name)) for name, form in self.forms.items())
            and self.cpts.keys() == other.cpts.keys()
            and all(name in self.forms or np.array_equal(cpt, other.cpts[name]) for name, cpt in self.cpts.items())
        )

    def __hash__(self) -> int:
        return hash((*self._by_name, *self.parents.values()))  # of names alone: states of hundreds take long

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __reduce__(self) -> tuple[Any, ...]:
        given = (self.variables, dict(self.parents), dict(self.cpts), self.name, dict(self.forms), None, ())
        return Network, (*given, dict(self.shared))

    def __repr__(self) -> str:
        return f"<{self._summary()}>"

    def __str__(self) -> str:
        lines = [self._summary()]
        for variable in self.variables:
            parents = self.parents[variable.name]
            given = f"; parents: {listing(parents)}" if parents else ""
            form = self.forms.get(variable.name)
            kind = "" if form is None else f"; {form if isinstance(form, GateForm) else form.kind}"
            cuts = f"; cut at {variable.cuts}" if variable.cuts is not None else ""
            order = "; from low to high" if variable.is_ordered else ""
            lines.append(f"  {variable.name}: {listing(variable.states, SHOWN_STATES)}{order}{cuts}{given}{kind}")
        return "\n".join(lines)

    def _summary(self) -> str:
        arcs = sum(len(parents) for parents in self.parents.values())
        amounts = (counted(len(self), "variable"), counted(arcs, "arc"), counted(len(self.cpts), "CPT"))
        return f"Network {self.name!r}: {', '.join(amounts)}"

    def _with_numbers(self, cpts: Mapping[str, ArrayLike], forms: Mapping[str, Form]) -> Network:
        """The same variables and parents, which were checked before, with these CPTs and noisy families."""
        network = object.__new__(Network)
        for each in ("variables", "name", "_by_name", "parents", "order", "shared"):
            object.__setattr__(network, each, getattr(self, each))
        network._assign_numbers(cpts, forms)
        return network

    def _assign_numbers(self, cpts: Mapping[str, ArrayLike], forms: Mapping[str, Form]) -> None:
        object.__setattr__(self, "forms", MappingProxyType(self._checked_forms(forms)))
        everything = {**cpts, **self._full_cpts()}
        everything |= {name: everything[owner] for name, owner in self.shared.items() if owner in everything}
        object.__setattr__(self, "cpts", MappingProxyType(self._checked_cpts(everything)))

    def _checked_forms(self, forms: Mapping[str, Form]) -> dict[str, Form]:
        for name, form in forms.items():
            if isinstance(form, GateForm):
                check_gate(
                    form, name, {each: self.states(each) for each in (name, *self.parents[self.variable(name).name])}
                )
                continue
            sizes = {parent: len(self.states(parent)) for parent in self.parents[self.variable(name).name]}
            check_form(name, self.states(name), sizes, form)
        return {name: forms[name] for name in self.names if name in forms}

    def _full_cpts(self) -> dict[str, Numbers]:
        """The full CPTs of the noisy families and gates that are small enough."""
        found = {}
        for name, form in self.forms.items():
            if form.has_numbers and prod(self.shape(name)) <= FULL_CELLS:
                parents, states = self.parents[name], self.states(name)
                if isinstance(form, GateForm):
                    found[name] = gate_cpt(form, parents, states, {each: self.states(each) for each in parents})
                else:
                    found[name] = full_cpt(form, parents, states)
        return found

    def _checked_cpts(self, cpts: Mapping[str, ArrayLike]) -> dict[str, Numbers]:
        """Valid, read-only CPTs in the order of the variables, whatever order they came in."""
        for name in cpts:
            self.variable(name)
        return {
            name: checked_cpt((*self.parents[name], name), self.shape(name), cpts[name], partial(self.describe, name))
            for name in self.names
            if name in cpts
        }


def _texts(states: object) -> object:
    return tuple(state_of(state) for state in cast("Iterable[object]", states)) if is_list(states) else states
