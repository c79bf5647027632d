"""In Chromium: Undo takes back evidence, places and text in turn; variables are copied and pasted."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.studio.harness import Studio, Tab, new_page, served, state, wait_for, write


def box_of(page: Page, name: str) -> dict[str, float]:
    found = page.locator(f'.react-flow__node[data-id="{name}"]').bounding_box()
    assert found is not None
    return dict(found)


def drag(page: Page, name: str, right: float) -> None:
    page.wait_for_timeout(300)  # until the network was brought into sight
    box = box_of(page, name)
    page.mouse.move(box["x"] + 30, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 30 + right, box["y"] + 8, steps=5)
    page.mouse.up()


def test_undo_takes_back_evidence_places_and_text_in_turn(learned_tab: Tab) -> None:
    page = learned_tab.page
    undo, redo = (page.get_by_role("button", name=name, exact=True) for name in ("Undo", "Redo"))
    expect(undo).to_be_disabled()
    state(page, "ecg", "abnormal").click()
    before = box_of(page, "smoker")
    drag(page, "smoker", 60)
    wait_for(lambda: box_of(page, "smoker")["x"] > before["x"] + 40)
    write(page, "\n# a remark\n")
    state(page, "smoker", "yes").click()
    expect(page.get_by_role("button", name="Clear evidence (2)")).to_be_visible()

    undo.click()
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("# a remark")
    undo.click()
    expect(page.locator(".cm-content")).not_to_contain_text("# a remark")
    undo.click()
    wait_for(lambda: abs(box_of(page, "smoker")["x"] - before["x"]) < 2)
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    undo.click()
    expect(page.get_by_role("button", name=re.compile("Clear evidence"))).to_have_count(0)
    expect(undo).to_be_disabled()

    for _ in range(4):
        redo.click()
    expect(page.get_by_role("button", name="Clear evidence (2)")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("# a remark")
    wait_for(lambda: box_of(page, "smoker")["x"] > before["x"] + 40)
    expect(redo).to_be_disabled()
    assert learned_tab.complaints == []


def test_undo_in_the_editor_is_about_the_text_alone(learned_tab: Tab) -> None:
    page = learned_tab.page
    write(page, "\n# a remark\n")
    state(page, "ecg", "abnormal").click()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).not_to_contain_text("# a remark")
    expect(page.get_by_role("button", name="Clear evidence (1)")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name=re.compile("Clear evidence"))).to_have_count(0)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()


def test_variables_are_copied_and_pasted_with_their_arrows(tab: Tab) -> None:
    page = tab.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for name in ("disease", "ecg"):
        box = page.locator(f'.react-flow__node[data-id="{name}"] .name')
        box.click(modifiers=["Control"], position={"x": 5, "y": 5})
    page.locator('.react-flow__node[data-id="ecg"] .name').focus()
    page.keyboard.press("Control+c")
    expect(page.get_by_text("Copied 2 variables")).to_be_visible()
    page.keyboard.press("Control+v")
    copy = page.get_by_role("group", name="Variable ecg_2", exact=True)
    expect(copy).to_be_visible()
    expect(copy.get_by_role("button", name=re.compile("^abnormal"))).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("ecg_2 depends on disease_2")
    page.get_by_role("button", name="Undo").click()
    expect(copy).to_have_count(0)
    page.locator(".react-flow__pane").click(button="right", position={"x": 20, "y": 400})
    page.get_by_role("menuitem", name="Paste").click()
    expect(copy).to_be_visible()
    assert tab.complaints == []


def test_a_studio_at_another_address_takes_what_was_copied(tab: Tab, tmp_path: Path) -> None:
    tab.page.locator('.react-flow__node[data-id="age"] .name').focus()
    tab.page.keyboard.press("Control+c")
    expect(tab.page.get_by_text("Copied age")).to_be_visible()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "flu.credo").write_text("variable flu: no, yes\n", encoding="utf-8")
    with served((tmp_path / "other").resolve(), "flu.credo", None) as (address, _):
        page, complaints = new_page(tab.page.context)
        page.goto(address)
        page.locator('.react-flow__node[data-id="flu"] .name').focus()
        page.keyboard.press("Control+v")
        expect(page.locator(".cm-content")).to_contain_text("young < 45 <= middle < 65 <= old")
        expect(page.get_by_role("group", name="Variable age", exact=True)).to_be_visible()
        assert complaints == []
        page.close()


def test_what_is_pasted_is_checked(studio: Studio) -> None:
    age = {"name": "age", "states": ["young", "old"], "cuts": [50], "parents": ["smoker", "nobody"]}
    text = studio.post("/api/edit", {"op": "paste", "variables": [age]}).json()["text"]
    assert "age_2 is cut: young < 50 <= old" in text or "age_2: young < 50 <= old" in text
    assert "age_2 depends on smoker" in text
    assert "nobody" not in text
    for wrong in (
        [1],
        [{"name": ""}],
        [{"name": "x", "states": "ab"}],
        [{"name": "x", "states": ["a"], "parents": 1}],
        "x",
    ):
        assert studio.post("/api/edit", {"op": "paste", "variables": wrong}).status_code == 422
