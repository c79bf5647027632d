"""The Bayesian network: variables with named states, parents by name, and tables with axes (parents…, child)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credo.errors import NetworkError, TooLargeError, suggestion
from credo.model.names import first_duplicate
from credo.model.noisy import FULL_CELLS, NoisyForm, full_cpt

if TYPE_CHECKING:
    import polars as pl

Table = NDArray[np.float64]

# Published networks carry rounded decimals: the worst row of the bnlearn repository is off by 3e-7.
ROW_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Variable:
    """A name, and the states it can be in, in their order."""

    name: str
    states: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise NetworkError(f"A variable needs a name, a text that is not empty; this one has {self.name!r}.")
        if not _is_list(self.states):
            raise NetworkError(f"The states of {self.name} are a list of texts, not {self.states!r}.")
        object.__setattr__(self, "states", tuple(self.states))
        if not self.states:
            raise NetworkError(f"Variable {self.name} has no states.")
        for state in self.states:
            if not isinstance(state, str) or not state:
                raise NetworkError(f"Variable {self.name}: a state is a text that is not empty, not {state!r}.")
        if (twice := first_duplicate(self.states)) is not None:
            raise NetworkError(f"Variable {self.name} has the state {twice} twice.")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network:
    """A directed acyclic graph over variables; each may carry its table P(child | parents).

    `variables` is a sequence of `Variable`, or a mapping from names to states. `parents` gives the parents of each
    variable by name, in the order of the table's axes; who is left out has none. `tables` gives arrays with axes
    (parents…, child). Without tables, or with some missing, the network is a structure to learn. `forms` says which
    families are noisy (`NoisyForm`); their full tables are there where they are small enough to write out.

        >>> net = Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, parents={"lung": ["smoke"]})
        >>> net.shape("lung")
        (2, 2)
    """

    variables: tuple[Variable, ...]
    parents: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, Table]
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
        elif not _is_list(variables) or not all(isinstance(each, Variable) for each in variables):
            raise NetworkError("The variables are a mapping from names to lists of states, or a list of Variable.")
        for what, given in (("parents", parents), ("cpts", cpts), ("forms", forms)):
            if given is not None and not isinstance(given, Mapping):
                raise NetworkError(f"The {what} are a mapping from names, not {given!r}.")
        if not isinstance(name, str):
            raise NetworkError(f"The name of a network is a text, not {name!r}.")
        by_name = {variable.name: variable for variable in variables}
        if (twice := first_duplicate([variable.name for variable in variables])) is not None:
            raise NetworkError(f"Two variables have the name {twice}.")
        if not by_name:
            raise NetworkError("A network needs at least one variable.")
        put = object.__setattr__
        put(self, "variables", tuple(variables))
        put(self, "name", name)
        put(self, "_by_name", MappingProxyType(by_name))
        put(self, "parents", MappingProxyType(_checked_parents(by_name, parents or {})))
        put(self, "order", _topological_order(self.parents))
        put(self, "cpts", MappingProxyType({}))
        put(self, "forms", MappingProxyType(self._checked_forms(forms or {})))
        put(self, "cpts", MappingProxyType(self._checked_tables({**(cpts or {}), **self._small_tables()})))

    # What a network is asked for -------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the file."""
        return tuple(self._by_name)

    @property
    def is_complete(self) -> bool:
        """Whether every variable has its table, or the small ones of its form."""
        return all(name in self.cpts or (name in self.forms and self.forms[name].cpts) for name in self.names)

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        try:
            return self._by_name[name]
        except (KeyError, TypeError):  # TypeError: a list, which cannot be looked up
            raise NetworkError(f'The network has no variable "{name}".{suggestion(name, self.names)}') from None

    def states(self, name: str) -> tuple[str, ...]:
        """The states of a variable, in order."""
        return self.variable(name).states

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a table: the number of states of each parent, then of the child."""
        own = len(self.states(name))
        return (*(len(self._by_name[parent].states) for parent in self.parents[name]), own)

    def configurations(self, name: str) -> int:
        """How many configurations the parents of a variable have: the number of rows of its table."""
        return prod(self.shape(name)[:-1])

    def configuration(self, name: str, row: int) -> dict[str, str]:
        """The parents' states in one row of a table, counted with the last parent running fastest."""
        shape = self.shape(name)[:-1]
        indices = []
        for size in reversed(shape):
            row, index = divmod(row, size)
            indices.append(index)
        pairs = zip(self.parents[name], reversed(indices), strict=True)
        return {parent: self._by_name[parent].states[index] for parent, index in pairs}

    def cpt_array(self, name: str) -> Table:
        """The table P(name | parents), axes (parents…, child); it cannot be written to."""
        self.variable(name)
        try:
            return self.cpts[name]
        except KeyError:
            if name in self.forms and self.forms[name].cpts:
                cells = prod(self.shape(name))
                raise TooLargeError(
                    f"The full table of {name} has {float(cells):.1e} numbers; it is kept as {self.forms[name].kind} "
                    f"of small tables, in network.forms[{name!r}].cpts.",
                    8 * cells,
                ) from None
            raise NetworkError(
                f"Variable {name} has no table: this network, or this part of it, is not learned yet."
            ) from None

    def with_cpts(self, cpts: Mapping[str, ArrayLike]) -> Network:
        """The same network with these tables in place of its own; a full table takes the place of a form."""
        forms = {name: form for name, form in self.forms.items() if name not in cpts}
        return Network(self.variables, self.parents, {**self.cpts, **cpts}, self.name, forms)

    def with_forms(self, forms: Mapping[str, NoisyForm]) -> Network:
        """The same network with these families noisy."""
        return Network(self.variables, self.parents, self.cpts, self.name, {**self.forms, **forms})

    def without_cpts(self) -> Network:
        """The structure alone."""
        forms = {name: form.without_cpts() for name, form in self.forms.items()}
        return Network(self.variables, self.parents, None, self.name, forms)

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.variables, dict(self.parents), dict(self.cpts), self.name, dict(self.forms))

    def __repr__(self) -> str:
        arcs = sum(len(parents) for parents in self.parents.values())
        return f"<Network {self.name!r}: {len(self)} variables, {arcs} arcs, {len(self.cpts)} tables>"

    def _repr_html_(self) -> str:
        from credo.drawing.network_html import network_html

        return network_html(self)

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def same_structure(self, other: Network) -> bool:
        """Whether names, states and parents are the same, in the same order."""
        return self.variables == other.variables and dict(self.parents) == dict(other.parents)

    def __eq__(self, other: object) -> bool:
        """Equal in every name, every order and every bit of every number (the network's own name apart).

        Noisy families are equal where their small tables are, whatever scale these were found in.
        """
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.variables == other.variables
            and dict(self.parents) == dict(other.parents)
            and self.forms.keys() == other.forms.keys()
            and all(form.same(other.forms[name], self.states(name)) for name, form in self.forms.items())
            and self.cpts.keys() == other.cpts.keys()
            and all(name in self.forms or np.array_equal(table, other.cpts[name]) for name, table in self.cpts.items())
        )

    def __hash__(self) -> int:
        return hash((self.variables, tuple(self.parents.items())))

    # Short ways to what later modules do; each imports when called, so that this module stays first ------------------

    def cpt(self, name: str) -> pl.DataFrame:
        """The table of a variable with labels: a column for each parent, then one for each state of the child."""
        from credo.io.labelled import labelled_table

        return labelled_table(self, name)

    def sample(self, rows: int, seed: int = 0) -> pl.DataFrame:
        """Draw rows from the joint distribution; the same seed gives the same rows."""
        from credo.statistics.sample import sample

        return sample(self, rows, seed)

    def log_likelihood(self, data: Any) -> float:
        """The log-likelihood of what a table holds (natural logarithm); its rows may have gaps."""
        from credo.statistics.likelihood import log_likelihood

        return log_likelihood(self, data)

    def predict(self, data: Any, name: str, soft: Mapping[str, Any] | None = None) -> pl.DataFrame:
        """How probable each state of a variable is in each row of a table; `soft` is evidence that is not certain."""
        from credo.statistics.predict import predict

        return predict(self, data, name, soft)

    def kl(self, other: Network) -> float:
        """KL(self ‖ other), the divergence of the joint distributions of two networks with one structure, in nats."""
        from credo.statistics.divergence import kl

        return kl(self, other)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Network:
        """A pgmpy model as a network; parents are matched by name."""
        from credo.io.pgmpy import from_pgmpy

        return from_pgmpy(model)

    def to_pgmpy(self) -> Any:
        """This network as a pgmpy `DiscreteBayesianNetwork`."""
        from credo.io.pgmpy import to_pgmpy

        return to_pgmpy(self)

    @classmethod
    def from_pyagrum(cls, model: Any) -> Network:
        """A pyAgrum `BayesNet` as a network; parents are matched by name."""
        from credo.io.agrum import from_pyagrum

        return from_pyagrum(model)

    def to_pyagrum(self) -> Any:
        """This network as a pyAgrum `BayesNet`."""
        from credo.io.agrum import to_pyagrum

        return to_pyagrum(self)

    # Checks ----------------------------------------------------------------------------------------------------------

    def _checked_forms(self, forms: Mapping[str, NoisyForm]) -> dict[str, NoisyForm]:
        for name, form in forms.items():
            states, parents = self.states(name), self.parents[name]
            named = [parent for each in form.sets for parent in each]
            for parent in named:
                if parent not in parents:
                    raise NetworkError(f'"{parent}" is no parent of {name}.{suggestion(parent, parents)}')
            if left := [parent for parent in parents if parent not in named]:
                raise NetworkError(f"The parent {left[0]} of {name} is in no set of causes.")
            if set(form.order) != set(states):
                raise NetworkError(f"The order {' < '.join(form.order)} does not hold just the states of {name}.")
            for own, table in zip(form.causes, form.cpts, strict=False):
                shape = (*(len(self.states(parent)) for parent in own), len(states))
                if table.shape != shape:
                    raise NetworkError(f"A small table of {name} has the shape {table.shape}; it needs {shape}.")
        return {name: forms[name] for name in self.names if name in forms}

    def _small_tables(self) -> dict[str, Table]:
        """The full tables of noisy families that are small enough."""
        return {
            name: full_cpt(form, self.parents[name], self.states(name))
            for name, form in self.forms.items()
            if form.cpts and prod(self.shape(name)) <= FULL_CELLS
        }

    def _checked_tables(self, tables: Mapping[str, ArrayLike]) -> dict[str, Table]:
        for name in tables:
            self.variable(name)
        # Tables are kept in the order of the variables, whatever order they came in.
        return {name: self._checked_table(name, tables[name]) for name in self.names if name in tables}

    def _checked_table(self, name: str, values: ArrayLike) -> Table:
        if isinstance(values, np.ndarray) and values.dtype == np.float64 and _is_sealed(values):
            table = values  # a table of another network: shared, since nobody can change it
        else:
            try:
                table = np.array(values, dtype=np.float64, order="C")
            except (TypeError, ValueError) as error:
                raise NetworkError(f"The table of {name} is not an array of numbers: {error}.") from None
        shape = self.shape(name)
        if table.shape != shape:
            axes = ", ".join([*self.parents[name], name])
            raise NetworkError(f"The table of {name} has the shape {table.shape}; its axes ({axes}) need {shape}.")
        rows = table.reshape(-1, shape[-1])
        for wrong, what in ((~np.isfinite(rows), "is not a finite number"), (rows < 0, "is negative")):
            if wrong.any():
                row, state = (int(i) for i in np.argwhere(wrong)[0])
                raise NetworkError(f"{self.describe(name, row, state)} = {rows[row, state]} {what}.")
        sums = rows.sum(axis=1)
        off = np.flatnonzero(np.abs(sums - 1) > ROW_SUM_TOLERANCE)
        if off.size:
            more = f" ({off.size - 1} more rows of this table are off too)" if off.size > 1 else ""
            raise NetworkError(f"{self.describe(name, int(off[0]))} sums to {sums[off[0]]:.9g}, not to 1{more}.")
        table.setflags(write=False)
        return table

    def describe(self, name: str, row: int, state: int | None = None) -> str:
        """A row of a table, or one number of it, as people write it: `P(lung=yes | smoke=no)`."""
        head = name if state is None else f"{name}={self.states(name)[state]}"
        given = ", ".join(f"{parent}={label}" for parent, label in self.configuration(name, row).items())
        return f"P({head} | {given})" if given else f"P({head})"


