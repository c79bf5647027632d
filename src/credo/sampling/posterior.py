"""The posterior mean of all CPTs, given data and knowledge, with a prior that learns how similar distributions are.

The mean minimises the expected Kullback-Leibler divergence, and keeps every convex statement, since every draw does.
The prior is hierarchical: the conditional distribution θ_j of CPT i comes from one of a few Dirichlet distributions,

    θ_j | z_j = g  ~  Dirichlet(s_g · b_g)        z_j ~ π_i        m_i ~ Dirichlet(c)
    π_i ~ Dirichlet(κ·w)        w ~ Dirichlet(1)

The base b_g is uniform, (1/K, …), for some components. For the others, which pool, it is b_j: what the counts of other
configurations predict for this one, a mean over the configurations of its CPT in which those count
that differ in few parents that matter. Which do is learned from the counts of the CPT; where nothing shows that its
configurations resemble each other, or none of them is near, b_j is uniform too. b_j is a constant here, computed
from counts that are not those of j, so that these judge it: an empirical Bayes prior. Where counts predict nothing
at all, as without data, it is m_i, the common mean of the CPT, which statements can teach.
Small s: nearly deterministic distributions; large s: distributions near their base. s differs between distributions
with and without data (`Hyperparameters`), as which configurations were observed is given. So each distribution
shows how similar it is to the others of its CPT, each CPT how many such distributions it has, and the network what its
CPTs are like. The statements are conditioned on, as one more observation, θ ∈ C:

    p(θ, z, m, π, w | data, C)  ∝  1[θ ∈ C] · Π_ij π_i(z_j) · Π_k θ_jk^(N_jk + s·b_k − 1) / B(s·b) · p(π | w) p(w) p(m)

No normalising constant of a truncated distribution is needed, because the joint prior is truncated, not each
distribution's. Statements thereby inform the prior too: distributions that must lie near a corner make small s likely
for those about which nothing is known. A soft statement multiplies the density by exp(−W·C/2·violation²) [liao, eq. 5].

Gibbs sampling: θ along feasible directions (`uniform.py`) and by joint updates (`joint_updates.py`) in blocks, and
exactly elsewhere (`ranges.py`); z and w exactly; m and π by slices with z summed over, or given z. There are two
implementations, chosen by the size of the problem alone: `vectorised` advances 256 chains with NumPy and starts at
once; `compiled_chains` runs few long chains in compiled code, whose compilation takes longer than a small problem needs
as a whole. Where values are missing, each sweep first draws them given the CPTs (`missing_values.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from credo.constraints.blocks import Block
from credo.errors import SamplingError
from credo.findings import Finding
from credo.model.layout import Layout
from credo.model.network import Network
from credo.options import PosteriorOptions
from credo.posterior.beliefs import DoubtResult
from credo.posterior.convergence import (
    effective_sizes,
    effective_sizes_of_short_chains,
    nested_r_hat,
    r_hat,
)
from credo.posterior.sampler import MORE_DRAWS, MOST_LISTED, unmixed_findings
from credo.sampling.averages import Averages, averages_of, not_mixed
from credo.sampling.directions import without_moves, without_rays
from credo.sampling.distributions import (
    Draws,
    Hyperparameters,
    SampledDistributions,
    sampled_distributions,
)
from credo.sampling.doubted_statements import DoubtedConstraints, DoubtedStatements, apart, beliefs, reliabilities
from credo.sampling.doubtful_moves import doubtful_moves
from credo.sampling.general_updates import (
    DrawnGeneral,
    GeneralRegion,
    GeneralUpdates,
    general_updates,
    reached_groups,
    require_moves,
    with_general_blocks,
)
from credo.sampling.long_chains import LARGEST_R_HAT_OF_TRUTH, Progress, sample_long_chains, truth_of
from credo.sampling.missing_values import MissingValues, augmentation_of
from credo.sampling.missing_values import is_small as draws_at_once
from credo.sampling.plan import sampling_plan
from credo.sampling.region import Region, is_inside, region_of
from credo.sampling.vectorised import CHAINS, SUPERCHAINS
from credo.sampling.vectorised.doubtful_updates import doubtful_updates
from credo.sampling.vectorised.general_updates import MOST_CELLS, general_sweeps
from credo.sampling.vectorised.posterior import sample_posterior
from credo.statistics.counts import Counts
from credo.statistics.prior import Priors
from credo.types import Flags, Numbers

PRODUCT_MISSED = "product"
VECTORISED_CONSTRAINED = 120  # parameters in blocks up to which the vectorised sampler is used …
VECTORISED_PARAMETERS = 1200  # … and parameters in all,
VECTORISED_DOUBTED = 60  # constraints of statements that may be wrong,
VECTORISED_TOGETHER = 4  # and those of one of them
MOST_WIDENED = 3.0  # log w of a doubted statement: short chains find narrower ones too rarely
VECTORISED_SWEEPS = 200  # and sweeps of all chains that the draws need


@dataclass(frozen=True, slots=True, eq=False)
class DirichletChains:
    """Means and standard deviations of all CPTs, (parents…, child), and the draws behind them.

    `errors` are the Monte-Carlo standard errors of the means: how much another seed would change them.
    `effective_sizes` and `r_hat` are those of the parameters whose draws are kept, in the order of `sampled`: those in
    blocks, or all where values are missing. The others are averaged over exact distributions (`averages.py`). R-hat is
    nested where there are many short chains (`convergence.py`). Draws are (chains, draws, …).
    """

    means: Mapping[str, Numbers]
    deviations: Mapping[str, Numbers]
    errors: Mapping[str, Numbers]
    effective_sizes: Numbers
    r_hat: Numbers
    findings: tuple[Finding, ...]
    seconds: float
    sampled: SampledDistributions = field(repr=False)
    hyperparameters: Hyperparameters = field(repr=False)
    draws: Numbers = field(repr=False)  # (chains, draws, parameters of blocks, or all)
    components: NDArray[np.int8] = field(repr=False)  # (chains, draws, distributions)
    cpt_means: Numbers = field(repr=False)  # (chains, draws, cells) m
    cpt_weights: Numbers = field(repr=False)  # (chains, draws, families, components) π
    seed: int = 0
    doubt: DoubtResult | None = field(default=None, repr=False)  # where statements may be wrong

    def interval(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The credible interval of each number of a CPT: (low, high), axes (parents…, child)."""
        from credo.sampling.joint_draws import joint_draws

        return joint_draws(self).interval(name, level)


