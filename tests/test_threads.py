"""Work in threads: no thread is left at work, whatever ends it."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest

import credo
from credo.threads import map_in_threads

pytestmark = pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="signals of this system")


@pytest.fixture(autouse=True)
def ctrl_c_raises() -> Iterator[None]:
    """As in every Python, though a shell may have started this one to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_results_are_in_the_order_of_the_items() -> None:
    assert map_in_threads(lambda x: x * x, range(50)) == [x * x for x in range(50)]
    assert map_in_threads(lambda x: x * x, []) == []


def test_no_thread_is_left_at_work_when_an_interrupt_is_raised() -> None:
    begun, ended = [], []

    def work(item: int) -> None:
        begun.append(item)
        if item == 20:  # all are submitted by then, and the main thread, which handles it, waits and is not woken
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)
        ended.append(item)

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, range(1000))
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 1000  # what had not begun was left


def test_no_thread_is_left_at_work_when_an_error_is_raised() -> None:
    begun, ended = [], []

    def work(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise ValueError(f"item {item}")
        time.sleep(0.01)
        ended.append(item)

    with pytest.raises(ValueError, match="item 1"):
        map_in_threads(work, range(1000))
    assert {*begun} - {*ended} == {1}
    assert len(begun) < 1000


def test_a_handler_that_does_not_raise_loses_no_result() -> None:
    signal.signal(signal.SIGINT, lambda *_: None)

    def work(item: int) -> int:
        if item == 3:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.02)
        return item

    try:
        assert map_in_threads(work, range(200)) == list(range(200))
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def test_workers_do_not_wait_for_each_other() -> None:
    def outer(item: int) -> int:
        return sum(map_in_threads(lambda x: x + item, range(10)))

    assert map_in_threads(outer, range(20)) == [45 + 10 * item for item in range(20)]


def test_a_second_interrupt_does_not_leave_threads_at_work() -> None:
    begun, ended = [], []

    def work(item: int) -> None:
        begun.append(item)
        for _ in range(4):
            time.sleep(0.02)
            if item == 0:
                signal.raise_signal(signal.SIGINT)
        ended.append(item)

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, range(1000))
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 1000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="a system without timers")
def test_an_interrupt_ends_a_fit_and_the_next_one_works(smoking: credo.Network) -> None:
    """Compiled loops hold no steps of Python: Ctrl-C is raised between them, and everything is as before."""
    rows = pl.DataFrame({"smoke": [None, "yes", "no"] * 40_000, "lung": ["no", "yes", None] * 40_000})
    before = credo.fit(smoking, rows, method="cmap").network
    caught = 0
    for delay in np.linspace(0.001, 0.1, 12):
        signal.setitimer(signal.ITIMER_REAL, delay)
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            credo.fit(smoking, rows, method="cmap")
        except KeyboardInterrupt:
            caught += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    assert caught > 0
    after = credo.fit(smoking, rows, method="cmap").network
    np.testing.assert_array_equal(before.cpt_array("lung"), after.cpt_array("lung"))
