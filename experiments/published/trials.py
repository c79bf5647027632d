"""One trial: a network, a number of rows, a draw and a condition, learned by credo and its rivals from the same data.

Data, statements and questions depend on the network, the number of rows and the draw alone.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from zlib import crc32

import polars as pl

import credo
from credo.estimation.method import Method
from credo.knowledge.query import Query
from credo.knowledge.statements import Influence, Statement
from credo.model.network import Network
from credo.questions.question_draws import why_no_interval
from credo.testing import with_missing_values
from credo.types import Numbers
from experiments.guo.wrong import consistent
from experiments.prior.rivals import backing_off, hierarchical, shrunk
from experiments.published.constrained import CONSTRAINED, bootstrapped, known
from experiments.published.isotonic import isotonic_em
from experiments.published.measures import KINDS, LEVELS, MEASURES, accuracy, coverage, random_queries, within
from experiments.published.networks import family_of, true_network
from experiments.published.packages import by_bnlearn, by_pgmpy, by_pyagrum, installed
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
KNOWING = ("qmap", "qmapc", *CONSTRAINED, "cpb", "irem")  # rivals that know statements
FOR_DOUBT = ("left out", "trusting")  # credo where some statements are wrong
OF_INCOMPLETE = ("pyagrum", "pgmpy", "bnlearn", "bnlearn hard-em")  # which learn what others do from complete rows
METHODS = ("credo", *FOR_DOUBT, *PRIORS, *OF_INCOMPLETE, "bnlearn hdir", *SAMPLED, *KNOWING)
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
    started = _processor_time()
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
    return {"seconds": _processor_time() - started, "megabytes": _grown(before)}


def _processor_time() -> float:
    """Seconds of this process and of those that it waited for: R is one."""
    return sum(os.times()[:4])


def learners(
    truth: Network,
    frame: pl.DataFrame,
    statements: list[Statement],
    right: list[Statement],
    condition: str,
    seed: int,
) -> dict[str, Learner]:
    """Every method that can learn from these data, by name; rivals that know no statements leave them out.

    Where some statements are wrong, `credo` doubts all of them, and `left out` is told which ones are wrong. All that
    cannot doubt, `trusting` among them, is credo without doubt, leave out members of conflicts alone.
    """
    structure, doubted = truth.without_cpts(), CONDITIONS[condition].wrong > 0.0
    fit = partial(credo.fit, structure, frame, seed=seed)
    kept = partial(consistent, structure, statements) if doubted else lambda: statements
    found: dict[str, Learner] = {
        "credo": partial(fit, credo.Knowledge(structure, statements), doubt=doubted),
        "left out": partial(fit, credo.Knowledge(structure, right)),
        "trusting": lambda: fit(credo.Knowledge(structure, kept())),
        **{name: partial(fit, method="map", prior=prior) for name, prior in PRIORS.items()},
        "pyagrum": partial(by_pyagrum, structure, frame),
        "pgmpy": partial(by_pgmpy, structure, frame),
        "bnlearn": partial(by_bnlearn, structure, frame, "bayes"),
        "bnlearn hard-em": partial(by_bnlearn, structure, frame, "hard-em"),
        "bnlearn hdir": partial(by_bnlearn, structure, frame, "hdir"),
        "hierarchical": partial(_sampled, hierarchical, structure, frame, seed),
        "shrunk": partial(_sampled, shrunk, structure, frame, seed),
        "hdp": partial(_sampled, backing_off, structure, frame, seed),
        "qmap": lambda: fit(credo.Knowledge(structure, kept()), method="qmap"),
        "qmapc": lambda: fit(credo.Knowledge(structure, kept()), method="qmapc"),
        **{name: partial(_by_method, fit, structure, kept, method) for name, method in CONSTRAINED.items()},
        "cpb": lambda: bootstrapped(fit, structure, frame, kept(), seed),
        "irem": lambda: _by_isotonic_em(fit, structure, kept()),
    }
    return {name: found[name] for name in methods_of(condition)}


def methods_of(condition: str) -> list[str]:
    """The methods that can learn under a condition, if what they need is installed.

    Laplace and BDeu are run everywhere, for comparison; other methods that know no statements where there are none.
    """
    chosen, wanted = CONDITIONS[condition], {"credo", *PRIORS}
    if chosen.wrong:
        wanted.update(FOR_DOUBT)
    if condition == "none":
        wanted.update(SAMPLED, {"bnlearn hdir"} & set(installed()))
    elif condition == "none-missing":
        wanted.update(set(OF_INCOMPLETE) & set(installed()))
    else:
        wanted.update(KNOWING)
    return [name for name in METHODS if name in wanted]


def _by_method(
    fit: Callable[..., credo.Fit], structure: Network, kept: Callable[[], list[Statement]], method: Method
) -> credo.Fit:
    with known(method) as name:
        return fit(credo.Knowledge(structure, kept()), method=name)


def _by_isotonic_em(fit: Callable[..., credo.Fit], structure: Network, statements: list[Statement]) -> credo.Fit:
    influences = [each for each in statements if isinstance(each, Influence)]
    with known(isotonic_em(structure, influences)) as name:
        return fit(credo.Knowledge(structure, influences), method=name)


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
