"""Chromium without a window, spoken to through its DevTools: two pipes, and nothing that has to be installed for it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell")
PATIENCE = 120.0  # seconds for one answer, on a machine with much else to do
START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
os.dup2(ends[0], 3), os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""  # the pipes as files 3 and 4, whatever their numbers are here


def find_browser() -> str | None:
    """The Chromium or Chrome of this machine, or the one that CREDO_BROWSER names."""
    return os.environ.get("CREDO_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """One tab. `said` are messages of its console and its errors; `asked_for` the addresses that it wanted to load."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write
        self._buffer, self._number, self._session = b"", 0, None
        self._events: list[dict[str, Any]] = []
        self.said: list[str] = []
        self.asked_for: list[str] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask, and wait for the answer; events in between are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                found: dict[str, Any] = answer["result"]
                return found
            self._note(answer)

    def open(self, path: Path, width: int, *, dark: bool = False) -> None:
        """Show a file in a window of this width."""
        self.said.clear()
        self.asked_for.clear()
        self._events.clear()
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        self.send("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self._events):
            self._note(self._next())

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.send("Input.insertText", text=text)

    def picture(self, path: Path, whole: bool = True) -> None:
        """Save what is shown as a PNG."""
        shown = self.send("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shown["data"]))

    def pdf(self) -> bytes:
        """The page as it is printed."""
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def _note(self, event: dict[str, Any]) -> None:
        method, params = event.get("method", ""), event.get("params", {})
        self._events.append(event)
        if method == "Runtime.consoleAPICalled":
            self.said.append(f"{params['type']}: {[each.get('value') for each in params['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.said.append(f"exception: {params['exceptionDetails']}")
        elif method == "Log.entryAdded":
            self.said.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            self.asked_for.append(params["request"]["url"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select([self._read], [], [], PATIENCE)[0]:
                raise TimeoutError("The browser gives no answer.")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("The browser has ended.")
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


@contextmanager
def browser(command: str) -> Iterator[Page]:
    """A tab of a browser of its own, which ends with it. Chromium reads what it is told from file 3, answers on 4."""
    to_read, write = os.pipe()
    read, to_write = os.pipe()
    with tempfile.TemporaryDirectory() as profile:
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        start = [sys.executable, "-c", START, str(to_read), str(to_write), command]
        process = subprocess.Popen(
            [*start, *options, f"--user-data-dir={profile}", "--remote-debugging-pipe"],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        try:
            yield Page(read, write)
        finally:
            process.terminate()
            process.wait()
            os.close(read)
            os.close(write)
