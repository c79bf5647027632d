"""What became of each statement, what matters first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from credo.constraints.blocks import Block
from credo.estimation.problem import Problem
from credo.explain.left_out import LeftOut
from credo.explain.parts import Effect, StatementStory
from credo.explain.plausibility import Plausibility
from credo.explain.violations import LEAST, amounts_of, line_of
from credo.knowledge import Knowledge, words_of
from credo.model.network import Network

LEAST_PRICE = 1e-6  # per data row; below it a price is rounding
ROOM = 1e-6  # a statement nearer to its bound than this has none
ORDER = {Effect.VIOLATED: 1, Effect.BOUND: 2, Effect.HELD: 3, Effect.NOTHING: 4, Effect.OUTSIDE: 5}


def tell_statements(
    network: Network,
    problem: Problem,
    knowledge: Knowledge,
    prices: Mapping[int, float],
    effects: Mapping[int, LeftOut],
    alone: Mapping[int, Plausibility],
    averaged: bool,  # a mean leans on no bound: what moved it shaped it, whatever its price
) -> tuple[StatementStory, ...]:
    """The story of every statement."""
    amounts, touched = amounts_of(problem.constraints, network), _touched(problem.blocks)
    least = -np.inf if averaged or not prices else LEAST_PRICE * max(1.0, problem.counts.total)
    stories = []
    for number, statement in enumerate(knowledge.statements):
        amount, price = amounts.get(number, -np.inf), prices.get(number, 0.0)
        moved = effects[number].most if number in effects else 0.0
        if number not in touched and number not in amounts:
            effect = Effect.OUTSIDE
        elif amount > LEAST:
            effect = Effect.VIOLATED
        elif moved > 0 and price > least:
            effect = Effect.BOUND
        else:
            effect = Effect.HELD if amount < -ROOM else Effect.NOTHING
        stories.append(
            StatementStory(
                number,
                line_of(statement),
                words_of(statement),
                effect,
                0.01 * price if effect in (Effect.BOUND, Effect.VIOLATED) else 0.0,
                float(amount),
                moved,
                alone.get(number),
                tuple(touched.get(number, ())),
                getattr(statement, "confidence", None),
            )
        )
    return tuple(sorted(stories, key=lambda each: _importance(each, averaged)))


def _touched(blocks: tuple[Block, ...]) -> dict[int, list[tuple[str, int]]]:
    """The rows of tables that each statement speaks of."""
    touched: dict[int, list[tuple[str, int]]] = {}
    for block in blocks:
        owner = block.distribution_of[block.linear.indices]
        entries = np.column_stack((block.linear.statements[block.linear.entry_constraints], owner))
        for number, d in np.unique(entries, axis=0).tolist():
            touched.setdefault(number, []).append(block.configurations[d])
        for row in block.products:
            touched.setdefault(row.statement, []).extend(
                block.configurations[d] for d in sorted({int(block.distribution_of[i]) for i in row.indices})
            )
    return touched


def _importance(story: StatementStory, averaged: bool) -> tuple[float, ...]:
    """What matters first: what the data contradict, what is missed, what shaped the result, and how much."""
    rank = 0 if story.contradicted else ORDER[story.effect]
    weight = (-story.moved, -story.price) if averaged else (-story.price, -story.moved)
    missed = -story.amount if story.effect is Effect.VIOLATED else 0.0
    return rank, missed, *weight, story.number
