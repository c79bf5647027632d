"""The documented posterior beside NumPyro: what is compared, and against closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.published.networks import RANDOM, true_network
from experiments.published.side_by_side import (
    Family,
    by_numpyro,
    differences,
    distributions,
    families_of,
    in_order,
    scores,
    section,
)
from experiments.published.statements import all_influences

import credo
from credo.knowledge.statements import Influence
from credo.posterior.chains import PriorConstants

ONE = PriorConstants(following=(4.0,), free=(0.5,))  # two components


def test_scores_are_half_apart_from_their_mean() -> None:
    assert scores(2) == pytest.approx([-0.5, 0.5])
    assert scores(5).std() == pytest.approx(0.5)


def test_orders_are_between_configurations_with_rows() -> None:
    """Of p (raises) and q (no sign): (0, 0) below (2, 0), though (1, 0) has no rows; nothing across q."""
    counts = np.ones((3, 2, 2))
    counts[1, 0] = 0.0
    found = Family(counts, (1, 0)).ordered_pairs()
    assert set(found) == {(0, 4), (1, 3), (1, 5), (3, 5)}
    draws = np.array([[[0.8, 0.2], [0.3, 0.7]], [[0.3, 0.7], [0.8, 0.2]]])
    assert in_order(draws, [(0, 1)]).tolist() == [True, False]


def test_distributions_given_a_base_are_mixtures_by_hand() -> None:
    """With 4 of (1/2, 1/2) or (1/2, 1/2) pseudo-counts and (6, 0) rows: weights are Beta functions."""
    family = Family(np.array([6.0, 0.0]), ())
    bases, logs = np.full((4, 5000, 1, 2), 0.5), np.full((4, 5000, 2), np.log(0.5))
    drawn = distributions(np.random.default_rng(0), family, bases, logs, ONE)
    assert drawn is not None
    follow = np.prod([(2 + i) / (4 + i) for i in range(6)])
    free = np.prod([(0.5 + i) / (1 + i) for i in range(6)])
    wanted = (follow * 8 / 10 + free * 6.5 / 7) / (follow + free)
    assert drawn[..., 0].mean() == pytest.approx(wanted, abs=3e-3)


def test_orders_hold_in_what_is_drawn_and_where_they_cannot_nothing_is() -> None:
    family = Family(np.array([[2.0, 8.0], [8.0, 2.0]]), (1,))
    bases, logs = np.full((1, 300, 2, 2), 0.5), np.full((1, 300, 2), np.log(0.5))
    drawn = distributions(np.random.default_rng(0), family, bases, logs, ONE)
    assert drawn is not None
    assert in_order(drawn[0], [(0, 1)]).all()
    hopeless = Family(100 * family.counts, (1,))
    assert distributions(np.random.default_rng(0), hopeless, bases, logs, ONE) is None


def test_nothing_differs_from_itself() -> None:
    truth = true_network(RANDOM[0])
    influences = [each for each in all_influences(truth) if isinstance(each, Influence)]
    families = families_of(truth.without_cpts(), truth.sample(50, seed=1), influences)
    rng = np.random.default_rng(1)
    flat = {name: rng.dirichlet(np.ones(own.states), (4, 100, len(own.cells))) for name, own in families.items()}
    shaped = {name: own.reshape(4, 100, *families[name].counts.shape) for name, own in flat.items()}
    found = differences(truth, families, shaped, flat, set())
    assert found["far"] == 0
    assert found["difference of ends"] == found["most different mean"] == 0.0


def test_section_of_the_page(tmp_path: Path) -> None:
    assert section(tmp_path / "none.csv") == []
    columns = (
        "seconds", "numpyro seconds", "compiling", "divergences", "left out", "numbers", "far", "difference of means",
        "most different mean", "difference of ends", "least effective", "numpyro least effective",
    )  # fmt: skip
    row = {"network": "asia", "rows": 100, "condition": "none", "influences": 0} | dict.fromkeys(columns, 2)
    pl.DataFrame([row]).write_csv(tmp_path / "side_by_side.csv")
    assert "Far are 2 of 2 numbers. NumPyro takes 1 times" in "\n".join(section(tmp_path / "side_by_side.csv"))


def test_numpyro_draws_the_same_posterior() -> None:
    pytest.importorskip("numpyro", reason="NumPyro is not installed")
    network = credo.Network({"a": ["0", "1"], "b": ["0", "1"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": list("0000011111"), "b": list("0001000111")})
    influences = [each for each in credo.Knowledge(network, "a raises b").statements if isinstance(each, Influence)]
    families = families_of(network, rows, influences)
    other = by_numpyro(families, 1, 200)
    fit = credo.fit(network, rows, "a raises b", seed=1)
    for name in network.names:
        assert other.theta[name].mean(axis=(0, 1)).ravel() == pytest.approx(
            fit.network.cpt_array(name).ravel(), abs=0.03
        )
