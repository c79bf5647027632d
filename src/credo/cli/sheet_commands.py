"""The commands for several experts: questions as a spreadsheet, and filled ones as statements with their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from credo.errors import counted
from credo.terminal import say

if TYPE_CHECKING:
    from credo.knowledge import Knowledge

SHOWN = 10  # numbers in which experts disagree most
Model = Annotated[Path, typer.Argument(help="The knowledge: .credo, which declares the network; or a network")]
Table = Annotated[Path | None, typer.Option("--data", help="The table, if the states come from it.")]


def sheet(
    model: Model,
    expert: Annotated[str, typer.Option("--for", help="Who answers, such as cardiologist")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The sheet to write: .xlsx or .csv")],
    data: Table = None,
) -> None:
    """Write the questions about MODEL that an expert can answer as a spreadsheet, in plain words."""
    from credo.answer_sheets import write_sheet

    count = write_sheet(_knowledge(model, data), expert, out)
    say(f"{out} has {count:,} questions for {expert}. Any of them may stay empty. When it is filled:")
    say(f"credo read-sheet {model} {out} -o answers.credo")


def read_sheet(
    model: Model,
    sheets: Annotated[list[Path], typer.Argument(help="The filled sheets, one for each expert")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the statements here, as .credo.")] = None,
    data: Table = None,
    anonymous: Annotated[bool, typer.Option("--anonymous", help="Compare without names, for a second round.")] = False,
) -> None:
    """Turn filled SHEETS into statements, one block for each expert, and say where experts disagree."""
    from credo.answer_sheets import INDENT, agreement, distances, read_sheets, statements_of
    from credo.io.files import replacing
    from credo.probability_texts import percent_digits

    knowledge = _knowledge(model, data)
    answers = read_sheets(sheets, knowledge)
    text = statements_of(answers, knowledge.network)
    if out is None:
        say(text)
    else:
        with replacing(out) as draft:
            draft.write_text(text, encoding="utf-8")
        say(f"{out} has {counted(text.count(INDENT), 'statement')}. Learn with them: credo learn {model} -k {out} …")
    if found := agreement(answers, knowledge.network):
        say(f"\n{len(found)} numbers have several answers. The experts differ most in these:")
        for each in found[:SHOWN]:
            say(f"  {each.sentence(anonymous)}")
        if not anonymous:
            far = sorted(distances(found).items(), key=lambda pair: -pair[1])
            say("On average they are from the median of all: " + ", ".join(f"{n} {percent_digits(d)}" for n, d in far))


def _knowledge(model: Path, data: Path | None) -> Knowledge:
    from credo.knowledge.declared_network import knowledge_about

    return knowledge_about(model, None, data).knowledge


def add_commands(app: typer.Typer) -> None:
    """Add them to the command line."""
    app.command()(sheet)
    app.command("read-sheet")(read_sheet)
