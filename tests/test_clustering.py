"""Clusters with rows that belong together or apart: ties hold, and they help."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo
from credo import DataError, MissingColumnError, OptionError, TieError, UnknownStateError


def a_table(rows: int = 240, clusters: int = 3, features: int = 5, seed: int = 0) -> tuple[pl.DataFrame, np.ndarray]:
    """Rows of a mixture, and the cluster that each came from."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(clusters, size=rows)
    tables = generator.dirichlet(np.full(4, 0.7), size=(features, clusters))
    letters = np.array(list("abcd"))
    columns = {
        f"f{j}": letters[[generator.choice(4, p=tables[j, cluster]) for cluster in truth]] for j in range(features)
    }
    return pl.DataFrame(columns), truth


def agreement(labels: np.ndarray, truth: np.ndarray) -> float:
    """The share of rows on which both agree, under the best names."""
    k = int(max(labels.max(), truth.max())) + 1
    return max(float(np.mean(np.array(names)[labels] == truth)) for names in permutations(range(k)))


def tied_column(truth: np.ndarray, tied: int) -> pl.Series:
    return pl.Series("group", [f"{truth[i]}.{i % 4}" if i < tied else None for i in range(len(truth))])


@pytest.mark.parametrize("merged", [False, True])
def test_rows_that_are_tied_share_a_cluster(merged: bool) -> None:
    table, truth = a_table()
    alone = credo.cluster(table, 3)
    tied = credo.cluster(table.with_columns(tied_column(truth, 120)), 3, ties="group", merged=merged)
    for group in set(tied_column(truth, 120).drop_nulls()):
        rows = np.flatnonzero((tied_column(truth, 120) == group).fill_null(False).to_numpy())
        assert len(set(tied.labels[rows].tolist())) == 1
        np.testing.assert_array_equal(tied.probabilities[rows], np.tile(tied.probabilities[rows[0]], (len(rows), 1)))
    assert agreement(tied.labels, truth) > agreement(alone.labels, truth)
    assert tied.sizes.sum() == len(table)
    assert tied.features == tuple(table.columns)
    assert tied.fit.cll is not None
    assert "240 rows in 3 clusters" in repr(tied)
    assert any(finding.kind == "ties" for finding in tied.findings)


def test_lists_of_rows_mean_what_a_column_means_and_rows_count_from_one() -> None:
    table, _ = a_table(rows=30)
    column = pl.Series("group", ["x", "x", None, "y", None, "y", "x", *[None] * 23])
    one = credo.cluster(table.with_columns(column), 2, ties="group")
    other = credo.cluster(table, 2, ties=[[1, 2], [2, 7], [4, 6]])
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.probabilities, other.probabilities)
    assert one.fit.cll == pytest.approx(other.fit.cll)


def test_rows_apart_are_apart() -> None:
    table, truth = a_table(rows=40)
    pairs = [(i + 1, j + 1) for i in range(8) for j in range(i) if truth[i] != truth[j]]
    found = credo.cluster(table, 3, apart=pairs)
    assert all(found.labels[i - 1] != found.labels[j - 1] for i, j in pairs)
    with pytest.raises(OptionError, match="2 clusters cannot keep these rows apart"):
        credo.cluster(table, 2, apart=[(1, 2), (2, 3), (1, 3)])
    with pytest.raises(TieError, match="Rows 1 and 2"):
        credo.cluster(table, 2, ties=[[1, 2]], apart=[[1, 2]])


@pytest.mark.parametrize("merged", [False, True])
def test_probabilities_of_tied_rows_are_those_of_all_that_they_hold(merged: bool) -> None:
    """P(x | group) ∝ P(x)^n Π P(row | x); where the tie is one draw, P(x) Π P(row | x)."""
    table, _ = a_table(rows=40, features=3)
    found = credo.cluster(table, 3, ties=[[1, 2, 3], [10, 11]], merged=merged)
    prior = found.fit.network.cpt_array("cluster")
    for rows in ([0, 1, 2], [9, 10], [20]):
        scores = prior ** (1 if merged else len(rows))
        for row, name in product(rows, found.features):
            scores = scores * found.fit.network.cpt_array(name)[:, "abcd".index(table[name][row])]
        np.testing.assert_allclose(found.probabilities[rows[0]], scores / scores.sum(), atol=1e-9)


