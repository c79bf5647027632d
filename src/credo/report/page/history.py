"""The likelihood after each step, as a line."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

WIDTH, HEIGHT, LEFT, BOTTOM = 640, 200, 90, 30


def history_picture(history: Sequence[float]) -> str:
    """An SVG of the objective against the steps."""
    values = [value for value in history if isfinite(value)]
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    across, up = (WIDTH - LEFT - 20) / (len(values) - 1), HEIGHT - BOTTOM - 20
    points = " ".join(
        f"{LEFT + step * across:.1f},{10 + up * (1 - (value - low) / span):.1f}" for step, value in enumerate(values)
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Objective after each step" width="{WIDTH}">'
        f'<polyline points="{points}" fill="none" stroke="var(--learned)" stroke-width="2"/>'
        f'<text x="{LEFT - 8}" y="18" text-anchor="end">{high:.5g}</text>'
        f'<text x="{LEFT - 8}" y="{10 + up}" text-anchor="end">{low:.5g}</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 8}">step 1</text>'
        f'<text x="{WIDTH - 20}" y="{HEIGHT - 8}" text-anchor="end">step {len(values)}</text></svg>'
    )
