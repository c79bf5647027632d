"""What `credo learn` prints of networks of all sizes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import credo
from credo.report.check_text import plain_text
from credo.report.fit_text import FRAME, SCREEN, chosen_cpts, fit_summary
from credo.testing import made_up_network

LARGE = made_up_network(20, (2, 2), (0.3, 0.4, 0.3), seed=3)
DATA = LARGE.sample(300, seed=1)


def learned(knowledge: str, method: str = "cmap") -> credo.Fit:
    return credo.fit(LARGE.without_cpts(), DATA, knowledge, method=method)


def test_a_large_network_shows_what_the_knowledge_is_about_on_one_screen() -> None:
    with_parent = [name for name in LARGE.names if LARGE.parents[name]][-1]
    parent = LARGE.parents[with_parent][0]
    fit = learned(f"{parent} raises {with_parent}\nP(v0=state0) <= 0.999")
    shown = chosen_cpts(fit)
    assert set(shown[:2]) == {with_parent, "v0"}
    assert 2 < len(shown) < 20
    assert sum(FRAME + LARGE.configurations(name) for name in shown) <= SCREEN
    text = plain_text(fit_summary(fit, Path("my net.bif")))
    assert f"P({with_parent} | " in text
    assert f"These are the CPTs of {len(shown)} of 20 variables, those that the statements are about first" in text
    other = next(name for name in LARGE.names if name not in shown)
    assert f"credo show 'my net.bif' {other} shows another." in text
    assert "Add --out" not in text
    assert f"Add --out learned.bif to keep the network. credo show learned.bif {other} shows another." in plain_text(
        fit_summary(fit)
    )


def test_what_the_data_contradict_is_shown_before_everything_else() -> None:
    fit = learned("P(v1=state0 | each other parent) <= 0.9999\nP(v0=state0) = 0.001")
    assert chosen_cpts(fit)[0] == "v0"
    assert plain_text(fit_summary(fit)).startswith("The data contradict one statement.")


def test_without_knowledge_the_strongest_dependences_are_shown() -> None:
    shown = chosen_cpts(learned(""))
    assert shown
    assert all(LARGE.parents[name] for name in shown)


def test_a_small_network_is_shown_whole_and_the_first_sentence_has_no_jargon() -> None:
    network = made_up_network(4, seed=1)
    fit = credo.fit(network.without_cpts(), network.sample(50, seed=0), method="map")
    text = plain_text(fit_summary(fit))
    assert chosen_cpts(fit) == list(network.names)
    assert text.splitlines()[0] == (
        "made up: the probabilities of 4 variables were learned from 50 rows of data and no statements."
    )
    assert "shows another" not in text


@pytest.mark.parametrize("method", ["ml", "cmap"])
def test_one_cpt_is_always_shown_however_large(method: str) -> None:
    network = made_up_network(14, (4, 4), (0, 0, 0, 0, 1), seed=1)
    fit = credo.fit(network.without_cpts(), network.sample(100, seed=0), method=method)
    assert chosen_cpts(fit)
    assert "more configurations" in plain_text(fit_summary(fit))


def test_the_table_of_doubts_names_the_expert() -> None:
    knowledge = "expert nurse:\n  P(v0=state0) <= 0.9\nexpert surgeon: P(v0=state0) >= 0.001\n"
    text = plain_text(fit_summary(learned(knowledge, method="posterior")))
    rows = [line for line in text.splitlines() if "P(v0=state0)" in line and "0." in line]
    assert sorted(name for row in rows[:2] for name in ("nurse", "surgeon") if name in row) == ["nurse", "surgeon"]
    assert "expert" in text.splitlines()[3] + text.splitlines()[4]


@pytest.mark.parametrize(
    ("confidence", "says"), [("", "only with a confidence"), (" with confidence 0.9", "the lower its confidence is")]
)
def test_advice_about_a_contradicted_statement_fits_its_confidence(confidence: str, says: str) -> None:
    data = pl.DataFrame({"y": ["no", "yes"] * 100})
    fit = credo.fit(f"variable y: no, yes\nP(y=yes) <= 0.05{confidence}\n", data, method="cmap")
    text = " ".join(plain_text(fit_summary(fit)).split())
    assert "The data contradict one statement." in text
    assert says in text
