"""Networks and variables: every check says what is wrong and where; nothing can be changed afterwards."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from credo import Network, NetworkError, OptionError, Variable
from credo.errors import first_duplicate
from credo.model.network_validation import SUM_TOLERANCE

LUNG = [[0.99, 0.01], [0.9, 0.1]]


def example(**changes: Any) -> Network:
    arguments: dict[str, Any] = {
        "variables": {"smoke": ["no", "yes"], "age": ["young", "mid", "old"], "lung": ["no", "yes"]},
        "parents": {"lung": ["smoke", "age"]},
        "cpts": {"lung": np.full((2, 3, 2), 0.5), "smoke": [0.7, 0.3]},
        "name": "example",
    }
    return Network(**(arguments | changes))


# Variables -----------------------------------------------------------------------------------------------------------


def test_a_variable_is_a_name_and_states_in_order() -> None:
    variable = Variable("age", ["young", "old"])  # type: ignore[arg-type]
    assert variable.states == ("young", "old")
    assert variable == Variable("age", ("young", "old"))
    assert variable != Variable("age", ("old", "young"))
    assert len({variable, Variable("age", ("young", "old"))}) == 1


@pytest.mark.parametrize(
    ("name", "states", "message"),
    [
        ("", ("a",), "needs a name"),
        (7, ("a",), "needs a name"),
        (None, ("a",), "needs a name"),
        ("x", (), "x has no states"),
        ("x", ("a", ""), "x: a state is a text that is not empty, not ''"),
        ("x", ("a", 1), "x: a state is a text that is not empty, not 1"),
        ("x", ("a", "b", "a"), "x has the state a twice"),
    ],
)
def test_a_bad_variable_is_an_error(name: Any, states: Any, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Variable(name, states)


def test_a_variable_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Variable("a", ("x",)).name = "b"  # type: ignore[misc]


# What a network answers ----------------------------------------------------------------------------------------------


def test_a_network_answers_by_name() -> None:
    network = example()
    assert network.names == ("smoke", "age", "lung")
    assert list(network) == ["smoke", "age", "lung"]
    assert len(network) == 3
    assert "age" in network
    assert "agee" not in network
    assert network.variable("age") == Variable("age", ("young", "mid", "old"))
    assert network.states("age") == ("young", "mid", "old")
    assert network.parents == {"smoke": (), "age": (), "lung": ("smoke", "age")}
    assert network.shape("lung") == (2, 3, 2)
    assert network.shape("age") == (3,)
    assert network.configurations("lung") == 6
    assert network.configurations("age") == 1
    assert network.name == "example"


def test_variables_may_be_a_mapping_or_a_sequence() -> None:
    variables = [Variable("a", ("x", "y")), Variable("b", ("p",))]
    assert Network(variables) == Network({"a": ["x", "y"], "b": ["p"]})


def test_the_order_puts_parents_first() -> None:
    network = Network({name: ["x"] for name in "abcd"}, {"a": ["b", "c"], "b": ["d"], "c": ["d"]})
    assert network.names == ("a", "b", "c", "d")
    for child in network:
        for parent in network.parents[child]:
            assert network.order.index(parent) < network.order.index(child)


def test_configurations_are_counted_with_the_last_parent_fastest() -> None:
    network = example()
    assert network.configuration("lung", 0) == {"smoke": "no", "age": "young"}
    assert network.configuration("lung", 1) == {"smoke": "no", "age": "mid"}
    assert network.configuration("lung", 5) == {"smoke": "yes", "age": "old"}
    assert network.configuration("age", 0) == {}
    table = np.arange(12.0).reshape(2, 3, 2)
    for row in range(6):
        labels = network.configuration("lung", row)
        at = tuple(network.states(parent).index(label) for parent, label in labels.items())
        assert table[at].tolist() == table.reshape(6, 2)[row].tolist()


def test_a_network_prints_its_variables_states_and_parents() -> None:
    network = example()
    assert repr(network) == "<Network 'example': 3 variables, 2 arcs, 2 CPTs>"
    assert str(network).splitlines() == [
        "Network 'example': 3 variables, 2 arcs, 2 CPTs",
        "  smoke: no, yes",
        "  age: young, mid, old",
        "  lung: no, yes; parents: smoke, age",
    ]
    many = Network({"word": [f"w{i}" for i in range(1000)]})
    assert str(many).splitlines()[1] == "  word: w0, w1, w2, w3, w4, w5, w6, w7, … (992 more)"


def test_distributions_are_described_as_people_write_them() -> None:
    network = example()
    assert network.describe("lung", 4) == "P(lung | smoke=yes, age=mid)"
    assert network.describe("lung", 4, 1) == "P(lung=yes | smoke=yes, age=mid)"
    assert network.describe("age", 0) == "P(age)"
    assert network.describe("age", 0, 2) == "P(age=old)"


def test_tables_may_be_missing() -> None:
    network = example()
    assert not network.is_complete
    assert network.with_cpts({"age": [0.2, 0.3, 0.5]}).is_complete
    assert not network.without_cpts().cpts
    assert list(network.cpts) == ["smoke", "lung"]
    with pytest.raises(NetworkError, match="age has no CPT"):
        network.cpt_array("age")


@pytest.mark.parametrize("ask", ["variable", "states", "shape", "configurations", "cpt_array", "cpt"])
def test_an_unknown_name_is_an_error_with_the_nearest(ask: str) -> None:
    with pytest.raises(NetworkError, match=r'no variable "lang"\. Did you mean "lung"'):
        getattr(example(), ask)("lang")


# Checks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"variables": {}, "parents": {}, "cpts": {}}, "at least one variable"),
        ({"variables": [Variable("a", ("x",))] * 2, "parents": {}, "cpts": {}}, "Two variables have the name a"),
        ({"parents": {"long": ["smoke"]}}, 'Parents are given for "long", .* Did you mean "lung"'),
        ({"parents": {"lung": ["smok"]}}, 'The parent "smok" of lung is not a variable. Did you mean "smoke"'),
        ({"parents": {"lung": ["smoke", "smoke"]}}, "lung has the parent smoke twice"),
        ({"parents": {"lung": "smoke"}}, "a list of names, not the text 'smoke'"),
        ({"parents": {"lung": ["smoke"], "smoke": ["lung"]}, "cpts": {}}, "cycle: .*smoke.*→.*lung"),
        ({"parents": {"lung": ["lung"]}, "cpts": {}}, "cycle: lung → lung"),
        ({"cpts": {"lang": [1, 0]}}, 'no variable "lang"'),
        ({"cpts": {"smoke": [0.5, 0.25, 0.25]}}, r"smoke has the shape \(3,\); its axes \(smoke\) need \(2,\)"),
        ({"cpts": {"lung": np.full((3, 2, 2), 0.5)}}, r"axes \(smoke, age, lung\) need \(2, 3, 2\)"),
        ({"cpts": {"smoke": 0.5}}, "shape"),
        ({"cpts": {"smoke": ["a", "b"]}}, "The CPT of smoke is not an array of numbers"),
        ({"cpts": {"smoke": [[0.5], [0.5, 1]]}}, "The CPT of smoke is not an array of numbers"),
        ({"cpts": {"smoke": [1.5, -0.5]}}, r"P\(smoke=yes\) = -0.5 is negative"),
        ({"cpts": {"smoke": [np.nan, 1]}}, r"P\(smoke=no\) = nan is not a finite number"),
        ({"cpts": {"smoke": [np.inf, 1]}}, r"P\(smoke=no\) = inf is not a finite number"),
        ({"cpts": {"smoke": [0.5, 0.4]}}, r"P\(smoke\) sums to 0.9, not to 1\."),
        (
            {"cpts": {"lung": np.full((2, 3, 2), 0.4)}},
            r"P\(lung \| smoke=no, age=young\) sums to 0.8.*5 more distributions",
        ),
    ],
)
def test_a_bad_network_is_an_error_that_says_where(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        example(**changes)


def test_the_distribution_that_is_wrong_is_named() -> None:
    table = np.full((2, 3, 2), 0.5)
    table[1, 2] = [0.5, 0.6]
    with pytest.raises(NetworkError, match=r"P\(lung \| smoke=yes, age=old\) sums to 1.1, not to 1\."):
        example(cpts={"lung": table})


def test_rounded_distributions_are_kept_as_they_are() -> None:
    off = [0.5, 0.5 + SUM_TOLERANCE / 2]
    assert example(cpts={"smoke": off}).cpt_array("smoke").tolist() == off
    with pytest.raises(NetworkError, match="sums to"):
        example(cpts={"smoke": [0.5, 0.5 + 2 * SUM_TOLERANCE]})


# Nothing changes -----------------------------------------------------------------------------------------------------


def test_a_network_is_frozen() -> None:
    network = example()
    with pytest.raises(FrozenInstanceError):
        network.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        network.parents["lung"] = ()  # type: ignore[index]
    with pytest.raises(TypeError):
        network.cpts["lung"] = np.ones(2)  # type: ignore[index]


def test_tables_cannot_be_written_to_and_do_not_follow_their_source() -> None:
    source = np.array([0.25, 0.75])
    network = example(cpts={"smoke": source})
    with pytest.raises(ValueError, match="read-only"):
        network.cpt_array("smoke")[0] = 1
    source[0] = 0.5
    assert network.cpt_array("smoke").tolist() == [0.25, 0.75]
    assert source.flags.writeable


def test_a_read_only_view_of_something_that_can_change_is_copied() -> None:
    source = np.array([0.25, 0.75])
    view = source[:]
    view.setflags(write=False)
    network = example(cpts={"smoke": view})
    source[0] = 0.5
    assert network.cpt_array("smoke").tolist() == [0.25, 0.75]


def test_tables_are_shared_between_networks() -> None:
    network = example()
    changed = network.with_cpts({"smoke": [0.5, 0.5]})
    assert changed.cpt_array("lung") is network.cpt_array("lung")
    assert changed.cpt_array("smoke").tolist() == [0.5, 0.5]
    assert network.cpt_array("smoke").tolist() == [0.7, 0.3]
    assert changed.name == "example"


def test_pickles_and_copies_are_equal() -> None:
    network = example()
    for again in (pickle.loads(pickle.dumps(network)), copy.copy(network), copy.deepcopy(network)):
        assert again == network
        assert again.name == network.name
        assert not again.cpt_array("lung").flags.writeable


def test_equality_sees_every_order_and_every_bit() -> None:
    network = example()
    assert network == example()
    assert hash(network) == hash(example())
    assert network == example(name="another name")
    assert network != example(parents={"lung": ["age", "smoke"]}, cpts={})
    assert network != network.without_cpts()
    assert network != network.with_cpts({"smoke": [np.nextafter(0.7, 1), 0.3]})
    states = {"smoke": ["yes", "no"], "age": ["young", "mid", "old"], "lung": ["no", "yes"]}
    assert network != example(variables=states)
    reordered = {"age": ["young", "mid", "old"], "smoke": ["no", "yes"], "lung": ["no", "yes"]}
    assert network != example(variables=reordered)
    assert network != "example"


def test_first_twice() -> None:
    assert first_duplicate(["a", "b", "b", "a"]) == "b"
    assert first_duplicate(["a", "b"]) is None
    assert first_duplicate([]) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a", "b"],), "mapping from names to lists of states"),
        ((5,), "mapping from names to lists of states"),
        (("ab",), "mapping from names to lists of states"),
        (({"a": 2},), "states of a are a list of texts, not 2"),
        (({"a": None},), "states of a are a list of texts"),
        (({"a": "xy"},), "states of a are a list of texts, not 'xy'"),
        (({"a": {"x", "y"}},), "states of a are a list of texts"),
        (({"a": ["x"]}, {"a": [5]}), 'parent "5" of a is not a variable'),
        (({"a": ["x"]}, {"a": [["a"]]}), "of a is not a variable"),
        (({"a": ["x"]}, {"a": 5}), "parents of a are a list of names, not 5"),
        (({"a": ["x"]}, {5: []}), 'given for "5"'),
        (({"a": ["x"]}, 5), "parents are a mapping"),
        (({"a": ["x"]}, None, 5), "cpts are a mapping"),
        (({"a": ["x"]}, None, {5: [1.0]}), 'no variable "5"'),
        (({"a": ["x"]}, None, None, 5), "name of a network is a text"),
    ],
)
def test_arguments_of_a_wrong_type_are_network_errors(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Network(*arguments)


@pytest.mark.parametrize("arguments", [(2.5,), ("2",), (True,), (-1,), (2, -1), (2, "seed"), (2, 0.5)])
def test_draws_need_whole_numbers(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(OptionError):
        Network({"a": ["x", "y"]}, cpts={"a": [0.5, 0.5]}).sample(*arguments)


def test_what_is_no_mapping_and_no_network_is_refused() -> None:
    network = Network({"a": ["n", "y"]})
    with pytest.raises(NetworkError, match="a mapping from names"):
        network.with_cpts([[0.5, 0.5]])  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="another Network"):
        network.kl(None)  # type: ignore[arg-type]
