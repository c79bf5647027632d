"""Missing values as part of what chains draw (data augmentation) [Tanner and Wong, 1987].

A sweep draws the missing values of all incomplete rows given the CPTs, exactly (`inference/draw_missing.py`), and then
everything else given the counts of the completed rows, as for complete data. So each chain has counts of its own, and
its CPTs are draws from their posterior given what was observed, with all statements and the prior. The values of tied
rows are drawn together (`ties/draw_tied.py`).

Some chains start where EM ended, with its expected counts; the others complete their first rows under random CPTs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credo.model.layout import Layout
from credo.model.network import Network
from credo.sampling.region import seeded
from credo.sampling.relabelling import Renaming, StateGroups, renamings_of
from credo.statistics.inference.draw_missing import draw_missing
from credo.statistics.inference.draw_parts import PartDraws, figures_of
from credo.statistics.inference.elimination import visited_cells
from credo.statistics.inference.expected_counts import Prepared, PreparedRows, expected_cells
from credo.statistics.inference.expected_counts_of_parts import PreparedParts
from credo.statistics.ties.draw_tied import TiedDraws, draw_tied, tied_draws
from credo.statistics.ties.failed_attempts import LEAST
from credo.statistics.ties.likelihood import TiedData
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from credo.sampling.distributions import SampledDistributions

SEEN = 0.5  # rows that are expected of a configuration, from which it counts as one that has data
VECTORISED_VISITS = 2**14  # of cells of cliques, up to which hundreds of chains draw missing values: 0.1 s a sweep
VECTORISED_CELLS = 2**14  # of all CPTs, which hundreds of chains hold at once: 32 MB
FIRST_SUCCESS = 0.02  # the least probability of a tie that first completions assume
CELLS_AN_UPDATE = 10  # of cliques, which are visited in the time that a parameter is updated in


@dataclass(frozen=True, slots=True, eq=False)
class MissingValues:
    """Incomplete rows, and where EM ended; cells are those of the layout of `prepared`."""

    prepared: PreparedRows
    expected: Numbers  # (cells,) counts that EM ended with, those of complete families among them
    base: Numbers  # (cells,) CPTs that are kept, and the uniform distribution elsewhere
    reached: Flags  # (cells,) which a completed row can have
    exchangeable: StateGroups  # states of hidden variables that nothing tells apart,
    reference: Mapping[str, Numbers]  # and the CPTs that say how draws name them
    tied: TiedData | None = None  # the same rows with their ties,
    start: Numbers | None = None  # and the counts that the last M-step was given, in which P(ties) is divided out

    @classmethod
    def of(
        cls,
        network: Network,
        names: Sequence[str],
        prepared: PreparedRows,
        expected: Numbers,
        exchangeable: StateGroups | None = None,
        reference: Mapping[str, Numbers] | None = None,
        tied: TiedData | None = None,
        start: Numbers | None = None,
    ) -> MissingValues:
        """`names` are the variables whose CPTs are learned; the others keep those of the network."""
        learned = {name: np.full(network.shape(name), 1.0 / len(network.states(name))) for name in names}
        base = prepared.layout.pack({**network.cpts, **learned})
        reached = expected_cells(prepared, base)[0] > 0.0
        if tied is not None:
            found = tied.expected(base, tied.start())
            reached |= (found.seen > 0.0) | (found.chance > 0.0)
        return cls(prepared, expected, base, reached, exchangeable or {}, reference or {}, tied, start)

    @property
    def untied(self) -> Prepared:
        """The incomplete rows that are drawn one by one."""
        if self.tied is not None:
            return self.tied.seen.rest
        assert isinstance(self.prepared, Prepared)
        return self.prepared

    def reached_in(self, layout: Layout) -> Numbers:
        """1 for each cell of another layout that a completed row can have, else 0."""
        return layout.pack({name: self.reached[self.prepared.layout.slice_of(name)] for name in layout.names})

    def seen_in(self, layout: Layout) -> Flags:
        """Which distributions of another layout have data, (distributions,): at least half a row is expected of them.

        States of parents that no row shows are not distinguished: an order of them would be a guess.
        """
        network = layout.network
        never = np.logical_not(self.prepared.seen).tolist()
        hidden = {name for name, is_hidden in zip(network.names, never, strict=True) if is_hidden}
        flags = [np.zeros(0, dtype=np.bool_)]
        for name in layout.names:
            rows = self.expected[self.prepared.layout.slice_of(name)].reshape(network.shape(name)).sum(axis=-1)
            axes = tuple(axis for axis, parent in enumerate(network.parents[name]) if parent in hidden)
            total = rows.sum(axis=axes, keepdims=True) if axes else rows
            flags.append(np.broadcast_to(total >= SEEN, rows.shape).ravel())
        return np.concatenate(flags)


@dataclass(frozen=True, slots=True, eq=False)
class Augmentation:
    """How chains complete the rows: their parameters are those of `SampledDistributions`."""

    base: Numbers  # (cells,)
    places: Indices  # (parameters,) the cell of each
    fixed: Numbers  # (parameters,) counts of complete families, and a prior's pseudo-counts
    expected: Numbers  # (parameters,) the same with the counts of incomplete families where EM ended
    incomplete: Prepared | None  # the rows that are drawn one by one; None where they are in partitions
    renamings: Sequence[Renaming] = ()  # of hidden variables with exchangeable states
    tied: TiedDraws | None = None
    parts: PartDraws | None = None  # of rows in partitions

    @property
    def cells(self) -> int:
        """How many cells are visited to complete the rows once."""
        if self.parts is not None:
            return int(self.parts.figures.cells)
        assert self.incomplete is not None
        own = int(visited_cells(self.incomplete.groups, self.incomplete.plans).sum())
        return own + (0 if self.tied is None else self.tied.cells)

    @property
    def updates(self) -> int:
        """The same, and how many rows are completed, as a number of parameters that could be updated in that time."""
        rows = 0.0 if self.incomplete is None else float(self.incomplete.groups.weights.sum())
        rows += 0.0 if self.parts is None else self.parts.figures.rows
        rows += 0.0 if self.tied is None else float(sum(part.groups.weights.sum() for part in self.tied.tied.parts))
        return -(-self.cells // CELLS_AN_UPDATE) + int(rows)

    def completed(self, theta: Numbers, rng: np.random.Generator, *, first: bool = False) -> Numbers:
        """Counts of completed rows, (parameters, chains), given what chains have drawn, (parameters, chains).

        The `first` time only some of the attempts at ties that failed are drawn: under random CPTs there would be very
        many, which hold chains fast.
        """
        assert self.incomplete is not None
        cells = np.repeat(self.base[:, None], theta.shape[1], axis=1)
        cells[self.places] = theta
        generator = seeded(int(rng.integers(2**62)))
        drawn = draw_missing(self.incomplete, cells, generator)
        if self.tied is not None:
            drawn += draw_tied(self.tied, cells, generator, rng, least=FIRST_SUCCESS if first else LEAST)
        return np.asarray(self.fixed[:, None] + drawn[self.places])

    def completed_by_program(
        self, theta: Numbers, generator: NDArray[np.uint64], rng: np.random.Generator, *, first: bool = False
    ) -> Numbers:
        """The same for one chain, (parameters,), in compiled code."""
        cells = self.base.copy()
        cells[self.places] = theta
        if self.parts is not None:
            return np.asarray(self.fixed + self.parts.draw(cells, rng)[self.places])
        assert self.incomplete is not None
        drawn = draw_missing(self.incomplete, cells, generator)
        if self.tied is not None:
            least = FIRST_SUCCESS if first else LEAST
            drawn += draw_tied(self.tied, cells[:, None], generator, rng, least=least)[:, 0]
        return np.asarray(self.fixed + drawn[self.places])

    def flattened(self, theta: Numbers) -> Numbers:
        """Half of what was drawn, half uniform: under corners of the prior, first completions would be all alike."""
        uniform = self.base[self.places].reshape(-1, *(1,) * (theta.ndim - 1))
        return np.where(theta > 0.0, 0.5 * (theta + uniform), 0.0)


def is_small(missing: MissingValues) -> bool:
    """Whether hundreds of chains can draw the missing values."""
    if missing.prepared.layout.size > VECTORISED_CELLS or isinstance(missing.prepared, PreparedParts):
        return False
    parts = (missing.prepared,) if missing.tied is None else missing.tied.parts
    return sum(float(visited_cells(part.groups, part.plans).sum()) for part in parts) <= VECTORISED_VISITS


def augmentation_of(missing: MissingValues, sampled: SampledDistributions, compiled: bool) -> Augmentation:
    """What chains of the one sampler or the other need."""
    layout = missing.prepared.layout
    shifts = np.array([layout.offsets[name] - sampled.layout.offsets[name] for name in sampled.names], dtype=np.int64)
    places = sampled.parameters() + np.repeat(shifts[sampled.families], np.diff(sampled.starts))
    observed = np.zeros(layout.size)
    observed[missing.prepared.observed_cells] = missing.prepared.observed_counts
    tied = None if missing.tied is None else tied_draws(missing.tied)
    parts = None
    if isinstance(missing.prepared, PreparedParts):
        assert compiled
        parts = PartDraws(missing.prepared, figures_of(missing.prepared), seeded)
    fixed = sampled.counts if tied is None else sampled.counts - tied.copies[places]
    last = missing.expected if missing.start is None else missing.start
    return Augmentation(
        missing.base,
        places,
        fixed,
        np.maximum(sampled.counts + (last - observed)[places], 0.0),
        missing.untied if parts is None else None,
        renamings_of(sampled, missing.exchangeable, missing.reference),
        tied,
        parts,
    )
