"""EM whose M-step is an isotonic regression [Masegosa, Feelders and van der Gaag, 2016]; it knows influences alone.

Cumulative probabilities P(child ≤ k | j) of each k are regressed on the partial order of the configurations j that
influences make [Feelders, 2007],

    min Σ_j N_j (F_jk − N_j,≤k / N_j)²   s.t.  F_jk ≥ F_lk  where l follows j,

so that those of several k stay in order. Of a child with two states this is the constrained maximum of the likelihood.
Several parents are several orders, one on every axis: Dykstra's algorithm takes them in turn, each by pooling adjacent
violators [Dykstra and Robertson, 1982]. Guessed: that one is added to every count, which gives configurations without
rows a weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from credo.errors import Status
from credo.estimation.em.steps import MStep
from credo.estimation.method import Method
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution
from credo.knowledge.statements import Influence, Statement
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.types import Numbers
from experiments.published.statements import low_to_high

ROUNDS, CLOSE = 500, 1e-9  # of Dykstra's algorithm


def regression(values: Numbers, weights: Numbers, signs: Sequence[int]) -> Numbers:
    """The nearest array that rises along axes with sign 1, falls along those with −1, and is free along others."""
    axes = [axis for axis, sign in enumerate(signs) if sign]
    corrections, now = [np.zeros_like(values) for _ in axes], values
    for _ in range(ROUNDS):
        before = now
        for number, axis in enumerate(axes):
            wanted = now + corrections[number]
            now = _along(wanted, weights, axis, rising=signs[axis] > 0)
            corrections[number] = wanted - now
        if len(axes) < 2 or np.abs(now - before).max() < CLOSE:
            break
    return now


def _along(values: Numbers, weights: Numbers, axis: int, *, rising: bool) -> Numbers:
    """The regression of every line along an axis."""
    from scipy.optimize import isotonic_regression

    moved, own = np.moveaxis(values, axis, -1), np.moveaxis(weights, axis, -1)
    found = np.empty_like(moved)
    for place in np.ndindex(moved.shape[:-1]):
        found[place] = isotonic_regression(moved[place], weights=own[place], increasing=rising).x
    return np.moveaxis(found, -1, axis)


def isotonic_cpt(counts: Numbers, signs: Sequence[int]) -> Numbers:
    """The CPT of counts (parents…, child), all of whose axes go from low to high; `signs` has one for each parent."""
    weights = counts.sum(axis=-1)
    at_most = np.cumsum(counts, axis=-1) / weights[..., None]
    for k in range(counts.shape[-1] - 1):
        # A parent that raises the child makes low states less probable.
        at_most[..., k] = regression(at_most[..., k], weights, [-sign for sign in signs])
    cpt = np.maximum(np.diff(at_most, axis=-1, prepend=0.0), 0.0)
    return np.asarray(cpt / cpt.sum(axis=-1, keepdims=True))


def isotonic_em(network: Network, statements: Sequence[Statement]) -> Method:
    """The method for the influences among these statements; the others are left out."""
    signs: dict[str, dict[str, int]] = {}
    for each in statements:
        if isinstance(each, Influence):
            signs.setdefault(each.child, {})[each.parent] = 1 if each.direction == "raises" else -1

    def cpts_of(problem: Problem, counts: Counts) -> Mapping[str, Numbers]:
        weights, found = problem.vector(counts), {}
        for name in problem.model.names:
            own = problem.layout.view(weights, name)
            found[name] = own / own.sum(axis=1, keepdims=True)
            if name not in signs:
                continue
            orders = [
                low_to_high(network, each) if each in signs[name] or each == name else range(len(network.states(each)))
                for each in (*network.parents[name], name)
            ]
            places = np.ix_(*orders)
            cpt = np.empty(network.shape(name))
            direction = [signs[name].get(parent, 0) for parent in network.parents[name]]
            cpt[places] = isotonic_cpt(own.reshape(network.shape(name))[places], direction)
            found[name] = cpt.reshape(own.shape)
        return found

    def estimate(problem: Problem) -> Solution:
        cpts = cpts_of(problem, problem.data.counts)
        return Solution({name: cpt.reshape(network.shape(name)) for name, cpt in cpts.items()}, Status.LOCAL)

    def m_step(problem: Problem) -> MStep:
        prior = problem.pseudo_counts()

        def step(counts: Counts) -> tuple[Mapping[str, Any], float]:
            cpts = cpts_of(problem, counts)
            theta = problem.layout.pack(cpts, missing=1.0)
            return cpts, float(prior @ np.log(np.maximum(theta, 1e-300)))

        return step

    return Method(
        "irem", "EM with isotonic regression", "rivals", estimate, m_step, default_prior=1.0, takes_prior=True,
    )  # fmt: skip
