"""A network with a stated structure, made of a table: what is not said is taken from the columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from credo.errors import DataError, MissingColumnError, NetworkError, OptionError, closest, listing, suggestion
from credo.findings import Finding
from credo.io.categories import Categories, declared_categories, read_frame
from credo.io.column_values import (
    ColumnValues,
    checked_numbers,
    column_values,
    constant_findings,
    doubtful_findings,
    identifier_findings,
    require_different_labels,
)
from credo.io.complete_rows import missing_value_findings
from credo.io.cut_rules import SLACK, equal_width_points, quantile_points, supervised_points
from credo.io.dialects import declaration, declared
from credo.io.excel import rows_as_in_excel
from credo.io.missing_codes import code_findings
from credo.io.tables import read_table
from credo.model.bin_rules import BinRule, EqualWidth, Quantiles, Supervised, as_rule
from credo.model.cut_points import CutPoints, default_labels
from credo.model.network import Network, Variable
from credo.model.network_validation import is_list
from credo.model.state_texts import is_number, state_of
from credo.options import TableFormat
from credo.types import Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

BINS = 3  # states of a measured variable about which nothing is said
FEWER_BINS = 2  # where three would leave too few rows
ROWS_PER_NUMBER = 5  # of data, for each number of the CPTs that the variable is part of
MOST_CATEGORIES = 100  # different texts in a column that can still be meant as states


@dataclass(frozen=True, slots=True)
class NetworkFromTable:
    """A network made from a table, and what was decided on the way.

    Attributes
    ----------
    network : Network
        The network, without CPTs.
    findings : tuple of Finding
        Which states and cut points were taken from the table, by which rule; and which columns were not used.
    """

    network: Network
    findings: tuple[Finding, ...]


def network_from_table(
    data: TableLike,
    *,
    parents: Mapping[str, Sequence[str]],
    states: Mapping[str, Sequence[object]] = {},
    bins: Mapping[str, BinRule] | BinRule | None = None,
    variables: Sequence[str] | None = None,
    table_format: TableFormat | None = None,
) -> NetworkFromTable:
    """A network of the columns of a table.

    What is not said is taken from the table. The categories of a `Categorical` of pandas and of an `Enum` of polars are
    the states, in their order; from low to high if the first is ordered, and for an `Enum`. Other texts, truth values
    and up to ten different whole numbers are categories, and those that occur are the states. Other numbers are
    measured: they are cut into three states with about as many rows each, at round numbers; into two where three would
    leave fewer than five rows for each number of a CPT.

    Parameters
    ----------
    data : path or frame
        The table.
    parents : mapping from str to sequence of str
        The parents of each variable. Variables not listed have no parents.
    states : mapping from str to sequence, optional
        The states of some variables, in their order. A variable without a column is hidden.
    bins : mapping, or one rule for all measured columns, optional
        How measured columns are cut: a list of cut points, `CutPoints`, `Quantiles`, `EqualWidth`, `Supervised`, or a
        number of quantiles. In a mapping, a column so named is measured, even if it holds few whole numbers.
    variables : sequence of str, optional
        The variables. If not given, those that `parents`, `states` and `bins` name; all columns if these name none.
    table_format : TableFormat, optional
        How the file is written, where it is not as usual: its separator, decimal mark, encoding or sheet.

    Returns
    -------
    NetworkFromTable
        The network without CPTs, and findings.

    Raises
    ------
    MissingColumnError
        If a variable has neither a column nor states.
    DataError
        If a column cannot be a variable: it holds dates, names of single rows, or nothing.
    """
    table = declared(data, table_format)
    return network_of_columns(table, parents, states, bins, variables, declared_categories(data))


def network_of_columns(
    table: TableLike,
    parents: Mapping[str, Sequence[str]],
    states: Mapping[str, Sequence[object]],
    bins: Mapping[str, BinRule] | BinRule | None,
    variables: Sequence[str] | None,
    categories: Mapping[str, Categories],
) -> NetworkFromTable:
    """The same, with the `categories` that a frame declared of which the table is made."""
    header: list[str] = []

    def chosen_columns(found: Sequence[str]) -> Sequence[str]:
        header[:] = header or found  # a frame that was chosen from already is asked again
        names, _ = _names(header, parents, states, bins, variables)
        return [name for name in found if name in names] or found[:1]  # one column, to count rows

    frame = read_frame(table, chosen_columns)
    with rows_as_in_excel(table):
        return _of_frame(frame, header, parents, states, bins, variables, categories)


def _of_frame(
    frame: pl.DataFrame,
    header: Sequence[str],
    parents: Mapping[str, Sequence[str]],
    states: Mapping[str, Sequence[object]],
    bins: Mapping[str, BinRule] | BinRule | None,
    variables: Sequence[str] | None,
    categories: Mapping[str, Categories],
) -> NetworkFromTable:
    require_separated(header)
    names, is_open = _names(header, parents, states, bins, variables)
    columns = {name: column_values(frame[name]) for name in names if name in frame.columns}
    findings: list[Finding] = []
    known = {**declared_categories(frame), **categories}
    if is_open:
        columns, left_out = _usable(columns, known)
        names, findings = [name for name in names if name in columns], left_out
    choices = _Choices(frame, columns, dict(parents), states, bins, known)
    found = {name: choices.variable(name) for name in _supervised_last(names, bins)}
    network = Network([found[name][0] for name in names], parents)
    findings += [finding for name in names for finding in found[name][1]]
    reported = {finding.variable for finding in findings}
    missing = {name: len(frame) - columns[name].rows for name in names if name in columns}
    findings += missing_value_findings(missing, len(frame))
    measured = {name: each.numbers for name, each in columns.items() if name in network and each.numbers is not None}
    used = [each for name, each in columns.items() if name in network]
    states_of = {variable.name: variable.states for variable in network.variables}
    findings = [*code_findings(measured), *findings, *identifier_findings(used), *constant_findings(used, states_of)]
    if unused := [name for name in header if name not in network and name not in reported]:
        findings.append(Finding("columns not used", f"Columns not used: {listing(unused)}."))
    return NetworkFromTable(network, tuple(findings))


def require_separated(header: Sequence[str], names: Collection[str] = ()) -> None:
    """Raise where all columns seem to be one, because another character stands between them.

    A blank is such a character where it divides off one of the `names` that are wanted.
    """
    if len(header) != 1:
        return
    marks = [" "] if set(header[0].split(" ")) & set(names) else []
    for mark in ("|", "^", ":", *marks):
        if header[0].count(mark) and all(name.strip() for name in header[0].split(mark)):
            raise DataError(
                f"The table has one column, {header[0][:60]}, whose name holds “{mark}”. If that stands between the "
                f"cells, declare it: {declaration('separator', mark)}."
            )


def _names(
    header: Sequence[str], parents: Mapping[str, Sequence[str]], states: Mapping[str, Any], bins: Any, variables: Any
) -> tuple[list[str], bool]:
    """The variables, those with a column first, in the order of the table; and whether nobody named them."""
    for what, given in (("parents", parents), ("states", states)):
        if not isinstance(given, Mapping):
            raise NetworkError(f"The {what} are a mapping from names, not {given!r}.")
    if variables is not None and not is_list(variables):
        raise OptionError(f"variables is a list of names, not {variables!r}.")
    rules = bins if isinstance(bins, Mapping) else {}
    families = [name for child, own in parents.items() for name in (child, *(own if is_list(own) else ()))]
    named = list(dict.fromkeys([*families, *states, *rules]))
    if variables is not None:
        for name in variables:
            if name not in header and name not in states:
                raise MissingColumnError(str(name), header)
        for name in named:
            if name not in variables:
                raise NetworkError(f'"{name}" is not among the variables.{suggestion(str(name), list(variables))}')
        named = list(variables)
    is_open = not named
    for name in states:
        others = [column for column in header if column not in named]
        if variables is None and name not in header and name not in families and (near := closest(str(name), others)):
            raise DataError(
                f'states names "{name}", but the table has no such column. Did you mean "{near}"? If it is a hidden '
                "variable, give it an arc, or list all variables in variables=[…]."
            )
    for name in named:
        if name not in header and (name not in states or name in rules):
            raise MissingColumnError(str(name), header)
    if variables is not None:
        return named, False
    wanted = set(named)
    ordered = [name for name in header if name in wanted or is_open]
    return [*ordered, *(name for name in named if name not in header)], is_open


def _usable(
    columns: Mapping[str, ColumnValues], categories: Mapping[str, Categories]
) -> tuple[dict[str, ColumnValues], list[Finding]]:
    """The columns that can be variables, where nobody said which are; and a finding for each other one."""
    kept, findings = dict[str, ColumnValues](), list[Finding]()
    for name, values in columns.items():
        try:
            if name not in categories or not categories[name].is_ordered:
                _check_usable(values)
            kept[name] = values
        except DataError as error:
            findings.append(Finding("column left out", str(error), name))
    if not kept:
        raise DataError(f"No column of the table can be a variable. {findings[0].message}")
    return kept, findings


def _check_usable(values: ColumnValues) -> None:
    """Raise where a column cannot become a variable by itself."""
    name = values.name
    if not values.rows:
        raise DataError(f"Column {name} holds no value at all. Leave it out, or state its states: it is then hidden.")
    if values.has_dates:
        raise DataError(
            f"Column {name} holds dates, which are neither categories nor numbers. Turn them into numbers first, such "
            "as years or days since an event; or leave the column out."
        )
    if values.odd_text is not None and "," in values.odd_text:
        raise DataError(
            f'Column {name} holds numbers with a comma, such as "{values.odd_text}". Write them with a decimal point. '
            f"Or declare the decimal comma: {declaration('decimal', ',')}."
        )
    if values.odd_text is not None:
        raise DataError(
            f'Column {name} holds numbers, but also "{values.odd_text}". Write a number there, or leave the cell '
            "empty; or state all states of the column."
        )
    if not values.is_measured and values.distinct > MOST_CATEGORIES:
        raise DataError(
            f"Column {name} holds {values.distinct} different texts in {values.rows} rows, such as "
            f'"{values.categories[0]}": it seems to name rows rather than to group them. Leave it out, or state its '
            "states."
        )


def _supervised_last(names: Sequence[str], bins: Any) -> list[str]:
    """The names with those last whose cut points depend on another variable."""

    def is_supervised(name: str) -> bool:
        rule = bins.get(name) if isinstance(bins, Mapping) else bins
        return isinstance(rule, Supervised) and (isinstance(bins, Mapping) or rule.target != name)

    return sorted(names, key=is_supervised)


class _Choices:
    """Decides the states and cut points of one variable after the other."""

    def __init__(
        self,
        frame: pl.DataFrame,
        columns: Mapping[str, ColumnValues],
        parents: Mapping[str, Sequence[str]],
        states: Mapping[str, Sequence[object]],
        bins: Any,
        categories: Mapping[str, Categories],
    ) -> None:
        self.frame, self.columns, self.parents, self.bins = frame, columns, parents, bins
        self.categories = {name: own for name, own in categories.items() if name in columns and own.states}
        self.states = {name: _texts(name, given) for name, given in states.items()}
        self.made: dict[str, Variable] = {}

    def variable(self, name: str) -> tuple[Variable, list[Finding]]:
        """A variable, and what was decided about it."""
        variable, findings = self._decided(name)
        self.made[name] = variable
        return variable, findings

    def _decided(self, name: str) -> tuple[Variable, list[Finding]]:
        stated = self.states.get(name)
        if name not in self.columns:
            assert stated is not None  # `_names` has checked it
            return Variable(name, stated), []
        values = self.columns[name]
        explicit = self.bins.get(name) if isinstance(self.bins, Mapping) else None
        if explicit is not None:
            return self._cut(name, checked_numbers(self.frame[name]), as_rule(name, explicit), stated, is_stated=True)
        if stated is not None:
            if values.is_measured and not any(map(is_number, stated)) and len(stated) > 1:
                assert values.numbers is not None
                return self._cut(name, values.numbers, Quantiles(len(stated), rounded=True), stated, is_stated=False)
            variable = Variable(name, stated)
            read_table(Network([variable]), self.frame.select(name))  # raises if a value is none of the states
            return variable, []
        own = self.categories.get(name)
        if own is not None and own.is_ordered:
            message = f"{name} has the states {listing(own.states)}, from low to high: the categories of its column."
            return Variable(name, own.states, is_ordered=True), [Finding("states", message, name)]
        _check_usable(values)
        if own is None and values.is_measured:
            assert values.numbers is not None
            general = None if isinstance(self.bins, Mapping) else self.bins
            if isinstance(general, Supervised) and general.target == name:
                general = None
            rule = Quantiles(self._default_bins(name), rounded=True) if general is None else as_rule(name, general)
            return self._cut(name, values.numbers, rule, None, is_stated=general is not None)
        labels = values.categories if own is None else own.states
        require_different_labels(name, labels)
        findings = doubtful_findings(values)
        if len(labels) == 1:
            return Variable(name, labels), findings  # `constant_findings` says so
        where = "the values in the table" if own is None else "the categories of its column"
        message = f"{name} has the states {listing(labels)}, {where}."
        return Variable(name, labels), [Finding("states", message, name), *findings]

    def _cut(
        self, name: str, numbers: Numbers, rule: CutPoints | Quantiles | EqualWidth | Supervised,
        stated: tuple[str, ...] | None, *, is_stated: bool,
    ) -> tuple[Variable, list[Finding]]:  # fmt: skip
        """A measured variable, with the range of its numbers."""
        seen = numbers[~np.isnan(numbers)]
        if isinstance(rule, CutPoints):
            points, how = list(rule.points), ""
        elif not len(seen):
            raise DataError(f"Column {name} holds no value at all. Leave it out, or give its cut points.")
        else:
            points, how = self._points(name, numbers, rule, is_stated)
        if not points:
            raise DataError(f"Column {name} holds the same number in all rows. Leave it out, or give its cut points.")
        if len(seen):
            cuts = CutPoints(tuple(points), float(seen.min()), float(seen.max()))
        else:
            cuts = CutPoints(tuple(points))
        if stated is not None and len(stated) != len(points) + 1 and how:
            raise DataError(
                f"Column {name} can be cut into {len(points) + 1} states at {cuts}, but {len(stated)} are stated: "
                f"{listing(stated)}. Give the cut points."
            )
        variable = Variable(name, default_labels(points) if stated is None else stated, cuts)
        if not how:
            return variable, []
        rows = np.bincount(cuts.codes(seen), minlength=len(variable.states)).tolist()
        shown = [f"{state} ({count})" for state, count in zip(variable.states, rows, strict=True)]
        return variable, [
            Finding("cut points", f"{name} is cut at {cuts}, {how}. States, with rows: {listing(shown)}.", name)
        ]

    def _points(
        self, name: str, numbers: Numbers, rule: Quantiles | EqualWidth | Supervised, is_stated: bool
    ) -> tuple[list[float], str]:
        """Cut points by a rule, and what the rule is."""
        match rule:
            case Quantiles(bins, rounded):
                how = "rounded, with" if rounded else "with"
                slack = SLACK if rounded else 0.0
                return quantile_points(numbers, bins, slack=slack), f"{how} about as many rows in each state"
            case EqualWidth(bins):
                return equal_width_points(numbers, bins), "ranges of equal width"
            case Supervised(target, most):
                if target == name or target not in self.made:
                    raise OptionError(
                        f"{name} is to be cut so that it tells {target} apart, but {target} is "
                        f"{'the same variable' if target == name else 'not a variable whose states are known before'}."
                    )
                codes = read_table(Network([self.made[target]]), self.frame.select(target)).codes[:, 0]
                points = supervised_points(numbers, codes, most)
                if points:
                    return points, f"where a decision tree tells the states of {target} apart"
                middle = quantile_points(numbers, 2, slack=SLACK)
                return middle, f"near its median: a decision tree finds no relation to {target}"

    def _default_bins(self, name: str) -> int:
        """Three states, or two where a family of the variable would have fewer than five rows for each number."""
        for child in self.columns.keys() | self.parents.keys():
            family = (child, *self.parents.get(child, ()))
            if name in family and len(self.frame) < ROWS_PER_NUMBER * prod(self._size(each) for each in family):
                return FEWER_BINS
        return BINS

    def _size(self, name: str) -> int:
        if name in self.states:
            return len(self.states[name])
        if name in self.categories:
            return len(self.categories[name].states)
        values = self.columns.get(name)
        return BINS if values is None or values.is_measured else values.distinct


def _texts(name: str, states: object) -> tuple[str, ...]:
    if not is_list(states):
        raise NetworkError(f"The states of {name} are a list, not {states!r}.")
    return cast("tuple[str, ...]", tuple(state_of(state) for state in cast("Iterable[object]", states)))
