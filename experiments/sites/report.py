"""From the divergences of trials to a table: how alike sites are against how many rows a site has."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.sites.trials import ALIKE, METHODS, SIZES


def write_report(results: pl.DataFrame, folder: Path) -> str:
    """Write README.md, and return its text."""
    draws = results["draw"].n_unique()
    lines = [
        "# Several sites\n",
        f"Five sites of {', '.join(map(str, SIZES))} rows, whose distributions lie around those of a published "
        "network, θ ~ Dirichlet(c·θ₀), or have nothing in common. Mean divergence of what is learned from the site's "
        f"truth, in nats for each variable, over {results['network'].n_unique()} networks, "
        f"{draws} draw{'s' * (draws > 1)} of each; "
        "± is a standard error of the difference to `credo` in the same draws. `related` is the model of related data "
        "sets [Azzimonti, Corani and Scutari, 2022], `shrunk` the same with a drawn strength. "
        "`python -m experiments.sites` makes this page, and continues where it was interrupted.",
    ]
    for alike in ALIKE:
        own = results.filter(alike=alike)
        if not len(own):
            continue
        lines += ["", f"## {alike}\n", "| rows | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 1) + "|"]
        for size in SIZES:
            wide = own.filter(rows=size).pivot("method", index=["network", "draw"], values="divergence")
            means = {method: float(wide[method].mean()) for method in METHODS}  # type: ignore[arg-type]
            lowest = min(means.values())
            cells = []
            for method in METHODS:
                difference = wide[method] - wide["credo"]
                error = "" if method == "credo" else f" ± {float(difference.std() or 0) / len(wide) ** 0.5:.4f}"  # type: ignore[arg-type]
                value = f"{means[method]:.4f}"
                cells.append((f"**{value}**" if means[method] == lowest else value) + error)
            lines.append(f"| {size} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text
