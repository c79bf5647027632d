"""pyAgrum objects: names, orders and bits, whatever order pyAgrum keeps its axes in."""

import sys

import pytest

from credo import MissingExtraError, Network, NetworkError, TooLargeError
from credo.io.pyagrum import from_pyagrum, load_pyagrum, to_pyagrum
from tests.helpers.odd_names import family


def test_a_network_comes_back_whole() -> None:
    again = from_pyagrum(to_pyagrum(family()))
    assert again == family()
    assert again.name == "my net"


def test_pyagrum_sees_the_numbers_under_the_right_names() -> None:
    network = family()
    model = to_pyagrum(network)  # kept, since its tables die with it
    cpt = model.cpt("c")
    for i in range(3):
        for j in range(4):
            assert cpt[{"a b": i, "é": j}].tolist() == network.cpt_array("c")[i, j].tolist()


def test_parents_are_matched_by_name_in_whatever_order_arcs_came() -> None:
    pyagrum = load_pyagrum("A test")
    model = pyagrum.fastBN("a{x|y|z}->c{u|v}<-b{p|q}")
    model.cpt("c")[{"a": 2, "b": 1}] = [0.125, 0.875]
    model.cpt("c")[{"a": 0, "b": 1}] = [0.25, 0.75]
    network = from_pyagrum(model)
    row = {"a": 2, "b": 1}
    assert network.cpt_array("c")[tuple(row[parent] for parent in network.parents["c"])].tolist() == [0.125, 0.875]
    row = {"a": 0, "b": 1}
    assert network.cpt_array("c")[tuple(row[parent] for parent in network.parents["c"])].tolist() == [0.25, 0.75]


def test_the_order_of_parents_is_kept_both_ways() -> None:
    for parents in (["a b", "é"], ["é", "a b"]):
        network = Network({v.name: v.states for v in family().variables}, {"c": parents})
        assert from_pyagrum(to_pyagrum(network)).parents["c"] == tuple(parents)


def test_a_table_that_nobody_set_is_structure() -> None:
    structure = family().without_cpts()
    assert from_pyagrum(to_pyagrum(structure)) == structure
    half = structure.with_cpts({"é": family().cpt_array("é")})
    assert from_pyagrum(to_pyagrum(half)) == half


def test_other_kinds_of_variables_have_their_labels_as_text() -> None:
    pyagrum = load_pyagrum("A test")
    model = pyagrum.BayesNet()
    model.add(pyagrum.RangeVariable("range", "", 1, 3))
    model.add(pyagrum.IntegerVariable("integer", "", [1, 5, 9]))
    model.add(pyagrum.DiscretizedVariable("interval", "", [0, 1.5, 3]))
    network = from_pyagrum(model)
    assert network.states("range") == ("1", "2", "3")
    assert network.states("integer") == ("1", "5", "9")
    assert network.states("interval") == ("[0;1.5[", "[1.5;3]")
    assert network.name == "network"


def test_variables_with_one_state_keep_their_axes() -> None:
    variables = {"a": ["x"], "b": ["p"], "c": ["u"]}
    network = Network(variables, {"c": ["a", "b"], "b": ["a"]}, {"a": [1.0], "b": [[1.0]], "c": [[[1.0]]]})
    assert from_pyagrum(to_pyagrum(network)) == network


def test_a_table_that_is_none_is_an_error_that_says_where() -> None:
    pyagrum = load_pyagrum("A test")
    model = pyagrum.fastBN("a{x|y}")
    model.cpt("a")[:] = [0.5, 0.6]
    with pytest.raises(NetworkError, match=r"P\(a\) sums to 1.1"):
        from_pyagrum(model)


@pytest.mark.parametrize("bad", ["\ud800", "a\0b"])
def test_text_that_pyagrum_cannot_take_is_named(bad: str) -> None:
    with pytest.raises(NetworkError, match="The name of a variable"):
        to_pyagrum(Network({bad: ["x"]}))
    with pytest.raises(NetworkError, match="A state of a "):
        to_pyagrum(Network({"a": [bad]}))
    with pytest.raises(NetworkError, match="The name of the network"):
        to_pyagrum(Network({"a": ["x"]}, name=bad))


def test_a_table_that_would_fill_the_memory_is_refused_before() -> None:
    names = [f"v{i}" for i in range(60)]
    with pytest.raises(TooLargeError, match="CPT of v0"):
        to_pyagrum(Network({name: ["a", "b"] for name in names}, {"v0": names[1:]}))


def test_something_else_is_an_error() -> None:
    with pytest.raises(NetworkError, match="not a dict"):
        from_pyagrum({})


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    with pytest.raises(MissingExtraError, match=r"credo\[agrum\]"):
        to_pyagrum(family())
