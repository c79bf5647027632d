"""Time to read, resolve and lower 10,000 statements, and to check thirty true statements for each variable.

Run `python -m benchmarks.knowledge [NETWORK.bif]`. Without a file it uses Andes, or a made-up network of its size if
the published one is not there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.recording import record
from credo.checking.check import check
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.io.bif import read_bif
from credo.knowledge import Knowledge, to_text
from credo.knowledge.parse import parse
from credo.knowledge.statements import check_statements
from credo.model.network import Network
from credo.testing import andes_like_network, true_statements

ANDES = Path(__file__).resolve().parents[2] / "shared" / "networks" / "andes.bif"
STATEMENTS = 10_000
PER_VARIABLE = 30
ROWS = 20_000
REPEATS = 3


def main(arguments: list[str]) -> None:
    """Print a table of times."""
    network = read_bif(arguments[0] if arguments else ANDES) if arguments or ANDES.exists() else andes_like_network()
    parameters = sum(network.cpt_array(name).size for name in network.names)
    print(f"{network.name}: {len(network)} variables, {parameters:,} parameters\n")
    measure(network, STATEMENTS, PER_VARIABLE, ROWS)


def measure(network: Network, count: int, per_variable: int, rows: int) -> None:
    """Time `count` statements up to blocks, and the check of `per_variable` statements for each variable."""
    drawn = true_statements(network, -(-count // len(network)), seed=1)[:count]
    text = "\n".join(to_text(statement) for statement in drawn)
    Knowledge(network, "\n".join(text.splitlines()[:100]))  # load everything before the first measurement
    statements, parsing = timed(lambda: parse(text, "")[0])
    _, checking_names = timed(lambda: check_statements(statements, network))
    knowledge, whole = timed(lambda: Knowledge(network, text))
    constraints, lowering = timed(lambda: lower(knowledge))
    blocks, blocking = timed(lambda: blocks_of(constraints))
    report("parse", parsing, len(statements), "")
    report("check against network", checking_names, len(statements), "")
    report("Knowledge (both, and orders)", whole, len(knowledge), "")
    report("lower", lowering, len(knowledge), f"{len(constraints.linear):,} constraints")
    report("blocks", blocking, len(knowledge), f"{len(blocks):,} blocks")
    report("Knowledge and lower", whole + lowering, len(knowledge), "")

    knowledge = Knowledge(network, "\n".join(map(to_text, true_statements(network, per_variable, seed=2))))
    found, checking = timed(lambda: check(network, knowledge))
    report("check", checking, len(knowledge), f"{found.blocks:,} blocks, {len(found.redundant):,} redundant statements")
    data = network.sample(rows, seed=3)
    found, with_data = timed(lambda: check(network, knowledge, data=data))
    report("check with data", with_data, len(knowledge), "feasible" if found.feasible else "in conflict")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result of the work, and the seconds of its fastest run."""
    best = float("inf")
    for _ in range(REPEATS):
        started = perf_counter()
        result = work()
        best = min(best, perf_counter() - started)
    return result, best


def report(stage: str, seconds: float, statements: int, note: str) -> None:
    """Print a line: stage, statements, seconds, microseconds per statement."""
    record("knowledge", stage, {"statements": statements, "seconds": seconds, "note": note})
    print(f"{stage:<30}{statements:>8,} statements{seconds:>9.3f} s{seconds / statements * 1e6:>9.1f} µs each   {note}")


if __name__ == "__main__":
    main(sys.argv[1:])
