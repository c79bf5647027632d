"""Knowledge: statements about a network, from text, files, Python, or a mixture of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Union

from credo.errors import counted
from credo.io.arrows import is_graph_object
from credo.knowledge.alone import check_alone
from credo.knowledge.declarations import Declaration
from credo.knowledge.everyday import with_own_words
from credo.knowledge.experts import Expert, header_of
from credo.knowledge.mistakes import MAX_MISTAKES, KnowledgeError, KnowledgeTypeError, Mistake, python_error
from credo.knowledge.names import checked_name
from credo.knowledge.parse import Parsed
from credo.knowledge.sources import read_sources, shortened
from credo.knowledge.state_order import Order, StateOrder, state_order
from credo.knowledge.statement_base import Reported
from credo.knowledge.statements import (
    Statement,
    check_statements,
    described,
    mentions_in,
    place_of,
    to_text,
    with_named_states,
    words_of,
)
from credo.knowledge.structure import disagreements, structure_of, with_cuts
from credo.model.network import Network
from credo.terminal import escape

MAX_SHOWN = 50  # statements that a notebook shows
_MAX_PADDING = 60  # characters; longer statements do not push the places of the others to the right

KnowledgeItem = Union[str, "os.PathLike[str]", Statement, Declaration, "Knowledge"]
KnowledgeSource = KnowledgeItem | Iterable[KnowledgeItem]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Knowledge:
    """Statements about a network, each checked against it.

    Parameters
    ----------
    network : Network
        The network that the statements are about; its CPTs are not used.
    source : str, path, statement, Knowledge, or an iterable of these
        Text with one statement per line; a file (a `Path`, or a name that ends in `.credo`); statements made in Python.
    name : str, optional
        How messages call a text.

    Attributes
    ----------
    statements : tuple of statements
        In the order given.
    network : Network
        The network.
    declarations : tuple of declarations
        What the source says about the variables themselves, which the network agrees with.
    orders : mapping of str to StateOrder
        For each variable its states from low to high, as influences use them.

    Raises
    ------
    KnowledgeError
        If a statement cannot be read or does not fit the network; it lists all mistakes.
    KnowledgeFileError
        If a file does not exist.
    KnowledgeTypeError
        If the arguments are in the wrong order, or something is not a statement.

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
    declarations: tuple[Declaration, ...]
    network: Network = field(repr=False)
    orders: Mapping[str, StateOrder] = field(repr=False, compare=False)

    def __init__(self, network: Network, source: KnowledgeSource, name: str = "") -> None:
        _require_network(network, source, "Knowledge(network, source)")
        parsed = read_sources(items_of(source), name, network.names)
        own = with_own_words(parsed.mistakes, network, is_declared=bool(parsed.declarations))
        parsed = parsed._replace(mistakes=own)
        network, wrong = _agreed(parsed, network)
        found = check_statements(parsed.statements, network, is_declared=bool(parsed.declarations))
        before = [*parsed.mistakes, *wrong, *_without_repetition(found, parsed.mistakes)]
        raise_mistakes([*before, *described_elsewhere(check_alone(parsed.statements, network), before)])
        statements = [with_named_states(statement, network) for statement in parsed.statements]
        # A frozen class sets its fields once, here.
        object.__setattr__(self, "statements", tuple(statements))
        object.__setattr__(self, "declarations", parsed.declarations)
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
        return Knowledge(self.network, (self, other))

    def __reduce__(self) -> tuple[Any, ...]:
        return Knowledge, (self.network, (*self.declarations, *self.statements))

    def to_text(self) -> str:
        """The declarations and statements as text, one per line, which reads back as equal knowledge.

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
        return "\n".join(to_text(each) for each in (*self.declarations, *self.statements))

    def _repr_html_(self) -> str:
        heading = f"<p>{counted(len(self), 'statement')}:</p>{_html_list(self.statements)}"
        return f"<p>Declared:</p>{_html_list(self.declarations)}{heading}" if self.declarations else heading

    def __repr__(self) -> str:
        return f"<Knowledge: {_counted(self)}>"

    def __str__(self) -> str:
        both = (*self.declarations, *self.statements)
        lines = [(words_of(each), place_of(each) or "Python") for each in both]
        width = max((len(words) for words, _ in lines if len(words) <= _MAX_PADDING), default=0)
        digits = len(str(len(self)))
        numbers = ["-" * bool(len(self))] * len(self.declarations) + [f"{n}." for n in range(1, len(self) + 1)]
        return "\n".join(
            [
                _counted(self),
                *(
                    f"{number:>{digits + 1}} {words:<{width}} ({place})"
                    for number, (words, place) in zip(numbers, lines, strict=True)
                ),
            ]
        )


def _html_list(items: Sequence[Statement | Declaration]) -> str:
    shown = "".join(f"<li><code>{escape(to_text(each))}</code></li>" for each in items[:MAX_SHOWN])
    more = len(items) - MAX_SHOWN
    return f"<ul>{shown}</ul>" + (f"<p>and {more:,} more</p>" if more > 0 else "")


def _counted(knowledge: Knowledge) -> str:
    count = len(knowledge.statements)
    about = f" about {knowledge.network.name}" if knowledge.network.name else ""
    declared = f" and {counted(len(knowledge.declarations), 'declaration')}" if knowledge.declarations else ""
    return f"{counted(count, 'statement')}{declared}{about}"


def read_knowledge(network: Network, path: str | os.PathLike[str]) -> Knowledge:
    """Read the knowledge in a file: UTF-8, one statement per line.

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


