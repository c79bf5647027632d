"""Each statement gets the name that the papers give it."""

from __future__ import annotations

import pytest

from credo import Knowledge, Network
from credo.knowledge import kind_of

NET = Network(
    {"b": list("1234"), "c": list("12"), "a": list("xyz"), "i": list("xy")}, parents={"a": ["b"], "i": ["b", "c"]}
)  # fmt: skip

CASES = [
    ("P(a=x | b=1) <= P(a=y | b=1)", "within a distribution", 1),
    ("P(a=x | b=1) <= P(i=y | b=1, c=2)", "between CPTs", 2),
    ("P(a=x | b=1) + P(a=y | b=1) + P(a=z | b=1) = 1", "sum of a distribution", 3),
    ("P(a=x | b=1) + P(a=x | b=2) <= P(a=x | b=3) + P(a=x | b=4)", "additive synergy", 4),
    ("P(a=x | b=1) <= P(a=x | b=2)", "between configurations", 5),
    ("P(a=x | b=1) ~ P(i=x | b=2, c=1) within 0.1", "approximate equality", 6),
    ("P(a=x | b=1) = P(a=x | b=2)", "equality", 6),
    ("0.1 <= P(a=x | b=1) <= 0.2", "range", 7),
    ("P(a=x | b=1) * P(a=x | b=4) <= P(a=x | b=2) * P(a=x | b=3)", "product synergy", 8),
    ("P(a in {x, y} | b=1) <= 0.6", "bound on a sum", None),
    ("P(a in {x} | b=1) + P(a=y | b=1) <= P(a=z | b=1)", "sums in a distribution", None),
    ("2*P(a=x | b=1) <= P(a=x | b=2) + 0.1", "linear", None),
    ("b raises a", "monotonicity", None),
    ("b and c synergize on i", "synergy", None),
    ("b and c sub-synergize on i", "sub-synergy", None),
    ("order a: z < y < x", "order of states", None),
    ("i is noisy-or of {b}, {c}", "noisy-or", None),
    ("rows 2, 4 share a", "tied rows", None),
    ("rows 3, 9 differ in a", "tied rows", None),
]


@pytest.mark.parametrize(("text", "name", "guo_type"), CASES)
def test_names(text: str, name: str, guo_type: int | None) -> None:
    (statement,) = Knowledge(NET, text).statements
    kind = kind_of(statement, NET)
    assert (kind.name, kind.guo_type) == (name, guo_type)
