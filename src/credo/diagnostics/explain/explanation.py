"""The story of a fit: each statement, each row of a table, whether the knowledge helped, and where to look next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import isnan

import numpy as np

from credo.constraints.context import words
from credo.constraints.rows import Numbers
from credo.diagnostics.explain.allowed import Allowed, allowed
from credo.diagnostics.explain.filtered import moves_of_means
from credo.diagnostics.explain.held_out import HeldOut, leave_one_out
from credo.diagnostics.explain.left_out import LeftOut, by_row, leave_out
from credo.diagnostics.explain.next_look import Look, next_looks
from credo.diagnostics.plausibility import Plausibility, Verdict, plausibilities
from credo.diagnostics.violations import LEAST, amounts_of, line_of
from credo.estimators.problem import Problem
from credo.estimators.solution import Uncertainty
from credo.knowledge import Knowledge
from credo.network import Network

LEAST_PRICE = 1e-6  # per data row; below it a price is rounding
ROOM = 1e-6  # a statement nearer to its bound than this has none
MANY = 3  # names in a sentence


class Effect(Enum):
    """What a statement did; the value is what a reader sees."""

    VIOLATED = "is not satisfied"
    BOUND = "shaped the result"
    HELD = "holds with room"
    NOTHING = "had no effect"
    OUTSIDE = "speaks of no table"


@dataclass(frozen=True, slots=True)
class StatementStory:
    """One statement and what became of it."""

    number: int
    line: int
    text: str
    effect: Effect
    price: float  # log-likelihood gained if its bound moved by 0.01
    amount: float  # by how much its tightest row is missed; negative: the room that is left
    moved: float  # the largest change of a number if it is left out
    plausibility: Plausibility | None  # before and after the data, by itself
    rows: tuple[tuple[str, int], ...] = field(repr=False)  # the rows of tables that it speaks of
    confidence: float | None = None

    @property
    def contradicted(self) -> bool:
        """Whether the data by themselves contradict it."""
        return self.plausibility is not None and self.plausibility.verdict is Verdict.CONTRADICTED


@dataclass(frozen=True, slots=True, eq=False)
class RowStory:
    """One row of a table: what the data say, what the knowledge allows, what was learned."""

    variable: str
    row: int
    seen: float
    data: Numbers | None  # None where it was never seen
    low: Numbers  # what the knowledge allows; NaN where it was not worked out
    high: Numbers
    allowed: Numbers  # the mean of all that the knowledge allows
    learned: Numbers
    interval: tuple[Numbers, Numbers] | None
    moved_by: tuple[tuple[int, float], ...]  # statements and how far each moved it, the farthest first

    @property
    def moved(self) -> float:
        """How far the knowledge moved it, at most."""
        return self.moved_by[0][1] if self.moved_by else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Everything that can be said of a fit."""

    summary: tuple[str, ...]
    statements: tuple[StatementStory, ...]  # what matters first
    rows: Mapping[str, tuple[RowStory, ...]] = field(repr=False)
    held_out: HeldOut | None = field(repr=False)  # None where it is not available; `notes` say why
    looks: tuple[Look, ...]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join([*self.summary, *self.notes])


def explain(
    network: Network,  # learned, noisy families taken apart
    problem: Problem,
    knowledge: Knowledge,
    prices: Mapping[int, float],
    posterior: Uncertainty | None,
    method: str,
    gaps: bool,
) -> Explanation:
    """Put the story together."""
    effects = leave_out(problem)
    if posterior is not None:
        effects |= {
            number: replace(effects[number], rows=tuple(rows)) for number, rows in moves_of_means(problem).items()
        }
    alone = plausibilities(problem.constraints, problem.counts.row, blocks=problem.blocks, seed=problem.seed)
    if gaps:
        alone = {number: each.without_data() for number, each in alone.items()}
    statements = _statements(network, problem, knowledge, prices, effects, alone, averaged=posterior is not None)
    rows = _rows(network, problem, allowed(problem), posterior, effects)
    held_out = None if gaps else leave_one_out(problem)
    notes = []
    if gaps:
        notes.append(
            "Rows of the data have gaps, hidden variables or ties: counts are those that EM expects, so that whether "
            "the knowledge foretells held-out rows better, and what the data by themselves say of a statement, is not "
            "told."
        )
    elif held_out is None:
        notes.append("There are too many numbers to take observations out one by one.")
    looks = tuple(next_looks(problem, posterior))
    summary = _summary(network, problem, knowledge, method, statements, held_out, looks)
    return Explanation(tuple(summary), statements, rows, held_out, looks, tuple(notes))


