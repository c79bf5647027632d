"""The system's Chromium, driven by Playwright: one browser a session, one page a test."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",  # Chromium's sandbox does not start as root, which containers often are
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TIMEOUT = 120_000.0  # milliseconds for one action, on a machine that is busy with other tests
DESKTOP = 1280  # pixels


def find_chromium() -> str | None:
    """Return the Chromium or Chrome that is installed, or the one that CREDO_BROWSER names."""
    return os.environ.get("CREDO_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def launch_chromium(executable: str) -> Iterator[Browser]:
    """Start Chromium without a window; Playwright's own browsers are never downloaded."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS, timeout=TIMEOUT)
        try:
            yield browser
        finally:
            browser.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium is installed: `make browser` installs it where it can")
    with launch_chromium(executable) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """An empty page that can load files only.

    Parametrize it indirectly with options of `Browser.new_context` for another window.
    """
    options = {"viewport": {"width": DESKTOP, "height": 900}, **getattr(request, "param", {})}
    with browser.new_context(**options) as context:
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
