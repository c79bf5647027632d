"""What a learned network can be asked: probabilities with their credible intervals, predictions, explanations of cases.

Where the posterior was sampled, a question is answered under each draw of all CPTs: the answer is the mean, and its
interval holds the given share of the draws. A number of a CPT has the mean that the CPT shows. Otherwise the answer is
that of the learned CPTs, and `note` says why there is no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from credo.errors import ImpossibleRowError, OptionError, QueryError, TooLargeError
from credo.explain.number_texts import interval_percents, percent_digits
from credo.io.columns import MISSING
from credo.io.dataset import Dataset, distinct_rows, extended
from credo.io.number_columns import warn_outside
from credo.io.tables import read_table
from credo.knowledge.query import Query, as_evidence, as_query
from credo.model.expansion import expand
from credo.model.network import Network
from credo.results.fit_results import FitResult, require_level
from credo.sampling.intervals import cpt_draws
from credo.sampling.posterior import PosteriorResult
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.batched import BYTES_A_CELL
from credo.statistics.predict import posterior as posterior_of_rows
from credo.statistics.questions import (
    BatchedCPTs,
    Factors,
    answer,
    answer_rows,
    as_batch,
    batch_size,
    factors_of,
    marginal_factors,
    marginals,
    most_probable_states,
    relevant_evidence,
    require_possible,
)
from credo.types import Codes, Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

MOST_DRAWS = 1000  # of all CPTs, under which a question is answered
LEAST_DRAWS = 100  # below which the ends of a 95% interval rest on two or three draws
MOST_CELLS = 2**28  # of all cliques, under all draws together: about ten seconds
Evidence = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question. Printing it gives a sentence; `float(answer)` is its number where it is one number.

    Attributes
    ----------
    query : str
        The question.
    frame : polars.DataFrame
        A row for each combination of the targets' states: a column for each target, `probability`, and `low` and
        `high`, the ends of the credible interval, which are null where there is none.
    level : float
        The probability with which an interval contains the true value.
    evidence_probability : float
        The probability of what is given.
    note : str
        Why there is no interval; empty where there is one.
    """

    query: str
    frame: pl.DataFrame = field(repr=False)
    level: float
    evidence_probability: float
    note: str = ""

    @property
    def probability(self) -> float:
        """The probability, where the question has a single number as its answer."""
        return float(self._only("probability"))

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the credible interval, where the answer is a single number and has one."""
        if self.note:
            raise OptionError(self.note)
        return float(self._only("low")), float(self._only("high"))

    def __float__(self) -> float:
        return self.probability

    def __str__(self) -> str:
        lines = []
        targets = [name for name in self.frame.columns if name not in ("probability", "low", "high")]
        for row in self.frame.iter_rows(named=True):
            what = self.query if len(self.frame) == 1 else "  " + ", ".join(f"{name}={row[name]}" for name in targets)
            ends = ""
            if row["low"] is not None:
                interval = " to ".join(interval_percents(row["low"], row["high"]))
                ends = f"  ({self.level:.0%} interval {interval})"
            lines.append(f"{what} = {percent_digits(row['probability'])}{ends}")
        if len(lines) > 1:
            lines.insert(0, self.query)
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """The answer as dictionaries, lists, texts and numbers: what JSON can hold."""
        return {
            "query": self.query,
            "answers": self.frame.to_dicts(),
            "level": self.level,
            "evidence_probability": self.evidence_probability,
            "note": self.note,
        }

    def _only(self, column: str) -> Any:
        if len(self.frame) != 1:
            raise OptionError(f"{self.query} has {len(self.frame)} numbers as its answer: see `frame`.")
        return self.frame[column][0]


def query(fit: FitResult, question: str | Query, level: float = 0.95) -> Answer:
    """Answer a question such as `P(lung=yes | xray=yes, do(smoke=no))`; see `Fit.query`.

    Where there are draws, the answer is their mean, and its interval holds the given share of them. Where a number of a
    CPT is asked for, it is the number that the CPT shows.
    """
    require_level(level)
    asked = as_query(fit.network, question)
    network = expand(fit.network).network
    factors = factors_of(network, asked.targets, asked.evidence, asked.interventions)
    draws, note = _draws(fit, network, factors)
    values, log_evidence = answer(network, as_batch(network) if draws is None else draws, asked)
    require_possible(log_evidence, asked)
    possible = np.isfinite(log_evidence)
    return Answer(
        str(asked),
        _frame(fit.network, asked, values[possible], level, draws is not None, _row_asked_for(network, asked)),
        level,
        float(np.exp(log_evidence[possible]).sum() / len(possible)),
        note,
    )


def query_network(network: Network, question: str | Query, memory_limit: int | None = None) -> Answer:
    """The same for a network alone, which has no draws."""
    asked = as_query(network, question)
    expanded = expand(network).network
    values, log_evidence = answer(expanded, as_batch(expanded), asked, memory_limit=memory_limit)
    require_possible(log_evidence, asked)
    return Answer(
        str(asked),
        _frame(network, asked, values, 0.95, with_interval=False),
        0.95,
        float(np.exp(log_evidence[0])),
        "A network file holds no uncertainty: there is no interval.",
    )


def predict(
    fit: FitResult, data: Evidence | TableLike, targets: Sequence[str] | str | None = None, level: float = 0.95
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
        return _predict_case(fit, data, wanted, level)
    return _predict_table(fit.network, data, wanted, lambda codes, name: _predict_rows(fit, codes, name, level))


def predict_network(network: Network, data: TableLike, targets: Sequence[str] | None = None) -> pl.DataFrame:
    """Predict what is missing in every row of a table with a network alone, which has no draws."""
    for name in targets or ():
        network.variable(name)
    return _predict_table(network, data, targets, lambda codes, name: _predict_at_cpts(network, codes, name))


def all_marginals(fit: FitResult, most_cells: int, level: float = 0.95) -> pl.DataFrame:
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
        raise TooLargeError(f"The exact probabilities of all variables need {cells:,} numbers.", cells * BYTES_A_CELL)
    return _predict_case(fit, {}, None, level, most_cells)


def marginals_given(
    fit: FitResult,
    evidence: Evidence | str | None = None,
    *,
    interventions: Mapping[str, object] | None = None,
    soft: Mapping[str, Mapping[str, float]] | None = None,
    level: float = 0.95,
) -> pl.DataFrame:
    """How probable each state of each variable is, given evidence of every kind; see `Fit.marginals`."""
    require_level(level)
    given = _given(fit.network, evidence, interventions, soft)
    network = expand(fit.network).network
    draws, _ = _draws(fit, network, marginal_factors(network, *given))
    return _marginals_frame(fit.network, network, as_batch(network) if draws is None else draws, given, level, fit)


def marginals_of_network(
    network: Network,
    evidence: Evidence | str | None = None,
    *,
    interventions: Mapping[str, object] | None = None,
    soft: Mapping[str, Mapping[str, float]] | None = None,
) -> pl.DataFrame:
    """The same for a network alone, which has no draws: `low` and `high` are null."""
    given = _given(network, evidence, interventions, soft)
    expanded = expand(network).network
    return _marginals_frame(network, expanded, as_batch(expanded), given, 0.95, None)


def most_probable(
    fit: FitResult,
    evidence: Evidence | str | None = None,
    interventions: Mapping[str, object] | None = None,
    soft: Mapping[str, Mapping[str, float]] | None = None,
) -> pl.DataFrame:
    """The states of all variables that are most probable together, given evidence; see `Fit.most_probable`.

    They are those of the learned CPTs, not of single draws.
    """
    import polars as pl

    given = _given(fit.network, evidence, interventions, soft)
    network = expand(fit.network).network
    states, value = most_probable_states(network, as_batch(network), *given)
    require_possible(np.array([value]), Query({}, given.evidence, given.interventions))
    names = fit.network.names
    known = {*given.evidence, *given.interventions}
    return pl.DataFrame(
        {"variable": names, "state": [states[name] for name in names], "given": [name in known for name in names]}
    )


# Draws ----------------------------------------------------------------------------------------------------------------


def why_no_interval(fit: FitResult) -> str:
    """Why answers of this fit have no credible interval; empty where they have one."""
    if not isinstance(fit.posterior, PosteriorResult):
        return f"There is no interval: the method {fit.method} gives one estimate. Learn with method=posterior for one."
    return fit.no_interval


def _draws(
    fit: FitResult, network: Network, factors: Factors, most_cells: int = MOST_CELLS
) -> tuple[BatchedCPTs | None, str]:
    """Draws of the CPTs that a question depends on, or None and the reason why there are none."""
    note = why_no_interval(fit)
    if note:
        return None, note
    count = min(MOST_DRAWS, most_cells // max(1, factors.plan.cells))
    if count < LEAST_DRAWS:
        return None, "There is no interval: this question is too large to be answered under a hundred draws."
    return {name: _cpts(fit, network, count, name) for name in factors.families}, ""


def _cpts(fit: FitResult, network: Network, count: int, name: str) -> Numbers:
    posterior = fit.posterior
    assert isinstance(posterior, PosteriorResult)
    if name not in posterior.sampled.names:
        return network.cpt_array(name)[None]
    return _kept_draws(posterior, count, name)


@lru_cache(maxsize=512)  # questions about one fit follow each other, and need the same CPTs
def _kept_draws(posterior: PosteriorResult, count: int, name: str) -> Numbers:
    return cpt_draws(posterior, name, count)


# Frames ---------------------------------------------------------------------------------------------------------------


def _row_asked_for(network: Network, asked: Query) -> Numbers | None:
    """The numbers of a CPT that a question asks for, where it asks for nothing else.

    Their means are known better than the mean over a thousand draws, and `Fit.cpt` shows them.
    """
    if len(asked.targets) != 1:
        return None
    ((name, states),) = asked.targets.items()
    given = {**asked.evidence, **{each: (state,) for each, state in asked.interventions.items()}}
    if asked.interventions and set(given) != set(network.parents[name]):
        return None
    row = _cpt_row(network, name, given)
    if row is None or not states:
        return row
    chosen = row[[network.states(name).index(state) for state in states]]
    total: Numbers = chosen.sum(keepdims=True)
    return np.minimum(total, 1.0)  # of all states, the sum may be above one by a rounding


def _cpt_row(network: Network, name: str, given: Mapping[str, tuple[str, ...]]) -> Numbers | None:
    """The distribution of a variable in its CPT, if that is what is asked for: nothing but its parents matters."""
    if not _asks_for_cpt(network, name, given) or any(len(given[parent]) != 1 for parent in network.parents[name]):
        return None
    place = tuple(network.states(parent).index(given[parent][0]) for parent in network.parents[name])
    return np.asarray(network.cpt_array(name)[place], dtype=np.float64)


def _asks_for_cpt(network: Network, name: str, given: Iterable[str]) -> bool:
    parents, known = set(network.parents[name]), set(given)
    return name not in known and parents <= known and set(relevant_evidence(network, name, known)) == parents


def _frame(
    network: Network, asked: Query, values: Numbers, level: float, with_interval: bool, means: Numbers | None = None
) -> pl.DataFrame:
    """A row for each combination of the targets' states, from answers (draws, an axis for each target)."""
    import polars as pl

    labels = [[" or ".join(states)] if states else list(network.states(name)) for name, states in asked.targets.items()]
    combinations = list(product(*labels))
    flat = np.minimum(values.reshape(len(values), -1), 1.0)  # sums over states round
    ends = _ends(flat, level) if with_interval else (None, None)
    columns: dict[str, Any] = {name: [c[i] for c in combinations] for i, name in enumerate(asked.targets)}
    taken = {"probability", "low", "high"} & set(columns)
    if taken:
        raise QueryError(f"The target {min(taken)} has the name of another column of the answer: rename the variable.")
    return pl.DataFrame(
        {**columns, "probability": flat.mean(axis=0) if means is None else means, "low": ends[0], "high": ends[1]},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )


