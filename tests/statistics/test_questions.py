"""Answers to questions equal those of the enumerated joint distribution."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from credo import Network, Query, TooLargeError
from credo.knowledge.query import parse_query
from credo.statistics.questions import (
    answer,
    answer_rows,
    as_batch,
    derivatives,
    marginals,
    most_probable_states,
    relevant_evidence,
)
from credo.testing import random_network
from credo.types import Numbers

CASES = 150


def joint(network: Network, query: Query, cpts: Mapping[str, Numbers]) -> Numbers:
    """P(all variables, evidence) as one array, by multiplication; an intervention replaces a CPT by an indicator."""
    sizes = [len(network.states(name)) for name in network.names]
    product = np.ones(sizes)

    def times(members: list[int], values: Numbers) -> None:
        nonlocal product
        shape = [1] * len(sizes)
        for member in members:
            shape[member] = sizes[member]
        product = product * values.transpose(np.argsort(members)).reshape(shape)

    def indicator(name: str, states: tuple[str, ...]) -> Numbers:
        return np.array([float(state in states) for state in network.states(name)])

    position = {name: i for i, name in enumerate(network.names)}
    for name in network.names:
        if name in query.interventions:
            times([position[name]], indicator(name, (query.interventions[name],)))
        else:
            times([position[member] for member in (*network.parents[name], name)], cpts[name])
    for name, states in query.evidence.items():
        times([position[name]], indicator(name, states))
    return product


def random_case(rng: np.random.Generator) -> tuple[Network, Query, list[Mapping[str, Numbers]]]:
    """A small network, a question to it, and three sets of CPTs, some of them with zeros."""
    names = [f"v{i}" for i in range(int(rng.integers(2, 7)))]
    states = {name: [f"s{k}" for k in range(rng.integers(1, 4))] for name in names}
    order = [str(name) for name in rng.permutation(names)]
    parents = {
        name: [str(each) for each in rng.permutation(order[:i])[: rng.integers(0, 4)]] for i, name in enumerate(order)
    }
    structure = Network(states, parents)

    def cpts() -> dict[str, Numbers]:
        found = {}
        for name in names:
            shape = structure.shape(name)
            cpt = rng.dirichlet(np.full(shape[-1], 0.5), size=shape[:-1])
            cpt[cpt < 0.05] = 0.0
            found[name] = cpt / cpt.sum(axis=-1, keepdims=True)
        return found

    sets = [cpts() for _ in range(3)]
    chosen = [str(name) for name in rng.permutation(names)]
    count = int(rng.integers(1, 3))

    def some(name: str) -> tuple[str, ...]:
        own = [str(state) for state in rng.permutation(states[name])]
        return tuple(own[: rng.integers(1, len(own) + 1)])

    targets = {name: some(name) if rng.random() < 0.5 else () for name in chosen[:count]}
    evidence, interventions = {}, {}
    for name in chosen[count - 1 : count + 3]:
        kind = rng.random()
        if kind < 0.4:
            evidence[name] = some(name)
        elif kind < 0.6:
            interventions[name] = str(rng.choice(states[name]))
    network = structure.with_cpts(sets[0])
    return network, Query(targets, evidence, interventions), list(sets)


@pytest.mark.parametrize("seed", range(4))
def test_answers_marginals_and_explanations_equal_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(CASES // 4):
        network, query, sets = random_case(rng)
        cpts = {name: np.stack([each[name] for each in sets]) for name in network.names}
        values, log_evidence = answer(network, cpts, query)
        margins = marginals(network, cpts, query.evidence, query.interventions)
        for number, own in enumerate(sets):
            whole = joint(network, query, own)
            if not whole.any():
                assert log_evidence[number] == -np.inf
                continue
            assert log_evidence[number] == pytest.approx(np.log(whole.sum()), abs=1e-12)
            positions = [network.names.index(name) for name in query.targets]
            expected = whole.sum(axis=tuple(i for i in range(whole.ndim) if i not in positions)) / whole.sum()
            expected = expected.transpose(np.argsort(np.argsort(positions)))
            for axis, (name, states) in enumerate(query.targets.items()):
                if states:
                    places = [network.states(name).index(state) for state in states]
                    expected = expected.take(places, axis=axis).sum(axis=axis, keepdims=True)
            np.testing.assert_allclose(values[number], expected, atol=1e-13)
            for i, name in enumerate(network.names):
                margin = whole.sum(axis=tuple(k for k in range(whole.ndim) if k != i)) / whole.sum()
                np.testing.assert_allclose(margins[name][number], margin, atol=1e-13)
        whole = joint(network, query, sets[0])
        if whole.any():
            states, value = most_probable_states(network, as_batch(network), query.evidence, query.interventions)
            place = tuple(network.states(name).index(states[name]) for name in network.names)
            assert whole[place] == pytest.approx(whole.max(), rel=1e-12)
            assert value == pytest.approx(np.log(whole.max()), abs=1e-12)


def test_questions_are_written_as_they_are_read() -> None:
    rng = np.random.default_rng(7)
    for _ in range(CASES):
        network, query, _ = random_case(rng)
        assert parse_query(network, str(query)) == query


def test_derivatives_equal_finite_differences() -> None:
    rng = np.random.default_rng(3)
    compared = 0
    while compared < 40:
        network, query, sets = random_case(rng)
        given = Query({}, query.evidence, query.interventions)
        total = joint(network, given, sets[0]).sum()
        if total < 1e-3:
            continue
        for name, slope in derivatives(network, as_batch(network), given, log_unit=np.log(total)).items():
            place = tuple(int(rng.integers(size)) for size in network.shape(name))
            shifted = []
            for step in (1e-6, -1e-6):
                cpt = network.cpts[name].copy()
                cpt[place] += step
                shifted.append(np.log(joint(network, given, {**sets[0], name: cpt}).sum()))
            assert slope[0][place] == pytest.approx((shifted[0] - shifted[1]) / 2e-6, rel=1e-4, abs=1e-4)
            compared += 1


@pytest.mark.parametrize("rows", [1, 2, 9])
def test_rows_are_answered_under_every_draw(rows: int) -> None:
    rng = np.random.default_rng(rows)
    structure = Network({"a": ["x", "y"], "b": ["x", "y", "z"], "c": ["x", "y"]}, {"b": ["a"], "c": ["b", "a"]})
    draws = {
        name: rng.dirichlet(np.ones(structure.shape(name)[-1]), size=(4, *structure.shape(name)[:-1]))
        for name in structure.names
    }
    codes = np.column_stack([rng.integers(0, 2, rows), np.full(rows, -1), rng.integers(0, 2, rows)])
    found = answer_rows(structure, draws, "b", codes, ["a", "c"])
    for number in range(4):
        own = {name: draws[name][number : number + 1] for name in structure.names}
        for row, (a, _, c) in enumerate(codes.tolist()):
            query = Query({"b": ()}, {"a": ("xy"[a],), "c": ("xy"[c],)})
            np.testing.assert_allclose(found[number, row], answer(structure, own, query)[0][0], atol=1e-14)


def test_an_answer_that_needs_too_much_memory_is_refused_with_figures() -> None:
    names = [f"v{i}" for i in range(12)]
    network = Network({name: ["x", "y"] for name in names}, {names[-1]: names[:-1]})
    cpts = {name: np.full((1, *network.shape(name)), 0.5) for name in names}
    with pytest.raises(TooLargeError, match="12 variables together"):
        answer(network, cpts, Query({names[-1]: ()}), memory_limit=10_000)


def test_hundreds_of_small_numbers_that_meet_do_not_underflow() -> None:
    """The class of a naive Bayes model with 400 columns: the product of their likelihoods is about 1e-800."""
    columns = [f"x{k}" for k in range(400)]
    likelihood = np.array([[0.99, 0.01], [0.99, 0.0101]])
    network = Network(
        {"class": ["a", "b"], **{name: ["no", "yes"] for name in columns}},
        {name: ["class"] for name in columns},
        {"class": [0.9, 0.1], **dict.fromkeys(columns, likelihood / likelihood.sum(axis=1, keepdims=True))},
    )
    cpt = network.cpts["x0"]
    log_odds = np.log(0.1 / 0.9) + 400 * np.log(cpt[1, 1] / cpt[0, 1])
    query = Query({"class": ()}, dict.fromkeys(columns, ("yes",)))
    values, log_evidence = answer(network, as_batch(network), query)
    assert np.log(values[0, 1] / values[0, 0]) == pytest.approx(log_odds, abs=1e-9)
    assert log_evidence[0] == pytest.approx(np.logaddexp(*(np.log([0.9, 0.1]) + 400 * np.log(cpt[:, 1]))), abs=1e-9)
    # The same where the class is summed out, backwards, and for the most probable states.
    found = marginals(network, as_batch(network), query.evidence)
    np.testing.assert_allclose(found["class"], values, atol=1e-12)
    states, _ = most_probable_states(network, as_batch(network), query.evidence)
    assert states["class"] == ("b" if log_odds > 0 else "a")
    codes = np.ones((3, 401), dtype=np.int8)
    np.testing.assert_allclose(answer_rows(network, as_batch(network), "class", codes, columns)[0], [values[0]] * 3)


@pytest.mark.parametrize("seed", range(10))
def test_an_answer_depends_on_relevant_evidence_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network({f"v{k}": 2 for k in range(8)}, {
        f"v{k}": [f"v{j}" for j in rng.choice(k, min(k, rng.integers(0, 3)), replace=False)] for k in range(8)
    }, seed=seed)  # fmt: skip
    target, *rest = rng.permutation(network.names).tolist()
    given = {name: (network.states(name)[int(rng.integers(2))],) for name in rest[: rng.integers(1, 7)]}
    relevant = relevant_evidence(network, target, given)
    assert set(relevant) <= set(given)
    whole, _ = answer(network, as_batch(network), Query({target: ()}, given))
    less, _ = answer(network, as_batch(network), Query({target: ()}, {name: given[name] for name in relevant}))
    np.testing.assert_allclose(whole, less, atol=1e-13)
    for name in relevant:  # each of them matters, whatever the others
        other = {**given, name: (next(state for state in network.states(name) if (state,) != given[name]),)}
        assert abs(answer(network, as_batch(network), Query({target: ()}, other))[0] - whole).max() > 1e-9


@pytest.mark.parametrize("seed", [544, 1150, 1281, 1690, 2167, *range(40)])
def test_marginals_under_cpts_with_very_small_numbers_equal_enumeration(seed: int) -> None:
    """Adjoints would be 1/P(evidence), which such draws make infinite; their scale does not matter."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 9))
    names = [f"v{number}" for number in range(count)]
    parents = {
        names[i]: [names[j] for j in rng.choice(i, min(i, int(rng.integers(1, 3))), replace=False)]
        for i in range(1, count)
    }
    network = Network({name: ["0", "1"] for name in names}, parents)
    cpts = {}
    for name in names:
        shape = network.shape(name)[:-1]
        small = 10.0 ** -rng.uniform(0, 300, size=shape)
        small = np.where(rng.random(shape) < 0.4, rng.random(shape), small)
        cpt = np.stack([1.0 - small, small], axis=-1)
        cpts[name] = np.where((rng.random(shape) < 0.5)[..., None], cpt[..., ::-1], cpt)
    evidence = {name: ("1" if rng.random() < 0.7 else "0",) for name in names if rng.random() < 0.5}
    with np.errstate(all="raise", under="ignore"):
        found = marginals(network, {name: cpt[None] for name, cpt in cpts.items()}, evidence)
    logs = np.full((2,) * count, -np.inf)
    for states in np.ndindex(*logs.shape):
        at = dict(zip(names, states, strict=True))
        if all(str(at[name]) == state for name, (state,) in evidence.items()):
            numbers = [cpts[name][(*(at[parent] for parent in parents.get(name, ())), at[name])] for name in names]
            logs[states] = np.log(numbers).sum() if min(numbers) > 0.0 else -np.inf
    joint = np.exp(logs - logs.max())
    for axis, name in enumerate(names):
        expected = joint.sum(axis=tuple(other for other in range(count) if other != axis)) / joint.sum()
        if logs.max() > -650.0:  # else P(evidence) itself is too small for a number
            assert found[name][0] == pytest.approx(expected)
