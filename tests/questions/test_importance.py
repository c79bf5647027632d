"""Importance of basic events, against values by hand, enumeration and the definition under each draw."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo

RATES = {"pump1": 0.1, "pump2": 0.2, "valve": 0.01}
TREE = """
variables pump1, pump2, valve, train, top: no, yes
train is and of pump1, pump2
top is or of train, valve
"""


def tree(rates: dict[str, float] = RATES) -> credo.Fit:
    network = credo.declared_network(TREE).network.with_cpts({name: [1 - p, p] for name, p in rates.items()})
    return credo.fit(network, pl.DataFrame({"pump1": ["no"]}), TREE, fixed=list(rates))


def test_importance_by_hand() -> None:
    found = tree().importance("P(top=yes)")
    total = 1 - (1 - 0.02) * (1 - 0.01)
    assert found.probability == pytest.approx(total)
    events = {row["event"]: row for row in found.events.iter_rows(named=True)}
    assert list(events) == ["pump1=yes", "pump2=yes", "valve=yes"]
    assert events["pump1=yes"]["birnbaum"] == pytest.approx(0.2 * 0.99)
    assert events["pump2=yes"]["birnbaum"] == pytest.approx(0.1 * 0.99)
    assert events["valve=yes"]["birnbaum"] == pytest.approx(0.98)
    assert events["pump1=yes"]["fussell_vesely"] == pytest.approx(1 - 0.01 / total)
    assert events["valve=yes"]["fussell_vesely"] == pytest.approx(1 - 0.02 / total)
    assert events["valve=yes"]["achievement"] == pytest.approx(1 / total)
    assert events["valve=yes"]["probability"] == pytest.approx(0.01)
    assert "If an event never happened" in str(found)
    assert str(tree().importance("top")) == str(found)


def test_intervals_hold_the_importance_of_every_draw() -> None:
    text = TREE + "P(valve=yes) is between 0.5% and 2%\n"
    rng = np.random.default_rng(1)
    rows = pl.DataFrame({name: np.where(rng.random(60) < 0.3, "yes", "no") for name in ("pump1", "pump2")})
    fit = credo.fit(text, rows, seed=2)
    found = fit.importance("top=yes")
    assert not found.note
    answer = fit.query("P(top=yes)")
    assert found.probability == pytest.approx(answer.probability, rel=0.02)
    for row in found.events.iter_rows(named=True):
        name = row["event"].removesuffix("=yes")
        with_it, without = (fit.query(f"P(top=yes | {name}={state})") for state in ("yes", "no"))
        assert row["birnbaum"] == pytest.approx(with_it.probability - without.probability, rel=0.05)
        for measure in ("probability", "birnbaum", "fussell_vesely"):
            assert row[f"{measure}_low"] < row[measure] < row[f"{measure}_high"]


def test_an_event_with_a_common_cause_is_set_not_observed() -> None:
    text = TREE.replace("variables pump1", "variables fire, pump1") + "pump1 depends on fire\npump2 depends on fire\n"
    cpts = {"fire": [0.9, 0.1], "pump1": [[0.95, 0.05], [0.2, 0.8]], "pump2": [[0.9, 0.1], [0.3, 0.7]], "valve": [1, 0]}
    network = credo.declared_network(text).network.with_cpts(cpts)
    fit = credo.fit(network, pl.DataFrame({"fire": ["no"]}), text, fixed=list(cpts))
    events = {row["event"]: row for row in fit.importance("P(top=yes)").events.iter_rows(named=True)}
    assert events["pump1=yes"]["birnbaum"] == pytest.approx(0.9 * 0.1 + 0.1 * 0.7)  # that of pump2
    assert events["pump1=yes"]["probability"] == pytest.approx(0.9 * 0.05 + 0.1 * 0.8)
    assert events["fire=yes"]["birnbaum"] == pytest.approx(0.8 * 0.7 - 0.05 * 0.1)


def test_evidence_and_impossible_events_are_refused() -> None:
    with pytest.raises(credo.QueryError, match="without evidence"):
        tree().importance("P(top=yes | train=yes)")
    with pytest.raises(credo.QueryError, match="impossible"):
        tree({"pump1": 0.0, "pump2": 0.2, "valve": 0.0}).importance("top")
