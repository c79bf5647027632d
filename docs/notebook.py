"""Generate examples/tutorial.ipynb from docs/tutorial.md, with what its cells print and draw; a test compares the two.

Run from the repository's folder: python docs/notebook.py
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FIRST = """import os
from pathlib import Path

if Path.cwd().name == "examples":
    os.chdir("..")  # the paths below are relative to the repository's folder
"""


DPI = 80  # of pictures, so that the file stays small

Cell = dict[str, Any]
Output = dict[str, Any]


def notebook(markdown: str) -> str:
    """Convert the page to a notebook with its outputs; the examples are expected in the current folder."""
    cells = tutorial_cells(markdown)
    run_cells(cells)
    content = {
        "cells": cells,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def tutorial_cells(markdown: str) -> list[Cell]:
    """The cells without outputs: one for each text and each code block."""
    cells = [_code(FIRST)]
    for number, part in enumerate(re.split(r"^```python\n(.*?)^```\n", markdown, flags=re.MULTILINE | re.DOTALL)):
        text = re.sub(r"^```text printed$", "```text", part, flags=re.MULTILINE).strip("\n")
        if text:
            cells.append(
                _code(text)
                if number % 2
                else _text(re.sub(r"\]\(((?:images/)?[\w-]+\.(?:md|png))", r"](../docs/\1", text))
            )
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return cells


def run_cells(cells: list[Cell]) -> None:
    """Run the code cells as one program, and store in each what it prints, the value of its last line, and pictures."""
    from matplotlib import pyplot

    pyplot.switch_backend("agg")
    pyplot.close("all")
    names: dict[str, Any] = {"__name__": "__main__"}
    code_cells = (cell for cell in cells if cell["cell_type"] == "code")
    for count, cell in enumerate(code_cells, start=1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = _run("".join(cell["source"]), names)
        text = printed.getvalue()
        cell["execution_count"] = count
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": _lines(text)}] if text else []
        cell["outputs"] += [] if value is None else _shown(value, count)
        cell["outputs"] += _pictures()


def _run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last line where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def _shown(value: Any, count: int) -> list[Output]:
    """A value as HTML where it can be, and its first line: the others of a fit name the seconds that it took."""
    if not hasattr(value, "_repr_html_"):
        return []
    data = {"text/html": _lines(value._repr_html_()), "text/plain": _lines(str(value).splitlines()[0])}
    return [{"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"}]


def _pictures() -> list[Output]:
    from matplotlib import pyplot

    found: list[Output] = []
    for number in pyplot.get_fignums():
        stream = io.BytesIO()
        pyplot.figure(number).savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
        image = base64.b64encode(stream.getvalue()).decode("ascii")
        found.append({"data": {"image/png": image}, "metadata": {}, "output_type": "display_data"})
    pyplot.close("all")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _text(source: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": _lines(source)}


def _code(source: str) -> Cell:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": _lines(source.strip("\n")),
    }


def main() -> None:
    """Write the notebook; its program runs in a folder of its own, beside the examples."""
    root = Path.cwd()
    page = (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(root / "examples")
        os.chdir(folder)
        text = notebook(page)
        os.chdir(root)
    (root / "examples" / "tutorial.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
