"""Tables in several files, with and without missing values, for tests of partitioned data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from credo.estimation.em import driver
from credo.estimation.em.checkpoint import Checkpoint
from credo.testing import made_up_network, with_missing_values

TRUE = made_up_network(6, (2, 3), (0.2, 0.8), seed=3, name="parts")
NETWORK = TRUE.without_cpts()
COMPLETE = TRUE.sample(600, 1)
MISSING = with_missing_values(COMPLETE, 0.3, 2)
KNOWLEDGE = "P(v0=state0) >= 0.05\nP(v1=state0) <= 0.5"


def files(folder: Path, frame: pl.DataFrame, count: int = 3) -> str:
    """Write a table as so many files, and give the pattern that names them."""
    cuts = [len(frame) * i // count for i in range(count + 1)]
    for number in range(count):
        frame[cuts[number] : cuts[number + 1]].write_parquet(folder / f"part-{number}.parquet")
    return str(folder / "*.parquet")


def stop_after(saves: int) -> Callable[..., None]:
    """Saves a checkpoint that often, and is then interrupted."""
    save, done = driver._save, 0

    def saving(checkpoint: Checkpoint, *arguments: Any) -> None:
        nonlocal done
        checkpoint.due = 0.0
        save(checkpoint, *arguments)
        done += 1
        if done == saves:
            raise KeyboardInterrupt

    return saving
