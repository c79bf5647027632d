"""What a stage is expected to take: figures that grow with the problem, refusals before the work, and announcements."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo import TooLargeError
from credo.constraints.stage_costs import (
    Cost,
    announce,
    check_memory,
    checking,
    estimating,
    explaining,
    readable_seconds,
    reporting_page,
)
from credo.memory import memory_limit_or_default, total_memory
from credo.progress import ProgressEvent
from tests.helpers.block_tasks import at_most, make_block

NETWORK = credo.Network({name: ["no", "yes"] for name in ("a", "b", "c", "y")}, parents={"y": ["a", "b", "c"]})
ROWS = pl.DataFrame({name: ["no", "yes", "yes"] for name in NETWORK.names})
STATEMENT = "P(y=yes | each other parent) <= 0.3"


def range_blocks(count: int) -> list[object]:
    return [make_block([2], [at_most([0], [1.0], 0.3)]) for _ in range(count)]


def test_one_default_for_every_stage() -> None:
    assert memory_limit_or_default(None) == total_memory() // 2
    assert memory_limit_or_default(7) == 7


@pytest.mark.parametrize("stage", [estimating, checking, lambda blocks: explaining(blocks, 100)])
def test_a_larger_problem_takes_more(stage: object) -> None:
    few, many = stage(range_blocks(10)), stage(range_blocks(100))  # type: ignore[operator]
    assert many.bytes > few.bytes > 0
    assert many.seconds > few.seconds > 0


def test_dense_systems_and_filled_factors_count() -> None:
    small, large = make_block([2] * 50, []), make_block([2] * 5_000, [])
    linked = make_block([2] * 5_000, [at_most([2 * k, 2 * k + 2], [1.0, -1.0], 0.0) for k in range(4_999)])
    assert estimating([small]).bytes < estimating([large]).bytes < estimating([linked]).bytes
    assert estimating([linked]).bytes < 1e9


def test_states_that_nothing_names_fill_no_factors() -> None:
    wide = make_block([100_000], [at_most([3], [1.0], 0.1)])
    named = make_block([20_000], [at_most([k, k + 1], [1.0, -1.0], 0.0) for k in range(19_999)])
    assert estimating([wide]).bytes < 100e6
    assert estimating([named]).bytes > 5 * estimating([make_block([20_000], [at_most([3], [1.0], 0.1)])]).bytes


@pytest.mark.parametrize("method", ["cml", "co", "cem"])
def test_many_states_under_one_bound_fit_into_what_they_take(method: str) -> None:
    """20,000 states: what is refused is more than is taken, and what is allowed is enough."""
    states = [f"s{k}" for k in range(20_000)]
    network, rows = credo.Network({"x": states}), pl.DataFrame({"x": states[:50]})
    with pytest.raises(TooLargeError, match=r"under 1 constraint needs about 13.\d MB, and 5.0 MB are allowed"):
        credo.fit(network, rows, "P(x=s3) <= 0.01", method=method, memory_limit=5_000_000)
    credo.fit(network, rows, "P(x=s3) <= 0.01", method=method, memory_limit=30_000_000)
    tracemalloc.start()
    credo.fit(network, rows, "P(x=s3) <= 0.01", method=method, memory_limit=30_000_000)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert used < 30_000_000


def test_a_page_shows_so_many_configurations_of_a_variable() -> None:
    assert reporting_page([(10**6, 2)]) == reporting_page([(4_096, 2)])
    assert reporting_page([(10, 20_000)]).bytes > reporting_page([(10, 2)]).bytes


@pytest.mark.parametrize("method", ["cml", "cmap", "cme", "co", "cem", "qmapc", "posterior"])
def test_every_method_that_uses_knowledge_refuses_with_figures(method: str) -> None:
    with pytest.raises(TooLargeError, match=r"needs about [0-9.]+ [kM]B, and 20.0 kB are allowed") as caught:
        credo.fit(NETWORK, ROWS, STATEMENT, method=method, memory_limit=20_000)
    assert "memory_limit" in str(caught.value)
    assert caught.value.bytes_needed > 20_000


def test_explanations_and_reports_keep_to_the_limit_of_their_fit(tmp_path: Path) -> None:
    fit = credo.fit(NETWORK, ROWS, STATEMENT, method="cml", memory_limit=150_000)
    with pytest.raises(TooLargeError, match="The explanation of this fit needs about"):
        fit.explain()
    wide = credo.Network({"x": [f"s{k}" for k in range(500)]})
    fit = credo.fit(wide, pl.DataFrame({"x": ["s1"]}), method="ml", memory_limit=100_000)
    with pytest.raises(TooLargeError, match=r"The page of this report needs about 600.0 kB"):
        fit.report(tmp_path / "page.html")


def test_a_check_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credo.memory.total_memory", lambda: 1_000)
    with pytest.raises(TooLargeError, match="This check needs about"):
        credo.check(NETWORK, STATEMENT)


def test_what_fits_is_let_through() -> None:
    check_memory(Cost(10.0, 1.0), 10, "This", "Do that.")
    with pytest.raises(TooLargeError, match=r"This needs about 11 bytes, and 10 bytes are allowed. Do that."):
        check_memory(Cost(11.0, 1.0), 10, "This", "Do that.")


def test_long_stages_are_announced() -> None:
    heard: list[ProgressEvent] = []
    announce(Cost(1.0, 4.9), "Estimating", heard.append)
    assert not heard
    announce(Cost(1.0, 200.0), "Estimating", heard.append)
    assert str(heard[0]) == "Estimating (about 3 minutes)"
    assert [readable_seconds(each) for each in (1.0, 45.0, 100.0, 9_000.0)] == [
        "1 second", "45 seconds", "2 minutes", "2 hours",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is asked of Unix")
def test_the_estimate_is_no_less_than_what_is_used() -> None:
    """The arrays of 3,000 blocks, as Python itself counts them."""
    from credo.constraints.blocks import blocks_of
    from credo.constraints.lower import lower
    from credo.estimation.solvers.block_estimates import estimate_blocks
    from credo.knowledge import Knowledge

    parents = [f"p{k}" for k in range(11)]
    network = credo.Network({name: ["no", "yes"] for name in [*parents, "y"]}, parents={"y": parents})
    constraints = lower(Knowledge(network, STATEMENT))
    blocks = blocks_of(constraints)
    weights = np.random.default_rng(0).integers(0, 3, constraints.layout.size).astype(float)
    tracemalloc.start()
    estimate_blocks(blocks, weights, 0.0)
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.1 * estimating(blocks).bytes < used < estimating(blocks).bytes
