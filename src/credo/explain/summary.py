"""The summary of an explanation: a few sentences for a reader who knows the subject, not the statistics."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from credo.errors import counted
from credo.explain.contradictions import Contradiction
from credo.explain.explanation import Effect, StatementExplanation
from credo.explain.held_out import HeldOutComparison
from credo.explain.next_observation import NextObservation
from credo.probability_texts import count_digits

FEW_CONTRADICTED = 5  # statements that the data contradict, one by one
FEW_UNUSED = 12  # statements that were not used, one by one
UNNAMED = ("", "network", "unknown")  # what files and texts call a network without a name
NO_GAIN = 5e-4  # in log-likelihood; below it the knowledge changes no prediction


def summarise(
    name: str,
    *,
    variables: int,
    rows: int,
    statements: Sequence[StatementExplanation],
    is_used: bool,
    comparison: HeldOutComparison | None,
    harmful: int | None,
    next_observations: Sequence[NextObservation],
    contradicted: Sequence[Contradiction] = (),
    conflicting: Sequence[Sequence[int]] = (),
    unused: Sequence[object] = (),
) -> tuple[str, ...]:
    """What the data contradict; what was learned, what shaped it, whether it helped, what to observe next.

    `is_used` says whether the method uses the knowledge; `harmful` is the number of the statement that did most harm;
    `conflicting` are sets of statements, by number, that cannot all hold; `unused` are the statements that the
    estimate did not use, as sentences: they are never counted among those that agree.
    """
    not_used = len(unused) if is_used else len(statements)
    learned = what_was_learned(name, variables, rows, len(statements), not_used)
    sentences = [*what_is_contradicted(contradicted), learned, *what_was_not_used(unused)]
    if statements:
        sentences += [_what_shaped_it(statements, is_used, bool(unused))]
        sentences += [_what_conflicts(statements, numbers, is_used) for numbers in conflicting]
        named = {each.statement.number for each in contradicted}
        doubted = [each for each in statements if each.is_contradicted and each.statement.number not in named]
        if doubted:
            sentences.append(_what_may_be_wrong(doubted))
        elif not contradicted:
            sentences.append(_that_nothing_is_contradicted(statements, bool(unused)))
    if comparison is not None and comparison.scores:
        sentences.append(_whether_it_helped(comparison, statements, harmful, is_used))
    if next_observations:
        best = next_observations[0]
        so_far = times_observed(best.observations)
        purpose = "be most informative for" if best.share is None else "narrow the answer most if it shows"
        sentences.append(f"One more observation would {purpose} {best.label}, {so_far} so far.")
    return tuple(sentence for sentence in sentences if sentence)


def what_was_learned(name: str, variables: int, rows: int, statements: int, not_used: int = 0) -> str:
    """The first sentence about a result: of what, from what; `not_used` of the statements had no part in it."""
    subject = "The probabilities" if name in UNNAMED else f"{name}: the probabilities"
    used = statements - not_used
    amount = counted(used, "statement") if used else "no statements"
    if not_used:
        amount += f" ({not_used:,}{' more' if used else ''} {'was' if not_used == 1 else 'were'} not used)"
    if rows:
        sources = f"{counted(rows, 'row')} of data and {amount}"
    else:
        sources = f"{amount} alone, without data" if used else f"{amount} and no data: they are those of the prior"
    return f"{subject} of {counted(variables, 'variable')} were learned from {sources}."


def what_was_not_used(unused: Sequence[object]) -> list[str]:
    """The statements that the estimate did not use, in sentences; of many the first, and how many more."""
    sentences = [str(each) for each in unused[:FEW_UNUSED]]
    more = len(unused) - FEW_UNUSED
    if more > 0:
        verb = "was" if more == 1 else "were"
        sentences.append(f"{counted(more, 'more statement')} {verb} not used by the estimate, for such reasons.")
    return sentences


def _what_shaped_it(statements: Sequence[StatementExplanation], is_used: bool, some_unused: bool) -> str:
    used = [each for each in statements if each.effect is not Effect.NOT_USED]
    if not used:
        return ""
    binding = [each for each in statements if each.effect is Effect.BINDING]
    violated = [each for each in statements if each.effect is Effect.VIOLATED]
    which = "every statement that was used" if some_unused else "every statement"
    sentence = f"The data agree with {which}: none changed the result." if is_used else "No statement was used."
    unknown = sum(each.effect is Effect.NOT_COMPUTED for each in statements)
    if unknown and is_used:
        of = "what one statement" if unknown == 1 else f"what {unknown:,} statements"
        sentence = f"No statement is known to have changed the result; {of} changed was not computed."
    elif violated and not binding:
        changed = any(each.largest_change > 0 for each in violated)
        subject = "No statement that holds" if changed else "No statement"
        sentence = f"{subject} changed the result." if is_used else sentence
    if binding:
        first = max(binding, key=lambda each: (each.largest_change, each.gain_per_point))
        subject = "One statement" if len(binding) == 1 else f"{len(binding):,} statements"
        which = f": {first.statement.quoted}"
        if len(binding) > 1:  # by what it is the first, because `binding` ranks by another number
            points = 100 * first.largest_change
            reason = (
                f"changed a probability most, by {points:.1f} percentage points" if points >= 0.05 else "matters most"
            )
            which = f"; {first.statement.quoted} {reason}"
        sentence = f"{subject} shaped the result{which}."
        if unknown:
            least = "At least one statement" if len(binding) == 1 else f"At least {len(binding):,} statements"
            more = "one more" if unknown == 1 else f"{unknown:,} more"
            sentence = f"{least} shaped the result{which}. What {more} changed was not computed."
    if violated:
        first = max(violated, key=lambda each: each.excess)
        subject = "One is" if len(violated) == 1 else f"{len(violated):,} are"
        which = ":" if len(violated) == 1 else ", by the largest margin"
        sentence += f" {subject} not satisfied{which} {first.statement.quoted}."
    return sentence


def _what_conflicts(statements: Sequence[StatementExplanation], numbers: Sequence[int], is_used: bool) -> str:
    by_number = {each.statement.number: each.statement.quoted for each in statements}
    *others, last = [by_number[number] for number in numbers]
    together = f"{', '.join(others)} and {last} cannot all hold" if others else f"{last} cannot hold"
    return f"{together}: the result is a compromise." if is_used else f"{together}."


def what_is_contradicted(contradicted: Sequence[object]) -> list[str]:
    """The statements that the data contradict, a sentence or two for each; of many the first, and how many more."""
    sentences = [str(each) for each in contradicted[:FEW_CONTRADICTED]]
    more = len(contradicted) - FEW_CONTRADICTED
    if more > 0:
        sentences.append(f"The data contradict {counted(more, 'more statement')}.")
    return sentences


def _what_may_be_wrong(doubted: Sequence[StatementExplanation]) -> str:
    first, more = doubted[0].statement.quoted, len(doubted) - 1
    others = f" and {counted(more, 'other statement')}" if more else ""
    return f"The data on their own contradict {first}{others}, which may be wrong."


def _that_nothing_is_contradicted(statements: Sequence[StatementExplanation], some_unused: bool) -> str:
    compared = any(each.plausibility is not None and each.plausibility.after_data for each in statements)
    which = "statements that could be compared with them" if some_unused else "statements"
    return f"The data on their own contradict none of the {which}." if compared else ""


def _whether_it_helped(
    comparison: HeldOutComparison, statements: Sequence[StatementExplanation], harmful: int | None, is_used: bool
) -> str:
    gain = comparison.gain
    if abs(gain) < NO_GAIN:
        return "Observations that were held out are predicted as well with the knowledge as without it."
    verb, better = ("helped", "better") if gain > 0 else ("did harm", "worse")
    if not is_used:
        verb = "would help" if gain > 0 else "would do harm"
    through = next(
        (
            f", most of all because of {each.statement.quoted}"
            for each in statements
            if each.statement.number == harmful
        ),
        "",
    )
    return (
        f"The knowledge {verb}: observations that were held out are predicted {better} with it than without it"
        f"{through}. On average, {times_as_probable(gain / max(1.0, comparison.observations))}."
    )


def times_as_probable(gain: float) -> str:
    """A mean gain in log-likelihood for a reader: by which factor the probability of an observation changes."""
    factor = exp(abs(gain))
    more = "higher" if gain > 0 else "lower"
    if factor >= 2:
        return f"the probability given to an observation is {factor:.3g} times {more}"
    percent = 100 * (factor - 1) if gain > 0 else 100 * (1 - 1 / factor)
    amount = f"{percent:.2g}%" if percent >= 0.1 else "less than 0.1%"
    return f"the probability given to an observation is {amount} {more}"


def times_observed(count: float) -> str:
    """How often a configuration was observed, for a reader."""
    if count != int(count):
        return f"observed about {count_digits(count)} times"
    return {0: "never observed", 1: "observed once", 2: "observed twice"}.get(
        int(count), f"observed {count:,.0f} times"
    )
