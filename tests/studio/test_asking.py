"""What a page asks a studio that has learned, without a browser; learning; and requests of any kind at all."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import credo
from credo.cli.app import app
from credo.studio import learning
from credo.studio import session as session_module
from credo.studio.opening import fit_file
from credo.studio.scored_table import ScoredTable, scored_table
from credo.studio.table import OpenTable
from tests.helpers.amounts import seeds
from tests.studio.harness import Studio, run_apart, started, wait_for


def text_of(studio: Studio) -> str:
    return studio.session.require_opened().document.text


# Asking ---------------------------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_fit(learned: Studio) -> None:
    fit = learned.session.require_fit()
    given = {"evidence": {"ecg": "abnormal"}, "do": {"smoker": "no"}, "soft": {"age": {"old": 2, "middle": 1}}}
    bars = learned.post("/api/marginals", given).json()["bars"]
    frame = fit.marginals("ecg=abnormal", interventions={"smoker": "no"}, soft={"age": {"old": 2, "middle": 1}})
    assert [number for each in bars.values() for number, _, _ in each.values()] == pytest.approx(
        frame["probability"].to_list()
    )
    states = learned.post("/api/most-probable", {"evidence": {"ecg": "abnormal"}}).json()["states"]
    assert states == fit.most_probable("ecg=abnormal").to_dicts()
    states = learned.post("/api/most-probable", given).json()["states"]
    expected = fit.most_probable("ecg=abnormal", interventions={"smoker": "no"}, soft=given["soft"])
    assert states == expected.to_dicts()
    found = learned.post(
        "/api/sensitivity", {"variable": "disease", "state": "1", "evidence": {"ecg": "abnormal"}}
    ).json()
    assert found["probability"] == fit.sensitivity("P(disease=1 | ecg=abnormal)").probability


def test_what_comes_next_follows_the_text_without_learning_again(learned: Studio) -> None:
    fit = learned.session.require_fit()
    given = {"variable": "disease", "evidence": {"smoker": "yes"}}
    found = learned.post("/api/next", given).json()
    best = fit.next_tests("smoker=yes", "disease")
    assert found["tests"]["sentence"] == str(best).splitlines()[0]
    assert found["tests"]["tests"][0]["test"] == best.best
    assert "decision" not in found
    assert "write a decision" in found["hint"]
    lines = (
        "decision treat: no, yes\nutility of disease=1, treat=no is -100\nutility of treat=yes is -30\ncost of ecg is 2"
    )
    text = learned.session.require_opened().document.text
    learned.change(f"{text}\n{lines}\n")
    found = learned.post("/api/next", given).json()
    decided = fit.decide("smoker=yes", utilities=lines)
    assert found["decision"]["sentence"] == str(decided).splitlines()[0]
    assert found["decision"]["best"] == decided.best
    assert any("above P(disease=1 | smoker=yes) = 30.0%" in rule for rule in found["decision"]["rules"])
    assert found["gains"]["tests"][0]["test"] == fit.next_tests("smoker=yes", utilities=lines).best
    learned.change(text)


def test_sentences_say_labels(learned: Studio) -> None:
    text = learned.session.require_opened().document.text
    lines = (
        "decision treat: no, yes\nutility of disease=1, treat=no is -100\nutility of treat=yes is -30\n"
        'label disease=1: "present"\nlabel disease: "heart disease"\nlabel ecg: "the curve"\n'
        'label treat: "surgery"\nlabel treat=yes: "at once"\nlabel smoker: "tobacco"'
    )
    learned.change(f"{text}\n{lines}\n")
    given = {"variable": "disease", "state": "1", "evidence": {"smoker": "yes"}}
    found = learned.post("/api/next", given).json()
    assert found["tests"]["sentence"].startswith("Given tobacco=yes, observe the curve next")
    assert "uncertainty about heart disease" in found["tests"]["sentence"]
    assert found["tests"]["goal"] == "heart disease"
    assert found["tests"]["tests"][0]["test"] == "ecg"  # the page finds it by its name
    assert "surgery=at once" in found["decision"]["sentence"]
    assert any("P(heart disease=present | tobacco=yes)" in rule for rule in found["decision"]["rules"])
    assert "surgery=at once" in found["gains"]["sentence"]
    sensitivity = learned.post("/api/sensitivity", given).json()
    assert sensitivity["query"] == "P(heart disease=present | tobacco=yes)"
    assert any("heart disease=present" in each["parameter"] for each in sensitivity["parameters"])
    learned.change(text)


def test_questions_to_an_expert_are_answered_by_statements(learned: Studio) -> None:
    fit = learned.session.require_fit()
    found = learned.post("/api/questions", {"variable": "disease", "state": "1", "evidence": {"smoker": "yes"}}).json()
    best = fit.next_questions("P(disease=1 | smoker=yes)").questions
    assert [each["text"] for each in found["questions"]] == [each.text for each in best[:5]]
    number = next(each for each in found["questions"] if each["kind"] == "number")
    text = learned.post("/api/edit", {"op": "answer", "about": number["about"], "words": "5 to 20"}).json()["text"]
    assert text.endswith(f"\n{number['about']} is between 0.05 and 0.2\n")
    text = learned.post("/api/edit", {"op": "answer", "statement": "smoker lowers ecg"}).json()["text"]
    assert text.endswith("\nsmoker lowers ecg\n")


def test_a_table_is_scored_and_can_be_had_as_a_file(learned: Studio) -> None:
    found = learned.post("/api/predict", {"targets": ["disease"]}).json()
    assert found["total"] == 220
    assert found["columns"][0] == "disease=0"
    assert "id" in found["columns"]
    answer = learned.get("/api/predictions")
    assert len(answer.text.splitlines()) == 221
    assert answer.headers["content-disposition"].startswith("attachment")
    place = found["columns"].index("disease=1")
    best = learned.post("/api/predict", {"targets": ["disease"], "by": "disease=1"}).json()
    probabilities = [row[place] for row in best["rows"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert found["rows"][best["numbers"][0] - 1] == best["rows"][0]


def test_scores_stand_beside_every_kind_of_cell_and_a_spreadsheet_runs_none(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "disease=1": [0.2, 0.9, None],
            "=cmd()": ["=cmd()", "-3", "@sum"],
            "when": [date(2026, 1, 2), None, None],
            "dose": [float("nan"), float("inf"), -1.5],
            "ward": pl.Series(["+x", "b", "b"], dtype=pl.Categorical),
        }
    )
    table = ScoredTable(frame, 1)
    found = table.first_rows(2, "disease=1")
    json.dumps(found, allow_nan=False)
    assert found["numbers"] == [2, 1]
    assert found["rows"][1] == [0.2, "=cmd()", "2026-01-02", "nan", "+x"]
    table.write(tmp_path / "scores.csv")
    lines = (tmp_path / "scores.csv").read_text(encoding="utf-8").splitlines()
    assert lines == [
        "disease=1,'=cmd(),when,dose,ward",
        "0.2,'=cmd(),2026-01-02,NaN,'+x",
        "0.9,-3,,inf,b",
        ",'@sum,,-1.5,b",
    ]


def test_a_column_that_is_called_like_a_score_is_kept(learned: Studio) -> None:
    session = learned.session
    frame = pl.read_csv(learned.folder / "patients.csv").with_columns(pl.lit("x").alias("disease=1"))
    frame.write_csv(learned.folder / "odd.csv")
    table = scored_table(session.require_fit(), OpenTable(learned.folder / "odd.csv"), ["disease"])
    assert table.frame.columns[-1] == "disease=1 (in the table)"


def test_what_breaks_in_the_studio_itself_is_a_message(target: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "bars_data", lambda *_: 1 / 0)
    answer = target.post("/api/marginals")
    assert answer.status_code == 500
    assert "Your text is kept" in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "request_"),
    [
        ("/api/marginals", {"evidence": {"nobody": "x"}}),
        ("/api/marginals", {"evidence": {"ecg": "x"}}),
        ("/api/marginals", {"evidence": ["ecg"]}),
        ("/api/marginals", {"soft": {"ecg": 3}}),
        ("/api/most-probable", {"evidence": {"ecg": "x"}}),
        ("/api/sensitivity", {}),
        ("/api/next", {"variable": "nobody"}),
        ("/api/questions", {"variable": "disease", "state": "x"}),
        ("/api/edit", {"op": "answer", "about": "P(disease=1)", "words": "many"}),
        ("/api/edit", {"op": "answer", "statement": "no statement at all"}),
        ("/api/next", {"variable": "disease", "do": {"smoker": "no"}}),
        ("/api/predict", {"targets": []}),
        ("/api/predict", {"targets": ["nobody"]}),
        ("/api/learn", {"method": "magic"}),
        ("/api/learn", {"seed": -1}),
        ("/api/learn", {"starts": 0}),
    ],
)
def test_questions_without_an_answer_are_messages(learned: Studio, path: str, request_: dict[str, object]) -> None:
    answer = learned.post(path, request_)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_without_a_fit_there_is_nothing_to_ask(studio: Studio) -> None:
    assert studio.post("/api/marginals").json()["source"] is None
    assert "Learn first" in studio.post("/api/most-probable").json()["error"]
    assert "Learn first" in studio.post("/api/explain").json()["error"]
    assert studio.get("/api/report").status_code == 422
    assert studio.get("/api/predictions").status_code == 422


def test_a_fit_that_cannot_be_read_is_as_none(heart: Path) -> None:
    fit_file(heart / "heart.credo").write_bytes(b"damaged")
    with started(heart) as studio:
        assert studio.session.require_opened().fit is None


def test_what_was_learned_before_is_explained_on_request(learned: Studio) -> None:
    opened = learned.session.require_opened()
    assert learned.get("/api/state").json()["opened"]["reading"]["changes"] == []
    assert learned.get("/api/explanation").json()["explanation"] is None
    assert learned.post("/api/explain").status_code == 200
    wait_for(lambda: learned.session.progress["event"] in ("done", "error"))
    text = opened.document.text
    learned.change(f'{text}\nlabel smoker: "tobacco"\nlabel disease=1: "present"\n')
    explanation = learned.get("/api/explanation").json()["explanation"]
    learned.change(text)
    assert any("tobacco=yes" in each["label"] for each in explanation["next"])
    assert any("sensitivity of ecg=abnormal for disease=1" in each for each in explanation["summary"])  # as written
    assert learned.session.progress == {"event": "done"}
    assert len(learned.get("/api/explanation").json()["explanation"]["cpts"]["disease"]) == 12
    assert b"<html" in learned.get("/api/report").content
    opened.explanation = opened.report = None


def test_a_second_explanation_may_be_asked_for_at_once(learned: Studio) -> None:
    opened = learned.session.require_opened()
    for _ in range(2):
        assert learned.post("/api/explain").status_code == 200  # the process of the first one is about to end
        wait_for(lambda: learned.session.progress["event"] in ("done", "error"))
        assert learned.get("/api/explanation").json()["explanation"]["cpts"]
        opened.explanation = opened.report = None


# Learning -------------------------------------------------------------------------------------------------------------


def test_knowledge_alone_can_be_learned(studio: Studio) -> None:
    studio.post("/api/open", {"model": "heart.credo"})
    assert studio.post("/api/learn").status_code == 200
    wait_for(lambda: studio.session.progress["event"] == "done")


def test_learning_can_be_cancelled_and_its_crash_is_a_message(studio: Studio) -> None:
    assert studio.post("/api/learn").status_code == 200
    first = studio.session.run
    assert first is not None
    assert "under way" in studio.post("/api/learn").json()["error"]
    assert studio.post("/api/cancel").status_code == 200
    wait_for(lambda: studio.session.progress["event"] == "cancelled")
    assert first.process.returncode not in (None, 0)

    assert studio.post("/api/learn").status_code == 200
    second = wait_for(lambda: studio.session.run)
    os.kill(second.process.pid, signal.SIGKILL)
    wait_for(lambda: studio.session.progress["event"] == "error")
    assert "ended before it was done" in studio.session.progress["message"]
    wait_for(lambda: studio.session.run is None)
    assert studio.get("/api/state").status_code == 200


def test_progress_says_how_much_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter is done after two seconds, so that six are left; before a second has passed, nobody knows."""
    clock = iter([0.0, 0.0, 0.5, 0.5, 2.0, 2.0, 3.0, 3.0, 3.0])
    monkeypatch.setattr(learning, "monotonic", lambda: next(clock))
    events = [
        *({"event": "progress", "phase": "drawing", "share": share} for share in (0.0, 0.1, 0.25)),
        {"event": "progress", "phase": "counting"},
        {"event": "done"},
    ]
    script = f"for event in {[json.dumps(event) for event in events]!r}: print(event)"
    heard: list[dict[str, object]] = []

    async def hear(event: dict[str, object]) -> None:
        heard.append(event)

    async def run() -> None:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=pipe, stderr=pipe)
        await learning.follow(learning.Run(process, started=0.0), hear)

    run_apart(run())
    assert [event.get("left") for event in heard] == [None, None, 6.0, None, None]


