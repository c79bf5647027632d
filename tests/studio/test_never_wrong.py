"""In Chromium: numbers that are not those of the present text are never shown as if they were, and nothing is lost."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import credo
from credo.studio.opening import fit_file
from tests.studio.harness import Tab, new_page, opened_tab, state, write

STALE = "The numbers are those of an earlier text or table."


def numbers(page: Page, variable: str) -> list[str]:
    return page.get_by_role("group", name=f"Variable {variable}", exact=True).locator(".state").all_inner_texts()


def test_numbers_stay_with_their_states_and_say_that_they_are_old(learned_tab: Tab) -> None:
    page = learned_tab.page
    expect(state(page, "disease", "1")).to_have_attribute("aria-label", re.compile("%"))
    before = {state(page, "disease", each).get_attribute("title") for each in "01"}
    page.get_by_role("combobox", name="How probable is").select_option("disease")
    page.get_by_role("tab", name="Draw").click()
    page.get_by_role("button", name="↓ move 0 down").click()
    page.get_by_role("button", name="Use these states").click()
    expect(page.get_by_text(STALE)).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("order disease: 1 < 0")
    expect(page.get_by_label("State 1", exact=True)).to_have_value("1")  # Draw and the arrows agree
    assert {state(page, "disease", each).get_attribute("title") for each in "01"} == before
    expect(page.locator(".node.stale").first).to_be_visible()
    page.get_by_role("tab", name="Ask").click()
    expect(page.locator("ul.target")).to_have_css("filter", "grayscale(1)")
    page.reload()
    expect(page.get_by_text(STALE)).to_be_visible()
    expect(state(page, "disease", "1")).to_have_attribute("title", re.compile("%"))
    assert {state(page, "disease", each).get_attribute("title") for each in "01"} == before
    assert learned_tab.complaints == []


def test_undo_after_learning_leaves_no_numbers_under_other_cut_points(learned_tab: Tab) -> None:
    page = learned_tab.page
    line = page.locator(".cm-line", has_text="age: young < 45")
    line.click()
    page.keyboard.press("Home")
    for _ in "age: young < ":
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.insert_text("5")  # 55
    expect(state(page, "age", "young")).to_have_attribute("title", "young")
    page.get_by_role("tab", name="Learn").click()
    page.get_by_text("Options").click()
    page.get_by_role("combobox", name="Method").select_option("cmap")  # the quickest
    page.get_by_role("button", name="Learn again").click()
    expect(state(page, "age", "young")).to_have_attribute("title", re.compile("%"))
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text(STALE)).to_be_visible()
    expect(state(page, "age", "young")).to_have_attribute("title", "young")  # no number of ages below 55


@pytest.mark.slow
def test_learning_again_makes_the_numbers_current(learned_tab: Tab) -> None:
    page = learned_tab.page
    write(page, "disease raises ecg\n")
    expect(page.get_by_role("status").filter(has_text=STALE)).to_contain_text("line 19, “disease raises ecg”")
    page.get_by_role("button", name="Learn again").click()
    expect(page.get_by_text(STALE)).to_have_count(0)
    page.get_by_role("tab", name="Ask").click()
    expect(page.locator("ul.target")).to_have_css("filter", "none")
    expect(page.locator(".node.stale")).to_have_count(0)


def test_what_an_arrow_carried_is_gone_with_it(learned_tab: Tab) -> None:
    page = learned_tab.page
    disease = state(page, "disease", "1")
    expect(disease).to_have_attribute("title", re.compile("%"))
    alone = disease.get_attribute("title") or ""
    state(page, "ecg", "abnormal").click()
    expect(disease).not_to_have_attribute("title", alone)
    page.get_by_role("combobox", name="How probable is").select_option("ecg")
    page.get_by_role("tab", name="Draw").click()
    page.get_by_role("button", name="× remove the arrow from disease to ecg").click()
    expect(disease).to_have_attribute("title", alone)
    expect(state(page, "ecg", "abnormal")).to_have_attribute("title", "abnormal")  # no number
    expect(page.get_by_text("Not used, because it was learned otherwise: ecg")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(disease).not_to_have_attribute("title", alone)
    expect(page.get_by_text(STALE)).to_have_count(0)


def test_answers_go_with_what_they_rest_on(learned_tab: Tab) -> None:
    """An answer of a panel, scored rows and cases side by side, after utilities and an arrow changed."""
    page = learned_tab.page
    lines = "decision treat: no, yes\nutility of disease=1, treat=no is -100\nutility of treat=yes is -10\n"
    write(page, lines)
    expect(page.get_by_text("changed, kept as a draft")).to_be_visible()
    page.locator(".cases summary").click()
    for name in ("nothing", "abnormal"):
        page.get_by_label("Keep this case as").fill(name)
        page.get_by_role("button", name="Keep", exact=True).click()
        page.get_by_role("checkbox", name=name, exact=True).check()
        state(page, "ecg", "abnormal").click()
    compared = page.get_by_role("region", name="Cases side by side").get_by_role("row").nth(2)
    expect(compared).to_have_text(re.compile(r"^1\d+%.*\d+%"))
    page.get_by_role("button", name="Which test next, and what to do?").click()
    page.get_by_role("button", name="Score every row of patients.csv").click()
    decided, scored = page.get_by_text(re.compile("treat=yes is better")), page.get_by_role("region", name="scored")
    expect(decided.first).to_be_visible()
    expect(scored).to_be_visible()
    write(page, "utility of disease=0, treat=yes is -30\n")
    expect(decided).to_have_count(0)
    expect(page.get_by_text(STALE)).to_have_count(0)  # the probabilities are those of before
    page.get_by_role("button", name="Score every row of patients.csv").click()
    expect(scored).to_be_visible()
    page.get_by_role("combobox", name="How probable is").select_option("ecg")
    page.get_by_role("tab", name="Draw").click()
    page.get_by_role("button", name="× remove the arrow from disease to ecg").click()
    page.get_by_role("tab", name="Ask").click()
    page.get_by_role("combobox", name="How probable is").select_option("disease")
    expect(scored).to_have_count(0)
    page.locator(".cases summary").click()
    for name in ("nothing", "abnormal"):
        page.get_by_role("checkbox", name=name, exact=True).check()
    expect(page.get_by_text("ecg: learned otherwise, or gone")).to_be_visible()
    expect(compared).to_have_text(re.compile(r"^1\d+%\d+% to \d+%–$"))


def test_a_cpt_of_other_parents_or_cut_points_is_not_shown(learned_tab: Tab) -> None:
    page, opened = learned_tab.page, learned_tab.session.require_opened()
    rows = [
        {"label": "", "index": index, "given": {"disease": value}, "observations": 9, "data": None, "lowest": None}
        | {"highest": None, "learned": [number, 1 - number], "low": None, "high": None, "changed_by": []}
        for index, (value, number) in enumerate((("0", 0.13), ("1", 0.9)))
    ]
    opened.explanation = {"summary": [], "notes": [], "statements": [], "next": [], "cpts": {"ecg": rows}}
    page.reload()
    page.get_by_role("tab", name="Look").click()
    page.get_by_role("combobox", name="The probabilities of").select_option("ecg")
    page.locator(".grid summary").click()
    expect(page.locator(".cpt")).to_be_visible()
    expect(page.locator(".grid td").first).to_contain_text("learned 13")
    text = page.locator(".cm-content")
    text.get_by_text("ecg depends on disease").click()
    page.keyboard.press("End")
    page.keyboard.insert_text(", smoker")
    expect(page.get_by_text("ecg was learned with other states, cut points or parents")).to_be_visible()
    expect(page.locator(".cpt")).to_have_count(0)
    expect(page.locator(".grid")).not_to_contain_text("learned 13")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator(".cpt")).to_be_visible()


def test_another_tab_sees_at_once_what_was_changed(learned_tab: Tab) -> None:
    page = learned_tab.page
    other, complaints = new_page(page.context)
    other.goto(learned_tab.address)
    other.locator(".cases summary").click()
    page.locator(".cases summary").click()
    write(page, "variable fever: no, yes\nfever depends on disease\n")
    for each in (page, other):
        expect(each.get_by_role("group", name="Variable fever", exact=True)).to_be_visible()
        expect(each.get_by_role("status").filter(has_text=STALE)).to_contain_text("fever is new.")
    for each, name in ((page, "mine"), (other, "hers")):
        each.get_by_label("Keep this case as").fill(name)
        each.get_by_role("button", name="Keep", exact=True).click()
        expect(each.get_by_role("list", name="Cases that are kept")).to_contain_text(name)
    for each in (page, other):
        expect(each.locator(".cases summary")).to_have_text("Cases (2)")
    assert complaints == []


def test_files_that_another_program_writes_are_noticed(learned_tab: Tab) -> None:
    page, table = learned_tab.page, learned_tab.folder / "patients.csv"
    page.get_by_role("tab", name="Data").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("220 rows")
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(lines[:-20]), encoding="utf-8")
    expect(page.get_by_role("status").filter(has_text=STALE)).to_contain_text("patients.csv changed.")
    expect(page.get_by_role("tabpanel")).to_contain_text("200 rows")
    table.write_text("".join(lines), encoding="utf-8")
    expect(page.get_by_text(STALE)).to_have_count(0)


def test_what_another_program_writes_to_the_text_is_taken_in_or_said(learned_tab: Tab) -> None:
    page, path = learned_tab.page, learned_tab.folder / "heart.credo"
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("# What is known", "# What is known 🙂, by Ana"), "utf-8")
    expect(page.locator(".cm-content")).to_contain_text("# What is known 🙂, by Ana")
    expect(page.locator(".saved")).to_have_text("saved")
    assert page.get_by_text(STALE).count() == 0
    write(page, "smoker raises ecg\n")
    expect(page.locator(".saved")).to_have_text("changed, kept as a draft")
    path.write_text(before, "utf-8")
    expect(page.get_by_role("alert")).to_contain_text("Another program wrote to heart.credo as well.")
    expect(page.locator(".cm-content")).to_contain_text("by Ana")
    assert learned_tab.complaints == []


def test_a_table_that_is_gone_is_named(learned_tab: Tab) -> None:
    page = learned_tab.page
    (learned_tab.folder / "patients.csv").rename(learned_tab.folder / "elsewhere.csv")
    gone = page.get_by_role("status").filter(has_text=STALE)
    expect(gone).to_contain_text("patients.csv: There is no such file.")
    expect(gone).not_to_contain_text(str(learned_tab.folder))


def test_a_text_that_the_table_does_not_fit_says_so_after_a_reload(learned_tab: Tab) -> None:
    page = learned_tab.page
    expect(page.locator(".mark.contradicted")).to_have_count(1)
    write(page, "variable smoker: never, always\n")
    problem = page.get_by_text(re.compile("is not a state of smoker")).first
    expect(problem).to_be_visible()
    expect(page.locator(".mark.contradicted")).to_have_count(0)  # it is about another text
    page.reload()
    expect(page.get_by_text("The network cannot be shown until this is mended.")).to_be_visible()
    expect(page.locator(".mark.contradicted")).to_have_count(0)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    for _ in range(2):
        page.keyboard.press("Backspace")
    for _ in "variable smoker: never, always":
        page.keyboard.press("Backspace")
    expect(state(page, "disease", "1")).to_have_attribute("title", re.compile("%"))
    expect(page.locator(".mark.contradicted")).to_have_count(1)


def test_a_network_file_that_changes_is_read_again(chromium: Browser, tmp_path: Path) -> None:
    network = credo.Network({"a": ["no", "yes"]}, {})
    credo.write_network(network.with_cpts({"a": [0.5, 0.5]}), tmp_path / "small.bif")
    with opened_tab(chromium, tmp_path.resolve(), {}, "small.bif", None) as tab:
        expect(state(tab.page, "a", "yes")).to_have_attribute("title", "yes 50%")
        credo.write_network(network.with_cpts({"a": [0.25, 0.75]}), tmp_path / "small.bif")
        expect(state(tab.page, "a", "yes")).to_have_attribute("title", "yes 75%")


def test_impossible_evidence_leaves_no_numbers(chromium: Browser, tmp_path: Path) -> None:
    cpts = {"a": [0.5, 0.5], "b": [[1.0, 0.0], [0.5, 0.5]]}
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"], "c": ["x", "y"]}, {"b": ["a"]})
    credo.write_network(network.with_cpts({**cpts, "c": [0.3, 0.7]}), tmp_path / "small.bif")
    with opened_tab(chromium, tmp_path.resolve(), {}, "small.bif", None) as tab:
        page = tab.page
        expect(state(page, "c", "y")).to_have_attribute("title", "y 70%")
        state(page, "a", "no").click()
        state(page, "b", "yes").click()
        expect(page.get_by_role("alert")).to_contain_text("probability zero")
        expect(state(page, "c", "y")).to_have_attribute("title", "y")
        state(page, "b", "yes").click()
        expect(state(page, "c", "y")).to_have_attribute("title", "y 70%")


def test_evidence_and_places_are_there_after_a_reload(learned_tab: Tab) -> None:
    page = learned_tab.page
    state(page, "ecg", "abnormal").click()
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    box = page.locator('.react-flow__node[data-id="smoker"]')
    handle = box.locator(".name").bounding_box()
    assert handle is not None
    page.mouse.move(handle["x"] + 20, handle["y"] + 10)
    page.mouse.down()
    page.mouse.move(handle["x"] + 60, handle["y"] + 60, steps=5)
    with page.expect_response("**/api/arrange"):
        page.mouse.up()
    place = box.evaluate("(each) => each.style.transform")
    page.reload()
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    expect(state(page, "ecg", "abnormal")).to_have_attribute("aria-pressed", "true")
    assert box.evaluate("(each) => each.style.transform") == place
    assert (learned_tab.folder / "heart.studio.json").exists()


def test_a_file_that_changed_meanwhile_is_merged_or_kept(tab: Tab) -> None:
    page, path = tab.page, tab.folder / "heart.credo"
    write(page, "disease raises ecg\n")
    expect(page.get_by_text("changed, kept as a draft")).to_be_visible()
    path.write_text(path.read_text(encoding="utf-8").replace("# What is known", "# What is known, by Ana"), "utf-8")
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog", name="heart.credo changed meanwhile")
    expect(dialog).to_contain_text("# What is known, by Ana")
    assert "disease raises ecg" not in path.read_text(encoding="utf-8")
    dialog.get_by_role("button", name="Merge both, and save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    text = path.read_text(encoding="utf-8")
    assert "disease raises ecg" in text
    assert "by Ana" in text
    # The other way: both are kept.
    write(page, "# mine\n")
    expect(page.get_by_text("changed, kept as a draft")).to_be_visible()
    path.write_text(text + "# theirs\n", "utf-8")
    page.keyboard.press("Control+s")
    dialog.get_by_role("button", name="Save as").click()
    expect(page.locator(".files")).to_contain_text("heart-2.credo")
    assert path.read_text(encoding="utf-8") == text + "# theirs\n"
    assert "# mine" in (tab.folder / "heart-2.credo").read_text(encoding="utf-8")
    assert tab.complaints == []


def test_names_that_objects_have_already(chromium: Browser, tmp_path: Path) -> None:
    names = ["constructor", "__proto__", "toString"]
    states = ["hasOwnProperty", "__proto__"]
    network = credo.Network(dict.fromkeys(names, states), {"__proto__": ["constructor"], "toString": ["__proto__"]})
    cpts = {"constructor": [0.25, 0.75], "__proto__": [[0.9, 0.1], [0.2, 0.8]], "toString": [[0.6, 0.4], [0.3, 0.7]]}
    credo.write_network(network.with_cpts(cpts), tmp_path / "odd.bif")
    with opened_tab(chromium, tmp_path.resolve(), {}, "odd.bif", None) as tab:
        page = tab.page
        expect(state(page, "constructor", "__proto__")).to_have_attribute("title", "__proto__ 75%")
        expect(page.get_by_role("button", name=re.compile("Clear evidence"))).to_have_count(0)
        state(page, "__proto__", "__proto__").click()
        expect(state(page, "toString", "__proto__")).to_have_attribute("title", "__proto__ 70%")
        expect(state(page, "constructor", "__proto__")).to_have_attribute("title", "__proto__ 96%")
        page.get_by_role("button", name="Clear evidence (1)").click()
        expect(state(page, "constructor", "__proto__")).to_have_attribute("title", "__proto__ 75%")
        assert tab.complaints == []


def test_a_fit_that_was_left_over_is_not_shown_for_a_network(
    chromium: Browser, tmp_path: Path, heart_fit: Path
) -> None:
    credo.write_network(credo.load(heart_fit).network.with_cpts({"smoker": [0.2, 0.8]}), tmp_path / "heart.bif")
    shutil.copyfile(heart_fit, fit_file(tmp_path / "heart.credo"))
    with opened_tab(chromium, tmp_path.resolve(), {}, "heart.bif", None) as tab:
        expect(state(tab.page, "smoker", "yes")).to_have_attribute("title", "yes 80%")
        expect(tab.page.get_by_text("heart.studio.fit were learned from something else")).to_be_visible()


@pytest.mark.slow
def test_half_a_line_is_left_out_of_what_is_learned_and_named(tab: Tab) -> None:
    page = tab.page
    write(page, "smoker rai")
    expect(page.locator(".mistakes")).to_be_visible()
    page.get_by_role("button", name="Learn the numbers from the table and the statements").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Without line 19, “smoker rai”, which has a mistake.")


# Sharing --------------------------------------------------------------------------------------------------------------


def test_a_page_to_share_is_that_of_the_present_numbers(learned_tab: Tab) -> None:
    page = learned_tab.page
    with page.expect_download() as download:
        page.get_by_role("button", name="Share", exact=True).click()
    assert download.value.suggested_filename == "heart.html"
    content = Path(download.value.path()).read_text(encoding="utf-8")
    assert "How probable is" in content
    write(page, "disease raises ecg\n")
    expect(page.get_by_text(STALE)).to_be_visible()
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_disabled()
    assert learned_tab.complaints == []
