"""The picture of a network in a browser: it can be enlarged, moved, searched, and read without a script."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page

from credo import Network
from credo.drawing.network_boxes import Bar
from credo.drawing.network_svg import network_svg
from credo.report.html import document, figure
from credo.testing import alarm_like_network, andes_like_network

FRAME = ".network"
WIDTH = "document.querySelector('.network svg').getBoundingClientRect().width"
SCROLLED = "[document.querySelector('.network').scrollLeft, document.querySelector('.network').scrollTop]"
NETWORKS = {37: alarm_like_network(), 223: andes_like_network()}
PHONE = {"viewport": {"width": 390, "height": 800}, "is_mobile": True, "has_touch": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


def written(variables: int, folder: Path) -> str:
    """The address of a page with the picture of a network of this size, and a section for each variable."""
    path = folder / f"{variables}.html"
    if not path.exists():
        network = NETWORKS[variables]
        links = {name: f"#t{place}" for place, name in enumerate(network.names)}
        sections = (f'<section class="node" id="t{place}" data-name="v"></section>' for place in range(len(network)))
        parts = [figure(network_svg(network, bars_of(network), links=links), "The caption.", kind="network"), *sections]
        path.write_text(document("The network", parts), encoding="utf-8")
    return path.as_uri()


def bars_of(network: Network) -> dict[str, list[Bar]]:
    """As probable as their states are many."""
    return {
        name: [Bar(state, 1 / len(network.states(name))) for state in network.states(name)] for name in network.names
    }


def test_buttons_and_keys_change_the_size_and_move_the_picture(page: Page, complaints: list[str], folder: Path) -> None:
    page.goto(written(37, folder))
    first = page.evaluate(WIDTH)
    page.get_by_role("button", name="larger").click()
    assert page.evaluate(WIDTH) == pytest.approx(1.25 * first, rel=0.01)
    page.get_by_role("button", name="smaller").click()
    page.get_by_role("button", name="smaller").click()
    assert page.evaluate(WIDTH) == pytest.approx(first / 1.25, rel=0.01)
    page.get_by_role("button", name="as large as those of the page").click()
    natural = float(page.locator(".network svg").get_attribute("width") or 0)
    assert page.evaluate(WIDTH) == pytest.approx(natural)
    frame = page.locator(FRAME)
    frame.focus()
    for _ in range(4):
        page.keyboard.press("+")
    assert page.evaluate(WIDTH) == pytest.approx(1.25**4 * natural, rel=0.01)
    left, top = page.evaluate(SCROLLED)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert page.evaluate(SCROLLED) == [left + 80, top + 80]
    page.keyboard.press("-")
    assert page.evaluate(WIDTH) == pytest.approx(1.25**3 * natural, rel=0.01)
    page.keyboard.press("0")
    assert page.evaluate(WIDTH) <= frame.evaluate("each => each.clientWidth")
    assert complaints == []


@pytest.mark.parametrize("variables", NETWORKS)
def test_every_variable_is_labelled_at_first_sight(page: Page, folder: Path, variables: int) -> None:
    page.goto(written(variables, folder))
    labels = page.locator(".v").evaluate_all(
        "all => all.map(v => [...v.querySelectorAll('text')].filter(t => t.getBoundingClientRect().height).map(t => "
        "[t.textContent, t.getBoundingClientRect().height, t.getBoundingClientRect().width, "
        "v.querySelector('.x').getBoundingClientRect().width])[0])"
    )
    assert [text for text, *_ in labels] == list(NETWORKS[variables].names)
    assert min(height for _, height, *_ in labels) > 6  # pixels
    assert all(width < room for _, _, width, room in labels)
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]  # type: ignore[index]


def test_a_click_leads_to_the_section_of_a_variable_and_dragging_moves(page: Page, folder: Path) -> None:
    page.goto(written(37, folder))
    for _ in range(3):
        page.get_by_role("button", name="larger").click()
    frame = page.locator(FRAME)
    frame.evaluate("each => each.scrollTo(200, 100)")
    box = page.locator(".v .x").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect()).map(r => [r.x + r.width / 2, r.y + r.height / 2])"
        ".find(([x, y]) => x > 400 && x < 900 && y > 300 && y < 700)"
    )
    page.mouse.move(*box)
    page.mouse.down()
    page.mouse.move(box[0] - 60, box[1] - 40, steps=4)
    page.mouse.up()
    assert page.evaluate(SCROLLED) == [260, 140]
    assert page.evaluate("location.hash") == ""  # dragging a box is no click on it
    page.mouse.click(box[0] - 60, box[1] - 40)
    assert page.evaluate("location.hash").startswith("#t")


def test_a_variable_under_the_pointer_stands_out_with_its_neighbours(page: Page, folder: Path) -> None:
    page.goto(written(37, folder))
    network = NETWORKS[37]
    child = next(name for name in network.names if len(network.parents[name]) >= 2)
    page.locator(f'.v[data-name="{child}"]').hover()
    near = set(page.locator(".v.near").evaluate_all("all => all.map(each => each.dataset.name)"))
    children = {name for name in network.names if child in network.parents[name]}
    assert near == {child, *network.parents[child], *children}
    assert page.locator("path.near").count() == len(near) - 1


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_two_fingers_enlarge_the_picture(page: Page, complaints: list[str], folder: Path) -> None:
    page.goto(written(37, folder))
    first = page.evaluate(WIDTH)
    page.locator(FRAME).evaluate(
        """frame => {
            const box = frame.getBoundingClientRect();
            const at = (identifier, x) => new Touch(
                {identifier, target: frame, clientX: box.left + x, clientY: box.top + 50});
            const send = (kind, one, other) => frame.dispatchEvent(
                new TouchEvent(kind, {touches: [at(0, one), at(1, other)], bubbles: true, cancelable: true}));
            send("touchstart", 100, 200);
            send("touchmove", 50, 250);
        }"""
    )
    assert page.evaluate(WIDTH) == pytest.approx(2 * first, rel=0.01)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert complaints == []


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_the_picture_is_readable_and_scrolls(page: Page, folder: Path) -> None:
    page.goto(written(223, folder))
    drawn = page.locator(".network svg").bounding_box()
    frame = page.locator(FRAME).bounding_box()
    assert drawn is not None
    assert frame is not None
    assert drawn["width"] == float(page.locator(".network svg").get_attribute("width") or 0)
    assert frame["width"] < 1280 < drawn["width"]
    assert page.locator(".tools").count() == 0
    name = page.locator(".v .n").first
    assert name.is_visible()
    assert (name.bounding_box() or {})["height"] > 10
