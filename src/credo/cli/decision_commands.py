"""The commands about what comes after a prediction: what to do, which test to make next, what to ask an expert."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from credo.cli.network_commands import (
    AsJson,
    Seed,
    TableOptions,
    Utilities,
    fit_to_ask,
    print_json,
    print_result,
    reads_table,
    save_picture,
)
from credo.cli.signals import end_on_signals
from credo.progress import reporting
from credo.terminal import say

if TYPE_CHECKING:
    from credo.options import TableFormat
    from credo.results.fit_results import Fit

Model = Annotated[
    Path, typer.Argument(help="A saved fit: .fit; a network; or knowledge: .credo, which is learned first")
]
Data = Annotated[
    Path | None, typer.Argument(help="With knowledge: the table to learn from, if there is one", show_default=False)
]
Given = Annotated[str, typer.Option("--given", "-g", help='What is known: "age=54, ecg=abnormal"')]


@reads_table
def decide(
    model: Model,
    data: Data = None,
    given: Given = "",
    utilities: Utilities = None,
    held_out: Annotated[
        Path | None, typer.Option(help="Rows that MODEL was not learned from: what does deciding by it gain there?")
    ] = None,
    table_format: TableOptions = None,
    as_json: AsJson = False,
) -> None:
    """Say what to do: the expected utility of every option, how sure that is, and what would change it."""
    fit = learned(model, data, table_format, as_json)
    found = fit.decide(given, utilities=utilities)
    benefit = None if held_out is None else fit.net_benefit(held_out, utilities=utilities, table_format=table_format)
    if as_json:
        print_json({**found.to_dict(), **({} if benefit is None else {"net_benefit": benefit.to_dict()})})
        return
    say(str(found))
    if benefit is not None:
        say(f"\n{benefit}")


@reads_table
def next_test(
    model: Model,
    data: Data = None,
    given: Given = "",
    target: Annotated[
        str | None, typer.Option("--for", "-f", help="The variable that tests are for; without it, the decision.")
    ] = None,
    candidate: Annotated[
        list[str] | None,
        typer.Option("--test", "-t", help="A variable that could be observed; may be repeated. All if not given."),
    ] = None,
    utilities: Utilities = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the ranking here: .png, .svg or .pdf")] = None,
    table_format: TableOptions = None,
    as_json: AsJson = False,
) -> None:
    """Rank the tests for this case: by what they tell about a variable, or by what they gain for the decision."""
    fit = learned(model, data, table_format, as_json)
    found = fit.next_tests(given, target, candidates=candidate or None, utilities=utilities)
    if picture is not None:
        from credo.plot import next_tests

        save_picture(next_tests(found), picture)
    print_result(found, as_json)


@reads_table
def interview(
    model: Annotated[Path, typer.Argument(help="Knowledge that declares its variables: .credo; answers go there")],
    data: Annotated[Path | None, typer.Argument(help="The table, if there is one", show_default=False)] = None,
    target: Annotated[
        str | None,
        typer.Option("--for", "-f", help='What to narrow: "P(disease=1 | age=54)", or a decision, "treat | age=54".'),
    ] = None,
    expert: Annotated[str, typer.Option("--expert", "-e", help="Who answers; the statements have this name.")] = "me",
    certain: Annotated[
        bool, typer.Option("--certain", help="Write statements that must hold; else the expert may be wrong.")
    ] = False,
    questions: Annotated[int | None, typer.Option("--questions", "-n", help="How many questions at most.")] = None,
    enough: Annotated[
        float, typer.Option(help="Stop when no question is expected to narrow the interval by this share.")
    ] = 0.02,
    seed: Seed = 0,
    table_format: TableOptions = None,
) -> None:
    """Ask an expert, in plain words, what helps most; write the answers into MODEL; go on where the last one ended."""
    from credo.errors import OptionError
    from credo.interview import interview as ask_expert

    if model.suffix != ".credo":
        raise OptionError(f"{model} is not knowledge (.credo): answers are written into such a file.")
    end_on_signals().farewell = lambda: f"All answers so far are in {model}."
    ask_expert(
        model,
        data,
        expert,
        target,
        ask=input,
        show=say,
        is_certain=certain,
        enough=enough,
        most=questions,
        seed=seed,
        table_format=table_format,
    )


def learned(model: Path, data: Path | None, written: TableFormat | None, as_json: bool) -> Fit:
    """The fit in a file, or what a knowledge file and a table give."""
    from credo.errors import OptionError
    from credo.knowledge.sources import is_knowledge_file

    fit = fit_to_ask(model)
    if fit is not None:
        if data is not None:
            if "=" in data.name:
                raise OptionError(f'What is known is given by an option: --given "{data}"')
            raise OptionError(
                f"{model} has its numbers already: leave {data} out. (credo decide tests it on new rows: --held-out "
                f"{data})"
            )
        return fit
    if not is_knowledge_file(model):
        raise OptionError(
            f"{model} is no saved fit (.fit), network (.bif, …) or knowledge (.credo). Save a fit: credo learn {model} "
            "data.csv --save model.fit"
        )
    with reporting(False if as_json else None) as notify:
        from credo.fitting import fit as learn

        return learn(model, data, table_format=written, progress=notify)


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    app.command()(decide)
    app.command("next")(next_test)
    app.command()(interview)
