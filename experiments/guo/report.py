"""From the raw figures to tables, a figure, and the outcome of each claim of the paper."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.figures import panels, save
from experiments.guo.published import METHODS as PAPER_METHODS
from experiments.guo.published import published

# The rankings in the paper's tables or text: the first method is better than the second.
CLAIMS = (
    ("qmapc", "qmap"),
    ("qmapc", "cme"),
    ("qmapc", "cml"),
    ("qmapc", "co"),
    ("qmapc", "map"),
    ("qmapc", "me"),
    ("qmapc", "ml"),
    ("qmap", "cme"),
    ("cme", "cml"),
    ("cml", "co"),
    ("cml", "ml"),
    ("me", "ml"),
    ("map", "ml"),
)
COLOURS = ("#999999", "#56b4e9", "#0072b2", "#f0e442", "#e69f00", "#cc79a7", "#009e73", "#d55e00", "#000000")


def write_report(results: pl.DataFrame, folder: Path) -> str:
    """Write summary.csv, README.md and kl.png, and return the text."""
    cells = in_cells(results)
    cells.write_csv(folder / "summary.csv")
    draw_figure(cells, folder / "kl.png")
    parts = [
        "# Guo: tables 2 to 5, rerun\n",
        "Mean divergence of all conditional distributions, in nats, ± standard deviation over draws (`measure.py` "
        "defines the measure); in brackets the published figures. The paper's data, statements and treatment of zeros "
        "are not published, so rankings can be compared, but not figures. The best of each line is in bold.\n",
        f"Draws: {number_of_draws(results)}.\n",
        "![KL by method](kl.png)\n",
        *(network_table(cells, name) for name in results["network"].unique(maintain_order=True)),
        claims_table(cells),
        posterior_table(results),
        times_table(cells),
    ]
    text = "\n".join(parts)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text


def in_cells(results: pl.DataFrame) -> pl.DataFrame:
    """Means over draws, a line for each network, cell and method."""
    return (
        results.group_by("network", "cell", "method")
        .agg(
            pl.col("kl").mean().alias("mean"),
            pl.col("kl").std().alias("deviation"),
            pl.col("seconds").mean(),
            pl.col("violated").mean(),
            pl.len().alias("draws"),
        )
        .sort("network", "cell", "method")
    )


def network_table(cells: pl.DataFrame, network: str) -> str:
    """One line for each cell, one column for each method."""
    own = cells.filter(pl.col("network") == network)
    methods = _methods(own)
    lines = [f"\n## {network}\n", f"| | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
    for cell in _cells(own):
        means = _means(own, cell)
        paper = published(network, cell)
        deviations = dict(own.filter(pl.col("cell") == cell).select("method", "deviation").iter_rows())
        best = min(means, key=lambda method: means[method])
        texts = []
        for method in methods:
            reported = f" ({paper[method]:.3f})" if method in paper else ""
            figure = f"{means[method]:.4f} ± {deviations[method] or 0:.4f}"
            texts.append(f"**{figure}**{reported}" if method == best else f"{figure}{reported}")
        lines.append(f"| {cell} | {' | '.join(texts)} |")
    return "\n".join(lines)


def claims_table(cells: pl.DataFrame) -> str:
    """For each ranking in the paper: in how many of its cells and in how many of ours it holds."""
    lines = ["\n## Which rankings held\n", "| ranking | cells in the paper | cells here |", "|---|---|---|"]
    for better, worse in CLAIMS:
        ours = theirs = total = 0
        for network in cells["network"].unique(maintain_order=True):
            own = cells.filter(pl.col("network") == network)
            for cell in _cells(own):
                means, paper = _means(own, cell), published(network, cell)
                if better in means and worse in means:
                    total += 1
                    ours += means[better] < means[worse]
                    theirs += paper[better] <= paper[worse]
        lines.append(f"| {better} < {worse} | {theirs} of {total} | {ours} of {total} |")
    return "\n".join(lines)


def posterior_table(results: pl.DataFrame) -> str:
    """Our posterior mean compared with QMAP-C, draw by draw."""
    if "posterior" not in results["method"].unique():
        return ""
    wide = results.pivot(on="method", index=["network", "cell", "draw"], values="kl")
    lines = [
        "\n## posterior compared with qmapc, on the same draws\n",
        "| network | cell | posterior | qmapc | difference ± standard error | better in |",
        "|---|---|---|---|---|---|",
    ]
    won = total = 0
    for (network, cell), group in wide.group_by("network", "cell", maintain_order=True):
        group = group.drop_nulls(["posterior", "qmapc"])
        if group.is_empty():
            continue
        difference = group["posterior"] - group["qmapc"]
        mean, error = float(difference.mean()), float((difference.std() or 0) / max(1, len(difference)) ** 0.5)
        won, total = won + (mean < 0), total + 1
        lines.append(
            f"| {network} | {cell} | {group['posterior'].mean():.4f} | {group['qmapc'].mean():.4f} | "
            f"{mean:+.4f} ± {error:.4f} | {int((difference < 0).sum())} of {len(difference)} |"
        )
    lines.append(f"\nThe posterior mean is better in {won} of {total} cells.")
    return "\n".join(lines)


def times_table(cells: pl.DataFrame) -> str:
    """Seconds for a fit without reading the knowledge, and the mean number of violated statements."""
    times = cells.group_by("network", "method", maintain_order=True).agg(
        pl.col("seconds").mean(), pl.col("violated").mean()
    )
    lines = ["\n## Seconds for a fit, and violated statements\n", "By the clock; other work on the machine counts.\n"]
    methods = _methods(cells)
    lines += [f"| | {' | '.join(methods)} |", "|---|" + "---|" * len(methods)]
    for network in cells["network"].unique(maintain_order=True):
        own = {row[1]: row[2:] for row in times.filter(pl.col("network") == network).iter_rows()}
        texts = [f"{own[method][0]:.2f} s, {own[method][1]:.1f}" if method in own else "" for method in methods]
        lines.append(f"| {network} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def draw_figure(cells: pl.DataFrame, path: Path) -> None:
    """A panel for each network and kind of cell; one line for each method."""
    networks = cells["network"].unique(maintain_order=True).to_list()
    figure, axes = panels(2, len(networks), 4, 3.5)
    for column, network in enumerate(networks):
        for row, kind in enumerate(("rows", "share")):
            panel = axes[row][column]
            own = cells.filter((pl.col("network") == network) & pl.col("cell").str.starts_with(kind))
            for method, colour in zip(_methods(cells), COLOURS, strict=False):
                line = own.filter(pl.col("method") == method).with_columns(
                    pl.col("cell").str.extract(r"=(\d+)").cast(pl.Int64).alias("x")
                )
                line = line.sort("x")
                width = 2.5 if method in ("posterior", "qmapc") else 1.2
                panel.plot(
                    line["x"], line["mean"], marker="o", markersize=3, color=colour, linewidth=width, label=method
                )
            panel.set_yscale("log")
            panel.set_title(network if row == 0 else "")
            panel.set_xlabel("rows" if kind == "rows" else "share of the statements, %")
        axes[0][0].set_ylabel("mean KL divergence")
    save(figure, axes.ravel(), path, legend_columns=len(COLOURS))


def number_of_draws(results: pl.DataFrame) -> str:
    """How many draws of each network there are, and how many of them `posterior` has where these are fewer."""
    counts = dict(results.group_by("network", maintain_order=True).agg(pl.col("draw").n_unique()).iter_rows())
    text = _listed(counts)
    own = results.filter(pl.col("method") == "posterior")
    if own.is_empty():
        return text
    ours = dict(own.group_by("network", maintain_order=True).agg(pl.col("draw").n_unique()).iter_rows())
    return text if ours == counts else f"{text}; `posterior` {_listed(ours)}, compared on the same draws further below"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} of {network}" for network, count in counts.items())


def _methods(cells: pl.DataFrame) -> list[str]:
    found = cells["method"].unique().to_list()
    return [method for method in (*PAPER_METHODS, "cmap", "posterior") if method in found]


def _cells(cells: pl.DataFrame) -> list[str]:
    return sorted(cells["cell"].unique(), key=lambda cell: (cell.partition("=")[0], int(cell.partition("=")[2])))


def _means(cells: pl.DataFrame, cell: str) -> dict[str, float]:
    return dict(cells.filter(pl.col("cell") == cell).select("method", "mean").iter_rows())
