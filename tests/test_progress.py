"""Progress: who sees which events."""

from __future__ import annotations

import io
import logging
import time

import pytest

from credo import progress as module
from credo.progress import READING_DATA, ProgressEvent, reporting, shares_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_an_event_reads_as_a_sentence() -> None:
    event = ProgressEvent(READING_DATA, 3, 4, "patients.csv")
    assert event.share == 0.75
    assert str(event) == "Reading the data 75% (patients.csv)"
    assert ProgressEvent("Estimating").share is None


def test_a_listener_gets_every_event_and_the_terminal_stays_empty() -> None:
    got: list[ProgressEvent] = []
    terminal = Terminal()
    with reporting(progress=got.append, stream=terminal) as notify:
        shares_of(READING_DATA, notify)(0.5)
    assert got == [ProgressEvent(READING_DATA, 0.5, 1.0)]
    assert terminal.getvalue() == ""


def test_a_terminal_shows_the_phase_and_ends_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_LINE_AFTER", 0.0)
    monkeypatch.setattr(module, "REDRAW_EVERY", 0.01)
    terminal = Terminal()
    with reporting(stream=terminal) as notify:
        notify(ProgressEvent("Estimating", detail="iteration 7"))
        deadline = time.monotonic() + 10
        while "iteration 7" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert "\rEstimating (iteration 7), 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith(" \r")


def test_quick_work_shows_nothing() -> None:
    terminal = Terminal()
    with reporting(progress=True, stream=terminal) as notify:
        notify(ProgressEvent("Estimating"))
    assert terminal.getvalue() == ""


def test_elsewhere_each_phase_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="credo")
    with reporting(stream=io.StringIO()) as notify:
        for share in (0.1, 0.2):
            shares_of(READING_DATA, notify)(share)
    assert [record.message for record in caplog.records] == [READING_DATA]


def test_the_line_ends_with_an_error_too() -> None:
    with pytest.raises(ValueError, match="wrong"), reporting(progress=True, stream=Terminal()):
        raise ValueError("wrong")
