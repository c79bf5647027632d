"""From divergences by share of missing values to tables, a figure, and what knowledge adds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl

from experiments.figures import panels, save

LABELS = {0: "EM", 10: "10% of the statements", 30: "30%", 100: "100%"}
COLOURS = {0: "#d55e00", 10: "#56b4e9", 30: "#0072b2", 100: "#000000"}


def write_missing(results: pl.DataFrame, folder: Path) -> str:
    """Write missing.csv, missing.md and missing.png, and return the text."""
    results.write_csv(folder / "missing.csv")
    cells = (
        results.group_by("network", "fraction", "share")
        .agg(pl.col("kl").mean().alias("mean"), pl.col("kl").std().alias("deviation"), pl.col("seconds").mean())
        .sort("network", "fraction", "share")
    )
    draw_figure(cells, folder / "missing.png")
    draws = results["draw"].n_unique()
    text = "\n".join(
        [
            "# Missing values and knowledge\n",
            f"KL divergence of the learned joint distribution from the truth, in nats, mean of {draws} draws ± "
            "standard "
            "deviation. EM (`map`), and EM whose M-step satisfies a share of thirty true statements for each variable "
            "(`cmap`).\n",
            "![KL by fraction missing](missing.png)\n",
            *(network_table(cells, name) for name in cells["network"].unique(maintain_order=True)),
            *rankings(results),
        ]
    )
    (folder / "missing.md").write_text(text, encoding="utf-8")
    return text


def network_table(cells: pl.DataFrame, network: str) -> str:
    """One line for each fraction, one column for each share."""
    own = cells.filter(pl.col("network") == network)
    shares = own["share"].unique().sort().to_list()
    lines = [f"\n## {network}\n", f"| missing | {' | '.join(LABELS[share] for share in shares)} | seconds for a fit |"]
    lines.append("|---|" + "---|" * (len(shares) + 1))
    for fraction in own["fraction"].unique().sort():
        at = own.filter(pl.col("fraction") == fraction).sort("share")
        figures = [
            f"{mean:.3f} ± {deviation or 0:.3f}" for mean, deviation in at.select("mean", "deviation").iter_rows()
        ]
        seconds = ", ".join(f"{value:.1f}" for value in at["seconds"])
        lines.append(f"| {fraction:.0%} | {' | '.join(figures)} | {seconds} |")
    return "\n".join(lines)


def rankings(results: pl.DataFrame) -> list[str]:
    """How often more knowledge is better, table by table, and by how much."""
    wide = results.pivot(on="share", index=["network", "fraction", "draw"], values="kl")
    shares = [share for share in LABELS if str(share) in wide.columns]
    lines = ["\n## More knowledge is better\n"]
    for less, more in pairwise(shares):
        better = int((wide[str(more)] < wide[str(less)]).sum())
        lines.append(f"- {LABELS[more]} compared with {LABELS[less]}: better on {better} of {len(wide)} tables.")
    for (network,), group in wide.group_by("network", maintain_order=True):
        means = group.drop("network").group_by("fraction").mean().sort("fraction")
        gains = [
            f"{1 - row['100'] / row['0']:.0%} of the divergence if {row['fraction']:.0%} of the values are missing"
            for row in (means.row(0, named=True), means.row(-1, named=True))
        ]
        lines.append(f"- {network}: all statements remove {gains[0]}, and {gains[1]}.")
    return [*lines, ""]


def draw_figure(cells: pl.DataFrame, path: Path) -> None:
    """A panel for each network, a line for each share of the statements."""
    networks = cells["network"].unique(maintain_order=True).to_list()
    figure, axes = panels(1, len(networks), 5, 4)
    for panel, network in zip(axes[0], networks, strict=True):
        for share in cells["share"].unique().sort():
            own = cells.filter((pl.col("network") == network) & (pl.col("share") == share)).sort("fraction")
            panel.plot(own["fraction"], own["mean"], marker="o", color=COLOURS[share], label=LABELS[share])
        panel.set_title(network)
        panel.set_xlabel("share of missing values")
        panel.set_yscale("log")
    axes[0][0].set_ylabel("KL divergence from the truth, nats")
    axes[0][0].legend()
    save(figure, axes.ravel(), path, legend_columns=0)
