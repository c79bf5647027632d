"""Generate examples/tutorial.ipynb from docs/tutorial.md; a test compares the two.

Run from the repository's folder: python docs/notebook.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path

FIRST = """import os
from pathlib import Path

if Path.cwd().name == "examples":
    os.chdir("..")  # the paths below are relative to the repository's folder
"""


def notebook(markdown: str) -> str:
    """Convert the page to a notebook without outputs: one cell for each text and each code block."""
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
    content = {
        "cells": cells,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _text(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str) -> dict[str, object]:
    lines = source.strip("\n").splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


if __name__ == "__main__":
    page = Path("docs/tutorial.md").read_text(encoding="utf-8")
    Path("examples/tutorial.ipynb").write_text(notebook(page), encoding="utf-8")
