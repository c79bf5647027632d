"""What an expert on faces would say of the model, as in [liao, section 3]; right, or wrong on purpose.

Ranges for most numbers of the units' tables, the ranking of the detectors from the best to the worst, and which unit
raises or lowers another, which of two does so more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from credo.model.network import Network
from experiments.liao.faces import ABSENT, DETECTORS, PRESENT, UNITS, detector

RANGED = 0.8  # the share of numbers that the expert knows a range of
WIDTH = 0.25  # of a range
SURE = 0.9  # the confidence of an expert who gives the same to every statement
WHEN_RIGHT, WHEN_WRONG = (0.7, 0.99), (0.05, 0.3)  # confidences of one who knows what they know


@dataclass(frozen=True, slots=True)
class Saying:
    """A true statement, and the same one turned round."""

    right: str
    wrong: str


def sayings(truth: Network, seed: int) -> tuple[Saying, ...]:
    """All true statements of one expert, and what each would be if it were wrong."""
    rng = np.random.default_rng([seed, 1])
    return (*_ranges(truth, rng), *_ranking(), *_influences(truth))


def equally_sure(said: Sequence[Saying], wrong_share: float, seed: int, confidence: float = SURE) -> str:
    """The text of an expert who is wrong in a share of the statements and does not know in which."""
    wrong = _wrong(said, wrong_share, seed)
    return "\n".join(
        f"{each.wrong if bad else each.right} with confidence {confidence}"
        for each, bad in zip(said, wrong, strict=True)
    )


def knowingly_unsure(said: Sequence[Saying], wrong_share: float, seed: int) -> str:
    """The same statements from an expert who has less confidence in those that are wrong."""
    wrong = _wrong(said, wrong_share, seed)
    rng = np.random.default_rng([seed, 3])
    confidences = [rng.uniform(*(WHEN_WRONG if bad else WHEN_RIGHT)) for bad in wrong]
    return "\n".join(
        f"{each.wrong if bad else each.right} with confidence {confidence:.3f}"
        for each, bad, confidence in zip(said, wrong, confidences, strict=True)
    )


def _wrong(said: Sequence[Saying], share: float, seed: int) -> np.ndarray:
    chosen = np.random.default_rng([seed, 2]).permutation(len(said))[: round(share * len(said))]
    flags = np.zeros(len(said), dtype=bool)
    flags[chosen] = True
    return flags


def _ranges(truth: Network, rng: np.random.Generator) -> Iterator[Saying]:
    for unit in UNITS:
        present = truth.cpt_array(unit).reshape(-1, 2)[:, 1]
        for row, value in enumerate(present.tolist()):
            if rng.random() < RANGED:
                low = float(np.clip(value - WIDTH * rng.random(), 0.0, 1.0 - WIDTH))
                number = truth.describe(unit, row, 1)
                # A wrong range begins a quarter beyond the truth, on the side where there is more room.
                off = value + 0.2 if value < 0.5 else value - 0.2 - WIDTH
                yield Saying(_within(number, low), _within(number, min(max(off, 0.0), 1.0 - WIDTH)))


def _within(number: str, low: float) -> str:
    return f"{low:.3f} <= {number} <= {low + WIDTH:.3f}"


def _ranking() -> Iterator[Saying]:
    for better, worse in pairwise(DETECTORS):
        for state in (ABSENT, PRESENT):
            one, two = (f"P({detector(unit)}={state} | {unit}={state})" for unit in (better, worse))
            yield Saying(f"{one} >= {two}", f"{one} <= {two}")


def _influences(truth: Network) -> Iterator[Saying]:
    for unit, (parents, _) in UNITS.items():
        table = truth.cpt_array(unit)[..., 1]
        for axis, parent in enumerate(parents):
            up = bool((np.diff(table, axis=axis) > 0).all())
            words = ("raises", "lowers") if up else ("lowers", "raises")
            yield Saying(*(f"{parent} {word} {unit}" for word in words))
        if len(parents) == 2:
            first, second = (table[1, 0], table[0, 1])
            one, two = (
                f"P({unit}={PRESENT} | {parents[0]}={a}, {parents[1]}={b})"
                for a, b in ((PRESENT, ABSENT), (ABSENT, PRESENT))
            )
            signs = (">=", "<=") if first > second else ("<=", ">=")
            yield Saying(*(f"{one} {sign} {two}" for sign in signs))
