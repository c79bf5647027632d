"""Missing values drawn given CPTs: completed counts, exactly distributed, of all incomplete rows at once.

n rows that share an evaluation are one multinomial split of n over the joint states s of its hidden variables, with
chances P(e, s) / Z(e) (see `plain.py`). Small problems enumerate these states, for many sets of CPTs at once; larger
ones run the programs of EM forward for the sums and split n backward, bucket by bucket (`kernels/draw_missing.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.errors import SamplingError
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups
from credo.statistics.inference.elimination import Plans, make_plans
from credo.statistics.inference.expected_counts import Prepared, impossible_evaluation
from credo.statistics.inference.plain import TINY, Terms
from credo.types import Codes, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WHOLE = 1e-9  # how far a sum of whole weights may be from a whole number


def fractional_rows(prepared: Prepared) -> tuple[int, float] | None:
    """The first of incomplete rows that share an evaluation and whose weights add up to no whole number, and their sum.

    Rows are counted from 1; None where there are no such. Their likelihood is Z^w: for a whole w it is that of w rows,
    whatever the weight of each; a part of a row has no value that could be drawn.
    """
    return fractional_evaluation(prepared.groups)


def fractional_evaluation(groups: Groups) -> tuple[int, float] | None:
    """The same for groups of rows."""
    weights = groups.weights
    found = np.flatnonzero(np.abs(weights - np.round(weights)) > WHOLE * np.maximum(weights, 1.0))
    if not len(found):
        return None
    first = found[np.argmin(groups.rows[found])]
    return int(groups.rows[first]) + 1, float(weights[first])


# By enumeration -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """The terms of one component: all its evaluations, all joint states of each."""

    terms: slice
    states: int
    weights: Indices  # (evaluations,)
    first: int  # its first evaluation


@dataclass(frozen=True, slots=True, eq=False)
class Enumeration:
    """All terms of all evaluations, component by component."""

    layout: Layout
    groups: Groups
    codes: NDArray[np.signedinteger]
    cells: Indices  # (factors, terms)
    stretches: tuple[Stretch, ...]
    sums: csr_array  # (cells, terms)

    @property
    def factors(self) -> int:
        """How many numbers are multiplied for one set of CPTs."""
        return int(self.cells.size)


def enumeration_of(prepared: Prepared) -> Enumeration | None:
    """What drawing by enumeration needs; None where there are too many joint states."""
    if prepared.plans is not None or not isinstance(prepared.cuts, Terms):
        return None
    return enumerated(prepared.layout, prepared.groups, prepared.cuts, prepared.dataset.codes)


def enumerated(layout: Layout, groups: Groups, terms: Terms, codes: Codes | None = None) -> Enumeration:
    """The same of these terms; `codes` name a row that turns out to be impossible."""
    from scipy.sparse import csr_array

    number, factors = terms.cells.shape
    stretches, begin = [], 0
    for component in np.unique(groups.component).tolist():
        own = np.flatnonzero(groups.component == component)
        states = int(layout.sizes[groups.variables(component)].prod())
        end = begin + len(own) * states
        weights = np.round(groups.weights[own]).astype(np.int64)
        stretches.append(Stretch(slice(begin, end), states, weights, int(own[0])))
        begin = end
    used = terms.cells.ravel() < layout.size  # the others are padding
    places = np.repeat(np.arange(number), factors)[used]
    sums = csr_array(
        (np.ones(len(places)), (terms.cells.ravel()[used], places)), shape=(layout.size, number), dtype=np.float64
    )
    own = np.zeros((0, len(layout.network)), dtype=np.int8) if codes is None else codes
    return Enumeration(layout, groups, own, np.ascontiguousarray(terms.cells.T), tuple(stretches), sums)


def draw_by_enumeration(drawn_from: Enumeration, theta: Numbers, rng: np.random.Generator) -> Numbers:
    """Counts of all cells in completed incomplete families, (cells, chains), given CPTs `theta`, (cells, chains).

    Counts of complete families are not in them.
    """
    return split_rows(drawn_from, term_products(drawn_from, theta), rng)


def term_products(drawn_from: Enumeration, theta: Numbers) -> Numbers:
    """P(e, s) of all terms, (terms, chains); those of an evaluation are scaled where they would underflow."""
    chains = theta.shape[1]
    padded = np.concatenate((theta, np.ones((1, chains))))
    products = np.ones((drawn_from.cells.shape[1], chains))
    for cells in drawn_from.cells:
        products *= padded[cells]
    for stretch in drawn_from.stretches:
        own = products[stretch.terms].reshape(-1, stretch.states, chains)
        if own.sum(axis=1).min(initial=1.0) < TINY:
            products[stretch.terms] = _by_logarithms(drawn_from, stretch, padded).reshape(-1, chains)
    return products


def split_rows(drawn_from: Enumeration, products: Numbers, rng: np.random.Generator) -> Numbers:
    """Counts of all cells, (cells, chains), of rows that are divided among terms as these `products` say."""
    chains = products.shape[1]
    drawn = np.empty_like(products)
    for stretch in drawn_from.stretches:
        chances = products[stretch.terms].reshape(-1, stretch.states, chains)
        totals = chances.sum(axis=1, keepdims=True)
        shares = np.ascontiguousarray((chances / totals).transpose(0, 2, 1))  # (evaluations, chains, states)
        split = rng.multinomial(stretch.weights[:, None], shares)
        drawn[stretch.terms] = split.transpose(0, 2, 1).reshape(-1, chains)
    return np.asarray(drawn_from.sums @ drawn)


def _by_logarithms(drawn_from: Enumeration, stretch: Stretch, padded: Numbers) -> Numbers:
    """The products of one component, each evaluation divided by its largest, where they underflow as they are."""
    with np.errstate(divide="ignore"):
        logs = np.log(padded)[drawn_from.cells[:, stretch.terms]].sum(axis=0)
    logs = logs.reshape(-1, stretch.states, padded.shape[1])
    highest = logs.max(axis=1, keepdims=True)
    impossible = np.flatnonzero((highest == -np.inf).any(axis=(1, 2)))
    if len(impossible):
        evaluation = stretch.first + int(impossible[0])
        if not len(drawn_from.codes):
            raise SamplingError("A row became impossible while missing values were drawn.")
        raise impossible_evaluation(drawn_from.layout, drawn_from.groups, drawn_from.codes, evaluation)
    return np.asarray(np.exp(logs - highest))


# By programs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Programs:
    """The same for larger problems, one set of CPTs after the other, in compiled code."""

    layout: Layout
    groups: Groups
    codes: NDArray[np.signedinteger]
    plans: Plans

    @property
    def cells(self) -> int:
        """How many cells of cliques are visited for one set of CPTs."""
        return int((self.plans.input_cells + 2 * self.plans.clique_cells)[self.groups.component].sum())


def programs_of(prepared: Prepared, memory_limit: int | None = None, layout: Layout | None = None) -> Programs:
    """What drawing by programs needs; `layout` is the one that components were found in, if another."""
    plans = prepared.plans
    if plans is None:
        plans = make_plans(layout or prepared.layout, prepared.groups, memory_limit)
    return Programs(prepared.layout, prepared.groups, prepared.dataset.codes, plans)


def draw_by_programs(programs: Programs, theta: Numbers, generator: NDArray[np.uint64]) -> Numbers:
    """Counts of all cells in completed incomplete families, (cells,), given CPTs `theta`, (cells,)."""
    counts, impossible = run_programs(programs.layout, programs.groups, programs.plans, theta, generator)
    if impossible >= 0:
        raise impossible_evaluation(programs.layout, programs.groups, programs.codes, impossible)
    return counts


def run_programs(
    layout: Layout, groups: Groups, plans: Plans, theta: Numbers, generator: NDArray[np.uint64]
) -> tuple[Numbers, int]:
    """The same counts, and an evaluation of probability zero (-1: none)."""
    from credo.kernels.draw_missing import draw_missing

    counts = np.zeros(layout.size)
    if not len(groups.component):
        return counts, -1
    maps = np.concatenate([plans.maps, np.empty(plans.map_cells.max(), dtype=np.uint32)])
    impossible = draw_missing(
        groups.component, groups.cells, groups.cell_starts, groups.weights, plans.program, plans.starts, maps,
        len(plans.maps), plans.shapes, plans.shape_starts, theta, np.empty(int(plans.clique_cells.max())),
        np.empty(int(plans.message_cells.max())), np.zeros(int(plans.message_cells.max()), dtype=np.int64), counts,
        generator,
    )  # fmt: skip
    return counts, int(impossible)