def test_what_a_format_cannot_hold_is_said_to_the_page(learned: Studio) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    learned.session.listeners.add(heard)
    assert learned.get("/api/network?ending=.xdsl").content.startswith(b"<?xml")
    learned.session.listeners.discard(heard)
    event = json.loads(heard.get_nowait())
    assert event["event"] == "lost"
    assert event["message"].startswith("learned.xdsl: XDSL has parents before children")


def test_the_command_line_reads_what_the_studio_wrote(learned_heart: Path) -> None:
    text, table, fit = (str(learned_heart / name) for name in ("heart.credo", "patients.csv", "heart.studio.fit"))
    with started(learned_heart) as studio:
        studio.change(text_of(studio) + "P(disease=1) is at most 60%\n")
        assert studio.post("/api/save").status_code == 200
        (learned_heart / "learned.bif").write_bytes(studio.get("/api/network?ending=.bif").content)
    assert "P(disease=1) is at most 60%" in Path(text).read_text(encoding="utf-8")
    for command in (
        ["check", text, table],
        ["query", fit, "P(disease=1)"],
        ["query", str(learned_heart / "learned.bif"), "P(disease=1)"],
    ):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output


# Anything at all ------------------------------------------------------------------------------------------------------

ODD = (
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "x",
    "ecg",
    "😀\ud800",
    [],
    [None],
    ["ecg"],
    {},
    {"ecg": None},
    {"ecg": "abnormal"},
    [[1]],
)
KEYS = {
    "/api/updates": ("generation", "version", "updates"),
    "/api/open": ("model", "table", "example", "format"),
    "/api/preview": ("table", "format"),
    "/api/marginals": ("evidence", "do", "soft", "before"),
    "/api/most-probable": ("evidence", "do", "soft"),
    "/api/sensitivity": ("variable", "state", "evidence", "do", "soft"),
    "/api/next": ("variable", "evidence", "do", "soft"),
    "/api/questions": ("variable", "state", "evidence", "do", "soft"),
    "/api/predict": ("targets",),
    "/api/edit": ("op", "name", "new", "states", "points", "parent", "child", "verb", "given", "low", "high", "about"),
    "/api/learn": ("method", "prior", "seed", "starts", "complete_rows"),
}
OPS = (
    *("add_variable", "rename", "remove_variable", "add_arc", "remove_arc", "set_states", "set_cuts"),
    *("arc_statement", "probability_statement"),
)


