"""Odd arrays for the compiled core: the same result as with plain ones, or an error of NumPy's or Python's own."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tests.core.test_boundary import CALLS, REFUSED, arrays_of, same

from fuzz.kind import Input, Kind

TYPES = ("f4", "f8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "O", "U3", "S2", "M8[s]", "V3",
         ">f8", ">i8", ">i4")  # fmt: skip
LAYOUTS = ("strided", "backwards", "Fortran", "unaligned", "read-only", "broadcast", "masked", "matrix", "subclass")
SHAPES = ("another axis first", "another axis last", "no axis", "flat", "empty", "swapped")
OBJECTS: tuple[object, ...] = (3, 2.5, "text", b"bytes", [1.0], (), {}, [[]])


class Subclass(np.ndarray):
    """An array of a class of its own."""


def make(choose: Random) -> Input:
    """A function of the core, and what is odd about some of its arrays."""
    name = choose.choice(list(CALLS))
    arrays = [each for each, _ in arrays_of(CALLS[name])]
    return {
        "function": name,
        "changes": [
            [each, choose.choice(("type", "layout", "layout", "shape", "object")), choose.getrandbits(16)]
            for each in choose.sample(arrays, choose.randint(1, min(3, len(arrays))))
        ],
    }


def odd(value: np.ndarray, how: str, number: int) -> tuple[Any, bool]:
    """An odd version of an array, and whether its values are still the same."""
    if how == "type":
        try:
            other = value.astype(TYPES[number % len(TYPES)])
            return other, bool(np.array_equal(other, value))
        except (TypeError, ValueError):
            return value, True
    if how == "object":
        return OBJECTS[number % len(OBJECTS)], False
    if how == "shape":
        shape = SHAPES[number % len(SHAPES)]
        other = {
            "another axis first": value[None], "another axis last": value[..., None],
            "no axis": value.reshape(-1)[:1].reshape(()) if value.size else np.float64(0), "flat": value.reshape(-1),
            "empty": value[:0], "swapped": value.T,
        }[shape]  # fmt: skip
        return other, other.shape == value.shape and bool(np.array_equal(other, value))
    return _laid_out(value, LAYOUTS[number % len(LAYOUTS)]), True


def _laid_out(value: np.ndarray, layout: str) -> Any:
    if layout == "strided":
        wide = np.zeros(tuple(2 * size for size in value.shape), dtype=value.dtype)
        found = wide[tuple(slice(None, None, 2) for _ in value.shape)]
        found[...] = value
        return found
    if layout == "backwards":
        return np.flip(np.ascontiguousarray(np.flip(value)))
    if layout == "unaligned":
        raw = np.zeros(value.nbytes + 1, dtype=np.uint8)
        found = raw[1:].view(value.dtype).reshape(value.shape)
        found[...] = value
        return found
    if layout == "read-only":
        found = value.copy()
        found.flags.writeable = False
        return found
    if layout == "broadcast" and value.ndim and value.size and (value == value[:1]).all():
        return np.broadcast_to(value[:1], value.shape)
    if layout == "masked":
        return np.ma.masked_array(value)
    if layout == "subclass":
        return value.view(Subclass)
    return np.asfortranarray(value)


def check(given: Input, folder: Path) -> str:
    """With the same values the same result, or refused; with others anything but a crash."""
    assert isinstance(given, dict)
    call = CALLS[given["function"]]
    arguments = call.arguments()
    others, is_same = {}, True
    for name, how, number in given["changes"]:
        others[name], alike = odd(arguments[name], how, number)
        is_same = is_same and alike
    try:
        found = call.result(**others)
    except (*REFUSED, AttributeError, IndexError) as error:
        return type(error).__name__
    if is_same:
        assert same(found, call.result()), f"another result; {given['function']}"
        return "the same"
    return "taken"


BOUNDARY = Kind("boundary", make, check, ".json")
