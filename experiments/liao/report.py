"""From the rates of all learners to tables, figures, and the outcome of each claim of the paper."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from experiments.claims import Claim, claims_table
from experiments.figures import panels, save, write
from experiments.liao.draws import WRONG

PUBLISHED = {"EM": (0.69, 0.32), "CEM": (0.82, 0.10)}  # positive rate, false alarm rate; MLE is only in a figure
SAME = 0.01  # the difference that tolerances may leave between two runs that end at the same point
CLOSE = 0.05  # "performs similarly": both rates differ from those of MLE by no more than this
EXPERTS = {"equally sure": "#d55e00", "less sure": "#0072b2"}  # with their colours
FAILED = 0.15  # a unit fails if its positive rate minus its false alarm rate is at most this
COLOURS = {"MLE": "#000000", "EM": "#d55e00", "EM, detectors trusted": "#e69f00", "CEM": "#0072b2", "exact": "#56b4e9"}


def write_report(fits: pl.DataFrame, units: pl.DataFrame, folder: Path) -> str:
    """Write fits.csv, units.csv, README.md, rates.png and wrong.png, and return the text."""
    fits.write_csv(folder / "fits.csv")
    units.write_csv(folder / "units.csv")
    draw_rates(units, folder / "rates.png")
    draw_errors(fits, folder / "wrong.png")
    draws = fits["draw"].n_unique()
    parts = [
        "# Liao: action units from measurements only\n",
        "A simulated model with the structure of figure 1 (`faces.py`; the paper's parameters are not published), "
        f"{draws} "
        "draws. MLE observes the units, all other learners only the fourteen measurements. In brackets are the paper's "
        "figures for its own data: rankings can be compared, but not figures. Rates are means over units, on test "
        "rows, "
        "± standard deviation over draws; `error` is the mean absolute error of the parameters.\n",
        "![Rates by unit](rates.png)\n",
        rates_table(fits),
        "\nWhether CEM is fair for all units is [a matter of the start](starts.md).\n",
        claims_table(claims(fits, units)),
        wrong_table(fits),
        units_table(units),
    ]
    text = "\n".join(parts)
    (folder / "README.md").write_text(text, encoding="utf-8")
    return text


def rates_table(fits: pl.DataFrame) -> str:
    """One line for each learner."""
    lines = ["| learner | positive rate | false alarm rate | error | seconds |", "|---|---|---|---|---|"]
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
        Claim("CEM has a higher positive rate than EM", positive["CEM"] > positive["EM"], _pair(positive, "CEM", "EM")),
        Claim("CEM has a lower false alarm rate than EM", alarm["CEM"] < alarm["EM"], _pair(alarm, "CEM", "EM")),
        Claim("CEM performs similarly to MLE", apart <= CLOSE, f"{both['CEM']} compared with {both['MLE']}"),
        Claim("With EM some units fail completely", failing["EM"] > 0, f"{failing['EM']:.1f} units per draw"),
        Claim(
            "CEM is fair for all units",
            failing["CEM"] <= failing["MLE"],
            f"{failing['CEM']:.1f} units per draw",
        ),
    ]
    return [*found, *_confidence_claims(fits, both), *_start_claims(fits, both), *_exact_claims(fits)]


def wrong_table(fits: pl.DataFrame) -> str:
    """The effect of wrong statements that have the same confidence as all others, or less."""
    right = fits.filter(pl.col("learner") == "CEM")
    lines = [
        "\n## Wrong statements, and confidences\n",
        "`cem` learns with some statements reversed. Equally sure: every statement has confidence 0.9. Less sure: "
        "wrong "
        "statements have confidences from 0.05 to 0.3, right ones from 0.7 to 0.99.\n",
        "![Error by share of wrong statements](wrong.png)\n",
        "| wrong | expert | positive rate | false alarm rate | error | error, best and worst draw |",
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
    """Wrong statements with the same confidence as all others, or less; judged by the error of the parameters.

    Rates alone mislead here: a wrong range can make a unit more probable, which raises both rates.
    """
    error, found = _means(fits, "error"), []
    wide = fits.pivot(on="learner", index="draw", values="error")
    for share in WRONG:
        sure, unsure = (_wrong_name(share, expert) for expert in EXPERTS)
        wins = int((wide[unsure] < wide[sure]).sum())
        found.append(
            Claim(
                f"With {100 * share:.0f}% wrong statements, confidences make the CPTs more accurate",
                error[unsure] < error[sure],
                f"{both[unsure]}, error {error[unsure]:.3f}, with confidences; {both[sure]}, error {error[sure]:.3f}, "
                f"without; more accurate in {wins} of {len(wide)} draws",
            )
        )
    return found


def _start_claims(fits: pl.DataFrame, both: dict[str, str]) -> list[Claim]:
    """How much of the gain remains if EM starts from detectors that are mostly right."""
    positive, alarm, error = (_means(fits, column) for column in ("positive_rate", "false_alarm", "error"))
    trusted = "EM, detectors trusted"
    texts = {name: f"{both[name]}, error {error[name]:.3f}" for name in (trusted, "CEM", "CEM, detectors trusted")}
    return [
        Claim(
            "(ours) CEM also recognises units better than EM that starts from detectors that are mostly right",
            positive[trusted] - alarm[trusted] < positive["CEM"] - alarm["CEM"],
            f"{texts['CEM']} compared with {texts[trusted]}",
        ),
        Claim(
            "(ours) From that start, knowledge makes the CPTs more accurate",
            error["CEM, detectors trusted"] < error[trusted],
            f"{texts['CEM, detectors trusted']} compared with {texts[trusted]}",
        ),
    ]


def _exact_claims(fits: pl.DataFrame) -> list[Claim]:
    """The gradient compared with the exact M-step: objective, accuracy and time."""
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
            f"largest difference {apart['objective']:.3f}",
        ),
        Claim(
            f"(ours) They are equally accurate (both rates and the error within {SAME})",
            max(apart[column] for column in accuracy) <= SAME,
            f"largest differences {', '.join(f'{apart[column]:.4f}' for column in accuracy)}",
        ),
        Claim(
            "(ours) The exact M-step is faster",
            ratio > 1,
            f"{ratio:.1f} times as fast; faster in {faster} of {len(wide)} draws",
        ),
    ]


def units_table(units: pl.DataFrame) -> str:
    """Positive rate / false alarm rate of each unit."""
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
    names = [name for name in COLOURS if name in units["learner"].unique()]
    labels = units["unit"].unique(maintain_order=True).to_list()
    figure, axes = panels(2, 1, 11, 3.25, sharex=True)
    columns = {"positive_rate": "positive rate", "false_alarm": "false alarm rate"}
    for panel, (column, title) in zip(axes.ravel(), columns.items(), strict=True):
        for place, name in enumerate(names):
            own = units.filter(pl.col("learner") == name).group_by("unit", maintain_order=True)
            means = dict(own.agg(pl.col(column).mean()).iter_rows())
            left = [i + 0.16 * (place - (len(names) - 1) / 2) for i in range(len(labels))]
            panel.bar(left, [means[unit] for unit in labels], 0.15, label=name, color=COLOURS[name])
        panel.set_ylabel(title)
        panel.set_ylim(0, 1)
    axes[1][0].set_xticks(range(len(labels)), labels)
    save(figure, axes.ravel(), path, legend_columns=len(names))


def draw_errors(fits: pl.DataFrame, path: Path) -> None:
    """The error by the share of wrong statements: a dot for each draw, a line through the means."""
    figure, axes = panels(1, 1, 6, 4)
    panel = axes[0][0]
    for place, (expert, colour) in enumerate(EXPERTS.items()):
        names = ["CEM", *(_wrong_name(share, expert) for share in WRONG)]
        errors = [fits.filter(pl.col("learner") == name)["error"] for name in names]
        panel.plot((0, *WRONG), [each.mean() for each in errors], marker="o", color=colour, label=expert)
        for share, each in zip((0, *WRONG), errors, strict=True):
            panel.scatter([share + 0.01 * (place - 0.5)] * len(each), each, s=9, alpha=0.4, color=colour)
    panel.set_xlabel("share of wrong statements")
    panel.set_xticks((0, *WRONG), [f"{share:.0%}" for share in (0, *WRONG)])
    panel.set_ylabel("mean absolute error of the parameters")
    panel.set_ylim(0)
    panel.grid(alpha=0.3)
    panel.legend(title="the expert is, of wrong statements")
    write(figure, path)


def _means(fits: pl.DataFrame, column: str) -> dict[str, float]:
    return dict(fits.group_by("learner", maintain_order=True).agg(pl.col(column).mean()).iter_rows())


def _failing(units: pl.DataFrame, name: str) -> float:
    """The mean number of units per draw that fail: present or absent, they are recognised about equally often."""
    own = units.filter(pl.col("learner") == name)
    failed = (own["positive_rate"] - own["false_alarm"] <= FAILED).sum()
    return failed / own["draw"].n_unique()


def _pair(means: dict[str, float], one: str, two: str) -> str:
    return f"{means[one]:.3f} compared with {means[two]:.3f}"
