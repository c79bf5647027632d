"""Figures of benchmarks as a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.recording import VARIABLE, forget, record

import credo


def test_cases_are_kept_side_by_side_until_the_benchmark_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "results.json"
    record("learn", "small", {"credo": 1.0})
    assert not file.exists()
    monkeypatch.setenv(VARIABLE, str(file))
    record("learn", "small", {"credo": 1.0, "other": "failed"})
    record("learn", "large", {"credo": 2.0})
    record("read_bif", "asia", {"credo": 3.0})
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert set(kept["learn"]["cases"]) == {"small", "large"}
    assert kept["learn"]["version"] == credo.__version__
    forget("learn", file)
    assert set(json.loads(file.read_text(encoding="utf-8"))) == {"read_bif"}
