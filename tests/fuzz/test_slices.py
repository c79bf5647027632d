"""A few inputs of every kind, always the same ones; `make fuzz` runs many more."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fuzz.failures import run_input
from fuzz.kind import KINDS, kind_named, make_input
from fuzz.workers import strict_warnings

COUNTS = {"xlsx": 15, "fits": 8, "checks": 10, "saved": 20, "studio": 8, "sites": 6, "boundary": 400}
SLICES = [name for name in KINDS if name != "faults"]  # tests/fuzz/test_faults.py has those


@pytest.mark.parametrize("name", SLICES)
def test_inputs_are_read_or_refused(name: str, tmp_path: Path) -> None:
    if name == "pages" and shutil.which("node") is None:
        pytest.skip("Node.js runs the script of shared pages")
    kind = kind_named(name)
    for number in range(COUNTS.get(name, 40)):
        with strict_warnings():
            assert run_input(kind, make_input(kind, 1, number), tmp_path)


@pytest.mark.parametrize("name", KINDS)
def test_an_input_is_determined_by_its_number(name: str) -> None:
    kind = kind_named(name)
    assert [make_input(kind, 1, number) for number in range(3)] == [make_input(kind, 1, number) for number in range(3)]
    assert make_input(kind, 1, 0) != make_input(kind, 2, 0)
