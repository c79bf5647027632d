"""Codes that stand for missing values, such as -999 and n/a: declared ones are removed, likely ones are reported."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import MissingColumnError, counted, listing
from credo.findings import Finding
from credo.io.categories import read_frame
from credo.io.dataset import Tables
from credo.io.number_columns import CODES, NumbersSeen, lies_apart
from credo.model.state_texts import number_of, number_text
from credo.types import Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

SUSPECTED = "missing value codes"  # the kind of the finding
FEWEST_OTHERS = 2
SMALLEST_GENERAL = 100.0  # codes below it are declared for a column, because others may hold them as numbers
FAR, FAR_IN_STEPS, FEWEST_ROWS = 0.2, 5.0, 5  # of a number that ends a column and recurs: of the range, and of a step


def without_codes(
    table: TableLike, codes: Collection[str], codes_of: Mapping[str, Collection[str]] | None = None
) -> pl.DataFrame | Tables:
    """The table as a frame in which cells that equal a code are missing; several tables each for itself.

    `codes_of` has codes of single columns; a code such as `pres: 0` is one of the column `pres`, if there is one.
    """
    import polars as pl

    if isinstance(table, Tables):
        return table.map(lambda each: without_codes(each, codes, codes_of))

    frame = read_frame(table, lambda columns: columns)
    own = {name: set(found) for name, found in (codes_of or {}).items()}
    for name in own:
        if name not in frame.columns:
            raise MissingColumnError(name, frame.columns)
    general, of_columns = split_codes(codes, frame.columns)
    for name, found in of_columns.items():
        own.setdefault(name, set()).update(found)
    changed = []
    for name in frame.columns:
        column = frame[name]
        texts = {code.strip() for code in (*general, *own.get(name, ()))}
        numbers = [number for number in map(number_of, texts) if number is not None]
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


def split_codes(codes: Iterable[str], columns: Collection[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The codes of all columns, and those of single ones, which are written `pres: 0`."""
    general: list[str] = []
    own: dict[str, list[str]] = {}
    for code in codes:
        name, mark, rest = code.partition(":")
        if mark and name.strip() in columns:
            own.setdefault(name.strip(), []).append(rest.strip())
        else:
            general.append(code)
    return general, own


def missing_values_line(codes: Iterable[str], columns: Iterable[str] = ()) -> str:
    """`missing values of pres: 0`, the line of the language that declares codes in some columns, or in all."""
    where = ", ".join(name if re.fullmatch(r'[^\s:"#,]+', name) else f'"{name}"' for name in columns)
    listed = ", ".join(f'"{code}"' if "," in code or code != code.strip() else code for code in codes)
    return f"missing values{f' of {where}' if where else ''}: {listed}"


def is_plausible_elsewhere(code: str) -> bool:
    """Whether a code may be an ordinary number in another column, as 0 and 99 are, and -999 is not."""
    number = number_of(code)
    return number is not None and abs(number) < SMALLEST_GENERAL


def advice_to_declare(name: str, codes: Sequence[str]) -> str:
    """What to write if codes in a column stand for missing values."""
    own = [code for code in codes if is_plausible_elsewhere(code)]
    general = [code for code in codes if code not in own]
    lines = [missing_values_line(found, names) for found, names in ((general, ()), (own, (name,))) if found]
    option = ", ".join([*general, *(f"{name}: {code}" for code in own)])
    return f'write {" and ".join(f"`{line}`" for line in lines)} in the text, or give --missing "{option}"'


def suspected_codes(numbers: Numbers) -> dict[float, int]:
    """Numbers of a measured column that look like codes, with their rows.

    These are common codes far from all other numbers; and such a code, or 0, that recurs at an end of the column, some
    way from the others.
    """
    values, rows = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    candidates = [place for place, value in enumerate(values.tolist()) if value in CODES or value == 0.0]
    others = np.delete(values, candidates)
    if not candidates or len(others) < FEWEST_OTHERS:
        return {}
    low, high = float(others.min()), float(others.max())
    least = max(FAR * (high - low), FAR_IN_STEPS * float(np.median(np.diff(others))))
    found: dict[float, int] = {}
    for place in candidates:
        value = float(values[place])
        recurs_apart = rows[place] >= FEWEST_ROWS and max(low - value, value - high) > least
        if recurs_apart or (value != 0.0 and lies_apart(value, low, high)):
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
    advice = advice_to_declare(name, [*map(number_text, found)])
    message = (
        f"{name}: {listing(shown)} {'lies' if len(found) == 1 else 'lie'} apart from all other numbers "
        f"({number_text(low)} to {number_text(high)}) and may stand for missing "
        f"values. If so, {advice}."
    )
    return Finding(SUSPECTED, message, name)
