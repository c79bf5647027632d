"""The examples: tables are those that their scripts make, and what is learned is what their pages say."""

from __future__ import annotations

import runpy
from math import prod
from pathlib import Path

import numpy as np
import pytest

import credo
from credo.questions.answers import query_network
from credo.shipped import example

MADE = {
    "heart": ("make_patients.py", "patients.csv"),
    "cooling": ("make_tests.py", "tests.csv"),
    "lake": ("make_lakes.py", "lakes.csv"),
    "dairy": ("make_batches.py", "batches.csv"),
    "turbines": ("make_inspections.py", "inspections.csv"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_table_is_what_its_script_makes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, table = MADE[name]
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example(name) / script))
    assert (tmp_path / table).read_bytes() == (example(name) / table).read_bytes()
    assert 41 <= len((tmp_path / table).read_text(encoding="utf-8").splitlines()) <= 301


@pytest.mark.parametrize("name", [*MADE, "court"])
def test_the_sentences_on_a_page_are_those_of_the_file(name: str) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "examples" / f"{name}.md"
    lines = (example(name) / f"{name}.credo").read_text(encoding="utf-8").splitlines()
    block = page.read_text(encoding="utf-8").split("```text\n")[2 if name == "heart" else 1].split("```")[0]
    assert [line for line in block.splitlines() if line not in lines] == []


def test_one_statement_of_the_heart_is_contradicted() -> None:
    found = credo.check(example("heart") / "heart.credo", data=example("heart") / "patients.csv")
    verdicts = {each.statement.line: each.plausibility.verdict for each in found.statements if each.plausibility}
    assert [line for line, verdict in verdicts.items() if verdict is credo.results.Verdict.CONTRADICTED] == [17]


def test_the_top_event_of_the_cooling_equals_a_calculation_by_hand() -> None:
    fit = credo.fit(example("cooling") / "cooling.credo", example("cooling") / "tests.csv", seed=1)
    rates = {name: fit.network.cpts[name][1] for name in fit.network.names if name not in fit.network.forms}
    assert len(rates) == 15

    def two_of_three(p: float) -> float:
        return p**2 * (3 - 2 * p)

    ways = (
        rates["grid"] * rates["diesel_a"] ** 2,  # no power
        two_of_three(rates["pump_a"]),
        rates["valve_a"] ** 2,
        rates["filter"],
        rates["exchanger"],
        rates["battery_a"] ** 2,
        two_of_three(rates["sensor_a"]),
    )
    by_hand = 1 - prod(1 - way for way in ways)
    assert float(query_network(fit.network, "P(cooling=failed)")) == pytest.approx(by_hand, rel=1e-9)
    for kind, low, high in (("pump", 2e-3, 2e-2), ("sensor", 1e-4, 2e-3), ("battery", 5e-4, 8e-3)):
        names = [name for name in rates if name.startswith(f"{kind}_")]
        assert len({rates[name] for name in names}) == 1
        assert low <= rates[names[0]] <= high
    assert 1e-6 <= rates["exchanger"] <= 1e-5
    assert rates["battery_a"] <= 0.5 * rates["pump_a"]
    events = {row["event"]: row for row in fit.importance("cooling").events.iter_rows(named=True)}
    assert len(events) == 15
    assert events["filter=failed"]["birnbaum"] == pytest.approx(1 - by_hand, rel=1e-3)


def test_a_match_says_less_than_its_rarity_suggests() -> None:
    """Bayes' rule by hand, with the estimated CPTs: innocent people are many, so that some of them match."""
    fit = credo.fit(example("court") / "court.credo", seed=1)
    burglar, printed, report = (np.asarray(fit.network.cpt_array(name)) for name in ("burglar", "print", "report"))
    match = burglar * (printed @ report[:, 1])
    found = float(query_network(fit.network, "P(burglar=suspect | report=match)"))
    assert found == pytest.approx(match[1] / match.sum())
    assert 0.05 < found < 0.6
