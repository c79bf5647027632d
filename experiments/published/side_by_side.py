"""`python -m experiments.published.side_by_side`: the documented posterior by NumPyro, and by credo, with their times.

NumPyro [Phan, Pradhan and Jankowiak, 2019] draws by NUTS what docs/method.md calls φ: centres, widths, effects,
intercepts and logits of shares, with distributions and components summed over, and signs of influences on effects.
Distributions are then drawn given φ, as often as it takes until the stochastic orders of influences hold between all
configurations with rows. What is left out is how credo draws configurations without rows under influences, so that
numbers of these are not compared; of a CPT whose orders hold in less than one of a thousand draws nothing is.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from zlib import crc32

import numpy as np
import polars as pl

import credo
from credo.knowledge.statements import Influence
from credo.model.network import Network
from credo.posterior.chains import PriorConstants
from credo.posterior.convergence import effective_sizes
from credo.posterior.draws import chain_draws
from credo.types import Flags, Indices, Numbers
from experiments.published.networks import family_of, network_files, true_network
from experiments.published.statements import all_influences, low_to_high
from experiments.published.trials import rounded
from experiments.running import Job, Record, add_options, run_jobs

RESULTS = Path(__file__).resolve().parent / "results"
NAMES = (
    "corticosteroid", "algorithms3", "algorithms4", "concrete5", "chds", "cancer", "earthquake", "simulation",
    "titanic", "survey", "ricci", "soil", "witness", "asia", "covidfear", "criminal3",
)  # fmt: skip
KEY = ("network", "rows", "condition")
CONDITIONS = ("influences", "none")
CHAINS, STEPS = 4, 300  # and as many of warm-up
TRIES, MOST_LEFT = 1000, 0.02  # for orders to hold, and the share of draws in which they may not
FAR = 4.0  # standard errors


@dataclass(frozen=True)
class Family:
    """One CPT with all axes from low to high: its counts (parents…, child), and the signs of its parents."""

    counts: Numbers
    signs: tuple[int, ...]

    @property
    def states(self) -> int:
        return int(self.counts.shape[-1])

    @property
    def cells(self) -> Numbers:
        """The counts as (configurations, states)."""
        return self.counts.reshape(-1, self.states)

    @property
    def places(self) -> Indices:
        """The states of the parents in each configuration, (configurations, parents)."""
        shape = self.counts.shape[:-1]
        return np.stack(np.unravel_index(np.arange(len(self.cells)), shape), axis=1) if shape else np.zeros((1, 0), int)

    def ordered_pairs(self) -> list[tuple[int, int]]:
        """Configurations with rows of which the second has a child that is nowhere lower."""
        signs, places = np.array(self.signs), self.places
        seen = np.flatnonzero(self.cells.sum(axis=1))
        found = []
        for low, high in permutations(seen.tolist(), 2):
            change = places[high] - places[low]
            if (change[signs == 0] == 0).all() and (change * signs >= 0).all():
                found.append((low, high))
        return found


def scores(states: int) -> Numbers:
    """Equally spaced numbers with a standard deviation of one half."""
    values = np.arange(states) - (states - 1) / 2
    return np.asarray(values / (2.0 * values.std()))


def families_of(network: Network, frame: pl.DataFrame, influences: Sequence[Influence]) -> dict[str, Family]:
    """What each CPT is learned from."""
    counted = credo.fit(network, frame, method="map", prior=1.0)
    named = {name for each in influences for name in (each.parent, each.child)}
    found = {}
    for name in network.names:
        axes = (*network.parents[name], name)
        counts = counted.counts_array(name).reshape(network.shape(name))
        counts = counts[np.ix_(*(_order(network, each, named) for each in axes))]
        signs = {each.parent: 1 if each.direction == "raises" else -1 for each in influences if each.child == name}
        found[name] = Family(counts, tuple(signs.get(parent, 0) for parent in network.parents[name]))
    return found


def _order(network: Network, name: str, named: set[str]) -> list[int]:
    return low_to_high(network, name) if name in named else list(range(len(network.states(name))))


# NumPyro --------------------------------------------------------------------------------------------------------------


def model(families: Mapping[str, Family], constants: PriorConstants) -> None:
    """φ, and the probability of the rows given it; bases and logarithms of shares are kept."""
    import jax.numpy as jnp
    import numpyro
    from jax.scipy.special import gammaln, logsumexp
    from numpyro.distributions import HalfNormal, Normal

    components = len(constants.following) + len(constants.free)
    centres = jnp.array(constants.centres) + jnp.array(constants.deviations) * _normal("centres", 3)
    shared = constants.share_deviation * _normal("shares", components)
    of_roots = constants.share_deviation * _normal("shares of roots", len(constants.free))
    for name, family in families.items():
        states, places = family.states, family.places
        logits = jnp.zeros((len(places), states))
        if places.shape[1]:
            width = jnp.exp(centres[0] + constants.spreads[0] * _normal(f"{name} width"))
            logits = logits + width * _normal(f"{name} c", states)
            for p, (size, sign) in enumerate(zip(family.counts.shape, family.signs, strict=False)):
                own = width * jnp.exp(centres[1] + constants.spreads[1] * _normal(f"{name} slope width {p}"))
                prior = (HalfNormal(1.0) if sign else Normal(0.0, 1.0)).expand([size - 1]).to_event(1)
                slopes = (sign or 1) * own * numpyro.sample(f"{name} slopes {p}", prior)
                steps = slopes[:, None] * scores(states)
                if states > 2:
                    rest = width * jnp.exp(centres[2] + constants.spreads[2] * _normal(f"{name} rest width {p}"))
                    steps = steps + rest * _normal(f"{name} rests {p}", size - 1, states)
                effects = jnp.concatenate([jnp.zeros((1, states)), jnp.cumsum(steps, axis=0)])
                logits = logits + (effects - effects.mean(axis=0))[places[:, p]]
            shares = shared + constants.share_spread * _normal(f"{name} shares", components)
        else:
            shares = jnp.concatenate([jnp.full(len(constants.following), -1e30), of_roots])
        base = numpyro.deterministic(f"{name} base", jnp.exp(logits - logsumexp(logits, axis=1, keepdims=True)))
        logs = numpyro.deterministic(f"{name} logs", shares - logsumexp(shares))
        shapes = jnp.stack(
            [*(strength * base for strength in constants.following),
             *(jnp.full(base.shape, each) for each in constants.free)], axis=1
        )  # fmt: skip
        counts = jnp.asarray(family.cells)[:, None, :]
        rising = (gammaln(shapes + counts) - gammaln(shapes)).sum(axis=-1)
        strengths = shapes.sum(axis=-1)
        rising = rising - gammaln(strengths + counts.sum(axis=-1)) + gammaln(strengths)
        numpyro.factor(f"{name} rows", logsumexp(logs + rising, axis=1).sum())


def _normal(name: str, *shape: int) -> object:
    import numpyro
    from numpyro.distributions import Normal

    return numpyro.sample(name, Normal(0.0, 1.0).expand(shape).to_event(len(shape)))


@dataclass(frozen=True)
class Drawn:
    """Draws (chains, draws, configurations, states) of each CPT whose orders hold often enough, and what they cost."""

    theta: Mapping[str, Numbers]
    seconds: float  # of processor time, without compiling
    compiling: float  # what one step takes when it is the first
    divergences: int


def by_numpyro(families: Mapping[str, Family], seed: int, steps: int = STEPS) -> Drawn:
    """Draws of all CPTs."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import jax
    import numpyro
    from numpyro.infer import MCMC, NUTS

    numpyro.enable_x64()
    constants, spent = PriorConstants(), []
    kernel = NUTS(model, target_accept_prob=0.9)
    for length, chains in ((1, 1), (steps, CHAINS)):
        sampler = MCMC(kernel, num_warmup=length, num_samples=length, num_chains=chains, chain_method="sequential",
                       progress_bar=False)  # fmt: skip
        started = _processor_time()
        sampler.run(jax.random.PRNGKey(seed), families, constants)
        found = {name: np.asarray(value) for name, value in sampler.get_samples(group_by_chain=True).items()}
        spent.append(_processor_time() - started)
    started = _processor_time()
    rng, theta = np.random.default_rng(seed), {}
    for name, family in families.items():
        drawn = distributions(rng, family, found[f"{name} base"], found[f"{name} logs"], constants)
        if drawn is not None:
            theta[name] = drawn
    last = _processor_time() - started
    divergences = int(np.asarray(sampler.get_extra_fields()["diverging"]).sum())
    return Drawn(theta, max(spent[1] - spent[0], 0.0) + last, spent[0], divergences)


