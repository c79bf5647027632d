"""Whether findings fit together: by hand and by enumeration, what explains it, and the sentence beside an answer."""

from __future__ import annotations

import json
from math import log2

import numpy as np
import pytest

import credo
from credo.questions.answers import query_network
from tests.helpers.decision_oracle import allowed
from tests.helpers.enumeration import joint, random_network

# A rare disease has two symptoms that hardly ever occur without it, and one that excludes the other otherwise.
RARE = credo.Network(
    {"rare": ["no", "yes"], "a": ["no", "yes"], "b": ["no", "yes"], "c": ["no", "yes"]},
    {"a": ["rare"], "b": ["rare", "a"], "c": []},
    {
        "rare": [0.999, 0.001],
        "a": [[0.5, 0.5], [0.1, 0.9]],
        "b": [[[0.1, 0.9], [0.999, 0.001]], [[0.5, 0.5], [0.1, 0.9]]],
        "c": [0.5, 0.5],
    },
)


def known(network: credo.Network) -> credo.Fit:
    return credo.fit(network, network.sample(5, seed=0), fixed=network.names, method="ml")


@pytest.mark.parametrize("seed", range(30))
def test_the_measure_is_that_of_enumeration(seed: int) -> None:
    generator = np.random.default_rng(seed)
    while len(network := random_network(generator, most=6)) < 3:
        pass
    everything = joint(network)
    names = generator.permutation(network.names)[: generator.integers(1, 4)].tolist()
    evidence = {name: network.states(name)[int(generator.integers(len(network.states(name))))] for name in names}

    def probability(given: dict[str, str]) -> float:
        return float((everything * allowed(network, {name: (state,) for name, state in given.items()})).sum())

    found = known(network).conflict(evidence)
    exact = sum(log2(probability({name: state})) for name, state in evidence.items()) - log2(probability(evidence))
    assert found.measure == pytest.approx(exact, abs=1e-9)
    for row in found.explanations.iter_rows(named=True):
        name, _, state = row["finding"].partition("=")
        with_it = {**evidence, name: state}
        remaining = sum(log2(probability({n: s})) for n, s in with_it.items()) - log2(probability(with_it))
        assert row["remaining"] == pytest.approx(remaining, abs=1e-9)
    for row in found.findings.iter_rows(named=True):
        rest = {name: state for name, state in evidence.items() if f"{name}={state}" != row["finding"]}
        alone = sum(log2(probability({n: s})) for n, s in rest.items()) - log2(probability(rest))
        assert row["without"] == pytest.approx(alone, abs=1e-9)


def test_a_rare_disease_explains_what_does_not_fit() -> None:
    fit = known(RARE)
    found = fit.conflict("a=yes, b=yes, c=no")
    assert found.is_large
    assert found.explanations["finding"][0] == "rare=yes"
    assert found.explanations["remaining"][0] <= 0
    assert "do not fit together" in str(found)
    assert "rare=yes would explain it: its probability goes from 0.10% to" in str(found)
    assert found.findings["finding"].to_list()[:2] in (["a=yes", "b=yes"], ["b=yes", "a=yes"])
    assert json.loads(json.dumps(found.to_dict()))["measure"] == pytest.approx(found.measure)
    assert "fits together" in str(fit.conflict({"a": "yes", "b": "no"}))
    assert fit.conflict({}).measure == 0


def test_an_answer_says_so_where_the_evidence_does_not_fit() -> None:
    fit = known(RARE)
    answer = fit.query("P(rare=yes | a=yes, b=yes)")
    assert "These findings do not fit together" in answer.conflict
    assert answer.conflict in str(answer)
    assert answer.to_dict()["conflict"] == answer.conflict
    assert fit.query("P(rare=yes | a=yes, b=no)").conflict == ""
    assert fit.query("P(rare=yes | a=yes)").conflict == ""
    assert query_network(RARE, "P(rare=yes | a=yes, b=yes)").conflict == answer.conflict


def test_draws_give_an_interval() -> None:
    fit = credo.fit(RARE, RARE.sample(200, seed=1))
    found = fit.conflict("a=yes, b=yes")
    assert found.interval is not None
    assert found.interval[0] < found.measure < found.interval[1]
    with pytest.raises(credo.QueryError):
        fit.conflict("a=maybe")
