"""The steps of somebody who uses the studio, in Chromium: learn, ask, write, resolve, look."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.studio.conftest import Tab


def test_learn_and_ask(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Learn").click()
    page.get_by_role("button", name="Learn", exact=True).click()
    state = page.get_by_role("button", name=re.compile(r"^1 \d+%.*; disease$"))
    expect(state).to_be_visible(timeout=120_000)
    before = state.get_attribute("aria-label")
    assert "95% interval" in before
    page.get_by_role("button", name=re.compile("^abnormal .*; ecg$")).click()
    expect(state).not_to_have_attribute("aria-label", before)
    assert tab.complaints == []
