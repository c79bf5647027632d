"""The boundary of the compiled core: whatever arrays come, there is the right result or a typed error, and no crash.

A new entry point gets its line in `CALLS`: a function, valid arguments, and the names of those that it writes.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from credo import Dataset
from credo.core import components, counting, csv, elimination_plan, tie_messages
from credo.core.elimination import Evaluator
from credo.core.linked_distributions import LinkedDistributions
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import Prepared, prepare
from credo.testing import random_network

REFUSED = (BufferError, TypeError, ValueError)  # NumPy's and Python's own words for an array of another kind

Arguments = dict[str, Any]


def _linked() -> LinkedDistributions:
    """Two distributions of two states, the first of which a statement bounds."""
    rows = (np.array([0, 1]), np.array([0]), np.array([1.0]), np.array([0.7]))
    moves = LinkedDistributions(
        np.array([0, 2, 4]), np.zeros(2), np.full(4, 0.5), np.zeros(4), np.full(4, 0.5), np.zeros((1, 2)), (5.0, 0.5),
        1.0, np.ones(2), [1], np.zeros(4), rows, np.array([-1]), np.zeros(0), np.zeros(2), [0],
    )  # fmt: skip
    moves.look_at_base()
    return moves


@dataclass(frozen=True)
class Call:
    """One way to call the core, with new arrays each time."""

    function: Callable[..., Any]
    arguments: Callable[[], Arguments]
    written: tuple[str, ...] = ()

    def result(self, **others: Any) -> list[Any]:
        """What it returns, and what it wrote."""
        arguments = {**self.arguments(), **others}
        returned = self.function(*arguments.values())
        return [*(returned if isinstance(returned, tuple) else (returned,)), *(arguments[n] for n in self.written)]


def _prepared() -> Prepared:
    network = random_network({"a": 2, "b": 3, "c": 2, "d": 2}, {"b": ("a",), "c": ("b",), "d": ("a", "c")}, seed=1)
    codes = np.array([[-1, 0, 1, 0], [-1, -1, 1, 1], [0, -1, -1, 1], [1, 2, 0, -1]], dtype=np.int8)
    return prepare(layout_for_counts(network), Dataset(network.names, codes))


PREPARED = _prepared()
LAYOUT, GROUPS, PLANS = PREPARED.layout, PREPARED.groups, PREPARED.plans
CODES = PREPARED.dataset.codes
THETA = np.random.default_rng(0).random(LAYOUT.size)
TEXT = b"yes,1.5\nno,20\nyes,-3e2\n"


def _counting() -> Arguments:
    return {
        "codes": CODES.copy(),
        "weights": np.ones(len(CODES)),
        "members": LAYOUT.members.copy(),
        "strides": LAYOUT.strides.copy(),
        "starts": LAYOUT.member_starts.copy(),
        "offsets": LAYOUT.cell_starts[:-1].copy(),
        "counts": np.zeros(LAYOUT.size),
        "incomplete": np.zeros(len(LAYOUT.names)),
    }


def _grouping() -> Arguments:
    return {
        "codes": CODES.copy(),
        "chosen": np.arange(len(CODES)),
        "weights": np.ones(len(CODES)),
        "members": LAYOUT.members.copy(),
        "strides": LAYOUT.strides.copy(),
        "starts": LAYOUT.member_starts.copy(),
        "offsets": LAYOUT.cell_starts.copy(),
        "backward": LAYOUT.backward.copy(),
        "asked": -1,
    }


def _planning() -> Arguments:
    return {
        "keys": GROUPS.keys.copy(),
        "key_starts": GROUPS.key_starts.copy(),
        "sizes": LAYOUT.sizes.copy(),
        "members": LAYOUT.members.copy(),
        "strides": LAYOUT.strides.copy(),
        "starts": LAYOUT.member_starts.copy(),
        "most_cells": 1e9,
    }


def _scanning() -> Arguments:
    return {
        "buffer": np.frombuffer(TEXT + bytes(csv.PADDING), dtype=np.uint8).copy(),
        "start": 0,
        "stop": len(TEXT),
        "separator": ord(","),
        "roles": np.array([csv.STATE, csv.TEXT]),
        "targets": np.zeros(2, dtype=np.int64),
        "known": csv.KnownTexts(2, {0: {b"yes": 1, b"no": 0}}),
        "codes": np.full((5, 1), -1, dtype=np.int8),
        "spans": np.zeros((5, 1, 2), dtype=np.int64),
        "unknown": np.zeros((3, 4), dtype=np.int64),
    }


def _decimals() -> Arguments:
    return {
        "buffer": np.frombuffer(TEXT, dtype=np.uint8).copy(),
        "spans": np.array([[4, 7], [11, 13], [18, 22], [0, 3]]),
        "numbers": np.zeros(4),
        "kinds": np.zeros(4, dtype=np.int8),
    }


def _columns() -> Arguments:
    offsets, ones = np.array([0, 2, 4]), np.full(4, 0.5)
    return {"offsets": offsets, "crowd": np.array([1, 2]), "own": ones, "before": ones.copy(), "after": ones.copy()}


CALLS = {
    "count_rows": Call(counting.count_rows, _counting, ("counts", "incomplete")),
    "unique_rows": Call(components.unique_rows, lambda: {"codes": CODES.copy(), "weights": np.ones(len(CODES))}),
    "group_components": Call(components.group_components, _grouping),
    "write_plans": Call(elimination_plan.write_plans, _planning),
    "expect": Call(
        lambda theta, counts: Evaluator(GROUPS, PLANS).expect(theta, 0, len(GROUPS.component), counts),
        lambda: {"theta": THETA.copy(), "counts": np.zeros(LAYOUT.size)},
        ("counts",),
    ),
    "log_sums": Call(
        lambda theta, out: Evaluator(GROUPS, PLANS).log_sums(theta, out),
        lambda: {"theta": THETA.copy(), "out": np.zeros(len(GROUPS.component))},
        ("out",),
    ),
    "draw": Call(
        lambda theta, generator, counts: Evaluator(GROUPS, PLANS).draw(theta, generator, counts),
        lambda: {
            "theta": THETA.copy(),
            "generator": np.array([1, 2, 3, 4], dtype=np.uint64),
            "counts": np.zeros(LAYOUT.size),
        },
        ("generator", "counts"),
    ),
    "propose_alone": Call(
        lambda distributions, out: _linked().propose_alone(distributions, 0.5, out),
        lambda: {"distributions": np.array([0, 1], dtype=np.int32), "out": np.full(4, 0.5)},
        ("out",),
    ),
    "scan": Call(csv.scan, _scanning, ("codes", "spans", "unknown")),
    "read_decimals": Call(csv.read_decimals, _decimals, ("numbers", "kinds")),
    "change": Call(tie_messages.change, lambda: {**_columns(), "keep": 0.5, "changes": np.zeros(2)}, ("changes",)),
    "put_in": Call(
        tie_messages.put_in,
        lambda: {
            "cells": np.array([0, 4]),
            "steps": np.array([1, 2]),
            "offsets": np.array([0, 2, 4]),
            "evidence": np.arange(4.0),
            "theta": np.zeros(8),
        },
        ("theta",),
    ),
}


def arrays_of(call: Call) -> Iterator[tuple[str, np.ndarray]]:
    return ((name, value) for name, value in call.arguments().items() if isinstance(value, np.ndarray))


def same(one: list[Any], other: list[Any]) -> bool:
    return all(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f") for a, b in zip(one, other, strict=True))


def agrees_or_is_refused(call: Call, name: str, value: Any) -> None:
    expected = call.result()
    try:
        found = call.result(**{name: value})
    except REFUSED:
        return
    assert same(found, expected), name


EACH = [pytest.param(call, name, id=f"{key}-{name}") for key, call in CALLS.items() for name, _ in arrays_of(call)]


@pytest.mark.parametrize(("call", "name"), EACH)
def test_the_same_values_in_another_kind_of_array(call: Call, name: str) -> None:
    """Strided, backwards, in Fortran's order, unaligned, read-only."""
    value = call.arguments()[name]
    wide = np.zeros(tuple(2 * size for size in value.shape), dtype=value.dtype)
    strided = wide[tuple(slice(None, None, 2) for _ in value.shape)]
    strided[...] = value
    raw = np.zeros(value.nbytes + 1, dtype=np.uint8)
    unaligned = raw[1:].view(value.dtype).reshape(value.shape)
    unaligned[...] = value
    fixed = value.copy()
    fixed.flags.writeable = False
    backwards = np.ascontiguousarray(np.flip(value))
    for same_values in (strided, np.flip(backwards), np.asfortranarray(value), fixed, unaligned):
        agrees_or_is_refused(call, name, same_values)


