"""Fault trees of Open-PSA: the probabilities of their gates equal those of binary decision diagrams."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest

import credo
from credo.questions.answers import query_network
from tests.helpers.fault_trees import TooManyNodes, top_events

BASIC = "".join(
    f'<define-basic-event name="e{n}"><float value="{0.02 * n}"/></define-basic-event>' for n in range(1, 10)
)
EVENTS = "".join(f'<basic-event name="e{n}"/>' for n in range(1, 10))
TREE = f"""<?xml version="1.0"?>
<opsa-mef>
  <define-fault-tree name="pumps">
    <define-gate name="wide"><or>{EVENTS}</or></define-gate>
    <define-gate name="every"><nand><event name="e1"/><event name="e2"/><event name="e3"/></nand></define-gate>
    <define-gate name="some"><atleast min="3">{EVENTS}<not><event name="e1"/></not></atleast></define-gate>
    <define-gate name="odd"><xor>{EVENTS}</xor></define-gate>
    <define-gate name="top"><label>all of it</label>
      <and><gate name="some"/><or><gate name="odd"/><not><gate name="every"/></not></or>
      <iff><event name="e1"/><house-event name="on"/></iff>
      <imply><event name="e2"/><event name="e3"/></imply>
      <not><nor><event name="e4"/><gate name="wide"/></nor></not></and>
    </define-gate>
  </define-fault-tree>
  <model-data>{BASIC}<define-house-event name="on"><constant value="true"/></define-house-event></model-data>
