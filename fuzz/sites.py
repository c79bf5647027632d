"""Sites of all sizes: each learns distributions, whatever the order of rows; large sites learn what their rows say."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import polars as pl

import credo
from fuzz.kind import Input, Kind
from fuzz.names import network_from
from fuzz.oracles import check_distributions

LARGE = 3000  # rows of a site from which on its frequencies are what it learns
NEAR = 0.06


def make(choose: Random) -> Input:
    """Sites with rows from networks that are alike, or not."""
    truth = network_from(choose, (1, 3), odd=0.1, most_parents=2, complete=1.0)
    names = [f"site {k}" for k in range(choose.choice((1, 2, 2, 3, 3, 4, 5)))]
    numbers = np.random.default_rng(choose.getrandbits(32))
    columns: dict[str, list[str | None]] = {name: [] for name in (*truth.names, "site of the row")}
    is_alike = choose.random() < 0.5
    missing = choose.choice((0.0, 0.0, 0.1))
    for name in names:
        cpts = truth.cpts if is_alike else {
            each: numbers.dirichlet(np.ones(len(truth.states(each))), truth.shape(each)[:-1]) for each in truth.names
        }  # fmt: skip
        rows = choose.choice((1, 3, 20, 100))
        frame = truth.with_cpts(cpts).sample(rows, choose.getrandbits(32))
        for each in truth.names:
            columns[each] += [None if choose.random() < missing else cell for cell in frame[each].to_list()]
        columns["site of the row"] += [name] * rows
    if choose.random() < 0.05:
        columns["site of the row"][0] = None
    return {
        "states": {name: list(truth.states(name)) for name in truth.names},
        "parents": {name: list(truth.parents[name]) for name in truth.names},
        "columns": columns,
        "variables": choose.choice(
            (None, None, None, [choose.choice(truth.names)] if choose.random() < 0.9 else ["nobody"])
        ),
        "many": choose.random() < 0.1,
        "order": choose.getrandbits(32),
    }


def check(given: Input, folder: Path) -> str:
    """Every site has distributions and its own rows; another order of rows changes nothing."""
    assert isinstance(given, dict)
    network = credo.Network(given["states"], given["parents"])
    frame = pl.DataFrame(given["columns"], schema=dict.fromkeys(given["columns"], pl.String))
    if given["many"]:  # the first row again and again, as one more site
        more = frame[:1].with_columns(pl.lit("a large one").alias("site of the row"))
        frame = pl.concat([frame, *[more] * LARGE])
    options = {"variables": given["variables"], "method": "cmap", "progress": False}
    sites = credo.fit_sites(network, frame, "site of the row", **options)
    counts = dict(frame.group_by("site of the row").len().iter_rows())
    assert {name: fit.rows for name, fit in sites.fits.items()} == counts, "rows that are at another site"
    for fit in (*sites.fits.values(), sites.new):
        check_distributions(fit)
    shares = sites.alike["share"].to_numpy()
    assert ((shares >= 0.0) & (shares <= 1.0)).all(), "a share of rows beyond 0 and 1"
    assert str(sites), "sites cannot be printed"
    if given["many"] and given["variables"] is None:
        row = frame[-1].to_dicts()[0]
        for name in network.names:
            states = [row[each] for each in (*network.parents[name], name)]
            if None not in states:
                at = tuple(network.states(each).index(row[each]) for each in (*network.parents[name], name))
                value = sites.fits["a large one"].network.cpts[name][at]
                assert value > 1.0 - NEAR, f"a large site does not learn what its rows say; {value}"
    shuffled = frame[Random(given["order"]).sample(range(len(frame)), len(frame))]
    again = credo.fit_sites(network, shuffled, "site of the row", **options)
    for name, fit in sites.fits.items():
        for variable, cpt in fit.network.cpts.items():
            assert np.allclose(cpt, again.fits[name].network.cpts[variable], atol=1e-6), "the order of rows counts"
    return f"{min(len(sites.fits), 3)} sites"


SITES = Kind("sites", make, check, ".json", seconds=60.0)
