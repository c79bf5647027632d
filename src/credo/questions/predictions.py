"""Predictions for a case or for every row of a table, with the credible intervals of their probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import ImpossibleRowError, OptionError
from credo.io.columns import MISSING
from credo.io.dataset import Dataset, distinct_rows, extended
from credo.io.number_columns import warn_outside
from credo.io.tables import read_table
from credo.model.expansion import expand
from credo.model.network import Network
from credo.posterior.draws import (
    LEAST_DRAWS,
    MOST_CELLS,
    MOST_DRAWS,
    PosteriorResult,
    cpts_under_draws,
    probability_intervals,
)
from credo.questions.marginals import Evidence, predict_case
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import Fit, require_level
from credo.statistics.counts import layout_for_counts
from credo.statistics.predict import posterior as posterior_of_rows
from credo.statistics.questions import answer_rows, factors_of, relevant_evidence
from credo.types import Codes, Indices, Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl


def predict(
    fit: Fit, data: Evidence | TableLike, targets: Sequence[str] | str | None = None, level: float = 0.95
) -> pl.DataFrame:
    """Predict what is missing in a case, or in every row of a table; see `Fit.predict`.

    A case has a row for each state of each target, a table one for each of its rows.
    """
    require_level(level)
    if targets is not None and not isinstance(targets, Iterable):
        raise OptionError(f"targets is the name of a variable or a list of names, not {targets!r}.")
    wanted = [targets] if isinstance(targets, str) else None if targets is None else list(targets)
    for name in wanted or ():
        fit.network.variable(name)
    if isinstance(data, Mapping):
        return predict_case(fit, data, wanted, level)
    return _predict_table(fit.network, data, wanted, lambda codes, name: _predict_rows(fit, codes, name, level))


def predict_network(network: Network, data: TableLike, targets: Sequence[str] | None = None) -> pl.DataFrame:
    """Predict what is missing in every row of a table with a network alone, which has no draws."""
    for name in targets or ():
        network.variable(name)
    return _predict_table(network, data, targets, lambda codes, name: _predict_at_cpts(network, codes, name))


def _predict_table(
    network: Network,
    data: TableLike,
    targets: Sequence[str] | None,
    predicted: Callable[[Codes, str], tuple[Numbers, Numbers | None]],
) -> pl.DataFrame:
    """Rows that show the same values are answered once; what a row shows of a target itself is not used.

    `predicted(rows of state numbers, target)` gives probabilities, (rows, states), and the ends of their intervals.
    """
    import polars as pl

    table = read_table(network, data)
    warn_outside(network, table.numbers)
    names = list(table.hidden) if targets is None else list(targets)
    if not names:
        raise OptionError(
            "Every variable has a column in this table: name those to predict, with --target outcome on the command "
            "line, with targets='outcome' in Python."
        )
    codes = table.codes.copy()
    codes[:, [network.names.index(name) for name in names]] = MISSING
    first, which = distinct_rows(codes)
    found: dict[str, Numbers] = {}
    for name in names:
        try:
            means, ends = predicted(codes[first], name)
        except ImpossibleRowError as error:  # of the distinct rows, the number of which the user does not know
            raise ImpossibleRowError(1 + int(first[error.row - 1]), error.values) from None
        impossible = np.flatnonzero(np.isnan(means[which, 0]))
        if impossible.size:
            row = int(impossible[0])
            pairs = zip(network.variables, codes[row].tolist(), strict=True)
            raise ImpossibleRowError(row + 1, [f"{v.name}={v.states[code]}" for v, code in pairs if code >= 0])
        for k, state in enumerate(network.states(name)):
            found[f"{name}={state}"] = means[which, k]
            if ends is not None:
                found[f"{name}={state} low"] = ends[0, which, k]
                found[f"{name}={state} high"] = ends[1, which, k]
    return pl.DataFrame(found)


def _predict_at_cpts(network: Network, codes: Codes, name: str) -> tuple[Numbers, None]:
    """The probabilities of a variable's states in each row, at the CPTs of a network."""
    expanded = expand(network).network
    rows = extended(Dataset(network.names, codes), expanded)
    return posterior_of_rows(layout_for_counts(expanded), rows, name, {}), None


def _predict_rows(fit: Fit, codes: Codes, name: str, level: float) -> tuple[Numbers, Numbers | None]:
    """The probabilities of a variable's states in each row, and the ends of their intervals, (2, rows, states).

    Rows that show the same values of what matters for this variable are answered once.
    """
    if why_no_interval(fit):
        return _predict_at_cpts(fit.network, codes, name)
    network = expand(fit.network).network
    if any((cpt == 0.0).any() for cpt in network.cpts.values()):
        _predict_at_cpts(fit.network, codes, name)  # finds rows that are impossible, whatever matters
    states = len(network.states(name))
    means, ends = np.empty((len(codes), states)), np.empty((2, len(codes), states))
    for rows, which, values, observed in _draws_of_rows(fit, network, codes, name):
        if np.isnan(values).any():  # numbers so small that they are zero, in some draws
            means[rows] = np.nanmean(values, axis=0)[which]
        else:
            means[rows] = values.mean(axis=0)[which]
        ends[:, rows] = probability_intervals(values, level)[:, which]
        if set(observed) == set(network.parents[name]):  # as `cpt_distribution`
            place = tuple(codes[rows, fit.network.names.index(parent)] for parent in network.parents[name])
            means[rows] = network.cpt_array(name)[place]
            if isinstance(fit.posterior, PosteriorResult) and name in fit.posterior.names:
                ends[:, rows] = [end[place] for end in fit.posterior.interval(name, level)]
    return means, ends


def prediction_draws(fit: Fit, codes: Codes, name: str, count: int) -> Numbers:
    """The probabilities of a variable's states in each row, under each of `count` draws, (draws, rows, states).

    Draws that give a row no probability say nothing about it: their place is taken by the mean of the others.
    """
    network = expand(fit.network).network
    found = np.empty((count, len(codes), len(network.states(name))))
    for rows, which, values, _ in _draws_of_rows(fit, network, codes, name):
        if np.isnan(values).any():
            values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
        places = np.linspace(0, len(values) - 1, count).round().astype(np.int64)
        found[:, rows] = values[places][:, which]
    return found


def _draws_of_rows(
    fit: Fit, network: Network, codes: Codes, name: str
) -> Iterator[tuple[Indices, Indices, Numbers, tuple[str, ...]]]:
    """Rows that show the same variables, together, and what is predicted for them.

    That is: the rows, which distinct row each of them is, the probabilities of the distinct rows under each draw,
    (draws, distinct rows, states), and the variables that matter.
    """
    posterior = fit.posterior
    assert isinstance(posterior, PosteriorResult)
    examples, pattern_of = distinct_rows(codes >= 0)
    for number, example in enumerate(examples.tolist()):
        rows = np.flatnonzero(pattern_of == number)
        shown = [fit.network.names[v] for v in np.flatnonzero(codes[example] >= 0)]
        observed = relevant_evidence(network, name, shown)
        columns = [fit.network.names.index(each) for each in observed]
        first, which = distinct_rows(codes[rows][:, columns])
        seen = {each: (network.states(each)[0],) for each in observed}
        factors = factors_of(network, {name: ()}, seen, {}, memory_limit=fit.memory_limit)
        count = min(MOST_DRAWS, MOST_CELLS // max(1, factors.plan.cells * len(first)))
        count = max(count, LEAST_DRAWS)
        cpts = {family: cpts_under_draws(posterior, network, count, family) for family in factors.families}
        yield rows, which, answer_rows(network, cpts, name, codes[rows[first]], observed), observed
