"""`python -m experiments.classifier.coverage`: do the intervals of the classifier hold the true probability?

In tables one never knows; here rows are drawn from a known P(y = 1 | x). Each case is a kind of truth, from the model
of the classifier itself to truths that it cannot express. Beside it, what people would do instead: logistic regression
with quantiles over bootstrap samples.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credo.sklearn import KnowledgeClassifier
from credo.sklearn.additive import CENTRES, INTERCEPT, SPREADS
from experiments.running import Job, Record, add_options, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
LEVELS = (0.5, 0.8, 0.95)
SIZES = (20, 80, 320)
FEATURES, TEST, BOOTSTRAPS = 5, 100, 60
TRUST = 0.9
BINS = np.linspace(0, 1, 11)
KEY = ("case", "rows", "trial")

Floats = NDArray[np.float64]
Generator = np.random.Generator


@dataclass(frozen=True, slots=True)
class Truth:
    """P(y = 1 | x) as a function of rows, and the sign that a statement gives each feature; 0 for none."""

    probability: Callable[[Floats], Floats]
    signs: tuple[int, ...]
    binary: bool = False  # whether features are 0 and 1


# Truths ---------------------------------------------------------------------------------------------------------------


def from_the_prior(rng: Generator) -> Truth:
    """Lines and steps from the classifier's prior, with steps elsewhere, and no distribution that deviates."""
    shared = np.exp(CENTRES[0] + SPREADS[0] * rng.normal())
    widths = shared * np.exp(CENTRES[1] + SPREADS[1] * rng.normal(size=FEATURES))
    signs = rng.choice([-1, 1], FEATURES)
    points = np.linspace(-1.2, 1.2, 5)
    effects = widths[:, None] * rng.normal(size=(FEATURES, 1 + len(points)))
    right = rng.random(FEATURES) < TRUST
    effects = np.where(right[:, None], signs[:, None] * np.abs(effects), effects)
    lines, steps = effects[:, 0], effects[:, 1:] / len(points)
    intercept = rng.normal(0, INTERCEPT * shared / 2)

    def probability(x: Floats) -> Floats:
        stepped = ((x[:, :, None] >= points) * steps).sum(axis=(1, 2))
        return np.asarray(expit(intercept + x @ lines / 2 + stepped - steps.sum() / 2))

    return Truth(probability, tuple(signs.tolist()))


def linear(rng: Generator) -> Truth:
    """A logistic regression whose directions are stated."""
    slopes, intercept = rng.normal(0, 1, FEATURES), rng.normal(0, 0.5)
    return Truth(lambda x: np.asarray(expit(intercept + x @ slopes)), tuple(np.sign(slopes).astype(int).tolist()))


def linear_unstated(rng: Generator) -> Truth:
    """The same without statements."""
    found = linear(rng)
    return Truth(found.probability, (0,) * FEATURES)


def wrongly_stated(rng: Generator) -> Truth:
    """The same with the wrong direction stated for the first feature."""
    found = linear(rng)
    return Truth(found.probability, (-found.signs[0], *found.signs[1:]))


def thresholds(rng: Generator) -> Truth:
    """Each feature matters only where it crosses a threshold."""
    points, heights = rng.normal(0, 0.7, FEATURES), rng.normal(0, 1.2, FEATURES)
    return Truth(
        lambda x: np.asarray(expit((heights * ((x >= points) - 0.5)).sum(axis=1))),
        tuple(np.sign(heights).astype(int).tolist()),
    )


def together(rng: Generator) -> Truth:
    """Not additive: two pairs of features matter only together."""
    slopes, intercept = rng.uniform(1, 3, 2), rng.normal(-1, 0.3)

    def probability(x: Floats) -> Floats:
        both = np.stack([np.minimum(x[:, 0], x[:, 1]), np.minimum(x[:, 2], x[:, 3])], axis=1)
        return np.asarray(expit(intercept + (both + 0.5) @ slopes))

    return Truth(probability, (1, 1, 1, 1, 0))


def exclusive(rng: Generator) -> Truth:
    """Not additive at all: the sign of a product, about which no direction can be stated."""
    slope = rng.uniform(1, 2)
    return Truth(lambda x: np.asarray(expit(slope * np.sign(x[:, 0] * x[:, 1]) + 0.5 * x[:, 2])), (0,) * FEATURES)


