"""What each row of a table stands on: data, knowledge, what was learned, and the statements that moved it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from credo.arrays import Indices
from credo.estimation.problem import Problem
from credo.estimation.solution import Uncertainty
from credo.explain.allowed_ranges import Allowed
from credo.explain.left_out import LeftOut, by_row
from credo.explain.parts import RowStory
from credo.model.network import Network

MOST_ROWS = 4_096  # of one table that are told


def tell_rows(
    network: Network,
    problem: Problem,
    possible: Allowed,
    posterior: Uncertainty | None,
    effects: Mapping[int, LeftOut],
) -> dict[str, tuple[RowStory, ...]]:
    """The rows of every learned table; of a huge one, those that the knowledge speaks of or the data show."""
    moved, layout, bound = by_row(effects), problem.constraints.layout, problem.constrained_configurations()
    stories = {}
    for name in problem.names:
        counts = problem.counts.of(name)
        low, high, mean = (layout.view(each, name) for each in (possible.low, possible.high, possible.mean))
        learned = network.cpt_array(name).reshape(counts.shape)
        ends = None if posterior is None else [end.reshape(counts.shape) for end in posterior.interval(name)]
        seen = counts.sum(axis=1)
        stories[name] = tuple(
            RowStory(
                name,
                row,
                float(seen[row]),
                counts[row] / seen[row] if seen[row] > 0 else None,
                low[row],
                high[row],
                mean[row],
                learned[row],
                None if ends is None else (ends[0][row], ends[1][row]),
                tuple(moved.get((name, row), ())),
            )
            for row in _told(seen, bound.get(name, [])).tolist()
        )
    return stories


def _told(seen: Indices, bound: list[int]) -> Indices:
    """All rows, or the most telling of too many: those that statements speak of, then those seen most."""
    if len(seen) <= MOST_ROWS:
        return np.arange(len(seen))
    spoken_of = np.zeros(len(seen))
    spoken_of[bound] = 1.0
    return np.sort(np.lexsort((-seen, -spoken_of))[:MOST_ROWS])
