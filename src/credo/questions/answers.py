"""What a learned network can be asked: probabilities with their credible intervals, and explanations of cases.

Where the posterior was sampled, a question is answered under each draw of all CPTs: the answer is the mean, and its
interval holds the given share of the draws. A number of a CPT has the mean that the CPT shows. Otherwise the answer is
that of the learned CPTs, and `note` says why there is no interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import OptionError, QueryError, listing
from credo.knowledge.query import Query, as_query
from credo.model.expansion import expand, with_full_families
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.posterior.cpt_answers import distribution_asked_for, intervals_asked_for
from credo.posterior.draws import probability_intervals
from credo.probability_texts import percent_digits, percents_with_ends
from credo.questions.evidence_conflict import conflict_sentence
from credo.questions.marginals import Evidence, as_given
from credo.questions.question_draws import draws_for
from credo.results.fit_results import Fit, require_level
from credo.statistics.questions import answer, as_batch, factors_of, most_probable_states, require_possible
from credo.types import Json, Numbers, Soft

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Answer(PlainResult):
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
    conflict : str
        A sentence where the evidence does not fit together: where it is, at the learned CPTs, at least ten times as
        rare as if its parts were independent. `fit.conflict` says more.
    unconnected : str
        A sentence where no arrows join something that is known with what was asked.
    """

    query: str
    frame: pl.DataFrame = field(repr=False)
    level: float
    evidence_probability: float
    note: str = ""
    conflict: str = ""
    unconnected: str = ""

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
            if row["low"] is None:
                lines.append(f"{what} = {percent_digits(row['probability'])}")
                continue
            value, low, high = percents_with_ends(row["probability"], row["low"], row["high"])
            lines.append(f"{what} = {value}  ({self.level:.0%} interval {low} to {high})")
        if len(lines) > 1:
            lines.insert(0, self.query)
        return "\n".join([*lines, *filter(None, (self.note, self.unconnected, self.conflict))])

    def to_dict(self) -> dict[str, Json]:
        """The answer as dictionaries, lists, texts and finite numbers: what JSON can hold.

        Returns
        -------
        dict
            The fields by name, with the rows of `frame` as `answers`.
        """
        found = PlainResult.to_dict(self)
        return {"query": found.pop("query"), "answers": found.pop("frame"), **found}

    def _only(self, column: str) -> Any:
        if len(self.frame) != 1:
            raise OptionError(f"{self.query} has {len(self.frame)} numbers as its answer: see `frame`.")
        return self.frame[column][0]


def query(fit: Fit, question: str | Query, level: float = 0.95) -> Answer:
    """Answer a question such as `P(lung=yes | xray=yes, do(smoke=no))`; see `Fit.query`.

    Where there are draws, the answer is their mean, and its interval holds the given share of them. Where a number of a
    CPT is asked for, it is the number that the CPT shows.
    """
    require_level(level)
    asked = as_query(fit.network, question)
    network = expand(fit.network).network
    limit = fit.memory_limit
    factors = factors_of(network, asked.targets, asked.evidence, asked.interventions, memory_limit=limit)
    draws, note = draws_for(fit, network, factors)
    values, log_evidence = answer(network, as_batch(network) if draws is None else draws, asked, memory_limit=limit)
    require_possible(log_evidence, asked)
    possible = np.isfinite(log_evidence)
    return Answer(
        str(asked),
        _frame(
            fit.network,
            asked,
            values[possible],
            level,
            draws is not None,
            distribution_asked_for(network, asked),
            intervals_asked_for(fit.posterior, network, asked, level),
        ),
        level,
        float(np.exp(log_evidence[possible]).sum() / len(possible)),
        note,
        conflict_sentence(network, asked.evidence, _log_mean(log_evidence)) if not asked.interventions else "",
        _unconnected_sentence(fit.network, asked),
    )


