"""What a noisy family costs: linear in its sets, never a full table: `python -m benchmarks.noisy`.

Sets of four parents, of which a part raises the child; rows drawn from such a network; every parent is said to raise
it. Seconds are of `fit` with one start, and of one E-step; megabytes are what the process holds at its peak, and what
of these came with the fit. A process for each size, so that one's memory is not another's.
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
from credo.io.dataset import concatenate, extended
from credo.io.tables import stream_table
from credo.model.expansion import expand
from credo.model.network import Network
from credo.model.noisy import NoisyForm
from credo.options import EMOptions
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import expected_cells, prepare

SETS, PARENTS, ROWS = (5, 10, 20, 40), 4, 1000
BINARY = ("no", "yes")
REPEATS = 5
GOAL_SETS, GOAL_SECONDS = 10, 10.0  # 40 parents in 10 sets, 1000 rows
LINEAR = 1.5  # cost(40 sets) may be this many times 8 · cost(5 sets)


def main() -> None:
    """Print a line for each number of sets, then how the cost grows."""
    if len(sys.argv) == 2:
        print(json.dumps(measure(int(sys.argv[1]), ROWS)))
        return
    print("sets  parents   rows   fit s  gradient s   E-step ms  steps   peak MB  of the fit MB")
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
    size = f"{sets:>4}{PARENTS * sets:>9}{ROWS:>7}"
    seconds = f"{found['fit']:>8.2f}{found['gradient']:>12.2f}{1e3 * found['step']:>12.2f}"
    print(f"{size}{seconds}{found['steps']:>7.0f}{found['peak']:>10.0f}{found['own']:>15.0f}", flush=True)


def measure(sets: int, rows: int) -> dict[str, float]:
    """Seconds and megabytes of one size, after a first fit that compiles."""
    truth, text = example(sets)
    data = truth.sample(rows, seed=1)
    bare = Network(truth.variables, truth.parents)
    small, small_text = example(2)
    credo.fit(Network(small.variables, small.parents), small.sample(50), small_text, em=EMOptions(starts=1))
    before = peak()
    start = time.perf_counter()
    fit = credo.fit(bare, data, text, method="cmap", em=EMOptions(starts=1))
    seconds, own = time.perf_counter() - start, peak() - before
    step = one_step(fit.network, data)
    start = time.perf_counter()
    credo.fit(bare, data, text, method="map", em=EMOptions(starts=1, trainer="gradient"))
    return {
        "fit": seconds,
        "gradient": time.perf_counter() - start,
        "step": step,
        "steps": len(fit.history),
        "peak": peak(),
        "own": own,
    }


def example(sets: int, parents: int = PARENTS) -> tuple[Network, str]:
    """A network with one noisy-or family, and what is said of it."""
    generator = np.random.default_rng(0)
    names = [f"x{i}" for i in range(sets * parents)]
    grouped = tuple(tuple(names[i * parents : (i + 1) * parents]) for i in range(sets))
    tables = []
    for _ in grouped:
        chances = np.sort(generator.random(2**parents) * min(0.5, 3.0 / sets))
        chances[0] = 0.0
        tables.append(np.stack([1 - chances, chances], axis=-1).reshape((2,) * parents + (2,)))
    form = NoisyForm("noisy-or", grouped, BINARY, True, (*tables, np.array([0.98, 0.02])))
    bare = Network({**dict.fromkeys(names, BINARY), "y": BINARY}, {"y": names}, {name: [0.7, 0.3] for name in names})
    said = [f"{name} raises y" for name in names]
    family = "y is noisy-or of " + ", ".join("{" + ", ".join(own) + "}" for own in grouped) + " with leak"
    return bare.with_forms({"y": form}), "\n".join([family, *said])


def one_step(network: Network, data: Any) -> float:
    """Seconds of one E-step, the best of several."""
    whole = expand(network).network
    table = concatenate([extended(part, whole) for part in stream_table(network, data)])
    prepared = prepare(layout_for_counts(whole), table)
    theta = prepared.layout.pack(whole.cpts)
    expected_cells(prepared, theta)
    best = float("inf")
    for _ in range(REPEATS):
        start = time.perf_counter()
        expected_cells(prepared, theta)
        best = min(best, time.perf_counter() - start)
    return best


def peak() -> float:
    """The most memory that this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
