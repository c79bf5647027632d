"""The pictures of the documentation: made in Chromium, by `CREDO_SCREENSHOTS=docs/images/studio pytest -m slow …`.

Without that variable they are made in a temporary folder, so that what the page of the documentation shows can be made
at any time.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import credo
from credo import write_network
from credo.testing import andes_like_network
from tests.studio.harness import CONFLICT, TABLET, opened_tab, state, write

ROOT = Path(__file__).resolve().parents[2]
ANDES = ROOT.parent / "shared" / "networks" / "andes.bif"
WINDOW = {"viewport": {"width": 1280, "height": 800}}
NAMES = ("ask", "conflict", "look", "draw", "data", "andes", "tablet")


def test_the_documentation_shows_every_picture() -> None:
    page = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"images/studio/{name}.png" in page
        assert (ROOT / "docs" / "images" / "studio" / f"{name}.png").exists()


@pytest.mark.slow
def test_pictures(chromium: Browser, learned_heart: Path, tmp_path: Path) -> None:
    target = Path(os.environ.get("CREDO_SCREENSHOTS", tmp_path))
    target.mkdir(parents=True, exist_ok=True)

    with opened_tab(chromium, learned_heart, WINDOW) as tab:
        page = tab.page
        page.get_by_role("tab", name="Learn").click()
        page.get_by_role("button", name="Learn", exact=True).click()
        page.get_by_role("tab", name="Look").click()
        page.get_by_role("link", name="Download the report").wait_for()
        page.get_by_role("button", name=re.compile(r"P\(disease=1 \| age=young, smoker=yes, pressure=normal\)")).click()
        page.locator(".panel").evaluate("(panel) => { panel.scrollTop = 0; }")
        page.screenshot(path=target / "look.png")
        page.get_by_role("tab", name="Ask").click()
        state(page, "ecg", "abnormal").click()
        expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
        page.mouse.move(640, 780)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(300)  # until the bars have moved
        page.screenshot(path=target / "ask.png")
        page.get_by_role("tab", name="Draw").click()
        page.screenshot(path=target / "draw.png")
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("region", name="Column age").wait_for()
        page.get_by_role("button", name="Row 1 as the case").wait_for()
        page.screenshot(path=target / "data.png")
        page.get_by_role("tab", name="Ask").click()
        page.get_by_role("button", name="Clear evidence (1)").click()
        write(page, f"smokr raises disease\n{CONFLICT}")
        page.get_by_role("button", name=re.compile("leave this one out: line 20")).wait_for()
        page.screenshot(path=target / "conflict.png")
        page.get_by_role("button", name="Undo").click()

    with opened_tab(chromium, learned_heart, {**TABLET, "color_scheme": "dark"}) as tab:
        state(tab.page, "smoker", "yes").click()
        expect(tab.page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
        tab.page.wait_for_timeout(300)
        tab.page.screenshot(path=target / "tablet.png")

    folder = tmp_path / "andes"
    folder.mkdir()
    write_network(credo.read_network(ANDES) if ANDES.exists() else andes_like_network(), folder / "andes.bif")
    with opened_tab(chromium, folder.resolve(), WINDOW, "andes.bif", None) as tab:
        expect(tab.page.locator(".far-names span").first).to_be_visible()
        tab.page.wait_for_timeout(300)
        tab.page.screenshot(path=target / "andes.png")

    assert all((target / f"{name}.png").stat().st_size > 10_000 for name in NAMES)
