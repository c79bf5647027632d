"""The steps of somebody who uses the studio, in Chromium: begin, know, learn, look, ask; and what must not happen."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from credo.shipped import example
from tests.helpers.chromium import DESKTOP
from tests.studio.harness import CONFLICT, TABLET, Tab, new_page, opened_tab, state, wait_for, write

DARK = {"color_scheme": "dark"}


def text_of(page: Page) -> str:
    return "\n".join(page.locator(".cm-line").all_inner_texts())


# Learn, ask, look -----------------------------------------------------------------------------------------------------


def test_learn_ask_and_look(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Learn").click()
    page.get_by_role("button", name="Learn", exact=True).click()
    disease = state(page, "disease", "1")
    expect(disease).to_have_attribute("aria-label", re.compile("95% interval"))
    before = disease.get_attribute("aria-label")
    state(page, "ecg", "abnormal").click()
    expect(disease).not_to_have_attribute("aria-label", before or "")
    expect(state(page, "ecg", "abnormal")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("tab", name="Look").click()
    page.get_by_role("link", name="Download the report").wait_for()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the report").click()
    assert "<html" in Path(download.value.path()).read_text(encoding="utf-8")
    expect(page.get_by_text("What each statement did")).to_be_visible()
    # A number of a CPT becomes a statement, and learning again shows what changed.
    page.get_by_role("button", name=re.compile(r"P\(disease=1 \| age=young, smoker=yes, pressure=normal\)")).click()
    page.get_by_role("button", name="State these bounds").click()
    expect(page.locator(".cm-content")).to_contain_text(
        "P(disease=1 | age=young, smoker=yes, pressure=normal) is between"
    )
    assert tab.complaints == []


@pytest.mark.slow
def test_learning_again_shows_what_changed(learned_tab: Tab) -> None:
    page = learned_tab.page
    write(page, "P(disease=1 | age=young, smoker=yes, pressure=normal) is at most 10%\n")
    page.get_by_role("tab", name="Learn").click()
    page.get_by_role("button", name="Learn", exact=True).click()
    expect(page.get_by_text("What changed since the previous fit")).to_be_visible()
    row = page.get_by_role("row", name=re.compile(r"P\(disease=1 \| age=young, smoker=yes, pressure=normal\)"))
    expect(row.first).to_be_visible()


def test_a_case_is_described_without_the_mouse(learned_tab: Tab) -> None:
    page = learned_tab.page
    state(page, "ecg", "abnormal").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    page.get_by_label("What is known about smoker").select_option("!no")
    expect(page.get_by_role("group", name="Variable smoker")).to_contain_text("set by us")
    page.get_by_role("combobox", name="How probable is").select_option("age")
    page.get_by_text("An uncertain finding about age").click()
    page.get_by_role("slider", name="young").fill("0")
    expect(page.get_by_role("group", name="Variable age")).to_contain_text("uncertain finding")
    expect(state(page, "age", "young")).to_have_attribute("aria-label", re.compile("^young 0%"))
    page.get_by_role("button", name="Most probable explanation").click()
    expect(page.get_by_text("These states together are the most probable")).to_be_visible()
    page.get_by_role("button", name="What is it sensitive to?").click()
    expect(page.get_by_text("Without this evidence it would be")).to_be_visible()
    page.get_by_role("button", name="Score every row of patients.csv").click()
    expect(page.get_by_role("link", name="Download all 220 rows")).to_be_visible()
    page.get_by_role("button", name="Clear evidence (3)").click()
    expect(page.get_by_role("button", name=re.compile("Clear evidence"))).to_have_count(0)
    assert learned_tab.complaints == []


def test_cancel(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Learn").click()
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    expect(page.get_by_role("button", name="Learn", exact=True)).to_be_enabled()


@pytest.mark.slow
def test_a_newcomer_asks_a_question_by_what_the_page_says(chromium: Browser, tmp_path: Path) -> None:
    with opened_tab(chromium, tmp_path.resolve(), {}, None, None) as tab:
        page = tab.page
        page.get_by_role("button", name=re.compile("Start here")).click()
        expect(page.get_by_role("tabpanel")).to_contain_text("There are no probabilities yet. Learn them")
        expect(page.locator(".summary")).to_contain_text("7 can hold")  # however soon the check is done
        assert page.locator(".panel button").all_inner_texts() == ["Learn", "The tour"]  # nothing else to try
        page.get_by_role("button", name="Learn", exact=True).click()
        expect(page.get_by_role("tabpanel")).to_contain_text("Click a state in the network")
        answer = page.get_by_role("list", name="How probable the states of disease are")
        before = answer.inner_text()
        state(page, "ecg", "abnormal").click()
        expect(answer).not_to_have_text(before)
        assert tab.complaints == []


# Know -----------------------------------------------------------------------------------------------------------------


def test_a_mistake_is_corrected_and_a_conflict_resolved_by_a_click(tab: Tab) -> None:
    page = tab.page
    write(page, f"smokr raises disease\n{CONFLICT}")
    expect(page.locator(".cm-lintRange-error")).to_have_text("smokr")
    expect(page.locator(".cm-line .tok-keyword", has_text="raises").first).to_be_visible()
    page.get_by_role("list", name="Mistakes").get_by_role("button", name="Write: smoker raises disease").click()
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(page.get_by_role("img", name=re.compile(r"Lines 15, 20 are about P\(disease"))).to_be_visible()
    leave_out = page.get_by_role("button", name=re.compile("leave this one out: line 20"))
    leave_out.click()
    expect(page.get_by_role("list", name="Conflicts")).to_have_count(0)
    expect(page.locator(".cm-content")).to_contain_text(f"# left out: {CONFLICT}")
    assert tab.complaints == []


@pytest.mark.slow
def test_names_and_states_are_completed(tab: Tab) -> None:
    page = tab.page
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("P(dis", delay=30)
    page.locator(".cm-tooltip-autocomplete").get_by_text("disease").wait_for()
    page.keyboard.press("Control+Space")
    page.wait_for_timeout(200)  # the list takes no key in its first moments
    page.keyboard.press("Enter")
    expect(page.locator(".cm-content")).to_contain_text("P(disease")
    page.keyboard.type("=", delay=30)
    expect(page.locator(".cm-tooltip-autocomplete")).to_contain_text("state of disease")


# Begin and draw -------------------------------------------------------------------------------------------------------


def test_start_from_nothing_and_draw(chromium: Browser, tmp_path: Path) -> None:
    options = {"viewport": {"width": DESKTOP, "height": 800}}
    with opened_tab(chromium, tmp_path.resolve(), options, None, None) as tab:
        page = tab.page
        page.get_by_role("button", name="Start from nothing").click()
        page.get_by_role("button", name="Draw the first variable").click()
        form = page.get_by_role("form", name="New variable")
        for name in ("<img src=x onerror=alert(1)>", "flu"):
            form.get_by_label("Name").fill(name)
            form.get_by_role("button", name="Add").click()
            expect(page.get_by_role("group", name=f"Variable {name}")).to_be_visible()
        # The name is text: there is no such picture, and nothing ran.
        assert page.locator("img").count() == 0
        expect(page.get_by_role("group", name="Variable <img")).to_contain_text("<img src=x onerror=alert(1)>")
        page.get_by_label("New arrow from").select_option("<img src=x onerror=alert(1)>")
        page.get_by_role("button", name="Draw it").click()
        expect(page.locator(".cm-content")).to_contain_text('flu depends on "<img src=x onerror=alert(1)>"')
        page.get_by_role("button", name=re.compile("^raises: state that")).click()
        expect(page.locator(".cm-content")).to_contain_text('"<img src=x onerror=alert(1)>" raises flu')
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".cm-content")).not_to_contain_text("raises flu")
        page.get_by_role("button", name="Redo").click()
        expect(page.locator(".cm-content")).to_contain_text("raises flu")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("saved", exact=True)).to_be_visible()
        assert "raises flu" in (tmp_path / "knowledge.credo").read_text(encoding="utf-8")
        assert tab.complaints == []


def test_an_example_opens_and_nothing_comes_from_elsewhere(chromium: Browser, tmp_path: Path) -> None:
    with opened_tab(chromium, tmp_path.resolve(), {}, None, None) as tab:
        asked: list[str] = []
        tab.page.on("request", lambda request: asked.append(request.url))
        tab.page.get_by_role("button", name="brain-tumour").click()
        expect(tab.page.get_by_role("group", name="Variable coma")).to_be_visible()
        tab.page.reload()
        expect(tab.page.get_by_role("group", name="Variable coma")).to_be_visible()
        assert {urlsplit(url).netloc for url in asked} == {urlsplit(tab.address).netloc}
        assert "token" not in tab.page.url
        assert (tmp_path / "brain-tumour" / "brain-tumour.bif").exists()
        assert tab.complaints == []


@pytest.mark.slow
def test_states_are_renamed_moved_and_cut(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Draw").click()
    page.get_by_role("combobox", name="Variable").select_option("smoker")
    page.get_by_role("button", name="↓ move no down").click()
    page.get_by_role("button", name="Use these states").click()
    expect(page.locator(".cm-content")).to_contain_text("variable smoker: yes, no")
    page.get_by_role("combobox", name="Variable").select_option("age")
    page.get_by_label("Cut points").fill("50")
    page.get_by_role("button", name="× remove middle").click()
    page.get_by_role("button", name="Use these states").click()
    expect(page.locator(".cm-content")).to_contain_text("age: young < 50 <= old")
    page.get_by_label("New name of age").fill("years")
    page.get_by_role("button", name="Rename").click()
    expect(page.get_by_role("alert")).to_contain_text("age is a column of the table")
    write(page, "variable old_ecg: no, yes\nold_ecg raises ecg\n")
    page.get_by_role("combobox", name="Variable").select_option("old_ecg")
    page.get_by_label("New name of old_ecg").fill("ecg_before")
    page.get_by_role("button", name="Rename").click()
    expect(page.locator(".cm-content")).to_contain_text("ecg_before raises ecg")


@pytest.mark.slow
def test_a_file_is_brought_from_elsewhere(tab: Tab, tmp_path: Path) -> None:
    shutil.copyfile(example("lake") / "lakes.csv", tmp_path / "lakes.csv")
    page = tab.page
    page.get_by_role("button", name="Open …").click()
    page.get_by_label("or bring a file here").nth(1).set_input_files(tmp_path / "lakes.csv")
    expect(page.get_by_role("combobox", name="Table")).to_have_value("lakes.csv")
    page.get_by_role("button", name="Open these").click()
    expect(page.locator(".cm-content")).to_contain_text("The columns of lakes.csv")
    assert (tab.folder / "lakes.csv").exists()


@pytest.mark.slow
def test_an_arrow_is_drawn_with_the_mouse(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("group", name="Variable smoker").hover()
    source = page.get_by_role("group", name="Variable smoker").locator(".react-flow__handle.source")
    target = page.get_by_role("group", name="Variable ecg").locator(".react-flow__handle.target")
    source.drag_to(target, force=True)
    expect(page.locator(".cm-content")).to_contain_text("ecg depends on disease, smoker")


@pytest.mark.slow
def test_everything_up_to_a_statement_about_an_arrow_is_done_with_keys(chromium: Browser, tmp_path: Path) -> None:
    with opened_tab(chromium, tmp_path.resolve(), {}, None, None) as tab:
        page = tab.page
        expect(page.get_by_role("button", name=re.compile("^heart"))).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("tabpanel")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Learn", exact=True)).to_be_focused()
        page.get_by_label(re.compile("^Arrow from disease to ecg")).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="raises: state that disease raises ecg")).to_be_focused()
        expect(page.locator(".cm-content")).not_to_contain_text("disease raises ecg")
        page.keyboard.press("Enter")
        wait_for(lambda: tab.session.require_opened().document.text.count("disease raises ecg") == 1)
        assert tab.complaints == []


# Tabs, reloads, restarts ----------------------------------------------------------------------------------------------


def test_two_tabs_share_the_text_and_a_reload_loses_nothing(tab: Tab) -> None:
    first = tab.page
    second, complaints = new_page(first.context)
    second.goto(tab.address)
    second.get_by_role("group", name="Variable disease").wait_for()
    write(first, "# from the first\n")
    expect(second.locator(".cm-content")).to_contain_text("# from the first")
    write(second, "# from the second\n")
    first.locator(".cm-content").press("Control+Home")
    first.keyboard.insert_text("# again from the first\n")
    for page in (first, second):  # of which only the lines in sight are in the page
        page.locator(".cm-content").press("Control+Home")
        expect(page.locator(".cm-content")).to_contain_text("# again from the first")
        page.locator(".cm-content").press("Control+End")
        for part in ("# from the first", "# from the second"):
            expect(page.locator(".cm-content")).to_contain_text(part)
    first.reload()
    first.locator(".cm-content").press("Control+End")
    expect(first.locator(".cm-content")).to_contain_text("# from the second")
    expect(first.get_by_text("changed, kept as a draft")).to_be_visible()
    # A tab that was behind learns so by a 409, moves its change over the newer ones, and sends it again.
    assert [each for each in (*tab.complaints, *complaints) if "409" not in each] == []


@pytest.mark.slow
def test_two_tabs_that_write_at_the_same_time_end_with_the_same_text(tab: Tab) -> None:
    first = tab.page
    second, _ = new_page(first.context)
    second.goto(tab.address)
    second.get_by_role("group", name="Variable disease").wait_for()
    for page, key in ((first, "Control+Home"), (second, "Control+End")):
        page.locator(".cm-content").press(key)
    for number in range(30):
        first.keyboard.insert_text(f"# first {number}\n")
        second.keyboard.insert_text(f"# second {number}\n")
    lines = {f"# {who} {number}" for who in ("first", "second") for number in range(30)}
    wait_for(lambda: lines <= set(tab.session.require_opened().document.text.split("\n")))
    for page in (first, second):
        expect(page.get_by_text("changed, kept as a draft")).to_be_visible()
    assert tab.session.require_opened().document.text.count("# first") == 30


@pytest.fixture
def studio_process(heart: Path) -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


def start_process(started: list[subprocess.Popen[str]], folder: Path) -> str:
    command = [sys.executable, "-m", "credo", "studio", "--no-browser", str(folder / "heart.credo")]
    process = subprocess.Popen(
        [*command, str(folder / "patients.csv")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    started.append(process)
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise AssertionError("the studio did not start")


@pytest.mark.slow
def test_a_killed_studio_loses_nothing(
    chromium: Browser, heart: Path, studio_process: list[subprocess.Popen[str]]
) -> None:
    with chromium.new_context() as context:
        page, _ = new_page(context)
        page.goto(start_process(studio_process, heart))
        page.get_by_role("group", name="Variable disease").wait_for()
        write(page, "# before the end\n")
        expect(page.get_by_text("changed, kept as a draft")).to_be_visible()
        os.kill(studio_process[0].pid, signal.SIGKILL)
        studio_process[0].wait()
        expect(page.get_by_text("Not connected.")).to_be_visible()
        expect(page.locator(".saved")).to_be_empty()
        page.goto(start_process(studio_process, heart))
        expect(page.locator(".cm-content")).to_contain_text("# before the end")
        expect(page.get_by_text("Changes that were not saved last time are back.")).to_be_visible()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_studio(heart: Path, studio_process: list[subprocess.Popen[str]], number: int) -> None:
    start_process(studio_process, heart)
    scratch = set(Path(tempfile.gettempdir()).glob(f"credo-studio-{studio_process[0].pid}-*"))
    assert scratch
    studio_process[0].send_signal(number)
    _, errors = studio_process[0].communicate(timeout=60)
    assert "The studio has ended; heart.credo is as it was." in errors
    assert "nothing was written" not in errors
    assert not any(path.exists() for path in scratch)


@pytest.mark.slow
def test_a_second_studio_takes_the_next_port(heart: Path, studio_process: list[subprocess.Popen[str]]) -> None:
    first, second = start_process(studio_process, heart), start_process(studio_process, heart)
    assert urlsplit(first).port != urlsplit(second).port


# Looks ----------------------------------------------------------------------------------------------------------------


def violations(page: Page) -> list[str]:
    """What axe-core finds, of every impact."""
    axe_module = pytest.importorskip("axe_playwright_python")
    axe = Path(axe_module.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
    if not page.evaluate("'axe' in window"):
        page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [f"{each['id']}: {node['target']}" for each in found for node in each["nodes"]]


def test_axe_finds_no_violation(learned_tab: Tab) -> None:
    assert violations(learned_tab.page) == []


@pytest.mark.slow
@pytest.mark.parametrize("learned_tab", [{}, DARK, TABLET], indirect=True)
def test_axe_finds_no_violation_in_any_part(learned_tab: Tab) -> None:
    page = learned_tab.page
    if page.viewport_size and page.viewport_size["width"] < 1000:
        page.get_by_role("button", name="Answers").click()
    for name in ("Ask", "Learn", "Look", "Draw"):
        page.get_by_role("tab", name=name).click()
        assert violations(page) == [], name
    page.get_by_role("button", name="Tour").click()
    assert violations(page) == []
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Open …").click()
    assert violations(page) == []
    page.get_by_role("button", name="Cancel").click()
    if page.viewport_size and page.viewport_size["width"] < 1000:
        page.get_by_role("button", name="Knowledge", exact=True).click()
    write(page, f"smokr raises disease\n{CONFLICT}\n")
    expect(page.get_by_role("list", name="Conflicts")).to_be_visible()
    page.keyboard.type("sm")
    expect(page.locator(".cm-tooltip-autocomplete")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+f")
    expect(page.locator(".cm-search")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("learned_tab", [pytest.param(TABLET, marks=pytest.mark.slow)], indirect=True)
def test_a_tablet_shows_one_part_at_a_time(learned_tab: Tab) -> None:
    page = learned_tab.page
    expect(page.locator(".cm-content")).not_to_be_visible()
    page.get_by_role("button", name="Knowledge").click()
    expect(page.locator(".cm-content")).to_be_visible()
    page.get_by_role("button", name="Answers").click()
    expect(page.get_by_role("combobox", name="How probable is")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 820


@pytest.mark.slow
def test_the_tour_says_where_things_are(learned_tab: Tab) -> None:
    page = learned_tab.page
    page.get_by_role("button", name="Tour").click()
    for _ in range(5):
        page.get_by_role("button", name="Next", exact=True).click()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
