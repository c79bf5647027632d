"""Signals wait for the end of a section, and are then handled as always."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

import pytest

from credo.interrupts import StoppedError, stop_if_asked, stopped_by, uninterrupted

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


def test_a_computation_ends_when_nobody_waits_for_it_in_other_threads_too() -> None:
    stop_if_asked()  # as long as nobody can stop it
    gone = threading.Event()
    with stopped_by(gone.is_set):
        stop_if_asked()
        gone.set()
        with pytest.raises(StoppedError):
            stop_if_asked()
        with ThreadPoolExecutor(1) as pool, pytest.raises(StoppedError):  # as asyncio starts threads
            pool.submit(copy_context().run, stop_if_asked).result()
    stop_if_asked()
