"""Events that statements call impossible, as zeros in CPTs.

P(x, e) = 0 is a sum of products: each of them has a factor that is zero, and which one is a choice. Under P(x, e) ≤ ε
the objective Σ w log θ loses least, as ε falls, where these numbers have little weight. So zeros are sought among
numbers that the data do not contain, and only those are kept without which the event would be possible. Steps by
tangents would approach such zeros for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import (
    Constraints,
    LinearConstraint,
    LinearConstraints,
    NetworkConstraint,
    NetworkProbability,
    joined,
)
from credo.constraints.feasibility import interior_of
from credo.errors import listing
from credo.estimation.problem import Problem
from credo.findings import Finding
from credo.statistics.network_statements import NetworkStatements
from credo.types import Flags, Indices, Numbers

EXACT = 1e-15  # by which a bound may differ from zero or one
ZEROS = "zeros"
MOST_CHOICES = 30  # choices of states that stay possible, where zeros of others would leave a distribution none
# In which order zeros are left out that are not needed, of conditions, others and events: what comes
# first stays possible. Most often that should be the condition, and what the statement is not about.
ORDERS = ((0, 1, 2), (1, 2, 0), (2, 1, 0))


def with_certain_zeros(problem: Problem) -> tuple[Problem, tuple[Finding, ...]]:
    """The problem with zeros in CPTs in place of hard statements that call an event impossible, and what they are.

    Statements whose zeros other statements or fixed CPTs forbid stay as they are.
    """
    findings: list[Finding] = []
    stated = problem.model.constraints
    for place, constraint in enumerate(stated.network_constraints):
        events = impossible_events(constraint, problem)
        if not events:
            continue
        zeros = _zeros(problem, events)
        if zeros is None:
            continue
        own = np.column_stack((np.full_like(zeros, place), zeros))
        all_zeros = np.concatenate((problem.model.zeros, own))
        constraints = zeros_in_place(stated, all_zeros)
        blocks = blocks_of(constraints)
        touched = set(zeros.tolist())
        if any(interior_of(block) is None for block in blocks if touched.intersection(block.parameters.tolist())):
            continue
        problem = problem.with_model(constraints=constraints, blocks=blocks, zeros=all_zeros)
        findings.append(_finding(problem, constraint.statement, zeros))
    return problem, tuple(findings)


def zeros_in_place(stated: Constraints, zeros: Indices) -> Constraints:
    """The constraints with these zeros, (…, 2), in place of the statements about any probability that they satisfy.

    The first column has the place of such a statement among all of them, the second a parameter that is zero.
    """
    if not len(zeros):
        return stated
    own = LinearConstraints.of(
        LinearConstraint((index,), (1.0,), 0.0, constraint.statement, equality=constraint.equality)
        for constraint, index in ((stated.network_constraints[place], index) for place, index in zeros.tolist())
    )
    replaced = set(zeros[:, 0].tolist())
    left = tuple(each for place, each in enumerate(stated.network_constraints) if place not in replaced)
    return replace(stated, linear=joined((stated.linear, own)), network_constraints=left)


def impossible_events(constraint: NetworkConstraint, problem: Problem) -> tuple[NetworkProbability, ...]:
    """What a hard constraint calls impossible: P(…) ≤ 0, or the opposite of what has P(…) ≥ 1; nothing for others."""
    if constraint.confidence is not None or constraint.indices or len(constraint.terms) != 1:
        return ()
    coefficient, term = constraint.terms[0]
    bound = constraint.bound / coefficient
    is_upper = constraint.equality or coefficient > 0.0
    if is_upper and bound <= EXACT:
        return (term,)
    if (constraint.equality or coefficient < 0.0) and bound >= 1.0 - EXACT:
        return tuple(_opposites(term, problem))
    return ()


def _opposites(term: NetworkProbability, problem: Problem) -> Iterator[NetworkProbability]:
    for name, states in term.events:
        others = tuple(set(range(len(problem.model.network.states(name)))) - set(states))
        if others:
            yield NetworkProbability(((name, tuple(sorted(others))),), term.conditions)


def _zeros(problem: Problem, events: tuple[NetworkProbability, ...]) -> Indices | None:
    """Numbers that have to be zero; None where no zeros of learned CPTs make the events impossible, and no others."""
    support = _support(problem)
    impossible = _sums(problem, events)
    possible = _sums(problem, (*_possible_events(problem), *(NetworkProbability(each.conditions) for each in events)))

    def are_impossible(zeros: Flags) -> bool:
        return not bool((impossible.sums.values(np.where(zeros, 0.0, support)) > 0.0).any())

    def is_allowed(zeros: Flags) -> bool:
        """Whether what other statements, and the condition of this one, need is possible, and some state always."""
        if any(problem.layout.view(zeros, name).all(axis=1).any() for name in problem.model.names):
            return False
        return bool((possible.sums.values(np.where(zeros, 0.0, support)) > 0.0).all())

    data, own = problem.vector(with_prior=False), _own_states(problem, events)
    unseen, in_seen = _without_data(problem, data, set(impossible.families))
    named = {name for term in events for name, _ in term.events}
    given = {name for term in events for name, _ in term.conditions}
    for candidates in (unseen, *_some_possible(problem, unseen), in_seen | (own & unseen), in_seen | own):
        for of_given, of_others, of_named in ORDERS:
            found = candidates & ~_above_zero(problem)
            if not are_impossible(found):
                break
            ranks = {
                name: of_named if name in named else of_given if name in given else of_others
                for name in problem.model.names
            }
            for name in sorted(problem.model.names, key=ranks.__getitem__):
                part = problem.layout.slice_of(name)
                _drop(found, range(part.start, part.stop), len(problem.model.network.states(name)), are_impossible)
            found &= support > 0.0
            if is_allowed(found):
                return np.flatnonzero(found)
    return None


def _some_possible(problem: Problem, candidates: Flags) -> Iterator[Flags]:
    """The candidates without one state of each distribution, chosen at random: no distribution is zero everywhere."""
    rng = np.random.default_rng([problem.settings.seed, len(candidates)])
    starts = problem.layout.distribution_starts()
    sizes = np.diff(starts, append=len(candidates))
    for _ in range(MOST_CHOICES):
        found = candidates.copy()
        found[starts + np.floor(rng.random(len(starts)) * sizes).astype(np.int64)] = False
        yield found


def _sums(problem: Problem, events: tuple[NetworkProbability, ...]) -> NetworkStatements:
    """The probabilities of events together with their conditions."""
    together = [
        NetworkProbability((*each.events, *each.conditions)) for each in events if each.events or each.conditions
    ]
    asked = tuple(NetworkConstraint(((1.0, each),), (), (), 0.0, 0) for each in together)
    return NetworkStatements.of(
        replace(problem.model.constraints, network_constraints=asked),
        problem.model.network,
        problem.settings.memory_limit,
    )


def _possible_events(problem: Problem) -> Iterator[NetworkProbability]:
    """What other hard statements say has a probability above zero."""
    for each in problem.model.constraints.network_constraints:
        if each.confidence is None and len(each.terms) == 1 and not each.indices:
            coefficient, term = each.terms[0]
            if each.bound / coefficient > EXACT and (each.equality or coefficient < 0.0):
                yield term


def _drop(zeros: Flags, places: range, size: int, are_impossible: Callable[[Flags], bool]) -> None:
    """Leave out zeros that are not needed: all of these at once, else each distribution, else each number."""
    kept = zeros[places.start : places.stop].copy()
    if not kept.any():
        return
    zeros[places.start : places.stop] = False
    if are_impossible(zeros):
        return
    zeros[places.start : places.stop] = kept
    smaller = size if len(places) > size else 1
    if len(places) > 1:
        for start in range(places.start, places.stop, smaller):
            _drop(zeros, range(start, start + smaller), size, are_impossible)


def _support(problem: Problem) -> Numbers:
    """One where a number can be above zero, as far as fixed CPTs and statements about single numbers say."""
    support = np.ones(problem.layout.size)
    for name in set(problem.layout.names).difference(problem.model.names):
        support[problem.layout.slice_of(name)] = problem.model.network.cpt_array(name).ravel() > 0.0
    indices, bounds, is_upper = _single_bounds(problem)
    support[indices[is_upper & (bounds <= EXACT)]] = 0.0
    return support


def _above_zero(problem: Problem) -> Flags:
    """The numbers that a statement about them alone keeps above zero."""
    found = np.zeros(problem.layout.size, dtype=np.bool_)
    indices, bounds, is_upper = _single_bounds(problem)
    found[indices[~is_upper & (bounds > EXACT)]] = True
    return found


def _single_bounds(problem: Problem) -> tuple[Indices, Numbers, Flags]:
    """Hard inequalities about single numbers: the number, its bound, and whether it is an upper one."""
    linear = problem.model.constraints.linear
    single = (np.diff(linear.starts) == 1) & linear.hard
    firsts = linear.starts[:-1][single]
    return (
        linear.indices[firsts],
        linear.bounds[single] / linear.coefficients[firsts],
        linear.coefficients[firsts] > 0.0,
    )


def _own_states(problem: Problem, events: tuple[NetworkProbability, ...]) -> Flags:
    """The numbers of the states that events name, of learned CPTs."""
    found = np.zeros(problem.layout.size, dtype=np.bool_)
    for name, states in (each for term in events for each in term.events):
        if name in problem.model.names and len(states) < len(problem.model.network.states(name)):
            problem.layout.view(found, name)[:, list(states)] = True
    return found


def _without_data(problem: Problem, data: Numbers, families: set[str]) -> tuple[Flags, Flags]:
    """The numbers of learned CPTs without data: all of them, and those in distributions that have some."""
    found, in_seen = np.zeros((2, problem.layout.size), dtype=np.bool_)
    for name in families.intersection(problem.model.names):
        counts = problem.layout.view(data, name)
        problem.layout.view(found, name)[:] = counts == 0.0
        problem.layout.view(in_seen, name)[:] = (counts == 0.0) & (counts.sum(axis=1, keepdims=True) > 0.0)
    return found, in_seen


def _finding(problem: Problem, statement: int, zeros: Indices) -> Finding:
    names = list(dict.fromkeys(problem.layout.locate(index)[0] for index in zeros.tolist()))
    numbers = "one number is" if len(zeros) == 1 else f"{len(zeros)} numbers are"
    message = (
        f"Statement {statement + 1} calls something impossible. For that, {numbers} zero in the CPTs of "
        f"{listing(names)}. "
        "Zeros elsewhere could satisfy it too: say which are meant by statements about CPTs."
    )
    if len(names) == 1:
        message = message.replace("the CPTs of", "the CPT of")
    return Finding(ZEROS, message)