def sample_chains(
    network: Network,
    names: Sequence[str],
    counts: Counts,
    blocks: Sequence[Block],
    *,
    prior: Priors | None = None,
    hyperparameters: Hyperparameters | None = None,
    options: PosteriorOptions | None = None,
    seed: int = 0,
    soft_weight: float | None = None,
    progress: Progress | None = None,
    compiled: bool | None = None,
    memory_limit: int | None = None,
    missing: MissingValues | None = None,
    general: GeneralRegion | None = None,
    doubts: DoubtedStatements | None = None,
    announce: Callable[[float], None] | None = None,
) -> DirichletChains:
    """The posterior of the CPTs of `names`, which the blocks constrain; the same seed gives the same result.

    Pseudo-counts of a `prior` are added to the data's; the hierarchical prior stays on top. `progress(done, total)` is
    called after every short step; an exception that it raises, or an interrupt, ends the sampling there. Which
    implementation runs depends on the numbers of parameters and draws, unless `compiled` says it. What does not fit
    into `memory_limit` bytes (half of the machine's memory if not given) is refused before anything is sampled. With
    `missing` values, `counts` are those of complete families, and the values are drawn too. With `general` statements,
    about probabilities that depend on several CPTs, chains start from the point that is given with them. Statements
    that are among `doubts` may be wrong, and contradict each other.
    Compiled chains `announce` how many seconds they will run in all: first by the plan, then by how quick they were.
    """
    began = perf_counter()
    options = options or PosteriorOptions()
    if general is not None:
        blocks = with_general_blocks(blocks, general, Layout.of(network, without=set(network.names) - set(names)))
    sampled = sampled_distributions(network, names, counts, blocks, prior, missing)
    hyperparameters = (hyperparameters or Hyperparameters()).resolved(sampled)
    doubted = None
    if doubts is not None:
        blocks, doubted = apart(blocks, doubts, None if general is None else DrawnGeneral.of(general, blocks))
    if doubts is not None and general is not None and bool((doubts.log_widening > MOST_WIDENED).any()):
        compiled = True
    if compiled is None:
        compiled = doubted is not None and not _is_small_doubt(doubted)
        compiled = compiled or not is_small(sampled, options) or (missing is not None and not draws_at_once(missing))
    meanings = None if doubted is None else doubted.general_meanings
    region, updates_of_general = _region(blocks, soft_weight, general, sampled, memory_limit, meanings)
    sweeps = None
    if general is not None and updates_of_general is not None and not compiled:
        largest = MOST_CELLS if missing is None else MOST_CELLS // 8  # missing values take many sweeps
        sweeps = general_sweeps(general, updates_of_general, region, memory_limit, largest, doubted)
        compiled = sweeps is None
    completing = None if missing is None else augmentation_of(missing, sampled, compiled)
    updates = None if completing is None else completing.updates
    plan = sampling_plan(sampled, options, hyperparameters, memory_limit, updates)
    doubtful = None
    if doubted is not None:
        doubtful = doubtful_moves(region, doubted, updates_of_general)
        by_pairs = doubted.blocks if compiled or general is None else doubted.blocks & ~reached_groups(blocks, general)
        owned = zip(region.parts, by_pairs.tolist(), strict=True)
        region = replace(region, parts=tuple(without_moves(part) if has else part for part, has in owned))
    notify = progress or (lambda done, total: None)
    prior_and_region = region, sampled, hyperparameters, options
    if compiled:
        others = completing, doubtful, updates_of_general
        found, sizes, mixed = sample_long_chains(
            *prior_and_region, plan, seed, notify, announce or (lambda seconds: None), *others
        )
    else:
        doubting = None if doubtful is None else doubtful_updates(doubtful)
        found, sizes, mixed = sample_posterior(*prior_and_region, seed, notify, completing, doubting, sweeps)
    averages = averages_of(sampled, hyperparameters, found)
    _require_finite(sampled, averages)
    kept, layout = sampled.parameters()[: len(sizes)], sampled.layout
    averages.errors[kept] = np.sqrt(averages.variances[kept] / sizes)
    doubt = None if doubted is None else _doubt_result(doubted, found, compiled, seed)
    return DirichletChains(
        layout.unpack(averages.means),
        layout.unpack(np.sqrt(averages.variances)),
        layout.unpack(averages.errors),
        sizes,
        mixed,
        (
            *(plan.findings if compiled else ()),
            *_unmixed(sampled, not_mixed(sizes, mixed), averages),
            *_products_missed(blocks, found.theta),
            *(() if doubt is None else _unmixed_statements(doubt)),
        ),
        perf_counter() - began,
        sampled,
        hyperparameters,
        found.theta,
        found.component,
        found.means,
        found.weights,
        seed,
        doubt,
    )


