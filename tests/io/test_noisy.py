"""Noisy families in files: GeNIe's noisy-MAX and back; full tables or effects elsewhere, and a warning that says so."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from credo import FormatError, Network, NoisyForm, read_network, write_network
from credo.errors import LossyFormatWarning, RoundedNumbersWarning
from credo.io.noisy_formats import as_full_cpts, as_noisymax
from tests.helpers.enumeration import joint
from tests.helpers.noisy_families import KINDS, flat, noisy_network

BINARY = ("no", "yes")

GENIE = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="car" numsamples="1000">
  <nodes>
    <cpt id="age">
      <state id="new"/><state id="old"/><state id="ancient"/><probabilities>0.5 0.3 0.2</probabilities>
    </cpt>
    <cpt id="cold"><state id="yes"/><state id="no"/><probabilities>0.1 0.9</probabilities></cpt>
    <noisymax id="fault">
      <state id="severe"/><state id="mild"/><state id="none"/>
      <parents>age cold</parents>
      <strengths>2 1 0 0 1</strengths>
      <parameters>0.3 0.5 0.2 0.1 0.3 0.6 0 0 1 0.2 0.2 0.6 0 0 1 0.01 0.04 0.95</parameters>
    </noisymax>
  </nodes>
</smile>
"""


def test_a_noisy_max_of_genie_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "car.xdsl"
    path.write_text(GENIE)
    network = read_network(path)
    form = network.forms["fault"]
    assert form.sets == (("age",), ("cold",))
    assert form.order == ("none", "mild", "severe")
    assert form.cpts[0].tolist() == [[0, 0, 1], [0.1, 0.3, 0.6], [0.3, 0.5, 0.2]]
    table = network.cpt_array("fault")
    assert table[0, 1] == pytest.approx([0.01, 0.04, 0.95])
    assert table[2, 0, 2] == pytest.approx(0.2 * 0.6 * 0.95)
    assert table[2, 0, 0] == pytest.approx(1 - 0.7 * 0.8 * 0.99)


@pytest.mark.parametrize("leak", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_xdsl_gives_back_what_it_was_given(tmp_path: Path, kind: str, leak: bool, seed: int) -> None:
    network = noisy_network(np.random.default_rng(seed), kind, leak)
    path = tmp_path / "net.xdsl"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyFormatWarning)
        write_network(network, path)
    again, meant = read_network(path), as_noisymax(network)[0]
    assert set(again.names) == set(meant.names)
    assert again.forms["y"].same(meant.forms["y"], meant.states("y"))
    assert all(np.array_equal(again.cpt_array(name), meant.cpt_array(name)) for name in meant.names if name != "y")
    axes = [again.names.index(name) for name in network.names]
    there = joint(flat(again)).sum(axis=tuple(set(range(len(again))) - set(axes)), keepdims=True)
    there = there.transpose([*axes, *sorted(set(range(len(again))) - set(axes))]).reshape(
        [len(network.states(name)) for name in network.names]
    )
    turned = [again.states("y").index(state) for state in network.states("y")]
    assert there.take(turned, axis=network.names.index("y")) == pytest.approx(joint(flat(network)), abs=1e-12)


def single(kind: str = "noisy-or", states: tuple[str, ...] = ("yes", "no")) -> Network:
    """Two causes of one parent each, the child's winning state first: XDSL holds it as it is."""
    tables = (np.array([[0.0, 1.0], [0.3, 0.7]]), np.array([[0.6, 0.4], [0.0, 1.0]]), np.array([0.1, 0.9]))
    form = NoisyForm(kind, (("a",), ("b",)), states[::-1], True, tables)
    bare = Network({"a": BINARY, "b": BINARY, "y": states}, {"y": ["a", "b"]}, {"a": [0.4, 0.6], "b": [0.5, 0.5]})
    return bare.with_forms({"y": form})


