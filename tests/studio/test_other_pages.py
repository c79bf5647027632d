"""Pages of somebody else in the same browser, which has the studio's cookie: they read nothing and change nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.studio.harness import Tab, new_page

ATTEMPTS = """async (studio) => {
  const attempt = async (path, options) => {
    try {
      const answer = await fetch(studio + path, { credentials: "include", ...options });
      return [answer.type, answer.status, await answer.text()];
    } catch (error) {
      return ["refused"];
    }
  };
  const json = { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" };
  const plain = { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body: "{}" };
  const listened = new Promise((resolve) => {
    const source = new EventSource(studio + "/api/events", { withCredentials: true });
    source.onmessage = () => resolve("heard");
    source.onerror = () => resolve("refused");
  });
  const framed = new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.src = studio + "/";
    frame.onload = () => { try { resolve(String(frame.contentDocument?.title)); } catch { resolve("refused"); } };
    document.body.append(frame);
  });
  return {
    state: await attempt("/api/state", {}),
    save: await attempt("/api/save", json),
    learn: await attempt("/api/learn", plain),
    opaque: await attempt("/api/state", { mode: "no-cors" }),
    events: await listened,
    frame: await framed,
  };
}"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[str]:
    """A server of somebody else, on the same machine: for a browser, of the same site."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>prizes</title><body>You have won.</body>")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_another_page_of_the_same_browser_reads_and_changes_nothing(tab: Tab, elsewhere: str) -> None:
    other, _ = new_page(tab.page.context)
    other.goto(elsewhere)
    found = other.evaluate(ATTEMPTS, tab.address.partition("/?")[0])
    for attempt in ("state", "save", "learn", "opaque"):
        assert found[attempt] == ["refused"]
    assert found["events"] == "refused"
    assert found["frame"] in ("refused", "null", "undefined")
    assert tab.session.run is None
    assert not tab.session.require_opened().draft
