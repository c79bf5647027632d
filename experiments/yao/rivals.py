"""`python -m experiments.yao rivals`: clusters with growing numbers of ties, beside what other programs find.

The tables and ties are those of section 7.2 (`clustering.py`). Other programs see categories as columns of 0 and 1.
`COP-KMeans` is the algorithm of Wagstaff and others [2001] for ties alone: rows of a tie move together, which is
k-means of their means with weights. `PCKMeans` [Basu, Banerjee and Mooney, 2004] pays for ties that it breaks, as
hidden Markov random fields do. StepMix is a mixture of categorical distributions, as EM without ties is.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from credo.clustering import cluster
from credo.options import EMOptions
from experiments.figures import mean_and_error, summarise
from experiments.running import SHARED, Job, Record, add_options, require, run_jobs
from experiments.yao.clustering import TABLES, tie_lists, tied_rows
from experiments.yao.labelled import Labelled, read_labelled
from experiments.yao.pairs import Labels, pairwise_f

RESULTS = Path(__file__).resolve().parent / "results"
SHARES = (0.0, 0.2, 0.6, 1.0)
STARTS = 5
KEY = ("table", "draw", "learner")


def main(arguments: list[str]) -> None:
    """Run the remaining jobs and write the page."""
    parser = argparse.ArgumentParser(prog="experiments.yao rivals", description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="of parts, selections and starts")
    parser.add_argument("--tables", nargs="+", default=TABLES)
    add_options(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    require(SHARED / "tables", "The published tables are")
    jobs = [(name, draw, who) for draw in range(chosen.draws) for name in chosen.tables for who in LEARNERS]
    file = chosen.out / "rivals.csv"
    found = run_jobs(run_draw, jobs, KEY, file, processes=chosen.processes, minutes=chosen.minutes)
    print(write_rivals(found, chosen.out))


def run_draw(job: Job) -> list[Record]:
    """One learner on one table, with an increasing number of ties."""
    name, draw, learner = job
    data = read_labelled(SHARED / "tables" / f"{name}.csv")
    return [{**dict(zip(KEY, job, strict=True)), **record} for record in measure(data, learner, draw)]


def measure(data: Labelled, learner: str, seed: int) -> list[Record]:
    """F over all pairs for each share of selected rows; what knows no ties is run once."""
    records: list[Record] = []
    for share in SHARES:
        ties = tied_rows(data.labels, share, seed)
        if learner in UNTIED and records:
            records.append({**records[0], "share": share})
            continue
        started = time.process_time()
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # a package turns underflow into an error
            warnings.simplefilter("ignore")
            found = LEARNERS[learner](data, ties, seed)
        seconds = round(time.process_time() - started, 3)
        records.append({"share": share, "f": round(pairwise_f(found, data.labels), 6), "seconds": seconds})
    return records


def write_rivals(results: pl.DataFrame, folder: Path) -> str:
    """Write rivals.md from the tables that every learner has seen, and return the text."""
    seen = results.group_by("table").agg(pl.col("learner").n_unique())
    complete = seen.filter(pl.col("learner") == results["learner"].n_unique())
    results = results.join(complete, on="table", how="semi")
    means = summarise(results.group_by("learner", "share", "table").agg(pl.col("f").mean()), ["learner", "share"], "f")
    draws = results.group_by("table", "learner").agg(pl.col("draw").n_unique())["draw"]
    shares = means["share"].unique().sort().to_list()
    lines = [
        "# Clusters with ties, beside other programs\n",
        f"`python -m experiments.yao rivals`: F over pairs of rows, mean over {results['table'].n_unique()} tables ± "
        f"standard error over tables, draws of each: {draws.min()}, by the share of rows that ties were made of (as in "
        "[section 7.2](clustering.md)). KMeans, Gaussian mixtures and StepMix know no ties. COP-KMeans is written here "
        "for ties alone, with five starts; PCKMeans, which pays for ties that it breaks, is that of the package "
        "active-semi-supervised-clustering, with its one start, and fewer clusters where it ends for want of rows. "
        "Topics with seed words are on [a page of their own](topic_rivals.md).\n",
        f"| | {' | '.join(f'{share:.0%}' for share in shares)} |",
        "|---" * (1 + len(shares)) + "|",
    ]
    for learner in LEARNERS:
        own = {row["share"]: row for row in means.filter(pl.col("learner") == learner).iter_rows(named=True)}
        if own:
            cells = [mean_and_error(own[share]["mean"], own[share]["error"]) for share in shares]
            lines.append(f"| {learner} | {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    (folder / "rivals.md").write_text(text, encoding="utf-8")
    return text


# Learners -------------------------------------------------------------------------------------------------------------


def find_credo(data: Labelled, ties: Labels, seed: int) -> Labels:
    """`credo.cluster` with its ties."""
    return cluster(data.features, data.classes, ties=tie_lists(ties), em=EMOptions(starts=STARTS), seed=seed).labels


def find_merged(data: Labelled, ties: Labels, seed: int) -> Labels:
    """The same with `merged=True`: each tie is one draw of its cluster, as COP-KMeans reads it."""
    lists = tie_lists(ties)
    found = cluster(data.features, data.classes, ties=lists, merged=True, em=EMOptions(starts=STARTS), seed=seed)
    return found.labels


def find_kmeans(data: Labelled, ties: Labels, seed: int) -> Labels:
    """Without the ties."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(data.classes, n_init=STARTS, random_state=seed).fit_predict(indicators(data)))


