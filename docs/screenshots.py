"""Takes the pictures of the example's report that the first page shows.

Run from the repository's folder: PYTHONPATH=. python docs/screenshots.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from tests.helpers.pages import demo
from tests.report.browser import browser, find_browser

IMAGES = Path("docs/images")
WIDTH = 1180
SHOWN = {"report-statements": ("h1", "#s8"), "report-tables": ("#t1", "#t3")}  # from the first to the last of these
COLOURS = 160  # so that the files stay small


def main() -> None:
    """Learn the example, open its report, and save parts of it."""
    command = find_browser()
    assert command is not None, "this needs Chromium"
    with TemporaryDirectory() as folder, browser(command) as page:
        page.open(demo().report(Path(folder) / "report.html"), WIDTH)
        shot = Path(folder) / "shot.png"
        page.picture(shot)
        with Image.open(shot) as whole:
            for name, (first, last) in SHOWN.items():
                top, _ = _ends(page, first)
                _, bottom = _ends(page, last)
                part = whole.convert("RGB").crop((0, int(top) - 8, whole.width, int(bottom) + 8))
                part.quantize(COLOURS).save(IMAGES / f"{name}.png", optimize=True)


def _ends(page: object, selector: str) -> tuple[float, float]:
    box = f"document.querySelector('{selector}').getBoundingClientRect()"
    top, bottom = page.run(f"[{box}.top + scrollY, {box}.bottom + scrollY]")  # type: ignore[attr-defined]
    return top, bottom


if __name__ == "__main__":
    main()
