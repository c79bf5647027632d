"""Counts of complete rows as a file that a site can share: how often each family was seen in each state, and no rows.

Counts of several sites add up, and learning from them equals learning from the rows together. The file is plain JSON,
so that whoever is responsible for the data can read what leaves the site.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from credo.errors import CredoError, DataError, FileError, FormatError, OptionError, counted, listing
from credo.findings import Finding
from credo.io.dataset import Dataset, Tables, no_data
from credo.io.files import require_file, unreadable, write_text
from credo.model.network import Network
from credo.statistics.counts import Counts, empty, layout_for_counts
from credo.types import PathLike, TableLike

ENDING = ".counts"
FORMAT, VERSION = "credo counts", 1
WHAT = "file of counts"


@dataclass(frozen=True, slots=True)
class CountsSummary:
    """What was written.

    Attributes
    ----------
    rows
        How many complete rows were counted.
    left_out
        How many rows were left out, because values are missing.
    suppressed_cells, suppressed_cases
        How many numbers were suppressed, and their sum.
    """

    rows: int
    left_out: int
    suppressed_cells: int
    suppressed_cases: float


def is_counts_file(table: object) -> bool:
    """Whether a table is a file of counts, by its name."""
    return isinstance(table, str | os.PathLike) and os.fspath(table).lower().endswith(ENDING)


def write_counts(path: PathLike, network: Network, counts: Counts, least: int = 0, left_out: int = 0) -> CountsSummary:
    """Write the counts of complete rows; cells of fewer than `least` cases are suppressed."""
    cells, cases = 0, 0.0
    families: dict[str, Any] = {}
    for name in network.names:
        table = counts.of(name).copy()
        small = (table > 0) & (table < least)
        cells, cases = cells + int(small.sum()), cases + float(table[small].sum())
        table[small] = 0.0
        families[name] = [[_plain(value) for value in row] for row in table]
    content = {
        "format": FORMAT,
        "version": VERSION,
        "rows": counts.rows,
        "weight": _plain(counts.total),
        "suppressed": {"below": least, "cells": cells, "cases": _plain(cases)},
        "variables": {each.name: list(each.states) for each in network.variables},
        "cut points": {each.name: list(each.cuts.points) for each in network.variables if each.cuts is not None},
        "parents": {name: list(network.parents[name]) for name in network.names},
        "counts": families,
    }
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return CountsSummary(counts.rows, left_out, cells, cases)


def _plain(value: float) -> float | int:
    return int(value) if float(value).is_integer() else float(value)


def _content(path: PathLike) -> dict[str, Any]:
    """What a file of counts holds, so far unchecked."""
    require_file(Path(path), WHAT)
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise FormatError(f"This is not a {WHAT}, or it is damaged.", str(path)) from None
    except OSError as error:
        raise error if isinstance(error, FileError) else unreadable(path, error) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT or content.get("version") != VERSION:
        raise FormatError(f"This is not a {WHAT} of version {VERSION}.", str(path))
    return content


def read_counts(path: PathLike, network: Network) -> tuple[Dataset, tuple[Finding, ...]]:
    """The rows of a file of counts, known by their counts alone, and what was suppressed in it."""
    content = _content(path)
    try:
        _require_same(path, content, network)
        counts = _counts(content, network)
        suppressed = content["suppressed"]
        findings = tuple(_suppressed(path, suppressed)) if suppressed["cells"] else ()
    except CredoError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise FormatError(f"This {WHAT} is damaged: {type(error).__name__}.", str(path)) from None
    return replace(no_data(network), counted=(counts,)), findings


def _suppressed(path: PathLike, suppressed: dict[str, Any]) -> Iterator[Finding]:
    cells, cases = counted(int(suppressed["cells"]), "number"), counted(int(suppressed["cases"]), "case")
    message = (
        f"{Path(path).name}: {cells} below {suppressed['below']} were suppressed at the site, {cases} in all; they "
        "count as none."
    )
    yield Finding("suppressed counts", message)


def _require_same(path: PathLike, content: dict[str, Any], network: Network) -> None:
    """Refuse counts of another network, with what differs."""
    variables, parents, cuts = content["variables"], content["parents"], content["cut points"]
    name = Path(path).name
    if set(variables) != set(network.names):
        others = sorted(set(variables) ^ set(network.names))
        raise DataError(f"{name} was counted for other variables: {listing(others)} are not in both.")
    for variable in network.variables:
        own = list(variable.cuts.points) if variable.cuts is not None else None
        if set(variables[variable.name]) != set(variable.states) or cuts.get(variable.name) != own:
            raise DataError(
                f"{name} was counted with other states or cut points of {variable.name}: "
                f"{', '.join(variables[variable.name])}. Count it again with this text: credo summarise."
            )
        if set(parents[variable.name]) != set(network.parents[variable.name]):
            raise DataError(
                f"{name} was counted with other arrows: {variable.name} depends there on "
                f"{listing(parents[variable.name]) or 'nothing'}. Count it again with this text: credo summarise."
            )


def _counts(content: dict[str, Any], network: Network) -> Counts:
    """The counts in the order of states and parents of this network."""
    counts = empty(layout_for_counts(network))
    if counts.layout.left_out:
        raise OptionError(f"The CPT of {listing(sorted(counts.layout.left_out))} is too large for a file of counts.")
    for name in network.names:
        order, variables = content["parents"][name], content["variables"]
        shape = [len(variables[parent]) for parent in order] + [len(variables[name])]
        table = np.array(content["counts"][name], dtype=np.float64).reshape(shape)
        if not np.isfinite(table).all() or (table < 0).any():
            raise ValueError
        axes = [order.index(parent) for parent in network.parents[name]] + [len(order)]
        table = table.transpose(axes)
        for axis, own in enumerate((*network.parents[name], name)):
            places = [variables[own].index(state) for state in network.states(own)]
            table = np.take(table, places, axis=axis)
        counts.layout.view(counts.dense, name)[:] = table.reshape(-1, shape[-1])
    return replace(counts, rows=int(content["rows"]), total=float(content["weight"]))


def with_counts(source: TableLike | None, network: Network) -> tuple[TableLike | None, tuple[Finding, ...]]:
    """The data with every file of counts among them read."""
    tables = source.sources if isinstance(source, Tables) else (source,)
    if not any(map(is_counts_file, tables)):
        return source, ()
    read: list[TableLike] = []
    findings: list[Finding] = []
    for each in tables:
        if each is not None and is_counts_file(each):
            each, own = read_counts(os.fspath(each), network)  # type: ignore[arg-type]
            findings.extend(own)
        assert each is not None
        read.append(each)
    return Tables(tuple(read)), tuple(findings)


def table_of_states(source: TableLike | None) -> TableLike | None:
    """What states are taken from that nobody declares: data with columns, or else what files of counts name."""
    if isinstance(source, Tables):
        rest = tuple(each for each in source.sources if not is_counts_file(each))
        return Tables(rest) if rest else _stated([os.fspath(each) for each in source.sources])  # type: ignore[arg-type]
    return _stated([os.fspath(source)]) if is_counts_file(source) else source  # type: ignore[arg-type]


def _stated(paths: Sequence[str]) -> TableLike:
    """A table with every state that files of counts name, and with a number between any two of their cut points."""
    import polars as pl

    states: dict[str, dict[str, None]] = {}
    numbers: dict[str, list[float]] = {}
    for path in paths:
        content = _content(path)
        try:
            for name, found in content["variables"].items():
                states.setdefault(str(name), {}).update(dict.fromkeys(map(str, found)))
            for name, points in content["cut points"].items():
                low, *between = (float(point) for point in points)
                middles = [(one + other) / 2.0 for one, other in pairwise([low, *between])]
                numbers[str(name)] = [low - 1.0, *middles, [low, *between][-1] + 1.0]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"This {WHAT} is damaged: {type(error).__name__}.", path) from None
    length = max(len(own) for own in (*states.values(), *numbers.values()))
    columns = {
        name: pl.Series(numbers[name], dtype=pl.Float64)
        if name in numbers
        else pl.Series([*own], dtype=pl.Enum([*own]))
        for name, own in states.items()
    }
    return pl.DataFrame({name: own.extend_constant(None, length - len(own)) for name, own in columns.items()})
