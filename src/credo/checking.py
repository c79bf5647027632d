"""The check: can all that was said hold together, what follows from it, and what do the data say of each statement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Any

import numpy as np

from credo.check_results import (
    CannotDiffer,
    CannotHold,
    Check,
    Conflict,
    Follows,
    ForcedEquality,
    OrderUsed,
    PinnedNumber,
    Said,
    StatementCheck,
    WithoutOne,
    starting,
)
from credo.constraints.block_findings import Finding, Findings
from credo.constraints.blocks import Block, blocks_of
from credo.constraints.conflicts import Clash, ConflictError, false_statements
from credo.constraints.consequences import ForcedEqual, Pinned
from credo.constraints.constraint_set import Constraints
from credo.constraints.context import words
from credo.constraints.equations import equation
from credo.constraints.kinds import kind_of
from credo.constraints.lower import lower
from credo.constraints.noisy_families import formed
from credo.explain.plausibility import plausibilities
from credo.explain.usable import partly_used
from credo.io.dataset import extended
from credo.io.network_files import read_network
from credo.knowledge import Knowledge, knowledge_for
from credo.knowledge.syntax import Influence, NoisyFamily, Statement, Synergy
from credo.model.expansion import expand
from credo.options import resolve_seed
from credo.statistics.counts import Counts, count, empty, layout_for_counts, merge
from credo.statistics.tied_columns import read_for

Progress = Callable[[float], None]

_PROGRESS_EVERY = 256  # blocks between two words on how far the check is
_TINY = "chance is too small for a number: what the data say of it was not worked out."
_EXAMPLE_NUMBERS = 12  # numbers shown to prove that a conflict is as small as can be


def check(network: Any, knowledge: Any, data: Any = None, *, seed: int = 0, progress: Progress | None = None) -> Check:
    """Whether the knowledge can hold, and what it amounts to.

    `network` is a `Network` or whatever `read_network` takes; `knowledge` a `Knowledge`, or text or statements to make
    one of. With `data`, a path or a frame, each statement is held against the data alone.
    """
    started = perf_counter()
    network = read_network(network)
    knowledge = knowledge_for(network, knowledge)
    seed = resolve_seed(seed)
    constraints = lower(knowledge)
    blocks = blocks_of(constraints)
    said = _all_said(knowledge.statements)
    story = _Story()
    for clash in false_statements(constraints):
        story.add_clash(clash)
    findings = Findings()
    for done, block in enumerate(blocks):
        if progress is not None and done % _PROGRESS_EVERY == 0:
            progress(done / len(blocks))
        _add_block(story, block, findings.of(block, story.clashing))
    counts, hidden = (None, ()) if data is None else _counts_of(knowledge, data)
    plausible = plausibilities(constraints, None if counts is None else counts.configuration, blocks=blocks, seed=seed)
    named = {name for block in blocks for name, _ in block.configurations}
    partly = () if counts is None else partly_used(counts, hidden, named)
    tiny = {number for number, each in plausible.items() if each.is_too_small}
    unseen = _without_data(blocks, {each.variable for each in partly if not each.rows_used})
    plausible |= {number: plausible[number].without_data() for number in (tiny | unseen) & set(plausible)}
    if progress is not None:
        progress(1.0)
    rows = _row_counts(constraints, len(said))
    aside = {each.statement: each.reason for each in constraints.unlowered}
    statements = []
    for each, statement in zip(said, knowledge.statements, strict=True):
        kind = kind_of(statement, knowledge.network)
        statements.append(
            StatementCheck(
                each,
                kind.name,
                kind.guo_type,
                rows[each.number],
                getattr(statement, "confidence", None),
                plausible.get(each.number),
                aside.get(each.number, ""),
            )
        )
    fixed = _cannot_differ(story, constraints, knowledge.statements, rows)
    fixed_numbers = {number for number, _ in fixed}

    def all_said(numbers: Iterable[int]) -> tuple[Said, ...]:
        return tuple(said[number] for number in sorted(set(numbers)))

    return Check(
        feasible=not story.clashes,
        conflicts=tuple(_conflict(clash, all_said, constraints) for clash in story.clashes),
        redundant=tuple(
            Follows(said[number], all_said(sources))
            for number, sources in sorted(story.followers(constraints).items())
            if number not in fixed_numbers
        ),
        pinned=tuple(
            PinnedNumber(constraints.layout.describe(pin.parameter), pin.value, all_said(pin.statements))
            for pin in sorted(story.pins, key=lambda pin: pin.parameter)
        ),
        cannot_differ=tuple(CannotDiffer(said[number], reason) for number, reason in fixed),
        forced_equal=tuple(
            ForcedEquality(equation(each, constraints.layout, knowledge.orders), all_said(each.statements))
            for each in story.forced
        ),
        cannot_hold=tuple(
            CannotHold(said[number], all_said(because)) for number, because in sorted(story.impossible.items())
        ),
        statements=tuple(statements),
        orders=_orders_used(knowledge),
        notes=tuple(f"{_place(said[number])} {sentence}" for number, sentence in story.notes),
        not_checked=(
            *_not_checked(story, constraints, said),
            *(f"{_place(said[number])} became so many rows that its {_TINY}" for number in sorted(tiny)),
            *(each.sentence() for each in partly),
        ),
        hidden=hidden,
        partly_used=partly,
        rows=len(constraints.linear) + len(constraints.products),
        blocks=len(blocks),
        with_data=data is not None,
        seconds=perf_counter() - started,
    )


def _counts_of(knowledge: Knowledge, data: Any) -> tuple[Counts, tuple[str, ...]]:
    """The counts of the rows of tables, where rows with a gap count for the families that have none; and the hidden."""
    whole = expand(formed(knowledge))
    families = layout_for_counts(whole.network)
    counts, hidden = empty(families), tuple[str, ...]()
    for part in read_for(knowledge, data):
        counts, hidden = merge(counts, count(families, extended(part, whole.network))), part.hidden
    return counts, (*hidden, *whole.extra)


def _without_data(blocks: Iterable[Block], unseen: Collection[str]) -> set[int]:
    """Statements that speak only of families which no row of the data shows."""
    if not unseen:
        return set()
    seen: set[int] = set()
    others: set[int] = set()
    for block in blocks:
        shown = any(name not in unseen for name, _ in block.configurations)
        (seen if shown else others).update(block.statements)
    return others - seen


def require_consistent(found: Check) -> None:
    """Raise a ConflictError, with the conflicts in the user's words, where the knowledge contradicts itself."""
    if found.feasible:
        return
    lines = ["The knowledge contradicts itself."]
    for conflict in found.conflicts:
        lines.append("These statements cannot hold together:" if len(conflict.statements) > 1 else "This cannot hold:")
        lines += [f"  {each}" for each in conflict.statements]
    raise ConflictError("\n".join(lines), found.conflicts)


