"""No number is shown as something that it is not, and nothing that somebody wrote is lost."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import credo
from credo import write_network
from credo.io.files import replacing
from credo.shipped import example
from credo.studio.learning import TimeLeft
from credo.studio.merging import merged
from credo.studio.opening import fit_file
from credo.studio.scratch import new_scratch, remove_left_drafts
from tests.studio.harness import Studio, started, wait_for


def text_of(studio: Studio) -> str:
    return studio.session.require_opened().document.text


def bars(studio: Studio, **given: object) -> dict[str, object]:
    return studio.post("/api/marginals", given).json()


# States, arrows, names ------------------------------------------------------------------------------------------------


def test_numbers_follow_the_names_of_states(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        before = bars(studio)["bars"]["disease"]
        text = studio.post("/api/edit", {"op": "set_states", "name": "disease", "states": ["1", "0"]}).json()["text"]
        studio.change(text)
        assert bars(studio)["bars"]["disease"] == before  # by name, whatever the order
        assert studio.get("/api/state").json()["opened"]["reading"]["network"]["variables"]


def test_other_cut_points_leave_no_numbers_under_the_same_names(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        answer = studio.change(text_of(studio).replace("young < 45", "young < 30")).json()
        assert "age has other states." in answer["changes"]
        found = bars(studio, evidence={"ecg": "abnormal"})
        assert set(found["bars"]) == {"smoker"}  # all others depend on age
        assert found["unused"] == ["ecg"]
        assert "Learn again" in studio.post("/api/most-probable").json()["error"]
        assert "Learn again" in studio.post("/api/predict", {"targets": ["disease"]}).json()["error"]


def test_evidence_does_not_act_over_an_arrow_that_is_gone(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        alone = bars(studio)["bars"]["disease"]
        assert bars(studio, evidence={"ecg": "abnormal"})["bars"]["disease"] != alone
        request = {"op": "remove_arc", "parent": "disease", "child": "ecg"}
        answer = studio.change(studio.post("/api/edit", request).json()["text"]).json()
        assert "The arrow disease → ecg is gone." in answer["changes"]
        found = bars(studio, evidence={"ecg": "abnormal"})
        assert found["bars"]["disease"] == alone
        assert "ecg" not in found["bars"]
        studio.change(text_of(studio).replace("smoker", "smokes"))
        found = bars(studio, evidence={"smoker": "yes"})
        assert found["unused"] == ["smoker"]
        assert "disease" not in found["bars"]


def test_what_changed_is_said_and_gone_when_it_is_taken_back(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        text = text_of(studio)
        said = "P(disease=1 | age=young, smoker=no, pressure=normal) is at least 30%"  # not what it is turned into
        answer = studio.change(f"{text}{said}\n").json()
        assert answer["changes"] == [f"A statement is new: line 19, “{said}”."]
        lines = text.split("\n")
        answer = studio.change("\n".join(each for each in lines if "is at most 5%" not in each)).json()
        gone = "P(disease=1 | age=young, smoker=no, pressure=normal) is at most 5%"
        assert answer["changes"] == [f"A statement is gone: “{gone}”."]
        answer = studio.change(text + "disease raises ecg\n").json()
        assert answer["changes"] == ["A statement is new: line 19, “disease raises ecg”."]
        assert set(bars(studio)["bars"]) == {"age", "smoker", "pressure", "disease", "ecg"}
        assert studio.change(text + "# a comment\n").json()["changes"] == []
        (studio.folder / "patients.csv").write_text((studio.folder / "patients.csv").read_text() + "\n")
        assert studio.change(text).json()["changes"] == ["patients.csv changed."]


# What was learned before ----------------------------------------------------------------------------------------------


def test_a_saved_fit_is_that_of_the_text_and_the_table_or_is_not_shown(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        assert studio.session.require_opened().fit is not None
        studio.post("/api/open", {"model": "heart.credo"})
        opened = studio.session.require_opened()
        assert opened.fit is None
        assert "heart.studio.fit" in opened.notice
        assert "patients.csv, which it was learned from, is not open" in opened.notice
    text = (learned_heart / "heart.credo").read_text(encoding="utf-8")
    (learned_heart / "heart.credo").write_text(text + "smoker does not affect disease\n", encoding="utf-8")
    with started(learned_heart) as studio:
        opened = studio.session.require_opened()
        assert opened.fit is None
        assert "smoker does not affect disease" in opened.notice


def test_a_network_file_shows_its_own_numbers(tmp_path: Path, heart_fit: Path) -> None:
    fit = credo.load(heart_fit)
    write_network(fit.network.with_cpts({"smoker": [0.25, 0.75]}), tmp_path / "heart.bif")
    shutil.copyfile(heart_fit, fit_file(tmp_path / "heart.credo"))
    shutil.copyfile(example("heart") / "patients.csv", tmp_path / "patients.csv")
    (tmp_path / "heart.credo").write_text("", encoding="utf-8")
    with started(tmp_path.resolve()) as studio:
        studio.post("/api/open", {"model": "heart.bif"})
        found = bars(studio)
        assert found["source"] == "network"
        assert found["bars"]["smoker"]["yes"][0] == 0.75


def test_an_old_fit_without_an_origin_is_not_taken_for_current(heart: Path, heart_fit: Path) -> None:
    from dataclasses import replace

    replace(credo.load(heart_fit), origin=None).save(fit_file(heart / "heart.credo"))
    with started(heart) as studio:
        assert studio.session.require_opened().fit is None


# Saving ---------------------------------------------------------------------------------------------------------------


def test_saving_overwrites_nothing_that_another_program_wrote(studio: Studio) -> None:
    path = studio.folder / "heart.credo"
    base = text_of(studio)
    studio.change(base + "disease raises ecg\n")
    theirs = base.replace("age raises pressure\n", "age raises pressure\n# checked by Ana\n")
    path.write_text(theirs, encoding="utf-8")
    conflict = studio.post("/api/save").json()["conflict"]
    assert path.read_text(encoding="utf-8") == theirs
    assert ["+", "# checked by Ana"] in conflict["difference"]
    assert ["-", "disease raises ecg"] in conflict["difference"]
    assert conflict["places"] == 0
    assert "# checked by Ana" in conflict["merged"]
    assert "disease raises ecg" in conflict["merged"]
    assert conflict["free"] == "heart-2.credo"
    # What was decided about is one content of the file: if it changes again, that is said again.
    path.write_text(theirs + "# and again\n", encoding="utf-8")
    assert "conflict" in studio.post("/api/save", {"over": conflict["mark"]}).json()
    path.write_text(theirs, encoding="utf-8")
    studio.change(conflict["merged"])
    assert studio.post("/api/save", {"over": conflict["mark"]}).json() == {}
    assert path.read_text(encoding="utf-8") == conflict["merged"]
    assert studio.post("/api/save").json() == {}


def test_a_text_is_saved_under_another_name(studio: Studio) -> None:
    base = text_of(studio)
    studio.change(base + "# mine\n")
    generation = studio.session.generation
    assert studio.post("/api/save", {"as": "heart"}).status_code == 422  # there is one
    assert studio.post("/api/save", {"as": "../heart"}).status_code == 422
    assert studio.post("/api/save", {"as": "mine"}).json() == {"name": "mine.credo"}
    assert (studio.folder / "mine.credo").read_text(encoding="utf-8") == base + "# mine\n"
    assert (studio.folder / "heart.credo").read_text(encoding="utf-8") == base
    assert studio.session.generation != generation  # so that tabs know
    state = studio.get("/api/state").json()["opened"]
    assert state["knowledge"] == "mine.credo"
    assert not state["unsaved"]


def test_two_studios_with_one_file_lose_nothing(heart: Path) -> None:
    with started(heart) as one, started(heart) as two:
        base = text_of(one)
        one.change(base + "# one\n")
        assert one.post("/api/save").json() == {}
        two.change(base + "# two\n")
        conflict = two.post("/api/save").json()["conflict"]
        assert conflict["places"] == 1
        assert conflict["merged"].count("# one") == 1
        assert "# two" in conflict["merged"]


def test_both_changes_of_a_text_are_in_the_merged_one() -> None:
    base = "a\nb\nc\nd\n"
    assert merged(base, "a\nB\nc\nd\n", "a\nb\nc\nD\n") == ("a\nB\nc\nD\n", 0)
    assert merged(base, base, "x\n") == ("x\n", 0)
    assert merged(base, "a\nc\nd\n", base) == ("a\nc\nd\n", 0)
    text, places = merged(base, "a\nmine\nc\nd\n", "a\ntheirs\nc\nd\n")
    assert places == 1
    assert text.split("\n") == ["a", "mine", "# in the file: theirs", "c", "d", ""]


# Learning with half a line, statements twice --------------------------------------------------------------------------


def test_half_a_line_does_not_stop_learning(studio: Studio) -> None:
    studio.change(text_of(studio) + "smoker rai\n")
    assert studio.post("/api/learn").status_code == 200
    wait_for(lambda: studio.session.require_opened().fit)
    state = studio.get("/api/state").json()["opened"]
    assert state["fit"]["left_out"] == ["line 19, “smoker rai”"]
    assert state["reading"]["changes"] == []
    studio.post("/api/cancel")


def test_a_statement_is_written_once(studio: Studio) -> None:
    request = {"op": "arc_statement", "verb": "raises", "parent": "smoker", "child": "disease"}
    answer = studio.post("/api/edit", request)
    assert answer.status_code == 422
    assert answer.json()["error"] == "The text says so already in line 13: smoker raises disease."


def test_states_are_shown_in_the_order_that_arrows_mean(studio: Studio) -> None:
    answer = studio.change(text_of(studio) + "variable smoker: yes, no\n").json()
    (smoker,) = (each for each in answer["network"]["variables"] if each["name"] == "smoker")
    assert smoker["states"] == ["yes", "no"]
    assert smoker["order"] == ["no", "yes"]
    answer = studio.change(text_of(studio) + "order smoker: yes < no\n").json()
    (smoker,) = (each for each in answer["network"]["variables"] if each["name"] == "smoker")
    assert smoker["order"] == ["yes", "no"]


def test_a_prevalence_is_about_the_whole_network(studio: Studio) -> None:
    studio.change(text_of(studio) + "prevalence of disease=1 is between 10% and 60%\n")
    opened = studio.session.require_opened()
    wait_for(lambda: opened.found and opened.found["version"] == opened.document.version)
    assert opened.found is not None
    states = {each["line"]: each for each in opened.found["statements"]}
    assert states[19]["whole"]
    assert not states[13]["whole"]


def test_the_time_that_is_left_follows_the_last_seconds() -> None:
    left = TimeLeft()
    assert left.after("drawing", 0.0, 0.0) is None
    for second in range(1, 10):
        left.after("drawing", 0.1 * second, second / 10)  # quick at first
    slow = [left.after("drawing", 0.9 + 0.004 * k, 0.9 + 0.8 * k) for k in range(1, 12)]
    assert slow[-1] is not None
    assert slow[-1] > 5.0
    assert left.after("explaining", None, 12.0) is None


# After a kill ---------------------------------------------------------------------------------------------------------


def test_what_killed_processes_left_is_removed(tmp_path: Path, monkeypatch: object) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # type: ignore[attr-defined]
    own = new_scratch()
    gone, young = tmp_path / "credo-studio-999999999-abc", tmp_path / "credo-studio-999999998-abc"
    drafts = [tmp_path / f".credo-999999999-{'a' * 16}.tmp", tmp_path / ".credo-999999999-notes.tmp"]
    for folder in (gone, young):
        folder.mkdir()
    for draft in drafts:
        draft.write_text("half", encoding="utf-8")
    for path in (gone, own, *drafts):
        os.utime(path, (0, 0))
    second = new_scratch()
    remove_left_drafts(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {own.name, second.name, young.name, drafts[1].name}
    with replacing(tmp_path / "x") as draft:  # its name is what is looked for
        draft.write_text("", encoding="utf-8")
        os.utime(draft, (0, 0))
        remove_left_drafts(tmp_path)
        assert draft.exists()  # its process runs


# Several tabs, several studios, other programs ------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_explained_is_what_is_shown(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        fit_file(learned_heart / "heart.credo").write_bytes(b"of another studio")
        shown = studio.session.require_fit().network.cpts["smoker"]
        assert studio.post("/api/explain").status_code == 200
        wait_for(lambda: studio.session.progress["event"] in ("done", "error"))
        explained = studio.get("/api/explanation").json()["explanation"]["cpts"]["smoker"][0]["learned"]
        assert explained == pytest.approx(shown.tolist())


def test_a_page_to_share_has_the_present_labels_and_utilities(learned_heart: Path) -> None:
    with started(learned_heart) as studio:
        lines = 'label disease: "Coronary disease"\ndecision treat: no, yes\nutility of disease=1, treat=no is -100\n'
        studio.change(f"{text_of(studio)}\n{lines}utility of treat=yes is -40\n")
        assert bars(studio)["changes"] == []
        page = studio.get("/api/share").text
        assert "Coronary disease" in page
        assert "utility of treat=yes is -40" in page


def test_a_column_keeps_its_name(studio: Studio) -> None:
    answer = studio.post("/api/edit", {"op": "rename", "name": "smoker", "new": "tobacco"})
    assert 'write label smoker: "tobacco"' in answer.json()["error"]


# What is arranged around a text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"positions": {"a": [0, float("1e300")]}},
        {"positions": {"a": "here"}},
        {"positions": [1]},
        {"folded": [3]},
        {"folded": {"a": 1}},
        {"cases": {"x": 1}},
        {"cases": {"": {}}},
        {"cases": {"x": {"evidence": {"a": 3}}}},
        {"cases": {"x": {"soft": {"a": {"b": -1}}}}},
        {"else": 1},
    ],
)
def test_only_an_arrangement_is_kept(studio: Studio, wrong: dict[str, object]) -> None:
    assert studio.post("/api/arrange", wrong).status_code == 422
    assert not (studio.folder / "heart.studio.json").exists()


def test_an_arrangement_is_kept_beside_the_text(studio: Studio) -> None:
    cases = {"Mrs. B": {"evidence": {"ecg": "abnormal"}, "do": {}, "soft": {"age": {"old": 0.5}}}}
    assert studio.post("/api/arrange", {"positions": {"__proto__": [1, 2], "age": [3, 4]}}).status_code == 200
    assert studio.post("/api/arrange", {"positions": {"age": None}, "cases": cases}).status_code == 200
    studio.post("/api/open", {"model": "heart.credo", "table": "patients.csv"})
    view = studio.get("/api/state").json()["opened"]["view"]
    assert view == {"positions": {"__proto__": [1.0, 2.0]}, "cases": cases}
    # Another studio kept a case meanwhile, in the form of an earlier version.
    other = {"cases": [{"name": "Mr. C", "given": {"evidence": {"smoker": "no"}}}], "folded": ["symptoms"]}
    (studio.folder / "heart.studio.json").write_text(json.dumps(other), encoding="utf-8")
    studio.post("/api/arrange", {"cases": cases})
    assert studio.post("/api/save", {"as": "again"}).json() == {"name": "again.credo"}
    view = studio.get("/api/state").json()["opened"]["view"]
    assert list(view["cases"]) == ["Mr. C", "Mrs. B"]
    assert view["folded"] == {"symptoms": True}
    assert (studio.folder / "again.studio.json").exists()
    studio.post("/api/open", {"model": "heart.credo", "table": "patients.csv"})
    (studio.folder / "heart.studio.json").write_text("[" * 100_000, encoding="utf-8")
    studio.post("/api/open", {"model": "heart.credo"})
    assert studio.get("/api/state").json()["opened"]["view"] == {}
