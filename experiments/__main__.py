"""`python -m experiments`: all experiments one after the other, and their pages; `--quick` runs a small part of each.

Each stops after `--minutes`; the same command goes on where it ended. Names run some of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from experiments.running import SHARED

# What runs, and what `--quick` adds: few enough trials for a look, in a folder of their own.
EXPERIMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "guo": (("experiments.guo",), ("--draws", "1", "--networks", "asia")),
    "guo more": (("experiments.guo.more",), ("--draws", "1", "--networks", "cancer")),
    "guo wrong": (("experiments.guo.wrong",), ("--draws", "1", "--networks", "asia")),
    "liao": (("experiments.liao",), ("--draws", "1", "--rows", "200", "--starts", "1")),
    "liao missing": (("experiments.liao.missing",), ("--draws", "1", "--minutes", "1")),
    "liao starts": (("experiments.liao.starts",), ("--draws", "1", "--rows", "200", "--minutes", "1")),
    "yang": (("experiments.yang",), ("--repeats", "1", "--draws", "1", "--domains", "Iris", "--minutes", "1")),
    "yang printed": (("experiments.yang.printed",), ("--repeats", "1", "--domains", "Iris", "--minutes", "1")),
    "yao synthetic": (("experiments.yao", "synthetic"), ("--datasets", "1", "--starts", "1", "--minutes", "1")),
    "yao figure5": (("experiments.yao", "figure5"), ("--draws", "1", "--minutes", "1")),
    "yao clustering": (("experiments.yao", "clustering"), ("--draws", "1", "--starts", "1", "--minutes", "1")),
    "yao rivals": (("experiments.yao", "rivals"), ("--draws", "1", "--minutes", "1")),
    "yao topics": (("experiments.yao", "topics"), ("--draws", "1", "--iterations", "20", "--minutes", "1")),
    "yao topic_rivals": (("experiments.yao", "topic_rivals"), ("--draws", "1", "--minutes", "1")),
    "prior": (("experiments.prior",), ("--draws", "1", "--networks", "asia")),
    "calibration": (("experiments.calibration",), ("--trials", "1", "--minutes", "1")),
    "doubt": (("experiments.doubt",), ("--networks", "asia", "--minutes", "1")),
    "questions": (("experiments.questions",), ("--draws", "1", "--networks", "asia", "--experts", "right")),
    "sites": (("experiments.sites",), ("--draws", "1", "--networks", "covid1", "--minutes", "1")),
    "general": (("experiments.general",), ("--draws", "1", "--network", "asia")),
    "together": (("experiments.together",), ("--draws", "1", "--minutes", "1")),
    "published": (("experiments.published",), ("--quick",)),
    "published posterior": (("experiments.published.side_by_side",), ("--quick",)),
    "classifier": (("experiments.classifier",), ("--splits", "1", "--table", "Iris", "--learner", "credo")),
    "classifier coverage": (("experiments.classifier.coverage",), ("--trials", "1", "--minutes", "1")),
}


def command_of(name: str, quick: bool, out: Path) -> list[str]:
    """The command of an experiment; a quick one writes to a folder of its own, so that no result is mixed up."""
    module, few = EXPERIMENTS[name]
    command = [sys.executable, "-m", *module]
    return [*command, *few, "--out", str(out / name.replace(" ", "_"))] if quick else command


def main() -> None:
    """Run the experiments; the first that fails ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="; ".join(EXPERIMENTS))
    parser.add_argument("--quick", action="store_true", help="a small part of each, into --out")
    parser.add_argument("--out", type=Path, default=Path("quick-experiments"), help="of --quick")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(EXPERIMENTS):
        parser.error(f"there is no experiment {min(unknown)}; there are: {', '.join(EXPERIMENTS)}")
    if not SHARED.exists():
        raise SystemExit(f"Published tables and networks are expected in {SHARED}, but there is no such folder.")
    for name in arguments.names or EXPERIMENTS:
        print(f"=== {name} ===", flush=True)
        subprocess.run(command_of(name, arguments.quick, arguments.out), check=True)


if __name__ == "__main__":
    main()
