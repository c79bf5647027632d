"""CPTs that are too large are refused at once, with figures; large ones are warned of."""

from __future__ import annotations

from time import process_time

import polars as pl
import pytest

import credo


def model(parents: int) -> tuple[str, pl.DataFrame]:
    names = [f"x{number}" for number in range(parents)]
    rows = pl.DataFrame({**{name: ["no", "yes"] * 10 for name in names}, "y": ["no", "yes", "yes", "no"] * 5})
    return f"variables {', '.join([*names, 'y'])}: no, yes\ny depends on {', '.join(names)}", rows


def test_a_cpt_of_millions_is_refused_within_a_second() -> None:
    text, rows = model(25)
    started = process_time()
    message = "25 parents: its CPT has 33,554,432 configurations with .* act independently .`y is noisy-or of"
    with pytest.raises(credo.NetworkError, match=message):
        credo.fit(text, rows)
    with pytest.raises(credo.NetworkError, match=message):
        credo.check(f"{text}\nP(y=yes) <= 30%")
    assert process_time() - started < 3  # on a busy machine


def test_a_large_cpt_is_warned_of() -> None:
    text, rows = model(16)
    with pytest.warns(credo.errors.LargeCPTWarning, match="y has 16 parents: its CPT has 65,536 configurations"):
        credo.fit(text, rows, method="ml")
    with pytest.warns(credo.errors.LargeCPTWarning, match="y has 16 parents"):
        credo.check(text)


def test_a_noisy_family_of_many_parents_is_neither() -> None:
    text, rows = model(25)
    head, _, parents = text.partition("\ny depends on ")
    fit = credo.fit(f"{head}\ny is noisy-or of {parents} with leak", rows, method="cml")
    assert len(fit.network.parents["y"]) == 25
