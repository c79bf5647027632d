"""An explanation in five sentences."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from credo.estimation.problem import Problem
from credo.explain.held_out import HeldOut
from credo.explain.next_observation import Look
from credo.explain.parts import Effect, StatementStory
from credo.model.network import Network

MANY = 3  # names in a sentence
NAMELESS = ("", "unknown")  # what files call a network that has no name
NOTHING = 5e-4  # nats in all; below this the knowledge changed nothing that can be foretold


def summary(
    network: Network,
    problem: Problem,
    variables: int,
    method: str,
    used: bool,  # whether the method uses the knowledge
    statements: Sequence[StatementStory],
    held_out: HeldOut | None,
    harmful: int | None,  # the statement that did most harm, where the knowledge hurt
    looks: Sequence[Look],
) -> tuple[str, ...]:
    """What was learned, what shaped it, what the data contradict, whether it helped, where to look next."""
    rows, said = problem.counts.rows, len(statements)
    count = f"{said:,} statement{'' if said == 1 else 's'}" if said else "no statements"
    name = f"{network.name}: " if network.name not in NAMELESS else ""
    sentences = [f"{name}{variables} variables were learned from {rows:,} rows and {count}, by {method}."]
    if said:
        sentences += [_shaped(statements, used), _against(statements)]
    if held_out is not None and held_out.blocks:
        sentences.append(_helped(held_out, statements, harmful, used))
    if looks:
        best = looks[0]
        sentences.append(
            f"One more observation would tell most about {network.describe(best.variable, best.row)}, "
            f"{times_seen(best.seen)} so far."
        )
    return tuple(sentence for sentence in sentences if sentence)


def _shaped(statements: Sequence[StatementStory], used: bool) -> str:
    bound = [each for each in statements if each.effect is Effect.BOUND]
    missed = [each for each in statements if each.effect is Effect.VIOLATED]
    sentence = "No statement had to bend the result." if used else "No statement was used."
    if bound:
        first = max(bound, key=lambda each: (each.moved, each.price))
        verb = "One statement" if len(bound) == 1 else f"{len(bound):,} statements"
        how = f", most of all {quoted(first)}" if len(bound) > 1 else f": {quoted(first)}"
        sentence = f"{verb} shaped the result{how}."
    if missed:
        first = max(missed, key=lambda each: each.amount)
        verb = "One is" if len(missed) == 1 else f"{len(missed):,} are"
        sentence += f" {verb} not satisfied{': ' if len(missed) == 1 else ', the farthest '}{quoted(first)}."
    return sentence


def _against(statements: Sequence[StatementStory]) -> str:
    compared = [each for each in statements if each.plausibility is not None and each.plausibility.probability]
    against = [each for each in statements if each.contradicted]
    if against:
        named = "; ".join(quoted(each) for each in against[:MANY])
        more = f"; and {len(against) - MANY:,} more" if len(against) > MANY else ""
        return f"The data by themselves contradict {named}{more}."
    return "The data by themselves contradict none of the statements." if compared else ""


def _helped(held_out: HeldOut, statements: Sequence[StatementStory], harmful: int | None, used: bool) -> str:
    gain = held_out.gain
    if abs(gain) < NOTHING:
        return "Rows that were held out are foretold as well with the knowledge as without it."
    verb, how = ("helped", "better") if gain > 0 else ("hurt", "worse")
    if not used:
        verb = "would help" if gain > 0 else "would hurt"
    each = abs(gain) / max(1.0, held_out.observations)
    blame = next((f", most of all through {quoted(story)}" for story in statements if story.number == harmful), "")
    return (
        f"The knowledge {verb}: rows that were held out are foretold {how} with it, by {each:.3g} nats each "
        f"({abs(gain):.3g} in all){blame}."
    )


def quoted(story: StatementStory) -> str:
    """A statement in a sentence, with its line."""
    place = f" (line {story.line})" if story.line else ""
    return f"“{story.text}”{place}"


def times_seen(count: float) -> str:
    """How often, for a reader."""
    return {0.0: "never seen", 1.0: "seen once", 2.0: "seen twice"}.get(
        count, f"seen {count:,.0f} times" if count == int(count) else f"expected {count:,.3g} times"
    )


def chance(value: float) -> str:
    """A probability for a reader."""
    if isnan(value):
        return "–"
    return "<0.001" if 0 < value < 0.001 else f"{value:.3f}"
