"""CPTs that are nearly the same: how much members of a group learn from each other, and what that is worth in cases.

Member i of a group has the distributions θ_ij around common ones, θ_ij ~ Dirichlet(c·m_j), with one strength c for all
configurations j of a CPT. From N_j cases of other members, m_j is known as well as N_j cases say, so that to member i
the others are worth

    w_j = c·N_j / (c + N_j)     cases with the distribution of theirs:

all of them where c is large, none where it is 0. Strengths on a grid are weighed by how well members are predicted, one
after the other, from those before, Σ_ij log DirMult(n_ij; ½ + w_j·m_j), in the given order and in the reverse.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credo.types import Numbers

STRENGTHS = (0.0, *(2.0**k for k in range(-2, 21)))  # from no pooling to one CPT
BASE = 0.5  # cases of each state, before anything is known


def pooled_cases(counts: Numbers) -> tuple[Numbers, float]:
    """What the others are worth to each member, (members, configurations, states), and the mean of log2 (1 + c).

    `counts` are the members' own cases, of the same shape.
    """
    chances = _chances(counts)
    total = counts.sum(axis=0)
    pooled = np.stack([_worth(total - own, chances) for own in counts])
    return pooled, float(chances @ np.log2(1.0 + np.array(STRENGTHS)))


def cases_for_a_new_member(counts: Numbers) -> Numbers:
    """What all members are worth to one of which nothing is known, (configurations, states)."""
    return _worth(counts.sum(axis=0), _chances(counts))


def _worth(others: Numbers, chances: Numbers) -> Numbers:
    """The cases of others, (configurations, states), shortened to what they are worth on average over strengths."""
    size = others.sum(axis=-1, keepdims=True)
    share = sum(chance * _share(strength, size) for chance, strength in zip(chances, STRENGTHS, strict=True))
    return np.asarray(share * others, dtype=np.float64)


def _share(strength: float, size: Numbers) -> Numbers:
    """c / (c + N): which part of N cases of others counts."""
    return np.asarray(strength / np.maximum(strength + size, np.finfo(float).tiny), dtype=np.float64)


def _chances(counts: Numbers) -> Numbers:
    """How probable each strength is, (strengths,)."""
    logs = np.array([_log_predictive(counts, strength) for strength in STRENGTHS])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum(), dtype=np.float64)


def _log_predictive(counts: Numbers, strength: float) -> float:
    """log P(counts | c), the mean of both orders of the members."""
    total = 0.0
    for ordered in (counts, counts[::-1]):
        before = np.cumsum(ordered, axis=0) - ordered
        prior = BASE + _share(strength, before.sum(axis=-1, keepdims=True)) * before
        total += 0.5 * float((log_beta(prior + ordered) - log_beta(prior)).sum())
    return total


def log_beta(x: Numbers) -> Numbers:
    """log Π Γ(x_k) / Γ(Σ x_k) of each line."""
    from scipy.special import gammaln

    gamma: Callable[[Numbers], Numbers] = gammaln
    return np.asarray(gamma(x).sum(axis=-1) - gamma(x.sum(axis=-1)), dtype=np.float64)
