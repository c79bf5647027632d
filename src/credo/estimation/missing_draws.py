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
from credo.statistics.inference.draw_missing import fractional_rows
from credo.statistics.inference.expected_counts import Prepared, prepare
from credo.statistics.inference.plain import Terms

TIED = "rows are tied, and their values depend on each other"
MOST_SECONDS = 60.0  # that `auto` lets the sampler take, as far as can be estimated
MOST_VALUES = 2**23  # rows times variables of a table, beyond which that is certain without a closer look
SHORT_CHAIN_SWEEPS = 150  # of all chains together, as small problems need them
SECONDS_A_FACTOR = 1e-8  # of an enumerated state, in one chain
SECONDS_AN_UPDATE = 1e-7  # of a parameter, in one chain


def why_not_drawn(problem: Problem, prepared: Prepared, exchanges: Exchanges) -> str:
    """Why the missing values of a problem cannot be drawn, as a clause; empty where they can."""
    if problem.constraints.ties:
        return TIED
    fractional = fractional_rows(prepared)
    if fractional is not None:
        row, weight = fractional
        return (
            f"rows that show what row {row} shows, with values missing, have the weight {weight:g} together, and only "
            "whole rows can be completed"
        )
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


MEANS_ONLY = "method=posterior gives means, without intervals."
NAMED_ALIKE = "method=posterior gives intervals, with the states named in each draw as is nearest to what EM finds."
TAKES_LONGER = "method=posterior gives intervals and takes that long."


def automatic(problem: Problem) -> tuple[Method, str]:
    """The method that `auto` is for incomplete rows; and why it is not the posterior, and what that would give."""
    dataset = problem.dataset
    assert dataset is not None
    if problem.options.em.trainer == "gradient":
        return CMAP, ""  # the user wants an optimum by gradients
    if problem.constraints.ties:
        return CMAP, f"{TIED}. {MEANS_ONLY}"
    if dataset.codes.size > MOST_VALUES:
        return CMAP, f"drawing the missing values of so many rows would take long. {TAKES_LONGER}"
    prepared = prepare(problem.counts.layout, dataset, problem.memory_limit)
    exchanges = exchanges_of(problem, found_by_em(prepared))
    reason = why_not_drawn(problem, prepared, exchanges)
    if reason:
        return CMAP, f"{reason}. {MEANS_ONLY}"
    if exchanges.variables:
        return CMAP, f"nothing says which state of {listing(exchanges.variables)} is which. {NAMED_ALIKE}"
    seconds = seconds_to_draw(problem, prepared)
    if seconds > MOST_SECONDS:
        long = "a minute" if seconds < 90.0 else f"{seconds / 60.0:,.0f} minutes"
        return CMAP, f"drawing the missing values would take about {long}. {TAKES_LONGER}"
    return POSTERIOR, ""
