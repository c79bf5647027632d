"""Where knowledge comes from: text, files, statements made in Python, structures, or a mixture of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from credo.errors import closest
from credo.io import arrows
from credo.io.network_files import ENDINGS
from credo.knowledge.declarations import DECLARATIONS
from credo.knowledge.expressions import expression_text
from credo.knowledge.mistakes import PYTHON, KnowledgeError, KnowledgeFileError, LineMistake, Mistake, describe
from credo.knowledge.names import name_text
from credo.knowledge.parse import NOTHING, Parsed, parse, parse_line, parsed_line
from credo.knowledge.quantity import Quantity
from credo.knowledge.statements import STATEMENTS, to_text

MAX_BYTES = 10_000_000  # about a hundred thousand statements; a larger file is most likely the data
FILE_ENDING = ".credo"
_MAX_PATH = 4_096  # characters; a longer text names no file
_MAX_SHOWN = 60  # characters of a Python value in a message


def read_sources(items: Iterable[Any], name: str = "", names: Sequence[str] = ()) -> Parsed:
    """What texts, files and Python statements say, and the mistakes in them; messages call a text by `name`.

    `names` are those of variables, as far as they are known.
    """
    found = [_read_item(item, name, names) for item in items]
    return Parsed(*(tuple(chain.from_iterable(parts)) for parts in zip(*found, strict=True))) if found else NOTHING


def with_structures(items: Iterable[Any]) -> list[Any]:
    """The items that stand for a network, arrows (`credo.io.arrows`) as the declarations that say the same."""
    return [each for item in items for each in (_arrows_in(item) or [item])]


def _arrows_in(item: Any) -> list[Any]:
    """The declarations that an edge list, a graph or the like stands for; none for everything else."""
    if arrows.is_graph_object(item):
        return _declarations_of(arrows.arrows_of_graph(item), "the graph")
    if not isinstance(item, str | os.PathLike):
        return []
    is_file = is_knowledge_file(item) or _is_file(os.fspath(item))
    if not is_file:
        found = arrows.arrows_of_text(str(item))
        return [] if found is None else _declarations_of(found, "the structure")
    path = Path(item)
    text = _text_of(path)
    if (found := arrows.arrows_of_text(text, str(path))) is not None:
        return _declarations_of(found, f"{path.name}, as declarations")
    if path.name.endswith(arrows.TABLES):
        arrows.refuse_table(str(path), text.partition("\n")[0])
    return []


def _declarations_of(found: arrows.Arrows, name: str) -> list[Any]:
    """Declarations that name the variables in the order of the structure."""
    variables = [f"variable {name_text(each)}" for each in found.parents]
    families = [
        f"{name_text(child)} depends on {', '.join(map(name_text, parents))}"
        for child, parents in found.parents.items()
        if parents
    ]
    parsed = parse("\n".join([*variables, *families]), name)
    if parsed.mistakes:
        raise KnowledgeError(parsed.mistakes)
    return list(parsed.declarations)


def is_knowledge(source: Any) -> bool:
    """Whether something is knowledge rather than a network: a `.credo` file, text, statements, or a list of these."""
    if isinstance(source, str | os.PathLike) and is_knowledge_file(source):
        return True
    if arrows.is_graph_object(source):
        return True
    if isinstance(source, str):
        if source.lstrip().startswith("["):  # a model string
            return True
        is_line = " " in source and not source.lower().endswith(ENDINGS) and not _is_file(source)
        return is_line or "\n" in source or "\r" in source
    return isinstance(source, list | tuple) or type(source) in STATEMENTS or type(source) in DECLARATIONS


def is_knowledge_file(source: str | os.PathLike[str]) -> bool:
    """Whether this is the name of a file with knowledge or a structure, whether that exists or not."""
    text = os.fspath(source)
    return text.endswith((FILE_ENDING, *arrows.ENDINGS)) and "\n" not in text and "\r" not in text


def _read_item(item: Any, name: str, names: Sequence[str]) -> Parsed:
    if isinstance(item, str):
        if is_knowledge_file(item):
            return _read_file(Path(item), names)
        parsed = parse(item, name, names)
        unreadable = parsed.mistakes and not (parsed.statements or parsed.declarations)
        return _read_file(Path(item), names) if unreadable and _is_file(item) else parsed
    return _read_file(Path(item), names) if isinstance(item, os.PathLike) else _from_python(item)


def _is_file(text: str) -> bool:
    if len(text) > _MAX_PATH or "\n" in text or "\r" in text:
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a name that this system cannot have
        return False


def _read_file(path: Path, names: Sequence[str]) -> Parsed:
    parsed = parse(_text_of(path), path.name, names)
    if parsed == NOTHING:
        raise _file_error(path, "file-empty")
    return parsed


def _text_of(path: Path) -> str:
    try:
        size = path.stat().st_size
        content = path.read_bytes() if size <= MAX_BYTES else b""
    except FileNotFoundError:
        raise _file_error(path, "file-missing", error=KnowledgeFileError, hint=_similar_file(path)) from None
    except (OSError, ValueError) as error:  # ValueError: a name that this system cannot have
        reason = getattr(error, "strerror", None) or str(error)
        raise _file_error(path, "file-unreadable", reason=reason) from None
    if size > MAX_BYTES:
        raise _file_error(path, "file-too-large", size=f"{size / 1e6:,.1f}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _file_error(path, "file-not-utf8", byte=f"0x{error.object[error.start]:02x}", line=line) from None


def _similar_file(path: Path) -> str:
    """What to do about a file that does not exist."""
    if not path.parent.is_dir():
        return f"There is no folder {path.parent} either: check the path."
    try:
        names = sorted(other.name for other in path.parent.iterdir() if other.is_file())
    except OSError:
        return "Check the name and the folder."
    near = closest(path.name, [name for name in names if name.endswith(FILE_ENDING)]) or closest(path.name, names)
    return f'Did you mean "{path.parent / near}"?' if near else "Check the name and the folder."


def _file_error(path: Path, kind: str, error: type[KnowledgeError] = KnowledgeError, **facts: Any) -> KnowledgeError:
    return error([describe(LineMistake(kind, 1, 1, {"path": str(path), **facts}), 0, "", path.name)])


def _from_python(item: Any) -> Parsed:
    if type(item) in STATEMENTS and item.span is not None:
        return Parsed((item,))
    if type(item) in DECLARATIONS and item.span is not None:
        return Parsed(declarations=(item,))
    # A statement without a place is written out and read back: it is checked like text, and messages can point at it.
    try:
        line = expression_text(item.expression) if isinstance(item, Quantity) else to_text(item)
    except (TypeError, ValueError, AttributeError, LookupError):
        return Parsed((), (_not_a_statement(item),))
    statement, mistakes = parse_line(line, 0, PYTHON)
    return parsed_line(statement, [describe(mistake, 0, line, PYTHON) for mistake in mistakes])


def _not_a_statement(item: Any) -> Mistake:
    hint = "All statements are in the language guide."
    if isinstance(item, bool):
        hint = "Python compared two numbers; write P(…).between(low, high)."
    return describe(LineMistake("not-a-statement", 1, 1, {"what": shortened(item), "hint": hint}), 0, "", PYTHON)


def shortened(item: Any) -> str:
    shown = repr(item)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"
