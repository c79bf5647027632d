"""Whether deciding by the model pays, on rows that it was not learned from.

A row shows what was true, so that the utility of every option is known in it. Deciding by the model is compared with
the same option for everybody. For two options, of which one is better if an event happens (by B) and worse if not (by
H), that is the net benefit of decision curves [Vickers and Elkin, 2006]:

    mean gain over the option without event = B · (TP/n − FP/n · p/(1 − p)),     p = H/(H + B).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError, counted, listing
from credo.io.dataset import distinct_rows
from credo.io.tables import read_table
from credo.knowledge.knowledge import KnowledgeSource
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.probability_texts import percent_digits, short_percent
from credo.questions.decide import amount_text
from credo.questions.expected_utility import (
    Choices,
    Event,
    choices_of,
    event_probability,
    expected_utilities,
    utility_factors,
)
from credo.questions.question_draws import draws_for_all
from credo.results.fit_results import Fit
from credo.types import Codes, Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

THRESHOLDS = tuple(k / 20 for k in range(1, 20))  # of a decision curve
MODEL = "decide by the model"


@dataclass(frozen=True, slots=True)
class NetBenefit(PlainResult):
    """How deciding by the model compares with one option for everybody. Printing it gives a table in words.

    Attributes
    ----------
    strategies : polars.DataFrame
        A row for each way to decide, by the model first: `strategy`; `utility`, the mean over the rows; `error`, its
        standard error; `difference` from deciding by the model.
    chosen : polars.DataFrame
        For each option, how often the model chose it: `option` and `share`.
    curve : polars.DataFrame
        For two options: the net benefit, in true positives per row, at the `threshold` of the event and at others:
        `model`, `all` (the option that the event calls for, for everybody) and `none` (zero); empty otherwise.
    event : str
        The event of the curve, such as `disease=yes`; empty where there is no curve.
    threshold : float or None
        Above which probability of the event the utilities call for the second option; None without a curve.
    rows : int
        How many rows were used: those that show everything that utilities are about.
    """

    strategies: pl.DataFrame = field(repr=False)
    chosen: pl.DataFrame = field(repr=False)
    curve: pl.DataFrame = field(repr=False)
    event: str
    threshold: float | None
    rows: int

    def __str__(self) -> str:
        first, *others = self.strategies.iter_rows(named=True)
        better = all(row["difference"] < 0 for row in others)
        best = max(others, key=lambda row: row["utility"])
        verdict = "pays" if better else "does not pay"
        lines = [
            f"On {counted(self.rows, 'row')}, deciding by the model {verdict}: its mean utility is "
            f"{amount_text(first['utility'])}, that of {best['strategy']} {amount_text(best['utility'])}."
        ]
        lines += [
            f"  {row['strategy']}: {amount_text(row['utility'])} (standard error {amount_text(row['error'])})"
            for row in (first, *others)
        ]
        shares = ", ".join(f"{option} in {short_percent(share)}" for option, share in self.chosen.iter_rows())
        lines.append(f"The model chose {shares} of the rows.")
        if self.threshold is not None:
            own = next(row for row in self.curve.iter_rows(named=True) if row["threshold"] == self.threshold)
            lines.append(
                f"Net benefit at a threshold of {percent_digits(self.threshold)} for {self.event}: {own['model']:.4f} "
                f"true positives per row by the model, {own['all']:.4f} for everybody, 0 for nobody."
            )
        return "\n".join(lines)


def net_benefit(
    fit: Fit, data: TableLike, given: Sequence[str] | None = None, utilities: KnowledgeSource | None = None
) -> NetBenefit:
    """How much deciding by the model gains on the rows of a table; see `Fit.net_benefit`."""
    import polars as pl

    choices = choices_of(fit, utilities)
    if late := [name for name in choices.chance if name in choices.after]:
        raise OptionError(
            f"Rows do not show what another choice would have led to: {listing(late)} depends on the decision. The "
            "net benefit on rows needs utilities of variables that the decision does not change."
        )
    network = fit.network
    table = read_table(network, data)
    column = {name: place for place, name in enumerate(network.names)}
    chance = [column[name] for name in choices.chance]
    rows = np.flatnonzero((table.codes[:, chance] >= 0).all(axis=1))
    if not len(rows):
        raise OptionError(f"No row shows {listing(choices.chance)}, which utilities are about.")
    shown = _shown(choices, network.names, given)
    codes = table.codes[rows]
    first, which = distinct_rows(codes[:, [column[name] for name in shown]])
    true = np.stack([_true_utilities(choices, network, row) for row in codes])  # (rows, options)
    event, threshold = _event(choices, network)
    chosen = np.empty(len(first), dtype=np.int64)
    probability = np.zeros(len(first))
    for number, row in enumerate(codes[first]):
        known = {name: (network.states(name)[row[column[name]]],) for name in shown if row[column[name]] >= 0}
        cpts, _ = draws_for_all(fit, choices.network, utility_factors(choices, known))
        values, _ = expected_utilities(choices, cpts, known)
        if np.isnan(values).all():
            raise OptionError(f"Row {rows[first[number]] + 1} has probability zero under the learned network.")
        chosen[number] = int(np.nanmean(values, axis=0).argmax())
        if event:
            probability[number] = float(np.nanmean(event_probability(choices.network, cpts, known, {}, event)))
    by_model = true[np.arange(len(rows)), chosen[which]]
    found: list[dict[str, Any]] = []
    for name, utility in ((MODEL, by_model), *((str(o), true[:, d]) for d, o in enumerate(choices.options))):
        error = float(utility.std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else 0.0
        label = name if name == MODEL else f"{name} for everybody"
        difference = float((utility - by_model).mean())
        found.append({"strategy": label, "utility": float(utility.mean()), "error": error, "difference": difference})
    shares = [float((chosen[which] == d).mean()) for d in range(len(choices.options))]
    happened: NDArray[np.bool_] = np.zeros(len(rows), dtype=bool)
    if event:
        ((name, states),) = event
        happened = np.isin(codes[:, column[name]], [network.states(name).index(state) for state in states])
    curve = _curve(probability[which], happened, threshold) if event else []
    schema = dict.fromkeys(("threshold", "model", "all", "none"), pl.Float64)
    ((name, states),) = event or (("", ("",)),)
    return NetBenefit(
        strategies=pl.DataFrame(found),
        chosen=pl.DataFrame({"option": [str(option) for option in choices.options], "share": shares}),
        curve=pl.DataFrame(curve, schema=schema),
        event=f"{name}={' or '.join(states)}" if event else "",
        threshold=threshold if event else None,
        rows=len(rows),
    )


def _shown(choices: Choices, names: Sequence[str], given: Sequence[str] | None) -> list[str]:
    """What is known when deciding: the variables given, or all but what utilities are about and what comes after."""
    hidden = {*choices.chance, *choices.after}
    if given is None:
        return [name for name in names if name not in hidden]
    for name in given:
        if name not in names:
            raise OptionError(f'The network has no variable "{name}". It has {listing(names)}.')
        if name in hidden:
            reason = "utilities are about it, or it depends on the decision"
            raise OptionError(f"{name} is not known when deciding: {reason}.")
    return list(given)


def _true_utilities(choices: Choices, network: Network, row: Codes) -> Numbers:
    """The utility of each option in a row that shows all that utilities are about."""
    state = {name: network.states(name)[row[network.names.index(name)]] for name in choices.chance}
    totals = []
    for option in choices.options:
        happened = (amount for amount, event in choices.amounts(option) if all(state[n] in s for n, s in event))
        totals.append(option.constant + sum(happened))
    return np.array(totals)


def _event(choices: Choices, network: Network) -> tuple[Event, float]:
    """The event whose probability alone decides between two options, and its threshold.

    There is one where utilities are about one variable, and the difference between the options has one value where it
    speaks for the second option and one where it speaks against it.
    """
    if len(choices.options) != 2 or len(choices.chance) != 1:
        return (), 0.0
    (name,) = choices.chance
    codes = np.full((len(network.states(name)), len(network)), -1)
    codes[:, network.names.index(name)] = np.arange(len(codes))
    gains = np.array([float(np.diff(_true_utilities(choices, network, row))[0]) for row in codes])
    benefit, harm = np.unique(gains[gains > 0]), np.unique(gains[gains <= 0])
    if len(benefit) != 1 or len(harm) != 1:
        return (), 0.0
    states = tuple(state for state, gain in zip(network.states(name), gains, strict=True) if gain > 0)
    return ((name, states),), float(-harm[0] / (benefit[0] - harm[0]))


def _curve(probability: Numbers, happened: NDArray[np.bool_], threshold: float) -> list[dict[str, float]]:
    """The net benefit TP/n − FP/n·p/(1 − p) of acting above each threshold p, and of acting always."""
    rows = []
    for p in sorted({*THRESHOLDS, threshold}):
        if not p < 1.0:
            continue
        acted = probability >= p if p > 0 else np.ones(len(happened), dtype=bool)
        weight = p / (1.0 - p)
        model = float((acted & happened).mean() - weight * (acted & ~happened).mean())
        everybody = float(happened.mean() - weight * (~happened).mean())
        rows.append({"threshold": p, "model": model, "all": everybody, "none": 0.0})
    return rows
