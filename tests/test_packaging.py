"""The package as it is shipped: one version everywhere, pins without addresses, and what SECURITY.md promises."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import credo
import credo.core

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
import polars, scipy.optimize, scipy.sparse, typer  # other libraries, as they are on this system
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


# What is installed ----------------------------------------------------------------------------------------------------


LEARN = """
import credo, polars as pl
network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
rows = pl.DataFrame({"a": ["no", "yes", "yes", None] * 5, "b": ["no", "yes", None, "no"] * 5})
fit = credo.fit(network, rows, "a raises b", method="cmap")
print(credo.__file__, fit.status.name)
"""


def test_a_read_only_installation_learns(tmp_path: Path) -> None:
    """A copy of credo in which nothing can be kept, nor in the user's home, and not a word about it."""
    package = tmp_path / "installed" / "credo"
    shutil.copytree(Path(credo.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for module in pkgutil.iter_modules(credo.core.__path__, "credo.core."):
        built = Path(str(import_module(module.name).__file__))
        if built.suffix != ".py":
            shutil.copy(built, package / "core")  # an editable install has it elsewhere
    for folder in (package, *(each for each in package.rglob("*") if each.is_dir())):
        (folder / "__pycache__").write_text("")
    home = tmp_path / "home"
    home.write_text("")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(home / "deep"))
    paths = os.pathsep.join([str(package.parent), *(path for path in sys.path if path and path != str(SOURCE.parent))])
    code = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if 'Mesonpy' not in type(f).__name__]\n" + LEARN
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300,
        env={**os.environ, **places, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.stdout.split() == [str(package / "__init__.py"), "CONVERGED"], done.stderr
    assert done.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pip") is None or find_spec("mesonpy") is None, reason="nothing builds wheels here")
def test_a_wheel_is_all_that_an_empty_environment_needs(tmp_path: Path) -> None:
    """Without a compiler; nothing of where it was built is in it."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    options = [f"-Cbuild-dir={tmp_path / 'objects'}", "--wheel-dir", str(tmp_path)]
    subprocess.run([*build, *options], cwd=ROOT, check=True, timeout=900, env={**os.environ, "PATH": tools})
    [wheel] = tmp_path.glob("credo-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert not [name for name in names if "__pycache__" in name or name.endswith((".c", ".o", ".pxd", ".build"))]
        assert {f"credo/examples/{name}" for name in ("asia/asia.bif", "heart/heart.credo")} <= set(names)
        assert any(name.startswith("credo/core/elimination.") for name in names)
        for name in names:
            if name.endswith((".so", ".pyd")):
                assert str(ROOT).encode() not in archive.read(name), name
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    site = next((tmp_path / "empty").rglob("site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    others = [path for path in sys.path if path.endswith("site-packages")]  # the dependencies
    (site / "others.pth").write_text("\n".join(others))
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CC")}
    environment = {**environment, "PATH": str(python.parent)}
    done = subprocess.run(
        [str(python), "-m", "credo", "demo"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "demo" / "report.html").is_file()
    where = subprocess.run(
        [str(python), "-c", LEARN], cwd=tmp_path, capture_output=True, text=True, check=True, env=environment
    )
    assert where.stdout.startswith(str(site))
