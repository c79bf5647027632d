"""Moves of distributions that statements link, against rejection: bases are fixed, so that the answer is exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from credo.core.linked_distributions import LinkedDistributions
from credo.posterior.chains import PriorConstants
from tests.helpers.modular_posterior import Bases, Family, draw_distributions, log_evidence, tensions

CONSTANTS = PriorConstants()
SHARES = np.array([0.3, 0.2, 0.1, 0.2, 0.1, 0.1])
Row = tuple[Sequence[int], Sequence[float], float]  # cells, coefficients, bound


@dataclass(frozen=True)
class Case:
    """One CPT with a base, counts and inequalities on cells, which are numbered configuration by configuration."""

    base: np.ndarray
    counts: np.ndarray
    rows: Sequence[Row]
    start: np.ndarray  # satisfies the inequalities
    statement: Sequence[int] | None = None  # of each row, -1 if it must hold
    odds: Sequence[float] = ()  # of statements that may be wrong, their logarithms
    barred: np.ndarray | None = None


def linked(case: Case, seed: int = 0, shares: np.ndarray = SHARES) -> tuple[LinkedDistributions, np.ndarray]:
    """The moves, and the vector of θ."""
    n, states = case.base.shape
    barred = np.zeros((n, states), bool) if case.barred is None else case.barred
    theta = case.start.astype(float).ravel().copy()
    starts = np.cumsum([0, *(len(cells) for cells, _, _ in case.rows)])
    moves = LinkedDistributions(
        np.arange(0, n * states + 1, states), np.zeros(n), theta, case.counts.astype(float).ravel(),
        case.base.ravel().copy(), np.log(shares)[None], (*CONSTANTS.following, *CONSTANTS.free),
        CONSTANTS.least_unseen, case.counts.sum(axis=1) > 0.0, [len(CONSTANTS.following)], barred.ravel(),
        (
            starts,
            np.array([cell for cells, _, _ in case.rows for cell in cells], np.int64),
            np.array([value for _, values, _ in case.rows for value in values]),
            np.array([bound for *_, bound in case.rows]),
        ),
        np.full(len(case.rows), -1) if case.statement is None else np.array(case.statement), np.array(case.odds, float),
        np.zeros(n), [seed],
    )  # fmt: skip
    moves.look_at_base()
    assert moves.evaluate() <= 1e-9
    return moves, theta


def chains(case: Case, draws: int, rounds: int = 3, sparing: bool = False) -> np.ndarray:
    """Draws of four chains, (chains, draws, configurations, states); `sparing` moves what is easy less.

    All are then thought to mix slowly, and move in large groups.
    """
    found = np.empty((4, draws, *case.base.shape))
    for seed in range(4):
        moves, theta = linked(case, seed)
        moves.sweep(100, 0)
        if sparing:
            moves.find_easy()
            moves.update_more_often(np.arange(len(case.base)))
        for draw in range(draws):
            assert moves.sweep(rounds, int(sparing)) <= 1e-9
            found[seed, draw] = theta.reshape(case.base.shape)
    return found


def exact(case: Case, draws: int = 40_000, seed: int = 0) -> np.ndarray:
    """Independent draws: those without statements, kept where these hold or, if they may be wrong, by their odds."""
    rng = np.random.default_rng(seed)
    family = Family([len(case.base)], case.counts, barred=case.barred)
    statement = np.full(len(case.rows), -1) if case.statement is None else np.array(case.statement)
    kept: list[np.ndarray] = []
    for _ in range(15):
        bases = Bases(np.repeat(case.base[None], draws, axis=0), np.repeat(np.log(SHARES)[None], draws, axis=0))
        theta = draw_distributions(rng, family, bases, log_evidence(family, bases, CONSTANTS), CONSTANTS)
        flat = theta.reshape(draws, -1)
        holds = np.stack([flat[:, cells] @ np.array(values) <= bound for cells, values, bound in case.rows], axis=1)
        good = holds[:, statement < 0].all(axis=1)
        for number, odds in enumerate(case.odds):
            is_true = holds[:, statement == number].all(axis=1)
            good &= np.log(rng.random(draws)) < np.where(is_true, min(0.0, odds), min(0.0, -odds))
        kept.append(theta[good])
        if sum(len(each) for each in kept) >= draws:
            break
    return np.concatenate(kept)[:draws]


PAIR = np.array([[0.3, 0.7], [0.6, 0.4]])
TRIPLE = np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.3, 0.4, 0.3]])
EVEN = np.full((2, 2), 0.5)
EXTREME = np.array([[1.0 - 1e-6, 1e-6], [0.999, 0.001]])
THIN = 0.002  # an equality, read within this

CASES: dict[str, Case] = {
    "a range": Case(
        PAIR, np.array([[3, 1], [0, 0]]), [([1], [1.0], 0.5), ([1], [-1.0], -0.4)], np.array([[0.55, 0.45], [0.5, 0.5]])
    ),
    "a bound far from the base": Case(
        PAIR, np.zeros((2, 2)), [([0], [-1.0], -0.9)], np.array([[0.95, 0.05], [0.5, 0.5]])
    ),
    "a comparison": Case(
        PAIR, np.array([[3, 1], [1, 2]]), [([1, 3], [1.0, -1.0], 0.0)], np.array([[0.6, 0.4], [0.4, 0.6]])
    ),
    "a comparison without rows": Case(
        PAIR, np.zeros((2, 2)), [([1, 3], [1.0, -1.0], 0.0)], np.array([[0.6, 0.4], [0.4, 0.6]])
    ),
    "an equality": Case(
        PAIR, np.array([[3, 1], [1, 2]]), [([1, 3], [1.0, -1.0], THIN), ([1, 3], [-1.0, 1.0], THIN)], EVEN
    ),
    "a known number": Case(
        PAIR,
        np.array([[3, 1], [1, 2]]),
        [([1], [1.0], 0.3 + THIN), ([1], [-1.0], -0.3 + THIN)],
        np.array([[0.7, 0.3], [0.5, 0.5]]),
    ),
    "an order of three": Case(
        TRIPLE,
        np.array([[2, 0, 0], [0, 0, 0], [1, 0, 2]]),
        [([2, 5], [1.0, -1.0], 0.0), ([5, 8], [1.0, -1.0], 0.0)],
        np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.3, 0.3, 0.4]]),
    ),
    "events": Case(
        TRIPLE,
        np.array([[2, 0, 1], [0, 0, 0], [1, 0, 2]]),
        [([1, 2, 4, 5], [1.0, 1.0, -1.0, -1.0], 0.0), ([6], [1.0], 0.5)],
        np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.3, 0.3, 0.4]]),
    ),
    "unequal weights": Case(
        PAIR, np.array([[3, 1], [1, 2]]), [([1, 3], [2.0, -1.0], 0.0)], np.array([[0.8, 0.2], [0.4, 0.6]])
    ),
    "extreme bases": Case(EXTREME, np.zeros((2, 2)), [([1, 3], [1.0, -1.0], 0.0)], np.array([[0.7, 0.3], [0.6, 0.4]])),
    "an extreme base and a slack bound": Case(EXTREME, np.zeros((2, 2)), [([1], [1.0], 0.95)], EVEN),
    "an extreme base with rows": Case(
        EXTREME, np.array([[4, 0], [3, 1]]), [([1, 3], [1.0, -1.0], 0.0)], np.array([[0.7, 0.3], [0.6, 0.4]])
    ),
    "doubt": Case(
        PAIR,
        np.array([[3, 1], [1, 2]]),
        [([1, 3], [1.0, -1.0], 0.0), ([1], [1.0], 0.9)],
        np.array([[0.6, 0.4], [0.4, 0.6]]),
        [0, -1],
        [1.5],
    ),
    "two doubts": Case(
        TRIPLE,
        np.array([[2, 0, 0], [0, 1, 0], [1, 0, 2]]),
        [([2, 5], [1.0, -1.0], 0.0), ([5, 8], [1.0, -1.0], 0.0), ([0], [1.0], 0.3)],
        np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.3, 0.3, 0.4]]),
        [0, 0, 1],
        [2.0, -1.0],
    ),
    "impossible states": Case(
        np.array([[0.5, 0.5, 0.0], [0.3, 0.2, 0.5]]),
        np.array([[2, 0, 0], [0, 1, 1]]),
        [([1, 4], [1.0, -1.0], 0.0)],
        np.array([[0.8, 0.2, 0.0], [0.4, 0.3, 0.3]]),
        barred=np.array([[False, False, True], [False, False, False]]),
    ),
    "no rows, impossible states": Case(
        np.array([[0.5, 0.5, 0.0], [0.1, 0.1, 0.8]]),
        np.zeros((2, 3)),
        [([1, 4], [1.0, -1.0], 0.0)],
        np.array([[0.8, 0.2, 0.0], [0.4, 0.3, 0.3]]),
        barred=np.array([[False, False, True], [False, False, False]]),
    ),
}


@pytest.mark.parametrize("sparing", [False, True])
@pytest.mark.parametrize("name", list(CASES))
def test_draws_are_those_of_rejection(name: str, sparing: bool) -> None:
    case = CASES[name]
    drawn, wanted = chains(case, 5000, sparing=sparing), exact(case)
    assert len(wanted) > 1000
    states = case.base.shape[1]
    own = np.unique([cell // states for cells, _, _ in case.rows for cell in cells])  # the others stay where they are
    assert np.abs(tensions(drawn[:, :, own], wanted[:, own], len(wanted))).max() < 5.0


def test_the_same_seed_gives_the_same_bits() -> None:
    found = []
    for seed in (1, 1, 2):
        moves, theta = linked(CASES["events"], seed)
        moves.sweep(50, 0)
        found.append(theta.tobytes())
    assert found[0] == found[1] != found[2]
