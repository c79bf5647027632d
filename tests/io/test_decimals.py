"""Decimal numbers read by the compiled loop, compared with Python's own reading, which is exact."""

from __future__ import annotations

import numpy as np
import pytest

from credo.core.csv import BLANK, EXACT, NEAR, NEARLY, OTHER, read_decimals
from credo.model.state_texts import is_number


def _read(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    raw = [text.encode() for text in texts]
    ends = np.cumsum([len(text) for text in raw])
    spans = np.stack([ends - [len(text) for text in raw], ends], axis=1).astype(np.int64)
    numbers, kinds = np.empty(len(texts)), np.empty(len(texts), dtype=np.int8)
    read_decimals(np.frombuffer(b"".join(raw) + bytes(16), dtype=np.uint8), spans, numbers, kinds)
    return numbers, kinds


PLAIN = ["40", "-1.5", "+.5", "3.", "007", "1e3", "2E-5", " 12 ", "0", "-0.0", "123456789012345"]
OTHERS = [
    "x",
    "-",
    "+",
    ".",
    "1.2.3",
    "1e",
    "1e+",
    "e5",
    "1 2",
    "1,5",
    "0x10",
    "inf",
    "nan",
    "1e999",
    "1_0",
    "１",
    "--1",
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain_numbers_are_exact(text: str) -> None:
    numbers, kinds = _read([text])
    assert kinds[0] == EXACT
    assert numbers[0] == float(text)
    assert np.signbit(numbers[0]) == (float(text) < 0 or text == "-0.0")


@pytest.mark.parametrize("text", OTHERS)
def test_everything_else_is_left_to_others(text: str) -> None:
    numbers, kinds = _read([text])
    assert kinds[0] == OTHER
    assert np.isnan(numbers[0])


def test_blanks() -> None:
    assert _read(["", "  "])[1].tolist() == [BLANK, BLANK]


def test_many_numbers_of_all_lengths() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=2000) * 10.0 ** rng.integers(-30, 30, 2000)
    texts = [repr(value) for value in values.tolist()]
    texts += [f"{value:.{digits}f}" for digits in range(25) for value in rng.normal(100, 50, 40)]
    texts += [f"{value}{'0' * zeros}" for zeros in range(25) for value in (1, 12345, 9007199254740993)]
    texts += [f"0.{'0' * zeros}9007199254740993" for zeros in range(25)]
    assert all(map(is_number, texts))
    numbers, kinds = _read(texts)
    expected = np.array([float(text) for text in texts])
    assert set(kinds.tolist()) == {EXACT, NEAR}
    np.testing.assert_array_equal(numbers[kinds == EXACT], expected[kinds == EXACT])
    assert (np.abs(numbers - expected) <= NEARLY * np.abs(expected)).all()
    assert (kinds == EXACT).mean() > 0.2
