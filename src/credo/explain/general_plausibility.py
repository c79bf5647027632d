"""How plausible statements about any probability are by the data alone, where rows show no share to compare with.

`P(lung=yes | xray=yes) >= 2*P(lung=yes)` compares what several CPTs make up. By the data alone, without any statement,
their distributions are independent Dirichlet(1 + counts): CPTs are drawn from them, the statement is evaluated in each
draw by exact inference, and it is as probable as the share of draws in which it holds. Before the data they are
Dirichlet(1). A statement has draws of its own, which depend on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import sqrt
from zlib import crc32

import numpy as np

from credo.constraints.constraint_set import NO_CONSTRAINTS, Constraints, GeneralConstraint
from credo.errors import TooLargeError
from credo.explain.plausibility import EQUALITY_TOLERANCE, Plausibility, ProbabilityEstimate, bayes_factor
from credo.statistics.counts import Counts
from credo.statistics.general_statements import GeneralStatements
from credo.types import Flags, Numbers

PRIOR = 1.0
DRAWS = 4_000
FIRST_SHARE = 4  # of the draws a part by this, which is enough for what is more probable than not
LEAST_DRAWS = 200
LEAST_HELD, MOST_TIMES = 20, 8  # a rare statement is drawn until it held so often, or that many times the draws
MOST_CELLS = 20_000_000  # of cliques, in all draws for one statement: about half a second
CHUNK = 2**22  # numbers of CPTs held at a time
TOLERANCE = 1e-12


def general_plausibilities(
    constraints: Constraints, counts: Counts, numbers: Iterable[int], seed: int = 0
) -> dict[int, Plausibility]:
    """The plausibility of statements, by number, that became general constraints.

    Those about noisy families are left out, whose numbers have no counts, and those that take too long.
    """
    found = {}
    for number in sorted(numbers):
        own = tuple(each for each in constraints.general if each.statement == number)
        statements = _planned(constraints, counts, own)
        if statements is None:
            continue
        content = repr([(each.terms, each.indices, each.coefficients, each.bound, each.equality) for each in own])
        rng = np.random.default_rng([seed, crc32(content.encode())])
        draws = min(DRAWS, MOST_CELLS // max(1, _cells(statements)))
        if draws < LEAST_DRAWS:
            continue
        tolerance = EQUALITY_TOLERANCE if statements.equality.any() else None
        before = _probability(statements, _concentrations(statements, None), draws, rng)
        after = None
        if any(counts.of(name).any() for name in statements.families):
            after = _probability(statements, _concentrations(statements, counts), draws, rng)
        found[number] = Plausibility(before, after, *bayes_factor(before, after), tolerance)
    return found


def _planned(constraints: Constraints, counts: Counts, own: tuple[GeneralConstraint, ...]) -> GeneralStatements | None:
    """The constraints of one statement, planned for evaluation; None where the data cannot be compared with it."""
    alone = replace(constraints, linear=NO_CONSTRAINTS, products=(), general=own)
    network = counts.layout.network
    try:
        statements = GeneralStatements.of(alone, network)
    except TooLargeError:
        return None
    extra = () if constraints.expansion is None else constraints.expansion.extra
    known = set(constraints.layout.names).intersection(counts.layout.names).difference(extra)
    needed = {name for group in statements.groups for name in group.families}
    return statements if needed <= known else None


def _cells(statements: GeneralStatements) -> int:
    """The cells of all cliques in one draw."""
    return sum(group.plan.cells * len(group.numbers) for group in statements.groups)


def _concentrations(statements: GeneralStatements, counts: Counts | None) -> dict[str, Numbers]:
    """The Dirichlet distributions of the CPTs that matter, (configurations, states)."""
    layout = statements.layout
    prior = np.full(layout.size, PRIOR)
    return {
        name: layout.view(prior, name) + (0.0 if counts is None else counts.of(name)) for name in statements.families
    }


def _probability(
    statements: GeneralStatements, concentrations: dict[str, Numbers], draws: int, rng: np.random.Generator
) -> ProbabilityEstimate:
    """The share of draws in which all constraints hold.

    A quarter of the draws are enough if they hold in half of these; where they hold rarely there are more.
    """
    made = max(1, draws // FIRST_SHARE)
    held = int(_holds(statements, concentrations, made, rng).sum())
    if 2 * held < made:
        held, made = held + int(_holds(statements, concentrations, draws - made, rng).sum()), draws
    most = min(MOST_TIMES * draws, MOST_CELLS // max(1, _cells(statements)))
    while held < LEAST_HELD and made + draws <= most:
        held += int(_holds(statements, concentrations, draws, rng).sum())
        made += draws
    if not held:
        return ProbabilityEstimate(0.0, 0.0, upper_bound=1.0 / made)
    share = held / made
    return ProbabilityEstimate(share, sqrt(share * (1.0 - share) / made))


def _holds(
    statements: GeneralStatements, concentrations: dict[str, Numbers], draws: int, rng: np.random.Generator
) -> Flags:
    """In which draws all constraints hold; a condition that never occurs contradicts nothing."""
    layout = statements.layout
    sizes = np.diff(layout.distribution_starts(), append=layout.size)
    even = np.repeat(1.0 / sizes, sizes)  # of CPTs that do not matter
    limits = np.where(statements.equality, EQUALITY_TOLERANCE, TOLERANCE)
    found = []
    for first in range(0, draws, max(1, CHUNK // layout.size)):
        count = min(draws - first, max(1, CHUNK // layout.size))
        thetas = np.repeat(even[None], count, axis=0)
        for name, concentration in concentrations.items():
            gammas = rng.standard_gamma(concentration, (count, *concentration.shape))
            thetas[:, layout.slice_of(name)] = (gammas / gammas.sum(axis=2, keepdims=True)).reshape(count, -1)
        values = statements.values_from(statements.sums_of(thetas), thetas)
        excess = np.where(statements.equality, np.abs(values), values)
        found.append((np.isnan(excess) | (excess <= limits)).all(axis=1))
    return np.concatenate(found)