def _checked_parents(
    by_name: Mapping[str, Variable], parents: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    known = tuple(by_name)
    for name in parents:
        if name not in by_name:
            raise NetworkError(f'Parents are given for "{name}", which is no variable.{suggestion(name, known)}')
    checked: dict[str, tuple[str, ...]] = {}
    for name in known:
        own = parents.get(name, ())
        if isinstance(own, str):
            raise NetworkError(f"The parents of {name} are a list of names, not the text {own!r}.")
        if not _is_list(own):
            raise NetworkError(f"The parents of {name} are a list of names, not {own!r}.")
        for parent in own:
            if not isinstance(parent, str) or parent not in by_name:
                raise NetworkError(f'The parent "{parent}" of {name} is no variable.{suggestion(parent, known)}')
        if (twice := first_duplicate(own)) is not None:
            raise NetworkError(f"Variable {name} has the parent {twice} twice.")
        checked[name] = tuple(own)
    return checked


def _is_list(value: object) -> bool:
    """Whether a value lists things in an order: a text is none, and a set has no order."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Set | Mapping)


def _is_sealed(values: Table) -> bool:
    return values.flags.owndata and values.flags.c_contiguous and not values.flags.writeable


def _topological_order(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " → ".join(error.args[1])
        raise NetworkError(f"The network has a cycle: {cycle}. Parents must come before their children.") from None
