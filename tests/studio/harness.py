"""A studio in this process, on a copy of the heart example."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from starlette.testclient import TestClient

import credo
from credo.shipped import example
from credo.studio.app import make_app
from credo.studio.folder import Folder
from credo.studio.opening import fit_file
from credo.studio.session import Session
from tests.helpers.chromium import DESKTOP, TIMEOUT

HOST = "127.0.0.1:8642"
ORIGIN = f"http://{HOST}"
TOKEN = "a-token-for-tests"
expect.set_options(timeout=TIMEOUT)  # how busy the machine is, is no part of a test


@dataclass
class Studio:
    """A studio and a browser's side of it, which has the token and sends the right headers."""

    client: Any
    session: Session
    folder: Path

    def get(self, path: str, **headers: str) -> Any:
        return self.client.get(path, headers=headers)

    def post(self, path: str, content: object = None, **headers: str) -> Any:
        body = json.dumps({} if content is None else content)  # with escapes, which a browser may send as well
        return self.client.post(
            path, content=body, headers={"Origin": ORIGIN, "Content-Type": "application/json", **headers}
        )

    def run(self, function: Any, *arguments: Any) -> Any:
        """Run a coroutine where the studio runs."""
        return self.client.portal.call(function, *arguments)

    def change(self, text: str) -> Any:
        """Replace the whole text, as a tab would."""
        document = self.session.require_opened().document
        length = len(document.text.encode("utf-16-le")) // 2
        changes = [[length, *text.split("\n")]]
        return self.post(
            "/api/updates",
            {
                "generation": self.session.generation,
                "version": document.version,
                "updates": [{"clientID": "a tab", "changes": changes}],
            },
        )


def run_apart(coroutine: Any) -> Any:
    """Run a coroutine in a loop of its own, in a thread of its own: Playwright's may be running in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


def wait_for(condition: Any) -> Any:
    """Wait until something is true; how long that takes is no part of a test."""
    for _ in range(3000):
        if found := condition():
            return found
        sleep(0.02)
    raise AssertionError("it never happened")


def copy_of_heart(folder: Path) -> Path:
    folder.mkdir()
    for name in ("heart.credo", "patients.csv"):
        shutil.copyfile(example("heart") / name, folder / name)
    return folder.resolve()


@contextmanager
def started(folder: Path, model: str = "heart.credo", table: str | None = "patients.csv") -> Iterator[Studio]:
    """A studio with the heart example open, or with other files, and the token as a cookie."""
    session = Session(Folder(folder))
    app = make_app(session, TOKEN, [HOST, "localhost:8642"])
    with TestClient(app, base_url=ORIGIN, follow_redirects=False) as client:
        client.portal.call(session.open, folder / model, None if table is None else folder / table)
        assert client.get(f"/?token={TOKEN}").status_code == 303
        yield Studio(client, session, folder)


@pytest.fixture
def heart(tmp_path: Path) -> Path:
    """A folder with the files of the heart example."""
    return copy_of_heart(tmp_path / "clinic")


@pytest.fixture(scope="session")
def heart_fit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is learned from the heart example, once."""
    path = tmp_path_factory.mktemp("fit") / "heart.fit"
    return credo.fit(example("heart") / "heart.credo", example("heart") / "patients.csv").save(path)


@pytest.fixture
def learned_heart(heart: Path, heart_fit: Path) -> Path:
    """The same folder after somebody learned in it."""
    shutil.copyfile(heart_fit, fit_file(heart / "heart.credo"))
    return heart


@pytest.fixture
def studio(heart: Path) -> Iterator[Studio]:
    """A studio of its own for one test."""
    with started(heart) as found:
        yield found


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory, heart_fit: Path) -> Iterator[Studio]:
    """A studio that finds what was learned before."""
    folder = copy_of_heart(tmp_path_factory.mktemp("learned") / "clinic")
    shutil.copyfile(heart_fit, fit_file(folder / "heart.credo"))
    with started(folder) as studio:
        yield studio


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with started(copy_of_heart(tmp_path_factory.mktemp("studio") / "clinic")) as found:
        yield found


