"""The package as it is shipped: one version everywhere, pins without addresses, and what SECURITY.md promises."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import credo

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "credo"
PINNED = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==\d[\w.!+]*")
LOCK_FILE = re.compile(r"(constraints|requirements).*\.(txt|in)|.*\.lock|pylock.*\.toml|package-lock\.json")
REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted\.org|anaconda\.(org|com)|npmjs\.(org|com)|jfrog|artifactory|/simple/|--(extra-)?index-url|--find-links",
    re.IGNORECASE,
)
# Modules that run data as code or open connections.
FORBIDDEN_MODULES = {
    *("aiohttp", "asyncio", "cloudpickle", "dill", "ftplib", "http", "httpx", "joblib", "marshal", "pickle"),
    *("requests", "shelve", "smtplib", "socket", "ssl", "telnetlib", "urllib", "urllib3", "xmlrpc"),
}
# The studio listens on this machine, so that it may use these; it opens no connection to another one either.
LISTENING_MODULES = {"asyncio", "http.cookies", "socket", "urllib.parse"}


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def normalized(name: str) -> str:
    """A package's name as installers compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned_names() -> set[str]:
    return {normalized(found["name"]) for line in read("constraints.txt").splitlines() if (found := PINNED.match(line))}


def tracked_files() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this copy is not a git repository")
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_the_version_is_written_in_the_package_and_read_from_there() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert "src/credo/_version.py" in read("meson.build")
    assert version("credo") == credo.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", credo.__version__)


def test_the_citation_names_the_same_version() -> None:
    assert str(yaml.safe_load(read("CITATION.cff"))["version"]) == credo.__version__


def test_the_changelog_begins_with_this_version_or_what_comes_after_it() -> None:
    newest = re.findall(r"^## (.+)$", read("CHANGELOG.md"), flags=re.MULTILINE)[0]
    assert newest == "Unreleased" or re.fullmatch(re.escape(credo.__version__) + r" \(\d{4}-\d\d-\d\d\)", newest)


def test_type_checkers_may_use_the_annotations() -> None:
    assert (SOURCE / "py.typed").is_file()


def test_constraints_are_names_and_versions_in_order() -> None:
    lines = [line for line in read("constraints.txt").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not PINNED.fullmatch(line)] == []
    assert len(pinned_names()) == len(lines)


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {normalized(re.match(r"[\w.-]+", each)[0]) for each in wanted}  # type: ignore[index]
    assert names - {"credo"} <= pinned_names()


def test_lock_files_hold_no_address() -> None:
    for path in tracked_files():
        if LOCK_FILE.fullmatch(path.name):
            assert "://" not in path.read_text(encoding="utf-8"), path.name


def test_no_file_names_a_package_registry() -> None:
    for path in tracked_files():
        content = path.read_bytes()
        if path != Path(__file__).resolve() and b"\0" not in content:
            found = REGISTRIES.search(content.decode("utf-8", errors="replace"))
            assert found is None, f"{path.relative_to(ROOT)} names {found[0] if found else ''}"


def broken_promises(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything that runs data as code, opens a connection or reads a pickle."""
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in FORBIDDEN_MODULES:
            names = [node.module]
        elif isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            names = [called] if called in ("eval", "exec", "__import__") else []
            for keyword in node.keywords:
                if keyword.arg == "allow_pickle" and getattr(keyword.value, "value", None) is not False:
                    names.append("allow_pickle")
        yield from ((node.lineno, name) for name in names)


def test_no_code_from_data_no_network_no_pickle() -> None:
    for path in sorted(SOURCE.rglob("*.py")):
        found = list(broken_promises(ast.parse(path.read_text(encoding="utf-8"))))
        if path.is_relative_to(SOURCE / "studio"):
            found = [(line, name) for line, name in found if name not in LISTENING_MODULES]
        assert found == [], path.relative_to(SOURCE)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("import urllib.request", "urllib.request"),
        ("from pickle import load", "pickle"),
        ("eval('1')", "eval"),
        ("np.load(path, allow_pickle=True)", "allow_pickle"),
    ],
)
def test_a_broken_promise_is_noticed(code: str, name: str) -> None:
    assert list(broken_promises(ast.parse(code))) == [(1, name)]


WITHOUT_POSIX = """
import importlib, os, pkgutil, signal, sys
import numba, polars, scipy.optimize, scipy.sparse, typer  # other libraries, as they are on this system
for name in ("fcntl", "grp", "posix", "pwd", "resource", "syslog", "termios"):
    sys.modules[name] = None
for module, names in (
    (os, "sysconf register_at_fork fork geteuid getuid killpg setsid sched_getaffinity"),
    (signal, "SIGHUP SIGKILL SIGALRM SIGPIPE pthread_sigmask sigwait"),
):
    for name in names.split():
        vars(module).pop(name, None)
sys.platform = "win32"
import credo
for each in pkgutil.walk_packages(credo.__path__, "credo."):
    if not each.name.startswith(("credo.plot", "credo.sklearn", "credo.studio")):
        importlib.import_module(each.name)
"""


def test_nothing_that_only_posix_has_is_needed_to_import() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_POSIX], check=True)
