"""The pictures of the documentation: made in Chromium, by `CREDO_SCREENSHOTS=docs/images/studio pytest -m slow …`.

Without that variable they are made in a temporary folder and compared with those of the documentation, by the words
that could be read when each was taken: fonts and the last digits of what is learned are not the same everywhere.
"""

from __future__ import annotations

import json
import os
import re
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

import credo
from credo import write_network
from credo.testing import andes_like_network
from tests.studio.harness import CONFLICT, TABLET, opened_tab, state, write

ROOT = Path(__file__).resolve().parents[2]
ANDES = ROOT.parent / "shared" / "networks" / "andes.bif"
PICTURES = ROOT / "docs" / "images" / "studio"
WINDOW = {"viewport": {"width": 1280, "height": 800}}
WORDS = Path(__file__).with_name("screenshots.json")  # that can be read on each picture, with # for every number
ALIKE = 0.98  # the share of words that a picture of the documentation has in common with the page as it is now
READ = """() => {
  const names = [...document.querySelectorAll('.far-names')];  // which there is room for, is up to the font
  names.forEach((each) => { each.hidden = true; });
  const words = document.body.innerText.split(/\\s+/).filter(Boolean);
  names.forEach((each) => { each.hidden = false; });
  return words;
}"""
NAMES = ("ask", "conflict", "look", "draw", "data", "andes", "tablet")


def test_the_documentation_shows_every_picture() -> None:
    page = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"images/studio/{name}.png" in page
        assert (PICTURES / f"{name}.png").exists()


@pytest.mark.slow
def test_pictures(chromium: Browser, learned_heart: Path, tmp_path: Path) -> None:
    target = Path(os.environ.get("CREDO_SCREENSHOTS", tmp_path))
    target.mkdir(parents=True, exist_ok=True)
    words: dict[str, list[str]] = {}

    def take(page: Page, name: str) -> None:
        page.screenshot(path=target / f"{name}.png")
        words[name] = [re.sub(r"\d+(\.\d+)?", "#", each) for each in page.evaluate(READ)]

    with opened_tab(chromium, learned_heart, WINDOW) as tab:
        page = tab.page
        page.get_by_role("tab", name="Learn").click()
        page.get_by_role("button", name="Learn", exact=True).click()
        page.get_by_role("tab", name="Look").click()
        page.get_by_role("link", name="Download the report").wait_for()
        page.get_by_role("button", name=re.compile(r"P\(disease=1 \| age=young, smoker=yes, pressure=normal\)")).click()
        page.locator(".panel").evaluate("(panel) => { panel.scrollTop = 0; }")
        take(page, "look")
        page.get_by_role("tab", name="Ask").click()
        state(page, "ecg", "abnormal").click()
        expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
        page.mouse.move(640, 780)
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(300)  # until the bars have moved
        take(page, "ask")
        page.get_by_role("tab", name="Draw").click()
        take(page, "draw")
        page.get_by_role("tab", name="Data").click()
        page.get_by_role("region", name="Column age").wait_for()
        page.get_by_role("button", name="Row 1 as the case").wait_for()
        take(page, "data")
        page.get_by_role("tab", name="Ask").click()
        page.get_by_role("button", name="Clear evidence (1)").click()
        write(page, f"smokr raises disease\n{CONFLICT}")
        page.get_by_role("button", name=re.compile("leave this one out: line 20")).wait_for()
        take(page, "conflict")
        page.get_by_role("button", name="Undo").click()

    with opened_tab(chromium, learned_heart, {**TABLET, "color_scheme": "dark"}) as tab:
        state(tab.page, "smoker", "yes").click()
        expect(tab.page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
        tab.page.wait_for_timeout(300)
        take(tab.page, "tablet")

    folder = tmp_path / "andes"
    folder.mkdir()
    write_network(credo.read_network(ANDES) if ANDES.exists() else andes_like_network(), folder / "andes.bif")
    with opened_tab(chromium, folder.resolve(), WINDOW, "andes.bif", None) as tab:
        expect(tab.page.locator(".far-names span").first).to_be_visible()
        tab.page.wait_for_timeout(300)
        take(tab.page, "andes")

    if "CREDO_SCREENSHOTS" in os.environ:
        WORDS.write_text(json.dumps(words, ensure_ascii=False, indent=0), encoding="utf-8")
    for name, known in json.loads(WORDS.read_text(encoding="utf-8")).items():
        with Image.open(target / f"{name}.png") as now, Image.open(PICTURES / f"{name}.png") as shown:
            assert now.size == shown.size, name
        if name == "andes" and not ANDES.exists():
            continue  # another network took its place
        alike = SequenceMatcher(None, known, words[name], autojunk=False).ratio()
        assert alike >= ALIKE, f"{name}.png is not what the page shows now: take the pictures again"
