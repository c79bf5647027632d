"""Several sites: CPTs that differ from site to site around a common one, and how much each site learns from the others.

How closely sites follow the common CPTs, and what their rows say of these, is learned for all CPTs together
(`statistics/pooling.py`). From that the common CPTs are learned with the prior that every CPT has. To a site, all this
is worth some cases of its own in each configuration. They are stated as numbers with their weight, so that the fit of
a site is one like any other: it can be asked, explained, saved and updated.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import DataError, OptionError, counted, listing
from credo.fitting import fit
from credo.io.categories import read_frame
from credo.io.dataset import no_data
from credo.io.network_files import NetworkLike
from credo.io.several_tables import gathered
from credo.io.tables import read_table
from credo.knowledge import ExpertNumber, Knowledge, KnowledgeSource
from credo.knowledge.declared_network import knowledge_about, without_declared_codes
from credo.knowledge.expressions import Probability
from credo.knowledge.site import SiteDeclaration, declared_site
from credo.model.network import Network
from credo.options import TableFormat
from credo.posterior.draws import PosteriorResult
from credo.questions.answers import Answer
from credo.results.fit_results import Fit
from credo.statistics.counts import Counts, count, empty, layout_for_counts
from credo.statistics.counts_file import is_counts_file, read_counts, table_of_states
from credo.statistics.pooling import borrowed_cases, cases_for_a_new_member, common_cpts, share_of_others, shortened
from credo.types import Flags, Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

LEAST_CASES = 0.5  # of others, in a configuration: what is less teaches a site nothing, and would be taken for a case
MOST_SITES = 1000
DRAWS = 250  # of common CPTs
FEW_CASES = 10  # of all sites, in a configuration: such a prior has several modes, which no number of cases has


@dataclass(frozen=True, slots=True)
class Sites:
    """What was learned for each site. Printing it says how much sites learn from each other.

    Attributes
    ----------
    site : str
        The column that says where a row comes from.
    fits : mapping of str to Fit
        The fit of each site.
    new : Fit
        What to expect at a site of which nothing is known.
    alike : polars.DataFrame
        A row for each CPT: `variable`, and `share`, which part of the others' rows counts at a site, on average: near 1
        where sites are alike, near 0 where they have nothing in common.
    """

    site: str
    fits: Mapping[str, Fit]
    new: Fit = field(repr=False)
    alike: pl.DataFrame = field(repr=False)

    def __str__(self) -> str:
        rows = listing([f"{name} ({counted(each.rows, 'row')})" for name, each in self.fits.items()])
        lines = [f"{counted(len(self.fits), 'site')}: {rows}.", "How much of the others' rows counts at a site:"]
        return "\n".join([*lines, *(f"  {name}: {share:.0%}" for name, share in self.alike.iter_rows())])

    def query(self, question: str) -> dict[str, Answer]:
        """Answer a question for each site, and for a new one.

        Parameters
        ----------
        question
            Such as `P(lung=yes | smoke=yes)`.

        Returns
        -------
        dict
            The answer for each site; that for a new one last, under the name "new".
        """
        return {**{name: each.query(question) for name, each in self.fits.items()}, "new": self.new.query(question)}


def fit_sites(
    network: NetworkLike | KnowledgeSource,
    data: TableLike | Sequence[TableLike],
    site: str | None = None,
    knowledge: KnowledgeSource | None = None,
    *,
    variables: Sequence[str] | None = None,
    weights: str | None = None,
    table_format: TableFormat | None = None,
    **options: Any,
) -> Sites:
    """Learn the CPTs of each site, which borrows from the others as much as the data say that sites are alike.

    Parameters
    ----------
    network, knowledge
        As for `fit`; they hold for every site.
    data : path, frame, or a list of these
        The rows of all sites; or a file of counts (`credo.summarise`) of each, whose names are those of the sites.
    site : str, optional
        The column that says where a row comes from. Not needed where the knowledge declares it: `site: hospital`.
    variables : sequence of str, optional
        The variables whose CPTs may differ from site to site; those of all others are the same everywhere. All, if
        neither given nor declared (`site: hospital for lung`).
    weights : str, optional
        The column that says how often each row counts.
    table_format : TableFormat, optional
        How the file of the data is written, where it is not as usual.
    **options
        Further arguments of `fit`.

    Returns
    -------
    Sites
        A fit for each site and one for a new site.

    Raises
    ------
    DataError
        If there is no such column, or a row does not say where it comes from.
    OptionError
        If nothing says which column names the site.

    Examples
    --------
    >>> import credo, polars as pl
    >>> rows = pl.DataFrame({"ill": ["no", "yes"] * 20 + ["yes"] * 4, "town": ["Oslo"] * 40 + ["Rome"] * 4})
    >>> found = credo.fit_sites("variable ill: no, yes", rows, "town", method="cmap")
    >>> sorted(found.fits)
    ['Oslo', 'Rome']
    """
    source = gathered(data, table_format)
    split = _by_file if all(map(is_counts_file, _tables(source))) else _by_column
    site, known, own = split(source, network, knowledge, site, weights)
    if not 1 < len(own) <= MOST_SITES:
        raise DataError(
            f"There are 2 to {MOST_SITES} sites to learn from each other; here: {counted(len(own), 'site')}."
        )
    declared = declared_site(known.declarations)
    if variables is None and declared is not None and declared.variables:
        variables = [str(name) for name in declared.variables]
    for name in variables or ():
        known.network.variable(name)
    declarations = [each for each in known.declarations if not isinstance(each, SiteDeclaration)]
    known = Knowledge(known.network, (*declarations, *known.statements))
    names = list(own)
    counts = {name: _counts(known, rows, weights) for name, rows in own.items()}
    lines: dict[str | None, list[ExpertNumber]] = {name: [] for name in (*names, None)}
    shares = []
    tables = {child: np.stack([counts[name].of(child) for name in names]) for child in _learned(known.network)}
    differ = {name: table for name, table in tables.items() if variables is None or name in variables}
    common = dict(zip(differ, common_cpts(list(differ.values())), strict=True))
    means = _common_draws(known.network, {name: each.cases for name, each in common.items()})
    for child, table in tables.items():
        others, firm = table.sum(axis=0) - table, table.sum(axis=(0, 2)) >= FEW_CASES
        if child in common:
            strengths = np.resize(common[child].strengths, len(means[child]))
            pooled, new = (
                borrowed_cases(table, strengths, means[child]),
                cases_for_a_new_member(strengths, means[child]),
            )
            pooled[:, ~firm] = shortened(others[:, ~firm], strengths)
            new[~firm] = shortened(table.sum(axis=0)[~firm], strengths)
            shares.append((child, share_of_others(table, strengths)))
        else:
            pooled, new, firm = others, table.sum(axis=0), np.zeros(len(firm), dtype=np.bool_)
            shares.append((child, 1.0 if others.any() else 0.0))
        for place, name in enumerate(names):
            lines[name].extend(_statements(known.network, child, pooled[place], firm))
        lines[None].extend(_statements(known.network, child, new, firm))

    def learned(name: str | None) -> Fit:
        text = Knowledge(known.network, (*known.declarations, *known.statements, *lines[name]))
        rows = None if name is None else own[name]
        return fit(known.network, rows, text, weights=None if name is None else weights, **options)

    import polars as pl

    alike = pl.DataFrame(shares, schema={"variable": pl.String, "share": pl.Float64}, orient="row")
    return Sites(site, {name: learned(name) for name in names}, learned(None), alike)


def _by_column(
    source: TableLike,
    network: NetworkLike | KnowledgeSource,
    knowledge: KnowledgeSource | None,
    site: str | None,
    weights: str | None,
) -> tuple[str, Knowledge, dict[str, TableLike]]:
    """The column of sites, the knowledge, and the rows of each site."""
    import polars as pl

    frames = [read_frame(each) for each in _tables(source)]
    frame = frames[0] if len(frames) == 1 else pl.concat(frames, how="diagonal_relaxed")
    known, _ = knowledge_about(network, knowledge, frame, () if weights is None else (weights,))
    declared = declared_site(known.declarations)
    if site is None and declared is None:
        raise OptionError("Which column names the site? Give it, or add a line such as site: hospital to the text.")
    site = site or str(declared.column)  # type: ignore[union-attr]
    if site in known.network:
        raise DataError(f"{site} is a variable of the network, so that it cannot say where a row comes from.")
    if site not in frame.columns:
        raise DataError(f"The table has no column “{site}”; it has {listing(frame.columns)}.")
    if frame[site].null_count():
        raise DataError(f"{counted(frame[site].null_count(), 'row')} of the table say no {site}.")
    frame = frame.with_columns(frame[site].cast(str))
    names = sorted(frame[site].unique().to_list())
    return site, known, {name: frame.filter(frame[site] == name).drop(site) for name in names}


def _by_file(
    source: TableLike,
    network: NetworkLike | KnowledgeSource,
    knowledge: KnowledgeSource | None,
    site: str | None,
    weights: str | None,
) -> tuple[str, Knowledge, dict[str, TableLike]]:
    """What sites are called, the knowledge, and the file of counts of each site."""
    known, _ = knowledge_about(network, knowledge, table_of_states(source))
    declared = declared_site(known.declarations)
    site = site or ("site" if declared is None else str(declared.column))
    paths = {Path(os.fspath(each)).stem: each for each in _tables(source)}  # type: ignore[arg-type]
    if len(paths) < len(_tables(source)):
        raise DataError("Two files of counts have the same name, so that their sites would have it, too.")
    return site, known, dict(sorted(paths.items()))


def _tables(source: TableLike) -> Sequence[TableLike]:
    return tuple(getattr(source, "sources", (source,)))


def _counts(known: Knowledge, rows: TableLike, weights: str | None) -> Counts:
    if is_counts_file(rows):
        table = read_counts(os.fspath(rows), known.network)[0]  # type: ignore[arg-type]
    else:
        table = read_table(known.network, without_declared_codes(rows, known.declarations), weights=weights)
    return count(layout_for_counts(known.network), table)


def _common_draws(network: Network, cases: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Draws of common CPTs, (draws, configurations, states), given cases of each, with the prior of all CPTs."""
    parents = {name: network.parents[name] if name in cases else () for name in network.names}
    alone = Network(network.variables, parents)
    layout = layout_for_counts(alone)
    counts = empty(layout)
    sparse = dict(counts.sparse)
    for name, each in cases.items():
        if name in layout:
            layout.view(counts.dense, name)[:] = each
        else:
            cells = np.flatnonzero(each.ravel())
            sparse[name] = cells, each.ravel()[cells]
    total = max((float(each.sum()) for each in cases.values()), default=0.0)
    counts = replace(counts, sparse=sparse, total=total, rows=ceil(total))
    posterior = fit(alone, replace(no_data(alone), counted=(counts,)), method="posterior", progress=False).posterior
    assert isinstance(posterior, PosteriorResult)
    draws = posterior.draws.reshape(-1, posterior.draws.shape[-1])
    chosen = draws[np.linspace(0, len(draws) - 1, min(len(draws), DRAWS)).astype(int)]
    return {
        name: chosen[:, posterior.layout.slice_of(name)].reshape(len(chosen), *each.shape)
        for name, each in cases.items()
    }


def _learned(network: Network) -> Iterator[str]:
    """The variables with a CPT of their own that is learned number by number."""
    yield from (name for name in network.names if name not in network.forms and name not in network.shared)


def _statements(network: Network, child: str, cases: Numbers, firm: Flags) -> Iterator[ExpertNumber]:
    least = np.where(firm, np.finfo(float).tiny, LEAST_CASES)
    for number in np.flatnonzero(cases.sum(axis=1) >= least).tolist():
        given = tuple(network.configuration(child, number).items())
        size = float(cases[number].sum())
        values = tuple(float(f"{value:.9g}") for value in cases[number] / size)
        yield ExpertNumber(Probability(child, (), given), values, float(f"{size:.6g}"), is_all=bool(firm[number]))
