"""Whether the missing values of a problem can be drawn, how long that takes, and so which method `auto` is."""

from __future__ import annotations

from math import prod

from credo.errors import listing
from credo.estimation.constrained import CMAP
from credo.estimation.em.driver import found_by_em
from credo.estimation.exchangeable import Exchanges, exchanges_of
from credo.estimation.method import Method
from credo.estimation.posterior_mean import POSTERIOR
from credo.estimation.problem import Problem
from credo.sampling.missing_values import CELLS_AN_UPDATE, VECTORISED_FACTORS
from credo.sampling.posterior import VECTORISED_PARAMETERS
from credo.sampling.vectorised import CHAINS
from credo.statistics.inference.draw_missing import fractional_row
from credo.statistics.inference.expected_counts import Prepared, prepare
from credo.statistics.inference.plain import Terms

MOST_SECONDS = 60.0  # that `auto` lets the sampler take, as far as can be estimated
MOST_VALUES = 2**23  # rows times variables of a table, beyond which that is certain without a closer look
SHORT_CHAIN_SWEEPS = 150  # of all chains together, as small problems need them
SECONDS_A_FACTOR = 1e-8  # of an enumerated state, in one chain
SECONDS_AN_UPDATE = 1e-7  # of a parameter, in one chain


def why_not_drawn(problem: Problem, prepared: Prepared, exchanges: Exchanges) -> str:
    """Why the missing values of a problem cannot be drawn, as a clause; empty where they can."""
    if problem.constraints.ties:
        return "rows are tied, and their values depend on each other"
    fractional = fractional_row(prepared)
    if fractional is not None:
        row, weight = fractional
        return f"row {row} has a missing value and the weight {weight:g}, and only whole rows can be completed"
    moved = sorted({name for move in exchanges.several for name in move.moved})
    if moved:
        return f"nothing tells {listing(moved)} apart, and each draw may exchange them"
    if not exchanges.all_examined:
        return "there are too many hidden variables to see whether draws may exchange some of them"
    return ""


def seconds_to_draw(problem: Problem, prepared: Prepared) -> float:
    """About how long the sampler takes: draws of all chains, in each of which all missing values are drawn."""
    options, terms = problem.options.posterior, prepared.cuts
    parameters = sum(prod(problem.network.shape(name)) for name in problem.names)
    if isinstance(terms, Terms) and terms.cells.size <= VECTORISED_FACTORS and parameters <= VECTORISED_PARAMETERS:
        return SHORT_CHAIN_SWEEPS * CHAINS * (SECONDS_A_FACTOR * terms.cells.size + SECONDS_AN_UPDATE * parameters)
    if prepared.plans is None:
        cells = float(terms.cells.size) if isinstance(terms, Terms) else 0.0
    else:
        each = prepared.plans.input_cells + 2 * prepared.plans.clique_cells
        cells = float(each[prepared.groups.component].sum())
    updates = parameters + cells / CELLS_AN_UPDATE + float(prepared.groups.weights.sum())
    return SECONDS_AN_UPDATE * options.chains * (options.warmup + options.draws * options.thinning) * updates


def automatic(problem: Problem) -> tuple[Method, str]:
    """The method that `auto` is for an incomplete problem, and why it is not the posterior; empty where it is."""
    dataset = problem.dataset
    assert dataset is not None
    if problem.options.em.trainer == "gradient":
        return CMAP, ""  # the user wants an optimum by gradients
    if problem.constraints.ties:
        return CMAP, "rows are tied, and their values depend on each other"
    if dataset.codes.size > MOST_VALUES:
        return CMAP, "drawing the missing values of so many rows would take too long"
    prepared = prepare(problem.counts.layout, dataset, problem.memory_limit)
    exchanges = exchanges_of(problem, found_by_em(prepared))
    reason = why_not_drawn(problem, prepared, exchanges)
    if not reason and exchanges.variables:
        reason = f"nothing says which state of {listing(exchanges.variables)} is which"
    if not reason:
        seconds = seconds_to_draw(problem, prepared)
        if seconds > MOST_SECONDS:
            reason = f"drawing the missing values would take about {seconds / 60:.0f} minutes"
    return (CMAP, reason) if reason else (POSTERIOR, "")
