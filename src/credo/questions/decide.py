"""What to do: the expected utility of every option, how sure the choice is, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.knowledge.expressions import conditions_text, label_number
from credo.knowledge.knowledge import KnowledgeSource
from credo.knowledge.query import Query, evidence_text
from credo.plain_results import PlainResult
from credo.posterior.draws import interval_ends
from credo.probability_texts import belief_digits, percent_digits
from credo.questions.expected_utility import (
    Choices,
    Known,
    Option,
    choices_of,
    event_probability,
    evidence_before,
    expected_utilities,
    possible_draws,
    remaining,
    utility_factors,
)
from credo.questions.question_draws import draws_for_all
from credo.results.fit_results import Fit, require_level
from credo.statistics.questions import BatchedCPTs
from credo.types import Numbers

if TYPE_CHECKING:
    import polars as pl

MOST_COMPARED = 30  # options among which thresholds are looked for
SHOWN = 8  # changes that a text lists
ROUNDING = 1e-9  # of the largest utility: smaller differences are none


@dataclass(frozen=True, slots=True)
class Decision(PlainResult):
    """What to do in a case. Printing it gives the choice, how sure it is, and what would change it.

    Attributes
    ----------
    given : str
        What is known, such as `ecg=abnormal`; empty where nothing is.
    best : str
        The option with the largest expected utility, such as `treat=yes`.
    options : polars.DataFrame
        A row for each option, the best first: `option`; `utility`, its expected utility; `low` and `high`, the ends of
        the credible interval, null where there is none; `probability_best`, the share of the draws under which it is
        the best.
    thresholds : polars.DataFrame
        Probabilities at which the choice changes, all else as it is: `probability`, such as `P(disease=yes)`; `now`,
        its value; `threshold`; and the better options `below` and `above` it.
    utilities : polars.DataFrame
        Utilities at which the choice changes, all else as it is: `utility`, the line; `now`, its amount; `threshold`;
        and the option that is best beyond it, `then`.
    gain : float
        By how much the best option is better than the second.
    gain_interval : tuple of two floats or None
        The credible interval of the gain; None where there is none.
    level : float
        The probability with which an interval contains the true value.
    note : str
        Why there is no interval; empty where there is one.
    """

    given: str
    best: str
    options: pl.DataFrame = field(repr=False)
    thresholds: pl.DataFrame = field(repr=False)
    utilities: pl.DataFrame = field(repr=False)
    gain: float
    gain_interval: tuple[float, float] | None
    level: float
    note: str = ""

    @property
    def changes(self) -> tuple[str, ...]:
        """What would change the choice, in sentences: probabilities, then utilities."""
        return tuple(_changes(self))

    def __str__(self) -> str:
        return "\n".join(_sentences(self))


def decide(
    fit: Fit, evidence: object = None, utilities: KnowledgeSource | None = None, level: float = 0.95
) -> Decision:
    """The expected utility of every option, given evidence; see `Fit.decide`."""
    import polars as pl

    require_level(level)
    choices = choices_of(fit, utilities)
    known = evidence_before(choices, fit.network, evidence)
    cpts, note = draws_for_all(fit, choices.network, utility_factors(choices, known))
    values, log_evidence = expected_utilities(choices, cpts, known)
    values = possible_draws(values, log_evidence, known)
    means = values.mean(axis=0)
    order = np.argsort(-means, kind="stable")
    low, high = interval_ends(values, level) if not note else (None, None)
    shares = probability_best(values)
    best, second = int(order[0]), int(order[1])
    gain = values[:, best] - values[:, second]
    frame = pl.DataFrame(
        {
            "option": [str(choices.options[d]) for d in order],
            "utility": means[order],
            "low": None if low is None else low[order],
            "high": None if high is None else high[order],
            "probability_best": None if note else shares[order],
        },
        schema={"option": pl.String, **dict.fromkeys(("utility", "low", "high", "probability_best"), pl.Float64)},
    )
    return Decision(
        given=evidence_text(known),
        best=str(choices.options[best]),
        options=frame,
        thresholds=_thresholds(choices, cpts, known, means),
        utilities=_utility_flips(choices, cpts, known, means, best),
        gain=float(means[best] - means[second]),
        gain_interval=None if note else tuple(map(float, interval_ends(gain, level))),  # type: ignore[arg-type]
        level=level,
        note=note,
    )


def probability_best(values: Numbers) -> Numbers:
    """The share of the draws under which each option is the best, (options,); those that tie share a draw."""
    scale = np.abs(values).max(axis=1, keepdims=True)
    tied = values >= values.max(axis=1, keepdims=True) - ROUNDING * scale
    return np.asarray((tied / tied.sum(axis=1, keepdims=True)).mean(axis=0), dtype=np.float64)


# What would change the choice -----------------------------------------------------------------------------------------


def _thresholds(choices: Choices, cpts: BatchedCPTs, known: Known, means: Numbers) -> pl.DataFrame:
    """Where the choice changes with the probability q of a state A that utilities are about.

    What follows from A, and from its absence, stays as it is:

        EU(d; q) = q·E[U | A, d] + (1 − q)·E[U | not A, d],

    a line for each option. Where A depends on the decision, its probability under one option changes alone.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    scale = ROUNDING * max(1.0, float(np.abs(means).max()))
    for name, state in _events(choices, known) if len(choices.options) <= MOST_COMPARED else ():
        event = ((name, (state,)),)
        shared = name not in choices.after
        lines = []
        for number, option in enumerate(choices.options):
            q = event_probability(choices.network, cpts, known, option.interventions if not shared else {}, event)
            joint = _joint_utility(choices, cpts, known, option, event)
            both = np.where(q > 0.0, q * joint, 0.0)[np.isfinite(q)]
            probability, together = float(q[np.isfinite(q)].mean()), float(both.mean())
            if not 0.0 < probability < 1.0:
                break
            one, other = together / probability, (float(means[number]) - together) / (1.0 - probability)
            lines.append((probability, one, other))
        else:
            found = _shared_changes(lines, scale) if shared else _own_changes(lines, scale)
            for changed, threshold, below, above in found:
                own = {} if shared else dict(choices.options[changed].interventions)
                rows.append(
                    {
                        "probability": str(Query(dict(event), dict(known), own)),
                        "now": lines[changed][0],
                        "threshold": threshold,
                        "below": str(choices.options[below]),
                        "above": str(choices.options[above]),
                    }
                )
    texts = {"probability": pl.String, "now": pl.Float64, "threshold": pl.Float64}
    frame = pl.DataFrame(rows, schema={**texts, "below": pl.String, "above": pl.String})
    return frame.sort((pl.col("threshold") - pl.col("now")).abs(), maintain_order=True)


