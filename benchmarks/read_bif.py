"""Time to read BIF files with credo, pyAgrum and pgmpy: `python -m benchmarks.read_bif`.

The published networks are read from `../shared/networks`; if that folder is not there, made-up networks are written to
a temporary folder. All programs read the same plain text files (pgmpy does not read `.gz`, so all are unpacked
first), in turns, and the best time is reported.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.recording import record
from credo.io.bif import read_bif, write_bif
from credo.io.pyagrum import load_pyagrum
from credo.testing import made_up_network

PUBLISHED = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
REPEATS = 3
# (variables, states, parents) of the made-up networks; the last has about 400,000 parameters.
MADE_UP = ((10, 2, 2), (100, 3, 2), (500, 3, 3), (400, 10, 2))

Reader = Callable[[Path], Any]


def main() -> None:
    """Time all readers on all files and print one line for each file."""
    readers = all_readers()
    print(f"Reading BIF: best of {REPEATS}, seconds; in brackets, as a multiple of credo's time.\n")
    print(
        f"{'file':<20}{'parameters':>11}{'credo':>10}" + "".join(f"{name:>20}" for name in readers if name != "credo")
    )
    with tempfile.TemporaryDirectory() as folder:
        for path in plain_files(Path(folder)):
            print(line(path, readers), flush=True)


def all_readers() -> dict[str, Reader]:
    """The function of each package that reads its model from a file."""
    pyagrum = load_pyagrum("This benchmark")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.readwrite import BIFReader
    logging.disable(logging.WARNING)
    return {
        "credo": read_bif,
        "pyAgrum": lambda path: pyagrum.loadBN(str(path)),
        "pgmpy": lambda path: BIFReader(str(path)).get_model(),
    }


def plain_files(folder: Path) -> Iterator[Path]:
    """The files to read, as plain text, smallest first."""
    if PUBLISHED.is_dir():
        for path in PUBLISHED.glob("*.bif*"):
            content = path.read_bytes()
            text = gzip.decompress(content) if path.suffix == ".gz" else content
            (folder / path.name.removesuffix(".gz")).write_bytes(text)
    else:
        for variables, states, parents in MADE_UP:
            network = made_up_network(variables, (states, states), [0] * parents + [1])
            write_bif(network, folder / f"{variables}x{states}_{parents}_parents.bif")
    yield from sorted(folder.glob("*.bif"), key=lambda path: path.stat().st_size)


def line(path: Path, readers: dict[str, Reader]) -> str:
    """The time of each reader for one file, as a line."""
    parameters = sum(cpt.size for cpt in read_bif(path).cpts.values())
    best = best_times(path, readers)
    record("read_bif", path.stem, {"parameters": parameters, **best})
    ours = best.pop("credo")
    assert isinstance(ours, float)
    cells = [f"{path.stem:<20}{parameters:>11,}{ours:>10.4f}"]
    for outcome in best.values():
        cell = f"{outcome:.4f} ({outcome / ours:.1f}x)" if isinstance(outcome, float) else "cannot read"
        cells.append(f"{cell:>20}")
    reasons = [f"\n{'':<6}{name} {outcome}" for name, outcome in best.items() if isinstance(outcome, str)]
    return "".join(cells + reasons)


def best_times(path: Path, readers: dict[str, Reader]) -> dict[str, float | str]:
    """The best time of each reader, or why it failed; readers take turns so that other load affects all of them."""
    best: dict[str, float | str] = {}
    for _ in range(REPEATS):
        for name, read in readers.items():
            before = best.get(name, float("inf"))
            if isinstance(before, float):
                outcome = seconds(read, path)
                best[name] = min(before, outcome) if isinstance(outcome, float) else outcome
    return best


def seconds(read: Reader, path: Path) -> float | str:
    """The seconds that a reader takes, or its error message."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        try:
            read(path)
        except Exception as error:  # any error counts as an answer
            return f"cannot read: {' '.join(str(error).split())[:300]}"
        return time.perf_counter() - start


if __name__ == "__main__":
    main()
