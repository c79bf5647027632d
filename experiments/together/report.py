"""The table of what each part is worth where everything comes together."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.together.trials import MISSING, OPTIONS, REGISTERED, ROWS, TREATMENTS, TWINS

HEAD = f"""# Everything at once

A clinic of ten variables: {ROWS} patients and {TWINS} pairs of twins, a hidden variable, {MISSING:.0%} of the other
values missing; {REGISTERED} patients of a register that shows three variables; equal rows put together with a weight, a
noisy family, tied rows, statements that must hold, statements with a confidence, prevalences and diagnostic values, two
experts of whom one is wrong in two of five statements, half a pseudo-count for each state, and a CPT that is fixed.
`posterior` learns from all of it in one fit (*everything*), and again with one part left out.
`python -m experiments.together` makes this page, and continues where it was interrupted.

The divergence of each conditional distribution from the truth, averaged over all configurations, in nats; over draws of
networks, data and statements. The ratio is that to *everything*, in the same draws: above one, the part that is left
out helps.

"""


def write_report(trials: pl.DataFrame, folder: Path) -> str:
    """Write the page, and return it."""
    lines = [HEAD, "| treatment | draws | divergence | ratio | processor seconds |\n|---|---|---|---|---|\n"]
    whole = trials.filter(treatment="everything").select("draw", everything="kl")
    for treatment in TREATMENTS:
        own = trials.filter(treatment=treatment).join(whole, on="draw", how="left")
        if own.is_empty():
            continue
        both = own.drop_nulls("everything")
        ratio = (both["kl"] / both["everything"]).log().mean()
        shown = "" if ratio is None else f"{pl.Series([ratio]).exp()[0]:.2f}"
        seconds = own["seconds"].median()
        lines.append(f"| {treatment} | {len(own)} | {own['kl'].mean():.4f} | {shown} | {seconds:.0f} |\n")
    all_in = trials.filter(treatment="everything")
    if not all_in.is_empty():
        careful, careless = all_in["careful"].mean(), all_in["careless"].mean()
        lines.append(
            f"\nWith everything, the careful expert is found to be right in {careful:.0%} of all cases, the careless "
            f"one in {careless:.0%}. Statements that must hold and are missed: {int(trials['violated'].sum())}. Fits "
            f"whose missing values were drawn: {int(trials['drawn'].sum())} of {len(trials)}; whose chains of at most "
            f"{OPTIONS.max_draws} draws mixed: {int((trials['status'] == 'AVERAGED').sum())}.\n"
        )
    text = "".join(lines)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text
