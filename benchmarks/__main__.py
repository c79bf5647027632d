"""Run all benchmarks, or some of them: `python -m benchmarks`, `python -m benchmarks learn read_bif`."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = (
    "learn",
    "read_bif",
    "knowledge",
    "solve",
    "sampling",
    "posterior",
    "em",
    "noisy",
    "ties",
    "explain",
    "queries",
    "cold_start",
    "studio",
    "scale",
)


def main() -> None:
    """Run each benchmark in its own process, one after the other."""
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"=== {name} ===", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
        print()


if __name__ == "__main__":
    main()
