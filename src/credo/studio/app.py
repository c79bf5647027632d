"""The studio's requests: each is one call of the session, answered as JSON."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager, suppress
from html import escape
from pathlib import Path
from threading import Event
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from credo.errors import CredoError
from credo.interrupts import StoppedError, stopped_by
from credo.studio.asking import comparison_data, labelled_explanation
from credo.studio.document import StaleChangeError
from credo.studio.folder import MOST_UPLOADED
from credo.studio.guard import Guard
from credo.studio.opened_data import fit_data, reading_data
from credo.studio.session import Session

STATIC = Path(__file__).with_name("static")
MOST_JSON = 20_000_000  # bytes of a request
BROKEN = "This went wrong in the studio itself; its terminal says more. Your text is kept."
HEARTBEAT = 15.0  # seconds between two signs of life to a page

Handler = Callable[[Request, Session], Awaitable[Any]]


class RefusedError(CredoError):
    """A request that cannot be read."""


def make_app(session: Session, token: str, hosts: Collection[str], ticket: str = "") -> ASGIApp:
    """The studio as an ASGI application, with its guard in front."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await session.close()

    def route(path: str, handler: Handler, method: str = "POST") -> Route:
        async def endpoint(request: Request) -> Response:
            try:
                answer = await handler(request, session)
            except StaleChangeError as error:
                return json_response({"error": str(error), **_stale(request, session)}, 409)
            except CredoError as error:
                return json_response({"error": str(error)}, 422)
            except (ClientDisconnect, StoppedError):
                return Response(status_code=400)
            except Exception:
                logging.getLogger(__name__).exception("The studio could not answer %s.", path)
                return json_response({"error": BROKEN}, 500)
            return answer if isinstance(answer, Response) else json_response(answer)

        return Route(path, endpoint, methods=[method])

    routes = [
        Route("/", _page),
        route("/api/state", _state, "GET"),
        route("/api/events", _events, "GET"),
        route("/api/updates", _updates, "GET"),
        route("/api/updates", _change),
        route("/api/reading", _reading, "GET"),
        route("/api/open", _open),
        route("/api/preview", asked(Session.preview)),
        route("/api/upload", _upload),
        route("/api/save", asked(Session.save)),
        route("/api/marginals", waited(Session.marginals)),
        route("/api/most-probable", waited(Session.explain_case)),
        route("/api/sensitivity", waited(Session.sensitivity)),
        route("/api/next", waited(Session.next_steps)),
        route("/api/questions", waited(Session.questions)),
        route("/api/predict", waited(Session.predict)),
        route("/api/predictions", _predictions, "GET"),
        route("/api/picture", lambda _, session: session.picture(), "GET"),
        route("/api/picture", asked(Session.picture)),
        route("/api/edit", asked(Session.edit)),
        route("/api/arrange", asked(Session.arrange)),
        route("/api/declare", _declare),
        route("/api/learn", asked(Session.learn)),
        route("/api/explain", asked(lambda session, _: session.explain())),
        route("/api/cancel", asked(lambda session, _: session.cancel())),
        route("/api/fit", _fit, "GET"),
        route("/api/cpt", _cpt, "GET"),
        route("/api/explanation", _explanation, "GET"),
        route("/api/report", _report, "GET"),
        route("/api/network", _network, "GET"),
        route("/api/share", _share, "GET"),
        route("/api/columns", lambda _, session: session.columns(), "GET"),
        route("/api/rows", asked(Session.rows)),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, hosts, ticket)


def asked(method: Callable[[Session, dict[str, Any]], Awaitable[Any]]) -> Handler:
    """What answers by a method of the session, which is given the request's JSON."""

    async def answer(request: Request, session: Session) -> Any:
        found = await method(session, await json_of(request))
        return {} if found is None else found

    return answer


def waited(method: Callable[[Session, dict[str, Any]], Awaitable[Any]]) -> Handler:
    """The same where the page may give the request up."""

    async def answer(request: Request, session: Session) -> Any:
        return await _while_waited_for(request, method(session, await json_of(request)))

    return answer


async def _while_waited_for(request: Request, answering: Awaitable[Any]) -> Any:
    """An answer whose computation ends where the page gives the request up, or is closed."""
    gone = Event()

    async def watch() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone.set()

    watching = asyncio.create_task(watch())
    try:
        with stopped_by(gone.is_set):
            return await answering
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


def json_response(content: Any, status: int = 200) -> Response:
    """An answer as JSON; numbers are finite."""
    body = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return Response(body, status, media_type="application/json")


