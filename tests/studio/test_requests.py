"""What a page asks for, without a browser: reading, checking, drawing, asking, keeping."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

import credo
from credo.shipped import example, example_names
from credo.studio.check_process import UNCHANGED, Checker
from credo.studio.folder import Folder, draft_of, read_draft, write_draft
from credo.studio.serving import common_folder, listening_socket, serve
from credo.studio.session import Session
from credo.studio.table import OpenTable
from tests.studio.harness import Studio, run_apart, started, wait_for

CONFLICT = "P(disease=1 | age=young, smoker=no, pressure=normal) is at least 30%\n"


def text_of(studio: Studio) -> str:
    return studio.session.require_opened().document.text


def checked(studio: Studio) -> dict[str, Any]:
    opened = studio.session.require_opened()
    return wait_for(lambda: opened.found if (opened.found or {}).get("version") == opened.document.version else None)


# Reading and checking -------------------------------------------------------------------------------------------------


def test_the_state_has_what_a_page_needs(studio: Studio) -> None:
    state = studio.get("/api/state").json()
    assert state["opened"]["knowledge"] == "heart.credo"
    assert state["opened"]["table"] == "patients.csv"
    assert {each["name"] for each in state["opened"]["reading"]["network"]["variables"]} == {
        *("age", "smoker", "pressure", "disease", "ecg")
    }
    about = {each["name"]: each["about"] for each in state["examples"]}
    assert about["heart"].startswith("Coronary heart disease: ")
    assert all(len(each) > 20 for each in about.values())  # what every example is about
    assert state["methods"][0]["name"] == "auto"


def test_a_mistake_has_its_place_and_a_correction_and_hides_no_other_line(studio: Studio) -> None:
    answer = studio.change(text_of(studio) + "smokr raises disease  # 😀\n").json()
    (mistake,) = answer["mistakes"]
    assert mistake["line"] == 19
    assert (mistake["start"], mistake["end"]) == (0, 5)
    assert mistake["fixes"] == ["smoker raises disease  # 😀"]
    assert answer["statements"] == 8
    assert len(checked(studio)["statements"]) == 8


def test_columns_of_mistakes_count_as_javascript_does(studio: Studio) -> None:
    answer = studio.change(text_of(studio) + 'P("😀😀"=1) >= 0.1\n').json()
    assert (answer["mistakes"][0]["start"], answer["mistakes"][0]["end"]) == (2, 8)


def test_statements_have_their_states(studio: Studio) -> None:
    line = "P(disease=1 | age=young, smoker=no, pressure=normal) is at most 10%\n"
    studio.change(text_of(studio) + line)
    states = {each["line"]: each for each in checked(studio)["statements"]}
    assert states[19]["state"] == "redundant"
    assert states[17]["state"] == "contradicted"
    assert states[11]["state"] == "consistent"
    assert states[11]["numbers"] > 0


def test_a_conflict_names_its_statements_and_ways_out(studio: Studio) -> None:
    studio.change(text_of(studio) + CONFLICT)
    found = checked(studio)
    assert not found["feasible"]
    (conflict,) = found["conflicts"]
    assert [each["line"] for each in conflict["statements"]] == [15, 19]
    assert conflict["about"][0] == conflict["about"][1]
    assert len(conflict["resolutions"]) == 2


# Tabs -----------------------------------------------------------------------------------------------------------------


def test_two_tabs_lose_nothing(studio: Studio) -> None:
    before = text_of(studio)
    size = len(before)
    generation = studio.session.generation

    def send(author: str, changes: list[object], version: int) -> Any:
        updates = [{"clientID": author, "changes": changes}]
        return studio.post("/api/updates", {"generation": generation, "version": version, "updates": updates})

    assert send("left", [[0, "# left", ""], size], 0).status_code == 200
    refused = send("right", [size, [0, "# right"]], 0)
    assert refused.status_code == 409
    missed = studio.get(f"/api/updates?since=0&generation={generation}").json()
    assert [each["clientID"] for each in missed["updates"]] == ["left"]
    assert send("right", [size + 7, [0, "# right"]], 1).status_code == 200
    assert text_of(studio) == f"# left\n{before}# right"


def test_a_change_to_files_that_are_closed_is_refused(studio: Studio) -> None:
    old = studio.session.generation
    studio.post("/api/open", {"model": "heart.credo"})
    answer = studio.post("/api/updates", {"generation": old, "version": 0, "updates": []})
    assert answer.status_code == 409
    assert answer.json()["generation"] != old


def test_every_tab_hears_of_changes(studio: Studio) -> None:
    async def listen() -> None:
        queue: asyncio.Queue[str] = asyncio.Queue(maxsize=3)
        studio.session.listeners.add(queue)
        for number in range(5):
            await studio.session.publish({"event": "text", "version": number})
        found = [json.loads(queue.get_nowait())["version"] for _ in range(3)]
        assert found == [2, 3, 4]  # one that does not listen keeps nobody waiting
        studio.session.listeners.discard(queue)

    studio.run(listen)


# Keeping --------------------------------------------------------------------------------------------------------------


def test_a_change_is_kept_at_once_and_saved_when_asked(studio: Studio) -> None:
    path = studio.folder / "heart.credo"
    saved = path.read_text(encoding="utf-8")
    studio.change(saved + "# more\n")
    assert path.read_text(encoding="utf-8") == saved
    assert read_draft(path, saved) == (saved + "# more\n", True)
    assert studio.get("/api/state").json()["opened"]["unsaved"]
    assert studio.post("/api/save").status_code == 200
    assert path.read_text(encoding="utf-8") == saved + "# more\n"
    assert not draft_of(path).exists()
    assert not studio.get("/api/state").json()["opened"]["unsaved"]


def test_a_studio_that_was_killed_leaves_the_draft(heart: Path) -> None:
    path = heart / "heart.credo"
    saved = path.read_text(encoding="utf-8")
    with started(heart) as studio:
        studio.change(saved + "# more\n")
    with started(heart) as studio:
        opened = studio.get("/api/state").json()["opened"]
        assert opened["text"] == saved + "# more\n"
        assert "not saved last time" in opened["notice"]


def test_a_text_that_was_never_saved_is_found_after_the_studio_was_killed(studio: Studio) -> None:
    opened = studio.post("/api/open", {}).json()["opened"]
    assert opened["knowledge"] == "knowledge.credo"
    assert studio.post("/api/open", {"model": "knowledge.credo"}).status_code == 200  # what is open can be kept open
    studio.change("variable a: no, yes\n")
    assert studio.get("/api/state").json()["files"]["unsaved"] == ["knowledge.credo"]

    async def text_in_another_studio() -> str:
        session = Session(Folder(studio.folder))
        await session.open_named({"model": "knowledge.credo", "table": "patients.csv"})
        await session.close()
        return session.require_opened().document.text

    assert studio.run(text_in_another_studio) == "variable a: no, yes\n"
    studio.post("/api/save")
    files = studio.get("/api/state").json()["files"]
    assert (files["unsaved"], "knowledge.credo" in files["knowledge"]) == ([], True)


def test_a_file_that_changed_elsewhere_is_not_hidden_by_a_draft(heart: Path) -> None:
    path = heart / "heart.credo"
    write_draft(path, "variable a: 0, 1\n", "what the file was")
    with started(heart) as studio:
        assert "itself changed in the meantime" in studio.get("/api/state").json()["opened"]["notice"]


def test_two_studios_do_not_overwrite_each_other(heart: Path) -> None:
    with started(heart) as first, started(heart) as second:
        assert first.change("variable a: 0, 1\n").status_code == 200
        refused = second.change("variable b: 0, 1\n")
        assert refused.status_code == 422
        assert "Another studio" in refused.json()["error"]
        assert first.change("variable a: 0, 1, 2\n").status_code == 200
        second.post("/api/open", {"model": "heart.credo"})
        assert text_of(second) == "variable a: 0, 1, 2\n"
        assert second.change("variable b: 0, 1\n").status_code == 200


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"text": 3}', b"\xff\xff"])
def test_a_damaged_draft_is_as_none(heart: Path, content: bytes) -> None:
    draft_of(heart / "heart.credo").write_bytes(content)
    with started(heart) as studio:
        assert text_of(studio) == (heart / "heart.credo").read_text(encoding="utf-8")


def test_a_full_disk_is_a_message_and_the_text_stays(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise credo.FileError("No space left on device", "heart.credo")

    monkeypatch.setattr("credo.studio.session.write_draft", full)
    before = text_of(studio)
    answer = studio.change("variable a: 0, 1\n")
    assert answer.status_code == 422
    assert "No space left" in answer.json()["error"]
    assert text_of(studio) == before  # what is not kept is not taken: the tab has it, and sends it again


# Beginning ------------------------------------------------------------------------------------------------------------


def test_an_example_is_copied_and_never_over_what_is_there(studio: Studio) -> None:
    state = studio.post("/api/open", {"example": "heart"}).json()
    assert state["opened"]["knowledge"] == "heart/heart.credo"
    assert state["opened"]["table"] == "heart/patients.csv"
    (studio.folder / "heart" / "heart.credo").write_text("variable mine: no, yes\n", encoding="utf-8")
    assert studio.post("/api/open", {"example": "heart"}).json()["opened"]["text"] == "variable mine: no, yes\n"
    assert studio.post("/api/open", {"example": "../x"}).status_code == 422


def test_a_table_alone_begins_with_its_columns(studio: Studio) -> None:
    (studio.folder / "heart.credo").unlink()
    state = studio.post("/api/open", {"table": "patients.csv"}).json()
    names = {each["name"] for each in state["opened"]["reading"]["network"]["variables"]}
    assert {"age", "smoker", "pressure", "disease", "ecg"} <= names
    assert state["opened"]["knowledge"] == "patients.credo"


def test_nothing_begins_with_an_empty_text_of_its_own(studio: Studio) -> None:
    (studio.folder / "knowledge.credo").write_text("variable a: 0, 1\n")
    state = studio.post("/api/open", {}).json()
    assert state["opened"]["knowledge"] == "knowledge-2.credo"
    assert state["opened"]["text"] == ""


def test_a_network_file_answers_at_once_and_becomes_text(studio: Studio) -> None:
    shutil.copyfile(example("asia") / "asia.bif", studio.folder / "asia.bif")
    studio.post("/api/open", {"model": "asia.bif"})
    bars = studio.post("/api/marginals", {"evidence": {"smoke": "yes"}}).json()
    assert bars["source"] == "network"
    assert bars["bars"]["smoke"]["yes"][0] == pytest.approx(1.0)
    refused = studio.post("/api/edit", {"op": "rename", "name": "smoke", "new": "smoker"})
    assert "network file" in refused.json()["error"]
    assert studio.post("/api/declare").status_code == 200
    state = studio.get("/api/state").json()["opened"]
    assert state["network"] is None
    assert len(state["reading"]["network"]["variables"]) == 8
    assert studio.post("/api/declare").status_code == 422


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"op": "add_variable", "name": "chest pain", "states": ["no", "yes"]}, 'variable "chest pain": no, yes'),
        ({"op": "rename", "name": "ecg", "new": "id"}, "id depends on disease"),
        ({"op": "add_arc", "parent": "smoker", "child": "pressure"}, "pressure depends on age, smoker"),
        ({"op": "remove_arc", "parent": "age", "child": "disease"}, "disease depends on smoker, pressure"),
        ({"op": "remove_variable", "name": "ecg"}, "# left out: sensitivity of ecg"),
        ({"op": "set_states", "name": "smoker", "states": ["never", "yes"]}, "variable smoker: never, yes"),
        ({"op": "set_cuts", "name": "age", "points": [50], "states": []}, "age is cut at 50"),
        ({"op": "arc_statement", "verb": "raises", "parent": "disease", "child": "ecg"}, "disease raises ecg"),
        (
            {"op": "probability_statement", "name": "ecg", "state": "abnormal", "given": {"disease": "1"}, "high": 0.9},
            "P(ecg=abnormal | disease=1) is at most 90%",
        ),
        ({"op": "probability_statement", "name": "ecg", "state": "abnormal", "about": 0.3}, "is about 30%"),
    ],
)
def test_what_is_drawn_is_written(target: Studio, change: dict[str, object], expected: str) -> None:
    assert expected in target.post("/api/edit", change).json()["text"]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"op": "format the disk"},
        {"op": "add_variable", "name": ""},
        {"op": "add_arc", "parent": "ecg", "child": "age"},
        {"op": "set_cuts", "name": "age", "points": ["x"]},
        {"op": "set_cuts", "name": "age", "points": [None]},
        {"op": "probability_statement", "name": "nobody", "state": "x", "high": 0.1},
        {"op": "probability_statement", "name": "ecg", "state": "x", "high": 0.1},
        {"op": "arc_statement", "verb": "eats", "parent": "age", "child": "ecg"},
    ],
)
def test_what_cannot_be_drawn_is_refused(target: Studio, change: dict[str, object]) -> None:
    before = text_of(target)
    assert target.post("/api/edit", change).status_code == 422
    assert text_of(target) == before


# Starting -------------------------------------------------------------------------------------------------------------


def test_without_the_extra_the_command_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(credo.MissingExtraError, match=r"uvicorn.*pip install 'credo\[studio\]'"):
        serve(None, None)


def test_files_that_are_not_there_are_named(heart: Path) -> None:
    with pytest.raises(credo.MissingFileError, match='Did you mean "heart.credo"'):
        serve(heart / "hart.credo", None)


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(credo.CredoError, match=f"cannot listen on 127.0.0.1, port {port}"):
            serve(None, None, port=port)


def test_answers_do_not_wait_for_acknowledgements() -> None:
    async def delay_is_off() -> bool:
        listening = listening_socket("127.0.0.1", 0)
        found: asyncio.Queue[bool] = asyncio.Queue()

        def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            own = writer.get_extra_info("socket")
            found.put_nowait(bool(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
            writer.close()

        async with await asyncio.start_server(accepted, sock=listening):
            _, writer = await asyncio.open_connection(*listening.getsockname())
            writer.close()
            return await found.get()

    assert run_apart(delay_is_off())


def test_the_folder_is_that_of_the_files(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    assert common_folder([root / "a" / "x.credo", root / "b" / "y.csv"]) == root
    assert common_folder([root / "a" / "x.credo", root / "a" / "b" / "y.csv"]) == root / "a"
    with pytest.raises(credo.OptionError, match="without anything in common"):
        common_folder([Path("/one/x.credo"), Path("/two/y.csv")])


# Large knowledge ------------------------------------------------------------------------------------------------------


def test_a_check_in_another_process_finds_the_same(studio: Studio) -> None:
    table = OpenTable(studio.folder / "patients.csv").job()
    checker = Checker()
    found = checker.check_text(text_of(studio) + "a mistake\n", None, table)
    assert found["statements"] == checked(studio)["statements"]
    assert checker.check_text(text_of(studio) + "another mistake\n", None, table) == UNCHANGED
    assert checker.check_text("", None, None) == {}


@pytest.mark.slow
def test_large_knowledge_is_checked_in_a_process_that_may_break(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = checked(studio)
    monkeypatch.setattr("credo.studio.session.FEW_STATEMENTS", 0)
    studio.change(text_of(studio) + "# more\n")
    found = checked(studio)
    assert found["statements"] == expected["statements"]
    process = studio.session._check_process._process
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    studio.change(text_of(studio) + "# and more\n")
    assert "again" in checked(studio).get("message", "again")  # it may have been seen to be gone, and started again
    studio.change(text_of(studio) + "# and again more\n")
    assert checked(studio)["statements"] == expected["statements"]


@pytest.mark.parametrize("name", example_names())
def test_every_example_opens_and_is_checked(studio: Studio, name: str) -> None:
    reading = studio.post("/api/open", {"example": name}).json()["opened"]["reading"]
    assert reading["mistakes"] == []
    assert reading["message"] == ""
    assert reading["statements"] > 0
    found = checked(studio)
    assert "message" not in found
    assert len(found["statements"]) == reading["statements"]
