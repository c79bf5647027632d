"""What `explain` and `binding` say of a posterior mean is what learning again without the statement gives."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo.explain import statement_effects
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
            assert explained[text].largest_change == pytest.approx(change, abs=0.02)
        else:
            assert explained[text].effect is Effect.SATISFIED
            assert change < 0.02
    assert 1 < len(shaping) < len(STATEMENTS)
    assert set(fit.binding()["statement"]) == shaping


def test_an_influence_alone_is_left_out_too() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 80)
    b = (rng.random(80) < np.where(a == 1, 0.35, 0.5)).astype(int)
    words = np.array(["no", "yes"])
    data = pl.DataFrame({"a": words[a], "b": words[b]})
    text = "variables a, b: no, yes\nb depends on a\n"
    fit, other = credo.fit(f"{text}a raises b", data), credo.fit(text, data)
    change = np.abs(fit.network.cpt_array("b") - other.network.cpt_array("b")).max()
    assert change > 0.05
    (explained,) = fit.explain().statements
    assert explained.effect is Effect.BINDING
    assert explained.largest_change == pytest.approx(change, abs=0.005)


def test_doubted_statements_that_shaped_the_result_are_binding() -> None:
    data = pl.DataFrame({"coin": ["heads"] * 5 + ["tails"] * 15})
    fit = credo.fit("variable coin: heads, tails\nP(coin=heads) <= 0.2", data, doubt=0.02)
    (explained,) = fit.explain().statements
    assert explained.effect is Effect.BINDING
    assert fit.binding()["statement"].to_list() == ["P(coin=heads) <= 0.2"]


def chain(length: int) -> tuple[str, pl.DataFrame]:
    """A chain of variables, each of which has a statement that the data do not fit well."""
    rng = np.random.default_rng(2)
    columns = {f"v{k}": np.array(["no", "yes"])[rng.integers(0, 2, 40)] for k in range(length)}
    text = "".join(f"variable v{k}: no, yes\n" for k in range(length))
    text += "".join(f"v{k} depends on v{k - 1}\n" for k in range(1, length))
    text += "".join(f"P(v{k}=yes | v{k - 1}=no) <= 0.3\n" for k in range(1, length))
    return text, pl.DataFrame(columns)


def test_only_what_a_statement_can_change_is_learned_again() -> None:
    text, data = chain(4)
    fit = credo.fit(text, data)
    lines = text.splitlines()
    for explained in fit.explain().statements:
        other = credo.fit("\n".join(line for line in lines if line != explained.statement.text), data)
        change = max(np.abs(fit.network.cpt_array(n) - other.network.cpt_array(n)).max() for n in fit.network.names)
        assert explained.effect is Effect.BINDING
        assert explained.largest_change == pytest.approx(change, abs=0.02)
        assert {name for name, _ in explained.configurations} == {explained.statement.text[2:4]}


def test_no_clock_decides_what_is_learned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chains make half as many steps as those of the fit at most, so that a slow machine reports the same."""
    text, data = chain(5)
    text += "".join(f"P(v{k}=yes | v{k - 1}=yes) >= 0.{digit}\n" for k in range(1, 5) for digit in (2, 3))
    fit = credo.fit(text, data)
    monkeypatch.setattr("credo.explain.statement_effects.LEAST_WORK", 0)
    effects = [each.effect for each in fit.explain().statements]
    assert effects.count(Effect.NOT_COMPUTED) == 8  # of three statements about each CPT one is left out
    shown = str(fit.explain())
    assert "At least 4 statements shaped the result" in shown
    assert "What 8 more changed was not computed." in shown
    assert effects == [each.effect for each in fit.explain().statements]


def test_what_short_chains_cannot_tell_is_not_called_no_change() -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["no", "yes"] * 10, "b": ["no", "no", "yes", "yes"] * 5})
    problem = credo.fit(network, rows, "a raises b", method="cmap")._problem
    assert problem is not None
    size = problem.layout.size
    for difference, error, expected in [
        (0.005, 0.001, 0),  # no change that matters
        (0.1, 0.01, 1),
        (0.02, 0.01, 0),  # chance, and a larger change would be seen
        (0.06, 0.03, None),  # chance, or a change of ten points
        (0.06, 0.016, None),
        (0.3, 0.03, 1),
    ]:
        found = statement_effects._changes(problem, np.full(size, difference), np.full(size, error), 0)
        assert (None if found is None else min(len(found), 1)) == expected
