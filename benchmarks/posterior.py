"""How long the method posterior takes, and how many effective draws that gives: `python -m benchmarks.posterior`.

Each case is learned twice in a process of its own, and the second fit is reported: compiled code is loaded then. Cases
can be named on the command line. Networks come from `../shared/networks`; where they are absent, networks of the same
size are made up. Clock and processor time are those of the whole fit.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import credo
from benchmarks.em_contenders import NETWORKS
from benchmarks.recording import record
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.testing import (
    alarm_like_network,
    andes_like_network,
    made_up_network,
    true_statements,
    with_missing_values,
)

STATEMENTS = 30  # true ones about each variable
Case = tuple[Network, Any, str | Sequence[Statement]]


def main() -> None:
    """Print a line for each case; with `--run`, the figures of one case of this process."""
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--run"]:
        print(run(sys.argv[2]))
        return
    columns = f"{'seconds':>9}{'CPU':>7}{'sampling':>10}{'draws':>7}{'ESS min':>9}{'median':>8}{'GB':>6}"
    print(f"{'case':<28}{columns}  findings", flush=True)
    for name in sys.argv[1:] or CASES:
        command = [sys.executable, "-m", "benchmarks.posterior", "--run", name]
        print(subprocess.run(command, capture_output=True, text=True, check=True).stdout, end="", flush=True)


def run(name: str) -> str:
    """One line about a case."""
    network, table, knowledge = CASES[name]()
    for _ in range(2):
        clock, processor = time.perf_counter(), time.process_time()
        fit = credo.fit(network, table, knowledge, method="posterior")
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
    found = fit.posterior
    assert found is not None
    sizes = found.effective_sizes if found.effective_sizes.size else np.array([np.nan])
    kinds = sorted({finding.kind for finding in found.findings})
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    figures = {"seconds": clock, "processor": processor, "draws": found.draws.shape[1], "gigabytes": memory}
    least = float(np.min(sizes))
    record("posterior", name, {**figures, "least": None if np.isnan(least) else least, "findings": kinds})
    return (
        f"{name:<28}{clock:>9.2f}{processor:>7.2f}{found.seconds:>10.2f}{found.draws.shape[1]:>7}"
        f"{np.min(sizes):>9.0f}{np.median(sizes):>8.0f}{memory:>6.2f}  {', '.join(kinds) or '-'}"
    )


def network_of(name: str, otherwise: Callable[[], Network]) -> Network:
    """The network of a file, or one of the same size."""
    path = NETWORKS / f"{name}.bif"
    return credo.read_network(path) if path.exists() else otherwise()


def with_statements(network: Network, rows: int, seed: int = 1) -> Case:
    """Rows and true statements of a network."""
    return network, network.sample(rows, seed=seed), true_statements(network, STATEMENTS, seed)


def with_missing(rows: int, fraction: float) -> Case:
    """Alarm without statements, and with values that are missing at random."""
    network = network_of("alarm", alarm_like_network)
    table = network.sample(rows, seed=1)
    return network, with_missing_values(table, fraction, 2) if fraction else table, ""


def under_one_bound(parents: int, rows: int = 100) -> Case:
    """A variable with so many parents, each of whose configurations has the same bound."""
    names = [f"p{i}" for i in range(parents)]
    structure = Network({name: ["n", "y"] for name in (*names, "c")}, {"c": names})
    half = {name: np.full(structure.shape(name), 0.5) for name in structure.names}
    each = ", ".join(f"each {name}" for name in names)
    return structure, structure.with_cpts(half).sample(rows, seed=1), f"P(c=y | {each}) >= 0.3"


CASES: dict[str, Callable[[], Case]] = {
    "alarm, 50 rows": lambda: with_statements(network_of("alarm", alarm_like_network), 50),
    "andes, 50 rows": lambda: with_statements(network_of("andes", andes_like_network), 50),
    "186 variables, 50 rows": lambda: with_statements(made_up_network(186, seed=3), 50),
    "2^11 configurations": lambda: under_one_bound(11),
    "2^14 configurations": lambda: under_one_bound(14),
    "2^17 configurations": lambda: under_one_bound(17),
    "alarm, 500 rows": lambda: with_missing(500, 0.0),
    "alarm, 500 rows, 40% missing": lambda: with_missing(500, 0.4),
}


if __name__ == "__main__":
    main()
