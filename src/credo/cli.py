"""The command line: thin, and quick to start, because what is heavy is imported when it is needed."""

from __future__ import annotations

import signal
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from credo import __version__
from credo.errors import CredoError

if TYPE_CHECKING:
    from rich.console import Console

    from credo.results import Fit

app = typer.Typer(
    name="credo",
    help="Learn the tables of a Bayesian network from data and from what experts know.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

INTERRUPTED = 130  # what shells expect of a program that was stopped with Ctrl-C


def main() -> None:
    """Run the command line; a user's mistake ends in one clear paragraph, a traceback only with --debug."""
    debug = "--debug" in sys.argv
    warnings.showwarning = lambda message, *_, **__: print(f"credo: {message}", file=sys.stderr)
    signal.signal(signal.SIGINT, _interrupt)
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        app(args=arguments)
    except CredoError as error:
        if debug:
            raise
        print(f"credo: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Interrupted:
        print("\ncredo: interrupted; nothing was written.", file=sys.stderr)
        sys.exit(INTERRUPTED)


class Interrupted(BaseException):
    """Ctrl-C. A type of our own, because the library of the command line ends a KeyboardInterrupt without a word."""


def _interrupt(*_: object) -> None:
    raise Interrupted


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"credo {__version__}")
        raise typer.Exit


@app.callback()
def credo(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error. Works in any place.")] = False,
) -> None:
    """Learn the tables of a Bayesian network from data and from what experts know."""


@app.command()
def learn(
    network: Annotated[Path, typer.Argument(help="The network: .bif, .bif.gz, .xdsl, .xmlbif, .net, .uai, .dsl")],
    data: Annotated[Path, typer.Argument(help="The table: .csv, .parquet, or a folder of Parquet files")],
    knowledge: Annotated[Path | None, typer.Option("--knowledge", "-k", help="What experts know.")] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="See `credo methods`.")] = "auto",
    prior: Annotated[str | None, typer.Option(help="A number of pseudo-counts, k2, or bdeu:SIZE.")] = None,
    prior_network: Annotated[Path | None, typer.Option(help="Take the prior from another network.")] = None,
    prior_weight: Annotated[
        float | None, typer.Option(help="How many rows the prior network's word is worth; 1 if not given.")
    ] = None,
    fixed: Annotated[list[str] | None, typer.Option(help="Keep the table of this variable; may be repeated.")] = None,
    weights: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    soft_weight: Annotated[float | None, typer.Option(help="How much statements with a confidence weigh.")] = None,
    hidden_draws: Annotated[float | None, typer.Option(help="With me and cme: the caution s, 1 if not given.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    starts: Annotated[int, typer.Option(help="With gaps in the data: from how many starts EM is run.")] = 5,
    max_iterations: Annotated[int, typer.Option(help="With gaps in the data: steps of EM from each start.")] = 1000,
    tie_reading: Annotated[str, typer.Option(help="How tied rows came about: cll, joint or merged.")] = "cll",
    trainer: Annotated[str, typer.Option(help="With gaps in the data: em, or gradient [Yang, algorithm 1].")] = "em",
    checkpoint: Annotated[Path | None, typer.Option(help="A file from which a stopped run of EM goes on.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the learned network here.")] = None,
    page: Annotated[Path | None, typer.Option("--report", help="Write the whole story here, as one HTML page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Learn the tables of NETWORK from DATA, and from knowledge. Exit code 3: the knowledge contradicts itself."""
    from credo.checking import check as check_knowledge
    from credo.constraints.conflicts import ConflictError
    from credo.fitting import fit
    from credo.io.network_files import check_target, read_network, write_network
    from credo.knowledge import read_knowledge
    from credo.options import EMOptions, EntropyOptions, checked_page

    if out is not None:
        check_target(out)  # before the work, not after it
    if page is not None:
        checked_page(page)
    given = read_network(network)
    known = None if knowledge is None else read_knowledge(knowledge, given)
    believed = _prior(prior, prior_network, prior_weight)
    try:
        result = fit(
            given,
            data,
            known,
            method=method,
            prior=believed,
            fixed=tuple(fixed or ()),
            weights=weights,
            seed=seed,
            soft_weight=soft_weight,
            tie_reading=tie_reading,
            entropy=EntropyOptions() if hidden_draws is None else EntropyOptions(hidden_draws),
            verbose=False if as_json else None,
            em=EMOptions(starts=starts, max_iterations=max_iterations, trainer=trainer, checkpoint=checkpoint),
        )
    except ConflictError as error:
        if page is None or known is None:
            raise
        check_knowledge(given, known).report(page)
        raise ConflictError(f"{error}\nA picture of it is in {page}.", error.conflicts) from None
    if out is not None:
        write_network(result.network, out)
    if page is not None:
        result.report(page)
    _show(result, out, as_json, page)


@app.command()
def check(
    network: Annotated[Path, typer.Argument(help="The network whose variables the knowledge speaks of")],
    knowledge: Annotated[Path, typer.Argument(help="The knowledge: one statement a line")],
    data: Annotated[Path | None, typer.Option("--data", "-d", help="Hold each statement against this table.")] = None,
    seed: Annotated[int, typer.Option(help="Of the random draws behind probabilities.")] = 0,
    page: Annotated[Path | None, typer.Option("--report", help="Write the check here, as one HTML page.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Say whether KNOWLEDGE can hold, what follows from it, and what data say of it. Exit code 3: it cannot hold."""
    from credo.checking import check as check_knowledge
    from credo.io.network_files import read_network
    from credo.knowledge import read_knowledge
    from credo.options import checked_page

    if page is not None:
        checked_page(page)  # before the work, not after it
    given = read_network(network)
    known = read_knowledge(knowledge, given)
    found = check_knowledge(given, known, data, seed=seed)
    if page is not None:
        found.report(page)
    if as_json:
        _print_json(found.to_dict())
    else:
        from credo.report.check_text import check_summary

        _console().print(check_summary(found))
        if page is not None:
            _console().print(f"\nThe same with pictures is in {page}: open it in a browser.")
    raise typer.Exit(found.exit_code)


@app.command()
def methods() -> None:
    """Say which method to take when."""
    from credo.report.terminal import methods_table

    _console().print(methods_table())


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for what the demo writes.")] = Path("demo"),
) -> None:
    """Learn an example that ships with the package: a network of six from thirty patients and an expert's notes."""
    from credo.checking import check as check_knowledge
    from credo.fitting import fit
    from credo.io.network_files import read_network, write_network
    from credo.knowledge import read_knowledge
    from credo.report.check_text import check_summary
    from credo.shipped import example

    folder = example("brain-tumour")
    network = read_network(folder / "brain-tumour.bif").without_cpts()
    knowledge = read_knowledge(folder / "brain-tumour.credo", network)
    data = folder / "patients.csv"
    print(f"An oncologist's notes ({folder / 'brain-tumour.credo'}), held against thirty patients:\n")
    _console().print(check_summary(check_knowledge(network, knowledge, data)))
    print("\nWhat is learned from both:\n")
    result = fit(network, data, knowledge)
    out.mkdir(parents=True, exist_ok=True)
    write_network(result.network, out / "learned.bif")
    _show(result, out / "learned.bif", as_json=False, page=result.report(out / "report.html"))


def _prior(text: str | None, network: Path | None, weight: float | None) -> object:
    from credo.errors import OptionError

    if network is None:
        if weight is not None:
            raise OptionError("--prior-weight belongs to --prior-network, which is not given.")
        return text
    from credo.io.network_files import read_network
    from credo.statistics.prior import NetworkPrior

    if text is not None:
        raise OptionError("--prior and --prior-network exclude each other: there can be one prior.")
    return NetworkPrior(read_network(network), 1.0 if weight is None else weight)


def _show(result: Fit, out: Path | None, as_json: bool, page: Path | None) -> None:
    if as_json:
        _print_json(result.to_dict())
        return
    from credo.report.terminal import fit_summary

    _console().print(fit_summary(result, out))
    if page is not None:
        _console().print(f"The whole story, with what each statement did, is in {page}: open it in a browser.")


def _print_json(value: dict[str, Any]) -> None:
    import json

    print(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False)
