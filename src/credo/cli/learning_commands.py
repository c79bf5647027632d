"""The commands `learn`, `check`, `methods`, `demo` and `studio`: thin, and quick to start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from credo.cli.network_commands import AsJson, Questions, Seed, TableOptions, Weights, print_json, reads_table
from credo.cli.signals import end_on_signals
from credo.progress import reporting
from credo.terminal import console, for_shell, say

if TYPE_CHECKING:
    from credo.errors import CredoError
    from credo.options import PosteriorOptions, TableFormat
    from credo.questions.answers import Answer
    from credo.results.fit_results import Fit
    from credo.statistics.prior import PriorLike

DEMO_QUESTIONS = (
    "P(disease=1 | age=54, smoker=yes, pressure=133.5)",
    "P(disease=1 | age=54, smoker=yes, pressure=133.5, ecg=abnormal)",
)


@reads_table
def learn(
    network: Annotated[
        Path,
        typer.Argument(
            help="Knowledge that declares its variables: .credo; or a network: .bif, .bif.gz, .xdsl, .xmlbif, .net, "
            ".uai, .dsl, .dne"
        ),
    ],
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="The data: .csv, .parquet, .xlsx, or a folder or glob of Parquet files, as in "
            '"data/*.parquet"; several tables are learned from together. Without any, knowledge is all there is',
            show_default=False,
        ),
    ] = None,
    knowledge: Annotated[
        list[Path] | None,
        typer.Option(
            "--knowledge",
            "-k",
            help="A file with what experts know about NETWORK, one statement per line; may be repeated.",
        ),
    ] = None,
    method: Annotated[str, typer.Option("--method", "-m", help="See `credo methods`.")] = "auto",
    prior: Annotated[str | None, typer.Option(help="A number of pseudo-counts, k2, or bdeu:SIZE.")] = None,
    prior_network: Annotated[Path | None, typer.Option(help="Take the prior from another network.")] = None,
    prior_weight: Annotated[
        list[str] | None,
        typer.Option(
            help="How many cases each distribution of the prior network counts as; 1 if not given. NAME=50 is for the "
            "CPT of one variable; may be repeated, and others then have none, or the number that has no name."
        ),
    ] = None,
    fixed: Annotated[list[str] | None, typer.Option(help="Keep the CPT of this variable; may be repeated.")] = None,
    weights: Weights = None,
    complete_rows: Annotated[bool, typer.Option("--complete-rows", help="Leave out rows with missing values.")] = False,
    table_format: TableOptions = None,
    soft_weight: Annotated[
        float | None,
        typer.Option(
            help="How much statements with a confidence weigh, for methods that do not sample; chosen by "
            "cross-validation if not given."
        ),
    ] = None,
    doubt: Annotated[
        str | None,
        typer.Option(
            metavar="[SHARE]",
            help="Allow every statement to be wrong, and report how probable each is. How often statements are wrong "
            "is learned, or given: --doubt 10%",
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="With posterior: how many draws each of four chains makes at first; 250.")
    ] = None,
    hidden_draws: Annotated[
        float | None, typer.Option(help="With me and cme: the s of the imprecise Dirichlet model; 1 if not given.")
    ] = None,
    seed: Seed = 0,
    starts: Annotated[int, typer.Option(help="With missing values: from how many starts EM is run.")] = 5,
    max_iterations: Annotated[
        int, typer.Option(help="With missing values: the most iterations of EM from each start.")
    ] = 1000,
    tie_reading: Annotated[str, typer.Option(help="How rows came to be tied: selected, joint or merged.")] = "selected",
    trainer: Annotated[str, typer.Option(help="With missing values: em, or gradient [Yang, algorithm 1].")] = "em",
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file from which an interrupted run of EM continues.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Let the workers of this Dask cluster read the data: tcp://host:8786")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Start a Dask cluster of so many processes on this machine, and use it.")
    ] = None,
    partition_rows: Annotated[
        int | None, typer.Option(help="About how many rows of DATA are read together; 2^20 if not given.")
    ] = None,
    memory_limit: Annotated[
        int | None, typer.Option(help="How many bytes may be used; half of the machine's memory if not given.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the learned network here.")] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write the result and its explanation here, as one HTML page.")
    ] = None,
    ask: Questions = None,
    checks: Annotated[
        bool, typer.Option("--checks", help="Compare the data with what the learned network produces.")
    ] = False,
    save: Annotated[
        Path | None, typer.Option(help="Save the fit here (.fit), with its draws: `credo query` asks it.")
    ] = None,
    without_rows: Annotated[
        bool, typer.Option("--without-rows", help="With --save: keep no rows, not even those with missing values.")
    ] = False,
    who: Annotated[str, typer.Option(help="With --save: who learns, for `credo history`.")] = "",
    as_json: AsJson = False,
) -> None:
    """Learn the probabilities of NETWORK from DATA and knowledge. Exit code 3: the knowledge contradicts itself.

    One text file is enough: credo learn patients.credo patients.csv
    """
    tables = _tables(network, data)
    with reporting(_verbose(as_json)) as notify, ExitStack() as running:  # the first import may take a second
        from credo.constraints.conflicts import ConflictError
        from credo.distributed.dask_executor import cluster
        from credo.errors import OptionError
        from credo.fitting import fit
        from credo.io.dialects import declared
        from credo.io.files import PAGE_TARGETS, require_target
        from credo.io.network_files import check_target, write_network
        from credo.io.partitions import has_partitions, partitioned
        from credo.knowledge.sources import is_knowledge_file
        from credo.options import EMOptions, OptimiserOptions

        if out is not None:
            check_target(out)  # before the work, not after it
        if report is not None:
            require_target(report, PAGE_TARGETS)
        if save is not None:
            from credo.saving.fits import check_fit_target

            check_fit_target(save)
        end_on_signals().expect(save, out, report, checkpoint=checkpoint)
        chosen_prior = _prior(prior, prior_network, prior_weight)
        stated = tuple(knowledge) if knowledge else None
        if ask:
            _require_questions(ask, network, stated, tables, table_format, weights)
        table: Any = tables
        if partition_rows is not None:
            if tables is None or isinstance(tables, list):
                raise OptionError("--partition-rows cuts one table into partitions.")
            table, table_format = partitioned(declared(tables, table_format), partition_rows), None
        try:
            result = fit(
                network,
                table,
                stated,
                method=method,
                prior=chosen_prior,
                fixed=tuple(fixed or ()),
                weights=weights,
                table_format=table_format,
                seed=seed,
                doubt=_doubt(doubt),
                posterior=_posterior(draws),
                em=EMOptions(
                    starts=starts,
                    max_iterations=max_iterations,
                    trainer=trainer,
                    checkpoint=checkpoint,
                    complete_rows=complete_rows,
                    tie_reading=tie_reading,
                ),
                optimiser=OptimiserOptions(soft_weight, hidden_draws=1.0 if hidden_draws is None else hidden_draws),
                memory_limit=memory_limit,
                executor=running.enter_context(cluster(scheduler, workers)),
                progress=notify,
            )
            running.close()
        except ConflictError as error:
            if report is None:
                raise
            from credo.checking.check import check as check_knowledge

            needed: Any = None
            its_format: TableFormat | None = None
            if is_knowledge_file(network) and not (
                isinstance(tables, str) and has_partitions(tables)
            ):  # for its states
                needed, its_format = tables, table_format
            found = check_knowledge(network, stated, data=needed, table_format=its_format, progress=notify)
            found.report(report)
            raise ConflictError(f"{error}\nA picture of it is in {report}.", error.conflicts) from None
        if save is not None:
            result.save(save, without_rows=without_rows, who=who)
        answers, unanswered = _answers(result, ask or ())
        if report is not None:
            result.report(report, ask=list(answers), progress=notify)
        checked = None
        if checks:
            from credo.questions.predictive_checks import checks_or_note

            checked = checks_or_note(result)
    if out is not None:
        write_network(result.network, out)
    if as_json:
        if unanswered is not None:
            raise unanswered
        asked = {"answers": [each.to_dict() for each in answers.values()]} if ask else {}
        compared = {} if checked is None else {"checks": checked.to_dict()}
        print_json({**result.to_dict(), **compared, **asked})
        return
    for each in answers.values():
        say(f"{each}\n")
    _show(result, out, report)
    if checked is not None:
        from credo.report.predictive_text import checks_text

        console().print(checks_text(checked))
    if save is not None:
        from credo.knowledge.query import Query
        from credo.updating import rows_text

        question = for_shell(str(Query({result.network.names[-1]: ()})))
        say(f"The fit is in {save}. Ask it: credo query {for_shell(str(save))} {question}")
        say(rows_text(result, without_rows))
    if unanswered is not None:
        raise unanswered


def _answers(fit: Fit, questions: Sequence[str]) -> tuple[dict[str, Answer], CredoError | None]:
    """The answers by question, and why one has none: that is said once everything else is."""
    from credo.errors import CredoError

    found: dict[str, Answer] = {}
    unanswered: CredoError | None = None
    for question in questions:
        try:
            found[question] = fit.query(question)
        except CredoError as error:
            unanswered = unanswered or error
    return found, unanswered


@reads_table
def check(
    network: Annotated[
        Path,
        typer.Argument(help="The network whose variables the knowledge is about; or knowledge that declares them"),
    ],
    knowledge: Annotated[Path | None, typer.Argument(help="The knowledge: one statement per line")] = None,
    data: Annotated[Path | None, typer.Option("--data", "-d", help="Compare each statement with these data.")] = None,
    table_format: TableOptions = None,
    seed: Annotated[int, typer.Option(help="The seed of the random draws behind probabilities.")] = 0,
    report: Annotated[Path | None, typer.Option("--report", help="Write the check here, as one HTML page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Check whether KNOWLEDGE can hold, what follows from it, and what data say about it. Exit code 3: it cannot."""
    with reporting(_verbose(as_json)) as notify:
        from credo.checking.check import check as check_knowledge
        from credo.errors import OptionError
        from credo.io.files import PAGE_TARGETS, require_target
        from credo.io.tables import is_table_file
        from credo.knowledge.sources import is_knowledge_file

        if knowledge is not None and is_table_file(knowledge):  # as `learn` has it
            if data is not None or not is_knowledge_file(network):
                raise OptionError(f"{knowledge} is a table, not knowledge: give it as --data {knowledge}.")
            knowledge, data = None, knowledge
        if knowledge is None and not is_knowledge_file(network):
            raise OptionError(f"There is no knowledge to check. Add its file: credo check {network} knowledge.credo")
        if report is not None:
            require_target(report, PAGE_TARGETS)  # before the work, not after it
        end_on_signals().expect(report)
        found = check_knowledge(network, knowledge, data=data, table_format=table_format, seed=seed, progress=notify)
        if report is not None:
            found.report(report)
    if as_json:
        print_json(found.to_dict())
    else:
        from credo.report.check_text import check_summary

        console().print(check_summary(found))
        if report is not None:
            say(f"\nThe same with pictures is in {report}: open it in a browser.")
    raise typer.Exit(found.exit_code)


