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
from credo.model.network import Network
from credo.studio.table import OpenTable

UNCHANGED: dict[str, Any] = {"unchanged": True}
BROKEN = "The check ended before it was done. The next change starts it again."


class Checker:
    """Checks one text after the other, each without what the checks before found out; a class because it remembers."""

    def __init__(self) -> None:
        from credo.checking.check_cache import CheckCache

        self._cache = CheckCache()
        self._last: tuple[object, ...] = ()
        self._network: tuple[object, Network | None] = (None, None)

    def check_text(self, text: str, network: str | None, table: dict[str, Any] | None) -> dict[str, Any]:
        """What the check finds about a text; lines with mistakes are left out. `unchanged` where it is as before."""
        from credo.studio.reading import read
        from credo.studio.table import table_of_job

        found = table_of_job(table)
        reading = read(text, self._given(network), found)
        return {} if reading.knowledge is None else self.check(reading.knowledge, found)

    def check(self, knowledge: Knowledge, table: OpenTable | None) -> dict[str, Any]:
        """What the check finds about knowledge, as JSON can hold it; `unchanged` where it is as before."""
        from credo.checking.check import check_again
        from credo.studio.result_data import check_data

        mark = None if table is None else table.mark
        lines = tuple(None if each.span is None else each.span.line for each in knowledge)
        asked = (knowledge.network.variables, knowledge.network.parents, knowledge.statements, lines, mark)
        if asked == self._last:
            return UNCHANGED
        try:
            found = check_data(check_again(knowledge, None if table is None else table.data, self._cache, mark))
        except CredoError as error:
            found = {"message": str(error)}
        self._last = asked
        return found

    def _given(self, path: str | None) -> Network | None:
        if path is None:
            return None
        from credo.io.network_files import read_network

        mark = (path, os.stat(path).st_mtime_ns)
        if self._network[0] != mark:
            self._network = (mark, read_network(path))
        return self._network[1]


class CheckProcess:
    """A process that checks one text after the other; it starts with the first, and again after a crash."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def check(self, text: str, network: Path | None, table: OpenTable | None) -> dict[str, Any]:
        """What the check finds about a text."""
        job = {
            "text": text,
            "network": None if network is None else str(network),
            "table": None if table is None else table.job(),
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
    checker = Checker()
    for line in sys.stdin:
        try:
            output.write(json.dumps(checker.check_text(**json.loads(line)), allow_nan=False) + "\n")
            output.flush()
        except BrokenPipeError:  # nobody waits for it any more
            os._exit(0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
