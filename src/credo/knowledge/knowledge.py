"""Knowledge: statements about a network, from text, files, Python, or a mixture of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import Any, Union

from credo.errors import closest
from credo.knowledge.expressions import expression_text
from credo.knowledge.mistakes import (
    PYTHON,
    KnowledgeError,
    KnowledgeFileError,
    KnowledgeTypeError,
    LineMistake,
    Mistake,
    describe,
    python_error,
)
from credo.knowledge.parse import Parsed, parse, parse_line
from credo.knowledge.quantity import Quantity
from credo.knowledge.state_order import Order, StateOrder, state_order
from credo.knowledge.statements import (
    STATEMENTS,
    Statement,
    check_statements,
    place_of,
    to_text,
    with_named_states,
    words_of,
)
from credo.model.network import Network

MAX_SHOWN = 50  # statements that a notebook shows
MAX_BYTES = 10_000_000  # about a hundred thousand statements; a larger file is most likely the data
FILE_ENDING = ".credo"
_MAX_PATH = 4_096  # characters; a longer text names no file
_MAX_PADDING = 60  # characters; longer statements do not push the places of the others to the right

KnowledgeItem = Union[str, "os.PathLike[str]", Statement, "Knowledge"]
KnowledgeSource = KnowledgeItem | Iterable[KnowledgeItem]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Knowledge:
    """Statements about a network, each checked against it.

    Parameters
    ----------
    network : Network
        The network that the statements are about; its CPTs are not used.
    source : str, path, statement, Knowledge, or an iterable of these
        Text with one statement a line; a file (a `Path`, or a name that ends in `.credo`); statements made in Python.
    name : str, optional
        How messages call a text.

    Attributes
    ----------
    statements : tuple of statements
        In the order given.
    network : Network
        The network.
    orders : mapping of str to StateOrder
        For each variable its states from low to high, as influences use them.

    Raises
    ------
    KnowledgeError
        If a statement cannot be read or does not fit the network; it lists all mistakes.
    KnowledgeFileError
        If a file does not exist.
    KnowledgeTypeError
        If the arguments are in the wrong order, or something is no statement.

    Examples
    --------
    >>> import credo
    >>> states = {"smoke": ["no", "yes"], "lung": ["no", "yes"]}
    >>> network = credo.Network(states, {"lung": ["smoke"]}, name="clinic")
    >>> knowledge = credo.Knowledge(network, ["smoke raises lung", credo.P("smoke=yes").between(0.2, 0.4)])
    >>> print(knowledge)
    2 statements about clinic
    1. smoke raises lung          (line 1)
    2. 0.2 <= P(smoke=yes) <= 0.4 (Python)
    >>> len(knowledge + credo.Knowledge(network, "P(lung=yes | smoke=no) <= 0.1"))
    3
    """

    statements: tuple[Statement, ...]
    network: Network = field(repr=False)
    orders: Mapping[str, StateOrder] = field(repr=False, compare=False)

    def __init__(self, network: Network, source: KnowledgeSource, name: str = "") -> None:
        _require_network(network, source, "Knowledge(network, source)")
        statements, mistakes = _read(_items(source), name)
        mistakes.extend([*_without_repetition(check_statements(statements, network), mistakes)])
        if mistakes:
            raise KnowledgeError(sorted(mistakes, key=lambda mistake: (mistake.source, mistake.line, mistake.column)))
        # A frozen class sets its fields once, here.
        statements = [with_named_states(statement, network) for statement in statements]
        object.__setattr__(self, "statements", tuple(statements))
        object.__setattr__(self, "network", network)
        object.__setattr__(self, "orders", state_orders(network, statements))

    def __len__(self) -> int:
        return len(self.statements)

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __add__(self, other: Knowledge) -> Knowledge:
        """The statements of both, which must be about the same network."""
        if not isinstance(other, Knowledge):
            return NotImplemented
        if not self.network.same_structure(other.network):
            raise python_error("two-networks", "", left=self.network.name, right=other.network.name)
        return Knowledge(self.network, (*self.statements, *other.statements))

    def __reduce__(self) -> tuple[Any, ...]:
        return Knowledge, (self.network, self.statements)

    def to_text(self) -> str:
        """The statements as text, one a line, which reads back as equal knowledge.

        Returns
        -------
        str
            Text in the knowledge language.

        Examples
        --------
        >>> import credo
        >>> network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
        >>> credo.Knowledge(network, credo.raises("smoke", "lung")).to_text()
        'smoke raises lung'
        """
        return "\n".join(to_text(statement) for statement in self.statements)

    def _repr_html_(self) -> str:
        items = "".join(f"<li><code>{escape(to_text(each))}</code></li>" for each in self.statements[:MAX_SHOWN])
        more = len(self) - MAX_SHOWN
        rest = f"<p>and {more:,} more</p>" if more > 0 else ""
        return f"<p>{len(self):,} statement{'' if len(self) == 1 else 's'}:</p><ul>{items}</ul>{rest}"

    def __repr__(self) -> str:
        return f"<Knowledge: {_counted(self)}>"

    def __str__(self) -> str:
        lines = [(words_of(statement), place_of(statement) or "Python") for statement in self.statements]
        width = max((len(words) for words, _ in lines if len(words) <= _MAX_PADDING), default=0)
        digits = len(str(len(lines)))
        return "\n".join(
            [
                _counted(self),
                *(
                    f"{number:>{digits}}. {words:<{width}} ({place})"
                    for number, (words, place) in enumerate(lines, start=1)
                ),
            ]
        )


def _counted(knowledge: Knowledge) -> str:
    count = len(knowledge.statements)
    about = f" about {knowledge.network.name}" if knowledge.network.name else ""
    return f"{count:,} statement{'' if count == 1 else 's'}{about}"


def read_knowledge(network: Network, path: str | os.PathLike[str]) -> Knowledge:
    """Read the knowledge in a file: UTF-8, one statement a line.

    Parameters
    ----------
    network : Network
        The network that the statements are about.
    path : str or path
        The file; its name usually ends in `.credo`.

    Returns
    -------
    Knowledge
        The statements of the file, with their places.

    Raises
    ------
    KnowledgeFileError
        If the file does not exist.
    KnowledgeError
        If the file cannot be read, is empty, or has mistakes; it lists all of them.
    KnowledgeTypeError
        If the arguments are in the wrong order.

    Examples
    --------
    >>> import credo
    >>> network = credo.read_network("examples/asia/asia.bif")
    >>> knowledge = credo.read_knowledge(network, "examples/asia/asia.credo")
    """
    _require_network(network, path, "read_knowledge(network, path)")
    return Knowledge(network, Path(path))


def knowledge_for(network: Network, knowledge: KnowledgeSource | None) -> Knowledge:
    """Knowledge about this very network: made of a source, or checked again if it was made for another network."""
    if not isinstance(knowledge, Knowledge):
        return Knowledge(network, knowledge if knowledge is not None else ())
    if knowledge.network.same_structure(network):
        both = zip(knowledge.network.variables, network.variables, strict=True)
        if all(own.is_ordered == other.is_ordered for own, other in both):
            return knowledge
    return Knowledge(network, knowledge.statements)


def state_orders(network: Network, statements: Iterable[Statement] = ()) -> Mapping[str, StateOrder]:
    """The order of states of every variable, and where it comes from."""
    stated = [statement for statement in statements if isinstance(statement, Order)]
    return MappingProxyType({variable.name: state_order(variable, stated) for variable in network.variables})


# Sources --------------------------------------------------------------------------------------------------------------


def _require_network(network: Any, source: Any, call: str) -> None:
    if isinstance(network, Network):
        return
    kind = "arguments-swapped" if isinstance(source, Network) else "not-a-network"
    raise python_error(kind, "", error=KnowledgeTypeError, what=_shortened(network), call=call)


def _items(source: Any) -> list[Any]:
    one = isinstance(source, (str, bytes, Mapping)) or not isinstance(source, Iterable)
    if one:
        return [source]
    return [each for item in source for each in (item if isinstance(item, Knowledge) else (item,))]


def _read(items: Iterable[Any], name: str) -> tuple[list[Statement], list[Mistake]]:
    statements: list[Statement] = []
    mistakes: list[Mistake] = []
    for item in items:
        parsed = _read_item(item, name)
        statements.extend(parsed.statements)
        mistakes.extend(parsed.mistakes)
    return statements, mistakes


def _read_item(item: Any, name: str) -> Parsed:
    if isinstance(item, str):
        if _is_file_name(item):
            return _read_file(Path(item))
        parsed = parse(item, name)
        return _read_file(Path(item)) if not parsed.statements and parsed.mistakes and _is_file(item) else parsed
    return _read_file(Path(item)) if isinstance(item, os.PathLike) else _from_python(item)


def _is_file_name(text: str) -> bool:
    """Whether a text is the name of a file, whether that exists or not."""
    return text.endswith(FILE_ENDING) and "\n" not in text and "\r" not in text


def _is_file(text: str) -> bool:
    if len(text) > _MAX_PATH or "\n" in text or "\r" in text:
        return False
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # a name that this system cannot have
        return False


def _read_file(path: Path) -> Parsed:
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
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _file_error(path, "file-not-utf8", byte=f"0x{error.object[error.start]:02x}", line=line) from None
    parsed = parse(text, path.name)
    if not parsed.statements and not parsed.mistakes:
        raise _file_error(path, "file-empty")
    return parsed


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
        return Parsed((item,), ())
    # A statement without a place is written out and read back: it is checked like text, and messages can point at it.
    try:
        line = expression_text(item.expression) if isinstance(item, Quantity) else to_text(item)
    except (TypeError, ValueError, AttributeError, LookupError):
        return Parsed((), (_not_a_statement(item),))
    statement, mistakes = parse_line(line, 0, PYTHON)
    return Parsed(
        () if statement is None else (statement,), tuple(describe(mistake, 0, line, PYTHON) for mistake in mistakes)
    )


def _not_a_statement(item: Any) -> Mistake:
    hint = "All statements are in the language guide."
    if isinstance(item, bool):
        hint = "Python compared two numbers; write P(…).between(low, high)."
    return describe(LineMistake("not-a-statement", 1, 1, {"what": _shortened(item), "hint": hint}), 0, "", PYTHON)


def _shortened(item: Any) -> str:
    shown = repr(item)
    return shown if len(shown) <= _MAX_PADDING else f"{shown[:_MAX_PADDING]}…"


def _without_repetition(found: Iterable[Mistake], before: Iterable[Mistake]) -> Iterator[Mistake]:
    """Mistakes at names in which no mistake was found before: one a name is enough."""
    places: dict[tuple[str, int], list[Mistake]] = {}
    for mistake in before:
        places.setdefault((mistake.source, mistake.line), []).append(mistake)
    for mistake in found:
        if not any(
            mistake.column <= other.column and other.end_column <= mistake.end_column
            for other in places.get((mistake.source, mistake.line), ())
        ):
            yield mistake
