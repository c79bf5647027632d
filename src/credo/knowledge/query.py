"""Questions to a network as text: `P(lung=yes | xray=yes, do(smoke=no))`, read into a `Query`.

Before the bar stand the targets, with a state (`lung=yes`), several (`lung in {small, large}`), or none (`lung`: all
of its states). After it stands what is given: evidence, and interventions in `do(…)`, which set a variable whatever its
parents are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from credo.errors import OutsideRangeWarning, QueryError, listing, suggestion
from credo.io.columns import Lexicon
from credo.io.files import warn_caller
from credo.io.number_columns import outside_message
from credo.io.tables import is_missing
from credo.knowledge.expressions import INEQUALITIES, Probability
from credo.knowledge.mistakes import describe
from credo.knowledge.names import Threshold, name_text, state_text, states_given
from credo.knowledge.network_names import check_threshold, states_beyond
from credo.model.network import Network
from credo.model.state_texts import is_number, state_of_interest
from credo.types import MISSING

# The parts of a question: a quoted name, a bare one as in knowledge files, or one sign.
_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<word>[+\-]?\.?\w+(?:[.\-/]+\w+)*\+?)|(?P<sign>[<>]=?|[≤≥(){}|,=]))"""
)


def _shape(network: Network) -> str:
    """How a question is written, with variables of the network."""
    child, parent = _example(network)
    given = "" if parent == child else f" | {usual_event(parent, network)}"
    do = "" if parent == child else f" | do({usual_event(parent, network)})"
    name = name_text(child)
    return f"Write it like P({usual_event(child, network)}{given}), or P({name}{do}) for all states of {name}."


def _evidence_shape(network: Network) -> str:
    """The same of evidence."""
    names = dict.fromkeys(_example(network))
    states = {name: network.states(name) for name in names}
    mapping = {name: own[state_of_interest(own)] for name, own in states.items()}
    return f"Write it like {mapping}, or as a text like {', '.join(usual_event(name, network) for name in names)}."


def _example(network: Network) -> tuple[str, str]:
    """A variable and a parent of it, if there is an arrow; else two variables, or one twice."""
    child = next((name for name in network.names if network.parents[name]), network.names[-1])
    return child, next(iter(network.parents[child]), network.names[0])


def usual_event(name: str, network: Network) -> str:
    """`lung=yes`: a variable with the state that people ask about."""
    states = network.states(name)
    return f"{name_text(name)}={state_text(states[state_of_interest(states)])}"


@dataclass(frozen=True, slots=True)
class Query:
    """A question: the probability of targets, given evidence and interventions.

    Parameters
    ----------
    targets
        Variables, each with the states that are meant; no states means each of them.
    evidence
        Variables that were observed, each with the states that remain possible.
    interventions
        Variables that are set to a state, whatever their parents are.
    """

    targets: Mapping[str, tuple[str, ...]]
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    interventions: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        given = [evidence_text(self.evidence)] if self.evidence else []
        if self.interventions:
            given.append(f"do({', '.join(_event(name, (state,)) for name, state in self.interventions.items())})")
        targets = evidence_text(self.targets)
        return f"P({targets} | {', '.join(given)})" if given else f"P({targets})"


def evidence_text(evidence: Mapping[str, tuple[str, ...]]) -> str:
    """`xray=yes, smoke=no`; empty for none."""
    return ", ".join(_event(name, states) for name, states in evidence.items())


def query_of(term: Probability, chosen: Mapping[str, str] | None = None) -> Query:
    """The question that asks for a probability of a statement; `chosen` are the states of variables under `each`."""
    given = {str(name): states_given(state) for name, state in term.given}
    given |= {name: (state,) for name, state in (chosen or {}).items()}
    return Query({str(name): tuple(map(str, states)) for name, states in term.events}, given)


def parse_query(network: Network, text: str) -> Query:
    """Read a question about a network.

    Raises
    ------
    QueryError
        If the text is not a question, or names what the network does not have.
    """
    reader = _Reader(network, text)
    return reader.query()


