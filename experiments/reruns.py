"""`python -m experiments.reruns`: how far results of the present version are from those that were published before.

Some experiments take hours. A part of one that is run again, with its results in a folder `rerun` beside the published
ones, has the seeds of the published run: its rows are compared with the same rows there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

HERE = Path(__file__).parent
PAGE = HERE / "reruns.md"
EQUAL = 1e-6


@dataclass(frozen=True, slots=True)
class Results:
    """A file of results: the columns that say which trial a row is, and those that say what came out."""

    file: str
    trial: tuple[str, ...]
    outcomes: tuple[str, ...]


COMPARED = (
    Results("calibration/results/trials.csv", ("case", "trial"), ("probabilities", "within 50%", "within 95%")),
)


def comparison(results: Results, published: pl.DataFrame, rerun: pl.DataFrame) -> list[str]:
    """A line of a table for each outcome: means before and now, and how many rows agree."""
    both = rerun.join(published, on=list(results.trial), suffix=" published", validate="1:1")
    lines = []
    for outcome in results.outcomes:
        before, now = both[f"{outcome} published"], both[outcome]
        differences = (now - before).abs()
        lines.append(
            f"| {results.file.replace('/results', '')} | {outcome} | {len(both):,} of {len(published):,} | "
            f"{before.mean():.4f} | {now.mean():.4f} | {(differences <= EQUAL).sum():,} | {differences.median():.1e} |"
        )
    return lines


def page() -> str:
    """All comparisons for which there is a rerun, as a page."""
    lines = [
        "# Results run again",
        "",
        "All experiments of the papers were run again as a whole with the present version. Calibration takes hours, "
        "and was run again in part after the last change of the sampler, with the same seeds; `python -m "
        "experiments.reruns` compares it row by row with what is published: how many probabilities a data set has, "
        "and how many of them their intervals held.",
        "",
        f"| results | outcome | rows run again | mean before | mean now | equal to {EQUAL:g} | median difference |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for results in COMPARED:
        path = HERE / results.file
        again = path.parent / "rerun" / path.name
        if again.exists():
            frames = (pl.read_csv(each, infer_schema_length=None) for each in (path, again))
            lines += comparison(results, *frames)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Written: {PAGE.relative_to(Path.cwd()) if PAGE.is_relative_to(Path.cwd()) else PAGE.name}")
