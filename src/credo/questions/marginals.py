"""How probable each state of each variable is, given evidence of every kind; a case is predicted in the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from credo.drawing.network_boxes import Bar
from credo.errors import QueryError, TooLargeError, listing
from credo.knowledge.query import Query, as_evidence
from credo.model.expansion import expand
from credo.model.network import Network
from credo.posterior.cpt_answers import cpt_distribution, cpt_intervals
from credo.posterior.draws import MOST_CELLS, probability_intervals
from credo.questions.question_draws import draws_for
from credo.results.fit_results import Fit, require_level
from credo.statistics.inference.batched import BYTES_PER_CELL
from credo.statistics.questions import BatchedCPTs, as_batch, marginal_factors, marginals, require_possible
from credo.statistics.soft_evidence import likelihoods_of
from credo.types import Numbers, Soft

if TYPE_CHECKING:
    import polars as pl


class Given(NamedTuple):
    """What all marginals are asked under: evidence, interventions, and likelihoods of states."""

    evidence: dict[str, tuple[str, ...]]
    interventions: dict[str, str]
    soft: dict[str, Numbers]


def as_given(network: Network, evidence: object, interventions: object, soft: Soft | None) -> Given:
    known = as_evidence(network, evidence)
    do = {}
    for name, states in as_evidence(network, interventions).items():
        if len(states) != 1:
            raise QueryError(f"An intervention sets {name} to one state, not to {listing(states)}.")
        do[name] = states[0]
    return Given(known, do, soft_likelihoods(network, soft, known, do))


def soft_likelihoods(
    network: Network, soft: Soft | None, known: Iterable[str] = (), interventions: Iterable[str] = ()
) -> dict[str, Numbers]:
    """The likelihoods of states, (states,); refused for variables that are given in another way as well."""
    likelihoods = likelihoods_of(network, soft)
    for name in (*interventions, *likelihoods):
        kinds = (name in set(known)) + (name in set(interventions)) + (name in likelihoods)
        if kinds > 1:
            raise QueryError(
                f"{name} is given twice: a variable is observed, set by do(…), or has soft evidence, one of the three."
            )
    return likelihoods


CELLS_OF_BARS = 2**25  # of all cliques, under all draws together: about a second

TOO_LARGE = (
    "How probable each state is by itself is not shown: in a network like this it would take too long to compute."
)


@dataclass(frozen=True, slots=True)
class Marginals:
    """The states of each variable; none where exact inference would take too long, and then the reason.

    Attributes
    ----------
    bars
        For each variable, its states with their probabilities and intervals.
    note
        Why there are no probabilities; empty where there are.
    """

    bars: Mapping[str, Sequence[Bar]]
    note: str = ""

    @property
    def with_intervals(self) -> bool:
        """Whether probabilities have their intervals."""
        return any(bar.low is not None for own in self.bars.values() for bar in own)


def fit_marginals(fit: Fit, most_cells: int = CELLS_OF_BARS) -> Marginals:
    """The probabilities of all states under a fit."""
    try:
        frame = all_marginals(fit, most_cells)
    except TooLargeError:
        return Marginals({}, f"{TOO_LARGE} fit.query asks for the probability of one variable.")
    bars: dict[str, Sequence[Bar]] = {}
    for name, state, probability, low, high in frame.iter_rows():
        bars[name] = [*bars.get(name, ()), Bar(state, probability, low, high)]
    return Marginals(bars)


def network_marginals(network: Network, most_cells: int = CELLS_OF_BARS) -> Marginals:
    """The probabilities of all states of a network alone; none where it lacks CPTs."""
    expanded = expand(network).network
    if any(name not in expanded.cpts for name in expanded.names):
        return Marginals({}, "How probable each state is by itself is not known: there are variables without a CPT.")
    if marginal_factors(expanded, {}).plan.cells > most_cells:
        return Marginals({}, TOO_LARGE)
    found = marginals(expanded, as_batch(expanded), {})
    return Marginals(
        {
            name: [Bar(state, float(p)) for state, p in zip(network.states(name), found[name][0], strict=True)]
            for name in network.names
        }
    )


Evidence = Mapping[str, Any]


def all_marginals(fit: Fit, most_cells: int, level: float = 0.95) -> pl.DataFrame:
    """How probable each state of each variable is, when nothing is observed; with intervals if there is time for draws.

    The columns are those of `predict` for a case without evidence. `most_cells` of all cliques under all draws limits
    the work.

    Raises
    ------
    TooLargeError
        If the network is too large for exact inference within this limit.
    """
    network = expand(fit.network).network
    cells = marginal_factors(network, {}).plan.cells
    if cells > most_cells:
        raise TooLargeError(f"The exact probabilities of all variables need {cells:,} numbers.", cells * BYTES_PER_CELL)
    return predict_case(fit, {}, None, level, most_cells)


def marginals_given(
    fit: Fit,
    evidence: Evidence | str | None = None,
    *,
    interventions: Mapping[str, object] | None = None,
    soft: Soft | None = None,
    level: float = 0.95,
) -> pl.DataFrame:
    """How probable each state of each variable is, given evidence of every kind; see `Fit.marginals`."""
    require_level(level)
    given = as_given(fit.network, evidence, interventions, soft)
    network = expand(fit.network).network
    draws, _ = draws_for(fit, network, marginal_factors(network, *given, memory_limit=fit.memory_limit))
    cpts = as_batch(network) if draws is None else draws
    return _marginals_frame(fit.network, network, cpts, given, level, fit, draws is not None)


def marginals_of_network(
    network: Network,
    evidence: Evidence | str | None = None,
    *,
    interventions: Mapping[str, object] | None = None,
    soft: Soft | None = None,
) -> pl.DataFrame:
    """The same for a network alone, which has no draws: `low` and `high` are null."""
    given = as_given(network, evidence, interventions, soft)
    expanded = expand(network).network
    return _marginals_frame(network, expanded, as_batch(expanded), given, 0.95, None, False)


def predict_case(
    fit: Fit, case: Evidence, targets: Sequence[str] | None, level: float, most_cells: int = MOST_CELLS
) -> pl.DataFrame:
    import polars as pl

    given = as_evidence(fit.network, case)
    names = [name for name in fit.network.names if name not in given] if targets is None else list(targets)
    network = expand(fit.network).network
    draws, _ = draws_for(fit, network, marginal_factors(network, given, memory_limit=fit.memory_limit), most_cells)
    cpts = as_batch(network) if draws is None else draws
    found = marginals(network, cpts, given, memory_limit=fit.memory_limit)
    possible = np.isfinite(found[names[0]]).all(axis=1) if names else np.ones(1, dtype=bool)
    require_possible(np.where(possible, 0.0, -np.inf), Query({}, given))
    rows: list[dict[str, Any]] = []
    for name in names:
        values = found[name][possible]
        known = cpt_distribution(network, name, given)
        means = values.mean(axis=0) if known is None else known
        low, high = [None] * values.shape[1], [None] * values.shape[1]
        if draws is not None:
            ends = cpt_intervals(fit.posterior, network, name, given, level)
            low, high = probability_intervals(values, level) if ends is None else ends
        for k, state in enumerate(fit.network.states(name)):
            rows.append(
                {
                    "variable": name,
                    "state": state,
                    "probability": float(means[k]),
                    "low": low[k],
                    "high": high[k],
                }
            )
    kinds = {"variable": pl.String, "state": pl.String, **dict.fromkeys(("probability", "low", "high"), pl.Float64)}
    return pl.DataFrame(rows, schema=kinds)


def _marginals_frame(
    given_network: Network,
    network: Network,
    cpts: BatchedCPTs,
    given: Given,
    level: float,
    fit: Fit | None,
    with_interval: bool,
) -> pl.DataFrame:
    """A row for each state of each variable: `variable`, `state`, `probability`, `low`, `high`."""
    import polars as pl

    found = marginals(network, cpts, *given, memory_limit=None if fit is None else fit.memory_limit)
    names = given_network.names
    values = np.concatenate([found[name] for name in names], axis=1)
    possible = np.isfinite(values).all(axis=1)
    require_possible(np.where(possible, 0.0, -np.inf), Query({}, given.evidence, given.interventions))
    values = values if possible.all() else values[possible]
    low, high = probability_intervals(values, level) if with_interval else ([None] * values.shape[1],) * 2
    means = values.mean(axis=0)
    first = 0
    for name in names:
        count = len(given_network.states(name))
        if not given.soft and not given.interventions:
            known = cpt_distribution(network, name, given.evidence)
            if known is not None:
                means[first : first + count] = known
            if fit is not None and with_interval:
                ends = cpt_intervals(fit.posterior, network, name, given.evidence, level)
                if ends is not None:
                    low[first : first + count], high[first : first + count] = ends
        first += count
    columns = {
        "variable": [name for name in names for _ in given_network.states(name)],
        "state": [state for name in names for state in given_network.states(name)],
        "probability": means,
        "low": low,
        "high": high,
    }
    kinds = {"variable": pl.String, "state": pl.String, **dict.fromkeys(("probability", "low", "high"), pl.Float64)}
    return pl.DataFrame(columns, schema=kinds)
