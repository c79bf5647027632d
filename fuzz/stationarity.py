"""EM has ended where it says so: expected counts by enumeration, for CPTs that no statement is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import credo
from credo.constraints.constraint_set import Constraints
from credo.model.network import Network
from fuzz.oracles import joint_of

METHODS = ("ml", "map", "cml", "cmap")
MOST_CELLS, MOST_ROWS = 5000, 100
ALLOWED = 1e-6  # of the objective, that one more step may gain

Columns = Mapping[str, Sequence[str | None]]


def check_stationary(fit: credo.Fit, columns: Columns, weights: Sequence[float] | None) -> None:
    """Where EM has converged, no CPT that is free of statements is better by more than rounding for its counts."""
    problem = fit._problem
    if fit.status is not credo.Status.CONVERGED or fit.method not in METHODS or problem is None or problem.model.kept:
        return
    constraints, network = problem.model.constraints, fit.network
    if constraints.ties or constraints.forms or len(next(iter(columns.values()))) > MOST_ROWS:
        return
    joint = joint_of(network)
    if joint is None or joint.size > MOST_CELLS:
        return
    completed = _completed(network, joint, columns, weights)
    if completed is None:
        return
    prior = constraints.layout.unpack(problem.pseudo_counts())
    for name in sorted(set(network.names) - bound_variables(constraints, network)):
        family = (*network.parents[name], name)
        axes = [network.names.index(each) for each in family]
        others = tuple(axis for axis in range(joint.ndim) if axis not in axes)
        counts = np.moveaxis(completed.sum(axis=others), np.argsort(np.argsort(axes)), range(len(axes)))
        counts = counts + prior[name].reshape(counts.shape)
        gain = _gain(counts, network.cpt_array(name))
        allowed = ALLOWED * (1.0 + abs(fit.log_likelihood) + float(counts.sum()))
        assert gain <= allowed, f"EM has not ended where it says so, with {fit.method}; a step gains {gain:g}"


def bound_variables(constraints: Constraints, network: Network) -> set[str]:
    """The variables whose CPTs statements are about, directly or through a probability that depends on several CPTs."""
    indices = {*constraints.linear.indices.tolist(), *(i for each in constraints.products for i in each.indices)}
    indices |= {index for each in constraints.network_constraints for index in each.indices}
    found = {constraints.layout.locate(index)[0] for index in indices}
    asked = [term for each in constraints.network_constraints for _, term in each.terms]
    waiting, above = [name for term in asked for name, _ in (*term.events, *term.conditions)], set()
    while waiting:
        if (name := waiting.pop()) not in above:
            above.add(name)
            waiting += network.parents[name]
    return found | above


def _completed(
    network: Network, joint: np.ndarray, columns: Columns, weights: Sequence[float] | None
) -> np.ndarray | None:
    """Expected numbers of rows for each joint state; None where a row is impossible."""
    completed = np.zeros_like(joint)
    rows = len(next(iter(columns.values())))
    for row in range(rows):
        states = [columns[name][row] if name in columns else None for name in network.names]
        place = tuple(
            slice(None) if state is None else slice(k := network.states(name).index(state), k + 1)
            for name, state in zip(network.names, states, strict=True)
        )
        total = float(joint[place].sum())
        if total <= 0.0:
            return None
        completed[place] += (1.0 if weights is None else weights[row]) * joint[place] / total
    return completed


def _gain(counts: np.ndarray, cpt: np.ndarray) -> float:
    """Σ N·log(N/ΣN) − Σ N·log θ: what the M-step adds to the expected log-likelihood."""
    totals = counts.sum(axis=-1, keepdims=True)
    seen = counts > 0.0
    best = (counts / np.where(totals > 0.0, totals, 1.0))[seen]
    with np.errstate(divide="ignore"):
        return float(counts[seen] @ (np.log(best) - np.log(cpt[seen])))
