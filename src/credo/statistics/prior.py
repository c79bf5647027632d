"""Priors as pseudo-counts: how often each state counts as observed before the data.

With pseudo-counts α the estimate from counts N alone is θ = (N + α) / Σ (N + α).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from credo.errors import NetworkError, PriorError, suggestion
from credo.model.alignment import aligned_cpt
from credo.model.expansion import Expansion, expand
from credo.model.layout import Layout
from credo.model.network import Network
from credo.types import Numbers


@dataclass(frozen=True, slots=True)
class Dirichlet:
    """The same pseudo-count for every state in every configuration.

    Parameters
    ----------
    pseudo_count : float, default 1.0
        The pseudo-count; 1 is Laplace's rule.

    Examples
    --------
    >>> import credo, polars as pl
    >>> coin = credo.Network({"coin": ["heads", "tails"]})
    >>> data = pl.DataFrame({"coin": ["heads", "heads"]})
    >>> credo.fit(coin, data, method="map", prior=credo.Dirichlet(1)).network.cpts["coin"].tolist()
    [0.75, 0.25]
    """

    pseudo_count: float = 1.0


@dataclass(frozen=True, slots=True)
class BDeu:
    """An equivalent sample size, spread equally over all numbers of a CPT: large CPTs get little for each.

    Parameters
    ----------
    equivalent_sample_size : float, default 10.0
        The sum of the pseudo-counts of a CPT.

    Examples
    --------
    >>> BDeu(20).equivalent_sample_size
    20
    """

    equivalent_sample_size: float = 10.0


@dataclass(frozen=True, slots=True)
class NetworkPrior:
    """The CPTs of another network: each distribution counts as `weight` observations.

    Parameters
    ----------
    network : Network
        A network with the same structure.
    weight : float, default 1.0
        The number of observations that each conditional distribution counts as.

    Examples
    --------
    >>> import credo
    >>> expert = credo.Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]})
    >>> NetworkPrior(expert, weight=20).weight
    20
    """

    network: Network
    weight: float = 1.0


Prior = Dirichlet | BDeu | NetworkPrior
Priors = Prior | Mapping[str, Prior]
PriorLike = float | str | Network | Prior | Mapping[str, float | str | Network | Prior]


def as_prior(value: PriorLike, network: Network) -> Priors:
    """A prior from a number, "k2", "bdeu", "bdeu:20", a network, a prior, or a mapping from variables to these."""
    if isinstance(value, Mapping):
        for name in value:
            if name not in network:
                raise PriorError(
                    f'A prior is given for "{name}", which is not a variable.{suggestion(name, network.names)}'
                )
        return {name: _one_prior(value[name]) for name in value}
    return _one_prior(value)


def expand_prior(prior: Priors, expansion: Expansion) -> Priors:
    """The prior of an expanded network: the prior of a noisy child becomes that of its effects."""
    if isinstance(prior, Mapping):
        expanded = {name: _expanded(one) for name, one in prior.items()}
        effects = expansion.effects
        return {own: one for name, one in expanded.items() for own in (name, *effects.get(name, ()))}
    return _expanded(prior)


def _expanded(prior: Prior) -> Prior:
    return replace(prior, network=expand(prior.network).network) if isinstance(prior, NetworkPrior) else prior


def _one_prior(value: object) -> Prior:
    prior: Prior
    if isinstance(value, Dirichlet | BDeu | NetworkPrior):
        prior = value
    elif isinstance(value, Network):
        prior = NetworkPrior(value)
    elif isinstance(value, str):
        prior = _prior_from_text(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        prior = Dirichlet(float(value))
    else:
        raise PriorError(f"A prior is a number, a text such as k2 or bdeu:10, or a network; not {value!r}.")
    amounts = {Dirichlet: "pseudo_count", BDeu: "equivalent_sample_size", NetworkPrior: "weight"}
    amount = getattr(prior, amounts[type(prior)])
    if not math.isfinite(amount) or amount < 0:
        raise PriorError(f"The strength of a prior is a number that is not negative; it is {amount}.")
    return prior


def _prior_from_text(text: str) -> Prior:
    kind, _, strength = text.strip().lower().partition(":")
    try:
        number = float(strength) if strength else None
        if kind == "k2" and number is None:
            return Dirichlet(1.0)
        if kind == "bdeu":
            return BDeu() if number is None else BDeu(number)
        if kind == "dirichlet":
            return Dirichlet() if number is None else Dirichlet(number)
        return Dirichlet(float(text))
    except ValueError:
        raise PriorError(f'"{text}" is not a prior. Known: k2, bdeu:SIZE, dirichlet:NUMBER, or a number.') from None


def prior_vector(prior: Priors, layout: Layout, names: Iterable[str] | None = None) -> Numbers:
    """The pseudo-counts of all CPTs, or of some, in one vector; zero elsewhere."""
    vector = np.zeros(layout.size)
    for name in layout.names if names is None else names:
        layout.view(vector, name)[:] = pseudo_counts(prior, layout.network, name)
    return vector


def prior_of(prior: Priors, name: str) -> Prior | None:
    """The prior of one variable, if it has one."""
    return prior.get(name) if isinstance(prior, Mapping) else prior


def pseudo_counts(prior: Priors, network: Network, name: str) -> Numbers:
    """The pseudo-counts of one family, an array that broadcasts to (configurations, states)."""
    if isinstance(prior, Mapping):
        return pseudo_counts(prior[name], network, name) if name in prior else np.zeros((1, 1))
    if isinstance(prior, Dirichlet):
        return np.full((1, 1), prior.pseudo_count)
    if isinstance(prior, BDeu):
        cells = network.configurations(name) * len(network.states(name))
        return np.full((1, 1), prior.equivalent_sample_size / cells)
    try:
        cpt = aligned_cpt(network, prior.network, name)
    except NetworkError as error:
        raise PriorError(f"The network of the prior does not fit. {error}") from None
    return prior.weight * cpt.reshape(-1, len(network.states(name)))
