"""A fit and its updates, saved and loaded in between or not: the same as learning from all rows at once, to the bit."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

import credo
from credo.errors import CredoError
from credo.knowledge import Knowledge
from fuzz.fits import make as make_problem
from fuzz.fits import network_of
from fuzz.kind import Input, Kind


def make(choose: Random) -> Input:
    """A problem of `fits`, and where its rows are parted."""
    recipe = make_problem(choose)
    assert isinstance(recipe, dict)
    rows = len(recipe["columns"]["group"])
    cuts = sorted(choose.randint(0, rows) for _ in range(choose.randint(1, 3)))
    if choose.random() < 0.95:  # else there may be parts without rows, which are refused
        cuts = sorted({min(max(cut, 1), rows - 1) for cut in cuts} - {0})
    return {**recipe, "weights": None, "cuts": cuts, "is saved": choose.random() < 0.5}


def check(given: Input, folder: Path) -> str:
    """Updates end where one fit ends: in the same network, or in an error of the same type."""
    assert isinstance(given, dict)
    network = network_of(given)
    knowledge = Knowledge(network, "\n".join(given["knowledge"]))
    options = dict(given["options"])
    for name, kind in (
        ("em", credo.EMOptions), ("posterior", credo.PosteriorOptions), ("optimiser", credo.OptimiserOptions),
    ):  # fmt: skip
        if name in options:
            options[name] = kind(**options[name])
    frame = pl.DataFrame(given["columns"], schema=dict.fromkeys(given["columns"], pl.String))
    refused: CredoError | None = None
    together = None
    try:
        together = credo.fit(network, frame, knowledge, method=given["method"], progress=False, **options)
    except CredoError as error:
        refused = error
    places = [0, *given["cuts"], len(frame)]
    parts = [frame[first:last] for first, last in pairwise(places)]
    try:
        fit = credo.fit(network, parts[0], knowledge, method=given["method"], progress=False, **options)
        for part in parts[1:]:
            if given["is saved"]:
                fit = credo.load(fit.save(folder / "model.fit"))
            fit = fit.update(part)
    except CredoError as error:
        if refused is None and together is not None:
            return f"{type(error).__name__} of a part"
        return type(error).__name__
    assert together is not None, f"updates learn what one fit refuses; {refused}"
    assert fit.rows == together.rows, "another number of rows"
    for name, cpt in together.network.cpts.items():
        assert np.array_equal(cpt, fit.network.cpts[name]), f"an update learned another CPT; {fit.method}"
    assert fit.status == together.status, f"another status; {fit.status} for {together.status}"
    assert fit.log_likelihood == together.log_likelihood, "another likelihood"
    return together.status.name.lower()


UPDATES = Kind("updates", make, check, ".json", seconds=60.0)
