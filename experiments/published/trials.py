"""One trial: a network, a number of rows, a draw and a condition, learned by credo and its rivals from the same data.

Data, statements and questions depend on the network, the number of rows and the draw alone.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import polars as pl

import credo
from credo.knowledge.query import Query
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.questions.question_draws import why_no_interval
from credo.testing import with_missing_values
from credo.types import Numbers
from experiments.guo.wrong import consistent
from experiments.prior.rivals import backing_off, hierarchical, shrunk
from experiments.published.measures import KINDS, LEVELS, MEASURES, accuracy, coverage, random_queries, within
from experiments.published.networks import family_of, true_network
from experiments.published.statements import all_influences, expert_statements, with_wrong
from experiments.running import Job, Record

MISSING = 0.3


@dataclass(frozen=True, slots=True)
class Condition:
    """What is known beside the rows, and how many of their values are missing."""

    per_variable: int = 0
    influences: bool = False
    wrong: float = 0.0
    missing: float = 0.0

    def statements(self, truth: Network, seed: int) -> tuple[list[Statement], list[Statement]]:
        """The statements of one draw, and those of them that are right."""
        if self.influences:
            found = all_influences(truth)
            return found, found
        right = expert_statements(truth, self.per_variable, seed)
        given = with_wrong(truth, right, self.wrong, seed) if self.wrong else right
        return given, [one for one, other in zip(given, right, strict=True) if one == other]


CONDITIONS = {
    "none": Condition(),
    "influences": Condition(influences=True),
    "two": Condition(2),
    "five": Condition(5),
    "wrong-10": Condition(5, wrong=0.1),
    "wrong-20": Condition(5, wrong=0.2),
    "none-missing": Condition(missing=MISSING),
    "influences-missing": Condition(influences=True, missing=MISSING),
    "five-missing": Condition(5, missing=MISSING),
}
MAIN_CONDITIONS = ("none", "influences", "none-missing", "influences-missing")
PRIORS: Mapping[str, float | str] = {"laplace": 1.0, "bdeu1": "bdeu:1", "bdeu10": "bdeu:10"}
SAMPLED = ("hierarchical", "shrunk", "hdp")  # of complete rows alone
INTERPOLATED = ("qmap", "qmapc")
METHODS = ("credo", "left out", *PRIORS, "pyagrum", *INTERPOLATED, *SAMPLED)
KEY = ("network", "rows", "draw", "condition", "method")
COLUMNS = (
    *(*KEY, "family", "statements", "status", "message", "seconds", "megabytes", *MEASURES),
    *(column for kind in KINDS for column in (kind, *(within(kind, level) for level in LEVELS))),
)

Learner = Callable[[], "credo.Fit | Network"]


def run_trial(job: Job) -> list[Record]:
    """The record of one method; what a learner refuses, or fails at, is a result."""
    name, rows, draw, condition, method = job
    chosen, truth = CONDITIONS[condition], true_network(name)
    seed = crc32(f"{name} {draw}".encode())
    statements, right = chosen.statements(truth, seed)
    frame = truth.sample(rows, seed=seed)
    if chosen.missing:
        frame = with_missing_values(frame, chosen.missing, seed)
    record: Record = dict.fromkeys(COLUMNS)
    record |= dict(zip(KEY, job, strict=True)) | {"family": family_of(name), "statements": len(statements)}
    learn = learners(truth, frame, statements, right, condition, draw)[method]
    before = _reset_peak()
    started = time.process_time()
    try:
        learned = learn()
        record |= _spent(started, before)
        record |= _measured(truth, learned, random_queries(truth, seed))
    except Exception as error:
        record |= _spent(started, before) | {"status": "REFUSED", "message": f"{type(error).__name__}: {error}"[:300]}
    return [{key: rounded(value) for key, value in record.items()}]


def rounded(value: object) -> object:
    """Five digits are more than a figure is certain to."""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _spent(started: float, before: float | None) -> Record:
    return {"seconds": time.process_time() - started, "megabytes": _grown(before)}


def learners(
    truth: Network,
    frame: pl.DataFrame,
    statements: list[Statement],
    right: list[Statement],
    condition: str,
    seed: int,
) -> dict[str, Learner]:
    """Every method that can learn from these data, by name; rivals that know no statements leave them out.

    Where some statements are wrong, `credo` doubts all of them, `left out` is told which ones are wrong, and `qmap` and
    `qmapc` leave out members of conflicts alone.
    """
    structure, doubted = truth.without_cpts(), CONDITIONS[condition].wrong > 0.0
    fit = partial(credo.fit, structure, frame, seed=seed)
    found: dict[str, Learner] = {
        "credo": partial(fit, credo.Knowledge(structure, statements), doubt=doubted),
        **{name: partial(fit, method="map", prior=prior) for name, prior in PRIORS.items()},
        **{name: partial(_interpolated, fit, structure, statements, name, doubted) for name in INTERPOLATED},
    }
    found |= {
        "left out": partial(fit, credo.Knowledge(structure, right)),
        "pyagrum": partial(_by_pyagrum, structure, frame),
        "hierarchical": partial(_sampled, hierarchical, structure, frame, seed),
        "shrunk": partial(_sampled, shrunk, structure, frame, seed),
        "hdp": partial(_sampled, backing_off, structure, frame, seed),
    }
    return {name: found[name] for name in methods_of(condition)}


def methods_of(condition: str) -> list[str]:
    """The methods that can learn under a condition.

    Those without statements are run where there are none; Laplace and BDeu everywhere, for comparison. pyAgrum learns
    the same as Laplace from complete rows, and is run where values are missing, if it is installed.
    """
    chosen, unable = CONDITIONS[condition], set[str]()
    if not chosen.wrong:
        unable.add("left out")
    if condition != "none":
        unable.update(SAMPLED)
    if condition != "none-missing" or find_spec("pyagrum") is None:
        unable.add("pyagrum")
    if condition in ("none", "none-missing"):
        unable.update(INTERPOLATED)
    return [name for name in METHODS if name not in unable]


def _by_pyagrum(structure: Network, frame: pl.DataFrame) -> Network:
    """EM with one added to every count; names and labels are numbered, because pyAgrum reads data from a text file."""
    import pyagrum

    short = {name: f"v{number}" for number, name in enumerate(structure.names)}
    states = {short[name]: [str(k) for k in range(len(structure.states(name)))] for name in structure.names}
    parents = {short[name]: [short[each] for each in structure.parents[name]] for name in structure.names}
    model = Network(states, parents).to_pyagrum()
    codes = frame.select(
        pl.col(name)
        .cast(pl.String)
        .replace_strict(dict(zip(structure.states(name), states[own], strict=True)))
        .alias(own)
        for name, own in short.items()
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        codes.write_csv(file, null_value="?")
        learner = pyagrum.BNLearner(str(file), model, ["?"])
        learner.useSmoothingPrior(1.0)
        learner.useEM(1e-4)
        learned = Network.from_pyagrum(learner.learnParameters(model.dag()))
    cpts = {}
    for name, own in short.items():
        axes = (*learned.parents[own], own)
        cpts[name] = learned.cpt_array(own).transpose([axes.index(each) for each in (*parents[own], own)])
    return structure.with_cpts(cpts)


def _interpolated(
    fit: Callable[..., credo.Fit], structure: Network, statements: list[Statement], method: str, doubted: bool
) -> credo.Fit:
    kept = consistent(structure, statements) if doubted else statements
    return fit(credo.Knowledge(structure, kept), method=method)


def _sampled(model: Callable[..., dict[str, Numbers]], structure: Network, frame: pl.DataFrame, seed: int) -> Network:
    counted = credo.fit(structure, frame, method="map", prior=1.0)
    tables = {}
    for name in structure.names:
        counts = counted.counts_array(name)
        tables[name] = counts.reshape(-1, counts.shape[-1])
    cpts = model(structure, tables, seed)
    return structure.with_cpts({name: cpt.reshape(structure.shape(name)) for name, cpt in cpts.items()})


def _measured(truth: Network, learned: credo.Fit | Network, queries: list[tuple[Query, float]]) -> Record:
    if isinstance(learned, Network):
        return {"status": "AVERAGED", **accuracy(truth, learned, queries)}
    record: Record = {"status": learned.status.name}
    if why_no_interval(learned):
        return record | accuracy(truth, learned.network, queries)
    record |= accuracy(truth, learned.network, queries, lambda query: learned.query(query).probability)
    return record | coverage(truth, learned, queries)


# Memory ---------------------------------------------------------------------------------------------------------------


def _memory(what: str) -> float | None:
    """The resident memory of this process in megabytes: `VmRSS` now, `VmHWM` at most; None where nobody tells."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith(f"{what}:"):
                return int(line.split()[1]) / 1024
    return None


def _reset_peak() -> float | None:
    """Forget the most memory that this process had, where the system can (Linux), and say what it has."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _grown(before: float | None) -> float | None:
    """By how much memory grew at most; what earlier trials left free in the process is used first."""
    peak = _memory("VmHWM")
    return None if before is None or peak is None else max(0.0, peak - before)
