"""Counting and maximum likelihood on a million rows, for credo and other programs: `python -m benchmarks.learn`.

The network is Alarm, or a made-up one of its size if `../shared/networks` is not there. Every program runs in its own
process, so that its peak memory can be measured, on the same files; the best time is reported.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recording import record
from credo.io.network_files import read_network, write_network
from credo.model.layout import family_strides
from credo.testing import alarm_like_network

ALARM = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks" / "alarm.bif"
ROWS = 1_000_000
REPEATS = 3


def main() -> None:
    """Make the inputs, run each program in its own process, and print times, ratios and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--only", default="", help="a part of a title, to run one table alone: CSV")
    parser.add_argument("--contender", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        job, folder = arguments.contender
        run_contender(job, Path(folder))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network = read_network(ALARM) if ALARM.exists() else alarm_like_network()
        write_network(network, folder / "network.bif")
        network.sample(arguments.rows, seed=1).write_csv(folder / "data.csv")
        size = (folder / "data.csv").stat().st_size / 1e6
        print(f"{network.name}: {len(network)} variables, {arguments.rows:,} rows, CSV of {size:.0f} MB\n")
        for title, jobs in ((title, jobs) for title, jobs in JOBS.items() if arguments.only in title):
            results = {job: contend(job, folder) for job in jobs}
            print_table(title, results)
            record("learn", f"{title}, {network.name}, {arguments.rows:,} rows", dict(results))


# Programs. Each function prepares the input and returns the function that is timed. -----------------------------------


def credo_from_codes(folder: Path) -> Callable[[], Any]:
    from credo.fitting import fit
    from credo.io.tables import read_table

    network = read_network(folder / "network.bif").without_cpts()
    dataset = read_table(network, folder / "data.csv")
    return lambda: fit(network, dataset, method="ml")


def bincount_from_codes(folder: Path) -> Callable[[], Any]:
    from credo.io.tables import read_table

    network = read_network(folder / "network.bif")
    dataset = read_table(network, folder / "data.csv")
    columns = [dataset.codes[:, i].astype(np.int64) for i in range(len(network))]

    def count() -> list[np.ndarray]:
        counts = []
        for name in network.names:
            positions, strides = family_strides(network, name)
            cells = sum(columns[position] * stride for position, stride in zip(positions, strides, strict=True))
            counts.append(np.bincount(cells, minlength=strides[0] * network.shape(name)[0]))
        return counts

    return count


def pyagrum_from_learner(folder: Path) -> Callable[[], Any]:
    import pyagrum

    network = pyagrum.loadBN(str(folder / "network.bif"))
    learner = _with_prior(pyagrum.BNLearner(str(folder / "data.csv"), network))
    return lambda: learner.learnParameters(network.dag())


def _with_prior(learner: Any) -> Any:
    """A learner of pyAgrum with a prior: without one it refuses configurations of parents that no row has."""
    return learner.useSmoothingPrior(1.0)


def polars_from_frame(folder: Path) -> Callable[[], Any]:
    import polars as pl

    network = read_network(folder / "network.bif")
    frame = pl.read_csv(folder / "data.csv", schema={name: pl.Enum(network.states(name)) for name in network.names})
    return lambda: [frame.group_by([*network.parents[name], name]).len() for name in network.names]


def pgmpy_from_frame(folder: Path) -> Callable[[], Any]:
    read, learn = pgmpy_steps(folder)
    frame = read()
    return lambda: learn(frame)


def credo_from_csv(folder: Path) -> Callable[[], Any]:
    from credo.fitting import fit

    network = read_network(folder / "network.bif").without_cpts()
    return lambda: fit(network, folder / "data.csv", method="ml")


def pyagrum_from_csv(folder: Path) -> Callable[[], Any]:
    import pyagrum

    network = pyagrum.loadBN(str(folder / "network.bif"))
    return lambda: _with_prior(pyagrum.BNLearner(str(folder / "data.csv"), network)).learnParameters(network.dag())


def polars_from_csv(folder: Path) -> Callable[[], Any]:
    import polars as pl

    network = read_network(folder / "network.bif")
    schema = {name: pl.Enum(network.states(name)) for name in network.names}

    def count() -> list[pl.DataFrame]:
        frame = pl.read_csv(folder / "data.csv", schema=schema)
        return [frame.group_by([*network.parents[name], name]).len() for name in network.names]

    return count


def pgmpy_from_csv(folder: Path) -> Callable[[], Any]:
    read, learn = pgmpy_steps(folder)
    return lambda: learn(read())


def pgmpy_steps(folder: Path) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    import pandas as pd
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteMLE

    network = read_network(folder / "network.bif")
    states = {name: list(network.states(name)) for name in network.names}

    def read() -> Any:
        return pd.read_csv(folder / "data.csv", dtype={name: pd.CategoricalDtype(states[name]) for name in states})

    def learn(frame: Any) -> Any:
        model = DiscreteBayesianNetwork([(parent, name) for name in network.names for parent in network.parents[name]])
        model.add_nodes_from(network.names)
        return model.fit(frame, estimator=DiscreteMLE(state_names=states))

    return read, learn


JOBS: dict[str, tuple[str, ...]] = {
    "Counting and ml, the table already in memory": (
        "credo_from_codes",
        "bincount_from_codes",
        "pyagrum_from_learner",
        "polars_from_frame",
        "pgmpy_from_frame",
    ),
    "From the CSV file to the learned network": (
        "credo_from_csv",
        "pyagrum_from_csv",
        "polars_from_csv",
        "pgmpy_from_csv",
    ),
}


# Running and printing -------------------------------------------------------------------------------------------------


def run_contender(job: str, folder: Path) -> None:
    """In the program's own process: time its function and print the figures as JSON."""
    warnings.simplefilter("ignore")
    timed = globals()[job](folder)
    seconds, processor = [], []
    for _ in range(REPEATS + 1):
        start, used = time.perf_counter(), time.process_time()
        timed()
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - used)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    print(json.dumps({"first": seconds[0], "best": min(seconds[1:]), "processor": min(processor[1:]), "peak": peak}))


def contend(job: str, folder: Path) -> dict[str, float] | str:
    command = [sys.executable, "-m", "benchmarks.learn", "--contender", job, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


def print_table(title: str, results: dict[str, dict[str, float] | str]) -> None:
    print(title)
    print(f"  {'contender':<22}{'seconds':>9}{'ratio':>8}{'first call':>12}{'peak memory':>13}")
    own = next(iter(results.values()))
    for job, figures in results.items():
        if isinstance(figures, str) or isinstance(own, str):
            print(f"  {job:<22} failed: {figures}")
            continue
        ratio = figures["best"] / own["best"]
        print(
            f"  {job:<22}{figures['best']:>9.3f}{ratio:>7.1f}×{figures['first']:>12.3f}{figures['peak']:>10.0f} MB",
            flush=True,
        )
    print()


if __name__ == "__main__":
    main()