def methods() -> None:
    """List the methods, and when to use which."""
    from rich.table import Table

    from credo.estimation.methods import methods as known

    table = Table(title="Methods", title_justify="left")
    for heading in ("method", "what it is", "when to use it"):
        table.add_column(heading)
    for name, title, when, auto in known().iter_rows():
        table.add_row(f"{name} (auto)" if auto else name, title, when)
    console().print(table)


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for what the demo writes.")] = Path("demo"),
) -> None:
    """Learn an example that ships with the package: heart disease, from a cardiologist's sentences and a table."""
    learned, page, shared = out / "learned.bif", out / "report.html", out / "risk.html"
    with reporting() as notify:
        from credo.fitting import fit
        from credo.io.files import make_folder
        from credo.io.network_files import write_network
        from credo.report.fit_text import fit_summary
        from credo.shipped import example

        make_folder(out)  # before the work, not after it
        end_on_signals().expect(page, learned, shared)
        knowledge, data = example("heart") / "heart.credo", example("heart") / "patients.csv"
        say(f"Patients, some of whose values are missing ({data}):\n")
        say("\n".join(f"    {row}" for row in data.read_text(encoding="utf-8").splitlines()[:5]) + "\n    …")
        say(f"\nWhat a cardiologist writes ({knowledge}):\n")
        say("\n".join(f"    {line}".rstrip() for line in knowledge.read_text(encoding="utf-8").splitlines()))
        say("\n$ credo learn heart.credo patients.csv --report report.html\n")
        result = fit(knowledge, data, progress=notify)
        answers = [result.query(question) for question in DEMO_QUESTIONS]
        result.report(page, progress=notify)
        result.share(shared, progress=notify)
    write_network(result.network, learned)
    console().print(fit_summary(result, learned, with_cpts=False))
    say(f"The explanation, with pictures and what each statement did, is in {page}: open it in a browser.")
    say("\nA new patient: 54 years old, a smoker, 133.5 mmHg; before the ECG, and after it is abnormal:\n")
    for answer in answers:
        say(str(answer))
    decision, patient = example("heart") / "decision.credo", {"age": 54, "smoker": "yes", "pressure": 133.5}
    say(f"\nWhat to do ({decision}): which test, what now, and what after an abnormal ECG?")
    say(str(result.next_tests(patient, utilities=decision)).splitlines()[0])
    say(str(result.decide(patient, utilities=decision)).splitlines()[0])
    say(str(result.decide({**patient, "ecg": "abnormal"}, utilities=decision)).splitlines()[0])
    say(f"\nA page to send to a colleague, who enters a patient and needs no program: {shared}")


