"""From the rates of all learners to tables, a picture, and a word on each claim of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from experiments.liao.draws import WRONG

PUBLISHED = {"EM": (0.69, 0.32), "CEM": (0.82, 0.10)}  # positive rate, false alarm; MLE is only drawn
SAME = 0.01  # what is left between two that ended at the same point, each to its own tolerance
CLOSE = 0.05  # "performs similarly": both rates are no further than this from those of MLE
EXPERTS = {"equally sure": "#d55e00", "less sure": "#0072b2"}  # and their colours
FAILED = 0.15  # a unit fails where its positive rate less its false alarms is this much, or less
COLOURS = {"MLE": "#000000", "EM": "#d55e00", "EM, detectors trusted": "#e69f00", "CEM": "#0072b2", "exact": "#56b4e9"}


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, whether it held here, and the figures that say so."""

    text: str
    held: bool
    figures: str


def write_story(fits: pl.DataFrame, units: pl.DataFrame, folder: Path) -> str:
    """Write fits.csv, units.csv, README.md, rates.png and wrong.png; returns the text."""
    fits.write_csv(folder / "fits.csv")
    units.write_csv(folder / "units.csv")
    draw_rates(units, folder / "rates.png")
    draw_errors(fits, folder / "wrong.png")
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
        wrong_table(fits),
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


def wrong_table(fits: pl.DataFrame) -> str:
    """What wrong statements cost, with the confidence of all others and with less."""
    right = fits.filter(pl.col("learner") == "CEM")
    lines = [
        "\n## Wrong statements, and confidences\n",
        "`cem` learns with some statements turned round. Equally sure: every statement has confidence 0.9. Less sure: "
        "wrong ones have confidences from 0.05 to 0.3, right ones from 0.7 to 0.99.\n",
        "![Distance from the truth by share of wrong statements](wrong.png)\n",
        "| wrong | expert | positive rate | false alarm | error | error, best and worst draw |",
        "|---|---|---|---|---|---|",
        _wrong_line("none", "equally sure", right),
    ]
    for share in WRONG:
        for expert in EXPERTS:
            own = fits.filter(pl.col("learner") == _wrong_name(share, expert))
            lines.append(_wrong_line(f"{share:.0%}", expert, own))
    return "\n".join(lines)


def _wrong_line(share: str, expert: str, own: pl.DataFrame) -> str:
    rates = " | ".join(f"{own[column].mean():.3f}" for column in ("positive_rate", "false_alarm", "error"))
    return f"| {share} | {expert} | {rates} | {own['error'].min():.3f} to {own['error'].max():.3f} |"


def _wrong_name(share: float, expert: str) -> str:
    return f"CEM, {share:.0%} wrong, {expert}"


def _confidence_claims(fits: pl.DataFrame, both: dict[str, str]) -> list[Claim]:
    """Wrong statements, with the confidence of all others and with less; judged by the tables.

    Rates alone mislead here: a wrong range can make a unit look more common, which raises both of them.
    """
    error, found = _means(fits, "error"), []
    wide = fits.pivot(on="learner", index="draw", values="error")
    for share in WRONG:
        sure, unsure = (_wrong_name(share, expert) for expert in EXPERTS)
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
    """Gradient against the exact M-step: the same objective and the same accuracy, in what time?"""
    accuracy = ("positive_rate", "false_alarm", "error")
    wide = fits.filter(pl.col("learner").is_in(["CEM", "exact"])).pivot(
        on="learner", index="draw", values=["objective", "seconds", *accuracy]
    )
    apart = {
        column: (wide[f"{column}_CEM"] - wide[f"{column}_exact"]).abs().max() for column in ("objective", *accuracy)
    }
    ratio = (wide["seconds_CEM"] / wide["seconds_exact"]).median()
    faster = int((wide["seconds_exact"] < wide["seconds_CEM"]).sum())
    return [
        Claim(
            "(ours) CEM and the exact M-step end at the same objective (within 0.1)",
            apart["objective"] <= 0.1,
            f"{apart['objective']:.3f} apart at most",
        ),
        Claim(
            f"(ours) They are equally accurate (both rates and the error within {SAME})",
            max(apart[column] for column in accuracy) <= SAME,
            f"{', '.join(f'{apart[column]:.4f}' for column in accuracy)} apart at most",
        ),
        Claim("(ours) The exact M-step is faster", ratio > 1, f"{ratio:.1f} times, in {faster} of {len(wide)} draws"),
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


def draw_rates(units: pl.DataFrame, path: Path) -> None:
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


def draw_errors(fits: pl.DataFrame, path: Path) -> None:
    """The distance from the truth by the share of wrong statements: a dot a draw, a line through the means."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panel = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for place, (expert, colour) in enumerate(EXPERTS.items()):
        names = ["CEM", *(_wrong_name(share, expert) for share in WRONG)]
        errors = [fits.filter(pl.col("learner") == name)["error"] for name in names]
        panel.plot((0, *WRONG), [each.mean() for each in errors], marker="o", color=colour, label=expert)
        for share, each in zip((0, *WRONG), errors, strict=True):
            panel.scatter([share + 0.01 * (place - 0.5)] * len(each), each, s=9, alpha=0.4, color=colour)
    panel.set_xlabel("share of wrong statements")
    panel.set_xticks((0, *WRONG), [f"{share:.0%}" for share in (0, *WRONG)])
    panel.set_ylabel("mean distance of a number from the truth")
    panel.set_ylim(0)
    panel.grid(alpha=0.3)
    panel.legend(title="of wrong statements the expert is")
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
