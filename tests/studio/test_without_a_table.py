"""In Chromium: knowledge alone is learned, and the page says that there are no data."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.studio.harness import opened_tab, state

TEXT = "variables smoke, lung: no, yes\nlung depends on smoke\nsmoke raises lung\nP(smoke=yes) is between 20% and 40%\n"


def test_knowledge_alone_is_learned(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "clinic.credo").write_text(TEXT)
    with opened_tab(chromium, tmp_path.resolve(), {}, "clinic.credo", None) as tab:
        page = tab.page
        expect(page.get_by_text("There is no table").first).to_be_visible()
        page.get_by_role("button", name="Learn", exact=True).first.click()
        expect(state(page, "smoke", "yes")).to_have_attribute("title", re.compile("%"), timeout=60_000)
        page.get_by_role("tab", name="Learn").click()
        expect(page.get_by_text("There are no data")).to_be_visible()
        assert tab.complaints == []
