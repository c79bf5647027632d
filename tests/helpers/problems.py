"""Networks, data and true knowledge that tests of whole estimations share."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from credo import Knowledge, Network
from credo.constraints.blocks import blocks_of
from credo.constraints.lower import lower
from credo.estimation.problem import Data, Model, Problem, Settings
from credo.statistics.counts import count_all, layout_for_counts
from credo.statistics.prior import as_prior
from credo.statistics.tied_columns import stream_with_ties
from credo.testing import random_network, true_statements


def known_network(seed: int = 5, statements: int = 6) -> tuple[Network, Knowledge]:
    """Four variables with two to four states, and true statements about each."""
    truth = random_network({"a": 2, "b": 3, "c": 4, "d": 2}, {"c": ("b", "a"), "b": ("a",), "d": ("b",)}, seed=seed)
    return truth, Knowledge(truth, true_statements(truth, statements, seed=seed))


def problem_of(network: Network, frame: Any, knowledge: Knowledge, prior: float = 0.0, **more: Any) -> Problem:
    """What `fit` hands to an estimator."""
    constraints = lower(knowledge)
    counts = count_all(layout_for_counts(network), stream_with_ties(knowledge, frame, None, None))
    believed = as_prior(prior, network)
    names = {each.name: kind for kind in (Model, Data, Settings) for each in fields(kind)}
    of: dict[type, dict[str, Any]] = {Model: {}, Data: {}, Settings: {}}
    for name, value in more.items():
        of[names[name]][name] = value
    model = Model(network, network.names, believed, constraints, blocks_of(constraints), **of[Model])
    return Problem(model, Data(counts, **of[Data]), Settings(**of[Settings]))
