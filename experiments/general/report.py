"""The table of what statements about any probability are worth."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.general.trials import KINDS, OPTIONS, PER_VARIABLE, QUESTIONS

HEAD = f"""# What are prevalences and diagnostic values worth?

Experts rarely know a number of a CPT with four parents; they know how common a disease is, and what a finding says
about it. Here an expert who is never wrong states {PER_VARIABLE} things about each variable's CPT (*all*). Then half of
them are left out (*half*), and replaced by as many prevalences P(x) and diagnostic values P(x | y), each within a range
(*half and general*). `python -m experiments.general` makes this page, and continues where it was interrupted.

Two measures, in nats: the divergence of each conditional distribution from the truth, averaged over all configurations
(*CPTs*), and that of {QUESTIONS} prevalences and diagnostic values that nobody stated (*answers*). Less is better. The
means are over draws of data and statements, whose number is in the first column.

"""

WHY_WORSE = """
Why `cmap` can answer worse with statements that are all true, as on Sachs with 50 rows: in the first draw most answers
become better, and their median falls; but some answers about the rare state PKC=HIGH become much worse, and decide the
mean. A likely reason, not tested: a mode lies at the edge of what the statements allow, and gets there by changing what
costs the likelihood least, which are rare states. The mean of `posterior`'s draws lies inside instead, and is better
with the same statements there. On Alarm with 50 rows (20 November 2026, one draw) `posterior`, too, answers worse with
prevalences and diagnostic values than without; none of the chains with such statements mixed.
"""


def _mixed(trials: pl.DataFrame) -> str:
    """How many fits of `posterior` mixed, by what was known."""
    own = trials.filter(method="posterior").group_by("knowledge").agg((pl.col("status") == "AVERAGED").sum(), pl.len())
    counts = {kind: (mixed, fits) for kind, mixed, fits in own.iter_rows()}
    told = ", ".join(f"*{kind}* {counts[kind][0]} of {counts[kind][1]}" for kind in KINDS if kind in counts)
    if not told:
        return ""
    return f"Chains of `posterior` of at most {OPTIONS.max_draws} draws that mixed: {told}.\n"


def write_report(trials: pl.DataFrame, folder: Path) -> str:
    """Write the page, and return it; cells without a trial are left empty."""
    lines = [HEAD]
    for method in trials["method"].unique(maintain_order=True).sort(descending=True).to_list():
        lines.append(f"## {method}\n\n| network, rows (draws) | measure | {' | '.join(KINDS)} |\n")
        lines.append(f"|{'---|' * (2 + len(KINDS))}\n")
        own = trials.filter(method=method)
        for name, rows in own.select("network", "rows").unique(maintain_order=True).sort("network", "rows").iter_rows():
            cell = own.filter(network=name, rows=rows)
            complete = cell.group_by("draw").len().filter(pl.col("len") == len(KINDS))["draw"].to_list()
            cell = cell.filter(pl.col("draw").is_in(complete))
            for label, column in (("CPTs", "divergence"), ("answers", "divergence of answers")):
                means = [cell.filter(knowledge=kind)[column].mean() for kind in KINDS]
                shown = " | ".join("" if mean is None else f"{mean:.4f}" for mean in means)
                lines.append(f"| {name}, {rows} ({len(complete)}) | {label} | {shown} |\n")
        lines.append("\n")
    violated = int(trials["violated"].sum())
    lines.append(f"Statements that a result did not satisfy: {violated} of {int(trials['statements'].sum()):,}.\n")
    lines.append(_mixed(trials))
    lines.append(WHY_WORSE)
    text = "".join(lines)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text
