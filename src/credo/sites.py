"""Several sites: CPTs that differ from site to site around a common one, and how much each site learns from the others.

To a site, N rows of the others in a configuration are worth c·N/(c + N) cases, with a strength c for each CPT that is
learned by how well sites predict each other (`statistics/pooling.py`). They are stated as numbers with their weight, so
that the fit of a site is one like any other: it can be asked, explained, saved and updated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import DataError, counted, listing
from credo.fitting import fit
from credo.io.categories import read_frame
from credo.io.network_files import NetworkLike
from credo.io.several_tables import gathered
from credo.io.tables import read_table
from credo.knowledge import ExpertNumber, Knowledge, KnowledgeSource
from credo.knowledge.declared_network import knowledge_about, without_declared_codes
from credo.knowledge.expressions import Probability
from credo.model.network import Network
from credo.options import TableFormat
from credo.questions.answers import Answer
from credo.results.fit_results import Fit
from credo.statistics.counts import Counts, count, layout_for_counts
from credo.statistics.pooling import cases_for_a_new_member, pooled_cases
from credo.types import Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

LEAST_CASES = 0.05  # of others, in a configuration, that are worth a statement
MOST_SITES = 1000


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
    site: str,
    knowledge: KnowledgeSource | None = None,
    *,
    variables: Sequence[str] | None = None,
    table_format: TableFormat | None = None,
    **options: Any,
) -> Sites:
    """Learn the CPTs of each site, which borrows from the others as much as the data say that sites are alike.

    Parameters
    ----------
    network, knowledge
        As for `fit`; they hold for every site.
    data : path, frame, or a list of these
        The rows of all sites.
    site : str
        The column that says where a row comes from.
    variables : sequence of str, optional
        The variables whose CPTs may differ from site to site; those of all others are the same everywhere. All, if not
        given.
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
        If a variable cannot be named.

    Examples
    --------
    >>> import credo, polars as pl
    >>> rows = pl.DataFrame({"ill": ["no", "yes"] * 20 + ["yes"] * 4, "town": ["Oslo"] * 40 + ["Rome"] * 4})
    >>> found = credo.fit_sites("variable ill: no, yes", rows, "town", method="cmap")
    >>> sorted(found.fits)
    ['Oslo', 'Rome']
    """
    source = gathered(data, table_format)
    frame = read_frame(_one_table(source))
    if site not in frame.columns:
        raise DataError(f"The table has no column “{site}”; it has {listing(frame.columns)}.")
    if frame[site].null_count():
        raise DataError(f"{counted(frame[site].null_count(), 'row')} of the table say no {site}.")
    known, _ = knowledge_about(network, knowledge, frame.drop(site), ())
    for name in variables or ():
        known.network.variable(name)
    names = sorted(map(str, frame[site].unique().to_list()))
    if not 1 < len(names) <= MOST_SITES:
        raise DataError(f"The column {site} names {counted(len(names), 'site')}; there are 2 to {MOST_SITES}.")
    frame = frame.with_columns(frame[site].cast(str))
    own = {name: frame.filter(frame[site] == name).drop(site) for name in names}
    counts = {name: _counts(known, rows) for name, rows in own.items()}
    lines: dict[str | None, list[ExpertNumber]] = {name: [] for name in (*names, None)}
    shares = []
    for child in _learned(known.network):
        table = np.stack([counts[name].of(child) for name in names])
        differs = variables is None or child in variables
        pooled = pooled_cases(table)[0] if differs else table.sum(axis=0) - table
        new = cases_for_a_new_member(table) if differs else table.sum(axis=0)
        others = float((table.sum(axis=0) - table).sum())
        shares.append((child, float(pooled.sum()) / others if others else 0.0))
        for place, name in enumerate(names):
            lines[name].extend(_statements(known.network, child, pooled[place]))
        lines[None].extend(_statements(known.network, child, new))

    def learned(name: str | None) -> Fit:
        text = Knowledge(known.network, (*known.declarations, *known.statements, *lines[name]))
        rows = None if name is None else own[name]
        return fit(known.network, rows, text, **options)

    import polars as pl

    alike = pl.DataFrame(shares, schema={"variable": pl.String, "share": pl.Float64}, orient="row")
    return Sites(site, {name: learned(name) for name in names}, learned(None), alike)


def _one_table(source: TableLike) -> TableLike:
    """One table of the rows of all; refused where rows were read before."""
    tables = getattr(source, "sources", (source,))
    if len(tables) == 1:
        return tables[0]
    import polars as pl

    return pl.concat([read_frame(each) for each in tables], how="diagonal_relaxed")


def _counts(known: Knowledge, rows: pl.DataFrame) -> Counts:
    table = without_declared_codes(rows, known.declarations)
    return count(layout_for_counts(known.network), read_table(known.network, table))


def _learned(network: Network) -> Iterator[str]:
    """The variables with a CPT of their own that is learned number by number."""
    yield from (name for name in network.names if name not in network.forms and name not in network.shared)


def _statements(network: Network, child: str, cases: Numbers) -> Iterator[ExpertNumber]:
    for number in np.flatnonzero(cases.sum(axis=1) >= LEAST_CASES).tolist():
        given = tuple(network.configuration(child, number).items())
        size = float(cases[number].sum())
        values = tuple(float(f"{value:.9g}") for value in cases[number] / size)
        yield ExpertNumber(Probability(child, (), given), values, float(f"{size:.6g}"))
