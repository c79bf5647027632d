"""The story of a fit: each statement, each row of a table, whether the knowledge helped, and where to look next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from credo.estimation.methods import METHODS
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT as DEFAULT
from credo.estimation.soft_weight import choose_soft_weight
from credo.estimation.solution import Uncertainty
from credo.explain.allowed_ranges import allowed
from credo.explain.configurations import MOST_ROWS, tell_rows
from credo.explain.held_out import HeldOut, cross_validated, leave_one_out, most_harmful
from credo.explain.left_out import LeftOut, leave_out
from credo.explain.next_observation import next_looks
from credo.explain.parts import Explanation
from credo.explain.plausibility import plausibilities
from credo.explain.rejection import moves_of_means
from credo.explain.statements import tell_statements
from credo.explain.summary import summary
from credo.knowledge import Knowledge
from credo.model.network import Network

EXACT = ("cml", "cmap", "posterior")  # methods whose own estimate leaving out a statement is told for


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
    used = METHODS[method].uses_knowledge
    weight = DEFAULT if gaps else choose_soft_weight(problem, problem.vector())[0]
    problem = problem if problem.soft_weight is not None else replace(problem, soft_weight=weight)
    effects = _effects(problem, posterior) if used else {}
    alone = plausibilities(problem.constraints, problem.counts.configuration, blocks=problem.blocks, seed=problem.seed)
    if gaps:
        alone = {number: each.without_data() for number, each in alone.items()}
    statements = tell_statements(network, problem, knowledge, prices, effects, alone, averaged=posterior is not None)
    possible = allowed(problem)
    rows = tell_rows(network, problem, possible, posterior, effects)
    with _pinned():
        one_by_one = None if gaps else leave_one_out(problem)
        in_tenths = None if gaps else cross_validated(problem)
    best = one_by_one or in_tenths
    looks = tuple(next_looks(problem, posterior, possible))
    harmful = _harmful(problem, best)
    told = summary(network, problem, len(knowledge.network), method, used, statements, best, harmful, looks)
    notes = _notes(problem, method, gaps, one_by_one is None)
    return Explanation(told, statements, rows, one_by_one, in_tenths, looks, notes)


def _effects(problem: Problem, posterior: Uncertainty | None) -> dict[int, LeftOut]:
    with _pinned():
        effects = leave_out(problem)
    if posterior is not None:
        effects |= {
            number: replace(effects[number], rows=tuple(rows)) for number, rows in moves_of_means(problem).items()
        }
    return effects


def _pinned() -> np.errstate:
    """Where statements pin a number at zero that a prior gives weight to, the likelihood has no bound: no alarm."""
    return np.errstate(divide="ignore", over="ignore", invalid="ignore")


def _harmful(problem: Problem, scores: HeldOut | None) -> int | None:
    """Where the knowledge hurt in all, the statement that did it most in the block that lost most."""
    if scores is None or not scores.blocks or scores.gain >= 0:
        return None
    with _pinned():
        found = most_harmful(problem, min(scores.blocks, key=lambda score: score.gain))
    return None if found is None else found[0]


def _notes(problem: Problem, method: str, gaps: bool, too_many: bool) -> tuple[str, ...]:
    """What is not told here, and why."""
    notes = []
    said = bool(problem.blocks)
    if said and not METHODS[method].uses_knowledge:
        notes.append(f"The method {method} makes no use of the knowledge: the statements are only held against it.")
    elif said and method not in EXACT:
        notes.append(
            f"How far a statement moved a number is told for the most probable tables under the knowledge: {method} "
            "takes them further, and has no such answer of its own."
        )
    if gaps:
        notes.append(
            "Rows of the data have gaps, hidden variables or ties: counts are those that EM expects at its end, and "
            "what a statement moved is told for them. Whether the knowledge foretells held-out rows better, and what "
            "the data by themselves say of a statement, is not available."
        )
    elif too_many:
        notes.append("There are too many numbers to take observations out one by one: a tenth at a time was.")
    if any(block.products for block in problem.blocks) and not gaps:
        notes.append("Statements that compare products take no part in how well held-out rows are foretold.")
    large = [name for name in problem.names if problem.network.configurations(name) > MOST_ROWS]
    if large:
        notes.append(f"Of tables with more than {MOST_ROWS:,} rows, those that tell most are told: {', '.join(large)}.")
    return tuple(notes)