@pytest.mark.parametrize(("call", "name"), EACH)
@pytest.mark.parametrize(
    "dtype", [np.float32, np.complex128, np.int64, np.uint16, np.bool_, object, "U3", ">i8", ">f8"]
)
def test_another_type(call: Call, name: str, dtype: Any) -> None:
    value = call.arguments()[name]
    other = value.astype(dtype)
    if np.dtype(dtype) != value.dtype and (other.dtype.kind == "U" or np.array_equal(other, value)):
        agrees_or_is_refused(call, name, other)


@pytest.mark.parametrize(("call", "name"), EACH)
@pytest.mark.parametrize("value", [None, 3, "text", [1.0], np.float64(2)], ids=repr)
def test_no_array_at_all(call: Call, name: str, value: object) -> None:
    if value is None and call is CALLS["expect"] and name == "counts":
        return  # which asks for the likelihood alone
    with pytest.raises((*REFUSED, AttributeError)):
        call.result(**{name: value})


@pytest.mark.parametrize(("call", "name"), EACH)
def test_another_number_of_dimensions(call: Call, name: str) -> None:
    value = call.arguments()[name]
    for other in (value[None], value[..., None], value.reshape(-1)[:1].reshape(())):
        with pytest.raises(REFUSED):
            call.result(**{name: other})


