"""In Chromium: groups that fold, the neighbourhood of a variable, key numbers from afar, panels that move, labels."""

from __future__ import annotations

import re
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

import credo
from credo import write_network
from credo.interrupts import StoppedError, stop_if_asked, stopped_by
from credo.studio import asking, session
from credo.testing import made_up_network
from tests.studio.harness import Studio, Tab, opened_tab, state, wait_for, write


def width(page: Page, part: str) -> float:
    box = page.locator(part).bounding_box()
    assert box is not None
    return box["width"]


def test_a_group_of_the_text_is_folded_and_stays_so(learned_tab: Tab) -> None:
    page = learned_tab.page
    write(page, "group risks: age, smoker, pressure\n")
    page.get_by_role("button", name="Fold the group risks, with smoker").click()
    folded = page.get_by_role("group", name="Group risks, folded")
    expect(folded).to_contain_text("3 variables")
    expect(page.get_by_role("group", name="Variable smoker")).to_have_count(0)
    expect(page.get_by_role("group", name="Variable disease")).to_be_visible()
    assert page.get_by_text("The numbers are those of an earlier text").count() == 0  # a group changes no number
    page.reload()
    folded.get_by_role("button").click()
    expect(page.get_by_role("group", name="Variable smoker")).to_be_visible()
    assert learned_tab.complaints == []


def test_labels_are_shown_everywhere(learned_tab: Tab) -> None:
    page = learned_tab.page
    write(page, 'label disease=1: "present"\nlabel disease: "coronary disease", source "the ward"\n')
    expect(page.get_by_role("group", name="Variable disease")).to_contain_text("coronary disease")
    expect(page.get_by_role("group", name="Variable disease")).to_contain_text("present")
    expect(page.get_by_role("tabpanel")).to_contain_text("present")
    option = page.get_by_role("combobox", name="How probable is").locator("option", has_text="coronary disease")
    expect(option).to_have_count(1)
    page.get_by_label("What is known about disease", exact=True).select_option(label="present")
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()


def test_only_the_neighbours_of_a_variable(chromium: Browser, tmp_path: Path) -> None:
    parents = {f"v{k}": [f"v{k - 1}"] for k in range(1, 30)}
    network = credo.Network({f"v{k}": ["no", "yes"] for k in range(30)}, parents)
    cpts = {name: [[0.7, 0.3], [0.2, 0.8]] if name in parents else [0.5, 0.5] for name in network.names}
    write_network(network.with_cpts(cpts), tmp_path / "chain.bif")
    with opened_tab(chromium, tmp_path.resolve(), {}, "chain.bif", None) as tab:
        page = tab.page
        write(page, 'label v20: "the twentieth"\n')
        expect(page.get_by_role("group", name="Variable v20", exact=True)).to_contain_text("the twentieth")
        page.get_by_label("Find a variable in the network").fill("twentieth")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Only around the twentieth").wait_for()
        page.get_by_role("combobox", name="How probable is").select_option("v10")
        page.get_by_role("button", name="Only around v10").click()
        boxes = page.get_by_role("group", name=re.compile("^Variable"))
        expect(boxes).to_have_count(3)
        page.get_by_label("Steps around v10").select_option("2")
        expect(boxes).to_have_count(5)
        state(page, "v9", "yes").click()
        expect(state(page, "v10", "yes")).to_have_attribute("title", "yes 80%")
        page.get_by_role("button", name="Show all").click()
        expect(boxes).to_have_count(30)
        fill = page.get_by_role("group", name="Variable v10", exact=True).locator(".key-fill")  # a bar, however far
        expect(fill).to_have_attribute("style", "width: 80%;")
        assert tab.complaints == []


def test_panels_are_resized_put_away_and_remembered(learned_tab: Tab) -> None:
    page = learned_tab.page
    before = width(page, ".know")
    page.get_by_role("separator", name="Width of the knowledge").press("ArrowRight")
    assert width(page, ".know") > before
    grip = page.get_by_role("separator", name="Width of the answers").bounding_box()
    assert grip is not None
    answers = width(page, ".answers")
    page.mouse.move(grip["x"] + 6, 300)
    page.mouse.down()
    page.mouse.move(grip["x"] - 94, 300, steps=4)
    page.mouse.up()
    assert width(page, ".answers") == pytest.approx(answers + 100, abs=8)
    page.get_by_role("button", name="Put the knowledge away").click()
    page.get_by_role("button", name="Put the answers away").click()
    assert width(page, ".network") == pytest.approx(1280, abs=2)
    page.reload()
    page.get_by_role("button", name="Show the knowledge").click()
    expect(page.locator(".cm-content")).to_be_visible()
    assert learned_tab.complaints == []


def test_arrows_are_as_wide_as_their_influence(learned_tab: Tab) -> None:
    page = learned_tab.page
    strong = page.get_by_label(re.compile("Arrow from disease to ecg: raises")).locator("path").first
    weak = page.get_by_label(re.compile("Arrow from age to pressure: raises")).locator("path").first
    width_of = "(path) => parseFloat(getComputedStyle(path).strokeWidth)"
    assert weak.evaluate(width_of) < strong.evaluate(width_of)


