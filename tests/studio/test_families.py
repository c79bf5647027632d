"""Gates, noisy families and weighted means as a form, lines to begin with, and the network alone on the screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.studio.harness import Studio, Tab

TREE = "variables a, b, c, top: no, yes\ntop depends on a, b, c\n"


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"how": "or"}, "top is or of a, b, c"),
        ({"how": "at least", "least": 2}, "top is 2 of a, b, c"),
        ({"how": "noisy-or", "leak": True}, "top is noisy-or of {a}, {b}, {c} with leak"),
        (
            {"how": "weighted mean", "weights": {"a": 3}, "spread": 0.1},
            "top is a weighted mean of a (3), b, c with spread 0.1",
        ),
        ({"how": "weighted max"}, "top is a weighted max of a, b, c"),
    ],
)
def test_a_form_becomes_a_line_and_takes_the_place_of_another(
    studio: Studio, request_: dict[str, object], line: str
) -> None:
    studio.change(TREE)
    text = studio.post("/api/edit", {"op": "family", "name": "top", **request_}).json()["text"]
    assert text == f"{TREE}{line}\n"
    studio.change(text)
    reading = studio.get("/api/state").json()["opened"]["reading"]
    assert reading["mistakes"] == []
    assert next(each for each in reading["network"]["variables"] if each["name"] == "top")["family"] == line
    other = studio.post("/api/edit", {"op": "family", "name": "top", "how": "and"}).json()["text"]
    assert other == f"{TREE}top is and of a, b, c\n"


def test_without_the_form_the_arrows_stay(studio: Studio) -> None:
    studio.change("variables a, b, top: no, yes\ntop is or of a, b\n")
    text = studio.post("/api/edit", {"op": "family", "name": "top", "how": "learned"}).json()["text"]
    assert "is or of" not in text
    assert "top depends on a, b" in text


def test_forms_that_do_not_fit_are_refused(studio: Studio) -> None:
    studio.change(TREE)
    for wrong in (
        {"how": "xyz"},
        {"how": "weighted mean", "weights": [1]},
        {"how": "weighted mean", "spread": "x"},
        {"how": "or", "name": "a"},
    ):
        assert studio.post("/api/edit", {"op": "family", "name": "top", **wrong}).status_code == 422
    assert studio.post("/api/edit", {"op": "family", "name": "nobody", "how": "or"}).status_code == 422


def test_a_family_a_template_and_the_whole_screen(tab: Tab) -> None:
    page = tab.page
    page.get_by_role("tab", name="Draw").click()
    page.get_by_role("combobox", name="Variable").first.select_option("disease")
    page.get_by_text("How disease follows from them").click()
    page.get_by_label("How disease follows from its parents").select_option("noisy-or")
    page.get_by_role("button", name="State it").click()
    expect(page.locator(".cm-content")).to_contain_text("disease is noisy-or of {age}, {smoker}, {pressure} with leak")
    expect(page.get_by_text("The text says:")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".cm-content")).not_to_contain_text("noisy-or")
    page.get_by_label("Say something about disease").select_option(
        label="How frequent it is: P(disease=1) is about 30%"
    )
    expect(page.locator(".cm-content")).to_contain_text("P(disease=1) is about 30%")
    page.keyboard.press("Delete")  # the line is chosen
    expect(page.locator(".cm-content")).not_to_contain_text("about 30%")
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator(".canvas:fullscreen")).to_be_visible()
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator(".canvas:fullscreen")).to_have_count(0)
    assert tab.complaints == []
