"""Cut points in every network format come back exactly, and properties that are not ours do no harm."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from credo import CutPoints, FormatError, Network, NoisyForm, Variable, read_network, write_network
from credo.errors import LossyFormatWarning
from credo.io.cut_properties import identifiers
from credo.io.network_files import FORMATS
from credo.model.cut_points import default_labels

ENDINGS = [ending for known in FORMATS if known.write for ending in known.endings]
POINTS = (-0.1, 1 / 3, 40.0, 1e22)
RANGES = [(None, None), (-5.5, 1e300), (None, 1 / 7), (0.1, None)]


def _network(cuts: CutPoints, states: tuple[str, ...]) -> Network:
    size = len(states)
    variables = [Variable("age", states, cuts), Variable("out", ("no", "yes"))]
    cpts = {"age": np.full(size, 1 / size), "out": [[1 / 3, 2 / 3]] * size}
    return Network(variables, {"out": ["age"]}, cpts)


def _cuts(network: Network, name: str = "age") -> tuple[object, ...]:
    cuts = network.variable(name).cuts
    assert cuts is not None
    return cuts.points, cuts.lowest, cuts.highest


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("ends", RANGES)
@pytest.mark.parametrize("named", [False, True])
def test_cut_points_come_back_exactly(
    ending: str, ends: tuple[float | None, float | None], named: bool, tmp_path: Path
) -> None:
    states = ("a", "b", "c", "d", "e") if named else default_labels(POINTS)
    network = _network(CutPoints(POINTS, *ends), states)
    path = tmp_path / f"net{ending}"
    with warnings.catch_warnings():
        if ending == ".uai":
            warnings.simplefilter("ignore", LossyFormatWarning)
        else:
            warnings.simplefilter("error")
        write_network(network, path)
        found = read_network(path)
    if ending == ".uai":
        assert found.variable("x0").states == states
        assert _cuts(found, "x0") == (POINTS, *ends)
    else:
        assert found == network
        assert _cuts(found) == (POINTS, *ends)
    again = tmp_path / f"again{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyFormatWarning)
        write_network(found, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_without_cut_points_are_as_before(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"net{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyFormatWarning)
        write_network(Network({"a": ["x", "y"]}, cpts={"a": [0.5, 0.5]}), path)
    assert b"credo_" not in path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert read_network(path).variables[0].cuts is None


def test_names_as_genie_gives_them() -> None:
    assert identifiers(Variable("x", default_labels((-5, 2.5)), CutPoints((-5, 2.5)))) == (
        "s1_below_minus_5",
        "s2_minus_5_2_5",
        "s3_2_5_up",
    )
    assert identifiers(Variable("x", ("low", "high"), CutPoints((3,)))) == ("low", "high")
    assert identifiers(Variable("x", ("lo w", "high"))) == ("s1_lo_w", "s2_high")


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ("credo_cut_points = 40 x", "The property credo_cut_points of age is a list of numbers, not “40 x”"),
        ("credo_cut_points = ", "is a list of numbers, not “”"),
        ("credo_cut_points = 60 40", "Cut points increase, but 60 comes before 40"),
        ("credo_cut_points = 40", "age has 3 states, but 1 cut point makes 2"),
        ("credo_cut_points = 40 60; property credo_range_seen = 3", "credo_range_seen of age has two numbers, not “3”"),
        ("credo_cut_points = 40 60; property credo_range_seen = 3 y", "is a list of numbers, not “y”"),
        ("credo_cut_points = 40 60; property credo_range_seen = 3 1", "The lowest number, 3, is above the highest, 1"),
        ("credo_cut_points = 40 60; property credo_states = [1]", "is a list of 3 names in JSON, not “\\[1\\]”"),
        ("credo_cut_points = 40 1e999", "finite number, not inf"),
    ],
)
def test_a_property_that_cannot_be_read(properties: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    path.write_text(f"variable age {{ type discrete [3] {{ a, b, c }}; property {properties}; }}\n")
    with pytest.raises(FormatError, match=message) as error:
        read_network(path)
    assert error.value.line == 1


@pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".xdsl", ".net", ".dsl"])
def test_a_property_that_is_there_twice(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"net{ending}"
    write_network(_network(CutPoints((40.0,)), default_labels((40.0,))), path)
    lines = path.read_text().splitlines(keepends=True)
    ours = next(number for number, line in enumerate(lines) if "credo_cut_points" in line)
    path.write_text("".join([*lines[:ours], lines[ours].replace("40.0", "50.0"), *lines[ours:]]))
    with pytest.raises(FormatError, match=r"line \d+: A second (property )?credo_cut_points of age"):
        read_network(path)


def test_other_properties_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    path.write_text(
        "variable age { property cut_points = 3; type discrete [2] { a, b }; property credo_cut_points = 40; "
        "property credo_range_seen = ? 90.5; property position = (3, 4); }\n"
    )
    assert _cuts(read_network(path)) == ((40.0,), None, 90.5)


# UAI, which has no properties -----------------------------------------------------------------------------------------


@pytest.fixture
def uai(tmp_path: Path) -> Path:
    path = tmp_path / "net.uai"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_network(_network(CutPoints((40, 60), 18), ("young", "middle", "old")), path)
    assert "they are in net.uai.cuts.json, beside it. BIF keeps them in one file." in str(caught[0].message)
    return path


def test_uai_without_its_file_beside(uai: Path) -> None:
    Path(f"{uai}.cuts.json").unlink()
    assert read_network(uai).variables[0] == Variable("x0", ("0", "1", "2"))


def test_uai_removes_cut_points_of_another_network(uai: Path) -> None:
    with pytest.warns(LossyFormatWarning):
        write_network(Network({"a": ["x", "y"]}, cpts={"a": [0.5, 0.5]}), uai)
    assert not Path(f"{uai}.cuts.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": [2, 2]}, "This file belongs to another network than net.uai. Remove it"),
        ({"variables": {"9": {}}}, "This file holds no cut points"),
        ({"variables": []}, "This file holds no cut points"),
        (None, "This file holds no cut points"),
    ],
)
def test_a_wrong_file_beside(uai: Path, change: dict[str, object] | None, message: str) -> None:
    beside = Path(f"{uai}.cuts.json")
    beside.write_text("[" if change is None else json.dumps({**json.loads(beside.read_text()), **change}))
    with pytest.raises(FormatError, match=message):
        read_network(uai)


# Other libraries ------------------------------------------------------------------------------------------------------


def test_pgmpy_keeps_cut_points() -> None:
    pytest.importorskip("pgmpy")
    network = _network(CutPoints((40, 60), 18, 90), ("young", "middle", "old"))
    assert Network.from_pgmpy(network.to_pgmpy()) == network


def test_pyagrum_does_not() -> None:
    pytest.importorskip("pyagrum")
    network = _network(CutPoints((40, 60), 18, 90), ("young", "middle", "old"))
    with pytest.warns(LossyFormatWarning, match="pyAgrum: The cut points of age are not kept"):
        model = network.to_pyagrum()
    assert Network.from_pyagrum(model).variable("age") == Variable("age", ("young", "middle", "old"))


def test_a_noisy_child_in_xdsl_loses_its_cut_points_where_its_states_are_reversed(tmp_path: Path) -> None:
    form = NoisyForm(
        "noisy-max", (("out",),), ("young", "middle", "old"), False, (np.array([[1.0, 0, 0], [0.2, 0.3, 0.5]]),)
    )
    network = Network(
        [Variable("out", ("no", "yes")), Variable("age", ("young", "middle", "old"), CutPoints((40, 60)))],
        {"age": ["out"]},
        {"out": [0.5, 0.5]},
        forms={"age": form},
    )
    with pytest.warns(LossyFormatWarning, match="Cut points need the lowest state first: those of age are not written"):
        write_network(network, tmp_path / "net.xdsl")
    assert read_network(tmp_path / "net.xdsl").variable("age") == Variable("age", ("old", "middle", "young"))
