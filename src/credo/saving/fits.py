"""What is kept of a fit: everything but complete rows, of which counts are enough, and what follows from the rest.

Constraints and blocks follow from the knowledge, the expanded network from the network: they are made again, so that no
file can contradict itself there. Rows are kept where counts are not enough to update a fit. What is
read is checked: shapes, numbers of statements, and that draws are distributions.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo._version import __version__
from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import Constraints, with_confidence, with_fixed
from credo.constraints.lower import lower
from credo.errors import CredoError, FileError, FormatError, TooLargeError
from credo.estimation.certain_zeros import zeros_in_place
from credo.estimation.methods import choose_method
from credo.estimation.problem import Data, Model, Problem, Settings
from credo.explain.misfits import PredictiveChecks
from credo.io.dataset import Dataset, code_type, extended
from credo.io.files import require_path, require_target
from credo.io.network_files import SAVED_FIT
from credo.io.number_columns import NumbersSeen
from credo.knowledge import Knowledge
from credo.knowledge.declarations import Declaration
from credo.knowledge.parse import parse_line
from credo.knowledge.statement_base import Span
from credo.knowledge.statements import Statement, to_text
from credo.model.expansion import expand
from credo.model.network import Network
from credo.posterior.doubted_statements import DoubtedStatements
from credo.posterior.draws import PosteriorResult
from credo.results.fit_results import Fit
from credo.saving.archive import Archive, read_archive, write_archive
from credo.saving.records import Reader, Writer, damaged
from credo.statistics.counts import Counts
from credo.statistics.prior import as_prior
from credo.tolerances import SUM_TOLERANCE
from credo.types import Indices, Numbers, PathLike


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """A dataset as a file holds it: the variables are those of the network, the columns of ties are texts."""

    codes: NDArray[np.int32]
    weights: Numbers | None
    hidden: tuple[str, ...]
    others: Mapping[str, tuple[str | None, ...]]
    numbers: Mapping[str, NumbersSeen]
    counted: tuple[Counts, ...]


def kept_rows(dataset: Dataset) -> KeptRows:
    """The rows of a dataset, ready to be written."""
    others = {str(name): tuple(_text(value) for value in column.to_list()) for name, column in dataset.others.items()}
    codes = dataset.codes.astype(np.int32)
    return KeptRows(codes, dataset.weights, dataset.hidden, others, dataset.numbers, dataset.counted)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def rows_of(archive: Archive, kept: KeptRows, network: Network) -> Dataset:
    """The dataset of rows that were read from a file; those of an expanded network are cut back to this one."""
    import polars as pl

    def require(condition: object, problem: str) -> None:
        if not condition:
            raise damaged(archive, "rows", problem)

    require(kept.codes.ndim == 2 and kept.codes.shape[1] >= len(network), "they have other columns")
    codes = np.ascontiguousarray(kept.codes[:, : len(network)])
    sizes = np.array([len(variable.states) for variable in network.variables])
    require((codes >= -1).all() and (codes < sizes).all(), "a value is not a state")
    require(all(len(column) == len(codes) for column in kept.others.values()), "a column has another length")
    others = {name: pl.Series(name, column, dtype=pl.String) for name, column in kept.others.items()}
    return Dataset(
        network.names,
        codes.astype(code_type(network)),
        kept.weights,
        tuple(name for name in kept.hidden if name in network),
        others,
        variables=network.variables,
        numbers=kept.numbers,
        counted=kept.counted,
    )


FORMAT, VERSION = "credo fit", 5  # a change of what the file means is a new version
WHAT = "saved fit"
# Made again: they follow from what is kept.
DERIVED = ("network", "constraints", "blocks", "stated")  # of the model
# Not kept: who listens to the progress of a run that is over. Incomplete rows are a part of their own.
LEFT_OUT = ("dataset",)  # of the data
LISTENERS = ("progress", "refuse")  # of the settings


def is_saved_fit(path: PathLike) -> bool:
    """Whether the name of a file says that it is a saved fit."""
    return Path(path).name.lower().endswith(SAVED_FIT)


def check_fit_target(path: PathLike) -> None:
    """Raise what `save_fit` would raise for this path, before there is anything to write."""
    require_path(path)
    if not is_saved_fit(path):
        raise FormatError(f"A saved fit has a name that ends in {SAVED_FIT}.", str(path))
    require_target(path)


def save_fit(fit: Fit, path: PathLike, without_rows: bool = False) -> Path:
    """Write a fit to a file, completely or not at all; see `Fit.save`."""
    check_fit_target(path)
    writer = Writer()
    problem = fit._problem
    rows = None if problem is None or without_rows else problem.data.dataset
    lines = (*fit.knowledge.declarations, *fit.knowledge.statements)
    content = {
        "format": FORMAT,
        "version": VERSION,
        "credo": __version__,
        "fit": writer.record(fit, "", ("knowledge", "posterior", "_problem", "row_sample"), Fit),
        "given": writer.value(fit.knowledge.network, Network, "given"),
        "statements": writer.value(map(_kept, lines), tuple[KeptStatement, ...], "statements"),
        "posterior": writer.value(fit.posterior, PosteriorResult | None, "posterior"),
        "problem": None if problem is None else _written(writer, problem),
        "rows": writer.value(kept_rows(rows) if isinstance(rows, Dataset) else None, KeptRows | None, "rows"),
    }
    write_archive(path, content, writer.arrays)
    return Path(path)


def _written(writer: Writer, problem: Problem) -> dict[str, Any]:
    return {
        "model": writer.record(problem.model, "problem.model", DERIVED),
        "data": writer.record(problem.data, "problem.data", LEFT_OUT),
        "settings": writer.record(problem.settings, "problem.settings", LISTENERS),
    }


def load(path: str | Path) -> Fit:
    """Read a fit that `Fit.save` wrote.

    It answers as the one that was saved, to the last bit. Of complete rows it has counts; rows with missing values, or
    that are tied, it has as they were, unless they were left out.

    Parameters
    ----------
    path
        The file; its name usually ends in `.fit`.

    Returns
    -------
    Fit
        The fit.

    Raises
    ------
    FormatError
        If the file is not a saved fit, is damaged, or was saved by a version of credo that this one does not read.
    FileError
        If the file does not exist or cannot be read.
    TooLargeError
        If reading it would take more memory than allowed.
    """
    archive = read_archive(path, WHAT)
    content = archive.content
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise FormatError(f"This is not a {WHAT}.", archive.path)
    if content.get("version") != VERSION:
        raise FormatError(
            f"This fit was saved by credo {content.get('credo')}, in version {content.get('version')} of the format; "
            f"this is credo {__version__}, which reads version {VERSION}. Use the credo that saved it, or learn again.",
            archive.path,
        )
    try:
        return _fit(content, archive)
    except (FormatError, FileError, TooLargeError):
        raise
    except CredoError as error:  # of a network, an option, a statement
        raise damaged(archive, "", str(error).rstrip(".")) from None
    except (ValueError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError, RecursionError) as error:
        raise damaged(archive, "", f"{type(error).__name__} {error}".rstrip(" .")) from None


def _fit(content: dict[str, Any], archive: Archive) -> Fit:
    reader = Reader(archive)
    parts = ("format", "version", "credo", "fit", "given", "statements", "posterior", "problem", "rows")
    _require(archive, set(content) == set(parts), "it has other parts than it should")
    given = reader.value(Network, content["given"], "given")
    kept = reader.value(tuple[KeptStatement, ...], content["statements"], "statements")
    knowledge = Knowledge(given, [_statement(reader, each) for each in kept])
    constraints = lower(knowledge)
    assert constraints.expansion is not None
    reader.network = constraints.expansion.network
    binds_any = choose_method(reader.value(str, content["fit"]["method"], "method")).binds_any_probability
    problem = None
    if content["problem"] is not None:
        problem = _problem(reader, content["problem"], constraints, len(knowledge), binds_any)
        rows = reader.value(KeptRows | None, content["rows"], "rows")
        if rows is not None:
            problem = problem.with_data(dataset=extended(rows_of(archive, rows, given), reader.network))
    expanded, reader.network = reader.network, expand(constraints.expansion.original).network  # draws share nothing
    posterior = reader.value(PosteriorResult | None, content["posterior"], "posterior")
    fit = reader.record(
        Fit, content["fit"], "", knowledge=knowledge, posterior=posterior, _problem=problem, row_sample=None
    )
    _check_fit(archive, fit, expanded)
    return fit  # type: ignore[no-any-return]


def _problem(reader: Reader, plain: Any, stated: Constraints, statements: int, binds_any: bool) -> Problem:
    """The problem with constraints and blocks made again; the numbers of CPTs that were kept are substituted."""
    own = plain["model"]
    kept = reader.value(tuple[str, ...], own["kept"], "problem.model.kept")
    doubts = reader.value(DoubtedStatements | None, own["doubts"], "problem.model.doubts")
    doubted = reader.value(Indices, own["doubted"], "problem.model.doubted")
    exist = doubted.ndim == 1 and _within(doubted, statements) and (doubts is None or _are_doubts(doubts, statements))
    _require(reader.archive, exist, "it doubts a statement that is not there")
    bound = with_confidence(stated if binds_any else replace(stated, network_constraints=()), doubted)
    constraints = with_fixed(bound, {name: reader.network.cpt_array(name) for name in kept})  # type: ignore[union-attr]
    zeros = reader.value(Indices, own["zeros"], "problem.model.zeros")
    exist = zeros.ndim == 2 and zeros.shape[1] == 2 and _within(zeros[:, 0], len(constraints.network_constraints))
    _require(reader.archive, exist and _within(zeros[:, 1], constraints.layout.size), "a zero is nowhere")
    constraints = zeros_in_place(constraints, zeros)
    _require(reader.archive, set(plain) == {"model", "data", "settings"}, "its problem has other parts than it should")
    model = reader.record(
        Model,
        own,
        "problem.model",
        network=reader.network,
        constraints=constraints,
        blocks=blocks_of(constraints),
        stated=stated,
    )
    data = reader.record(Data, plain["data"], "problem.data", **dict.fromkeys(LEFT_OUT))
    settings = reader.record(Settings, plain["settings"], "problem.settings", **dict.fromkeys(LISTENERS))
    return Problem(model, data, settings)


# Statements -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class KeptStatement:
    """A statement as a line of the language, and the place where its author wrote it, in which words."""

    statement: str
    place: Span | None


def _kept(statement: Statement | Declaration) -> KeptStatement:
    return KeptStatement(to_text(statement), statement.span)


def _statement(reader: Reader, kept: KeptStatement) -> Statement | Declaration:
    statement, mistakes = parse_line(kept.statement)
    if statement is None or mistakes:
        raise damaged(reader.archive, "statements", f"“{kept.statement}” cannot be read")
    return replace(statement, span=kept.place)


# Checks of what was read ----------------------------------------------------------------------------------------------


def _require(archive: Archive, condition: object, problem: str) -> None:
    if not condition:
        raise damaged(archive, "", problem)


def _check_fit(archive: Archive, fit: Fit, expanded: Network) -> None:
    given = fit.knowledge.network
    _require(archive, fit.network.same_structure(given), "the learned network has another structure")
    _require(archive, fit.network.is_complete, "a CPT is missing")
    again = expand(fit.network).network  # but for the order of parents where a CPT is shared
    same = again.variables == expanded.variables and all(
        set(again.parents[name]) == set(expanded.parents[name]) for name in again.names
    )
    _require(archive, same, "its noisy families are others")
    _require(archive, fit.rows >= 0, "there is a negative number of rows")
    numbers = range(len(fit.knowledge))
    _require(archive, all(number in numbers for number in fit.multipliers), "it numbers a statement that is not there")
    of_ties = [value for value in (fit.cll, fit.pmi) if value is not None]
    violation = 0.0 if fit.certificate is None else fit.certificate.violation
    finite = np.isfinite([*fit.multipliers.values(), *of_ties, fit.seconds, violation])
    _require(archive, finite.all(), "a figure of the result is not a number")
    if fit.checks is not None:
        _check_checks(archive, fit.checks, set(given.names))
    if fit._problem is not None:
        _check_problem(archive, fit._problem)
        _require(
            archive,
            fit._problem.settings.method is not None and fit._problem.settings.method.name == fit.method,
            "there are two methods",
        )
    if fit.posterior is not None:
        assert isinstance(fit.posterior, PosteriorResult)
        beliefs = () if fit.posterior.doubt is None else fit.posterior.doubt.statements
        _require(archive, all(each.number in numbers for each in beliefs), "it doubts a statement that is not there")
        _check_posterior(archive, fit.posterior)


def _check_checks(archive: Archive, checks: PredictiveChecks, names: Collection[str]) -> None:
    for each in checks.checks:
        _require(archive, {each.variable, each.other or each.variable} <= set(names), "a check is of no variable")
        _require(archive, 0.0 <= each.p_value <= 1.0 and 0.0 <= each.adjusted <= 1.0, "a p-value is not a probability")
        _require(archive, np.isfinite([each.observed, each.expected]).all(), "a number of rows is not a number")


def _check_problem(archive: Archive, problem: Problem) -> None:
    names = set(problem.model.network.names)
    _require(archive, set(problem.model.names) <= names, "it learns an unknown variable")
    _require(archive, not set(problem.model.names) & set(problem.model.kept), "a CPT is both kept and learned")
    _require(archive, problem.settings.seed >= 0, "its seed is negative")
    pinned = problem.model.pinned
    _require(archive, pinned.ndim == 1 and _within(pinned, problem.layout.size), "a pinned number does not exist")
    as_prior(problem.model.prior, problem.model.network)
    folds = (part for fold in problem.data.folds for part in (fold.training, fold.held_out))
    for counts in (problem.data.counts, *(() if problem.data.observed is None else (problem.data.observed,)), *folds):
        _check_counts(archive, counts)


def _check_counts(archive: Archive, counts: Counts) -> None:
    layout = counts.layout
    _require(archive, counts.dense.shape == (layout.size,), "its counts are of another network")
    _require(archive, counts.incomplete.shape == (len(layout.network),), "its counts are of another network")
    _require(archive, set(counts.sparse) == set(layout.left_out), "its counts are of other variables")
    _require(
        archive, np.isfinite(counts.dense).all() and np.isfinite(counts.incomplete).all(), "a count is not a number"
    )
    _require(archive, counts.rows >= 0, "there is a negative number of rows")
    for name, (keys, values) in counts.sparse.items():
        cells = layout.network.configurations(name) * len(layout.network.states(name))
        _require(archive, keys.ndim == 1 and keys.shape == values.shape and _within(keys, cells), "a count is nowhere")
        _require(archive, (np.diff(keys) > 0).all() and np.isfinite(values).all(), "a count is not a number")


def _check_posterior(archive: Archive, posterior: PosteriorResult) -> None:
    """Everything has the shape that it should have, and every draw is a distribution."""
    layout, network = posterior.layout, posterior.layout.network
    shapes = {name: network.shape(name) for name in layout.names}
    for what in (posterior.means, posterior.deviations, posterior.errors):
        _require(archive, {name: array.shape for name, array in what.items()} == shapes, "its means are of other CPTs")
    _require(archive, all(_is_distribution(mean) for mean in posterior.means.values()), "a mean is not a distribution")
    _require(archive, posterior.seed >= 0, "its seed is negative")
    _require(archive, posterior.draws.ndim == 3, "its draws have another shape")
    _require(archive, posterior.draws.shape[2] == layout.size, "its draws are of other CPTs")
    for each in (posterior.effective_sizes, posterior.r_hat):
        _require(archive, each.shape == (layout.size,), "its diagnostics are of other CPTs")
    _require(archive, _are_distributions(posterior.draws, layout.distribution_starts()), "a draw is not a distribution")


def _are_doubts(doubts: DoubtedStatements, statements: int) -> bool:
    """Whether doubted statements and their experts exist."""
    columns = (doubts.expert_of, doubts.confidences, doubts.log_prior_correction, doubts.false)
    shapes = {column.shape for column in (doubts.numbers, *columns)}
    exist = doubts.numbers.ndim == 1 and _within(doubts.numbers, statements)
    return len(shapes) == 1 and exist and _within(doubts.expert_of, len(doubts.experts))


def _within(indices: Any, size: int) -> bool:
    return not len(indices) or (int(indices.min()) >= 0 and int(indices.max()) < size)


def _is_distribution(cpt: Numbers) -> bool:
    return _are_distributions(cpt, np.zeros(1, dtype=np.int64))


def _are_distributions(values: Numbers, starts: Sequence[int] | Any) -> bool:
    """Whether the parts of the last axis that start there are probabilities that sum to one."""
    if not len(starts):
        return True
    if not np.isfinite(values).all() or (values < 0).any():
        return False
    return bool((np.abs(np.add.reduceat(values, starts, axis=-1) - 1.0) <= SUM_TOLERANCE).all())