@dataclass(slots=True)
class _Story:
    """What the blocks tell, one after the other."""

    clashes: list[Clash] = field(default_factory=list)
    clashing: set[int] = field(default_factory=set)
    follows: dict[int, set[tuple[int, ...]]] = field(default_factory=dict)
    needed: set[int] = field(default_factory=set)  # statements with a row that does not follow, or was not decided
    undecided: set[int] = field(default_factory=set)
    unexplored: set[int] = field(default_factory=set)  # statements of blocks too large or too narrow to look into
    varying: set[int] = field(default_factory=set)  # statements with a row whose value is not settled without it
    pins: list[Pinned] = field(default_factory=list)
    impossible: dict[int, set[int]] = field(default_factory=dict)
    forced: list[ForcedEqual] = field(default_factory=list)
    notes: dict[tuple[int, str], None] = field(default_factory=dict)
    open_products: set[int] = field(default_factory=set)

    def add_clash(self, clash: Clash) -> None:
        self.clashes.append(clash)
        self.clashing |= set(clash.statements)

    def followers(self, constraints: Constraints) -> dict[int, set[int]]:
        """Statements whose rows follow in every block, with all they follow from."""
        with_products = {row.statement for row in constraints.products}
        closed = self.needed | self.clashing | with_products
        return {number: set().union(*parts) for number, parts in self.follows.items() if number not in closed}


def _add_block(story: _Story, block: Block, found: Finding) -> None:
    members = set(block.statements)
    for clash in found.clashes:
        story.add_clash(clash)
    if not found.feasible:
        if not story.clashing & members:
            story.unexplored |= members
        story.needed |= members  # nothing is said of what follows where nothing can hold
        story.varying |= members
        return
    for number, sources in found.follows_from.items():
        story.follows.setdefault(number, set()).add(sources)
    story.needed |= members - set(found.follows_from)
    story.undecided |= set(found.undecided)
    if not found.explored:
        story.unexplored |= members
    story.varying |= set(found.varying)
    story.pins += found.pins
    story.forced += found.forced
    for number, because in found.impossible.items():
        story.impossible.setdefault(number, set()).update(because)
    if found.products_hold:
        sentence = "compares products, which is not convex: tables were found where it holds with all the others."
        story.notes.update(dict.fromkeys((number, sentence) for number in found.product_statements))
    elif not found.clashes:
        story.open_products |= set(found.product_statements)


def _all_said(statements: Sequence[Statement]) -> tuple[Said, ...]:
    spans = [statement.span for statement in statements]
    several = len({span.source for span in spans if span is not None and span.line}) > 1
    found = []
    for number, (statement, span) in enumerate(zip(statements, spans, strict=True)):
        line, source = (0, "") if span is None else (span.line, span.source)
        place = f"{source}:{line}" if several and source else f"line {line}"
        found.append(Said(number, line, words(statement), source, place if line else ""))
    return tuple(found)


