"""How much each basic event matters for a top event: Birnbaum and Fussell-Vesely importance, with intervals.

P(top) is linear in the numbers of one CPT, so that its derivatives give, in one pass forward and one back, what P(top)
would be if an event certainly happened, P(top | do(event)), or never did, P(top | do(no event)), for all events:

    Birnbaum         P(top | do(event)) − P(top | do(no event))
    Fussell-Vesely   1 − P(top | do(no event)) / P(top)
    achievement      P(top | do(event)) / P(top)

[Birnbaum, 1969; Fussell, 1975; Vesely et al., 1983]. For events without parents the second is
Birnbaum · P(event) / P(top), which is also called criticality.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import QueryError, counted, listing
from credo.knowledge.query import Query, as_query
from credo.knowledge.state_order import state_order
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.posterior.draws import interval_ends
from credo.probability_texts import percent_digits, percents_with_ends
from credo.questions.question_draws import draws_for
from credo.results.fit_results import Fit, require_level
from credo.statistics.questions import BatchedCPTs, as_batch, derivatives, factors_of, marginals
from credo.types import Numbers

if TYPE_CHECKING:
    import polars as pl

SHOWN = 12
NAME, BIRNBAUM = "fussell_vesely", "birnbaum"


@dataclass(frozen=True, slots=True)
class Importance(PlainResult):
    """How much each basic event matters for a top event. Printing it shows those that matter most.

    Attributes
    ----------
    query : str
        The top event.
    probability : float
        Its probability.
    events : polars.DataFrame
        For each event: `event`, `probability`, `birnbaum` (by how much P(top) would fall if it never happened instead
        of certainly), `fussell_vesely` (the share of P(top) that would go if it never happened) and `achievement` (how
        many times larger P(top) would be if it certainly happened). With draws, the first three have columns `_low`
        and `_high`, the ends of their intervals. Largest Fussell-Vesely importance first.
    level : float
        The probability with which an interval contains the true value.
    note : str
        Why there are no intervals; empty where there are some.
    """

    query: str
    probability: float
    events: pl.DataFrame = field(repr=False)
    level: float = 0.95
    note: str = ""

    def __str__(self) -> str:
        lines = [
            f"{self.query} = {percent_digits(self.probability)}. If an event never happened, this share of it would go:"
        ]
        for row in self.events.head(SHOWN).iter_rows(named=True):
            importance, birnbaum = (self._with_interval(row, name) for name in (NAME, BIRNBAUM))
            factor = f"; certain, it would be {_times(row['achievement'])} times as probable"
            if row[NAME] < -1.0:
                importance = f"it would be {_times(1.0 - row[NAME])} times as probable"
            event = f"{row['event']}, itself {percent_digits(row['probability'])}"
            lines.append(f"  {event}: {importance}; Birnbaum {birnbaum}{factor}")
        if len(self.events) > SHOWN:
            lines.append(f"  … and {counted(len(self.events) - SHOWN, 'more event')}, which matter less.")
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def _with_interval(self, row: Mapping[str, float], name: str) -> str:
        if self.note or row[name] < 0.0:  # an event that prevents the top event
            return f"{'-' * (row[name] < 0.0)}{percent_digits(abs(row[name]))}"
        own, low, high = percents_with_ends(row[name], row[f"{name}_low"], row[f"{name}_high"])
        return f"{own} ({self.level:.0%} interval {low} to {high})"


def importance(fit: Fit, question: str | Query, level: float = 0.95) -> Importance:
    """How much each basic event matters for a top event; see `Fit.importance`."""
    require_level(level)
    asked = _top_event(fit.network, question)
    network = expand(fit.network).network
    factors = factors_of(network, asked.targets, {}, asked.interventions, memory_limit=fit.memory_limit)
    draws, note = draws_for(fit, network, factors)
    return _importance(fit.network, network, draws, asked, level, note, fit.memory_limit)


def importance_in_network(network: Network, question: str | Query) -> Importance:
    """The same for a network alone, which has no draws."""
    note = "A network file holds no draws: there are no intervals."
    return _importance(network, expand(network).network, None, _top_event(network, question), 0.95, note, None)


def _only_top(network: Network) -> str:
    """The one gate that no other variable depends on; an error that names them where there are several."""
    inputs = {parent for name in network.names for parent in network.parents[name]}
    tops = [name for name in network.forms if name not in inputs]
    if len(tops) != 1:
        several = f" Events that nothing depends on: {listing(tops)}." if tops else ""
        raise QueryError(f"Which is the top event? Name it.{several}")
    return tops[0]


def _times(factor: float) -> str:
    """`12,300` or `0.862`: three digits, without a power of ten where it can be read without."""
    return f"{factor:.3g}" if factor < 1000.0 or factor >= 1e7 else f"{round(factor, 2 - floor(log10(factor))):,.0f}"


def _top_event(network: Network, question: str | Query) -> Query:
    """`P(top=yes)`, `top=yes`, or `top` for its highest state."""
    if question == "":
        question = _only_top(network)
    if isinstance(question, str) and not question.lstrip().startswith("P"):
        question = f"P({question})"
    if isinstance(question, str) and (name := question.strip()) in network:
        question = Query({name: ()})
    asked = as_query(network, question)
    if asked.evidence or len(asked.targets) != 1:
        raise QueryError("Importance is about one event without evidence: write it like P(top=yes).")
    ((name, states),) = asked.targets.items()
    return Query({name: states or (state_order(network.variable(name)).states[-1],)}, {}, asked.interventions)


def _importance(
    original: Network,
    network: Network,
    draws: BatchedCPTs | None,
    asked: Query,
    level: float,
    note: str,
    memory_limit: int | None,
) -> Importance:
    import polars as pl

    cpts = as_batch(network) if draws is None else draws
    slopes = derivatives(network, cpts, asked, memory_limit=memory_limit)
    total = _top(slopes, cpts)
    if not float(total.mean()) > 0.0:
        raise QueryError(f"{asked} is impossible: no event matters for it.")
    rows: list[dict[str, Any]] = []
    marginal: dict[str, Numbers] = {}
    for name in original.names:
        is_gate = isinstance(original.forms.get(name), GateForm)
        if name not in slopes or is_gate or name in asked.targets or name in asked.interventions:
            continue
        if original.parents[name] and not marginal:
            marginal = marginals(network, as_batch(network) if draws is None else _all(network, draws), {})
        own = marginal[name] if original.parents[name] else cpts[name]
        rows += list(_events(original, name, slopes[name], own, total, level, draws is not None))
    measures = ("probability", BIRNBAUM, NAME)
    ends = [f"{each}_{end}" for each in measures for end in ("low", "high")] if draws is not None else []
    columns = {"event": pl.String} | dict.fromkeys((*measures, "achievement", *ends), pl.Float64)
    frame = pl.DataFrame(rows, schema=columns).sort(pl.col(NAME).round(12), descending=True, maintain_order=True)
    return Importance(str(asked), float(total.mean()), frame, level, note)


def _all(network: Network, draws: BatchedCPTs) -> BatchedCPTs:
    """All CPTs: drawn where a draw is there, else as they were learned."""
    return {**as_batch(network), **draws}


def _top(slopes: dict[str, Numbers], cpts: BatchedCPTs) -> Numbers:
    """P(top) under each draw: Σ θ ∂P/∂θ of any one CPT."""
    name = next(iter(slopes))
    product = slopes[name] * cpts[name]
    return np.asarray(product.reshape(len(product), -1).sum(axis=1), dtype=np.float64)


def _events(
    network: Network, name: str, slopes: Numbers, shares: Numbers, total: Numbers, level: float, has_draws: bool
) -> Sequence[dict[str, Any]]:
    """A row for the event of a variable with two states, or for each uncertain state of one with more.

    `shares` are P(state) under each draw. Where a variable has more than two states, the others keep their proportions
    if one never happens; with parents these depend on the configuration, so that there are no rows.
    """
    states = state_order(network.variable(name)).states
    places = [network.states(name).index(state) for state in states]
    if len(places) > 2 and network.parents[name]:
        return []
    certain = slopes.sum(axis=tuple(range(1, slopes.ndim - 1)))  # (draws, states): P(top | do(state))
    found = []
    for place in places[1:] if len(places) == 2 else places:
        happens, own = certain[:, place], np.broadcast_to(shares[:, place], total.shape)
        if np.isin(own, (0.0, 1.0)).all():
            continue  # a condition, such as a house event, and no event
        with np.errstate(divide="ignore", invalid="ignore"):
            never = certain[:, places[0]] if len(places) == 2 else (total - own * happens) / (1.0 - own)
            gone = np.where(total > 0.0, 1.0 - never / total, 0.0)
        measures = {"probability": own, BIRNBAUM: happens - never, NAME: gone}
        row: dict[str, Any] = {"event": f"{name}={network.states(name)[place]}"}
        row |= {measure: float(values.mean()) for measure, values in measures.items()}
        row["achievement"] = float(happens.mean() / total.mean())
        if has_draws:
            for measure, values in measures.items():
                row[f"{measure}_low"], row[f"{measure}_high"] = map(float, interval_ends(values[:, None], level)[:, 0])
        found.append(row)
    return found
