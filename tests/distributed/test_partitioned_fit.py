"""Learning from partitions on this machine: the same as from one table, streamed, and within a limit of memory."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo.distributed.executor import LocalExecutor
from credo.distributed.spilling import Spilled
from credo.estimation.em import driver
from credo.io.partitions import partitioned_at
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.draw_missing import draw_in_parts, figures_of
from credo.statistics.partitioned_rows import Reading, read_partitions
from credo.testing import made_up_network, with_missing_values
from tests.helpers.partitioned import COMPLETE, KNOWLEDGE, MISSING, NETWORK, TRUE, files, stop_after

QUICK = credo.EMOptions(starts=2, max_iterations=200)


def largest_difference(one: credo.Fit, two: credo.Fit) -> float:
    return max(float(np.abs(one.network.cpts[name] - two.network.cpts[name]).max()) for name in one.network.names)


def both(folder: Path, frame: pl.DataFrame, *arguments: Any, **options: Any) -> tuple[credo.Fit, credo.Fit]:
    whole = credo.fit(NETWORK, frame, *arguments, **options)
    return whole, credo.fit(NETWORK, credo.partitioned(files(folder, frame), rows=150), *arguments, **options)


@pytest.mark.parametrize("method", ["ml", "map", "me", "co", "cml", "cmap", "cme", "qmap", "qmapc", "cem", "posterior"])
def test_counting_methods_give_the_same(tmp_path: Path, method: str) -> None:
    whole, parts = both(tmp_path, COMPLETE, KNOWLEDGE, method=method)
    assert largest_difference(whole, parts) == 0.0
    assert parts.log_likelihood == whole.log_likelihood
    assert (parts.rows, parts.status) == (whole.rows, whole.status)
    assert [f.message for f in parts.findings] == [f.message for f in whole.findings]


@pytest.mark.parametrize(
    "method",
    ["ml", "map", "me", "cmap", "cme", *(pytest.param(name, marks=pytest.mark.slow) for name in ("co", "cml", "qmap"))],
)
def test_em_gives_the_same(tmp_path: Path, method: str) -> None:
    whole, parts = both(tmp_path, MISSING, KNOWLEDGE, method=method, em=QUICK)
    assert largest_difference(whole, parts) < 1e-12
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert [f.message for f in parts.findings] == [f.message for f in whole.findings]


def test_a_hidden_variable(tmp_path: Path) -> None:
    whole, parts = both(tmp_path, MISSING.drop("v0"), method="map", em=QUICK)
    assert largest_difference(whole, parts) < 1e-10  # nearly flat: roundings grow from iteration to iteration
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert any("v0 is missing in every row" in f.message for f in parts.findings)


def test_a_noisy_family(tmp_path: Path) -> None:
    frame = pl.DataFrame({"cold": ["n", "y", "y", "n"] * 6, "flu": ["n", "y", "n"] * 8, "fever": ["n", "y", "y"] * 8})
    knowledge = "variables cold, flu, fever: n, y\nfever is noisy-or of {cold}, {flu} with leak"
    whole = credo.fit(knowledge, frame, method="cmap", em=QUICK)
    parts = credo.fit(knowledge, credo.partitioned(files(tmp_path, frame), rows=5), method="cmap", em=QUICK)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)
    assert largest_difference(whole, parts) < 1e-10


def test_soft_statements_choose_their_weight_by_the_same_folds(tmp_path: Path) -> None:
    soft = "P(v0=state0) >= 0.6 with confidence 80%"
    for frame in (COMPLETE, MISSING[:200]):
        whole, parts = both(tmp_path, frame, soft, method="cmap", em=credo.EMOptions(starts=1, max_iterations=20))
        assert parts._problem.settings.soft_weight == whole._problem.settings.soft_weight
        assert largest_difference(whole, parts) < 1e-12


def test_weights_are_a_column(tmp_path: Path) -> None:
    weighted = MISSING.with_columns(w=pl.Series(np.random.default_rng(0).integers(0, 4, len(MISSING))))
    whole, parts = both(tmp_path, weighted, method="map", weights="w", em=QUICK)
    assert largest_difference(whole, parts) < 1e-12
    with pytest.raises(credo.OptionError, match="are the name of a column"):
        credo.fit(NETWORK, credo.partitioned(weighted), weights=np.ones(len(MISSING)))
    with pytest.raises(credo.DataError, match="it is a variable of the network"):
        credo.fit(NETWORK, credo.partitioned(weighted), weights="v0")
    nothing = MISSING.with_columns(w=pl.lit(0))
    with pytest.raises(credo.DataError, match="weight"):
        credo.fit(NETWORK, credo.partitioned(nothing), weights="w")


def test_complete_rows_alone(tmp_path: Path) -> None:
    whole, parts = both(tmp_path, MISSING, method="map", em=credo.EMOptions(complete_rows=True))
    assert largest_difference(whole, parts) == 0.0
    assert [f.message for f in parts.findings] == [f.message for f in whole.findings]
    with pytest.raises(credo.DataError, match="No row is complete"):
        credo.fit(
            NETWORK,
            credo.partitioned(MISSING.with_columns(v0=pl.lit(None, pl.String))),
            em=credo.EMOptions(complete_rows=True),
        )


def test_a_glob_and_a_csv_file_that_does_not_fit(tmp_path: Path) -> None:
    whole = credo.fit(NETWORK, MISSING, method="map", em=QUICK)
    glob = credo.fit(NETWORK, files(tmp_path, MISSING), method="map", em=QUICK)
    assert largest_difference(whole, glob) == 0.0  # one partition
    MISSING.write_csv(tmp_path / "rows.csv")
    streamed = credo.fit(NETWORK, credo.partitioned(tmp_path / "rows.csv", rows=200), method="map", em=QUICK)
    assert largest_difference(whole, streamed) < 1e-12


def test_prepared_partitions_on_disk_give_the_same_bits(tmp_path: Path) -> None:
    table = credo.partitioned(files(tmp_path, MISSING), rows=150)
    reading = Reading(NETWORK, layout_for_counts(NETWORK), None, (), 0, None)
    found = []
    for memory in (10**9, 0):
        rows = read_partitions(LocalExecutor(memory), table.partitions, reading)
        prepared = rows.prepared()
        assert all(isinstance(handle, Spilled) == (memory == 0) for handle in prepared.parts.handles)
        theta = prepared.layout.pack({name: TRUE.cpt_array(name) for name in NETWORK.names})
        found.append(prepared.evaluate(theta))
    assert np.array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_a_memory_limit_cuts_files_and_keeps_the_result(tmp_path: Path) -> None:
    files(tmp_path, MISSING)
    whole = credo.fit(NETWORK, MISSING, method="map", em=QUICK)
    limited = credo.fit(NETWORK, tmp_path, method="map", em=QUICK, memory_limit=50_000)
    assert largest_difference(whole, limited) < 1e-12


LIMITED = """
import resource, sys
import credo, polars as pl
from pathlib import Path

