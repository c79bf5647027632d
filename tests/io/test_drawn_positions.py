"""Where GeNIe and Hugin drew the variables of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import credo
from credo import write_network
from credo.drawing.page_picture import BETWEEN, corners_as_drawn, picture_data
from credo.io.drawn_positions import drawn_positions
from credo.knowledge.labels import Labels

NETWORK = credo.Network(
    {name: ["no", "yes"] for name in "abc"},
    {"c": ["a", "b"]},
    {"a": [0.4, 0.6], "b": [0.3, 0.7], "c": [[[0.1, 0.9], [0.2, 0.8]], [[0.3, 0.7], [0.4, 0.6]]]},
)
PLACES = {"a": (60.0, 40.0), "b": (200.0, 40.0), "c": (130.0, 120.0)}


def xdsl(path: Path, places: dict[str, tuple[float, float]] = PLACES, extra: str = "") -> Path:
    """A file as GeNIe writes it: ends of boxes that are 80 wide and 40 high."""
    write_network(NETWORK, path)
    text = path.read_text()
    for name, (x, y) in places.items():
        ends = f"<position>{x - 40:g} {y - 20:g} {x + 40:g} {y + 20:g}</position>"
        text = text.replace(f"<name>{name}</name>", f"<name>{name}</name>{ends}")
    path.write_text(text.replace("</genie>", f"{extra}</genie>"))
    return path


def net(path: Path, places: dict[str, tuple[float, float]] = PLACES) -> Path:
    write_network(NETWORK, path)
    text = path.read_text()
    for name, (x, y) in places.items():
        start = text.index("{", text.index(f"node {name}"))
        note = f'label = "position = (1 1); }} {{"; % position = (2 2);\n position = ({x:g} {y:g});'
        text = f"{text[: start + 1]}\n {note}{text[start + 1 :]}"
    path.write_text(text)
    return path


def test_middles_are_read(tmp_path: Path) -> None:
    for path in (xdsl(tmp_path / "a.xdsl"), net(tmp_path / "a.net")):
        network = credo.read_network(path)
        assert network.names == NETWORK.names
        assert drawn_positions(path, network) == PLACES


def test_where_y_grows_upward_the_picture_is_turned_over(tmp_path: Path) -> None:
    path = net(tmp_path / "a.net", {name: (x, 500 - y) for name, (x, y) in PLACES.items()})
    assert drawn_positions(path, NETWORK) == {name: (x, y - 500) for name, (x, y) in PLACES.items()}


@pytest.mark.parametrize("name", ["a.xdsl", "a.net", "a.bif"])
def test_a_file_without_positions_has_none(tmp_path: Path, name: str) -> None:
    write_network(NETWORK, tmp_path / name)
    assert drawn_positions(tmp_path / name, NETWORK) == {}


def test_a_picture_of_some_variables_alone_is_none(tmp_path: Path) -> None:
    some = {name: PLACES[name] for name in "ab"}
    assert drawn_positions(xdsl(tmp_path / "a.xdsl", some), NETWORK) == {}
    assert drawn_positions(net(tmp_path / "a.net", some), NETWORK) == {}
    assert drawn_positions(xdsl(tmp_path / "b.xdsl", extra='<submodel id="s"></submodel>'), NETWORK) == {}
    text = xdsl(tmp_path / "c.xdsl").read_text()
    (tmp_path / "c.xdsl").write_text(text.replace("20 20 100 60", "20 inf 100 60"))
    assert drawn_positions(tmp_path / "c.xdsl", NETWORK) == {}


def test_boxes_are_as_far_apart_as_they_need_and_no_further() -> None:
    labels = Labels()
    corners = corners_as_drawn(NETWORK, labels, PLACES)
    sizes = {name: box[2:] for name, box in picture_data(NETWORK)["boxes"].items()}
    assert corners["b"][0] - corners["a"][0] == pytest.approx(sizes["a"][0] + BETWEEN)  # the nearest ones
    factor = (corners["b"][0] - corners["a"][0]) / (PLACES["b"][0] - PLACES["a"][0])
    assert corners["c"][0] - corners["a"][0] == pytest.approx(factor * 70, abs=0.2)
    assert corners["c"][1] - corners["a"][1] == pytest.approx(factor * 80, abs=0.2)
    assert corners_as_drawn(NETWORK, labels, {**PLACES, "c": PLACES["a"]}) == {}  # two in one place
    assert corners_as_drawn(NETWORK, labels, {"a": (0, 0)}) == {}
