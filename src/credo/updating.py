"""A living model: a fit that learns from more rows or by other statements, and one that is made again.

A fit keeps what its rows say: the counts of complete rows, and incomplete or tied rows themselves. An update learns
from these and the new rows together, by the same code, options and seed. So it is equal to learning from all rows at
once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import numpy as np

from credo.constraints.lower import lower
from credo.errors import DataError, OptionError, UnknownStateError, counted, listing, readable_bytes
from credo.findings import Finding
from credo.fitting import complete_rows_of, first_step, learn
from credo.io.dataset import Dataset, Tables, concatenate, no_data
from credo.io.dialects import declared
from credo.io.files import require_target
from credo.io.network_files import NetworkLike
from credo.io.number_columns import NumbersSeen
from credo.io.origin import fingerprint
from credo.io.several_tables import gathered
from credo.knowledge import Knowledge, KnowledgeSource
from credo.knowledge.declared_network import knowledge_about, without_declared_codes
from credo.knowledge.site import SiteDeclaration, declared_site
from credo.knowledge.statements import to_text
from credo.model.network import Network
from credo.options import TableFormat
from credo.probability_texts import percent_digits
from credo.progress import ProgressLike
from credo.results.audit import Request, Step, TableRecord
from credo.results.fit_results import Fit
from credo.statistics.counts import count, layout_for_counts, less, merge_all, scaled
from credo.statistics.counts_file import ENDING, CountsSummary, with_counts, write_counts
from credo.statistics.network_comparison import compare_networks
from credo.statistics.pooling import log_beta
from credo.statistics.tied_columns import stream_with_ties
from credo.types import TableLike, Weights

FEW_CHANGES = 3  # that a step of the audit trail names
SHARES = (0.0, 0.01, 0.03, 0.06, *(2.0**-k for k in (3.0, 2.0, 1.0, 0.5, 0.25, 0.125, 0.0625)), 1.0)  # kept of weights
NEW_DRIFT = 0.1  # how probable it is that a process changes otherwise than at the last update


def update(
    fit: Fit,
    data: TableLike | Sequence[TableLike] | None = None,
    knowledge: KnowledgeSource | None = None,
    *,
    forget: float | Literal["auto"] | None = None,
    weights: Weights | None = None,
    table_format: TableFormat | None = None,
    who: str = "",
    progress: ProgressLike = None,
) -> Fit:
    """Learn from more rows, or by other statements, beside what a fit was learned from; see `Fit.update`."""
    if data is None and knowledge is None:
        raise OptionError("There is nothing new: give a table, or the statements that hold from now on.")
    request = _request_of(fit)
    known = fit.knowledge if knowledge is None else Knowledge(fit.knowledge.network, knowledge)
    source = None if data is None else gathered(data, table_format)
    weights = request.weights or None if weights is None else weights
    half = _checked(forget)
    step = replace(first_step(source, known, request, who), forget=half, **_statement_changes(fit, known))
    findings: list[Finding] = []
    with _keeping_states(fit):
        earlier = kept_data(fit)
        rows: TableLike | None = None if source is None and not fit.rows else earlier
        if source is not None:
            new, left_out = _new_rows(known, source, request, weights)
            findings += [*_seen_before(fit, step), *_unused_columns(new, declared_site(known.declarations)), *left_out]
            if forget == "auto":
                chances = share_chances(known.network, earlier, new, fit.trail)
                step = replace(step, kept=float(np.dot(chances, SHARES)), share_chances=chances)
                earlier = _weighed(earlier, step.kept)
            elif half is not None:
                earlier, new = _forgetting(earlier, new, half)
            rows = Tables((earlier, new))
        found = learn(known, rows, request, findings, (*fit.trail, step), progress=progress)
    *before, last = found.trail
    return replace(found, trail=(*before, replace(last, changes=_changes(fit.network, found.network))))


def _request_of(fit: Fit) -> Request:
    if fit._request is None or fit._problem is None:
        raise OptionError("This fit does not know how it was learned: learn it again from all tables.")
    return fit._request


def kept_data(fit: Fit) -> Dataset:
    """What a fit keeps of its rows: counts of complete ones, and incomplete or tied rows themselves."""
    problem, network = fit._problem, fit.knowledge.network
    assert problem is not None
    data = problem.data
    if data.dataset is not None:
        assert isinstance(data.dataset, Dataset)
        own = len(data.dataset) - data.added_rows
        rows = data.dataset if not data.added_rows else _first_rows(data.dataset, own)
        codes = np.ascontiguousarray(rows.codes[:, : len(network)])
        hidden = tuple(name for name in data.dataset.hidden if name in network)
        counted_rows = tuple(counts for counts in data.dataset.counted if counts.rows)  # not cases of statements
        return replace(
            rows, names=network.names, codes=codes, variables=network.variables, hidden=hidden,
            counted=counted_rows,
        )  # fmt: skip
    if fit.is_incomplete:
        raise OptionError(
            "Rows with missing values, or tied rows, cannot be added to this fit, because it was saved or learned "
            "without them. Learn again from all tables."
        )
    numbers = {
        own.name: NumbersSeen(own.cuts.lowest, own.cuts.highest)
        for own in fit.network.variables
        if own.cuts is not None and own.cuts.lowest is not None and own.cuts.highest is not None
    }
    held_out = [fold.held_out for fold in data.folds]
    counts = data.counts if data.of_rows is None else data.of_rows
    whole = not held_out or less(counts, merge_all(held_out)).rows
    return replace(no_data(network), numbers=numbers, counted=(counts,) if whole else tuple(held_out))


def _first_rows(dataset: Dataset, count: int) -> Dataset:
    """Without the rows at the end that statements added; weights that are all one are none."""
    chosen = replace(dataset.rows(np.arange(len(dataset)) < count), counted=dataset.counted)
    if chosen.weights is not None and bool((chosen.weights == 1.0).all()):
        return replace(chosen, weights=None)
    return chosen


def kept_bytes(fit: Fit) -> int:
    """How many bytes of rows a fit keeps: none of complete rows, of which it has counts."""
    rows = None if fit._problem is None else fit._problem.data.dataset
    return rows.codes.nbytes if isinstance(rows, Dataset) else 0


# What is new ----------------------------------------------------------------------------------------------------------


def _new_rows(
    known: Knowledge, source: TableLike, request: Request, weights: Weights | None
) -> tuple[Dataset, Sequence[Finding]]:
    """The new rows in memory, with the columns that statements tie them by, and what was left out."""
    findings: Sequence[Finding]
    read, findings = with_counts(source, known.network)
    assert read is not None
    source = without_declared_codes(read, known.declarations)
    if request.options.em.complete_rows:
        source, left_out = complete_rows_of(known, source, weights)
        findings = (*findings, *left_out)
    return concatenate(list(stream_with_ties(known, source, weights))), findings


@contextmanager
def _keeping_states(fit: Fit) -> Iterator[None]:
    """A value that the fit does not know is reported with what to do."""
    try:
        yield
    except UnknownStateError as error:
        raise UnknownStateError(
            f"{error}\nThe fit was learned with other states, and nothing was changed. Correct the value; or declare "
            "the new state in the text, and learn again from all tables."
        ) from None


def _seen_before(fit: Fit, step: Step) -> Iterator[Finding]:
    """The finding that a table was learned from already, so that its rows count twice now."""
    known = {table.fingerprint: before.date for before in fit.trail for table in before.tables if table.fingerprint}
    for table in step.tables:
        if table.fingerprint in known:
            message = (
                f"{table.name} was learned from on {known[table.fingerprint][:10]} already: its rows now count twice."
            )
            yield Finding("table twice", message)


def _unused_columns(new: Dataset, site: SiteDeclaration | None) -> Iterator[Finding]:
    if unused := [column for column in new.ignored if site is None or column != str(site.column)]:
        message = f"Columns not used, because the model has no such variables: {listing(unused)}."
        yield Finding("columns not used", message)


def _statement_changes(fit: Fit, known: Knowledge) -> dict[str, Any]:
    """The statements that were added and withdrawn, as fields of a step."""
    old, new = (Counter(map(to_text, each)) for each in (fit.knowledge, known))
    return {"added": tuple((new - old).elements()), "withdrawn": tuple((old - new).elements())}


def _changes(before: Network, now: Network) -> tuple[str, ...]:
    """The numbers that moved most, as sentences."""
    found = compare_networks(before, now).parameters.head(FEW_CHANGES)
    return tuple(
        f"{row['parameter']}: {percent_digits(row['first'])} → {percent_digits(row['second'])}"
        for row in found.iter_rows(named=True)
    )


# Forgetting -----------------------------------------------------------------------------------------------------------


def _checked(forget: float | str | None) -> float | None:
    if forget is None or forget == "auto":
        return None
    if isinstance(forget, bool) or not isinstance(forget, int | float) or not isfinite(forget) or forget <= 0:
        raise OptionError(
            f"forget is a number of rows above 0, after which an older row counts half, or auto; it is {forget!r}."
        )
    return float(forget)


def _forgetting(earlier: Dataset, new: Dataset, half: float) -> tuple[Dataset, Dataset]:
    """Rows of which each weighs 2^(−k / half) times as much, where k rows came after it."""
    ages = np.arange(len(new) - 1, -1, -1)
    recent = np.exp2(-ages / half) * (1.0 if new.weights is None else new.weights)
    return _weighed(earlier, 2.0 ** (-len(new) / half)), replace(new, weights=recent)


def _weighed(rows: Dataset, factor: float) -> Dataset:
    if factor == 1.0:
        return rows
    weights = factor * (np.ones(len(rows)) if rows.weights is None else rows.weights)
    return replace(rows, weights=weights, counted=tuple(scaled(counts, factor) for counts in rows.counted))


def share_chances(network: Network, earlier: Dataset, new: Dataset, trail: Sequence[Step]) -> tuple[float, ...]:
    """How probable it is that an earlier row should keep each share of its weight.

    A share f is weighed by how well it predicts the new rows, p(f)·Π_j DirMult(n_j; 1/2 + f·m_j), where m_j and n_j are
    the earlier and the new cases of a configuration j. p is what earlier updates found, or even: at first, and
    with the probability `NEW_DRIFT` again, because a process may begin to drift.
    """
    layout = layout_for_counts(network)
    before, now = count(layout, earlier), count(layout, new)
    learned = next((np.array(step.share_chances) for step in reversed(trail) if step.share_chances), 1.0 / len(SHARES))
    logs = np.log((1.0 - NEW_DRIFT) * learned + NEW_DRIFT / len(SHARES) + np.zeros(len(SHARES)))
    for name in layout.names:
        m, n = before.of(name), now.of(name)
        seen = n.any(axis=1)
        for place, share in enumerate(SHARES):
            known = 0.5 + share * m[seen]
            logs[place] += float((log_beta(known + n[seen]) - log_beta(known)).sum())
    chances = np.exp(logs - logs.max())
    return tuple((chances / chances.sum()).tolist())


# Making it again ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Whether a fit, made again from its recorded inputs, is the same.

    Attributes
    ----------
    agrees
        Whether every number of every CPT and of every draw is the same, to the last bit.
    largest_difference
        The largest difference between two numbers of the CPTs.
    source
        What it was made of, as a sentence.
    notes
        What else may explain a difference, as sentences.
    """

    agrees: bool
    largest_difference: float
    source: str
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        verdict = (
            "The fit was made again, and every bit agrees."
            if self.agrees
            else f"The fit was made again, and differs: numbers of CPTs by up to {self.largest_difference:.2g}."
        )
        return " ".join((verdict, self.source, *self.notes))


