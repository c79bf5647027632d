"""In Chromium: what is to be decided has no probability, and is decided by a click; on a page to share, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import credo
from credo.studio.opening import fit_file
from tests.studio.harness import DESKTOP, Tab, new_page, opened_tab, state

TEXT = """variable ill: no, yes
decision treat: no, yes
variable outcome: bad, good
outcome depends on ill, treat
utility of outcome=bad is -100
utility of treat=yes is -10
P(ill=yes) = 30%
P(outcome=good | ill=yes, treat=no) = 20%
P(outcome=good | ill=yes, treat=yes) = 80%
P(outcome=good | ill=no, treat=no) = 95%
P(outcome=good | ill=no, treat=yes) = 90%
"""


@pytest.fixture
def decision_tab(chromium: Browser, tmp_path: Path) -> Iterator[Tab]:
    (tmp_path / "ill.credo").write_text(TEXT, "utf-8")
    credo.fit(tmp_path / "ill.credo", method="cmap").save(fit_file(tmp_path / "ill.credo"))
    window = {"viewport": {"width": DESKTOP, "height": 800}}
    with opened_tab(chromium, tmp_path.resolve(), window, "ill.credo", None) as tab:
        yield tab


def test_a_decision_has_no_probability_until_it_is_made(decision_tab: Tab) -> None:
    page = decision_tab.page
    page.get_by_role("combobox", name="How probable is").select_option("outcome")
    expect(page.get_by_text("outcome depends on treat, which is not decided")).to_be_visible()
    expect(state(page, "treat", "yes")).to_have_attribute("title", "yes")  # no number
    expect(page.get_by_role("group", name="Variable treat", exact=True)).to_contain_text("to decide")
    state(page, "treat", "yes").click()
    expect(page.get_by_role("group", name="Variable treat", exact=True)).to_contain_text("decided")
    expect(state(page, "outcome", "good")).to_have_attribute("title", re.compile("good 87%"))
    expect(page.get_by_text("which is not decided")).to_have_count(0)
    page.get_by_role("button", name="Which test next, and what to do?").click()
    expect(page.get_by_text("treat=yes is better, by 4.5")).to_be_visible()
    assert decision_tab.complaints == []


def test_a_decision_on_a_page_to_share(decision_tab: Tab) -> None:
    page = decision_tab.page
    with page.expect_download() as download:
        page.get_by_role("button", name="Share", exact=True).click()
    download.value.save_as(decision_tab.folder / "shared.html")
    shared, complaints = new_page(page.context)
    shared.goto((decision_tab.folder / "shared.html").as_uri())
    options = shared.get_by_role("combobox", name="What you want to know").locator("option")
    expect(options).to_have_text(["ill", "outcome"])
    expect(shared.get_by_text("outcome depends on treat, which is not decided")).to_be_visible()
    treat = shared.get_by_role("group", name="treat").first
    expect(treat).to_contain_text("not decided")
    treat.get_by_role("radio", name="yes").check()
    expect(shared.get_by_text("treat set to yes")).to_be_visible()
    expect(shared.locator(".big")).to_have_text("87%")
    assert complaints == []
