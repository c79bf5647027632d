"""From the rates of all learners to tables, a picture, and a word on each claim of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from experiments.liao.draws import WRONG

PUBLISHED = {"EM": (0.69, 0.32), "CEM": (0.82, 0.10)}  # positive rate, false alarm; MLE is only drawn
CLOSE = 0.05  # "performs similarly": both rates are no further than this from those of MLE
FAILED = 0.15  # a unit fails where its positive rate less its false alarms is this much, or less
COLOURS = {"MLE": "#000000", "EM": "#d55e00", "EM, detectors trusted": "#e69f00", "CEM": "#0072b2", "exact": "#56b4e9"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, whether it held here, and the figures that say so."""

    text: str
    held: bool
    figures: str


def write_story(fits: pl.DataFrame, units: pl.DataFrame, folder: Path) -> str:
    """Write fits.csv, units.csv, README.md and rates.png; returns the text."""
    fits.write_csv(folder / "fits.csv")
    units.write_csv(folder / "units.csv")
    draw_picture(units, folder / "rates.png")
    draws = fits["draw"].n_unique()
    parts = [
        "# Liao: action units from measurements only\n",
        f"A simulated model of the shape of figure 1 (its numbers are not published: `faces.py`), {draws} draws; MLE "
        "sees the units, all others only the fourteen measurements. In brackets what the paper reports for its own "
        "data: orders can be compared, not figures. Rates are means over units, on test rows, ± deviation over "
        "draws; `error` is the mean distance of a number of a table from the truth.\n",
        "![Rates by unit](rates.png)\n",
        rates_table(fits),
        claims_table(fits, units),
        units_table(units),
    ]
    text = "\n".join(parts)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text


def rates_table(fits: pl.DataFrame) -> str:
    """One line a learner."""
    lines = ["| learner | positive rate | false alarm | error | seconds |", "|---|---|---|---|---|"]
    for name in fits["learner"].unique(maintain_order=True):
        own = fits.filter(pl.col("learner") == name)
        cells = []
        for column, place in (("positive_rate", 0), ("false_alarm", 1)):
            paper = f" ({PUBLISHED[name][place]:.2f})" if name in PUBLISHED else ""
            cells.append(f"{own[column].mean():.3f} ± {own[column].std() or 0:.3f}{paper}")
        lines.append(f"| {name} | {' | '.join(cells)} | {own['error'].mean():.3f} | {own['seconds'].mean():.1f} |")
    return "\n".join(lines)


def claims(fits: pl.DataFrame, units: pl.DataFrame) -> list[Claim]:
    """The paper's claims, then ours."""
    positive, alarm = (_means(fits, column) for column in ("positive_rate", "false_alarm"))
    both = {name: f"{positive[name]:.3f} and {alarm[name]:.3f}" for name in positive}
    apart = max(abs(positive["CEM"] - positive["MLE"]), abs(alarm["CEM"] - alarm["MLE"]))
    failing = {name: _failing(units, name) for name in ("MLE", "EM", "CEM")}
    found = [
        Claim("CEM recognises more than EM", positive["CEM"] > positive["EM"], _pair(positive, "CEM", "EM")),
        Claim("CEM gives fewer false alarms than EM", alarm["CEM"] < alarm["EM"], _pair(alarm, "CEM", "EM")),
        Claim("CEM performs similarly to MLE", apart <= CLOSE, f"{both['CEM']} against {both['MLE']}"),
        Claim("With EM some units fail totally", failing["EM"] > 0, f"{failing['EM']:.1f} units a draw"),
        Claim("CEM is fair for all units", failing["CEM"] <= failing["MLE"], f"{failing['CEM']:.1f} units fail a draw"),
    ]
    return [*found, *_confidence_claims(fits, both), *_start_claims(fits, both), *_exact_claims(fits)]


def _confidence_claims(fits: pl.DataFrame, both: dict[str, str]) -> list[Claim]:
    """Wrong statements, with the confidence of all others and with less; judged by the tables.

    Rates alone mislead here: a wrong range can make a unit look more common, which raises both of them.
    """
    error, found = _means(fits, "error"), []
    wide = fits.pivot(on="learner", index="draw", values="error")
    for share in WRONG:
        name = f"CEM, {100 * share:.0f}% wrong"
        sure, unsure = f"{name}, equally sure", f"{name}, less sure"
        wins = int((wide[unsure] < wide[sure]).sum())
        found.append(
            Claim(
                f"Tables are nearer to the truth with confidences where {100 * share:.0f}% of the statements are wrong",
                error[unsure] < error[sure],
                f"{both[unsure]}, error {error[unsure]:.3f}, with; {both[sure]}, error {error[sure]:.3f}, without; "
                f"nearer in {wins} of {len(wide)} draws",
            )
        )
    return found