def test_nothing_to_do() -> None:
    """No rows, no components, no bytes."""
    none = np.zeros((0, len(LAYOUT.sizes)), dtype=np.int8)
    counts, incomplete = CALLS["count_rows"].result(codes=none, weights=np.zeros(0))[-2:]
    assert not counts.any()
    assert not incomplete.any()
    first, total, which = components.unique_rows(none, np.zeros(0))
    assert len(first) == len(total) == len(which) == 0
    nothing = np.zeros(0, dtype=np.int64)
    assert len(CALLS["group_components"].result(codes=none, chosen=nothing, weights=np.zeros(0))[0]) == 0
    assert len(CALLS["write_plans"].result(keys=nothing, key_starts=np.zeros(1, dtype=np.int64))[0]) == 0
    assert CALLS["scan"].result(stop=0)[:4] == [0, 0, 0, csv.DONE]
    assert CALLS["scan"].result(codes=np.zeros((0, 1), dtype=np.int8))[3] == csv.FULL
    assert CALLS["read_decimals"].result(spans=np.zeros((0, 2), dtype=np.int64))[-1].tolist() == [0, 0, 0, 0]


def test_ends_that_a_buffer_does_not_have() -> None:
    for others in ({"stop": len(TEXT) + 1}, {"start": -1}, {"start": 9, "stop": 8}):
        with pytest.raises(ValueError, match="ends too early"):
            CALLS["scan"].result(**others)


@pytest.mark.parametrize("name", ["theta", "counts"])
def test_arrays_that_are_too_short_for_the_programs(name: str) -> None:
    for call in (CALLS["expect"], CALLS["draw"]):
        with pytest.raises(ValueError, match="cells"):
            call.result(**{name: np.zeros(1)})


def test_evaluations_that_are_not_there() -> None:
    evaluator = Evaluator(GROUPS, PLANS)
    for first, last in ((-1, 1), (0, len(GROUPS.component) + 1), (2, 1)):
        with pytest.raises(ValueError, match="evaluations"):
            evaluator.expect(THETA, first, last)
    with pytest.raises(ValueError, match="evaluations"):
        evaluator.log_sums(THETA, np.zeros(len(GROUPS.component) + 1))


def test_a_large_table_is_counted() -> None:
    """Two million rows of one variable, without a copy of each: strides of zero."""
    codes = np.broadcast_to(np.array([1], dtype=np.int8), (2_000_000, 1))
    one = np.zeros(1, dtype=np.int64)
    counts = np.zeros(2)
    starts = np.array([0, 1])
    weights = np.broadcast_to(np.float64(1.0), 2_000_000)
    counting.count_rows(codes, weights, one, one + 1, starts, one, counts, np.zeros(1))
    assert counts.tolist() == [0.0, 2e6]
    assert len(components.unique_rows(codes, weights)[0]) == 1


@pytest.mark.skipif(not hasattr(sys, "getallocatedblocks"), reason="a Python that does not count its memory")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_nothing_leaks(call: Call) -> None:
    """Neither where a call succeeds nor where it is refused."""
    name, value = next(arrays_of(call))
    others = call.arguments()
    counted = [(array, sys.getrefcount(array)) for array in others.values() if isinstance(array, np.ndarray)]

    def repeat(times: int) -> int:
        for _ in range(times):
            call.result(**others)
            with pytest.raises((*REFUSED, AttributeError)):
                call.result(**{name: "text"})
        gc.collect()
        return sys.getallocatedblocks()

    repeat(50)
    before = repeat(1)
    assert repeat(300) - before < 100
    assert all(sys.getrefcount(array) <= count + 1 for array, count in counted)
    assert value is not None