def _conflict(
    clash: Clash, all_said: Callable[[Iterable[int]], tuple[Said, ...]], constraints: Constraints
) -> Conflict:
    linear = constraints.linear
    named = np.unique(linear.take(np.isin(linear.statements, clash.statements)).indices)
    proofs = []
    for witness in clash.witnesses:
        shown = np.flatnonzero(np.isin(witness.parameters, named))[:_EXAMPLE_NUMBERS]
        numbers = tuple(
            (
                constraints.layout.describe(int(witness.parameters[place])),
                round(float(witness.point[place]), 9) + 0.0,
            )
            for place in shown
        )
        proofs.append(WithoutOne(all_said([witness.left_out])[0], numbers))
    said = all_said(clash.statements)
    gap = clash.gap if isfinite(clash.gap) else None
    return Conflict(said, gap, tuple(proofs), tuple(_speaks_of(each.number, constraints) for each in said))


def _speaks_of(statement: int, constraints: Constraints) -> tuple[str, ...]:
    """The rows of tables that a statement speaks of, in words."""
    parameters, linear = constraints.layout, constraints.linear
    own = set(linear.take(linear.statements == statement).indices.tolist())
    own |= {index for row in constraints.products if row.statement == statement for index in row.indices}
    places = dict.fromkeys(parameters.locate(index)[:2] for index in sorted(own))
    return tuple(parameters.network.describe(*place) for place in places)


def _row_counts(constraints: Constraints, count: int) -> list[int]:
    rows = np.bincount(constraints.linear.statements, minlength=count)
    rows += np.bincount([row.statement for row in constraints.products], minlength=count)
    return [int(each) for each in rows]


def _cannot_differ(
    story: _Story, constraints: Constraints, statements: Iterable[Statement], rows: list[int]
) -> list[tuple[int, str]]:
    aside = {each.statement for each in constraints.unlowered}
    found = []
    for number, statement in enumerate(statements):
        if number in aside or number in story.clashing:
            continue
        if not rows[number] and isinstance(statement, Influence | Synergy):
            found.append((number, "one of its variables has a single state, so there is nothing to compare"))
        elif not rows[number] and constraints.always_true.get(number):
            found.append((number, "it compares numbers with themselves, and always holds"))
        elif rows[number] and number not in story.varying:
            only_simplex = not any(story.follows.get(number, []))
            reason = (
                "probabilities sum to one, and so it" if only_simplex else "other statements settle its numbers: it"
            )
            found.append((number, f"{reason} always holds"))
    return found


def _orders_used(knowledge: Knowledge) -> tuple[OrderUsed, ...]:
    used: dict[str, None] = {}
    for statement in knowledge.statements:
        if isinstance(statement, Influence):
            used.update(dict.fromkeys((statement.parent, statement.child)))
        elif isinstance(statement, Synergy):
            used.update(dict.fromkeys((*statement.parents, statement.child)))
        elif isinstance(statement, NoisyFamily):
            used.update(dict.fromkeys((*(name for each in statement.sets for name in each), statement.child)))
    orders = (knowledge.orders[str(name)] for name in used)
    return tuple(OrderUsed(str(order.variable), tuple(map(str, order.states)), order.reason) for order in orders)


def _not_checked(story: _Story, constraints: Constraints, said: tuple[Said, ...]) -> tuple[str, ...]:
    sentences = []
    for number in sorted(story.open_products):
        sentences.append(
            f"{_place(said[number])} compares products, which is not convex. Its factors' ranges leave room for it, "
            "but no tables were found where it holds with all the others: whether it can was not settled."
        )
    for number in sorted({row.statement for row in constraints.products}):
        sentences.append(f"{_place(said[number])} compares products: whether it follows from others was not checked.")
    for each in constraints.unlowered:
        sentences.append(f"{_place(said[each.statement])} was not checked against the others, since {each.reason}.")
    for form in constraints.forms:
        sentences.append(
            f"{_place(said[form.statement])} makes {form.child} a {form.kind}: what is said of {form.child} was "
            "checked on the small tables of its causes, with which the data cannot be compared directly."
        )
    for tie in constraints.ties:
        sentences.append(f"{_place(said[tie.statement])} ties rows of the data: it says nothing about tables to check.")
    for number in sorted(story.undecided - story.clashing):
        sentences.append(f"{_place(said[number])} became so many rows that whether it follows was not checked.")
    for number in sorted(story.unexplored):
        sentences.append(f"{_place(said[number])} can hold, but which numbers it pins with others was not worked out.")
    return tuple(sentences)


def _place(said: Said) -> str:
    return starting(said.place) if said.place else f"“{said.text}”"
