"""What questions to an expert are for: a probability, the whole network, or a decision, under each draw.

A goal says how much is not known of it (`total`), and how much of that is left in a group of draws (`left`): the
variance of a probability; what is expected to be lost because one has to decide without knowing the draw,

    E[max_d EU(d)] − max_d E[EU(d)];

or the expected divergence of the true network from the learned one, where H is the entropy of a distribution, θ_j the
distribution in configuration j under a draw, and P(j) how probable that configuration is,

    E[Σ_j P(j) KL(θ_j ‖ E θ_j)] = Σ_j P(j) (H(E θ_j) − E H(θ_j)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from credo.errors import QueryError
from credo.knowledge.decisions import decision_problem
from credo.knowledge.query import Query, as_query
from credo.model.expansion import expand
from credo.model.network import Network
from credo.posterior.draws import MOST_CELLS
from credo.questions.expected_utility import choices_of, evidence_before, expected_utilities, utility_factors
from credo.results.fit_results import Fit
from credo.statistics.questions import BatchedCPTs, answer, as_batch, factors_of
from credo.types import Numbers

WHOLE = "the whole network"
ROUNDING = 1e-9  # of the largest utility: a smaller loss is none
LEAST_MEAN = 1e-6  # of a probability whose entropy is corrected for few draws


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be known better: numbers under each draw, by the CPT that a question has to be about to change them.

    Attributes
    ----------
    name
        What it is called.
    values
        (draws, numbers), by child; the same for all children of a single probability. Of a decision the expected
        utility of each option; of the whole network the numbers of the child's CPT.
    total
        How much is not known: the variance, the expected loss, or the expected divergence.
    children
        Whose CPTs matter.
    options
        The options of a decision; empty for probabilities.
    weights
        Of the whole network how probable the configuration of each number is, (numbers,), by child; else empty.
    """

    name: str
    values: Mapping[str, Numbers]
    total: float
    children: tuple[str, ...]
    options: tuple[str, ...] = ()
    weights: Mapping[str, Numbers] = field(default_factory=dict)

    @property
    def deviation(self) -> float:
        """How much is not known, in the unit of the goal."""
        return self.total if self.options else float(np.sqrt(max(0.0, self.total)))

    def left(self, child: str, means: Numbers, variances: Numbers, effective: Numbers, believed: Numbers) -> Numbers:
        """How much is not known in groups of draws, up to a constant, if the answer was about this child.

        They are given by the means and variances of the values, (groups, numbers), and the effective number of draws,
        (groups,), of which few make what is left look smaller than it is. What is `believed` then, (groups, numbers),
        are the same means, or those from before where nothing follows from an answer.
        """
        if self.options:
            best = believed.argmax(axis=1)
            return np.asarray(-np.take_along_axis(means, best[:, None], axis=1)[:, 0], dtype=np.float64)
        if not self.weights:
            spread = variances * (effective / (effective - 1.0))[:, None] + (means - believed) ** 2
            return np.asarray(spread.sum(axis=1), dtype=np.float64)
        too_small = variances / (2.0 * np.maximum(means, LEAST_MEAN) * effective[:, None])
        return np.asarray((entropies(means, believed) + too_small) @ self.weights[child], dtype=np.float64)

    def outcome(self, means: Numbers) -> tuple[float, str]:
        """What a group of draws with these means says: the probability; of a decision the gain, and what to do."""
        if not self.options:
            return (float(means[0]), "") if len(means) == 1 else (float("nan"), "")
        order = np.argsort(-means, kind="stable")
        return float(means[order[0]] - means[order[1]]), self.options[int(order[0])]


def goal_of(fit: Fit, network: Network, draws: BatchedCPTs, target: str | Query | None) -> Goal:
    """The goal that a target names: nothing for the whole network, a question, or a decision and what is known."""
    if target is None or target == WHOLE:
        return _whole_network(fit, draws)
    given = decision_evidence(fit, target)
    return _probability(fit, network, draws, target) if given is None else _decision(fit, draws, str(target), given)


