"""The paper's figures 3 and 4 with our results."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from experiments.figures import panels, write
from experiments.yang.learners import KINDS

COLOURS = ("#9a9a9a", "#d9a441", "#7fb3d5", "#2471a3", "#82c785", "#1e7d34")
# The curves: group, learner, label, colour.
SHOWN = (
    ("paper", "data", "data only", "#9a9a9a"),
    ("paper", "noisy-OR", "noisy-OR", "#d9a441"),
    ("paper", "synergy + noisy-OR", "synergy + noisy-OR, by penalty", "#1e7d34"),
    ("posterior", "monotone", "monotone, posterior", "#2471a3"),
    ("posterior", "synergy + noisy-OR", "synergy + noisy-OR, posterior", "#c0392b"),
    ("peers", "logistic regression", "logistic regression", "black"),
    ("peers", "monotone boosting, small leaves", "monotone boosting, small leaves", "#8e44ad"),
)


def draw_bars(folds: pl.DataFrame, path: Path) -> None:
    """Figure 3: AUC of the six learners in each domain, and the mean; error bars are one standard error over folds."""
    own = folds.filter(pl.col("group") == "paper")
    domains = own["domain"].unique(maintain_order=True).to_list()
    figure, grid = panels(1, 1, 15, 5)
    axes = grid[0][0]
    places = np.arange(len(domains) + 1)
    for number, (kind, colour) in enumerate(zip(KINDS, COLOURS, strict=True)):
        found = [own.filter((pl.col("learner") == kind) & (pl.col("domain") == each))["auc"] for each in domains]
        means = [float(each.mean()) for each in found]
        errors = [float(each.std() or 0) / len(each) ** 0.5 for each in found]
        axes.bar(
            places + (number - 2.5) * 0.14, [*means, np.mean(means)], 0.14, yerr=[*errors, 0], color=colour, label=kind,
            error_kw={"elinewidth": 0.7},
        )  # fmt: skip
    axes.set_xticks(places, [*(each.replace(" ", "\n", 1) for each in domains), "mean"])
    axes.set_ylim(0.4, 1.0)
    axes.set_ylabel("AUC-ROC")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    figure.legend(loc="outside upper center", ncols=len(KINDS))
    write(figure, path)


def draw_curves(curves: pl.DataFrame, path: Path) -> None:
    """Figure 4, for all domains and for their mean."""
    domains = curves["domain"].unique(maintain_order=True).to_list()
    columns = 4
    rows = -(-(len(domains) + 1) // columns)
    figure, axes = panels(rows, columns, 16 / columns, 11 / rows)
    for panel, domain in zip(axes.ravel(), [*domains, None], strict=False):
        own = curves if domain is None else curves.filter(pl.col("domain") == domain)
        for group, learner, name, colour in SHOWN:
            line = own.filter((pl.col("group") == group) & (pl.col("learner") == learner))
            means = _means(line, mean_of_domains=domain is None)
            width = 2.2 if group == "posterior" else 1.3
            panel.plot(means["rows"], means["auc"], marker="o", markersize=3, color=colour, linewidth=width, label=name)
        panel.set_xscale("log")
        ticks = sorted(set(_means(own, mean_of_domains=domain is None)["rows"]))
        apart = [tick for tick in ticks[:-1] if tick <= 0.7 * ticks[-1]]  # keep labels from overlapping the last one
        panel.set_xticks([*apart, ticks[-1]], [str(tick) for tick in (*apart, ticks[-1])])
        panel.minorticks_off()
        panel.set_title(domain or "mean of all domains")
        panel.grid(alpha=0.3)
    for panel in axes.ravel()[len(domains) + 1 :]:
        panel.set_visible(False)
    for first, *_ in axes:
        first.set_ylabel("AUC-ROC")
    figure.supxlabel("training rows")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    write(figure, path)


def _means(lines: pl.DataFrame, *, mean_of_domains: bool) -> pl.DataFrame:
    """Mean AUC at each size; the mean over domains only for sizes that every domain has."""
    means = lines.group_by("domain", "rows").agg(pl.col("auc").mean())
    if mean_of_domains:
        domains = means["domain"].n_unique()
        means = means.group_by("rows").agg(pl.col("auc").mean(), pl.len().alias("of")).filter(pl.col("of") == domains)
    return means.sort("rows")
