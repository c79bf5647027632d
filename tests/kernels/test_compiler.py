"""The cache of compiled kernels: it sees changes in what a kernel calls, and does without where nothing can be kept."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import credo
from credo.kernels.compiler import Kernel, compiled, imported_names, source_stamp

KERNELS = Path(credo.__file__).parent / "kernels"
SOURCES = sorted(KERNELS.glob("*.py"))
CALLEE = "from credo.kernels.compiler import compiled\n\n@compiled\ndef inner(x):\n    return x + {}\n"
MIDDLE = (
    "from credo.kernels.compiler import compiled\nfrom small.inner import inner\n\n"
    "@compiled\ndef middle(x):\n    return inner(x)\n"
)
CALLER = (
    "from credo.kernels.compiler import compiled\nfrom small.middle import middle\n\n"
    "@compiled\ndef outer(x):\n    return 10 * middle(x)\n"
)


def in_new_process(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(folder), *(path for path in sys.path if path)])
    return subprocess.run(
        [sys.executable, "-B", "-c", code],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Three kernels that call each other across files."""
    folder = tmp_path / "small"
    folder.mkdir()
    for name, text in (("__init__", ""), ("inner", CALLEE.format(1)), ("middle", MIDDLE), ("outer", CALLER)):
        (folder / f"{name}.py").write_text(text)
    return folder


def test_a_change_in_what_a_kernel_calls_is_seen(package: Path, tmp_path: Path) -> None:
    """The caller's own file is the same as before, and its compiled code lies in the cache."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    code = "from small.outer import outer; print(outer(1), sum(outer._dispatcher.stats.cache_hits.values()))"
    assert in_new_process(tmp_path, code, **cache).stdout.split() == ["20", "0"]
    assert in_new_process(tmp_path, code, **cache).stdout.split() == ["20", "1"]
    (package / "inner.py").write_text(CALLEE.format(5))
    assert in_new_process(tmp_path, code, **cache).stdout.split() == ["60", "0"]


def test_a_cache_of_a_class_that_was_renamed_is_compiled_again(package: Path, tmp_path: Path) -> None:
    """As after an update: the cache refers to a class by a name that its module no longer has."""
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    source = (
        "from typing import NamedTuple\nfrom credo.kernels.compiler import compiled\n\n"
        "class {name}(NamedTuple):\n    x: int\n\n@compiled\ndef double(pair):\n    return 2 * pair.x\n"
    )
    for name in ("Old", "New"):
        (package / "double.py").write_text(source.format(name=name))
        ran = in_new_process(tmp_path, f"from small.double import {name}, double; print(double({name}(3)))", **cache)
        assert ran.stdout.split() == ["6"], ran.stderr


def test_where_nothing_can_be_kept_there_is_one_warning(package: Path, tmp_path: Path) -> None:
    """As with a read-only installation and home: every folder that Numba would take is a file here."""
    nowhere = tmp_path / "nowhere"
    nowhere.write_text("")
    (package / "__pycache__").write_text("")
    code = "from small.outer import outer; print(outer(1), outer(2.0))"
    places = dict.fromkeys(("NUMBA_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(nowhere / "deep"))
    done = in_new_process(tmp_path, code, **places, PYTHONDONTWRITEBYTECODE="1")
    assert done.stdout.split() == ["20", "30.0"], done.stderr
    assert done.stderr.count("Compiled code cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_the_stamp_covers_what_is_imported(package: Path) -> None:
    from credo.kernels import compiler

    before = source_stamp(package / "outer.py")
    alone = source_stamp(package / "inner.py")
    (package / "middle.py").write_text(MIDDLE + "\n# changed\n")
    compiler._read.cache_clear()
    assert source_stamp(package / "outer.py") != before
    assert source_stamp(package / "inner.py") == alone


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_imports_are_found_as_python_finds_them(path: Path) -> None:
    """Kernels import modules of kernels by their full names, and nothing else of credo; only the compiler has Numba."""
    source = path.read_bytes()
    modules = [node.module or "" for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    modules += [
        name.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for name in node.names
    ]
    own = [module for module in modules if module.startswith("credo")]
    assert all(module.startswith(("credo.kernels.", "credo.interrupts", "credo.threads")) for module in own)
    assert {module.rpartition(".")[2] for module in own} <= set(imported_names(source))
    if path.stem != "compiler":
        assert not any(module.split(".")[0] == "numba" for module in modules)


def test_nothing_else_imports_numba() -> None:
    """Kernels stand behind one boundary, and importing them is cheap."""
    for path in KERNELS.parent.rglob("*.py"):
        if path != KERNELS / "compiler.py":
            assert "numba" not in imported_names(path.read_bytes()), path
    loaded = "import sys, credo.kernels.centroid; print('numba' in sys.modules)"
    assert in_new_process(KERNELS, loaded).stdout.split() == ["False"]


def test_a_kernel_keeps_its_name_and_its_python() -> None:
    @compiled(error_model="numpy")
    def halved(x: float) -> float:
        """Half of it."""
        return x / 2

    assert isinstance(halved, Kernel)
    assert halved.__name__ == "halved"
    assert halved.__doc__ == "Half of it."
    assert halved.python(3.0) == 1.5
