"""A studio that ends and starts again, with another token: open pages go on, and nothing that was typed is lost."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.helpers.chromium import TIMEOUT
from tests.studio.harness import new_page, served, wait_for, write

SEEN = """(isHidden) => {
  Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


@pytest.mark.slow
def test_more_tabs_than_a_browser_has_connections(chromium: Browser, heart: Path) -> None:
    with served(heart) as (address, _), chromium.new_context() as context:
        pages = []
        for _ in range(8):  # without a window, no tab hides another by itself
            if pages:
                pages[-1].evaluate(SEEN, True)
            pages.append(opened_page(context, address))
        write(pages[-1], "# from the last\n")
        expect(pages[-1].get_by_text("changed, kept as a draft")).to_be_visible()
        pages[-1].evaluate(SEEN, True)
        pages[0].evaluate(SEEN, False)
        expect(pages[0].get_by_text("changed, kept as a draft")).to_be_visible()
        pages[0].locator(".cm-content").press("Control+End")
        expect(pages[0].locator(".cm-content")).to_contain_text("# from the last")


def opened_page(context: BrowserContext, address: str) -> Page:
    context.set_default_timeout(TIMEOUT)
    page, _ = new_page(context)
    page.goto(address)
    page.get_by_role("group", name="Variable disease").wait_for()
    return page


def test_a_page_goes_on_with_a_studio_that_started_again(chromium: Browser, heart: Path) -> None:
    with chromium.new_context() as context:
        with served(heart) as (address, _):
            page = opened_page(context, address)
            write(page, "# before\n")
            expect(page.get_by_text("changed, kept as a draft")).to_be_visible()
        expect(page.get_by_text("Not connected.")).to_be_visible()
        write(page, "# in between\n")
        text = (heart / "heart.credo").read_text(encoding="utf-8")
        with served(heart, port=urlsplit(address).port or 0, token="another") as (fresh, session):
            other = opened_page(context, fresh)  # which gives the browser the new key
            wait_for(lambda: "# in between" in session.require_opened().document.text)
            assert session.require_opened().document.text == f"{text}# before\n# in between\n"
            expect(page.get_by_text("Not connected.")).to_have_count(0)
            expect(page.get_by_text("What you typed while the studio was away is back.")).to_be_visible()
            write(page, "# afterwards\n")
            other.locator(".cm-content").press("Control+End")
            expect(other.locator(".cm-content")).to_contain_text("# afterwards")


@pytest.mark.slow
def test_what_a_closed_tab_could_not_send_is_back_beside_what_others_wrote(chromium: Browser, heart: Path) -> None:
    with chromium.new_context() as context:
        with served(heart) as (address, _):
            page = opened_page(context, address)
        expect(page.get_by_text("Not connected.")).to_be_visible()
        write(page, "# nobody took this\n")
        page.goto("about:blank")
        path = heart / "heart.credo"
        text = "# from elsewhere\n" + path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        with served(heart, port=urlsplit(address).port or 0, token="another") as (fresh, session):
            page.goto(fresh)
            wait_for(lambda: "# nobody took this" in session.require_opened().document.text)
            assert session.require_opened().document.text == f"{text}# nobody took this\n"
            page.reload()  # it is taken once, and what is on its way is not sent again
            page.get_by_role("group", name="Variable disease").wait_for()
            write(page, "# and more\n")
            page.reload()
            wait_for(lambda: session.require_opened().document.text.endswith("# and more\n"))
            assert session.require_opened().document.text.count("# and more") == 1
            assert session.require_opened().document.text.count("# nobody took this") == 1