def _region(
    blocks: Sequence[Block],
    soft_weight: float | None,
    general: GeneralRegion | None,
    sampled: SampledDistributions,
    memory_limit: int | None,
    doubted: Mapping[int, int] | None = None,
) -> tuple[Region, GeneralUpdates | None]:
    """The region of the blocks; those that general statements reach start where these hold, and keep their rays."""
    if general is None:
        return region_of(blocks, soft_weight=soft_weight, with_rays=False), None  # joint updates reach corners
    groups = reached_groups(blocks, general)
    points = [general.start[block.parameters] if own else None for block, own in zip(blocks, groups, strict=True)]
    region = region_of(blocks, points, soft_weight)
    require_moves(region, groups)
    reached = np.repeat(groups, [block.size for block in blocks])
    every = np.concatenate([block.parameters for block in blocks])
    others = (np.where(reached & (region.start > 0.0), point[every], region.start) for point in general.others)
    region = replace(region, others=tuple(point for point in others if is_inside(region, point)))
    without = _without_rays(region)
    parts = [part if own else other for part, other, own in zip(region.parts, without.parts, groups, strict=True)]
    updates = general_updates(general, sampled, blocks, soft_weight, memory_limit, doubted)
    return replace(region, parts=tuple(parts)), updates


def _without_rays(region: Region) -> Region:
    """The same without moves that only corners need; blocks that share their directions still do."""
    made = {id(part): without_rays(part) for part in region.parts}
    return replace(region, parts=tuple(made[id(part)] for part in region.parts))


