"""Observed rows against rows that the model would produce: which families and which missing links do not fit.

Two kinds of discrepancy, both sums of squares over cells that are scaled by what replicated rows show:

* of a family, N_jk − N_j·θ_jk for each configuration j and state k: the rows that have this state, less those that are
  expected;
* of a link that the network does not have, between A and a later C: Σ_j (N_ajk − N_aj·N_jk / N_j), the rows with A=a
  and C=k, less those that are expected where C depends on nothing but the configuration j of its parents [as in Mantel
  and Haenszel, 1959]. It needs no CPTs, and is zero on average whatever they are.

Each replicate r has its own draw θʳ of all CPTs. Under it, missing values are drawn (Dʳ are the discrepancies of the
completed rows) and rows are simulated (D̃ʳ). For families p = P(D̃ʳ ≥ Dʳ) [Gelman, Meng and Stern, 1996; with missing
values, Gelman and others, 2005]. Such a p-value is at most α with a probability of at most 2α, and mostly much less
[Meng, 1994]. For links it would be much too cautious where values are missing, since completions under a network
without the arrow dilute what the others show. The residual of a link is the score of that arrow, so that its mean over
completions is the score of what was observed, whose variance is that of complete rows less that of the completions
[Fisher, 1925; Louis, 1982]: the mean is compared in units of this deviation.

Several checks are tested together by the largest discrepancy of each replicate, in units that make them comparable: an
alarm says that no check of a replicate looks as bad as this one, except in a share α of replicates [Westfall, Young,
1993].
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.model.network import Network
from credo.statistics.completed_rows import (
    BatchedCPTs,
    Completion,
    completed_codes,
    configurations_of,
    of_draws,
    simulated_codes,
)
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

HALF_A_ROW = 0.25  # squared; added to variances, so that a single row in a rare cell is no surprise
LEAST_KNOWN = 0.1  # of the variance of a residual, that rows with missing values tell; less is not estimated well
SIMILAR = 0.8  # of the largest; states such as “yes”, which say more to a reader, mostly come last
BATCH_VALUES = 1_000_000  # of rows that are simulated at a time
AllCodes = NDArray[np.int64]  # (draws, rows, variables)
Tables = NDArray[np.floating[Any]]  # (draws, columns, columns) of numbers of rows, which need few digits


@dataclass(frozen=True, slots=True, eq=False)
class Discrepancies:
    """The discrepancies of some checks: of the observed rows, (replicates, checks), and of replicated rows."""

    observed: Numbers
    replicated: Numbers
    cells: tuple[tuple[int, int], ...]  # where each is largest: (configuration, state), or (state of A, state of C)
    rows: Numbers  # (checks, 2) rows that were observed there, and how many are expected


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Pairs (A, C) of variables that no arrow joins, A before C, and where their states are among all columns."""

    pairs: tuple[tuple[int, int], ...]
    variables: tuple[int, ...]  # with columns
    starts: Indices  # (variables,) the first column of each
    states: tuple[Indices, ...]  # the states that have columns: of two states the second alone, which says it all

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return sum(len(states) for states in self.states)


def links_of(network: Network, checked: Sequence[str]) -> Links:
    """All pairs of checked variables that no arrow joins; a variable with one state is linked to nothing."""
    among = {name for name in checked if len(network.states(name)) > 1}
    order = [name for name in network.order if name in among]
    number = {name: place for place, name in enumerate(network.names)}
    pairs = tuple(
        (number[a], number[c])
        for place, c in enumerate(order)
        for a in order[:place]
        if a not in network.parents[c] and c not in network.parents[a]
    )
    used = tuple(sorted({variable for pair in pairs for variable in pair}))
    sizes = [len(network.states(network.names[variable])) for variable in used]
    states = tuple(np.arange(1, 2) if size == 2 else np.arange(size) for size in sizes)
    starts = np.cumsum([0, *map(len, states)])[:-1].astype(np.int64)
    return Links(pairs, used, starts, states)


