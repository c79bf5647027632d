"""Questions that a CPT answers by itself: P(x | all parents of x), and nothing below x is known.

Their answers are the numbers and the intervals that the CPT shows: these are known better than from the draws under
which other questions are answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from credo.knowledge.query import Query
from credo.model.network import Network
from credo.posterior.draws import PosteriorResult
from credo.statistics.questions import relevant_evidence
from credo.types import Numbers


def cpt_distribution(network: Network, name: str, given: Mapping[str, tuple[str, ...]]) -> Numbers | None:
    """The distribution of a variable in its CPT, if that is what is asked for: nothing but its parents matters."""
    place = _configuration_asked_for(network, name, given)
    return None if place is None else np.asarray(network.cpt_array(name)[place], dtype=np.float64)


def cpt_intervals(
    posterior: object, network: Network, name: str, given: Mapping[str, tuple[str, ...]], level: float
) -> Numbers | None:
    """The ends of its intervals in that case, (2, states), as `Fit.interval` shows them."""
    place = _configuration_asked_for(network, name, given)
    if place is None or not isinstance(posterior, PosteriorResult) or name not in posterior.names:
        return None
    low, high = posterior.interval(name, level)
    return np.stack([low[place], high[place]])


def _configuration_asked_for(
    network: Network, name: str, given: Mapping[str, tuple[str, ...]]
) -> tuple[int, ...] | None:
    if not _asks_for_cpt(network, name, given) or any(len(given[parent]) != 1 for parent in network.parents[name]):
        return None
    return tuple(network.states(parent).index(given[parent][0]) for parent in network.parents[name])


def _given_parents(network: Network, asked: Query) -> tuple[str, tuple[str, ...], dict[str, tuple[str, ...]]] | None:
    """The variable and the states that are asked for, and what is known, unless a CPT cannot answer this."""
    if len(asked.targets) != 1:
        return None
    ((name, states),) = asked.targets.items()
    given = {**asked.evidence, **{each: (state,) for each, state in asked.interventions.items()}}
    if asked.interventions and set(given) != set(network.parents[name]):
        return None
    return name, states, given


def intervals_asked_for(posterior: object, network: Network, asked: Query, level: float) -> Numbers | None:
    """The intervals of the numbers of a CPT that a question asks for, (2, states), where it asks for nothing else."""
    found = _given_parents(network, asked)
    if found is None or len(found[1]) > 1:  # draws know the sum of states
        return None
    name, states, given = found
    ends = cpt_intervals(posterior, network, name, given, level)
    return ends if ends is None or not states else ends[:, [network.states(name).index(states[0])]]


def distribution_asked_for(network: Network, asked: Query) -> Numbers | None:
    """The numbers of a CPT that a question asks for, where it asks for nothing else.

    Their means are known better than the mean over a thousand draws, and `Fit.cpt` shows them.
    """
    found = _given_parents(network, asked)
    if found is None:
        return None
    name, states, given = found
    known = cpt_distribution(network, name, given)
    if known is None or not states:
        return known
    chosen = known[[network.states(name).index(state) for state in states]]
    total: Numbers = chosen.sum(keepdims=True)
    return np.minimum(total, 1.0)  # of all states, the sum may be above one by a rounding


def _asks_for_cpt(network: Network, name: str, given: Iterable[str]) -> bool:
    parents, known = set(network.parents[name]), set(given)
    return name not in known and parents <= known and set(relevant_evidence(network, name, known)) == parents
