"""Saved fits: written ones with changes of bytes, of their JSON and of their arrays; the archive around them is valid.

A change of one byte is nearly always found by the checksums of the archive. So most inputs are changed inside: a member
of the archive gets the changes, and the archive is made again around it.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from random import Random

import numpy as np

import credo
from credo.saving.archive import CONTENT
from credo.testing import random_network, true_statements
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.names import network_from, with_noisy_family
from fuzz.networks import check_network

STARTS = 36  # fits that inputs start from, made once a worker
METHODS = ("posterior", "cmap", "cem", "ml", "qmap", "cml")
POSTERIORS = 0.15  # of the inputs: their arrays are a hundred times as large
EXPLAINED = 16  # one of so many inputs: explaining takes longer than all else
WORDS = tuple(
    b'null true false NaN Infinity "kind" "array" "shapes" "Dirichlet" "NetworkPrior" "posterior" [] {} -1 0 1e400 '
    b"\"inf\" \"nan\" 'descr': '<f8' '|O' '<i8' (0,) (1000000000000,) fortran_order True \"\"".split(b" ")
)


@lru_cache(maxsize=STARTS)
def start(number: int) -> bytes:
    """The file of a fit of a small network, with statements, by one of the methods."""
    choose = Random(f"saved {number}")
    if number % 3:
        network = random_network({"a": 2, "b": 3, "c": 2}, {"b": ("a",), "c": ("b",)}, seed=number)
        statements = true_statements(network, 3, seed=number)
    else:
        network, statements = with_noisy_family(choose, network_from(choose, odd=0.0, complete=1.0, plain=True)), []
    fit = credo.fit(
        network, network.sample(20, seed=number), statements, method=METHODS[number % len(METHODS)], progress=False,
        posterior=credo.PosteriorOptions(chains=2, draws=4, warmup=2, max_draws=4), em=credo.EMOptions(starts=1),
    )  # fmt: skip
    handle, name = tempfile.mkstemp(suffix=".fit")
    os.close(handle)
    try:
        return fit.save(name).read_bytes()
    finally:
        Path(name).unlink(missing_ok=True)


@lru_cache(maxsize=STARTS)
def members_of(number: int) -> Mapping[str, bytes]:
    """The members of the archive that a fit is saved as."""
    with zipfile.ZipFile(io.BytesIO(start(number))) as file:
        return {name: file.read(name) for name in file.namelist()}


def make(choose: Random) -> Input:
    """One of the saved fits, with changes of the whole, of its JSON, or of one of its arrays."""
    size = len(METHODS)
    place = 0 if choose.random() < POSTERIORS else choose.randrange(1, size)
    number = place + size * choose.randrange(STARTS // size)
    if choose.random() < 0.2:
        return mutated(choose, start(number), WORDS)
    members = dict(members_of(number))
    name = CONTENT if choose.random() < 0.6 else choose.choice(sorted(members))
    members[name] = mutated(choose, members[name], WORDS)
    if name != CONTENT and choose.random() < 0.3:
        del members[name]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:  # not compressed: that takes longer than all else
        for each, text in members.items():
            file.writestr(zipfile.ZipInfo(each, (1980, 1, 1, 0, 0, 0)), text)
    return out.getvalue()


def check(given: Input, folder: Path) -> str:
    """A fit that can be asked and printed, and comes back as it is saved, or a CredoError."""
    assert isinstance(given, bytes)
    path = folder / "any.fit"
    path.write_bytes(given)
    fit = credo.load(path)
    check_network(fit.network)
    target, first = fit.network.names[-1], fit.network.names[0]
    answer = fit.query(credo.Query({target: ()}, {}))
    values = answer.frame["probability"].to_numpy()
    assert abs(values.sum() - 1.0) < 1e-5, "an answer does not sum to one"
    assert (values >= 0).all(), "an answer has a negative probability"
    if not answer.note:
        low, high = answer.frame["low"].to_numpy(), answer.frame["high"].to_numpy()
        assert (low <= high).all(), "an interval has its ends the wrong way round"
        assert np.isfinite([low, high]).all(), "an interval has no end"
    if first not in fit.network.forms and fit.posterior is not None and first in fit.posterior.deviations:
        assert len(fit.interval_arrays(first)) == 2
    assert str(fit), "a fit cannot be printed"
    json.dumps(fit.to_dict(), allow_nan=False)
    back = credo.load(fit.save(folder / "again.fit"))
    assert back.network == fit.network, "a fit that was read, saved and read again is another one"
    assert str(back) == str(fit), "a fit that was read, saved and read again is another one"
    if len(given) % EXPLAINED:
        return "valid"
    assert str(fit.explain(progress=False)), "an explanation cannot be printed"
    return "valid, explained"


SAVED = Kind("saved", make, check, ".fit", seconds=30.0)
