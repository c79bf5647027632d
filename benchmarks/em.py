"""Seconds for an EM iteration on rows with gaps, credo against its peers: `python -m benchmarks.em`.

Networks come from `../shared/networks`; those that are not there are left out, and a made-up network of Alarm's size
takes Alarm's place. 40% of the values are hidden. Every contender runs in a process of its own, on the same rows, from
the same tables: the network's, mixed with a little of the uniform. pyAgrum takes minutes for what takes others
milliseconds: it does one iteration, of as many rows as `--agrum-rows` allows, and its seconds are scaled to all rows
where these are fewer (`*`). Seconds of the processors (all cores together) stand beside those of the clock, because
other work on a machine disturbs them less.

The log-likelihood after one iteration must agree. pyAgrum also counts barren variables, which changes the M-step: credo
does the same for the comparison, with sensors that make every variable count. Where some configuration has no data at
all pyAgrum needs a prior, and counts it in a way of its own: then only the time is compared.
"""

from __future__ import annotations

import argparse
import json
import os
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

from benchmarks.learn import made_up_network
from credo.io.networks import read_network
from credo.network import Network

NETWORKS = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
HIDE = 0.4
# name, rows, rows for pyAgrum
CASES = (
    ("alarm", 512, 512),
    ("alarm", 5_000, 0),
    ("alarm", 50_000, 0),
    ("win95pts", 5_000, 32),
    ("andes", 512, 8),
    ("mixture", 10_000, 64),
)
MIXED = 0.05  # the share of the uniform in the tables that EM starts from
SECONDS = 3.0  # that a contender's repetitions may take