def as_query(network: Network, question: object) -> Query:
    """A question that was given as a text or as a `Query`; its names are those of the network."""
    if isinstance(question, Query):
        interventions = checked_evidence(network, question.interventions)
        return Query(
            checked_evidence(network, question.targets),
            checked_evidence(network, question.evidence),
            {name: states[0] for name, states in interventions.items()},
        )
    if not isinstance(question, str):
        raise QueryError(f"A question is a text, not {question!r}. {_shape(network)}")
    return parse_query(network, question)


def as_evidence(network: Network, evidence: object) -> dict[str, tuple[str, ...]]:
    """Evidence that was given as a mapping, or as a text such as `xray=yes, smoke=no`; None is none.

    Values of a mapping that are None or NaN are missing.
    """
    if evidence is None:
        return {}
    if isinstance(evidence, str):
        return _Reader(network, evidence, "evidence", _evidence_shape(network)).given()
    if not isinstance(evidence, Mapping):
        raise QueryError(
            f"Evidence is a mapping from variables to states, not {evidence!r}. {_evidence_shape(network)}"
        )
    found = checked_evidence(network, {name: value for name, value in evidence.items() if not is_missing(value)})
    for name, states in found.items():
        if not states:
            raise QueryError(f"Evidence about {name} names no state. {_evidence_shape(network)}")
    return found


