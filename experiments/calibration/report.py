"""Coverage of intervals, and a test of where truths are among draws, as tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from credo.types import Numbers
from experiments.calibration.cases import CASES, FIXED
from experiments.calibration.trials import LEVELS

LEAST_PLACES = 20  # of one number, to be tested
HEAD = """# Do credible intervals hold the truth as often as they say?

Truths are drawn from the prior of `posterior`, given the statements of a case, and data from the truths; values are
missing completely at random. An interval of level L then holds the truth with probability L if the sampler is right.
Under statements about single probabilities the model is modular: the prior does not learn from them, but these truths
do, so that places need not be quite uniform. Intervals that end at 0, at 1 or at the limit of a statement hold a little
more. `python -m experiments.calibration` makes this page, and continues where it was interrupted.

## Probabilities of CPTs

The share of probabilities that their interval held, and its standard error over data sets. Column p is about
simulation-based calibration [Talts and others, 2018]: the share of draws below the truth is uniform over data sets, and
so is its distance from one half. Kolmogorov and Smirnov's test of both, for each probability of a case (their number is
in brackets); p is the smallest result, times the number of tests. Among twenty cases one p below 0.05 is chance. Only
where hidden states have names can their probabilities be compared. Seconds are processor time: the median of a fit with
all comparisons.

"""
ANSWERS = """
## Answers and predictions

The share of 95% intervals of `fit.query` and `fit.predict` that held the truth.

"""
FIXED_TRUTHS = """
## A truth that is not drawn

Nothing promises 95% for one truth; but where the expected counts of EM were taken as if observed, the 95% interval held
this one in 11 of 40 data sets.

"""


def coverage(trials: pl.DataFrame, case: str, level: float) -> tuple[float, float]:
    """The share of probabilities that intervals held, and its standard error: numbers of one data set are dependent."""
    own = trials.filter(case=case)
    return share(own[f"within {level:.0%}"], own["probabilities"])


def share(held: pl.Series, of: pl.Series) -> tuple[float, float]:
    """The share over all data sets, and its standard error from the differences between data sets."""
    counts, totals = held.to_numpy().astype(float), of.to_numpy().astype(float)
    if not totals.sum():
        return float("nan"), float("nan")
    found = counts.sum() / totals.sum()
    residuals = counts - found * totals
    error = np.sqrt((residuals**2).sum()) / totals.sum() if len(totals) > 1 else np.nan
    return float(found), float(error)


def smallest_p(trials: pl.DataFrame, case: str) -> tuple[float, int]:
    """The smallest p of tests that places are uniform, times their number; and how many probabilities were tested."""
    values = places_of(trials.filter(case=case)["places"])
    tested = [own[~np.isnan(own)] for own in values.T if (~np.isnan(own)).sum() >= LEAST_PLACES]
    if not tested:
        return float("nan"), 0
    # Draws that are too high or too low move places; draws that are too narrow or too wide, their distances from 1/2.
    found = [stats.kstest(each, "uniform").pvalue for own in tested for each in (own, np.abs(2.0 * own - 1.0))]
    return min(1.0, len(found) * float(min(found))), len(tested)


def places_of(texts: Iterable[str | None]) -> Numbers:
    """(data sets, probabilities)"""
    rows = [[float(place) for place in (text or "").split()] for text in texts]
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1)


def write_report(trials: pl.DataFrame, folder: Path) -> str:
    """Write the page, and return it."""
    lines = [
        "| case | data sets | 50% | 80% | 95% | p (of) | not mixed | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    answers = ["| case | data sets | answers | predictions |", "|---|---|---|---|"]
    fixed = ["| case | data sets | answers |", "|---|---|---|"]
    for case in CASES:
        own = trials.filter(case=case)
        if own.is_empty():
            continue
        cells = [_text(*coverage(trials, case, level)) for level in LEVELS]
        p, tested = smallest_p(trials, case)
        cells.append(f"{p:.3f} ({tested})" if tested else "–")
        unmixed, seconds = own.filter(status="NOT_MIXED").height, float(np.median(own["seconds"].to_numpy()))
        lines.append(f"| {case} | {own.height} | {' | '.join(cells)} | {unmixed} | {seconds:.1f} |")
        asked = [_text(*share(own[f"{kind} within 95%"], own[kind])) for kind in ("answers", "predictions")]
        answers.append(f"| {case} | {own.height} | {' | '.join(asked)} |")
    own = trials.filter(pl.col("case").is_in(list(CASES)))
    cells = [_text(*share(own[f"within {level:.0%}"], own["probabilities"])) for level in LEVELS]
    lines.append(f"| **all** | {own.height} | {' | '.join(cells)} | | {own.filter(status='NOT_MIXED').height} | |")
    asked = [_text(*share(own[f"{kind} within 95%"], own[kind])) for kind in ("answers", "predictions")]
    answers.append(f"| **all** | {own.height} | {' | '.join(asked)} |")
    for case in FIXED:
        own = trials.filter(case=case)
        if not own.is_empty():
            fixed.append(f"| {case} | {own.height} | {_text(*share(own['answers within 95%'], own['answers']))} |")
    text = HEAD + "\n".join(lines) + "\n" + ANSWERS + "\n".join(answers) + "\n"
    if len(fixed) > 2:
        text += FIXED_TRUTHS + "\n".join(fixed) + "\n"
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text


def _text(share: float, error: float) -> str:
    return "–" if np.isnan(share) else f"{share:.3f} ± {error:.3f}"