def batches(replicates: int, rows: int, variables: int) -> Iterator[Indices]:
    """The numbers of replicates that are simulated at a time."""
    step = max(1, BATCH_VALUES // max(1, rows * variables))
    return (np.arange(start, min(start + step, replicates)) for start in range(0, replicates, step))


def link_discrepancies(
    network: Network,
    cpts: BatchedCPTs,
    completion: Completion,
    links: Links,
    replicates: int,
    rng: np.random.Generator,
) -> Discrepancies:
    """The discrepancies of all links."""
    rows, width = len(completion.codes), links.columns
    replicated = np.empty((replicates, width, width), dtype=np.float32)
    complete = not completion.components and not completion.last
    together, total, squares, count = *np.zeros((3, width, width)), 0
    for numbers in batches(replicates, rows, len(network)):
        simulated = simulated_codes(network, cpts, numbers, rows, rng)
        replicated[numbers] = _residual_tables(network, simulated, links)[0]
        if complete and count:
            continue
        seen = completed_codes(completion, cpts, numbers[:1] if complete else numbers, rng)
        tables, shown = _residual_tables(network, seen, links)
        together += (shown.T @ shown).toarray()
        total += tables.sum(axis=0)
        squares += np.einsum("rij,rij->ij", tables, tables)
        count += len(tables)
    mean, together = total / count, together / count
    variance = np.einsum("rij,rij->ij", replicated, replicated) / replicates
    known = np.maximum(variance - (squares / count - mean**2), LEAST_KNOWN * variance)
    place = {variable: at for at, variable in enumerate(links.variables)}
    first, second = (np.array([place[pair[side]] for pair in links.pairs], dtype=np.int64) for side in (0, 1))
    single = np.diagonal(together)
    cells, counted = [], np.empty((len(links.pairs), 2))
    for number, (a, c) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        own, other = _block(links, a), _block(links, c)
        counts = _with_first_states(together[own, other], single[own], single[other], rows)
        residuals = _with_first_states(mean[own, other], 0.0 * single[own], 0.0 * single[other])
        cell = _most_striking(residuals, counts - residuals)
        cells.append(cell)
        counted[number] = counts[cell], counts[cell] - residuals[cell]
    return Discrepancies(
        _sums(mean[None], np.sqrt(known + HALF_A_ROW), links)[:, first, second],
        _sums(replicated, np.sqrt(variance + HALF_A_ROW), links)[:, first, second],
        tuple(cells),
        counted,
    )


def family_discrepancies(
    network: Network,
    cpts: BatchedCPTs,
    completion: Completion,
    checked: Sequence[str],
    replicates: int,
    rng: np.random.Generator,
) -> Discrepancies:
    """The discrepancies of the families of these variables."""
    found: list[tuple[Numbers, Numbers, tuple[int, int], tuple[float, float]]] = []
    complete = not completion.components and not completion.last
    every = np.arange(replicates)
    if complete:
        codes = completion.codes[None].astype(np.int64)
    else:
        parts = batches(replicates, len(completion.codes), len(network))
        codes = np.concatenate([completed_codes(completion, cpts, numbers, rng) for numbers in parts])
    for name in checked:
        states = len(network.states(name))
        configurations = configurations_of(network, name, codes)
        reached, inverse = np.unique(configurations, return_inverse=True)
        inverse = inverse.reshape(configurations.shape)
        own = codes[:, :, network.names.index(name)]
        keys = (np.arange(len(codes))[:, None] * len(reached) + inverse) * states + own
        counts = np.bincount(keys.ravel(), minlength=len(codes) * len(reached) * states)
        counts = counts.reshape(len(codes), len(reached), states)
        chances = np.broadcast_to(of_draws(cpts[name], every), (replicates, *cpts[name].shape[1:]))[:, reached]
        totals = np.broadcast_to(counts.sum(axis=-1), chances.shape[:-1])
        chances = chances / chances.sum(axis=-1, keepdims=True)
        expected = totals[..., None] * chances
        replicated = rng.multinomial(totals, chances) - expected
        scale = (replicated**2).mean(axis=0) + HALF_A_ROW
        observed = counts - expected
        at, state = _most_striking(observed.mean(axis=0), expected.mean(axis=0))
        seen = float(counts[:, at, state].mean())
        found.append(
            (
                (observed**2 / scale).sum(axis=(1, 2)),
                (replicated**2 / scale).sum(axis=(1, 2)),
                (int(reached[at]), int(state)),
                (seen, float(expected[:, at, state].mean())),
            )
        )
    if not found:
        return Discrepancies(np.empty((replicates, 0)), np.empty((replicates, 0)), (), np.empty((0, 2)))
    return Discrepancies(
        np.stack([each[0] for each in found], axis=1),
        np.stack([each[1] for each in found], axis=1),
        tuple(each[2] for each in found),
        np.array([each[3] for each in found]),
    )


def p_values(parts: Sequence[Discrepancies]) -> tuple[Numbers, Numbers]:
    """The p-value of each check on its own, and of all of them together."""
    observed, replicated = [], []
    for part in parts:
        own, others = np.cbrt(part.observed), np.cbrt(part.replicated)  # nearly normal [Wilson and Hilferty, 1931]
        # Sums of k squares have this deviation; what nearly never differs has less, and must not be the largest of all.
        usual = np.sqrt(2.0) / 3.0 * np.maximum(part.replicated.mean(axis=0), 1.0) ** (-1.0 / 6.0)
        centre, spread = others.mean(axis=0), np.maximum(others.std(axis=0), usual)
        observed.append(np.broadcast_to((own - centre) / spread, others.shape))
        replicated.append((others - centre) / spread)
    seen, simulated = np.concatenate(observed, axis=1), np.concatenate(replicated, axis=1)
    if not seen.size:
        return np.empty(0), np.empty(0)
    number = len(seen)
    single = (1.0 + (simulated >= seen).sum(axis=0)) / (number + 1.0)
    together = (1.0 + (simulated.max(axis=1, keepdims=True) >= seen).sum(axis=0)) / (number + 1.0)
    return np.asarray(single), np.asarray(together)


# Links ----------------------------------------------------------------------------------------------------------------


def _residual_tables(network: Network, codes: AllCodes, links: Links) -> tuple[Tables, csr_array]:
    """Σ_j (N_ajk − N_aj·N_jk / N_j) for all columns a and k, (draws, columns, columns); and which rows are in each.

    A row is in few columns, so that sums over the rows of each are sparse products. They also start no threads, which
    wait for each other longer than such sums take where a machine is busy.
    """
    from scipy.sparse import csr_array

    draws, rows, _ = codes.shape
    left = np.empty((draws * rows, links.columns), dtype=np.float32)
    every = np.arange(draws * rows)
    columns_of = np.empty((draws * rows, len(links.variables)), dtype=np.int32)
    for at, variable in enumerate(links.variables):
        name, own = network.names[variable], codes[:, :, variable]
        size, columns = len(network.states(name)), _block(links, at)
        keys = np.arange(draws)[:, None] * network.configurations(name) + configurations_of(network, name, codes)
        if draws * network.configurations(name) > 4 * keys.size:
            keys = np.unique(keys, return_inverse=True)[1].reshape(keys.shape)
        counts = np.bincount((keys * size + own).ravel(), minlength=(int(keys.max(initial=0)) + 1) * size)
        counts = counts.reshape(-1, size)
        frequencies = (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).astype(np.float32)
        left[:, columns] = np.take(-frequencies[:, links.states[at]], keys.ravel(), axis=0)
        column = np.full(size, -1, dtype=np.int32)
        column[links.states[at]] = np.arange(columns.start, columns.stop)
        columns_of[:, at] = np.take(column, own.ravel())
    inside = columns_of >= 0
    starts = np.concatenate(([0], np.cumsum(inside.sum(axis=1))))
    indices = columns_of[inside]
    left.ravel()[np.repeat(every * links.columns, np.diff(starts)) + indices] += 1.0
    shown = csr_array((np.ones(len(indices), dtype=np.float32), indices, starts), shape=(draws * rows, links.columns))
    tables = np.empty((draws, links.columns, links.columns), dtype=np.float32)
    for draw in range(draws):
        own_rows = slice(draw * rows, (draw + 1) * rows)
        tables[draw] = shown[own_rows].T @ left[own_rows]
    return tables, shown


def _block(links: Links, at: int) -> slice:
    return slice(int(links.starts[at]), int(links.starts[at]) + len(links.states[at]))


def _with_first_states(table: Tables, of_rows: Tables, of_columns: Tables, total: float = 0.0) -> Tables:
    """The table of all states, where of two states only the second has a column: sums tell what the first has."""
    if table.shape[0] == 1:
        table = np.vstack((of_columns - table[0], table))
        of_rows = np.append(total - of_rows, of_rows)
    if table.shape[1] == 1:
        table = np.column_stack((of_rows - table[:, 0], table))
    return table


def _most_striking(residuals: Tables, expected: Tables) -> tuple[int, int]:
    """The cell that has most rows beyond what is expected of it, for its size; of similar ones that of later states."""
    relative = residuals / np.sqrt(np.maximum(expected, 0.0) + HALF_A_ROW)
    largest = float(relative.max())
    i, j = np.argwhere(relative >= largest - (1.0 - SIMILAR) * abs(largest))[-1]
    return int(i), int(j)


def _sums(tables: Tables, scale: Tables, links: Links) -> Numbers:
    """Sums of squares of scaled tables over the states of each pair, (draws, variables, variables)."""
    found = np.empty((len(tables), len(links.variables), len(links.variables)))
    for number, each in enumerate(tables):
        squares = (each / scale) ** 2
        found[number] = np.add.reduceat(np.add.reduceat(squares, links.starts, axis=0), links.starts, axis=1)
    return found
