"""One draw of faces, learned from with labels, from measurements only, and with knowledge of all kinds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import credo
from credo.model.network import Network
from credo.options import EMOptions
from experiments.liao.faces import PRESENT, UNITS, detector, faces, trusting
from experiments.liao.knowledge import equally_sure, knowingly_unsure, sayings

TRAINING = 0.8  # of the rows
WRONG = (0.2, 0.4)  # shares of the statements
WEIGHT_A_ROW = 10.0  # W of cem and of the exact route, for each training row
DATA_SEED = 700


@dataclass(frozen=True, slots=True)
class Learner:
    """A column of the tables: what it is given, and how it learns."""

    name: str
    method: str
    labelled: bool = False  # whether it sees the units
    knowledge: str = ""
    trusts_detectors: bool = False  # whether it begins where detectors are mostly right
    options: dict[str, Any] = field(default_factory=dict)


def learners(truth: Network, rows: int, starts: int, seed: int) -> Iterator[Learner]:
    """All that are compared."""
    said = sayings(truth, seed)
    priced = {"soft_weight": WEIGHT_A_ROW * rows, "starts": starts, "prior": 0.0}
    yield Learner("MLE", "ml", labelled=True)
    yield Learner("EM", "ml", options={"starts": starts})
    yield Learner("EM, detectors trusted", "ml", trusts_detectors=True, options={"starts": 1})
    true = equally_sure(said, 0.0, seed)
    yield Learner("CEM", "cem", knowledge=true, options=priced)
    yield Learner("exact", "cmap", knowledge=true, options=priced)
    yield Learner("CEM, detectors trusted", "cem", False, true, trusts_detectors=True, options=priced | {"starts": 1})
    for share in WRONG:
        percent = f"{100 * share:.0f}% wrong"
        yield Learner(f"CEM, {percent}, equally sure", "cem", False, equally_sure(said, share, seed), options=priced)
        yield Learner(f"CEM, {percent}, less sure", "cem", False, knowingly_unsure(said, share, seed), options=priced)


def run_draw(job: tuple[int, int, int, int]) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """One line for each learner, and one for each unit of each learner."""
    draw, rows, starts, iterations = job
    truth = faces()
    table = truth.sample(rows, seed=DATA_SEED + draw)
    training, test = table[: int(TRAINING * rows)], table[int(TRAINING * rows) :]
    _warm_up(truth)
    fits, units = [], []
    for learner in learners(truth, len(training), starts, draw):
        fit, seconds = learn(learner, truth, training, draw, iterations)
        rates = unit_rates(fit.network, test)
        fits.append(
            {
                "draw": draw,
                "learner": learner.name,
                "positive_rate": float(np.mean([positive for positive, _ in rates.values()])),
                "false_alarm": float(np.mean([alarm for _, alarm in rates.values()])),
                "error": table_error(truth, fit.network),
                "objective": fit.history[-1],
                "seconds": seconds,
                "status": fit.status.name.lower(),
            }
        )
        units += [
            {"draw": draw, "learner": learner.name, "unit": unit, "positive_rate": positive, "false_alarm": alarm}
            for unit, (positive, alarm) in rates.items()
        ]
    return fits, units


def learn(
    learner: Learner, truth: Network, training: pl.DataFrame, seed: int, iterations: int
) -> tuple[credo.Fit, float]:
    """The fit, and how long it took, the reading of the knowledge not included."""
    structure = trusting(truth) if learner.trusts_detectors else truth.without_cpts()
    seen = training if learner.labelled else training.select(map(detector, UNITS))
    known = credo.Knowledge(structure, learner.knowledge)
    start = time.perf_counter()
    fit = credo.fit(
        structure,
        seen,
        known,
        method=learner.method,
        seed=seed,
        **learner.options,
        em=EMOptions(max_iterations=iterations),
    )
    return fit, time.perf_counter() - start


def unit_rates(network: Network, test: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """Of each unit: how often it is recognised where it is present, and where it is absent.

    A unit is recognised where it is more probable than not, given all measurements of the row.
    """
    measured = test.select(map(detector, UNITS))
    found = {}
    for unit in UNITS:
        recognised = network.predict(measured, unit)[f"{unit}={PRESENT}"].to_numpy() > 0.5
        present = (test[unit] == PRESENT).to_numpy()
        found[unit] = float(recognised[present].mean()), float(recognised[~present].mean())
    return found


def table_error(truth: Network, learned: Network) -> float:
    """The mean distance of a number of a table from the truth."""
    return float(
        np.mean(np.concatenate([np.abs(truth.cpt_array(n) - learned.cpt_array(n)).ravel() for n in truth.names]))
    )


def _warm_up(truth: Network) -> None:
    """Compiled code is loaded before anything is timed."""
    few = truth.sample(20, seed=1).select(map(detector, UNITS))
    text = "P(AU2=1 | AU27=1) >= 0.1 with confidence 0.9\nAU6 raises AU12 with confidence 0.9"
    for method in ("ml", "cem", "cmap"):
        credo.fit(
            truth.without_cpts(), few, text, method=method, soft_weight=1.0, em=EMOptions(starts=1, max_iterations=5)
        )
