"""Whether the missing values of a problem can be drawn, how long that takes, and so which method `auto` is."""

from __future__ import annotations

from math import inf, prod

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
from credo.statistics.inference.expected_counts import Prepared, PreparedRows, prepare
from credo.statistics.inference.parts import PreparedParts
from credo.statistics.inference.plain import Terms
from credo.statistics.partitioned_rows import PartitionedRows
from credo.statistics.ties.draw_tied import fractional_tied_rows
from credo.statistics.ties.draw_tied import why_not_drawn as why_ties_are_not_drawn
from credo.statistics.ties.likelihood import TiedData, tie_rows

MOST_SECONDS = 60.0  # that `auto` lets the sampler take, as far as can be estimated
MOST_VALUES = 2**23  # rows times variables of a table, beyond which that is certain without a closer look
SHORT_CHAIN_SWEEPS = 150  # of all chains together, as small problems need them
SECONDS_A_FACTOR = 1e-8  # of an enumerated state, in one chain
SECONDS_AN_UPDATE = 1e-7  # of a parameter, in one chain


def why_not_drawn(rows: PreparedRows | TiedData, exchanges: Exchanges) -> str:
    """Why the missing values of rows, tied or not, cannot be drawn, as a clause; empty where they can."""
    if isinstance(rows, PreparedParts):
        return "the rows are in partitions"
    if isinstance(rows, TiedData) and (reason := why_ties_are_not_drawn(rows)):
        return reason
    fractional = fractional_tied_rows(rows) if isinstance(rows, TiedData) else fractional_rows(rows)
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


def seconds_to_draw(problem: Problem, rows: Prepared | TiedData) -> float:
    """About how long the sampler takes: draws of all chains, in each of which all missing values are drawn."""
    options, parts = problem.options.posterior, [rows] if isinstance(rows, Prepared) else rows.parts
    parameters = sum(prod(problem.network.shape(name)) for name in problem.names)
    enumerated = sum(part.cuts.cells.size if isinstance(part.cuts, Terms) else inf for part in parts)
    if enumerated <= VECTORISED_FACTORS and parameters <= VECTORISED_PARAMETERS:
        return SHORT_CHAIN_SWEEPS * CHAINS * (SECONDS_A_FACTOR * enumerated + SECONDS_AN_UPDATE * parameters)
    updates = float(parameters)
    for part in parts:
        cells = float(part.cuts.cells.size) if isinstance(part.cuts, Terms) else 0.0
        if part.plans is not None:
            each = part.plans.input_cells + 2 * part.plans.clique_cells
            cells = float(each[part.groups.component].sum())
        updates += cells / CELLS_AN_UPDATE + float(part.groups.weights.sum())
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
    if isinstance(dataset, PartitionedRows):
        return CMAP, f"the rows are in partitions. {MEANS_ONLY}"
    if dataset.codes.size > MOST_VALUES:
        return CMAP, f"drawing the missing values of so many rows would take long. {TAKES_LONGER}"
    rows: Prepared | TiedData
    if problem.constraints.ties:
        rows = tie_rows(
            problem.counts.layout,
            problem.constraints.ties,
            dataset,
            reading=problem.reading,
            memory_limit=problem.memory_limit,
        )
        prepared = rows.prepared
    else:
        rows = prepared = prepare(problem.counts.layout, dataset, problem.memory_limit)
    exchanges = exchanges_of(problem, found_by_em(prepared))
    reason = why_not_drawn(rows, exchanges)
    if reason:
        return CMAP, f"{reason}. {MEANS_ONLY}"
    if exchanges.variables:
        return CMAP, f"nothing says which state of {listing(exchanges.variables)} is which. {NAMED_ALIKE}"
    seconds = seconds_to_draw(problem, rows)
    if seconds > MOST_SECONDS:
        long = "a minute" if seconds < 90.0 else f"{seconds / 60.0:,.0f} minutes"
        return CMAP, f"drawing the missing values would take about {long}. {TAKES_LONGER}"
    return POSTERIOR, ""
