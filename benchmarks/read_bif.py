"""Time to read BIF files with credo, pyAgrum and pgmpy: `python -m benchmarks.read_bif`.

The published networks are read from `../shared/networks`; if that folder is not there, made-up networks are written to
a temporary folder. All programs read the same plain text files (pgmpy does not read `.gz`, so all are unpacked
first), in turns, and the best processor time is reported. `apart` is how far probabilities are from the
numbers of the text, and how far after the program has written the network and read it again: numbers are taken from the
text by a pattern.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import logging
import os
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recording import record
from credo.io.bif import read_bif, write_bif
from credo.io.pgmpy import from_pgmpy
from credo.io.pyagrum import from_pyagrum, load_pyagrum
from credo.model.network import Network
from credo.testing import made_up_network

PUBLISHED = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
REPEATS = 3
EXACTNESS_UP_TO = 25_000  # parameters: others take minutes for more
BLOCK = re.compile(r"probability\s*\([^)]*\)\s*\{(.*?)\n\}", re.DOTALL)
NUMBERS = re.compile(r"(?:table|\)[^\S\n]*)\s*([-0-9.eE+, \t]+);")
# (variables, states, parents) of the made-up networks; the last has about 400,000 parameters.
MADE_UP = ((10, 2, 2), (100, 3, 2), (500, 3, 3), (400, 10, 2))

Reader = Callable[[Path], Any]


def main() -> None:
    """Time all readers on all files and print one line for each file."""
    readers = all_readers()
    print(f"Reading BIF: best of {REPEATS}, seconds of processor time; in brackets, as a multiple of credo's time.\n")
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
    apart = differences(path, readers) if parameters <= EXACTNESS_UP_TO else {}
    record("read_bif", path.stem, {"parameters": parameters, **best, "apart": apart})
    ours = best.pop("credo")
    assert isinstance(ours, float)
    cells = [f"{path.stem:<20}{parameters:>11,}{ours:>10.4f}"]
    for outcome in best.values():
        cell = f"{outcome:.4f} ({outcome / ours:.1f}x)" if isinstance(outcome, float) else "cannot read"
        cells.append(f"{cell:>20}")
    reasons = [f"\n{'':<6}{name} {outcome}" for name, outcome in best.items() if isinstance(outcome, str)]
    reasons += [f"\n{'':<6}{name}: {words}" for name, (words) in spoken(apart).items()]
    return "".join(cells + reasons)


def differences(path: Path, readers: dict[str, Reader]) -> dict[str, dict[str, float | None]]:
    """For each program that reads the file, the largest difference from its numbers; None if it cannot tell."""
    text = path.read_text(encoding="utf-8")
    rows = [row for block in BLOCK.findall(text) for row in NUMBERS.findall(block)]
    stated = np.sort([float(number) for row in rows for number in row.split(",")])
    found = {}
    again = path.with_suffix(".again.bif")
    for name, read in readers.items():
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            kept: dict[str, float | None] = {"read": None, "written": None}
            try:
                model = read(path)
                kept["read"] = _apart(model, stated)
                WRITERS[name](model, again)
                kept["written"] = _apart(read(again), stated)
            except Exception:  # a program that cannot read or write it has no difference
                pass
            found[name] = kept
            again.unlink(missing_ok=True)
    return found


def spoken(apart: dict[str, dict[str, float | None]]) -> dict[str, str]:
    """The differences that are not zero, in words."""
    found = {}
    for name, kept in apart.items():
        wrong = [
            f"{what} {'not' if each is None else f'off by {each:.1g}'}" for what, each in kept.items() if each != 0
        ]
        if wrong:
            found[name] = ", ".join(wrong)
    return found


def _apart(model: Any, stated: Any) -> float | None:
    """The largest difference between the sorted probabilities of a model and of the text."""
    network = model if isinstance(model, Network) else CONVERTERS[type(model).__module__.split(".")[0]](model)
    values = np.sort(np.concatenate([network.cpt_array(name).ravel() for name in network.names]))
    return float(np.abs(values - stated).max()) if len(values) == len(stated) else None


def _write_pgmpy(model: Any, path: Path) -> None:
    from pgmpy.readwrite import BIFWriter

    BIFWriter(model).write(str(path))


WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    "credo": write_bif,
    "pyAgrum": lambda model, path: model.saveBIF(str(path)),
    "pgmpy": _write_pgmpy,
}
CONVERTERS: dict[str, Callable[[Any], Network]] = {"pyagrum": from_pyagrum, "pgmpy": from_pgmpy}


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
    """The processor time that a reader takes, or its error message."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        start = time.process_time()
        try:
            read(path)
        except Exception as error:  # any error counts as an answer
            message = " ".join(str(error).split()).replace(f"{path.parent}{os.sep}", "")
            return f"cannot read: {message[:300]}"
        return time.process_time() - start


if __name__ == "__main__":
    main()