@reads_table
def studio(
    model: Annotated[Path | None, typer.Argument(help="Knowledge (.credo) or a network; or a table alone")] = None,
    data: Annotated[Path | None, typer.Argument(help="The data: .csv, .xlsx, .parquet")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 8642 or the next that is free, if not given.")] = None,
    host: Annotated[str, typer.Option(help="The address to listen on; others than this machine's need --expose.")] = (
        "127.0.0.1"
    ),
    expose: Annotated[
        str, typer.Option(help="Let other machines reach the studio: the word that the message without it asks for.")
    ] = "",
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    table_format: TableOptions = None,
) -> None:
    """Open MODEL and DATA in the browser: network, knowledge, learning and answers on one page."""
    from credo.studio.serving import serve

    watch = end_on_signals()

    def leave_by(farewell: Callable[[], str]) -> None:
        watch.farewell = farewell

    serve(
        model, data, table_format=table_format, host=host, port=port, expose=expose, browser=browser, leave_by=leave_by
    )


@reads_table
def start(
    data: Annotated[str, typer.Argument(help="The table: .csv, .parquet, .xlsx")],
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="A variable that all others get an arrow from.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the text here; beside you if not given.")
    ] = None,
    tiers: Annotated[
        str | None, typer.Option(help='What comes first: "age, sex before disease before symptoms".')
    ] = None,
    table_format: TableOptions = None,
) -> None:
    """Write a first .credo file for DATA: variables, cut points, doubts, and arrows to begin with."""
    from credo.errors import OptionError
    from credo.io.dialects import declared
    from credo.io.files import replacing, require_target
    from credo.io.missing_codes import missing_values_line, split_codes
    from credo.knowledge.first_model import default_target, first_model, tiers_of

    written = Path(default_target(data)) if out is None else out
    require_target(written, (".credo",))
    if written.exists():
        raise OptionError(f"{written} is there already. Name another file with --out.")
    table = declared(data, table_format)
    found = first_model(table, Path(data).name, target, tiers_of(tiers) if tiers else ())
    text = found.text.replace("THIS_FILE TABLE", f"{written} {data}")
    if table_format is not None and table_format.missing:
        general, of_columns = split_codes(table_format.missing, found.network.names)
        lines = [missing_values_line(codes, [name]) for name, codes in of_columns.items()]
        lines = [missing_values_line(general), *lines] if general else lines
        text = text.replace("\n\n", "\n\n" + "\n".join(lines) + "\n\n", 1)
    with replacing(written) as draft:
        draft.write_text(text, encoding="utf-8")
    say(f"{written} declares {len(found.network.names)} variables of {data}. Look through it, then:")
    say(f"  credo learn {written} {data}")


