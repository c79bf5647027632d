"""Learning for the studio: started in a process of its own, followed by its events, ended on request."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from credo.errors import OptionError
from credo.estimation.methods import METHODS, choose_method

MOST_STARTS = 100
RECENT = 3.0  # seconds that say how fast a step is
CRASHED = "Learning ended before it was done{reason}. The studio and your text are as they were."


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """What can be chosen for a run of learning."""

    method: str = "auto"
    prior: str = ""
    complete_rows: bool = False
    seed: int = 0
    starts: int = 5


def options_from(given: Any) -> LearnOptions:
    """Options that a page sent, checked before the work begins."""
    if not isinstance(given, Mapping):
        raise OptionError("The options are a mapping.")
    method, prior = str(given.get("method", "auto")), str(given.get("prior", "") or "")
    choose_method(method)
    seed, starts = given.get("seed", 0), given.get("starts", 5)
    for name, value, most in (("seed", seed, 2**32 - 1), ("starts", starts, MOST_STARTS)):
        if not isinstance(value, int) or isinstance(value, bool) or not (name == "starts") <= value <= most:
            raise OptionError(f"{name} is a whole number up to {most}.")
    return LearnOptions(method, prior, given.get("complete_rows") is True, seed, starts)


def methods_data() -> list[dict[str, str]]:
    """The methods, with what they are for."""
    automatic = {
        "name": "auto",
        "title": "chosen for you",
        "when": f"{choose_method('auto').title}; another one where that does not fit",
    }
    return [automatic, *({"name": each.name, "title": each.title, "when": each.when} for each in METHODS.values())]


@dataclass(slots=True)
class Run:
    """One run of learning, while it lasts."""

    process: asyncio.subprocess.Process
    started: float = field(default_factory=monotonic)
    ended: bool = False  # it has said all, and its process is about to end
    cancelled: bool = False


@dataclass(slots=True)
class TimeLeft:
    """How long the present step of a run will take, by how fast it went lately: work may become harder on the way."""

    phase: str = ""
    steps: list[tuple[float, float]] = field(default_factory=list)  # when how much was done

    def after(self, phase: str, share: float | None, now: float) -> float | None:
        """Seconds until this step is done; None where that is not known yet."""
        if phase != self.phase or share is None or (self.steps and share < self.steps[-1][1]):
            self.phase, self.steps = phase, []
        if share is None:
            return None
        self.steps.append((now, share))
        recent = [each for each in self.steps if now - each[0] <= max(RECENT, (now - self.steps[0][0]) / 3)]
        before = self.steps[max(0, len(self.steps) - len(recent) - 1)]
        spent, done = now - before[0], share - before[1]
        if now - self.steps[0][0] < 1.0:
            return None
        return spent * (1 - share) / done if done > 0 else None


Send = Callable[[dict[str, Any]], Awaitable[None]]


async def start(job: Mapping[str, Any]) -> Run:
    """Start a process that learns."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "credo.studio.learn_process",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=2**24,
        start_new_session=os.name != "nt",
    )
    assert process.stdin is not None
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(json.dumps(dict(job)).encode() + b"\n")
        await process.stdin.drain()
        process.stdin.close()
    return Run(process)


async def follow(run: Run, send: Send) -> None:
    """Pass the events of a run on until it ends; a run that ends without its last event has failed."""
    assert run.process.stdout is not None
    assert run.process.stderr is not None
    errors = asyncio.create_task(run.process.stderr.read())
    time_left = TimeLeft()
    try:
        while line := await run.process.stdout.readline():
            event = json.loads(line)
            if event["event"] == "progress":
                event["left"] = time_left.after(event["phase"], event.get("share"), monotonic())
                event["seconds"] = monotonic() - run.started
            run.ended = run.ended or event["event"] in ("done", "error")
            await send(event)
    except ValueError:  # a line that is not an event: what wrote it is broken
        end(run)
    code = await run.process.wait()
    last = (await errors).decode("utf-8", "replace").strip().splitlines()[-1:]
    if run.ended:
        return
    if run.cancelled:
        await send({"event": "cancelled"})
    else:
        reason = f", killed by signal {-code}" if code < 0 else f" ({last[0]})" if last else ""
        await send({"event": "error", "message": CRASHED.format(reason=reason)})


def end(run: Run) -> None:
    """End a run at once, with everything that it started."""
    run.cancelled = True
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "nt":
            run.process.kill()
        else:
            os.killpg(run.process.pid, signal.SIGKILL)
