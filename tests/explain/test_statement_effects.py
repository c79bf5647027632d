"""Leaving out a statement against learning again without it; how much it matters against a moved bound."""

from __future__ import annotations

import numpy as np
import pytest

import credo
from credo.explain.statement_effects import LEAST_CHANGE, effects_on_optimum
from tests.helpers.clinic import CLINIC, COIN, STATEMENTS, counted, largest_change, patients


@pytest.mark.parametrize("method", ["cml", "cmap"])
@pytest.mark.parametrize(("rows", "seed"), [(25, 1), (80, 2), (400, 3)])
def test_leaving_out_is_learning_again(method: str, rows: int, seed: int) -> None:
    data = patients(rows, seed)
    fit = credo.fit(
        CLINIC, data, "\n".join(STATEMENTS), method=method, optimiser=credo.OptimiserOptions(soft_weight=50.0)
    )
    assert fit._problem is not None
    effects, changed = effects_on_optimum(fit._problem), 0
    for number in range(len(STATEMENTS)):
        others = "\n".join(text for place, text in enumerate(STATEMENTS) if place != number)
        again = credo.fit(CLINIC, data, others, method=method, optimiser=credo.OptimiserOptions(soft_weight=50.0))
        amounts = {(each.variable, each.index): each.amount for each in effects[number].changes}
        for name in CLINIC.names:
            for row, change in enumerate(largest_change(fit.network, again.network, name)):
                assert amounts.get((name, row), 0.0) == pytest.approx(change, abs=2 * LEAST_CHANGE), (number, name, row)
                changed += change > 0.01
        assert effects[number].log_likelihood_gain == pytest.approx(again.log_likelihood - fit.log_likelihood, abs=2e-3)
    assert changed


def test_statements_that_pin_a_number_at_zero_are_left_out_too() -> None:
    texts = (
        "smoke raises lung by at least 0.05",
        "P(lung=yes | age=young, each smoke) <= 0.05",
    )  # so 0 and 0.05 for the young
    data = patients(14, seed=4)
    fit = credo.fit(CLINIC, data, "\n".join(texts), method="cmap")
    explained = {each.statement.number: each for each in fit.explain().statements}
    for number, other in enumerate(reversed(texts)):
        again = credo.fit(CLINIC, data, other, method="cmap")
        change = largest_change(fit.network, again.network, "lung").max()
        assert explained[number].largest_change == pytest.approx(float(change), abs=1e-3)


def test_configurations_name_the_statements_that_changed_them() -> None:
    fit = credo.fit(
        CLINIC, patients(60), "\n".join(STATEMENTS), method="cmap", optimiser=credo.OptimiserOptions(soft_weight=50.0)
    )
    explanation = fit.explain()
    for configurations in explanation.configurations.values():
        for row in configurations:
            amounts = [amount for _, amount in row.changed_by]
            assert amounts == sorted(amounts, reverse=True)
            assert row.largest_change == max(amounts, default=0.0)
            by_number = {each.statement.number: each for each in explanation.statements}
            assert all(amount <= by_number[number].largest_change + 1e-12 for number, amount in row.changed_by)


@pytest.mark.parametrize("bound", [0.1, 0.25])
def test_how_much_a_statement_matters_is_the_gain_of_a_moved_bound(bound: float) -> None:
    step, data = 1e-5, counted(20, 30)
    near, far = (
        credo.fit(COIN, data, f"P(a=yes) <= {value:.7f}", method="cml").log_likelihood
        for value in (bound - step, bound + step)
    )
    fit = credo.fit(COIN, data, f"P(a=yes) <= {bound}", method="cml")
    (explained,) = fit.explain().statements
    assert explained.gain_per_point == pytest.approx(0.01 * (far - near) / (2 * step), rel=1e-4)
    assert explained.gain_per_point == pytest.approx(fit.binding()["gain_per_point"][0])
    by_hand = 20 / bound - 30 / (1 - bound)  # the derivative of 20·log b + 30·log(1 − b)
    assert explained.gain_per_point == pytest.approx(0.01 * by_hand, rel=1e-4)


def test_statements_about_products_are_left_out_too() -> None:
    text = (
        "P(lung=yes | age=old, smoke=yes) * P(lung=yes | age=young, smoke=no) >= 0.2 * P(lung=yes | age=old, smoke=no)"
    )
    fit = credo.fit(CLINIC, patients(200), text, method="cmap")
    plain = credo.fit(CLINIC, patients(200), method="map")
    (explanation,) = fit.explain().statements
    changes = largest_change(fit.network, plain.network, "lung")
    assert explanation.largest_change == pytest.approx(float(np.max(changes)), abs=1e-3)
    assert any("products" in note for note in fit.explain().notes)