def decision_evidence(fit: Fit, target: str | Query | None) -> str | None:
    """What is known when deciding, where a target is a decision: `treat`, `treat | ecg=abnormal`; else None."""
    if not isinstance(target, str):
        return None
    name, _, given = target.partition("|")
    return given.strip() if name.strip() in decision_problem(fit.knowledge.declarations, fit.network).options else None


def _probability(fit: Fit, network: Network, draws: BatchedCPTs, target: str | Query) -> Goal:
    asked = as_query(fit.network, target)
    if len(asked.targets) != 1 or not all(asked.targets.values()):
        raise QueryError(f"Questions narrow one number: give {asked} one target with a state.")
    factors = factors_of(network, asked.targets, asked.evidence, asked.interventions, memory_limit=fit.memory_limit)
    values, _ = answer(network, _first(draws, factors.plan.cells), asked, memory_limit=fit.memory_limit)
    values = _for_every_draw(values.reshape(len(values), 1), draws)
    if not np.isfinite(values).any():
        raise QueryError(f"The network gives probability zero to what is given in {asked}.")
    children = tuple(name for name in fit.network.names if name in factors.families)
    total = float(np.nanvar(values, ddof=1)) if np.isfinite(values).sum() > 1 else 0.0
    return Goal(str(asked), dict.fromkeys(children, values), total, children)


def _decision(fit: Fit, draws: BatchedCPTs, name: str, given: str) -> Goal:
    choices = choices_of(fit)
    known = evidence_before(choices, fit.network, given or None)
    factors = utility_factors(choices, known)
    values, _ = expected_utilities(choices, _first(draws, sum(each.plan.cells for each in factors)), known)
    if not np.isfinite(values).any():
        raise QueryError(f"The network gives probability zero to what is given in {name}.")
    possible = values[np.isfinite(values).all(axis=1)]
    total = float(possible.max(axis=1).mean() - possible.mean(axis=0).max())
    total = total if total > ROUNDING * np.abs(possible).max() else 0.0
    families = {family for each in factors for family in each.families}
    children = tuple(each for each in fit.network.names if each in families)
    values = _for_every_draw(values, draws)
    return Goal(name, dict.fromkeys(children, values), total, children, tuple(map(str, choices.options)))


def _first(draws: BatchedCPTs, cells: int) -> BatchedCPTs:
    """As many draws as a question of this size is answered under."""
    count = max(1, MOST_CELLS // max(1, cells))
    return {name: cpt if len(cpt) == 1 else cpt[:count] for name, cpt in draws.items()}


def _for_every_draw(values: Numbers, draws: BatchedCPTs) -> Numbers:
    """Values with NaN for draws that were left out, because nothing varies or the question is large."""
    size = max(len(cpt) for cpt in draws.values())
    return np.concatenate([values, np.full((size - len(values), values.shape[1]), np.nan)])


def _whole_network(fit: Fit, draws: BatchedCPTs) -> Goal:
    """All numbers of all CPTs; a question moves its own CPT."""
    values, weights, total = {}, {}, 0.0
    for name in fit.network.names:
        if name in fit.network.forms or len(draws[name]) == 1:
            continue
        own, states = draws[name].reshape(len(draws[name]), -1), draws[name].shape[-1]
        values[name], weights[name] = own, np.repeat(configuration_probabilities(fit.network, name), states)
        mean = own.mean(axis=0)
        total += float((entropies(mean, mean) - entropies(own, own).mean(axis=0)) @ weights[name])
    return Goal(WHOLE, values, total, tuple(values), weights=weights)


def entropies(probabilities: Numbers, believed: Numbers) -> Numbers:
    """−p log q of each."""
    return np.asarray(-probabilities * np.log(np.maximum(believed, np.finfo(float).tiny)), dtype=np.float64)


def configuration_probabilities(network: Network, name: str) -> Numbers:
    """How probable each configuration of a variable's parents is, (configurations,)."""
    parents = network.parents[name]
    if not parents:
        return np.ones(1)
    expanded = expand(network).network
    values, _ = answer(expanded, as_batch(expanded), Query(dict.fromkeys(parents, ())))
    return np.asarray(values[0].ravel(), dtype=np.float64)
