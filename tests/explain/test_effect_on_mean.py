"""What `explain` and `binding` say of a posterior mean is what learning again without the statement gives."""

from __future__ import annotations

import numpy as np
import polars as pl

import credo
from credo.explain.explanation import Effect

HEAD = "variables a, y: no, yes\nvariable b: low, mid, high\ny depends on a, b\n"
STATEMENTS = [
    "a raises y",
    "b raises y",
    "P(y=yes | a=yes, b=high) >= 0.85",
    "P(a=yes) <= 0.9",
    "P(y=yes | a=no, b=low) is about 10%",
]


def rows() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    y = (rng.random(60) < np.array([[0.3, 0.4, 0.5], [0.35, 0.3, 0.8]])[a, b]).astype(int)
    words = np.array(["no", "yes"])
    return pl.DataFrame({"a": words[a], "b": np.array(["low", "mid", "high"])[b], "y": words[y]})


def test_what_a_statement_changed_is_what_learning_without_it_changes() -> None:
    data = rows()
    fit = credo.fit(HEAD + "\n".join(STATEMENTS), data)
    explained = {each.statement.text: each for each in fit.explain().statements}
    shaping = set()
    for place, text in enumerate(STATEMENTS):
        other = credo.fit(HEAD + "\n".join(STATEMENTS[:place] + STATEMENTS[place + 1 :]), data)
        change = max(
            np.abs(fit.network.cpt_array(name) - other.network.cpt_array(name)).max() for name in fit.network.names
        )
        if explained[text].effect is Effect.BINDING:
            shaping.add(text)
            assert explained[text].largest_change == change
        elif explained[text].effect is Effect.SATISFIED:
            assert change < 0.01
        else:  # on a very slow machine
            assert explained[text].effect is Effect.NOT_COMPUTED
    assert 1 < len(shaping) < len(STATEMENTS)
    assert set(fit.binding()["statement"]) == shaping
