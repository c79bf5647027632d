"""What combines with what: each cell of the page is tried again, and everything together in one fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo.estimation.methods import METHODS
from tests.helpers.documentation import docs_script

ROOT = Path(__file__).resolve().parents[1]


TRIED = docs_script("combinations")


@pytest.mark.slow
def test_the_page_is_what_the_code_gives() -> None:
    assert TRIED.everything() == TRIED.PAGE.read_text(encoding="utf-8")


class Reached(Exception):
    """Nothing was refused before the draws."""


def test_the_page_is_what_the_code_gives_up_to_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without draws: what the page says of `posterior` is taken from it where nothing is refused."""
    text = TRIED.PAGE.read_text(encoding="utf-8")
    page = _cells(text)

    def draw(*given: Any, **named: Any) -> None:
        raise Reached

    monkeypatch.setattr("credo.estimation.posterior_mean.posterior", draw)
    for first, second in TRIED.pairs():
        letters, sentences = page["posterior"][first.name, second.name], page["posterior sentences"]
        try:
            found = TRIED.outcome((first, second), "posterior")
        except Reached:
            said = [sentences[each] for each in letters]
            assert all("Missing values were not drawn" in each or "must hold" in each for each in said)
        else:
            assert [sentences[each] for each in letters] == [" ".join(found.refusal.split())]
    cmap = TRIED.outcomes("cmap")
    alone = {
        (method, feature.name): TRIED.Outcome() if method == "posterior" else TRIED.outcome((feature,), method)
        for method in METHODS
        for feature in TRIED.FEATURES
    }
    made = TRIED.page({"cmap": cmap}, alone)
    assert _section(made, "With `cmap`") == _section(text, "With `cmap`")
    of_others = [line for line in _section(made, "With every method").splitlines() if "`posterior`" not in line]
    assert of_others == [line for line in _section(text, "With every method").splitlines() if "`posterior`" not in line]
    assert _section(made, "All together") == _section(text, "All together")


def _section(text: str, title: str) -> str:
    return text.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def _cells(text: str) -> dict[str, dict[Any, Any]]:
    """The letters of each pair with posterior, and the sentences."""
    names = [feature.name for feature in TRIED.FEATURES]
    cells: dict[Any, Any] = {}
    sentences: dict[Any, Any] = {}
    for line in _section(text, "With `posterior`").splitlines():
        parts = [part.strip() for part in line.strip("|").split("|")]
        if len(parts) == len(names) + 2 and parts[1] in names:
            for first, cell in zip(names, parts[2:], strict=True):
                cells[first, parts[1]] = [] if cell in ("✓", "") else cell.split(", ")
        elif line.startswith("- "):
            letter, sentence = line[2:].split(": ", 1)
            sentences[letter] = sentence
    return {"posterior": cells, "posterior sentences": sentences}


def test_everything_at_once() -> None:
    """Missing values, a hidden variable, a noisy family, ties, all statements, doubt, prior, weights, a fixed CPT."""
    fit = TRIED.fit_with(TRIED.TOGETHER, "posterior")
    assert fit.no_interval == ""  # all that is missing was drawn
    assert fit.doubt is not None
    doubted = fit.statements()["statement"].to_list()
    assert sorted(doubted) == [
        "P(cold=yes | season=winter) >= 0.3",
        "P(flu=yes | test=positive) >= 0.5",
        "P(test=positive | flu=no) <= 0.2 with confidence 0.8",
    ]
    assert set(fit.experts()["expert"].to_list()) == {"nurse", "doctor"}
    np.testing.assert_array_equal(fit.network.cpt_array("season"), TRIED.NETWORK.cpt_array("season"))
    low, _ = fit.interval_arrays("test", 0.999)
    assert low[1, 1] >= 0.6 - 1e-9  # P(test=positive | flu=yes) in every draw
    answer = fit.query("P(reading=high)", level=0.999)
    assert answer.frame["high"][0] <= 0.6 + 1e-9  # about several CPTs, and in every draw
    missed = {*fit.violations()["statement"].to_list()} - {*doubted}
    assert not missed
    assert isinstance(fit.cpt("reading"), pl.DataFrame)
    assert fit.explain(progress=False).statements
    assert isinstance(fit, credo.Fit)
