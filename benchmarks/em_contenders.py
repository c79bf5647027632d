"""Run one program of the EM benchmark: `python -m benchmarks.em_contenders credo alarm 512 512`.

Prints JSON: wall-clock time (`seconds`) and processor time of all cores together (`busy`) of an iteration; peak memory
in MB above imports (`peak`) and in total (`total`); the relative difference of the log-likelihood after the iteration
from credo's (`apart`); `notes`.

All programs start from the same CPTs: those of the network, mixed with a small share of the uniform distribution. Data
are drawn from the network, and 40% of the values are hidden; in `latent` (Alarm) and `mixture` (naive Bayes), one
variable is hidden in all rows, and nothing else.
"""

from __future__ import annotations

import copy
import json
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from credo.io.network_files import read_network
from credo.model.network import Network
from credo.testing import alarm_like_network
from credo.types import Numbers

NETWORKS = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
HIDE = 0.4
LATENT = "VENTLUNG"  # of Alarm: four states, a parent, three children
MIXED = 0.05  # the share of the uniform distribution in the CPTs from which EM starts
PSEUDO = 0.01  # pseudo-count, in the comparison with pyAgrum, which rejects configurations without data
SECONDS = 3.0  # for the repetitions of one program

Tables = dict[str, Numbers]


def main() -> None:
    """Run the program named on the command line on the first rows of a case."""
    job, case, rows, part = sys.argv[1:]
    warnings.simplefilter("ignore")
    print(json.dumps(CONTENDERS[job](case, int(rows), int(part))))


# Data -----------------------------------------------------------------------------------------------------------------


def network_of(case: str) -> Network | None:
    """The network of a case, with the CPTs from which data are drawn; a made-up one if Alarm is not there."""
    if case == "mixture":
        return mixture()
    path = NETWORKS / f"{'alarm' if case == 'latent' else case}.bif"
    if path.exists():
        return read_network(path)
    return alarm_like_network() if case == "alarm" else None


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
    return structure.with_cpts({name: table.reshape(structure.shape(name)) for name, table in tables.items()})


def data_of(case: str, rows: int) -> tuple[Network, Any]:
    """The network with the CPTs to start from, and rows of codes drawn from the network, -1 for hidden values."""
    from credo.network_methods import sample_codes

    network = network_of(case)
    assert network is not None
    drawn = sample_codes(network, rows, seed=1)
    codes = np.column_stack([drawn[name] for name in network.names]).astype(np.int8)
    hidden = {"mixture": "class", "latent": LATENT}.get(case)
    if hidden is None:
        codes[np.random.default_rng(2).random(codes.shape) < HIDE] = -1
    else:
        codes[:, network.names.index(hidden)] = -1
    mixed = {name: (1 - MIXED) * table + MIXED / table.shape[-1] for name, table in network.cpts.items()}
    return network.with_cpts(mixed), codes


# Measuring ---------------------------------------------------------------------------------------------------------


def best_of(iteration: Callable[[], Any], fewest: int = 5) -> dict[str, float]:
    """The shortest of many repetitions after a warm-up: wall-clock time and processor time."""
    iteration()
    seconds: list[float] = []
    busy: list[float] = []
    while len(seconds) < fewest or (sum(seconds) < SECONDS and len(seconds) < 200):
        start, start_busy = time.perf_counter(), time.process_time()
        iteration()
        seconds.append(time.perf_counter() - start)
        busy.append(time.process_time() - start_busy)
    return {"seconds": min(seconds), "busy": min(busy)}


def memory(imports: float) -> dict[str, float]:
    """Peak memory in MB, above that of imports and in total."""
    return {"peak": peak() - imports, "total": peak()}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def apart(network: Network, codes: Any, theirs: Tables, pseudo: float = 0.0) -> float:
    """The relative difference of the log-likelihood of their CPTs from that after an iteration of credo."""
    from credo.io.dataset import Dataset

    dataset = Dataset(network.names, codes)
    own = network.with_cpts(counting_all(network, codes, pseudo)()).log_likelihood(dataset)
    return abs(network.with_cpts(theirs).log_likelihood(dataset) / own - 1)


