"""Small probabilities, and those near one, keep their digits."""

from __future__ import annotations

import pytest

from credo.probability_texts import (
    belief_digits,
    four_digits,
    interval_digits,
    percent_digits,
    percents_with_ends,
    probability_digits,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0%"), (1.0, "100.0%"), (0.331, "33.1%"), (0.05, "5.0%"), (0.00095, "0.095%"), (0.00082, "0.082%"),
        (0.9995, "99.95%"), (1e-9, "1e-9"), (1.13e-6, "1.1e-6"), (3e-20, "<1e-12"),
        (0.0123, "1.2%"), (1 - 1e-12, ">99.9999%"),
    ],
)  # fmt: skip
def test_percentages(value: float, text: str) -> None:
    assert percent_digits(value) == text


@pytest.mark.parametrize(
    ("value", "usual", "text"),
    [
        (0.0, 2, "0.00"), (1.0, 2, "1.00"), (0.331, 2, "0.33"), (0.00095, 3, "0.00095"), (0.0008, 2, "0.00080"),
        (0.9995, 3, "0.9995"), (0.97, 2, "0.97"), (2e-9, 3, "2e-9"),
        (1 - 1e-12, 2, ">0.999999"),
    ],
)  # fmt: skip
def test_probabilities(value: float, usual: int, text: str) -> None:
    assert probability_digits(value, usual) == text


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((4e-7, 0.069), ("4e-7", "0.069")),
        ((5e-7, 1.5e-6), ("5e-7", "1.5e-6")),  # 1e-6 or 2e-6 would be another range
        ((0.93, 1 - 1e-9), ("0.93", ">0.9999")),
        ((0.0, 1.0), ("0.00", "1.00")),
        ((0.0004, 0.35), ("0.00040", "0.35")),
    ],
)
def test_an_end_near_zero_or_one_is_written_as_a_bound(ends: tuple[float, float], texts: tuple[str, str]) -> None:
    assert interval_digits(*ends) == texts


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ((0.5, 4e-7, 0.999999), ("50.0%", "4e-7", ">99.99%")),
        ((1.1e-6, 4.4e-7, 3e-6), ("1.1e-6", "4.4e-7", "3e-6")),
        ((0.12, 0.0, 0.356), ("12.0%", "0.0%", "35.6%")),
        ((0.00042, 1e-5, 0.0012), ("4.2e-4", "1e-5", "1.2e-3")),
        ((9.6e-5, 5e-5, 1.6e-4), ("9.6e-5", "5e-5", "1.6e-4")),
        ((2e-6, 0.0, 4e-6), ("2e-6", "0", "4e-6")),
    ],
)
def test_a_probability_and_its_interval_are_written_alike(
    numbers: tuple[float, float, float], texts: tuple[str, str, str]
) -> None:
    assert percents_with_ends(*numbers) == texts


def test_a_share_of_draws_has_two_decimals_and_is_never_certain() -> None:
    assert [belief_digits(value) for value in (0.0, 0.004, 0.873, 0.9999999, 1.0)] == [
        "<0.01", "<0.01", "0.87", ">0.99", ">0.99",
    ]  # fmt: skip


def test_a_table_has_powers_of_ten_without_zeros() -> None:
    assert [four_digits(value) for value in (1.007e-9, 0.25, 12.3456, 1.0, 3e15)] == [
        "1.007e-9",
        "0.25",
        "12.35",
        "1",
        "3e15",
    ]
