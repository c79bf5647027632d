"""P(… | … alone): what one set of causes of a noisy family does by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from credo.knowledge.expressions import Probability, probabilities_in
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import mistake_at, name_text, states_given
from credo.knowledge.statement_base import Reported
from credo.knowledge.statements import Approximation, Comparison, NoisyFamily, Statement
from credo.model.network import Network
from credo.model.noisy import NoisyForm

Sets = Sequence[Sequence[str]]  # of causes; one without names is the leak


def set_alone(term: Probability, sets: Sets) -> int | None:
    """The place of the set of causes that P(… alone) names; None if it names no whole set."""
    named = {str(name) for name, _ in term.given} | {str(name) for name in term.each}
    if term.each_other:
        named |= {parent for members in sets if named & set(members) for parent in members}
    places = (place for place, members in enumerate(sets) if members and named == set(members))
    return None if term.further else next(places, None)


def check_alone(statements: Iterable[Statement], network: Network) -> Iterator[Reported]:
    """Every P(… alone) whose child is not noisy, or that is not about one state of each cause of a set."""
    statements = tuple(statements)
    sets: dict[str, Sets] = {child: form.causes for child, form in network.forms.items() if isinstance(form, NoisyForm)}
    sets |= {str(family.child): family.sets for family in statements if isinstance(family, NoisyFamily)}
    for statement in statements:
        if isinstance(statement, Comparison | Approximation):
            for term in (each for side in statement.sides for each in probabilities_in(side)):
                if term.alone and (mistake := _mistake(term, sets)) is not None:
                    yield statement, mistake


def _mistake(term: Probability, sets: Mapping[str, Sets]) -> LineMistake | None:
    child = str(term.variable)
    if child not in sets:
        return mistake_at(term.variable, "alone-not-noisy", name=name_text(child))
    for name, state in term.given:
        if len(states_given(state)) > 1:
            return mistake_at(name, "alone-several-states", name=name_text(str(name)))
    if set_alone(term, sets[child]) is None:
        known = "; ".join(", ".join(map(name_text, members)) for members in sets[child] if members)
        return mistake_at(term.variable, "alone-no-set", name=name_text(child), sets=known)
    return None