def _events(choices: Choices, known: Known) -> Iterator[tuple[str, str]]:
    """The states that utilities are about and that are not known; of a variable with two states, one."""
    left = [remaining(known, event) for option in choices.options for _, event in option.lines]
    counting = {name for event in left if event for name, _ in event}  # others are known, or nothing depends on them
    for name in choices.chance:
        if name not in counting or len(known.get(name, ("", ""))) == 1:
            continue
        meant = [state for utility in choices.problem.utilities for state in utility.given.get(name, ())]
        states = list(dict.fromkeys(meant))
        yield from ((name, state) for state in (states[:1] if len(choices.network.states(name)) == 2 else states))


def _joint_utility(choices: Choices, cpts: BatchedCPTs, known: Known, option: Option, event: Any) -> Numbers:
    """E[U | A, e, do(d)] under every set of CPTs."""
    ((name, states),) = event
    with_event = {**known, name: states}
    total: Numbers = np.array([option.constant])
    for amount, own in choices.amounts(option):
        total = total + amount * event_probability(choices.network, cpts, with_event, option.interventions, own)
    return total


def _shared_changes(lines: list[tuple[float, float, float]], scale: float) -> Iterator[tuple[int, float, int, int]]:
    """Where the best of all lines q·one + (1 − q)·other changes, for q between 0 and 1."""
    slopes = np.array([one - other for _, one, other in lines])
    starts = np.array([other for _, _, other in lines])
    crossings = {0.0, 1.0}
    for i in range(len(lines)):
        for j in range(i):
            if abs(slopes[i] - slopes[j]) > scale:
                crossing = float((starts[j] - starts[i]) / (slopes[i] - slopes[j]))
                if 0.0 < crossing < 1.0:
                    crossings.add(crossing)
    ends = sorted(crossings)
    between = [int(np.argmax(starts + slopes * 0.5 * (low + high))) for low, high in pairwise(ends)]
    for place, (below, above) in enumerate(pairwise(between), start=1):
        if below != above:
            yield 0, ends[place], below, above


