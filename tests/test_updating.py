"""An update is equal to learning from all rows together: exactly for counts and optima, to the bit for draws."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo.report.audit_text import history_text
from tests.helpers.command_line import run
from tests.helpers.living import NETWORK, STATEMENTS, same, table

CASES = {
    "complete": (NETWORK, {}, (0.0, 0.0)),
    "statements": (NETWORK + STATEMENTS, {}, (0.0, 0.0)),
    "optimum": (NETWORK + STATEMENTS, {"method": "cmap"}, (0.0, 0.0)),
    "confidence": (NETWORK + "smoke lowers lung with confidence 0.7\n", {"method": "cmap"}, (0.0, 0.0)),
    "doubt": (NETWORK + STATEMENTS, {"doubt": True}, (0.0, 0.0)),
    "prior": (NETWORK, {"prior": "bdeu:4"}, (0.0, 0.0)),
    "missing": (NETWORK + STATEMENTS, {}, (0.2, 0.2)),
    "missing later": (NETWORK + STATEMENTS, {}, (0.0, 0.2)),
    "missing first": (NETWORK, {"method": "cmap"}, (0.2, 0.0)),
    "complete rows": (NETWORK, {"em": credo.EMOptions(complete_rows=True)}, (0.2, 0.2)),
    "ties": (NETWORK + "rows with equal pair share smoke\n", {"method": "cmap"}, (0.1, 0.1)),
    "noisy": (NETWORK + "variable cough: no, yes\ncough is noisy-or of lung, smoke\n", {"method": "cmap"}, (0.0, 0.0)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("is_saved", [False, True])
def test_it_equals_learning_from_all_rows(case: str, is_saved: bool, tmp_path: Path) -> None:
    text, options, missing = CASES[case]
    first, second = table(40, 1, missing[0]), table(30, 2, missing[1])
    if case == "ties":  # of each pair one shows whether it smokes
        first, second = (
            each.with_columns(smoke=pl.when(pl.int_range(pl.len()) % 2 == 0).then("smoke")) for each in (first, second)
        )
    fit = credo.fit(text, first, **options)
    if is_saved:
        fit = credo.load(fit.save(tmp_path / "model.fit"))
    same(fit.update(second), credo.fit(text, pl.concat([first, second]), **options))


def test_many_updates_and_knowledge_alone_first() -> None:
    tables = [table(20, seed) for seed in range(3)]
    fit = credo.fit(NETWORK + STATEMENTS)
    for each in tables:
        fit = fit.update(each)
    same(fit, credo.fit(NETWORK + STATEMENTS, pl.concat(tables)))
    assert [step.rows for step in fit.trail] == [0, 20, 20, 20]
    assert not any(finding.kind == "no data" for finding in fit.findings)


def test_statements_are_added_and_withdrawn() -> None:
    rows, more = table(40, 1), table(30, 2)
    fit = credo.fit(NETWORK + "smoke raises lung\n", rows, method="cmap")
    now = NETWORK + "P(xray=yes | lung=yes) >= 0.8\n"
    updated = fit.update(more, now, who="Dr. Bayes")
    same(updated, credo.fit(now, pl.concat([rows, more]), method="cmap"))
    step = updated.trail[-1]
    assert step.added == ("P(xray=yes | lung=yes) >= 0.8",)
    assert step.withdrawn == ("smoke raises lung",)
    assert step.who == "Dr. Bayes"
    assert step.changes
    assert fit.update(knowledge=now).rows == 40


def test_cut_points_are_those_of_the_fit() -> None:
    text = "age is cut at 40, 60\nvariable ill: no, yes\nill depends on age\n"
    first = pl.DataFrame({"age": [30.5, 50.0, 70.0, 20.0], "ill": ["no", "no", "yes", "no"]})
    second = pl.DataFrame({"age": [80.0, 45.0], "ill": ["yes", "no"]})
    fit = credo.fit(text, first, method="ml")
    updated, together = fit.update(second), credo.fit(text, pl.concat([first, second]), method="ml")
    assert updated.network == together.network  # the range of the numbers included
    with pytest.raises(credo.KnowledgeError, match="in the network age is cut at 40, 60"):
        fit.update(second, text.replace("40", "45"))


def test_new_states_and_columns_lose_nothing() -> None:
    fit = credo.fit(NETWORK, table(40, 1), method="ml")
    with pytest.raises(credo.UnknownStateError, match=r"(?s)maybe.*nothing was changed"):
        fit.update(pl.DataFrame({"smoke": ["maybe"], "lung": ["no"], "xray": ["no"]}))
    updated = fit.update(table(10, 2).with_columns(age=pl.lit(3)))
    assert any("age" in finding.message for finding in updated.findings if finding.kind == "columns not used")


def test_a_table_that_was_learned_from_is_noticed(tmp_path: Path) -> None:
    table(20, 1).write_csv(tmp_path / "a.csv")
    fit = credo.fit(NETWORK, tmp_path / "a.csv", method="ml")
    assert any(finding.kind == "table twice" for finding in fit.update(tmp_path / "a.csv").findings)


def test_without_rows_complete_rows_are_enough_and_others_are_not(tmp_path: Path) -> None:
    complete = credo.load(credo.fit(NETWORK, table(40, 1), method="ml").save(tmp_path / "a.fit", without_rows=True))
    assert complete.update(table(10, 2)).rows == 50
    fit = credo.fit(NETWORK, table(40, 1, 0.2), method="cmap")
    with pytest.raises(credo.OptionError, match="without them"):
        credo.load(fit.save(tmp_path / "b.fit", without_rows=True)).update(table(10, 2))


def test_forgetting_is_a_weight_of_rows() -> None:
    first, second = table(40, 1), table(30, 2)
    ages = np.arange(69, -1, -1)
    together = credo.fit(NETWORK, pl.concat([first, second]), weights=2.0 ** (-ages / 25), method="ml")
    fit = credo.fit(NETWORK, weights=None, method="ml").update(first, forget=25).update(second, forget=25)
    for name in ("smoke", "lung", "xray"):
        assert np.allclose(fit.network.cpts[name], together.network.cpts[name], atol=1e-12)
    with pytest.raises(credo.OptionError, match="above 0"):
        fit.update(first, forget=-1)


def test_forgetting_follows_a_process_that_drifts() -> None:
    """Better than all rows, and than the last window alone, on average over a process that changes slowly."""
    coin = credo.Network({"coin": ["heads", "tails"]})
    random = np.random.default_rng(5)
    errors: dict[str, list[float]] = {"forget": [], "all": [], "window": []}
    fit, heads, log_odds = credo.fit(coin, method="map"), [], 0.0
    for _ in range(40):
        log_odds += random.normal(0.0, 0.35)
        truth = 1.0 / (1.0 + np.exp(-log_odds))
        window = random.random(50) < truth
        heads.append(window)
        fit = fit.update(pl.DataFrame({"coin": np.where(window, "heads", "tails").tolist()}), forget=75)
        everything = np.concatenate(heads)
        for name, estimate in (
            ("forget", fit.network.cpts["coin"][0]),
            ("all", (everything.sum() + 1) / (len(everything) + 2)),
            ("window", (window.sum() + 1) / (len(window) + 2)),
        ):
            errors[name].append((estimate - truth) ** 2)
    means = {name: float(np.mean(values)) for name, values in errors.items()}
    assert means["forget"] < min(means["all"], means["window"])


def drifting(start: float, steps: Sequence[float], window: int, seed: int) -> dict[str, float]:
    """The mean squared error of the probability of heads, by how an update treats what came before."""
    coin = credo.Network({"coin": ["heads", "tails"]})
    random = np.random.default_rng(seed)
    fits = {"auto": credo.fit(coin, method="map"), "all": credo.fit(coin, method="map")}
    errors: dict[str, list[float]] = {"auto": [], "all": [], "last": []}
    log_odds = start
    for step in steps:
        log_odds += step * random.normal()
        truth = 1.0 / (1.0 + np.exp(-log_odds))
        rows = random.random(window) < truth
        frame = pl.DataFrame({"coin": np.where(rows, "heads", "tails").tolist()})
        fits = {name: fit.update(frame, forget="auto" if name == "auto" else None) for name, fit in fits.items()}
        for name, fit in fits.items():
            errors[name].append((fit.network.cpts["coin"][0] - truth) ** 2)
        errors["last"].append(((rows.sum() + 1) / (window + 2) - truth) ** 2)
    return {name: float(np.mean(each)) for name, each in errors.items()}


@pytest.mark.parametrize(
    ("drift", "steps"),
    [("none", [0.0] * 25), ("slow", [0.15] * 25), ("fast", [0.5] * 25), ("a jump", [0.0] * 12 + [2.0] + [0.0] * 12)],
)
def test_how_much_is_forgotten_is_learned(drift: str, steps: list[float]) -> None:
    found = [drifting(0.3, steps, 200, seed) for seed in range(6)]
    means = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    if drift == "none":
        assert means["auto"] < min(0.4 * means["last"], 2.5 * means["all"])
    elif drift == "fast":  # hardly anything can be gained over the last rows alone
        assert means["auto"] < min(0.1 * means["all"], 1.2 * means["last"])
    else:
        assert means["auto"] < min(means["all"], means["last"])


def test_what_was_learned_to_be_forgotten_is_recorded(tmp_path: Path) -> None:
    coin = credo.Network({"coin": ["heads", "tails"]})
    heads, tails = (pl.DataFrame({"coin": [state] * 60}) for state in ("heads", "tails"))
    fit = credo.fit(coin, heads, method="map").update(tails, forget="auto")
    assert fit.trail[-1].kept < 0.1
    assert fit.network.cpts["coin"][0] < 0.1
    again = credo.load(fit.save(tmp_path / "a.fit"))
    assert "count" in history_text(again)
    assert again.reproduce(tmp_path).agrees
    for _ in range(3):
        fit = fit.update(tails, forget="auto")
    assert fit.trail[-1].kept > 0.5
    with pytest.raises(credo.OptionError, match="or auto"):
        fit.update(tails, forget="never")  # type: ignore[arg-type]


def test_an_update_that_fails_leaves_the_file(tmp_path: Path) -> None:
    table(20, 1).write_csv(tmp_path / "a.csv")
    (tmp_path / "bad.csv").write_text("smoke,lung,xray\nno,no,perhaps\n")
    (tmp_path / "k.credo").write_text(NETWORK + STATEMENTS)
    assert run("learn", "k.credo", "a.csv", "--save", "m.fit", folder=tmp_path).returncode == 0
    before = (tmp_path / "m.fit").read_bytes()
    done = run("update", "m.fit", "bad.csv", folder=tmp_path)
    assert done.returncode == 2
    assert "nothing was changed" in done.stderr
    assert (tmp_path / "m.fit").read_bytes() == before


def test_the_command_line_updates_shows_the_history_and_reproduces(tmp_path: Path) -> None:
    table(20, 1).write_csv(tmp_path / "a.csv")
    table(30, 2).write_csv(tmp_path / "b.csv")
    (tmp_path / "k.credo").write_text(NETWORK + STATEMENTS)
    assert run("learn", "k.credo", "a.csv", "--save", "m.fit", "--who", "Ada", folder=tmp_path).returncode == 0
    done = run("update", "m.fit", "b.csv", "--who", "Grace", "--ask", "P(lung=yes)", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "50 rows" in done.stdout
    assert "It keeps no rows, but the counts of all 50 rows" in done.stdout.replace("\n", " ")
    history = run("history", "m.fit", folder=tmp_path).stdout
    for word in ("Ada", "Grace", "a.csv", "b.csv", "20 rows", "30 rows", credo.__version__):
        assert word in history
    assert "every bit agrees. It was made of a.csv, b.csv" in run("reproduce", "m.fit", folder=tmp_path).stdout
    (tmp_path / "b.csv").write_text("smoke\nno\n")
    again = run("reproduce", "m.fit", folder=tmp_path)
    assert again.returncode == 0
    assert "counts that the fit keeps, because b.csv" in again.stdout.replace("\n", " ")


def test_counts_bring_the_states_that_nobody_declares(tmp_path: Path) -> None:
    text = "lung depends on smoke, age\nage is cut at 40, 60\nsmoke raises lung\n"
    rng = np.random.default_rng(0)
    tables = [
        pl.DataFrame(
            {
                "smoke": rng.choice(["no", "yes"], 50),
                "lung": rng.choice(["no", "yes"], 50),
                "age": rng.normal(50, 15, 50),
            }
        )
        for _ in range(2)
    ]
    paths = [tmp_path / "a.counts", tmp_path / "b.counts"]
    for rows, path in zip(tables, paths, strict=True):
        credo.summarise(text, rows, path)
    by_counts = credo.fit(text, [*map(str, paths)], method="cmap")
    by_rows = credo.fit(text, tables, method="cmap")
    asked = "P(lung=yes | smoke=yes, age=60+)"
    assert by_counts.query(asked).probability == pytest.approx(by_rows.query(asked).probability, abs=1e-9)
    assert by_counts.rows == 100
    other = tables[0].with_columns(lung=pl.when(pl.int_range(50) == 3).then(pl.lit("so so")).otherwise(pl.col("lung")))
    credo.summarise(text.replace("smoke raises lung", ""), other, paths[0])
    with pytest.raises(credo.DataError, match="counted with other states or cut points of lung"):
        credo.fit(text.replace("smoke raises lung", ""), [*map(str, paths)])
