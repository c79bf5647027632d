"""Gates as engineers write them are answered with the line to write."""

from __future__ import annotations

import pytest

import credo

HEAD = "variables a, b, c, top: no, yes\n"


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("top is a or b", "top is or of a, b"),
        ("top = a and not b", "top is and of a, not b"),
        ("top = or(a, b)", "top is or of a, b"),
        ("top is a OR gate of a, b", "top is or of a, b"),
        ("top is or a, b", "top is or of a, b"),
        ("top if a or b", "top is or of a, b"),
        ("top is any of a, b", "top is or of a, b"),
        ("top is all of a, b, c", "top is and of a, b, c"),
        ("top is 2 of 3 of a, b, c", "top is 2 of a, b, c"),
        ("top is 2 out of 3 of a, b, c", "top is 2 of a, b, c"),
        ("top is at least two of a, b, c", "top is 2 of a, b, c"),
        ("top is 2oo3 of a, b, c", "top is 2 of a, b, c"),
        ("top is majority of a, b, c", "top is 2 of a, b, c"),
        ("top equals a", "top is same as a"),
    ],
)
def test_the_line_to_write_is_named(said: str, line: str) -> None:
    with pytest.raises(credo.KnowledgeError) as found:
        credo.declared_network(HEAD + said)
    (mistake,) = found.value.mistakes
    assert mistake.write == line
    credo.declared_network(HEAD + line)


@pytest.mark.parametrize("said", ["top is a or b and c", "top is 2 of 4 of a, b, c", "top is a or d"])
def test_what_has_no_clear_meaning_gets_no_line(said: str) -> None:
    with pytest.raises(credo.KnowledgeError) as found:
        credo.declared_network(HEAD + said)
    assert not any(each.write for each in found.value.mistakes)
