# cython: infer_types=True
"""Elimination orders of components of hidden variables, written down as programs.

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

import cython
import numpy as np
from cython.cimports.credo.core.numbered_lists import NumberedLists
from cython.cimports.libc.stdint import int8_t, int64_t, uint32_t

from credo.core.numbered_lists import longer

SMALL_CLIQUE = cython.declare(cython.Py_ssize_t, 16)  # cells up to which a bucket costs more than its cells
LARGE_MAP = cython.declare(cython.Py_ssize_t, 2**13)  # cells from which a map is not kept
MOST_MAPS = cython.declare(cython.Py_ssize_t, 2**22)  # cells of all maps that are kept (16 MB)


# Orders ---------------------------------------------------------------------------------------------------------------


class Graph:
    """The hidden variables of a component; an edge where a family holds both. Elimination adds edges."""

    def __init__(self, most: cython.Py_ssize_t):
        self.sizes = np.empty(most, dtype=np.int64)
        self.edges = np.empty((most, most), dtype=np.int8)
        self.gone, self.is_stale = np.empty(most, dtype=np.int8), np.empty(most, dtype=np.int8)
        self.fills, self.weights = np.empty(most), np.empty(most)
        self.neighbours = np.empty(most, dtype=np.int64)

    def _score(self, v):
        """Find the neighbours that are left, how many edges the elimination adds, and the cells of the clique."""
        found: cython.Py_ssize_t = 0
        fill: cython.Py_ssize_t = 0
        cells: cython.double = self.sizes[v]
        for u in range(self.n):
            if self.edges[v, u] and not self.gone[u]:
                self.neighbours[found] = u
                found += 1
                cells *= self.sizes[u]
        for i in range(found):
            for j in range(i):
                if not self.edges[self.neighbours[i], self.neighbours[j]]:
                    fill += 1
        self.fills[v], self.weights[v] = fill, cells
        return found


class Order:
    """An elimination order: variables by turn, with their neighbours (separators) at that turn; and its buckets."""

    def __init__(self, most: cython.Py_ssize_t):
        self.variables, self.turn = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        self.separators, self.widths = np.empty((most, most), dtype=np.int64), np.empty(most, dtype=np.int64)
        self.home, self.last = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        self.above, self.cells = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)

    def eliminate(self, graph, by_fill):
        """Eliminate greedily, by fewest new edges or by smallest clique; the cells of all cliques together."""
        n: cython.Py_ssize_t = graph.n
        best: cython.Py_ssize_t
        v: cython.Py_ssize_t
        u: cython.Py_ssize_t
        is_better: cython.bint
        total: cython.double = 0.0
        self.n = n
        for v in range(n):
            graph.gone[v] = False
            graph.is_stale[v] = True
        for turn in range(n):
            best = -1
            for v in range(n):
                if graph.gone[v]:
                    continue
                if graph.is_stale[v]:
                    graph._score(v)
                    graph.is_stale[v] = False
                if best < 0:
                    is_better = True
                elif by_fill:
                    is_better = graph.fills[v] < graph.fills[best] or (
                        graph.fills[v] == graph.fills[best] and graph.weights[v] < graph.weights[best]
                    )
                else:
                    is_better = graph.weights[v] < graph.weights[best] or (
                        graph.weights[v] == graph.weights[best] and graph.fills[v] < graph.fills[best]
                    )
                if is_better:
                    best = v
            found = graph._score(best)
            total += graph.weights[best]
            self.variables[turn], self.turn[best], self.widths[turn] = best, turn, found
            graph.gone[best] = True
            for i in range(found):
                u = graph.neighbours[i]
                self.separators[turn, i] = u
                for j in range(i):
                    w = graph.neighbours[j]
                    graph.edges[u, w] = graph.edges[w, u] = True
            for i in range(found):
                u = graph.neighbours[i]
                graph.is_stale[u] = True
                for w in range(n):  # the fill of a neighbour's neighbour can shrink with the new edges
                    if graph.edges[u, w]:
                        graph.is_stale[w] = True
        return total

    def largest_clique(self, sizes: int64_t[::1]):
        """The variables of the clique with most cells."""
        j: cython.Py_ssize_t
        worst: cython.Py_ssize_t = 0
        most: cython.double = 0.0
        cells: cython.double
        for i in range(self.n):
            cells = sizes[self.variables[i]]
            for j in range(self.widths[i]):
                cells *= sizes[self.separators[i, j]]
            if cells > most:
                worst, most = i, cells
        return [self.variables[worst], *(self.separators[worst, j] for j in range(self.widths[worst]))]

    def merge_buckets(self, sizes, inputs):
        """Set which bucket each turn belongs to, the last turn of each bucket, the bucket above it, and its cells.

        Each variable begins with a bucket of its own. Where what a bucket passes on is all that the one above holds,
        the two can be one, with more cells to multiply but one message less.
        """
        j: cython.Py_ssize_t
        u: cython.Py_ssize_t
        messages: cython.Py_ssize_t
        for i in range(self.n):
            self.home[i] = self.last[i] = i
            self.above[i] = -1
            self.cells[i] = sizes[self.variables[i]]
            for j in range(self.widths[i]):
                u = self.separators[i, j]
                self.cells[i] *= sizes[u]
                if self.above[i] < 0 or self.turn[u] < self.above[i]:
                    self.above[i] = self.turn[u]
        for p in range(self.n):
            best, messages = -1, 0
            for i in range(p):
                if self.home[i] == i and self.above[i] == p:
                    messages += 1
                    if self.widths[self.last[i]] == self.widths[p] + 1 and (
                        best < 0 or self.cells[i] < self.cells[best]
                    ):
                        best = i
            if best >= 0 and (self.cells[best] <= SMALL_CLIQUE or inputs[p] + messages <= 2):
                self.home[p], self.last[best], self.above[best] = best, p, self.above[p]
                inputs[best] += inputs[p] + messages - 1


# Programs -------------------------------------------------------------------------------------------------------------


def fill_map(maps, at, shapes, start, stop):
    """Write a map: its shape holds the sizes of the axes, outermost first, then the step of each."""
    axes: cython.Py_ssize_t = (stop - start) // 2
    to: cython.Py_ssize_t = at + 1
    maps[at] = 0
    for a in range(axes - 1, -1, -1):
        step, filled = cython.cast(uint32_t, shapes[start + axes + a]), to - at
        for _ in range(1, shapes[start + a]):
            for t in range(filled):
                maps[to + t] = maps[to + t - filled] + step
            to += filled


class Planner:
    """Writes programs one after the other, and keeps the maps that they share."""

    def __init__(self, members, strides, starts, most: cython.Py_ssize_t):
        self.members, self.strides, self.starts = members, strides, starts
        self.program, self.length = np.empty(1024, dtype=np.int32), 0
        self.shapes = NumberedLists()
        self.places = np.empty(1024, dtype=np.int64)  # where each map begins, -1 where it is not kept
        self.maps, self.map_cells = np.empty(1024, dtype=np.uint32), 0
        self.local = np.full(len(starts) - 1, -1, dtype=np.int64)  # the number of a variable among the hidden ones
        self.first = np.empty(len(starts) - 1, dtype=np.int64)  # the turn at which a family is used
        self.inputs, self.ready = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        self.message_at, self.axis = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
        self.shape = np.empty(2 * most, dtype=np.int64)
        self.step = np.empty(most, dtype=np.int64)  # what a variable's state adds in what is read

    def write(self, order, sizes, families, figures):
        """Append the program of an order; `figures` are cells of its cliques, messages, inputs, and maps of its own."""
        n: cython.Py_ssize_t = order.n
        t: int64_t
        buckets: cython.Py_ssize_t = 0
        bucket: cython.Py_ssize_t
        other: cython.Py_ssize_t
        axes: cython.Py_ssize_t
        used: cython.Py_ssize_t
        messages: cython.Py_ssize_t
        for i in range(n):
            self.inputs[i] = 0
        for f in range(families.shape[0]):
            self.first[f] = n
            for i in range(self.starts[families[f]], self.starts[families[f] + 1]):
                u = self.local[self.members[i]]
                if u >= 0 and order.turn[u] < self.first[f]:
                    self.first[f] = order.turn[u]
            self.inputs[self.first[f]] += 1
        order.merge_buckets(sizes, self.inputs)
        for i in range(n):  # a bucket is ready when the last of its turns has come
            if order.last[order.home[i]] == i:
                self.ready[buckets] = order.home[i]
                buckets += 1
        self._append(buckets)
        for b in range(buckets):
            bucket = self.ready[b]
            axes = order.widths[bucket] + 1
            # Turns of its variables, the latest outermost: those that are eliminated come last.
            for i in range(axes):
                t = bucket if i == 0 else order.turn[order.separators[bucket, i - 1]]
                j = i
                while j > 0 and self.axis[j - 1] < t:
                    self.axis[j] = self.axis[j - 1]
                    j -= 1
                self.axis[j] = t
            eliminated = 1
            for i in range(axes):
                self.shape[i] = sizes[order.variables[self.axis[i]]]
                if self.axis[i] <= order.last[bucket]:
                    eliminated *= self.shape[i]
            table = order.cells[bucket]
            head = self.length
            self._append(eliminated)
            self._append(table)
            self._append(table // eliminated)
            self._append(order.above[bucket] < 0)
            self._append(0)  # families and messages: see below
            self._append(0)
            self._append(figures[0])
            self._append(figures[1])
            self.message_at[b] = figures[1]
            used = messages = 0
            for f in range(families.shape[0]):
                if order.home[self.first[f]] != bucket:
                    continue
                for i in range(n):
                    self.step[i] = 0
                for i in range(self.starts[families[f]], self.starts[families[f] + 1]):
                    if self.local[self.members[i]] >= 0:
                        self.step[self.local[self.members[i]]] = self.strides[i]
                self._add_input(f, order, axes, table, figures)
                used += 1
            for i in range(b):
                other = self.ready[i]
                if order.above[other] < 0 or order.home[order.above[other]] != bucket:
                    continue
                for j in range(n):
                    self.step[j] = 0
                stride = 1
                for t in range(order.last[other] + 1, n):  # the separator of a bucket lies like its axes
                    u = order.variables[t]
                    for j in range(order.widths[order.last[other]]):
                        if order.separators[order.last[other], j] == u:
                            self.step[u] = stride
                            stride *= sizes[u]
                self._add_input(self.message_at[i], order, axes, table, figures)
                messages += 1
            self.program[head + 4], self.program[head + 5] = used, messages
            figures[0] += table
            figures[1] += table // eliminated
            figures[2] += table * (used + messages)
        return 0

    def _add_input(self, read, order, axes, table, figures):
        """Append an input of a bucket, in which a variable's state adds `step` to the cell that is read."""
        for i in range(axes):
            self.shape[axes + i] = self.step[order.variables[self.axis[i]]]
        known: cython.Py_ssize_t = self.shapes.count
        number: cython.Py_ssize_t = self.shapes.number(self.shape, 2 * axes)
        if number == known:
            if number >= self.places.shape[0]:
                with cython.gil:
                    self.places = longer(self.places, number + 1)
            self.places[number] = -1
            if table < LARGE_MAP and self.map_cells + table <= MOST_MAPS:
                if self.map_cells + table > self.maps.shape[0]:
                    with cython.gil:
                        self.maps = longer(self.maps, self.map_cells + table)
                fill_map(self.maps, self.map_cells, self.shape, 0, 2 * axes)
                self.places[number] = self.map_cells
                self.map_cells += table
        self._append(read)
        if self.places[number] >= 0:
            self._append(self.places[number])
        else:
            self._append(-1 - figures[3])
            figures[3] += table
        self._append(number)
        return 0

    def _append(self, value):
        if self.length >= self.program.shape[0]:
            with cython.gil:
                self.program = longer(self.program, self.length + 1)
        self.program[self.length] = value
        self.length += 1
        return 0

    def arrays(self):
        """The programs, the maps that they share, the shapes of all maps, and where each shape begins."""
        maps = np.asarray(self.maps)[: self.map_cells].copy()
        return np.asarray(self.program)[: self.length].copy(), maps, *self.shapes.arrays()


