"""The study of published networks: its statements are true, its runs continue, its errors are over families."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.published import __main__ as main_module
from experiments.published.measures import accuracy, random_queries
from experiments.published.networks import RANDOM, family_of, half_of, in_order, network_files, true_network
from experiments.published.report import beside, family_mean, read_trials, summary_table, tables, write_page
from experiments.published.statements import all_influences, expert_statements, true_influences, with_wrong
from experiments.published.trials import COLUMNS, CONDITIONS, methods_of, run_trial

import credo
from credo import Network
from credo.constraints.lower import lower
from credo.constraints.violations import excess_by_statement
from credo.knowledge.statements import Statement


def violated(network: Network, statements: list[Statement]) -> int:
    constraints = lower(credo.Knowledge(network, statements))
    theta = constraints.layout.pack({name: network.cpt_array(name) for name in constraints.layout.names})
    return sum(each.is_violated for each in excess_by_statement(constraints, theta).values())


def rising() -> Network:
    """p raises x, q lowers it where p is low and raises it where p is high."""
    states = {"p": ["0", "1"], "q": ["0", "1"], "x": ["0", "1"]}
    cpts = {"p": [0.5, 0.5], "q": [0.5, 0.5], "x": [[[0.8, 0.2], [0.9, 0.1]], [[0.5, 0.5], [0.2, 0.8]]]}
    return Network(states, {"x": ["p", "q"]}).with_cpts({name: np.array(cpt) for name, cpt in cpts.items()})


def test_influences_hold_whatever_the_other_parents_are() -> None:
    assert [str(each) for each in true_influences(rising(), "x")] == ['"p" raises x']


def test_influences_follow_the_order_that_labels_suggest() -> None:
    """States are listed from high to low; what raises is what moves towards "high", wherever it is listed."""
    states = {"cause": ["yes", "no"], "x": ["high", "low"]}
    cpts = {"cause": np.array([0.5, 0.5]), "x": np.array([[0.8, 0.2], [0.3, 0.7]])}
    network = Network(states, {"x": ["cause"]}).with_cpts(cpts)
    assert [str(each) for each in all_influences(network)] == ["cause raises x"]
    assert violated(network, all_influences(network)) == 0


@pytest.mark.parametrize("name", RANDOM)
def test_an_expert_is_right_unless_made_wrong(name: str) -> None:
    network = true_network(name)
    said = expert_statements(network, 5, seed=3)
    assert violated(network, said) == violated(network, all_influences(network)) == 0
    wrong = with_wrong(network, said, 0.2, seed=3)
    assert violated(network, wrong) == round(0.2 * len(said)) == sum(a != b for a, b in zip(said, wrong, strict=True))


def test_without_files_there_are_random_networks(tmp_path: Path) -> None:
    assert tuple(network_files(tmp_path)) == RANDOM


def test_variants_are_one_family_in_one_half_and_come_late() -> None:
    assert family_of("covid12") == "covid"
    assert half_of("coral1") == half_of("coral5")
    assert in_order(["coral2", "coral1", "asia"])[-1] == "coral2"


def test_the_truth_has_no_error() -> None:
    network = rising()
    found = accuracy(network, network, random_queries(network, seed=1))
    assert found == pytest.approx({"weighted": 0.0, "unweighted": 0.0, "queries": 0.0}, abs=1e-12)


def test_weights_are_the_true_probabilities_of_configurations() -> None:
    """Where x is wrong in one of four configurations of equal probability, by hand: a quarter of its divergence."""
    network = rising()
    cpt = network.cpt_array("x").copy()
    cpt[0, 0] = [0.5, 0.5]
    wrong = network.with_cpts({**{name: network.cpt_array(name) for name in "pq"}, "x": cpt})
    divergence = 0.8 * np.log(0.8 / 0.5) + 0.2 * np.log(0.2 / 0.5)
    found = accuracy(network, wrong, random_queries(network, seed=1, count=2))
    assert found["weighted"] == pytest.approx(divergence / 4 / 3)  # of three CPTs
    assert found["unweighted"] == pytest.approx(divergence / 6)  # of six configurations


def test_standard_errors_are_over_families() -> None:
    frame = pl.DataFrame({"family": ["a", "a", "b"], "network": ["a1", "a2", "b"], "weighted": [1.0, 3.0, 4.0]})
    assert family_mean(frame, "weighted") == pytest.approx((3.0, 1.0, 2))


def records(*methods: str, condition: str = "two", network: str = RANDOM[0]) -> pl.DataFrame:
    return pl.DataFrame([run_trial((network, 30, 0, condition, method))[0] for method in methods])


def test_intervals_are_counted_and_reported(tmp_path: Path) -> None:
    found = records("credo", "laplace", "qmapc")
    mine = found.row(0, named=True)
    assert tuple(found.columns) == COLUMNS
    assert mine["numbers"] >= mine["numbers within 95%"] >= mine["numbers within 50%"]
    assert mine["answers"] == 20
    found.write_csv(tmp_path / "trials.csv")
    text = write_page(read_trials(tmp_path / "trials.csv"), tmp_path / "page.md")
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text
    assert "### two, 30 rows" in text
    assert "| two | 30 | held-out | 95% |" in text or "| two | 30 | development | 95% |" in text


def test_doubt_stands_beside_what_is_told_which_statements_are_wrong() -> None:
    found = records("credo", "left out", "trusting", "fcqmap", "irem", condition="wrong-20")
    assert set(found["statements"]) == {len(expert_statements(true_network(RANDOM[0]), 5, seed=1))}
    assert not found["weighted"].is_null().any()
    text = tables(found)
    assert all(f"| {method} | 1 | 1 |" in text for method in ("left out", "trusting", "fcqmap", "irem"))  # and its time
    assert "| wrong-20 | 30 | 1 | 1 | – |" in text


def test_an_older_run_stands_beside() -> None:
    found = records("credo", "laplace")
    assert set(beside(found.filter(pl.col("method") == "credo"), found)["method"]) == {"credo", "before", "laplace"}


def test_a_refusal_is_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise credo.CredoError("too large")

    with monkeypatch.context() as patched:
        patched.setattr(credo, "fit", refuse)
        found = records("credo", condition="none")
    assert found["status"].item() == "REFUSED"
    assert "none: REFUSED CredoError: too large" in tables(found)


def test_pyagrum_agrees_with_laplace_where_values_are_missing() -> None:
    pytest.importorskip("pyagrum")
    one, other = records("laplace", "pyagrum", condition="none-missing").iter_rows(named=True)
    assert one["weighted"] == pytest.approx(other["weighted"], rel=0.02)


def test_methods_follow_conditions() -> None:
    assert {name for name in CONDITIONS if "left out" in methods_of(name)} == {"wrong-10", "wrong-20"}
    assert [name for name in CONDITIONS if "hdp" in methods_of(name)] == ["none"]
    assert {name for name in CONDITIONS if "camap" not in methods_of(name)} == {"none", "none-missing"}


def test_the_command_continues_and_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_module, "network_files", lambda: dict.fromkeys(RANDOM))
    command = f"x --quick --processes 1 --methods laplace --conditions none --networks {RANDOM[0]} --out {tmp_path}"
    for networks in ([], [RANDOM[1]]):
        monkeypatch.setattr("sys.argv", [*command.split(), *(["--networks", RANDOM[0], *networks])])
        main_module.main()
    assert read_trials(tmp_path / "trials.csv")["network"].to_list() == [RANDOM[0], RANDOM[1]]
    assert (tmp_path / "published.md").exists()


def test_the_page_of_the_method_has_the_table_of_the_stored_results() -> None:
    root = Path(__file__).resolve().parents[2]
    stored = read_trials(root / "experiments" / "published" / "results" / "trials.csv")
    text = (root / "docs" / "method.md").read_text(encoding="utf-8")
    assert summary_table(stored) in text, "run python -m experiments.published --report"
