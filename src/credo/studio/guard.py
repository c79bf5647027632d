"""Who may talk to the studio: a token as a cookie, the right Host, the same Origin; and what a page may load."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from time import monotonic
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_BYTES = 32
TICKET_SECONDS = 120.0
NO_TOKEN = "Open the address that `credo studio` printed in its terminal: it holds the key to this page."
WRONG_HOST = "The studio answers to the name of this machine alone."
WRONG_ORIGIN = "The studio takes no requests from other pages."
SAFE_METHODS = frozenset(("GET", "HEAD"))

# Scripts, styles, pictures and connections come from the studio itself. The nonce is for the styles that the editor
# makes while it runs; no script needs one. Scripts cannot turn text into markup, either: trusted types are required.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(TOKEN_BYTES)


class Guard:
    """Answers what nobody but the user of this studio may ask for, and adds the headers that every answer needs.

    Parameters
    ----------
    app
        What is guarded.
    token
        The secret in the address that was printed; the browser keeps it as a cookie.
    hosts
        The values of the Host header that are the studio's own, such as `127.0.0.1:8642`. Another one is a name that
        somebody else made point to this machine.
    ticket
        A secret that can take the token's place in an address once, within two minutes. It is for the command that
        starts the browser, which every user of this machine can see in the list of processes; "" is none.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str], ticket: str = "") -> None:
        self.app, self.token, self.ticket = app, token, ticket
        self.ticket_ends = monotonic() + TICKET_SECONDS
        self.hosts = frozenset(host.lower() for host in hosts)
        # Cookies do not know ports: two studios on one machine need two names.
        self.cookie = "credo_studio_" + min(self.hosts).rpartition(":")[2]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = POLICY.format(nonce=nonce)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refused = self._refusal(scope)
        await (self.app if refused is None else refused)(scope, receive, guarded_send)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that is not let through; None for one that is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if host not in self.hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse(WRONG_HOST, 421)
        if not self._is_own_page(scope["method"], f"{scope['scheme']}://{host}", headers):
            return PlainTextResponse(WRONG_ORIGIN, 403)
        if scope["path"] == "/" and scope["method"] in SAFE_METHODS:
            given = parse_qs(scope["query_string"].decode("latin-1"))
            if self._matches(given.get("token", [""])[0]) or self._is_ticket(given.get("ticket", [""])[0]):
                answer = RedirectResponse("/", 303)  # so that the token does not stay in the address
                answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict", path="/")
                return answer
        if not self._matches(_cookie(headers, self.cookie)):
            return PlainTextResponse(NO_TOKEN, 403)
        return None

    def _is_own_page(self, method: str, origin: str, headers: Headers) -> bool:
        """Whether a request comes from the studio's page; reading may also come from the user's own address line."""
        site = headers.get("sec-fetch-site")
        given = headers.get("origin")
        if method in SAFE_METHODS:
            return site in (None, "same-origin", "none") and given in (None, origin)
        return site in (None, "same-origin") and given == origin

    def _matches(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.token.encode())

    def _is_ticket(self, given: str) -> bool:
        """Whether this is the ticket, which then was used."""
        if not self.ticket or monotonic() > self.ticket_ends:
            return False
        if not secrets.compare_digest(given.encode(), self.ticket.encode()):
            return False
        self.ticket = ""
        return True


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value
