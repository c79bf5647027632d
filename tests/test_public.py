"""The public names: all there, all from where the type checker sees them."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import credo


@pytest.mark.parametrize("name", credo.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(credo, name) is not None
    assert name in dir(credo)


def test_what_is_no_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = credo.fitt


def test_the_names_for_type_checkers_are_the_names_at_run_time() -> None:
    tree = ast.parse(Path(credo.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        (node.module, alias.name)
        for node in ast.walk(guarded)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    served = {(home, name) for home, names in credo._HOMES.items() for name in names}
    assert seen == served


def test_functions_stay_functions_after_their_module_was_imported() -> None:
    imports = "import credo.fit, credo.check, credo.cli; from credo.fit import fit"
    code = f"{imports}; print(credo.fit is fit, callable(credo.check))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True True"