def test_single_causes_are_a_noisymax_and_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "net.xdsl"
    write_network(single(), path)  # warnings are errors here: nothing is lost
    assert read_network(path) == single()
    text = path.read_text()
    assert "<strengths>1 0 0 1</strengths>" in text
    assert "<parameters>0.3 0.7 0.0 1.0 0.6 0.4 0.0 1.0 0.1 0.9</parameters>" in text


def test_sets_of_several_parents_become_nodes_and_that_is_said(tmp_path: Path) -> None:
    network = noisy_network(np.random.default_rng(0), "noisy-or", leak=True)
    tables = [np.full((*[len(network.states(name)) for name in own], 2), 0.5) for own in (("x0", "x1"), ("x2", "x3"))]
    form = NoisyForm("noisy-or", (("x0", "x1"), ("x2", "x3")), network.forms["y"].order, False, tables)
    path = tmp_path / "net.xdsl"
    with pytest.warns(LossyFormatWarning, match="causes of y come back as variables: y_by_x0_x1, y_by_x2_x3"):
        write_network(network.with_forms({"y": form}), path)
    assert read_network(path).parents["y"] == ("y_by_x0_x1", "y_by_x2_x3")


def test_a_noisy_and_is_the_same_with_its_states_turned_round(tmp_path: Path) -> None:
    path = tmp_path / "net.xdsl"
    with pytest.warns(LossyFormatWarning, match="y, which is noisy-and, comes back"):
        write_network(single("noisy-and", BINARY[::-1]).with_forms({}), path)
    again = read_network(path)
    assert again.states("y") == BINARY
    assert again.cpt_array("y")[..., ::-1] == pytest.approx(single("noisy-and", BINARY[::-1]).cpt_array("y"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("2 1 0 0 1", "2 1 1 0 1", "strengths of fault are the numbers"),
        ("2 1 0 0 1", "2 1 0 0 1 0", "has 6 strengths; it needs 5"),
        ("0 0 1 0.2", "0 1 0.2", "The noisy-MAX of fault has 17 numbers; it needs 18"),
        ("0.3 0.5 0.2", "0.3 0.5 0.3", "sum to one"),
        ("<parents>age cold<", "<parents>age hot<", 'parent "hot"'),
    ],
)
def test_mistakes_in_a_noisymax_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GENIE
    path = tmp_path / "car.xdsl"
    path.write_text(GENIE.replace(old, new))
    with pytest.raises(FormatError, match=message):
        read_network(path)


def test_a_noisymax_without_strengths_or_parents_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "car.xdsl"
    path.write_text(GENIE.replace("<strengths>2 1 0 0 1</strengths>", ""))
    assert read_network(path).forms["fault"].cpts[0][0].tolist() == [0.3, 0.5, 0.2]
    alone = GENIE.replace("<strengths>2 1 0 0 1</strengths>", "").replace("<parents>age cold</parents>", "")
    path.write_text(alone.replace("0.3 0.5 0.2 0.1 0.3 0.6 0 0 1 0.2 0.2 0.6 0 0 1 ", ""))
    assert read_network(path).cpt_array("fault").tolist() == [0.01, 0.04, 0.95]


# Formats that know full tables only ----------------------------------------------------------------------------------


def large() -> Network:
    """A family of 20 parents in five sets: its full table would have two million numbers."""
    generator = np.random.default_rng(0)
    names = [f"x{i}" for i in range(20)]
    sets = tuple(tuple(names[i : i + 4]) for i in range(0, 20, 4))
    tables = (*(generator.dirichlet([1, 1], (2,) * 4) for _ in sets), np.array([0.9, 0.1]))
    form = NoisyForm("noisy-or", sets, BINARY, True, tables)
    bare = Network({**dict.fromkeys(names, BINARY), "y": BINARY}, {"y": names}, {name: [0.5, 0.5] for name in names})
    return bare.with_forms({"y": form})


