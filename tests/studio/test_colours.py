"""The page as people with other colour vision see it: Chromium simulates that."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, expect

from credo.types import Numbers
from tests.studio.harness import CONFLICT, opened_tab, write

WINDOW = {"viewport": {"width": 1280, "height": 800}}
VISIONS = ("protanopia", "deuteranopia", "tritanopia", "achromatopsia")
CLEARLY = 60.0  # of the 441 between black and white: colours that nobody takes for each other


def pixels(place: Locator) -> Numbers:
    image = pytest.importorskip("PIL.Image")
    return np.asarray(image.open(BytesIO(place.screenshot())).convert("RGB"), dtype=float)


def line_colour(place: Locator) -> Numbers:
    """The colour of a line in the legend: what stands out most from the paper in its first 22 pixels."""
    found = pixels(place)[:, :22].reshape(-1, 3)
    return found[np.linalg.norm(found - found[0], axis=1).argmax()]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_told_by_colour_alone(chromium: Browser, heart: Path, scheme: str) -> None:
    text = (heart / "heart.credo").read_text(encoding="utf-8")
    (heart / "heart.credo").write_text(
        text + "variable fit: no, yes\nfit depends on age\nage lowers fit\n", encoding="utf-8"
    )
    with opened_tab(chromium, heart, {**WINDOW, "color_scheme": scheme}) as tab:
        page = tab.page
        write(page, CONFLICT)
        expect(page.get_by_role("list", name="Conflicts")).to_be_visible()
        page.keyboard.press("Escape")
        # Each finding has a sign and words of its own, and arrows that lower are dashed.
        signs = {
            kind: page.locator(f".mark.{kind}").first.inner_text()
            for kind in ("consistent", "conflict", "contradicted")
        }
        assert len(set(signs.values())) == 3
        for words in ("in conflict", "contradicted by the data", "can hold"):
            expect(page.locator(".summary")).to_contain_text(words)
        dashes = "(each) => getComputedStyle(each).strokeDasharray"
        assert page.locator(".react-flow__edge-path.lowers").first.evaluate(dashes) != "none"
        assert page.locator(".react-flow__edge-path.raises").first.evaluate(dashes) == "none"
        devtools = page.context.new_cdp_session(page)
        for vision in VISIONS:
            devtools.send("Emulation.setEmulatedVisionDeficiency", {"type": vision})
            raises, lowers = (line_colour(page.locator(f".signs .{kind}")) for kind in ("raises", "lowers"))
            paper = pixels(page.locator(".signs"))[0, 0]
            assert np.linalg.norm(raises - paper) > CLEARLY, vision
            assert np.linalg.norm(lowers - paper) > CLEARLY, vision
            if vision != "achromatopsia":  # to whom dashes alone tell them apart
                assert np.linalg.norm(raises - lowers) > CLEARLY, vision
