"""In Chromium: a network file has its CPTs, its questions and its page to share, before anything is learned."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

import credo
from credo import write_network
from credo.questions.answers import query_network
from credo.sharing.page import share_page
from credo.shipped import example
from tests.studio.harness import DESKTOP, Tab, new_page, opened_tab, state, write


@pytest.fixture
def asia_tab(chromium: Browser, tmp_path: Path) -> Iterator[Tab]:
    shutil.copyfile(example("asia") / "asia.bif", tmp_path / "asia.bif")
    window = {"viewport": {"width": DESKTOP, "height": 800}}
    with opened_tab(chromium, tmp_path.resolve(), window, "asia.bif", None) as tab:
        yield tab


def test_the_cpts_of_a_network_file_are_seen(asia_tab: Tab) -> None:
    page = asia_tab.page
    page.get_by_role("tab", name="Look").click()
    page.get_by_role("combobox", name="The probabilities of").select_option("bronc")
    expect(page.locator(".cpt li")).to_have_count(2)
    expect(page.locator(".cpt li").filter(has_text="smoke=yes")).to_contain_text("60%")
    page.locator(".grid summary").click()
    expect(page.locator(".grid td").first).to_contain_text("now 60%")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the network").click()
    assert "probability" in Path(download.value.path()).read_text(encoding="utf-8")
    assert asia_tab.complaints == []


def test_questions_to_a_network_file_are_answered(asia_tab: Tab) -> None:
    page = asia_tab.page
    page.get_by_role("combobox", name="How probable is").select_option("lung")
    expect(page.get_by_role("radio", name="yes")).to_be_checked()  # from low to high: the file has yes before no
    state(page, "xray", "yes").click()
    page.get_by_role("button", name="What is it sensitive to?").click()
    expect(page.get_by_text(re.compile(r"P\(lung=yes \| xray=yes\) is 49%\."))).to_be_visible()
    page.get_by_role("button", name="Which test next, and what to do?").click()
    expect(page.get_by_text("observe either next")).to_be_visible()
    page.get_by_role("button", name="Most probable explanation").click()
    expect(page.get_by_role("table").filter(has_text="These states together")).to_contain_text("yes (given)")
    assert page.get_by_role("button", name="What should an expert be asked?").count() == 0  # it is about draws
    assert asia_tab.complaints == []


def test_nothing_replaces_the_numbers_of_a_file_by_accident(asia_tab: Tab) -> None:
    page = asia_tab.page
    page.get_by_role("button", name="Learn the numbers from the table and the statements").click()
    expect(page.get_by_text("there is nothing to learn others from")).to_be_visible()
    expect(page.get_by_role("tabpanel").get_by_role("button", name="Learn", exact=True)).to_be_disabled()
    write(page, "smoke raises lung")
    expect(page.get_by_role("tabpanel").get_by_role("button", name="Learn", exact=True)).to_be_enabled()


def test_a_network_file_is_shared_with_the_labels_of_the_text(asia_tab: Tab) -> None:
    page = asia_tab.page
    write(page, 'label dysp: "short of breath"\n')
    expect(page.get_by_role("group", name="Variable dysp")).to_contain_text("short of breath")
    with page.expect_download() as download:
        page.get_by_role("button", name="Share", exact=True).click()
    download.value.save_as(asia_tab.folder / "shared.html")
    shared, complaints = new_page(page.context)
    shared.goto((asia_tab.folder / "shared.html").as_uri())
    expect(shared.get_by_text("A model of how things depend on each other.")).to_be_visible()
    expect(shared.locator(".caution")).to_have_text(re.compile("^A model can be wrong"))  # there is no interval
    expect(shared.get_by_role("combobox", name="What you want to know")).to_contain_text("short of breath")
    answers = shared.evaluate("() => window.credo.answer({ xray: 'yes' })")
    found = next(each[2] for each in answers if each[:2] == ["lung", "yes"])
    network = credo.read_network(asia_tab.folder / "asia.bif")
    assert found == pytest.approx(query_network(network, "P(lung=yes | xray=yes)").probability, abs=1e-9)
    assert complaints == []


def test_learned_numbers_are_seen_before_they_are_explained(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.get_by_role("tab", name="Look").click()
    page.get_by_role("combobox", name="The probabilities of").select_option("ecg")
    expect(page.locator(".cpt li")).to_have_count(2)
    expect(page.locator(".cell").first).to_have_attribute("title", re.compile(r"learned \d+.*95% interval", re.DOTALL))
    expect(page.get_by_role("button", name="Explain them")).to_be_visible()
    assert learned_tab.complaints == []


def test_a_network_that_is_too_large_to_answer_says_so(chromium: Browser, tmp_path: Path) -> None:
    names = [f"v{number}" for number in range(40)]
    network = credo.Network({name: [str(state) for state in range(9)] for name in names}, {"v39": names[:2]})
    cpts = {name: np.full(network.shape(name), 1 / 9) for name in names}
    write_network(network.with_cpts(cpts), tmp_path / "large.bif")
    with opened_tab(chromium, tmp_path.resolve(), {}, "large.bif", None) as tab:
        page = tab.page
        page.route("**/api/marginals", lambda route: route.fulfill(status=422, json={"error": "It is too large."}))
        page.reload()
        expect(page.get_by_role("tabpanel")).to_contain_text("It is too large.")
        assert page.get_by_text("There are no probabilities yet").count() == 0


@pytest.mark.parametrize(("value", "text"), [(0.0472, "4.7%"), (0.953, "95%"), (0.9953, "99.5%"), (0.5, "50%")])
def test_a_shared_page_writes_as_many_digits_as_the_studio(
    chromium: Browser, tmp_path: Path, value: float, text: str
) -> None:
    network = credo.Network({"failure": ["no", "yes"]}, {}).with_cpts({"failure": [1 - value, value]})
    write_network(network, tmp_path / "failure.bif")
    (tmp_path / "page.html").write_text(share_page(network), encoding="utf-8")
    with opened_tab(chromium, tmp_path.resolve(), {}, "failure.bif", None) as tab:
        expect(state(tab.page, "failure", "yes").locator(".number")).to_have_text(text)
        tab.page.goto((tmp_path / "page.html").resolve().as_uri())
        expect(tab.page.locator(".big")).to_have_text(text)


DRAWN_AT = """() => Object.fromEntries([...document.querySelectorAll('.react-flow__node')].map((each) => {
  const { m41, m42 } = new DOMMatrix(getComputedStyle(each).transform);
  return [each.dataset.id, [m41, m42]];
}))"""


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")  # of the order of variables
def test_a_picture_of_another_program_is_shown_as_it_was_drawn(chromium: Browser, tmp_path: Path) -> None:
    network = credo.read_network(example("asia") / "asia.bif")
    write_network(network, tmp_path / "asia.xdsl")
    text = (tmp_path / "asia.xdsl").read_text()
    places = {name: (100 + 90 * (k % 4), 300 - 70 * (k // 4) + 15 * (k % 2)) for k, name in enumerate(network.names)}
    for name, (x, y) in places.items():
        ends = f"<position>{x - 30} {y - 20} {x + 30} {y + 20}</position>"
        text = text.replace(f"<name>{name}</name>", f"<name>{name}</name>{ends}")
    (tmp_path / "asia.xdsl").write_text(text)
    window = {"viewport": {"width": DESKTOP, "height": 800}}
    with opened_tab(chromium, tmp_path.resolve(), window, "asia.xdsl", None) as tab:
        page = tab.page
        expect(page.locator(".react-flow__edge").first).to_be_attached()
        found = page.evaluate(DRAWN_AT)
        assert set(found) == set(places)
        one, other = network.names[0], network.names[3]
        factor = (found[other][0] - found[one][0]) / (places[other][0] - places[one][0])
        for name, (x, _) in places.items():  # boxes of two states are all as wide
            assert found[name][0] - found[one][0] == pytest.approx(factor * (x - places[one][0]), abs=40)
        assert found[network.names[4]][1] < found[one][1]
        page.wait_for_timeout(300)
        box = page.locator(f'.react-flow__node[data-id="{one}"] .name').bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + 10, box["y"] + 10)
        page.mouse.down()
        page.mouse.move(box["x"] - 50, box["y"] + 40, steps=4)
        with page.expect_response("**/api/**"):
            page.mouse.up()
        moved = page.evaluate(DRAWN_AT)
        page.reload()
        expect(page.locator(".react-flow__edge").first).to_be_attached()
        again = page.evaluate(DRAWN_AT)
        for name in places:
            assert again[name] == pytest.approx(moved[name], abs=1.5)
            assert (moved[name] != pytest.approx(found[name], abs=1.5)) == (name == one)
        assert tab.complaints == []