def expert(
    name: str, statements: KnowledgeSource, reliability: float | tuple[float, float] | None = None
) -> tuple[Statement, ...]:
    """The statements of an expert, who may be wrong.

    Parameters
    ----------
    name : str
        What results call the expert.
    statements : str, path, statement, or an iterable of these
        What the expert says.
    reliability : float or tuple of two floats, optional
        How often the expert is right, or two numbers between which that lies in nine cases of ten; learned if not
        given.

    Returns
    -------
    tuple of statements
        For `credo.Knowledge` and `credo.fit`, among others.

    Raises
    ------
    KnowledgeError
        If a statement cannot be read, says what variables or rows are, or the reliability is not between 0 and 1.

    Examples
    --------
    >>> import credo
    >>> statements = credo.expert("radiology", ["smoke raises lung", credo.P("lung=yes") <= 0.1], reliability=0.9)
    >>> len(statements)
    2
    """
    parsed = read_sources(items_of(statements))
    raise_mistakes(parsed.mistakes)
    who = Expert(checked_name(name), reliability)
    found = header_of(f"{who}: -")
    if found is None or found.expert is None:
        raise python_error("reliability-range", str(who))
    refused = [each for each in (*parsed.declarations, *parsed.statements) if not hasattr(each, "expert")]
    if refused:
        raise python_error("expert-declaration", to_text(refused[0]), name=name)
    return tuple(replace(each, expert=found.expert) for each in parsed.statements)  # type: ignore[arg-type]


def knowledge_for(network: Network, knowledge: KnowledgeSource | None) -> Knowledge:
    """Knowledge about this very network: made of a source, or checked again if it was made for another network."""
    if not isinstance(knowledge, Knowledge):
        return Knowledge(network, knowledge if knowledge is not None else ())
    if knowledge.network.same_structure(network):
        both = zip(knowledge.network.variables, network.variables, strict=True)
        if all(own.is_ordered == other.is_ordered for own, other in both):
            return knowledge
    return Knowledge(network, knowledge)


def state_orders(network: Network, statements: Iterable[Statement] = ()) -> Mapping[str, StateOrder]:
    """The order of states of every variable, and where it comes from."""
    stated = [statement for statement in statements if isinstance(statement, Order)]
    return MappingProxyType({variable.name: state_order(variable, stated) for variable in network.variables})


# Arguments ------------------------------------------------------------------------------------------------------------


def items_of(source: Any) -> list[Any]:
    """What a user gave as knowledge, one by one; knowledge itself as its declarations and statements."""
    one = isinstance(source, (str, bytes, Mapping)) or not isinstance(source, Iterable) or is_graph_object(source)
    if one or isinstance(source, Knowledge):
        return [*source.declarations, *source.statements] if isinstance(source, Knowledge) else [source]
    nested = (Knowledge, list, tuple)  # such as the statements of an expert
    return [each for item in source for each in (items_of(item) if isinstance(item, nested) else (item,))]


def raise_mistakes(mistakes: Iterable[Mistake]) -> None:
    """Raise a KnowledgeError with all mistakes in the order of the file, if there is one."""
    if found := sorted(mistakes, key=lambda mistake: (mistake.source, mistake.line, mistake.column)):
        raise KnowledgeError(found)


def described_elsewhere(wrong: Iterable[Reported], before: Iterable[Mistake]) -> list[Mistake]:
    """Mistakes of declarations with each other or with a network, except on lines that have a mistake already."""
    lines = {(mistake.source, mistake.line) for mistake in before}
    found = [described(mistake, statement) for statement, mistake in islice(wrong, MAX_MISTAKES)]
    return [mistake for mistake in found if (mistake.source, mistake.line) not in lines]


def _agreed(parsed: Parsed, network: Network) -> tuple[Network, list[Mistake]]:
    """The network with the cut points that are declared, and where declarations contradict it or each other."""
    if not parsed.declarations:
        return network, []
    structure, wrong = structure_of(parsed.declarations, parsed.statements)
    mentioned = dict.fromkeys((*structure.mentions, *mentions_in(parsed.statements)))
    wrong = wrong or [*disagreements(structure, network, mentioned, parsed.declarations)]
    return with_cuts(network, structure) if not wrong else network, described_elsewhere(wrong, parsed.mistakes)


def _require_network(network: Any, source: Any, call: str) -> None:
    if isinstance(network, Network):
        return
    kind = "arguments-swapped" if isinstance(source, Network) else "not-a-network"
    raise python_error(kind, "", error=KnowledgeTypeError, what=shortened(network), call=call)


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