def _start_claims(fits: pl.DataFrame, both: dict[str, str]) -> list[Claim]:
    """What is left of the gain where EM begins with detectors that are mostly right."""
    positive, alarm, error = (_means(fits, column) for column in ("positive_rate", "false_alarm", "error"))
    trusted = "EM, detectors trusted"
    texts = {name: f"{both[name]}, error {error[name]:.3f}" for name in (trusted, "CEM", "CEM, detectors trusted")}
    return [
        Claim(
            "(ours) CEM also recognises better than an EM that begins with detectors that are mostly right",
            positive[trusted] - alarm[trusted] < positive["CEM"] - alarm["CEM"],
            f"{texts['CEM']} against {texts[trusted]}",
        ),
        Claim(
            "(ours) From that start, knowledge makes tables more accurate",
            error["CEM, detectors trusted"] < error[trusted],
            f"{texts['CEM, detectors trusted']} against {texts[trusted]}",
        ),
    ]


def _exact_claims(fits: pl.DataFrame) -> list[Claim]:
    """Gradient against the exact M-step: the same objective, in what time?"""
    wide = fits.filter(pl.col("learner").is_in(["CEM", "exact"])).pivot(
        on="learner", index="draw", values=["objective", "seconds"]
    )
    gap = (wide["objective_CEM"] - wide["objective_exact"]).abs().max()
    ratio = (wide["seconds_CEM"] / wide["seconds_exact"]).median()
    return [
        Claim("(ours) CEM and the exact M-step end at the same objective (within 0.1)", gap <= 0.1, f"{gap:.3f} apart"),
        Claim("(ours) The exact M-step is faster", ratio > 1, f"{ratio:.1f} times"),
    ]


def claims_table(fits: pl.DataFrame, units: pl.DataFrame) -> str:
    """One line a claim."""
    lines = ["\n## Claims\n", "| claim | held | positive rate and false alarm, or other figures |", "|---|---|---|"]
    lines += [f"| {each.text} | {'yes' if each.held else 'no'} | {each.figures} |" for each in claims(fits, units)]
    return "\n".join(lines)


def units_table(units: pl.DataFrame) -> str:
    """Positive rate / false alarm of each unit."""
    names = [name for name in COLOURS if name in units["learner"].unique()]
    lines = ["\n## By unit\n", f"| unit | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    for unit in units["unit"].unique(maintain_order=True):
        cells = []
        for name in names:
            own = units.filter((pl.col("unit") == unit) & (pl.col("learner") == name))
            cells.append(f"{own['positive_rate'].mean():.2f} / {own['false_alarm'].mean():.2f}")
        lines.append(f"| {unit} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw_picture(units: pl.DataFrame, path: Path) -> None:
    """As figures 1(b) and 1(c): a bar for each unit and learner."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = [name for name in COLOURS if name in units["learner"].unique()]
    labels = units["unit"].unique(maintain_order=True).to_list()
    figure, panels = pyplot.subplots(2, 1, figsize=(11, 6.5), sharex=True, layout="constrained")
    for panel, column, title in zip(
        panels, ("positive_rate", "false_alarm"), ("positive rate", "false alarm"), strict=True
    ):
        for place, name in enumerate(names):
            own = units.filter(pl.col("learner") == name).group_by("unit", maintain_order=True)
            means = dict(own.agg(pl.col(column).mean()).iter_rows())
            left = [i + 0.16 * (place - (len(names) - 1) / 2) for i in range(len(labels))]
            panel.bar(left, [means[unit] for unit in labels], 0.15, label=name, color=COLOURS[name])
        panel.set_ylabel(title)
        panel.set_ylim(0, 1)
        panel.grid(axis="y", alpha=0.3)
    panels[1].set_xticks(range(len(labels)), labels)
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=len(texts))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _means(fits: pl.DataFrame, column: str) -> dict[str, float]:
    return dict(fits.group_by("learner", maintain_order=True).agg(pl.col(column).mean()).iter_rows())


def _failing(units: pl.DataFrame, name: str) -> float:
    """How many units a draw are hardly recognised more often where they are present than where they are not."""
    own = units.filter(pl.col("learner") == name)
    failed = (own["positive_rate"] - own["false_alarm"] <= FAILED).sum()
    return failed / own["draw"].n_unique()


def _pair(means: dict[str, float], one: str, two: str) -> str:
    return f"{means[one]:.3f} against {means[two]:.3f}"
