"""From divergences with more and more gaps to a table, a picture, and a word on what knowledge adds."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl

LABELS = {0: "EM", 10: "10% of the statements", 30: "30%", 100: "100%"}
COLOURS = {0: "#d55e00", 10: "#56b4e9", 30: "#0072b2", 100: "#000000"}


def write_missing(results: pl.DataFrame, folder: Path) -> str:
    """Write missing.csv, missing.md and missing.png; returns the text."""
    results.write_csv(folder / "missing.csv")
    cells = (
        results.group_by("network", "fraction", "share")
        .agg(pl.col("kl").mean().alias("mean"), pl.col("kl").std().alias("deviation"), pl.col("seconds").mean())
        .sort("network", "fraction", "share")
    )
    draw_picture(cells, folder / "missing.png")
    draws = results["draw"].n_unique()
    text = "\n".join(
        [
            "# Gaps and knowledge\n",
            f"KL of the learned joint distribution from the truth, in nats, mean of {draws} draws ± deviation; EM "
            "(`map`) and EM whose M-step holds to shares of thirty true statements a node (`cmap`).\n",
            "![KL by fraction missing](missing.png)\n",
            *(network_table(cells, name) for name in cells["network"].unique(maintain_order=True)),
            *orders(results),
        ]
    )
    (folder / "missing.md").write_text(text, encoding="utf-8")
    return text


def network_table(cells: pl.DataFrame, network: str) -> str:
    """One line for each fraction, one column for each share."""
    own = cells.filter(pl.col("network") == network)
    shares = own["share"].unique().sort().to_list()
    lines = [f"\n## {network}\n", f"| missing | {' | '.join(LABELS[share] for share in shares)} | seconds a fit |"]
    lines.append("|---|" + "---|" * (len(shares) + 1))
    for fraction in own["fraction"].unique().sort():
        at = own.filter(pl.col("fraction") == fraction).sort("share")
        figures = [
            f"{mean:.3f} ± {deviation or 0:.3f}" for mean, deviation in at.select("mean", "deviation").iter_rows()
        ]
        seconds = ", ".join(f"{value:.1f}" for value in at["seconds"])
        lines.append(f"| {fraction:.0%} | {' | '.join(figures)} | {seconds} |")
    return "\n".join(lines)


def orders(results: pl.DataFrame) -> list[str]:
    """How often more knowledge is better, table by table, and what it is worth."""
    wide = results.pivot(on="share", index=["network", "fraction", "draw"], values="kl")
    shares = [share for share in LABELS if str(share) in wide.columns]
    lines = ["\n## More knowledge is better\n"]
    for less, more in pairwise(shares):
        better = int((wide[str(more)] < wide[str(less)]).sum())
        lines.append(f"- {LABELS[more]} against {LABELS[less]}: better on {better} of {len(wide)} tables.")
    for (network,), group in wide.group_by("network", maintain_order=True):
        means = group.drop("network").group_by("fraction").mean().sort("fraction")
        gains = [
            f"{1 - row['100'] / row['0']:.0%} of the divergence where {row['fraction']:.0%} is missing"
            for row in (means.row(0, named=True), means.row(-1, named=True))
        ]
        lines.append(f"- {network}: all statements take away {gains[0]}, {gains[1]}.")
    return [*lines, ""]


def draw_picture(cells: pl.DataFrame, path: Path) -> None:
    """A panel a network, a line for each share of the statements."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    networks = cells["network"].unique(maintain_order=True).to_list()
    figure, axes = pyplot.subplots(
        1, len(networks), figsize=(5 * len(networks), 4), squeeze=False, layout="constrained"
    )
    for panel, network in zip(axes[0], networks, strict=True):
        for share in cells["share"].unique().sort():
            own = cells.filter((pl.col("network") == network) & (pl.col("share") == share)).sort("fraction")
            panel.plot(own["fraction"], own["mean"], marker="o", color=COLOURS[share], label=LABELS[share])
        panel.set_title(network)
        panel.set_xlabel("fraction of the values missing")
        panel.set_yscale("log")
        panel.grid(alpha=0.3)
    axes[0][0].set_ylabel("KL from the truth, nats")
    axes[0][0].legend()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
