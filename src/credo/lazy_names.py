"""Public names that are imported when they are first used, so that `import credo` stays fast."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from credo.interrupts import uninterrupted


def lazy_names(
    module: str, file: str, modules: Sequence[str] = (), moved: Sequence[str] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """The names of a module that are imported late, with its `__getattr__` and its `__dir__`.

    Parameters
    ----------
    module
        The name of the module, such as `credo`.
    file
        Where it is. The stub beside it (`.pyi`) imports the public names from where they are defined.
    modules
        Submodules that are attributes: `credo.plot.network(fit)` works after `import credo`.
    moved
        Public modules in which names are looked for that this module does not have, to say where they are.
    """
    home_of = homes_of_names(file)

    def get(name: str) -> Any:
        if name in modules:
            return _imported(f"{module}.{name}")
        if name in home_of:
            value = getattr(_imported(home_of[name]), name)
            setattr(sys.modules[module], name, value)  # the next use finds it there
            return value
        message = f"module {module!r} has no attribute {name!r}"
        for place in moved if name[:1] != "_" else ():
            if name in dir(_imported(place)):
                message += f": it is {place}.{name}"
        raise AttributeError(message)

    return sorted(home_of), get, lambda: sorted({*sys.modules[module].__all__, *modules})


def homes_of_names(file: str) -> dict[str, str]:
    """The module that defines each name that the stub beside a file imports; names with underscores are left out."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    imports = re.findall(r"^from (\S+) import (\w+) as \w+$", stub, re.MULTILINE)
    return {name: home for home, name in imports if not name.startswith("_")}


def _imported(module: str) -> Any:
    """Import a module; an interrupt waits, since half an import of a large library spoils the next one."""
    with uninterrupted():
        return import_module(module)