def _tables(network: Path, data: list[str] | None) -> str | list[str] | None:
    """The table, or several; where one alone was given, the way to a first model of it."""
    from credo.errors import OptionError
    from credo.io.tables import is_table_file
    from credo.knowledge.sources import is_knowledge_file

    if not data and is_table_file(network):
        raise OptionError(
            f"{network} is a table, and there is no model yet: credo start {network} writes a first one, which "
            "credo learn then takes before the table."
        )
    if data and is_table_file(network) and is_knowledge_file(data[0]):
        raise OptionError(f"The model comes before the table: credo learn {data[0]} {network}")
    return None if not data else data[0] if len(data) == 1 else data


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    for command in (start, learn, check, methods, demo, studio):
        app.command(cls=DoubtCommand if command is learn else None)(command)


def _prior(text: str | None, network: Path | None, weights: list[str] | None) -> PriorLike | None:
    from credo.errors import OptionError

    if network is None:
        if weights:
            raise OptionError("--prior-weight belongs to --prior-network, which is not given.")
        return text
    from credo.io.network_files import read_network
    from credo.statistics.prior import NetworkPrior

    if text is not None:
        raise OptionError("--prior and --prior-network exclude each other: there can be one prior.")
    expert = read_network(network)
    pairs = [each.rpartition("=") for each in weights or ()]
    try:
        given = {name.strip(): float(number) for name, _, number in pairs}
    except ValueError:
        raise OptionError("--prior-weight is a number of cases, as in 50, or as in lung=50 for one variable.") from None
    if set(given) <= {""}:
        return NetworkPrior(expert, given.get("", 1.0))
    rest = dict.fromkeys(expert.names, given[""]) if "" in given else {}
    each = {**rest, **{name: weight for name, weight in given.items() if name}}
    return {name: NetworkPrior(expert, weight) for name, weight in each.items()}


