"""The commands of a living model: `update`, `history`, `reproduce`, `summarise` and `sites`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from credo.cli.network_commands import AsJson, Questions, Seed, TableOptions, Weights, print_json, reads_table
from credo.cli.signals import end_on_signals
from credo.progress import reporting
from credo.terminal import console, say

SavedFit = Annotated[Path, typer.Argument(help="A saved fit: .fit")]


@reads_table
def update(
    fit: SavedFit,
    data: Annotated[
        list[str] | None, typer.Argument(help="The new rows: .csv, .parquet, .xlsx; or a glob of CSV files")
    ] = None,
    knowledge: Annotated[
        list[Path] | None,
        typer.Option("--knowledge", "-k", help="All statements that hold from now on; as before, if not given."),
    ] = None,
    forget: Annotated[
        str | None,
        typer.Option(help="After how many newer rows a row counts half; or auto: as well as it predicts new rows."),
    ] = None,
    weights: Annotated[str | None, typer.Option(help="The column that says how often each new row counts.")] = None,
    table_format: TableOptions = None,
    who: Annotated[str, typer.Option(help="Who updates, for `credo history`.")] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the new fit here (.fit); over the old one, if not given.")
    ] = None,
    without_rows: Annotated[bool, typer.Option("--without-rows", help="Keep no rows; counts stay.")] = False,
    report: Annotated[Path | None, typer.Option("--report", help="Write the result here, as one HTML page.")] = None,
    ask: Questions = None,
    as_json: AsJson = False,
) -> None:
    """Add the rows of DATA to FIT, or change its statements: the result is that of learning from all rows together."""
    target = fit if out is None else out
    with reporting(False if as_json else None) as notify:
        from credo.io.files import PAGE_TARGETS, require_target
        from credo.knowledge.query import parse_query
        from credo.saving.fits import check_fit_target, load

        check_fit_target(target)  # before the work, not after it
        if report is not None:
            require_target(report, PAGE_TARGETS)
        end_on_signals().expect(target, report)
        before = load(fit)
        for question in ask or ():
            parse_query(before.network, question)
        result = before.update(
            None if not data else data[0] if len(data) == 1 else data,
            tuple(knowledge) if knowledge else None,
            forget=_memory(forget),
            weights=weights,
            table_format=table_format,
            who=who,
            progress=notify,
        )
        result.save(target, without_rows=without_rows)
        if report is not None:
            result.report(report, progress=notify)
    if as_json:
        asked = {"answers": [result.query(question).to_dict() for question in ask]} if ask else {}
        print_json({**result.to_dict(), **asked})
        return
    from credo.report.fit_text import fit_summary
    from credo.updating import rows_text

    for question in ask or ():
        say(f"{result.query(question)}\n")
    console().print(fit_summary(result, None, with_cpts=False))
    for change in result.trail[-1].changes:
        say(f"Changed most: {change}" if change == result.trail[-1].changes[0] else f"              {change}")
    say(f"The fit is in {target}. {rows_text(result, without_rows)}")


def _memory(text: str | None) -> float | Literal["auto"] | None:
    if text is None:
        return None
    try:
        return "auto" if text == "auto" else float(text)
    except ValueError:
        raise typer.BadParameter(f"{text} is neither a number of rows nor auto.", param_hint="--forget") from None


def history(fit: SavedFit, as_json: AsJson = False) -> None:
    """Show when, from which tables and by which statements FIT was learned and updated, and what changed most."""
    from dataclasses import asdict

    from credo.report.audit_text import history_text
    from credo.saving.fits import load

    found = load(fit)
    if as_json:
        steps: list[Any] = [asdict(step) for step in found.trail]
        print_json({"steps": steps})
        return
    say(history_text(found))


def reproduce(
    fit: SavedFit,
    folder: Annotated[
        Path | None, typer.Option("--in", help="The folder with the tables; this one, if not given.")
    ] = None,
) -> None:
    """Make FIT again from its recorded inputs, and say whether every bit agrees. Exit code 1: it does not."""
    from credo.saving.fits import load

    found = load(fit).reproduce(folder)
    say(str(found))
    if not found.agrees:
        raise typer.Exit(1)


@reads_table
def sites(
    knowledge: Annotated[Path, typer.Argument(help="The text or network that all sites share: .credo, .bif, …")],
    data: Annotated[list[str], typer.Argument(help="The rows of all sites: .csv, .parquet, .xlsx")],
    by: Annotated[
        str | None,
        typer.Option("--by", "-b", help="The column that says where a row comes from, if the text does not (site: …)."),
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option("--only", help="A variable whose CPT may differ from site to site; all, if not given. Repeat it."),
    ] = None,
    ask: Annotated[
        list[str] | None, typer.Option("--ask", "-a", help="A question, for each site and a new one.")
    ] = None,
    save_in: Annotated[Path | None, typer.Option("--save-in", help="A folder for the fits: SITE.fit, new.fit.")] = None,
    seed: Seed = 0,
    weights: Weights = None,
    table_format: TableOptions = None,
    as_json: AsJson = False,
) -> None:
    """Learn each site of DATA, which borrows from the others as much as the rows say that sites are alike."""
    from credo.sites import fit_sites

    found = fit_sites(
        knowledge,
        data,
        by,
        variables=variables,
        weights=weights,
        table_format=table_format,
        seed=seed,
        progress=False,
    )
    answers = {question: found.query(question) for question in ask or ()}
    for name, fit in {**found.fits, "new": found.new}.items() if save_in is not None else ():
        assert save_in is not None
        save_in.mkdir(parents=True, exist_ok=True)
        fit.save(save_in / f"{name.replace('/', '_')}.fit")
    if as_json:
        print_json(
            {
                "sites": {name: fit.rows for name, fit in found.fits.items()},
                "alike": found.alike.to_dicts(),
                "answers": {q: {name: each.to_dict() for name, each in own.items()} for q, own in answers.items()},
            }
        )
        return
    say(str(found))
    for own in answers.values():
        say("")
        for name, answer in own.items():
            say(f"{name}: {answer}")
    if save_in is not None:
        say(f"The fits are in {save_in}.")


@reads_table
def summarise(
    data: Annotated[list[str], typer.Argument(help="The rows of this site: .csv, .parquet, .xlsx")],
    knowledge: Annotated[
        Path, typer.Option("--knowledge", "-k", help="The text or network that all sites share: .credo, .bif, …")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write: .counts")],
    suppress_below: Annotated[
        int, typer.Option(help="Write numbers above 0 and below this as 0, so that nobody can be recognised.")
    ] = 0,
    weights: Weights = None,
    table_format: TableOptions = None,
) -> None:
    """Count the complete rows of DATA into a file without rows, which `credo learn` takes as a table."""
    from credo.errors import counted
    from credo.updating import summarise as write

    found = write(
        knowledge,
        data,
        out,
        suppress_below=suppress_below,
        weights=weights,
        table_format=table_format,
    )
    left_out = f" {counted(found.left_out, 'row')} with missing values left out." if found.left_out else ""
    say(f"{out} has the counts of {counted(found.rows, 'row')}, and no rows.{left_out}")
    if found.suppressed_cells:
        cells = counted(found.suppressed_cells, "number")
        say(f"{cells} below {suppress_below} were suppressed ({found.suppressed_cases:g} cases).")
    say(f"Elsewhere: credo learn {knowledge} {out} OTHER.counts")


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    for command in (update, history, reproduce, summarise, sites):
        app.command()(command)
