"""Labels and groups: what variables and states are called where people read them, and which variables belong together.

Neither changes what is learned: pictures, pages and reports show them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from re import compile as compile_pattern
from re import escape
from typing import Any

from credo.knowledge.mistakes import LineMistake, python_error
from credo.knowledge.names import (
    Part,
    checked_name,
    checked_names,
    joined,
    mistake_at,
    name_text,
    quoted,
    repeated_names,
    state_text,
)
from credo.knowledge.network_names import NetworkNames, unknown_state
from credo.knowledge.statement_base import Reported, Span, StatementBase, line_text

DETAILS = ("unit", "note", "source")


@dataclass(frozen=True, slots=True)
class LabelDeclaration(StatementBase):
    """`label disease=1: "present"`, or `label age: "age at admission", unit "years"`.

    Attributes
    ----------
    variable
        The variable.
    state
        One of its states; None where the variable itself is described.
    text
        What people read.
    unit, note, source
        The unit of its numbers, a remark, and where that is from; empty where nothing is said.
    span
        Where it is written; None for one that was made in Python.
    """

    variable: str
    state: str | None
    text: str
    unit: str = ""
    note: str = ""
    source: str = ""
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        what = name_text(self.variable) + ("" if self.state is None else f"={state_text(self.state)}")
        details = (f"{each} {quoted(getattr(self, each))}" for each in DETAILS if getattr(self, each))
        return f"label {what}: {', '.join((quoted(self.text), *details))}"


@dataclass(frozen=True, slots=True)
class GroupDeclaration(StatementBase):
    """`group symptoms: fever, cough`: variables that pictures show together, and can fold into one box.

    Attributes
    ----------
    name
        The group.
    variables
        Its members.
    span
        Where it is written; None for one that was made in Python.
    """

    name: str
    variables: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"group {name_text(self.name)}: {', '.join(name_text(name) for name in self.variables)}"


# The Python form ------------------------------------------------------------------------------------------------------


def label(
    variable: str, text: str, state: str | None = None, *, unit: str = "", note: str = "", source: str = ""
) -> LabelDeclaration:
    """Say what a variable or one of its states is called: `label disease=1: "present"`.

    Parameters
    ----------
    variable : str
        The variable.
    text : str
        What people read.
    state : str, optional
        The state that is described; without it, the variable is.
    unit, note, source : str, optional
        The unit of its numbers, a remark, and where that is from.

    Returns
    -------
    LabelDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.label("disease", "present", "1"))
    label disease=1: "present"
    >>> print(credo.label("age", "age at admission", unit="years"))
    label age: "age at admission", unit "years"
    """
    for each in (text, unit, note, source):
        if not isinstance(each, str):
            raise python_error("not-text", repr(each), what="A label")
    return LabelDeclaration(
        checked_name(variable), None if state is None else checked_name(state), text, unit, note, source
    )


def group(name: str, variables: Iterable[str]) -> GroupDeclaration:
    """Say which variables belong together: `group symptoms: fever, cough`.

    Parameters
    ----------
    name : str
        The group.
    variables : iterable of str
        Its members.

    Returns
    -------
    GroupDeclaration
        The declaration.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or `variables` is not a list or empty.

    Examples
    --------
    >>> import credo
    >>> print(credo.group("symptoms", ["fever", "cough"]))
    group symptoms: fever, cough
    """
    members = checked_names(variables)
    if not members:
        raise python_error("not-a-list", repr(variables))
    return GroupDeclaration(checked_name(name), members)


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_label(children: list[Any]) -> Part:
    """`LABELLED name (RELATION label)? COLON label (DETAIL label)*`."""
    parts = [child for child in children if isinstance(child, Part)]
    words = [str(child).strip(" ,\t") for child in children if not isinstance(child, Part)]
    has_state = words[1] != ":"
    name, state = parts[0], parts[1] if has_state else None
    text, *rest = parts[2:] if has_state else parts[1:]
    kinds = words[3 if has_state else 2 :]
    details = dict(zip(kinds, (part.value for part in rest), strict=True))
    mistakes: tuple[LineMistake, ...] = ()
    for number, kind in enumerate(kinds):
        if kind in kinds[:number]:
            mistakes += (LineMistake("label-detail-twice", rest[number].column, rest[number].end, {"what": kind}),)
    found = LabelDeclaration(name.value, None if state is None else state.value, str(text.value), **details)
    return joined(found, parts, mistakes)


def parse_group(children: list[Any]) -> Part:
    """`GROUP name COLON names`."""
    name, members = children[1], children[3]
    return joined(
        GroupDeclaration(name.value, members.value), [name, members], repeated_names(members.value, "declared-twice")
    )


# What labels and groups say together ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Labels:
    """What people read in place of names: the labels of a text, by variable and state."""

    variables: Mapping[str, LabelDeclaration] = field(default_factory=dict)
    states: Mapping[tuple[str, str], LabelDeclaration] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def variable(self, name: str) -> str:
        """What a variable is called: its label, or its name."""
        found = self.variables.get(name)
        return name if found is None else found.text

    def state(self, name: str, state: str) -> str:
        """What a state is called: its label, or its name."""
        found = self.states.get((name, state))
        return state if found is None else found.text

    def in_texts(self, states: Mapping[str, Sequence[str]]) -> Callable[[str], str]:
        """What writes labels into texts such as `Given ecg=abnormal`, where variables have these states."""
        called = {
            f"{name_text(name)}={state_text(state)}": f"{self.variable(name)}={self.state(name, state)}"
            for name, own in states.items()
            for state in own
            if name in self.variables or (name, state) in self.states
        }
        if not called:
            return str
        longest_first = sorted(map(escape, called), key=len, reverse=True)
        quoted_line = "“[^”]*”"  # what somebody wrote stays as it is
        pattern = compile_pattern(rf'{quoted_line}|(?<![\w"])(?:{"|".join(longest_first)})(?!\.?\w)')
        return lambda text: pattern.sub(lambda found: called.get(found[0], found[0]), text)


def labels_of(declarations: Iterable[object]) -> Labels:
    """The labels and groups of a text."""
    variables: dict[str, LabelDeclaration] = {}
    states: dict[tuple[str, str], LabelDeclaration] = {}
    groups: dict[str, tuple[str, ...]] = {}
    for each in declarations:
        if isinstance(each, GroupDeclaration):
            groups[str(each.name)] = (*groups.get(str(each.name), ()), *map(str, each.variables))
        elif isinstance(each, LabelDeclaration) and each.state is None:
            variables.setdefault(str(each.variable), each)
        elif isinstance(each, LabelDeclaration):
            states.setdefault((str(each.variable), str(each.state)), each)
    return Labels(variables, states, groups)


def label_mistakes(declarations: Sequence[object]) -> Iterator[Reported]:
    """Two labels of one thing, and a variable in two groups."""
    labels: dict[tuple[str, str | None], LabelDeclaration] = {}
    groups: dict[str, GroupDeclaration] = {}
    for each in declarations:
        if isinstance(each, LabelDeclaration):
            before = labels.setdefault((str(each.variable), None if each.state is None else str(each.state)), each)
            if before != each:
                facts = {"text": before.text, "place": line_text(before)}
                yield each, mistake_at(each.variable, "label-otherwise", **facts)
        elif isinstance(each, GroupDeclaration):
            for name in each.variables:
                other = groups.setdefault(str(name), each)
                if other.name != each.name:
                    facts = {"name": name, "group": str(other.name), "place": line_text(other)}
                    yield each, mistake_at(name, "group-otherwise", **facts)


def unknown_labelled_states(declarations: Iterable[object], names: NetworkNames) -> Iterator[Reported]:
    """Labels of states that their variable, which is known, does not have."""
    for each in declarations:
        if not isinstance(each, LabelDeclaration) or each.state is None:
            continue
        if each.state not in names.states[each.variable]:
            yield each, unknown_state(each.variable, each.state, names)