def _statements(
    network: Network,
    problem: Problem,
    knowledge: Knowledge,
    prices: Mapping[int, float],
    effects: Mapping[int, LeftOut],
    alone: Mapping[int, Plausibility],
    averaged: bool,
) -> tuple[StatementStory, ...]:
    amounts = amounts_of(problem.constraints, network)
    touched: dict[int, list[tuple[str, int]]] = {}
    for block in problem.blocks:
        owner = block.distribution_of[block.linear.indices]
        entries = np.column_stack((block.linear.statements[block.linear.entry_rows], owner))
        for number, d in np.unique(entries, axis=0).tolist():
            touched.setdefault(number, []).append(block.table_rows[d])
        for row in block.products:
            touched.setdefault(row.statement, []).extend(
                block.table_rows[d] for d in sorted({int(block.distribution_of[i]) for i in row.indices})
            )
    least = LEAST_PRICE * max(1.0, problem.counts.total)
    stories = []
    for number, statement in enumerate(knowledge.statements):
        amount, price = amounts.get(number, -np.inf), prices.get(number, 0.0)
        moved = effects[number].most if number in effects else 0.0
        if number not in touched and number not in amounts:
            effect = Effect.OUTSIDE
        elif amount > LEAST:
            effect = Effect.VIOLATED
        elif moved > 0 and (price > least or averaged):
            effect = Effect.BOUND
        else:
            effect = Effect.HELD if amount < -ROOM else Effect.NOTHING
        stories.append(
            StatementStory(
                number,
                line_of(statement),
                words(statement),
                effect,
                0.01 * price if effect is Effect.BOUND else 0.0,
                float(amount),
                moved,
                alone.get(number),
                tuple(touched.get(number, ())),
                getattr(statement, "confidence", None),
            )
        )
    return tuple(sorted(stories, key=lambda each: _importance(each, averaged)))


def _importance(story: StatementStory, averaged: bool) -> tuple[float, ...]:
    """What matters first: what the data contradict, what is missed, what shaped the result, and how much."""
    order = {Effect.VIOLATED: 1, Effect.BOUND: 2, Effect.HELD: 3, Effect.NOTHING: 4, Effect.OUTSIDE: 5}
    rank = 0 if story.contradicted else order[story.effect]
    weight = (-story.moved, -story.price) if averaged else (-story.price, -story.moved)
    return rank, -max(story.amount, 0.0), *weight, story.number


def _rows(
    network: Network,
    problem: Problem,
    possible: Allowed,
    posterior: Uncertainty | None,
    effects: Mapping[int, LeftOut],
) -> dict[str, tuple[RowStory, ...]]:
    moved, offsets = by_row(effects), problem.constraints.parameters.offsets
    stories = {}
    for name in problem.names:
        counts, start = problem.counts.table(name), offsets[name]
        own = slice(start, start + counts.size)
        low, high, mean = (each[own].reshape(counts.shape) for each in (possible.low, possible.high, possible.mean))
        learned = network.table(name).reshape(counts.shape)
        ends = None if posterior is None else [end.reshape(counts.shape) for end in posterior.interval(name)]
        stories[name] = tuple(
            RowStory(
                name,
                row,
                float(counts[row].sum()),
                counts[row] / counts[row].sum() if counts[row].sum() > 0 else None,
                low[row],
                high[row],
                mean[row],
                learned[row],
                None if ends is None else (ends[0][row], ends[1][row]),
                tuple(moved.get((name, row), ())),
            )
            for row in range(len(counts))
        )
    return stories


def _summary(
    network: Network,
    problem: Problem,
    knowledge: Knowledge,
    method: str,
    statements: Sequence[StatementStory],
    held_out: HeldOut | None,
    looks: Sequence[Look],
) -> list[str]:
    rows, said = problem.counts.rows, len(knowledge.statements)
    count = f"{said} statement{'' if said == 1 else 's'}" if said else "no statements"
    sentences = [f"{network.name}: {len(network)} variables were learned from {rows:,} rows and {count}, by {method}."]
    bound = [each for each in statements if each.effect is Effect.BOUND]
    if bound:
        dearest = bound[0]
        verb = "One statement" if len(bound) == 1 else f"{len(bound)} statements"
        sentences.append(f"{verb} shaped the result, most of all {_quoted(dearest)}.")
    elif said:
        sentences.append("No statement had to bend the result: the data agree with all that was said.")
    against = [each for each in statements if each.contradicted]
    if against:
        named = "; ".join(_quoted(each) for each in against[:MANY])
        more = f" and {len(against) - MANY} more" if len(against) > MANY else ""
        sentences.append(f"The data by themselves contradict {named}{more}.")
    elif said and held_out is not None:
        sentences.append("The data by themselves contradict none of the statements.")
    if held_out is not None and held_out.blocks:
        sentences.append(_helped(held_out, statements))
    if looks:
        best = looks[0]
        sentences.append(
            f"One more observation would tell most about {network.describe(best.variable, best.row)}, "
            f"seen {best.seen:,.0f} times so far."
        )
    return sentences


def _helped(held_out: HeldOut, statements: Sequence[StatementStory]) -> str:
    gain = held_out.gain
    each = abs(gain) / max(1.0, held_out.observations)
    if gain >= 0:
        return (
            f"The knowledge helped: rows that were held out are foretold better with it, by {each:.3g} nats each "
            f"({gain:.3g} in all)."
        )
    worst = min(held_out.blocks, key=lambda score: score.gain)
    shaped = [story for story in statements if story.number in worst.statements and story.effect is Effect.BOUND]
    blame = f", most of all through {_quoted(shaped[0])}" if shaped else ""
    return (
        f"The knowledge hurt: rows that were held out are foretold worse with it, by {each:.3g} nats each "
        f"({-gain:.3g} in all){blame}."
    )


def _quoted(story: StatementStory) -> str:
    place = f" (line {story.line})" if story.line else ""
    return f"“{story.text}”{place}"


def chance(value: float) -> str:
    """A probability for a reader."""
    if isnan(value):
        return "–"
    return "<0.001" if 0 < value < 0.001 else f"{value:.3f}"
