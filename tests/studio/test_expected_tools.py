"""In Chromium: the data with their cut points and rows, named cases, the tornado, tables that sort, words."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from credo.studio.data_view import columns_data
from credo.studio.table import OpenTable
from tests.studio.harness import TABLET, Studio, Tab, show_part, state, write


def test_columns_have_their_counts_missing_values_and_codes(tmp_path: Path) -> None:
    ages = [20.0 + k % 60 for k in range(120)] + [999.0] * 3
    frame = pl.DataFrame({"age": ages, "sex": ["f", "m", None] * 41, "both": ["1", "x", " "] * 41})
    frame.write_csv(tmp_path / "t.csv")
    found = columns_data(OpenTable(tmp_path / "t.csv"))
    age, sex, both = found["columns"]
    assert found["rows"] == 123
    assert age["codes"] == [[999.0, 3]]
    assert sum(age["counts"]) == 120
    assert (age["edges"][0], age["edges"][-1]) == (20.0, 79.0)
    assert sex["missing"] == 41
    assert dict(sex["values"]) == {"f": 41, "m": 41}
    assert both["missing"] == 41
    assert dict(both["values"]) == {"1": 41, "x": 41}


def test_rows_are_asked_for_by_their_numbers(studio: Studio) -> None:
    found = studio.post("/api/rows", {"start": 201}).json()
    assert (found["total"], len(found["rows"])) == (220, 20)
    for wrong in (0, -3, "x", True, 1.5):
        assert studio.post("/api/rows", {"start": wrong}).status_code == 422
    studio.post("/api/open", {"model": "heart.credo"})
    assert "no table" in studio.get("/api/columns").json()["error"]


def test_a_cut_point_is_dragged_and_a_row_becomes_the_case(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_role("region", name="Column ecg")).to_contain_text("missing")
    page.get_by_role("button", name="Row 4 as the case").click()
    expect(page.get_by_role("button", name="Clear evidence (4)")).to_be_visible()  # its ECG is missing
    expect(state(page, "age", "old")).to_have_attribute("aria-pressed", "true")
    cut = page.get_by_role("slider", name="Cut point 1 of age")
    cut.scroll_into_view_if_needed()
    box = cut.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 - 40, box["y"] + 10, steps=4)
    page.mouse.up()
    expect(page.locator(".cm-content")).not_to_contain_text("young < 45")
    expect(page.locator(".cm-content")).to_contain_text(re.compile(r"age: young < 3\d(\.\d)? <= middle < 65 <= old"))
    expect(page.get_by_text("age has other states.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cm-content")).to_contain_text("young < 45")
    page.get_by_role("slider", name="Cut point 2 of age").press("ArrowRight")
    expect(page.locator(".cm-content")).not_to_contain_text("middle < 65 <=")
    assert learned_tab.complaints == []


def test_cases_are_named_kept_and_compared(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.locator(".cases summary").click()
    for name, variable, label in (("Mrs. B", "ecg", "abnormal"), ("Mr. C", "smoker", "no")):
        state(page, variable, label).click()
        page.get_by_label("Keep this case as").fill(name)
        with page.expect_response("**/api/arrange"):
            page.get_by_role("button", name="Keep", exact=True).click()
    page.reload()
    page.locator(".cases summary").click()
    kept = page.get_by_role("list", name="Cases that are kept")
    expect(kept).to_contain_text("ecg is abnormal, smoker is no")
    kept.get_by_label("Mrs. B", exact=True).check()
    kept.get_by_label("Mr. C", exact=True).check()
    table = page.get_by_role("region", name="Cases side by side")
    expect(table.get_by_role("row").nth(2)).to_contain_text(re.compile(r"1.*\d+%.*to.*\d+%"))
    kept.get_by_role("button", name="Show the case Mrs. B").click()
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    kept.get_by_role("button", name="× forget the case Mr. C").click()
    expect(page.locator(".cases summary")).to_have_text("Cases (1)")
    assert learned_tab.complaints == []


def test_a_tornado_shows_what_an_answer_rests_on(learned_tab: Tab) -> None:
    page = learned_tab.page
    state(page, "ecg", "abnormal").click()
    page.get_by_role("button", name="What is it sensitive to?").click()
    widest = re.compile(r"^P\(ecg=\w+ \| disease=0\): ±1?\d\.\d points")
    expect(page.locator(".tornado svg")).to_have_attribute("aria-label", widest)
    assert page.locator(".tornado .more").count() >= 3


def test_a_case_leads_to_a_test_and_a_decision(learned_tab: Tab) -> None:
    page = learned_tab.page
    state(page, "smoker", "yes").click()
    page.get_by_label("How probable is").select_option("disease")
    ask = page.get_by_role("button", name="Which test next, and what to do?")
    ask.click()
    expect(page.get_by_text("Given smoker=yes, observe ecg next", exact=False)).to_be_visible()
    expect(page.get_by_text("For what to do, write a decision", exact=False)).to_be_visible()
    page.get_by_role("button", name="What should an expert be asked?").click()
    page.get_by_label("Of 100 cases").first.fill("5 to 20")
    page.get_by_role("button", name="State it").first.click()
    expect(page.locator(".cm-content")).to_contain_text("is between 0.05 and 0.2")
    assert learned_tab.complaints == []


@pytest.mark.slow
def test_scored_rows_sort_by_any_column(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.get_by_role("button", name="Score every row of patients.csv").click()
    table = page.get_by_role("region", name="Rows of patients.csv, scored")
    table.get_by_role("button", name="age").click()
    place = table.get_by_role("columnheader").all_inner_texts().index("age ▲")
    ages = [float(row.locator("th, td").nth(place).inner_text()) for row in table.get_by_role("row").all()[1:30]]
    assert ages == sorted(ages)


def test_words_are_explained(learned_tab: Tab) -> None:
    term = learned_tab.page.locator(".term", has_text="set by us")
    expect(term).to_have_attribute("title", re.compile("An intervention"))


# The picture, by hand and as a file -----------------------------------------------------------------------------------


def test_the_picture_is_saved_as_svg_and_png(learned_tab: Tab) -> None:
    page = learned_tab.page
    state(page, "ecg", "abnormal").click()
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    page.get_by_label("Save the picture").click()
    with page.expect_download() as svg:
        page.get_by_role("button", name="As SVG", exact=True).click()
    content = Path(svg.value.path()).read_text(encoding="utf-8")
    assert svg.value.suggested_filename == "heart.svg"
    assert all(name in content for name in ("disease", "abnormal", "100%", "<style"))
    with page.expect_download() as png:
        page.get_by_role("button", name="As PNG", exact=True).click()
    data = Path(png.value.path()).read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) > 10_000
    assert learned_tab.complaints == []


def test_a_menu_a_double_click_and_the_delete_key_change_the_network(learned_tab: Tab) -> None:
    page = learned_tab.page
    text = page.locator(".cm-content")
    page.get_by_label(re.compile("^Arrow from disease to ecg")).locator("path").nth(1).dispatch_event(
        "contextmenu", {"bubbles": True, "clientX": 600, "clientY": 400}
    )
    page.get_by_role("menuitem", name="State: disease raises ecg").click()
    expect(text).to_contain_text("disease raises ecg")
    page.get_by_role("group", name="Variable ecg").click(button="right", position={"x": 20, "y": 12})
    menu = page.get_by_role("menu", name="ecg")
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    page.get_by_role("group", name="Variable ecg").click(button="right", position={"x": 20, "y": 12})
    menu.get_by_role("menuitem", name="Delete it").click()
    expect(page.get_by_role("group", name="Variable ecg")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    name = page.get_by_role("group", name="Variable ecg").locator(".name")
    name.focus()
    page.keyboard.press("Delete")
    expect(page.get_by_role("group", name="Variable ecg")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("group", name="Variable ecg")).to_be_visible()
    box = page.locator(".canvas").bounding_box()
    assert box is not None
    page.mouse.dblclick(box["x"] + 30, box["y"] + box["height"] - 120)
    expect(page.get_by_role("form", name="New variable").get_by_label("Name", exact=True)).to_be_focused()
    assert learned_tab.complaints == []


# A CPT to type --------------------------------------------------------------------------------------------------------


def test_numbers_of_a_cpt_become_statements_and_give_way_to_others(studio: Studio) -> None:
    given = {"age": "young", "smoker": "no", "pressure": "normal"}
    rows = [{"given": given, "numbers": {"1": 0.03}}, {"given": {**given, "smoker": "yes"}, "numbers": {"1": 0.125}}]
    text = studio.post("/api/edit", {"op": "cpt_statements", "name": "disease", "rows": rows}).json()["text"]
    assert "P(disease=1 | age=young, smoker=no, pressure=normal) is about 3%" in text
    assert "is at most 5%" not in text  # what the text said about this number before
    assert "P(disease=1 | age=young, smoker=yes, pressure=normal) is about 12.5%" in text
    rows[1]["numbers"] = {"1": 2.0}
    assert studio.post("/api/edit", {"op": "cpt_statements", "name": "disease", "rows": rows}).status_code == 422
    assert studio.post("/api/edit", {"op": "cpt_statements", "name": "disease", "rows": [3]}).status_code == 422


def test_an_experts_numbers_are_worth_cases(studio: Studio) -> None:
    def stated(numbers: dict[str, float], **more: object) -> object:
        rows = [{"given": {"disease": "1"}, "numbers": numbers}]
        request = {"op": "cpt_statements", "name": "ecg", "how": "worth", "cases": 50, "rows": rows, **more}
        return studio.post("/api/edit", request)

    text = stated({"normal": 0.2, "abnormal": 0.8}).json()["text"]
    assert "P(ecg | disease=1) is 80%, 20%, worth 50 cases" in text  # in the order of the states
    studio.change(text)
    text = stated({"abnormal": 0.7}, cases=20).json()["text"]
    assert "P(ecg=abnormal | disease=1) is 70%, worth 20 cases" in text
    assert "worth 50 cases" not in text  # one number, one statement
    assert stated({"abnormal": 0.7}, cases=0).status_code == 422
    age = [{"given": {}, "numbers": {"young": 0.2, "old": 0.3}}]
    assert "or all of them" in stated({}, name="age", rows=age).json()["error"]


def test_a_cpt_is_set_by_sliders_and_weighs_as_an_expert_says(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.get_by_role("combobox", name="How probable is").select_option("ecg")
    page.get_by_role("tab", name="Look").click()
    page.locator(".grid summary").click()
    page.get_by_role("button", name="Explain them").click()
    grid = page.get_by_role("region", name="Numbers of ecg to type")
    expect(grid.get_by_role("cell").first).to_contain_text(re.compile(r"data \d+%.*learned \d+%"))
    grid.get_by_role("textbox").last.focus()
    sliders = page.get_by_role("group", name="disease is 1")
    sliders.get_by_role("slider", name="abnormal").fill("75")
    expect(grid.get_by_role("textbox").last).to_have_value("25")
    page.get_by_label("They hold").select_option("worth")
    page.get_by_label("cases", exact=True).fill("40")
    page.get_by_role("button", name="State 2 numbers").click()
    expect(page.locator(".cm-content")).to_contain_text("P(ecg | disease=1) is 75%, 25%, worth 40 cases")
    assert learned_tab.complaints == []


def test_a_cpt_is_pasted_from_a_spreadsheet(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.get_by_role("combobox", name="How probable is").select_option("ecg")
    page.get_by_role("tab", name="Look").click()
    page.locator(".grid summary").click()
    grid = page.get_by_role("region", name="Numbers of ecg to type")
    first = grid.get_by_role("textbox").first
    first.evaluate(
        """(field) => {
            const data = new DataTransfer();
            data.setData("text", "20\\t80\\r\\n70\\t40\\r\\n");
            field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }"""
    )
    expect(page.get_by_text("those of row 2 make 110.0%")).to_be_visible()
    grid.get_by_role("textbox").last.fill("30")
    page.get_by_role("button", name="State 4 numbers").click()
    expect(page.locator(".cm-content")).to_contain_text("P(ecg=abnormal | disease=1) is about 70%")
    expect(page.get_by_text("The numbers are those of an earlier text or table.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cm-content")).not_to_contain_text("is about 70%")  # one step
    assert learned_tab.complaints == []


EXPERTS = """
expert cardiology: P(disease=1 | age=old, smoker=yes, pressure=high) is at least 30%
expert nurse with reliability 0.7: P(disease=1 | age=old, smoker=yes, pressure=high) is at most 90%
"""


@pytest.mark.parametrize("learned_tab", [{}, TABLET], indirect=True)
def test_experts_stand_side_by_side_with_their_reliability(learned_tab: Tab) -> None:
    page = learned_tab.page
    show_part(page, "Knowledge")
    write(page, EXPERTS)
    show_part(page, "Answers")
    page.get_by_role("tab", name="Experts").click()
    table = page.get_by_role("region", name="Who said what")
    expect(table.get_by_role("columnheader")).to_have_text(
        ["about", re.compile("^cardiology"), re.compile("^nurse.*0.7")]
    )
    said = table.get_by_role("row", name="P(disease=1 | age=old, smoker=yes, pressure=high)").get_by_role("cell")
    expect(said).to_have_text(["is at least 30%", "is at most 90%"])
    page.get_by_role("button", name="Learn", exact=True).or_(
        page.get_by_role("button", name="Learn the numbers from the table and the statements")
    ).first.click()
    page.get_by_role("tab", name="Experts").click()
    expect(table.get_by_role("columnheader").nth(2)).to_contain_text("right in 70% (given)", timeout=120_000)
    expect(table.get_by_role("columnheader").nth(1)).to_contain_text(re.compile(r"right in \d+(\.\d)?% \(\d"))
    expect(said.first).to_contain_text("true with probability")
    assert learned_tab.complaints == []
