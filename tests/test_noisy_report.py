"""What a user sees of noisy families: small CPTs on the terminal and as frames; a full one can be too large."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import credo
from credo import EMOptions, Network, NoisyForm
from credo.report.fit_text import fit_summary
from tests.helpers.command_line import run

LEVELS = tuple("abcdefghij")
NAMES = ("p", "q", "r", "s", "t", "u")
LARGE = Network({**dict.fromkeys(NAMES, LEVELS), "y": ("no", "yes")}, {"y": NAMES})  # two million numbers
FAMILY = "y is noisy-or of {p, q}, {r}, {s}, {t}, {u} with leak\n"


def truth() -> Network:
    generator = np.random.default_rng(0)
    sets = (("p", "q"), ("r",), ("s",), ("t",), ("u",))
    tables = [generator.dirichlet([4, 1], (10,) * len(own)) for own in sets] + [np.array([0.95, 0.05])]
    form = NoisyForm("noisy-or", sets, ("no", "yes"), True, tuple(tables))
    return LARGE.with_cpts({name: np.full(10, 0.1) for name in NAMES}).with_forms({"y": form})


@pytest.mark.parametrize("method", ["cmap", "posterior"])
def test_the_summary_shows_the_small_cpts(method: str) -> None:
    fit = credo.fit(LARGE, truth().sample(200, seed=1), FAMILY + "r raises y", method=method, em=EMOptions(starts=1))
    console = Console(width=150, record=True, file=StringIO())
    console.print(fit_summary(fit, None))
    shown = console.export_text()
    assert "y is noisy-or of 6 independent causes" in shown
    assert "P(y by p, q | p, q)" in shown
    assert "P(y by leak)" in shown
    assert ("[" in shown) == (method == "posterior")


def test_a_family_too_large_for_one_cpt_is_a_frame_of_small_ones() -> None:
    frame = truth().cpt("y")
    assert frame.columns == [*NAMES, "y=no", "y=yes"]
    assert frame.height == 100 + 4 * 10 + 1
    assert frame.row(0)[:6] == ("a", "a", None, None, None, None)
    assert frame.row(-1) == (None,) * 6 + (0.95, 0.05)


def test_the_command_line_learns_a_large_family(tmp_path: Path) -> None:
    credo.write_network(LARGE, tmp_path / "net.bif")
    truth().sample(100, seed=1).write_csv(tmp_path / "data.csv")
    (tmp_path / "know.credo").write_text(FAMILY + "r raises y\np and r synergize on y\n")
    options = ("--knowledge", "know.credo", "--starts", 1)
    done = run("learn", "net.bif", "data.csv", *options, "--out", "learned.bif", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "each effect has become a variable of its own" in done.stderr
    assert "P(y by r | r)" in done.stdout
    assert "the full CPT is too large to see whether it holds" in " ".join(done.stdout.split())
    assert "y_by_p_q" in credo.read_network(tmp_path / "learned.bif")

    done = run("learn", "net.bif", "data.csv", *options, "-m", "cml", "--trainer", "gradient", "--max-iterations", 50,
               "--out", "learned.xdsl", "--json", folder=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["noisy"]["y"]["kind"] == "noisy-or"
    assert credo.read_network(tmp_path / "learned.xdsl").forms["y"].kind == "noisy-or"
