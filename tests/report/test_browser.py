"""Reports in a browser: no error, no horizontal scrolling, nothing fetched from elsewhere, and the search works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Page

import credo
from tests.helpers.chromium import DESKTOP
from tests.helpers.pages import demo, large_page

CONFLICT = "brain_tumour raises ct_scan by at least 0.5\nP(ct_scan=positive | brain_tumour=yes) <= 0.4"
PHONE = 400  # pixels


def window(width: int, scheme: str) -> dict[str, Any]:
    """Options of `Browser.new_context` for a window of this width; a narrow one is a phone's."""
    return {
        "viewport": {"width": width, "height": 900},
        "color_scheme": scheme,
        "is_mobile": width == PHONE,
    }


WINDOWS = [
    pytest.param(window(width, scheme), width, scheme, id=f"{width}-{scheme}")
    for width in (DESKTOP, PHONE)
    for scheme in ("light", "dark")
]
ELSEWHERE = "http://elsewhere.invalid"
SCROLL_WIDTH = "document.documentElement.scrollWidth"
VISIBLE = "all => all.filter(each => each.checkVisibility())"
NAMES = f"all => ({VISIBLE})(all).map(each => each.dataset.name)"
STATEMENTS = f"all => ({VISIBLE})(all).map(each => each.cells[0].textContent.toLowerCase())"
LINES = """all => all.map(each => {
  const range = document.createRange();
  range.selectNodeContents(each);
  return range.getClientRects().length;
})"""
ON_SCREEN = "each => each.checkVisibility() && each.getBoundingClientRect().top < innerHeight"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


def written(name: str, folder: Path) -> Path:
    """The report of that name, written when it is first needed."""
    path = folder / f"{name}.html"
    if not path.exists():
        if name == "demo":
            demo().report(path)
        elif name == "check":
            credo.check(demo().network, CONFLICT).report(path)
        else:
            path.write_text(large_page(), encoding="utf-8")
    return path


@pytest.mark.parametrize(("page", "width", "scheme"), WINDOWS, indirect=["page"])
@pytest.mark.parametrize("name", ["demo", "large", "check"])
def test_a_report_is_shown_without_complaint(
    page: Page, complaints: list[str], requested: list[str], folder: Path, name: str, width: int, scheme: str
) -> None:
    path = written(name, folder)
    page.goto(path.as_uri(), wait_until="networkidle")
    page.locator("h2").nth(1).wait_for(state="attached")  # a large page may still be parsed
    page.wait_for_load_state("load")
    assert page.evaluate(SCROLL_WIDTH) <= width
    red, green, blue = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (red + green + blue < 200) is (scheme == "dark")
    assert complaints == []
    assert requested == [path.as_uri()]


@pytest.mark.parametrize(("name", "typed", "found"), [("demo", "COMA", ["coma"]), ("large", "v222", ["v222"])])
def test_searching_finds_a_variable(
    page: Page, complaints: list[str], folder: Path, name: str, typed: str, found: list[str]
) -> None:
    page.goto(written(name, folder).as_uri())
    nodes, search = page.locator(".node"), page.locator("#search")
    everything = nodes.evaluate_all(NAMES)
    search.press_sequentially(typed)
    assert nodes.evaluate_all(NAMES) == found
    assert page.locator("#found").text_content() == f"1 of {nodes.count()} variables"
    drawn = page.locator(".v.found")
    assert drawn.evaluate_all("all => all.map(each => each.dataset.name)") == found
    box, frame = drawn.bounding_box(), page.locator(".network").bounding_box()
    assert box is not None
    assert frame is not None
    assert frame["x"] <= box["x"] < box["x"] + box["width"] <= frame["x"] + frame["width"]
    assert frame["y"] <= box["y"] < box["y"] + box["height"] <= frame["y"] + frame["height"]
    statements = page.locator(".statements tbody tr").evaluate_all(STATEMENTS)
    assert statements
    assert all(typed.lower() in statement for statement in statements)
    search.fill("no such thing")
    assert nodes.evaluate_all(NAMES) == []
    search.fill("")
    assert nodes.evaluate_all(NAMES) == everything
    assert complaints == []


