"""Pictures of draws: what ArviZ is given, and what it draws."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import credo
from credo import MissingExtraError, OptionError, PosteriorOptions, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

NETWORK = credo.Network(
    {"a": ["no", "yes"], "b": ["low", "mid", "high"], "c": ["no", "yes"]}, {"b": ["a"], "c": ["a", "b"]}
)


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    rows = pl.DataFrame({"a": ["no", "yes"] * 3, "b": ["low", "high"] * 3, "c": ["no", "yes"] * 3})
    return credo.fit(NETWORK, rows, "P(c=yes | a=yes, b=high) >= 0.5", posterior=PosteriorOptions(chains=2, draws=50))


@pytest.fixture(autouse=True)
def closed_pictures() -> Any:
    yield
    pyplot.close("all")


def test_a_trace_has_the_least_certain_probabilities(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    from credo.plot import draw_plots

    monkeypatch.setattr(draw_plots, "MAX_TRACES", 2)
    axes = plot.trace(fit, "c")
    assert axes.shape == (2, 2)  # each with its distribution and its course
    assert len(axes[0, 1].lines) == 2  # chains
    titles = {" ".join(ax.get_title().split()) for ax in axes.ravel()}
    worst = fit.diagnostics("c").filter(state="yes").sort("effective_size").head(2)  # of two states the second
    assert titles == {f"P(c=yes | a={a}, b={b})" for a, b in worst.select("a", "b").rows()}


def test_ranks_of_each_chain(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    from credo.plot import draw_plots

    monkeypatch.setattr(draw_plots, "MAX_RANKS", 2)
    assert len(plot.rank(fit, "b")) == 2
    assert " ".join(plot.rank(fit, "a").get_title().split()) == "P(a=yes)"


def test_from_version_1_on_arviz_is_given_a_tree(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    newer = SimpleNamespace(
        __version__="1.3.0",
        InferenceData=None,  # the name is still there
        plot_trace_dist=lambda tree, **options: given.update(trace=tree, **options),
        plot_rank=lambda tree, **options: given.update(rank=tree, **options),
    )
    monkeypatch.setitem(sys.modules, "arviz", newer)
    plot.trace(fit, "a", backend="none")
    plot.rank(fit, "a")
    assert given["backend"] == "none"
    for kind in ("trace", "rank"):
        assert given[kind]["posterior"]["P(a=yes)"].dims == ("chain", "draw")


def test_what_cannot_be_drawn_says_why(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    one = credo.fit(NETWORK, pl.DataFrame({"a": ["no"], "b": ["low"], "c": ["no"]}), method="cmap")
    with pytest.raises(OptionError, match="There are no draws: the method cmap"):
        plot.trace(one, "a")
    with pytest.raises(OptionError, match="This picture shows what credo.fit returned"):
        plot.rank(NETWORK, "a")  # type: ignore[arg-type]
    noisy = credo.fit(NETWORK, fit_rows(), "c is noisy-max of {a}, {b} with leak", posterior=PosteriorOptions(draws=20))
    with pytest.raises(OptionError, match="c is a noisy family: draw one of its small CPTs, c by a, c by b, c by leak"):
        plot.trace(noisy, "c")
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtraError, match=r"A picture of draws needs the package arviz.*credo\[arviz\]"):
        plot.rank(fit, "a")


def fit_rows() -> pl.DataFrame:
    return pl.DataFrame({"a": ["no", "yes"] * 3, "b": ["low", "high"] * 3, "c": ["no", "yes"] * 3})