def query_network(network: Network, question: str | Query) -> Answer:
    """The same for a network alone, which has no draws."""
    asked = as_query(network, question)
    expanded = expand(network).network
    values, log_evidence = answer(expanded, as_batch(expanded), asked)
    require_possible(log_evidence, asked)
    return Answer(
        str(asked),
        _frame(network, asked, values, 0.95, with_interval=False),
        0.95,
        float(np.exp(log_evidence[0])),
        "A network file holds no draws: there is no interval.",
        conflict_sentence(expanded, asked.evidence, float(log_evidence[0])) if not asked.interventions else "",
        _unconnected_sentence(network, asked),
    )


def _unconnected_sentence(network: Network, asked: Query) -> str:
    """That what is known cannot matter, where arrows join none of it with a target in any way, or that nothing can."""
    around: dict[str, list[str]] = {name: list(network.parents[name]) for name in network.names}
    for name in network.names:
        for parent in network.parents[name]:
            around[parent].append(name)
    joined, waiting = set(asked.targets), list(asked.targets)
    while waiting:
        new = set(around[waiting.pop()]) - joined
        joined |= new
        waiting += new
    single = [name for name in asked.targets if len(network.states(name)) == 1]
    if single:
        have = "has one state" if len(single) == 1 else "have one state each"
        return f"{listing(single)} {have}: nothing was learned about others, and nothing else could be the answer."
    apart = [name for name in (*asked.evidence, *asked.interventions) if name not in joined]
    if not apart:
        return ""
    them = "it" if len(apart) == 1 else "them"
    return (
        f"No arrows join {listing(apart)} with {listing(list(asked.targets))}: what is known of {them} changes nothing."
    )


def _log_mean(log_evidence: Numbers) -> float:
    """log of the mean probability of the evidence, which may be too small for a number itself."""
    largest = float(log_evidence.max())
    return largest + float(np.log(np.exp(log_evidence - largest).mean()))


def most_probable(
    fit: Fit,
    evidence: Evidence | str | None = None,
    interventions: Mapping[str, object] | None = None,
    soft: Soft | None = None,
) -> pl.DataFrame:
    """The states of all variables that are most probable together, given evidence; see `Fit.most_probable`.

    They are those of the learned CPTs, not of single draws; the effects of noisy families are summed over.
    """
    import polars as pl

    given = as_given(fit.network, evidence, interventions, soft)
    limit = fit.memory_limit
    known = {name: values[0] for name, values in given.evidence.items() if len(values) == 1}
    network = with_full_families(fit.network, known, given.interventions, limit)
    states, value = most_probable_states(network, as_batch(network), *given, memory_limit=limit)
    require_possible(np.array([value]), Query({}, given.evidence, given.interventions))
    names = fit.network.names
    asked = {*given.evidence, *given.interventions}
    return pl.DataFrame(
        {"variable": names, "state": [states[name] for name in names], "given": [name in asked for name in names]}
    )


def _frame(
    network: Network,
    asked: Query,
    values: Numbers,
    level: float,
    with_interval: bool,
    means: Numbers | None = None,
    known_ends: Numbers | None = None,
) -> pl.DataFrame:
    """A row for each combination of the targets' states, from answers (draws, an axis for each target).

    Where a number of a CPT is asked for, its mean and the ends of its interval are known.
    """
    import polars as pl

    labels = [[" or ".join(states)] if states else list(network.states(name)) for name, states in asked.targets.items()]
    combinations = list(product(*labels))
    flat = np.minimum(values.reshape(len(values), -1), 1.0)  # sums over states round
    nothing = [None] * len(combinations)  # not one None: polars would start its threads to repeat it
    ends: Numbers | tuple[list[None], list[None]] = (nothing, nothing)
    if with_interval:
        ends = probability_intervals(flat, level) if known_ends is None else known_ends
    columns: dict[str, Json] = {name: [c[i] for c in combinations] for i, name in enumerate(asked.targets)}
    taken = {"probability", "low", "high"} & set(columns)
    if taken:
        raise QueryError(f"The target {min(taken)} has the name of another column of the answer: rename the variable.")
    return pl.DataFrame(
        {**columns, "probability": flat.mean(axis=0) if means is None else means, "low": ends[0], "high": ends[1]},
        schema_overrides={"low": pl.Float64, "high": pl.Float64},
    )
