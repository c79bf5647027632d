"""Run all benchmarks, or some of them: `python -m benchmarks`, `python -m benchmarks learn read_bif`.

`--json` keeps figures in `benchmarks/results.json` too, for those benchmarks that record theirs (`recording.py`).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from benchmarks.recording import RESULTS, VARIABLE, forget

BENCHMARKS = (
    "learn",
    "read_bif",
    "knowledge",
    "checks",
    "solve",
    "posterior",
    "em",
    "noisy",
    "ties",
    "explain",
    "queries",
    "studio",
    "scale",
)


def main() -> None:
    """Run each benchmark in its own process, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="; ".join(BENCHMARKS))
    parser.add_argument("--json", action="store_true", help=f"keep the figures in {RESULTS.name} too")
    arguments = parser.parse_args()
    environment = {**os.environ, VARIABLE: str(RESULTS)} if arguments.json else dict(os.environ)
    for name in arguments.names or BENCHMARKS:
        print(f"=== {name} ===", flush=True)
        if arguments.json:
            forget(name, RESULTS)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True, env=environment)
        print()


if __name__ == "__main__":
    main()
