"""Sites lie around the published network, or have nothing to do with it; every method learns every site."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.sites.report import write_report
from experiments.sites.trials import ALIKE, METHODS, SIZES, learners, perturbed

import credo

NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"]},
    {"lung": ["smoke"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.7, 0.3]]},
)


def test_how_far_sites_are_from_the_network() -> None:
    rng = np.random.default_rng(0)
    draws = np.array([perturbed(NETWORK, 20.0, rng).cpts["lung"][1, 1] for _ in range(2000)])
    assert draws.mean() == pytest.approx(0.3, abs=0.01)
    assert draws.var() == pytest.approx(0.3 * 0.7 / 21, rel=0.1)
    assert perturbed(NETWORK, np.inf, rng) is NETWORK
    assert np.mean([perturbed(NETWORK, 0.0, rng).cpts["lung"][0, 1] for _ in range(2000)]) == pytest.approx(
        0.5, abs=0.03
    )


def test_every_method_learns_every_site(tmp_path: Path) -> None:
    structure = credo.Network(NETWORK.variables, NETWORK.parents)
    tables = [NETWORK.sample(size, seed=size) for size in SIZES]
    found = dict(learners(structure, tables))
    assert set(found) == set(METHODS)
    rows = [
        {"network": "n", "draw": 0, "alike": next(iter(ALIKE)), "rows": size, "method": method,
         "divergence": NETWORK.kl(learned)}
        for method, networks in found.items()
        for size, learned in zip(SIZES, networks, strict=True)
    ]  # fmt: skip
    assert all(0.0 <= row["divergence"] < 0.2 for row in rows)
    assert "| 500 |" in write_report(pl.DataFrame(rows), tmp_path)
