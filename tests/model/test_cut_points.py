"""Cut points: which state a number is in, what is refused, and what states are called."""

import pickle

import numpy as np
import pytest

from credo import CutPoints, Network, NetworkError, Variable
from credo.model.cut_points import default_labels

AGE = CutPoints((40, 60), 18, 90)
LABELS = ("<40", "40-60", "60+")


@pytest.mark.parametrize(("number", "code"), [(-1e9, 0), (39.9, 0), (40, 1), (59, 1), (60, 2), (1e9, 2), (np.nan, -1)])
def test_a_state_holds_numbers_from_its_cut_point_to_below_the_next(number: float, code: int) -> None:
    assert AGE.code(number) == code
    assert AGE.codes([number]).tolist() == [code]


def test_codes_agree_with_a_comparison_of_each_number() -> None:
    rng = np.random.default_rng(0)
    points = np.sort(rng.normal(size=5))
    numbers = np.concatenate([rng.normal(size=200), points])
    expected = [int(sum(point <= number for point in points)) for number in numbers]
    assert CutPoints(tuple(points)).codes(numbers).tolist() == expected


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ((), "At least one cut point is needed"),
        ("40", "a list of numbers, not '40'"),
        ((60, 40), "60 comes before 40"),
        ((40, 40), "40 comes before 40"),
        ((40, np.inf), "finite number, not inf"),
        ((np.nan,), "finite number, not nan"),
        ((True,), "finite number, not True"),
        (("40",), "finite number, not '40'"),
    ],
)
def test_wrong_cut_points(points: tuple[float, ...], message: str) -> None:
    with pytest.raises(NetworkError, match=message.replace("(", r"\(")):
        CutPoints(points)


def test_a_range_that_ends_before_it_begins() -> None:
    with pytest.raises(NetworkError, match="The lowest number, 90, is above the highest, 18"):
        CutPoints((40,), 90, 18)


@pytest.mark.parametrize(
    ("points", "labels"),
    [
        ((40, 60), LABELS),
        ((0.5,), ("<0.5", "0.5+")),
        ((-5, -2), ("<-5", "-5 to -2", "-2+")),
        ((1e-7, 1), ("<1e-07", "1e-07 to 1", "1+")),
        ((1.23456789, 2), ("<1.235", "1.235-2", "2+")),
        ((1.23456789, 1.23457), ("<1.234568", "1.234568-1.23457", "1.23457+")),
        ((1e22, 1e23), ("<1e+22", "1e+22-1e+23", "1e+23+")),
        ((123456, 123457), ("<123456", "123456-123457", "123457+")),
    ],
)
def test_default_labels(points: tuple[float, ...], labels: tuple[str, ...]) -> None:
    assert default_labels(points) == labels
    Variable("x", labels, CutPoints(points))  # none of them can be taken for a number


def test_default_labels_differ_however_close_the_points_are() -> None:
    points = (1.0, np.nextafter(1.0, 2.0), 2.0)
    assert len(set(default_labels(points))) == 4


def test_a_variable_with_cut_points() -> None:
    assert Variable("age", LABELS, AGE) == Variable("age", LABELS, CutPoints((40, 60)))
    assert Variable("age", LABELS, AGE) != Variable("age", LABELS)
    assert Variable("age", LABELS, AGE) != Variable("age", LABELS, CutPoints((40, 61)))
    with pytest.raises(NetworkError, match="age has 2 states, but 2 cut points make 3"):
        Variable("age", ("young", "old"), AGE)
    with pytest.raises(NetworkError, match="age has 3 states, but 1 cut point makes 2"):
        Variable("age", LABELS, CutPoints((40,)))
    with pytest.raises(NetworkError, match="its state 2 could be meant as a number"):
        Variable("age", ("1st", "2", "3rd"), AGE)
    with pytest.raises(NetworkError, match=r"The cut points of age are a CutPoints, not \(40, 60\)"):
        Variable("age", LABELS, (40, 60))  # type: ignore[arg-type]


def test_networks_keep_cut_points() -> None:
    network = Network([Variable("age", LABELS, AGE), Variable("out", ("no", "yes"))], {"out": ["age"]})
    for other in (
        pickle.loads(pickle.dumps(network)),
        network.with_cpts({"age": [0.2, 0.3, 0.5]}),
        network.without_cpts(),
        network.with_forms({}),
    ):
        cuts = other.variable("age").cuts
        assert cuts == AGE
        assert cuts.same_range(AGE)
    assert str(network).splitlines()[1] == "  age: <40, 40-60, 60+; cut at 40, 60"
    other_range = Network([Variable("age", LABELS, CutPoints((40, 60))), network.variable("out")], network.parents)
    assert network.same_structure(other_range)
    assert network != other_range
    plain = Network([Variable("age", LABELS), network.variable("out")], network.parents)
    assert not network.same_structure(plain)


# Arcs and states as Python has them -----------------------------------------------------------------------------------

STATES = {"a": ["x", "y"], "b": ["x", "y"], "c": ["x", "y"]}


def test_edges_are_parents() -> None:
    assert Network(STATES, edges=[("a", "c"), ("b", "c")]) == Network(STATES, {"c": ["a", "b"]})
    assert Network(STATES, {"b": ["a"]}, edges=[("a", "c")]) == Network(STATES, {"b": ["a"], "c": ["a"]})
    # Where both name the parents of a variable, `parents` has their order.
    assert Network(STATES, {"c": ["b", "a"]}, edges=[("a", "c"), ("b", "c")]).parents["c"] == ("b", "a")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "a")], "The network has a cycle"),
        ([("a", "z")], 'The edge a → z ends in "z", no variable'),
        ([("z", "a")], 'The parent "z" of a is not a variable'),
        ([("a", "b"), ("a", "b")], "b has the parent a twice"),
        ([("a", "b", "c")], r"An edge is a pair \(parent, child\) of names, not \('a', 'b', 'c'\)"),
        (["ab"], "An edge is a pair"),
        ("ab", "The edges are a list of pairs"),
        ([("b", "c")], "The parents of c are a, but its edges come from b"),
    ],
)
def test_wrong_edges(edges: object, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Network(STATES, {"c": ["a"]}, edges=edges)  # type: ignore[arg-type]


def test_states_may_be_numbers_and_truth_values() -> None:
    network = Network({"x": [0, 1], "y": [False, True], "z": [1.0, 2.5], "n": np.array([3, 4])})  # type: ignore[dict-item]
    assert [variable.states for variable in network.variables] == [
        ("0", "1"),
        ("false", "true"),
        ("1", "2.5"),
        ("3", "4"),
    ]
    with pytest.raises(NetworkError, match="x has the state 1 twice"):
        Network({"x": [1, 1.0]})
    with pytest.raises(NetworkError, match="a state is a text that is not empty, not None"):
        Network({"x": [None]})  # type: ignore[list-item]


def test_networks_with_other_cut_points_are_not_compared() -> None:
    def network(*points: float) -> Network:
        variable = Variable("age", ("low", "high"), CutPoints(points))
        return Network([variable], cpts={"age": [0.5, 0.5]})

    assert network(40).kl(network(40)) == 0
    with pytest.raises(NetworkError, match="age is cut at 40 here and at 50 there"):
        network(40).kl(network(50))