def noisy_or(rng: Generator) -> Truth:
    """Binary features that are causes, so that rows share configurations."""
    strengths, leak = rng.uniform(0.1, 0.7, FEATURES), rng.uniform(0.02, 0.2)
    return Truth(
        lambda x: np.asarray(1 - (1 - leak) * np.prod(1 - strengths * x, axis=1)), (1,) * FEATURES, binary=True
    )


def any_cpt(rng: Generator) -> Truth:
    """Binary features and any CPT: nothing is additive, nothing is stated."""
    cells = rng.beta(0.7, 0.7, 2**FEATURES)
    weights = 2 ** np.arange(FEATURES)
    return Truth(lambda x: cells[(x @ weights).astype(int)], (0,) * FEATURES, binary=True)


CASES: dict[str, tuple[str, Callable[[Generator], Truth]]] = {
    "prior": ("curves as in the classifier's prior, nothing together", from_the_prior),
    "linear": ("logistic regression, directions stated", linear),
    "linear, unstated": ("the same, nothing stated", linear_unstated),
    "linear, one wrong": ("the same, one of five directions wrong", wrongly_stated),
    "thresholds": ("a step for each feature, directions stated", thresholds),
    "together": ("not additive: pairs that matter only together, directions stated", together),
    "exclusive": ("not additive: the sign of a product", exclusive),
    "noisy-or": ("binary features, a noisy-or", noisy_or),
    "any CPT": ("binary features, not additive: every configuration has a probability of its own", any_cpt),
}


# Trials ---------------------------------------------------------------------------------------------------------------


def run_trial(job: Job) -> list[Record]:
    """One truth, one table, both learners."""
    case, rows, trial = job
    rng = np.random.default_rng([list(CASES).index(case), rows, trial])
    truth = CASES[case][1](rng)
    x, new = (_features(truth, count, rng) for count in (rows, TEST))
    y = _labels(truth.probability(x), rng)
    true = truth.probability(new)
    records: list[Record] = []
    for learner, learn in LEARNERS.items():
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mean, ends = learn(truth, x, y, new, trial)
        seconds = time.process_time() - started
        held = {f"within {level:.0%}": int(((lo <= true) & (true <= hi)).sum()) for level, (lo, hi) in ends.items()}
        width = float(np.mean(ends[LEVELS[-1]][1] - ends[LEVELS[-1]][0]))
        places = np.digitize(mean, BINS[1:-1])
        sums = {f"{name} {i}": round(float(v[places == i].sum()), 5) for i in range(10) for name, v in
                (("predicted", mean), ("true", true))}  # fmt: skip
        records.append(
            {
                **dict(zip(KEY, job, strict=True)),
                "learner": learner,
                "points": TEST,
                **held,
                "width": round(width, 4),
                "error": round(float(np.abs(mean - true).mean()), 5),
                **sums,
                "seconds": round(seconds, 3),
            }
        )
    return records


Ends = dict[float, tuple[Floats, Floats]]


def learn_credo(truth: Truth, x: Floats, y: NDArray[np.int64], new: Floats, seed: int) -> tuple[Floats, Ends]:
    """The default of the classifier."""
    words = {1: "raises", -1: "lowers"}
    text = "\n".join(f"x{j} {words[sign]} y" for j, sign in enumerate(truth.signs) if sign)
    model = KnowledgeClassifier(text, target="y", random_state=seed).fit(_frame(truth, x), y)
    ends = {}
    for level in LEVELS:
        low, high = model.predict_interval(_frame(truth, new), level)
        ends[level] = (low[:, 1], high[:, 1])
    return model.predict_proba(_frame(truth, new))[:, 1], ends


def learn_bootstrap(truth: Truth, x: Floats, y: NDArray[np.int64], new: Floats, seed: int) -> tuple[Floats, Ends]:
    """Logistic regression; its intervals are quantiles over samples of the rows."""
    rng = np.random.default_rng([seed, 9])
    found = []
    while len(found) < BOOTSTRAPS:
        rows = rng.integers(len(y), size=len(y))
        if 0 < y[rows].sum() < len(y):
            found.append(_logistic().fit(x[rows], y[rows]).predict_proba(new)[:, 1])
    draws = np.stack(found)
    ends = {level: tuple(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)) for level in LEVELS}
    return _logistic().fit(x, y).predict_proba(new)[:, 1], ends


