"""What the network in the middle of the page shows: where it stands, what its arrows mean, and the previous fit."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars
import pytest

import credo
from credo.drawing.network_boxes import influence, strength
from credo.drawing.page_picture import NARROWEST, WIDEST, group_box, picture_data, picture_key
from credo.knowledge.labels import Labels
from credo.questions.question_draws import arrow_kinds
from credo.shipped import example
from tests.studio.harness import Studio


def test_boxes_do_not_overlap_and_arrows_end_at_them(target: Studio) -> None:
    network = target.session.require_opened().reading.network
    assert network is not None
    picture = target.get("/api/picture").json()
    assert picture == target.get("/api/state").json()["opened"]["picture"]
    boxes = picture["boxes"]
    assert set(boxes) == set(network.names)
    for name, (x, y, width, height) in boxes.items():
        assert NARROWEST <= width <= WIDEST
        for other, (x2, y2, width2, height2) in boxes.items():
            apart = x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y
            assert name == other or apart
    arrows = {(parent, child): points for parent, child, points in picture["routes"]}
    assert set(arrows) == {(parent, name) for name in network for parent in network.parents[name]}
    for (parent, child), points in arrows.items():
        assert points[0][1] == pytest.approx(boxes[parent][1] + boxes[parent][3], abs=1)
        assert points[-1][1] == pytest.approx(boxes[child][1], abs=1)


def test_a_picture_changes_with_what_is_drawn_alone() -> None:
    one = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    renamed = credo.Network({"a": ["0", "1"], "b": ["no", "yes"]}, {"b": ["a"]})
    turned = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"a": ["b"]})
    assert picture_key(one) == picture_key(renamed) == picture_data(one)["key"]
    assert picture_key(one) != picture_key(turned)
    long = credo.Network({"a": ["no", "yes, as far as we know"], "b": ["no", "yes"]}, {"b": ["a"]})
    assert picture_data(long)["boxes"]["a"][2] > picture_data(one)["boxes"]["a"][2]


def test_a_long_name_has_room_in_several_lines() -> None:
    names = ["disease", "VesselNavigationOperationManagement", "RiskOfInfection" * 5]
    network = credo.Network({name: ["no", "yes"] for name in names}, {})
    (_, _, *usual), (_, _, *long), (_, _, *longest) = (picture_data(network)["boxes"][name] for name in names)
    assert usual == [NARROWEST, long[1]]  # two lines are as high as one
    assert long[0] < WIDEST == longest[0]
    assert longest[1] > long[1]


def test_arrows_say_what_statements_and_numbers_say(learned: Studio, target: Studio) -> None:
    variables = target.get("/api/state").json()["opened"]["reading"]["network"]["variables"]
    stated = {each["name"]: each["stated"] for each in variables}
    assert stated["disease"] == {"age": "raises", "smoker": "raises", "pressure": "raises"}
    assert stated["ecg"] == {}
    network = learned.session.require_fit().network
    arrows = learned.get("/api/fit").json()["fit"]["arrows"]
    assert arrows["disease"]["smoker"][0] == influence(network, "smoker", "disease") == "raises"
    answer = learned.change(learned.session.require_opened().document.text + "smoker lowers disease\n").json()
    disease = next(each for each in answer["network"]["variables"] if each["name"] == "disease")
    assert disease["stated"]["smoker"] == "neutral"  # where statements disagree


def test_the_arrows_of_a_network_file_have_their_meaning_at_once(studio: Studio) -> None:
    shutil.copyfile(example("asia") / "asia.bif", studio.folder / "asia.bif")
    opened = studio.post("/api/open", {"model": "asia.bif"}).json()["opened"]
    assert {kind for kind, _ in opened["arrows"]["lung"].values()} <= {"raises", "lowers", "neutral"}


def test_bars_and_cpts_of_the_fit_before_stand_beside_those_of_this_one(learned: Studio) -> None:
    opened = learned.session.require_opened()
    assert "before" not in learned.post("/api/marginals", {"before": True}).json()
    network = learned.session.require_fit().network
    opened.previous = network.with_cpts({"smoker": [0.5, 0.5]})
    bars = learned.post("/api/marginals", {"before": True, "evidence": {"age": "old"}}).json()
    assert bars["before"]["smoker"] == {"no": 0.5, "yes": 0.5}
    assert bars["before"]["age"] == {"young": 0.0, "middle": 0.0, "old": 1.0}
    assert "before" not in learned.post("/api/marginals").json()
    comparison = learned.get("/api/explanation").json()["comparison"]
    assert comparison["cpts"]["smoker"] == [[0.5, 0.5]]
    assert len(comparison["cpts"]["disease"]) == 12
    assert comparison["parameters"][0]["parameter"].startswith("P(smoker=")
    opened.previous = credo.Network({"a": ["no", "yes"]}, cpts={"a": [0.5, 0.5]})  # other variables
    assert "before" not in learned.post("/api/marginals", {"before": True}).json()
    assert learned.get("/api/explanation").json()["comparison"] is None
    opened.previous = None


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")  # of the order of variables
@pytest.mark.parametrize("ending", [".bif", ".xdsl"])
def test_the_learned_network_is_for_download(learned: Studio, ending: str, tmp_path: Path) -> None:
    answer = learned.get(f"/api/network?ending={ending}")
    assert answer.headers["content-disposition"].startswith("attachment")
    (tmp_path / f"learned{ending}").write_bytes(answer.content)
    found, network = credo.read_network(tmp_path / f"learned{ending}"), learned.session.require_fit().network
    for name in network:
        assert found.cpt_array(name) == pytest.approx(network.cpt_array(name))


@pytest.mark.parametrize("ending", ["", ".exe", "/../../x.bif", "x.bif"])
def test_only_network_files_are_written(learned: Studio, ending: str) -> None:
    assert learned.get(f"/api/network?ending={ending}").status_code == 422


# Signs and strengths of arrows ----------------------------------------------------------------------------------------


def test_a_tiny_reversal_does_not_hide_a_direction() -> None:
    states = {"age": ["young", "middle", "old"], "ill": ["no", "yes"]}
    network = credo.Network(states, {"ill": ["age"]})
    risks = {"tiny": [0.10, 0.40, 0.395], "real": [0.10, 0.40, 0.30], "flat": [0.2, 0.2, 0.2]}
    cpts = {name: [[1 - risk, risk] for risk in own] for name, own in risks.items()}
    found = {
        name: influence(network.with_cpts({"age": [1 / 3] * 3, "ill": cpt}), "age", "ill") for name, cpt in cpts.items()
    }
    assert found == {"tiny": "raises", "real": "neutral", "flat": "neutral"}


def test_a_direction_that_the_draws_do_not_agree_on_is_not_shown() -> None:
    network = credo.Network({"a": ["0", "1"], "b": ["0", "1"]}, {"b": ["a"]})
    rows = polars.DataFrame({"a": ["0", "0", "1", "1"] * 10, "b": ["0", "0", "0", "1"] * 10})
    kinds = [arrow_kinds(credo.fit(network, data))["a", "b"] for data in (None, rows.head(4), rows)]
    assert kinds == ["neutral", "neutral", "raises"]
    assert arrow_kinds(credo.fit(network, None, "a lowers b"))["a", "b"] == "lowers"


def test_the_strength_of_an_arrow_is_how_far_its_child_moves() -> None:
    network = credo.Network({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]}, {"c": ["a", "b"]})
    cpt = [[[0.9, 0.1], [0.9, 0.1]], [[0.4, 0.6], [0.2, 0.8]]]
    full = network.with_cpts({"a": [0.5, 0.5], "b": [0.5, 0.5], "c": cpt})
    assert strength(full, "a", "c") == pytest.approx((0.5 + 0.7) / 2)
    assert strength(full, "b", "c") == pytest.approx((0.0 + 0.2) / 2)


# Parts of a network ---------------------------------------------------------------------------------------------------


def test_folded_groups_are_one_box_and_close_no_circle() -> None:
    network = credo.Network({name: ["0", "1"] for name in "abcd"}, {"b": ["a"], "c": ["b"], "d": ["c"]})
    labels = Labels(groups={"ends": ("a", "d")})
    picture = picture_data(network, labels, ["ends"])
    assert set(picture["boxes"]) == {group_box("ends"), "b", "c"}
    assert {(parent, child) for parent, child, _ in picture["routes"]} == {
        (group_box("ends"), "b"),
        ("b", "c"),
        (group_box("ends"), "c"),  # d comes after c: this arrow is turned, so that layers exist
    }
    part = picture_data(network, labels, [], ["b", "c"])
    assert set(part["boxes"]) == {"b", "c"}
    assert part["key"] == picture_data(network, labels)["key"]


def test_a_part_of_the_picture_is_asked_for(studio: Studio) -> None:
    studio.change(studio.session.require_opened().document.text + "group risks: age, smoker\n")
    answer = studio.post("/api/picture", {"folded": ["risks"], "shown": ["age", "smoker", "disease"]}).json()
    assert set(answer["boxes"]) == {group_box("risks"), "disease"}
    assert studio.post("/api/picture", {"folded": "risks"}).status_code == 422
    state = studio.get("/api/state").json()["opened"]["reading"]["network"]
    assert state["groups"] == {"risks": ["age", "smoker"]}