def _ends(values: Numbers, level: float) -> Numbers:
    together = np.ascontiguousarray(np.moveaxis(values, 0, -1))  # quantiles of lines in memory are found faster
    return np.asarray(np.quantile(together, _levels(level), axis=-1), dtype=np.float64)


def _levels(level: float) -> list[float]:
    return [(1 - level) / 2, (1 + level) / 2]


def _predict_case(
    fit: FitResult, case: Evidence, targets: Sequence[str] | None, level: float, most_cells: int = MOST_CELLS
) -> pl.DataFrame:
    import polars as pl

    given = as_evidence(fit.network, case)
    names = [name for name in fit.network.names if name not in given] if targets is None else list(targets)
    network = expand(fit.network).network
    draws, _ = _draws(fit, network, marginal_factors(network, given), most_cells)
    found = marginals(network, as_batch(network) if draws is None else draws, given)
    possible = np.isfinite(found[names[0]]).all(axis=1) if names else np.ones(1, dtype=bool)
    require_possible(np.where(possible, 0.0, -np.inf), Query({}, given))
    rows: list[dict[str, Any]] = []
    for name in names:
        values = found[name][possible]
        row = _cpt_row(network, name, given)
        means = values.mean(axis=0) if row is None else row
        low, high = _ends(values, level) if draws is not None else ([None] * values.shape[1],) * 2
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


