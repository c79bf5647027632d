"""Rows of one method are dropped, to be made again; the others and their age stay."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
from experiments.again import drop
from experiments.running import note_version

import credo


def test_rows_of_one_method_are_dropped_and_noted(tmp_path: Path) -> None:
    file = tmp_path / "trials.csv"
    pl.DataFrame({"method": ["map", "posterior", "map"], "kl": [0.3, 0.1, 0.2]}).write_csv(file)
    old = {"date": "2026-01-01", "version": "0.0.1"}
    (tmp_path / "versions.json").write_text(json.dumps({"trials.csv": {"first": old, "last": old}}), encoding="utf-8")
    assert drop(file, "method", "posterior") == 1
    assert pl.read_csv(file)["method"].to_list() == ["map", "map"]
    note_version(file)
    notes = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))["trials.csv"]
    assert notes["first"] == old
    assert notes["again"]["version"] == notes["last"]["version"] == credo.__version__