def checked_evidence(network: Network, evidence: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Evidence given in Python, by variable: a state, or a list of states that remain possible."""
    found = {}
    for name, value in evidence.items():
        _require_variable(network, name)
        several = isinstance(value, (list, tuple, set, frozenset))
        values = tuple(value) if several else (value,)  # type: ignore[arg-type]
        found[name] = tuple(dict.fromkeys(_state(network, name, each) for each in values))
    return found


class _Reader:
    """Reads one question from left to right."""

    def __init__(self, network: Network, text: str, kind: str = "question", shape: str = "") -> None:
        self.network = network
        self.text, self.kind, self.shape = text, kind, shape or _shape(network)
        self.tokens = list(self._split())
        self.place = 0

    def _split(self) -> Iterator[tuple[str, str]]:
        position, text = 0, self.text.strip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error(f"“{text[position : position + 10]}” cannot be read")
            kind = str(match.lastgroup)
            value = match.group(kind)
            yield kind, re.sub(r"\\(.)", r"\1", value[1:-1]) if kind == "quoted" else value
            position = match.end()

    def _error(self, what: str) -> QueryError:
        return QueryError(f"The {self.kind} “{self.text}”: {what}. {self.shape}")

    def _peek(self) -> tuple[str, str]:
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "")

    def _take(self) -> tuple[str, str]:
        found = self._peek()
        self.place += 1
        return found

    def _is_sign(self, sign: str) -> bool:
        if self._peek() == ("sign", sign):
            self.place += 1
            return True
        return False

    def _require_sign(self, sign: str) -> None:
        if not self._is_sign(sign):
            _, found = self._peek()
            raise self._error(f"“{sign}” is missing" + (f" before “{found}”" if found else " at the end"))

    def query(self) -> Query:
        if self._take() != ("word", "P"):
            raise self._error("a question begins with P(")
        self._require_sign("(")
        targets: dict[str, tuple[str, ...]] = {}
        evidence: dict[str, tuple[str, ...]] = {}
        interventions: dict[str, str] = {}
        while True:
            self._add(targets, *self._event(may_be_bare=True))
            if not self._is_sign(","):
                break
        if self._is_sign("|"):
            while True:
                if self._peek() == ("word", "do") and self.tokens[self.place + 1 : self.place + 2] == [("sign", "(")]:
                    self.place += 2
                    self._interventions(interventions)
                else:
                    self._add(evidence, *self._event(may_be_bare=False))
                if not self._is_sign(","):
                    break
        self._require_sign(")")
        if self._peek()[0] != "end":
            raise self._error(f"it should end before “{self._peek()[1]}”")
        for name in evidence:
            if name in interventions:
                raise self._error(f"{name} is both observed and set by do")
        return Query(targets, evidence, interventions)

    def given(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        while self.tokens:
            self._add(found, *self._event(may_be_bare=False))
            if not self._is_sign(","):
                break
        if self._peek()[0] != "end":
            raise self._error(f"it should end before “{self._peek()[1]}”")
        return found

    def _interventions(self, found: dict[str, str]) -> None:
        while True:
            name, states = self._event(may_be_bare=False)
            if len(states) != 1:
                raise self._error(f"do sets {name} to one state")
            if name in found:
                raise self._error(f"{name} is set twice")
            found[name] = states[0]
            if not self._is_sign(","):
                break
        self._require_sign(")")

    def _add(self, events: dict[str, tuple[str, ...]], name: str, states: tuple[str, ...]) -> None:
        if name in events:
            raise self._error(f"{name} occurs twice")
        events[name] = states

    def _name(self, what: str) -> str:
        kind, value = self._take()
        if kind not in ("word", "quoted"):
            raise self._error(f"{what} is missing" + (f" before “{value}”" if value else " at the end"))
        return value

    def _event(self, may_be_bare: bool) -> tuple[str, tuple[str, ...]]:
        name = self._name("the name of a variable")
        _require_variable(self.network, name)
        if self._is_sign("="):
            states = [self._name(f"a state of {name}")]
        elif self._peek()[0] == "sign" and self._peek()[1] in INEQUALITIES:
            return name, self._beyond(name, INEQUALITIES[self._take()[1]])
        elif self._peek() == ("word", "in"):
            self.place += 1
            self._require_sign("{")
            states = [self._name(f"a state of {name}")]
            while self._is_sign(","):
                states.append(self._name(f"a state of {name}"))
            self._require_sign("}")
        elif may_be_bare:
            return name, ()
        else:
            raise self._error(f"{name} needs a state, as in {name}={self.network.states(name)[-1]}")
        return name, tuple(dict.fromkeys(_state(self.network, name, state) for state in states))

    def _beyond(self, name: str, relation: str) -> tuple[str, ...]:
        """The states that `age >= 60` stands for, where age is cut at 60."""
        number = self._name(f"a cut point of {name}")
        if not is_number(number):
            raise self._error(f"after {name} {relation} comes a number, not {number}")
        text, variable = f"{relation} {number}", self.network.variable(name)
        threshold = Threshold(text, 1, len(text) + 1)
        for mistake in check_threshold(threshold, variable):
            found = describe(mistake, 0, text)
            raise QueryError(f"{found.message} {found.suggestion}")
        return states_beyond(threshold, variable)


def _require_variable(network: Network, name: object) -> None:
    if name not in network:
        longer = next((each for each in network.names if each.casefold().startswith(f"{name} ".casefold())), None)
        hint = suggestion(str(name), network.names) or f" It has {listing(network.names)}."
        hint = hint if longer is None else f" Write a name that contains spaces in quotes: {_quoted(longer)}."
        raise QueryError(f'The network has no variable "{name}".{hint}')


def _state(network: Network, name: str, value: object) -> str:
    """The state that a value means, as in a table; a number is cut where the variable has cut points."""
    variable = network.variable(name)
    code = Lexicon.of(variable).code(value)
    if code is None or code == MISSING:
        numbers = "" if variable.cuts is None else f" Numbers are cut at {variable.cuts}."
        raise QueryError(f'{name} has no state "{value}". Its states are {listing(variable.states)}.{numbers}')
    if (message := outside_message(variable, value)) is not None:
        warn_caller(message, OutsideRangeWarning)
    return variable.states[code]


def _event(name: str, states: tuple[str, ...]) -> str:
    shown = [_quoted(each) for each in (name, *states)]
    if not states:
        return shown[0]
    return f"{shown[0]}={shown[1]}" if len(states) == 1 else f"{shown[0]} in {{{', '.join(shown[1:])}}}"


def _quoted(word: str) -> str:
    match = _TOKEN.fullmatch(word)
    return word if match is not None and match.lastgroup == "word" else '"' + re.sub(r'(["\\])', r"\\\1", word) + '"'