async def _page(request: Request) -> Response:
    text = (STATIC / "index.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace("{nonce}", escape(request.state.nonce)))


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request, refused as soon as it is too long."""
    parts, size = [], 0
    announced = request.headers.get("content-length", "0")
    if not announced.isdigit() or int(announced[:20]) > most:
        raise RefusedError(f"This is larger than {most // 1_000_000} MB.")
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise RefusedError(f"This is larger than {most // 1_000_000} MB.")
        parts.append(part)
    return b"".join(parts)


async def json_of(request: Request) -> dict[str, Any]:
    """A request's JSON, which has to be an object; other types of content are what forms of other sites could send."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise RefusedError("A request is JSON.")
    try:
        found = json.loads(await body_of(request, MOST_JSON))
    except (ValueError, RecursionError):
        raise RefusedError("A request is JSON.") from None
    if not isinstance(found, dict):
        raise RefusedError("A request is a JSON object.")
    return found


def _whole_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise RefusedError("A version is a whole number.")
    return value


def _stale(request: Request, session: Session) -> dict[str, Any]:
    opened = session.opened
    return {
        "generation": session.generation,
        "version": None if opened is None else opened.document.version,
        "text": None if opened is None else opened.document.text,
    }


async def _state(request: Request, session: Session) -> Any:
    return await asyncio.to_thread(session.state)


async def _events(request: Request, session: Session) -> Response:
    queue: asyncio.Queue[str] = asyncio.Queue(maxsize=1_000)
    session.listeners.add(queue)

    async def stream() -> AsyncIterator[str]:
        try:
            hello = {"event": "hello", "session": session.id, "generation": session.generation}
            yield f"data: {json.dumps({**hello, 'progress': session.progress})}\n\n"
            while True:
                try:
                    yield f"data: {await asyncio.wait_for(queue.get(), HEARTBEAT)}\n\n"
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            session.listeners.discard(queue)

    return StreamingResponse(stream(), media_type="text/event-stream")


async def _updates(request: Request, session: Session) -> Any:
    version = request.query_params.get("since", "")
    if not version.isdigit() or len(version) > 15:
        raise RefusedError("A version is a whole number.")
    _require_generation(request.query_params.get("generation"), session)
    document = session.require_opened().document
    return {"updates": document.since(int(version)), "version": document.version}


def _require_generation(given: Any, session: Session) -> None:
    if str(given) != str(session.generation):
        raise StaleChangeError("Other files were opened in the meantime.")


async def _change(request: Request, session: Session) -> Any:
    content = await json_of(request)
    _require_generation(content.get("generation"), session)
    updates = content.get("updates")
    if not isinstance(updates, list):
        raise RefusedError("The changes are a list.")
    return await session.change(_whole_number(content.get("version")), updates, str(content.get("tab", "")))


async def _reading(request: Request, session: Session) -> Any:
    opened = session.require_opened()
    return await asyncio.to_thread(reading_data, opened, opened.reading)


async def _open(request: Request, session: Session) -> Any:
    await session.open_named(await json_of(request))
    return await asyncio.to_thread(session.state)


async def _upload(request: Request, session: Session) -> Any:
    if request.headers.get("content-type", "") != "application/octet-stream":
        raise RefusedError("A file is sent as it is.")
    content = await body_of(request, MOST_UPLOADED)
    path = await asyncio.to_thread(session.folder.store, request.query_params.get("name"), content)
    return {"name": session.folder.name_of(path)}


async def _predictions(request: Request, session: Session) -> Response:
    return _file(session.require_opened().predictions, "predictions.csv", "There are no predictions yet.")


async def _declare(request: Request, session: Session) -> Any:
    await json_of(request)
    await session.declare()
    return await asyncio.to_thread(session.state)


async def _fit(request: Request, session: Session) -> Any:
    return {"fit": fit_data(session.require_opened())}


async def _cpt(request: Request, session: Session) -> Any:
    return await session.cpt(request.query_params.get("name", ""))


async def _explanation(request: Request, session: Session) -> Any:
    opened = session.require_opened()
    return {"explanation": labelled_explanation(opened), "comparison": await asyncio.to_thread(comparison_data, opened)}


async def _report(request: Request, session: Session) -> Response:
    return _file(session.require_opened().report, "report.html", "There is no report yet: learn first.")


async def _network(request: Request, session: Session) -> Response:
    path = await session.write_learned(request.query_params.get("ending"))
    return _file(path, path.name, "There is no such file.")


async def _share(request: Request, session: Session) -> Response:
    path = await _while_waited_for(request, session.share())
    return _file(path, f"{session.require_opened().knowledge.stem}.html", "There is no such file.")


def _file(path: Path | None, name: str, missing: str) -> Response:
    """A file to keep: opened here, a page would be one of the studio's own."""
    if path is None or not path.is_file():
        raise RefusedError(missing)
    return FileResponse(path, media_type="application/octet-stream", filename=name)
