"""The cost of a noisy family, which is linear in the number of its sets: `python -m benchmarks.noisy`.

The data are drawn from a noisy-or of sets of four parents; the knowledge says that every parent raises the child. The
benchmark reports the time of `fit` with one start and of one E-step, the peak memory of the process, and how much of it
the fit added. Each size runs in its own process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

import credo
from benchmarks.recording import record
from credo.io.dataset import concatenate, extended
from credo.io.tables import stream_table
from credo.model.expansion import expand
from credo.model.network import Network
from credo.model.noisy import NoisyForm
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import expected_cells, prepare

SETS, PARENTS, ROWS = (5, 10, 20, 40), 4, 1000
BINARY = ("no", "yes")
REPEATS = 5
GOAL_SETS, GOAL_SECONDS = 10, 10.0  # 40 parents in 10 sets, 1000 rows
LINEAR = 1.5  # the cost with 40 sets may be this factor times 8 times the cost with 5 sets


def main() -> None:
    """Print a line for each number of sets, and then the growth of the cost."""
    if len(sys.argv) == 2:
        print(json.dumps(measure(int(sys.argv[1]), ROWS)))
        return
    print("sets  parents   rows   fit s  gradient s   E-step ms  steps   peak MB   of the fit MB")
    found = {}
    for sets in SETS:
        command = [sys.executable, "-m", "benchmarks.noisy", str(sets)]
        found[sets] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        print_line(sets, found[sets])
    growth = found[SETS[-1]]["step"] / found[SETS[0]]["step"]
    factor = SETS[-1] / SETS[0]
    print(f"\nAn E-step with {factor:g} times the sets takes {growth:.1f} times as long", end="")
    print(": linear" if growth <= LINEAR * factor else ": NOT LINEAR")
    goal = found[GOAL_SETS]
    met = "met" if goal["fit"] <= GOAL_SECONDS else "NOT MET"
    size = f"{PARENTS * GOAL_SETS} parents in {GOAL_SETS} sets, {ROWS} rows"
    print(f"{size}: {goal['fit']:.2f} s, {goal['own']:.0f} MB: {met}")


def print_line(sets: int, found: dict[str, float]) -> None:
    """One line of the table."""
    record("noisy", f"{PARENTS * sets} parents in {sets} sets, {ROWS} rows", dict(found))
    size = f"{sets:>4}{PARENTS * sets:>9}{ROWS:>7}"
    seconds = f"{found['fit']:>8.2f}{found['gradient']:>12.2f}{1e3 * found['step']:>12.2f}"
    print(f"{size}{seconds}{found['steps']:>7.0f}{found['peak']:>10.0f}{found['own']:>15.0f}", flush=True)


def measure(sets: int, rows: int) -> dict[str, float]:
    """Time and memory for one size, after a first fit that compiles."""
    truth, text = example(sets)
    data = truth.sample(rows, seed=1)
    bare = Network(truth.variables, truth.parents)
    credo.fit(bare, data, text, method="cmap", em=credo.EMOptions(starts=1))  # of this size: small fits compile nothing
    before = peak()
    start = time.perf_counter()
    fit = credo.fit(bare, data, text, method="cmap", em=credo.EMOptions(starts=1))
    seconds, own = time.perf_counter() - start, peak() - before
    step = one_step(fit.network, data)
    start = time.perf_counter()
    credo.fit(bare, data, text, method="map", em=credo.EMOptions(starts=1, trainer="gradient"))
    return {
        "fit": seconds,
        "gradient": time.perf_counter() - start,
        "step": step,
        "steps": len(fit.history),
        "peak": peak(),
        "own": own,
    }


def example(sets: int, parents: int = PARENTS) -> tuple[Network, str]:
    """A network with one noisy-or family, and statements about it."""
    generator = np.random.default_rng(0)
    names = [f"x{i}" for i in range(sets * parents)]
    grouped = tuple(tuple(names[i * parents : (i + 1) * parents]) for i in range(sets))
    cpts = []
    for _ in grouped:
        present = np.sort(generator.random(2**parents) * min(0.5, 3.0 / sets))
        present[0] = 0.0
        cpts.append(np.stack([1 - present, present], axis=-1).reshape((2,) * parents + (2,)))
    form = NoisyForm("noisy-or", grouped, BINARY, True, (*cpts, np.array([0.98, 0.02])))
    bare = Network({**dict.fromkeys(names, BINARY), "y": BINARY}, {"y": names}, {name: [0.7, 0.3] for name in names})
    influences = [f"{name} raises y" for name in names]
    family = "y is noisy-or of " + ", ".join("{" + ", ".join(causes) + "}" for causes in grouped) + " with leak"
    return bare.with_forms({"y": form}), "\n".join([family, *influences])


def one_step(network: Network, data: Any) -> float:
    """The time of one E-step, the best of several."""
    expanded = expand(network).network
    table = concatenate([extended(part, expanded) for part in stream_table(network, data)])
    prepared = prepare(layout_for_counts(expanded), table)
    theta = prepared.layout.pack(expanded.cpts)
    expected_cells(prepared, theta)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        expected_cells(prepared, theta)
        best = min(best, time.perf_counter() - start)
    return best


def peak() -> float:
    """The peak memory of this process, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