def find_cop_kmeans(data: Labelled, ties: Labels, seed: int) -> Labels:
    """Rows of a tie move together."""
    from sklearn.cluster import KMeans

    groups = np.where(ties >= 0, ties, ties.max(initial=-1) + 1 + np.arange(len(ties)))
    _, which, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    values = indicators(data)
    means = np.zeros((len(sizes), values.shape[1]))
    np.add.at(means, which, values)
    fitted = KMeans(min(data.classes, len(sizes)), n_init=STARTS, random_state=seed)
    return np.asarray(fitted.fit_predict(means / sizes[:, None], sample_weight=sizes.astype(float)))[which]


def find_gaussian(data: Labelled, ties: Labels, seed: int) -> Labels:
    """Without the ties."""
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(data.classes, covariance_type="diag", reg_covar=1e-2, n_init=STARTS, random_state=seed)
    return np.asarray(model.fit_predict(indicators(data)))


def find_stepmix(data: Labelled, ties: Labels, seed: int) -> Labels:
    """Without the ties."""
    from stepmix.stepmix import StepMix

    codes = np.column_stack([np.unique(column.to_numpy(), return_inverse=True)[1] for column in data.features])
    model = StepMix(
        data.classes,
        measurement="categorical",
        n_init=STARTS,
        max_iter=200,
        random_state=seed,
        progress_bar=0,
        verbose=0,
    )
    return np.asarray(model.fit(codes).predict(codes))


def indicators(data: Labelled) -> NDArray[np.float64]:
    """A column of 0 and 1 for each category."""
    return data.features.to_dummies().to_numpy().astype(np.float64)


def find_pckmeans(data: Labelled, ties: Labels, seed: int) -> Labels:
    """Ties may be broken at a price; neighbours in a tie are linked, which the package completes."""
    from active_semi_clustering.exceptions import EmptyClustersException
    from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans

    linked = [(one - 1, other - 1) for tie in tie_lists(ties) for one, other in pairwise(tie)]
    for clusters in range(data.classes, 1, -1):
        np.random.seed(seed)  # noqa: NPY002 (the package knows no other seed)
        try:
            return np.asarray(PCKMeans(n_clusters=clusters).fit(indicators(data), ml=linked, cl=[]).labels_)
        except EmptyClustersException:  # it ends where a cluster loses all its rows
            continue
    return np.zeros(len(ties), dtype=np.int64)


UNTIED = ("KMeans", "Gaussian mixture", "StepMix")
LEARNERS: dict[str, Callable[[Labelled, Labels, int], Labels]] = {
    "credo": find_credo,
    "credo, merged": find_merged,
    "COP-KMeans": find_cop_kmeans,
    "PCKMeans": find_pckmeans,
    "KMeans": find_kmeans,
    "Gaussian mixture": find_gaussian,
    "StepMix": find_stepmix,
}
