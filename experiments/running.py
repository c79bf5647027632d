"""Run many jobs in parallel and save each result at once, so that an interrupted run can continue."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

import credo

ROOT = Path(__file__).resolve().parents[1]
# Published data, which this project does not contain: beside it, or beside a folder that it is in.
SHARED = next((each / "shared" for each in ROOT.parents if (each / "shared").exists()), ROOT.parent / "shared")

Record = dict[str, object]
Job = tuple[Any, ...]
Run = Callable[[Job], list[Record]]


def require(path: Path, what: str) -> Path:
    """The path of published data; ends the program with a message if it does not exist."""
    if not path.exists():
        raise SystemExit(f"{what} expected in {path}, but there is no such file or folder.")
    return path


def add_options(parser: argparse.ArgumentParser, results: Path) -> None:
    """Add the options that all experiments with jobs share."""
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--minutes", type=float, default=15, help="stop after so many; the next run continues")
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
    """The records of all jobs, sorted; `key` are the columns that identify the job of a record."""
    file.parent.mkdir(parents=True, exist_ok=True)
    frames = [pl.read_csv(file)] if file.exists() else []
    jobs = list(jobs)
    done = {row for frame in frames for row in frame.select(key).iter_rows()}
    left = [job for job in jobs if job not in done]
    started, stopped = time.perf_counter(), False
    if done:
        print(f"{len(jobs) - len(left)} of {len(jobs)} jobs are in {file} already.")
    try:
        for number, records in enumerate(results_of(run, left, processes), start=1):
            frames = [pl.concat([*frames, pl.DataFrame(records)], how="vertical_relaxed")]
            _write(frames[0], file)
            note_version(file)
            if stopped := time.perf_counter() - started > 60 * minutes and number < len(left):
                break
    except KeyboardInterrupt:
        raise SystemExit("Interrupted: finished jobs are saved, and the same command continues.") from None
    if stopped:
        print(f"Stopped after {minutes:g} minutes: the same command continues.")
    results = pl.concat(frames, how="vertical_relaxed").sort(key, maintain_order=True)
    _write(results, file)
    return results


def _write(frame: pl.DataFrame, file: Path) -> None:
    """Write a file completely or not at all."""
    draft = file.with_suffix(".draft")
    frame.write_csv(draft)
    draft.replace(file)


def note_version(file: Path) -> None:
    """Note in `versions.json` beside a file of results when and with which version of credo it was made.

    Rows may come from several runs: `first` is about the oldest of them, and is what their age is judged by. Rows of
    one method that were dropped and made again (`experiments.again`) are from `again` on.
    """
    path = file.with_name("versions.json")
    notes = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    now = {"date": datetime.now(UTC).date().isoformat(), "version": credo.__version__}
    notes[file.name] = {"first": now, **notes.get(file.name, {}), "last": now}
    path.write_text(json.dumps(notes, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def results_of(run: Callable[[Any], Any], jobs: Sequence[Any], processes: int | None) -> Iterator[Any]:
    """The result of each job as it is finished, with progress on the screen; one process runs them itself."""
    started = time.perf_counter()
    pool = None if processes == 1 else multiprocessing.get_context("spawn").Pool(processes, _ignore_interrupts)
    try:
        finished = map(run, jobs) if pool is None else pool.imap_unordered(run, jobs)
        for number, result in enumerate(finished, start=1):
            print(f"\r{number} of {len(jobs)} jobs, {time.perf_counter() - started:.0f} s", end="", flush=True)
            yield result
    finally:
        print()
        if pool is not None:
            pool.terminate()


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the process that started this one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
