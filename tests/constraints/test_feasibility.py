"""Blocks, feasibility, conflicts and consequences against linprog on random knowledge, and against hand-made cases."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Network
from credo.constraints.blocks import blocks_of
from credo.constraints.conflicts import false_statements, minimal_conflicts
from credo.constraints.consequences import constant_constraints, feasible_directions, impossible_statements, pinned
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import interior_of, satisfied
from credo.constraints.lower import lower
from credo.constraints.program import Program
from credo.constraints.redundancy import redundant_statements
from credo.knowledge.expressions import Linear, Probability
from credo.knowledge.statements import Comparison, Influence
from tests.helpers.amounts import seeds
from tests.helpers.linprog_oracle import feasible, follows, largest
from tests.helpers.lowering_oracle import HandMade

NET = Network(
    {"b": ["1", "2"], "c": ["1", "2"], "a": ["x", "y", "z"], "d": ["x", "y"]}, parents={"a": ["b", "c"], "d": ["b"]}
)


def p(variable: str, state: str, **given: str) -> Linear:
    """P(variable=state | given); every parent that is not given stands for each of its states."""
    each = tuple(parent for parent in NET.parents[variable] if parent not in given)
    return Linear(((1.0, Probability(variable, tuple(state.split()), tuple(given.items()), each)),))


def n(value: float) -> Linear:
    return Linear((), value)


def says(left: Linear, relation: str, right: Linear, **more: object) -> Comparison:
    return Comparison((left, right), (relation,), **more)  # type: ignore[arg-type]


def random_knowledge(rng: np.random.Generator, count: int) -> Constraints:
    def side() -> Linear:
        name = str(rng.choice(["a", "a", "a", "d", "b"]))
        given = tuple((q, str(rng.choice(NET.states(q)))) for q in NET.parents[name] if rng.random() < 0.7)
        states = NET.states(name)
        chosen = rng.choice(states, int(rng.integers(1, len(states))), replace=False)
        each = tuple(q for q in NET.parents[name] if q not in dict(given))
        return Linear(((1.0, Probability(name, tuple(str(s) for s in chosen), given, each)),))

    statements: list[object] = []
    for _ in range(count):
        kind = rng.random()
        margin = float(rng.choice([0.0, 0.0, 0.2, 0.4]))
        if kind < 0.1:
            statements.append(Influence(str(rng.choice(["b", "c"])), "a", "raises", margin))
        elif kind < 0.5:
            statements.append(says(side(), "<=", side(), margin=margin))
        elif kind < 0.6:
            statements.append(says(side(), "=", n(round(float(rng.random()), 1))))
        elif kind < 0.65:
            statements.append(says(side(), "=", side()))
        else:
            relation = str(rng.choice(["<=", ">="]))
            statements.append(says(side(), relation, n(round(float(rng.random()), 1))))
    return lower(HandMade(NET, tuple(statements)))


def statement_numbers(constraints: Constraints) -> list[int]:
    return sorted(set(constraints.linear.statements.tolist()))


@pytest.mark.parametrize("seed", seeds(4, 12))
def test_feasibility_and_conflicts_agree_with_linprog(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    infeasible = 0
    monkeypatch.setattr("credo.constraints.conflicts.MANY_STATEMENTS", 0 if seed % 2 else 8)
    for _ in range(30):
        constraints = random_knowledge(rng, int(rng.integers(3, 14)))
        everything = statement_numbers(constraints)
        expected = feasible(constraints, everything)
        found = list(false_statements(constraints))
        used = {member for conflict in found for member in conflict.statements}
        for block in blocks_of(constraints):
            inner = interior_of(block)
            new = minimal_conflicts(block, used)
            if not used & set(block.statements):
                assert (inner is None) == bool(new)
            if inner is not None:
                assert satisfied(block.linear, inner.point, 1e-8).all()
            found += new
            used |= {member for conflict in new for member in conflict.statements}
        assert expected == (not found)
        infeasible += not expected
        members = [member for conflict in found for member in conflict.statements]
        assert len(members) == len(set(members)), "conflicts are disjoint"
        assert feasible(constraints, set(everything) - set(members)), "the rest does not conflict"
        for conflict in found:
            assert not feasible(constraints, conflict.statements)
            assert all(feasible(constraints, set(conflict.statements) - {member}) for member in conflict.statements)
            assert conflict.relaxation > 0
            assert len(conflict.witnesses) == (
                0 if conflict in false_statements(constraints) else len(conflict.statements)
            ) or (len(conflict.statements) == 1)
    assert infeasible >= 3


@pytest.mark.parametrize("seed", seeds(3, 10))
def test_redundancy_and_pinned_numbers_agree_with_linprog(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    seen = 0
    for _ in range(12):
        constraints = random_knowledge(rng, int(rng.integers(2, 10)))
        everything = statement_numbers(constraints)
        if not feasible(constraints, everything):
            continue
        implied: dict[int, list[tuple[int, ...]]] = {}
        broken = set()
        values: dict[int, float] = {}
        for block in blocks_of(constraints):
            inner, program = interior_of(block), Program(block)
            assert inner is not None
            result = redundant_statements(block, inner, program)
            broken |= set(block.statements) - set(result.follows_from)
            for statement, sources in result.follows_from.items():
                implied.setdefault(statement, []).append(sources)
            directions = feasible_directions(block, inner)
            assert directions is not None
            for pin in pinned(block, inner, directions, program):
                values[pin.parameter] = pin.value
                unit = np.zeros(constraints.layout.size)
                unit[pin.parameter] = 1.0
                assert largest(constraints, pin.statements, unit) == pytest.approx(pin.value, abs=1e-7)
                assert largest(constraints, pin.statements, -unit) == pytest.approx(-pin.value, abs=1e-7)
        for statement in everything:
            others = set(everything) - {statement}
            assert follows(constraints, statement, others) == (statement not in broken), statement
            if statement not in broken:
                sources = {source for part in implied[statement] for source in part}
                assert follows(constraints, statement, sources)
        for parameter in set(constraints.linear.indices.tolist()):
            unit = np.zeros(constraints.layout.size)
            unit[parameter] = 1.0
            width = largest(constraints, everything, unit) + largest(constraints, everything, -unit)
            assert (width < 1e-7) == (parameter in values)
        seen += 1
    assert seen >= 2


def test_planted_conflict_among_true_statements_is_found_in_one_piece() -> None:
    chain = [says(p("a", "x", b="1", c="1"), "<=", p("a", "x", b="1", c="2")),
             says(p("a", "x", b="1", c="2"), "<=", p("a", "x", b="2", c="1"), margin=0.1),
             says(p("a", "x", b="2", c="1"), "<=", p("a", "x", b="1", c="1"))]  # fmt: skip
    bystanders = [says(p("a", "x", b="1", c="1"), ">=", n(0.2)), says(p("a", "y", b="2", c="1"), "<=", n(0.5)),
                  says(p("d", "x", b="1"), "<=", n(0.5))]  # fmt: skip
    alone = says(p("d", "x y", b="2"), "<=", n(0.6))
    constraints = lower(HandMade(NET, (*bystanders, *chain, alone)))
    found = [conflict for block in blocks_of(constraints) for conflict in minimal_conflicts(block)]
    assert sorted(conflict.statements for conflict in found) == [(3, 4, 5), (6,)]
    relaxations = {conflict.statements: conflict.relaxation for conflict in found}
    assert relaxations[(3, 4, 5)] == pytest.approx(0.1 / 3)
    assert relaxations[(6,)] == pytest.approx(0.4)


def test_blocks_hold_what_hangs_together_and_lead_back() -> None:
    statements = (
        says(p("a", "x", b="1"), "<=", p("a", "x", b="2")),  # a block for each c
        says(p("d", "x", b="2"), ">=", n(0.5)),
        says(p("b", "1"), "<=", p("d", "y", b="1"), confidence=0.7),
    )
    constraints = lower(HandMade(NET, statements))
    blocks = blocks_of(constraints)
    assert [block.configurations for block in blocks] == [
        (("b", 0), ("d", 0)),
        (("a", 0), ("a", 2)),
        (("a", 1), ("a", 3)),
        (("d", 1),),
    ]
    for block in blocks:
        for name, configuration in block.configurations:
            assert constraints.layout.index(name, configuration, 0) in block.parameters
        for local, number in zip(block.linear, block.constraint_numbers.tolist(), strict=True):
            original = constraints.linear[number]
            assert tuple(block.parameters[list(local.indices)].tolist()) == original.indices
            assert (local.coefficients, local.bound, local.confidence) == (
                original.coefficients,
                original.bound,
                original.confidence,
            )


def test_soft_statements_do_not_conflict_but_are_named_where_they_cannot_hold() -> None:
    statements = (
        says(p("b", "1"), ">=", n(0.7)),
        says(p("b", "2"), ">=", n(0.4), confidence=0.9),
        says(p("b", "2"), ">=", n(0.1), confidence=0.9),
    )
    (block,) = blocks_of(lower(HandMade(NET, statements)))
    assert minimal_conflicts(block) == ()
    inner = interior_of(block)
    assert inner is not None
    assert impossible_statements(block, inner, Program(block)) == {1: (0,)}


def test_pinned_by_inequalities_and_numbers_that_cannot_differ() -> None:
    statements = (
        says(p("a", "x", b="1", c="1"), ">=", n(0.3)),
        says(p("a", "x", b="1", c="1"), "<=", p("a", "x", b="1", c="2")),
        says(p("a", "x", b="1", c="2"), "<=", n(0.3)),
        says(p("a", "x", b="1", c="2"), "<=", p("a", "x", b="1", c="1")),
        says(p("b", "1 2"), "<=", n(1.0)),
    )
    constraints = lower(HandMade(NET, statements))
    first, second = blocks_of(constraints)
    inner = interior_of(second)
    assert inner is not None
    directions = feasible_directions(second, inner)
    assert directions is not None
    pins = pinned(second, inner, directions, Program(second))
    assert {(constraints.layout.describe(pin.parameter), pin.value, pin.statements) for pin in pins} == {
        ("P(a=x | b=1, c=1)", 0.3, (0, 1, 2)),
        ("P(a=x | b=1, c=2)", 0.3, (0, 1, 2)),
    }
    assert constant_constraints(first, None).tolist() == [True]
    followed = redundant_statements(second, inner, Program(second)).follows_from
    assert followed == {3: (0, 2)}
    assert constant_constraints(second, directions)[second.linear.statements == 3].all()


def test_deletion_filter_does_without_help_from_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Program, "irreducible_infeasible_constraints", lambda program: None)
    monkeypatch.setattr(Program, "refuting_constraints", lambda program: None)
    rng = np.random.default_rng(77)
    seen = 0
    for _ in range(30):
        constraints = random_knowledge(rng, 14)
        false = {conflict.statements[0] for conflict in false_statements(constraints)}
        for block in blocks_of(constraints):
            for conflict in minimal_conflicts(block, false):
                seen += 1
                assert not feasible(constraints, conflict.statements)
                assert all(feasible(constraints, set(conflict.statements) - {member}) for member in conflict.statements)
    assert seen >= 10


def test_a_wrong_answer_of_highs_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    statements = (says(p("b", "1"), ">=", n(0.7)), says(p("b", "2"), ">=", n(0.7)), says(p("b", "1"), "<=", n(0.9)))
    (block,) = blocks_of(lower(HandMade(NET, statements)))
    monkeypatch.setattr("credo.constraints.conflicts.MANY_STATEMENTS", 0)
    monkeypatch.setattr(Program, "irreducible_infeasible_constraints", lambda program: np.array([2]))
    monkeypatch.setattr(Program, "refuting_constraints", lambda program: np.array([0]))
    assert [conflict.statements for conflict in minimal_conflicts(block)] == [(0, 1)]


def test_a_contradiction_of_a_millionth_is_a_conflict_and_rounding_is_none() -> None:
    def found(bound: float) -> int:
        parts = [
            says(p("a", state, b="1", c="1"), "=", n(value)) for state, value in (("x", 0.1), ("y", 0.2), ("z", bound))
        ]
        constraints = lower(HandMade(NET, tuple(parts)))
        return sum(len(minimal_conflicts(block)) for block in blocks_of(constraints))

    assert found(0.7) == 0
    assert found(0.7 + 1e-6) == 1
