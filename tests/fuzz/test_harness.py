"""The harness itself: it outlives inputs that hang or crash, keeps them, reduces them, and goes on where it ended."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fuzz.failures import reduced, run_input, signature_of
from fuzz.kind import kind_named, make_input, smaller, to_bytes
from fuzz.running import run_kind, summary

from fuzz import state, workers

BAD = "tests.fuzz.bad_kinds:BAD"
INPUTS, SEED = 7, 54


def expected(inputs: int, seed: int) -> Counter[bytes]:
    kind = kind_named(BAD)
    return Counter(to_bytes(make_input(kind, seed, number)) for number in range(inputs))


def test_hangs_crashes_and_errors_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REDUCING_SECONDS", 0.0)
    monkeypatch.setattr(workers, "COMPILING", 0.0)
    monkeypatch.setattr(workers, "WAITING", 1.5)
    made = expected(INPUTS, SEED)
    assert set(made) == {b"good", b"xx fail xx", b"hang", b"wait", b"crash", b"memory"}
    record = run_kind(BAD, inputs=INPUTS, seed=SEED, found=tmp_path / "found", kept=tmp_path / "state")
    assert record.done == INPUTS
    assert record.outcomes == {"good": made[b"good"]}
    counts: Counter[str] = Counter()
    for signature, count in record.failures.items():  # one that waits may be ended by either of two limits
        counts[signature.split()[0]] += count
    assert counts == {
        "RuntimeError": made[b"xx fail xx"],
        "took": made[b"hang"] + made[b"wait"],
        "crashed": made[b"crash"],
        "MemoryError": made[b"memory"],
    }
    assert b"fail" in {path.read_bytes() for path in (tmp_path / "found").iterdir()}  # reduced
    assert "crashed with exit code" in summary([record])


def test_a_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    folders = {"found": tmp_path / "found", "kept": tmp_path / "state"}
    first = run_kind("knowledge", inputs=30, **folders)
    assert (first.done, first.failed) == (30, 0)
    again = run_kind("knowledge", inputs=45, resume=True, **folders)
    assert again.done == 45
    assert sum(again.outcomes.values()) == 45
    assert state.load("knowledge", 0, "another version", tmp_path / "state").done == 0


def test_inputs_are_reduced(tmp_path: Path) -> None:
    kind = kind_named(BAD)
    with pytest.raises(RuntimeError) as caught:
        run_input(kind, b"something fails", tmp_path)
    assert reduced(kind, b"something fails", signature_of(caught.value), tmp_path, 5.0) == b"fail"


def test_recipes_become_smaller_list_by_list() -> None:
    found = list(smaller({"rows": [1, 2], "names": {"a": ["x"]}}))
    assert {"rows": [], "names": {"a": ["x"]}} in found
    assert {"rows": [2], "names": {"a": ["x"]}} in found
    assert {"rows": [1, 2], "names": {"a": []}} in found


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_an_interrupt_keeps_what_was_checked(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzz", "knowledge", "--inputs", "1000000", "--workers", "1", "--folder", tmp_path]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob("state/*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; --resume" in errors
    assert "Traceback" not in errors
    assert "knowledge" in out  # the summary
