"""Tables with gaps whose rows are tied in pairs that truly agree, and the statements that say so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from credo.knowledge.build import same
from credo.knowledge.syntax import TiedRows
from credo.network import Network
from experiments.liao.missing import with_gaps

Pairs = Sequence[tuple[int, int]]  # of rows, from 0


@dataclass(frozen=True, slots=True)
class TiedTable:
    """What a learner is given."""

    rows: pl.DataFrame  # with a column `tie X` for each variable X that is tied
    statements: tuple[TiedRows, ...]
    ties: int


def tied_table(rows: pl.DataFrame, pairs: Mapping[str, Pairs]) -> TiedTable:
    """A table, and the rows of it that share a value: a column for each variable, equal in the rows of a pair."""
    columns, statements = [], []
    for name, own in pairs.items():
        if own:
            group = np.full(len(rows), -1)
            for number, pair in enumerate(own):
                group[list(pair)] = number
            column = pl.Series(f"tie {name}", group)
            columns.append(column.set(column < 0, None))
            statements.append(same(name, by=column.name))
    return TiedTable(rows.with_columns(columns), tuple(statements), sum(map(len, pairs.values())))


def found_ties(
    complete: pl.DataFrame, rows: pl.DataFrame, names: Sequence[str], share: float, seed: Sequence[int]
) -> TiedTable:
    """Ties between rows of a table that happen to agree: a share of the hidden values of each variable, in pairs.

    More variables and greater shares add ties and take none away.
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
    """Places of values that are equal, each place once: two at random, taken where they agree, until no two do."""
    left = np.arange(len(values))
    while len(np.unique(values[left])) < len(left):
        left = generator.permutation(left)
        half = len(left) // 2
        first, second = left[:half], left[half : 2 * half]
        agree = values[first] == values[second]
        yield from zip(first[agree].tolist(), second[agree].tolist(), strict=True)
        left = np.concatenate([first[~agree], second[~agree], left[2 * half :]])


def drawn_ties(truth: Network, rows: int, hidden: float, share: float, seed: int) -> TiedTable:
    """Ties that came first: a share of the rows are pairs, drawn again and again until they agree in a variable.

    Which pair agrees in which variable does not depend on any value, so that P(rows | ties) is just what they are drawn
    from. The value they agree in is hidden, all others with a probability.
    """
    generator = np.random.default_rng([seed, 1])
    wanted = round(share * rows / 2)
    chosen = [truth.names[i] for i in generator.integers(len(truth), size=wanted)]
    parts, missing, trial = [truth.sample(rows - 2 * wanted, seed=seed)], list(range(wanted)), 0
    kept: dict[int, pl.DataFrame] = {}
    while missing:
        trial += 1
        fresh = truth.sample(2 * len(missing), seed=1_000_000 * trial + seed)
        for place, pair in enumerate(missing):
            two = fresh[2 * place : 2 * place + 2]
            if two[chosen[pair]][0] == two[chosen[pair]][1]:
                kept[pair] = two
        missing = [pair for pair in missing if pair not in kept]
    complete = pl.concat([*(kept[pair] for pair in range(wanted)), *parts])
    pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in truth.names}
    for pair, name in enumerate(chosen):
        pairs[name].append((2 * pair, 2 * pair + 1))
    table = with_gaps(complete, hidden, seed)
    for name, own in pairs.items():
        places = [row for pair in own for row in pair]
        table = table.with_columns(pl.when(~pl.int_range(pl.len()).is_in(places)).then(pl.col(name)).alias(name))
    return tied_table(table, pairs)
