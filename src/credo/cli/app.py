"""The application `credo`: its commands, how a user's mistake is reported, and the exit code."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, Any

import typer

from credo import __version__
from credo.cli import (
    decision_commands,
    learning_commands,
    living_commands,
    network_commands,
    result_commands,
    sheet_commands,
)
from credo.cli.signals import end_on_signals
from credo.errors import CredoError
from credo.terminal import drop_output, never_fail_to_print, say

app = typer.Typer(
    name="credo",
    help="Learn the probabilities of a Bayesian network from data and from what experts know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_UsageError: Any = typer.BadParameter.__mro__[2]  # ClickException, of click or of the copy in Typer


def main() -> None:
    """Run the command line; a user's mistake ends in one clear paragraph, a traceback only with --debug."""
    end_on_signals()
    never_fail_to_print()
    debug = "--debug" in sys.argv
    warnings.showwarning = lambda message, *_, **__: say(f"credo: {message}", sys.stderr)
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        sys.exit(app(args=arguments, prog_name="credo", standalone_mode=False))
    except CredoError as error:
        if debug:
            raise
        say(f"credo: {error}", sys.stderr)
        sys.exit(error.exit_code)
    except OSError as error:  # of the system itself, such as output that cannot be written
        if debug:
            raise
        drop_output()
        say(f"credo: {error}", sys.stderr)
        sys.exit(CredoError.exit_code)
    except _UsageError as error:
        if message := error.format_message():  # none where the help was shown instead
            say(f"credo: {message}{_usage(error)}", sys.stderr)
        sys.exit(error.exit_code)


def _usage(error: Any) -> str:
    """How the command is called, after a mistake in its arguments."""
    context = getattr(error, "ctx", None)
    return "" if context is None else f"\n{context.get_usage()}\nHelp: {context.command_path} --help"


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"credo {__version__}")
        raise typer.Exit


@app.callback()
def credo(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere.")] = False,
) -> None:
    """Learn the probabilities of a Bayesian network from data and from what experts know."""


learning_commands.add_commands(app)
living_commands.add_commands(app)
network_commands.add_commands(app)
decision_commands.add_commands(app)
result_commands.add_commands(app)
sheet_commands.add_commands(app)
