"""One repeat of cross-validation, and one draw of a learning curve."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits

from experiments.running import Record
from experiments.yang.domain_data import Rows, read_rows
from experiments.yang.domains import DOMAINS
from experiments.yang.learners import Learner, learners

FOLDS = 10
FOLD_SEED, CURVE_SEED = 500, 900
SIZES = (10, 20, 40, 80, 160)
HELD_OUT = 0.3
# Statements can make probabilities equal; rounding removes the differences that solvers leave between them.
DECIMALS = 5


def run_folds(job: tuple[object, ...]) -> list[Record]:
    """All learners of a group on the ten folds of one repeat."""
    name, group, repeat = str(job[0]), str(job[1]), int(str(job[2]))
    domain = DOMAINS[name]
    records = folds_of(read_rows(domain), list(learners(domain, group)), repeat)
    return [{"domain": name, "group": group, "repeat": repeat, **record} for record in records]


def run_curve(job: tuple[object, ...]) -> list[Record]:
    """All learners of a group on training sets of growing size from one draw."""
    name, group, draw = str(job[0]), str(job[1]), int(str(job[2]))
    domain = DOMAINS[name]
    records = curve_of(read_rows(domain), list(learners(domain, group)), draw)
    return [{"domain": name, "group": group, "draw": draw, **record} for record in records]


def folds_of(rows: Rows, compared: list[Learner], repeat: int) -> list[Record]:
    """A record for each fold and learner; all learners use the same folds."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=FOLD_SEED + repeat)
    records = []
    for fold, (training, test) in enumerate(splitter.split(rows.features, rows.target)):
        for learner in compared:
            records.append({"fold": fold, **_measured(learner, rows.take(training), rows.take(test))})
    return records


def curve_of(rows: Rows, compared: list[Learner], draw: int) -> list[Record]:
    """A record for each size and learner; smaller training sets are part of larger ones; one test set."""
    seed = CURVE_SEED + draw
    pool, test = train_test_split(np.arange(len(rows)), test_size=HELD_OUT, stratify=rows.target, random_state=seed)
    ordered = alternating(pool, rows.target, seed)
    records = []
    for size in (*(size for size in SIZES if size < len(ordered)), len(ordered)):
        for learner in compared:
            measured = _measured(learner, rows.take(ordered[:size]), rows.take(test))
            records.append({"rows": size, "all": size == len(ordered), **measured})
    return records


def alternating(pool: np.ndarray, target: np.ndarray, seed: int) -> np.ndarray:
    """The rows in an order in which every initial part has about the same share of positives."""
    places = np.random.default_rng(seed).permutation(pool)
    rank = np.empty(len(places))
    for label in (0, 1):
        members = np.flatnonzero(target[places] == label)
        rank[members] = (np.arange(len(members)) + 0.5) / len(members)
    return places[np.argsort(rank, kind="stable")]


def _measured(learner: Learner, training: Rows, test: Rows) -> Record:
    start = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        probabilities = learner.probabilities(training, test)
    seconds = time.process_time() - start
    auc = round(float(roc_auc_score(test.target, probabilities.round(DECIMALS))), 6)
    return {"learner": learner.kind, "auc": auc, "seconds": round(seconds, 4)}
