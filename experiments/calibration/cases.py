"""The cases: a network, what is known, and how its rows come about; most with and without statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import credo

BINARY = ("no", "yes")


@dataclass(frozen=True)
class Case:
    """A network, what is known, how much of the data is missing, and what is asked."""

    parents: Mapping[str, tuple[str, ...]]
    knowledge: str = ""
    questions: tuple[str, ...] = ()
    evidence: Mapping[str, str] = field(default_factory=dict)  # of the case that is predicted
    missing: float = 0.0
    hidden: tuple[str, ...] = ()
    rarely_shown: Mapping[str, int] = field(default_factory=dict)  # variable → rows that show it
    rows: int = 50
    three_states: tuple[str, ...] = ()
    pairs: int = 0  # of rows that share `shared`, beside the others
    shared: str = ""
    reading: str = "selected"
    named: bool = True  # whether the states of hidden variables can be distinguished; if not, only answers are compared
    truth: Mapping[str, object] = field(default_factory=dict)  # CPTs, where they are not drawn from the prior

    @property
    def network(self) -> credo.Network:
        """Two states each, or three."""
        states = {name: (*BINARY, "much") if name in self.three_states else BINARY for name in self.parents}
        return credo.Network(states, self.parents)


LINE: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "c": ("b",), "d": ("a", "c")}
CHAIN: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "c": ("b",)}
CLASS: dict[str, tuple[str, ...]] = {"h": (), "x": ("h",), "y": ("h",), "z": ("h",)}
GRID: dict[str, tuple[str, ...]] = {"p": (), "q": (), "x": ("p", "q")}
CAUSES = tuple(f"p{number}" for number in range(1, 11))
TEN: dict[str, tuple[str, ...]] = {**dict.fromkeys(CAUSES, ()), "e": CAUSES}
TEN_SETS = f"e is noisy-or of {', '.join('{' + name + '}' for name in CAUSES)} with general effects"
TWO: dict[str, tuple[str, ...]] = {"p": (), "q": (), "e": ("p", "q")}
TWO_SETS = "e is noisy-or of {p}, {q} with general effects"
TIES = "rows with equal pair share b"
WEAK = {"a": [0.5, 0.5], "b": [[0.8, 0.2], [0.3, 0.7]], "c": [[0.55, 0.45], [0.45, 0.55]]}

_line = Case(
    LINE,
    questions=("P(d=yes | b=yes)", "P(b=yes | d=yes)", "P(c=yes)"),
    evidence={"a": "yes", "d": "no"},
    three_states=("c",),
)
_class = Case(
    CLASS,
    questions=("P(x=yes)", "P(y=yes | x=yes)", "P(z=yes | x=no, y=no)"),
    evidence={"x": "yes", "y": "no"},
    hidden=("h",),
    rows=100,
)
_ten = Case(
    TEN, TEN_SETS, ("P(e=yes)", "P(e=yes | p1=yes)", "P(p1=yes | e=yes, p2=no)"), {"p1": "yes", "e": "no"}, rows=200
)
_two = Case(TWO, TWO_SETS, ("P(e=yes | p=yes)", "P(p=yes | e=yes)"), {"e": "yes"}, rows=100)
_ties = Case(CHAIN, TIES, ("P(b=yes)", "P(a=yes | c=yes)"), {"c": "yes"}, missing=0.2, rows=20, pairs=20, shared="b")
_grid = Case(
    GRID, questions=("P(x=yes)", "P(p=no | x=much)"), evidence={"x": "no"}, rows=150, three_states=("p", "q", "x")
)
LINE_KNOWN = "a raises b\nP(d=yes | a=yes, c=no) <= 0.5"
CLASS_KNOWN = "h raises x by at least 0.2"
TEN_KNOWN = "P(e=yes | p1=yes) >= 0.3"
GRID_KNOWN = "P(x=no | p=no, q=no) >= P(x=no | p=much, q=no)\nP(x=much | p=much, q=much) <= 0.7"

CASES = {
    "complete": _line,
    "complete, statements": replace(_line, knowledge=LINE_KNOWN),
    "10% missing": replace(_line, missing=0.1),
    "10% missing, statements": replace(_line, missing=0.1, knowledge=LINE_KNOWN),
    "40% missing": replace(_line, missing=0.4),
    "40% missing, statements": replace(_line, missing=0.4, knowledge=LINE_KNOWN),
    "hidden class": replace(_class, named=False),
    "hidden class, statements": replace(_class, knowledge=CLASS_KNOWN),
    "noisy-or of ten sets": _ten,
    "noisy-or of ten sets, statements": replace(_ten, knowledge=f"{TEN_SETS}\n{TEN_KNOWN}"),
    "noisy-or of two sets": _two,
    "noisy-or of two sets, 20% missing": replace(_two, missing=0.2),
    "ties": _ties,
    "ties, statements": replace(_ties, knowledge=f"{TIES}\na raises b"),
    "ties, joint": replace(_ties, pairs=3, reading="joint"),
    "ties, merged": replace(_ties, shared="a", knowledge="rows with equal pair share a", reading="merged"),
    "three states, nine configurations": _grid,
    "three states, nine configurations, statements": replace(_grid, knowledge=GRID_KNOWN),
    "one variable in 20 of 400 rows": Case(
        CHAIN, questions=("P(b=yes)", "P(c=yes | a=yes)"), evidence={"c": "yes"}, rows=400, rarely_shown={"b": 20}
    ),
}
# Truths that are not drawn: nothing promises 95% then, but taking expected counts as observed had 11 of 40.
FIXED = {
    "a → b → c, b in 20 of 400 rows, c nearly useless": Case(
        CHAIN, questions=("P(b=yes | a=yes)",), rows=400, rarely_shown={"b": 20}, truth=WEAK
    ),
}
EVERY = {**CASES, **FIXED}
