"""The pictures of the examples, as a colleague sees them: `CREDO_SCREENSHOTS=docs/images/examples pytest -m slow …`.

Without that variable they are made in a temporary folder, so that what the pages show can be made at any time.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser, expect

import credo
from credo.shipped import example
from tests.helpers.chromium import TIMEOUT

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "images" / "examples"
WINDOW = {"width": 1180, "height": 625}
CASES: dict[str, tuple[str, str, dict[str, str]]] = {  # table, target, what is known
    "heart": ("patients.csv", "disease", {"age": "middle", "smoker": "yes", "ecg": "abnormal"}),
    "cooling": ("tests.csv", "cooling", {"grid": "failed"}),
    "lake": ("lakes.csv", "health", {"clarity": "clear", "mayflies": "present"}),
    "court": ("", "burglar", {"report": "match"}),
    "dairy": ("batches.csv", "cheese", {"mastitis": "yes", "heating": "short"}),
    "turbines": ("inspections.csv", "failure", {"load": "high", "grease": "old"}),
}
COLOURS = 64  # so that the files stay small


@pytest.mark.parametrize("name", CASES)
def test_the_page_of_an_example_shows_its_picture(name: str) -> None:
    page = (ROOT / "docs" / "examples" / f"{name}.md").read_text(encoding="utf-8")
    assert f"../images/examples/{name}.png" in page
    with Image.open(PICTURES / f"{name}.png") as picture:
        assert picture.size == (WINDOW["width"], WINDOW["height"])


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_pictures(chromium: Browser, tmp_path: Path, name: str) -> None:
    table, target, known = CASES[name]
    text = example(name) / f"{name}.credo"
    fit = credo.fit(text, example(name) / table) if table else credo.fit(text)
    folder = Path(os.environ.get("CREDO_SCREENSHOTS", tmp_path))
    with chromium.new_context(viewport=WINDOW, offline=True) as context:  # type: ignore[arg-type]
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        page.goto(fit.share(tmp_path / "page.html", progress=False).as_uri())
        page.get_by_role("combobox", name="What you want to know").select_option(label=target)
        for variable, state in known.items():
            asked = page.get_by_role("group", name=re.compile(rf"^{variable}\b"))
            if asked.get_by_role("combobox").count():
                asked.get_by_role("combobox").select_option(label=state)
            else:
                asked.get_by_role("radio", name=state, exact=True).check()
        page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        for variable, state in known.items():
            expect(page.get_by_text(f"{variable} is {state}")).to_be_visible()
        page.mouse.move(0, 0)
        page.screenshot(path=tmp_path / "shot.png")
    folder.mkdir(parents=True, exist_ok=True)
    with Image.open(tmp_path / "shot.png") as shot:
        shot.convert("RGB").quantize(COLOURS).save(folder / f"{name}.png", optimize=True)
