"""Commands about a saved fit, and models for a task: `explain`, `marginals`, `diagnostics`, `cluster` and `topics`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from credo.cli.living_commands import SavedFit
from credo.cli.network_commands import AsJson, Seed, TableOptions, give_frame, print_json, reads_table
from credo.progress import reporting
from credo.terminal import say

Out = Annotated[Path | None, typer.Option("--out", "-o", help="Write the result here, as CSV.")]
Together = Annotated[
    list[str] | None, typer.Option(help='Words that belong to one topic: "heart, blood"; may be repeated.')
]


def explain(fit: SavedFit) -> None:
    """Explain FIT: what each statement did, whether the knowledge helped, and what to observe next."""
    from credo.saving.fits import load

    say(str(load(fit).explain()))


def marginals(
    fit: SavedFit,
    evidence: Annotated[str, typer.Argument(help='What is known: "xray=yes, smoke=no"; nothing if not given')] = "",
    most_probable: Annotated[
        bool, typer.Option("--most-probable", help="The states that are most probable together, instead.")
    ] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Show how probable each state of each variable of FIT is, given EVIDENCE."""
    from credo.saving.fits import load

    loaded = load(fit)
    found = loaded.most_probable(evidence or None) if most_probable else loaded.marginals(evidence or None)
    give_frame(found, out, as_json, "state")


def diagnostics(
    fit: SavedFit,
    variable: Annotated[str | None, typer.Argument(help="Every probability of this variable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how far the draws of FIT can be trusted: effective sizes and R-hat, the worst first."""
    from credo.saving.fits import load

    give_frame(load(fit).diagnostics(variable), None, as_json, "number")


@reads_table
def cluster(
    data: Annotated[str, typer.Argument(help="The table: .csv, .parquet, .xlsx")],
    k: Annotated[int, typer.Argument(help="How many clusters there are")],
    ties: Annotated[str | None, typer.Option(help="A column: rows with equal values share a cluster.")] = None,
    merged: Annotated[bool, typer.Option("--merged", help="Each tie is one draw of its cluster.")] = False,
    table_format: TableOptions = None,
    seed: Seed = 0,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Find K clusters of the rows of DATA: the most probable cluster of each row, and its probability."""
    with reporting(False if as_json else None):
        import polars as pl

        from credo.clustering import cluster as find

        found = find(data, k, ties=ties, merged=merged, seed=seed, table_format=table_format)
        frame = pl.DataFrame(
            {
                "row": range(1, len(found.labels) + 1),
                "cluster": found.labels,
                "probability": found.probabilities.max(axis=1),
            }
        )
    give_frame(frame, out, as_json, "row")


def topics(
    texts: Annotated[Path, typer.Argument(help="A text file with one document per line")],
    k: Annotated[int, typer.Argument(help="How many topics there are")],
    together: Together = None,
    words: Annotated[int, typer.Option(help="How many words of each topic are shown.")] = 10,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Find K topics in TEXTS: the words of each."""
    from credo.io.files import require_file

    require_file(texts, "file of texts")
    with reporting(False if as_json else None) as notify:
        from credo.topic_models import topics as find

        groups = [[word.strip() for word in each.split(",")] for each in together or ()]
        lines = texts.read_text(encoding="utf-8").splitlines()
        found = find(lines, k, together=groups, seed=seed, progress=notify)
    listed = [found.words(topic, words) for topic in range(k)]
    if as_json:
        print_json(listed)
    else:
        say("\n".join(f"topic {topic}: {', '.join(own)}" for topic, own in enumerate(listed)))


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    for command in (explain, marginals, diagnostics, cluster, topics):
        app.command()(command)