def test_where_intervals_take_long_the_answer_comes_first(learned: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"evidence": {"ecg": "abnormal"}}
    whole = learned.post("/api/marginals", given).json()
    assert "rough" not in learned.post("/api/marginals", {**given, "quick": True}).json()
    monkeypatch.setattr(asking, "QUICK_CELLS", 10)
    rough = learned.post("/api/marginals", {**given, "quick": True}).json()
    assert rough["rough"]
    assert rough["bars"]["disease"]["1"][1:] == [None, None]
    assert rough["bars"]["disease"]["1"][0] == pytest.approx(whole["bars"]["disease"]["1"][0], abs=0.05)
    assert learned.post("/api/marginals", given).json() == whole


def test_intervals_follow_and_can_be_stopped(learned_tab: Tab, monkeypatch: pytest.MonkeyPatch) -> None:
    page = learned_tab.page
    monkeypatch.setattr(asking, "QUICK_CELLS", 10)
    disease = state(page, "disease", "1")
    expect(disease).to_have_attribute("title", re.compile("95% interval"))
    state(page, "ecg", "abnormal").click()
    expect(disease).to_have_attribute("title", re.compile("95% interval"))  # they follow
    page.route(
        "**/api/marginals", lambda route: route.continue_() if "quick" in (route.request.post_data or "") else None
    )
    state(page, "smoker", "yes").click()
    expect(page.get_by_text("Computing the intervals …")).to_be_visible()
    expect(disease).not_to_have_attribute("title", re.compile("95% interval"))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("Computing the intervals …")).to_have_count(0)


class Endless:
    """What takes for ever, until nobody waits for it."""

    def __init__(self) -> None:
        self.begun = self.ended = 0

    def __call__(self, *_: Any) -> dict[str, Any]:
        self.begun += 1
        try:
            while True:
                stop_if_asked()
                sleep(0.01)
        finally:
            self.ended += 1


@pytest.mark.parametrize(
    ("button", "function"),
    [
        ("What is it sensitive to?", "sensitivity_data"),
        ("Which test next, and what to do?", "next_data"),
        ("What should an expert be asked?", "questions_data"),
        ("Score every row of patients.csv", "scored_table"),
    ],
)
def test_what_takes_long_says_so_and_ends_when_it_is_stopped(
    learned_tab: Tab, monkeypatch: pytest.MonkeyPatch, button: str, function: str
) -> None:
    page, endless = learned_tab.page, Endless()
    monkeypatch.setattr(session, function, endless)
    computing = page.get_by_role("tabpanel").get_by_text("Computing …")
    page.get_by_role("button", name=button).click()
    expect(computing).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(computing).to_have_count(0)
    wait_for(lambda: endless.ended == 1)
    page.get_by_role("button", name=button).click()
    wait_for(lambda: endless.begun == 2)
    page.reload()
    wait_for(lambda: endless.ended == 2)


def test_a_question_that_is_not_asked_any_more_is_not_computed(
    learned_tab: Tab, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, endless, answering = learned_tab.page, Endless(), session.bars_data

    def slow_at_first(opened: Any, request: Any) -> Any:
        return endless() if request["evidence"] == {"ecg": "abnormal"} else answering(opened, request)

    monkeypatch.setattr(session, "bars_data", slow_at_first)
    state(page, "ecg", "abnormal").click()
    expect(page.get_by_text("Computing …")).to_be_visible()
    state(page, "smoker", "yes").click()
    expect(page.get_by_text("Computing …")).to_have_count(0)
    expect(page.get_by_role("button", name="Clear evidence (2)")).to_be_visible()
    expect(state(page, "disease", "1")).to_have_attribute("title", re.compile("%"))
    assert endless.begun == endless.ended == 1


def test_an_exact_answer_ends_within_a_step(learned: Studio) -> None:
    fit, steps = learned.session.require_fit(), iter([False, False, True])
    with stopped_by(lambda: next(steps)), pytest.raises(StoppedError):
        fit.marginals()


@pytest.mark.slow
def test_a_network_of_three_hundred_variables_answers(chromium: Browser, tmp_path: Path) -> None:
    network = made_up_network(300, (2, 3), (0.05, 0.9, 0.05), seed=3)
    write_network(network, tmp_path / "large.bif")
    with opened_tab(
        chromium, tmp_path.resolve(), {"viewport": {"width": 1280, "height": 800}}, "large.bif", None
    ) as tab:
        page = tab.page
        expect(page.locator(".far-names span").first).to_be_visible()
        name = network.names[150]
        page.get_by_label("Find a variable in the network").fill(name)
        page.keyboard.press("Enter")
        expect(page.get_by_role("group", name=f"Variable {name}", exact=True)).to_be_visible()
        with page.expect_response("**/api/marginals") as answer:
            state(page, name, network.states(name)[0]).click()
        assert answer.value.ok
        expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
        assert tab.complaints == []