def reproduce(fit: Fit, folder: str | Path | None = None) -> Reproduction:
    """Learn again from the recorded inputs, and compare every bit; see `Fit.reproduce`."""
    from credo._version import __version__

    request = _request_of(fit)
    places = [Path(os.curdir) if folder is None else Path(folder)]
    rows, weights, source = _recorded_rows(fit, places)
    again = learn(fit.knowledge, rows, request, weights=weights, trail=fit.trail[:1], progress=False)
    difference = max(
        (float(np.abs(cpt - again.network.cpts[name]).max(initial=0.0)) for name, cpt in fit.network.cpts.items()),
        default=0.0,
    )
    agrees = difference == 0.0 and _same_draws(fit.posterior, again.posterior)
    versions = dict.fromkeys(step.version for step in fit.trail)
    notes = (
        [f"It was made by credo {listing(list(versions))}; this is {__version__}."]
        if set(versions) != {__version__}
        else []
    )
    return Reproduction(agrees, difference, source, tuple(notes))


def _same_draws(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return first is second
    return np.array_equal(first.draws, second.draws)


def _recorded_rows(fit: Fit, places: Sequence[Path]) -> tuple[TableLike | None, Weights | None, str]:
    """The rows of all steps from their files, or else from what the fit keeps."""
    request = _request_of(fit)
    tables = [table for step in fit.trail for table in step.tables]
    if not tables:
        return None, None, "It was made of statements alone."
    found = [_found(each, places) for each in tables]
    missing = [str(each) for each, path in zip(tables, found, strict=True) if path is None]
    forgets = any(step.forget is not None or step.kept < 1.0 for step in fit.trail)
    if not missing and not forgets:
        names = listing([table.name for table in tables])
        return (
            Tables(tuple(path for path in found if path is not None)),
            request.weights or None,
            f"It was made of {names}.",
        )
    why = "older rows count less" if forgets and not missing else f"{listing(missing)} was not found as it was"
    kept = kept_data(fit)
    what = "the rows" if len(kept) else "the counts"
    return Tables((kept,)), None, f"It was made of {what} that the fit keeps, because {why}."


def _found(table: TableRecord, places: Sequence[Path]) -> TableLike | None:
    """The table of a record, where one of these folders has it as it was."""
    for path in (place / table.name for place in places):
        if table.fingerprint and fingerprint(path, table.format) == table.fingerprint:
            return declared(path, table.format)
    return None


def rows_text(fit: Fit, without_rows: bool = False) -> str:
    """What a saved fit keeps of its rows, as a sentence."""
    if not fit.rows:
        return "It keeps no rows: there were none."
    if not fit.is_incomplete:
        return f"It keeps no rows, but the counts of all {counted(fit.rows, 'row')}."
    if without_rows or not kept_bytes(fit):
        return "It keeps no rows, and cannot be updated."
    size = readable_bytes(kept_bytes(fit))
    return f"It keeps the rows, because values are missing or rows are tied ({size}); --without-rows leaves them out."


# Sharing counts -------------------------------------------------------------------------------------------------------


def summarise(
    network: NetworkLike | KnowledgeSource,
    data: TableLike | Sequence[TableLike],
    path: str | Path,
    knowledge: KnowledgeSource | None = None,
    *,
    suppress_below: int = 0,
    weights: str | None = None,
    table_format: TableFormat | None = None,
) -> CountsSummary:
    """Write how often each family of a network was seen in complete rows, for others to learn from.

    `credo.fit` takes such files as tables, one or several, and gives what it would give for the rows.

    Parameters
    ----------
    network : Network, path, or knowledge that declares its variables
        What is counted; all sites need the same states, cut points and arrows.
    data : path, frame, or a list of these
        The rows. Those with missing values are left out.
    path : path
        The file to write; its name ends in `.counts`.
    knowledge : optional
        Statements about a network, as for `fit`.
    suppress_below : int
        Numbers above 0 and below this are written as 0, and the file says how many.
    weights : str, optional
        The column that says how often each row counts.
    table_format : TableFormat, optional
        How the file of the data is written, where it is not as usual.

    Returns
    -------
    CountsSummary
        How many rows were counted and left out, and what was suppressed.

    Raises
    ------
    OptionError
        If the name of the file does not end in `.counts`, or the network has noisy families.
    """
    require_target(path, (ENDING,))
    source = gathered(data, table_format)
    known, _ = knowledge_about(network, knowledge, source, () if weights is None else (weights,))
    expansion = lower(known).expansion
    if expansion is not None and expansion.extra:
        raise OptionError("A noisy family, a gate or a shared CPT is learned from rows: counts are not enough for it.")
    rows = concatenate(list(stream_with_ties(known, without_declared_codes(source, known.declarations), weights)))
    complete = rows.rows(np.all(rows.codes >= 0, axis=1))
    if not len(complete):
        raise DataError("No row is complete: in each a value is missing, and only complete rows are counted.")
    counts = count(layout_for_counts(known.network), complete)
    return write_counts(path, known.network, counts, suppress_below, len(rows) - len(complete))