def test_what_counts_is_that_of_a_text_without_statements(tmp_path: Path) -> None:
    text = "variable ill: no, yes\ndecision treat: no, yes\nutility of ill=yes, treat=no is -100\n"
    (tmp_path / "ill.credo").write_text(f"{text}utility of treat=yes is -1\n", "utf-8")
    credo.fit(tmp_path / "ill.credo", method="cmap").save(fit_file(tmp_path / "ill.credo"))
    with started(tmp_path.resolve(), "ill.credo", None) as studio:
        studio.change(f'{text}utility of treat=yes is -99\nlabel ill: "the disease"\n')
        answer = studio.post("/api/next", {"variable": "ill"}).json()
        assert "decision" in answer, (answer, studio.session.opened.notice)
        decision = answer["decision"]
        assert decision["best"] == "treat=no"
        assert "the disease" in studio.get("/api/share").text


@pytest.mark.parametrize("seed", seeds(3, 60))
def test_odd_requests_are_refused_and_never_break_the_studio(learned: Studio, seed: int) -> None:
    rng = random.Random(seed)
    for path, keys in KEYS.items():
        for _ in range(8):
            request = {key: rng.choice(ODD) for key in keys if rng.random() < 0.7}
            if path == "/api/edit" and rng.random() < 0.8:
                request["op"] = rng.choice(OPS)
            if path == "/api/learn":
                request["method"] = "no method"  # nothing is to be started here
            if path == "/api/open":
                request.setdefault("table", "nowhere.csv")
            if path == "/api/updates" and rng.random() < 0.5:
                request["generation"] = learned.session.generation
            answer = learned.post(path, request)
            assert answer.status_code in (200, 409, 422), (path, request, answer.text)
    for name in ("", "nobody", "ecg", "__proto__", "%00", "x" * 5_000):
        assert learned.get(f"/api/cpt?name={name}").status_code == (200 if name == "ecg" else 422)
    assert learned.get("/api/state").status_code == 200
