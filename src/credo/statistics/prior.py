"""What is believed before the data, as pseudo-counts: how often each state counts as seen already."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from credo.arrays import Numbers
from credo.errors import NetworkError, PriorError, suggestion
from credo.model.expansion import Expansion, expand
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.align import aligned_table


@dataclass(frozen=True, slots=True)
class Dirichlet:
    """The same pseudo-count for every state of every row: 1 is Laplace's rule."""

    pseudo_count: float = 1.0


@dataclass(frozen=True, slots=True)
class BDeu:
    """An equivalent sample size, spread evenly over all cells of a table: rows of large tables get little each."""

    equivalent_sample_size: float = 10.0


@dataclass(frozen=True, slots=True)
class NetworkPrior:
    """Another network's tables: each row counts as `weight` observations distributed as that network says."""

    network: Network
    weight: float = 1.0


Prior = Dirichlet | BDeu | NetworkPrior
Priors = Prior | Mapping[str, Prior]


def as_prior(value: Any, network: Network) -> Priors:
    """What users write for a prior: a number, "k2", "bdeu", "bdeu:20", a network, a prior, or a mapping by variable."""
    if isinstance(value, Mapping):
        for name in value:
            if name not in network:
                raise PriorError(
                    f'A prior is given for "{name}", which is no variable.{suggestion(name, network.names)}'
                )
        return {name: _one_prior(value[name]) for name in value}
    return _one_prior(value)


def taken_apart(prior: Priors, expansion: Expansion) -> Priors:
    """The same belief about a network whose noisy families are taken apart: what is said of a child, of its effects."""
    if isinstance(prior, Mapping):
        alone = {name: _apart(each) for name, each in prior.items()}
        effects = expansion.effects
        return {own: each for name, each in alone.items() for own in (name, *effects.get(name, ()))}
    return _apart(prior)


def _apart(prior: Prior) -> Prior:
    return replace(prior, network=expand(prior.network).network) if isinstance(prior, NetworkPrior) else prior


def _one_prior(value: Any) -> Prior:
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
        raise PriorError(f'"{text}" is no prior. Known: k2, bdeu:SIZE, dirichlet:NUMBER, or a number.') from None


def prior_vector(prior: Priors, layout: Layout, names: Iterable[str] | None = None) -> Numbers:
    """The pseudo-counts of all CPTs, or of some, in one vector; zero elsewhere."""
    vector = np.zeros(layout.size)
    for name in layout.names if names is None else names:
        layout.view(vector, name)[:] = pseudo_counts(prior, layout.network, name)
    return vector


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
        table = aligned_table(network, prior.network, name)
    except NetworkError as error:
        raise PriorError(f"The network of the prior does not fit. {error}") from None
    return prior.weight * table.reshape(-1, len(network.states(name)))
