"""SharedCPT: variables with one CPT, such as equal pumps: `pump1, pump2, pump3 have one CPT`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from credo.errors import listing
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Part, checked_names, joined, mistake_at, name_text, repeated_names
from credo.knowledge.network_names import NetworkNames, unknown_variable
from credo.knowledge.statement_base import (
    FamilyStatement,
    Kind,
    Reported,
    Span,
    StatementBase,
    StatementRules,
    line_text,
)
from credo.model.network import Network


@dataclass(frozen=True, slots=True)
class SharedCPT(StatementBase):
    """`pump1, pump2, pump3 have one CPT`; `CPT of eye_left is that of eye_right` is the same for two.

    Attributes
    ----------
    variables
        The variables; the CPT is described by the parents of the first.
    is_near
        Whether their CPTs are nearly the same, and not exactly.
    span
        Where it is written; None for one that was made in Python.
    """

    variables: tuple[str, ...]
    is_near: bool = False
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{', '.join(map(name_text, self.variables))} have {'nearly ' if self.is_near else ''}one CPT"


def one_cpt(variables: Sequence[str], nearly: bool = False) -> SharedCPT:
    """State that variables have the same CPT: `pump1, pump2 have one CPT`.

    Parameters
    ----------
    variables : sequence of str
        The variables. Their states and parents are matched: parents of the same name with each other, others in order.
    nearly : bool
        Whether they only learn from each other, as much as the data say that they are alike.

    Returns
    -------
    SharedCPT
        The statement.

    Raises
    ------
    KnowledgeError
        If a name is not a text.

    Examples
    --------
    >>> import credo
    >>> print(credo.one_cpt(["pump1", "pump2"]))
    pump1, pump2 have one CPT
    """
    return SharedCPT(checked_names(variables), bool(nearly))


def parse_one_cpt(children: list[Any]) -> Part:
    """`names HAVE_ONE_CPT`."""
    names, is_near = children[0], _is_near(children[1])
    mistakes = repeated_names(names.value, "shared-twice")
    if len(names.value) == 1:
        mistakes = (*mistakes, LineMistake("shared-alone", names.column, names.end))
    return joined(SharedCPT(names.value, is_near), [names], mistakes)


def parse_that_of(children: list[Any]) -> Part:
    """`CPT_OF name IS_THAT_OF name`; the second has the CPT."""
    _, name, is_that, owner = children
    names = (owner.value, name.value)
    return joined(SharedCPT(names, _is_near(is_that)), [name, owner], repeated_names(names, "shared-twice"))


def _is_near(words: Any) -> bool:
    return "nearly" in str(words).lower()


# Checks ---------------------------------------------------------------------------------------------------------------


def aligned_parents(network: Network, owner: str, name: str) -> tuple[str, ...]:
    """The parents of a variable in the order of those of the one whose CPT it shares.

    Those of the same name correspond to each other, and the others in their order.
    """
    own, others = network.parents[name], network.parents[owner]
    rest = iter([parent for parent in own if parent not in others])
    return tuple(parent if parent in own else next(rest) for parent in others)


def shared_cpts(statements: Sequence[Any], network: Network) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Each variable that shares the CPT of another one: the other one, and its own parents in the other's order."""
    found = {}
    for statement in statements:
        if isinstance(statement, SharedCPT) and not statement.is_near:
            owner = str(statement.variables[0])
            for name in map(str, statement.variables[1:]):
                found[name] = owner, aligned_parents(network, owner, name)
    return found


def _check(statement: SharedCPT, names: NetworkNames) -> Iterator[LineMistake]:
    network, owner = names.network, statement.variables[0]
    unknown = [name for name in statement.variables if name not in names.states]
    yield from (unknown_variable(name, names) for name in unknown)
    for name in () if unknown else statement.variables[1:]:
        own, others = network.parents[name], network.parents[owner]
        if len(own) != len(others):
            facts = {"name": name, "other": owner, "own": listing(own) or "none", "others": listing(others) or "none"}
            yield mistake_at(name, "shared-parents", **facts)
            continue
        pairs = zip((*aligned_parents(network, owner, name), name), (*others, owner), strict=True)
        for one, other in pairs:
            mine, its = network.states(one), network.states(other)
            if len(mine) != len(its) or (mine != its and set(mine) == set(its)):
                facts = {"name": one, "other": other, "own": listing(mine), "others": listing(its)}
                yield mistake_at(name, "shared-states", **facts)
                break


def _check_together(statements: Sequence[Any]) -> Iterator[Reported]:
    """Variables in two groups, and those that are gates or noisy families."""
    first: dict[str, Any] = {}
    forms: Mapping[str, Any] = {s.child: s for s in statements if isinstance(s, FamilyStatement)}
    for statement in statements:
        for name in statement.variables if isinstance(statement, SharedCPT) else ():
            if name in forms:
                yield statement, mistake_at(name, "shared-form", name=name, place=line_text(forms[name]))
            elif first.setdefault(name, statement) is not statement:
                yield statement, mistake_at(name, "shared-before", name=name, place=line_text(first[name]))


SHARED_CPT = StatementRules(
    "a statement about one CPT",
    {"one_cpt": parse_one_cpt, "that_of": parse_that_of},
    _check,
    lambda statement, network: Kind("one CPT"),
    check_together=_check_together,
)