LEARNERS = {"credo": learn_credo, "logistic regression, bootstrap": learn_bootstrap}


def _logistic():
    return make_pipeline(StandardScaler(), LogisticRegression())


def _features(truth: Truth, count: int, rng: Generator) -> Floats:
    """Normal numbers that correlate a little, or zeros and ones."""
    common = rng.normal(size=(count, 1))
    values = 0.5 * common + np.sqrt(0.75) * rng.normal(size=(count, FEATURES))
    return (values > 0).astype(np.float64) if truth.binary else values


def _labels(probabilities: Floats, rng: Generator) -> NDArray[np.int64]:
    """Classes, both of which occur."""
    while True:
        found = (rng.random(len(probabilities)) < probabilities).astype(np.int64)
        if 0 < found.sum() < len(found):
            return found


def _frame(truth: Truth, x: Floats) -> pd.DataFrame:
    return pd.DataFrame(x.astype(int) if truth.binary else x, columns=[f"x{j}" for j in range(x.shape[1])])


# The page -------------------------------------------------------------------------------------------------------------


def main() -> None:
    """Run the remaining jobs and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--cases", nargs="+", default=tuple(CASES), choices=tuple(CASES))
    add_options(parser, RESULTS)
    chosen = parser.parse_args()
    jobs = [(case, rows, trial) for trial in range(chosen.trials) for rows in SIZES for case in chosen.cases]
    file = chosen.out / "coverage.csv"
    found = run_jobs(run_trial, jobs, KEY, file, processes=chosen.processes, minutes=chosen.minutes)
    print(write_coverage(found, chosen.out))


def write_coverage(results: pl.DataFrame, folder: Path) -> str:
    """Write coverage.md, and return the text."""
    trials = results.group_by("case", "rows", "learner").len()["len"]
    heads = [f"{level:.0%}" for level in LEVELS]
    lines = [
        "# Do the intervals of the classifier hold the true probability?\n",
        "`python -m experiments.classifier.coverage`: rows are drawn from a known P(y = 1 | x) of five features, "
        f"{trials.min()} to {trials.max()} tables for each case and size (seeds: case, rows, trial), {TEST} new rows "
        "each. Columns 50%, 80%, 95%: the share of true probabilities inside `predict_interval` of that level, ± "
        "standard error over tables. `width`: of the 95% interval. `error`: mean |predicted − true|. `calibration "
        "error`: in ten ranges of the predicted probability, the mean difference between predicted and true. Beside "
        f"it, logistic regression, its intervals from {BOOTSTRAPS} bootstrap samples. An interval covers as often as "
        "it says only on average over truths from the prior (nearly the first case); for one kind of truth nothing is "
        "promised, least where the truth is not in the model.\n",
    ]
    for learner in LEARNERS:
        own = results.filter(pl.col("learner") == learner)
        lines += [
            f"## {learner}\n",
            f"| truth | rows | {' | '.join(heads)} | width | error | calibration error |",
            "|---|---|" + "---|" * (len(heads) + 3),
        ]
        for case, (words, _) in CASES.items():
            for rows in SIZES:
                cell = own.filter(pl.col("case") == case, pl.col("rows") == rows)
                if len(cell):
                    lines.append(_line(words, str(rows), cell))
        lines.append(_line("**all**", "", own) + "\n")
    text = "\n".join(lines)
    (folder / "coverage.md").write_text(text, encoding="utf-8")
    return text


def _line(words: str, rows: str, cell: pl.DataFrame) -> str:
    shares = []
    for level in LEVELS:
        each = cell[f"within {level:.0%}"] / cell["points"]
        shares.append(f"{each.mean():.3f} ± {(each.std() or 0.0) / len(each) ** 0.5:.3f}")
    figures = f"{cell['width'].mean():.2f} | {cell['error'].mean():.3f} | {calibration_error(cell):.3f}"
    return f"| {words} | {rows} | {' | '.join(shares)} | {figures} |"


def calibration_error(cell: pl.DataFrame) -> float:
    """Mean over new rows of |mean predicted − mean true| in their range of the predicted probability."""
    gaps = sum(abs(cell[f"predicted {i}"].sum() - cell[f"true {i}"].sum()) for i in range(10))
    return float(gaps / cell["points"].sum())


if __name__ == "__main__":
    main()
