"""The command that runs all experiments."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from experiments.__main__ import EXPERIMENTS, command_of
from experiments.running import note_version

import credo

FOLDER = Path(__file__).resolve().parents[2] / "experiments"


def test_every_experiment_is_run() -> None:
    folders = {path.parent.name for path in FOLDER.glob("*/__main__.py")}
    assert folders == {module[0].split(".")[1] for module, _ in EXPERIMENTS.values()}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_commands_and_their_options_exist(name: str) -> None:
    (module, *which), few = EXPERIMENTS[name]
    folder = module.split(".")[1]
    assert importlib.util.find_spec(module) is not None
    source = "".join(
        path.read_text(encoding="utf-8") for path in [*(FOLDER / folder).glob("*.py"), FOLDER / "running.py"]
    )
    for option in few:
        assert not option.startswith("--") or f'"{option}"' in source
    if which:
        assert f'"{which[0]}": ' in source
    assert "--out" in command_of(name, True, Path("elsewhere"))
    assert "--out" not in command_of(name, False, Path("elsewhere"))


def test_results_note_when_and_with_which_version_they_were_made(tmp_path: Path) -> None:
    note_version(tmp_path / "a.csv")
    notes = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert notes["a.csv"]["first"] == notes["a.csv"]["last"]
    assert notes["a.csv"]["first"]["version"] == credo.__version__
    notes["a.csv"]["first"]["version"] = "0.0.1"
    (tmp_path / "versions.json").write_text(json.dumps(notes), encoding="utf-8")
    note_version(tmp_path / "a.csv")
    notes = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert (notes["a.csv"]["first"]["version"], notes["a.csv"]["last"]["version"]) == ("0.0.1", credo.__version__)
