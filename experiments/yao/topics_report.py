"""From the words of topics to the paper's tables, a figure, and the outcome of each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from experiments.claims import Claim, claims_table
from experiments.figures import mean_and_error, panels, save, summarise

SHOWN = 30  # words of a topic, as in the paper's tables 2 and 3
COLOURS = {"none": "#000000", "paper": "#e69f00", "wider": "#0072b2"}
NAMES = {"none": "no ties", "paper": "the paper's words", "wider": "wider groups"}
Groups = Sequence[Sequence[str]]


def write_topics(
    results: pl.DataFrame, groups: Mapping[str, Groups], co_occurrences: Mapping[str, Sequence[int]], folder: Path
) -> str:
    """Write topics.md and topics.png, and return the text."""
    numbers = measures(results, groups)
    draw_figure(numbers, folder / "topics.png")
    draws = results["draw"].n_unique()
    met = "; ".join(
        f"{', '.join(group)}: {count}"
        for ties in groups
        for group, count in zip(groups[ties], co_occurrences[ties], strict=True)
    )
    parts = [
        "# Yao 7.3: topics with tied words\n",
        "document → topic → word, with ten topics and a row for each word of each of 398 abstracts of AAAI-14 (the "
        "paper's "
        "539 abstracts of JAIR are not published). The pseudo-counts are 0.1 for each topic of a document and 0.01 for "
        "each word of a topic, as in `credo.topics`. Words of one group are tied if they occur in one abstract. The "
        "paper's words rarely co-occur here, so the wider groups include other forms and close relatives. Number of "
        f"abstracts in which at least two words of a group occur: {met}. Means over {draws} starts ± standard error; "
        "the "
        "starts are the same with and without ties.\n",
        "\nWhy not every word of a group is among the fifty, and what topic models with seed words do: "
        "[a second look](topic_rivals.md).\n",
        claims_table(claims(numbers)),
        numbers_table(numbers),
        "![What ties change](topics.png)\n",
        dots_table(results, groups),
        *(words_table(results, ties) for ties in groups),
    ]
    text = "\n".join(parts)
    (folder / "topics.md").write_text(text, encoding="utf-8")
    return text


def measures(results: pl.DataFrame, groups: Mapping[str, Groups]) -> pl.DataFrame:
    """For each run and each choice of groups (the paper's words, wider ones): how concentrated the groups are.

    `together` is the largest share of a group among the fifty most probable words of one topic; `held` is the largest
    share of the group's occurrences that one topic has; `spread` is the number of topics with a word of the group among
    their fifty. All are means over groups. `coherence` is the mean NPMI of the ten most probable words of a topic.
    """
    lines = []
    for (ties, draw), run in results.group_by("ties", "draw", maintain_order=True):
        tops = [set(words.split()) for words in run["words"]]
        for name, evaluated in groups.items():
            if evaluated:
                together = [max(len(top.intersection(group)) for top in tops) / len(group) for group in evaluated]
                held = [
                    run.select(pl.mean_horizontal(f"share {word}" for word in group)).max().item()
                    for group in evaluated
                ]
                spread = [sum(word in top for top in tops) for group in evaluated for word in group]
                lines.append(
                    {
                        "ties": ties,
                        "draw": draw,
                        "groups": name,
                        "together": sum(together) / len(evaluated),
                        "held": sum(held) / len(evaluated),
                        "spread": sum(spread) / len(spread),
                        "coherence": run["coherence"].mean(),
                    }
                )
    return pl.DataFrame(lines)


def claims(numbers: pl.DataFrame) -> list[Claim]:
    """The paper's claims, then ours."""
    found = []
    for ties in [each for each in NAMES if each in numbers["groups"].unique()]:
        own = numbers.filter(pl.col("groups") == ties)
        without, tied = (own.filter(pl.col("ties") == each).sort("draw") for each in ("none", ties))
        for column, text in (
            ("together", "put more of a group among the fifty most probable words of one topic"),
            ("held", "bring more of a group's occurrences into one topic"),
        ):
            found.append(_more(f"Ties ({NAMES[ties]}) {text}", without[column], tied[column]))
        whole = int((tied["together"] == 1).sum())
        text = f"Ties ({NAMES[ties]}) put every word of each group among the fifty of one topic"
        found.append(Claim(text, whole == len(tied), f"in {whole} of {len(tied)} runs"))
        cost = tied["coherence"] - without["coherence"]
        mean, error = float(cost.mean()), float((cost.std() or 0.0) / len(cost) ** 0.5)
        text = f"(ours) With ties ({NAMES[ties]}), the topics are as coherent as without"
        found.append(Claim(text, mean > -2 * error, f"NPMI {mean_and_error(mean, error, sign='+')}"))
    dispersed = numbers.filter((pl.col("ties") == "none") & (pl.col("groups") == "paper"))["together"]
    text = "Without ties the words are dispersed: no topic has all words of a group among its fifty"
    return [
        Claim(text, not (dispersed == 1).any(), f"largest share of a group, on average: {dispersed.mean():.2f}"),
        *found,
    ]


def _more(text: str, without: pl.Series, tied: pl.Series) -> Claim:
    rise = tied - without
    mean, error = float(rise.mean()), float((rise.std() or 0.0) / len(rise) ** 0.5)
    figures = f"{without.mean():.2f} without, {tied.mean():.2f} with ties: {mean_and_error(mean, error, 2, '+')}"
    return Claim(text, mean > 2 * error, figures)


def numbers_table(numbers: pl.DataFrame) -> str:
    """One line for each choice of ties and of evaluated words."""
    columns = ("together", "held", "spread", "coherence")
    lines = [
        "\n## Numbers\n",
        "`together`: the largest share of a group among the fifty most probable words of one topic. `held`: the "
        "largest "
        "share of its occurrences that one topic has. `spread`: the number of topics with a word of it among their "
        "fifty. `coherence`: NPMI of the ten most probable words of a topic in these abstracts, mean of all topics.\n",
        f"| ties | evaluated words | {' | '.join(columns)} |",
        "|---|---|" + "---|" * len(columns),
    ]
    cells = {column: summarise(numbers, ["groups", "ties"], column) for column in columns}
    for row, (name, ties) in enumerate(cells["held"].select("groups", "ties").iter_rows()):
        texts = [mean_and_error(*cells[column].row(row)[2:4]) for column in columns]
        lines.append(f"| {NAMES[ties]} | {NAMES[name]} | {' | '.join(texts)} |")
    return "\n".join(lines) + "\n"


def dots_table(results: pl.DataFrame, groups: Mapping[str, Groups]) -> str:
    """As table 1, for the first start: a large dot if a word is among the fifty most probable of a topic."""
    lines = ["\n## Table 1: words among the fifty most probable of a topic (first start)\n"]
    lines += [f"| topics 0 to 9 | {' | '.join(NAMES[ties] for ties in groups)} |", "|---|" + "---|" * len(groups)]
    tops = {ties: [set(words.split()) for words in _first(results, ties)["words"]] for ties in groups}
    widest = max(groups.values(), key=lambda own: sum(map(len, own)))
    for word in (word for group in widest for word in group):
        dots = [" ".join("•" if word in top else "·" for top in tops[ties]) for ties in groups]
        lines.append(f"| {word} | {' | '.join(dots)} |")
    return "\n".join(lines) + "\n"


def words_table(results: pl.DataFrame, ties: str) -> str:
    """As tables 2 and 3, for the first start: the most probable words of each topic."""
    lines = [f"\n## Topics with {NAMES[ties]} (first start)\n", "| topic | coherence | words |", "|---|---|---|"]
    for topic, coherence, words in _first(results, ties).select("topic", "coherence", "words").iter_rows():
        lines.append(f"| {topic} | {coherence:+.3f} | {' '.join(words.split()[:SHOWN])} |")
    return "\n".join(lines) + "\n"


def draw_figure(numbers: pl.DataFrame, path: Path) -> None:
    """A panel for each measure; bars for each choice of ties, side by side for both choices of evaluated words."""
    titles = {
        "together": "share of a group in one topic's top 50",
        "held": "share of its occurrences in one topic",
        "coherence": "NPMI of top 10 words, all topics",
    }
    evaluated = [each for each in NAMES if each in numbers["groups"].unique()]
    figure, axes = panels(1, len(titles), 4.2, 3.6)
    for panel, (column, title) in zip(axes[0], titles.items(), strict=True):
        cells = summarise(numbers, ["groups", "ties"], column)
        for place, (ties, colour) in enumerate(COLOURS.items()):
            own = {row[0]: row[2:4] for row in cells.filter(pl.col("ties") == ties).iter_rows()}
            left = [i + 0.26 * (place - 1) for i in range(len(evaluated))]
            means, errors = zip(*(own[each] for each in evaluated), strict=True)
            label = NAMES[ties] if ties == "none" else f"tied: {NAMES[ties]}"
            panel.bar(left, means, 0.24, yerr=errors, capsize=3, color=colour, ecolor="#777777", label=label)
        panel.set_xticks(range(len(evaluated)), [NAMES[each] for each in evaluated])
        panel.set_xlabel("evaluated words")
        panel.set_ylabel(title)
    save(figure, axes[0], path)


def _first(results: pl.DataFrame, ties: str) -> pl.DataFrame:
    own = results.filter(pl.col("ties") == ties)
    return own.filter(pl.col("draw") == own["draw"].min()).sort("topic")
