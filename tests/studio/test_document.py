"""The text that tabs share: changes as CodeMirror writes them, and versions that keep every change."""

from __future__ import annotations

import random

import pytest

from credo.studio.document import ChangeError, Document, StaleChangeError, changed, replacing_change
from tests.helpers.amounts import seeds


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("abc", [3], "abc"),
        ("abc", [1, [1], 1], "ac"),
        ("abc", [3, [0, "d", "e"]], "abcd\ne"),
        ("", [[0, "x"]], "x"),
        ("a😀b", [1, [2, "-"], 1], "a-b"),  # two code units, as JavaScript counts
        ("a\nb", [[3]], ""),
        ("ab", [1, [0, "", ""], 1], "a\nb"),
    ],
)
def test_changes_are_made_as_codemirror_makes_them(text: str, changes: list[object], expected: str) -> None:
    assert changed(text, changes) == expected


@pytest.mark.parametrize(
    "changes", [None, {}, "x", [4], [2], [-1, 4], [[3, 4]], [True, 2], [[]], [3, ["a"]], [1.5, 1.5], [[-1], 3]]
)
def test_what_is_no_change_of_this_text_is_refused(changes: object) -> None:
    with pytest.raises(ChangeError):
        changed("abc", changes)


def update(changes: list[object], author: str = "a") -> dict[str, object]:
    return {"clientID": author, "changes": changes}


def test_a_change_of_an_older_version_is_refused_and_can_be_moved() -> None:
    document = Document("abc")
    document.change(0, [update([3, [0, "1"]], "left")])
    with pytest.raises(StaleChangeError):
        document.change(0, [update([[0, "2"], 3], "right")])
    assert document.since(0) == [update([3, [0, "1"]], "left")]
    document.change(1, [update([[0, "2"], 4], "right")])
    assert document.text == "2abc1"
    assert document.version == 2


def test_changes_that_come_again_are_made_once_in_either_order() -> None:
    """A tab that closes sends all that was not answered, beside the request that is on its way with the first part."""
    first, second = update([1, [0, "x"]]), update([2, [0, "y"]])
    for requests in ([[first], [first, second]], [[first, second], [first]]):
        document = Document("a")
        for sent in requests:
            fresh = document.not_yet_made(0, sent)
            document.change(len(sent) - len(fresh) if fresh else document.version, fresh)
        assert document.text == "axy"
        assert document.version == 2
    assert document.not_yet_made(0, [update([1, [0, "z"]], "b")]) != []  # somebody else's change is another one


def test_several_changes_are_made_together_or_not_at_all() -> None:
    document = Document("abc")
    with pytest.raises(ChangeError):
        document.change(0, [update([3, [0, "1"]]), update([99])])
    assert (document.text, document.version) == ("abc", 0)


def test_a_change_needs_an_author() -> None:
    with pytest.raises(ChangeError):
        Document("a").change(0, [{"changes": [1]}])
    with pytest.raises(ChangeError):
        Document("a").change(0, ["x"])


def test_a_text_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.studio.document.MOST_BYTES", 10)
    with pytest.raises(ChangeError, match="longer than"):
        Document("").change(0, [update([[0, "x" * 11]])])


def test_old_changes_are_dropped_and_a_tab_that_needs_them_hears_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.studio.document.MOST_KEPT", 2)
    document = Document("")
    for number in range(4):
        document.change(number, [update([number, [0, "x"]] if number else [[0, "x"]])])
    assert document.version == 4
    assert len(document.since(2)) == 2
    for version in (0, 5, -1):
        with pytest.raises(StaleChangeError):
            document.since(version)


@pytest.mark.parametrize("seed", seeds(5, 200))
def test_random_changes_agree_with_slices(seed: int) -> None:
    rng = random.Random(seed)
    text = "".join(rng.choice("ab\n#=😀") for _ in range(rng.randrange(30)))
    for _ in range(5):
        start = rng.randrange(len(text) + 1)
        end = rng.randrange(start, len(text) + 1)
        insert = "".join(rng.choice("xy\n😀") for _ in range(rng.randrange(5)))

        def units(part: str) -> int:
            return len(part.encode("utf-16-le")) // 2

        changes = [units(text[:start]), [units(text[start:end]), *insert.split("\n")], units(text[end:])]
        expected = text[:start] + insert + text[end:]
        assert changed(text, changes) == expected
        text = expected


@pytest.mark.parametrize("seed", seeds(20, 500))
def test_a_text_is_replaced_by_one_change(seed: int) -> None:
    rng = random.Random(seed)
    old, new = ("".join(rng.choices("ab\n🙂", k=rng.randrange(9))) for _ in range(2))
    assert changed(old, replacing_change(old, new)) == new