@pytest.fixture
def target(shared: Studio) -> Studio:
    """The studio that the attacks of one file share: none of them may change anything."""
    shared.client.cookies.clear()
    assert shared.client.get(f"/?token={TOKEN}").status_code == 303
    return shared


# In a browser ---------------------------------------------------------------------------------------------------------


@dataclass
class Tab:
    """A tab of the browser with the studio in it, and what the browser complained about."""

    page: Page
    complaints: list[str]
    folder: Path
    address: str
    session: Session


@contextmanager
def served(
    folder: Path,
    model: str | None = "heart.credo",
    table: str | None = "patients.csv",
    *,
    port: int = 0,
    token: str = TOKEN,
) -> Iterator[Any]:
    """A studio that listens on a port of this machine, in a thread."""
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # another studio may just have ended there
    listening.bind(("127.0.0.1", port))
    listening.listen(128)
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    session = Session(Folder(folder))
    server = uvicorn.Server(
        uvicorn.Config(make_app(session, token, [host]), log_level="error", timeout_graceful_shutdown=1, lifespan="on")
    )

    async def run() -> None:
        if model or table:
            await session.open(folder / model if model else None, folder / table if table else None)
        await server.serve([listening])
        for connection in list(server.server_state.connections):  # of browsers that did not hang up in time
            connection.transport.abort()  # type: ignore[union-attr]
        await asyncio.sleep(0.05)  # sockets are closed in the next rounds of the loop

    thread = Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    try:
        yield f"http://{host}/?token={token}", session
    finally:
        server.should_exit = True
        thread.join(timeout=60)
        listening.close()


@pytest.fixture
def tab(chromium: Browser, heart: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """A tab with the heart example open; parametrize it indirectly with other options of the window."""
    options = {"viewport": {"width": DESKTOP, "height": 800}, **getattr(request, "param", {})}
    with opened_tab(chromium, heart, options) as found:
        yield found


@pytest.fixture
def learned_tab(chromium: Browser, learned_heart: Path, request: pytest.FixtureRequest) -> Iterator[Tab]:
    """The same with something learned before."""
    options = {"viewport": {"width": DESKTOP, "height": 800}, **getattr(request, "param", {})}
    with opened_tab(chromium, learned_heart, options) as found:
        yield found


@contextmanager
def opened_tab(
    chromium: Browser,
    folder: Path,
    options: dict[str, Any],
    model: str | None = "heart.credo",
    table: str | None = "patients.csv",
) -> Iterator[Tab]:
    with served(folder, model, table) as (address, session), chromium.new_context(**options) as context:
        context.set_default_timeout(TIMEOUT)
        page, complaints = new_page(context)
        page.goto(address)
        page.get_by_role("heading", name="credo studio").wait_for()
        if model:
            page.get_by_role("group", name=re.compile("Variable")).first.wait_for()
        yield Tab(page, complaints, folder, address, session)


def new_page(context: BrowserContext) -> tuple[Page, list[str]]:
    """A page, and everything that it complains about."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
    return page, complaints


TABLET = {"viewport": {"width": 820, "height": 1180}}

CONFLICT = "P(disease=1 | age=young, smoker=no, pressure=normal) is at least 30%"


def state(page: Page, variable: str, label: str) -> Locator:
    """The button of a state in the network."""
    return page.get_by_role("group", name=f"Variable {variable}", exact=True).get_by_role(
        "button", name=re.compile(rf"^{re.escape(label)}\b.*; {re.escape(variable)}$")
    )


def write(page: Page, text: str) -> None:
    """Write at the end of the text."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(text)


def show_part(page: Page, name: str) -> None:
    """Show a part of the page, where they are shown one at a time."""
    part = page.get_by_role("navigation", name="Parts of the page").get_by_role("button", name=name)
    if part.is_visible():
        part.click()
