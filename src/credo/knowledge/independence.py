"""Independence: a parent that makes no difference to its child, whatever the other parents are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from credo.knowledge.experts import Expert
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Part, checked_name, checked_number, joined, name_text, own_parent
from credo.knowledge.network_names import NetworkNames, check_parents
from credo.knowledge.statement_base import Kind, Span, StatementRules, UncertainStatement, modifiers_text


@dataclass(frozen=True, slots=True)
class Independence(UncertainStatement):
    """`shoe_size does not affect lung`: the distributions of the child are equal across the parent's states.

    Attributes
    ----------
    parent, child
        The variables.
    confidence
        The probability that it is true; None for a statement that must hold.
    span
        Where it is written; None for one that was made in Python.
    expert
        Who says it; None outside of experts' blocks.
    """

    parent: str
    child: str
    confidence: float | None = None
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        return f"{name_text(self.parent)} does not affect {name_text(self.child)}{modifiers_text(self)}"


def does_not_affect(parent: str, child: str, confidence: float | None = None) -> Independence:
    """State that a parent makes no difference to its child: `parent does not affect child`.

    Parameters
    ----------
    parent, child : str
        Names of variables; `parent` is a parent of `child` in the network.
    confidence : float, optional
        The probability that it is true, above 0 and below 1; None for a statement that must hold.

    Returns
    -------
    Independence
        The statement.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or the confidence is not finite.

    Examples
    --------
    >>> import credo
    >>> print(credo.does_not_affect("shoe_size", "lung"))
    shoe_size does not affect lung
    """
    sure = None if confidence is None else checked_number(confidence)
    return Independence(checked_name(parent), checked_name(child), sure)


def parse_independence(children: list[Any]) -> Part:
    """`name NO_EFFECT name`."""
    parents, _, child = children
    mistakes = own_parent(parents.value, child.value)
    if len(parents.value) > 1:
        lines = " / ".join(str(Independence(parent, child.value)) for parent in parents.value)
        mistakes = (LineMistake("several-parents", parents.column, parents.end, {"lines": lines}),)
    return joined(Independence(parents.value[0], child.value), [parents, child], mistakes)


def _check(statement: Independence, names: NetworkNames) -> Iterator[LineMistake]:
    return check_parents(statement.child, (statement.parent,), names, "does not affect", is_denied=True)


INDEPENDENCE = StatementRules(
    "a statement of no effect",
    {"independence": parse_independence},
    _check,
    lambda statement, network: Kind("independence"),
    modifiers=("confidence",),
    arcs=lambda statement: ((statement.parent, statement.child),),
)