def test_links_between_statements_and_configurations_lead_to_what_is_folded_away(page: Page, folder: Path) -> None:
    page.goto(written("large", folder).as_uri())
    last = page.locator(".statements tbody tr").last
    assert not last.is_visible()
    page.evaluate("id => { location.hash = id }", last.get_attribute("id"))
    page.wait_for_function(ON_SCREEN, arg=last.element_handle())
    last.locator("a").first.click()
    target = page.evaluate("location.hash.slice(1)")
    assert target.startswith("t")
    page.wait_for_function(ON_SCREEN, arg=page.locator(f"#{target}").element_handle())


@pytest.mark.parametrize("page", [window(DESKTOP, "dark")], indirect=True)
def test_a_report_can_be_printed(page: Page, folder: Path) -> None:
    page.goto(written("demo", folder).as_uri())
    printed = page.pdf(print_background=True, margin=dict.fromkeys(("top", "right", "bottom", "left"), "1cm"))
    assert printed.startswith(b"%PDF")
    assert 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 8
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"


@pytest.mark.parametrize(
    ("fragment", "complaint", "address"),
    [
        ("<script>console.log('spoken')</script>", "log: spoken", None),
        ("<script>console.error('wrong')</script>", "error: wrong", None),
        ("<script>throw new Error('thrown')</script>", "uncaught: thrown", None),
        (f"<img src={ELSEWHERE}/a.png>", "ERR_FAILED", f"{ELSEWHERE}/a.png"),
        (f"<link rel=stylesheet href={ELSEWHERE}/a.css>", "ERR_FAILED", f"{ELSEWHERE}/a.css"),
        (f"<script>fetch('{ELSEWHERE}/a.json')</script>", "uncaught: Failed to fetch", f"{ELSEWHERE}/a.json"),
        ("<script>new WebSocket('ws://elsewhere.invalid/a')</script>", None, "ws://elsewhere.invalid/a"),
    ],
)
def test_a_page_that_misbehaves_is_noticed(
    page: Page,
    complaints: list[str],
    requested: list[str],
    tmp_path: Path,
    fragment: str,
    complaint: str | None,
    address: str | None,
) -> None:
    """The tests above look at these lists alone, so the lists must fill."""
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html><title>Misbehaves</title>{fragment}", encoding="utf-8")
    page.goto(path.as_uri(), wait_until="networkidle")
    if complaint:
        assert any(complaint in each for each in complaints), complaints
    assert requested == [path.as_uri(), *([address] if address else [])]


@pytest.mark.parametrize(
    "page", [window(DESKTOP, "light"), window(PHONE, "light")], ids=["desktop", "phone"], indirect=True
)
def test_a_page_that_is_too_wide_is_noticed(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    viewport = "<meta name=viewport content='width=device-width, initial-scale=1'>"
    path.write_text(f"<!DOCTYPE html>{viewport}<div style='width: 1300px'>wide</div>", encoding="utf-8")
    page.goto(path.as_uri())
    assert page.evaluate(SCROLL_WIDTH) == pytest.approx(1300, abs=20)  # with the margin of the body


def test_numbers_of_configurations_do_not_wrap(page: Page, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["no", "yes"])
    data = pl.DataFrame({name: words[rng.integers(0, 2, 50)] for name in "abcdy"})
    fit = credo.fit("variables a, b, c, d, y: no, yes\ny depends on a, b, c, d\n", data, method="map")
    fit.report(tmp_path / "report.html")
    page.goto((tmp_path / "report.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    counts = page.eval_on_selector_all(".cpt td:first-child", LINES)
    assert len(counts) >= 16
    assert max(counts) == 1
