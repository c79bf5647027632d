"""What experts and studies said of a number, what rows show of it, and what came out: beside each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.evidence import Cases, CountEvidence, EvidenceRecord, LogRatioEvidence
from credo.estimation.problem import Problem
from credo.explain.statement_references import StatementReference, references_to
from credo.knowledge import Knowledge
from credo.knowledge.evidence import (
    RISK_DIFFERENCE,
    EffectStudy,
    Evidence,
    ExpertNumber,
    Study,
    beta_interval,
    subject_of,
    understood,
)
from credo.posterior.draws import PosteriorResult
from credo.probability_texts import percent_digits
from credo.statistics.evidence import EvidenceDensity, learned_variation, measured, number_of
from credo.types import Numbers

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class EvidenceUsed:
    """One expert's number or study, beside what rows show and what was learned.

    Attributes
    ----------
    statement
        The statement, with its line and its words.
    source
        Who said it, or where it was published; empty if nobody said.
    subject
        What it is about.
    given
        What was given, with its 95% interval.
    data
        What complete rows show of it; empty where they cannot be compared directly.
    result
        What was learned, with its 95% interval where there are draws.
    share
        How much of what is known of the number it contributed by itself: its precision divided by that of the result.
        None without draws.
    weight
        Which part of its cases counts, where its expert may be wrong; None for all others.
    """

    statement: StatementReference
    source: str
    subject: str
    given: str
    data: str
    result: str
    share: float | None = None
    weight: float | None = None


def evidence_used(
    knowledge: Knowledge, problem: Problem, posterior: PosteriorResult | None, cpts: Mapping[str, Numbers]
) -> tuple[EvidenceUsed, ...]:
    """Every expert's number and study of a fit, in the order of the statements."""
    stated = problem.model.stated
    references = references_to(knowledge.statements)
    thetas, weights = _thetas(problem, posterior, cpts), problem.data.expert_weights
    found = []
    for record in () if stated is None else stated.evidence:
        statement = knowledge.statements[record.statement]
        assert isinstance(statement, ExpertNumber | Study | EffectStudy)
        given, data, result = _texts(record, statement, problem, thetas)
        weight = None
        source = "" if isinstance(statement, ExpertNumber) else statement.source
        if isinstance(statement, ExpertNumber):
            given = f"{given}, {understood(statement)}"
            source = "" if statement.expert is None else statement.expert.name
            if statement.expert is not None or "" in weights:
                weight = weights.get(source)
        share = _share(record, statement, problem, thetas)
        share = share if share is None or weight is None else min(1.0, share * weight)
        reference = references[record.statement]
        subject = subject_of(_with_state(statement, problem))
        found.append(EvidenceUsed(reference, source, subject, given, data, result, share, weight))
    return tuple(found)


def learned_of(
    knowledge: Knowledge, problem: Problem, posterior: PosteriorResult, cpts: Mapping[str, Numbers]
) -> dict[int, tuple[float, float, float]]:
    """What was learned of each expert's number, by the number of its statement: the mean and the 95% interval."""
    thetas = _thetas(problem, posterior, cpts)
    found = {}
    for record in () if problem.model.stated is None else problem.model.stated.evidence:
        if isinstance(record, Cases) and len(record.counts) == 2:
            statement = knowledge.statements[record.statement]
            assert isinstance(statement, ExpertNumber | Study)
            first = problem.layout.offsets[record.variable] + record.configuration * 2
            values = thetas[:, first + _shown(record, statement, problem)[0]]
        elif isinstance(record, CountEvidence):
            density = EvidenceDensity.of([_plain(record)], problem.layout, problem.model.network)
            values = density.probabilities(thetas)[:, 0]
        else:
            continue
        mean, low, high = _summary(values).tolist()
        found[record.statement] = mean, low, high
    return found


def _thetas(problem: Problem, posterior: PosteriorResult | None, cpts: Mapping[str, Numbers]) -> Numbers:
    start = problem.layout.pack({**problem.model.network.cpts, **cpts})
    if posterior is None:
        return start[None]
    draws = posterior.draws.reshape(-1, posterior.layout.size)
    thetas = np.repeat(start[None], len(draws), axis=0)
    for name in posterior.names:
        thetas[:, problem.layout.slice_of(name)] = draws[:, posterior.layout.slice_of(name)]
    return thetas


