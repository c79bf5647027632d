"""Commands under faults: some cells of the table here, all of them with the slow tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fuzz.faults import CELLS, check

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of Unix")

FEW = [("learn with a checkpoint", "foreign checkpoint"), ("learn with a checkpoint", "full disk")]


@pytest.mark.parametrize(("command", "fault"), FEW)
def test_files_stay_whole(command: str, fault: str, tmp_path: Path) -> None:
    assert check({"command": command, "fault": fault, "choices": 1}, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "fault"), CELLS)
def test_files_stay_whole_under_every_fault(command: str, fault: str, tmp_path: Path) -> None:
    assert check({"command": command, "fault": fault, "choices": 2}, tmp_path)