def write_plans(
    keys: cython.const[int64_t][::1],
    key_starts: cython.const[int64_t][::1],  # (components + 1,)
    sizes: cython.const[int64_t][::1],  # (variables,)
    members: cython.const[int64_t][::1],
    strides: cython.const[int64_t][::1],
    starts: cython.const[int64_t][::1],  # (variables + 1,)
    most_cells: float,  # of the cliques of one component
):
    """The program of each component, and where each begins; its figures; the maps that all share.

    Stops at a component whose cliques have more than `most_cells`: then also how many, and the largest clique.
    """
    components: cython.Py_ssize_t = key_starts.shape[0] - 1
    most: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    n: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    v: int64_t
    cost: cython.double = 0.0
    is_by_fill: cython.bint = True
    limit: cython.double = most_cells
    for component in range(components):
        most = max(most, keys[key_starts[component]])
    program_starts_array = np.zeros(components + 1, dtype=np.int64)
    figures_array = np.zeros((components, 4), dtype=np.int64)
    program_starts: int64_t[::1] = program_starts_array
    figures: int64_t[:, ::1] = figures_array
    graph: Graph = Graph(most)
    edges: int8_t[:, ::1] = np.empty((most, most), dtype=np.int8)
    by_fill: Order = Order(most)
    by_weight: Order = Order(most)
    planner: Planner = Planner(members, strides, starts, most)
    with cython.nogil:
        for component in range(components):
            start = key_starts[component]
            n = keys[start]
            graph.n = n
            for i in range(n):
                planner.local[keys[start + 1 + i]] = i
                graph.sizes[i] = sizes[keys[start + 1 + i]]
                for j in range(n):
                    edges[i, j] = False
            for f in range(start + 1 + n, key_starts[component + 1]):
                for i in range(starts[keys[f]], starts[keys[f] + 1]):
                    for j in range(starts[keys[f]], i):
                        u, v = planner.local[members[i]], planner.local[members[j]]
                        if u >= 0 and v >= 0:
                            edges[u, v] = edges[v, u] = True
            for i in range(n):
                for j in range(n):
                    graph.edges[i, j] = edges[i, j]
            cost = by_fill.eliminate(graph, True)
            is_by_fill = True
            if n > 3:
                for i in range(n):
                    for j in range(n):
                        graph.edges[i, j] = edges[i, j]
                other_cost = by_weight.eliminate(graph, False)
                if other_cost < cost:
                    cost, is_by_fill = other_cost, False
            if cost > limit:
                break
            if is_by_fill:
                planner.write(by_fill, graph.sizes, keys[start + 1 + n : key_starts[component + 1]], figures[component])
            else:
                planner.write(
                    by_weight, graph.sizes, keys[start + 1 + n : key_starts[component + 1]], figures[component]
                )
            program_starts[component + 1] = planner.length
            for i in range(n):
                planner.local[keys[start + 1 + i]] = -1
            cost = 0.0
    clique = []
    if cost > 0.0:
        chosen = by_fill if is_by_fill else by_weight
        clique = [keys[start + 1 + v] for v in chosen.largest_clique(graph.sizes)]
    program, *maps = planner.arrays()
    return program, program_starts_array, figures_array, *maps, cost, clique
