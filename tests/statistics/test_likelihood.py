"""The log-likelihood of rows, complete or not."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from credo import Network, read_table


def test_by_hand(smoking: Network) -> None:
    frame = pl.DataFrame({"lung": ["yes", "no"], "smoke": ["yes", "no"]})
    assert smoking.log_likelihood(frame) == pytest.approx(math.log(0.5 * 0.1) + math.log(0.5 * 0.99))


def test_against_the_joint(mixed: Network) -> None:
    frame = mixed.sample(500, 2)
    joint = np.einsum("a,ab,bac->abc", mixed.cpt_array("a"), mixed.cpt_array("b"), mixed.cpt_array("c"))
    codes = read_table(mixed, frame).codes
    assert mixed.log_likelihood(frame) == pytest.approx(np.log(joint[tuple(codes.T)]).sum())


def test_an_impossible_row_has_likelihood_zero() -> None:
    network = Network({"x": ("a", "b")}, cpts={"x": [1.0, 0.0]})
    assert network.log_likelihood(pl.DataFrame({"x": ["b"]})) == -math.inf
    assert network.log_likelihood(pl.DataFrame({"x": ["a"]})) == 0.0


def test_missing_values_are_summed_over(smoking: Network) -> None:
    assert smoking.log_likelihood(pl.DataFrame({"smoke": ["yes"]})) == pytest.approx(math.log(0.5))
    seen = pl.DataFrame({"smoke": ["yes", None], "lung": [None, "yes"]})
    assert smoking.log_likelihood(seen) == pytest.approx(math.log(0.5) + math.log(0.5 * 0.1 + 0.5 * 0.01))


def test_a_row_without_any_value_is_certain(smoking: Network) -> None:
    assert smoking.log_likelihood(pl.DataFrame({"smoke": [None, "no"], "lung": [None, None]})) == math.log(0.5)


def test_an_impossible_incomplete_row_has_likelihood_zero() -> None:
    network = Network({"x": ("a", "b"), "y": ("a", "b")}, {"y": ["x"]}, {"x": [1, 0], "y": [[1, 0], [0, 1]]})
    assert network.log_likelihood(pl.DataFrame({"y": ["b", "a"]})) == -math.inf
