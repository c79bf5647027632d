"""A CPT with many configurations and few rows gets the suggestion of a form, which can be pasted."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

import credo


def suggested(fit: credo.Fit) -> list[str]:
    return [str(each) for each in fit.findings if each.kind == "large CPT"]


def table(states: list[str], parents: int, rows: int = 40) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    codes = rng.integers(len(states), size=(rows, parents))
    weights = np.array([4.0, -1.0, *[0.5] * (parents - 2)])
    score = codes @ weights + rng.normal(0, 0.3, rows)
    child = np.searchsorted(np.quantile(score, np.linspace(0, 1, len(states) + 1)[1:-1]), score)
    columns = {f"x{n}": np.array(states)[codes[:, n]] for n in range(parents)}
    return pl.DataFrame({**columns, "y": np.array(states)[child]})


def line_of(message: str) -> str:
    found = re.search("`(.*?)`", message)
    assert found is not None
    return found[1]


def test_the_suggested_line_is_read_and_removes_the_finding() -> None:
    rows = table(["low", "medium", "high"], 5)
    text = "variables x0, x1, x2, x3, x4, y: low, medium, high\ny depends on x0, x1, x2, x3, x4\n"
    (message,) = suggested(credo.fit(text, rows, method="map"))
    line = line_of(message)
    weights = [float(each) for each in re.findall(r"\(([\d.]+)\)", line)]
    assert "weighted mean" in line
    assert "not x1" in line
    assert weights[0] > 3 * max(weights[1:])
    assert not suggested(credo.fit(text + line, rows, method="map"))


FORMS = {
    "weighted mean": ("low, medium, high", "y is a weighted mean of {} with spread 0.1"),
    "weighted max": ("low, medium, high", "y is a weighted max of {} with spread 0.05"),
    "weighted min": ("low, medium, high", "y is a weighted min of {} with spread 0.05"),
    "noisy-or": ("no, yes", None),
    "noisy-and": ("no, yes", None),
}


def states_and_cpt(form: str) -> tuple[list[str], int, np.ndarray]:
    """A CPT that is of this form: the states, the number of parents, and axes (parents…, child)."""
    named, statement = FORMS[form]
    states = named.split(", ")
    if statement is not None:
        weighted = "x0 (9), x1 (9), x2 (9), x3 (9)" if "mean" not in form else "x0 (3), x1 (2), x2 (1), x3 (1)"
        made = credo.fit(
            f"variables x0, x1, x2, x3, y: {named}\n{statement.format(weighted)}, worth 1e6 cases", method="map"
        )
        return states, 4, np.asarray(made.network.cpts["y"])
    causes = np.stack(np.unravel_index(np.arange(2**7), (2,) * 7), axis=1)
    effects = np.array([0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3])
    if form == "noisy-or":
        yes = 1 - 0.98 * np.prod(np.where(causes == 1, 1 - effects, 1), axis=1)
    else:
        yes = np.prod(np.where(causes == 1, 1 - 0.1 * effects, 0), axis=1)
    return states, 7, np.stack((1 - yes, yes), axis=1).reshape(*(2,) * 7, 2)


@pytest.mark.parametrize("form", FORMS)
def test_the_form_is_the_one_that_rows_or_answers_fit(form: str) -> None:
    states, parents, cpt = states_and_cpt(form)
    sizes, rng = cpt.shape[:-1], np.random.default_rng(1)
    names = [f"x{k}" for k in range(parents)]
    text = f"variables {', '.join(names)}, y: {', '.join(states)}\ny depends on {', '.join(names)}\n"

    codes = rng.integers(len(states), size=(60, parents))
    if form == "noisy-and":  # of which most configurations say nothing
        codes = np.where(rng.random(codes.shape) < 0.1, 0, 1)
    child = [rng.choice(len(states), p=cpt[tuple(each)]) for each in codes]
    columns = {name: np.array(states)[codes[:, k]] for k, name in enumerate(names)}
    (by_rows,) = suggested(credo.fit(text, pl.DataFrame({**columns, "y": np.array(states)[child]}), method="map"))
    assert f"is {form} " in line_of(by_rows) or f"is a {form} " in line_of(by_rows)

    answers = []
    for number in rng.choice(np.prod(sizes), 20, replace=False):
        place = np.unravel_index(number, sizes) if form != "noisy-and" else tuple(codes[number % len(codes)])
        given = ", ".join(f"{name}={states[k]}" for name, k in zip(names, place, strict=True))
        shares = cpt[tuple(place)].round(3)
        shares[-1] = 1 - shares[:-1].sum()
        answers.append(f"P(y | {given}) is {', '.join(f'{100 * abs(share):.1f}%' for share in shares)}, worth 3 cases")
    (by_answers,) = suggested(credo.fit(text + "\n".join(dict.fromkeys(answers)), method="cmap"))
    assert f"is {form} " in line_of(by_answers) or f"is a {form} " in line_of(by_answers)


def test_a_cpt_that_no_form_fits_is_said_to_be_one() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(100, 7))
    columns = {f"x{k}": np.array(["no", "yes"])[codes[:, k]] for k in range(7)}
    rows = pl.DataFrame({**columns, "y": np.array(["no", "yes"])[codes.sum(axis=1) % 2]})
    text = f"variables {', '.join(columns)}, y: no, yes\ny depends on {', '.join(columns)}\n"
    (message,) = suggested(credo.fit(text, pl.concat([rows.head(20)] * 6), method="map"))
    assert "fits none of 5 forms" in message


def test_nothing_known_leaves_the_choice_to_states_and_order() -> None:
    for states, words in (("low, medium, high", "weighted mean"), ("no, yes", "noisy-or")):
        text = f"variables a, b, c, d, e, f, g, y: {states}\ny depends on a, b, c, d, e, f, g"
        (message,) = suggested(credo.fit(text, method="map"))
        assert words in line_of(message)


def test_enough_rows_or_few_configurations_need_no_form() -> None:
    text = "variables x0, x1, y: low, medium, high\ny depends on x0, x1"
    assert not suggested(credo.fit(text, table(["low", "medium", "high"], 2), method="map"))
