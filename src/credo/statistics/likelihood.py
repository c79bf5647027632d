"""Log-likelihoods of data, and the Kullback-Leibler divergence of two networks."""

from __future__ import annotations

import numpy as np

from credo.errors import NetworkError, listing
from credo.io.columns import MISSING
from credo.io.dataset import Dataset, code_type, extended
from credo.io.number_columns import NumbersSeen, merged, warn_outside
from credo.io.tables import stream_table
from credo.model.alignment import aligned_cpt
from credo.model.expansion import expand
from credo.model.layout import Sensor
from credo.model.network import Network
from credo.statistics.counts import Counts, count, layout_for_counts
from credo.statistics.inference.expected_counts import expected_cells, log_likelihood_of, prepare
from credo.types import Numbers, TableLike

# Log-likelihood -------------------------------------------------------------------------------------------------------


def log_likelihood(network: Network, data: TableLike) -> float:
    """The log-likelihood of data, with the natural logarithm; minus infinity if a row is impossible."""
    expanded = expand(network).network
    count_layout, total = layout_for_counts(expanded), 0.0
    numbers: dict[str, NumbersSeen] = {}
    for part in stream_table(network, data):
        numbers = merged([numbers, part.numbers])
        part = extended(part, expanded)
        if part.is_complete:
            total += log_likelihood_of_counts(expanded, count(count_layout, part))
        else:
            prepared = prepare(count_layout, part)
            total += log_likelihood_of(prepared, prepared.layout.pack(expanded.cpts))
    warn_outside(network, numbers)
    return total


def log_likelihood_of_counts(network: Network, counts: Counts) -> float:
    """Σ count · log θ over all parameters [guo, eq. 1]."""
    total = 0.0
    for name in network.names:
        if name in network.shared:
            continue  # counted with the one that has its CPT
        seen = counts.of(name)
        cells = seen > 0
        with np.errstate(divide="ignore"):
            total += float(np.sum(seen[cells] * np.log(network.cpt_array(name).reshape(seen.shape)[cells])))
    return total


# Divergence -----------------------------------------------------------------------------------------------------------


def kl(network: Network, other: Network) -> float:
    """KL(network ‖ other) in nats, exactly, by families [yao, section 7.1]:

        Σ_X Σ_u P(u) Σ_x θ_x|u log(θ_x|u / θ'_x|u)

    where P(u) is the marginal of the parents of X under `network`, from exact inference. 0 log 0 is 0; the divergence
    is infinite if `other` excludes what `network` does not. Variables, states and parents are matched by name,
    whatever their order.
    """
    return sum(kl_by_family(network, other).values())


def kl_by_family(network: Network, other: Network) -> dict[str, float]:
    """What each family adds to KL(network ‖ other), in nats; families that agree are left out."""
    _check_names(network, other)
    by_family = {
        name: _divergences(network.cpt_array(name), aligned_cpt(network, other, name)) for name in network.names
    }
    # A family whose distributions all agree adds nothing, and needs no inference.
    different = {name: divergences for name, divergences in by_family.items() if divergences.any()}
    marginals = _parent_marginals(network, [name for name in different if network.parents[name]])
    found = {}
    for name, divergences in different.items():
        weights = marginals.get(name, np.ones(()))
        reached = weights > 0  # an impossible configuration adds nothing, even if its divergence is infinite
        found[name] = float((weights[reached] * divergences[reached]).sum())
    return found


def _check_names(network: Network, other: Network) -> None:
    if not isinstance(other, Network):
        raise NetworkError(f"A network is compared with another Network, not with {other!r}.")
    if more := [name for name in other if name not in network]:
        raise NetworkError(f"Only the other network has {listing(more)}: the two must have the same structure.")


def _divergences(cpt: Numbers, other: Numbers) -> Numbers:
    """Σ_x θ_x log(θ_x / θ'_x) for each configuration of the parents; the last axis is summed out."""
    terms = np.zeros_like(cpt)
    possible = cpt > 0
    with np.errstate(divide="ignore"):
        # A difference of logarithms: the ratio of two numbers may overflow where its logarithm does not.
        terms[possible] = cpt[possible] * (np.log(cpt[possible]) - np.log(other[possible]))
    sums: Numbers = terms.sum(axis=-1)
    return sums


def _parent_marginals(network: Network, names: list[str]) -> dict[str, Numbers]:
    """P(parents of each of these variables), axes in the order of the parents: one query each, answered together."""
    sensors = [Sensor(network.parents[name]) for name in names]
    if not sensors:
        return {}
    empty_row = Dataset(network.names, np.full((1, len(network)), MISSING, dtype=code_type(network)))
    readings = np.zeros((1, len(sensors)), dtype=empty_row.codes.dtype)
    prepared = prepare(layout_for_counts(network), empty_row, sensors=sensors, readings=readings)
    ones = [np.ones(network.shape(name)[:-1]) for name in names]
    counts, _ = expected_cells(prepared, prepared.layout.pack(network.cpts, ones))
    return {
        name: counts[prepared.layout.sensor_slice(i)].reshape(network.shape(name)[:-1]) for i, name in enumerate(names)
    }
