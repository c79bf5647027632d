"""From the errors after each answer to how many answers halve them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.questions.trials import ROWS, STRATEGIES


def write_report(results: pl.DataFrame, folder: Path) -> str:
    """Write README.md, and return its text."""
    most = int(results["answers"].max())  # type: ignore[call-overload]
    lines = [
        "# Which question next\n",
        f"A simulated expert knows the true network; {ROWS} rows of data. After each of {most} answers all is "
        "learned again. Mean error over the interviews that all orders held, as a share of the error before the first "
        "answer; and in how many interviews some answer left at most half of it. Numbers are answered as precisely as "
        "“about p” in the language; all orders ask only about CPTs that the target depends on.\n",
        "- `credo`: the question that is expected to narrow the target most.",
        "- `random`: any question of the same grammar.",
        "- `by weight`: numbers of CPTs, the most frequent configurations first.",
        "- `file order`: numbers of CPTs as the file lists them.",
    ]
    for (target, expert), own in results.group_by("target", "expert", maintain_order=True):
        complete = own.group_by("network", "draw").agg(pl.col("strategy").n_unique()).filter(strategy=len(STRATEGIES))
        common = own.join(complete.select("network", "draw"), on=("network", "draw"), how="semi")
        if not len(common):
            continue
        lines += [
            "",
            f"## {target}, expert {expert}: {len(complete)} interviews on {common['network'].n_unique()} networks\n",
        ]
        lines += [
            "| order | " + " | ".join(map(str, range(most + 1))) + " | answers to halve | interviews that halved |"
        ]
        lines += ["|---" * (most + 4) + "|"]
        for strategy in STRATEGIES:
            means = common.filter(strategy=strategy).group_by("answers").agg(pl.col("error").mean()).sort("answers")
            shares = (means["error"] / means["error"][0]).to_list()
            halved = next((str(k) for k, share in enumerate(shares) if share <= 0.5), f"more than {most}")
            each = common.filter(strategy=strategy).sort("answers").group_by("network", "draw")
            least = each.agg(pl.col("error").min() <= 0.5 * pl.col("error").first())["error"]
            row = " | ".join([*(f"{share:.2f}" for share in shares), halved, f"{least.sum()} of {len(least)}"])
            lines.append(f"| {strategy} | {row} |")
    text = "\n".join(lines) + "\n"
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text
