"""One draw of simulated faces: learning with labels, from measurements only, and with several kinds of knowledge."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

import credo
from credo.model.network import Network
from experiments.liao.faces import PRESENT, UNITS, detector, faces, reliable_detectors
from experiments.liao.knowledge import calibrated_confidence, equal_confidence, expert_statements

TRAINING = 0.8  # of the rows
WRONG = (0.2, 0.4)  # shares of wrong statements
WEIGHT_PER_ROW = 10.0  # W of cem and of the exact M-step, for each training row
DATA_SEED = 700


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner: what it is given, and how it learns."""

    name: str
    method: str
    labelled: bool = False  # whether the units are observed
    knowledge: str = ""
    trusts_detectors: bool = False  # whether EM starts from detectors that are mostly right
    starts: int = 1
    options: dict[str, Any] = field(default_factory=dict)


def learners(truth: Network, rows: int, starts: int, seed: int) -> Iterator[Learner]:
    """All learners that are compared."""
    statements = expert_statements(truth, seed)
    weighted = {"optimiser": credo.OptimiserOptions(soft_weight=WEIGHT_PER_ROW * rows), "prior": 0.0}
    yield Learner("MLE", "ml", labelled=True)
    yield Learner("EM", "ml", starts=starts)
    yield Learner("EM, detectors trusted", "ml", trusts_detectors=True)
    true = equal_confidence(statements, 0.0, seed)
    yield Learner("CEM", "cem", knowledge=true, starts=starts, options=weighted)
    yield Learner("exact", "cmap", knowledge=true, starts=starts, options=weighted)
    yield Learner("CEM, detectors trusted", "cem", knowledge=true, trusts_detectors=True, options=weighted)
    for share in WRONG:
        percent = f"{100 * share:.0f}% wrong"
        for expert, text in (
            ("equally sure", equal_confidence(statements, share, seed)),
            ("less sure", calibrated_confidence(statements, share, seed)),
        ):
            yield Learner(f"CEM, {percent}, {expert}", "cem", knowledge=text, starts=starts, options=weighted)


def run_draw(job: tuple[int, int, int, int]) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """One record for each learner, and one for each unit of each learner."""
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
                "error": mean_absolute_error(truth, fit.network),
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
    """The fit, and the seconds it took without reading the knowledge."""
    structure = reliable_detectors(truth) if learner.trusts_detectors else truth.without_cpts()
    observed = training if learner.labelled else training.select(map(detector, UNITS))
    knowledge = credo.Knowledge(structure, learner.knowledge)
    start = time.process_time()
    fit = credo.fit(
        structure,
        observed,
        knowledge,
        method=learner.method,
        seed=seed,
        **learner.options,
        em=credo.EMOptions(starts=learner.starts, max_iterations=iterations),
    )
    return fit, time.process_time() - start


def unit_rates(network: Network, test: pl.DataFrame) -> dict[str, tuple[float, float]]:
    """The positive rate and the false alarm rate of each unit.

    A unit is recognised if it is more probable than not, given all measurements of the row.
    """
    measured = test.select(map(detector, UNITS))
    found = {}
    for unit in UNITS:
        recognised = network.predict(measured, unit)[f"{unit}={PRESENT}"].to_numpy() > 0.5
        present = (test[unit] == PRESENT).to_numpy()
        found[unit] = float(recognised[present].mean()), float(recognised[~present].mean())
    return found


def mean_absolute_error(truth: Network, learned: Network) -> float:
    """The mean absolute error of the parameters."""
    return float(
        np.mean(np.concatenate([np.abs(truth.cpt_array(n) - learned.cpt_array(n)).ravel() for n in truth.names]))
    )


def _warm_up(truth: Network) -> None:
    """Load compiled code before anything is timed."""
    few = truth.sample(20, seed=1).select(map(detector, UNITS))
    text = "P(AU2=1 | AU27=1) >= 0.1 with confidence 0.9\nAU6 raises AU12 with confidence 0.9"
    quick = credo.EMOptions(starts=1, max_iterations=5)
    for method in ("ml", "cem", "cmap"):
        credo.fit(
            truth.without_cpts(), few, text, method=method, optimiser=credo.OptimiserOptions(soft_weight=1.0), em=quick
        )
