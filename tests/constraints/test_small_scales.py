"""Numbers that statements keep tiny are not zero: failure rates of 1e-8 are what experts in reliability write."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import credo
from credo.constraints.blocks import Block, blocks_of
from credo.constraints.constraint_set import LinearConstraint
from credo.constraints.feasibility import interior_of, ranges, scaled
from credo.constraints.lower import lower
from credo.knowledge.declared_network import knowledge_about
from tests.helpers.blocks import at_most, block_of

NETWORK = credo.Network({"s": ["a", "b", "c"], "t": ["lo", "mid", "hi"]}, parents={"t": ["s"]})
FULL = pl.DataFrame({"s": ["a", "a", "a", "b", "b", "c"], "t": ["lo", "mid", "hi", "lo", "lo", "hi"]})
MISSING = FULL.with_columns(t=pl.Series(["lo", "mid", "hi", "lo", None, "hi"]))
BOUNDS = [1e-6, 1e-7, 1e-8, 1e-9, 1e-12]


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("rows", [FULL, MISSING], ids=["full", "missing"])
@pytest.mark.parametrize("method", ["cml", "cmap", "cme", "posterior", "qmapc"])
def test_what_is_at_most_tiny_is_not_zero(method: str, rows: pl.DataFrame, bound: float) -> None:
    fit = credo.fit(NETWORK, rows, f"P(t=lo | s=a) <= {bound}", method=method)
    cpt = fit.network.cpt_array("t")[0]
    assert 0.2 * bound < cpt[0] <= bound * (1.0 + 1e-6)
    assert np.isfinite(fit.log_likelihood)
    assert abs(cpt.sum() - 1.0) < 1e-12
    assert not [finding for finding in fit.findings if finding.kind == "impossible data"]


@pytest.mark.parametrize("bound", [*BOUNDS, 1e-15])
def test_a_check_calls_tiny_numbers_undetermined(bound: float) -> None:
    assert credo.check(NETWORK, f"P(t=lo | s=a) <= {bound}").determined == ()
    (zero,) = credo.check(NETWORK, "P(t=lo | s=a) <= 0").determined
    assert zero.value == 0.0


def test_draws_fill_a_tiny_range() -> None:
    fit = credo.fit(NETWORK, MISSING, "2e-8 <= P(t=lo | s=a) <= 1e-7", method="posterior")
    interval = fit.interval("t", 0.9).row(0, named=True)
    assert 2e-8 <= interval["low"] < 4e-8
    assert 8e-8 < interval["high"] <= 1e-7


def test_almost_certain_leaves_tiny_numbers_to_the_others() -> None:
    text = "P(t=lo | s=a) >= 0.99999995\nP(t=mid | s=a) >= 2e-8"
    for method in ("cmap", "posterior", "qmapc"):
        cpt = credo.fit(NETWORK, MISSING, text, method=method).network.cpt_array("t")[0]
        assert 0.99999995 - 1e-12 <= cpt[0] < 1.0
        assert cpt[1] >= 2e-8 - 1e-14
        assert cpt[2] > 1e-9


@pytest.mark.parametrize("seed", range(300))
def test_only_what_is_zero_at_every_point_is_called_zero(seed: int) -> None:
    """Against exact arithmetic: random orders of numbers, times powers of ten, some of which start at zero."""
    rng = np.random.default_rng(seed)
    sizes = tuple(int(size) for size in rng.integers(2, 5, rng.integers(1, 4)))
    lasts = set((np.cumsum(sizes) - 1).tolist())  # these take the rest, and have no bounds
    bounded = [k for k in range(sum(sizes)) if k not in lasts]
    largest: dict[int, Fraction] = {}
    rows: list[LinearConstraint] = []
    for k in rng.permutation(bounded).tolist():
        if largest and rng.random() < 0.5:
            other = int(rng.choice(list(largest)))
            power = int(rng.integers(0, 4))
            largest[k] = largest[other] / 10**power
            rows.append(at_most({k: 1.0, other: -(10.0**-power)}, 0.0))
        else:
            bound = float(rng.choice([0.0, 1e-8, 1e-6, 0.1, 3e-7]))
            largest[k] = Fraction(bound)
            rows.append(at_most({k: 1.0}, bound))
    block = block_of(sizes, rows)
    interior = interior_of(block)
    assert interior is not None
    zero = sorted(k for k, value in largest.items() if value == 0)
    assert interior.zero_parameters.tolist() == zero
    assert (block.linear.excess(interior.point) <= 1e-9).all()
    low, high = ranges(block, np.ones(block.size))
    for k, value in largest.items():
        assert high[k] == pytest.approx(min(float(value), 1.0), rel=1e-9, abs=1e-15)
        assert low[k] < 1e-10


def test_ordinary_numbers_keep_their_coordinates() -> None:
    block: Block = block_of((3, 3), [at_most({0: 1.0}, 0.2), at_most({3: 1.0, 0: -1.0}, 0.0)])
    assert scaled(block, np.ones(block.size)) is None


@pytest.mark.parametrize("value", [1e-9, 2e-9, 5e-9, 9e-9, 1e-12, 3e-15, 1e-20])
def test_a_tiny_number_that_is_stated_is_not_zero(value: float) -> None:
    knowledge = knowledge_about(f"variable x: no, maybe, yes\nP(x=yes) is {value:g}").knowledge
    (block,) = blocks_of(lower(knowledge))
    found = interior_of(block)
    assert found is not None
    assert found.zero_parameters.tolist() == []
    assert found.point[2] == pytest.approx(value, rel=1e-6)


def test_draws_hold_tiny_numbers_within_a_hundredth_in_every_chain() -> None:
    values = [1e-9, 5e-9, 9e-9, 1e-12, 1e-15]
    names = [f"x{number}" for number in range(len(values))]
    lines = [f"P({name}=yes) is {value:g}" for name, value in zip(names, values, strict=True)]
    few = credo.PosteriorOptions(draws=100, max_draws=100)
    fit = credo.fit("\n".join((f"variables {', '.join(names)}: no, yes", *lines)), seed=1, posterior=few)
    assert fit.posterior is not None
    for name, value in zip(names, values, strict=True):
        drawn = fit.posterior.draws[..., fit.posterior.layout.slice_of(name)][..., 1] / value
        assert np.abs(drawn - 1.0).max() < 0.0101
        assert (drawn.std(axis=1) > 0.003).all()
