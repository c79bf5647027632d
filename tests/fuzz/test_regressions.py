"""Inputs that once failed, small enough to read; what must hold is what their kind checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fuzz.failures import run_input
from fuzz.kind import Input, kind_named
from fuzz.workers import strict_warnings


def frame(library: str, kind: str, values: list[Any], name: str = "smoke", **more: Any) -> dict[str, Any]:
    """A recipe for a frame of one column."""
    columns = [{"name": name, "type": kind, "values": values}]
    return {"library": library, "columns": columns, "weights": None, "index": "", **more}


def problem(
    states: dict[str, list[str]], columns: dict[str, list[Any]], knowledge: list[str], **more: Any
) -> dict[str, Any]:
    """A recipe for learning variables without arcs, by EM from one start."""
    size = {name: len(labels) for name, labels in states.items()}
    return {
        "states": states,
        "parents": {},
        "cpts": {name: [1 / size[name]] * size[name] for name in states},
        "knowledge": knowledge,
        "columns": columns,
        "weights": None,
        "start": True,
        "method": "cml",
        "twice": False,
        "choices": 1,
        **more,
        "options": {"em": {"starts": 1, "max_iterations": 1, "trainer": "em"}, **more.get("options", {})},
    }


def weighted(library: str, kind: str) -> dict[str, Any]:
    """A recipe whose weights are a column of this type."""
    columns = [{"name": "smoke", "type": "object", "values": ["no"]}, {"name": "weight", "type": kind, "values": ["1"]}]
    columns[0]["type"] = {"pandas": "object", "polars": "String", "pyarrow": "string"}[library]
    return {"library": library, "columns": columns, "weights": "weight", "index": ""}


CASES: dict[str, tuple[str, Input]] = {
    "a NUL after a state": ("csv", b";l;odd\n;;NA\0"),
    "a NUL alone": ("csv", b',"say, it",e\n,\0'),
    "a NUL in a cell that is not used": ("csv", b"p\tt\tsay, it\t\n\t\t\0\t"),
    "a header of one long field": ("csv", b"dose," + b"x" * 140_000 + b"\n1,2\n"),
    "bytes that are not UTF-8 in NET": ("net", b'net {\n name = "\xff\xfe";\n}\n'),
    "a text without an end in NET": ("net", b'net {\n}\nnode a {\n states = ("x" "y" );\n label = "ao;\n}\n'),
    "bytes that are not UTF-8 in DSL": ("dsl", b"net \xff {\n};\n"),
    "categories of intervals": ("frames", frame("pandas", "category of intervals", ["True"], "flag")),
    "intervals": ("frames", frame("pandas", "interval", ["True"], "flag")),
    "half a surrogate pair": ("frames", frame("pandas", "object", ["\ud800"])),
    "half a surrogate pair among numbers": ("frames", frame("polars", "inferred", [0, "\ud800"])),
    "decimals of 256 bits": ("frames", frame("pyarrow", "decimal256", [1])),
    "no decimals of 256 bits": ("frames", frame("pyarrow", "decimal256", [])),
    "weights that are categories": ("frames", weighted("pandas", "category")),
    "weights that are lists": ("frames", weighted("polars", "List")),
    "weights that are structures": ("frames", weighted("polars", "Struct")),
    "weights that are dates": ("frames", weighted("polars", "Date")),
    "weights that are bytes": ("frames", weighted("polars", "Binary")),
    "the gradient trainer with nothing to learn": (
        "fits",
        problem(
            {"x": ["a", "b"]},
            {"x": ["a", None]},
            [],
            options={"fixed": ["x"], "em": {"starts": 1, "max_iterations": 5, "trainer": "gradient"}},
        ),
    ),
    "an equality that makes a row impossible": (
        "fits",
        problem({"x": ["a", "b", "c"]}, {"x": [None, "a", "c", "b"]}, ["P(x=a) = P(x in {a, c})"], options={"seed": 2}),
    ),
    "a bound of nothing on a variable of one state": (
        "fits",
        problem({"x": ["only"], "y": ["a", "b"]}, {"x": [None, "only"]}, ["P(x=only) >= 0"], weights=[1e-9, 1.0]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_once_failed_is_read_or_refused(name: str, tmp_path: Path) -> None:
    kind, given = CASES[name]
    with strict_warnings():
        assert run_input(kind_named(kind), given, tmp_path)
