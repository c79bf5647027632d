"""The coverage of intervals as a table, with its standard error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from experiments.calibration.trials import CASES, LEVELS

HEAD = """# Do credible intervals hold the truth as often as they say?

Truths are drawn from the prior of `posterior`, given the statements of a case, and data from the truths; values are
missing completely at random. An interval of level L then holds the truth with probability L if the sampler is right. In
each cell: the share of probabilities that their interval held, and its standard error over data sets.
`python -m experiments.calibration` makes this page.

"""


def coverage(trials: pl.DataFrame, case: str, level: float) -> tuple[float, float]:
    """The share of probabilities that intervals held, and its standard error: numbers of one data set are dependent."""
    own = trials.filter(case=case)
    shares = (own[f"within {level:.0%}"] / own["probabilities"]).to_numpy()
    return float(shares.mean()), float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else np.nan


def write_report(trials: pl.DataFrame, folder: Path) -> str:
    """Write the page, and return it."""
    lines = ["| case | data sets | 50% | 80% | 95% | not mixed | seconds a fit |", "|---|---|---|---|---|---|---|"]
    for case in CASES:
        own = trials.filter(case=case)
        if own.is_empty():
            continue
        cells = ["{:.3f} ± {:.3f}".format(*coverage(trials, case, level)) for level in LEVELS]
        unmixed, seconds = own.filter(status="NOT_MIXED").height, float(np.median(own["seconds"].to_numpy()))
        lines.append(f"| {case} | {own.height} | {' | '.join(cells)} | {unmixed} | {seconds:.2f} |")
    text = HEAD + "\n".join(lines) + "\n"
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text
