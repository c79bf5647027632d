"""Expected counts and log-likelihood: against enumeration, pyAgrum and derivatives, and where numbers get extreme."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from credo import Dataset, ImpossibleRowError, Network, read_network
from credo.io.pyagrum import load_pyagrum
from credo.statistics.counts import count, layout_for_counts, merge
from credo.statistics.inference import elimination
from credo.statistics.inference.expected_counts import expected_cells, expected_counts, log_likelihood_of, prepare
from credo.statistics.predict import posterior
from credo.testing import alarm_like_network
from tests.helpers.amounts import seeds
from tests.helpers.enumeration import enumerated_counts, random_network, random_rows
from tests.helpers.published import PUBLISHED_NETWORKS


def dataset_of(network: Network, codes: Any, weights: Any = None) -> Dataset:
    return Dataset(network.names, np.array(codes, dtype=np.int16), weights)


@pytest.mark.parametrize("block", seeds(4, 20))
def test_against_enumeration(block: int) -> None:
    """Four hundred networks (slow: two thousand), with zeros in some and missing values of every density."""
    for seed in range(100 * block, 100 * block + 100):
        generator = np.random.default_rng(seed)
        network = random_network(generator, most=6, zeros=0.3 * (seed % 3 == 0))
        codes = random_rows(generator, network, int(generator.integers(1, 9)), generator.random())
        dataset = dataset_of(network, codes, generator.random(len(codes)) if seed % 2 else None)
        families = layout_for_counts(network, dense_cells=4 if seed % 5 == 0 else 2**20)
        counts, log_likelihood = expected_counts(prepare(families, dataset), network.cpts)
        expected, likelihood = enumerated_counts(network, dataset)
        assert log_likelihood == pytest.approx(likelihood, rel=1e-10, abs=1e-12)
        for name in network.names:
            assert np.allclose(counts.of(name).reshape(network.shape(name)), expected[name], atol=1e-11), seed


@pytest.mark.parametrize("seed", range(10))
def test_expected_counts_are_the_derivative_of_the_log_likelihood(seed: int) -> None:
    generator = np.random.default_rng(seed)
    network = random_network(generator, most=8)
    prepared = prepare(layout_for_counts(network), dataset_of(network, random_rows(generator, network, 10, 0.6)))
    theta = prepared.layout.pack(network.cpts)
    counts, _ = expected_cells(prepared, theta)
    direction = generator.standard_normal(len(theta))
    step = 1e-5
    up, down = (log_likelihood_of(prepared, theta * np.exp(s * step * direction)) for s in (1, -1))
    assert (up - down) / (2 * step) == pytest.approx(counts @ direction, rel=1e-6, abs=1e-8)


def incomplete_rows(network: Network, rows: int, seed: int, hide: float = 0.4) -> Dataset:
    return dataset_of(network, random_rows(np.random.default_rng(seed), network, rows, hide))


def check_against_pyagrum(network: Network, rows: int) -> None:
    """Log-likelihood, and the posterior of a hidden variable, row by row."""
    pyagrum = load_pyagrum("A test")
    model = network.to_pyagrum()
    dataset = incomplete_rows(network, rows, 3)
    families = layout_for_counts(network)
    total = 0.0
    asked = int(np.argmax((dataset.codes < 0).sum(axis=0)))
    mine = posterior(families, dataset, network.names[asked], {})
    for row, own in zip(dataset.codes, mine, strict=True):
        inference = pyagrum.LazyPropagation(model)
        seen = {network.names[v]: int(code) for v, code in enumerate(row) if code >= 0}
        inference.setEvidence(seen)
        inference.addTarget(network.names[asked])
        inference.makeInference()
        if row[asked] < 0:
            theirs = np.array(inference.posterior(network.names[asked]).tolist())
            assert np.allclose(own, theirs, atol=1e-9)
        whole = pyagrum.LazyPropagation(model)  # with a target, older versions leave out what does not matter to it
        whole.setEvidence(seen)
        total += np.log(whole.evidenceProbability())
    prepared = prepare(families, dataset)
    counts, log_likelihood = expected_counts(prepared, network.cpts)
    assert log_likelihood == pytest.approx(total, rel=1e-8)  # to pyAgrum's rounding
    informed = counts.of(network.names[0]).sum()
    assert informed == pytest.approx(rows - prepared.barren().get(network.names[0], 0.0))


@pytest.mark.parametrize("name", ["alarm", "hailfinder", "win95pts", "andes"])
def test_against_pyagrum(name: str) -> None:
    path = PUBLISHED_NETWORKS / f"{name}.bif"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    check_against_pyagrum(read_network(path), 10 if name != "andes" else 4)


def test_against_pyagrum_on_a_network_of_our_own() -> None:
    check_against_pyagrum(alarm_like_network(), 20)


def test_expected_counts_merge_like_counts() -> None:
    network = alarm_like_network()
    families = layout_for_counts(network)
    left, right = incomplete_rows(network, 30, 1), incomplete_rows(network, 20, 2)
    both = dataset_of(network, np.concatenate([left.codes, right.codes]))
    parts = [expected_counts(prepare(families, part), network.cpts)[0] for part in (left, right)]
    merged, whole = merge(*parts), expected_counts(prepare(families, both), network.cpts)[0]
    assert np.allclose(merged.dense, whole.dense)
    assert (merged.total, merged.rows) == (whole.total, whole.rows) == (50, 50)


def test_complete_rows_are_only_counted() -> None:
    network = alarm_like_network()
    dataset = incomplete_rows(network, 50, 1, hide=0.0)
    prepared = prepare(layout_for_counts(network), dataset)
    assert prepared.is_complete
    counts, log_likelihood = expected_counts(prepared, network.cpts)
    assert np.array_equal(counts.dense, count(layout_for_counts(network), dataset).dense)
    assert log_likelihood == pytest.approx(network.log_likelihood(dataset))


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    network = alarm_like_network()
    prepared = prepare(layout_for_counts(network), incomplete_rows(network, 1500, 1))
    assert len(prepared.cuts) > 2
    theta = prepared.layout.pack(network.cpts)
    together = expected_cells(prepared, theta)
    monkeypatch.setattr(elimination, "LARGE_CLIQUES", 0)
    alone = expected_cells(prepared, theta)
    assert np.array_equal(together[0], alone[0])
    assert together[1] == alone[1]


@pytest.mark.parametrize("scale", [1e-12, 1e-35, 1e-70, 1e-140])
def test_a_factor_on_every_table_changes_no_count(scale: float) -> None:
    """log L moves by log(factor) for each family that is used; messages and tables must be scaled on the way."""
    for seed in range(100):
        generator = np.random.default_rng(seed)
        network = random_network(generator, most=10)
        prepared = prepare(layout_for_counts(network), dataset_of(network, random_rows(generator, network, 6, 0.7)))
        theta = prepared.layout.pack(network.cpts)
        counts, log_likelihood = expected_cells(prepared, theta)
        scaled_counts, scaled = expected_cells(prepared, theta * scale)
        assert np.allclose(scaled_counts, counts, atol=1e-10), seed
        assert scaled == pytest.approx(log_likelihood + np.log(scale) * counts.sum(), rel=1e-12, abs=1e-9)


# Where numbers get extreme --------------------------------------------------------------------------------------------


def naive_bayes(features: int, table: list[list[float]]) -> Network:
    variables = {"class": ["a", "b"], **{f"f{i}": ["x", "y"] for i in range(features)}}
    tables = {"class": [0.3, 0.7], **{f"f{i}": table for i in range(features)}}
    return Network(variables, {f"f{i}": ["class"] for i in range(features)}, tables)


@pytest.mark.parametrize("features", [1, 7, 8, 9, 5000])
def test_a_product_of_thousands_of_probabilities_does_not_underflow(features: int) -> None:
    network = naive_bayes(features, [[1e-3, 0.999], [2e-3, 0.998]])
    prepared = prepare(layout_for_counts(network), dataset_of(network, [[-1] + [0] * features]))
    counts, log_likelihood = expected_counts(prepared, network.cpts)
    a, b = np.log(0.3) + features * np.log(1e-3), np.log(0.7) + features * np.log(2e-3)
    assert log_likelihood == pytest.approx(np.logaddexp(a, b), rel=1e-12)
    assert counts.of("class")[0] == pytest.approx(np.exp([a, b] - np.logaddexp(a, b)))


def test_probabilities_that_underflow_in_one_product_are_done_carefully() -> None:
    network = naive_bayes(6, [[1e-80, 1.0], [3e-80, 1.0]])
    for hidden, size in (([-1], 1), ([-1, -1], 2)):
        tables = dict(network.cpts)
        chain = Network(
            {"root": ["a", "b"], **{v.name: v.states for v in network.variables}},
            {**network.parents, "class": ["root"]},
            {**tables, "root": [0.5, 0.5], "class": [[0.9, 0.1], [0.2, 0.8]]},
        )
        row = [0, -1] + [0] * 6 if size == 1 else hidden + [0] * 6
        counts, log_likelihood = expected_counts(
            prepare(layout_for_counts(chain), dataset_of(chain, [row])), chain.cpts
        )
        mixed = np.array([0.9, 0.1]) if size == 1 else 0.5 * np.array([0.9, 0.1]) + 0.5 * np.array([0.2, 0.8])
        start = np.log(0.5) if size == 1 else 0.0
        expected = start + np.log(mixed @ [1, 3.0**6]) + 6 * np.log(1e-80)
        assert log_likelihood == pytest.approx(expected, rel=1e-12)
        assert counts.of("f0").sum() == pytest.approx(1)


def test_a_long_chain() -> None:
    length = 400
    names = [f"x{i}" for i in range(length)]
    step, seen = np.array([[0.9, 0.1], [0.3, 0.7]]), np.array([[0.2, 0.8], [0.6, 0.4]])
    variables = {name: ["0", "1"] for name in [*names, *(f"y{i}" for i in range(length))]}
    parents = {**{names[i]: [names[i - 1]] for i in range(1, length)}, **{f"y{i}": [names[i]] for i in range(length)}}
    tables = dict.fromkeys(names[1:], step) | {f"y{i}": seen for i in range(length)} | {"x0": [0.5, 0.5]}
    network = Network(variables, parents, tables)
    observed = np.random.default_rng(1).integers(0, 2, length)
    row = [-1] * length + observed.tolist()
    counts, log_likelihood = expected_counts(prepare(layout_for_counts(network), dataset_of(network, [row])), tables)
    message, expected = np.array([0.5, 0.5]), 0.0
    filters, backwards = [], [np.ones(2)] * length
    for i, value in enumerate(observed):
        message = (message if i == 0 else message @ step) * seen[:, value]
        expected += np.log(message.sum())
        message /= message.sum()
        filters.append(message)
    for i in range(length - 2, -1, -1):
        later = step @ (seen[:, observed[i + 1]] * backwards[i + 1])
        backwards[i] = later / later.sum()
    assert log_likelihood == pytest.approx(expected, rel=1e-12)
    assert counts.of(names[-1]).sum(axis=0) == pytest.approx(message)
    smoothed = [message]
    for i in range(length - 1, 0, -1):
        filtered = filters[i - 1]
        pair = filtered[:, None] * step * (seen[:, observed[i]] * backwards[i])[None, :]
        pair /= pair.sum()
        assert np.allclose(counts.of(names[i]), pair, atol=1e-12)
        smoothed.append(pair.sum(axis=1))
    assert np.allclose(counts.of("x0")[0], smoothed[-1])


@pytest.mark.filterwarnings("error")
def test_more_joint_states_than_a_float_can_count() -> None:
    """3^700 hidden states of a chain take as little as its pairs, without a warning."""
    names = [f"v{i}" for i in range(701)]
    uniform = {name: np.full((3, 3) if number else 3, 1 / 3) for number, name in enumerate(names)}
    network = Network(dict.fromkeys(names, ("a", "b", "c")), {b: [a] for a, b in pairwise(names)}, uniform)
    prepared = prepare(layout_for_counts(network), dataset_of(network, [[-1] * 700 + [0]]))
    assert prepared.plans.clique_cells.tolist() == [699 * 9]
    assert expected_counts(prepared, network.cpts)[1] == pytest.approx(np.log(1 / 3))


def test_a_large_clique_whose_maps_are_not_kept() -> None:
    causes = 14
    generator = np.random.default_rng(1)
    names = [f"c{i}" for i in range(causes)]
    effect = generator.dirichlet([1, 1], 2**causes).reshape([2] * causes + [2])
    tables: dict[str, Any] = {name: generator.dirichlet([1, 1]) for name in names} | {"effect": effect}
    network = Network({name: ["0", "1"] for name in [*names, "effect"]}, {"effect": names}, tables)
    prepared = prepare(layout_for_counts(network), dataset_of(network, [[-1] * causes + [1], [-1] * causes + [0]]))
    assert prepared.plans.map_cells.max() > 0
    counts, log_likelihood = expected_counts(prepared, network.cpts)
    expected, likelihood = enumerated_counts(network, prepared.dataset)
    assert log_likelihood == pytest.approx(likelihood)
    for name in network.names:
        assert np.allclose(counts.of(name).reshape(network.shape(name)), expected[name])


def test_a_variable_with_ten_thousand_states_is_sliced() -> None:
    words, topics = 10_000, 5
    generator = np.random.default_rng(2)
    variables = {"topic": [f"t{k}" for k in range(topics)], "word": [f"w{k}" for k in range(words)]}
    tables = {"topic": np.full(topics, 1 / topics), "word": generator.dirichlet(np.ones(words), topics)}
    network = Network(variables, {"word": ["topic"]}, tables)
    seen = generator.integers(0, words, 500)
    codes = np.column_stack([np.full(500, -1), seen]).astype(np.int16)
    prepared = prepare(layout_for_counts(network), Dataset(network.names, codes))
    assert prepared.plans.clique_cells.max() == topics
    counts, log_likelihood = expected_counts(prepared, network.cpts)
    likelihoods = tables["word"][:, seen].T / topics
    assert log_likelihood == pytest.approx(np.log(likelihoods.sum(axis=1)).sum())
    shares = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    assert counts.of("topic")[0] == pytest.approx(shares.sum(axis=0))


@pytest.mark.parametrize(("row", "what"), [([-1, 1], "y=b"), ([0, 1], "x=a, y=b")])
def test_an_impossible_row_is_named(row: list[int], what: str) -> None:
    network = Network({"x": ("a", "b"), "y": ("a", "b")}, {"y": ["x"]}, {"x": [1, 0], "y": [[1, 0], [0, 1]]})
    prepared = prepare(layout_for_counts(network), dataset_of(network, [[0, 0], [-1, 0], row, row]))
    with pytest.raises(ImpossibleRowError, match=f"Row 3 is impossible.*{what}") as impossible:
        expected_counts(prepared, network.cpts)
    assert impossible.value.row == 3


def test_an_impossible_row_of_weight_zero_is_nobodys_trouble() -> None:
    network = Network({"x": ("a", "b"), "y": ("a", "b")}, {"y": ["x"]}, {"x": [1, 0], "y": [[1, 0], [0, 1]]})
    prepared = prepare(layout_for_counts(network), dataset_of(network, [[-1, 1], [-1, 0]], np.array([0.0, 2.0])))
    counts, log_likelihood = expected_counts(prepared, network.cpts)
    assert log_likelihood == 0
    assert counts.of("x").tolist() == [[2, 0]]
