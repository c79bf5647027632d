"""Each step of the studio with keys alone, in Chromium: the focus is seen throughout, and never lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from credo import write_network
from credo.testing import made_up_network
from tests.studio.harness import CONFLICT, TABLET, Tab, opened_tab, state, wait_for
from tests.studio.keyboard import Keyboard

WINDOW = {"viewport": {"width": 1280, "height": 800}}
IS_INSIDE = """() => {
  const own = document.activeElement.getBoundingClientRect();
  const all = document.querySelector('.canvas').getBoundingClientRect();
  return own.left >= all.left && own.right <= all.right && own.top >= all.top && own.bottom <= all.bottom;
}"""


def saved_text(tab: Tab) -> str:
    return tab.session.require_opened().document.text


def viewport(page: Page) -> str:
    return str(page.locator(".react-flow__viewport").evaluate("(each) => each.style.transform"))


def edit_at_the_end(page: Page, keys: Keyboard, text: str) -> None:
    keys.part(page.locator(".cm-content"))
    keys.press("Control+End")
    keys.type(text)


# Learn and look -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_learning_with_options_and_cancelling(tab: Tab) -> None:
    page, keys = tab.page, Keyboard(tab.page)
    keys.panel("Learn")
    keys.use(page.locator("summary", has_text="Options"))
    keys.choose(page.get_by_label("Method"), "posterior")
    keys.to(page.get_by_label("Prior"))
    keys.type("k2")
    keys.to(page.get_by_label("Seed"))
    keys.press("ArrowUp")
    keys.use(page.get_by_label("Leave out rows with missing values"), "Space")
    expect(page.get_by_label("Leave out rows")).to_be_checked()
    keys.back_to(page.get_by_role("button", name="Learn", exact=True))
    keys.press("Enter")
    keys.is_seen()  # the button is gone: the panel has the focus
    keys.use(page.get_by_role("button", name="Cancel"))
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    keys.is_seen()
    keys.use(page.get_by_role("button", name="Learn", exact=True))
    expect(page.get_by_text("with the method “posterior”")).to_be_visible()
    expect(state(page, "disease", "1")).to_have_attribute("aria-label", re.compile("95% interval"))
    keys.is_seen()
    assert tab.complaints == []


@pytest.mark.slow
def test_a_cpt_its_bounds_what_statements_did_and_the_report(learned_tab: Tab) -> None:
    page, keys = learned_tab.page, Keyboard(learned_tab.page)
    keys.panel("Look")
    keys.use(page.get_by_role("button", name="Explain them"))
    expect(page.get_by_text("What to observe next")).to_be_visible()
    keys.is_seen()
    report = page.get_by_role("link", name="Download the report")
    report.wait_for()
    with page.expect_download() as download:
        keys.use(report)
    assert "<html" in Path(download.value.path()).read_text(encoding="utf-8")
    keys.choose(page.get_by_label("Kind of network file"), ".xdsl")
    keys.back_to(page.get_by_role("link", name="Download the network"))
    with page.expect_download() as download:
        keys.press("Enter")
    assert download.value.suggested_filename == "learned.xdsl"
    assert Path(download.value.path()).read_bytes().startswith(b"<?xml")
    expect(page.get_by_text("learned.xdsl: XDSL has parents before children")).to_be_visible()
    keys.choose(page.get_by_label("The probabilities of"), "disease")
    # One press of the Tab key leads into the CPT, the arrow keys go through it, and the next press out of it.
    keys.press("Tab")
    expect(page.locator(".cell").first).to_be_focused()
    wanted = page.get_by_role("button", name=re.compile(r"P\(disease=1 \| age=young, smoker=yes, pressure=normal\)"))
    keys.to(wanted, "ArrowDown")
    keys.press("Enter")
    least = page.get_by_role("slider", name="at least")
    expect(least).to_be_focused()
    keys.press("Escape")
    expect(wanted).to_be_focused()
    keys.press("Enter")
    expect(least).to_be_focused()
    keys.press("Home", *["ArrowRight"] * 3, "Tab", "Home", *["PageUp"] * 2, "Tab")
    keys.use(page.get_by_role("button", name="State these bounds"))
    made = "P(disease=1 | age=young, smoker=yes, pressure=normal) is between 3%"
    wait_for(lambda: made in saved_text(learned_tab))
    keys.is_seen()
    keys.to(page.get_by_role("spinbutton", name="or about"))
    keys.press("Control+a")
    keys.type("25")
    keys.use(page.get_by_role("button", name="State it", exact=True))
    wait_for(lambda: "P(disease=1 | age=young, smoker=yes, pressure=normal) is about 25%" in saved_text(learned_tab))
    keys.use(page.get_by_role("button", name="12: age raises disease"))  # in what each statement did
    expect(page.locator(".cm-content")).to_be_focused()
    expect(page.locator(".cm-activeLine")).to_have_text("age raises disease")
    assert learned_tab.complaints == []


# Know -----------------------------------------------------------------------------------------------------------------


def test_a_mistake_is_corrected_and_a_conflict_resolved_with_keys(tab: Tab) -> None:
    page, keys = tab.page, Keyboard(tab.page)
    edit_at_the_end(page, keys, f"smokr raises disease\n{CONFLICT}\n")
    keys.use(page.get_by_role("button", name="Write: smoker raises disease"))
    expect(page.get_by_role("list", name="Mistakes")).to_have_count(0)
    expect(page.get_by_role("region", name="What was found about the statements")).to_be_focused()
    keys.use(page.get_by_role("button", name=re.compile("leave this one out: line 20 of conflict")))
    expect(page.get_by_role("list", name="Conflicts")).to_have_count(0)
    assert f"# left out: {CONFLICT}" in saved_text(tab)
    expect(page.get_by_role("region", name="What was found about the statements")).to_be_focused()
    keys.press("Control+z")  # the whole page undoes, not only the editor
    expect(page.get_by_role("list", name="Conflicts")).to_be_visible()
    keys.press("Control+Shift+z")
    expect(page.get_by_role("list", name="Conflicts")).to_have_count(0)
    keys.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    assert tab.complaints == []


@pytest.mark.slow
def test_words_are_completed_and_a_complete_one_does_not_swallow_enter(tab: Tab) -> None:
    page, keys = tab.page, Keyboard(tab.page)
    edit_at_the_end(page, keys, "P(dis")
    page.locator(".cm-tooltip-autocomplete").get_by_text("disease").wait_for()
    page.wait_for_timeout(200)  # the list takes no key in its first moments
    keys.press("Enter")
    keys.type("=")
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("state of disease")
    page.wait_for_timeout(200)
    keys.press("ArrowDown", "Enter")
    keys.type(" is at most 60%")
    keys.press("End")
    keys.press("Control+a", "End")
    keys.press("Enter")
    keys.type("age raises disease")
    page.locator(".cm-tooltip-autocomplete").wait_for()
    page.wait_for_timeout(200)
    keys.press("Enter")
    keys.type("smoker raises disease")
    keys.press("Escape")
    wait_for(lambda: saved_text(tab).endswith("\nage raises disease\nsmoker raises disease"))
    keys.press("Tab")  # the editor is no trap
    assert not keys.has_focus(page.locator(".cm-content"))
    keys.is_seen()


# Ask ------------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_kind_of_question(learned_tab: Tab) -> None:
    page, keys = learned_tab.page, Keyboard(learned_tab.page)
    keys.panel("Ask")
    keys.choose(page.get_by_label("How probable is"), "age")
    keys.to(page.get_by_role("radio", name="old"))
    keys.press("ArrowUp")
    expect(page.get_by_role("radio", name="middle")).to_be_checked()
    keys.choose(page.get_by_label("What is known about ecg"), "abnormal")
    keys.back_to(page.get_by_label("What is known about smoker"))
    keys.type("set to no")
    expect(page.get_by_role("group", name="Variable smoker")).to_contain_text("set by us")
    keys.use(page.locator("summary", has_text="An uncertain finding about age"))
    keys.to(page.get_by_role("slider", name="young"))
    keys.press("Home")
    expect(page.get_by_role("group", name="Variable age")).to_contain_text("uncertain finding")
    keys.use(page.get_by_role("button", name="Forget it"))
    expect(page.get_by_role("group", name="Variable age")).not_to_contain_text("uncertain finding")
    keys.is_seen()
    keys.use(page.get_by_role("button", name="What is it sensitive to?"))
    expect(page.get_by_text("Without this evidence it would be")).to_be_visible()
    keys.use(page.get_by_role("button", name="Most probable explanation"))
    expect(page.get_by_text("These states together are the most probable")).to_be_visible()
    keys.use(page.get_by_role("button", name="Score every row of patients.csv"))
    download_all = page.get_by_role("link", name="Download all 220 rows")
    download_all.wait_for()
    with page.expect_download() as download:
        keys.use(download_all)
    assert download.value.suggested_filename == "predictions.csv"
    keys.use(page.get_by_label("The most probable age=middle first"), "Space")
    expect(page.get_by_label("The most probable age=middle first")).to_be_checked()
    keys.use(page.locator("summary", has_text="I know this probability"))
    keys.use(page.get_by_role("button", name="State it", exact=True))
    wait_for(lambda: "P(age=middle | ecg=abnormal) is about 30%" in saved_text(learned_tab))
    assert learned_tab.complaints == []


def test_evidence_in_the_network_with_keys(learned_tab: Tab) -> None:
    page, keys = learned_tab.page, Keyboard(learned_tab.page)
    disease = state(page, "disease", "1")
    expect(disease).to_have_attribute("aria-label", re.compile("%"))  # its probability comes a moment later
    before = disease.get_attribute("aria-label")
    keys.press("F6", "F6")
    expect(page.locator(".canvas")).to_be_focused()
    keys.use(state(page, "smoker", "yes"), "Space")
    expect(disease).not_to_have_attribute("aria-label", before or "")
    expect(state(page, "smoker", "yes")).to_be_focused()
    keys.back_to(page.get_by_role("button", name="Clear evidence (1)"))
    keys.press("Enter")
    expect(disease).to_have_attribute("aria-label", before or "")
    expect(page.locator(".canvas")).to_be_focused()
    assert learned_tab.complaints == []


# The network and drawing ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_panning_and_zooming(chromium: Browser, tmp_path: Path) -> None:
    network = made_up_network(60, (2, 3), (0.2, 0.6, 0.2), seed=3)
    write_network(network, tmp_path / "large.bif")
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, "large.bif", None) as tab:
        page, keys = tab.page, Keyboard(tab.page)
        keys.press("F6", "F6")
        page.wait_for_timeout(300)  # until everything was brought into sight
        places = [viewport(page)]
        for key in ("ArrowRight", "ArrowDown", "+", "-", "0"):
            keys.press(key)
            wait_for(lambda: viewport(page) != places[-1])
            page.wait_for_timeout(300)
            places.append(viewport(page))
        # To a variable, by its name; its states are the next things there.
        wanted = network.names[37]
        keys.to(page.get_by_label("Find a variable in the network"))
        keys.type(wanted)
        keys.press("Enter")
        box = page.get_by_role("group", name=f"Variable {wanted}", exact=True)
        expect(box.locator(".name")).to_be_focused()
        keys.press("Tab")
        expect(box.locator(".state").first).to_be_focused()
        keys.press("Enter")
        expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
        for _ in range(18):  # what the Tab key comes to is brought into sight
            keys.press("Tab")
            keys.is_seen()
            wait_for(lambda: page.evaluate(IS_INSIDE))
        assert tab.complaints == []


@pytest.mark.slow
def test_drawing_and_undoing(chromium: Browser, tmp_path: Path) -> None:
    with opened_tab(chromium, tmp_path.resolve(), WINDOW, None, None) as tab:
        page, keys = tab.page, Keyboard(tab.page)
        keys.use(page.get_by_role("button", name="Start from nothing"))
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page.get_by_role("tabpanel")).to_be_focused()
        keys.press("F6", "F6")
        expect(page.get_by_role("button", name="Draw the first variable")).to_be_focused()
        keys.press("Enter")
        for name in ("cold", "fever"):
            expect(page.get_by_role("form", name="New variable").get_by_label("Name")).to_be_focused()
            keys.type(name)
            keys.press("Enter")
            expect(page.get_by_role("group", name=f"Variable {name}")).to_be_visible()
        keys.back_to(page.get_by_label("New arrow from"))
        keys.type("cold")
        keys.use(page.get_by_role("button", name="Draw it"))
        wait_for(lambda: "fever depends on cold" in saved_text(tab))
        keys.is_seen()
        keys.back_to(page.get_by_role("button", name=re.compile("^lowers: state that cold lowers fever")))
        keys.press("Enter")
        wait_for(lambda: "cold lowers fever" in saved_text(tab))
        keys.use(page.get_by_role("button", name="× remove the arrow from cold to fever"))
        wait_for(lambda: "# left out: cold lowers fever" in saved_text(tab))
        keys.is_seen()
        keys.press("Control+z")
        wait_for(lambda: "fever depends on cold" in saved_text(tab) and "left out" not in saved_text(tab))
        # A state is moved as far as the key is pressed; its name has the focus where it cannot go further.
        keys.use(page.get_by_role("button", name="Add a state"))
        keys.back_to(page.get_by_role("button", name="↓ move no down"))
        keys.press("Enter")
        expect(page.get_by_label("State 2")).to_have_value("no")
        expect(page.get_by_role("button", name="↓ move no down")).to_be_focused()
        keys.press("Enter")
        expect(page.get_by_label("State 3")).to_have_value("no")
        expect(page.get_by_label("State 3")).to_be_focused()
        keys.use(page.get_by_role("button", name="Use these states"))
        wait_for(lambda: "variable fever: yes, state3, no" in saved_text(tab))
        keys.is_seen()
        keys.to(page.get_by_label("New name of fever"))
        keys.press("Control+a")
        keys.type("temperature")
        keys.use(page.get_by_role("button", name="Rename"))
        wait_for(lambda: "cold lowers temperature" in saved_text(tab))
        keys.is_seen()
        keys.use(page.get_by_role("button", name="Delete temperature"))
        wait_for(lambda: "temperature: " not in saved_text(tab))
        keys.is_seen()
        undo = page.get_by_role("button", name="Undo")
        keys.back_to(undo)
        while undo.is_enabled():
            keys.press("Enter")
            page.wait_for_timeout(50)
        keys.is_seen()
        assert "variable" not in saved_text(tab)
        assert tab.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("learned_tab", [TABLET], indirect=True)
def test_keys_of_a_tablet_show_the_part_that_they_lead_to(learned_tab: Tab) -> None:
    page, keys = learned_tab.page, Keyboard(learned_tab.page)
    for part in (".cm-content", ".canvas", ".panel", ".cm-content"):
        keys.press("F6")
        expect(page.locator(part)).to_be_focused()
        expect(page.locator(part)).to_be_visible()
    keys.use(page.locator("summary", has_text="Consistent with the others"))
    keys.use(page.get_by_role("button", name="12: age raises disease"))
    expect(page.locator(".cm-content")).to_be_focused()
    keys.panel("Look")
    keys.use(page.get_by_role("button", name="Explain them"))
    keys.use(page.get_by_role("button", name="13: smoker raises disease"))
    expect(page.locator(".cm-activeLine")).to_have_text("smoker raises disease")
    expect(page.locator(".cm-content")).to_be_focused()


# Begin, and everything around -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_file_from_elsewhere_the_tour_and_the_way_back(tab: Tab, tmp_path: Path) -> None:
    (tmp_path / "fever.csv").write_text("flu;fever\nno;37,1\nyes;38,5\nno;36,8\nyes;39,0\n", encoding="utf-8")
    page, keys = tab.page, Keyboard(tab.page)
    tour = page.get_by_role("button", name="Tour", exact=True)
    keys.to(tour)
    keys.press("Enter")
    for _ in range(5):
        keys.use(page.get_by_role("button", name="Next"))
    keys.press("Escape")
    expect(tour).to_be_focused()
    open_files = page.get_by_role("button", name="Open …")
    keys.back_to(open_files)
    keys.press("Enter", "Escape")
    expect(open_files).to_be_focused()
    keys.press("Enter")
    with page.expect_file_chooser() as chooser:
        keys.to(page.get_by_label("or bring a file here").nth(1))
        keys.press("Enter")
    chooser.value.set_files(tmp_path / "fever.csv")
    expect(page.get_by_role("region", name="The first rows of fever.csv")).to_be_visible()
    keys.choose(page.get_by_label("Between cells"), "semicolon")
    keys.choose(page.get_by_label("Decimals"), "1,5")
    expect(page.get_by_role("region", name="The first rows of fever.csv")).to_contain_text("37.1")
    keys.use(page.get_by_role("button", name="Open these"))
    expect(page.get_by_role("group", name="Variable flu")).to_be_visible()
    keys.is_seen()
    assert tab.complaints == []
