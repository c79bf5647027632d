"""The networks of the study, their families of near-duplicates, and the two halves.

Names that differ in a digit at their end are variants of one paper, so that they are one family. A half holds whole
families, and which half a family is in depends on its name alone. Without the folder of published networks, the study
runs on six random ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from zlib import crc32

import credo
from credo.model.network import Network
from credo.testing import made_up_network
from experiments.running import SHARED

HALVES = ("development", "held-out")
MOST_CELLS = 5_000  # of all CPTs together
MOST_VARIABLES = 100
RANDOM = tuple(f"random_{letter}" for letter in "abcdef")
FEW_PARENTS = (0.3, 0.3, 0.3, 0.1)


def family_of(name: str) -> str:
    """What variants of one paper share."""
    return name.rstrip("0123456789")


def half_of(name: str) -> str:
    """The half that a network is in."""
    return HALVES[crc32(family_of(name).encode()) % 2]


@lru_cache(maxsize=4)
def network_files(folder: Path = SHARED / "networks") -> dict[str, Path | None]:
    """The file of each network by name; None for the random ones, which stand in where there are no files."""
    found = {path.name.split(".")[0]: path for path in sorted(folder.glob("*.bif*"))}
    found |= {path.stem: path for path in sorted((folder / "published").glob("*.bif"))}
    return dict(found) or dict.fromkeys(RANDOM)


@lru_cache(maxsize=256)
def true_network(name: str) -> Network:
    """The network that data are drawn from."""
    file = network_files().get(name)
    if file is not None:
        return credo.read_network(file)
    seed = RANDOM.index(name)
    return made_up_network(5 + seed, (2, 3), FEW_PARENTS, concentration=0.5, seed=seed, name=name)


def cells_of(network: Network) -> int:
    """How many numbers all CPTs have."""
    return sum(network.configurations(name) * len(network.states(name)) for name in network.names)


def is_small_enough(network: Network, most_cells: int = MOST_CELLS) -> bool:
    """Whether a network is part of the study."""
    return len(network) <= MOST_VARIABLES and cells_of(network) <= most_cells


def in_order(names: Iterable[str]) -> list[str]:
    """The first variant of every family before the second ones, so that a run that is cut short has many families."""
    families: dict[str, list[str]] = {}
    for name in sorted(names):
        families.setdefault(family_of(name), []).append(name)
    numbered = [(i, crc32(name.encode()), name) for own in families.values() for i, name in enumerate(own)]
    return [name for _, _, name in sorted(numbered)]
