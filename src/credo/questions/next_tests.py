"""Which test next, for this case: what each observation is expected to tell, or to gain, before it is made.

For a target T and a test V, with P the mean over the draws, the expected information is

    I(V; T | e) = Σ_{v,t} P(v, t | e) · log2 P(v, t | e) / (P(v | e) · P(t | e)),

and for a decision the expected gain of deciding after the test, less its cost, is

    Σ_v max_d Σ_l u_l·P(A_l, v | e, do(d)) − max_d EU(d | e) − cost.

P(v | A, e) for *all* tests V comes from one pass forward and one back, so that there are as many passes as the target
has states, or utilities have events, however many tests there are. How sure the ranking is: the same for every draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import OptionError, QueryError, counted, listing, suggestion
from credo.knowledge.decisions import decision_problem
from credo.knowledge.knowledge import KnowledgeSource
from credo.knowledge.query import Query, as_evidence, as_query, evidence_text
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.graphs import ancestors
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.posterior.draws import interval_ends
from credo.probability_texts import belief_digits, short_percent
from credo.questions.decide import amount_text, probability_best
from credo.questions.expected_utility import (
    Choices,
    Known,
    choices_of,
    event_probability,
    evidence_before,
    remaining,
)
from credo.questions.question_draws import draws_for_all
from credo.results.fit_results import Fit, require_level
from credo.statistics.questions import (
    answer,
    factors_of,
    marginal_factors,
    marginals,
    require_possible,
)
from credo.types import Json, Numbers

if TYPE_CHECKING:
    import polars as pl

SHOWN = 10  # tests that a text lists
NOTHING = 1e-9  # bits, or shares of the largest utility: a test that gives less gives nothing


@dataclass(frozen=True, slots=True)
class NextTests(PlainResult):
    """Tests for a case, the best first. Printing it gives a sentence and the ranking.

    Attributes
    ----------
    given : str
        What is known; empty where nothing is.
    goal : str
        What the tests are for: a variable, or the decision.
    by : str
        "information" or "utility".
    tests : polars.DataFrame
        A row for each test, the best first: `test`; `value`, the expected information in bits, or the expected gain in
        utility before costs; `cost`; `net`, the gain less the cost, and in bits the value; `share`, which part of the
        uncertainty about the target the test is expected to remove, null for a decision; `changes`, how probable it is
        that the test changes the decision, null for a variable; `low` and `high`, the interval of `net` if the CPTs
        were those of a draw; `probability_best`, the share of the draws under which no test is better.
    now : str
        What would be chosen without a test; empty for a variable.
    level : float
        The probability with which an interval contains the true value.
    note : str
        Why there are no draws; empty where there are some.
    """

    given: str
    goal: str
    by: str
    tests: pl.DataFrame = field(repr=False)
    now: str
    level: float
    note: str = ""

    @property
    def best(self) -> str | None:
        """The test to make next; None where no test is worth it."""
        if not len(self.tests) or self.tests["net"][0] <= NOTHING:
            return None
        return str(self.tests["test"][0])

    def __str__(self) -> str:
        return "\n".join(_sentences(self))

    def to_dict(self) -> dict[str, Json]:
        """The ranking as dictionaries, lists, texts and finite numbers: what JSON can hold.

        Returns
        -------
        dict
            The fields by name, and the best test.
        """
        return {**PlainResult.to_dict(self), "best": self.best}


def next_tests(
    fit: Fit,
    evidence: object = None,
    target: str | None = None,
    candidates: Sequence[str] | None = None,
    utilities: KnowledgeSource | None = None,
    level: float = 0.95,
) -> NextTests:
    """Rank what could be observed next; see `Fit.next_tests`."""
    require_level(level)
    network = expand(fit.network).network
    declarations = fit.knowledge.declarations
    if target is not None:
        if target not in fit.network:
            hint = suggestion(str(target), fit.network.names) or f" It has {listing(fit.network.names)}."
            raise QueryError(f'The network has no variable "{target}".{hint}')
        problem = decision_problem(declarations, fit.network)
        costs = problem.costs if utilities is None else {}
        known = as_evidence(fit.network, evidence)
        if len(known.get(target, ("", ""))) == 1:
            raise QueryError(f"{target} is known already: {target}={known[target][0]}. Leave it out of the evidence.")
        decided = [name for name in problem.options if name in fit.network]  # nobody observes what is to be decided
        after = {name for name in fit.network.names if ancestors(fit.network.parents, [name]) & set(decided)}
        tests = _candidates(fit, candidates, {target, *known}, after)
        return _by_information(fit, network, known, target, tests, costs, level)
    if utilities is None and not decision_problem(declarations, fit.network).options:
        raise OptionError("Name the variable that tests are for (--for disease), or give utilities (--utilities FILE).")
    choices = choices_of(fit, utilities)
    known = evidence_before(choices, fit.network, evidence)
    unlikely = {name for name in choices.chance if name not in choices.problem.costs}  # what is to be found out
    tests = _candidates(fit, candidates, {*known, *choices.after}, unlikely)
    return _by_utility(fit, choices, known, tests, level)


def next_for(fit: Fit, question: str) -> NextTests | None:
    """What to observe next in the case that a question describes; None where it intervenes or nothing is left."""
    asked = as_query(fit.network, question)
    if len(asked.targets) != 1 or asked.interventions:
        return None
    try:
        return next_tests(fit, asked.evidence, next(iter(asked.targets)))
    except (OptionError, QueryError):
        return None


def _candidates(
    fit: Fit, candidates: Sequence[str] | None, excluded: set[str], unlikely: set[str] | frozenset[str] = frozenset()
) -> list[str]:
    """What can be observed: the variables given, or all that have a column and are not known yet.

    Without a table nothing has a column: everything is a test then, but for gates, which follow from their inputs.
    """
    names = fit.network.names
    if candidates is None:
        gates = {name for name, form in fit.network.forms.items() if isinstance(form, GateForm)}
        hidden = set(fit.without_column) if fit.rows else gates  # what nobody looks at cannot be observed
        found = [name for name in names if name not in excluded | hidden | unlikely]
    else:
        for name in candidates:
            if name not in fit.network:
                raise QueryError(f'The network has no variable "{name}".{suggestion(str(name), names)}')
            if name in excluded:
                raise QueryError(f"{name} is no test: it is known, is the target, or depends on the decision.")
        found = list(dict.fromkeys(candidates))
    if not found:
        raise OptionError("There is nothing left to observe: every variable is known, hidden, or the target.")
    return found


def _by_information(
    fit: Fit, network: Network, known: Known, target: str, tests: list[str], costs: Mapping[str, float], level: float
) -> NextTests:
    states = network.states(target)
    passes = [marginal_factors(network, {**known, target: (states[0],)}, memory_limit=fit.memory_limit)] * len(states)
    own = factors_of(network, {target: ()}, known, {}, memory_limit=fit.memory_limit)
    cpts, note = draws_for_all(fit, network, [*passes, own])
    shares, log_evidence = answer(network, cpts, Query({target: ()}, dict(known)))
    require_possible(log_evidence, Query({}, dict(known)))
    possible = np.isfinite(log_evidence)
    joint: dict[str, list[Numbers]] = {name: [] for name in tests}
    for number, state in enumerate(states):
        if not (shares[possible, number] > 0.0).any():
            continue
        given = marginals(network, cpts, {**known, target: (state,)}, memory_limit=fit.memory_limit)
        for name in tests:
            joint[name].append(np.nan_to_num(given[name]) * np.nan_to_num(shares[:, number, None]))
    uncertainty = float(_entropy(shares[possible].mean(axis=0)))
    rows, draws = [], []
    for name in tests:
        table = np.stack(joint[name], axis=2)[possible]  # (draws, states of the test, states of the target)
        value = float(_information(table.mean(axis=0)[None])[0])
        rows.append({"test": name, "value": value, "cost": costs.get(name, 0.0), "net": value, "changes": None})
        rows[-1]["share"] = min(1.0, value / uncertainty) if uncertainty > NOTHING else 0.0
        draws.append(_information(table))
    return _ranking(rows, np.stack(draws, axis=1), known, target, "information", "", level, note)


def _by_utility(fit: Fit, choices: Choices, known: Known, tests: list[str], level: float) -> NextTests:
    network, limit = choices.network, fit.memory_limit
    events = {(event, tuple(option.interventions.items())) for option in choices.options for _, event in option.lines}
    passes = [marginal_factors(network, known, memory_limit=limit)] * (1 + len(events))
    cpts, note = draws_for_all(fit, network, passes)
    before = marginals(network, cpts, known, memory_limit=limit)
    log_evidence = answer(network, cpts, Query({}, dict(known)))[1]
    require_possible(log_evidence, Query({}, dict(known)))
    possible = np.isfinite(log_evidence)
    gains: dict[str, list[Numbers]] = {name: [] for name in tests}  # of each option: (draws, states of the test)
    found: dict[object, tuple[Numbers, Mapping[str, Numbers]]] = {}
    for option in choices.options:
        total = {name: option.constant * before[name] for name in tests}
        for amount, event in choices.amounts(option):
            rest, do = remaining(known, event), option.interventions
            if rest is None:
                continue
            key = (rest, tuple(do.items()))
            if key not in found:
                probability = event_probability(network, cpts, known, do, rest) if rest else np.ones(1)
                seen = {**known, **dict(rest)}
                found[key] = probability, marginals(network, cpts, seen, do, memory_limit=limit) if rest else before
            probability, given = found[key]
            for name in tests:
                total[name] = total[name] + amount * probability[:, None] * np.nan_to_num(given[name])
        for name in tests:
            gains[name].append(total[name])
    rows, draws = [], []
    now = 0
    scale = max((abs(utility.amount) for utility in choices.problem.utilities), default=1.0)
    for name in tests:
        batch = max(len(each) for each in gains[name])
        stacked = [np.broadcast_to(each, (batch, each.shape[1])) for each in gains[name]]
        table = np.stack(stacked, axis=2)  # (draws, states of the test, options)
        table = table[possible] if batch == len(possible) else table
        mean = table.mean(axis=0)
        now = int(mean.sum(axis=0).argmax())
        after = mean.argmax(axis=1)
        shares = np.broadcast_to(before[name], (batch, len(mean)))
        shares = (shares[possible] if batch == len(possible) else shares).mean(axis=0)
        # A state changes the decision where another option is better than the present one, not where it is as good.
        changed = mean[np.arange(len(mean)), after] > mean[:, now] + NOTHING * scale
        value = max(0.0, float(mean.max(axis=1).sum() - mean.sum(axis=0).max()))
        cost = choices.problem.costs.get(name, 0.0)
        rows.append({"test": name, "value": value, "cost": cost, "net": value - cost, "share": None})
        rows[-1]["changes"] = float(shares[changed].sum())
        draws.append(table.max(axis=2).sum(axis=1) - table.sum(axis=1).max(axis=1) - cost)
    by_draw = np.stack(np.broadcast_arrays(*draws), axis=1)
    goal = listing([*choices.problem.options])
    return _ranking(rows, by_draw, known, goal, "utility", str(choices.options[now]), level, note)


def _entropy(shares: Numbers) -> float:
    """In bits."""
    positive = shares[shares > 0.0]
    return float(-(positive * np.log2(positive)).sum())


def _information(joint: Numbers) -> Numbers:
    """The mutual information of joint tables (batch, v, t), in bits, (batch,)."""
    independent = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(joint > 0.0, joint * np.log2(joint / independent), 0.0)
    return np.asarray(np.maximum(terms.sum(axis=(1, 2)), 0.0), dtype=np.float64)


def _ranking(
    rows: list[dict[str, Any]],
    draws: Numbers,
    known: Known,
    goal: str,
    by: str,
    now: str,
    level: float,
    note: str,
) -> NextTests:
    """The tests in their order, with how sure that is: `draws` are net values, (draws, tests)."""
    import polars as pl

    order = sorted(range(len(rows)), key=lambda number: -rows[number]["net"])
    ends = interval_ends(draws, level)
    best = probability_best(draws)
    table = [
        {
            **rows[number],
            "low": None if note else float(ends[0, number]),
            "high": None if note else float(ends[1, number]),
            "probability_best": None if note else float(best[number]),
        }
        for number in order
    ]
    numbers = ("value", "cost", "net", "share", "changes", "low", "high", "probability_best")
    frame = pl.DataFrame(table, schema={"test": pl.String, **dict.fromkeys(numbers, pl.Float64)})
    return NextTests(evidence_text(known), goal, by, frame, now, level, note)


def _sentences(found: NextTests) -> Iterator[str]:
    first, *others = _uncapitalised(found)
    yield from (first if found.given else first[0].upper() + first[1:], *others)


def _uncapitalised(found: NextTests) -> Iterator[str]:
    given = f"Given {found.given}, " if found.given else ""
    first = found.tests.row(0, named=True)
    sure = first["probability_best"]
    certainty = "" if sure is None else f" It is the best of {len(found.tests)} with probability {belief_digits(sure)}."
    certainty = certainty if len(found.tests) > 1 else ""
    if found.best is None and found.by == "utility":
        yield (
            f"{given}no test is worth its cost: decide now ({found.now}). The best, {first['test']}, would gain "
            f"{amount_text(first['value'])} and costs {amount_text(first['cost'])}."
        )
    elif found.best is None:
        yield f"{given}no observation says anything about {found.goal}."
    elif found.by == "utility":
        cost = f" at a cost of {amount_text(first['cost'])}" if first["cost"] else ""
        yield (
            f"{given}observe {first['test']} next: it would change the decision ({found.now}) in "
            f"{short_percent(first['changes'])} of such cases, and gain {amount_text(first['value'])}{cost}.{certainty}"
        )
    else:
        yield (
            f"{given}observe {first['test']} next: it is expected to remove {short_percent(first['share'])} of the "
            f"uncertainty about {found.goal}.{certainty}"
        )
    useful = [row for row in found.tests.iter_rows(named=True) if row["value"] > NOTHING]
    for row in useful[:SHOWN]:
        if found.by == "utility":
            cost = f" - {amount_text(row['cost'])} = {amount_text(row['net'])}" if row["cost"] else ""
            what = f"gain {amount_text(row['value'])}{cost}, changes the decision in {short_percent(row['changes'])}"
        else:
            cost = f", cost {amount_text(row['cost'])}" if row["cost"] else ""
            what = f"{short_percent(row['share'])} of the uncertainty ({row['value']:.3f} bits){cost}"
        sure = row["probability_best"] if len(found.tests) > 1 else None
        best = "" if sure is None else f"; best with probability {belief_digits(sure)}"
        yield f"  {row['test']}: {what}{best}"
    if len(useful) > SHOWN:
        yield f"  … and {len(useful) - SHOWN} more"
    if useful and len(useful) < len(found.tests):
        what = "change the decision" if found.by == "utility" else f"say anything about {found.goal}"
        yield f"  {counted(len(found.tests) - len(useful), 'other')} would not {what}."
    if found.note:
        yield found.note