def _processor_time() -> float:
    return sum(os.times()[:2])


def distributions(
    rng: np.random.Generator, family: Family, bases: Numbers, logs: Numbers, constants: PriorConstants
) -> Numbers | None:
    """θ given φ (chains, draws, …) and rows, where all orders hold; None where they hold too seldom."""
    from scipy.special import gammaln

    flat, log_shares = bases.reshape(-1, *bases.shape[2:]), logs.reshape(-1, 1, logs.shape[-1])
    counts, pairs = family.cells, family.ordered_pairs()
    seen = counts.sum(axis=1, keepdims=True) > 0.0
    shapes = []
    for strength in constants.following:
        shapes.append(np.where(seen, strength, np.maximum(strength, constants.least_unseen)) * flat)
    for each in constants.free:
        every = np.where(seen, each * family.states, np.maximum(each * family.states, constants.least_unseen))
        shapes.append(np.broadcast_to(every / family.states, flat.shape))
    prior = np.maximum(np.stack(shapes, axis=2), 1e-30)  # (draws, configurations, components, states)
    strengths, rows = prior.sum(axis=-1), counts.sum(axis=1)[:, None]
    evidence = log_shares + (gammaln(prior + counts[:, None]) - gammaln(prior)).sum(axis=-1)
    evidence += gammaln(strengths) - gammaln(strengths + rows)
    chances = np.exp(evidence - evidence.max(axis=-1, keepdims=True))
    chances = (chances / chances.sum(axis=-1, keepdims=True)).cumsum(axis=-1)
    theta, left = np.zeros_like(flat), np.arange(len(flat))
    for _ in range(TRIES if pairs else 1):
        components = (rng.random((len(left), len(counts), 1)) > chances[left]).sum(axis=-1)
        components = np.minimum(components, chances.shape[-1] - 1)
        own = np.take_along_axis(prior[left], components[:, :, None, None], axis=2)[:, :, 0] + counts
        logarithms = np.log(rng.standard_gamma(own + 1.0)) + np.log(rng.random(own.shape)) / own
        values = np.exp(logarithms - logarithms.max(axis=-1, keepdims=True))
        theta[left] = values / values.sum(axis=-1, keepdims=True)
        left = left[~in_order(theta[left], pairs)]
        if not len(left):
            break
    return None if len(left) > MOST_LEFT * len(flat) else theta.reshape(bases.shape)


