"""Checks of large knowledge in a process of its own, so that diagnostics need not wait for them.

Jobs come as lines of JSON on the input, answers go as lines of JSON to the output, one for each job. The process stays:
starting one takes longer than most checks.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from credo.errors import CredoError
from credo.knowledge import Knowledge

BROKEN = "The check ended before it was done. The next change starts it anew."


def check_text(text: str, network: str | None, table: str | None) -> dict[str, Any]:
    """What the check finds about a text; lines with mistakes are left out."""
    from credo.io.network_files import read_network
    from credo.studio.reading import read

    given = None if network is None else read_network(network)
    reading = read(text, given, None if table is None else Path(table))
    return {} if reading.knowledge is None else check_knowledge(reading.knowledge, table)


def check_knowledge(knowledge: Knowledge, table: str | Path | None) -> dict[str, Any]:
    """What the check finds about knowledge, as JSON can hold it."""
    from credo.checking import check
    from credo.studio.check_data import check_data

    try:
        return check_data(check(knowledge.network, knowledge, data=table, verbose=False))
    except CredoError as error:
        return {"message": str(error)}


class CheckProcess:
    """A process that checks one text after the other; it starts with the first, and anew after it broke."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def check(self, text: str, network: Path | None, table: Path | None) -> dict[str, Any]:
        """What the check finds about a text."""
        job = {
            "text": text,
            "network": None if network is None else str(network),
            "table": None if table is None else str(table),
        }
        async with self._turn:
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-m",
                    "credo.studio.check_process",
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    limit=2**26,
                    start_new_session=os.name != "nt",
                )
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            try:
                self._process.stdin.write(json.dumps(job).encode() + b"\n")
                await self._process.stdin.drain()
                answer = json.loads(await self._process.stdout.readline())
            except (OSError, ValueError):  # it is gone, or wrote half a line
                await self.end()
                return {"message": BROKEN}
        return answer  # type: ignore[no-any-return]

    async def end(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.communicate()  # so that its pipes are closed


def main() -> int:
    """Check one text after the other until the input ends."""
    output, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        job = json.loads(line)
        try:
            output.write(json.dumps(check_text(**job), allow_nan=False) + "\n")
            output.flush()
        except BrokenPipeError:  # nobody waits for it any more
            os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
