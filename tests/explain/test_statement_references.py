"""Where statements were written, in messages that know their numbers alone."""

from __future__ import annotations

import pytest

from credo import Knowledge, Network, raises
from credo.explain.statement_references import references_to, with_places

NETWORK = Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
TEXT = "# Two comments\n\nP(a=y) <= 0.3\na raises b\n# and one\nP(b=y | a=n) <= 0.2"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Statement 1 cannot hold.", "Line 3 cannot hold."),
        ("Missed by statement 3, most of all.", "Missed by line 6, most of all."),
        ("Statements 1 and 2 cannot all hold", "Lines 3 and 4 cannot all hold"),
        ("say whether statements 1, 2, 3 are true", "say whether lines 3, 4 and 6 are true"),
        ("4 statements are linked; statement 7 is unknown", "4 statements are linked; statement 7 is unknown"),
    ],
)
def test_numbers_become_places(message: str, expected: str) -> None:
    assert with_places(message, references_to(Knowledge(NETWORK, TEXT).statements)) == expected


def test_a_statement_made_in_python_has_its_words() -> None:
    references = references_to(Knowledge(NETWORK, [raises("a", "b")]).statements)
    assert with_places("Statement 1 cannot hold", references) == "“a raises b” cannot hold"
