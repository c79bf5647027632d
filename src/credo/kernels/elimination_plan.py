"""The compiled loops that find an elimination order for each component and write it down as a program.

A program is a list of numbers. First the number of buckets; then for each bucket, children before parents, a head of
`HEAD` numbers and `INPUT` numbers for each input, families before messages:

    head      eliminated cells, cells, separator cells, whether it is the root, families, messages,
              where its table begins, where its message begins
    family    its place among the component's families, where its map begins, the number of the map
    message   where it begins, where its map begins, the number of the map

A map says for each cell of a bucket's table which cell of an input is read. Maps are shared by all programs, since few
are distinct: on Alarm 400 serve 66,000 buckets. Of a large one only the shape is kept: it begins at -1, -2, …
in an array of the component's own, which is filled when the component's turn comes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.elimination_order import (
    MIN_FILL,
    MIN_WEIGHT,
    descend,
    eliminate,
    largest_clique,
    merge_buckets,
)
from credo.kernels.hash_set import find, more_slots, room

HEAD, INPUT = 8, 3
LARGE_MAP = 2**13  # cells from which a map is not kept
MOST_MAPS = 2**22  # cells of all maps that are kept (16 MB)
FIRST_SLOTS = 1024


@compiled
def fill_map(maps: Any, at: int, shape: Any) -> None:  # pragma: no cover
    """Write a map: `shape` holds the sizes of the axes, outermost first, then the step of each."""
    axes = len(shape) // 2
    maps[at] = 0
    to = at + 1
    for a in range(axes - 1, -1, -1):
        step, filled = np.uint32(shape[axes + a]), to - at
        for _ in range(1, shape[a]):
            for t in range(filled):
                maps[to + t] = maps[to + t - filled] + step
            to += filled


@compiled
def _map_of(pool: Any, shape: Any, length: int, cells: int) -> Any:  # pragma: no cover
    """The number of a map in the pool, which grows where it is new."""
    slots, hashes, keys, starts, places, maps, figures = pool
    slots = more_slots(slots, hashes, figures[0])
    at, mixed = find(slots, hashes, keys, starts, shape, length)
    if slots[at] < 0:
        entry = figures[0]
        slots[at] = entry
        hashes, starts, places = room(hashes, entry + 1), room(starts, entry + 2), room(places, entry + 1)
        keys = room(keys, starts[entry] + length)
        hashes[entry] = mixed
        keys[starts[entry] : starts[entry] + length] = shape[:length]
        starts[entry + 1] = starts[entry] + length
        places[entry] = -1
        if cells < LARGE_MAP and figures[1] + cells <= MOST_MAPS:
            maps = room(maps, figures[1] + cells)
            fill_map(maps, figures[1], shape[:length])
            places[entry] = figures[1]
            figures[1] += cells
        figures[0] += 1
    return (slots, hashes, keys, starts, places, maps, figures), slots[at]


@compiled
def _write_program(  # pragma: no cover
    program: Any,
    length: int,
    pool: Any,  # of maps
    figures: Any,  # (4,) out
    own: Any,  # (n,) sizes of the hidden variables
    order: Any,
    separators: Any,
    widths: Any,
    families: Any,
    local: Any,  # the number of a variable among the hidden ones, or -1
    members: Any,
    strides: Any,
    starts: Any,
) -> Any:
    n = len(order)
    turn = np.empty(n, dtype=np.int64)
    for i in range(n):
        turn[order[i]] = i
    first = np.full(len(families), n, dtype=np.int64)  # the turn at which a family is used
    inputs = np.zeros(n, dtype=np.int64)
    for f in range(len(families)):
        for i in range(starts[families[f]], starts[families[f] + 1]):
            u = local[members[i]]
            if u >= 0 and turn[u] < first[f]:
                first[f] = turn[u]
        inputs[first[f]] += 1
    home, last, above, cells = merge_buckets(own, order, turn, separators, widths, inputs)

    # A bucket is ready when the last of its turns has come.
    ready = np.empty(n, dtype=np.int64)
    message_at = np.empty(n, dtype=np.int64)
    buckets = 0
    for i in range(n):
        if last[home[i]] == i:
            ready[buckets] = home[i]
            buckets += 1
    program = room(program, length + 1)
    program[length] = buckets
    length += 1
    shape = np.empty(2 * n, dtype=np.int64)
    step = np.zeros(n, dtype=np.int64)  # what a variable's state adds in what is read
    for b in range(buckets):
        bucket = ready[b]
        axes = widths[bucket] + 1
        axis = np.empty(axes, dtype=np.int64)  # turns of its variables: later ones outside, eliminated ones inside
        axis[0] = bucket
        for i in range(axes - 1):
            axis[i + 1] = turn[separators[bucket, i]]
        descend(axis)
        eliminated = 1
        for i in range(axes):
            shape[i] = own[order[axis[i]]]
            if axis[i] <= last[bucket]:
                eliminated *= shape[i]
        table = cells[bucket]
        head = length
        program = room(program, head + HEAD)
        program[head], program[head + 1], program[head + 2] = eliminated, table, table // eliminated
        program[head + 3] = 1 if above[bucket] < 0 else 0
        program[head + 6], program[head + 7] = figures[0], figures[1]
        message_at[b] = figures[1]
        length += HEAD

        used = 0
        for f in range(len(families)):
            if home[first[f]] != bucket:
                continue
            step[:] = 0
            for i in range(starts[families[f]], starts[families[f] + 1]):
                if local[members[i]] >= 0:
                    step[local[members[i]]] = strides[i]
            for i in range(axes):
                shape[axes + i] = step[order[axis[i]]]
            pool, number = _map_of(pool, shape, 2 * axes, table)
            program = room(program, length + INPUT)
            program[length], program[length + 1], program[length + 2] = f, pool[4][number], number
            if pool[4][number] < 0:
                program[length + 1] = -1 - figures[3]
                figures[3] += table
            length += INPUT
            used += 1
        messages = 0
        for below in range(b):
            other = ready[below]
            if above[other] < 0 or home[above[other]] != bucket:
                continue
            step[:] = 0
            stride = 1
            for u in order:  # the separator of a bucket lies like its axes
                if turn[u] > last[other]:
                    for i in range(widths[last[other]]):
                        if separators[last[other], i] == u:
                            step[u] = stride
                            stride *= own[u]
            for i in range(axes):
                shape[axes + i] = step[order[axis[i]]]
            pool, number = _map_of(pool, shape, 2 * axes, table)
            program = room(program, length + INPUT)
            program[length], program[length + 1], program[length + 2] = message_at[below], pool[4][number], number
            if pool[4][number] < 0:
                program[length + 1] = -1 - figures[3]
                figures[3] += table
            length += INPUT
            messages += 1
        program[head + 4], program[head + 5] = used, messages
        figures[0] += table
        figures[1] += table // eliminated
        figures[2] += table * (used + messages)
    return program, length, pool


@compiled
def write_plans(  # pragma: no cover
    keys: Any,
    key_starts: Any,  # (components + 1,)
    sizes: Any,  # (variables,)
    members: Any,
    strides: Any,
    starts: Any,  # (variables + 1,)
    most_cells: float,  # of the cliques of one component
) -> Any:
    """The program of each component; its cells, of cliques, messages, inputs, maps of its own; the maps that all share.

    Stops at a component whose cliques have more than `most_cells`: then also how many, and the largest clique.
    """
    components = len(key_starts) - 1
    program = np.empty(1024, dtype=np.int32)
    program_starts = np.zeros(components + 1, dtype=np.int64)
    figures = np.zeros((components, 4), dtype=np.int64)
    local = np.full(len(sizes), -1, dtype=np.int64)
    length = np.int64(0)  # a plain 0 would be compiled for twice
    pool = (
        np.full(FIRST_SLOTS, -1, dtype=np.int64),  # slots
        np.empty(FIRST_SLOTS, dtype=np.uint64),  # hashes
        np.empty(FIRST_SLOTS, dtype=np.int64),  # shapes, one after the other
        np.zeros(FIRST_SLOTS, dtype=np.int64),  # where each begins
        np.empty(FIRST_SLOTS, dtype=np.int64),  # where each map begins, -1 where it is not kept
        np.empty(FIRST_SLOTS, dtype=np.uint32),  # maps
        np.zeros(2, dtype=np.int64),  # how many; cells that are kept
    )
    for component in range(components):
        start = key_starts[component]
        n = keys[start]
        variables = keys[start + 1 : start + 1 + n]
        families = keys[start + 1 + n : key_starts[component + 1]]
        own = np.empty(n, dtype=np.int64)
        for i in range(n):
            local[variables[i]] = i
            own[i] = sizes[variables[i]]
        adjacent = np.zeros((n, n), dtype=np.bool_)
        for f in families:
            for i in range(starts[f], starts[f + 1]):
                for j in range(starts[f], i):
                    u, v = local[members[i]], local[members[j]]
                    if u >= 0 and v >= 0:
                        adjacent[u, v] = adjacent[v, u] = True
        order, widths = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        separators = np.empty((n, n), dtype=np.int64)
        cost = eliminate(adjacent.copy(), own, MIN_FILL, order, separators, widths)
        if n > 3:
            other_order, other_widths, other_separators = order.copy(), widths.copy(), separators.copy()
            other = eliminate(adjacent, own, MIN_WEIGHT, other_order, other_separators, other_widths)
            if other < cost:
                cost, order, widths, separators = other, other_order, other_widths, other_separators
        if cost > most_cells:
            clique = largest_clique(variables, own, order, separators, widths)
            return program, program_starts, figures, pool[5], pool[2], pool[3], cost, clique
        program, length, pool = _write_program(
            program, length, pool, figures[component], own, order, separators, widths, families, local, members,
            strides, starts,
        )  # fmt: skip
        program_starts[component + 1] = length
        for i in range(n):
            local[variables[i]] = -1
    _, _, shapes, shape_starts, _, maps, held = pool
    maps, shapes = maps[: held[1]].copy(), shapes[: shape_starts[held[0]]].copy()
    nothing = np.zeros(0, dtype=np.int64)
    return (
        program[:length].copy(), program_starts, figures, maps, shapes, shape_starts[: held[0] + 1].copy(), 0.0, nothing
    )  # fmt: skip
