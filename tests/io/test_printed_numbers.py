"""Numbers as texts: exact where they are numbers, refused where they are not, and what rounding explains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import NetworkError
from credo.io.columns import number_of
from credo.io.printed_numbers import NUMBER, RoundedSums, numbers_of, parse_numbers, rounding


@given(
    st.lists(
        st.sampled_from(
            ["0.5", "1", "-2e-3", ".5", "1.", "1e400", "0.10.9", "1-2", "e", "+", "nan", "0x1", "1_0", "٣", "--1"]
        )
    )
)
@settings(max_examples=300, deadline=None)
def test_texts_are_numbers_if_every_word_is(words: list[str]) -> None:
    values = parse_numbers("\n ".join(words))
    if all(NUMBER.fullmatch(word) for word in words):
        assert values is not None
        assert values.tolist() == [float(word) for word in words]
    else:
        assert values is None


@given(st.lists(st.floats(0, 1)))
@settings(max_examples=100, deadline=None)
def test_every_bit_comes_back(numbers: list[float]) -> None:
    values = parse_numbers(" ".join(map(repr, numbers)))
    assert values is not None
    assert values.tolist() == numbers


@pytest.mark.parametrize("blank", ["\x0b", "\x1c", "\x85", "\xa0", "\u2028", "\r\n"])
def test_any_blank_separates(blank: str) -> None:
    values = parse_numbers(f"{blank}0.5{blank}{blank}.25 1e-999")
    assert values is not None
    assert values.tolist() == [0.5, 0.25, 0]
    assert numbers_of(f"0.5{blank}0.5", (2,), "T").tolist() == [0.5, 0.5]


def test_a_wrong_word_or_number_of_numbers_is_named() -> None:
    with pytest.raises(NetworkError, match="T has `x` where"):
        numbers_of("0.5 x", (2,), "T")
    with pytest.raises(NetworkError, match="T has 1 number; it needs 2"):
        numbers_of("0.5", (2,), "T")
    with pytest.raises(NetworkError, match=r"it needs about 10\^"):
        numbers_of("0.5", (2,) * 20_000, "T")


@pytest.mark.parametrize(
    ("distribution", "expected"),
    [
        ([0.333333, 0.333333, 0.333333], 1.5e-6),
        ([0.5, 0.333333, 0.166666], 1.5e-6),  # a program dropped the zeros of 0.500000
        ([0.463532, 0.536124, 0.000343929], 0.5e-6 + 0.5e-6 + 0.5e-9),  # six significant digits
        ([0.333, 0.012, 0.655], 1.5e-3),  # three decimals
        ([0.33, 0.33, 0.33], 0.0),  # too few digits: rather a mistake
        ([0.5, 0.4, 0.001], 1.5e-3),
        ([1.0], 0.0),
        ([np.inf, np.nan], 0.0),
    ],
)
def test_rounding_is_half_a_unit_of_every_last_digit(distribution: list[float], expected: float) -> None:
    assert rounding(distribution) == pytest.approx(expected, abs=2e-12, rel=1e-6)


def test_what_rounding_explains_is_normalised_and_all_else_stays() -> None:
    cpt = np.array(
        [[0.333333, 0.333333, 0.333331], [1 / 3, 1 / 3, 1 / 3], [0.3, 0.3, 0.3], [0.33333, 0.33333, 0.33331]]
    )
    rounded = RoundedSums()
    changed = rounded.normalised("a", cpt)
    assert changed[1:3].tobytes() == cpt[1:3].tobytes()
    assert changed[3].sum() != 1
    assert rounded.found == []  # 0.999997 is off by three units, of which rounding explains one and a half
    fine = np.array([[0.333333, 0.333333, 0.333333], [0.333333, 0.333333, 0.333334]]) - [[0, 0, 1e-6], [0, 0, 0]]
    changed = RoundedSums().normalised("a", np.round(fine, 6))
    assert changed[1].tobytes() == np.round(fine, 6)[1].tobytes()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("style", ["%.6g", "%.4f", "%.3f", "%.8e"])
def test_any_rounded_distribution_is_explained(seed: int, style: str) -> None:
    random = np.random.default_rng(seed)
    exact = random.dirichlet(np.full(random.integers(2, 30), 0.3), 50)
    printed = np.array([[float(style % number) for number in row] for row in exact])
    changed = RoundedSums().normalised("a", printed)
    assert np.abs(changed.sum(axis=1) - 1).max() <= 1e-6


@pytest.mark.parametrize("text", ["0" * 200_000 + "x", "0." + "0" * 200_000 + "x", "1e" + "0" * 200_000 + "x"])
def test_many_digits_are_refused_as_quickly_as_they_are_read(text: str) -> None:
    """A pattern that tries again from every digit would take minutes here."""
    assert not NUMBER.fullmatch(text)
    assert number_of(text) is None
