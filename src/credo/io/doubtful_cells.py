"""Cells that may mean something else than they say: labels written in two ways, words for a missing value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from credo.errors import DataError, counted, listing
from credo.findings import Finding
from credo.io.column_values import ColumnValues

MISSING_VALUES = "missing values"  # the kind of the finding


def require_different_labels(name: str, labels: Sequence[str]) -> None:
    """Raise if two labels of a column differ only in upper and lower case, or in their blanks."""
    known: dict[str, str] = {}
    for label in labels:
        other = known.setdefault(" ".join(label.split()).casefold(), label)
        if other != label:
            raise DataError(
                f'Column {name} holds both "{other}" and "{label}", which differ only in upper and lower case or '
                f"blanks. Write them alike; or, if they are two states, state all states of {name}."
            )


def doubtful_findings(values: ColumnValues) -> list[Finding]:
    """The finding that words which often stand for a missing value are taken as states."""
    if not values.doubtful:
        return []
    parts = [f"“{text}” in {counted(count, 'row')}" for text, count in values.doubtful.items()]
    state = "a state" if len(parts) == 1 else "states"
    message = f"{values.name}: {listing(parts)} {'is' if len(parts) == 1 else 'are'} taken as {state}; "
    return [Finding("doubtful state", f"{message}empty cells are missing values.", values.name)]


def missing_value_findings(missing: Mapping[str, int], rows: int) -> list[Finding]:
    """The finding that says in how many rows each variable is missing, the most first; none where none is."""
    ordered = sorted((name for name in missing if missing[name]), key=lambda name: -missing[name])
    if not ordered:
        return []
    first, *others = ordered
    parts = [f"{first} is missing in {missing[first]:,} of {rows:,} rows"]
    parts += [f"{name} in {missing[name]:,}" for name in others]
    return [Finding(MISSING_VALUES, f"{listing(parts)}.")]
