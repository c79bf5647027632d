"""Corrections that an editor offers: every one is a line without a mistake."""

from __future__ import annotations

import pytest

import credo
from credo.knowledge.mistakes import kinds

ASIA = credo.read_network("examples/asia/asia.bif")


def mistakes(text: str) -> tuple[credo.results.Mistake, ...]:
    with pytest.raises(credo.KnowledgeError) as caught:
        credo.Knowledge(ASIA, text + "\n")
    return caught.value.mistakes


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("smok raises lung  # sure", "smoke raises lung  # sure"),
        ("P(lung=ye) >= 0.1", "P(lung=yes) >= 0.1"),
        ("P(lung=yes) => 0.1", "P(lung=yes) >= 0.1"),
        ("lung raises smoke", "smoke raises lung"),
        ("smoke raises lung with confidence 80", "smoke raises lung with confidence 0.8"),
        ("P(lung=“yes”) >= 0.1", 'P(lung="yes") >= 0.1'),
        ("- smoke raises lung", "smoke raises lung"),
        ("smoke increases lung", "smoke raises lung"),
    ],
)
def test_what_was_meant_is_offered_first(text: str, corrected: str) -> None:
    assert credo.knowledge.corrections(mistakes(text)[0], ASIA)[0] == corrected


@pytest.mark.parametrize("text", ["P(lung=yes) = 5% ± 2", "nothing like a statement", "P(lung=yes | ) >= 0.1"])
def test_nothing_is_guessed(text: str) -> None:
    assert credo.knowledge.corrections(mistakes(text)[0], ASIA) == ()


def test_only_mistakes_are_corrected() -> None:
    with pytest.raises(TypeError, match="of a Mistake"):
        credo.knowledge.corrections("smok raises lung")  # type: ignore[arg-type]


def test_every_correction_of_every_example_can_be_read() -> None:
    offered = 0
    for kind in kinds().values():
        if kind.get("network", "asia") != "asia":
            continue
        for example in kind.get("examples", []):
            text = example.strip("\n").split("\n")[0]
            for mistake in _mistakes_of(text)[:1]:
                for line in credo.knowledge.corrections(mistake, ASIA):
                    offered += 1
                    assert line != text
                    assert all(each.kind != mistake.kind for each in _mistakes_of(line))
    assert offered >= 40


def _mistakes_of(line: str) -> tuple[credo.results.Mistake, ...]:
    try:
        credo.Knowledge(ASIA, line + "\n")
    except credo.KnowledgeError as error:
        return error.mistakes
    return ()
