"""Small networks and data that many tests use; all of them written down here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from credo.model.network import Network

# Networks and tables that may lie beside the project. Tests that use them skip where they are absent.
SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def smoking() -> Network:
    """Two variables, one arc, numbers that are easy to check by hand."""
    return Network(
        {"smoke": ("no", "yes"), "lung": ("no", "yes")},
        parents={"lung": ["smoke"]},
        cpts={"smoke": [0.5, 0.5], "lung": [[0.99, 0.01], [0.9, 0.1]]},
        name="smoking",
    )


@pytest.fixture
def mixed() -> Network:
    """Three variables with two, three and four states; the last has two parents."""
    return random_network({"a": 2, "b": 3, "c": 4}, {"c": ("b", "a"), "b": ("a",)}, seed=5)


def random_network(sizes: dict[str, int], parents: dict[str, tuple[str, ...]], seed: int) -> Network:
    """A network with Dirichlet(1) rows."""
    generator = np.random.default_rng(seed)
    variables = {name: [f"s{k}" for k in range(size)] for name, size in sizes.items()}
    structure = Network(variables, parents)
    tables = {
        name: generator.dirichlet(np.ones(sizes[name]), structure.configurations(name)).reshape(structure.shape(name))
        for name in structure.names
    }
    return structure.with_cpts(tables)
