"""Several starts under statements about any probability: what they find, when they end early, and what is reported."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import ConflictError, Network, Status
from credo.estimation import network_optimum, network_steps
from credo.estimation.constrained import network_steps as steps_for
from credo.estimation.constrained import optimum
from credo.testing import random_network, true_statements
from tests.helpers.general import random_general, text_of


def chain(seed: int) -> Network:
    """Ten variables with three states, each with the one or two before it as parents."""
    names = "abcdefghij"
    parents = {name: tuple(names[max(0, k - 2) : k]) for k, name in enumerate(names) if k}
    return random_network(dict.fromkeys(names, 3), parents, seed=seed)


def knowledge_of(truth: Network, seed: int) -> credo.Knowledge:
    """Twenty ordinary statements about each variable, and six about any probability."""
    general = random_general(truth, np.random.default_rng(seed), 6)
    own = [text_of(truth, each) for each in general]
    return credo.Knowledge(truth.without_cpts(), [*true_statements(truth, 20, seed=seed), "\n".join(own)])


@pytest.mark.parametrize("seed", [1, 2])
def test_large_problems_have_several_starts_and_no_other_start_ends_better(seed: int) -> None:
    truth = chain(seed)
    fit = credo.fit(truth.without_cpts(), truth.sample(40, seed=seed), knowledge_of(truth, seed), method="cmap")
    assert fit.status is Status.LOCAL
    problem = fit._problem
    assert problem is not None
    found = optimum(problem, problem.vector(), 0.0)
    assert found.network_end is not None
    assert found.network_end.starts is not None
    assert found.network_end.starts.wanted == network_optimum.STARTS
    assert found.network_end.starts.followed == network_optimum.STARTS
    steps = steps_for(problem, problem.vector(), 0.0, found.theta)
    assert network_optimum._unknowns(steps) > network_optimum.FEW_UNKNOWNS
    others = [steps.descend(point) for point in network_optimum._others(steps, found.theta, None)]
    best = min(end.value for end in others if end is not None and end.holds)
    assert found.network_end.value <= best + 1e-3


def test_steps_from_any_start_optimise_what_no_step_has_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that look only at the constraints that matter end where those with all of them end."""
    truth = chain(3)
    fit = credo.fit(truth.without_cpts(), truth.sample(40, seed=3), knowledge_of(truth, 3), method="cmap")
    problem = fit._problem
    assert problem is not None
    theta = problem.layout.pack(fit.network.cpts)
    ends = []
    for limit in (0, 10**9):
        monkeypatch.setattr(network_steps, "LARGE", limit)
        steps = steps_for(problem, problem.vector(), 0.0, theta)
        start = next(iter(network_optimum._others(steps, theta, None)))
        ends.append(steps.descend(start))
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0].value == pytest.approx(ends[1].value, abs=1e-3)


def test_a_start_ends_early_where_it_leads_to_a_known_end() -> None:
    truth = chain(1)
    fit = credo.fit(truth.without_cpts(), truth.sample(40, seed=1), knowledge_of(truth, 1), method="cmap")
    problem = fit._problem
    assert problem is not None
    theta = problem.layout.pack(fit.network.cpts)
    steps = steps_for(problem, problem.vector(), 0.0, theta)
    end = steps.descend(theta)
    assert end is not None
    start = next(iter(network_optimum._others(steps, theta, end)))
    alone, beside = steps.descend(start), steps.descend(start, rival=end)
    assert alone is not None
    assert beside is not None
    assert beside.is_finished
    assert beside.steps < alone.steps
    cut = steps.descend(next(iter(network_optimum._others(steps, theta, None))), 1, rival=end)
    assert cut is not None
    assert not cut.is_finished


def test_starts_that_are_not_followed_for_time_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_optimum, "LEAST_BUDGET", 1)
    monkeypatch.setattr(network_optimum, "BUDGET", 0.0)
    truth = chain(1)
    fit = credo.fit(truth.without_cpts(), truth.sample(40, seed=1), knowledge_of(truth, 1), method="cmap")
    (message,) = [each.message for each in fit.findings if each.kind == "local optimum"]
    assert "Of 4 starts, 1 was followed to the end: those after the first may take 1 step together" in message


def test_what_can_be_proved_to_conflict_is_refused_after_the_first_search() -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    text = "P(a=y | b=y) <= 0.2\nP(a=y | b=n) <= 0.3\nP(a=y) >= 0.5"
    for method in ("cmap", "posterior"):
        with pytest.raises(ConflictError):
            credo.fit(network, pl.DataFrame({"a": ["n", "y", "y"], "b": ["n", "y", "n"]}), text, method=method)
