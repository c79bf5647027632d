"""From F-measures to tables, a figure, and the outcome of each claim of section 7.2."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import polars as pl

from experiments.claims import Claim, claims_table
from experiments.figures import mean_and_error, panels, save, summarise

COLOURS = {"EM": "#000000", "merged": "#e69f00", "CLL": "#0072b2", "CLL after merged": "#cc79a7"}
STYLES = {"EM": ":", "merged": "--", "CLL": "-", "CLL after merged": "-."}
REFINED = "CLL after merged"
SUPERIOR, MILDLY_WORSE = ("lymphography", "primary_tumor"), ("credit_g", "credit_approval")
SIMILAR = 0.05  # mean differences of F up to this count as similar performance


def write_clustering(results: pl.DataFrame, folder: Path) -> str:
    """Write clustering.md and clustering.png, and return the text."""
    draw_figure(results, folder / "clustering.png")
    draws = results.group_by("table").agg(pl.col("draw").n_unique())["draw"]
    count = f"{draws.min()}" if draws.min() == draws.max() else f"{draws.min()} to {draws.max()}"
    parts = [
        "# Yao 7.2: clustering with tied rows\n",
        "Naive Bayes with as many clusters as classes. F = 2PR / (P + R), where P and R are precision and recall "
        "over all "
        "pairs of rows (predicted: same cluster; true: same class; the paper does not say what it counts). Rows are "
        "divided into five parts, a share of each part is selected, and selected rows of one part and class are tied; "
        "with all rows selected, a class is still five ties, not one. Missing values are replaced by the mode, or by "
        "the "
        "mean of numeric columns, and numeric columns with more than ten values are divided into ten bins of equal "
        "width, "
        "as Weka's filters do. `merged` is Shental's EM (one draw for each tie); `CLL` maximises log P(D | C). All "
        "learners have pseudo-counts of one and the same starts. `CLL after merged`, which the paper does not have, is "
        f"`CLL` started only from the result of `merged`. Means of {count} draws ± standard error.\n",
        "![F by share of selected rows](clustering.png)\n",
        claims_table(claims(results)),
        *(learners_table(results, name) for name in _tables(results)),
        differences_table(results),
    ]
    text = "\n".join(parts)
    (folder / "clustering.md").write_text(text, encoding="utf-8")
    return text


def claims(results: pl.DataFrame) -> list[Claim]:
    """The paper's claims, then ours."""
    none = results.filter(pl.col("share") == 0).pivot(on="learner", index=["table", "draw"], values="f")
    apart = max((none[name] - none["EM"]).abs().max() or 0.0 for name in ("merged", "CLL"))
    by_table = {row["table"]: row for row in differences(results).iter_rows(named=True)}
    others = [name for name in by_table if name not in (*SUPERIOR, *MILDLY_WORSE)]
    close = [name for name in others if abs(by_table[name]["mean"]) <= SIMILAR]
    found = [Claim("Without ties, all learners equal EM", apart < 1e-9, f"largest difference of F {apart:.1e}")]
    found += [_rising(results, learner) for learner in ("CLL", "merged")]
    found += [_order(f"CLL is superior on {name}", by_table[name], 1) for name in SUPERIOR if name in by_table]
    found += [
        _order(f"`merged` is mildly better on {name} (the paper says credit)", by_table[name], -1)
        for name in MILDLY_WORSE
        if name in by_table
    ]
    found.append(
        Claim(
            f"On the other tables they are similar (within {SIMILAR} on average)",
            len(close) == len(others),
            f"{len(close)} of {len(others)} tables{''.join(f', not {name}' for name in others if name not in close)}",
        )
    )
    return [*found, _perfect(results), _untied(results), *_start(results)]


def _rising(results: pl.DataFrame, learner: str) -> Claim:
    """Whether F increases with the number of ties, in nearly all steps from one share to the next."""
    rises, ends = [], []
    for _, curve in summarise(results.filter(pl.col("learner") == learner), ["table", "share"], "f").group_by("table"):
        means = curve.sort("share")["mean"].to_list()
        rises += [other >= one for one, other in pairwise(means)]
        ends.append(means[-1] > means[0])
    figures = (
        f"F increases in {sum(rises)} of {len(rises)} steps, and from none to all in {sum(ends)} of {len(ends)} tables"
    )
    return Claim(f"{learner} improves steadily with more ties", sum(rises) >= 0.9 * len(rises) and all(ends), figures)


def _order(text: str, difference: dict[str, float], better: int) -> Claim:
    clear = "" if abs(difference["mean"]) > 2 * difference["error"] else ", within two standard errors of zero"
    figures = f"F of CLL − F of merged: {mean_and_error(difference['mean'], difference['error'], sign='+')}{clear}"
    return Claim(text, better * difference["mean"] > 0 and not clear, figures)


def _perfect(results: pl.DataFrame) -> Claim:
    """Whether some tables are clustered without an error if every row is selected."""
    full = results.filter((pl.col("share") == 1) & (pl.col("learner") != "EM"))
    perfect = summarise(full, ["table", "learner"], "f").filter(pl.col("mean") > 0.999)
    named = [f"{learner} on {table}" for table, learner in perfect.select("table", "learner").iter_rows()]
    return Claim("Some clusterings are perfect if all rows are selected", bool(named), ", ".join(named) or "none")


