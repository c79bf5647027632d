"""Learning without a table: the answer is what the knowledge leaves possible."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import credo
from tests.helpers.command_line import run

NETWORK = "variables smoke, lung, xray: no, yes\nlung depends on smoke\nxray depends on lung\n"
STATEMENTS = "smoke raises lung\nP(smoke=yes) is between 20% and 40%\n"
ADDED = {
    "nothing": "",
    "confidence": "P(xray=yes | lung=yes) >= 0.8 with confidence 0.9\n",
    "any probability": "P(lung=yes | xray=yes) >= 0.3\n",
    "expert": "expert bob: P(xray=yes | lung=no) <= 0.1\n",
    "ties": "rows with equal pair share smoke\nrows 3, 4 share lung\n",
    "noisy": "variable cough: no, yes\ncough depends on lung, smoke\ncough is noisy-or of lung, smoke\n",
}


def test_intervals_are_as_wide_as_the_knowledge_leaves_them() -> None:
    fit = credo.fit(NETWORK + "P(smoke=yes) is between 20% and 40%\n")
    low, high = fit.query("P(smoke=yes)").interval
    assert 0.2 <= low < 0.23
    assert 0.37 < high <= 0.4
    low, high = fit.query("P(xray=yes | lung=yes)").interval  # nothing is known of it
    assert low < 0.05
    assert high > 0.95


@pytest.mark.parametrize(("added", "doubt"), list(itertools.product(ADDED, (False, True))))
def test_whatever_works_with_rows_works_without(added: str, doubt: bool, tmp_path: Path) -> None:
    fit = credo.fit(NETWORK + STATEMENTS + ADDED[added], doubt=doubt)
    assert fit.rows == 0
    assert fit.findings[0].message.startswith("There are no data")
    assert "alone, without data" in str(fit)
    answer = fit.query("P(lung=yes | xray=yes)")
    assert answer.interval is not None
    again = credo.load(fit.save(tmp_path / "model.fit"))
    assert again.query("P(lung=yes | xray=yes)").interval == answer.interval
    assert str(fit.explain())
    fit.report(tmp_path / "report.html")
    fit.share(tmp_path / "share.html")


@pytest.mark.parametrize("method", ["ml", "map", "cml", "cmap", "cme", "qmap", "cem"])
def test_other_methods_give_some_cpts_that_satisfy_the_statements(method: str) -> None:
    fit = credo.fit(NETWORK + STATEMENTS, method=method)
    cpts = fit.network.cpts
    assert np.allclose(cpts["xray"].sum(axis=-1), 1.0)
    if method not in ("ml", "map"):
        assert 0.2 - 1e-6 <= cpts["smoke"][1] <= 0.4 + 1e-6


def test_states_that_only_a_table_could_tell_are_a_mistake() -> None:
    with pytest.raises(credo.KnowledgeError, match="there is no table"):
        credo.fit("lung depends on smoke\n")


def test_what_describes_rows_is_refused_without_rows() -> None:
    with pytest.raises(credo.OptionError, match="no table, but weights describes one"):
        credo.fit(NETWORK, weights="n")


def test_command_line(tmp_path: Path) -> None:
    model = tmp_path / "k.credo"
    model.write_text(NETWORK + STATEMENTS)
    done = run("learn", str(model), "--ask", "P(smoke=yes)")
    assert done.returncode == 0
    assert "There are no data" in done.stdout
    assert "P(smoke=yes) = 3" in done.stdout
    assert "interval" in done.stdout
