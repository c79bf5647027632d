"""Commands about a network that is there: ask it, predict with it, show, convert, compare and sample it.

A saved fit is one too; its draws give answers their intervals.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from credo.errors import OptionError, counted, listing
from credo.probability_texts import LEAST_SHOWN, four_digits
from credo.terminal import console, for_shell, printable_json, say

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from credo.model.cut_points import CutPoints
    from credo.model.network import Network
    from credo.options import TableFormat
    from credo.plain_results import PlainResult
    from credo.results.fit_results import Fit
    from credo.types import Json

SHOWN = 20  # rows of a table that a terminal shows
CSV_DECIMALS = 6
SMALL, SMALL_DIGITS = 1e-3, 4  # below this, so many digits

NetworkFile = Annotated[
    Path, typer.Argument(help="The network: .bif, .bif.gz, .xdsl, .xmlbif, .net, .uai, .dsl, .dne; or a saved .fit")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
Weights = Annotated[str | None, typer.Option(help="The column that says how often each row counts.")]
Questions = Annotated[
    list[str] | None,
    typer.Option("--ask", "-a", help='A question to the result: "P(outcome=yes | age=54)"; may be repeated.'),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
TableOptions = Any  # a TableFormat or None, made of the options that follow
Separator = Annotated[
    str | None,
    typer.Option(help="The character between the cells of a CSV file; comma, semicolon and tab are detected."),
]
Decimal = Annotated[str, typer.Option(help='The decimal mark of numbers: "." or ",".')]
Encoding = Annotated[str, typer.Option(help="The encoding of a CSV file, such as latin-1.")]
Sheet = Annotated[str | None, typer.Option(help="The sheet of an Excel file.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(help='Cells that stand for a missing value, with commas between them: "-999, n/a"; may be repeated.'),
]
Utilities = Annotated[
    Path | None, typer.Option("--utilities", "-u", help="Decisions, utilities and costs in a file of their own.")
]


def reads_table(command: Callable[..., None]) -> Callable[..., None]:
    """The command with options that describe the file of a table, of which its argument `table_format` is made."""
    options = {"separator": (Separator, None), "decimal": (Decimal, "."), "encoding": (Encoding, "utf-8")}
    options |= {"sheet": (Sheet, None), "missing": (Missing, None)}
    given: list[Parameter] = []
    for each in signature(command, eval_str=True).parameters.values():
        keyword = Parameter.KEYWORD_ONLY
        own = [Parameter(name, keyword, annotation=kind, default=default) for name, (kind, default) in options.items()]
        given += own if each.name == "table_format" else [each.replace(kind=keyword)]

    @wraps(command)
    def with_options(**values: Any) -> None:
        command(table_format=_table_format(*(values.pop(name) for name in options)), **values)

    with_options.__signature__ = Signature(given)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in given}
    return with_options


def _table_format(
    separator: str | None, decimal: str, encoding: str, sheet: str | None, missing: Sequence[str] | None
) -> TableFormat | None:
    """What options declare about the file of a table; None if they are not given."""
    from credo.options import TableFormat

    codes = tuple(code.strip() for each in missing or () for code in each.split(",") if code.strip())
    table_format = TableFormat("\t" if separator in ("\\t", "tab") else separator, decimal, encoding, sheet, codes)
    return None if table_format == TableFormat() else table_format


def query(
    network: NetworkFile,
    question: Annotated[str, typer.Argument(help='The question: "P(lung=yes | xray=yes)", "P(lung | do(smoke=no))"')],
    as_json: AsJson = False,
) -> None:
    """Ask NETWORK for a probability: any variables, given evidence and interventions."""
    fit = saved_fit(network)
    found = _read(network).query(question) if fit is None else fit.query(question)
    print_result(found, as_json)


def sensitivity(
    fit: Annotated[Path, typer.Argument(help="A saved fit: .fit, which credo learn --save writes; or a network")],
    question: Annotated[
        str | None, typer.Argument(help='A question with one number as its answer: "P(lung=yes | xray=yes)"')
    ] = None,
    given: Annotated[
        str, typer.Option("--given", "-g", help="Without a question: what is known before the decision of FIT.")
    ] = "",
    utilities: Utilities = None,
    statements: Annotated[bool, typer.Option("--statements", help="Learn again without each statement.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Draw a tornado here: .png, .svg or .pdf")] = None,
    as_json: AsJson = False,
) -> None:
    """Show which numbers, findings and statements move an answer of FIT most, or without a question its decision."""
    learned = fit_to_ask(fit)
    if learned is None:
        raise OptionError(
            f"{fit} is neither a saved fit nor a network. Learn with --save model.fit, and ask that: credo sensitivity "
            "model.fit"
        )
    if question is None:
        found = learned.decision_sensitivity(given, utilities=utilities, statements=statements)
    else:
        if given or utilities is not None:
            raise OptionError(
                "What is known stands in the question: P(lung=yes | xray=yes). --given and --utilities are for "
                "a decision."
            )
        found = learned.sensitivity(question, statements=statements)
    if picture is not None:
        from credo.plot import tornado

        save_picture(tornado(found), picture)
    print_result(found, as_json)


def importance(
    network: NetworkFile,
    top: Annotated[
        str,
        typer.Argument(help='The top event: "P(top=yes)", or top for its highest state; not needed if there is one'),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show how much each basic event of NETWORK matters for a top event: Fussell-Vesely and Birnbaum importance."""
    fit = saved_fit(network)
    found = _read(network).importance(top) if fit is None else fit.importance(top)
    print_result(found, as_json)


