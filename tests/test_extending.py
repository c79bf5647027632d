"""The page on extending credo: what it shows is added, used, and removed again."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo.constraints import lower
from credo.estimation import methods
from credo.io import network_files
from credo.knowledge import parse, statements
from credo.posterior.trajectories import Trajectories

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
NO_YES = ["no", "yes"]
NET = credo.Network({"asia": NO_YES, "smoke": NO_YES, "tub": NO_YES}, parents={"tub": ["asia", "smoke"]})
ROWS = pl.DataFrame({"asia": ["no", "no", "yes", "yes"], "smoke": NO_YES * 2, "tub": ["no", "no", "yes", "yes"]})


def block(language: str, name: str) -> str:
    (found,) = re.findall(rf"```{language} {name}\n(.*?)```", PAGE, flags=re.DOTALL)
    return found


def run(name: str) -> dict[str, Any]:
    # Dataclasses look up their module, which has to exist.
    namespace: dict[str, Any] = {"__name__": __name__}
    exec(compile(block("python", name), "extending.md", "exec"), namespace)
    return namespace


def test_a_method(monkeypatch: pytest.MonkeyPatch) -> None:
    added = run("method")["HALFWAY"]
    monkeypatch.setitem(methods.METHODS, added.name, added)
    fit = credo.fit(NET, ROWS, method="halfway")
    assert fit.network.cpt_array("tub")[0, 0] == pytest.approx([0.75, 0.25])
    incomplete = credo.fit(NET, ROWS.with_columns(tub=pl.Series([None, "no", "yes", "yes"])), method="halfway")
    assert incomplete.network.is_complete
    with pytest.raises(credo.OptionError, match='Did you mean "halfway"'):
        credo.fit(NET, ROWS, method="halfwy")


@pytest.fixture
def with_exclusion(monkeypatch: pytest.MonkeyPatch) -> Any:
    added = run("statement")
    monkeypatch.setitem(statements.STATEMENTS, added["Exclusion"], added["EXCLUSION"])
    monkeypatch.setitem(lower.LOWERING_RULES, added["Exclusion"], added["lower_exclusion"])
    alternative, *rest = block("lark", "statement").splitlines()
    grammar = (ROOT / "src" / "credo" / "knowledge" / "grammar.lark").read_text(encoding="utf-8")
    last = "         | tie modifier*\n"
    grammar = grammar.replace(last, last + alternative.replace("statement:", "         |") + "\n")
    extended = "\n".join([grammar, *rest])
    monkeypatch.setattr(Path, "read_text", lambda path, *_, **__: extended)
    parse.parser.cache_clear()
    parse.parser()
    monkeypatch.undo()
    monkeypatch.setitem(statements.STATEMENTS, added["Exclusion"], added["EXCLUSION"])
    monkeypatch.setitem(lower.LOWERING_RULES, added["Exclusion"], added["lower_exclusion"])
    yield added["Exclusion"]
    parse.parser.cache_clear()


def test_a_statement(with_exclusion: Any) -> None:
    knowledge = credo.Knowledge(NET, "asia=no rules out tub=yes")
    assert knowledge.statements == (with_exclusion("asia", "no", "tub", "yes"),)
    assert str(knowledge.statements[0]) == "asia=no rules out tub=yes"
    fit = credo.fit(NET, ROWS, knowledge, method="cmap")
    assert fit.network.cpt_array("tub")[0, :, 1] == pytest.approx(np.zeros(2), abs=1e-8)
    assert fit.network.cpt_array("tub")[1, 0, 1] > 0.5
    found = credo.check(NET, "asia=no rules out tub=yes\nP(tub=yes | asia=no, smoke=no) >= 0.1", data=ROWS)
    assert not found.feasible
    assert [each.line for each in found.conflicts[0].statements] == [1, 2]
    with pytest.raises(credo.KnowledgeError, match="asai") as error:
        credo.Knowledge(NET, "asai=no rules out tub=yes")
    assert "asia" in str(error.value)


def test_a_file_format(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    added = run("format")["JSON"]
    monkeypatch.setattr(network_files, "FORMATS", (*network_files.FORMATS, added))
    monkeypatch.setattr(network_files, "ENDINGS", (*network_files.ENDINGS, *added.endings))
    learned = credo.fit(NET, ROWS, method="map").network
    credo.write_network(learned, tmp_path / "net.json")
    assert credo.read_network(tmp_path / "net.json") == learned


def test_a_picture() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = run("picture")["observations"](credo.fit(NET, ROWS, method="map"))
    assert [bar.get_width() for bar in axes.patches] == [4.0] * 3
    axes.figure.clear()


def test_the_places_that_the_page_names_exist() -> None:
    for path in re.findall(r"`((?:src|tests)/[\w/.]+)`", PAGE):
        assert (ROOT / path).exists(), path


def test_a_wall() -> None:
    """Draws inside of it are those of a Dirichlet distribution that rejection leaves."""
    wall = run("wall")["EntropyWall"](np.arange(3), 0.9, np.array([-1]))
    shapes, nothing = np.array([2.0, 1.0, 3.0]), np.zeros(0)
    trajectories = Trajectories(np.array([0]), np.ones(3, dtype=np.bool_), (wall,), [1])
    theta, drawn = np.array([0.3, 0.3, 0.4]), []
    for step in range(4000):
        trajectories.run(theta, shapes, (), nothing, step < 500)
        drawn.append(theta.copy())
    kept = np.random.default_rng(2).dirichlet(shapes, 40_000)
    kept = kept[-(kept * np.log(kept)).sum(axis=1) >= 0.9]
    assert (wall.excess(theta) <= 0.0).all()
    assert np.mean(drawn[500:], axis=0) == pytest.approx(kept.mean(axis=0), abs=0.02)
    assert np.std(drawn[500:], axis=0) == pytest.approx(kept.std(axis=0), abs=0.02)
