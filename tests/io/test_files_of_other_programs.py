"""What files of other programs hold that credo cannot read, or reads with a warning: found in public repositories."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import credo
from credo import CredoError, DataError, FormatError
from credo.errors import RoundedNumbersWarning

NODE = '<cpt id="T"{}><state id="a"/><state id="b"/><probabilities>0.3 0.7</probabilities></cpt>'
LATER = '<cpt id="T" order="1"><parents>T</parents><probabilities>0.9 0.1 0.2 0.8</probabilities></cpt>'
REFUSED = {
    "slices": (
        "net.xdsl",
        f'<smile id="N"><nodes>\n{NODE.format("")}\n</nodes>\n<dynamic numslices="5">{LATER}</dynamic></smile>',
        "line 4: This network is dynamic",
    ),
    "a node with slices": (
        "net.xdsl",
        f'<smile id="N"><nodes>\n{NODE.format(chr(32) + "dynamic=" + chr(34) + "plate" + chr(34))}\n</nodes></smile>',
        "line 2: This network is dynamic, with slices of time, .* Unroll it in GeNIe",
    ),
    "sum": (
        "net.uai",
        "BAYES 2 2 2 2\n1 0\n2 0 1\n2\n.5 .5\n4\n.3 .7\n.3 .5",
        r"line 7: P\(x1 \| x0=1\) sums to 0.8, not to 1. Divide the numbers by their sum.",
    ),
    "child first": (
        "net.uai",
        "BAYES\n3\n2 2 2\n3\n1 0\n2 1 0\n3 2 1 0\n" + "2 .5 .5 4 .3 .7 .3 .7 8" + " .5" * 8,
        "line 6: Each function needs a child of its own as its last variable. Here it seems to be the first",
    ),
    "one child twice": (
        "net.uai",
        "BAYES\n2\n2 2\n2\n1 0\n2 0 0\n2 .5 .5 4 .3 .7 .3 .7",
        "line 6: Each function needs a child of its own as its last variable.$",
    ),
    "counts": (
        "net.net",
        'net {}\nnode A { states = ("a" "b"); }\npotential (A) { data = ( 10 90 ); }',
        r"line 3: P\(A\) sums to 100, not to 1. Divide the numbers by their sum.",
    ),
    "negative": (
        "net.net",
        'net {}\nnode A { states = ("a" "b"); }\npotential (A) { data = ( -0.001 1.001 ); }',
        r"line 3: P\(A=a\) = -0.001 is negative",
    ),
    "classes": ("net.oobn", "class A {}", r"Save the network as \.net in Hugin"),
    "another xml": ("net.xml", "<html/>", "Expected <BIF>"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_with_its_line_and_a_way_out(tmp_path: Path, case: str) -> None:
    name, text, message = REFUSED[case]
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message) as caught:
        credo.read_network(tmp_path / name)
    assert name in str(caught.value)


def test_rounding_below_zero_is_zero(tmp_path: Path) -> None:
    text = 'net {}\nnode A { states = ("a" "b" "c"); }\npotential (A) { data = ( -1.1920929E-7 0.25 0.75000012 ); }'
    (tmp_path / "net.net").write_text(text, encoding="utf-8")
    with pytest.warns(RoundedNumbersWarning, match="1 distribution had a number just below zero, .* of A"):
        cpt = credo.read_network(tmp_path / "net.net").cpts["A"]
    np.testing.assert_allclose(cpt, [0.0, 0.25, 0.75], atol=2e-7)
    assert cpt[0] == 0.0
    assert abs(cpt.sum() - 1.0) < 1e-15


def test_xml_is_xmlbif(tmp_path: Path) -> None:
    network = credo.Network({"a": ["x", "y"]}, cpts={"a": [0.4, 0.6]})
    credo.write_network(network, tmp_path / "net.xml")
    assert "<BIF" in (tmp_path / "net.xml").read_text("utf-8")
    assert credo.read_network(tmp_path / "net.xml") == network


TABLES = {
    "a,a\nx,1\n": 'rows.csv has two columns named "a"',
    "a,b\n": "rows.csv has no rows",
    "a,b,\nx,1\ny,2\n": "rows.csv, row 1: 2 fields, but the header has 3. The header ends with a separator: remove it.",
    "a,b,c\nx,1\ny,2\n": "rows.csv, row 1: 2 fields, but the header has 3. A value that holds the separator",
}


@pytest.mark.parametrize("text", TABLES)
@pytest.mark.parametrize("call", ["fit", "network", "cluster", "check"])
def test_tables_that_cannot_be_read_are_named(tmp_path: Path, text: str, call: str) -> None:
    path, knowledge = tmp_path / "rows.csv", "variables a, b: x, y\nb depends on a\na raises b\n"
    path.write_text(text, encoding="utf-8")
    calls = {
        "fit": lambda: credo.fit(knowledge, path),
        "network": lambda: credo.network_from_table(path, parents={"b": ["a"]}),
        "cluster": lambda: credo.cluster(path, 2),
        "check": lambda: credo.check(knowledge, data=path),
    }
    with pytest.raises(CredoError, match=TABLES[text]) as caught:
        calls[call]()
    assert isinstance(caught.value, DataError)
