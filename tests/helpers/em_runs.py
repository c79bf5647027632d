"""Networks with incomplete rows, and EM on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo import Dataset, Dirichlet, EMOptions, Network
from credo.estimation.counting import counting_step
from credo.estimation.em.driver import EMResult, run_em
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import Prepared, prepare
from credo.statistics.prior import Priors, prior_vector
from credo.testing import alarm_like_network, random_network
from tests.helpers import enumeration

NOTHING = Dirichlet(0.0)


def prepared_of(network: Network, codes: Any, weights: Any = None) -> Prepared:
    return prepare(layout_for_counts(network), Dataset(network.names, np.array(codes, dtype=np.int8), weights))


def mixture(classes: int, features: int, rows: int, seed: int = 1) -> tuple[Network, Prepared]:
    """A hidden class with ternary features, all of them seen."""
    sizes = {"class": classes, **{f"f{i}": 3 for i in range(features)}}
    network = random_network(sizes, {f"f{i}": ("class",) for i in range(features)}, seed)
    codes = enumeration.random_rows(np.random.default_rng(seed), network, rows, 0.0)
    codes[:, 0] = -1
    return network, prepared_of(network, codes)


def incomplete_problem(rows: int = 300, hide: float = 0.4, seed: int = 1) -> tuple[Network, Prepared]:
    network = alarm_like_network()
    return network, prepared_of(network, enumeration.random_rows(np.random.default_rng(seed), network, rows, hide))


def learn(
    network: Network, prepared: Prepared, prior: Priors = NOTHING, seed: int = 0, progress: Any = None,
    identity: Any = (), **options: Any,
) -> EMResult:  # fmt: skip
    m_step = counting_step(prepared.layout, prior_vector(prior, prepared.layout))
    options_of_em = EMOptions(**options)
    return run_em(
        network.without_cpts(), prepared, m_step, options_of_em, seed=seed, progress=progress, identity=identity
    )
