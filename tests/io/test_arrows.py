"""Structures as people have them: edge lists, arrows, model strings, DOT, dagitty and graphs of networkx."""

from __future__ import annotations

from pathlib import Path

import networkx
import polars as pl
import pytest

import credo

ROWS = pl.DataFrame(
    {"Age (years)": ["old", "young"] * 4, "bmi": ["low", "high", "high", "low"] * 2, "outcome": ["a", "b"] * 4}
)
PARENTS = {"Age (years)": (), "bmi": ("Age (years)",), "outcome": ("Age (years)", "bmi")}
TEXTS = {
    "edges.csv": 'from,to\n"Age (years)",bmi\nAge (years),outcome\nbmi,outcome\n',
    "edges.tsv": "weight\tparent\tchild\n1\tAge (years)\tbmi\n2\tAge (years)\toutcome\n3\tbmi\toutcome\n",
    "arrows.txt": "# what we think\nAge (years) -> bmi -> outcome\noutcome <- Age (years)\n",
    "model.txt": "[Age (years)][bmi|Age (years)][outcome|Age (years):bmi]\n",
    "graph.dot": """digraph "my graph" { // a comment
        rankdir=LR; node [shape=box, style="filled"]; edge [color=red]
        "Age (years)" [label="Age", pos="1,2!"];
        "Age (years)" -> {bmi outcome} [weight=2]; subgraph cluster_1 { label="x"; bmi } bmi -> outcome; }""",
    "graph.dagitty": """dag {
        bb="0,0,1,1"
        "Age (years)" [exposure,pos="0.2,0.1"]
        outcome [outcome,pos="0.4,0.4"]
        "Age (years)" -> bmi
        outcome <- { bmi "Age (years)" }
        }""",
    "signs.txt": "Age (years) → bmi   # growing older\noutcome ← bmi\nAge (years) --> outcome // and more\n",
    "numbered.dot": """digraph { 1 [label="Age (years)"]; 2 [label=bmi, shape=box]; n3 [label=<<b>outcome</b>>];
        1 -> 2 [dir=both, arrowtail=none, arrowhead=normal]; n3:w -> 1:e [dir=back]; 2 -> n3;
        n3 -> 2 [style=invis] }""",
    "tetrad.txt": "Graph Nodes:\nAge (years);bmi;outcome\n\nGraph Edges:\n1. Age (years) --> bmi\n2. bmi --> outcome\n"
    "3. Age (years) --> outcome\n\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_is_a_structure(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TEXTS[name])
    for source in (path, str(path)):
        network = credo.fit(source, ROWS, method="cml").network
        assert {child: tuple(sorted(parents)) for child, parents in network.parents.items()} == PARENTS
        assert set(network.states("bmi")) == {"low", "high"}


@pytest.mark.parametrize("name", ["arrows.txt", "model.txt", "graph.dot", "graph.dagitty"])
def test_a_text_is_a_structure_beside_statements(name: str) -> None:
    fit = credo.fit(TEXTS[name], ROWS, "P(outcome=b | bmi=high) >= 0.3", method="cmap")
    assert fit.network.parents["outcome"] in [("Age (years)", "bmi"), ("bmi", "Age (years)")]
    assert len(fit.knowledge.statements) == 1


def test_a_list_of_pairs_is_a_structure() -> None:
    rows = ROWS.rename({"Age (years)": "age"})
    assert credo.fit([("age", "bmi"), ("bmi", "outcome")], rows, method="ml").network.parents["outcome"] == ("bmi",)
    with pytest.raises(credo.FormatError):
        credo.fit([("age", "bmi"), ("bmi", "age")], rows)


def test_a_graph_of_networkx() -> None:
    graph = networkx.DiGraph([("Age (years)", "bmi"), ("Age (years)", "outcome"), ("bmi", "outcome")])
    assert credo.fit(graph, ROWS, method="cml").network.parents == PARENTS
    with pytest.raises(credo.NetworkError, match="no directions. A network needs a DiGraph"):
        credo.fit(networkx.Graph([("bmi", "outcome")]), ROWS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a -> b\nb -> c\nc -> a\n", "These arrows form a cycle: "),
        ("a -> b\nb <-> c\n", "line 2: b <-> c has no direction. Write b -> c or c -> b"),
        ("a -> b\nb ->\n", "line 2: An arrow needs a variable on both sides"),
        ("[a][b|a:d]", "has d as a parent of b, but no [d] of its own"),
        ("graph { a -- b }", "This graph has no directions"),
        ("digraph { a -> b", "not closed"),
        ("digraph { a -> b [arrowhead=none] }", "a -- b has no direction"),
        ("digraph { edge [dir=both] a -> b }", "a <-> b has no direction"),
        ("a -- b\n", "a -- b has no direction"),
        ("[a][b|a", "This model string is not complete: `[b|a`"),
        ("Graph Nodes:\na;b\n\nGraph Edges:\n1. a o-> b\n", "line 5: a o-> b has no direction"),
        ("bmi -> outcom\n", "g.txt, as declarations:2:10: The states of outcom are not known"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(text)
    with pytest.raises(credo.CredoError) as caught:
        credo.fit(path, ROWS)
    assert message in str(caught.value)


def test_a_table_in_the_place_of_a_structure(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    ROWS.write_csv(path)
    with pytest.raises(credo.FormatError, match=r"no list of arrows.*credo start .*patients.csv"):
        credo.fit(path, ROWS)
