"""The smallest effective sample size per second, for credo and hopsy: `python -m benchmarks.sampling`.

Both draw uniformly from the polytope that true statements about one CPT allow. hopsy runs coordinate hit-and-run on the
same polytope without the last state of each distribution, and without rounding, which costs more here than it gains.
Each uses one thread. The time includes preparation and warm-up; the best of several runs is reported. credo's first
call, with and without compiled code on disk, is timed in separate processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np

from benchmarks.recording import record
from credo.constraints.blocks import Block, blocks_of
from credo.constraints.lower import lower
from credo.model.network import Network
from credo.posterior.convergence import effective_sizes
from credo.sampling.polytope import sample_block
from credo.testing import true_statements

SHAPES = ((4, 2, 10), (32, 4, 100))  # configurations, states, statements
REPEATS = 3
SECONDS = 4.0  # for each run, approximately


def main() -> None:
    """Print a line for each shape, and then the times of first calls."""
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["--first"]:
        first_call()
        return
    print("configurations×states  statements  credo ESS/s  hopsy ESS/s   ratio")
    for configurations, states, statements in SHAPES:
        block = example(configurations, states, statements)
        own = max(credo_rate(block, seed) for seed in range(REPEATS))
        other = [hopsy_rate(block, seed) for seed in range(REPEATS)]
        peer, ratio = ("absent", "") if None in other else (f"{max(other):,.0f}", f"{own / max(other):.1f}×")
        figures = {"credo": own, "hopsy": None if None in other else max(other)}  # effective draws a second
        record("sampling", f"{configurations}x{states}, {statements} statements", figures)
        print(f"{configurations:>14}×{states:<6}{statements:>12}{own:>13,.0f}{peer:>13}{ratio:>8}", flush=True)
    with tempfile.TemporaryDirectory() as cache:
        for title in ("nothing compiled yet", "compiled code on disk"):
            command = [sys.executable, "-m", "benchmarks.sampling", "--first"]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(cache))
            print(f"first call, {title}: {float(done.stdout):.2f} s")


def environment(cache: str) -> dict[str, str]:
    """The environment of a process that finds compiled code only in `cache`."""
    return {**os.environ, "NUMBA_CACHE_DIR": cache}


def example(configurations: int, states: int, statements: int, seed: int = 1) -> Block:
    """The largest block of true statements about a random CPT."""
    cpts = {
        "parent": np.full(configurations, 1.0 / configurations),
        "child": np.random.default_rng(seed).dirichlet(np.ones(states), configurations),
    }
    variables = {"parent": [f"p{i}" for i in range(configurations)], "child": [f"c{i}" for i in range(states)]}
    network = Network(variables, {"child": ["parent"]}, cpts)
    about_child = true_statements(network, statements, seed)[statements:]
    known: Any = SimpleNamespace(network=network, statements=about_child, orders={})
    return max(blocks_of(lower(known)), key=lambda block: block.size)


def first_call() -> None:
    """Print the seconds from the call to the draws, in a new process."""
    block = example(*SHAPES[0])
    start = time.perf_counter()
    sample_block(block, np.ones(block.size), draws=100)
    print(time.perf_counter() - start)


def credo_rate(block: Block, seed: int) -> float:
    """The smallest effective sample size per second, with warm-up and preparation."""
    ones = np.ones(block.size)
    options: dict[str, Any] = {"chains": 2, "thinning": 1, "threads": 1, "seed": seed}
    trial = sample_block(block, ones, draws=2000, **options)
    draws = int(min(400_000, 2000 * SECONDS / trial.seconds, 150_000_000 // block.size))
    samples = sample_block(block, ones, draws=draws, **options)
    return float(samples.effective_sizes.min() / samples.seconds)


def hopsy_rate(block: Block, seed: int) -> float | None:
    """The same for hopsy, with two chains one after the other."""
    try:
        import hopsy
    except ImportError:
        return None
    left, right = inequalities(block)
    rounded = hopsy.Problem(left, right)
    start = hopsy.compute_chebyshev_center(rounded)
    thinning = 1 if block.size < 20 else block.size

    def run(draws: int) -> tuple[np.ndarray, float]:
        started = time.perf_counter()
        values = []
        for chain_number in range(2):
            proposal = hopsy.UniformCoordinateHitAndRunProposal(rounded, starting_point=start)
            chain = hopsy.MarkovChain(rounded, proposal=proposal)
            generator = hopsy.RandomNumberGenerator(seed, chain_number)
            hopsy.sample(chain, generator, n_samples=1, thinning=50 * block.size)
            values.append(np.asarray(hopsy.sample(chain, generator, n_samples=draws, thinning=thinning)[1])[0])
        return np.stack(values), time.perf_counter() - started

    _, seconds = run(2000)
    values, seconds = run(int(min(400_000, 2000 * SECONDS / seconds)))
    return float(effective_sizes(values).min() / seconds)


def inequalities(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Ax ≤ b over all states but the last of each distribution."""
    last = block.distributions[1:] - 1
    kept = np.setdiff1d(np.arange(block.size), last)
    basis = np.zeros((block.size, len(kept)))
    basis[kept, np.arange(len(kept))] = 1.0
    basis[last[block.distribution_of[kept]], np.arange(len(kept))] = -1.0
    corner = np.zeros(block.size)
    corner[last] = 1.0
    matrix = block.linear.matrix(block.size).toarray()
    return np.concatenate((matrix @ basis, -basis)), np.concatenate((block.linear.bounds - matrix @ corner, corner))


if __name__ == "__main__":
    main()
