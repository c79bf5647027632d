"""The code and the commands in the README run, links lead somewhere, and methods and statuses are documented."""

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


def run(code: str, name: str) -> str:
    """What a program prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), {})
    return printed.getvalue()


def test_the_first_example_of_the_readme_is_short_and_prints_what_is_shown() -> None:
    """Numbers agree within two units of their last digit: the posterior is sampled."""
    first = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, flags=re.DOTALL)
    assert first is not None
    code, shown = first.groups()
    assert len(code.splitlines()) <= 20
    number = re.compile(r"\d+\.\d+")
    printed = run(code, "README.md")
    assert number.sub("#", printed.strip()) == number.sub("#", shown.strip())
    assert [float(x) for x in number.findall(printed)] == pytest.approx(
        [float(x) for x in number.findall(shown)], abs=0.02
    )


def test_the_code_in_the_readme_runs() -> None:
    printed = run("\n".join(re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)), "README.md")
    assert "lung=yes" in printed
    assert "consistent" in printed


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


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").glob("*.md")), ids=lambda p: p.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    """Those of the repository, and those of the package, which may be named from any of its folders."""
    package = [f"/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "src").rglob("*.py")]
    for path in re.findall(r"`((?:[\w.-]+/)+[\w.-]+\.(?:py|md|credo|toml|txt))`", page.read_text(encoding="utf-8")):
        if page.name == "CHANGELOG.md" or path.startswith("pgmpy/"):  # what was there, and another library's
            continue
        found = (ROOT / path).exists() or any(name.endswith(f"/{path}") for name in package)
        assert found, f"{page.name} names {path}"


def test_tests_share_helpers_not_each_other() -> None:
    for path in (ROOT / "tests").rglob("*.py"):
        found = re.findall(
            r"^from (tests\.(?:\w+\.)*test_\w+|benchmarks\S*) import", path.read_text(encoding="utf-8"), re.M
        )
        assert not found or path.name.startswith("test_benchmark"), f"{path.relative_to(ROOT)} imports {found}"


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


def test_every_network_format_is_listed_where_users_look() -> None:
    from credo.io.network_files import FORMATS, read_network, write_network

    files = ("docs/files.md", "src/credo/cli/learning_commands.py", "src/credo/cli/network_commands.py")
    places = {path: (ROOT / path).read_text(encoding="utf-8") for path in files}
    places |= {function.__name__: function.__doc__ or "" for function in (read_network, write_network)}
    for known in FORMATS:
        for place, text in places.items():
            assert known.endings[0] in text, f"{place} does not list {known.endings[0]}"
