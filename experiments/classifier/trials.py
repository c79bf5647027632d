"""One learner on one split of one table: training sets of growing size, one test set, four measures."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from experiments.classifier.learners import LEARNERS
from experiments.classifier.package_tables import PACKAGE_TABLES, read_package_table
from experiments.classifier.tables import TABLES
from experiments.running import Record
from experiments.yang.domain_data import Rows, read_rows
from experiments.yang.trials import DECIMALS, HELD_OUT, alternating

SIZES = (20, 40, 80, 160)
ALL_TABLES = {**TABLES, **PACKAGE_TABLES}
ALL = "all"
SEED = 700
CLIP = 0.001  # no learner is punished for a probability nearer to 0 or 1 than this
GROUPS = 10  # of the calibration error


def run_trial(job: tuple[object, ...]) -> list[Record]:
    """A record for each size."""
    split, name, learner = int(str(job[0])), str(job[1]), str(job[2])
    table = ALL_TABLES[name]
    rows = read_package_table(table) if name in PACKAGE_TABLES else read_rows(table)
    records = trial(rows, lambda count: LEARNERS[learner](table, count), split)
    return [{"split": split, "table": name, "learner": learner, **record} for record in records]


def trial(rows: Rows, make: Callable[[int], Any], split: int) -> list[Record]:
    """Learn from the first rows of the training part, more and more of them; every learner gets the same rows."""
    seed = SEED + split
    pool, test = train_test_split(np.arange(len(rows)), test_size=HELD_OUT, stratify=rows.target, random_state=seed)
    ordered, held_out = alternating(pool, rows.target, seed), rows.take(test)
    records: list[Record] = []
    for size in (*(str(size) for size in SIZES if size < len(ordered)), ALL):
        training = rows.take(ordered if size == ALL else ordered[: int(size)])
        started = time.process_time()
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore")
            model = make(len(training)).fit(training.raw, training.target)
            chances = model.predict_proba(held_out.raw)[:, list(model.classes_).index(1)]
        seconds = time.process_time() - started
        records.append(
            {"size": size, "rows": len(training), **measures(held_out.target, chances), "seconds": round(seconds, 3)}
        )
    return records


def measures(target: NDArray[Any], chances: NDArray[Any]) -> Record:
    """AUC, mean log-loss in nats, Brier score, and calibration error, which is weighted by the rows of each group."""
    clipped = np.clip(np.asarray(chances, dtype=np.float64), CLIP, 1.0 - CLIP)
    loss = -np.log(np.where(target == 1, clipped, 1.0 - clipped)).mean()
    groups = np.array_split(np.argsort(clipped, kind="stable"), GROUPS)
    error = sum(abs(clipped[each].sum() - target[each].sum()) for each in groups) / len(target)
    found = {
        "auc": roc_auc_score(target, np.asarray(chances, dtype=np.float64).round(DECIMALS)),
        "log_loss": loss,
        "brier": np.mean((clipped - target) ** 2),
        "calibration": error,
    }
    return {name: round(float(value), 6) for name, value in found.items()}
