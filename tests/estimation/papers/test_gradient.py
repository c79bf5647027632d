"""The trainer that follows the gradient: its derivative by differences, and the optimum that EM finds too."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import EMOptions, Knowledge, Network, OptionError, Status
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.estimation.papers.gradient_trainer import Objective
from credo.estimation.problem import Data, Model, Problem, Settings
from credo.io.dataset import concatenate, extended
from credo.model.expansion import expand
from credo.progress import ProgressEvent
from credo.statistics.counts import count_all, layout_for_counts
from credo.statistics.inference.expected_counts import prepare
from credo.statistics.prior import as_prior
from credo.statistics.tied_columns import stream_with_ties
from credo.testing import random_network, with_missing_values
from tests.helpers.amounts import seeds
from tests.helpers.noisy_families import noisy_network

BINARY = ("no", "yes")
NOISY = "y is noisy-or of {x0, x1}, {x2}, {x3} with leak\n"


def made_up(seed: int, rows: int = 80) -> tuple[Network, pl.DataFrame]:
    """A network with a hidden variable, and incomplete rows."""
    network = random_network({"a": 2, "h": 2, "b": 3, "c": 2}, {"h": ("a",), "b": ("h",), "c": ("h", "a")}, seed=seed)
    return network, with_missing_values(network.sample(rows, seed=seed), 0.2, seed).drop("h")


def objective_of(network: Network, frame: Any, text: str, prior: float = 0.0, soft_weight: float = 50.0) -> Objective:
    knowledge = Knowledge(network, text)
    whole = expand(network).network
    constraints = lower(knowledge)
    families = layout_for_counts(whole)
    parts = [extended(part, whole) for part in stream_with_ties(knowledge, frame, None, None)]
    names = tuple(name for name in whole.names if name in constraints.layout.offsets)
    model = Model(whole, names, as_prior(prior, whole), constraints, blocks_of(constraints))
    problem = Problem(model, Data(count_all(families, parts)), Settings(soft_weight=soft_weight))
    return Objective.of(problem, prepare(families, concatenate(parts)))


STATEMENTS = {
    "nothing": "",
    "orders": "h raises b\na raises h by at least 0.3",
    "synergy": "h and a synergize on c by at least 0.2",
    "ranges": "P(b=s1 | h=s0) >= 0.6\nP(c=s1 | h=s1) = 0.25",
    "confidences": "h raises b by at least 0.2 with confidence 0.7\nP(c=s1 | h=s1) = 0.25 with confidence 0.9",
    "products": "P(c=s1 | h=s0, a=s0) * P(c=s1 | h=s1, a=s1) <= P(c=s1 | h=s0, a=s1) * P(c=s1 | h=s1, a=s0)",
}


@pytest.mark.parametrize("prior", [0.0, 1.5])
@pytest.mark.parametrize("text", STATEMENTS.values(), ids=STATEMENTS)
def test_the_whole_gradient_is_that_of_differences(text: str, prior: float) -> None:
    for seed in range(3):
        network, frame = made_up(seed)
        objective = objective_of(network, frame, text, prior)
        assert_slope(objective, network, seed)


@pytest.mark.parametrize("kind", ["noisy-or", "noisy-max", "noisy-min"])
def test_the_gradient_of_noisy_families_is_that_of_differences(kind: str) -> None:
    network = noisy_network(np.random.default_rng(5), kind, leak=True)
    objective = objective_of(
        network,
        with_missing_values(network.sample(50, seed=1), 0.2, 1),
        f"order y: {' < '.join(network.forms['y'].order)}\nx0 raises y by at least 0.2\nx1 lowers y",
        1.0,
    )
    assert_slope(objective, network, 0)


def assert_slope(objective: Objective, network: Network, seed: int) -> None:
    around = np.concatenate(
        [np.ravel(expand(network).network.cpt_array(name)) for name in objective.problem.model.network.names]
    )
    generator = np.random.default_rng(seed)
    beta, step = generator.normal(size=len(objective.cells)), 1e-6
    for omega in (0.0, 3.0):
        _, slope = objective.cost(beta, around, omega)
        for i in range(len(beta)):
            ahead, behind = (
                objective.cost(beta + sign * step * np.eye(len(beta))[i], around, omega)[0] for sign in (1, -1)
            )
            assert slope[i] == pytest.approx((ahead - behind) / (2 * step), abs=2e-7, rel=1e-5)


METHODS = {"ml": "", "map": "", "cml": STATEMENTS["orders"], "cmap": STATEMENTS["orders"]}


@pytest.mark.parametrize("seed", seeds(1, 2))
@pytest.mark.parametrize("method", METHODS)
def test_both_trainers_end_at_one_optimum(method: str, seed: int) -> None:
    network, frame = made_up(seed, rows=150)
    structure = network.without_cpts()
    statements = METHODS[method]
    options = EMOptions(starts=5, tolerance=1e-11, max_iterations=2000)
    em = credo.fit(structure, frame, statements, method=method, em=options)
    gradient = credo.fit(structure, frame, statements, method=method, em=replace(options, trainer="gradient"))
    assert gradient.status in (Status.CONVERGED, Status.NOT_CONVERGED)
    assert gradient.history[-1] == pytest.approx(em.history[-1], rel=1e-4)
    assert em.history[-1] >= gradient.history[-1] - 1e-6 * abs(gradient.history[-1])


@pytest.mark.parametrize("seed", seeds(1, 3))
@pytest.mark.parametrize("kind", ["noisy-or", "noisy-and", "noisy-max"])
def test_both_trainers_agree_on_noisy_families(kind: str, seed: int) -> None:
    truth = noisy_network(np.random.default_rng(seed), kind, leak=True)
    text = (
        f"y is {kind} of {{x0, x1}}, {{x2}}, {{x3}} with leak and general effects\n"
        "x0 and x1 synergize on y\nx2 raises y by at least 0.05"
    )
    bare = Network(truth.variables, truth.parents)
    frame = truth.sample(200, seed=seed)
    em, gradient = (
        credo.fit(
            bare,
            frame,
            text,
            method="cmap",
            em=EMOptions(trainer=trainer, starts=2, tolerance=1e-11, max_iterations=1000),
        )
        for trainer in ("em", "gradient")
    )
    assert em.history[-1] >= gradient.history[-1] - 1e-6 * abs(gradient.history[-1])
    assert gradient.history[-1] == pytest.approx(em.history[-1], rel=1e-5)
    assert (gradient.violations()["amount"].max() or 0.0) <= 1e-6
    assert em.violations().is_empty()


def test_multipliers_are_those_of_em() -> None:
    network, frame = made_up(1, rows=150)
    text = "P(a=s0) >= 0.9"
    em, gradient = (
        credo.fit(network, frame, text, method="cml", em=EMOptions(trainer=trainer, starts=1, tolerance=1e-12))
        for trainer in ("em", "gradient")
    )
    one, two = em.binding(), gradient.binding()
    assert one["statement"].to_list() == two["statement"].to_list()
    assert one["gain_per_point"].to_list() == pytest.approx(two["gain_per_point"].to_list(), rel=1e-2)


def test_complete_data_are_trained_too() -> None:
    network, knowledge = random_network({"a": 2, "b": 3}, {"b": ("a",)}, seed=2), "a raises b by at least 0.2"
    frame = network.sample(100, seed=1)
    exact = credo.fit(network, frame, knowledge, method="cml")
    trained = credo.fit(network, frame, knowledge, method="cml", em=EMOptions(trainer="gradient"))
    assert trained.log_likelihood == pytest.approx(exact.log_likelihood, rel=1e-6)
    assert credo.fit(network, frame, knowledge, em=EMOptions(trainer="gradient")).method == "cmap"


def test_a_limit_of_iterations_is_no_convergence() -> None:
    """With a million rows a small gradient for each of them is still a large one, and P(a=no) is far from 1e-15."""
    frame = pl.DataFrame({"a": ["no", "yes"]})
    network, weights = Network({"a": BINARY}, {}), [1e-9, 1e6]
    few, many = (
        credo.fit(network, frame, method="ml", weights=weights, em=EMOptions(trainer="gradient", max_iterations=limit))
        for limit in (5, 1000)
    )
    assert few.network.cpt_array("a")[0] > 1e-5
    assert few.status is Status.NOT_CONVERGED
    assert many.network.cpt_array("a")[0] <= 1e-8
    assert many.status is Status.CONVERGED


def test_configurations_without_data_are_named_and_uniform() -> None:
    network = Network({"a": BINARY, "b": ("x", "y", "z"), "c": BINARY}, {"b": ["a"], "c": ["b"]})
    frame = pl.DataFrame({"a": ["no"] * 4, "b": ["x", None, "z", "x"], "c": ["no", "yes", "yes", None]})
    fit = credo.fit(network, frame, method="ml", em=EMOptions(trainer="gradient", starts=3))
    assert fit.network.cpt_array("b")[1] == pytest.approx([1 / 3] * 3)
    assert any(each.kind == "no data" and each.variable == "b" for each in fit.findings)


def test_a_kept_table_stays() -> None:
    network, frame = made_up(3)
    fit = credo.fit(
        network, frame, "h raises b", method="cmap", fixed=["c"], em=EMOptions(trainer="gradient", starts=2)
    )
    assert np.array_equal(fit.network.cpt_array("c"), network.cpt_array("c"))


def test_statements_that_cannot_hold_conflict() -> None:
    network, frame = made_up(0)
    with pytest.raises(credo.CredoError, match="cannot"):
        credo.fit(
            network, frame, "P(a=s0) >= 0.8\nP(a=s0) <= 0.2", method="cml", em=EMOptions(trainer="gradient", starts=1)
        )


def test_each_round_is_reported() -> None:
    events: list[ProgressEvent] = []
    network, frame = made_up(0)
    credo.fit(
        network,
        frame,
        "h raises b by at least 0.3",
        method="cml",
        progress=events.append,
        em=EMOptions(trainer="gradient", starts=2),
    )
    details = [event.detail.split(",")[0] for event in events if event.detail]
    assert set(details) == {"start 1 of 2", "start 2 of 2"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trainer": "gradien"}, 'There is no trainer "gradien". Did you mean "gradient"'),
        ({"trainer": "gradient", "method": "posterior"}, "works for ml, map, cml and cmap, not for posterior"),
        ({"trainer": "gradient", "method": "cml", "checkpoint": "x.npz"}, "writes no checkpoint"),
        ({"trainer": "gradient", "method": "cml", "starts": 0}, "At least one start"),
        (
            {"trainer": "gradient", "method": "cml", "knowledge": "rows 1, 2 share a"},
            "takes rows one by one",
        ),
    ],
)
def test_what_the_gradient_cannot_do_is_said(options: dict[str, Any], message: str) -> None:
    network, frame = made_up(0)
    own = {key: value for key, value in options.items() if key in ("trainer", "checkpoint", "starts")}
    others = {key: value for key, value in options.items() if key not in own}
    with pytest.raises(OptionError, match=message):
        credo.fit(network, frame, em=EMOptions(**own), **others)


@pytest.mark.parametrize("iterations", [1, 200])
def test_zeros_of_several_states_hold_together(iterations: int) -> None:
    """`P(x=b) >= 1` makes two states impossible: what is left of both together is what the statement is missed by."""
    network = Network({"a": ["n", "y"], "x": ["a", "b", "c"]}, {"x": ["a"]})
    options = credo.EMOptions(trainer="gradient", max_iterations=iterations, starts=1)
    table = pl.DataFrame({"a": ["n", "y", "n"]})
    fit = credo.fit(network, table, "P(x=b) >= 1", method="cml", em=options)
    missed = 1.0 - (fit.network.cpts["a"] @ fit.network.cpts["x"])[1]
    assert missed <= 1e-6 or fit.status is credo.Status.VIOLATED
