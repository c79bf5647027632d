"""Knowledge: statements that fit a network, from text, from Python, or both."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

from credo.knowledge.build import Quantity
from credo.knowledge.chain import PYTHON, check_nothing_lost
from credo.knowledge.mistakes import Fault, KnowledgeError, Mistake, describe
from credo.knowledge.orders import StateOrder, state_order
from credo.knowledge.parse import parse, parse_line
from credo.knowledge.resolve import resolve
from credo.knowledge.syntax import Order, Statement
from credo.knowledge.text import expression_text, to_text
from credo.model.network import Network

MAX_BYTES = 10_000_000  # about a hundred thousand statements; a larger file is most likely the data


@dataclass(frozen=True, slots=True, init=False)
class Knowledge:
    """Statements about a network, each checked against it.

    `source` is text with one statement a line, a statement made in Python, or an iterable that mixes both.

        >>> net = Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, parents={"lung": ["smoke"]})
        >>> len(Knowledge(net, "smoke raises lung"))
        1
    """

    statements: tuple[Statement, ...]
    network: Network = field(repr=False)
    orders: Mapping[str, StateOrder] = field(repr=False, compare=False)

    def __init__(self, network: Network, source: str | Statement | Iterable[str | Statement], name: str = "") -> None:
        items = _items(source)
        check_nothing_lost(sys._getframe(1), items)
        statements, mistakes = _read(items, name)
        mistakes.extend([*_new(resolve(statements, network), mistakes)])
        if mistakes:
            raise KnowledgeError(sorted(mistakes, key=lambda each: (each.source, each.line, each.column)))
        put = object.__setattr__
        put(self, "statements", tuple(statements))
        put(self, "network", network)
        put(self, "orders", state_orders(network, statements))

    def __len__(self) -> int:
        return len(self.statements)

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __add__(self, other: Knowledge) -> Knowledge:
        if not isinstance(other, Knowledge):
            return NotImplemented
        if not self.network.same_structure(other.network):
            facts = {"left": self.network.name, "right": other.network.name}
            raise KnowledgeError([describe(Fault("two-networks", 1, 1, facts), 0, "", PYTHON)])
        return Knowledge(self.network, (*self.statements, *other.statements))

    def __reduce__(self) -> tuple[Any, ...]:
        return Knowledge, (self.network, self.statements)

    def __str__(self) -> str:
        return "\n".join(to_text(statement) for statement in self.statements)


def knowledge_for(network: Network, knowledge: Any) -> Knowledge:
    """Knowledge about this very network: made of text or statements, or read anew if it was made for another one."""
    if not isinstance(knowledge, Knowledge):
        return Knowledge(network, knowledge if knowledge is not None else ())
    if knowledge.network.same_structure(network):
        return knowledge
    return Knowledge(network, knowledge.statements)


def read_knowledge(network: Network, path: str | Path) -> Knowledge:
    """The knowledge in a file: UTF-8, one statement a line."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _file_error(path, "file-too-large", size=f"{path.stat().st_size / 1e6:,.1f}")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise _file_error(path, "file-unreadable", reason=error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _file_error(path, "file-not-utf8", byte=f"0x{error.object[error.start]:02x}", line=line) from None
    knowledge = Knowledge(network, text, path.name)
    if not knowledge.statements:
        raise _file_error(path, "file-empty")
    return knowledge


def state_orders(network: Network, statements: Iterable[Statement] = ()) -> Mapping[str, StateOrder]:
    """The order of states of every variable, and why."""
    said = [statement for statement in statements if isinstance(statement, Order)]
    return MappingProxyType({variable.name: state_order(variable, said) for variable in network.variables})


def _read(source: Any, name: str) -> tuple[list[Statement], list[Mistake]]:
    statements: list[Statement] = []
    mistakes: list[Mistake] = []
    for item in source:
        found, wrong = parse(item, name) if isinstance(item, str) else _from_python(item)
        statements.extend(found)
        mistakes.extend(wrong)
    return statements, mistakes


def _items(source: Any) -> list[Any]:
    one = isinstance(source, (str, bytes, Mapping)) or not isinstance(source, Iterable)
    if one:
        return [source]
    return [each for item in source for each in (item if isinstance(item, Knowledge) else (item,))]


def _from_python(item: Any) -> tuple[tuple[Statement, ...], tuple[Mistake, ...]]:
    if isinstance(item, get_args(Statement)) and item.span is not None:
        return (item,), ()
    # A statement without a place is written out and read back: it is checked like text, and messages can point at it.
    try:
        line = expression_text(item.expression) if isinstance(item, Quantity) else to_text(item)
    except (TypeError, ValueError, AttributeError, LookupError):
        return (), (_no_statement(item),)
    statement, faults = parse_line(line, 0, PYTHON)
    return (() if statement is None else (statement,)), tuple(describe(fault, 0, line, PYTHON) for fault in faults)


def _no_statement(item: Any) -> Mistake:
    hint = "The forms of all statements are in the language guide."
    if isinstance(item, bool):
        hint = "Python compared two numbers with each other; put P(…) between them, or use .between(low, high)."
    shown = repr(item)
    facts = {"what": shown if len(shown) <= 60 else f"{shown[:60]}…", "hint": hint}
    return describe(Fault("not-a-statement", 1, 1, facts), 0, "", PYTHON)


def _new(found: Iterable[Mistake], before: Iterable[Mistake]) -> Iterator[Mistake]:
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


def _file_error(path: Path, kind: str, **facts: Any) -> KnowledgeError:
    return KnowledgeError([describe(Fault(kind, 1, 1, {"path": path.name, **facts}), 0, "", str(path.name))])
