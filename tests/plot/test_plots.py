"""Pictures: what is drawn, on which axes, and in which colours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import polars as pl
import pytest

import credo
from credo import MissingExtraError, Network, OptionError, plot
from credo.drawing.colours import DARK, LIGHT
from credo.drawing.network_boxes import network_boxes, network_picture
from credo.probability_texts import short_percent
from credo.questions.marginals import fit_marginals
from tests.helpers.pages import demo

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402
from matplotlib.patches import FancyArrowPatch, Rectangle  # noqa: E402


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    return demo()


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_a_cpt_as_bars(fit: credo.Fit) -> None:
    ax = plot.cpt(fit, "coma")
    labels = [each.get_text() for each in ax.get_yticklabels()]
    assert labels[0].startswith("P(coma=yes | brain_tumour=no, serum_calcium=normal)  n=20")
    assert len(labels) == 4
    learned = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    assert learned == pytest.approx(fit.network.cpt_array("coma")[..., 1].ravel().tolist())
    data = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "v"]
    assert data == pytest.approx([0.0, 1.0, 1.0, 1.0])
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["what the knowledge allows", "its mean", "the data alone", "learned", "95% interval"]


def test_a_large_cpt_has_pages_and_says_so() -> None:
    parents = [f"p{k}" for k in range(6)]
    network = Network(dict.fromkeys([*parents, "child"], ("no", "yes")), {"child": parents})
    fit = credo.fit(network, pl.DataFrame({name: ["no", "yes"] for name in network.names}), method="map")
    explanation = fit.explain()
    pages = [plot.cpt(fit, "child", page=number, explanation=explanation) for number in (1, 2)]
    notes = [each.get_xlabel() for each in pages]
    assert notes[0] == "showing 40 of 64 configurations; page 1 of 2; all are in fit.cpt('child')"
    assert notes[1] == "showing 24 of 64 configurations; page 2 of 2; all are in fit.cpt('child')"
    labels = {label.get_text() for each in pages for label in each.get_yticklabels()}
    assert len(labels) == 64
    assert plot.cpt(fit, "p0", explanation=explanation).get_xlabel() == ""
    with pytest.raises(OptionError, match="has 2 pages: there is no page 3"):
        plot.cpt(fit, "child", page=3, explanation=explanation)


def test_the_network_has_the_positions_of_the_page(fit: credo.Fit) -> None:
    ax = plot.network(fit)
    boxes = network_boxes(fit.network, fit_marginals(fit).bars)
    picture = network_picture(fit.network, boxes)
    corners = {(each.get_x(), each.get_y()) for each in ax.patches if isinstance(each, Rectangle)}
    assert {picture.box(name)[:2] for name in fit.network.names} <= corners
    words = [text.get_text() for text in ax.texts]
    assert "brain_tumour" in words
    assert short_percent(fit.predict({}, "coma")["probability"][1]) in words
    _, small = pyplot.subplots(figsize=(2, 2))
    names = [text.get_text() for text in plot.network(fit, ax=small).texts]
    assert "brain_\ntumour" in names
    assert len(names) == 6


def test_pictures_are_drawn_on_axes_that_are_given(fit: credo.Fit) -> None:
    _, panels = pyplot.subplots(2, 2)
    explanation = fit.explain()
    assert plot.cpt(fit, "ct_scan", explanation=explanation, ax=panels[0, 0]) is panels[0, 0]
    assert plot.network(fit, explanation=explanation, ax=panels[0, 1]) is panels[0, 1]
    assert plot.history(fit, ax=panels[1, 0]) is panels[1, 0]
    assert plot.knowledge(fit, explanation=explanation, ax=panels[1, 1]) is panels[1, 1]
    assert len(pyplot.get_fignums()) == 1


@pytest.mark.parametrize(("style", "colours"), [("default", LIGHT), ("dark_background", DARK)])
def test_colours_suit_the_paper(fit: credo.Fit, style: str, colours: dict[str, str]) -> None:
    with pyplot.style.context(style):
        ax = plot.network(fit)
        kinds = {to_hex(each.get_edgecolor()) for each in ax.patches if isinstance(each, FancyArrowPatch)}
        assert kinds == {colours["raises"]}
        ax.figure.canvas.draw()


def test_the_statements_that_mattered(fit: credo.Fit) -> None:
    ax = plot.knowledge(fit)
    assert "contradicted by the data; is not satisfied" in ax.texts[0].get_text()
    assert len(ax.patches) == 12
    ax.figure.canvas.draw()


def test_steps_of_em() -> None:
    network = Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    data = pl.DataFrame({"a": ["no", "yes", None, "no"], "b": ["no", "yes", "yes", None]})
    fit = credo.fit(network, data, method="map")
    (line,) = plot.history(fit).lines
    assert line.get_ydata().tolist() == pytest.approx(list(fit.history))
    assert plot.knowledge(fit).texts[0].get_text() == "no statements"


def test_conflicts_of_statements() -> None:
    check = credo.check(
        demo().network,
        "P(coma=yes | brain_tumour=yes, each serum_calcium) <= 0.2\n"
        "P(coma=yes | brain_tumour=yes, each serum_calcium) >= 0.3",
    )
    ax = plot.conflicts(check)
    words = [text.get_text().replace("\n", " ") for text in ax.texts]
    assert words[0] == "line 1: P(coma=yes | brain_tumour=yes, each serum_calcium) <= 0.2"
    assert "P(coma | brain_tumour=yes, serum_calcium=normal)" in words
    ax.figure.canvas.draw()
    assert plot.conflicts(credo.check(demo().network, "")).texts[0].get_text() == "There are no conflicts."


def test_what_there_is_no_room_for_is_counted(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    parents = ["p", "q", "r", "s"]
    network = Network(dict.fromkeys([*parents, "child"], ("no", "yes")), {"child": parents})
    given = "each p, each q, each r, each s"
    check = credo.check(network, f"P(child=yes | {given}) <= 0.2\nP(child=yes | {given}) >= 0.3")
    assert plot.conflicts(check).texts[-1].get_text() == "and 6 more"
    assert ">and 6 more</text>" in check._repr_html_()
    monkeypatch.setattr("credo.plot.check_plots.MAX_CONFLICTS", 0)
    assert plot.conflicts(check).get_title() == "the first 0 of 1 conflicts"
    monkeypatch.setattr("credo.plot.fit_plots.MAX_STATEMENTS", 5)
    ax = plot.knowledge(fit)
    assert len(ax.patches) == 5
    assert ax.get_xlabel().endswith("showing 5 of 12 statements; all are in fit.explain().statements")


def test_a_variable_without_a_cpt_of_its_own_is_an_error() -> None:
    network = Network(dict.fromkeys("abc", ("no", "yes")), {"c": ["a", "b"]})
    data = pl.DataFrame({name: ["no", "yes", "yes"] for name in "abc"})
    fit = credo.fit(network, data, "c is noisy-or of {a}, {b}")
    with pytest.raises(OptionError, match="small CPTs are c by a, c by b"):
        plot.cpt(fit, "c")
    assert plot.cpt(fit, "c by a").get_yticklabels()
    with pytest.raises(credo.CredoError, match="nobody"):
        plot.cpt(fit, "nobody")


def test_without_matplotlib_the_extra_is_named(fit: credo.Fit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"credo\[plots\]"):
        plot.history(fit)


def test_what_notebooks_show(fit: credo.Fit) -> None:
    for text in (fit._repr_html_(), fit.network._repr_html_()):
        assert text.count("class=v ") == 6
        assert "class=raises " in text
        assert "prefers-color-scheme:dark" in text
    assert "fit.report" in fit._repr_html_()
    assert "<tspan class=p " in fit._repr_html_()  # a percentage
    large = Network({f"n{k}": ["no", "yes"] for k in range(200)}, {})
    assert "<svg" not in large._repr_html_()
    assert "200 variables" in large._repr_html_()


def test_a_network_alone_is_drawn_with_and_without_its_cpts() -> None:
    states = {"smoke": ["no", "yes"], "lung": ["no", "yes"]}
    bare = Network(states, {"lung": ["smoke"]})
    full = Network(states, {"lung": ["smoke"]}, {"smoke": [0.75, 0.25], "lung": [[1.0, 0.0], [0.0, 1.0]]})
    assert {text.get_text() for text in plot.network(bare).texts} == {"smoke", "lung"}
    assert [text.get_text() for text in plot.network(full).texts].count("75%") == 2


def test_what_is_no_fit_is_refused_in_a_sentence() -> None:
    network: Any = Network({"smoke": ["no", "yes"]})
    for draw in (lambda: plot.cpt(network, "smoke"), lambda: plot.knowledge(network), lambda: plot.history(network)):
        with pytest.raises(OptionError, match="shows what credo.fit returned; this is of the type Network"):
            draw()
    with pytest.raises(OptionError, match="this is of the type int"):
        plot.network(5)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="This picture shows what credo.check returned; this is of the type Network"):
        plot.conflicts(network)


def test_a_page_is_a_number(fit: credo.Fit) -> None:
    with pytest.raises(OptionError, match="there is no page x"):
        plot.cpt(fit, "coma", page="x")  # type: ignore[arg-type]


def test_experts_numbers_are_curves_beside_what_was_learned() -> None:
    text = (
        "variables smoke, lung: no, yes\nlung depends on smoke\nP(lung=yes | smoke=yes) is 12%, worth 50 cases\n"
        "P(lung | smoke=no) is 97%, 3%, worth 20 cases\nP(lung=yes) is 5%, worth 100 cases\n"
    )
    check = credo.check(text)
    assert [each.cases for each in check.curves] == [(6.0, 44.0), pytest.approx((0.6, 19.4)), (5.0, 95.0)]
    axes = credo.plot.expert_numbers(check)
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["P(lung=yes)", "P(lung | smoke=no)", "P(lung=yes | smoke=yes)"]
    fit = credo.fit(text)
    dots = [line.get_xdata()[0] for line in credo.plot.expert_numbers(fit).lines]
    asked = ("P(lung=yes)", "P(lung=yes | smoke=no)", "P(lung=yes | smoke=yes)")
    assert dots == pytest.approx([fit.query(each).probability for each in asked], abs=2e-3)
    with pytest.raises(credo.OptionError, match="No expert gave a number"):
        credo.plot.expert_numbers(
            credo.check("variables smoke, lung: no, yes\nsmoke does not affect lung\nlung depends on smoke")
        )
