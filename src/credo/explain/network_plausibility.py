"""How plausible statements about any probability are by the data alone, where rows show no share to compare with.

`P(lung=yes | xray=yes) >= 2*P(lung=yes)` compares probabilities that depend on several CPTs. By the data alone,
without any statement, the distributions in CPTs are independent Dirichlet(1 + counts): CPTs are drawn from them, the
statement is evaluated in each draw by exact inference, and it is as probable as the share of draws in which it holds.
Before the data they are Dirichlet(1). A statement has draws of its own, which depend on nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import sqrt
from zlib import crc32

import numpy as np

from credo.constraints.boundaries import network_constraint_without_room
from credo.constraints.constraint_set import Constraints, NetworkConstraint, NetworkProbability
from credo.errors import TooLargeError
from credo.explain.plausibility import Plausibility, ProbabilityEstimate, Verdict, bayes_factor
from credo.knowledge.query import Query
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.statistics.network_statements import size_of
from credo.statistics.questions import answer, factors_of
from credo.tolerances import DECIMAL_ROUNDING, EQUALITY_WIDTH
from credo.types import Flags, Numbers

PRIOR = 1.0
DRAWS = 2_000
FIRST_SHARE = 4  # of the draws a part by this, which is enough for what is more probable than not
LEAST_DRAWS = 200
LEAST_HELD, MOST_TIMES = 20, 4  # a rare statement is drawn until it held so often, or that many times the draws
MOST_CELLS = 5_000_000  # of cliques and CPTs, in all draws before the data, or after them: about a tenth of a second


def network_plausibilities(
    constraints: Constraints, counts: Counts, numbers: Iterable[int], seed: int = 0
) -> dict[int, Plausibility]:
    """The plausibility of statements, by number, that became network constraints.

    Those about noisy families are left out, whose numbers have no counts, and those that take too long.
    """
    found = {}
    for number in sorted(numbers):
        asked = _asked(constraints, counts, number)
        if asked is None or asked.most_draws < LEAST_DRAWS:
            continue
        content = repr([(own.terms, own.indices, own.coefficients, own.bound, own.equality) for own in asked.own])
        rng = np.random.default_rng([seed, crc32(content.encode())])
        width = _width(asked.own)
        read = _compared(asked, counts, rng, width)
        if width is not None and width < EQUALITY_WIDTH and (read.after_data is None or not read.after_data.value):
            wide = _compared(asked, counts, rng, EQUALITY_WIDTH)  # draws tell nothing so small; if more is wrong, it is
            read = wide if wide.verdict is Verdict.CONTRADICTED else read
        found[number] = read
    return found


def _width(own: tuple[NetworkConstraint, ...]) -> float | None:
    """Within how much the equalities of a statement are read: 0.002, or a number that is smaller; None without any."""
    widths = [min(EQUALITY_WIDTH, size_of(each)) for each in own if each.equality]
    return min(widths, default=None)


def _compared(asked: _Asked, counts: Counts, rng: np.random.Generator, width: float | None) -> Plausibility:
    before = _probability(asked, None, rng, width)
    after = None
    if any(counts.of(name).any() for name in asked.families):
        after = _probability(asked, counts, rng, width)
    return Plausibility(before, after, *bayes_factor(before, after), width)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The constraints of one statement, the questions of their terms, and the CPTs that matter to these."""

    own: tuple[NetworkConstraint, ...]
    network: Network
    queries: Mapping[NetworkProbability, Query]
    families: tuple[str, ...]
    places: Mapping[int, tuple[str, int]]  # of single parameters: the CPT, and where it is in it
    cells: int  # of cliques and CPTs, in one draw

    @property
    def most_draws(self) -> int:
        return min(MOST_TIMES * DRAWS, MOST_CELLS // max(1, self.cells))


def _asked(constraints: Constraints, counts: Counts, number: int) -> _Asked | None:
    """What one statement asks; None where the data cannot be compared with it."""
    network, layout = counts.layout.network, constraints.layout
    own = tuple(
        replace(each, equality=each.equality or network_constraint_without_room(each))
        for each in constraints.network_constraints
        if each.statement == number
    )
    queries = {term: term.question(network) for each in own for _, term in each.terms}
    places = {}
    for index in {index for each in own for index in each.indices}:
        name = layout.locate(index)[0]
        places[index] = (name, index - layout.slice_of(name).start)
    try:
        factors = [factors_of(network, each.targets, each.evidence, {}) for each in queries.values()]
    except TooLargeError:
        return None
    needed = {name for each in factors for name in each.families} | {name for name, _ in places.values()}
    extra = () if constraints.expansion is None else constraints.expansion.extra
    if not needed <= set(layout.names).intersection(counts.layout.names).difference(extra):
        return None
    families = tuple(name for name in network.names if name in needed)
    cells = sum(each.plan.cells for each in factors) + sum(counts.of(name).size for name in families)
    return _Asked(own, network, queries, families, places, cells)


def _probability(
    asked: _Asked, counts: Counts | None, rng: np.random.Generator, width: float | None
) -> ProbabilityEstimate:
    """The share of draws in which all constraints hold.

    A quarter of the draws are enough if they hold in half of these; where they hold rarely there are more.
    """
    draws = min(DRAWS, asked.most_draws)
    made = max(1, draws // FIRST_SHARE)
    held = int(_holds(asked, counts, made, rng, width).sum())
    if 2 * held < made:
        held, made = held + int(_holds(asked, counts, draws - made, rng, width).sum()), draws
    while held < LEAST_HELD and made + draws <= asked.most_draws:
        held += int(_holds(asked, counts, draws, rng, width).sum())
        made += draws
    if not held:
        return ProbabilityEstimate(0.0, 0.0, upper_bound=1.0 / made)
    share = held / made
    return ProbabilityEstimate(share, sqrt(share * (1.0 - share) / made))


def _holds(asked: _Asked, counts: Counts | None, draws: int, rng: np.random.Generator, width: float | None) -> Flags:
    """In which draws all constraints hold; a condition that never occurs contradicts nothing."""
    cpts = {name: _drawn(asked.network, name, counts, draws, rng) for name in asked.families}
    values = {term: answer(asked.network, cpts, query)[0].reshape(draws) for term, query in asked.queries.items()}
    found = np.ones(draws, dtype=np.bool_)
    for each in asked.own:
        value = np.full(draws, -each.bound)
        for coefficient, term in each.terms:
            value += coefficient * values[term]
        for index, coefficient in zip(each.indices, each.coefficients, strict=True):
            name, place = asked.places[index]
            value += coefficient * cpts[name].reshape(draws, -1)[:, place]
        excess = np.abs(value) - (width or 0.0) if each.equality else value - DECIMAL_ROUNDING
        found &= np.isnan(excess) | (excess <= 0.0)
    return found


def _drawn(network: Network, name: str, counts: Counts | None, draws: int, rng: np.random.Generator) -> Numbers:
    """Draws of a CPT by the data alone, or before any: (draws, parents…, child), of which draws run fastest."""
    shape = network.shape(name)
    if counts is None:
        gammas = rng.standard_exponential((int(np.prod(shape[:-1])), shape[-1], draws))
    else:
        gammas = rng.standard_gamma((PRIOR + counts.of(name))[..., None], (*counts.of(name).shape, draws))
    gammas /= gammas.sum(axis=1, keepdims=True)
    return np.moveaxis(gammas.reshape(*shape, draws), -1, 0)
