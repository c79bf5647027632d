"""One page of the browser for a test, and what it complained about and requested."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.helpers.chromium import DESKTOP, TIMEOUT


@pytest.fixture
def page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page that can load files only.

    Parametrize it indirectly with options of `Browser.new_context` for another window.
    """
    options = {"viewport": {"width": DESKTOP, "height": 900}, **getattr(request, "param", {})}
    with chromium.new_context(**options) as context:
        context.set_default_timeout(TIMEOUT)
        context.route(lambda url: not url.startswith("file:"), lambda route: route.abort())
        context.route_web_socket(lambda url: True, lambda socket: socket.close())
        yield context.new_page()


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Messages on the page's console, of any level, and errors that no script caught."""
    found: list[str] = []
    page.on("console", lambda message: found.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.append(f"uncaught: {error}"))
    return found


@pytest.fixture
def requested(page: Page) -> list[str]:
    """Addresses that the page requested, in order, whether they were loaded or not."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    # A routed web socket is not connected, and makes no event.
    page.route_web_socket(lambda url: True, lambda socket: found.append(socket.url))
    return found
