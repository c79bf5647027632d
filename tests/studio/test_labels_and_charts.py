"""In Chromium: labels wherever somebody reads, single charts as files, and answers that belong to another case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from tests.studio.harness import Tab, show_part, state, write

LABELS = """
label disease: "coronary heart disease", note "as the ward calls it"
label disease=1: "present"
label disease=0: "absent"
label smoker=yes: "smokes"
"""


def test_labels_stand_wherever_somebody_reads(learned_tab: Tab) -> None:
    page = learned_tab.page
    write(page, LABELS)
    expect(state(page, "disease", "present")).to_be_visible()
    page.get_by_role("tab", name="Look").click()
    page.get_by_role("button", name="Explain them").click()
    page.get_by_label("The probabilities of").select_option(label="coronary heart disease")
    cell = page.get_by_role("button", name=re.compile(r"^present .*P\(disease=1 \| .*smoker=yes")).first
    expect(cell).to_be_visible()
    expect(page.locator(".cpt p").filter(has_text="smoker=smokes").first).to_be_visible()
    page.get_by_role("tab", name="Draw").click()
    expect(page.get_by_role("heading", name="States of coronary heart disease")).to_be_visible()
    expect(page.locator(".states-list")).to_contain_text("present")
    expect(page.locator(".arrows")).to_contain_text("smoker → coronary heart disease")
    page.get_by_role("tab", name="Ask").click()
    page.get_by_role("button", name="Most probable explanation").click()
    expect(page.get_by_role("row", name=re.compile("coronary heart disease (absent|present)"))).to_be_visible()
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_role("region", name="Column disease")).to_contain_text("as the ward calls it")
    assert learned_tab.complaints == []


def test_single_charts_are_files(learned_tab: Tab, tmp_path: Path) -> None:
    page = learned_tab.page
    state(page, "ecg", "abnormal").click()
    page.get_by_role("button", name="What is it sensitive to?").click()
    page.locator(".tornado").wait_for()
    for name, words in (("how probable disease is", "ecg is abnormal"), ("sensitivity", "P(")):
        with page.expect_download() as found:
            page.get_by_role("button", name=f"Save as SVG: {name}").click()
        found.value.save_as(tmp_path / "chart.svg")
        text = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        assert words in text
        assert 'xmlns="http://www.w3.org/2000/svg"' in text
        with page.expect_download() as found:
            page.get_by_role("button", name=f"Save as PNG: {name}").click()
        found.value.save_as(tmp_path / "chart.png")
        assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    page.get_by_role("tab", name="Data").click()
    with page.expect_download() as found:
        page.get_by_role("button", name="Save as SVG: histogram of age").click()
    assert found.value.suggested_filename == "histogram-of-age.svg"
    assert learned_tab.complaints == []


@pytest.mark.parametrize("label", ["What is it sensitive to?", "Most probable explanation"])
def test_an_answer_that_comes_late_is_not_waited_for_in_another_case(learned_tab: Tab, label: str) -> None:
    page = learned_tab.page
    waiting: list[Route] = []
    page.route(re.compile("/api/(sensitivity|most-probable)"), lambda route: waiting.append(route))
    page.get_by_role("button", name=label).click()
    for _ in range(100):
        if waiting:
            break
        page.wait_for_timeout(50)
    with page.expect_event("requestfailed") as failed:
        state(page, "ecg", "abnormal").click()
    assert failed.value.url == waiting[0].request.url
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.locator(".panel table.numbers caption")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 1100, 820, 390])
def test_no_panel_makes_the_page_wider_than_the_window(learned_tab: Tab, width: int) -> None:
    page = learned_tab.page
    page.set_viewport_size({"width": width, "height": 800})
    show_part(page, "Answers")
    tabs = page.get_by_role("tablist", name="Answers").get_by_role("tab")
    for tab in tabs.all():
        tab.click()
        box = tab.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert page.evaluate("() => document.scrollingElement.scrollLeft + document.body.scrollLeft") == 0
