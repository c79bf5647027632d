"""One run: the inputs of a kind in order, what happened counted and kept, progress shown."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import state
from fuzz.failures import Failure, save
from fuzz.kind import kind_named
from fuzz.state import Record
from fuzz.workers import Chunk, Done, run_chunks

CHUNK_SECONDS = 250.0  # what the inputs that a worker gets at once may take at most
SAVED_FOR_EACH = 3  # inputs that are kept of failures with one signature
SHOW_EVERY = 2.0  # seconds


@dataclass(slots=True)
class Tally:
    """What happened in one chunk so far."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    done: int = 0

    def add(self, result: Done | Failure) -> None:
        self.done += 1
        if isinstance(result, Failure):
            self.failures[result.signature] += 1
        else:
            self.outcomes[result.outcome] += 1


def run_kind(
    name: str,
    *,
    inputs: int,
    seed: int = 0,
    seconds: float | None = None,
    resume: bool = False,
    workers: int = 1,
    found: Path = state.FOUND,
    kept: Path = state.STATE,
) -> Record:
    """Check inputs of one kind up to a number, or for a time; what was checked is kept even if Ctrl-C ends it."""
    kind, version = kind_named(name), state.code_version()
    record = state.load(kind.name, seed, version, kept) if resume else Record(kind.name, seed, version)
    started, before = time.monotonic(), record.seconds
    deadline = None if seconds is None else started + seconds
    tallies: dict[int, Tally] = {}
    sizes: dict[int, int] = {}
    frontier, chunk_size = record.done, max(1, int(CHUNK_SECONDS / kind.seconds))

    def chunks() -> Iterator[Chunk]:
        for start in range(frontier, inputs, chunk_size):
            if deadline is not None and time.monotonic() > deadline:
                return
            stop = min(start + chunk_size, inputs)
            tallies[start], sizes[start] = Tally(), stop - start
            yield Chunk(name, seed, start, stop)

    saved: Counter[str] = Counter()
    shown = kept_at = 0.0
    try:
        for chunk, result in run_chunks(chunks(), workers):
            first = next(start for start in reversed(tallies) if start <= result.number)
            tallies[first].add(result)
            if isinstance(result, Failure):
                saved[result.signature] += 1
                if saved[result.signature] <= SAVED_FOR_EACH:
                    path = save(result, kind, seed, found)
                    _say(f"{kind.name} {result.number}: {result.signature}\n  kept in {path}")
            while frontier in tallies and tallies[frontier].done == sizes[frontier]:
                tally, size = tallies.pop(frontier), sizes.pop(frontier)
                record.add(tally.outcomes, tally.failures, size)
                frontier += size
            record.seconds = before + time.monotonic() - started
            if time.monotonic() - shown > SHOW_EVERY:
                shown = time.monotonic()
                under_way = sum(tally.done for tally in tallies.values())
                _show(chunk.kind, record, under_way, inputs, shown - started)
            if time.monotonic() - kept_at > 5.0:
                kept_at = time.monotonic()
                state.store(record, kept)
    except KeyboardInterrupt:
        record.interrupted = True
    finally:
        record.seconds = before + time.monotonic() - started
        state.store(record, kept)
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    return record


def _show(name: str, record: Record, under_way: int, inputs: int, seconds: float) -> None:
    done = record.done + under_way
    rate = done / max(record.seconds, 1e-9)
    line = f"{name}: {done:,} of {inputs:,} inputs, {rate:,.0f} a second, {record.failed} failures"
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
    elif int(seconds) % 30 < SHOW_EVERY:
        print(line, file=sys.stderr, flush=True)


def _say(text: str) -> None:
    start = "\r\033[K" if sys.stderr.isatty() else ""
    print(f"{start}{text}", file=sys.stderr, flush=True)


def summary(records: list[Record]) -> str:
    """A table of what was checked, and how it ended."""
    lines = [f"{'kind':<12}{'seed':>6}{'inputs':>10}{'clean':>10}{'failed':>8}{'seconds':>9}  how they ended"]
    for record in records:
        ended = sorted(record.outcomes.items(), key=lambda pair: -pair[1])
        words = ", ".join(f"{outcome} {100 * count / max(1, record.done):.0f}%" for outcome, count in ended[:5])
        lines.append(
            f"{record.kind:<12}{record.seed:>6}{record.done:>10,}{record.clean:>10,}{record.failed:>8,}"
            f"{record.seconds:>9.0f}  {words}"
        )
        lines += [f"    {count} × {signature}" for signature, count in sorted(record.failures.items())]
    return "\n".join(lines)
