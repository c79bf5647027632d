"""Where a sequence of steps leads, from the last of them: steps that converge slowly, or hardly turn, are cut short."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from credo.types import Numbers

STRAIGHT = 0.8  # the cosine between two steps, and the ratio of their lengths, from which on they go on and on
SAME = 1e-8  # of the largest change from step to step: below it, changes are linear combinations of each other


def extrapolated(taken: Sequence[tuple[Numbers, Numbers]], scales: Numbers) -> Numbers | None:
    """A point ahead of steps that were `taken`, from where and where to; None where they are too few to tell.

    Steps that hardly turn and do not shrink are made longer, twice as long each time. Else Anderson's extrapolation
    [Anderson, 1965]: with the steps f = x − y, and the changes ΔX and ΔF of their ends and of themselves,

        x − ΔX·γ,   γ = argmin ‖f − ΔF·γ‖.

    `scales` are those of the norm.
    """
    if len(taken) < 2:
        return None
    ends = np.array([end for _, end in taken])
    steps = (ends - np.array([start for start, _ in taken])) * scales
    changes = np.diff(ends, axis=0).T
    inner, before = float(steps[-1] @ steps[-2]), float(steps[-2] @ steps[-2])
    if inner > STRAIGHT * before and inner > STRAIGHT * np.sqrt(before * float(steps[-1] @ steps[-1])):
        return np.asarray(ends[-1] + 2.0 ** (len(taken) - 1) * changes[:, -1])
    shares = np.linalg.lstsq(np.diff(steps, axis=0).T, steps[-1], rcond=SAME)[0]
    return np.asarray(ends[-1] - changes @ shares)