@pytest.mark.parametrize("ending", [".bif", ".bif.gz", ".xmlbif", ".uai", ".net", ".dsl"])
def test_small_families_are_written_as_full_tables(tmp_path: Path, ending: str) -> None:
    network, path = single(), tmp_path / f"net{ending}"
    with pytest.warns(LossyFormatWarning) as warned:
        write_network(network, path)
    assert any("noisy families of y are written as full CPTs" in str(each.message) for each in warned)
    again = read_network(path)
    assert likelihood(again, network, 20) == pytest.approx(network.log_likelihood(network.sample(20, seed=1)), abs=1e-3)
    assert not again.forms


@pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".uai", ".net", ".xdsl"])
def test_large_families_are_written_with_their_effects(tmp_path: Path, ending: str) -> None:
    network, path = large(), tmp_path / f"net{ending}"
    with pytest.warns(LossyFormatWarning) as warned:
        write_network(network, path)
    assert any("y_by_x0_x1" in str(each.message) or "variable of its own" in str(each.message) for each in warned)
    again = read_network(path)
    assert ending == ".uai" or "y_by_x0_x1_x2_x3" in again
    assert likelihood(again, network, 20) == pytest.approx(network.log_likelihood(network.sample(20, seed=1)), rel=1e-6)


def likelihood(again: Network, network: Network, rows: int) -> float:
    """Of rows that the first network drew, under what was read; UAI knows variables and states by number."""
    frame = network.sample(rows, seed=1)
    if again.names[0] == "x0" and again.states("x0") == ("0", "1"):
        drawn = {f"x{i}": frame[name].to_physical().cast(pl.String) for i, name in enumerate(network.names)}
        frame = pl.DataFrame(drawn)
    return again.log_likelihood(frame)


@pytest.mark.parametrize("package", ["pgmpy", "pyagrum"])
def test_objects_of_other_packages_hold_tables(package: str) -> None:
    pytest.importorskip(package)
    for network, words in ((single(), "written as full CPTs"), (large(), "variable of its own")):
        with pytest.warns(LossyFormatWarning, match=words):
            model = getattr(network, f"to_{package}")()
        again = read_network(model)
        frame = network.sample(10, seed=2)
        assert again.log_likelihood(frame) == pytest.approx(network.log_likelihood(frame), rel=1e-9)


def test_a_family_that_is_not_learned_yet_is_structure(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    with pytest.warns(LossyFormatWarning, match="That the families of y are noisy is not written"):
        write_network(large().without_cpts(), path)
    assert read_network(path).parents["y"] == large().parents["y"]


def test_names_of_effects_are_free_ones() -> None:
    network = large()
    names = {each.name: each.states for each in network.variables} | {"y_by_x0_x1_x2_x3": BINARY}
    taken = Network(names, network.parents, network.cpts, forms=network.forms)
    assert "y_by_x0_x1_x2_x3_" in as_full_cpts(taken)[0]
    assert "y_by_x0_x1_x2_x3_" in as_noisymax(taken)[0]


ROUNDED = """<smile id="x"><nodes>
<cpt id="a"><state id="x"/><state id="y"/><probabilities>0.5 0.5</probabilities></cpt>
<noisymax id="c"><state id="s0"/><state id="s1"/><state id="s2"/><state id="s3"/><state id="s4"/><state id="s5"/>
<parents>a</parents><parameters>0.166667 0.166667 0.166667 0.166667 0.166667 {last} 0 0 0 0 0 1 0 0 0 0 0 1</parameters>
</noisymax></nodes></smile>"""


def test_a_noisy_family_with_rounded_digits_is_read_and_sampled(tmp_path: Path) -> None:
    path = tmp_path / "net.xdsl"
    path.write_text(ROUNDED.format(last="0.166667"))
    with pytest.warns(RoundedNumbersWarning, match="One distribution .* of c, sums to 1.000002"):
        network = read_network(path)
    assert abs(network.forms["c"].cpts[0][0].sum() - 1) < 1e-15
    assert len(network.sample(10)) == 10
    path.write_text(ROUNDED.format(last="0.166671"))
    with pytest.raises(FormatError, match="line 3: The noisy-MAX of c: .* sum to one"):
        read_network(path)
