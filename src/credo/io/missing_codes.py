"""Codes that stand for missing values, such as -999 and n/a: declared ones are removed, likely ones are reported."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import counted, listing
from credo.findings import Finding
from credo.io.categories import read_frame
from credo.io.dataset import Tables
from credo.io.number_columns import CODES, NumbersSeen, lies_apart
from credo.model.state_texts import number_of, number_text
from credo.types import Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

SUSPECTED = "missing value codes"  # the kind of the finding
FEWEST_OTHERS = 3


def without_codes(table: TableLike, codes: Collection[str]) -> pl.DataFrame | Tables:
    """The table as a frame in which cells that equal a code are missing; several tables each for itself."""
    import polars as pl

    if isinstance(table, Tables):
        return table.map(lambda each: without_codes(each, codes))

    frame = read_frame(table, lambda columns: columns)
    texts = {code.strip() for code in codes}
    numbers = [number for number in map(number_of, texts) if number is not None]
    changed = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.is_numeric():
            hit = column.cast(pl.Float64).is_in(numbers)
        elif column.dtype in (pl.String, pl.Categorical, pl.Enum):
            words = column.cast(pl.String).str.strip_chars()
            hit = words.is_in(list(texts)) | words.cast(pl.Float64, strict=False).is_in(numbers).fill_null(value=False)
        else:
            continue
        hit = hit.fill_null(value=False)
        if hit.any():
            changed.append(column.zip_with(~hit, pl.Series(name, [None] * len(column), dtype=column.dtype)))
    return frame.with_columns(changed) if changed else frame


def suspected_codes(numbers: Numbers) -> dict[float, int]:
    """Numbers of a measured column that look like codes, with their rows: common codes far from all other numbers."""
    values, rows = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    candidates = [place for place, value in enumerate(values.tolist()) if value in CODES]
    others = np.delete(values, candidates)
    if not candidates or len(others) < FEWEST_OTHERS:
        return {}
    low, high = float(others.min()), float(others.max())
    found: dict[float, int] = {}
    for place in candidates:
        value = float(values[place])
        if lies_apart(value, low, high):
            found[value] = int(rows[place])
    return found


def code_findings(columns: Mapping[str, Numbers]) -> list[Finding]:
    """A finding for each measured column that seems to hold codes for missing values."""
    findings = []
    for name, numbers in columns.items():
        if found := suspected_codes(numbers):
            others = numbers[~np.isnan(numbers) & ~np.isin(numbers, list(found))]
            findings.append(_finding(name, found, float(others.min()), float(others.max())))
    return findings


def seen_code_findings(columns: Mapping[str, NumbersSeen]) -> list[Finding]:
    """The same of columns whose variables had cut points before they were read."""
    return [
        _finding(name, seen.suspected, *seen.others)
        for name, seen in columns.items()
        if seen.suspected and seen.others is not None
    ]


def _finding(name: str, found: Mapping[float, int], low: float, high: float) -> Finding:
    shown = [f"{number_text(code)} in {counted(rows, 'row')}" for code, rows in found.items()]
    codes = ", ".join(map(number_text, found))
    message = (
        f"{name}: {listing(shown)} {'lies' if len(found) == 1 else 'lie'} apart from all other numbers "
        f"({number_text(low)} to {number_text(high)}) and may stand for missing "
        f'values. If so, write `missing values: {codes}` in the text, or give --missing "{codes}".'
    )
    return Finding(SUSPECTED, message, name)