folder, limit = Path(sys.argv[1]), int(sys.argv[2])
network = credo.read_network(folder / "net.bif").without_cpts()
options = {"method": "map", "em": credo.EMOptions(starts=1, max_iterations=2)}

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

credo.fit(network, pl.read_parquet(folder / "0.parquet", n_rows=5_000), **options)  # loads all that is needed
before = peak()
credo.fit(network, str(folder / "*.parquet"), memory_limit=limit, **options)
print(peak() - before)
"""


@pytest.mark.slow
def test_a_memory_limit_is_kept(tmp_path: Path) -> None:
    true = made_up_network(30, (2, 3), (0.2, 0.8), seed=3)
    credo.write_network(true, tmp_path / "net.bif")
    for number in range(2):
        with_missing_values(true.sample(250_000, number), 0.4, number).write_parquet(tmp_path / f"{number}.parquet")

    def added(limit: int) -> int:
        command = [sys.executable, "-c", LIMITED, str(tmp_path), str(limit)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        return int(done.stdout)

    added(2**33)  # compiling takes more memory than what is measured, where nothing is compiled yet
    assert added(2**33) > 60_000_000  # otherwise the limit below would show nothing
    assert added(60_000_000) < 60_000_000


def test_a_checkpoint_continues_and_knows_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = credo.partitioned(files(tmp_path, MISSING), rows=150)
    whole = credo.fit(NETWORK, table, method="map", em=QUICK)
    path = tmp_path / "run.npz"

    def run(data: Any, most: int) -> credo.Fit:
        options = credo.EMOptions(starts=2, max_iterations=most, checkpoint=path)
        return credo.fit(NETWORK, data, method="map", em=options)

    with monkeypatch.context() as patched:
        patched.setattr(driver, "_save", stop_after(3))
        with pytest.raises(KeyboardInterrupt):
            run(table, 200)
    with pytest.raises(credo.OptionError, match="belongs to another run"):
        run(credo.partitioned(files(tmp_path, MISSING.reverse()), rows=150), 200)
    files(tmp_path, MISSING)
    assert largest_difference(whole, run(table, 200)) == 0.0


# Mistakes -------------------------------------------------------------------------------------------------------------


def test_a_column_that_only_some_files_have_is_an_error(tmp_path: Path) -> None:
    pattern = files(tmp_path, MISSING)
    MISSING[:10].drop("v2").write_parquet(tmp_path / "part-1.parquet")
    for rows in (150, 1000):  # in another partition, and in the same
        with pytest.raises(credo.DataError, match=r"part-1.parquet has no column v2, but .*part-0.parquet has one"):
            credo.fit(NETWORK, credo.partitioned(pattern, rows=rows))


def test_an_impossible_row_is_named_with_its_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["n", "y", "y"] * 4, "b": ["n", "y", None] * 4})
    frame = frame.with_columns(c=pl.Series(["n"] * 11 + ["y"]))
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"], "c": ["n", "y"]}, {"b": ["a"], "c": ["b"]})
    pattern = files(tmp_path, frame, 2)
    never = "P(c=y | b=n) = 0\nP(c=y | b=y) = 0"
    with pytest.raises(credo.ImpossibleRowError, match=r"part-1.parquet, row 6 is impossible: ") as found:
        credo.fit(network, credo.partitioned(pattern, rows=3), never, method="cmap", em=QUICK)
    assert (found.value.row, found.value.statements) == (12, (1, 2))
    fixed = network.with_cpts({"a": [0.5, 0.5], "b": [[0.5, 0.5]] * 2, "c": [[1.0, 0.0]] * 2})
    complete = frame.with_columns(b=pl.col("b").fill_null("n"), a=pl.Series(["n"] * 11 + [None]))
    pattern = files(tmp_path, complete, 2)
    with pytest.raises(credo.ImpossibleRowError, match=r"part-1.parquet, row 6 is impossible: .*c=y"):
        credo.fit(fixed, credo.partitioned(pattern, rows=3), method="map", fixed=["c", "b"], em=QUICK)


def test_states_have_to_be_known(tmp_path: Path) -> None:
    pattern = files(tmp_path, COMPLETE)
    with pytest.raises(credo.CredoError):
        credo.fit("v1 depends on v0", pattern)


def test_rows_are_tied_by_no_numbers(tmp_path: Path) -> None:
    with pytest.raises(credo.OptionError, match="not tied by their numbers"):
        credo.fit(NETWORK, credo.partitioned(MISSING), "rows 1, 2 share v0")


@pytest.mark.slow  # the test of completed rows below runs always
def test_missing_values_in_partitions_are_drawn() -> None:
    rows = pl.DataFrame({"a": ["n", "y", "y", None] * 10, "b": ["n", "y", None, "y"] * 10})
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    options = credo.PosteriorOptions(draws=200, warmup=50, chains=4)
    whole, parts = (
        credo.fit(network, table, method="posterior", posterior=options, em=QUICK)
        for table in (rows, credo.partitioned(rows, rows=15))
    )
    assert parts.status in (credo.Status.AVERAGED, credo.Status.NOT_MIXED)
    assert largest_difference(whole, parts) < 0.08  # both are averages of few draws
    assert parts.interval_arrays("b")[0].shape == whole.interval_arrays("b")[0].shape
    again = credo.fit(network, credo.partitioned(rows, rows=15), method="posterior", posterior=options, em=QUICK)
    assert largest_difference(parts, again) == 0.0


@pytest.mark.parametrize("memory", [10**9, 0])
def test_completed_rows_are_on_average_what_em_expects(tmp_path: Path, memory: int) -> None:
    table = credo.partitioned(files(tmp_path, MISSING[:90]), rows=30)
    reading = Reading(NETWORK, layout_for_counts(NETWORK), None, (), 0, None)
    prepared = read_partitions(LocalExecutor(memory), table.partitions, reading).prepared()
    theta = prepared.layout.pack({name: TRUE.cpt_array(name) for name in NETWORK.names})
    expected, _, _ = prepared.evaluate(theta)
    figures = figures_of(prepared)
    assert (figures.parts, figures.fractional) == (3, None)
    rng = np.random.default_rng(1)
    found = np.array([draw_in_parts(prepared, theta, rng) for _ in range(200)])
    error = found.std(axis=0) / 200**0.5 + 1e-9
    assert np.all(np.abs(found.mean(axis=0) - expected) < 5 * error + 0.01)
    again = draw_in_parts(prepared, theta, np.random.default_rng(1))
    assert np.array_equal(again, found[0])


def test_auto_does_not_draw_what_takes_long() -> None:
    fit = credo.fit(NETWORK, credo.partitioned(MISSING, rows=50), em=QUICK)
    assert fit.method == "cmap"
    assert any("drawing the missing values would take about" in f.message for f in fit.findings)


def test_parts_of_rows_cannot_be_drawn() -> None:
    weighted = MISSING[:60].with_columns(w=pl.lit(0.5))
    fit = credo.fit(NETWORK, credo.partitioned(weighted, rows=20), method="posterior", weights="w", em=QUICK)
    assert any("only whole rows can be completed" in f.message for f in fit.findings)


# Ties -----------------------------------------------------------------------------------------------------------------


def twins(count: int = 60) -> pl.DataFrame:
    generator = np.random.default_rng(4)
    lung = np.repeat(generator.integers(0, 2, count // 2), 2)
    test = np.where(generator.random(count) < 0.8, lung, 1 - lung)
    hidden = generator.random(count) < 0.5
    states = np.array(["n", "y"])
    return pl.DataFrame(
        {
            "pair": np.repeat(np.arange(count // 2), 2),
            "lung": pl.Series(states[lung]).set(pl.Series(hidden), None),
            "test": states[test],
        }
    )


TWINS = credo.Network({"lung": ["n", "y"], "test": ["n", "y"]}, {"test": ["lung"]})


@pytest.mark.parametrize("reading", ["selected", "joint", "merged"])
def test_rows_are_tied_within_partitions(tmp_path: Path, reading: str) -> None:
    frame, options = twins(), {"method": "cmap", "em": replace(QUICK, tie_reading=reading)}
    whole = credo.fit(TWINS, frame, "rows with equal pair share lung", **options)
    table = credo.partitioned(files(tmp_path, frame), rows=20)
    parts = credo.fit(TWINS, table, "rows with equal pair share lung", **options)
    assert largest_difference(whole, parts) < 1e-3  # steps end within 1e-4, and messages start anew in each iteration
    assert parts.cll == pytest.approx(whole.cll, abs=1e-4)
    assert [f.message for f in parts.findings if f.kind == "ties"] == [
        f.message for f in whole.findings if f.kind == "ties"
    ]


def test_ties_across_partitions_are_an_error_that_says_how_to_repartition(tmp_path: Path) -> None:
    table = credo.partitioned(files(tmp_path, twins(), 4), rows=15)  # the first pair that is cut is in two files
    with pytest.raises(credo.DataError, match=r'equal pair are in several partitions .*frame.shuffle\("pair"\)'):
        credo.fit(TWINS, table, "rows with equal pair share lung", em=QUICK)


def test_a_column_of_ties_that_is_missing_is_a_mistake(tmp_path: Path) -> None:
    table = credo.partitioned(files(tmp_path, twins().drop("pair")), rows=20)
    with pytest.raises(credo.KnowledgeError, match="pair"):
        credo.fit(TWINS, table, "rows with equal pair share lung", em=QUICK)


# Clusters and topics --------------------------------------------------------------------------------------------------


def test_clusters_of_rows_in_partitions(tmp_path: Path) -> None:
    frame = twins()
    for ties in (None, "pair"):
        table = frame if ties else frame.drop("pair")
        whole = credo.cluster(table, 2, ties=ties, em=QUICK)
        parts = credo.cluster(credo.partitioned(files(tmp_path, table), rows=20), 2, ties=ties, em=QUICK)
        assert np.array_equal(parts.labels, whole.labels)
        assert np.abs(parts.probabilities - whole.probabilities).max() < 1e-2
        assert parts.features == whole.features
    with pytest.raises(credo.OptionError, match="tied by a column"):
        credo.cluster(credo.partitioned(frame), 2, ties=[[1, 2]])
    frame.write_csv(tmp_path / "rows.csv")
    with pytest.raises(credo.OptionError, match="Parquet files"):
        credo.cluster(credo.partitioned(tmp_path / "rows.csv"), 2)


def test_topics_by_an_executor() -> None:
    texts = ["planning search heuristic", "search heuristic", "bayesian network", "network bayesian data"] * 2
    here = credo.topics(texts, 2, em=QUICK)
    there = credo.topics(texts, 2, em=QUICK, executor=LocalExecutor(10**9))
    assert there.fit.log_likelihood == pytest.approx(here.fit.log_likelihood, rel=1e-9)
    tied = credo.topics(texts, 2, together=[["bayesian", "network"]], em=QUICK, executor=LocalExecutor(10**9))
    assert tied.together_share(2).tolist() == [1.0]


def test_partitions_are_cut_where_keys_change() -> None:
    keys = np.array([0, 0, 1, 1, 1, 2, 3, 3])
    dataset = credo.Dataset(("v",), np.zeros((8, 1), dtype=np.int8))
    table = partitioned_at(dataset, keys, rows=3)
    assert [len(part.frame) for part in table.partitions] == [5, 1, 2]
    assert [part.first for part in table.partitions] == [0, 5, 6]
