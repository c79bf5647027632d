"""What an answer, or a decision, depends on: numbers of CPTs, findings, evidence and statements.

An answer is a sum of probabilities with coefficients: one P(x | e), or for a decision the expected gain of the best
option over the second. As a function of one number θ of a CPT, while the others of its distribution shrink in
proportion, both P(x, e) and P(e) are linear: each term is exactly (p + δ·a)/(1 + δ·b) at θ + δ [Laskey, 1995].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from credo.errors import OptionError, QueryError, TooLargeError, listing
from credo.explain.statement_effects import learned_without
from credo.explain.statement_references import references_to
from credo.knowledge.knowledge import KnowledgeSource
from credo.knowledge.query import Query, as_query, evidence_text
from credo.model.expansion import expand
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.posterior.draws import PosteriorResult
from credo.probability_texts import percent_digits
from credo.questions.decide import amount_text
from credo.questions.expected_utility import choices_of, evidence_before, expected_utilities, remaining
from credo.questions.marginals import soft_likelihoods
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import FROM_FILE, Fit
from credo.statistics.questions import BatchedCPTs, answer, as_batch, derivatives, marginals, require_possible
from credo.types import Numbers, Soft

if TYPE_CHECKING:
    import polars as pl

SMALLEST_CHANGE = 1e-9  # of an answer per unit of a number, below which it does not depend on it
LEAST_PROBABILITY = 1e-12  # of a finding; a state that is less probable is not considered


_BARS = {  # of a tornado: the columns with the label and with the two ends
    "parameters": ("parameter", "at_low", "at_high"),
    "findings": ("variable", "low", "high"),
    "evidence": ("evidence", "without", "without"),
    "statements": ("statement", "without", "without"),
}


@dataclass(frozen=True, slots=True)
class Sensitivity(PlainResult):
    """Which numbers, findings and statements an answer depends on. Printing it shows those that matter most.

    Attributes
    ----------
    query : str
        The question, or the choice that is better than another.
    probability : float
        Its answer at the learned CPTs; for a decision the expected gain in utility.
    parameters : polars.DataFrame
        For each number of a CPT that matters: `parameter`, `value`, and `change_per_point`, by how much the answer
        changes if the number rises by one percentage point while the others of its distribution shrink in proportion.
        Of two numbers that sum to one, the second is listed.
        With draws also `deviation`, how uncertain the number is; `contribution`, how uncertain that makes the answer;
        and `at_low` and `at_high`, the answer if the number were at the ends of its 95% interval. Largest first.
    evidence : polars.DataFrame
        For each item of evidence: `evidence`, `without`, the answer without it, and `change`. Largest first.
    findings : polars.DataFrame
        For each variable that is not known: `variable`; `low` and `high`, the least and the greatest answer that one of
        its states could lead to; `low_state` and `high_state`. Largest range first.
    statements : polars.DataFrame
        For each statement, where they were asked for: `place`, `statement`, `without`, the answer that is learned
        without it, and `change`. Largest first.
    unit : str
        "probability", or "utility" for a decision.
    """

    query: str
    probability: float
    parameters: pl.DataFrame = field(repr=False)
    evidence: pl.DataFrame = field(repr=False)
    findings: pl.DataFrame = field(repr=False)
    statements: pl.DataFrame = field(repr=False)
    unit: str = "probability"

    def bars(self, of: str = "parameters") -> list[tuple[str, float, float]]:
        """The bars of a tornado, the widest first.

        Parameters
        ----------
        of
            "parameters", "findings", "evidence" or "statements".

        Returns
        -------
        list of tuples
            A label and the two ends of each bar. Without draws there are no bars of parameters.

        Raises
        ------
        OptionError
            If there is no such kind of bars.
        """
        if of not in _BARS:
            raise OptionError(f"A tornado is of {listing([*_BARS])}, not of {of!r}.")
        label, low, high = _BARS[of]
        rows: list[dict[str, Any]] = getattr(self, of).to_dicts()
        bars = [(row[label], row[low], row[high]) for row in rows if row.get(low) is not None]
        return sorted(bars, key=lambda bar: -max(abs(end - self.probability) for end in bar[1:]))

    def __str__(self) -> str:
        import polars as pl

        shown = percent_digits if self.unit == "probability" else amount_text
        lines = [f"{self.query} = {shown(self.probability)} at the learned CPTs."]
        if len(self.evidence):
            lines.append("Without this evidence it would be:")
            lines += [
                f"  {row['evidence']}: {shown(row['without'])}" for row in self.evidence.head(5).iter_rows(named=True)
            ]
        if len(self.parameters):
            has_draws = "at_low" in self.parameters.columns
            listed = self.parameters.filter(pl.col("at_low") != pl.col("at_high")) if has_draws else self.parameters
            unit, scale = ("points", 100.0) if self.unit == "probability" else ("utility", 1.0)
            lines.append(
                "With one of these numbers at the ends of its 95% interval, it would be:"
                if has_draws
                else f"If one of these numbers were one percentage point larger, it would change by ({unit}):"
            )
            for row in listed.head(8).iter_rows(named=True):
                change = f"{scale * row['change_per_point']:+.2f}"
                moved = f"{shown(row['at_low'])} to {shown(row['at_high'])}" if has_draws else change
                lines.append(f"  {row['parameter']} = {percent_digits(row['value'])}: {moved}")
        if len(self.findings):
            lines.append("Among what is not known, these would move it furthest:")
            lines += [
                f"  {row['variable']}: {shown(row['low'])} ({row['low_state']}) to {shown(row['high'])} "
                f"({row['high_state']})"
                for row in self.findings.head(5).iter_rows(named=True)
            ]
        if len(self.statements):
            lines.append("Learned without one of these statements, it would be:")
            lines += [
                f"  {row['statement']}: {shown(row['without'])}"
                for row in self.statements.head(8).iter_rows(named=True)
            ]
        return "\n".join(lines)


class Term(NamedTuple):
    """A coefficient times the probability that a question asks for."""

    coefficient: float
    question: Query


class Goal(NamedTuple):
    """What is asked about: a constant and terms, given soft evidence, under the CPTs of an expanded network."""

    network: Network
    terms: Sequence[Term]
    constant: float
    likelihoods: Mapping[str, Numbers]
    memory_limit: int | None

    @property
    def cpts(self) -> BatchedCPTs:
        """The CPTs as those of one draw."""
        return as_batch(self.network)

    def probability(self, asked: Query) -> tuple[float, float]:
        """The answer to one of the questions, and the logarithm of the probability of its evidence."""
        values, log_evidence = answer(self.network, self.cpts, asked, self.likelihoods, self.memory_limit)
        require_possible(log_evidence, asked)
        return float(values.ravel()[0]), float(log_evidence[0])

    def value(self) -> float:
        """The sum of all terms."""
        return self.constant + sum(term.coefficient * self.probability(term.question)[0] for term in self.terms)

    def without(self, name: str) -> Goal:
        """The same without an item of evidence."""
        terms = [term._replace(question=_fewer(term.question, name)) for term in self.terms]
        return self._replace(terms=terms, likelihoods=_without(self.likelihoods, name))


def sensitivity(fit: Fit, question: str | Query, soft: Soft | None = None, statements: bool = False) -> Sensitivity:
    """Which CPT numbers, findings and statements move the answer to a question most; see `Fit.sensitivity`."""
    asked = as_query(fit.network, question)
    if not all(asked.targets.values()):
        raise QueryError(f"Sensitivity is that of one number: give each target of {asked} a state.")
    likelihoods = soft_likelihoods(fit.network, soft, asked.evidence, asked.interventions)
    goal = Goal(expand(fit.network).network, [Term(1.0, asked)], 0.0, likelihoods, fit.memory_limit)
    return _sensitivity(fit, str(asked), goal, "probability", statements)


def decision_sensitivity(
    fit: Fit, evidence: object = None, utilities: KnowledgeSource | None = None, statements: bool = False
) -> Sensitivity:
    """What the gain of the best option over the second depends on; see `Fit.decision_sensitivity`."""
    choices = choices_of(fit, utilities)
    known = evidence_before(choices, fit.network, evidence)
    values, log_evidence = expected_utilities(choices, as_batch(choices.network), known)
    require_possible(log_evidence, Query({}, dict(known)))
    best, second = np.argsort(-values[0], kind="stable")[:2].tolist()
    terms, constant = [], 0.0
    for sign, option in ((1.0, choices.options[best]), (-1.0, choices.options[second])):
        constant += sign * option.constant
        for amount, event in choices.amounts(option):
            rest = remaining(known, event)
            if rest:
                query = Query(dict(rest), dict(known), dict(option.interventions))
                terms.append(Term(sign * amount, query))
            elif rest is not None:
                constant += sign * amount
    given = f", given {evidence_text(known)}" if known else ""
    name = f"gain of {choices.options[best]} over {choices.options[second]}{given}"
    goal = Goal(choices.network, _added_up(terms), constant, {}, fit.memory_limit)
    return _sensitivity(fit, name, goal, "utility", statements, choices.after)


def _added_up(terms: Sequence[Term]) -> list[Term]:
    """Terms with the same question as one; those that cancel are left out."""
    found: dict[str, Term] = {}
    for term in terms:
        before = found.get(str(term.question), Term(0.0, term.question))
        found[str(term.question)] = Term(before.coefficient + term.coefficient, term.question)
    return [term for term in found.values() if term.coefficient]


def _sensitivity(
    fit: Fit, name: str, goal: Goal, unit: str, with_statements: bool, excluded: frozenset[str] = frozenset()
) -> Sensitivity:
    import polars as pl

    value = goal.value()
    rows = _parameter_rows(fit, goal)
    columns = {"parameter": pl.String, "value": pl.Float64, "change_per_point": pl.Float64}
    if rows and "deviation" in rows[0]:
        columns |= dict.fromkeys(("deviation", "contribution", "at_low", "at_high"), pl.Float64)
    key = "contribution" if "contribution" in columns else "change_per_point"
    parameters = pl.DataFrame(rows, schema=columns).sort(pl.col(key).abs(), descending=True, maintain_order=True)
    evidence = goal.terms[0].question.evidence if goal.terms else {}
    left_out = []
    for item in (*evidence, *goal.likelihoods):
        without = goal.without(item).value()
        shown = evidence_text({item: evidence[item]}) if item in evidence else f"{item}, uncertain"
        left_out.append({"evidence": shown, "without": without, "change": value - without})
    schema = {"evidence": pl.String, **_numbers("without", "change")}
    stated = _statement_rows(fit, goal, value) if with_statements else []
    return Sensitivity(
        name,
        value,
        parameters,
        pl.DataFrame(left_out, schema=schema).sort(pl.col("change").abs(), descending=True),
        _findings(fit, goal, excluded),
        pl.DataFrame(stated, schema={"place": pl.String, "statement": pl.String, **_numbers("without", "change")}).sort(
            pl.col("change").abs(), descending=True, maintain_order=True
        ),
        unit,
    )


def _numbers(*names: str) -> dict[str, Any]:
    import polars as pl

    return dict.fromkeys(names, pl.Float64)


def _fewer(asked: Query, name: str) -> Query:
    return Query(asked.targets, _without(asked.evidence, name), asked.interventions)


def _without(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in given.items() if other != name}


# Numbers of CPTs ------------------------------------------------------------------------------------------------------


class Slopes(NamedTuple):
    """A term at the learned CPTs, and by how much P(x, e) and P(e) change with each number, in units of P(e)."""

    coefficient: float
    probability: float
    joint: Mapping[str, Numbers]
    evidence: Mapping[str, Numbers]


def _slopes(goal: Goal, term: Term) -> Slopes:
    """∂/∂θ_k with the other numbers θ_l of the distribution shrinking in proportion: s_k − Σ_{l≠k} θ_l·s_l/(1 − θ_k).

    Of two numbers, s_2 − s_1, also where θ_2 = 1.
    """
    coefficient, asked = term
    network, cpts = goal.network, goal.cpts
    probability, unit = goal.probability(asked)
    together = derivatives(network, cpts, asked, goal.likelihoods, log_unit=unit)
    alone = derivatives(network, cpts, Query({}, asked.evidence, asked.interventions), goal.likelihoods, log_unit=unit)
    joint, evidence = (
        {name: _along(slope[0], network.cpt_array(name)) for name, slope in each.items()} for each in (together, alone)
    )
    return Slopes(coefficient, probability, joint, evidence)


def _along(slope: Numbers, cpt: Numbers) -> Numbers:
    if cpt.shape[-1] == 2:  # the first number is one minus the second
        return np.stack((np.zeros(cpt.shape[:-1]), slope[..., 1] - slope[..., 0]), axis=-1)
    others = ((slope * cpt).sum(axis=-1, keepdims=True) - slope * cpt) / np.where(cpt < 1.0, 1.0 - cpt, 1.0)
    return np.where(cpt < 1.0, slope - others, 0.0)


def _parameter_rows(fit: Fit, goal: Goal) -> list[dict[str, Any]]:
    """By how much the answer changes with each number of each CPT, where it changes at all."""
    network = goal.network
    slopes = [_slopes(goal, term) for term in goal.terms]
    posterior = fit.posterior if isinstance(fit.posterior, PosteriorResult) and not why_no_interval(fit) else None
    deviations = {} if fit.posterior is None or why_no_interval(fit) else fit.posterior.deviations
    rows = []
    for name in dict.fromkeys(name for each in slopes for name in each.joint):
        cpt = network.cpt_array(name)
        change = np.zeros(cpt.shape)
        for each in slopes:
            if name in each.joint:
                change += each.coefficient * (each.joint[name] - each.probability * each.evidence.get(name, 0.0))
        ends = posterior.interval(name) if posterior is not None and name in posterior.names else None
        for index in np.argwhere(np.abs(change) > SMALLEST_CHANGE):
            place = tuple(index.tolist())
            configuration = int(np.ravel_multi_index(place[:-1], cpt.shape[:-1])) if len(place) > 1 else 0
            row = {
                "parameter": network.describe(name, configuration, place[-1]),
                "value": float(cpt[place]),
                "change_per_point": 0.01 * float(change[place]),
            }
            if deviations:
                deviation = float(deviations[name][place]) if name in deviations else 0.0
                row |= {"deviation": deviation, "contribution": abs(float(change[place])) * deviation}
                reach = (0.0, 0.0) if ends is None else tuple(float(end[place] - cpt[place]) for end in ends)
                low, high = (goal.constant + _moved(slopes, name, place, step) for step in reach)
                row |= {"at_low": low, "at_high": high}
            rows.append(row)
    return rows


def _moved(slopes: Sequence[Slopes], name: str, place: tuple[int, ...], step: float) -> float:
    """The sum of all terms if a number were larger by `step`."""
    total = 0.0
    for each in slopes:
        a = float(each.joint[name][place]) if name in each.joint else 0.0
        b = float(each.evidence[name][place]) if name in each.evidence else 0.0
        below = 1.0 + step * b
        total += each.coefficient * ((each.probability + step * a) / below if below > 0.0 else each.probability)
    return total


# Findings and statements ----------------------------------------------------------------------------------------------


def _findings(fit: Fit, goal: Goal, excluded: frozenset[str]) -> pl.DataFrame:
    """The answer for every state of every variable that is not known: P(x | e, v) = P(v | x, e)·P(x | e) / P(v | e)."""
    import polars as pl

    network, cpts, likelihoods, limit = goal.network, goal.cpts, goal.likelihoods, goal.memory_limit
    schema = {"variable": pl.String, **_numbers("low", "high"), "low_state": pl.String, "high_state": pl.String}
    known = {name for _, asked in goal.terms for name in (*asked.targets, *asked.evidence, *asked.interventions)}
    names = [name for name in fit.network.names if name not in known | {*likelihoods, *excluded}]
    totals = {name: np.full(len(network.states(name)), goal.constant) for name in names}
    possible = {name: np.ones(len(network.states(name)), dtype=bool) for name in names}
    try:
        for coefficient, asked in goal.terms:
            given = dict(asked.evidence), dict(asked.interventions), dict(likelihoods)
            before = marginals(network, cpts, *given, memory_limit=limit)
            probability, _ = goal.probability(asked)
            seen = {**asked.evidence, **asked.targets}
            after = marginals(network, cpts, seen, *given[1:], memory_limit=limit) if probability > 0 else {}
            for name in names:
                chance = before[name][0]
                possible[name] &= chance > LEAST_PROBABILITY
                share = np.nan_to_num(after[name][0]) * probability if after else np.zeros(len(chance))
                totals[name] += coefficient * np.divide(share, chance, out=np.zeros(len(chance)), where=chance > 0)
    except TooLargeError:  # every variable at once takes more than one question
        return pl.DataFrame([], schema=schema)
    rows = []
    for name in names:
        states = [k for k in range(len(totals[name])) if possible[name][k]]
        if len(states) < 2:
            continue
        low, high = (choose(states, key=totals[name].__getitem__) for choose in (min, max))
        if totals[name][high] - totals[name][low] > SMALLEST_CHANGE:
            ends = {"low": float(totals[name][low]), "high": float(totals[name][high])}
            labels = {"low_state": network.states(name)[low], "high_state": network.states(name)[high]}
            rows.append({"variable": name, **ends, **labels})
    found = pl.DataFrame(rows, schema=schema)
    return found.sort(pl.col("high") - pl.col("low"), descending=True, maintain_order=True)


def _statement_rows(fit: Fit, goal: Goal, value: float) -> list[dict[str, Any]]:
    """The answer that is learned without each statement, by the fit's own method."""
    problem = fit._problem
    if fit.method == FROM_FILE:
        raise OptionError("The numbers are those of a network file: no statements were learned. Ask without them.")
    if problem is None or (fit.is_incomplete and problem.data.dataset is None):
        raise OptionError("A saved fit has no rows, and some values were missing: learn again for the statements.")
    rows = []
    for reference in references_to(fit.knowledge.statements):
        solution = learned_without(problem, [reference.number])
        if solution is None:
            continue
        other = {name: cpt for name, cpt in solution.cpts.items() if name in goal.network}
        without = goal._replace(network=goal.network.with_cpts({**goal.network.cpts, **other})).value()
        rows.append(
            {"place": reference.place, "statement": reference.text, "without": without, "change": value - without}
        )
    return rows