def _texts(record: EvidenceRecord, statement: Evidence, problem: Problem, thetas: Numbers) -> tuple[str, str, str]:
    if isinstance(record, LogRatioEvidence):
        values = _ratios(record, problem, thetas)
        width = 1.959964 * np.hypot(record.error, record.variation or 0.0)
        ends = np.array([record.estimate, record.estimate - width, record.estimate + width])
        return _ratio_text(record.measure, ends), "", _ratio_text(record.measure, _summary(values))
    if isinstance(record, CountEvidence):
        values = EvidenceDensity.of([_plain(record)], problem.layout, problem.model.network).probabilities(thetas)
        return _beta_texts(record.counts), "", _share_texts(values)
    states = len(record.counts)
    first = problem.layout.offsets[record.variable] + record.configuration * states
    counts = problem.data.of_rows if problem.data.of_rows is not None else problem.data.counts
    rows = counts.configuration(record.variable, record.configuration)
    shown = _shown(record, statement, problem)
    total = rows.sum()
    data = ", ".join(f"{rows[k]:g} of {total:g}" for k in shown) if total else "no rows"
    own = thetas[:, first : first + states][:, shown]
    return _beta_texts(tuple(record.counts[k] for k in shown), sum(record.counts)), data, _share_texts(own)


def _share(record: EvidenceRecord, statement: Evidence, problem: Problem, thetas: Numbers) -> float | None:
    """Var(result) / Var(by itself): n / N where n of N cases come from a study, and the same for any other number."""
    if len(thetas) < 2:
        return None
    variation = 0.0 if isinstance(record, Cases) else _variation(record, problem, thetas)
    if isinstance(record, LogRatioEvidence):
        values = _ratios(record, problem, thetas)
        return float(min(1.0, values.var() / (record.error**2 + variation**2)))
    if isinstance(record, CountEvidence):
        values = EvidenceDensity.of([_plain(record)], problem.layout, problem.model.network).probabilities(thetas)[:, 0]
    else:
        first = problem.layout.offsets[record.variable] + record.configuration * len(record.counts)
        values = thetas[:, first + _shown(record, statement, problem)[0]]
    spread = values.mean() * (1.0 - values.mean())
    own = spread / sum(record.counts) + (variation * spread) ** 2
    return float(min(1.0, values.var() / own)) if own > 0.0 else None


def _variation(record: CountEvidence | LogRatioEvidence, problem: Problem, thetas: Numbers) -> float:
    """How far studies of the same number vary, on the scale of its measure."""
    if not record.is_learned:
        return record.variation or 0.0
    measure, asked = number_of(record)
    same = [
        each
        for each in ([] if problem.model.stated is None else problem.model.stated.evidence)
        if not isinstance(each, Cases) and each.is_learned and number_of(each) == (measure, asked)
    ]
    density = EvidenceDensity.of([record], problem.layout, problem.model.network)
    return learned_variation(measure, same, density.probabilities(thetas))


def _plain(record: CountEvidence) -> CountEvidence:
    return CountEvidence(record.probabilities, record.counts, record.statement)


def _shown(record: Cases, statement: Evidence, problem: Problem) -> list[int]:
    """The states to show: the one that was stated, or of a whole distribution all but, of two, the first."""
    assert isinstance(statement, ExpertNumber | Study)
    if stated := statement.probability.states:
        return [problem.model.network.states(str(statement.probability.variable)).index(str(stated[0]))]
    return [1] if len(record.counts) == 2 else list(range(len(record.counts)))


def _with_state(statement: Evidence, problem: Problem) -> Evidence:
    """The statement; one about a whole distribution of two states is shown as the second of them."""
    if isinstance(statement, EffectStudy) or statement.probability.states:
        return statement
    states = problem.model.network.states(str(statement.probability.variable))
    if len(states) > 2:
        return statement
    return replace(statement, probability=replace(statement.probability, states=states[1:]))


def _beta_texts(counts: tuple[float, ...], total: float | None = None) -> str:
    whole = sum(counts) if total is None else total
    shown = counts[:1] if total is None and len(counts) == 2 else counts
    parts = []
    for count in shown:
        if 0.0 < count < whole:
            low, high = beta_interval(count, whole - count, LEVEL)
            parts.append(f"{percent_digits(count / whole)} [{percent_digits(low)}, {percent_digits(high)}]")
        else:
            parts.append(percent_digits(count / whole))
    return ", ".join(parts)


def _share_texts(values: Numbers) -> str:
    shown = values[:, :1] if values.shape[1] == 2 else values
    parts = []
    for column in shown.T:
        mean, low, high = _summary(column)
        ends = f" [{percent_digits(low)}, {percent_digits(high)}]" if len(column) > 1 else ""
        parts.append(percent_digits(mean) + ends)
    return ", ".join(parts)


def _ratios(record: LogRatioEvidence, problem: Problem, thetas: Numbers) -> Numbers:
    density = EvidenceDensity.of([record], problem.layout, problem.model.network)
    return measured(record.measure, np.clip(density.probabilities(thetas), 1e-12, 1.0 - 1e-12))[0]


def _summary(values: Numbers) -> Numbers:
    return np.array([values.mean(), *np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])])


def _ratio_text(measure: str, numbers: Numbers) -> str:
    mean, low, high = numbers.tolist() if measure == RISK_DIFFERENCE else np.exp(numbers).tolist()
    return f"{mean:.3g} [{low:.3g}, {high:.3g}]"
