"""How much of a long test runs always, and how much with the slow tests only."""

from __future__ import annotations

from typing import Any

import pytest


def seeds(always: int, of: int) -> list[Any]:
    """Seeds from 0 on: the first few run always, the others with the slow tests."""
    return [*range(always), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(always, of))]


def amounts(always: int, slow: int) -> list[Any]:
    """How many cases a test takes: a few always, many with the slow tests."""
    return [always, pytest.param(slow, marks=pytest.mark.slow)]
