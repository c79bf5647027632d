"""Two networks compared: divergence by family and the numbers that differ."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network, NetworkError
from credo.statistics.network_comparison import compare_networks

FIRST = Network(
    {"a": ["no", "yes"], "b": ["no", "yes"]},
    {"b": ["a"]},
    {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]},
)


def test_equal_networks_have_no_differences() -> None:
    found = compare_networks(FIRST, FIRST)
    assert found.kl == 0.0
    assert len(found.families) == len(found.parameters) == 0


def test_divergence_by_family_and_the_largest_difference_first() -> None:
    second = FIRST.with_cpts({"b": [[0.9, 0.1], [0.5, 0.5]]})
    found = compare_networks(FIRST, second)
    expected = 0.5 * (0.2 * np.log(0.2 / 0.5) + 0.8 * np.log(0.8 / 0.5))
    assert found.kl == pytest.approx(expected)
    assert found.kl == pytest.approx(FIRST.kl(second))
    assert found.families.rows() == [("b", pytest.approx(expected))]
    assert found.parameters["parameter"].to_list() == ["P(b=yes | a=yes)"]
    assert found.parameters["difference"].to_list() == pytest.approx([-0.3])


def test_an_infinite_divergence_is_null_in_json() -> None:
    found = compare_networks(FIRST, FIRST.with_cpts({"b": [[1.0, 0.0], [0.2, 0.8]]}))
    assert found.kl == np.inf
    assert found.to_dict()["kl"] is None


def test_other_variables_are_an_error() -> None:
    with pytest.raises(NetworkError):
        compare_networks(FIRST, Network({"a": ["no", "yes"]}, cpts={"a": [0.5, 0.5]}))
