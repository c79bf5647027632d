"""CPTs that are nearly the same: how much members of a group learn from each other, and what that is worth in cases.

Member i of a group has the distributions θ_ij around common ones, θ_ij ~ Dirichlet(c·m_j), with one strength c for all
configurations j of a CPT. Its n_ij cases with the shares p_ij say as much of m_j as

    e_ij = (c + 1)·n_ij / (n_ij + c)     draws from m_j itself, because Var p_ij = m_j (1 − m_j) / e_ij,

so that a large member does not drown small ones where members differ. To member i the others, with E_j = Σ e_kj, are
worth

    w_j = c·E_j / (c + 1 + E_j)     cases with the distribution Σ e_kj p_kj / E_j:

all of them where c is large, none where it is 0. Strengths on a grid are weighed by their marginal likelihood, by how
well each member is predicted from those before it, Σ_ij log DirMult(n_ij; b + w_j·m_j), on average over orders of the
members. b, the cases of each state that a member begins with, is summed over a grid: being alike has to explain more
than that all distributions are even, or uneven. Of several CPTs of the same members, each strength is drawn from a
normal distribution along the grid, whose mean and deviation are weighed by all CPTs together: those with few cases are
as much alike as the others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from credo.types import Indices, Numbers

STRENGTHS = (0.0, *(2.0**k for k in range(-2, 21)))  # from no pooling to one CPT
DEVIATIONS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of strengths of CPTs, in powers of 2
BASES = (0.125, 0.25, 0.5, 1.0, 2.0)  # cases of each state, before anything is known
# How much less probable a mean strength c is than one of 1, c^−¼: between strengths that are equally probable on a
# logarithmic scale and deviations 1/√c that are [Gelman, 2006]. Flat strengths gave 91% for intervals of 95%.
DECAY = 0.25
MOST_ORDERS = 12  # of members, in which each is predicted from those before it
_TINY = np.finfo(float).tiny


def strength_chances(tables: Sequence[Numbers]) -> Numbers:
    """How probable each strength is for each CPT of the same members, (CPTs, strengths).

    `tables` are the cases of the members, (members, configurations, states), of each CPT.
    """
    logs = np.array([[_log_predictive(counts, strength) for strength in STRENGTHS] for counts in tables])
    likelihoods = np.exp(logs - logs.max(axis=1, keepdims=True))
    places = np.arange(len(STRENGTHS))
    means, deviations = (each.ravel() for each in np.meshgrid(places, DEVIATIONS, indexing="ij"))
    priors = np.exp(-0.5 * ((places - means[:, None]) / deviations[:, None]) ** 2)
    priors /= priors.sum(axis=1, keepdims=True)  # (means and deviations, strengths)
    evidence = likelihoods @ priors.T  # (CPTs, means and deviations)
    total = np.log(evidence).sum(axis=0) - DECAY * np.log(np.maximum(STRENGTHS, 1.0))[means]
    chances = np.exp(total - total.max())
    chances /= chances.sum()
    return np.asarray(likelihoods * ((chances / evidence) @ priors), dtype=np.float64)


def pooled_cases(counts: Numbers, chances: Numbers) -> Numbers:
    """What the others are worth to each member, (members, configurations, states).

    `counts` are the members' own cases, of the same shape, `chances` how probable each strength is.
    """
    return _on_average([_from_others(counts, strength) for strength in STRENGTHS], chances)


def cases_for_a_new_member(counts: Numbers, chances: Numbers) -> Numbers:
    """What all members are worth to one of which nothing is known, (configurations, states)."""
    return _on_average([_worth(_as_common(counts, strength).sum(axis=0), strength) for strength in STRENGTHS], chances)


def _on_average(cases: Sequence[Numbers], chances: Numbers) -> Numbers:
    """The cases of the Dirichlet distribution that has the mean and, nearly, the variance of the mixture of those.

    A variance is 1 / (w + 1) of its distribution's: where members may be equal or unlike, it is wide.
    """
    sizes = [own.sum(axis=-1, keepdims=True) for own in cases]
    mean = sum(p * own / np.maximum(size, _TINY) for p, own, size in zip(chances, cases, sizes, strict=True))
    seen = sum(p * (size > 0.0) for p, size in zip(chances, sizes, strict=True))
    spread = sum(p / (size + 1.0) for p, size in zip(chances, sizes, strict=True))
    return np.asarray(np.maximum(1.0 / spread - 1.0, 0.0) * mean / np.maximum(seen, _TINY), dtype=np.float64)


def _from_others(counts: Numbers, strength: float) -> Numbers:
    """What the others are worth to each member under one strength."""
    common = _as_common(counts, strength)
    return _worth(np.maximum(common.sum(axis=0) - common, 0.0), strength)


def _as_common(counts: Numbers, strength: float) -> Numbers:
    """The cases of members, shortened to how many draws from the common distributions they are worth."""
    size = counts.sum(axis=-1, keepdims=True)
    return np.asarray((strength + 1.0) / np.maximum(size + strength, _TINY) * counts, dtype=np.float64)


def _worth(common: Numbers, strength: float) -> Numbers:
    """Draws from the common distributions, shortened to how many cases of one member they are worth."""
    size = common.sum(axis=-1, keepdims=True)
    return np.asarray(strength / (strength + 1.0 + size) * common, dtype=np.float64)


def _log_predictive(counts: Numbers, strength: float) -> float:
    """log Σ_b Π P(member | those before it, c, b), up to a constant; the logarithm on average over orders."""
    common, orders = _as_common(counts, strength), _orders(counts)
    logs = np.zeros(len(BASES))
    for order in orders:
        borrowed = _worth(np.cumsum(common[order], axis=0) - common[order], strength)
        own = counts[order]
        logs += [(log_beta(b + borrowed + own) - log_beta(b + borrowed)).sum() / len(orders) for b in BASES]
    return float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))


def _orders(counts: Numbers) -> list[Indices]:
    """Orders of members in which each is early as often as late, whatever the order is in which they are given."""
    members = len(counts)
    ranked = np.lexsort(counts.reshape(members, -1).T)
    starts = np.unique(np.linspace(0, members, min(members, MOST_ORDERS // 2), endpoint=False).astype(int))
    return [np.roll(ranked, -start)[::step] for start in starts.tolist() for step in (1, -1)]


def log_beta(x: Numbers) -> Numbers:
    """log Π Γ(x_k) / Γ(Σ x_k) of each line."""
    from scipy.special import gammaln

    gamma: Callable[[Numbers], Numbers] = gammaln
    return np.asarray(gamma(x).sum(axis=-1) - gamma(x.sum(axis=-1)), dtype=np.float64)