def _is_small_doubt(doubted: DoubtedConstraints) -> bool:
    """Whether the vectorised sampler is used for what is doubted; it does not temper statements of many constraints."""
    most = np.bincount(doubted.linear.statements).max(initial=0)
    return len(doubted.linear) <= VECTORISED_DOUBTED and int(most) <= VECTORISED_TOGETHER


def is_small(sampled: SampledDistributions, options: PosteriorOptions) -> bool:
    """Whether the vectorised sampler is used: up to these sizes it takes about three seconds, compiling thirty."""
    sweeps = options.chains * options.draws * options.thinning / CHAINS
    return (
        sampled.constrained_size <= VECTORISED_CONSTRAINED
        and max(sampled.size, int(sampled.cells[-1])) <= VECTORISED_PARAMETERS
        and sweeps <= VECTORISED_SWEEPS
    )


def _unmixed_statements(doubt: DoubtResult) -> Iterator[Finding]:
    """The finding that chains do not agree on whether statements are true."""
    uncertain = np.flatnonzero(~(doubt.r_hat <= LARGEST_R_HAT_OF_TRUTH)).tolist()
    if uncertain:
        numbers = [str(doubt.statements[place].number + 1) for place in uncertain[:MOST_LISTED]]
        which = f"statement {numbers[0]} is" if len(numbers) == 1 else f"statements {', '.join(numbers)} are"
        message = f"The draws are too few to say whether {which} true; {MORE_DRAWS}."
        yield Finding("not mixed", message)


def _doubt_result(doubted: DoubtedConstraints, found: Draws, compiled: bool, seed: int) -> DoubtResult:
    """How probable statements are, and how reliable experts, from which statements hold in which draws."""
    draws = truth_of(doubted, found)
    true = np.moveaxis(draws, -1, 0) > 0.5  # (statements, chains, draws)
    sizes = effective_sizes(draws) if compiled else effective_sizes_of_short_chains(draws)
    mixed = r_hat(draws) if compiled else nested_r_hat(draws, SUPERCHAINS)
    flat = true.reshape(len(true), -1)
    chances = flat.mean(axis=1)
    errors = np.sqrt(chances * (1.0 - chances) / np.maximum(sizes, 1.0))
    return DoubtResult(
        tuple(beliefs(doubted.statements, flat, errors)),
        tuple(reliabilities(doubted.statements, flat, seed)),
        sizes,
        mixed,
    )


# Results --------------------------------------------------------------------------------------------------------------


def _require_finite(sampled: SampledDistributions, averages: Averages) -> None:
    """Refuse averages that are no numbers: a chain has left what it can compute with."""
    for name in sampled.names:
        if not np.isfinite(averages.means[sampled.layout.slice_of(name)]).all():
            raise SamplingError(
                f"The draws of {name} are not finite numbers: its counts or its prior are too extreme to be sampled. "
                "Use the method cmap, or smaller weights and priors."
            )


def _unmixed(sampled: SampledDistributions, among_kept: Flags, averages: Averages) -> Iterator[Finding]:
    """The distributions whose chains do not agree, or are worth few draws."""
    doubtful = averages.doubtful
    doubtful[sampled.parameters()[: len(among_kept)]] = among_kept
    yield from unmixed_findings(sampled.layout, doubtful)


def _products_missed(blocks: Sequence[Block], draws: Numbers) -> list[Finding]:
    """The mean satisfies convex statements; one about products can fail at it although every draw satisfies it."""
    findings = []
    mean = draws.mean(axis=(0, 1)) if draws.size else np.zeros(0)
    start = 0
    for block in blocks:
        logs = np.log(np.maximum(mean[start : start + block.size], 1e-300))
        start += block.size
        for product in block.products:
            value = logs[list(product.indices)] @ np.array(product.exponents)
            if product.confidence is None and value > product.log_bound + 1e-9:
                name = block.configurations[int(block.distribution_of[product.indices[0]])][0]
                message = (
                    f"{name}: the estimate violates statement {product.statement + 1}, about a product: every draw "
                    f"satisfies it, but their mean is {np.expm1(value - product.log_bound):.2%} beyond its bound. "
                    "Use the method cmap to satisfy it."
                )
                findings.append(Finding(PRODUCT_MISSED, message, name))
    return findings
