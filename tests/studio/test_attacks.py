"""What somebody else could try against a studio that runs on a user's machine; each attempt fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from credo import OptionError
from credo.studio.folder import Folder
from credo.studio.guard import Guard, new_token
from credo.studio.serving import ANYWHERE_WORD, own_names, require_loopback
from tests.studio.harness import HOST, ORIGIN, TOKEN, Studio

READABLE = (
    "/",
    "/api/state",
    "/api/fit",
    "/api/explanation",
    "/api/report",
    "/api/network?ending=.bif",
    "/api/picture",
    "/api/events",
    "/api/predictions",
    "/api/share",
    "/api/columns",
    "/api/cpt?name=disease",
    "/api/reading",
    "/static/studio.js",
    "/api/updates?since=0",
)
WRITABLE = (
    *("/api/updates", "/api/open", "/api/preview", "/api/save", "/api/marginals", "/api/most-probable"),
    *(
        "/api/sensitivity",
        "/api/next",
        "/api/questions",
        "/api/predict",
        "/api/edit",
        "/api/declare",
        "/api/learn",
        "/api/explain",
    ),
    *("/api/cancel", "/api/upload", "/api/arrange", "/api/rows"),
)


def test_every_request_that_there_is_is_attacked_here(target: Studio) -> None:
    from starlette.routing import Route

    known = {path.partition("?")[0] for path in (*READABLE, *WRITABLE)}
    routes = {each.path for each in target.client.app.app.routes if isinstance(each, Route)}
    assert routes <= known


@pytest.mark.parametrize("path", READABLE)
def test_nothing_is_readable_without_the_token(target: Studio, path: str) -> None:
    target.client.cookies.clear()
    assert target.get(path).status_code == 403
    assert target.get(path, Cookie="credo_studio_8642=guess").status_code == 403


@pytest.mark.parametrize("path", WRITABLE)
def test_nothing_is_writable_without_the_token(target: Studio, path: str) -> None:
    target.client.cookies.clear()
    assert target.post(path).status_code == 403


def test_a_wrong_token_gives_no_cookie(target: Studio) -> None:
    target.client.cookies.clear()
    answer = target.get("/?token=guess")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_cookie_cannot_be_used_by_other_sites_or_read_by_scripts(target: Studio) -> None:
    cookie = target.get(f"/?token={TOKEN}").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_the_token_does_not_stay_in_the_address(target: Studio) -> None:
    assert target.get(f"/?token={TOKEN}").headers["location"] == "/"
    assert target.get("/").headers["referrer-policy"] == "no-referrer"


def test_a_ticket_opens_the_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def status(guard: Guard, ticket: str) -> int:
        client = TestClient(guard, base_url=ORIGIN, follow_redirects=False)
        return client.get(f"/?ticket={ticket}").status_code

    assert status(Guard(PlainTextResponse("page"), TOKEN, [HOST], "a-ticket"), "another") == 403
    assert status(Guard(PlainTextResponse("page"), TOKEN, [HOST]), "") == 403  # where there is none
    guard = Guard(PlainTextResponse("page"), TOKEN, [HOST], "a-ticket")
    assert [status(guard, "a-ticket") for _ in range(2)] == [303, 403]
    late = Guard(PlainTextResponse("page"), TOKEN, [HOST], "a-ticket")
    monkeypatch.setattr("credo.studio.guard.monotonic", lambda: late.ticket_ends + 1)
    assert status(late, "a-ticket") == 403


def test_tokens_are_long_and_different() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(len(token) >= 43 for token in tokens)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8642", "127.0.0.1:9999", "127.0.0.1", "localhost", ""])
def test_a_name_that_was_made_to_point_here_is_refused(target: Studio, host: str) -> None:
    assert target.get("/api/state", Host=host).status_code == 421
    assert target.get(f"/?token={TOKEN}", Host=host).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:8642", "http://127.0.0.1:8643", ""]
)
def test_requests_from_other_pages_are_refused(target: Studio, origin: str) -> None:
    for path in WRITABLE:
        assert target.post(path, Origin=origin).status_code == 403
    assert target.session.run is None
    if origin:
        assert target.get("/api/state", Origin=origin).status_code == 403


def test_a_request_that_hides_its_origin_is_refused(target: Studio) -> None:
    for path in WRITABLE:
        assert target.client.post(path, json={}).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_the_browser_marks_as_another_site_is_refused(target: Studio, site: str) -> None:
    assert target.get("/api/state", **{"Sec-Fetch-Site": site}).status_code == 403
    assert target.post("/api/save", **{"Sec-Fetch-Site": site}).status_code == 403


def test_a_form_cannot_be_sent(target: Studio) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = target.client.post("/api/save", content="{}", headers={"Origin": ORIGIN, "Content-Type": kind})
        assert answer.status_code == 422


def test_no_other_origin_is_allowed_to_read(target: Studio) -> None:
    for method in ("OPTIONS", "GET", "POST"):
        answer = target.client.request(method, "/api/state", headers={"Origin": ORIGIN})
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_web_sockets_are_closed(target: Studio) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), target.client.websocket_connect("/api/events"):
        pass


def test_the_policy_allows_nothing_from_elsewhere(target: Studio) -> None:
    headers = target.get("/").headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    assert "http" not in headers["content-security-policy"]
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert headers["x-content-type-options"] == "nosniff"
    assert target.get("/").headers["content-security-policy"] != headers["content-security-policy"]  # another nonce


def test_the_page_has_no_script_of_its_own_in_its_text(target: Studio) -> None:
    page = target.get("/").text
    assert page.count("<script") == 1
    assert "http:" not in page
    assert "https:" not in page


@pytest.mark.parametrize(
    "name", ["../secret.csv", "/etc/passwd", "a/../../secret.csv", "..", ".", "", "x\0.csv", 3, None]
)
def test_a_path_cannot_leave_the_folder(studio: Studio, name: object) -> None:
    (studio.folder.parent / "secret.csv").write_text("a\n1\n")
    for request in ({"model": name}, {"table": name}, {"model": "heart.credo", "table": name}):
        answer = studio.post("/api/open", request)
        if not name:  # none is asked for
            continue
        assert answer.status_code == 422
        assert "secret" not in answer.text.replace(str(name), "")


def test_a_link_cannot_leave_the_folder(studio: Studio) -> None:
    secret = studio.folder.parent / "secret.csv"
    secret.write_text("a\n1\n")
    try:
        (studio.folder / "link.csv").symlink_to(secret)
    except OSError:
        pytest.skip("this system makes no links")
    assert studio.post("/api/open", {"table": "link.csv"}).status_code == 422
    assert "link.csv" not in studio.get("/api/state").text


@pytest.mark.parametrize(
    "name",
    [
        *("../up.csv", "a/b.csv", "a\\b.csv", ".hidden.csv", "page.html", "run.exe", "x.fit", "", "x\0.csv"),
        *(
            "a\nb.csv",
            "a\u202evsc.csv",
            "CON.csv",
            "com1.backup.credo",
            "a:stream.csv",
            "a" * 300 + ".csv",
            "ä" * 99 + ".csv",
        ),
    ],
)
def test_an_upload_is_a_plain_file_of_a_known_kind(target: Studio, name: str) -> None:
    before = sorted(os.listdir(target.folder))
    answer = _upload(target, name, b"a\n1\n")
    assert answer.status_code == 422
    assert sorted(os.listdir(target.folder)) == before
    assert not (target.folder.parent / "up.csv").exists()


def test_an_upload_replaces_nothing(studio: Studio) -> None:
    before = (studio.folder / "patients.csv").read_bytes()
    assert _upload(studio, "patients.csv", b"a\n1\n").json() == {"name": "patients-2.csv"}
    assert (studio.folder / "patients.csv").read_bytes() == before


def test_an_upload_is_limited(target: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.studio.app.MOST_UPLOADED", 10)
    answer = _upload(target, "large.csv", b"x" * 11)
    assert answer.status_code == 422
    assert not (target.folder / "large.csv").exists()


def test_what_announces_too_much_is_refused_before_it_comes(target: Studio) -> None:
    headers = {"Origin": ORIGIN, "Content-Type": "application/json", "Content-Length": "9" * 30}
    assert target.client.post("/api/save", content=iter([b"{}"]), headers=headers).status_code == 422


def test_a_request_is_limited(target: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.studio.app.MOST_JSON", 10)
    assert target.post("/api/save", {"a": "x" * 100}).status_code == 422


@pytest.mark.parametrize("body", [b"", b"[]", b"3", b"{", b"\xff", b'{"a":' * 5000])
def test_requests_that_are_no_json_are_refused(target: Studio, body: bytes) -> None:
    for path in WRITABLE[:-1]:
        headers = {"Origin": ORIGIN, "Content-Type": "application/json"}
        assert target.client.post(path, content=body, headers=headers).status_code == 422


def test_static_files_are_those_of_the_page_alone(target: Studio) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert target.get(path).status_code in (404, 405, 422)


def test_the_report_is_a_file_to_keep_and_no_page_of_the_studio(studio: Studio, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("<script>alert(1)</script>")
    studio.session.require_opened().report = page
    answer = studio.get("/api/report")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "html" not in answer.headers["content-type"]


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.7", "::", "example.org"])
def test_other_machines_need_the_word(host: str) -> None:
    with pytest.raises(OptionError, match=f"--expose {ANYWHERE_WORD}"):
        require_loopback(host, "")
    with pytest.raises(OptionError):
        require_loopback(host, "yes")
    require_loopback(host, ANYWHERE_WORD)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.2"])
def test_this_machine_needs_none(host: str) -> None:
    require_loopback(host, "")


def test_a_studio_knows_its_own_names() -> None:
    assert own_names("127.0.0.1", 8642)[0] == "127.0.0.1:8642"
    assert own_names("::1", 8642)[0] == "[::1]:8642"
    assert "evil.example:8642" not in own_names("0.0.0.0", 8642)
    assert "localhost:8642" in own_names("0.0.0.0", 8642)
    assert own_names("192.0.2.7", 8642) == ("192.0.2.7:8642",)
    assert own_names("example.org", 1) == ("example.org:1",)


def test_names_are_text_in_every_answer(studio: Studio) -> None:
    name = "<img src=x onerror=alert(1)>"
    answer = studio.change(f'variable "{name}": no, "<script>alert(2)</script>"\n')
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["network"]["variables"][0]["name"] == name


def test_a_folder_names_only_what_is_in_it(tmp_path: Path) -> None:
    folder = Folder(tmp_path.resolve())
    with pytest.raises(OptionError):
        folder.inside("../x")
    assert folder.inside("a/x.csv") == tmp_path.resolve() / "a" / "x.csv"


def _upload(studio: Studio, name: str, content: bytes) -> object:
    headers = {"Origin": ORIGIN, "Content-Type": "application/octet-stream"}
    return studio.client.post("/api/upload", params={"name": name}, content=content, headers=headers)


def test_the_host_of_these_tests_is_the_studios_own(target: Studio) -> None:
    assert target.get("/api/state", Host=HOST).status_code == 200
