"""Pages in a browser: nothing complains, nothing is wider than the window, and searching finds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import credo
from tests.helpers.pages import demo, large_page
from tests.report.browser import Page, browser, find_browser

CLASH = "brain_tumour raises ct_scan by at least 0.5\nP(ct_scan=positive | brain_tumour=yes) <= 0.4"
COMMAND = find_browser()
pytestmark = pytest.mark.skipif(COMMAND is None, reason="no Chromium here: `make browser` installs it where it may")
SHOWN = "[...document.querySelectorAll('.node')].filter(each => each.checkVisibility()).map(each => each.dataset.name)"


@pytest.fixture(scope="module")
def tab() -> Iterator[Page]:
    with browser(str(COMMAND)) as page:
        yield page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def written(name: str, folder: Path) -> Path:
    """The page of that name, made where it is needed first."""
    path = folder / f"{name}.html"
    if not path.exists():
        if name == "demo":
            demo().report(path)
        elif name == "check":
            credo.check(demo().network, CLASH).report(path)
        else:
            path.write_text(large_page(), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["demo", "large", "check"])
def test_a_page_is_shown_without_complaint(tab: Page, folder: Path, name: str) -> None:
    path = written(name, folder)
    for width, dark in ((1280, False), (1280, True), (400, False), (400, True)):
        tab.open(path, width, dark=dark)
        assert tab.run("document.querySelectorAll('h2').length") > 1
        assert tab.said == []
        assert tab.asked_for == [path.as_uri()]
        assert tab.run("document.documentElement.scrollWidth <= window.innerWidth"), (width, dark)
        red, green, blue = tab.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert (red + green + blue < 200) is dark


@pytest.mark.parametrize(("name", "typed", "found"), [("demo", "COMA", ["coma"]), ("large", "n222", ["n222"])])
def test_searching_finds_a_variable(tab: Page, folder: Path, name: str, typed: str, found: list[str]) -> None:
    tab.open(written(name, folder), 1280)
    everything = tab.run(SHOWN)
    tab.run("document.getElementById('search').focus()")
    tab.type(typed)
    assert tab.run(SHOWN) == found
    assert tab.run("document.getElementById('found').textContent") == f"1 of {len(everything)} variables"
    statements = "[...document.querySelectorAll('.statements tbody tr')].filter(each => each.checkVisibility())"
    texts = tab.run(f"{statements}.map(each => each.cells[0].textContent.toLowerCase())")
    assert texts
    assert all(typed.lower() in text for text in texts)
    tab.run("document.getElementById('search').select()")
    tab.type("no such thing")
    assert tab.run(SHOWN) == []
    tab.run("(box => { box.value = ''; box.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
    assert tab.run(SHOWN) == everything
    assert tab.said == []


def test_a_statement_leads_to_its_rows_and_a_row_to_a_statement_that_is_folded_away(tab: Page, folder: Path) -> None:
    tab.open(written("large", folder), 1280)
    last = "[...document.querySelectorAll('.statements tbody tr')].at(-1)"
    assert tab.run(f"!{last}.checkVisibility()")
    tab.run(f"location.hash = {last}.id; new Promise(done => setTimeout(done, 50))")
    assert tab.run(f"{last}.checkVisibility() && {last}.getBoundingClientRect().top < innerHeight")
    tab.run(f"{last}.querySelector('a').click(); new Promise(done => setTimeout(done, 50))")
    target = tab.run("location.hash.slice(1)")
    assert target.startswith("t")
    assert tab.run(f"document.getElementById('{target}').getBoundingClientRect().top < innerHeight")


def test_a_page_can_be_printed(tab: Page, folder: Path) -> None:
    tab.open(written("demo", folder), 1280, dark=True)
    printed = tab.pdf()
    assert printed.startswith(b"%PDF")
    assert 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 8
    tab.send("Emulation.setEmulatedMedia", media="print")
    assert tab.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert tab.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    tab.send("Emulation.setEmulatedMedia", media="")
