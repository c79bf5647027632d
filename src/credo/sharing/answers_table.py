"""Answers that are computed beforehand: one row for each combination of what can be said about some inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

import numpy as np

from credo.errors import OptionError, QueryError, TooLargeError
from credo.knowledge.query import Query
from credo.model.network import Network
from credo.progress import ProgressEvent, ProgressListener
from credo.questions.answers import query, query_network
from credo.results.fit_results import Fit
from credo.types import Numbers

MOST_CASES = 10_000
COMPUTING = "Computing the answers"


def table_of_answers(
    source: Fit | Network, inputs: Sequence[str], targets: Sequence[str], progress: ProgressListener
) -> Numbers:
    """The probability of each state of each target and the ends of its interval, for every case: (cases, numbers).

    Cases count the states of the inputs, the last one fastest; the first number of each stands for "not known". NaN
    stands for a case that is impossible, and for the ends of an interval that there is not.
    """
    network = source if isinstance(source, Network) else source.network
    if not inputs or not targets:
        raise OptionError("A form needs inputs, which people can say, and targets, which they want to know.")
    cases = prod(len(network.states(name)) + 1 for name in inputs)
    if cases > MOST_CASES:
        raise TooLargeError(
            f"With these {len(inputs)} inputs there are {cases:,} cases to compute beforehand; at most {MOST_CASES:,} "
            "fit into a page. Choose fewer inputs, or such with fewer states.",
            cases,
        )
    width = 3 * sum(len(network.states(name)) for name in targets)
    found = np.full((cases, width), np.nan)
    known = [(None, *network.states(name)) for name in inputs]
    for number, states in enumerate(product(*known)):
        evidence = {name: (state,) for name, state in zip(inputs, states, strict=True) if state is not None}
        found[number] = _answers(source, network, evidence, targets, width)
        progress(ProgressEvent(COMPUTING, (number + 1) / cases))
    return found


def _answers(
    source: Fit | Network,
    network: Network,
    evidence: Mapping[str, tuple[str, ...]],
    targets: Sequence[str],
    width: int,
) -> Numbers:
    numbers: list[float] = []
    for target in targets:
        if target in evidence:
            rows = [[float(state == evidence[target][0])] * 3 for state in network.states(target)]
        else:
            asked = Query({target: ()}, evidence)
            try:
                answer = query_network(source, asked) if isinstance(source, Network) else query(source, asked)
            except QueryError:  # it is impossible
                return np.full(width, np.nan)
            frame = answer.frame.select("probability", "low", "high")
            rows = [[np.nan if each is None else each for each in row] for row in frame.iter_rows()]
        numbers += [each for row in rows for each in row]
    return np.array(numbers)