class _Given(NamedTuple):
    """What all marginals are asked under: evidence, interventions, and weights of states."""

    evidence: dict[str, tuple[str, ...]]
    interventions: dict[str, str]
    soft: dict[str, Numbers]


def _given(network: Network, evidence: object, interventions: object, soft: object) -> _Given:
    known = as_evidence(network, evidence)
    do = {name: states[0] for name, states in as_evidence(network, interventions).items()}
    return _Given(known, do, soft_weights(network, soft, known, do))


def soft_weights(
    network: Network, soft: object, known: Iterable[str] = (), interventions: Iterable[str] = ()
) -> dict[str, Numbers]:
    """Soft evidence as a weight for each state; refused for variables that are given in another way as well."""
    weights = {name: _weights(network, name, each) for name, each in dict(soft or {}).items()}  # type: ignore[call-overload]
    for name in (*interventions, *weights):
        kinds = (name in set(known)) + (name in set(interventions)) + (name in weights)
        if kinds > 1:
            raise QueryError(f"{name} is given twice: it is observed, set by do(…), or has weights, one of the three.")
    return weights


def _weights(network: Network, name: str, given: object) -> Numbers:
    """Soft evidence: for each state, how probable what was seen is in that state, up to a common factor."""
    states = network.states(name)
    if not isinstance(given, Mapping):
        raise QueryError(f"Soft evidence about {name} is a mapping from its states to weights, not {given!r}.")
    for state in given:
        if state not in states:
            raise QueryError(f'{name} has no state "{state}". Known: {", ".join(states)}.')
    weights = np.array([given.get(state, 0.0) for state in states], dtype=np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise QueryError(f"The weights of {name} have to be numbers from 0 on, one of them above 0.")
    return np.asarray(weights / weights.max(), dtype=np.float64)


def _marginals_frame(
    given_network: Network, network: Network, cpts: BatchedCPTs, given: _Given, level: float, fit: FitResult | None
) -> pl.DataFrame:
    """A row for each state of each variable: `variable`, `state`, `probability`, `low`, `high`."""
    import polars as pl

    found = marginals(network, cpts, *given)
    with_interval = fit is not None and not why_no_interval(fit) and batch_size(cpts) > 1
    names = given_network.names
    values = np.concatenate([found[name] for name in names], axis=1)
    possible = np.isfinite(values).all(axis=1)
    require_possible(np.where(possible, 0.0, -np.inf), Query({}, given.evidence, given.interventions))
    values = values if possible.all() else values[possible]
    low, high = _ends(values, level) if with_interval else ([None] * values.shape[1],) * 2
    means = values.mean(axis=0)
    first = 0
    for name in names:
        count = len(given_network.states(name))
        row = None if given.soft or given.interventions else _cpt_row(network, name, given.evidence)
        if row is not None:
            means[first : first + count] = row
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


def _predict_rows(fit: FitResult, codes: Codes, name: str, level: float) -> tuple[Numbers, Numbers | None]:
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
    examples, pattern_of = distinct_rows(codes >= 0)
    for number, example in enumerate(examples.tolist()):
        rows = np.flatnonzero(pattern_of == number)
        shown = [fit.network.names[v] for v in np.flatnonzero(codes[example] >= 0)]
        observed = relevant_evidence(network, name, shown)
        columns = [fit.network.names.index(each) for each in observed]
        first, which = distinct_rows(codes[rows][:, columns])
        factors = factors_of(network, {name: ()}, {v: (network.states(v)[0],) for v in observed}, {})
        count = min(MOST_DRAWS, MOST_CELLS // max(1, factors.plan.cells * len(first)))
        count = max(count, LEAST_DRAWS)
        cpts = {family: _cpts(fit, network, count, family) for family in factors.families}
        values = answer_rows(network, cpts, name, codes[rows[first]], observed)
        if np.isnan(values).any():  # numbers so small that they are zero, in some draws
            means[rows] = np.nanmean(values, axis=0)[which]
            ends[:, rows] = np.nanquantile(values, _levels(level), axis=0)[:, which]
        else:
            means[rows] = values.mean(axis=0)[which]
            ends[:, rows] = _ends(values, level)[:, which]
        if set(observed) == set(network.parents[name]):  # as `_cpt_row`
            place = tuple(codes[rows, fit.network.names.index(parent)] for parent in network.parents[name])
            means[rows] = network.cpt_array(name)[place]
    return means, ends
