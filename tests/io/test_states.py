"""Which cell means which state."""

import math

import pytest

from credo import Variable
from credo.io.columns import MISSING, Lexicon


def code(states: tuple[str, ...], value: object) -> int | None:
    return Lexicon.of(Variable("x", states)).code(value)


@pytest.mark.parametrize("value", ["1", "1.0", 1, 1.0, True, "true", "TRUE", "1e0", " 1 "])
@pytest.mark.parametrize("states", [("0", "1"), ("false", "true"), ("False", "True"), ("0.0", "1.0")])
def test_one_and_true_are_the_same_in_every_spelling(states: tuple[str, ...], value: object) -> None:
    assert code(states, value) == 1


@pytest.mark.parametrize("value", ["2", 2, 0.5, "yes", "on", "1.5"])
def test_what_is_no_state_has_no_code(value: object) -> None:
    assert code(("0", "1"), value) is None


@pytest.mark.parametrize("value", [None, math.nan, "", "?", "*", "NaN", "NA", "null", " ? "])
def test_missing_values(value: object) -> None:
    assert code(("no", "yes"), value) == MISSING


def test_a_state_that_looks_missing_is_a_state() -> None:
    assert code(("?", "NA", "*"), "NA") == 1
    assert code(("?", "NA", "*"), "?") == 0


def test_labels_are_taken_to_the_letter() -> None:
    assert code(("No", "no"), "no") == 1
    assert code(("no", "yes"), "Yes") is None


def test_spaces_around_a_label_do_no_harm_but_are_part_of_a_label_that_has_them() -> None:
    assert code(("no", "yes"), " yes ") == 1
    assert code(("a", " a"), " a") == 1


def test_numbers_that_stand_for_two_states_stand_for_none() -> None:
    assert code(("1", "1.0"), 1) == 0  # its text is a state
    assert code(("1", "1.00"), "1.0") is None
    assert code(("1", "true"), 1.0) is None


@pytest.mark.parametrize("value", ["1_0", "inf", "nan1", "0x1"])
def test_what_python_would_read_as_a_number_but_people_would_not(value: str) -> None:
    assert code(("1", "10"), value) is None
