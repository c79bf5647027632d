"""Requests to a studio, in any order and of any content, while disks fill up and learning dies.

Whatever happens, every request is answered with what was asked for or with a sentence, what the studio accepted is what
its draft holds, and the file of the text holds what it held before or what was saved.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from httpx2 import ASGITransport, AsyncClient

from credo import fit
from credo.studio.app import make_app
from credo.studio.folder import Folder, read_draft
from credo.studio.opening import fit_file
from credo.studio.session import Session
from fuzz.kind import Input, Kind

HOST, TOKEN = "127.0.0.1:8642", "a token"
TEXT = "variables a, b, c: no, yes\nb depends on a\nc depends on a, b  # 2\na raises b\nP(c=yes | a=no, b=no) <= 0.1\n"
TABLE = "a,b,c\n" + "no,no,no\nyes,yes,\nyes,no,yes\nno,no,no\n" * 5
STATEMENTS = (
    *("a raises c", "P(b=yes) is about 30%", "P(c=yes | a=no, b=no) >= 20%", "a riases b", "variable d: x, y", "#", ""),
    *(
        "b lowers c",
        'variable "<img src=x>": 0, 1',
        "a depends on c",
        "P(",
        "😀",
        "order a: yes < no",
        "rows 1, 2 share a",
    ),
)
VALUES = (
    *(None, True, 0, 1, -1, 2.5, 1e308, "", "a", "b", "yes", "no", "x", "heart", "../x", "\ud800", "text.credo"),
    *([], ["a"], [None], [1, 2], {}, {"a": "yes"}, {"b": {"yes": 2, "no": 1}}, {"a": None}, {"nobody": "x"}),
    *("c", "or", "noisy-or", "at least", "weighted mean", "worth", "12", "5 to 20", {"a": 2, "b": 1}, {"a": 1e999}),
    *([{"given": {"a": "no"}, "numbers": {"yes": 0.25}}], [{"given": {"a": "no", "b": "yes"}, "numbers": {"x": -1}}]),
    *([{"name": "a", "states": ["x", "y"], "parents": ["c"]}], [{"name": "d", "cuts": [1, 2], "states": []}, {}]),
)
OPS = (
    *("add_variable", "rename", "remove_variable", "remove_variables", "add_arc", "remove_arc", "set_states"),
    *("set_cuts", "arc_statement", "probability_statement", "answer", "cpt_statements", "family", "paste"),
)
EDITS = (
    *("op", "name", "names", "new", "states", "points", "parent", "child", "verb", "state", "given", "low", "about"),
    *("how", "rows", "cases", "weights", "spread", "least", "leak", "variables", "statement", "words"),
)
KEYS = {
    "/api/open": ("model", "table", "example"),
    "/api/save": ("as", "over"),
    "/api/rows": ("start",),
    "/api/arrange": ("positions", "folded", "cases"),
    "/api/declare": (),
    "/api/marginals": ("evidence", "do", "soft"),
    "/api/most-probable": ("evidence", "do"),
    "/api/sensitivity": ("variable", "state", "evidence", "do"),
    "/api/next": ("variable", "evidence", "do", "soft"),
    "/api/questions": ("variable", "state", "evidence", "do"),
    "/api/predict": ("targets", "by"),
    "/api/picture": ("folded", "shown"),
    "/api/preview": ("table", "format"),
    "/api/edit": EDITS,
    "/api/cancel": (),
}
READ = ("state", "reading", "picture", "fit", "explanation", "columns", "share", "network?ending=.bif", "network")
FAULTS = ("full disk", "no file", "")
LEARNING = 0.05  # the share of steps that start a process, which takes a second


def make(choose: Random) -> Input:
    """Some steps: changes of the text, requests, faults; in half of the inputs something was learned before."""
    steps = [_step(choose) for _ in range(choose.randrange(1, 15))]
    return {"steps": steps, "learned": choose.random() < 0.5}


def _step(choose: Random) -> dict[str, Any]:
    kind = choose.random()
    if kind < 0.4:
        lines = [choose.choice(STATEMENTS) for _ in range(choose.randrange(3))]
        return {"write": lines, "place": choose.random(), "stale": choose.random() < 0.1, "fault": _fault(choose)}
    if kind < 0.4 + LEARNING:
        return {"learn": {"seed": choose.randrange(3), "method": choose.choice(("auto", "ml", "x"))}, "kill": True}
    if kind < 0.5:
        return {"read": choose.choice(READ), "fault": _fault(choose)}
    path = choose.choice([*sorted(KEYS), "/api/edit", "/api/edit"])
    content = {key: choose.choice(VALUES) for key in KEYS[path] if choose.random() < 0.6}
    if path == "/api/edit" and choose.random() < 0.9:
        content["op"] = choose.choice(OPS)
    return {"path": path, "content": content, "fault": _fault(choose)}


def _fault(choose: Random) -> str:
    return choose.choice(FAULTS) if choose.random() < 0.1 else ""


def check(given: Input, folder: Path) -> str:
    """Every answer is one, and no text is lost."""
    assert isinstance(given, dict)
    folder = folder.resolve() / "studio"
    shutil.rmtree(folder, ignore_errors=True)  # every input stands for itself
    folder.mkdir()
    path = folder / "text.credo"
    path.write_text(TEXT, encoding="utf-8")
    (folder / "table.csv").write_text(TABLE, encoding="utf-8")
    if given.get("learned"):
        fit_file(path).write_bytes(_learned())
    statuses = asyncio.run(_answers(given["steps"], path, folder))
    assert set(statuses) <= {200, 409, 422}, f"an answer was {max(statuses)}"
    return "refused" if 422 in statuses else "taken"


@cache
def _learned() -> bytes:
    """What is learned from the text and the table, as a saved fit."""
    with TemporaryDirectory() as folder:
        text, table, saved = (Path(folder) / name for name in ("text.credo", "table.csv", "saved.fit"))
        text.write_text(TEXT, encoding="utf-8")
        table.write_text(TABLE, encoding="utf-8")
        fit(text, table).save(saved)
        return saved.read_bytes()


async def _answers(steps: list[dict[str, Any]], path: Path, folder: Path) -> list[int]:
    """The status of every answer; in one event loop, without threads that wait for each other."""
    session = Session(Folder(folder))
    transport = ASGITransport(app=make_app(session, TOKEN, [HOST]))
    async with AsyncClient(transport=transport, base_url=f"http://{HOST}", follow_redirects=False) as client:
        try:
            await session.open(path, folder / "table.csv")
            assert (await client.get(f"/?token={TOKEN}")).status_code == 303
            statuses = [await _take(client, session, step) for step in steps]
            _check_kept(session)
            assert (await client.get("/api/state")).status_code == 200
        finally:
            await session.close()
    return statuses


async def _take(client: AsyncClient, session: Session, step: dict[str, Any]) -> int:
    with _faulty(step.get("fault", "")):
        if "write" in step:
            return await _write(client, session, step)
        if "read" in step:
            answer = await client.get(f"/api/{step['read']}")
            assert answer.status_code == 200 or answer.json()["error"], "an error has no words"
            return int(answer.status_code)
        if "learn" in step:
            status = await _post(client, "/api/learn", step["learn"])
            if session.run is not None and step.get("kill"):
                with suppress(ProcessLookupError):
                    os.kill(session.run.process.pid, signal.SIGKILL)
            return status
        return await _post(client, step["path"], step["content"])


async def _write(client: AsyncClient, session: Session, step: dict[str, Any]) -> int:
    assert session.opened is not None
    document = session.opened.document
    length = len(document.text.encode("utf-16-le", "surrogatepass")) // 2
    place = int(step["place"] * length)
    change = [place, [0, *step["write"], ""], length - place]
    version = document.version + bool(step["stale"])
    before, text = document.version, document.text
    status = await _post(
        client,
        "/api/updates",
        {
            "generation": session.generation,
            "version": version,
            "updates": [{"clientID": "x", "changes": [part for part in change if part != 0]}],
        },
    )
    if status != 200:
        assert (document.version, document.text) == (before, text), "a change that was refused was made"
    return status


async def _post(client: AsyncClient, path: str, content: object) -> int:
    headers = {"Origin": f"http://{HOST}", "Content-Type": "application/json"}
    answer = await client.post(path, content=json.dumps(content), headers=headers)
    if answer.status_code != 200:
        assert answer.json()["error"], "an error has no words"
    return int(answer.status_code)


def _faulty(fault: str) -> Any:
    """The system while it refuses something."""
    if fault == "full disk":
        return patch("credo.io.files.os.fsync", side_effect=OSError(28, "No space left on device"))
    if fault == "no file":
        return patch("credo.io.files.os.replace", side_effect=PermissionError(13, "Permission denied"))
    return nullcontext()


def _check_kept(session: Session) -> None:
    """What was accepted is in the draft, or in the file."""
    opened = session.opened
    if opened is None or opened.document.version == 0:
        return
    if opened.document.text == opened.saved and not read_draft(opened.knowledge, opened.saved):
        whole = opened.saved.encode("utf-8", "replace").decode()  # half a character has no place in a file
        assert opened.knowledge.read_text(encoding="utf-8") == whole, "what was saved is not in the file"
        return
    draft = read_draft(opened.knowledge, opened.saved)
    assert draft is not None, "there is no draft"
    assert draft[0] == opened.document.text, "the draft is not what the studio accepted"


STUDIO = Kind("studio", make, check, ".json", seconds=60.0)
