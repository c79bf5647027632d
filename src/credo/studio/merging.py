"""Two versions of one text that were made from a third: what differs, and both in one text, without a loss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

IN_THE_FILE = "# in the file: "
MOST_SHOWN = 400  # lines of a difference
AROUND = 2  # lines that are the same, shown around what differs

Lines = Sequence[str]


def merged(base: str, mine: str, theirs: str) -> tuple[str, int]:
    """Both changes of a text in one, and at how many places they disagree.

    Where both changed the same lines, mine stay, and theirs follow as comments.
    """
    own, other = mine.split("\n"), theirs.split("\n")
    found: list[str] = []
    places = 0
    for common, left, right, before in _regions(base.split("\n"), own, other):
        found += common
        if left == right or right == before:
            found += left
        elif left == before:
            found += right
        else:
            places += 1
            found += [*left, *(f"{IN_THE_FILE}{line}" for line in right if line.strip() and line not in left)]
    return "\n".join(found), places


def _regions(base: Lines, own: Lines, other: Lines) -> Iterator[tuple[Lines, Lines, Lines, Lines]]:
    """Lines that all three have in common; then what each of the others has in their place, and what the base had."""
    b = o = t = 0
    for start, end, at_own, at_other in _in_common(base, own, other):
        yield [], own[o:at_own], other[t:at_other], base[b:start]
        yield base[start:end], [], [], []
        b, o, t = end, at_own + end - start, at_other + end - start
    yield [], own[o:], other[t:], base[b:]


def _in_common(base: Lines, own: Lines, other: Lines) -> Iterator[tuple[int, int, int, int]]:
    """The stretches of the base that both others have: their ends in the base, and where they begin in the others."""
    lefts, rights = (SequenceMatcher(None, base, each, autojunk=False).get_matching_blocks() for each in (own, other))
    i = j = 0
    while i < len(lefts) and j < len(rights):
        left, right = lefts[i], rights[j]
        start, end = max(left.a, right.a), min(left.a + left.size, right.a + right.size)
        if start < end:
            yield start, end, left.b + start - left.a, right.b + start - right.a
        if left.a + left.size < right.a + right.size:
            i += 1
        else:
            j += 1


def difference(mine: str, theirs: str) -> list[list[str]]:
    """What differs: `["-", line]` is only in mine, `["+", line]` only in theirs, `[" ", line]` in both."""
    own, other = mine.split("\n"), theirs.split("\n")
    found: list[list[str]] = []
    for group in SequenceMatcher(None, own, other, autojunk=False).get_grouped_opcodes(AROUND):
        if found:
            found.append(["…", ""])
        for kind, a, b, c, d in group:
            if kind == "equal":
                found += [[" ", line] for line in own[a:b]]
            else:
                found += [["-", line] for line in own[a:b]] + [["+", line] for line in other[c:d]]
    return found[:MOST_SHOWN]