LEARN_IT = "learn"  # what --doubt is without a share


class DoubtCommand(TyperCommand):
    """A command whose option --doubt may stand without a share."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write `--doubt=learn` where no share follows `--doubt`."""
        if any(each.split("=")[0] == "--trust" for each in args):
            raise typer.BadParameter(
                "--trust is gone: write --doubt 10% where it was --trust 90%, and --doubt to learn it.", ctx
            )
        return super().parse_args(ctx, list(_with_doubt(args)))


def _with_doubt(args: Sequence[str]) -> Iterator[str]:
    for word, following in zip_longest(args, args[1:], fillvalue=""):
        yield f"--doubt={LEARN_IT}" if word == "--doubt" and _share(following) is None else word


def _doubt(text: str | None) -> bool | float:
    """Whether statements may be wrong, or how often they are: a share such as 0.1 or 10%."""
    from credo.errors import OptionError

    if text is None or text == LEARN_IT:
        return text == LEARN_IT
    share = _share(text)
    if share is None:
        raise OptionError(f"--doubt stands alone or before a share such as 0.1 or 10%; here it is before {text!r}.")
    return share


def _share(text: str) -> float | None:
    number = text.strip().removesuffix("%")
    try:
        return float(number) / (100.0 if number != text.strip() else 1.0)
    except ValueError:
        return None


def _posterior(draws: int | None) -> PosteriorOptions | None:
    """Four times as many draws where numbers have not mixed, as if nothing is given."""
    from credo.options import PosteriorOptions

    return None if draws is None else PosteriorOptions(draws=draws, max_draws=4 * max(draws, 1))


def _require_questions(
    questions: list[str],
    network: Path,
    knowledge: tuple[Path, ...] | None,
    data: str | list[str] | None,
    written: TableFormat | None,
    weights: str | None,
) -> None:
    """Raise what is wrong with a question before the work, not after it; the states may be those of the table."""
    from credo.io.partitions import has_partitions
    from credo.io.several_tables import gathered
    from credo.knowledge.declared_network import knowledge_about
    from credo.knowledge.query import parse_query
    from credo.statistics.counts_file import table_of_states

    table = None if data is None else table_of_states(gathered(data, written))
    table = None if has_partitions(table) else table
    known = knowledge_about(network, knowledge, table, () if weights is None else (weights,))
    for question in questions:
        parse_query(known.knowledge.network, question)


def _show(result: Fit, out: Path | None, report: Path | None) -> None:
    from credo.report.fit_text import fit_summary

    console().print(fit_summary(result, out))
    if report is not None:
        what = ", with what each statement did," if len(result.knowledge.statements) else ""
        say(f"The explanation{what} is in {report}: open it in a browser.")
    elif len(result.knowledge):
        say("Add --report report.html to see what each statement did.")


def _verbose(as_json: bool) -> bool | None:
    """Progress is shown on a terminal, but not beside JSON."""
    return False if as_json else None
