"""Statements that call events impossible: zeros of CPTs, which the data, other statements and conditions allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest

import credo
from credo import Query, Status
from credo.statistics.questions import answer, as_batch
from credo.testing import random_network
from credo.types import Numbers

NETWORK = credo.Network(
    {name: ["no", "yes"] for name in ("smoke", "lung", "xray", "cough")},
    parents={"lung": ["smoke"], "xray": ["lung"], "cough": ["lung"]},
)
HEALTHY = [{"smoke": "no", "lung": "no", "xray": "no", "cough": "no"}] * 3 + [
    {"smoke": "yes", "lung": "no", "xray": "no", "cough": "yes"}
]
ILL = {"smoke": "yes", "lung": "yes", "xray": "no", "cough": "yes"}


def frame(rows: Sequence[Mapping[str, str]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows))


def test_zeros_are_put_where_the_statement_points_to() -> None:
    fit = credo.fit(NETWORK, frame(HEALTHY), "P(xray=yes) = 0", method="cmap")
    assert fit.status is Status.LOCAL
    assert not fit.network.cpt_array("xray")[:, 1].any()
    assert fit.network.cpt_array("lung").min() > 0.0
    assert any("calls something impossible" in finding.message for finding in fit.findings)


@pytest.mark.parametrize("method", ["cml", "cmap", "posterior"])
def test_zeros_contradict_no_data_where_others_do_not(method: str) -> None:
    fit = credo.fit(NETWORK, frame([*HEALTHY, ILL]), "P(lung=yes | xray=yes) = 0", method=method, seed=0)
    assert fit.violations().is_empty()
    assert fit.network.cpt_array("xray")[1, 1] == 0.0  # lung=yes was seen
    assert fit.network.cpt_array("lung")[1, 1] > 0.0


def test_what_has_probability_one_leaves_nothing_to_its_opposite() -> None:
    fit = credo.fit(NETWORK, frame(HEALTHY), "P(cough=yes, xray=no) >= 1", method="cmap")
    assert fit.violations().is_empty()
    assert not fit.network.cpt_array("xray")[:, 1].any()
    assert not fit.network.cpt_array("cough")[:, 0].any()


def test_other_statements_keep_what_they_need_possible() -> None:
    knowledge = "P(lung=yes | xray=yes) = 0\nP(lung=yes) >= 0.05\nP(xray=yes) >= 0.1"
    fit = credo.fit(NETWORK, frame(HEALTHY), knowledge, method="cmap")
    assert fit.violations().is_empty()
    assert credo.check(NETWORK, knowledge).feasible


@pytest.mark.parametrize("seed", range(4))
def test_every_zero_is_needed(seed: int) -> None:
    truth = random_network(dict.fromkeys("abcd", 2), {"b": ["a"], "c": ["b"], "d": ["b", "c"]}, seed)
    target, condition = np.random.default_rng(seed).choice(truth.names, 2, replace=False).tolist()
    states = {target: truth.states(target)[0], condition: truth.states(condition)[1]}
    text = "P(" + ", ".join(f"{name}={state}" for name, state in states.items()) + ") <= 0"
    fit = credo.fit(truth.without_cpts(), truth.sample(4, seed=seed), text, method="cmap", seed=0)

    def probability(cpts: Mapping[str, Numbers]) -> float:
        found = truth.with_cpts(cpts)
        query = Query({name: (state,) for name, state in states.items()})
        return float(answer(found, as_batch(found), query)[0].ravel()[0])

    assert probability(fit.network.cpts) == 0.0
    for name, cpt in fit.network.cpts.items():
        for place in zip(*np.nonzero(cpt == 0.0), strict=True):
            other = cpt.copy()
            other[place] = 0.5
            other /= other.sum(axis=-1, keepdims=True)
            assert probability({**fit.network.cpts, name: other}) > 0.0