def in_order(theta: Numbers, pairs: Sequence[tuple[int, int]]) -> Flags:
    """Which draws (draws, configurations, states) have P(child ≥ k) nowhere lower in the second of each pair."""
    above = theta[..., ::-1].cumsum(axis=-1)
    good = np.ones(len(theta), dtype=np.bool_)
    for low, high in pairs:
        good &= (above[:, low] <= above[:, high] + 1e-12).all(axis=-1)
    return good


# Comparing ------------------------------------------------------------------------------------------------------------


def run_pair(job: Job) -> list[Record]:
    """One network, number of rows and condition: both posteriors, how they differ, and their times."""
    name, rows, condition = job
    truth = true_network(name)
    seed = crc32(name.encode()) % 2**31
    frame = truth.sample(rows, seed=seed)
    statements = all_influences(truth) if condition == "influences" else []
    influences = [each for each in statements if isinstance(each, Influence)]
    structure = truth.without_cpts()
    families = families_of(structure, frame, influences)
    started = _processor_time()
    fit = credo.fit(structure, frame, credo.Knowledge(structure, statements), seed=seed % 1000)
    seconds = _processor_time() - started
    other = by_numpyro(families, seed % 1000)
    assert fit.posterior is not None
    named = {each for one in influences for each in (one.parent, one.child)}
    record = {
        **dict(zip(KEY, job, strict=True)),
        "family": family_of(name),
        "variables": len(truth),
        "influences": len(influences),
        "status": fit.status.name,
        "seconds": seconds,
        "numpyro seconds": other.seconds,
        "compiling": other.compiling,
        "divergences": other.divergences,
        "left out": len(truth) - len(other.theta),
        **differences(structure, families, {n: chain_draws(fit.posterior, n) for n in other.theta}, other.theta, named),
    }
    return [{key: rounded(value) for key, value in record.items()}]


