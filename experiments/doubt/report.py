"""From the raw figures to tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from experiments.doubt.trials import BINS, EXPERTS, ROWS, TREATMENTS

MEANINGS = {
    "doubt": "every statement may be wrong, with a reliability that is learned.",
    "left out": "the wrong statements are known and left out, which nobody can do in practice; the others must hold.",
    "checked": "those that the check finds contradicted by the data are left out, and what still conflicts.",
    "as given": "only what conflicts is left out; the others must hold.",
}


def write_report(trials: pl.DataFrame, experts: pl.DataFrame, folder: Path) -> str:
    """Write README.md, and return its text."""
    trials = _compared(trials)
    parts = [
        "# Wrong statements, doubted\n",
        f"Thirty statements for each variable, drawn from the true CPTs, of which a share is reversed; {ROWS} rows of "
        "data. Mean divergence of the conditional distributions from the truth, in nats, averaged over draws.\n",
        *(f"- `{name}`: {meaning}" for name, meaning in MEANINGS.items() if name in set(trials["treatment"])),
        *(_divergences(own, name) for (name,), own in trials.group_by("network", maintain_order=True)),
        _goals(trials),
        _ranking(trials),
        _calibration(trials),
        _experts(experts),
    ]
    text = "\n".join(parts)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text


def _compared(trials: pl.DataFrame) -> pl.DataFrame:
    """The trials of draws in which the statements were doubted, so that treatments are compared with each other."""
    drawn = trials.filter(treatment="doubt").select("network", "draw", "wrong").unique()
    return trials.join(drawn, on=("network", "draw", "wrong"), how="semi", maintain_order="left")


def _goals(trials: pl.DataFrame) -> str:
    """Ratios of divergences in the same draws, beside what was aimed at."""
    lines = [
        "\n## What was aimed at\n",
        "Ratios of divergences, in the same draws. At 0% wrong: doubt to statements that must hold, at most 1.05. "
        "Beyond: doubt to leaving the wrong ones out, at most 1.1 (**bold** where it is more); and doubt to the better "
        "of `checked` and `as given`, at most 0.5, which is out of reach where even leaving the wrong ones out (in "
        "brackets) is worse than that.\n",
        "| network | wrong | draws | to leaving out | to the best of the others (leaving out) |",
        "|---|---|---|---|---|",
    ]
    compared = trials.filter(pl.col("treatment").is_in(["doubt", "left out"]))
    whole = pl.col("treatment").n_unique().over("network", "draw", "wrong") == 2
    trials = trials.join(
        compared.filter(whole).select("network", "draw", "wrong").unique(), on=("network", "draw", "wrong"), how="semi"
    )
    means = trials.group_by("network", "wrong", "treatment").agg(pl.col("kl").mean(), pl.len())
    for network, wrong in means.select("network", "wrong").unique().sort("network", "wrong").iter_rows():
        own = {row["treatment"]: row for row in means.filter(network=network, wrong=wrong).to_dicts()}
        if "left out" not in own:
            continue
        doubt, known = own["doubt"]["kl"], own["left out"]["kl"]
        others = [own[name]["kl"] for name in ("checked", "as given") if name in own]
        best = f"{doubt / min(others):.2f} ({known / min(others):.2f})" if others and wrong else ""
        ratio = f"{doubt / known:.2f}"
        if float(ratio) > (1.1 if wrong else 1.05):
            ratio = f"**{ratio}**"
        lines.append(f"| {network} | {wrong}% | {own['doubt']['len']} | {ratio} | {best} |")
    return "\n".join(lines) + "\n"


def _divergences(own: pl.DataFrame, name: str) -> str:
    shares = sorted(own["wrong"].unique())
    draws = own.filter(pl.col("treatment") == "doubt")["draw"].n_unique()
    lines = [
        f"\n## {name}\n",
        f"Draws: {draws}.\n",
        "| treatment | " + " | ".join(f"{share}% wrong" for share in shares) + " | seconds |",
        "|---|" + "---|" * (len(shares) + 1),
    ]
    for treatment in TREATMENTS:
        line = own.filter(pl.col("treatment") == treatment)
        if len(line):
            means = dict(line.group_by("wrong").agg(pl.col("kl").mean()).iter_rows())
            cells = [f"{means[share]:.4f}" if share in means else "" for share in shares]
            lines.append(f"| {treatment} | {' | '.join(cells)} | {line['seconds'].mean():.0f} |")
    return "\n".join(lines) + "\n"


def _ranking(trials: pl.DataFrame) -> str:
    lines = [
        "\n## Which statements are wrong\n",
        "The area under the ROC curve: how likely a true statement is said to be more probable than a wrong one; in "
        "brackets, among statements about configurations that all have data. Then the learned reliability, averaged, "
        "with its 95% interval, and the share of statements that are right. R-hat is that of whether a "
        "statement is true.\n",
        "| network | wrong | area | reliability | right | largest R-hat |",
        "|---|---|---|---|---|---|",
    ]
    doubted = trials.filter(pl.col("treatment") == "doubt")
    numbers = ("auc", "auc_reached", "reliability", "low", "high", "right", "r_hat")
    table = doubted.group_by("network", "wrong", maintain_order=True).agg(
        *(pl.col(name).cast(pl.Float64).mean() for name in numbers)
    )
    for row in table.sort("network", "wrong").to_dicts():
        area = "" if row["auc"] is None else f"{row['auc']:.3f} ({row['auc_reached']:.3f})"
        lines.append(
            f"| {row['network']} | {row['wrong']}% | {area} | {row['reliability']:.3f} ({row['low']:.3f} to "
            f"{row['high']:.3f}) | {row['right']:.3f} | {row['r_hat']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def _calibration(trials: pl.DataFrame) -> str:
    doubted = trials.filter((pl.col("treatment") == "doubt") & pl.col("said").is_not_null())
    lines = [
        "\n## Calibration\n",
        "Statements of all networks and shares, by how probable they are said to be: how many of them are true.\n",
        "| said to be true with | statements | said on average | true |",
        "|---|---|---|---|",
    ]
    sums = [
        np.array([[float(value) for value in text.split(";")] for text in doubted[name]]).reshape(-1, BINS).sum(axis=0)
        for name in ("said", "held", "counted")
    ]
    for number, (said, held, counted) in enumerate(zip(*(each.tolist() for each in sums), strict=True)):
        if counted:
            low, high = number * 100 // BINS, (number + 1) * 100 // BINS
            lines.append(f"| {low} to {high}% | {counted:,.0f} | {said / counted:.1%} | {held / counted:.1%} |")
    return "\n".join(lines) + "\n"


def _experts(experts: pl.DataFrame) -> str:
    lines = [
        "\n## Two experts\n",
        "Fifteen statements for each variable of each of two experts, the first of whom is rarely wrong, the second "
        "often. `both`: the statements of both, who may be wrong. `as given`: all of them must hold, but for "
        "members of conflicts.\n",
        "| network | treatment | draws | divergence | first: right, learned | second: right, learned |",
        "|---|---|---|---|---|---|",
    ]
    for (network,), own in experts.group_by("network", maintain_order=True):
        for treatment in EXPERTS:
            line = own.filter(pl.col("treatment") == treatment)
            if not len(line):
                continue
            texts = []
            for name in ("first", "second"):
                means = [line[f"{name}_{each}"].cast(pl.Float64).mean() for each in ("reliability", "low", "high")]
                learned = "" if means[0] is None else f", {means[0]:.3f} ({means[1]:.3f} to {means[2]:.3f})"
                texts.append(f"{line[f'{name}_right'].mean():.3f}{learned}")
            divergence = line["kl"].mean()
            lines.append(f"| {network} | {treatment} | {len(line)} | {divergence:.4f} | {texts[0]} | {texts[1]} |")
    return "\n".join(lines) + "\n"
