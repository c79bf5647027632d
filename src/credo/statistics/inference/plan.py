"""In which order the hidden variables of a component are summed out, and what that costs.

Greedy orders by fewest new edges and by smallest clique are both tried, and the one with fewer cells is kept. A
component whose cliques do not fit is refused before anything is allocated for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credo.arrays import Indices
from credo.errors import TooLargeError, listing, readable_bytes
from credo.memory import memory_limit_or_default
from credo.model.layout import Layout
from credo.statistics.inference.components import Groups

# A cell of a clique is kept once as a number and, for about three inputs, as four bytes of a map; messages are smaller.
BYTES_A_CELL = 24
# Programs number cells with 32 bits.
MOST_CELLS = 2**31 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Plans:
    """A program for each component; `kernels/elimination_plan.py` says how it is written."""

    program: NDArray[np.int32]
    starts: Indices  # (components + 1,)
    clique_cells: Indices  # (components,)
    message_cells: Indices  # (components,)
    input_cells: Indices  # (components,) cells of cliques, once for each input
    map_cells: Indices  # (components,) of maps that are not kept
    maps: NDArray[np.uint32]  # those that are kept
    shapes: Indices  # of all maps, one after the other
    shape_starts: Indices  # (maps + 1,)


def make_plans(layout: Layout, groups: Groups, memory_limit: int | None = None) -> Plans:
    """The plans of all components, or an error with the estimate in bytes where one needs too much memory."""
    from credo.kernels.elimination_plan import write_plans

    memory_limit = memory_limit_or_default(memory_limit)
    most = min(float(MOST_CELLS), memory_limit / BYTES_A_CELL)
    shape = layout.sizes, layout.members, layout.strides, layout.member_starts
    program, starts, figures, *maps, cells, clique = write_plans(groups.keys, groups.key_starts, *shape, most)
    if cells > 0:
        names = [layout.network.names[v] for v in sorted(clique)]
        needed = int(BYTES_A_CELL * cells)
        raise TooLargeError(
            f"Exact inference would need {readable_bytes(needed)} for one group of hidden variables; "
            f"{readable_bytes(memory_limit)} are allowed. It has to look at {len(names)} of them together: "
            f"{listing(names)}. Observe some of them, give variables fewer parents, or raise memory_limit.",
            needed,
        )
    return Plans(program, starts, *figures.T.copy(), *maps)
