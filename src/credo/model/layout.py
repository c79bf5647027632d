"""The address book: where each parameter of each CPT is in one vector.

CPTs follow each other in the order of the variables. Within a CPT, configurations of the parents follow each other
with the last parent varying fastest, and the states of the child vary faster still:

    index = offset(child) + Σ stride(parent) · state(parent) + state(child)

Everything that numbers parameters (constraints, counts, inference, solvers, samplers) uses this class.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import TooLargeError, counted, readable_bytes
from credo.memory import memory_limit_or_default
from credo.model.network import Network
from credo.types import Indices, Numbers

# Cells are numbered with 64 bits.
MOST_CELLS = 2**62


@dataclass(frozen=True, slots=True)
class Sensor:
    """An observed child that is not a variable of the network (a virtual child).

    Soft evidence is a sensor whose CPT holds likelihoods, a column for each distinct one. A query is a sensor with a
    CPT of ones: it changes nothing, and the expected counts of its family are the answer.
    """

    parents: tuple[str, ...]
    states: int = 1


@dataclass(frozen=True, slots=True)
class Family:
    """One CPT as strides, addressed by the labels of states."""

    name: str
    offset: int
    states: Mapping[str, int]  # label → position
    strides: Mapping[str, int]  # parent → stride, in the order of the CPT's axes
    parent_states: Mapping[str, Mapping[str, int]]  # parent → label → position

    def base(self, given: Iterable[tuple[str, str]]) -> int:
        """The index of the child's first state where the parents not given are in their first state."""
        return self.offset + sum(self.strides[parent] * self.parent_states[parent][label] for parent, label in given)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where each parameter is, by name and, for compiled loops, in flat arrays.

    Variables may be left out: noisy families without a full CPT, CPTs too large to be counted densely. Sensors come
    after the network's own variables. Family f, the f-th name and then the sensors, has the cells `cell_starts[f]` to
    `cell_starts[f + 1]` and the members (parents, then child) `members[member_starts[f]:member_starts[f + 1]]`.

    Families and CPTs are many to one: a family that shares the CPT of another one (`Network.shared`) has no cells of
    its own, and `first_cells` says where those of its CPT begin. So whoever counts adds up, and whoever reads, reads
    the one CPT. Where either is in the layout, both have an address.
    """

    network: Network
    names: tuple[str, ...]  # the variables whose CPTs are laid out
    left_out: tuple[str, ...]  # the other ones
    sensors: tuple[Sensor, ...]
    offsets: Mapping[str, int]  # of the first parameter of each CPT
    shapes: Mapping[str, tuple[int, ...]]  # of each CPT: (parents…, child)
    slices: Mapping[str, slice]  # where each CPT is
    sizes: Indices  # (variables + sensors,) numbers of states
    members: Indices  # positions of parents and child among the network's variables, family after family
    strides: Indices  # what a member's state adds to the index
    member_starts: Indices  # (families + 1,)
    cell_starts: Indices  # (families + 1,) of the cells of its own
    first_cells: Indices  # (families + 1,) where the CPT of each family begins, its own or a shared one; then the size
    family_sizes: Indices  # (families,) how many states the child has
    first_distributions: Indices  # (families + 1,) the number of the first distribution of each family
    backward: Indices  # (variables + sensors,) children before parents

    @classmethod
    def of(cls, network: Network, without: Collection[str] = (), sensors: Sequence[Sensor] = ()) -> Layout:
        """The layout of a network's CPTs, except for those of the variables `without`, and of `sensors` after them."""
        position = {name: i for i, name in enumerate(network.names)}
        names = tuple(name for name in network.names if name not in without)
        sizes = [*(len(network.states(name)) for name in network.names), *(sensor.states for sensor in sensors)]
        families = [[*(position[parent] for parent in network.parents[name]), position[name]] for name in names]
        for number, sensor in enumerate(sensors):
            families.append([*(position[parent] for parent in sensor.parents), len(network) + number])
        shapes = [[sizes[member] for member in members] for members in families]
        cells = [prod(shape) for shape in shapes]
        for name, count in zip(names, cells, strict=False):
            if count > MOST_CELLS:
                raise too_many_cells(network, name)
        owners, laid_out = network.shared, set(names)
        for number, name in enumerate(names):
            if owners.get(name) in laid_out:
                cells[number] = 0
        cell_starts = np.cumsum([0, *cells], dtype=np.int64)
        starts, family_sizes = cell_starts.tolist(), _integers(shape[-1] for shape in shapes)
        offsets = dict(zip(names, starts, strict=False))
        offsets |= {name: offsets[owner] for name, owner in owners.items() if owner in laid_out}
        addressed = [name for name in network.names if name in offsets]
        first_cells = [*(offsets[name] for name in names), *starts[len(names) :]]
        return cls(
            network,
            names,
            tuple(name for name in network.names if name in without),
            tuple(sensors),
            offsets,
            {name: network.shape(name) for name in addressed},
            {name: slice(offsets[name], offsets[name] + prod(network.shape(name))) for name in addressed},
            _integers(sizes),
            _integers(member for members in families for member in members),
            _integers(prod(shape[i + 1 :]) for shape in shapes for i in range(len(shape))),
            np.cumsum([0, *(len(members) for members in families)], dtype=np.int64),
            cell_starts,
            _integers(first_cells),
            family_sizes,
            np.concatenate(([0], np.cumsum(np.diff(cell_starts) // family_sizes))).astype(np.int64),
            _integers([*range(len(network), len(sizes)), *(position[name] for name in reversed(network.order))]),
        )

    @property
    def size(self) -> int:
        """How many parameters all CPTs have together."""
        return int(self.cell_starts[-1])

    @property
    def own_names(self) -> tuple[str, ...]:
        """The variables that do not share the CPT of another one: each CPT once."""
        shared = self.network.shared
        return tuple(name for name in self.names if shared.get(name) not in self.offsets) if shared else self.names

    def __contains__(self, name: object) -> bool:
        return name in self.offsets

    # One parameter ---------------------------------------------------------------------------------------------------

    def index(self, name: str, configuration: int, state: int) -> int:
        """The index of P(name = state | configuration)."""
        return self.offsets[name] + configuration * len(self.network.states(name)) + state

    def locate(self, index: int) -> tuple[str, int, int]:
        """The inverse of `index`: name, configuration and state."""
        name = self.names[bisect_right(self.cell_starts, index, hi=len(self.names)) - 1]
        configuration, state = divmod(int(index) - self.offsets[name], len(self.network.states(name)))
        return name, configuration, state

    def describe(self, index: int) -> str:
        """`P(lung=yes | smoke=no)`."""
        return self.network.describe(*self.locate(index))

    # One CPT ---------------------------------------------------------------------------------------------------------

    def slice_of(self, name: str) -> slice:
        """Where the CPT of a variable is."""
        return self.slices[name]

    def sensor_slice(self, sensor: int) -> slice:
        """Where the CPT of a sensor is."""
        family = len(self.names) + sensor
        return slice(int(self.cell_starts[family]), int(self.cell_starts[family + 1]))

    def view(self, vector: NDArray[Any], name: str) -> NDArray[Any]:
        """The part of a vector that belongs to one CPT, as (configurations, states); writing to it writes there."""
        return vector[self.slice_of(name)].reshape(-1, len(self.network.states(name)))

    def family(self, name: str) -> Family:
        """The strides of one CPT, by labels."""
        parents, shape = self.network.parents[name], self.shapes[name]
        return Family(
            name,
            self.offsets[name],
            _positions(self.network.states(name)),
            {parent: prod(shape[axis + 1 :]) for axis, parent in enumerate(parents)},
            {parent: _positions(self.network.states(parent)) for parent in parents},
        )

    # All CPTs --------------------------------------------------------------------------------------------------------

    def pack(self, cpts: Mapping[str, Any], sensors: Sequence[Any] = (), missing: float | None = None) -> Numbers:
        """All CPTs in one vector, those of the sensors last; a CPT that is not given is filled with `missing`."""
        vector = np.empty(self.size)
        for name in self.own_names:
            if name in cpts or missing is None:
                vector[self.slice_of(name)] = np.ravel(cpts[name])
            else:
                vector[self.slice_of(name)] = missing
        for number, cpt in enumerate(sensors):
            vector[self.sensor_slice(number)] = np.ravel(cpt)
        return vector

    def unpack(self, vector: Numbers, names: Iterable[str] | None = None) -> dict[str, Numbers]:
        """The CPTs of all variables, or of some, with axes (parents…, child); views into the vector."""
        wanted = self.names if names is None else names
        return {name: vector[self.slices[name]].reshape(self.shapes[name]) for name in wanted}

    # All conditional distributions, numbered one after the other -----------------------------------------------------

    def distribution_starts(self) -> Indices:
        """Where each conditional distribution begins: the states of one child in one configuration."""
        starts = [
            np.arange(first, last, size)
            for first, last, size in zip(self.cell_starts[:-1], self.cell_starts[1:], self.family_sizes, strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *starts])

    def totals(self, vector: Numbers) -> Numbers:
        """For each cell the sum of its distribution, (…, cells)."""
        starts = self.distribution_starts()
        lengths = np.diff(starts, append=vector.shape[-1])
        return np.asarray(np.repeat(np.add.reduceat(vector, starts, axis=-1), lengths, axis=-1))

    def distribution_of(self, indices: Indices) -> Indices:
        """The number of the distribution that each parameter belongs to."""
        family = np.searchsorted(self.cell_starts, indices, side="right") - 1
        within = (indices - self.cell_starts[family]) // self.family_sizes[family]
        return np.asarray(self.first_distributions[family] + within, dtype=np.int64)

    def locate_distributions(self, numbers: Indices) -> tuple[Indices, Indices]:
        """The family and the configuration of each distribution, by its number."""
        firsts = self.first_distributions
        family = np.searchsorted(firsts, numbers, side="right") - 1
        return family, numbers - firsts[family]


def family_strides(network: Network, name: str) -> tuple[list[int], list[int]]:
    """The positions of a family's members, parents then child, and what a state of each adds to the index."""
    shape = network.shape(name)
    members = [network.names.index(member) for member in (*network.parents[name], name)]
    return members, [prod(shape[i + 1 :]) for i in range(len(shape))]


def too_many_cells(network: Network, name: str) -> TooLargeError:
    """The error for a CPT with more numbers than can be numbered."""
    cells = prod(network.shape(name))
    return TooLargeError(f"The CPT of {name} has {cells:.1e} numbers, too many even to number them.", 8 * cells)


def check_size(network: Network, limit: int | None = None) -> None:
    """Refuse a network whose CPTs, as arrays, would not fit into memory: before anything is allocated."""
    limit = memory_limit_or_default(limit)
    sizes = {name: 8 * prod(network.shape(name)) for name in network.names}
    largest = max(sizes, key=lambda name: sizes[name])
    total = sum(sizes.values())
    if total > limit:
        parents = network.parents[largest]
        raise TooLargeError(
            f"The CPTs of this network would take {readable_bytes(total)}; {readable_bytes(limit)} are allowed. "
            f"The largest is that of {largest} with {counted(len(parents), 'parent')}: "
            f"{readable_bytes(sizes[largest])}. "
            "Give it fewer parents or parents with fewer states, or raise memory_limit.",
            total,
        )


def _positions(labels: Iterable[str]) -> dict[str, int]:
    return {label: place for place, label in enumerate(labels)}


def _integers(values: Any) -> Indices:
    return np.array(list(values), dtype=np.int64)