def _untied(results: pl.DataFrame) -> Claim:
    """Whether ties also help with pairs that are not tied."""
    own = results.filter(pl.col("share") == 0.6).pivot(on="learner", index=["table", "draw"], values="f_untied")
    gains = own.group_by("table").agg((pl.col("CLL") - pl.col("EM")).mean().alias("gain"))["gain"]
    figures = f"F over untied pairs is higher than with EM in {int((gains > 0).sum())} of {len(gains)} tables"
    text = "(ours) With 60% of the rows selected, CLL also groups untied pairs better"
    return Claim(text, bool((gains > 0).all()), figures)


def _start(results: pl.DataFrame) -> list[Claim]:
    """How much of the difference remains if CLL starts from a good point."""
    if REFINED not in _learners(results):
        return []
    refined = differences(results, REFINED, "CLL")
    gains = refined.filter(pl.col("mean") > 2 * pl.col("error"))
    worse = refined.filter(pl.col("mean") < -2 * pl.col("error"))
    text = "(ours) CLL started from the result of merged is no worse on any table than CLL from its own starts"
    figures = f"better by more than two standard errors on {_named(gains)}, worse on {_named(worse)}"
    apart = differences(results, REFINED, "merged")
    most = apart.sort(pl.col("mean").abs()).row(-1, named=True)
    return [
        Claim(text, not len(worse), figures),
        Claim(
            f"(ours) It is similar to merged on all tables (within {SIMILAR} on average)",
            abs(most["mean"]) <= SIMILAR,
            f"largest difference on {most['table']}: {mean_and_error(most['mean'], most['error'], sign='+')}",
        ),
    ]


def _named(cells: pl.DataFrame) -> str:
    return ", ".join(cells["table"]) or "none"


def differences(results: pl.DataFrame, one: str = "CLL", other: str = "merged") -> pl.DataFrame:
    """The difference of F between two learners, over all shares with ties; the standard error is over draws."""
    tied = results.filter(pl.col("share") > 0).pivot(on="learner", index=["table", "draw", "share"], values="f")
    per_draw = tied.group_by("table", "draw").agg((pl.col(one) - pl.col(other)).mean().alias("difference"))
    return summarise(per_draw.drop_nulls(), ["table"], "difference")


def learners_table(results: pl.DataFrame, table: str) -> str:
    """One line for each learner, one column for each share of selected rows."""
    own = results.filter(pl.col("table") == table)
    shares = own["share"].unique().sort().to_list()
    lines = [f"\n### {table}\n", "| selected | " + " | ".join(f"{share:.0%}" for share in shares) + " |"]
    lines.append("|---|" + "---|" * len(shares))
    for learner in _learners(own):
        cells = summarise(own.filter(pl.col("learner") == learner), ["share"], "f")
        texts = [mean_and_error(mean, error) for mean, error in cells.select("mean", "error").iter_rows()]
        lines.append(f"| {learner} | {' | '.join(texts)} |")
    return "\n".join(lines)


def differences_table(results: pl.DataFrame) -> str:
    """CLL compared with merged on the same draws, by share and over all shares, and the time of each learner."""
    learners, shares = _learners(results), results.filter(pl.col("share") > 0)["share"].unique().sort().to_list()
    lines = [
        "\n## F of CLL − F of merged\n",
        f"| table | all shares | {' | '.join(f'{share:.0%}' for share in shares)} | seconds of {', '.join(learners)} |",
        "|---|" + "---|" * (len(shares) + 2),
    ]
    by_share = [differences(results.filter(pl.col("share") == share)) for share in shares]
    for row, (table, *_) in enumerate(differences(results).iter_rows()):
        own = results.filter(pl.col("table") == table)
        spent = [own.filter(pl.col("learner") == name)["seconds"].mean() or 0.0 for name in learners]
        cells = [mean_and_error(*each.row(row)[1:3], sign="+") for each in (differences(results), *by_share)]
        lines.append(f"| {table} | {' | '.join(cells)} | {', '.join(f'{each:.1f}' for each in spent)} |")
    return "\n".join(lines) + "\n"


def draw_figure(results: pl.DataFrame, path: Path) -> None:
    """As figure 7: a panel for each table, a line for each learner."""
    tables = _tables(results)
    columns = min(5, len(tables))
    rows = -(-len(tables) // columns)
    figure, axes = panels(rows, columns, 3.2, 3.0)
    for panel, table in zip(axes.ravel(), tables, strict=False):
        for learner in _learners(results):
            own = results.filter((pl.col("table") == table) & (pl.col("learner") == learner))
            curve = summarise(own, ["share"], "f")
            panel.errorbar(
                curve["share"], curve["mean"], curve["error"], color=COLOURS[learner], marker="o", markersize=4,
                capsize=2, linestyle=STYLES[learner], label=learner,
            )  # fmt: skip
        panel.set_title(table)
        panel.set_ylim(0, 1.02)
    for panel in axes[-1]:
        panel.set_xlabel("share of selected rows")
    for line in axes:
        line[0].set_ylabel("F over pairs")
    for panel in axes.ravel()[len(tables) :]:
        panel.set_axis_off()
    save(figure, axes.ravel()[: len(tables)], path)


def _tables(results: pl.DataFrame) -> list[str]:
    return results["table"].unique(maintain_order=True).to_list()


def _learners(results: pl.DataFrame) -> list[str]:
    found = set(results["learner"].unique())
    return [name for name in COLOURS if name in found]