def main() -> None:
    """Run each contender of each case in its own process and print seconds, ratios, agreement and memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agrum-rows", type=int, default=512, help="at most so many rows for pyAgrum")
    parser.add_argument("--contender", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.contender:
        job, case, rows, part = arguments.contender
        warnings.simplefilter("ignore")
        print(json.dumps(globals()[job](case, int(rows), int(part))))
        return
    print(f"{'case':<18}{'contender':<12}{'clock':>14}{'ratio':>10}{'processors':>14}{'memory':>10}  notes")
    for case, rows, part in CASES:
        if network_of(case) is None:
            print(f"{case} {rows:,}: its network is not there")
            continue
        part = min(part, arguments.agrum_rows)
        own = contend("credo", case, rows, part)
        report(f"{case} {rows:,}", "credo", own, own)
        for job in ("numpy_loop", "stepmix") if case == "mixture" else ():
            report("", job, contend(job, case, rows, part), own)
        if part:
            theirs = contend("pyagrum", case, rows, part)
            report("", "pyagrum", theirs, own)
            if isinstance(theirs, dict) and isinstance(own, dict) and theirs["log_likelihood"] is not None:
                apart = abs(theirs["log_likelihood"] / own["log_likelihood"] - 1)
                print(f"{'':<18}log-likelihoods after one iteration of {part} rows are {apart:.1e} apart")
    for case, rows in (("alarm", 5_000), ("mixture", 10_000)):
        if network_of(case) is not None:
            print_convergence(case, rows)


def report(title: str, job: str, figures: dict[str, Any] | str, own: dict[str, Any] | str) -> None:
    if isinstance(figures, str) or isinstance(own, str):
        print(f"{title:<18}{job:<12} {figures}", flush=True)
        return
    ratio = figures["seconds"] / own["seconds"]
    clock, processors = (f"{1000 * figures[kind]:.2f} ms{figures.get('mark', '')}" for kind in ("seconds", "busy"))
    memory = f"{figures['peak']:.0f} MB"
    print(f"{title:<18}{job:<12}{clock:>14}{ratio:>9.1f}×{processors:>14}{memory:>10}  {figures['notes']}", flush=True)


def contend(job: str, case: str, rows: int, part: int) -> dict[str, Any] | str:
    command = [sys.executable, "-m", "benchmarks.em", "--contender", job, case, str(rows), str(part)]
    # One thread for products of matrices: with more, small ones spend their time waiting for each other.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])


# The data -------------------------------------------------------------------------------------------------------------


def network_of(case: str) -> Network | None:
    """The network of a case, with the tables that data are drawn from and EM starts from."""
    if case == "mixture":
        return mixture()
    path = NETWORKS / f"{case}.bif"
    if path.exists():
        return read_network(path)
    return made_up_network() if case == "alarm" else None


def mixture(classes: int = 5, features: int = 20) -> Network:
    """A hidden class with ternary features."""
    names = [f"f{i}" for i in range(features)]
    variables = {"class": [f"c{k}" for k in range(classes)], **{name: ["x", "y", "z"] for name in names}}
    structure = Network(variables, {name: ["class"] for name in names}, name="mixture")
    generator = np.random.default_rng(1)
    tables = {
        name: generator.dirichlet(np.ones(structure.shape(name)[-1]), structure.configurations(name))
        for name in structure.names
    }
    return structure.with_tables({name: table.reshape(structure.shape(name)) for name, table in tables.items()})


def codes_of(network: Network, rows: int) -> Any:
    """Rows of state numbers: 40% of the values are hidden, of a mixture only the class."""
    from credo.statistics.sample import sample_codes

    drawn = sample_codes(network, rows, seed=1)
    codes = np.column_stack([drawn[name] for name in network.names]).astype(np.int8)
    if network.name == "mixture":
        codes[:, 0] = -1
    else:
        codes[np.random.default_rng(2).random(codes.shape) < HIDE] = -1
    return codes


def data_of(case: str, rows: int) -> tuple[Network, Any]:
    """The start, and rows that the network itself drew."""
    network = network_of(case)
    assert network is not None
    mixed = {name: (1 - MIXED) * table + MIXED / table.shape[-1] for name, table in network.tables.items()}
    return network.with_tables(mixed), codes_of(network, rows)


def best_of(iteration: Callable[[], Any]) -> dict[str, float]:
    """The shortest of many repetitions, after one that warms up: by the clock, and of the processors."""
    iteration()
    seconds: list[float] = []
    busy: list[float] = []
    while len(seconds) < 5 or (sum(seconds) < SECONDS and len(seconds) < 200):
        start, start_busy = time.perf_counter(), time.process_time()
        iteration()
        seconds.append(time.perf_counter() - start)
        busy.append(time.process_time() - start_busy)
    return {"seconds": min(seconds), "busy": min(busy)}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


# The contenders -------------------------------------------------------------------------------------------------------


def credo(case: str, rows: int, part: int) -> dict[str, Any]:
    from credo.estimators.iterations.count_step import counting_step
    from credo.estimators.iterations.em_steps import Steps, init, step
    from credo.io.dataset import Dataset
    from credo.statistics.engine.expected import prepare
    from credo.statistics.engine.layout import pack
    from credo.statistics.families import Families
    from credo.statistics.prior import Dirichlet

    warm_up = mixture(2, 2)
    prepare(Families.of(warm_up), Dataset(warm_up.names, codes_of(warm_up, 2)))
    imports = peak()
    network, codes = data_of(case, rows)
    families = Families.of(network)
    start = time.perf_counter()
    prepared = prepare(families, Dataset(network.names, codes))
    seconds = time.perf_counter() - start
    steps = Steps.of(prepared, counting_step(prepared, Dirichlet(0.0)), network.names)
    state = init(steps, pack(prepared.layout, network.tables))
    groups = prepared.groups
    notes = (
        f"{groups.distinct_rows:,} distinct rows, {groups.pieces:,} components, {len(groups.component):,} evaluations "
        f"of {len(prepared.plans.starts) - 1:,} plans; prepared in {1000 * seconds:.0f} ms"
    )
    return {
        **best_of(lambda: step(steps, state, accelerate=False)),
        "peak": peak() - imports,
        "notes": notes,
        "log_likelihood": with_barren_counted(network, codes[:part]) if part else None,
    }


def with_barren_counted(network: Network, codes: Any) -> float:
    """The log-likelihood after one EM iteration that counts barren variables too."""
    from credo.io.dataset import Dataset
    from credo.statistics.engine.expected import expected_cells, prepare
    from credo.statistics.engine.layout import Sensor, pack
    from credo.statistics.families import Families

    sensors = [Sensor((name,)) for name in network.names]
    ones = [np.ones(len(network.states(name))) for name in network.names]
    readings = np.zeros((len(codes), len(sensors)), dtype=codes.dtype)
    dataset = Dataset(network.names, codes)
    prepared = prepare(Families.of(network), dataset, sensors=sensors, readings=readings)
    counts, _ = expected_cells(prepared, pack(prepared.layout, network.tables, ones))
    tables = {}
    for name in network.names:
        own = counts[prepared.layout.stretch(name)].reshape(-1, len(network.states(name)))
        own[own.sum(axis=1) == 0] = 1.0
        tables[name] = (own / own.sum(axis=1, keepdims=True)).reshape(network.shape(name))
    return network.with_tables(tables).log_likelihood(dataset)


def pyagrum(case: str, rows: int, part: int) -> dict[str, Any]:
    import polars as pl
    import pyagrum as gum

    from credo.io.dataset import Dataset
    from credo.statistics.align import aligned_table

    imports = peak()
    network, codes = data_of(case, rows)
    codes = codes[:part]
    columns = {
        name: [network.states(name)[code] if code >= 0 else "?" for code in codes[:, i]]
        for i, name in enumerate(network.names)
    }
    with tempfile.TemporaryDirectory() as folder:
        pl.DataFrame(columns).write_csv(f"{folder}/rows.csv")
        model = network.to_pyagrum()
        learner = gum.BNLearner(f"{folder}/rows.csv", model, ["?"])
        learner.useNoPrior()
        learner.useEM(1e-12, 0.0)
        learner.EMsetMaxIter(1)
        start, start_busy = time.perf_counter(), time.process_time()
        comparable = True
        try:
            learned = Network.from_pyagrum(learner.learnParameters(model))
        except gum.GumException:
            comparable = False
            learner.useSmoothingPrior(1.0)
            start, start_busy = time.perf_counter(), time.process_time()
            learned = Network.from_pyagrum(learner.learnParameters(model))
        seconds, busy = time.perf_counter() - start, time.process_time() - start_busy
    tables = {name: aligned_table(network, learned, name) for name in network.names}
    return {
        "seconds": seconds * rows / part,
        "busy": busy * rows / part,
        "mark": "" if part == rows else "*",
        "peak": peak() - imports,
        "notes": f"one iteration of {part} rows in {seconds:.1f} s",
        "log_likelihood": (
            network.with_tables(tables).log_likelihood(Dataset(network.names, codes)) if comparable else None
        ),
    }


def numpy_loop(case: str, rows: int, part: int) -> dict[str, Any]:
    """A mixture by hand: indicators of all values in one matrix, so that both steps are products of matrices."""
    imports = peak()
    network, codes = data_of(case, rows)
    features = network.names[1:]
    indicators = np.concatenate([np.eye(3)[codes[:, 1 + i]] for i in range(len(features))], axis=1)
    tables = np.concatenate([network.table(name) for name in features], axis=1)  # (classes, 3 · features)
    weights = network.table("class")

    def iteration() -> float:
        scores = indicators @ np.log(tables).T + np.log(weights)
        largest = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - largest)
        sums = shares.sum(axis=1, keepdims=True)
        log_likelihood = float((np.log(sums) + largest).sum())
        shares /= sums
        counts = shares.T @ indicators
        blocks = counts.reshape(len(weights), -1, 3)
        blocks / blocks.sum(axis=2, keepdims=True)
        shares.mean(axis=0)
        return log_likelihood

    return {**best_of(iteration), "peak": peak() - imports, "notes": "two products of matrices"}


def stepmix(case: str, rows: int, part: int) -> dict[str, Any]:
    from stepmix.stepmix import StepMix

    imports = peak()
    network, codes = data_of(case, rows)

    def fit(iterations: int) -> None:
        model = StepMix(
            len(network.states("class")), measurement="categorical", n_init=1, max_iter=iterations, abs_tol=0,
            rel_tol=0, random_state=1, progress_bar=0,
        )  # fmt: skip
        model.fit(codes[:, 1:].astype(float))

    short, long = best_of(lambda: fit(1)), best_of(lambda: fit(21))
    each = {kind: (long[kind] - short[kind]) / 20 for kind in short}
    return {**each, "peak": peak() - imports, "notes": "20 iterations of one fit"}


# To convergence -------------------------------------------------------------------------------------------------------


def print_convergence(case: str, rows: int) -> None:
    """One start to convergence, with and without acceleration."""
    from credo.estimators.iterations.count_step import counting_step
    from credo.estimators.iterations.em import run_em
    from credo.io.dataset import Dataset
    from credo.statistics.engine.expected import prepare
    from credo.statistics.families import Families
    from credo.statistics.prior import Dirichlet

    network, codes = data_of(case, rows)
    prepared = prepare(Families.of(network), Dataset(network.names, codes))
    print(f"\nTo convergence: {case} {rows:,}, one start, tolerance 1e-8")
    for prior in (0.0, 1.0):
        for accelerate in (False, True):
            start = time.perf_counter()
            result = run_em(
                network.without_tables(), prepared, counting_step(prepared, Dirichlet(prior)),
                starts=1, accelerate=accelerate, max_iterations=5000,
            )  # fmt: skip
            seconds = time.perf_counter() - start
            print(
                f"  pseudo-count {prior:g}, acceleration {'on ' if accelerate else 'off'}: {seconds:>6.2f} s, "
                f"{result.iterations:>5} E-steps, objective {result.objective:.4f}, {result.ended.name.lower()}",
                flush=True,
            )


if __name__ == "__main__":
    main()
