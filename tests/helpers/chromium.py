"""The system's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

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
# Milliseconds for one action, on a machine that is busy with other tests.
TIMEOUT = float(os.environ.get("CREDO_BROWSER_TIMEOUT", "120000"))
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
