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


@pytest.mark.parametrize(("value", "text"), [(0.0472, "4.7%"), (0.953, "95.3%"), (0.5, "50%")])
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
