"""Priors as pseudo-counts."""

from __future__ import annotations

import numpy as np
import pytest

from credo import BDeu, Dirichlet, Network, NetworkPrior, PriorError
from credo.statistics.prior import as_prior, pseudo_counts


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (2, Dirichlet(2.0)),
        (0.5, Dirichlet(0.5)),
        ("k2", Dirichlet(1.0)),
        ("K2", Dirichlet(1.0)),
        ("bdeu", BDeu(10.0)),
        ("bdeu:4", BDeu(4.0)),
        ("dirichlet:3", Dirichlet(3.0)),
        ("0.25", Dirichlet(0.25)),
        (BDeu(2), BDeu(2)),
    ],
)
def test_what_users_write(smoking: Network, written: object, meant: object) -> None:
    assert as_prior(written, smoking) == meant


@pytest.mark.parametrize(
    "written", ["k3", "bdeu:many", "", -1, float("nan"), float("inf"), True, [1], "k2:3", BDeu(-1)]
)
def test_what_is_no_prior(smoking: Network, written: object) -> None:
    with pytest.raises(PriorError):
        as_prior(written, smoking)


def test_bdeu_spreads_its_size_over_the_table(mixed: Network) -> None:
    counts = np.broadcast_to(pseudo_counts(BDeu(12), mixed, "c"), (6, 4))
    assert counts.sum() == pytest.approx(12)


def test_priors_by_variable(smoking: Network) -> None:
    prior = as_prior({"lung": "bdeu:8", "smoke": smoking}, smoking)
    assert pseudo_counts(prior, smoking, "lung").tolist() == [[2.0]]
    assert pseudo_counts(prior, smoking, "smoke").tolist() == [[0.5, 0.5]]
    assert pseudo_counts(as_prior({"smoke": 1}, smoking), smoking, "lung").tolist() == [[0.0]]
    with pytest.raises(PriorError, match='"lungs".*mean "lung"'):
        as_prior({"lungs": 1}, smoking)


def test_a_prior_network_is_aligned_by_names(mixed: Network) -> None:
    """Parents in another order, states in another order: the same numbers must come out."""
    table = mixed.cpt_array("c")  # axes b, a, c
    turned = Network(
        {"c": mixed.states("c")[::-1], "b": mixed.states("b"), "a": mixed.states("a")[::-1]},
        {"c": ("a", "b")},
        {"c": table.transpose(1, 0, 2)[::-1, :, ::-1]},
    )
    counts = pseudo_counts(NetworkPrior(turned, 3.0), mixed, "c")
    np.testing.assert_array_equal(counts, 3.0 * table.reshape(-1, 4))


def test_a_prior_network_that_does_not_fit(smoking: Network, mixed: Network) -> None:
    with pytest.raises(PriorError, match='does not fit.*no variable "lung"'):
        pseudo_counts(NetworkPrior(mixed), smoking, "lung")
    other = Network({"smoke": ("never", "always")}, cpts={"smoke": [0.5, 0.5]})
    with pytest.raises(PriorError, match="smoke has the states"):
        pseudo_counts(NetworkPrior(other), smoking, "smoke")
