"""Whether the missing values of a problem can be drawn, how long that takes, and so which method `auto` is."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from credo.constraints.constraint_set import Constraints
from credo.errors import listing
from credo.estimation.constrained import CMAP
from credo.estimation.em.driver import found_by_em
from credo.estimation.exchangeable import Exchanges, exchanges_of
from credo.estimation.method import Method
from credo.estimation.posterior_mean import POSTERIOR
from credo.estimation.problem import Problem
from credo.io.dataset import Dataset
from credo.statistics.inference.draw_missing import figures_of, fractional_rows
from credo.statistics.inference.elimination import visited_cells
from credo.statistics.inference.expected_counts import Prepared, PreparedRows
from credo.statistics.inference.expected_counts_of_parts import PreparedParts
from credo.statistics.partitioned_rows import PartitionedRows, prepare_rows
from credo.statistics.ties.draw_tied import fractional_tied_rows
from credo.statistics.ties.draw_tied import why_not_drawn as why_ties_are_not_drawn
from credo.statistics.ties.likelihood import TiedData, tie_rows
from credo.statistics.ties.tied_parts import TiedParts

MOST_SECONDS = 60.0  # that `auto` lets the sampler take, as far as can be estimated
MOST_VALUES = 2**23  # rows times variables of a table, beyond which that is certain without examining them
CELLS_AN_UPDATE = 8.0  # of cliques that cost what updating a parameter costs
SECONDS_PER_UPDATE = 1e-7  # of a parameter, in one chain
SECONDS_PER_PART = 5e-3  # for the way to a partition and back, whoever holds it


def why_not_drawn(rows: PreparedRows | TiedData | TiedParts, exchanges: Exchanges) -> str:
    """Why the missing values of rows, tied or not, cannot be drawn, as a clause; empty where they can."""
    if isinstance(rows, TiedParts):
        return IN_PARTITIONS
    if isinstance(rows, TiedData) and (reason := why_ties_are_not_drawn(rows)):
        return reason
    if isinstance(rows, PreparedParts):
        found = figures_of(rows).fractional
        fractional = None if found is None else (rows.firsts[found[0]] + found[1], found[2])
    else:
        fractional = fractional_tied_rows(rows) if isinstance(rows, TiedData) else fractional_rows(rows)
    if fractional is not None:
        row, weight = fractional
        return (
            f"rows that show what row {row} shows, with values missing, have the weight {weight:g} together, and only "
            "whole rows can be completed"
        )
    moved = sorted({name for each in exchanges.several for name in each.permuted})
    if moved:
        return f"nothing tells {listing(moved)} apart, and each draw may exchange them"
    if not exchanges.all_examined:
        return "there are too many hidden variables to see whether draws may exchange some of them"
    return ""


def seconds_to_draw(problem: Problem, rows: PreparedRows | TiedData) -> float:
    """About how long the sampler takes: draws of all chains, in each of which all missing values are drawn."""
    options = problem.settings.options.posterior
    parameters = sum(prod(problem.model.network.shape(name)) for name in problem.model.names)
    sweeps = options.chains * (options.warmup + options.draws * options.thinning)
    if isinstance(rows, PreparedParts):
        figures = figures_of(rows)
        updates = parameters + figures.cells / CELLS_AN_UPDATE + figures.rows
        return sweeps * (SECONDS_PER_UPDATE * updates + SECONDS_PER_PART * figures.parts)
    parts = [rows] if isinstance(rows, Prepared) else rows.parts
    cells = sum(float(visited_cells(part.groups, part.plans).sum()) for part in parts)
    incomplete = sum(float(part.groups.weights.sum()) for part in parts)
    return SECONDS_PER_UPDATE * sweeps * (parameters + cells / CELLS_AN_UPDATE + incomplete)


IN_PARTITIONS = "the values of tied rows in partitions are not drawn"
MEANS_ONLY = "method=posterior gives means, without intervals."
NAMED_ALIKE = (
    "method=posterior gives intervals, with the states named in each draw so that they are nearest to what EM finds."
)
TAKES_LONGER = "method=posterior gives intervals and takes that long."


@dataclass(frozen=True, slots=True, eq=False)
class ExaminedRows:
    """Incomplete rows prepared for inference, and what nothing in them and in these constraints tells apart."""

    prepared: PreparedRows
    exchanges: Exchanges
    constraints: Constraints
    tied: TiedData | None = None  # the rows with their ties, for which they were prepared


@dataclass(frozen=True, slots=True, eq=False)
class AutomaticMethod:
    """The method that `auto` is for incomplete rows."""

    method: Method
    not_posterior: str = ""  # why it is not the posterior, and what that would give
    rows: ExaminedRows | None = None  # what was found out about the rows on the way


def automatic(problem: Problem) -> AutomaticMethod:
    """Choose the method for incomplete rows by whether their missing values can be drawn, and how long that takes."""
    dataset = problem.data.dataset
    assert dataset is not None
    if problem.settings.options.em.trainer == "gradient":
        return AutomaticMethod(CMAP)  # the user wants an optimum by gradients
    if len(dataset) * len(dataset.names) > MOST_VALUES:
        return AutomaticMethod(CMAP, f"drawing the missing values of so many rows would take long. {TAKES_LONGER}")
    rows: PreparedRows | TiedData
    prepared: PreparedRows
    tied: TiedData | None = None
    if problem.model.constraints.ties and isinstance(dataset, PartitionedRows):
        return AutomaticMethod(CMAP, f"{IN_PARTITIONS}. {MEANS_ONLY}")
    if problem.model.constraints.ties:
        assert isinstance(dataset, Dataset)
        rows = tied = tie_rows(
            problem.data.counts.layout,
            problem.model.constraints.ties,
            dataset,
            reading=problem.data.reading,
            memory_limit=problem.settings.memory_limit,
        )
        prepared = rows.prepared
    else:
        rows = prepared = prepare_rows(problem.data.counts.layout, dataset, problem.settings.memory_limit)
    exchanges = exchanges_of(problem, found_by_em(prepared))
    examined = ExaminedRows(prepared, exchanges, problem.model.constraints, tied)
    reason = why_not_drawn(rows, exchanges)
    if reason:
        return AutomaticMethod(CMAP, f"{reason}. {MEANS_ONLY}", examined)
    if exchanges.variables:
        which = f"nothing says which state of {listing(exchanges.variables)} is which"
        return AutomaticMethod(CMAP, f"{which}. {NAMED_ALIKE}", examined)
    seconds = seconds_to_draw(problem, rows)
    if seconds > MOST_SECONDS:
        long = "a minute" if seconds < 90.0 else f"{seconds / 60.0:,.0f} minutes"
        reason = f"drawing the missing values would take about {long}. {TAKES_LONGER}"
        return AutomaticMethod(CMAP, reason, examined)
    return AutomaticMethod(POSTERIOR, "", examined)
