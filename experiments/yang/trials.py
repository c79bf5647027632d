"""One repeat of cross-validation, and one draw of a learning curve."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from experiments.running import Line
from experiments.yang.domains import DOMAINS
from experiments.yang.learners import Learner, learners
from experiments.yang.rows import Rows, read_rows

FOLDS = 10
FOLD_SEED, CURVE_SEED = 500, 900
SIZES = (10, 20, 40, 80, 160)
HELD_OUT = 0.3
# Statements make chances equal, and solvers leave them equal but for rounding: an order among these is none.
DECIMALS = 5


def run_folds(job: tuple[object, ...]) -> list[Line]:
    """All learners of a group on the ten folds of one repeat."""
    name, group, repeat = str(job[0]), str(job[1]), int(str(job[2]))
    domain = DOMAINS[name]
    lines = folds_of(read_rows(domain), list(learners(domain, group)), repeat)
    return [{"domain": name, "group": group, "repeat": repeat, **line} for line in lines]


def run_curve(job: tuple[object, ...]) -> list[Line]:
    """All learners of a group on growing parts of one draw."""
    name, group, draw = str(job[0]), str(job[1]), int(str(job[2]))
    domain = DOMAINS[name]
    lines = curve_of(read_rows(domain), list(learners(domain, group)), draw)
    return [{"domain": name, "group": group, "draw": draw, **line} for line in lines]


def folds_of(rows: Rows, compared: list[Learner], repeat: int) -> list[Line]:
    """A line for each fold and learner; folds are the same for all."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=FOLD_SEED + repeat)
    lines = []
    for fold, (training, test) in enumerate(splitter.split(rows.features, rows.target)):
        for learner in compared:
            lines.append({"fold": fold, **_measured(learner, rows.take(training), rows.take(test))})
    return lines


def curve_of(rows: Rows, compared: list[Learner], draw: int) -> list[Line]:
    """A line for each size and learner; the smaller parts lie in the larger ones, the test rows are the same."""
    seed = CURVE_SEED + draw
    pool, test = train_test_split(np.arange(len(rows)), test_size=HELD_OUT, stratify=rows.target, random_state=seed)
    ordered = _alternating(pool, rows.target, seed)
    lines = []
    for size in (*(size for size in SIZES if size < len(ordered)), len(ordered)):
        for learner in compared:
            measured = _measured(learner, rows.take(ordered[:size]), rows.take(test))
            lines.append({"rows": size, "all": size == len(ordered), **measured})
    return lines


def _alternating(pool: np.ndarray, target: np.ndarray, seed: int) -> np.ndarray:
    """Rows in such an order that every beginning of it has both classes in about their shares."""
    places = np.random.default_rng(seed).permutation(pool)
    rank = np.empty(len(places))
    for label in (0, 1):
        own = np.flatnonzero(target[places] == label)
        rank[own] = (np.arange(len(own)) + 0.5) / len(own)
    return places[np.argsort(rank, kind="stable")]


def _measured(learner: Learner, training: Rows, test: Rows) -> Line:
    start = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        chances = learner.probabilities(training, test)
    seconds = time.process_time() - start
    auc = round(float(roc_auc_score(test.target, chances.round(DECIMALS))), 6)
    return {"learner": learner.kind, "auc": auc, "seconds": round(seconds, 4)}