def counting_all(network: Network, codes: Any, pseudo: float = 0.0) -> Callable[[], Tables]:
    """One iteration of credo that also counts barren variables, as other programs do: each gets a sensor."""
    from credo.io.dataset import Dataset
    from credo.model.layout import Sensor
    from credo.statistics.counts import layout_for_counts
    from credo.statistics.inference.expected_counts import expected_cells, prepare

    sensors = [Sensor((name,)) for name in network.names]
    ones = [np.ones(len(network.states(name))) for name in network.names]
    readings = np.zeros((len(codes), len(sensors)), dtype=codes.dtype)
    prepared = prepare(layout_for_counts(network), Dataset(network.names, codes), sensors=sensors, readings=readings)
    theta = prepared.layout.pack(network.cpts, ones)
    starts = prepared.layout.distribution_starts()
    lengths = np.diff(starts, append=prepared.layout.size)

    def iteration() -> Tables:
        counts = expected_cells(prepared, theta)[0] + pseudo
        sums = np.add.reduceat(counts, starts)
        counts[np.repeat(sums == 0, lengths)] = 1.0
        sums[sums == 0] = lengths[sums == 0]
        return prepared.layout.unpack(counts / np.repeat(sums, lengths))

    return iteration


def load_compiled_code() -> None:
    """Run an iteration on a table that is too large for plain code."""
    network, codes = data_of("mixture", 5_000)
    counting_all(network, codes)()


# Programs -----------------------------------------------------------------------------------------------------------


def credo(case: str, rows: int, part: int) -> dict[str, Any]:
    """credo as users run it: barren variables are removed."""
    from credo.estimation.counting import counting_step
    from credo.estimation.em.steps import Steps, init, step
    from credo.io.dataset import Dataset
    from credo.statistics.counts import layout_for_counts
    from credo.statistics.inference.expected_counts import prepare
    from credo.statistics.prior import Dirichlet, prior_vector

    load_compiled_code()
    imports = peak()
    network, codes = data_of(case, rows)
    start = time.perf_counter()
    prepared = prepare(layout_for_counts(network), Dataset(network.names, codes[:part]))
    seconds = time.perf_counter() - start
    steps = Steps.of(
        prepared, counting_step(prepared.layout, prior_vector(Dirichlet(0.0), prepared.layout)), network.names
    )
    state = init(steps, prepared.layout.pack(network.cpts))
    groups = prepared.groups
    plans = "enumerated" if prepared.plans is None else f"of {len(prepared.plans.starts) - 1:,} plans"
    notes = (
        f"{groups.distinct_rows:,} distinct rows, {groups.pieces:,} components, {len(groups.component):,} evaluations "
        f"{plans}; prepared in {1000 * seconds:.0f} ms"
    )
    return {**best_of(lambda: step(steps, state, accelerate=False)), **memory(imports), "notes": notes}


def credo_counting_all(case: str, rows: int, part: int) -> dict[str, Any]:
    """The same work as the other programs; their likelihoods are compared with this one."""
    load_compiled_code()
    imports = peak()
    network, codes = data_of(case, rows)
    iteration = counting_all(network, codes[:part], PSEUDO)
    return {**best_of(iteration), **memory(imports), "notes": "barren variables counted, as in pyAgrum"}


def pyagrum(case: str, rows: int, part: int) -> dict[str, Any]:
    """One iteration from the start without noise, with a small pseudo-count for every parameter.

    pyAgrum passes over the data twice, first for the likelihood of the start: an iteration is half of its time.
    """
    import polars as pl

    from credo.io.pyagrum import load_pyagrum
    from credo.model.alignment import aligned_cpt

    gum = load_pyagrum("This benchmark")
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
        learner.useSmoothingPrior(PSEUDO)
        learner.useEM(1e-12, 0.0)
        learner.EMsetMaxIter(1)
        start, start_busy = time.perf_counter(), time.process_time()
        learned = Network.from_pyagrum(learner.learnParameters(model))
        seconds, busy = (time.perf_counter() - start) / 2, (time.process_time() - start_busy) / 2
    used = memory(imports)
    return {
        "seconds": seconds,
        "busy": busy,
        **used,
        "apart": apart(network, codes, {name: aligned_cpt(network, learned, name) for name in network.names}, PSEUDO),
        "notes": f"pseudo-count {PSEUDO:g}; half of the time of two passes over the rows",
    }


