"""The two published models of `experiments/prior` against quadrature, and the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiments.prior.report import write_report
from experiments.prior.rivals import backing_off, hierarchical, parents_by_information, tables
from scipy.special import gammaln
from scipy.stats import beta, gamma

from credo import Network

POINTS = (np.arange(120) + 0.5) / 120


def line(parents: int = 1) -> Network:
    names = [f"p{i}" for i in range(parents)]
    return Network({**{name: ["0", "1"] for name in names}, "x": ["0", "1"]}, {"x": names})


def log_beta_binomial(counts: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    n, m = counts
    found = gammaln(first + n) - gammaln(first) + gammaln(second + m) - gammaln(second)
    return np.asarray(found + gammaln(first + second) - gammaln(first + second + n + m))


def test_one_distribution_for_a_table() -> None:
    """θ_j ~ Dirichlet(2·α), α uniform: by quadrature over α."""
    counts = np.array([[6.0, 0.0], [2.0, 1.0]])
    log = sum(log_beta_binomial(own, 2.0 * POINTS, 2.0 * (1.0 - POINTS)) for own in counts)
    weights = np.exp(log - log.max())
    expected = [np.average((own[0] + 2.0 * POINTS) / (own.sum() + 2.0), weights=weights) for own in counts]
    given = {"p0": np.array([[1.0, 1.0]]), "x": counts}
    found = np.mean([hierarchical(line(), given, seed)["x"][:, 0] for seed in range(3)], axis=0)
    np.testing.assert_allclose(found, expected, atol=0.015)


def test_backing_off_without_parents() -> None:
    """φ ~ Dirichlet(c/2, c/2), c ~ Gamma(2, 1): by quadrature over c."""
    c = np.linspace(0.01, 15.0, 2_000)
    counts = np.array([5.0, 1.0])
    weights = gamma.pdf(c, 2.0) * np.exp(log_beta_binomial(counts, c / 2.0, c / 2.0))
    expected = np.average((5.0 + c / 2.0) / (6.0 + c), weights=weights)
    found = [backing_off(line(0), {"x": counts[None]}, seed)["x"][0, 0] for seed in range(3)]
    assert np.mean(found) == pytest.approx(expected, abs=0.015)


def test_backing_off_to_what_the_states_of_a_parent_share() -> None:
    """One parent with a state that was not seen: it has the mean of φ, by quadrature over φ and both c."""
    counts = np.array([[4.0, 1.0], [0.0, 0.0]])
    c = (np.arange(80) + 0.5) / 8.0
    phi, top, low = POINTS[:, None, None], c[None, :, None], c[None, None, :]
    log = beta.logpdf(phi, top / 2.0, top / 2.0) + gamma.logpdf(top, 2.0) + gamma.logpdf(low, 2.0)
    log = log + log_beta_binomial(counts[0], low * phi, low * (1.0 - phi))
    weights = np.exp(log - log.max())
    seen = ((4.0 + low * phi) / (5.0 + low) * weights).sum() / weights.sum()
    unseen = (phi * weights).sum() / weights.sum()
    given = {"p0": np.array([[5.0, 0.0]]), "x": counts}
    found = np.mean([backing_off(line(), given, seed)["x"][:, 0] for seed in range(3)], axis=0)
    np.testing.assert_allclose(found, [seen, unseen], atol=0.025)


def test_parents_come_in_the_order_of_what_they_tell() -> None:
    counts = np.zeros((2, 2, 2))
    counts[:, 0, 0] = counts[:, 1, 1] = 5.0  # the child is the second parent's state
    assert parents_by_information(counts) == [1, 0]
    given = {"p0": np.ones((1, 2)), "p1": np.ones((1, 2)), "x": counts.reshape(4, 2)}
    given["x"][3] = 0.0
    assert backing_off(line(2), given)["x"][3, 1] > 0.6


def test_tables_of_restaurants() -> None:
    rng = np.random.default_rng(0)
    opened = tables(np.full(20_000, 4.0), np.full(20_000, 0.5), rng)
    assert opened.mean() == pytest.approx(sum(0.5 / (0.5 + i) for i in range(4)), abs=0.02)
    assert tables(np.array([0.0, 1.0]), np.array([0.1, 0.1]), rng).tolist() == [0.0, 1.0]


def test_the_report_names_cells_that_are_behind(tmp_path: Path) -> None:
    figures = {"uniform": 0.5, "map": 0.2, "qmapc": 0.3, "hierarchical": 0.6, "backing_off": 0.1, "posterior": 0.25}
    common = {"network": "asia", "rows": 50, "share": 0, "draw": 0, "seconds": 1.0, "configurations": 18, "seen": 14}
    results = pl.DataFrame([{**common, "method": method, "kl": kl} for method, kl in figures.items()])
    text = write_report(results, tmp_path / "page.md")
    assert "asia, 50 rows, 0%: 0.2500 against 0.2000" in text
    assert "`uniform`: `posterior` is ahead in 1 of 1 cells." in text
    assert "**0.1000**" in text


def test_the_report_shows_how_estimates_converge(tmp_path: Path) -> None:
    common = {"network": "asia", "share": 0, "draw": 0, "seconds": 1.0, "configurations": 18, "seen": 14}
    results = [
        {**common, "rows": rows, "method": method, "kl": kl / rows}
        for rows in (50, 1_000, 10_000)
        for method, kl in (("ml", 3.0), ("map", 4.0), ("posterior", 2.0))
        if rows > 50 or method != "ml"
    ]
    text = write_report(pl.DataFrame(results), tmp_path / "page.md")
    assert "| asia | 10,000 | 1 | 0.00030 | 0.00040 | 0.00020 |" in text
    assert "`map`: `posterior` is ahead in 1 of 1 cells." in text


def test_the_report_judges_by_differences_on_the_same_draws(tmp_path: Path) -> None:
    """Figures that vary by 0.2 from draw to draw, of which one is always larger by about 0.01."""
    common = {"network": "asia", "rows": 50, "share": 0, "seconds": 1.0, "configurations": 18, "seen": 14}
    results = [
        {**common, "draw": draw, "method": method, "kl": 0.2 * draw + extra}
        for draw in range(3)
        for method, extra in (("map", 0.1), ("posterior", 0.11 + 0.001 * draw))
    ]
    text = write_report(pl.DataFrame(results), tmp_path / "page.md")
    assert "behind by more than two standard errors in 1." in text
    assert "asia, 50 rows, 0%: 0.3110 against 0.3000 (by 0.0110 ± 0.0006)" in text
