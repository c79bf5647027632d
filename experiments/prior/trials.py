"""One draw of data and statements of a network, from which a method learns."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

import credo
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.estimation.papers.interpolation import allowed_means, estimate_qmapc
from credo.estimation.prepare import FOLDS
from credo.estimation.problem import Data, Fold, Model, Problem, Settings
from credo.io.tables import stream_table
from credo.posterior.sampler import posterior
from credo.statistics.counts import count_folds, layout_for_counts, less, merge_all
from credo.statistics.prior import as_prior
from credo.testing import true_statements
from credo.types import Numbers
from experiments.guo.measure import mean_divergence
from experiments.prior.rivals import backing_off, hierarchical
from experiments.running import SHARED, Job, Record

# The constants of the prior were chosen on these, with statement seeds from 2000 and data seeds from 90000, and on
# random networks; the others were not looked at before the table was made.
DEVELOPMENT = ("asia", "alarm", "win95pts", "andes")
NETWORKS = (
    *("cancer", "earthquake", "survey", "asia", "sachs", "child", "alarm", "win95pts", "hailfinder", "andes"),
    *("pigs", "link"),
)
ROWS = (50, 200)
GROWING = (1_000, 10_000, 100_000)  # with which small networks show how estimates converge, without statements
SHARES = (0, 25, 100)  # percent of the statements
STATEMENTS = 30  # for each variable, at most
STATEMENT_SEED, DATA_SEED = 300, 7000
KEY = ("network", "rows", "share", "draw", "method")  # a method can be run again without the others
SMALL, LARGE = NETWORKS[:6], NETWORKS[8:]


def draws_of(name: str, share: int) -> int:
    """How many draws a cell has: more where they are short."""
    if name in SMALL:
        return 3 if share else 10
    return 1 if name in LARGE or share else 3


def methods_of(rows: int, share: int) -> tuple[str, ...]:
    """What learns in a cell; rivals that know no statements where there are none, frequencies where rows abound."""
    if rows in GROWING:
        return ("ml", "map", "posterior")
    return ("uniform", "map", "qmapc", "posterior", *(() if share else ("hierarchical", "backing_off")))


def run_trial(job: Job) -> list[Record]:
    """The mean divergence of one method in one cell and draw."""
    name, rows, share, draw, method = job
    truth = credo.read_network(SHARED / "networks" / f"{name}.bif")
    stated = lower(credo.Knowledge(truth, true_statements(truth, STATEMENTS, seed=STATEMENT_SEED + draw)))
    kept = stated.linear.statements % STATEMENTS < STATEMENTS * share / 100
    constraints = replace(stated, linear=stated.linear.take(kept))
    blocks = blocks_of(constraints)
    frame = truth.sample(rows, seed=DATA_SEED + draw)
    held_out = count_folds(layout_for_counts(truth), stream_table(truth, frame), FOLDS, draw)
    counts = merge_all(held_out)
    tables = {each: counts.of(each) for each in truth.names}
    folds = tuple(Fold(less(counts, fold), fold) for fold in held_out)
    problem = Problem(
        Model(truth, truth.names, as_prior(0.0, truth), constraints, blocks), Data(counts, folds), Settings(seed=draw)
    )
    methods = {
        "uniform": lambda: {each: np.full(t.shape, 1.0 / t.shape[1]) for each, t in tables.items()},
        "ml": lambda: {each: _frequencies(t) for each, t in tables.items()},
        "map": lambda: {each: (t + 1.0) / (t + 1.0).sum(axis=1, keepdims=True) for each, t in tables.items()},
        "qmapc": lambda: estimate_qmapc(problem, alpha=allowed_means(problem)).cpts,
        "posterior": lambda: (
            posterior(
                truth, truth.names, problem.vector(), constraints, blocks, options=credo.PosteriorOptions(), seed=draw
            ).means
        ),
        "hierarchical": lambda: hierarchical(truth, tables, draw),
        "backing_off": lambda: backing_off(truth, tables, draw),
    }
    started = time.process_time()
    cpts = methods[method]()
    seconds = time.process_time() - started
    learned = truth.with_cpts({each: np.reshape(cpt, truth.shape(each)) for each, cpt in cpts.items()})
    return [
        {
            **dict(zip(KEY, job, strict=True)),
            "kl": round(mean_divergence(truth, learned), 6),
            "seconds": round(seconds, 1),
            "configurations": sum(map(len, tables.values())),
            "seen": sum(int((t.sum(axis=1) > 0.0).sum()) for t in tables.values()),
        }
    ]


def _frequencies(table: Numbers) -> Numbers:
    """The most likely distributions; uniform ones where there are no rows."""
    rows = table.sum(axis=1, keepdims=True)
    return np.asarray(np.where(rows > 0.0, table / np.maximum(rows, 1.0), 1.0 / table.shape[1]))