def pgmpy(case: str, rows: int, part: int) -> dict[str, Any]:
    """Only with hidden variables: pgmpy drops rows with other missing values."""
    import pandas as pd
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteEM

    from credo.model.alignment import aligned_cpt

    imports = peak()
    network, codes = data_of(case, rows)
    codes = codes[:part]
    # States as numbers: pgmpy numbers the states of a hidden variable whatever their names.
    states = {name: list(range(len(network.states(name)))) for name in network.names}
    numbered = Network({name: list(map(str, own)) for name, own in states.items()}, network.parents, network.cpts)
    hidden = {name: len(states[name]) for i, name in enumerate(network.names) if (codes[:, i] < 0).all()}
    seen = pd.DataFrame({name: codes[:, i] for i, name in enumerate(network.names) if name not in hidden})
    edges = [(parent, name) for name in network.names for parent in network.parents[name]]
    model = DiscreteBayesianNetwork(edges, latents=set(hidden))
    cpds = {
        name: TabularCPD(
            name,
            len(states[name]),
            table.reshape(-1, table.shape[-1]).T,
            evidence=list(network.parents[name]),
            evidence_card=list(table.shape[:-1]),
            state_names={member: states[member] for member in (name, *network.parents[name])},
        )
        for name, table in network.cpts.items()
    }
    estimator = DiscreteEM(state_names=states, latent_card=hidden, max_iter=1, init_cpds=cpds, show_progress=False)
    start, start_busy = time.perf_counter(), time.process_time()
    estimator.fit(model, seen)
    seconds, busy = time.perf_counter() - start, time.process_time() - start_busy
    used = memory(imports)
    learned = DiscreteBayesianNetwork(edges)
    learned.add_cpds(*estimator.parameters_)
    found = Network.from_pgmpy(learned)
    theirs = {name: aligned_cpt(numbered, found, name) for name in network.names}
    return {"seconds": seconds, "busy": busy, **used, "apart": apart(network, codes, theirs), "notes": ""}


def numpy_loop(case: str, rows: int, part: int) -> dict[str, Any]:
    """A mixture model in NumPy: with the indicators of all values in one matrix, both steps are matrix products."""
    imports = peak()
    network, codes = data_of(case, rows)
    features = network.names[1:]
    indicators = np.concatenate([np.eye(3)[codes[:, 1 + i]] for i in range(len(features))], axis=1)
    tables = np.concatenate([network.cpt_array(name) for name in features], axis=1)  # (classes, 3 · features)
    weights = network.cpt_array("class")

    def iteration() -> tuple[Numbers, Numbers, float]:
        scores = indicators @ np.log(tables).T + np.log(weights)
        largest = scores.max(axis=1, keepdims=True)
        shares = np.exp(scores - largest)
        sums = shares.sum(axis=1, keepdims=True)
        log_likelihood = float((np.log(sums) + largest).sum())
        shares /= sums
        blocks = (shares.T @ indicators).reshape(len(weights), -1, 3)
        return shares.mean(axis=0), blocks / blocks.sum(axis=2, keepdims=True), log_likelihood

    figures = {**best_of(iteration), **memory(imports)}
    shares, blocks, _ = iteration()
    theirs = {"class": shares, **{name: blocks[:, i] for i, name in enumerate(features)}}
    return {**figures, "apart": apart(network, codes, theirs), "notes": "two matrix products"}


def stepmix(case: str, rows: int, part: int) -> dict[str, Any]:
    """Twenty iterations of StepMix, from our start."""
    from stepmix.stepmix import StepMix

    imports = peak()
    network, codes = data_of(case, rows)
    seen = codes[:, 1:].astype(float)
    features = network.names[1:]
    start = {
        "weights": network.cpt_array("class"),
        "measurement": {
            "pis": np.concatenate([network.cpt_array(name) for name in features], axis=1),
            "max_n_outcomes": 3,
            "total_outcomes": 3 * len(features),
        },
        "measurement_in": len(features),
    }

    class FromStart(StepMix):
        def _initialize_parameters(self, X: Any, random_state: Any) -> None:
            self.set_parameters(copy.deepcopy(start))  # it modifies them

    def fit(iterations: int) -> Any:
        model = FromStart(
            len(network.states("class")), measurement="categorical", n_init=1, max_iter=iterations, abs_tol=0,
            rel_tol=0, progress_bar=0,
        )  # fmt: skip
        return model.fit(seen)

    short, long = best_of(lambda: fit(1)), best_of(lambda: fit(21))
    figures = {**{kind: (long[kind] - short[kind]) / 20 for kind in short}, **memory(imports)}
    found = fit(1).get_parameters()
    blocks = found["measurement"]["pis"].reshape(len(found["weights"]), -1, 3)
    theirs = {"class": found["weights"], **{name: blocks[:, i] for i, name in enumerate(features)}}
    return {**figures, "apart": apart(network, codes, theirs), "notes": "mean of 20 iterations"}


CONTENDERS: dict[str, Callable[[str, int, int], dict[str, Any]]] = {
    "credo": credo,
    "credo_counting_all": credo_counting_all,
    "pyagrum": pyagrum,
    "pgmpy": pgmpy,
    "numpy_loop": numpy_loop,
    "stepmix": stepmix,
}


if __name__ == "__main__":
    main()