@reads_table
def predict(
    network: NetworkFile,
    data: Annotated[Path, typer.Argument(help="The table: .csv, .parquet, .xlsx, or a folder of Parquet files")],
    target: Annotated[
        list[str] | None, typer.Option("--target", "-t", help="A variable to predict; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the predictions here, as CSV.")] = None,
    table_format: TableOptions = None,
    as_json: AsJson = False,
) -> None:
    """Predict for every row of DATA the variables without a column, or the targets."""
    from credo.io.dialects import declared
    from credo.io.files import CSV_TARGETS, require_target
    from credo.questions.predictions import predict_network

    if out is not None:
        require_target(out, CSV_TARGETS)  # before the work, not after it
    fit, targets = saved_fit(network), tuple(target) if target else None
    table = declared(data, table_format)
    found = predict_network(_read(network), table, targets) if fit is None else fit.predict(table, targets)
    numbered = found if "row" in found.columns else found.with_row_index("row", offset=1)
    give_frame(numbered, out, as_json, "prediction")


def show(
    network: NetworkFile,
    variable: Annotated[list[str] | None, typer.Argument(help="Only these variables, with their CPTs.")] = None,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="With knowledge that declares a network: the table.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the variables of NETWORK with their states and parents, or the CPTs of some of them."""
    fit = saved_fit(network)
    given = _read(network, data) if fit is None else fit.network
    for name in variable or ():
        given.variable(name)
    if as_json:
        print_json(_network_to_dict(given, variable or given.names))
    elif not variable:
        if fit is not None:
            from credo.report.fit_text import fit_plain_text

            say(f"{fit_plain_text(fit, with_hint=False)}\n")
        say(str(given))
        command = f"credo show {for_shell(str(network))} {for_shell(given.names[0])}"
        say(f"Add the name of a variable to see its CPT: {command}")
    else:
        for name in variable:
            parents = ", ".join(given.parents[name]) or "none"
            say(f"{name}: {', '.join(given.states(name))}{_cuts_text(given, name)}; parents: {parents}")
            if fit is not None and fit.posterior is not None and not fit.no_interval and name not in given.forms:
                _print_frame(fit.interval(name))
            elif name in given.cpts:
                _print_frame(given.cpt(name))
            else:
                say("  It has no CPT yet: learn it from data.")


def convert(
    source: Annotated[Path, typer.Argument(help="The network to read")],
    target: Annotated[Path, typer.Argument(help="The file to write; its ending chooses the format")],
) -> None:
    """Write the network SOURCE in the format of TARGET."""
    from credo.io.network_files import check_target, write_network

    check_target(target)
    write_network(_read(source), target)
    say(f"{source} is written to {target}.")


def compare(
    first: Annotated[Path, typer.Argument(help="A saved fit, or a network")],
    second: Annotated[Path, typer.Argument(help="Another one with the same variables")],
    as_json: AsJson = False,
) -> None:
    """Compare two fits or networks: the largest differences, with intervals, and the statements that changed."""
    from credo.comparison import compare as compare_both

    found = compare_both(first, second)
    print_result(found, as_json)


def sample(
    network: NetworkFile,
    rows: Annotated[int, typer.Option("--rows", "-n", help="How many rows to draw.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same rows.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the rows here, as CSV.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw rows of data from NETWORK."""
    from credo.io.files import CSV_TARGETS, require_target

    if out is not None:
        require_target(out, CSV_TARGETS)
    give_frame(_read(network).sample(rows, seed), out, as_json, "row")


def share(
    network: NetworkFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page to write: .html")],
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input", "-i", help="What people can say about a case; may be repeated. Every variable if none."
        ),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="What they can ask for; may be repeated. Every variable if none."),
    ] = None,
    title: Annotated[str, typer.Option(help="The heading of the page.")] = "",
) -> None:
    """Write one page that answers for NETWORK in any browser, offline, with intervals: for a colleague."""
    from credo.errors import readable_bytes
    from credo.io.files import PAGE_TARGETS, require_target, write_text
    from credo.progress import reporting
    from credo.sharing.page import share_page

    require_target(out, PAGE_TARGETS)
    fit = saved_fit(network)
    with reporting(None, None) as notify:
        page = share_page(
            _read(network) if fit is None else fit,
            inputs=tuple(inputs or ()),
            targets=tuple(targets or ()),
            title=title,
            progress=notify,
        )
    write_text(out, page)
    say(
        f"{out} answers for {network.name} in any browser ({readable_bytes(len(page))}). It holds no rows of data, "
        "loads nothing and sends nothing: send it to whom you like."
    )


def save_picture(ax: Axes, path: Path) -> None:
    """Write the picture that axes are on; the ending of the name chooses its format."""
    from credo.io.files import replacing

    figure = ax.get_figure(root=True)
    assert figure is not None
    ending = path.suffix.lstrip(".").lower() or "png"
    try:
        with replacing(path, f".{ending}") as draft:
            figure.savefig(draft, format=ending)
    except ValueError:
        raise OptionError(f"A picture is .png, .svg or .pdf, not {path.name}.") from None


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    for command in (query, sensitivity, importance, predict, show, convert, compare, sample, share):
        app.command()(command)


def _read(path: Path, data: Path | None = None) -> Network:
    """A network of a file, or the one that a knowledge file declares."""
    from credo.io.network_files import read_network
    from credo.knowledge.sources import is_knowledge_file

    if is_knowledge_file(path):
        from credo.knowledge import declared_network

        return declared_network(path, data=data).network
    fit = saved_fit(path)
    return read_network(path) if fit is None else fit.network


def saved_fit(path: Path) -> Fit | None:
    """The fit in a file; None where it is that of a network."""
    from credo.io.network_files import SAVED_FIT

    if not path.name.lower().endswith(SAVED_FIT):
        return None
    from credo.saving.fits import load

    return load(path)


def fit_to_ask(path: Path) -> Fit | None:
    """The fit in a file, or a network file's numbers as if they had been learned; None for other files."""
    from credo.io.network_files import ENDINGS, read_network
    from credo.results.fit_results import fit_of_network

    if not path.name.lower().endswith(ENDINGS):
        return saved_fit(path)
    network = read_network(path)
    if unknown := [name for name in network.names if name not in network.cpts and name not in network.forms]:
        raise OptionError(f"{path} has no numbers for {listing(unknown)}: learn them first, with credo learn.")
    return fit_of_network(network)


def give_frame(frame: pl.DataFrame, out: Path | None, as_json: bool, what: str) -> None:
    """Write a table to a file, or print it: CSV into a pipe, a table on a terminal; only JSON has every digit."""
    if not as_json or out is not None:
        frame = _rounded(frame)
    if out is not None:
        from credo.io.files import replacing

        with replacing(out) as draft:
            frame.write_csv(draft)
        say(f"{counted(len(frame), what)} {'is' if len(frame) == 1 else 'are'} in {out}.")
    elif as_json:
        print_json(frame.to_dicts())
    elif sys.stdout.isatty():
        _print_frame(frame)
    else:
        say(frame.write_csv(), end="")


def _rounded(frame: pl.DataFrame) -> pl.DataFrame:
    """Numbers with six decimals; probabilities that would have few digits left, with four digits."""
    import polars as pl
    import polars.selectors as cs

    own = cs.float()
    small = (own.abs() < SMALL) & (own.abs() > LEAST_SHOWN)
    return frame.with_columns(pl.when(small).then(own.round_sig_figs(SMALL_DIGITS)).otherwise(own.round(CSV_DECIMALS)))


def _print_frame(frame: pl.DataFrame) -> None:
    from rich.table import Table

    table = Table()
    for column in frame.columns:
        table.add_column(column, justify="right" if frame[column].dtype.is_numeric() else "left")
    for row in frame.head(SHOWN).iter_rows():
        table.add_row(*(four_digits(value) if isinstance(value, float) else str(value) for value in row))
    console().print(table)
    if len(frame) > SHOWN:
        say(f"… and {len(frame) - SHOWN:,} more; --json prints all.")


def _network_to_dict(network: Network, names: Iterable[str]) -> dict[str, Json]:
    return {
        "name": network.name,
        "variables": {
            name: {
                "states": list(network.states(name)),
                **({"cuts": _cuts_to_dict(cuts)} if (cuts := network.variable(name).cuts) is not None else {}),
                "parents": list(network.parents[name]),
                "cpt": network.cpts[name].tolist() if name in network.cpts else None,
            }
            for name in names
        },
    }


def _cuts_text(network: Network, name: str) -> str:
    """Cut points and the range of the numbers seen, as far as they are known."""
    cuts = network.variable(name).cuts
    if cuts is None:
        return ""
    ends = [(word, end) for word, end in (("from", cuts.lowest), ("to", cuts.highest)) if end is not None]
    seen = " ".join(f"{word} {end:g}" for word, end in ends)
    return f"; cut at {cuts}" + (f" (numbers seen: {seen})" if seen else "")


def _cuts_to_dict(cuts: CutPoints) -> dict[str, Json]:
    return {"points": list(cuts.points), "lowest": cuts.lowest, "highest": cuts.highest}


def print_result(found: PlainResult, as_json: bool) -> None:
    """Print a result, as text or as JSON."""
    if as_json:
        print_json(found.to_dict())
    else:
        say(str(found))


def print_json(value: Json) -> None:
    """Print JSON, in which control characters and letters that the output cannot encode are escaped."""
    import json

    unicode = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    say(printable_json(json.dumps(value, ensure_ascii=not unicode, allow_nan=False)))