def differences(
    network: Network, families: Mapping[str, Family], mine: Mapping[str, Numbers], its: Mapping[str, Numbers],
    named: set[str],
) -> Record:  # fmt: skip
    """Of numbers of configurations with rows, by how much means and ends of 95% intervals differ; effective sizes."""
    tensions, means, ends, sizes, other_sizes = [], [], [], [], []
    for name, other in its.items():
        axes = (*network.parents[name], name)
        orders = (_order(network, each, named) for each in axes)
        own = mine[name][np.ix_(*(range(size) for size in mine[name].shape[:2]), *orders)]
        seen = families[name].cells.sum(axis=1) > 0.0
        own = own.reshape(*own.shape[:2], *families[name].cells.shape)[:, :, seen, 1:]
        own, other = own.reshape(*own.shape[:2], -1), other[:, :, seen, 1:].reshape(*other.shape[:2], -1)
        size, other_size = np.maximum(effective_sizes(own), 1.0), np.maximum(effective_sizes(other), 1.0)
        error = np.sqrt(own.var(axis=(0, 1)) / size + other.var(axis=(0, 1)) / other_size) + 1e-6
        change = own.mean(axis=(0, 1)) - other.mean(axis=(0, 1))
        tensions.append(np.abs(change / error))
        means.append(np.abs(change))
        quantiles = [np.quantile(each, [0.025, 0.975], axis=(0, 1)) for each in (own, other)]
        ends.append(np.abs(quantiles[0] - quantiles[1]).ravel())
        sizes.append(size)
        other_sizes.append(other_size)
    all_tensions = np.concatenate(tensions)
    return {
        "numbers": len(all_tensions),
        "far": int((all_tensions > FAR).sum()),
        "most errors": float(all_tensions.max()),
        "difference of means": float(np.concatenate(means).mean()),
        "most different mean": float(np.concatenate(means).max()),
        "difference of ends": float(np.concatenate(ends).mean()),
        "least effective": float(np.concatenate(sizes).min()),
        "numpyro least effective": float(np.concatenate(other_sizes).min()),
    }


def section(file: Path) -> list[str]:
    """The part of the page about this comparison; nothing without results."""
    if not file.exists():
        return []
    found = pl.read_csv(file)
    rows = ", ".join(map(str, sorted(set(found["rows"]))))
    lines = [
        "## The same posterior by NumPyro\n",
        "`python -m experiments.published.side_by_side` draws the documented posterior by NumPyro's NUTS (four chains, "
        f"{STEPS} steps and as many of warm-up) and by credo, from {rows} rows. With influences, NumPyro has the signs "
        "of effects; distributions are drawn again until their orders hold, which is the documented model for "
        "configurations with rows. Others are not compared, nor CPTs whose orders hold in less than one of "
        f"{TRIES} draws (*not compared*). *Far*: numbers whose means differ by more than {FAR:.0f} standard errors. "
        "Seconds are of processor time, compiling apart. *Effective*: of the number that mixed "
        "worst, how many independent draws there are.\n",
        "| network | statements | numbers | far | means differ by, mean | most | ends of 95% differ by | credo, s | "
        "NumPyro, s | compiling, s | effective, credo | NumPyro | divergences | not compared |",
        "|---" * 14 + "|",
    ]
    for row in found.iter_rows(named=True):
        values = (
            row["network"], row["influences"] if row["condition"] == "influences" else "none", row["numbers"],
            row["far"], f"{row['difference of means']:.4f}", f"{row['most different mean']:.4f}",
            f"{row['difference of ends']:.4f}", f"{row['seconds']:.1f}", f"{row['numpyro seconds']:.1f}",
            f"{row['compiling']:.1f}", f"{row['least effective']:.0f}",
            f"{row['numpyro least effective']:.0f}", row["divergences"], row["left out"],
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, values))} |")
    mine = found["seconds"] / found["least effective"]
    its = found["numpyro seconds"] / found["numpyro least effective"]
    far, numbers = found["far"].sum(), found["numbers"].sum()
    times = (found["numpyro seconds"] / found["seconds"]).median()
    lines.append(
        f"\nFar are {far} of {numbers} numbers. NumPyro takes {times:.0f} times as long as credo without compiling "
        f"(median), and {(its / mine).median():.0f} times for each independent draw of the number that mixes worst.\n"
    )
    return lines


def main() -> None:
    """Run the pairs that are not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=NAMES)
    parser.add_argument("--rows", nargs="+", type=int, default=(100,))
    parser.add_argument("--quick", action="store_true", help="the first network alone")
    add_options(parser, RESULTS)
    given = parser.parse_args()
    if find_spec("numpyro") is None:
        print("NumPyro is not installed, so that there is nothing to compare with: pip install numpyro.")
        return
    names = [name for name in given.networks if name in network_files()]
    names = names[: 1 if given.quick else None]
    jobs = [(name, rows, each) for each in CONDITIONS for rows in given.rows for name in names]
    file = given.out / "side_by_side.csv"
    run_jobs(run_pair, jobs, KEY, file, processes=given.processes, minutes=given.minutes)
    print("\n".join(section(file)))


if __name__ == "__main__":
    main()
