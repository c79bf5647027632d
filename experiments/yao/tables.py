"""Incomplete tables whose rows are tied in pairs that truly agree, and the statements about the ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from credo.knowledge import same
from credo.knowledge.statements import TiedRows
from credo.model.network import Network
from credo.testing import with_missing_values

Pairs = Sequence[tuple[int, int]]  # of rows, from 0


@dataclass(frozen=True, slots=True)
class TiedTable:
    """The input of a learner."""

    rows: pl.DataFrame  # with a column `tie X` for each variable X that is tied
    statements: tuple[TiedRows, ...]
    ties: int


def tied_table(rows: pl.DataFrame, pairs: Mapping[str, Pairs]) -> TiedTable:
    """A table with ties: a column for each tied variable has equal values in the rows of a pair."""
    columns, statements = [], []
    for name, tied in pairs.items():
        if tied:
            group = np.full(len(rows), -1)
            for number, pair in enumerate(tied):
                group[list(pair)] = number
            column = pl.Series(f"tie {name}", group)
            columns.append(column.set(column < 0, None))
            statements.append(same(name, by=column.name))
    return TiedTable(rows.with_columns(columns), tuple(statements), sum(map(len, pairs.values())))


def found_ties(
    complete: pl.DataFrame, rows: pl.DataFrame, names: Sequence[str], share: float, seed: Sequence[int]
) -> TiedTable:
    """Ties between rows that happen to agree: a share of the hidden values of each variable, in pairs.

    More variables and larger shares only add ties.
    """
    pairs = {}
    for name in names:
        hidden = np.flatnonzero(rows[name].is_null().to_numpy())
        values = complete[name].cast(pl.Categorical).to_physical().to_numpy()[hidden]
        generator = np.random.default_rng([*seed, complete.columns.index(name)])
        wanted = round(share * len(hidden) / 2)
        found = (pair for pair, _ in zip(agreeing_pairs(values, generator), range(wanted), strict=False))
        pairs[name] = [(int(hidden[first]), int(hidden[second])) for first, second in found]
    return tied_table(rows, pairs)


def agreeing_pairs(values: NDArray[np.generic], generator: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Random pairs of equal values, by position; each position occurs once, until no two remaining values are equal."""
    left = np.arange(len(values))
    while len(np.unique(values[left])) < len(left):
        left = generator.permutation(left)
        half = len(left) // 2
        first, second = left[:half], left[half : 2 * half]
        agree = values[first] == values[second]
        yield from zip(first[agree].tolist(), second[agree].tolist(), strict=True)
        left = np.concatenate([first[~agree], second[~agree], left[2 * half :]])


def drawn_ties(truth: Network, rows: int, hidden: float, names: Sequence[str], share: float, seed: int) -> TiedTable:
    """Rows drawn given their ties: a share of the rows are pairs, redrawn until they agree in one of `names`.

    The variable of a pair does not depend on any value, so the rows are drawn from P(rows | ties). The value in which a
    pair agrees is hidden; all others are hidden with a probability.
    """
    chosen = _chosen(names, round(share * rows / 2), seed)
    kept: dict[int, pl.DataFrame] = {}
    trial = 0
    while missing := [pair for pair in range(len(chosen)) if pair not in kept]:
        trial += 1
        fresh = truth.sample(2 * len(missing), seed=1_000_000 * trial + seed)
        for place, pair in enumerate(missing):
            two = fresh[2 * place : 2 * place + 2]
            if two[chosen[pair]].n_unique() == 1:
                kept[pair] = two
    alone = truth.sample(rows - 2 * len(chosen), seed=seed)
    pairs = [(name, 2 * pair, 2 * pair + 1) for pair, name in enumerate(chosen)]
    return _hide(pl.concat([*(kept[pair] for pair in range(len(chosen))), alone]), pairs, hidden, seed)


def picked_ties(truth: Network, rows: int, hidden: float, names: Sequence[str], share: float, seed: int) -> TiedTable:
    """As many ties of the same kind, but among rows drawn before: pairs that happen to agree are picked."""
    complete = truth.sample(rows, seed=seed)
    left = np.random.default_rng([seed, 2]).permutation(rows).tolist()
    pairs = []
    for name in _chosen(names, round(share * rows / 2), seed):
        first, values = left.pop(), complete[name]
        second = next((row for row in left if values[row] == values[first]), None)
        if second is not None:
            left.remove(second)
            pairs.append((name, first, second))
    return _hide(complete, pairs, hidden, seed)


def _chosen(names: Sequence[str], pairs: int, seed: int) -> list[str]:
    """The variable in which each pair agrees."""
    return [names[i] for i in np.random.default_rng([seed, 1]).integers(len(names), size=pairs)]


def _hide(complete: pl.DataFrame, ties: Sequence[tuple[str, int, int]], hidden: float, seed: int) -> TiedTable:
    """Hide the tied values, and all others with a probability."""
    pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in complete.columns}
    for name, *pair in ties:
        pairs[name].append((pair[0], pair[1]))
    table = with_missing_values(complete, hidden, seed)
    for name, tied in pairs.items():
        hidden_rows = [row for pair in tied for row in pair]
        table = table.with_columns(pl.when(~pl.int_range(pl.len()).is_in(hidden_rows)).then(pl.col(name)).alias(name))
    return tied_table(table, pairs)
