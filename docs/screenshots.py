"""Takes the pictures of the example's report that README, tutorial and the page about reports show.

Run from the repository's folder: PYTHONPATH=. python docs/screenshots.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page
from tests.helpers.chromium import find_chromium, launch_chromium
from tests.helpers.pages import demo

IMAGES = Path("docs/images")
WIDTH = 1180
SHOWN = {  # from the first to the last of these
    "report-network": ("h1", "figcaption"),
    "report-tables": ("#t1", "#t3"),
    "report-statements": ("#statements", "#s8"),
}
COLOURS = 160  # so that the files stay small


def main() -> None:
    """Learn the example, open its report, and save parts of it."""
    executable = find_chromium()
    assert executable is not None, "this needs Chromium"
    with TemporaryDirectory() as folder, launch_chromium(executable) as browser:
        page = browser.new_page(viewport={"width": WIDTH, "height": 900})
        page.goto(demo().report(Path(folder) / "report.html").as_uri())
        shot = Path(folder) / "shot.png"
        page.screenshot(path=shot, full_page=True)
        with Image.open(shot) as whole:
            for name, (first, last) in SHOWN.items():
                top, _ = _ends(page, first)
                _, bottom = _ends(page, last)
                part = whole.convert("RGB").crop((0, int(top) - 8, whole.width, int(bottom) + 8))
                part.quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


def _ends(page: Page, selector: str) -> tuple[float, float]:
    """Where an element begins and ends, in pixels from the top of the page."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, f"{selector} is not shown"
    return box["y"], box["y"] + box["height"]


if __name__ == "__main__":
    main()