def test_rows_that_are_not_tied_are_predicted_as_they_were_learned() -> None:
    table, _ = a_table(rows=50)
    found = credo.cluster(table, 3, ties=[[1, 2]])
    np.testing.assert_allclose(found.predict_probabilities(table)[2:], found.probabilities[2:], atol=1e-9)
    np.testing.assert_array_equal(found.predict(table)[2:], found.labels[2:])
    assert found.profile("f0").shape == (3, 5)
    with pytest.raises(UnknownStateError, match="f0"):
        found.predict(table.with_columns(f0=pl.lit("z")))


def test_any_table_will_do(tmp_path: Path) -> None:
    table, _ = a_table(rows=40)
    table = table.with_columns(n=pl.Series([1, 2, None, 2] * 10), b=pl.Series([True, False] * 20))
    want = credo.cluster(table, 2).labels
    table.write_csv(tmp_path / "t.csv")
    table.write_csv(tmp_path / "semicolons.csv", separator=";")
    table.write_parquet(tmp_path / "t.parquet")
    for source in (table.lazy(), pd.DataFrame(table.to_dict(as_series=False)), tmp_path / "t.csv",
                   str(tmp_path / "semicolons.csv"), tmp_path / "t.parquet"):  # fmt: skip
        np.testing.assert_array_equal(credo.cluster(source, 2).labels, want)


def test_the_same_seed_gives_the_same_clusters() -> None:
    table, truth = a_table(rows=60)
    table = table.with_columns(tied_column(truth, 30))
    one, other = (credo.cluster(table, 3, ties="group", seed=7) for _ in range(2))
    np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_a_column_of_the_name_of_the_hidden_variable_is_a_feature() -> None:
    table, _ = a_table(rows=30)
    found = credo.cluster(table.rename({"f0": "cluster", "f1": "tie"}), 2, ties=[[1, 2]])
    assert found.cluster == "cluster_"
    assert "cluster" in found.features


def test_what_cannot_be_clustered_is_said() -> None:
    table, _ = a_table(rows=60)
    for k in (0, 1.5, True, "3"):
        with pytest.raises(OptionError, match="whole number, at least 1"):
            credo.cluster(table, k)
    with pytest.raises(MissingColumnError, match='no column "grop"'):
        credo.cluster(table.with_columns(group=pl.lit("x")), 2, ties="grop")
    with pytest.raises(DataError, match="Column age holds 60 different numbers, but features are categories"):
        credo.cluster(table.with_columns(age=pl.Series(range(60))), 2)
    with pytest.raises(DataError, match="Column empty holds no value"):
        credo.cluster(table.with_columns(empty=pl.lit(None)), 2)
    with pytest.raises(DataError, match="no column left"):
        credo.cluster(table.select("f0"), 2, ties="f0")
    with pytest.raises(OptionError, match="ties names row 0, but rows are counted from 1 to 60"):
        credo.cluster(table, 2, ties=[[0, 1]])
    with pytest.raises(OptionError, match="ties is a list of lists"):
        credo.cluster(table, 2, ties=[1, 2])
    with pytest.raises(OptionError, match="does not name two rows"):
        credo.cluster(table, 2, apart=[[3, 3]])
    with pytest.raises(OptionError, match="is not a list of row numbers"):
        credo.cluster(table, 2, apart=[["a", "b"]])
    with pytest.raises(OptionError, match="cannot be merged"):
        credo.cluster(table, 2, apart=[[1, 2]], merged=True)
    with pytest.raises(DataError, match="neither"):
        credo.cluster([1, 2], 2)
    with pytest.raises(FileNotFoundError, match="no such file"):
        credo.cluster("nowhere.csv", 2)


def test_too_many_clusters() -> None:
    table = pl.DataFrame({"a": ["x", "y", "x"]})
    with pytest.raises(OptionError, match="There are 3 rows, too few for 4 clusters"):
        credo.cluster(table, 4)
    with pytest.raises(credo.TooLargeError, match="clusters would take"):
        credo.cluster(credo.partitioned(table), 10**12)


def test_measurements_are_no_categories() -> None:
    numbers = np.random.default_rng(0).normal(size=30)
    with pytest.raises(DataError, match="Column x holds 30 different numbers, but features are categories"):
        credo.cluster(pl.DataFrame({"x": numbers}), 2)
    doses = pl.DataFrame({"dose": [0.5, 1.0, 2.0, 0.5], "day": [1, 2, 3, 4]})
    assert credo.cluster(doses, 2).features == ("dose", "day")


def test_one_cluster_of_one_feature_in_words() -> None:
    assert "2 rows in 1 cluster of 2, by 1 feature;" in repr(credo.cluster(pl.DataFrame({"a": ["x", "y"]}), 1))
