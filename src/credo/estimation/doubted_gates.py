"""Gates that may be wrong, as cases of the CPT of their child: "the drawing is right with probability 0.9".

If the drawing is right, each distribution θ_j of the child is that of the gate, g_j, which has all of its mass in one
of K states; if it is wrong, it has nothing to do with it, or the gate holds roughly, with one of the weights s:

    θ_j ~ Dirichlet(½ + s·g_j),        s = 10⁶ with probability r, and 1000, 100, 10, 1, 0 with (1 − r)/5 each.

Counts n change these by their marginal likelihood, Π_j B(½ + s·g_j + n_j) / B(½ + s·g_j). The gate then counts as t
cases in each configuration, so that an unseen configuration has the same expected share of other states than the gate's
as under all weights together, E = Σ_s P(s | n)·(K − 1)/2 / (K/2 + s) = (K − 1)/2 / (K/2 + t).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from credo.constraints.noisy_families import gate_form
from credo.errors import OptionError, counted
from credo.findings import Finding
from credo.knowledge.gate import Gate
from credo.knowledge.knowledge import Knowledge
from credo.model.gates import gate_cpt
from credo.probability_texts import belief_digits
from credo.statistics.counts import Counts, empty
from credo.types import Numbers

WEIGHTS = (1e6, 1000.0, 100.0, 10.0, 1.0, 0.0)  # the first: the drawing is right
BASE = 0.5  # cases of each state, before anything is known


@dataclass(frozen=True, slots=True, eq=False)
class DoubtedGates:
    """What doubted gates are worth, and what a user should know of them."""

    cases: Counts | None
    findings: tuple[Finding, ...] = ()


def doubted_gates(knowledge: Knowledge, counts: Counts) -> DoubtedGates:
    """The cases that gates with a confidence are worth, given counts of rows."""
    added, findings = empty(counts.layout), []
    for gate in _doubted(knowledge):
        child = str(gate.child)
        if child not in counts.layout:
            raise OptionError(
                f"“{gate}” may be wrong, so that the CPT of {child} is learned, and it has too many configurations "
                f"({knowledge.network.configurations(child):,}). State the gate without a confidence, or as several."
            )
        own, seen = _gate_rows(knowledge, gate), counts.of(child)
        assert gate.confidence is not None
        chances = _chances(own, seen, gate.confidence)
        view = counts.layout.view(added.dense, child)
        view += _worth(chances, own.shape[1]) * own
        findings.append(_finding(gate, float(chances[0]), float((seen * (1.0 - own)).sum())))
    return DoubtedGates(added if findings else None, tuple(findings))


def _doubted(knowledge: Knowledge) -> Iterator[Gate]:
    yield from (each for each in knowledge.statements if isinstance(each, Gate) and each.confidence is not None)


def _gate_rows(knowledge: Knowledge, gate: Gate) -> Numbers:
    """The CPT of zeros and ones, (configurations, states)."""
    network, child = knowledge.network, str(gate.child)
    parents = network.parents[child]
    states_of = {parent: network.states(parent) for parent in parents}
    cpt = gate_cpt(gate_form(knowledge, gate), parents, network.states(child), states_of)
    return np.asarray(cpt.reshape(-1, cpt.shape[-1]), dtype=np.float64)


def _chances(gate: Numbers, seen: Numbers, confidence: float) -> Numbers:
    """How probable each weight is, (weights,)."""
    prior = np.array([confidence, *([(1.0 - confidence) / (len(WEIGHTS) - 1)] * (len(WEIGHTS) - 1))])
    logs = np.log(prior)
    for place, weight in enumerate(WEIGHTS):
        before = BASE + weight * gate
        logs[place] += float((_log_beta(before + seen) - _log_beta(before)).sum())
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum(), dtype=np.float64)


def _worth(chances: Numbers, states: int) -> float:
    """t, the cases that the gate counts as in each configuration."""
    wrong = float(chances @ ((states - 1) * BASE / (states * BASE + np.array(WEIGHTS))))
    return max(0.0, (states - 1) * BASE / wrong - states * BASE)


def _finding(gate: Gate, right: float, against: float) -> Finding:
    known = f"“{gate}”: the drawing is right with probability {belief_digits(right)}"
    rows = f"; {counted(round(against), 'case')} contradict{'s' if round(against) == 1 else ''} it" if against else ""
    return Finding("doubted gate", f"{known}{rows}.", str(gate.child))


def _log_beta(x: Numbers) -> Numbers:
    """log Π Γ(x_k) / Γ(Σ x_k) of each line."""
    from scipy.special import gammaln

    return np.asarray(gammaln(x).sum(axis=-1) - gammaln(x.sum(axis=-1)), dtype=np.float64)
