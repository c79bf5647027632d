"""Signals wait for compiled code and for threads, and are then handled as always."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator

import pytest

from credo.kernels.compiler import compiled
from credo.kernels.interrupts import uninterrupted
from credo.kernels.threads import map_in_threads

pytestmark = pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="signals of this system")


@pytest.fixture(autouse=True)
def ctrl_c_raises() -> Iterator[None]:
    """As in every Python, though a shell may have started this one to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_is_raised_at_the_end_of_the_section() -> None:
    steps = []

    def section() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            steps.append("after the signal")

    with pytest.raises(KeyboardInterrupt):
        section()
    assert steps == ["after the signal"]


def test_sections_may_be_nested() -> None:
    steps = []

    def section() -> None:
        with uninterrupted():
            with uninterrupted():
                signal.raise_signal(signal.SIGINT)
                steps.append("inner")
            steps.append("outer")

    with pytest.raises(KeyboardInterrupt):
        section()
    assert steps == ["inner", "outer"]


def test_an_error_of_the_section_and_an_interrupt_are_both_known() -> None:
    def section() -> None:
        with uninterrupted():
            signal.raise_signal(signal.SIGINT)
            raise ValueError("own")

    with pytest.raises(KeyboardInterrupt) as caught:
        section()
    assert isinstance(caught.value.__context__, ValueError)


def test_other_handlers_are_called_once_and_stay() -> None:
    calls = []

    def handler(number: int, frame: object) -> None:
        calls.append(number)

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)
            assert calls == []
        assert calls == [signal.SIGTERM]
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_do_not_touch_handlers() -> None:
    seen = []

    def section() -> None:
        with uninterrupted():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=section)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def test_a_kernel_returns_before_the_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    @compiled
    def doubled(x: float) -> float:
        return 2 * x

    inside = []

    def dispatcher(x: float) -> float:
        signal.raise_signal(signal.SIGINT)
        inside.append(x)
        return 2 * x

    monkeypatch.setattr(doubled, "_dispatcher", dispatcher)
    with pytest.raises(KeyboardInterrupt):
        doubled(1.0)
    assert inside == [1.0]


# Threads --------------------------------------------------------------------------------------------------------------


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


def test_kernels_stay_kernels_in_their_module() -> None:
    """So that every later call is a section, too: Numba finds its dispatchers in a copy of the module's names."""
    from credo.kernels import components
    from credo.kernels.compiler import Kernel

    components.unique_rows._link({})
    assert isinstance(components.unique_rows, Kernel)
