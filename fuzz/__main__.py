"""The command line: `python -m fuzz bif csv --inputs 10000 --seed 1 --resume`, `python -m fuzz bif --replay FILE`."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from fuzz.failures import run_input
from fuzz.kind import KINDS, from_bytes, kind_named, make_input, to_bytes
from fuzz.running import run_kind, summary
from fuzz.state import FOLDER, code_version
from fuzz.workers import strict_warnings

INTERRUPTED = 130


def main() -> int:
    """Run the kinds that were named, or all; the exit code is 1 if an input failed."""
    given = _arguments()
    if given.replay is not None or given.only is not None:
        return _replay(given)
    for number in (signal.SIGTERM, signal.SIGINT):  # a shell may start us with SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    records, ended = [], 0
    print(f"credo {code_version()}; failures are kept in {given.folder / 'found'}", file=sys.stderr)
    for name in given.kinds or KINDS:
        record = run_kind(
            name, inputs=given.inputs, seed=given.seed, seconds=given.seconds, resume=given.resume,
            workers=given.workers, found=given.folder / "found", kept=given.folder / "state",
        )  # fmt: skip
        records.append(record)
        if record.interrupted:
            print(f"{name}: interrupted; --resume goes on from here.", file=sys.stderr)
            ended = INTERRUPTED
            break
    print(summary(records))
    return ended or int(any(record.failed for record in records))


def _replay(given: argparse.Namespace) -> int:
    """Check one input in this process, so that a debugger can look into it."""
    (name,) = given.kinds
    kind = kind_named(name)
    if given.replay is not None:
        found = from_bytes(kind, given.replay.read_bytes())
    else:
        found = make_input(kind, given.seed, given.only)
    sys.stdout.buffer.write(to_bytes(found)[:10_000] + b"\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder, strict_warnings():
        print(run_input(kind, found, Path(folder)))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Random inputs for credo, with oracles.")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"some of {', '.join(KINDS)}; all if none is named")
    parser.add_argument("--inputs", type=int, default=1000, help="how many inputs of each kind (default: 1000)")
    parser.add_argument("--seconds", type=float, help="how long each kind may take")
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other inputs")
    parser.add_argument("--resume", action="store_true", help="go on where the last run of this version ended")
    parser.add_argument("--workers", type=int, default=2, help="how many processes (default: 2)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where failures and state are kept (default: fuzz)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="check the input with this number, in this process")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check an input that was kept, in this process")
    given = parser.parse_args()
    if unknown := [name for name in given.kinds if name not in KINDS]:
        parser.error(f"there is no kind {unknown[0]}; known: {', '.join(KINDS)}")
    if (given.only is not None or given.replay is not None) and len(given.kinds) != 1:
        parser.error("--only and --replay need exactly one KIND")
    return given


if __name__ == "__main__":
    sys.exit(main())
