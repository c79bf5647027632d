"""Figures of benchmarks as a file: `python -m benchmarks --json` writes `benchmarks/results.json`.

Each benchmark that is run replaces its own figures and leaves those of others as they are.
"""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path

import credo

RESULTS = Path(__file__).resolve().parent / "results.json"
VARIABLE = "CREDO_BENCH_RESULTS"  # the file, for the processes in which benchmarks run


def record(benchmark: str, case: str, figures: dict[str, object]) -> None:
    """Keep the figures of one case, where a file is asked for: a number for each program, or why it failed."""
    if VARIABLE not in os.environ:
        return
    path = Path(os.environ[VARIABLE])
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    now = datetime.now(UTC).date().isoformat()
    about = {"date": now, "version": credo.__version__, "machine": machine()}
    cases = kept.get(benchmark, {}).get("cases", {})
    kept[benchmark] = {**about, "cases": {**cases, case: figures}}
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def forget(benchmark: str, path: Path) -> None:
    """Drop the figures of a benchmark before it is run again."""
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        kept.pop(benchmark, None)
        path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def machine() -> str:
    """The machine in a few words, without its name."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
