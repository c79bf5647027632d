"""pgmpy objects: names, orders and bits, whatever order its tables keep."""

import sys
import warnings
from typing import Any

import numpy as np
import pytest

from credo import MissingExtraError, NetworkError
from credo.io.pgmpy import from_pgmpy, to_pgmpy
from tests.helpers.odd_names import family

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork


def model_with(*cpds: Any, edges: Any = (("a", "c"), ("b", "c"))) -> Any:
    model = DiscreteBayesianNetwork(list(edges))
    model.add_cpds(*cpds)
    return model


A = TabularCPD("a", 2, [[0.25], [0.75]], state_names={"a": ["x", "y"]})
B = TabularCPD("b", 3, [[0.25], [0.25], [0.5]], state_names={"b": [1, 2, 3]})


def test_a_network_comes_back_whole() -> None:
    model = to_pgmpy(family())
    assert model.check_model()
    again = from_pgmpy(model)
    assert again == family()
    assert again.name == "my net"


def test_pgmpy_sees_the_numbers_under_the_right_names() -> None:
    cpd = to_pgmpy(family()).get_cpds("c")
    value = cpd.get_value(**{"c": "v", "a b": "12+", "é": "a|b"})
    assert value == family().cpt_array("c")[1, 3, 1]


def test_parents_follow_the_table_and_not_the_edges() -> None:
    values = np.array([[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]])
    names = {"c": ["u", "v"], "b": [1, 2, 3], "a": ["x", "y"]}
    network = from_pgmpy(model_with(A, B, TabularCPD("c", 2, values, ["b", "a"], [3, 2], state_names=names)))
    assert network.parents["c"] == ("b", "a")
    assert network.states("b") == ("1", "2", "3")
    assert network.cpt_array("c")[..., 0].tolist() == [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]


def test_a_parents_states_in_another_order_are_put_right() -> None:
    names = {"c": ["u", "v"], "a": ["y", "x"]}
    child = TabularCPD("c", 2, [[0.1, 0.2], [0.9, 0.8]], ["a"], [2], state_names=names)
    network = from_pgmpy(model_with(A, child, edges=[("a", "c")]))
    assert network.states("a") == ("x", "y")
    assert network.cpt_array("c").tolist() == [[0.2, 0.8], [0.1, 0.9]]


def test_other_states_for_a_parent_are_an_error() -> None:
    names = {"c": ["u", "v"], "a": ["x", "z"]}
    child = TabularCPD("c", 2, [[0.1, 0.2], [0.9, 0.8]], ["a"], [2], state_names=names)
    with pytest.raises(NetworkError, match="CPT of c has other states for a"):
        from_pgmpy(model_with(A, child, edges=[("a", "c")]))


def test_edges_that_the_table_does_not_know_are_an_error() -> None:
    with pytest.raises(NetworkError, match="edges to c from a, b, but the parents in its CPT are none"):
        from_pgmpy(model_with(A, B, TabularCPD("c", 2, [[0.5], [0.5]])))


def test_states_that_become_the_same_text_are_an_error() -> None:
    bad = TabularCPD("a", 2, [[0.5], [0.5]], state_names={"a": [1, "1"]})
    model = DiscreteBayesianNetwork()
    model.add_node("a")
    model.add_cpds(bad)
    with pytest.raises(NetworkError, match='Two states of a become the same text "1"'):
        from_pgmpy(model)


def test_names_that_become_the_same_text_are_an_error() -> None:
    model = DiscreteBayesianNetwork([(1, "1")])
    with pytest.raises(NetworkError, match="Two variables"):
        from_pgmpy(model)


def test_structure_comes_back_with_its_states() -> None:
    structure = family().without_cpts()
    assert from_pgmpy(to_pgmpy(structure)) == structure
    half = structure.with_cpts({"c": family().cpt_array("c")})
    assert from_pgmpy(to_pgmpy(half)) == half


def test_states_are_taken_from_a_childs_table_where_their_own_is_missing() -> None:
    names = {"c": ["u", "v"], "a": ["y", "x"]}
    child = TabularCPD("c", 2, [[0.1, 0.2], [0.9, 0.8]], ["a"], [2], state_names=names)
    network = from_pgmpy(model_with(child, edges=[("a", "c")]))
    assert network.states("a") == ("y", "x")
    assert set(network.cpts) == {"c"}


def test_states_that_nobody_knows_are_an_error() -> None:
    with pytest.raises(NetworkError, match="does not list the states of a"):
        from_pgmpy(DiscreteBayesianNetwork([("a", "c")]))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pgmpy", "pgmpy.models", "pgmpy.factors.discrete"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"credo\[pgmpy\]"):
        to_pgmpy(family())