</opsa-mef>
"""


def probability(network: credo.Network, event: str) -> float:
    return float(query_network(network, f'P("{event}"=yes)').probability)


def write(folder: Path, text: str) -> Path:
    path = folder / "tree.xml"
    path.write_text(text)
    return path


def test_every_kind_of_gate(tmp_path: Path) -> None:
    path = write(tmp_path, TREE)
    network = credo.read_network(path)
    assert network.states("top") == ("no", "yes")
    assert str(network.forms["some"]) == f"3 of {', '.join(f'e{n}' for n in range(1, 10))}, not e1"
    (expected,) = top_events(path).values()
    assert 0 < expected < 1
    assert probability(network, "top") == pytest.approx(expected, rel=1e-12)
    for gate in ("wide", "every", "some", "odd"):
        others = write(
            tmp_path,
            TREE.replace(
                "<and><gate", f'<or><gate name="{gate}"/></or></define-gate><define-gate name="t"><and><gate', 1
            ),
        )
        assert probability(network, gate) == pytest.approx(top_events(others)["top"], rel=1e-12)


def test_published_trees() -> None:
    folder = Path(__file__).parents[3] / "shared" / "faulttrees"
    compared = 0
    for name in (
        "baobab1",
        "baobab3",
        "das9205",
        "das9206",
        "edf9205",
        "ftr10",
        "isp9604",
        "isp9606",
        "theatre",
        "three_motor",
        "two_train",
    ):
        path = folder / f"{name}.xml"
        if not path.exists():
            pytest.skip("the published trees are not here")
        network = credo.read_network(path)
        for event, expected in top_events(path).items():
            assert probability(network, event) == pytest.approx(expected, rel=1e-9)
            compared += 1
    assert compared >= 11


def test_a_tree_with_components_has_its_published_probability() -> None:
    path = Path(__file__).parents[3] / "shared" / "faulttrees" / "three_motor.xml"
    if not path.exists():
        pytest.skip("the published trees are not here")
    assert probability(credo.read_network(path), "E1") == pytest.approx(0.0211538, abs=5e-8)  # as SCRAM has it


@pytest.mark.slow
def test_a_published_tree_whose_diagram_is_large() -> None:
    path = Path(__file__).parents[3] / "shared" / "faulttrees" / "elf9601.xml"
    if not path.exists():
        pytest.skip("the published trees are not here")
    assert probability(credo.read_network(path), "r1") == pytest.approx(top_events(path, 3_000_000)["r1"], rel=1e-9)


def test_what_exact_inference_cannot_do_is_refused_with_figures() -> None:
    path = Path(__file__).parents[3] / "shared" / "faulttrees" / "edfpa15o.xml"
    if not path.exists():
        pytest.skip("the published trees are not here")
    with pytest.raises(TooManyNodes):
        top_events(path, 10_000)
    with pytest.raises(
        credo.TooLargeError, match=r"An exact answer would need [0-9.]+ GB or more; .* look at [0-9]+ variables"
    ):
        probability(credo.read_network(path), "r1")


def test_names_of_components_are_their_own(tmp_path: Path) -> None:
    text = """<opsa-mef><define-fault-tree name="t"><define-gate name="E1"><or><gate name="c.E1"/>
    <basic-event name="a"/></or></define-gate><define-component name="c" role="private">
    <define-gate name="E1"><and><gate name="E2"/>
    <basic-event name="a"/></and></define-gate><define-gate name="E2"><or><basic-event name="b"/></or></define-gate>
    </define-component></define-fault-tree><model-data><define-basic-event name="a"><float value="0.5"/>
    </define-basic-event><define-basic-event name="b"><mul><parameter name="p"/><float value="0.5"/></mul>
    </define-basic-event><define-parameter name="p"><float value="0.5"/></define-parameter></model-data></opsa-mef>"""
    network = credo.read_network(write(tmp_path, text))
    assert network.parents["c.E1"] == ("E2", "a")
    assert probability(network, "E1") == 0.5
    assert probability(network, "c.E1") == pytest.approx(0.125)


def test_an_event_without_probability_has_no_cpt(tmp_path: Path) -> None:
    text = TREE.replace(
        '<float value="0.06"/>', '<exponential><float value="1e-5"/><system-mission-time/></exponential>'
    )
    with pytest.warns(credo.errors.IncompleteCPTWarning, match="e3 have no probability"):
        network = credo.read_network(write(tmp_path, text))
    assert "e3" in network.names
    assert "e3" not in network.cpts


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('<gate name="odd"/>', '<gate name="od"/>', 'There is no gate od. Did you mean "odd"?'),
        ('<atleast min="3">', '<atleast min="x">', "needs min=, a whole number, not `x`"),
        ('<float value="0.1"/>', '<float value="1.1"/>', "The probability of e5 is 1.1; it has to be between 0 and 1"),
        ('name="odd"><xor>', 'name="some"><xor>', "some is defined twice"),
        ("<xor>", "<cardinality>", "The gate <cardinality> of odd cannot be read"),
        ("<label>all of it</label>", "<or/>", "not a second one"),
    ],
)
def test_mistakes(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = TREE.replace(old, new, 1).replace("</xor>", "</cardinality>" if new == "<cardinality>" else "</xor>")
    assert text != TREE
    with warnings.catch_warnings(), pytest.raises(credo.FormatError) as caught:
        credo.read_network(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_tree_is_written_and_read_again(tmp_path: Path) -> None:
    network = credo.read_network(write(tmp_path, TREE))
    credo.write_network(network, tmp_path / "again.xml")
    again = credo.read_network(tmp_path / "again.xml")
    assert set(again.names) == set(network.names)
    assert all(again.forms[name] == form for name, form in network.forms.items())
    assert all(probability(again, name) == probability(network, name) for name in network.names)


def test_gates_of_the_language_are_written(tmp_path: Path) -> None:
    lines = ("b is not a", "c is same as a", "d is nand of a, e, f", "g is 2 of a=ok, not e, f", "h is xor of c, d, g")
    text = "variables a, b, c, d, e, f, g, h: ok, failed\n" + "\n".join(lines)
    network = credo.declared_network(text).network.with_cpts({name: [0.9, 0.1] for name in "aef"})
    network = credo.fit(network, pl.DataFrame({"a": ["ok"]}), text, fixed=["a", "e", "f"]).network
    with pytest.warns(credo.errors.LossyFormatWarning, match="no and yes"):
        credo.write_network(network, tmp_path / "tree.xml")
    again = credo.read_network(tmp_path / "tree.xml")
    for name in network.names:
        expected = float(query_network(network, f"P({name}=failed)"))
        assert probability(again, name) == pytest.approx(expected, rel=1e-12)
