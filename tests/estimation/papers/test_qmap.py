"""QMAP and QMAP-C: by hand, against algorithm 2 written out, and the paper's two theorems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo.constraints.blocks import Block
from credo.constraints.program import Program
from credo.constraints.uniform_means import uniform_means
from credo.estimation.papers.interpolation import SIZES, equivalent_sample_size, interpolated_cpt, least_correction
from tests.helpers.blocks import at_most, block_of, random_block


def qmap_table(counts: np.ndarray, alpha: np.ndarray, folds: np.ndarray) -> tuple[np.ndarray, int]:
    return interpolated_cpt(counts, alpha, counts - folds, folds)


def qmapc_table(
    counts: np.ndarray, constrained: np.ndarray, alpha: np.ndarray, folds: np.ndarray
) -> tuple[np.ndarray, int]:
    return interpolated_cpt(counts, alpha, counts - folds, folds, constrained)


def folds_of(rows: np.ndarray, shape: tuple[int, int], folds: int = 10) -> np.ndarray:
    """Counts of each fold; `rows` holds (configuration, state) of each data row."""
    counts = np.zeros((folds, *shape))
    for number, (configuration, state) in enumerate(rows):
        counts[number % folds, configuration, state] += 1.0
    return counts


def corners(block: Block, seed: int) -> np.ndarray:
    """Points at which all statements hold, (points, parameters)."""
    program, rng = Program(block), np.random.default_rng(seed)
    program.switch(block.linear.hard)
    found = [program.maximise(rng.standard_normal(block.size)) for _ in range(10)]
    return np.array([optimum.point for optimum in found if optimum is not None])


def test_by_hand() -> None:
    """N = (3, 1), α = (0.5, 0.5), A = 4: (3 + 2) / 8. With θ' = (0.7, 0.3): (2.8 + 2) / 8."""
    counts, alpha = np.array([[3.0, 1.0]]), np.array([[0.5, 0.5]])
    nothing = np.zeros((10, 1, 2))  # all sizes tie, so that the first is taken
    table, size = qmap_table(counts, alpha, nothing)
    assert size == 1
    assert table == pytest.approx(np.array([[3.5, 1.5]]) / 5)
    corrected, _ = qmapc_table(counts, np.array([[0.7, 0.3]]), alpha, nothing)
    assert corrected == pytest.approx(np.array([[2.8 + 0.5, 1.2 + 0.5]]) / 5)


def test_the_size_is_that_of_algorithm_2_written_out() -> None:
    rng = np.random.default_rng(5)
    rows = np.stack((rng.integers(0, 3, 57), rng.integers(0, 4, 57)), axis=1)
    alpha = rng.dirichlet(np.ones(4), 3)
    folds = folds_of(rows, (3, 4))
    best, best_size = -np.inf, 0
    for size in SIZES:
        score = 0.0
        for m in range(10):
            training = folds.sum(axis=0) - folds[m]
            for j in range(3):
                for k in range(4):
                    theta = (training[j, k] + size * alpha[j, k]) / (training[j].sum() + size)
                    score += folds[m, j, k] * np.log(theta)
        if score > best:
            best, best_size = score, size
    assert equivalent_sample_size(folds.sum(axis=0) - folds, alpha, folds) == best_size


def test_data_that_agree_with_alpha_ask_for_more_of_it() -> None:
    alpha = np.array([[0.8, 0.2]])
    agree = np.array([[0, 0]] * 40 + [[0, 1]] * 10)
    differ = np.array([[0, 0]] * 5 + [[0, 1]] * 45)
    sizes = []
    for rows in (agree, differ):
        folds = folds_of(np.random.default_rng(0).permutation(rows), (1, 2))
        sizes.append(equivalent_sample_size(folds.sum(axis=0) - folds, alpha, folds))
    assert sizes[0] > sizes[1]


def test_configurations_without_data_get_alpha() -> None:
    counts = np.array([[4.0, 0.0], [0.0, 0.0]])
    alpha = np.array([[0.5, 0.5], [0.2, 0.8]])
    table, _ = qmap_table(counts, alpha, np.stack((counts, np.zeros_like(counts))))
    assert table[1] == pytest.approx(alpha[1])


def test_theorem_1_qmap_violates_a_statement() -> None:
    """θ_0 ≤ 0.2, but 30 of 30 draws show state 0 [guo, theorem 1]."""
    block = block_of((2,), [at_most({0: 1.0}, 0.2)])
    (alpha,) = uniform_means((block,))
    assert alpha == pytest.approx([0.1, 0.9], abs=0.01)
    folds = folds_of(np.zeros((30, 2), dtype=int), (1, 2))
    table, _ = qmap_table(folds.sum(axis=0), alpha[None], folds)
    assert table[0, 0] > 0.3


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(0, 40), min_size=3, max_size=3))
def test_theorem_2_qmapc_keeps_every_statement_within_a_configuration(seed: int, seen: list[int]) -> None:
    """θ' and α hold all rows, and so does their mean [guo, theorem 2]; any feasible θ' will do."""
    block = random_block(seed, (3,), 3)
    draws = corners(block, seed)
    counts = np.array([seen], dtype=np.float64)
    table, _ = qmapc_table(counts, draws[-1][None], draws.mean(axis=0)[None], counts[None])
    assert (block.linear.values(table[0]) - block.linear.bounds).max() <= 1e-9


def test_theorem_2_needs_one_weight_for_all_configurations() -> None:
    """θ_0 ≤ θ_2 across rows: 100 data in the first and none in the second break it, until it is corrected."""
    block = block_of((2, 2), [at_most({0: 1.0, 2: -1.0}, 0.0)])
    counts = np.array([[90.0, 10.0], [0.0, 0.0]])
    constrained = np.array([[0.9, 0.1], [0.9, 0.1]])
    alpha = np.array([[1 / 3, 2 / 3], [2 / 3, 1 / 3]])  # the exact mean of the triangle
    table, size = qmapc_table(counts, constrained, alpha, np.zeros((1, 2, 2)))
    assert table[0, 0] > table[1, 0] + 0.1
    share = 100 / (100 + size)
    inside = (share * constrained + (1 - share) * alpha).ravel()
    corrected, moved = least_correction(block, table.ravel(), inside)
    assert 0.0 < moved < 1.0
    assert corrected[0] == pytest.approx(corrected[2])
    assert corrected.reshape(2, 2).sum(axis=1) == pytest.approx(1.0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_theorem_2_holds_for_every_statement_after_the_correction(seed: int) -> None:
    block = random_block(seed, (2, 3, 2), 6)
    draws = corners(block, seed)
    rng = np.random.default_rng(seed)
    own = rng.random(3)[block.distribution_of]  # a weight for each row of the table
    mixed = own * draws[-1] + (1 - own) * draws.mean(axis=0)
    corrected, moved = least_correction(block, mixed, 0.5 * draws[-1] + 0.5 * draws.mean(axis=0))
    assert (block.linear.values(corrected) - block.linear.bounds).max() <= 1e-9
    assert 0.0 <= moved <= 1.0
