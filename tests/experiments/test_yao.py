"""The experiments on tied rows, on tables and texts small enough for a test."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.running import Job, Record, require, run_jobs
from experiments.yao import clustering, figure5, synthetic, topic_rivals
from experiments.yao.clustering import tied_rows
from experiments.yao.clustering_report import write_clustering
from experiments.yao.labelled import Labelled, labelled
from experiments.yao.learners import LEARNERS, compare
from experiments.yao.pairs import pairwise_f
from experiments.yao.synthetic_report import write_synthetic
from experiments.yao.tables import agreeing_pairs, drawn_ties, found_ties
from experiments.yao.topics import topic_records, word_shares
from experiments.yao.topics_report import write_topics

from credo import Network, read_corpus, topics
from credo.testing import with_missing_values
from tests.helpers.problems import known_network


def test_pairs_agree_and_no_position_is_in_two() -> None:
    generator = np.random.default_rng(0)
    values = generator.integers(3, size=101)
    pairs = list(agreeing_pairs(values, generator))
    assert all(values[first] == values[second] for first, second in pairs)
    positions = [position for pair in pairs for position in pair]
    assert len(set(positions)) == len(positions) >= 98  # one of each value at most is left


def test_found_ties_grow_with_the_share_and_connect_equal_hidden_values() -> None:
    truth, _ = known_network()
    complete = truth.sample(200, 1)
    rows = with_missing_values(complete, 0.5, 2)
    few, many = (found_ties(complete, rows, ("b", "c"), share, (3,)) for share in (0.2, 0.8))
    for name in ("b", "c"):
        column = many.rows[f"tie {name}"]
        assert set(column.drop_nulls().value_counts()["count"]) == {2}
        assert rows[name].filter(column.is_not_null()).null_count() == column.count()
        assert complete.group_by(column).agg(pl.col(name).n_unique()).drop_nulls()[name].max() == 1
        assert (few.rows[f"tie {name}"].is_null() | (few.rows[f"tie {name}"] == column)).all()
        assert column.count() == pytest.approx(0.8 * rows[name].null_count(), abs=2)
    assert few.ties < many.ties


def certain() -> Network:
    """A value that is rarely 1, and a copy of it that is nearly always right."""
    network = Network({"x": ["0", "1"], "copy": ["0", "1"]}, {"copy": ["x"]})
    return network.with_cpts({"x": np.array([0.9, 0.1]), "copy": np.array([[0.99, 0.01], [0.01, 0.99]])})


def test_found_pairs_overestimate_rare_values_and_drawn_pairs_do_not() -> None:
    truth = certain()
    complete = truth.sample(2_000, 1)
    rows = with_missing_values(complete, 0.9, 2).with_columns(copy=complete["copy"])
    found = found_ties(complete, rows, ("x",), 0.9, (3,))
    learned, settled, exact = LEARNERS["CLL"](truth.without_cpts(), found, 1, 0)
    assert settled
    assert exact
    assert learned.cpt_array("x")[1] > 0.15
    assert LEARNERS["joint"](truth.without_cpts(), found, 1, 0)[0].cpt_array("x")[1] < 0.12

    drawn = drawn_ties(truth, 2_000, 0.0, truth.names, 1.0, seed=4)
    assert LEARNERS["CLL"](truth.without_cpts(), drawn, 1, 0)[0].cpt_array("x")[1] == pytest.approx(0.1, abs=0.02)
    assert LEARNERS["EM"](truth.without_cpts(), drawn, 1, 0)[0].cpt_array("x")[1] < 0.07
    assert drawn.rows["tie x"].count() + drawn.rows["tie copy"].count() == 2_000


def test_a_small_synthetic_study_is_run_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    truth, _ = known_network()
    for name, value in {"ROWS": 60, "SHARES": (0.4, 0.8), "MISSING": (0.3, 0.6), "TIED": 3}.items():
        monkeypatch.setattr(synthetic, name, value)
    monkeypatch.setattr(synthetic.credo, "read_network", lambda _: truth)
    axes = {"variables": (0.0, 2.0, 4.0), "rows": (256.0, 512.0), **dict.fromkeys(synthetic.PAIRED, (0.0, 1.0))}
    axes["update"] = (2.0,)
    records = [
        record
        for study, axis in axes.items()
        for x in axis
        for draw in range(2)
        for record in synthetic.run_cell((study, "small", draw, x, 1))
    ]
    results = pl.DataFrame(records)
    none = results.filter((pl.col("study") == "variables") & (pl.col("x") == 0))
    assert none.group_by("draw").agg(pl.col("kl").n_unique())["kl"].to_list() == [1, 1]
    text = write_synthetic(results, tmp_path)
    assert "Figure 6: the gain over EM is larger" in text
    figures = {f"synthetic_{study}.png" for study in ("variables", "rows", "pairs")}
    assert {path.name for path in tmp_path.iterdir()} == {"synthetic.md"} | figures


def test_learners_agree_without_ties() -> None:
    truth, _ = known_network()
    complete = truth.sample(80, 1)
    table = found_ties(complete, with_missing_values(complete, 0.3, 2), (), 0.5, (0,))
    em, cll = compare(truth, table, {name: LEARNERS[name] for name in ("EM", "CLL")}, 2, 0)
    assert em["kl"] == cll["kl"]


def test_f_over_pairs_by_hand() -> None:
    classes, clusters = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    # Predicted: (0, 1), (2, 3), (2, 4), (3, 4); true: (0, 1), (0, 2), (1, 2), (3, 4).
    assert pairwise_f(clusters, classes) == 0.5
    assert pairwise_f(classes, classes) == 1.0
    # The pair (3, 4) is tied: of the three others on each side one is right.
    assert pairwise_f(clusters, classes, np.array([-1, -1, -1, 0, 0])) == pytest.approx(1 / 3)


def test_missing_values_are_replaced_and_numbers_binned() -> None:
    table = pl.DataFrame(
        {
            "word": ["a", "?", "a", "b"] * 5,
            "number": [*(str(i) for i in range(19)), "?"],
            "same": ["x"] * 20,
            "class": ["yes", "no"] * 10,
        }
    )
    found = labelled(table, "class")
    assert found.features.columns == ["word", "number"]
    assert found.features["word"][1] == "a"
    assert found.features["number"].n_unique() == 10
    assert found.features["number"][19] == found.features["number"][9]  # the mean
    assert found.classes == 2


def test_ties_connect_rows_of_one_part_and_class() -> None:
    classes = np.arange(100) % 3
    few, all_rows = (tied_rows(classes, share, 1) for share in (0.4, 1.0))
    assert tied_rows(classes, 0.0, 1).max() == -1
    assert (all_rows >= 0).all()
    assert len(np.unique(all_rows)) == 15
    for ties in (few, all_rows):
        for tie in range(ties.max() + 1):
            assert len(np.unique(classes[ties == tie])) == 1
    assert (all_rows[few >= 0] >= 0).all()


def two_groups(rows: int = 60) -> Labelled:
    generator = np.random.default_rng(0)
    labels = np.arange(rows) % 2
    right = generator.random((rows, 5)) < 0.85
    values = np.where(right, labels[:, None], 1 - labels[:, None])
    return Labelled(pl.DataFrame({f"f{i}": np.array(["no", "yes"])[values[:, i]] for i in range(5)}), labels)


def test_a_small_clustering_is_run_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(clustering, "SHARES", (0.0, 0.6, 1.0))
    records = [
        {"table": "lymphography", "draw": draw, "starts": 1, "learner": learner, **record}
        for draw in range(2)
        for learner in clustering.LEARNERS
        for record in clustering.measure(two_groups(), learner, 1, draw)
    ]
    results = pl.DataFrame(records)
    none = results.filter((pl.col("share") == 0) & (pl.col("learner") != "CLL after merged"))
    assert none["f"].n_unique() == 1
    assert results.filter((pl.col("share") == 1) & (pl.col("learner") == "merged"))["f"].min() > 0.99
    text = write_clustering(results, tmp_path)
    assert "| Without ties, all learners equal EM | yes |" in text
    assert {path.name for path in tmp_path.iterdir()} == {"clustering.md", "clustering.png"}


TEXTS = [
    *["red green blue paint colour", "red paint wall", "green wall paint", "blue sea red paint"] * 4,
    *["one two three sum", "two three number sum", "one number count", "three sum two count"] * 4,
]
GROUPS = {"none": (), "paper": (("red", "green"), ("one", "two")), "wider": (("red", "green"), ("one", "two"))}


def test_small_topics_are_learned_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    corpus, words = read_corpus(TEXTS), ("red", "green", "one", "two")
    found = topics(corpus, 2, seed=0)
    assert word_shares(found, words).sum(axis=0) == pytest.approx(1.0)
    records = [
        {"ties": ties, "draw": draw, "iterations": 50, **record}
        for ties, groups in GROUPS.items()
        for draw in range(2)
        for record in topic_records(corpus, groups, 2, words, draw, 50)
    ]
    co_occurrences = {"none": [], "paper": [4, 4], "wider": [4, 4]}
    text = write_topics(pl.DataFrame(records), GROUPS, co_occurrences, tmp_path)
    assert "red, green: 4" in text
    assert {path.name for path in tmp_path.iterdir()} == {"topics.md", "topics.png"}


def square(job: Job) -> list[Record]:
    (number,) = job
    return [{"number": number, "square": number * number}]


def test_finished_jobs_are_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "new" / "squares.csv"
    first = run_jobs(square, [(1,), (2,)], ("number",), file, processes=1, minutes=1)
    assert first["square"].to_list() == [1, 4]
    file.write_text("number,square\n1,100\n", encoding="utf-8")
    again = run_jobs(square, [(1,), (2,)], ("number",), file, processes=1, minutes=1)
    assert again["square"].to_list() == [100, 4]


def test_missing_data_end_the_program_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="The tables are expected in"):
        require(tmp_path / "none", "The tables are")


def test_other_programs_cluster_the_same_rows(tmp_path: Path) -> None:
    from experiments.yao import rivals

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 60)
    columns = {f"c{k}": np.where(rng.random(60) < 0.9, labels, 1 - labels).astype(str) for k in range(4)}
    data = Labelled(pl.DataFrame(columns), labels)
    records = []
    for learner in ("credo", "COP-KMeans", "KMeans", "Gaussian mixture"):
        found = rivals.measure(data, learner, 0)
        assert [record["share"] for record in found] == list(rivals.SHARES)
        assert found[-1]["f"] > 0.75
        records += [{"table": "made up", "draw": 0, "learner": learner, **record} for record in found]
    assert "| COP-KMeans |" in rivals.write_rivals(pl.DataFrame(records), tmp_path)


def test_rows_drawn_given_their_ties_agree_and_have_squared_frequencies() -> None:
    truth = certain()
    start = truth.sample(4_000, 1)
    pairs = {"x": [(row, row + 1) for row in range(0, 4_000, 2)]}
    drawn = figure5.draw_given_ties(truth, start, pairs, 60, np.random.default_rng(2))
    x = (drawn["x"] == "1").to_numpy()
    assert (x[::2] == x[1::2]).all()
    assert x.mean() == pytest.approx(0.1**2 / (0.1**2 + 0.9**2), abs=0.008)
    assert (drawn["copy"] == drawn["x"]).mean() == pytest.approx(0.99, abs=0.01)


def test_pairs_in_proportion_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, _ = known_network()
    monkeypatch.setattr(figure5, "ROWS", 200)
    table = figure5.in_proportion(truth, 3, 0.8, 0)
    complete = truth.sample(200, seed=figure5.DATA_SEED)
    for column in (each for each in table.rows.columns if each.startswith("tie ")):
        name = column.removeprefix("tie ")
        assert complete.group_by(table.rows[column]).agg(pl.col(name).n_unique()).drop_nulls()[name].max() == 1
    found = list(figure5.stopped(truth, table, 0))
    assert [each["updates"] for each in found] == [*figure5.STOPS, *figure5.STOPS]
    last = {each["learner"]: each["kl"] for each in found}
    assert last["EM"] < found[0]["kl"]


def test_groups_of_words_are_drawn_by_the_texts_they_share() -> None:
    words = ["red", "green", "blue", "north", "south", "east", "west", "up"]
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(words, 4, replace=False)) for _ in range(60)]
    corpus = read_corpus(texts)
    groups = topic_rivals.groups_of(corpus, 30, 0)
    assert len({word for group in groups for word in group}) == 6
    found = topic_rivals.measured(corpus, "credo", groups, groups, 0)
    assert found["together"] == 1.0  # fifty words of a topic are all there are
