"""The page of evidence: a row for every promise of the README, and no figure that is too old."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import credo
from tests.helpers.documentation import docs_script

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_MINOR_VERSIONS = 1


evidence = docs_script("evidence")


def test_every_promise_has_a_row_and_every_row_a_promise() -> None:
    assert sorted(evidence.promises(README)) == sorted(row.key for row in evidence.ROWS)


def test_every_point_of_the_readme_that_promises_something_is_marked() -> None:
    for section in ("Use", "What you can rely on"):
        text = re.split(r"^## ", README.split(f"## {section}\n")[1], flags=re.M)[0]
        points = re.split(r"^- \*\*", text, flags=re.M)[1:]
        assert points
        for point in points:
            assert evidence.MARKER.search(point), f"no evidence for: {point[:60]}"


@pytest.mark.parametrize("row", evidence.ROWS, ids=lambda row: row.key)
def test_no_figure_is_older_than_one_minor_version(row: object) -> None:
    if row.figures is None:
        assert (ROOT / row.source).exists(), f"{row.source} shows {row.claim}"
        return
    age = evidence.age_of(row)
    assert age is not None, f"no figure is recorded for {row.key}: run {row.command}"
    major, minor, *_ = (int(part) for part in credo.__version__.split("."))
    of_figure = tuple(int(part) for part in age["version"].split("."))
    assert (of_figure[0], of_figure[1] + MOST_MINOR_VERSIONS) >= (major, minor), f"run {row.command} again"
    found = row.figures()
    assert re.search(r"\d", found.own), f"{row.key} has no figure"


def test_the_page_has_all_rows() -> None:
    text = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    for row in evidence.ROWS:
        assert f"| {row.claim} |" in text, "run python docs/evidence.py"


def test_an_old_figure_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "experiments"
    folder.mkdir()
    (folder / "versions.json").write_text(json.dumps({"a.csv": {"first": {"date": "2020-01-01", "version": "0.0.1"}}}))
    monkeypatch.setattr(evidence, "ROOT", tmp_path)
    row = evidence.Row("a", "a", "a", "experiments/a.csv", lambda: evidence.Figures("1", "2"))
    assert evidence.age_of(row) == {"date": "2020-01-01", "version": "0.0.1"}
