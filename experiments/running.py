"""Run many jobs, several at a time, and write what they give as it comes; a run that was stopped goes on."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

SHARED = Path(__file__).resolve().parents[1] / ".." / "shared"  # published data, which this project does not contain

Line = dict[str, object]
Job = tuple[Any, ...]
Run = Callable[[Job], list[Line]]


def require(path: Path, what: str) -> Path:
    """The path of published data, or a clear end where it is not there."""
    if not path.exists():
        raise SystemExit(f"{what} expected in {path}, and not there.")
    return path


def add_options(parser: argparse.ArgumentParser, results: Path) -> None:
    """What every experiment with jobs lets a user choose."""
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=15, help="after which the run stops; the next one goes on")
    parser.add_argument("--out", type=Path, default=results)


def run_jobs(
    run: Run,
    jobs: Iterable[Job],
    key: Sequence[str],
    file: Path,
    *,
    processes: int | None,
    minutes: float,
) -> pl.DataFrame:
    """The lines of all jobs, sorted; `key` are the columns of a line that say which job it is from."""
    file.parent.mkdir(parents=True, exist_ok=True)
    frames = [pl.read_csv(file)] if file.exists() else []
    done = {row for frame in frames for row in frame.select(key).iter_rows()}
    left = [job for job in jobs if job not in done]
    started, stopped = time.perf_counter(), False
    for number, lines in enumerate(_results(run, left, processes), start=1):
        frames.append(pl.DataFrame(lines))
        pl.concat(frames, how="vertical_relaxed").write_csv(file)
        spent = time.perf_counter() - started
        print(f"\r{number} of {len(left)} jobs, {spent:.0f} s", end="", flush=True)
        if stopped := spent > 60 * minutes and number < len(left):
            break
    print(f"\nStopped after {minutes:g} minutes: the same command goes on." if stopped else "")
    results = pl.concat(frames, how="vertical_relaxed").sort(key, maintain_order=True)
    results.write_csv(file)
    return results


def _results(run: Run, jobs: Sequence[Job], processes: int | None) -> Iterator[list[Line]]:
    """What each job gives, as it comes; in this process where it is the only one."""
    if processes == 1:
        yield from map(run, jobs)
    else:
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            yield from pool.imap_unordered(run, jobs)
