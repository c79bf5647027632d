"""The command line, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import credo
from credo.network import Network


def run(*arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "credo", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


@pytest.fixture
def files(tmp_path: Path, smoking: Network) -> Path:
    credo.write_network(smoking, tmp_path / "net.bif")
    (tmp_path / "data.csv").write_text("smoke,lung,w\nno,no,1\nyes,yes,2\nyes,no,1\n")
    return tmp_path


def test_learn_writes_a_network_and_prints_json(files: Path) -> None:
    done = run("learn", "net.bif", "data.csv", "--method", "map", "--out", "learned.bif", "--json", folder=files)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    learned = credo.read_network(files / "learned.bif")
    assert result["method"] == "map"
    assert result["rows"] == 3
    assert result["tables"]["lung"]["probabilities"] == learned.table("lung").tolist()
    assert learned == credo.fit(files / "net.bif", files / "data.csv", method="map").network


def test_learn_says_what_it_did(files: Path) -> None:
    done = run("learn", "net.bif", "data.csv", "-m", "ml", folder=files)
    assert done.returncode == 0
    assert "2 variables learned from 3 rows with ml" in done.stdout
    assert "P(lung | smoke)" in done.stdout
    assert "\x1b" not in done.stdout  # no colours where the output is no terminal


def test_learn_passes_its_options_on(files: Path) -> None:
    done = run(
        "learn",
        "net.bif",
        "data.csv",
        "--weights",
        "w",
        "--fixed",
        "smoke",
        "--prior",
        "bdeu:4",
        "--json",
        folder=files,
    )
    probabilities = json.loads(done.stdout)["tables"]
    assert probabilities["smoke"]["probabilities"] == [0.5, 0.5]
    assert probabilities["lung"]["probabilities"][1] == pytest.approx([2 / 5, 3 / 5])
    done = run(
        "learn", "net.bif", "data.csv", "--prior-network", "net.bif", "--prior-weight", "8", "--json", folder=files
    )
    assert json.loads(done.stdout)["tables"]["lung"]["probabilities"][1] == pytest.approx([8.2 / 10, 1.8 / 10])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("learn", "net.bif", "dat.csv"), "Did you mean data.csv"),
        (("learn", "nett.bif", "data.csv"), "net.bif"),
        (("learn", "net.bif", "data.csv", "--method", "mapp"), 'no method "mapp"'),
        (("learn", "net.bif", "data.csv", "--prior", "k3"), '"k3" is no prior'),
        (("learn", "net.bif", "data.csv", "--prior", "1", "--prior-network", "net.bif"), "exclude each other"),
        (("learn", "net.bif", "data.csv", "--fixed", "lungs"), 'mean "lung"'),
        (("learn", "net.bif", "data.csv", "--weights", "smoke"), "variable of the network"),
        (("learn", "net.bif", "data.csv", "--out", "no/such/folder/x.bif"), "no/such/folder"),
    ],
)
def test_mistakes_end_in_one_paragraph_and_code_2(files: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments, folder=files)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_debug_shows_the_traceback(files: Path) -> None:
    done = run("learn", "net.bif", "dat.csv", "--debug", folder=files)
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"credo {credo.__version__}"
    assert "learn" in run("--help").stdout


def test_help_is_quick() -> None:
    """Half a second at most; the best of three, since machines are noisy."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run("--help")
        times.append(time.perf_counter() - start)
    assert min(times) < 0.5


def test_what_is_heavy_is_imported_when_it_is_needed() -> None:
    code = "import sys, credo, credo.cli; print([m for m in ('numpy','polars','numba','scipy','lark','highspy') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_methods_lists_every_method() -> None:
    from credo.estimators.methods import METHODS

    printed = run("methods").stdout
    assert all(name in printed for name in METHODS)


def test_the_demo_runs(tmp_path: Path) -> None:
    done = run("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "30 rows" in done.stdout
    assert credo.read_network(tmp_path / "demo" / "learned.bif").is_complete
