"""Leaving out a statement against learning anew without it; prices against bounds that are moved."""

from __future__ import annotations

import numpy as np
import pytest

import credo
from credo.explain.left_out import LEAST_MOVE, leave_out
from tests.helpers.clinic import CLINIC, COIN, STATEMENTS, counted, largest_change, patients


@pytest.mark.parametrize("method", ["cml", "cmap"])
@pytest.mark.parametrize(("rows", "seed"), [(25, 1), (80, 2), (400, 3)])
def test_leaving_out_is_learning_anew(method: str, rows: int, seed: int) -> None:
    data = patients(rows, seed)
    fit = credo.fit(CLINIC, data, "\n".join(STATEMENTS), method=method, soft_weight=50.0)
    assert fit.problem is not None
    effects, moved = leave_out(fit.problem), 0
    for number in range(len(STATEMENTS)):
        others = "\n".join(text for place, text in enumerate(STATEMENTS) if place != number)
        anew = credo.fit(CLINIC, data, others, method=method, soft_weight=50.0)
        told = {(each.variable, each.row): each.amount for each in effects[number].rows}
        for name in CLINIC.names:
            for row, change in enumerate(largest_change(fit.network, anew.network, name)):
                assert told.get((name, row), 0.0) == pytest.approx(change, abs=2 * LEAST_MOVE), (number, name, row)
                moved += change > 0.01
        assert effects[number].log_likelihood == pytest.approx(anew.log_likelihood - fit.log_likelihood, abs=2e-3)
    assert moved


def test_statements_that_pin_a_number_at_zero_are_left_out_too() -> None:
    texts = ("smoke raises lung by at least 0.05", "P(lung=yes | age=young) <= 0.05")  # so 0 and 0.05 for the young
    data = patients(14, seed=4)
    fit = credo.fit(CLINIC, data, "\n".join(texts), method="cmap")
    told = {each.number: each for each in fit.explain().statements}
    for number, other in enumerate(reversed(texts)):
        anew = credo.fit(CLINIC, data, other, method="cmap")
        change = largest_change(fit.network, anew.network, "lung").max()
        assert told[number].moved == pytest.approx(float(change), abs=1e-3)


def test_the_rows_of_an_explanation_name_the_statements_that_moved_them() -> None:
    fit = credo.fit(CLINIC, patients(60), "\n".join(STATEMENTS), method="cmap", soft_weight=50.0)
    story = fit.explain()
    for rows in story.rows.values():
        for row in rows:
            amounts = [amount for _, amount in row.moved_by]
            assert amounts == sorted(amounts, reverse=True)
            assert row.moved == max(amounts, default=0.0)
            by_number = {each.number: each for each in story.statements}
            assert all(amount <= by_number[number].moved + 1e-12 for number, amount in row.moved_by)


@pytest.mark.parametrize("bound", [0.1, 0.25])
def test_a_price_is_what_a_bound_that_moves_is_worth(bound: float) -> None:
    step, data = 1e-5, counted(20, 30)
    near, far = (
        credo.fit(COIN, data, f"P(a=yes) <= {value:.7f}", method="cml").log_likelihood
        for value in (bound - step, bound + step)
    )
    fit = credo.fit(COIN, data, f"P(a=yes) <= {bound}", method="cml")
    (told,) = fit.explain().statements
    assert told.price == pytest.approx(0.01 * (far - near) / (2 * step), rel=1e-4)
    assert told.price == pytest.approx(0.01 * fit.binding()[0].price)
    by_hand = 20 / bound - 30 / (1 - bound)  # the derivative of 20·log b + 30·log(1 − b)
    assert told.price == pytest.approx(0.01 * by_hand, rel=1e-4)


def test_statements_about_products_are_left_out_too() -> None:
    text = (
        "P(lung=yes | age=old, smoke=yes) * P(lung=yes | age=young, smoke=no) >= 0.2 * P(lung=yes | age=old, smoke=no)"
    )
    fit = credo.fit(CLINIC, patients(200), text, method="cmap")
    plain = credo.fit(CLINIC, patients(200), method="map")
    (story,) = fit.explain().statements
    changes = largest_change(fit.network, plain.network, "lung")
    assert story.moved == pytest.approx(float(np.max(changes)), abs=1e-3)
    assert any("products" in note for note in fit.explain().notes)