def _own_changes(lines: list[tuple[float, float, float]], scale: float) -> Iterator[tuple[int, float, int, int]]:
    """Where one option's line crosses the best of the others, which stay where they are."""
    now = [q * one + (1.0 - q) * other for q, one, other in lines]
    for changed, (_, one, other) in enumerate(lines):
        rival = max((d for d in range(len(lines)) if d != changed), key=now.__getitem__)
        if abs(one - other) > scale and 0.0 < (crossing := (now[rival] - other) / (one - other)) < 1.0:
            yield (changed, crossing, *((changed, rival) if other > one else (rival, changed)))


def _utility_flips(choices: Choices, cpts: BatchedCPTs, known: Known, means: Numbers, best: int) -> pl.DataFrame:
    """The nearest amount of each line at which another option becomes the best: EU is linear in every amount."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    scale = ROUNDING * max(1.0, float(np.abs(means).max()))
    for number, utility in enumerate(choices.problem.utilities):
        weights = np.array([_weight(choices, cpts, known, option, number) for option in choices.options])
        nearest: tuple[float, int] | None = None
        for other in range(len(weights)):
            slope = weights[best] - weights[other]
            if other != best and abs(slope) > ROUNDING:
                change = (float(means[other]) - float(means[best])) / slope
                if nearest is None or abs(change) < abs(nearest[0]):
                    nearest = change, other
        if nearest is not None and abs(nearest[0]) > scale:
            rows.append(
                {
                    "utility": f"utility of {conditions_text(utility.declaration.given)}",
                    "now": utility.amount,
                    "threshold": utility.amount + nearest[0],
                    "then": str(choices.options[nearest[1]]),
                }
            )
    numbers = {"now": pl.Float64, "threshold": pl.Float64}
    return pl.DataFrame(rows, schema={"utility": pl.String, **numbers, "then": pl.String})


def _weight(choices: Choices, cpts: BatchedCPTs, known: Known, option: Option, number: int) -> float:
    """∂EU/∂u of a line: the probability that it counts under an option."""
    utility = choices.problem.utilities[number]
    if not all(option.choice[name] in states for name, states in utility.given.items() if name in option.choice):
        return 0.0
    event = tuple((name, states) for name, states in utility.given.items() if name not in option.choice)
    if remaining(known, event) is None:
        return 0.0
    return float(np.nanmean(event_probability(choices.network, cpts, known, option.interventions, event)))


# Sentences ------------------------------------------------------------------------------------------------------------


def _sentences(found: Decision) -> Iterator[str]:
    given = f"Given {found.given}, " if found.given else ""
    verb = f"{found.best} has the largest expected utility" if len(found.options) > 2 else f"{found.best} is better"
    sure = found.options["probability_best"][0]
    chance = "" if sure is None else f" with probability {belief_digits(sure)}"
    ends = ""
    if found.gain_interval is not None and found.gain_interval[0] < found.gain_interval[1]:
        ends = f" ({found.level:.0%} interval {' to '.join(map(amount_text, found.gain_interval))})"
    yield f"{given}{verb}{chance}, by {amount_text(found.gain)}{ends}."
    for row in found.options.iter_rows(named=True):
        interval = ""
        if row["low"] is not None and row["low"] < row["high"]:  # else it is certain
            interval = f"  ({found.level:.0%} interval {amount_text(row['low'])} to {amount_text(row['high'])})"
        yield f"  {row['option']}: expected utility {amount_text(row['utility'])}{interval}"
    if found.changes:
        yield "What would change that:"
        yield from (f"  {each}" for each in found.changes)
    if found.note:
        yield found.note


def _changes(found: Decision) -> list[str]:
    rules = [
        f"{row['above']} above {row['probability']} = {percent_digits(row['threshold'])}, {row['below']} below it; "
        f"now it is {percent_digits(row['now'])}"
        for row in found.thresholds.iter_rows(named=True)
    ]
    flips = [
        f"{row['then']}, if the {row['utility']} were {'above' if row['threshold'] > row['now'] else 'below'} "
        f"{amount_text(row['threshold'])}; it is {amount_text(row['now'])} now"
        for row in found.utilities.iter_rows(named=True)
    ]
    return [*rules[:SHOWN], *flips[:SHOWN]]


def amount_text(value: float) -> str:
    """An amount of utility with three digits or more: `-30`, `4.2`, `1250`."""
    if abs(value) < 1e-12:
        return "0"
    return label_number(float(f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"))
