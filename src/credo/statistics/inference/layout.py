"""A network as compiled loops see it: every table a stretch of one array, families as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import TooLargeError
from credo.model.network import Network

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]

# Within a table, cells are numbered with 32 bits.
MOST_CELLS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Sensor:
    """An observed child that is no variable of the network.

    Soft evidence is a sensor whose table holds likelihoods, a column for each distinct one. A question is a sensor
    with a table of ones: it changes nothing, and the expected counts of its family are the answer.
    """

    parents: tuple[str, ...]
    states: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where the table of each family lies; sensors come after the network's own variables."""

    network: Network
    sensors: tuple[Sensor, ...]
    position: Mapping[str, int]  # of a variable among all
    sizes: Integers  # (variables,) numbers of states
    members: Integers  # positions of parents and child, family after family
    strides: Integers  # what a member's state adds to the cell
    starts: Integers  # (variables + 1,) where each family begins in `members`
    offsets: Integers  # (variables + 1,) where each table begins
    backward: Integers  # (variables,) children before parents

    @classmethod
    def of(cls, network: Network, sensors: Sequence[Sensor] = ()) -> Layout:
        names = network.names
        position = {name: i for i, name in enumerate(names)}
        parents = [*(network.parents[name] for name in names), *(sensor.parents for sensor in sensors)]
        sizes = [*(len(network.states(name)) for name in names), *(sensor.states for sensor in sensors)]
        families = [[*(position[parent] for parent in own), child] for child, own in enumerate(parents)]
        shapes = [[sizes[member] for member in members] for members in families]
        cells = [prod(shape) for shape in shapes]
        for name, count in zip(names, cells, strict=False):
            if count > MOST_CELLS:
                raise TooLargeError(f"The table of {name} has {count:.1e} cells, too many for inference.", 8 * count)
        return cls(
            network,
            tuple(sensors),
            position,
            _integers(sizes),
            _integers(member for members in families for member in members),
            _integers(prod(shape[i + 1 :]) for shape in shapes for i in range(len(shape))),
            _integers(np.cumsum([0, *(len(members) for members in families)])),
            _integers(np.cumsum([0, *cells])),
            _integers([*range(len(names), len(sizes)), *(position[name] for name in reversed(network.order))]),
        )

    @property
    def cells(self) -> int:
        """Of all tables together."""
        return int(self.offsets[-1])

    def stretch(self, name: str) -> slice:
        """Where the table of a variable lies."""
        position = self.position[name]
        return slice(int(self.offsets[position]), int(self.offsets[position + 1]))

    def sensor_stretch(self, sensor: int) -> slice:
        """Where the table of a sensor lies."""
        position = len(self.network) + sensor
        return slice(int(self.offsets[position]), int(self.offsets[position + 1]))


def pack(layout: Layout, tables: Mapping[str, Any], sensors: Sequence[Any] = ()) -> Numbers:
    """All tables in one array, those of the sensors last."""
    parts = [tables[name] for name in layout.network.names]
    return np.concatenate([np.ravel(part) for part in (*parts, *sensors)]).astype(np.float64, copy=False)


def unpack(layout: Layout, cells: Numbers) -> dict[str, Numbers]:
    """The tables of the network's own variables, axes (parents…, child); views into the array."""
    names = layout.network.names
    return {
        name: cells[layout.offsets[i] : layout.offsets[i + 1]].reshape(layout.network.shape(name))
        for i, name in enumerate(names)
    }


def row_starts(layout: Layout) -> Integers:
    """Where each row of each table begins: all cells of a row are one distribution of a child."""
    starts = [np.arange(layout.offsets[i], layout.offsets[i + 1], size) for i, size in enumerate(layout.sizes)]
    return np.concatenate(starts).astype(np.int64)


def _integers(values: Any) -> Integers:
    return np.array(list(values), dtype=np.int64)
