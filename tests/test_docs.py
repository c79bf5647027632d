"""Documentation runs: the code in the README, the commands it names, the links it follows."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    credo (.*)$", re.sub(r"\\\n\s*", "", README), flags=re.MULTILINE)


def test_the_code_in_the_readme_runs() -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert "lung=yes" in printed.getvalue()
    assert "consistent" in printed.getvalue()


@pytest.mark.parametrize(("page", "said"), [("ties.md", "8 rows in 2 clusters"), ("classifier.md", "attack=yes")])
def test_the_code_of_a_page_runs(page: str, said: str) -> None:
    pytest.importorskip("sklearn")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    assert said in printed.getvalue()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_in_the_readme_run(command: str, tmp_path: Path) -> None:
    arguments = [argument.replace("learned.bif", str(tmp_path / "learned.bif")) for argument in command.split()]
    done = subprocess.run(
        [sys.executable, "-m", "credo", *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_method_and_every_status_is_documented() -> None:
    from credo.errors import Status
    from credo.estimation.methods import METHODS

    page = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    for method in METHODS:
        assert f"`{method}`" in page, method
    for status in Status:
        assert status.value[0].isupper()
        assert status.value.endswith(".")
        assert f"| `{status.name}` | {status.value} |" in page, status
