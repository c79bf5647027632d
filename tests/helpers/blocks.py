"""Blocks written down by hand, and draws from them by rejection: the oracle of everything that samples."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraint, LinearConstraints, ProductConstraint


def block_of(
    sizes: Iterable[int],
    constraints: Iterable[LinearConstraint] = (),
    products: Iterable[ProductConstraint] = (),
    name: str = "x",
) -> Block:
    """A block with one distribution for each size, all configurations of one variable's CPT."""
    sizes = tuple(sizes)
    distributions = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    linear = LinearConstraints.of(constraints)
    return Block(
        tuple((name, configuration) for configuration in range(len(sizes))),
        np.arange(distributions[-1]),
        distributions,
        np.repeat(np.arange(len(sizes)), sizes),
        linear,
        np.arange(len(linear)),
        tuple(products),
    )


def at_most(terms: dict[int, float], bound: float, **options: object) -> LinearConstraint:
    """Σ coefficient · θ ≤ bound."""
    return LinearConstraint(tuple(terms), tuple(terms.values()), bound, 0, **options)  # type: ignore[arg-type]


def random_block(seed: int, sizes: tuple[int, ...], constraints: int) -> Block:
    """Rows of two to four entries that a random inner point satisfies, some of them barely."""
    rng = np.random.default_rng(seed)
    point = np.concatenate([rng.dirichlet(np.ones(size)) for size in sizes])
    made = []
    for _ in range(constraints):
        indices = rng.choice(len(point), min(len(point), int(rng.integers(1, 5))), replace=False)
        values = rng.choice([-1.0, 1.0, 0.5], len(indices))
        bound = float(values @ point[indices] + rng.choice([0.02, 0.1, 0.3]))
        made.append(at_most(dict(zip(indices.tolist(), values.tolist(), strict=True)), bound))
    return block_of(sizes, made)


def rejected(block: Block, shape: np.ndarray, wanted: int, seed: int = 0) -> np.ndarray:
    """Dirichlet draws that hold all hard constraints, (wanted, parameters)."""
    rng = np.random.default_rng(seed)
    kept: list[np.ndarray] = []
    while sum(map(len, kept)) < wanted:
        pieces = [
            rng.dirichlet(shape[start:stop], 100_000)
            for start, stop in zip(block.distributions[:-1], block.distributions[1:], strict=True)
        ]
        theta = np.concatenate(pieces, axis=1)
        holds = (block.linear.values(theta) <= block.linear.bounds).all(axis=1)
        for constraint in block.products:
            logs = np.log(np.maximum(theta[:, list(constraint.indices)], 1e-300))
            holds &= logs @ np.array(constraint.exponents) <= constraint.log_bound
        kept.append(theta[holds])
    return np.concatenate(kept)[:wanted]
