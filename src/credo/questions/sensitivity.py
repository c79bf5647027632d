"""Which numbers of the CPTs, and which evidence, an answer depends on most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import QueryError
from credo.knowledge.query import Query, as_query
from credo.model.expansion import expand
from credo.model.network import Network
from credo.probability_texts import percent_digits
from credo.questions.evidence import soft_likelihoods
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import Fit
from credo.statistics.questions import BatchedCPTs, answer, as_batch, derivatives, require_possible
from credo.terminal import escape
from credo.types import Numbers, Soft

if TYPE_CHECKING:
    import polars as pl

SMALLEST_CHANGE = 1e-9  # of an answer per unit of a number, below which it does not depend on it


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Which numbers and which evidence an answer depends on. Printing it shows those that matter most.

    Attributes
    ----------
    query : str
        The question.
    probability : float
        Its answer at the learned CPTs.
    parameters : polars.DataFrame
        For each number of a CPT that matters: `parameter`, `value`, and `change_per_point`, by how much the answer
        changes if the number rises by one percentage point while the others of its distribution shrink in proportion.
        Of two numbers that sum to one, the second is listed.
        With draws also `deviation`, how uncertain the number is, and `contribution`, how uncertain that makes the
        answer. Largest first.
    evidence : polars.DataFrame
        For each item of evidence: `evidence`, `without`, the answer without it, and `change`. Largest first.
    """

    query: str
    probability: float
    parameters: pl.DataFrame = field(repr=False)
    evidence: pl.DataFrame = field(repr=False)

    def __str__(self) -> str:
        lines = [f"{self.query} = {percent_digits(self.probability)} at the learned CPTs."]
        if len(self.evidence):
            lines.append("Without this evidence it would be:")
            lines += [
                f"  {row['evidence']}: {percent_digits(row['without'])}"
                for row in self.evidence.head(5).iter_rows(named=True)
            ]
        if len(self.parameters):
            lines.append("If one of these numbers were one percentage point larger, it would change by (points):")
            lines += [
                f"  {row['parameter']} = {percent_digits(row['value'])}: {100 * row['change_per_point']:+.2f}"
                for row in self.parameters.head(8).iter_rows(named=True)
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def sensitivity(fit: Fit, question: str | Query, soft: Soft | None = None) -> Sensitivity:
    """Which CPT numbers and which evidence move the answer to a question most; see `Fit.sensitivity`.

    With P = P(x | e) and the slopes s_k = (∂P(x, e)/∂θ_k − P·∂P(e)/∂θ_k) / P(e) for the numbers θ_k of a distribution,

        dP/dθ_k = s_k − Σ_{l≠k} θ_l·s_l/(1 − θ_k),

    where the other numbers of the distribution shrink in proportion. Of two numbers, dP/dθ_2 = s_2 − s_1, also where
    θ_2 = 1. Soft evidence is part of e.
    """
    import polars as pl

    asked = as_query(fit.network, question)
    if not all(asked.targets.values()):
        raise QueryError(f"Sensitivity is that of one number: give each target of {asked} a state.")
    network = expand(fit.network).network
    cpts = as_batch(network)
    likelihoods = soft_likelihoods(fit.network, soft, asked.evidence, asked.interventions)
    values, log_evidence = answer(network, cpts, asked, likelihoods, fit.memory_limit)
    require_possible(log_evidence, asked)
    probability = float(values.ravel()[0])
    rows = _parameter_rows(fit, network, cpts, asked, likelihoods, probability, float(log_evidence[0]))
    columns = {"parameter": pl.String, "value": pl.Float64, "change_per_point": pl.Float64}
    if rows and "deviation" in rows[0]:
        columns |= {"deviation": pl.Float64, "contribution": pl.Float64}
    key = "contribution" if "contribution" in columns else "change_per_point"
    parameters = pl.DataFrame(rows, schema=columns).sort(pl.col(key).abs(), descending=True, maintain_order=True)
    left_out = []
    for name in (*asked.evidence, *likelihoods):
        rest = Query(asked.targets, _without(asked.evidence, name), asked.interventions)
        without = float(answer(network, cpts, rest, _without(likelihoods, name))[0].ravel()[0])
        shown = str(Query({name: asked.evidence[name]}))[2:-1] if name in asked.evidence else f"{name}, uncertain"
        left_out.append({"evidence": shown, "without": without, "change": probability - without})
    schema = {"evidence": pl.String, "without": pl.Float64, "change": pl.Float64}
    evidence = pl.DataFrame(left_out, schema=schema).sort(pl.col("change").abs(), descending=True)
    return Sensitivity(str(asked), probability, parameters, evidence)


def _without(given: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: value for other, value in given.items() if other != name}


def _parameter_rows(
    fit: Fit,
    network: Network,
    cpts: BatchedCPTs,
    asked: Query,
    likelihoods: Mapping[str, Numbers],
    probability: float,
    log_evidence: float,
) -> list[dict[str, Any]]:
    """By how much the answer changes with each number of each CPT, where it changes at all."""
    together = derivatives(network, cpts, asked, likelihoods, log_unit=log_evidence)
    given = Query({}, asked.evidence, asked.interventions)
    alone = derivatives(network, cpts, given, likelihoods, log_unit=log_evidence)
    deviations = {} if fit.posterior is None or why_no_interval(fit) else fit.posterior.deviations
    rows = []
    for name, joint in together.items():
        cpt = network.cpt_array(name)
        slope = joint[0] - probability * (alone[name][0] if name in alone else 0.0)
        if cpt.shape[-1] == 2:  # the first number is one minus the second
            change = np.stack((np.zeros(cpt.shape[:-1]), slope[..., 1] - slope[..., 0]), axis=-1)
        else:
            others = ((slope * cpt).sum(axis=-1, keepdims=True) - slope * cpt) / np.where(cpt < 1.0, 1.0 - cpt, 1.0)
            change = np.where(cpt < 1.0, slope - others, 0.0)
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
            rows.append(row)
    return rows
