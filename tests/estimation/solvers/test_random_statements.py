"""Random statements of all kinds with few data: what methods promise about their result, and that none is better."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import Network
from credo.constraints.blocks import blocks_of
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.constraints.lower import lower
from credo.estimation.solvers.block_estimates import estimate_blocks
from credo.estimation.solvers.certificate import objective
from credo.estimation.solvers.clarabel import solve_with_clarabel
from credo.explain.violations import ONLY_CHECKED
from credo.knowledge import knowledge_for

PROMISES = ("cml", "cmap", "cme", "qmapc")
LOUD = {"divide": "raise", "over": "raise", "invalid": "raise"}


def random_network(rng: np.random.Generator) -> Network:
    sizes = rng.integers(2, 4, 3).tolist()
    variables = {name: tuple(f"{name}{k}" for k in range(size)) for name, size in zip("abc", sizes, strict=True)}
    parents = {"c": ["a", "b"], "b": ["a"]} if rng.random() < 0.5 else {"c": ["a", "b"]}
    return Network(variables, parents=parents)


def probability(rng: np.random.Generator, network: Network) -> str:
    name = str(rng.choice(["a", "b", "c", "c"]))
    given = [f"{each}={rng.choice(network.states(each))}" for each in network.parents[name] if rng.random() < 0.85]
    return f"P({name}={rng.choice(network.states(name))}{' | ' if given else ''}{', '.join(given)})"


def statement(rng: np.random.Generator, network: Network) -> str:
    one, two = probability(rng, network), probability(rng, network)
    number = rng.choice([0.0, 0.05, 0.1, 0.3, 0.333, 0.5, 0.9, 1.0])
    kinds = [
        f"{one} {rng.choice(['<=', '>=', '='])} {number:g}",
        f"{one} <= {two}",
        f"{rng.choice([2.0, 0.5, 10.0, 1e6, 1e-6]):g}*{one} + {two} <= {rng.choice([0.3, 1.0, 2.0, 1e6]):g}",
        f"a {rng.choice(['raises', 'lowers'])} c",
        f"a and b {rng.choice(['synergize', 'sub-synergize'])} on c",
        f"{one} ≈ {number:g} within 0.1",
    ]
    return str(rng.choice(kinds)) + (" with confidence 0.8" if rng.random() < 0.25 else "")


def random_text(seed: int) -> tuple[Network, str, np.random.Generator]:
    """Statements that make sense: those with a mistake are drawn again."""
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    while True:
        text = "\n".join(statement(rng, network) for _ in range(int(rng.integers(1, 6))))
        try:
            knowledge_for(network, text)
        except credo.CredoError:
            continue
        return network, text, rng


def check_fits(seed: int) -> None:
    network, text, rng = random_text(seed)
    feasible = credo.check(network, text).feasible
    count = int(rng.choice([1, 2, 5, 20, 100]))
    data = pl.DataFrame({name: rng.choice(network.states(name), count).tolist() for name in network.names})
    for method in PROMISES:
        with np.errstate(**LOUD):
            if not feasible:
                with pytest.raises(credo.CredoError):
                    credo.fit(network, data, text, method=method)
                continue
            fit = credo.fit(network, data, text, method=method)
        for cpt in fit.network.cpts.values():
            assert (cpt >= 0.0).all()
            np.testing.assert_allclose(cpt.sum(axis=-1), 1.0, atol=1e-12)
        if any(finding.kind == ONLY_CHECKED for finding in fit.findings):
            continue  # `cme` and `qmapc` promise nothing about probabilities that are no numbers of CPTs
        assert fit.violations().filter(pl.col("confidence").is_null()).is_empty(), (method, text)
        assert fit.status is not credo.Status.VIOLATED


def check_optima(seed: int) -> None:
    network, text, rng = random_text(seed)
    constraints = lower(knowledge_for(network, text))
    weights = rng.multinomial(
        int(rng.choice([0, 1, 5, 50, 1000])), rng.dirichlet(np.full(constraints.layout.size, 0.3))
    )
    vector = weights * float(rng.choice([1.0, 1e-6, 1e6])) + float(rng.choice([0.0, 1.0, 1e-3]))
    for block in blocks_of(constraints):
        interior = interior_of(block)
        try:
            with np.errstate(**LOUD):
                (found,) = estimate_blocks([block], vector, float(rng.choice([0.0, 10.0, 100.0])))
        except InfeasibleError:
            assert interior is None, text
            continue
        assert interior is not None
        impossible = vector[block.parameters][interior.zero_parameters].any()  # data contain what can only be zero
        if not found.certificate.holds:
            assert impossible or interior.slack < 1e-6, text
            continue
        if impossible:
            continue  # no point has a finite objective: the one that violates most within rounding has the best
        value = objective(found.task, found.theta)
        assert found.block.linear.excess(found.theta)[found.block.linear.hard].max(initial=0.0) <= 1e-8
        other = solve_with_clarabel(found.task)
        if other is not None and other.violation < 1e-10:
            gained = np.abs(found.multipliers).sum() * other.violation  # by what it violates
            assert objective(found.task, other.theta) >= value - gained - 1e-7 * max(1.0, abs(value)), text


@pytest.mark.parametrize("seed", range(4))
def test_fits_satisfy_what_they_promise(seed: int) -> None:
    check_fits(seed)


@pytest.mark.parametrize("seed", range(12))
def test_no_point_is_better_than_a_certified_optimum(seed: int) -> None:
    check_optima(seed)


@pytest.mark.slow
def test_many_fits_satisfy_what_they_promise() -> None:
    for seed in range(1000, 1200):
        check_fits(seed)


@pytest.mark.slow
def test_no_point_is_better_than_many_certified_optima() -> None:
    for seed in range(1000, 3000):
        check_optima(seed)
