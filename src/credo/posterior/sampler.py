"""The posterior mean of all CPTs with its uncertainty: chains are started, run, watched, and averaged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import call
from time import perf_counter

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import Constraints
from credo.constraints.feasibility import InfeasibleError, interior_of
from credo.errors import SamplingError, listing
from credo.findings import Finding
from credo.model.layout import Layout
from credo.model.network import Network
from credo.options import PosteriorOptions
from credo.posterior.beliefs import DoubtResult
from credo.posterior.chains import Chain, CompleteRows, PriorConstants, with_signs
from credo.posterior.convergence import LARGEST_R_HAT, effective_sizes, r_hat
from credo.posterior.doubted_statements import DoubtedStatements, beliefs, reliabilities
from credo.posterior.draws import PosteriorResult
from credo.posterior.model import SampledModel, sampled_model
from credo.posterior.starts import starting_points
from credo.posterior.trajectories import Smooth
from credo.posterior.walls import LinearWalls, NetworkWalls, ProductWalls, Walls
from credo.statistics.evidence import EvidenceDensity
from credo.statistics.network_statements import NetworkStatements
from credo.threads import map_in_threads
from credo.types import Flags, Indices, Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """What statements about whole networks reach, and points at which everything holds that must."""

    held: Flags  # (cells,) of CPTs that they reach
    points: tuple[Numbers, ...]
    statements: NetworkStatements | None  # those about any probability


Progress = Callable[[int, int], None]

SMALLEST_SIZE = 100.0  # effective draws, below which a standard error is more than a tenth of the deviation
MOST_LISTED = 100  # configurations that a finding names
MOST_CPTS = 5  # that have findings of their own; more have one together
MORE_DRAWS = "raise draws in PosteriorOptions (--draws)"
LARGEST_R_HAT_OF_TRUTH = 1.1  # of whether a statement is true: a share of draws, which few switches decide
WORTH_THREADS = 300  # cells, from which chains run side by side: fewer are stepped in less than threads take
CELLS_AT_ONCE, MOST_AT_ONCE = 5000, 25  # cells times steps, and steps, that chains make between two reports of progress
NO_DEVIATION = 1e-6  # of a probability, or of what it lacks to 1, that is as good as known, whatever its chains do


@dataclass(frozen=True, slots=True, eq=False)
class IncompleteRows:
    """The likelihood of rows with missing values, in the cells of the layout of learned CPTs."""

    likelihood: (
        Smooth | None
    )  # its derivatives are expected counts, those of complete families and pseudo-counts among them
    complete: Callable[[int], CompleteRows]  # what completes the rows of a chain, from its number
    reached: Flags  # (cells,) that a completed row can have
    expected: Numbers  # (cells,) counts where EM ended
    rename: Callable[[Numbers], Numbers] | None = None  # what names exchangeable states alike in draws, (draws, cells)


def posterior(
    network: Network,
    names: Sequence[str],
    counts: Numbers,  # (cells of the layout,) of complete families, and pseudo-counts
    constraints: Constraints,
    blocks: Sequence[Block],
    *,
    options: PosteriorOptions,
    seed: int,
    believed: Numbers | None = None,  # (cells of the layout,) among the counts: cases that experts stated
    incomplete: IncompleteRows | None = None,
    evidence: EvidenceDensity | None = None,  # about probabilities that depend on several CPTs
    doubts: DoubtedStatements | None = None,
    region: Region | None = None,
    constants: PriorConstants | None = None,
    progress: Progress | None = None,
) -> PosteriorResult:
    """The posterior of the CPTs of `names`; the same seed gives the same result.

    Chains make `draws` draws, and more while some have not mixed, up to `max_draws`.
    """
    began = perf_counter()
    layout = constraints.layout
    held = np.zeros(layout.size, dtype=np.bool_) if region is None else region.held
    if evidence is not None:
        held = held | evidence.reached
    model = _model(layout, names, counts, constraints, blocks, incomplete, doubts, held)
    doubts = None if doubts is None else with_signs(doubts, model)
    rng = np.random.default_rng([seed, 0])
    known = counts if incomplete is None else incomplete.expected
    starts = (
        starting_points(layout, blocks, known, options.chains, rng)
        if region is None
        else [region.points[number % len(region.points)].copy() for number in range(options.chains)]
    )
    needs_walls = region is not None or incomplete is not None or evidence is not None or model.thin
    walls = _walls(model, constraints, region, doubts) if needs_walls else ()
    fixed = [name for name in layout.names if name not in set(names)]
    for start in starts:
        for name in fixed:
            layout.view(start, name)[...] = network.cpt_array(name).reshape(-1, len(network.states(name)))
    chains = [
        Chain(
            model,
            counts,
            constants or PriorConstants(),
            [seed, 1 + number],
            start,
            known,
            None if incomplete is None else incomplete.likelihood,
            None if incomplete is None else incomplete.complete(number),
            doubts,
            walls,
            believed,
            None if evidence is None else evidence.smooth,
        )
        for number, start in enumerate(starts)
    ]
    learned = Layout.of(network, without=set(network.names) - set(names))
    every = np.arange(layout.size)
    cells = np.concatenate([every[:0], *(every[layout.slice_of(name)] for name in learned.names)])
    rename = None if incomplete is None else incomplete.rename
    wholes = np.empty((len(chains), layout.size))
    draws = np.empty((len(chains), options.draws, len(cells)))
    truth = np.zeros((len(chains), options.draws, len(chains[0].truth)), dtype=np.bool_)

    def keep(number: int, step: int) -> None:
        """Write down what a chain draws, after every `thinning` steps."""
        draw, rest = divmod(step, options.thinning)
        if rest == options.thinning - 1:
            chains[number].draw(wholes[number])
            whole = wholes[number] if rename is None else rename(wholes[number][None])[0]
            draws[number, draw] = whole[cells]
            truth[number, draw] = chains[number].truth

    threads = None if chains[0].is_independent and layout.size >= WORTH_THREADS else 1
    at_once = min(max(1, CELLS_AT_ONCE // max(1, layout.size)), MOST_AT_ONCE)
    first = -options.warmup
    while True:
        last = draws.shape[1] * options.thinning
        for step in range(first, last, at_once):
            steps = range(step, min(step + at_once, last))
            runs = [partial(chain.run, steps, partial(keep, number)) for number, chain in enumerate(chains)]
            map_in_threads(call, runs, threads)
            if progress is not None:
                progress(len(chains) * (steps.stop + options.warmup), len(chains) * (last + options.warmup))
        sizes, mixed, deviations = effective_sizes(draws), r_hat(draws), draws.std(axis=(0, 1))
        varying = _is_varying(draws.mean(axis=(0, 1)), deviations)
        unmixed = ~((sizes >= SMALLEST_SIZE) & (mixed <= LARGEST_R_HAT)) & varying  # or too few draws to tell
        good = not unmixed.any() and bool((r_hat(truth.astype(np.float64)) <= LARGEST_R_HAT_OF_TRUTH).all())
        if good or draws.shape[1] >= options.max_draws:
            break
        slow = np.zeros(layout.size, dtype=np.bool_)
        slow[cells] = unmixed
        for chain in chains:
            chain.update_more_often(slow)
        least = np.nan_to_num(sizes[varying], nan=1.0).min(initial=SMALLEST_SIZE)  # of a few draws it is not known
        lacking = SMALLEST_SIZE / max(float(least), 1.0)  # by which draws are few
        growth = 2.0 if (mixed[varying] > LARGEST_R_HAT).any() else min(max(1.2 * lacking, 1.3), 2.0)
        more = min(max(int(growth * draws.shape[1]), draws.shape[1] + 1), options.max_draws) - draws.shape[1]
        draws, truth = np.pad(draws, room := ((0, 0), (0, more), (0, 0))), np.pad(truth, room)
        first = last
    if not np.isfinite(draws).all():
        raise SamplingError(
            "The draws are not finite numbers: counts or a prior are too extreme to be sampled. Use the method cmap, "
            "or smaller weights and priors."
        )
    doubt = None if doubts is None else doubt_result(doubts, truth, seed)
    return PosteriorResult(
        learned,
        learned.unpack(draws.mean(axis=(0, 1))),
        learned.unpack(deviations),
        learned.unpack(deviations / np.sqrt(np.maximum(sizes, 1.0))),
        sizes,
        mixed,
        (*unmixed_findings(learned, unmixed), *(() if doubt is None else _unmixed_statements(doubt))),
        perf_counter() - began,
        draws,
        seed,
        doubt,
        _limits(model, layout.size)[:, cells],
    )


def _limits(model: SampledModel, size: int) -> Numbers:
    """Between what statements about single numbers that must hold leave them, (2, cells of the layout)."""
    rows, lengths = model.rows, np.diff(model.first_cell)
    single = np.flatnonzero((np.diff(rows.starts) == 1) & (model.row_statement < 0))
    places = rows.starts[single]
    cells, ends = rows.cells[places], rows.bounds[single] / rows.coefficients[places]
    is_upper = rows.coefficients[places] > 0.0
    low, high = np.zeros(model.size), np.ones(model.size)
    np.minimum.at(high, cells[is_upper], ends[is_upper])
    np.maximum.at(low, cells[~is_upper], ends[~is_upper])
    pairs = np.repeat(lengths == 2, lengths)  # the other of two states has what is left
    first = np.flatnonzero(pairs)[::2]
    for one, other in ((first, first + 1), (first + 1, first)):
        low[one], high[one] = np.maximum(low[one], 1.0 - high[other]), np.minimum(high[one], 1.0 - low[other])
    found = np.stack([np.zeros(size), np.ones(size)])
    found[:, model.cells] = low, high
    return found


def _model(
    layout: Layout,
    names: Sequence[str],
    counts: Numbers,
    constraints: Constraints,
    blocks: Sequence[Block],
    incomplete: IncompleteRows | None,
    doubts: DoubtedStatements | None,
    held: Flags,
) -> SampledModel:
    doubted = np.zeros(0, dtype=np.int64) if doubts is None else doubts.numbers
    wanted = constraints.linear.hard | np.isin(constraints.linear.statements, doubted)
    linear = constraints.linear.take(wanted)
    numbers = np.flatnonzero(wanted)
    place = np.full(len(constraints.linear), -1, dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    equality = linear.equality.copy()
    zeros: list[Indices] = [np.zeros(0, dtype=np.int64)]
    for block in blocks:
        interior = interior_of(block)
        if interior is None:
            raise InfeasibleError
        equality[place[block.constraint_numbers[interior.tight_constraints]]] = True
        zeros.append(block.parameters[interior.zero_parameters])
    reached = counts > 0.0
    if incomplete is not None:
        reached |= incomplete.reached
    return sampled_model(
        layout, names, reached, replace(linear, equality=equality), constraints.influences, constraints.orders,
        np.concatenate(zeros), doubted, held,
    )  # fmt: skip


def _walls(
    model: SampledModel, constraints: Constraints, region: Region | None, doubts: DoubtedStatements | None
) -> tuple[Walls, ...]:
    """What trajectories keep: linear statements, products, and statements about any probability."""
    walls: list[Walls] = []
    if len(model.rows):
        walls.append(LinearWalls.of(model))
    if constraints.products:
        hard = [each for each in constraints.products if each.confidence is None]
        walls.append(ProductWalls.of(hard, model.layout.size))
    if region is not None and region.statements is not None:
        numbers = [] if doubts is None else doubts.numbers.tolist()
        place_of = {number: place for place, number in enumerate(numbers)}
        own = [place_of.get(number, -1) for number in region.statements.statements.tolist()]
        walls.append(NetworkWalls(region.statements, np.array(own, dtype=np.int64)))
    return tuple(walls)


def _is_varying(means: Numbers, deviations: Numbers) -> Flags:
    """Which probabilities are not as good as known: a rate of 1e-9 may be, or not."""
    return np.asarray(deviations > NO_DEVIATION * np.minimum(means, 1.0 - means))


def doubt_result(doubts: DoubtedStatements, truth: Flags, seed: int) -> DoubtResult:
    """How probable statements are, and how reliable experts; `truth` is (chains, draws, statements)."""
    draws = truth.astype(np.float64)
    sizes, mixed = effective_sizes(draws), r_hat(draws)
    flat = np.moveaxis(truth, -1, 0).reshape(len(doubts), -1)
    chances = flat.mean(axis=1)
    errors = np.sqrt(chances * (1.0 - chances) / np.maximum(sizes, 1.0))
    return DoubtResult(
        tuple(beliefs(doubts, flat, errors)),
        tuple(reliabilities(doubts, flat, seed)),
        sizes,
        mixed,
        truth,
        doubts.log_prior_correction,
    )


def _unmixed_statements(doubt: DoubtResult) -> Iterator[Finding]:
    """The finding that chains do not agree on whether statements are true."""
    uncertain = np.flatnonzero(~(doubt.r_hat <= LARGEST_R_HAT_OF_TRUTH)).tolist()
    if uncertain:
        numbers = [str(doubt.statements[place].number + 1) for place in uncertain[:MOST_LISTED]]
        which = f"statement {numbers[0]} is" if len(numbers) == 1 else f"statements {', '.join(numbers)} are"
        yield Finding("not mixed", f"The draws are too few to say whether {which} true; {MORE_DRAWS}.")


def unmixed_findings(layout: Layout, unmixed: Flags) -> Iterator[Finding]:
    """The distributions whose chains do not agree, or are worth few draws, CPT by CPT, or all together if many."""
    if not unmixed.any():
        return
    network, starts = layout.network, layout.distribution_starts()
    families, configurations = layout.locate_distributions(np.flatnonzero(np.logical_or.reduceat(unmixed, starts)))
    limits = f"effective sample size is below {SMALLEST_SIZE:.0f}, or R-hat is above {LARGEST_R_HAT}"
    unmixed = np.unique(families).tolist()
    if len(unmixed) > MOST_CPTS:
        yield Finding(
            "not mixed",
            f"The draws are too few to be relied on in {len(families):,} of {len(starts):,} configurations; "
            f"{MORE_DRAWS}. Their {limits}. They are in the CPTs of "
            f"{listing([layout.names[family] for family in unmixed])}; fit.diagnostics() shows all.",
        )
        return
    for family in unmixed:
        name, places = layout.names[family], configurations[families == family].tolist()
        among, end = f" in {len(places)} of {network.configurations(name)} configurations", "."
        if network.parents[name]:
            end = f", for{':' if len(places) <= MOST_LISTED else ', among others:'}"
        yield Finding(
            "not mixed",
            f"{name}: the draws are too few to be relied on{among if network.parents[name] else ''}; "
            f"{MORE_DRAWS}. The {limits}{end}",
            name,
            tuple(network.configuration(name, place) for place in places[:MOST_LISTED]),
        )
