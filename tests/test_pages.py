"""The code on every page of the documentation runs, each page as one program; so does the notebook."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import shlex
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from credo.io.pyagrum import load_pyagrum

ROOT = Path(__file__).resolve().parents[1]
OWN_TESTS = ("language.md",)  # its Python speaks of networks that the tests of the language make
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.name not in OWN_TESTS and "```python\n" in page.read_text(encoding="utf-8")
]
# What these pages are about, among the rest that they print.
SHOWN = {"ties.md": "8 rows in 2 clusters", "classifier.md": "attack=yes", "files.md": "P(outcome=yes | age=40-60)"}
NOTEBOOK = ROOT / "examples" / "tutorial.ipynb"


def run(code: str, name: str) -> str:
    """What a program prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {})
    return printed.getvalue()


@pytest.fixture
def beside_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that holds the examples, in which programs may write."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("beside_examples")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_on_a_page_runs_and_prints_what_the_page_says(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "import pyagrum" in text:
        load_pyagrum("The page")  # with the warnings off that its import gives, which are errors in tests
    printed = run("\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)), page.name)
    assert SHOWN.get(page.name, "") in printed
    for claimed in re.findall(r"```text printed\n(.*?)```", text, flags=re.DOTALL):
        assert claimed.strip() in printed


@pytest.mark.usefixtures("beside_examples")
def test_the_commands_on_the_pages_run() -> None:
    from typer.testing import CliRunner

    from credo.cli.app import app

    for page in PAGES:
        text = re.sub(r"\\\n\s*", "", page.read_text(encoding="utf-8"))
        for command in re.findall(r"^    credo (.*)$", text, flags=re.MULTILINE):
            done = CliRunner().invoke(app, shlex.split(command))
            assert done.exit_code == 0, f"{page.name}: credo {command}\n{done.output}"


@pytest.mark.slow
@pytest.mark.usefixtures("beside_examples")
def test_the_shell_commands_about_clusters_run() -> None:
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    run(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)[0], "scale.md")  # makes the files
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = [block.replace("8786", port) for block in re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)]
    assert len(commands) == 2
    for command in commands:
        Path("learned.bif").unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-c", f"set -m\n{command}"], env={**os.environ, "PATH": path}, capture_output=True, check=False,
            text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert Path("learned.bif").exists(), done.stderr


def words(outputs: list[dict[str, Any]]) -> list[str]:
    """What outputs say, without numbers and lines, which depend on the machine and on versions; and their kinds."""
    found = []
    for output in outputs:
        data = output.get("data", {"text/plain": output.get("text", "")})
        found += sorted(data)
        found += re.findall(r"[^\W\d]{2,}", "".join(data.get("text/plain", "")))
    return found


@pytest.mark.usefixtures("beside_examples")
def test_the_notebook_is_the_tutorial_with_its_outputs() -> None:
    module = runpy.run_path(str(ROOT / "docs" / "notebook.py"))
    again = module["tutorial_cells"]((ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    module["run_cells"](again)
    stored = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    advice = "run: python docs/notebook.py"
    assert [cell["source"] for cell in stored] == [cell["source"] for cell in again], advice
    for cell, same in zip(stored, again, strict=True):
        if cell["cell_type"] == "code":
            assert words(cell["outputs"]) == words(same["outputs"]), advice
    shown = [output for cell in stored for output in cell.get("outputs", [])]
    assert sum("<svg" in "".join(output.get("data", {}).get("text/html", "")) for output in shown) == 2
    assert sum("image/png" in output.get("data", {}) for output in shown) == 1
    assert NOTEBOOK.stat().st_size < 1_000_000


def test_figures_in_the_table_of_methods_are_those_of_the_experiment() -> None:
    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    shown = (ROOT / "experiments" / "guo" / "results" / "README.md").read_text(encoding="utf-8")
    figures = re.findall(r"\| `(\w+)` \|.*\| (\d\.\d{4}) \| (\d+\.\d\d) \|$", page, flags=re.MULTILINE)
    assert len(figures) == 9
    for _, divergence, seconds in figures:
        assert f"{divergence} ±" in shown
        assert f"{seconds} s" in shown


@pytest.mark.parametrize("paper", ["guo", "liao"])
def test_figures_on_the_pages_of_papers_are_those_of_the_experiments(paper: str) -> None:
    page = (ROOT / "docs" / "papers" / f"{paper}.md").read_text(encoding="utf-8")
    reported = page.partition("## What the rerun showed")[2]
    results = (ROOT / "experiments" / paper / "results").glob("*.md")
    shown = "\n".join(each.read_text(encoding="utf-8") for each in results)
    figures = re.findall(r"\d+\.\d+|\d+ of \d+", reported)
    assert figures
    for figure in figures:
        assert figure in shown, figure
