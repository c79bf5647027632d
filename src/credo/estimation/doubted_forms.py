"""Gates, ranked and interpolated families that may be wrong, as cases of the CPT of their child.

A gate or a form says that the distributions of the child are m_j (of a gate with all mass in one of K states). If that
is right, with probability r, they differ from it as much as s₀ cases allow; if it is wrong, it holds roughly or not at
all, with one of A − 1 smaller weights s, which are as probable as each other:

    θ_j ~ Dirichlet(½ + s·m_j).

Counts n change these by their marginal likelihood, Π_j B(½ + s·m_j + n_j) / B(½ + s·m_j). An expert's r has a Beta
distribution, or is given; several gates and forms of one expert inform it together. The form then counts as t cases in
each configuration, so that an unseen configuration has the same expected share of it as under all weights together,

    Σ_s P(s | n) s / (K/2 + s) = t / (K/2 + t).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credo.constraints.noisy_families import gate_form
from credo.errors import OptionError, counted
from credo.estimation.learned_forms import Form
from credo.findings import Finding
from credo.knowledge.experts import beta_between
from credo.knowledge.gate import Gate
from credo.knowledge.knowledge import Knowledge
from credo.knowledge.ranked_family import form_cpt
from credo.model.gates import gate_cpt
from credo.posterior.beliefs import StatementBelief
from credo.posterior.doubted_statements import BELIEVED
from credo.probability_texts import belief_digits
from credo.statistics.counts import Counts, empty
from credo.statistics.pooling import log_beta
from credo.types import Numbers

GATE_WEIGHTS = (1e6, 1000.0, 100.0, 10.0, 1.0, 0.0)  # the first: the drawing is right
FORM_WEIGHTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.0)  # in units of the cases that it is said to be worth
BASE = 0.5  # cases of each state, before anything is known
GRID = 400  # reliabilities at which an expert's is integrated


@dataclass(frozen=True, slots=True, eq=False)
class DoubtedForms:
    """What doubted gates and forms are worth, and what a user should know of them."""

    cases: Counts | None
    findings: tuple[Finding, ...] = ()
    beliefs: tuple[StatementBelief, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Doubted:
    """A gate or form, its distributions (configurations, states), the weights, and log P(n | weight)."""

    statement: Gate | Form
    distributions: Numbers
    weights: Numbers
    logs: Numbers


def doubted_forms(knowledge: Knowledge, forms: Sequence[Form], counts: Counts) -> DoubtedForms:
    """The cases that doubted gates and these forms are worth, given counts of rows."""
    added, findings, beliefs = empty(counts.layout), [], []
    stated = [each for each in knowledge.statements if isinstance(each, Gate | Form) and each.is_doubted]
    learned = {each.child: each for each in forms}
    doubted = [_doubted(knowledge, each, learned.get(each.child, each), counts) for each in stated]
    for each, chances in zip(doubted, _chances(doubted), strict=True):
        child = str(each.statement.child)
        view = counts.layout.view(added.dense, child)
        view += _worth(chances, each.weights, each.distributions.shape[1]) * each.distributions
        findings.append(_finding(each, float(chances[0]), counts.of(child)))
        number = next(k for k, other in enumerate(knowledge.statements) if other is each.statement)
        expert = each.statement.expert
        beliefs.append(
            StatementBelief(
                number, "" if expert is None else expert.name, float(chances[0]), None, 0.0, _believed(each.statement)
            )
        )
    return DoubtedForms(added if findings else None, tuple(findings), tuple(beliefs))


def _believed(statement: Gate | Form) -> float:
    """How probable it was, before any rows, that the statement is right."""
    if statement.confidence is not None:
        return statement.confidence
    assert statement.expert is not None
    given = statement.expert.reliability
    if isinstance(given, float):
        return given
    first, second = BELIEVED if given is None else beta_between(*given)
    return first / (first + second)


def _doubted(knowledge: Knowledge, statement: Gate | Form, learned: Gate | Form, counts: Counts) -> _Doubted:
    child = str(statement.child)
    if child not in counts.layout:
        raise OptionError(
            f"“{statement}” may be wrong, so that the CPT of {child} is learned, and it has too many configurations "
            f"({knowledge.network.configurations(child):,}). State it as certain, or as several."
        )
    if isinstance(learned, Gate):
        own, weights = _gate_distributions(knowledge, learned), np.array(GATE_WEIGHTS)
    else:
        orders = {name: tuple(map(str, order.states)) for name, order in knowledge.orders.items()}
        cpt = form_cpt(learned, knowledge.network, orders)
        own, weights = cpt.reshape(-1, cpt.shape[-1]), learned.cases * np.array(FORM_WEIGHTS)
    seen = counts.of(child)
    before = [BASE + weight * own for weight in weights.tolist()]
    logs = np.array([float((log_beta(each + seen) - log_beta(each)).sum()) for each in before])
    return _Doubted(statement, own, weights, logs)


def _gate_distributions(knowledge: Knowledge, gate: Gate) -> Numbers:
    """The CPT of zeros and ones, (configurations, states)."""
    network, child = knowledge.network, str(gate.child)
    parents = network.parents[child]
    states_of = {parent: network.states(parent) for parent in parents}
    cpt = gate_cpt(gate_form(knowledge, gate), parents, network.states(child), states_of)
    return np.asarray(cpt.reshape(-1, cpt.shape[-1]), dtype=np.float64)


def _chances(doubted: Sequence[_Doubted]) -> Iterator[Numbers]:
    """How probable each weight of each gate or form is, (weights,)."""
    likelihoods = [np.exp(each.logs - each.logs.max()) for each in doubted]
    reliabilities = _reliabilities(doubted, likelihoods)
    for each, likelihood in zip(doubted, likelihoods, strict=True):
        if each.statement.confidence is not None:
            values, shares = np.array([each.statement.confidence]), np.ones(1)
        else:
            assert each.statement.expert is not None
            values, shares = reliabilities[each.statement.expert.name]
        wrong = np.outer(1.0 - values, np.full(len(likelihood) - 1, 1.0 / (len(likelihood) - 1)))
        joint = np.column_stack((values, wrong)) * likelihood
        yield np.asarray(shares @ (joint / joint.sum(axis=1, keepdims=True)), dtype=np.float64)


def _reliabilities(
    doubted: Sequence[_Doubted], likelihoods: Sequence[Numbers]
) -> Mapping[str, tuple[Numbers, Numbers]]:
    """Reliabilities of each expert, and how probable they are given all of the expert's gates and forms."""
    from scipy.special import xlogy

    found: dict[str, tuple[Numbers, Numbers]] = {}
    for each, likelihood in zip(doubted, likelihoods, strict=True):
        expert = each.statement.expert
        if expert is None or each.statement.confidence is not None:
            continue
        if expert.name not in found:
            own = [other.statement.expert for other in doubted if other.statement.expert is not None]
            given = next((o.reliability for o in own if o.name == expert.name and o.reliability is not None), None)
            if isinstance(given, float):
                found[expert.name] = np.array([given]), np.ones(1)
            else:
                a, b = BELIEVED if given is None else beta_between(*given)
                values = (np.arange(GRID) + 0.5) / GRID
                logs = xlogy(a - 1.0, values) + xlogy(b - 1.0, 1.0 - values)
                found[expert.name] = values, np.exp(logs - logs.max())
        values, shares = found[expert.name]
        shares = shares * (values * likelihood[0] + (1.0 - values) * likelihood[1:].mean())
        found[expert.name] = values, shares / shares.sum()
    return found


def _worth(chances: Numbers, weights: Numbers, states: int) -> float:
    """t, the cases that the form counts as in each configuration."""
    base = states * BASE
    other = float(chances @ (base / (base + weights)))  # the share of what is not the form
    return max(0.0, base / other - base)


def _finding(doubted: _Doubted, right: float, seen: Numbers) -> Finding:
    statement = doubted.statement
    child, whose = str(statement.child), "" if statement.expert is None else f" of {statement.expert.name}"
    if not isinstance(statement, Gate):
        text = f"“{statement}”{whose}: the form is right with probability {belief_digits(right)}."
        return Finding("doubted form", text, child)
    against = float((seen * (1.0 - doubted.distributions)).sum())
    known = f"“{statement}”{whose}: the drawing is right with probability {belief_digits(right)}"
    rows = f"; {counted(round(against), 'case')} contradict{'s' if round(against) == 1 else ''} it" if against else ""
    return Finding("doubted gate", f"{known}{rows}.", child)
