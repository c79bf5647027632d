"""The Bayesian network: variables with named states, parents by name, and CPTs with axes (parents…, child)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from credo.errors import (
    NetworkError,
    TooLargeError,
    UnknownVariableError,
    first_duplicate,
    is_text,
    listing,
    suggestion,
)
from credo.model.noisy import FULL_CELLS, NoisyForm, full_cpt
from credo.types import Numbers, PgmpyModel, PyagrumModel, Seed, TableLike

if TYPE_CHECKING:
    import polars as pl

# Published networks carry rounded decimals: the worst distribution of the bnlearn repository is off by 3e-7.
SUM_TOLERANCE = 1e-6
SHOWN_STATES = 8  # of a variable that is printed


@dataclass(frozen=True, slots=True)
class Variable:
    """A discrete variable.

    Parameters
    ----------
    name : str
        The name, not empty.
    states : sequence of str
        The states in their order, each once.

    Raises
    ------
    NetworkError
        If the name or a state is not a text or is empty, if a state occurs twice, or if there is none.

    Examples
    --------
    >>> Variable("smoke", ("no", "yes")).states
    ('no', 'yes')
    """

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise NetworkError(f"A variable needs a name, a text that is not empty; this one has {self.name!r}.")
        if not is_text(self.name):
            raise NetworkError(f"The name {self.name!r} holds half a character, which no text has.")
        if not _is_list(self.states):
            raise NetworkError(f"The states of {self.name} are a list of texts, not {self.states!r}.")
        object.__setattr__(self, "states", tuple(self.states))
        if not self.states:
            raise NetworkError(f"Variable {self.name} has no states.")
        for state in self.states:
            if not isinstance(state, str) or not state:
                raise NetworkError(f"Variable {self.name}: a state is a text that is not empty, not {state!r}.")
            if not is_text(state):
                raise NetworkError(f"The state {state!r} of {self.name} holds half a character, which no text has.")
        if (duplicate := first_duplicate(self.states)) is not None:
            raise NetworkError(f"Variable {self.name} has the state {duplicate} twice.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network:
    """A Bayesian network: a directed acyclic graph of variables, each with its CPT P(variable | parents).

    A network cannot be changed; methods such as `with_cpts` return a new one.

    Parameters
    ----------
    variables : mapping from str to sequence of str, or sequence of Variable
        The variables with their states.
    parents : mapping from str to sequence of str, optional
        The parents of each variable, in the order of the axes of its CPT. Variables not listed have no parents.
    cpts : mapping from str to array_like, optional
        CPTs with axes (parents…, child). A variable without a CPT is structure to be learned.
    name : str, default "network"
        The name of the network.
    forms : mapping from str to NoisyForm, optional
        The families that are noisy. Their full CPTs are computed where they are small enough.

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
    forms : mapping from str to NoisyForm
        The noisy families.
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
    forms: Mapping[str, NoisyForm]
    order: tuple[str, ...]
    _by_name: Mapping[str, Variable]

    def __init__(
        self,
        variables: Sequence[Variable] | Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]] | None = None,
        cpts: Mapping[str, ArrayLike] | None = None,
        name: str = "network",
        forms: Mapping[str, NoisyForm] | None = None,
    ) -> None:
        if isinstance(variables, Mapping):
            variables = [Variable(key, cast("tuple[str, ...]", states)) for key, states in variables.items()]
        elif not _is_list(variables) or not all(isinstance(variable, Variable) for variable in variables):
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
        assign = object.__setattr__  # the class is frozen
        assign(self, "variables", tuple(variables))
        assign(self, "name", name)
        assign(self, "_by_name", MappingProxyType(by_name))
        assign(self, "parents", MappingProxyType(_checked_parents(by_name, parents or {})))
        assign(self, "order", _topological_order(self.parents))
        assign(self, "cpts", MappingProxyType({}))
        assign(self, "forms", MappingProxyType(self._checked_forms(forms or {})))
        assign(self, "cpts", MappingProxyType(self._checked_cpts({**(cpts or {}), **self._full_cpts()})))

    # Structure and CPTs ----------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in their order."""
        return tuple(self._by_name)

    @property
    def is_complete(self) -> bool:
        """Whether every variable has a CPT; a noisy family has one if its small CPTs are given."""
        return all(name in self.cpts or (name in self.forms and self.forms[name].cpts) for name in self.names)

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
            The number of a configuration, from 0, with the last parent running fastest.

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
        given = ", ".join(f"{parent}={label}" for parent, label in self.configuration(name, configuration).items())
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
            If the variable is a noisy family whose full CPT would be too large.
        """
        self.variable(name)
        try:
            return self.cpts[name]
        except KeyError:
            if name in self.forms and self.forms[name].cpts:
                cells = prod(self.shape(name))
                raise TooLargeError(
                    f"The full CPT of {name} has {float(cells):.1e} numbers; it is kept as {self.forms[name].kind} "
                    f"of small CPTs, in network.forms[{name!r}].cpts.",
                    8 * cells,
                ) from None
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
        forms = {name: form for name, form in self.forms.items() if name not in cpts}
        return Network(self.variables, self.parents, {**self.cpts, **cpts}, self.name, forms)

    def with_forms(self, forms: Mapping[str, NoisyForm]) -> Network:
        """The same network with some families made noisy.

        Parameters
        ----------
        forms : mapping from str to NoisyForm
            How each of these variables depends on its parents.

        Returns
        -------
        Network
            A new network.
        """
        return Network(self.variables, self.parents, self.cpts, self.name, {**self.forms, **forms})

    def without_cpts(self) -> Network:
        """The structure alone: variables, parents, and which families are noisy.

        Returns
        -------
        Network
            A new network without numbers.
        """
        forms = {name: form.without_cpts() for name, form in self.forms.items()}
        return Network(self.variables, self.parents, None, self.name, forms)

    def same_structure(self, other: Network) -> bool:
        """Whether two networks have the same names, states and parents, in the same order.

        Parameters
        ----------
        other : Network
            Another network.

        Returns
        -------
        bool
            True if the structures are identical; CPTs are not compared.
        """
        return self.variables == other.variables and dict(self.parents) == dict(other.parents)

    def __eq__(self, other: object) -> bool:
        """Equal in every name, every order and every bit of every number; the network's own name is not compared.

        Noisy families are equal if their small CPTs are, in whatever scale.
        """
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.same_structure(other)
            and self.forms.keys() == other.forms.keys()
            and all(form.same(other.forms[name], self.states(name)) for name, form in self.forms.items())
            and self.cpts.keys() == other.cpts.keys()
            and all(name in self.forms or np.array_equal(cpt, other.cpts[name]) for name, cpt in self.cpts.items())
        )

    def __hash__(self) -> int:
        return hash((self.variables, tuple(self.parents.items())))

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.variables, dict(self.parents), dict(self.cpts), self.name, dict(self.forms))

    def __repr__(self) -> str:
        return f"<{self._summary()}>"

    def __str__(self) -> str:
        lines = [self._summary()]
        for variable in self.variables:
            parents = self.parents[variable.name]
            given = f"; parents: {listing(parents)}" if parents else ""
            kind = f"; {self.forms[variable.name].kind}" if variable.name in self.forms else ""
            lines.append(f"  {variable.name}: {listing(variable.states, SHOWN_STATES)}{given}{kind}")
        return "\n".join(lines)

    def _summary(self) -> str:
        arcs = sum(len(parents) for parents in self.parents.values())
        counted = [(len(self), "variable"), (arcs, "arc"), (len(self.cpts), "CPT")]
        return f"Network {self.name!r}: " + ", ".join(f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in counted)

    # Conveniences. What they do needs modules that come after this one: each imports `credo.network_methods` when it
    # is called, the only import against the order of modules (see pyproject.toml). -----------------------------------

    def cpt(self, name: str) -> pl.DataFrame:
        """The CPT of a variable with labels.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        polars.DataFrame
            A row for each configuration of the parents: a column of states for each parent, then a column
            `child=state` of probabilities for each state. For a noisy family whose full CPT is too large, its small
            CPTs one below the other, with empty cells for the parents that a set of causes does not contain.

        Raises
        ------
        NetworkError
            If the variable has no CPT.

        Examples
        --------
        >>> network = Network({"smoke": ["no", "yes"]}, cpts={"smoke": [0.7, 0.3]})
        >>> network.cpt("smoke").row(0, named=True)
        {'smoke=no': 0.7, 'smoke=yes': 0.3}
        """
        from credo.network_methods import labelled_cpt

        return labelled_cpt(self, name)

    def sample(self, rows: int, seed: Seed = 0) -> pl.DataFrame:
        """Draw rows from the joint distribution.

        Parameters
        ----------
        rows : int
            The number of rows.
        seed : int or numpy.random.Generator, default 0
            The same seed gives the same rows.

        Returns
        -------
        polars.DataFrame
            A column of states for each variable.

        Examples
        --------
        >>> network = Network({"smoke": ["no", "yes"]}, cpts={"smoke": [0.0, 1.0]})
        >>> network.sample(2)["smoke"].to_list()
        ['yes', 'yes']
        """
        from credo.network_methods import sample

        return sample(self, rows, seed)

    def log_likelihood(self, data: TableLike) -> float:
        """The log-likelihood of data, log P(data), with the natural logarithm.

        Parameters
        ----------
        data : path, frame or Dataset
            The rows. Missing values and hidden variables are summed out exactly.

        Returns
        -------
        float
            The sum over rows; minus infinity if a row is impossible.

        Examples
        --------
        >>> import polars as pl
        >>> network = Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]})
        >>> round(network.log_likelihood(pl.DataFrame({"coin": ["heads", "tails", None]})), 3)
        -1.386
        """
        from credo.network_methods import log_likelihood

        return log_likelihood(self, data)

    def predict(self, data: TableLike, name: str, soft: Mapping[str, ArrayLike] | None = None) -> pl.DataFrame:
        """The probability of each state of a variable in each row, given the values of the row.

        Parameters
        ----------
        data : path, frame or Dataset
            The rows; values may be missing. A value of the variable itself is certain.
        name : str
            The variable to predict.
        soft : mapping from str to array_like, optional
            Uncertain (virtual) evidence: for a variable the likelihood of what was observed under each of its states,
            as one list for all rows or one list per row.

        Returns
        -------
        polars.DataFrame
            A row for each row of the data, a column `name=state` for each state.

        Raises
        ------
        ImpossibleRowError
            If a row has probability zero.

        Examples
        --------
        >>> import polars as pl
        >>> network = Network(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"wet": ["rain"]},
        ...     {"rain": [0.5, 0.5], "wet": [[0.75, 0.25], [0.25, 0.75]]},
        ... )
        >>> network.predict(pl.DataFrame({"wet": ["yes"]}), "rain").row(0, named=True)
        {'rain=no': 0.25, 'rain=yes': 0.75}
        """
        from credo.network_methods import predict

        return predict(self, data, name, soft)

    def kl(self, other: Network) -> float:
        """The Kullback-Leibler divergence KL(self ‖ other) of the joint distributions, computed exactly.

        Parameters
        ----------
        other : Network
            A network with the same structure; variables, states and parents are matched by name.

        Returns
        -------
        float
            The divergence in nats; infinite if `other` excludes what this network does not.

        Raises
        ------
        NetworkError
            If the structures differ.

        Examples
        --------
        >>> fair = Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]})
        >>> round(fair.kl(fair.with_cpts({"coin": [0.25, 0.75]})), 4)
        0.1438
        """
        from credo.network_methods import kl

        return kl(self, other)

    @classmethod
    def from_pgmpy(cls, model: PgmpyModel) -> Network:
        """A pgmpy model as a network.

        Parameters
        ----------
        model : pgmpy.models.DiscreteBayesianNetwork
            The model; names and states that are not texts become texts.

        Returns
        -------
        Network
            The same variables, parents and numbers.

        Raises
        ------
        NetworkError
            If the model does not list the states of a variable, or contradicts itself.
        """
        from credo.network_methods import from_pgmpy

        return from_pgmpy(model)

    def to_pgmpy(self) -> PgmpyModel:
        """The network as a pgmpy model.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork
            The model, with a `TabularCPD` for each CPT.

        Raises
        ------
        MissingExtraError
            If pgmpy is not installed.
        """
        from credo.network_methods import to_pgmpy

        return to_pgmpy(self)

    @classmethod
    def from_pyagrum(cls, model: PyagrumModel) -> Network:
        """A pyAgrum network as a network.

        Parameters
        ----------
        model : pyagrum.BayesNet
            The network. A CPT of zeros, which pyAgrum gives to new variables, is left out.

        Returns
        -------
        Network
            The same variables, parents and numbers.

        Raises
        ------
        MissingExtraError
            If pyAgrum is not installed.
        """
        from credo.network_methods import from_pyagrum

        return from_pyagrum(model)

    def to_pyagrum(self) -> PyagrumModel:
        """The network as a pyAgrum network.

        Returns
        -------
        pyagrum.BayesNet
            The network; a missing CPT is filled with zeros, as pyAgrum does.

        Raises
        ------
        MissingExtraError
            If pyAgrum is not installed.
        """
        from credo.network_methods import to_pyagrum

        return to_pyagrum(self)

    def _repr_html_(self) -> str:
        from credo.network_methods import network_html

        return network_html(self)

    # Validation ------------------------------------------------------------------------------------------------------

    def _checked_forms(self, forms: Mapping[str, NoisyForm]) -> dict[str, NoisyForm]:
        for name, form in forms.items():
            states, parents = self.states(name), self.parents[name]
            named = [parent for causes in form.sets for parent in causes]
            for parent in named:
                if parent not in parents:
                    raise NetworkError(f'"{parent}" is not a parent of {name}.{suggestion(parent, parents)}')
            if omitted := [parent for parent in parents if parent not in named]:
                raise NetworkError(f"The parent {omitted[0]} of {name} is in no set of causes.")
            if set(form.order) != set(states):
                raise NetworkError(f"The order {' < '.join(form.order)} does not list exactly the states of {name}.")
            for causes, cpt in zip(form.causes, form.cpts, strict=False):
                shape = (*(len(self.states(parent)) for parent in causes), len(states))
                if cpt.shape != shape:
                    raise NetworkError(f"A small CPT of {name} has the shape {cpt.shape}; it needs {shape}.")
        return {name: forms[name] for name in self.names if name in forms}

    def _full_cpts(self) -> dict[str, Numbers]:
        """The full CPTs of the noisy families that are small enough."""
        return {
            name: full_cpt(form, self.parents[name], self.states(name))
            for name, form in self.forms.items()
            if form.cpts and prod(self.shape(name)) <= FULL_CELLS
        }

    def _checked_cpts(self, cpts: Mapping[str, ArrayLike]) -> dict[str, Numbers]:
        for name in cpts:
            self.variable(name)
        # CPTs are kept in the order of the variables, whatever order they came in.
        return {name: self._checked_cpt(name, cpts[name]) for name in self.names if name in cpts}

    def _checked_cpt(self, name: str, values: ArrayLike) -> Numbers:
        if isinstance(values, np.ndarray) and values.dtype == np.float64 and _is_sealed(values):
            cpt = values  # from another network: shared, since nobody can change it
        else:
            try:
                cpt = np.array(values, dtype=np.float64, order="C")
            except (TypeError, ValueError) as error:
                raise NetworkError(f"The CPT of {name} is not an array of numbers: {error}.") from None
        shape = self.shape(name)
        if cpt.shape != shape:
            axes = ", ".join([*self.parents[name], name])
            raise NetworkError(f"The CPT of {name} has the shape {cpt.shape}; its axes ({axes}) need {shape}.")
        distributions = cpt.reshape(-1, shape[-1])
        for wrong, what in (
            (~np.isfinite(distributions), "is not a finite number"),
            (distributions < 0, "is negative"),
        ):
            if wrong.any():
                place, state = (int(i) for i in np.argwhere(wrong)[0])
                raise NetworkError(f"{self.describe(name, place, state)} = {distributions[place, state]} {what}.")
        sums = distributions.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > SUM_TOLERANCE)
        if off.size:
            more = f" ({off.size - 1} more distributions of this CPT are off too)" if off.size > 1 else ""
            raise NetworkError(f"{self.describe(name, int(off[0]))} sums to {sums[off[0]]:.9g}, not to 1{more}.")
        cpt.setflags(write=False)
        return cpt


def _checked_parents(
    by_name: Mapping[str, Variable], parents: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    known = tuple(by_name)
    for name in parents:
        if name not in by_name:
            raise NetworkError(f'Parents are given for "{name}", which is not a variable.{suggestion(name, known)}')
    checked: dict[str, tuple[str, ...]] = {}
    for name in known:
        given = parents.get(name, ())
        if isinstance(given, str):
            raise NetworkError(f"The parents of {name} are a list of names, not the text {given!r}.")
        if not _is_list(given):
            raise NetworkError(f"The parents of {name} are a list of names, not {given!r}.")
        for parent in given:
            if not isinstance(parent, str) or parent not in by_name:
                raise NetworkError(f'The parent "{parent}" of {name} is not a variable.{suggestion(parent, known)}')
        if (duplicate := first_duplicate(given)) is not None:
            raise NetworkError(f"Variable {name} has the parent {duplicate} twice.")
        checked[name] = tuple(given)
    return checked


def _is_list(value: object) -> bool:
    """Whether a value is an ordered collection; a text is not meant as one, and a set has no order."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Set | Mapping)


def _is_sealed(values: Numbers) -> bool:
    return values.flags.owndata and values.flags.c_contiguous and not values.flags.writeable


def _topological_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " → ".join(error.args[1])
        raise NetworkError(f"The network has a cycle: {cycle}. Parents must come before their children.") from None
