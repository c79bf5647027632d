"""Results as plain data, which JSON can hold, and as text in a notebook."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite

from credo.terminal import escape
from credo.types import Json


class PlainResult:
    """A result with a text, a dataclass: a notebook shows the text, and a program takes its fields."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Json]:
        """Everything as dictionaries, lists, texts and finite numbers: what JSON can hold.

        Returns
        -------
        dict
            The fields by name; a table is a list of its rows, and a number that is not finite is null.
        """
        return {field.name: as_json(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def as_json(value: object) -> Json:
    """A part of a result as JSON can hold it."""
    if isinstance(value, PlainResult):
        return value.to_dict()
    if hasattr(value, "to_dicts"):  # a table of polars, which is not imported for this
        return as_json(value.to_dicts())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {str(key): as_json(each) for key, each in value.items()}
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, tuple | list):
        return [as_json(each) for each in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else str(value)
