"""CSV and Parquet files: written random tables with changes of cells, tokens and bytes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from credo.errors import CredoError
from credo.io.dataset import Dataset
from credo.io.tables import read_table
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from fuzz.csv_reference import plain_reader
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated

CELLS = (
    "no", "yes", "low", "high", "medium", "0", "1", "1.0", "0.5", "+1", "-1", "01", "1e0", "true", "True", "", "?",
    "*", "NA", "nan", "null", "None", "it's", 'say "hi"', "a,b", "a;b", "two\nlines", " no", "no ", "no\r", "x",
    "é", "\x00", "40", "39.99999999999999999999", "0.49999999999999999", "0.5000000000000000000001", "1e-400", "1e400",
    "40,5", "inf", "-.5e1", "4e+1", "young", "００",
)  # fmt: skip
AGES = (
    "young",
    "old",
    "3",
    "40",
    "40.0",
    "39.999999999999999999",
    "5e-1",
    "0.49999999999999999",
    "72.12345678901234567",
)
WORDS = (
    b",",
    b";",
    b"\t",
    b'"',
    b'""',
    b"\n",
    b"\r\n",
    b"\r",
    b",,",
    b'",',
    b"smoke",
    b"dose",
    b"NA",
    b"?",
    b" ",
    b"'",
    b"\xef\xbb\xbf",
)


@cache
def network() -> Network:
    """The network that tables are read for."""
    states = {
        "smoke": ("no", "yes"),
        "dose": ("0.5", "1", "2"),
        "say, it": ("it's", 'say "hi"', "a,b", "two\nlines", "é"),
        "flag": ("True", "False"),
        "odd": ("NA", " no", "+1", "01"),
    }
    variables = [Variable(name, own) for name, own in states.items()]
    age = Variable("age", ("young", "middle", "old"), CutPoints((0.5, 40), 0, 90))
    return Network([*variables, age], {"dose": ["smoke"], "flag": ["dose"]})


def quoted(cell: str, separator: str, always: bool) -> str:
    """A cell as CSV."""
    if always or any(mark in cell for mark in (separator, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def make(choose: Random) -> Input:
    """A table of the network's states, in which some cells are something else."""
    names = [*network().names, "weight", "group"]
    header = choose.sample(names, choose.randint(1, len(names)))
    separator = choose.choice((",", ",", ";", "\t"))
    wrong, ends = choose.choice((0.0, 0.0, 0.02, 0.3)), choose.choice(("\n", "\n", "\r\n"))
    always = choose.random() < 0.2
    rows = [header]
    for _ in range(choose.choice((0, 1, 3, 10, 40))):
        rows.append([choose.choice(CELLS) if choose.random() < wrong else _cell(choose, name) for name in header])
    text = ends.join(separator.join(quoted(cell, separator, always) for cell in row) for row in rows)
    return mutated(choose, (text + choose.choice(("", ends))).encode(), WORDS, most=3)


def _cell(choose: Random, name: str) -> str:
    if name == "age" and choose.random() < 0.8:
        return choose.choice((*AGES, repr(choose.gauss(40, 30))))
    if name in network():
        return choose.choice(network().states(name)) if choose.random() < 0.9 else ""
    return str(choose.randrange(5))


def check_csv(given: Input, folder: Path) -> str:
    """The reference and the compiled reader give the same table, or the same error."""
    assert isinstance(given, bytes)
    path = folder / "any.csv"
    path.write_bytes(given)
    compiled = _read(path)
    with plain_reader():
        plain = _read(path)
    if isinstance(plain, CredoError):
        assert isinstance(compiled, CredoError), "the compiled reader takes what the plain one refuses"
        assert str(compiled) == str(plain), f"the readers have different messages; {plain} and {compiled}"
        return type(plain).__name__
    assert not isinstance(compiled, CredoError), f"the compiled reader refuses what the plain one takes; {compiled}"
    check_dataset(plain, network())
    assert np.array_equal(plain.codes, compiled.codes), "the readers give different tables"
    assert plain.numbers == compiled.numbers, "the readers see different ranges of numbers"
    return "valid"


def _read(path: Path) -> Dataset | CredoError:
    try:
        return read_table(network(), path)
    except CredoError as error:
        return error


def check_dataset(data: Dataset, network: Network) -> None:
    """There are rows, and each code is a state of its variable, or missing."""
    assert len(data) > 0, "a table without rows"
    assert data.names == network.names, "a table with other variables"
    sizes = np.array([len(network.states(name)) for name in network.names])
    assert (data.codes >= -1).all(), "a code below -1"
    assert (data.codes < sizes).all(), "a code that is not a state"
    for name in data.hidden:
        assert (data.codes[:, network.names.index(name)] == -1).all(), "a hidden variable with values"
    if data.weights is not None:
        assert np.isfinite(data.weights).all(), "a weight that is not finite"
        assert (data.weights >= 0).all(), "a negative weight"


CSV = Kind("csv", make, check_csv, ".csv")
