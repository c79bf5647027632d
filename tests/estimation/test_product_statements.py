"""Methods that average, with statements that compare products: what these allow is not convex."""

from __future__ import annotations

import numpy as np
import pytest

import credo
from tests.helpers.product_cases import COUNTS, FOUR, SYNERGY, frame


def test_qmapc_satisfies_products_that_its_mean_violates() -> None:
    fit = credo.fit(FOUR, frame(COUNTS), SYNERGY, method="qmapc")
    effects = fit.network.cpt_array("c")[..., 1]
    assert effects[0, 0] * effects[1, 1] <= effects[0, 1] * effects[1, 0] * (1 + 1e-8)
    assert fit.violations().is_empty()
    assert fit.status is credo.Status.AVERAGED


def test_qmapc_moves_to_the_nearest_point() -> None:
    """A mean of two points at which the product is small, p = 0 and q = 0, need not have a small product."""
    counts = {("n", "n"): (0, 40), ("n", "y"): (1, 0), ("y", "n"): (1, 0), ("y", "y"): (1, 1)}
    fit = credo.fit(FOUR, frame(counts), "P(c=y | a=n, b=n) * P(c=y | a=y, b=y) <= 0.05", method="qmapc")
    effects = fit.network.cpt_array("c")[..., 1]
    assert effects[0, 0] * effects[1, 1] <= 0.05 * (1 + 1e-8)
    assert effects[0, 0] > 0.5  # forty rows against two
    assert fit.violations().is_empty()


def test_qmap_says_what_it_violates() -> None:
    fit = credo.fit(FOUR, frame(COUNTS), SYNERGY, method="qmap")
    assert fit.violations().height == 1
    assert fit.status is credo.Status.VIOLATED
    (finding,) = [finding for finding in fit.findings if finding.kind == "violated"]
    assert "line 1" in finding.message


def test_qmap_says_what_it_violates_of_linear_statements() -> None:
    fit = credo.fit(FOUR, frame(COUNTS), "P(c=y | a=n, b=n) <= 0.1", method="qmap")
    assert fit.status is credo.Status.VIOLATED
    assert any(finding.kind == "violated" for finding in fit.findings)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cml", "cmap", "cme", "qmapc", "posterior", "qmap"])
@pytest.mark.parametrize("seed", range(3))
def test_status_and_violations_agree(method: str, seed: int) -> None:
    """Whatever a method promises, it does not claim to satisfy what it violates."""
    generator = np.random.default_rng(seed)
    counts = {key: tuple(generator.integers(0, 12, 2).tolist()) for key in COUNTS}
    text = f"{SYNERGY}\nP(c=y | a=n, b=n) * P(c=y | a=n, b=y) <= 0.1\nP(c=y | a=y, b=y) >= 0.3"
    fit = credo.fit(FOUR, frame(counts), text, method=method)
    assert (fit.status is credo.Status.VIOLATED) == (not fit.violations().is_empty())
