"""Statements of an expert on faces about the model, as in [liao, section 3]; right, or wrong on purpose.

The statements are ranges for most parameters of the units, the ranking of the detectors from best to worst, which unit
raises or lowers another, and which of two units does so more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from credo.model.network import Network
from experiments.liao.faces import ABSENT, DETECTORS, PRESENT, UNITS, detector

RANGED = 0.8  # the share of parameters for which the expert knows a range
WIDTH = 0.25  # of a range
EQUAL = 0.9  # the confidence of an expert who gives the same to every statement
WHEN_RIGHT, WHEN_WRONG = (0.7, 0.99), (0.05, 0.3)  # confidences of a calibrated expert


@dataclass(frozen=True, slots=True)
class ExpertStatement:
    """A true statement, and the reversed statement."""

    right: str
    wrong: str


def expert_statements(truth: Network, seed: int) -> tuple[ExpertStatement, ...]:
    """All true statements of one expert, each with its wrong version."""
    rng = np.random.default_rng([seed, 1])
    return (*_ranges(truth, rng), *_ranking(), *_influences(truth))


def equal_confidence(
    statements: Sequence[ExpertStatement], wrong_share: float, seed: int, confidence: float = EQUAL
) -> str:
    """The text of an expert who is wrong in a share of the statements and does not know in which ones."""
    wrong = _wrong(len(statements), wrong_share, seed)
    return "\n".join(
        f"{statement.wrong if is_wrong else statement.right} with confidence {confidence}"
        for statement, is_wrong in zip(statements, wrong, strict=True)
    )


def calibrated_confidence(statements: Sequence[ExpertStatement], wrong_share: float, seed: int) -> str:
    """The same statements from an expert who has less confidence in the wrong ones."""
    wrong = _wrong(len(statements), wrong_share, seed)
    rng = np.random.default_rng([seed, 3])
    confidences = [rng.uniform(*(WHEN_WRONG if is_wrong else WHEN_RIGHT)) for is_wrong in wrong]
    return "\n".join(
        f"{statement.wrong if is_wrong else statement.right} with confidence {confidence:.3f}"
        for statement, is_wrong, confidence in zip(statements, wrong, confidences, strict=True)
    )


def _wrong(count: int, share: float, seed: int) -> np.ndarray:
    chosen = np.random.default_rng([seed, 2]).permutation(count)[: round(share * count)]
    flags = np.zeros(count, dtype=bool)
    flags[chosen] = True
    return flags


def _ranges(truth: Network, rng: np.random.Generator) -> Iterator[ExpertStatement]:
    for unit in UNITS:
        present = truth.cpt_array(unit).reshape(-1, 2)[:, 1]
        for configuration, value in enumerate(present.tolist()):
            if rng.random() < RANGED:
                low = float(np.clip(value - WIDTH * rng.random(), 0.0, 1.0 - WIDTH))
                probability = truth.describe(unit, configuration, 1)
                # A wrong range starts 0.2 beyond the truth, on the side with more room.
                off = value + 0.2 if value < 0.5 else value - 0.2 - WIDTH
                yield ExpertStatement(_within(probability, low), _within(probability, min(max(off, 0.0), 1.0 - WIDTH)))


def _within(probability: str, low: float) -> str:
    return f"{low:.3f} <= {probability} <= {low + WIDTH:.3f}"


def _ranking() -> Iterator[ExpertStatement]:
    for better, worse in pairwise(DETECTORS):
        for state in (ABSENT, PRESENT):
            one, two = (f"P({detector(unit)}={state} | {unit}={state})" for unit in (better, worse))
            yield ExpertStatement(f"{one} >= {two}", f"{one} <= {two}")


def _influences(truth: Network) -> Iterator[ExpertStatement]:
    for unit, (parents, _) in UNITS.items():
        present = truth.cpt_array(unit)[..., 1]
        for axis, parent in enumerate(parents):
            up = bool((np.diff(present, axis=axis) > 0).all())
            words = ("raises", "lowers") if up else ("lowers", "raises")
            yield ExpertStatement(*(f"{parent} {word} {unit}" for word in words))
        if len(parents) == 2:
            first, second = (present[1, 0], present[0, 1])
            one, two = (
                f"P({unit}={PRESENT} | {parents[0]}={a}, {parents[1]}={b})"
                for a, b in ((PRESENT, ABSENT), (ABSENT, PRESENT))
            )
            signs = (">=", "<=") if first > second else ("<=", ">=")
            yield ExpertStatement(*(f"{one} {sign} {two}" for sign in signs))
