"""The command that runs all experiments."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from experiments.__main__ import EXPERIMENTS, command_of

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
