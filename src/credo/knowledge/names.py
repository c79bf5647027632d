"""Names as users write them: their columns in a line, their quotes, and which Python values are accepted as names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

from credo.knowledge.mistakes import LineMistake, python_error

# Words of the grammar: as names they are quoted, so that a reader never has to guess which is meant.
KEYWORDS = frozenset(
    (
        *("p", "and", "by", "depends", "differ", "do", "does", "has", "have", "in", "is", "lower", "lowers", "of"),
        *("on", "order", "raise", "raises", "rows", "share", "synergise", "synergises", "synergize", "synergizes"),
        *("then", "through", "variable", "variables", "with", "within", "worth"),
    )
)

_BARE_NAME = re.compile(r"[^\W\d]\w*(?:[.\-/]\w+)*")
_BARE_LABEL = re.compile(r"\w+(?:[.\-/]\w+)*\+?|-[0-9]+(?:\.[0-9]+)?")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
_CODE = re.compile(r"""(?:[^"'#]|"(?:[^"\\]|\\.)*(?:"|\\?\Z)|'(?:[^'\\]|\\.)*(?:'|\\?\Z))*""")


# Places ---------------------------------------------------------------------------------------------------------------


class Name(str):
    """A name as the user wrote it, with its columns, so that a message can point at it."""

    __slots__ = ("column", "end_column")

    column: int
    end_column: int

    def __new__(cls, text: str, column: int = 0, end_column: int = 0) -> Name:
        name = super().__new__(cls, text)
        name.column, name.end_column = column, end_column
        return name


class OtherThan(Name):
    """A state that stands for all others of its variable: `scan != positive`, which is not `scan = positive`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True and not (isinstance(other, Name) and not isinstance(other, OtherThan))

    __hash__ = str.__hash__


class Threshold(Name):
    """States on one side of a cut point, as text: `>= 60` in `age >= 60`."""

    __slots__ = ()

    @property
    def relation(self) -> str:
        return self.partition(" ")[0]

    @property
    def number(self) -> float:
        return float(self.partition(" ")[2])

    def opposite(self) -> Threshold:
        """The other side of the same cut point."""
        relation = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}[self.relation]
        return Threshold(f"{relation} {self.partition(' ')[2]}", self.column, self.end_column)


class SeveralStates(Name):
    """Several states of a variable in a condition, as text: `{mild, severe}` in `severity in {mild, severe}`."""

    __slots__ = ("states",)

    states: tuple[str, ...]

    @classmethod
    def of(cls, states: Sequence[str]) -> SeveralStates:
        """The states, which know where they stand."""
        ends = getattr(states[0], "column", 0), getattr(states[-1], "end_column", 0)
        found = cls(f"{{{', '.join(map(state_text, states))}}}", *ends)
        found.states = tuple(states)
        return found

    def __reduce__(self) -> tuple[object, ...]:
        return SeveralStates.of, (self.states,)


def states_given(state: str) -> tuple[str, ...]:
    """The states that a condition allows, most often one."""
    return tuple(map(str, state.states)) if isinstance(state, SeveralStates) else (str(state),)


class Part(NamedTuple):
    """A piece of a line that a grammar rule built: a value, its columns, and the mistakes found in it so far."""

    value: Any
    column: int
    end: int
    mistakes: tuple[LineMistake, ...] = ()


def token_part(token: Any) -> Part:
    """A token of the parser as a part."""
    return Part(str(token), token.start_pos + 1, token.end_pos + 1)


def joined(value: Any, parts: Sequence[Part], mistakes: tuple[LineMistake, ...] = ()) -> Part:
    """A value that was made of these parts, with the mistakes of all of them."""
    for part in parts:
        if part.mistakes:
            mistakes = mistakes + part.mistakes
    return Part(value, parts[0].column, parts[-1].end, mistakes)


def mistake_at(name: str, kind: str, /, **facts: object) -> LineMistake:
    """A mistake at a name."""
    return LineMistake(kind, getattr(name, "column", 0), getattr(name, "end_column", 0), facts)


def mistake_between(first: str, last: str, kind: str, /, **facts: object) -> LineMistake:
    """A mistake from one name to another."""
    columns = [getattr(name, "column", 0) for name in (first, last)]
    ends = [getattr(name, "end_column", 0) for name in (first, last)]
    return LineMistake(kind, min(columns), max(ends), facts)


def repeated_names(names: Sequence[Any], kind: str) -> tuple[LineMistake, ...]:
    """A mistake at every name that occurred before in the list."""
    seen: set[Any] = set()
    repeated = []
    for name in names:
        if name in seen:
            repeated.append(mistake_at(name, kind, name=name))
        seen.add(name)
    return tuple(repeated)


def own_parent(parents: Sequence[Any], child: str) -> tuple[LineMistake, ...]:
    """A mistake at every parent that is the child itself."""
    return tuple(mistake_at(name, "own-parent", name=name) for name in parents if name == child)


# Text -----------------------------------------------------------------------------------------------------------------


def without_comment(line: str) -> str:
    """The line up to its comment; a # in quotes starts none, and a quote that is never closed runs to the end."""
    return line if "#" not in line else _CODE.match(line)[0]  # type: ignore[index]


def name_text(name: str) -> str:
    """The name of a variable or a column as text: bare where that is unambiguous, else in quotes."""
    return name if _BARE_NAME.fullmatch(name) and name.lower() not in KEYWORDS else quoted(name)


def state_text(label: str) -> str:
    """A state as text: like a name, but it may begin with a digit or a sign."""
    return label if _BARE_LABEL.fullmatch(label) and label.lower() not in KEYWORDS else quoted(label)


def quoted(name: str) -> str:
    """The name in quotes, with every character escaped that does not fit on one line."""
    return '"' + "".join(_ESCAPES.get(mark) or _escaped(mark) for mark in name) + '"'


def unquoted(text: str) -> str:
    """The name inside quotes."""
    return _ESCAPE.sub(lambda match: _meaning(match[1]) or match[0], text[1:-1]) if "\\" in text else text[1:-1]


def escape_mistakes(text: str, column: int) -> tuple[LineMistake, ...]:
    """Unknown escapes in a text at `column`."""
    if "\\" not in text:
        return ()
    return tuple(
        LineMistake("unknown-escape", column + escape.start(), column + escape.end())
        for escape in _ESCAPE.finditer(text)
        if _meaning(escape[1]) is None
    )


def _meaning(escape: str) -> str | None:
    if len(escape) == 1:
        return _ESCAPED.get(escape)
    code = int(escape[1:], 16)
    return chr(code) if code < 0x110000 else None


def _escaped(mark: str) -> str:
    if mark.isprintable():
        return mark
    return f"\\u{ord(mark):04x}" if ord(mark) < 0x10000 else f"\\U{ord(mark):08x}"


# Grammar rules for names ----------------------------------------------------------------------------------------------


def read_name(text: str, column: int) -> Name:
    """A bare or quoted name at a column."""
    if text[0] not in "\"'":
        return Name(text, column, column + len(text))
    return Name(unquoted(text), column, column + len(text))


def parse_plain(children: list[Any]) -> Part:
    """A bare name or label."""
    token = children[0]
    column, end = token.start_pos + 1, token.end_pos + 1
    return Part(Name(str(token), column, end), column, end)


def parse_quoted(children: list[Any]) -> Part:
    """A name or label in quotes."""
    token = children[0]
    name = read_name(str(token), token.start_pos + 1)
    return Part(name, name.column, name.end_column, escape_mistakes(str(token), name.column))


def parse_names(children: list[Any]) -> Part:
    """Names with separators between them."""
    return joined(tuple(part.value for part in children[::2]), children[::2])


def parse_set(children: list[Any]) -> Part:
    """Names in braces, or one name without them."""
    members = [part for part in children if isinstance(part, Part)]
    marks = [token_part(token) for token in children if not isinstance(token, Part)]
    return joined(tuple(part.value for part in members), sorted([*members, *marks], key=lambda part: part.column))


GRAMMAR_RULES = {"plain": parse_plain, "quoted": parse_quoted, "names": parse_names, "set": parse_set}


# Arguments of the Python form -----------------------------------------------------------------------------------------


def checked_name(value: Any) -> str:
    """A text that is not empty, or an error."""
    if not isinstance(value, str) or not value:
        raise python_error("not-text", repr(value), what="A name")
    return value


def checked_names(values: Any) -> tuple[str, ...]:
    """Names in a list, or an error."""
    return tuple(checked_name(value) for value in checked_items(values))


def checked_items(values: Any) -> Iterable[Any]:
    """Something to iterate over that is not a text, or an error."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise python_error("not-a-list", repr(values))
    return values


def checked_number(value: Any) -> float:
    """A finite number, or an error."""
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
        raise python_error("not-a-number", repr(value))
    return float(value)
