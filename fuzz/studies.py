"""What was counted and what experts' numbers are worth: the likeliest CPTs have a closed form."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

import credo
from fuzz.kind import Input, Kind
from fuzz.mutation import mutated
from fuzz.names import network_from
from fuzz.statements import quoted

DRAWN = 0.05  # of the inputs: their posterior is drawn, too
FEW = credo.PosteriorOptions(chains=2, draws=5, warmup=5, max_draws=5)


def make(choose: Random) -> Input:
    """A network, rows, and one sentence about some of its distributions each; some sentences have mistakes."""
    truth = network_from(choose, (1, 3), odd=0.1, most_parents=2, complete=1.0)
    rows = truth.sample(choose.choice((0, 1, 5, 40)), choose.getrandbits(32))
    said = []
    for name in truth.names:
        if len(truth.states(name)) < 2:
            continue
        for configuration in product(*(range(len(truth.states(each))) for each in truth.parents[name])):
            if choose.random() < 0.4:
                total = choose.choice((1, 2, 10, 50, 1000))
                counts = [0] * len(truth.states(name))
                for _ in range(min(total, 50)):
                    counts[choose.randrange(len(counts))] += total // min(total, 50)
                said.append([name, list(configuration), counts, choose.randrange(5)])
    return {
        "states": {name: list(truth.states(name)) for name in truth.names},
        "parents": {name: list(truth.parents[name]) for name in truth.names},
        "columns": {name: rows[name].to_list() for name in truth.names},
        "said": said,
        "spoiled": choose.getrandbits(32) if choose.random() < 0.2 else None,
        "is drawn": choose.random() < DRAWN,
    }


def sentence(network: credo.Network, said: list) -> str:
    """One of the ways to say how often states were counted, given the states of the parents."""
    name, configuration, counts, form = said
    parents, total = network.parents[name], sum(counts)
    given = ", ".join(
        f"{quoted(each)}={quoted(network.states(each)[k])}" for each, k in zip(parents, configuration, strict=True)
    )
    if len(counts) > 2 or form == 4:
        shares = ", ".join(f"{100 * count / total:.14g}%" for count in counts)
        return f"P({quoted(name)}{f' | {given}' if given else ''}) is {shares}, worth {total} cases"
    event = f"{quoted(name)}={quoted(network.states(name)[0])}"
    about = f"P({event} | {given})" if given else f"P({event})"
    with_given = f" with {given}" if given else ""
    return (
        f"{counts[0]} of {total}{with_given} had {event}",
        f'in "trial 2019", {counts[0]} of {total}{with_given} had {event}',
        f"{about} is {counts[0]} of {total}",
        f"{about} is {100 * counts[0] / total:.14g}%, worth {total} cases",
    )[form]


def check(given: Input, folder: Path) -> str:
    """The likeliest CPTs are frequencies of rows and cases together; a spoiled sentence is refused or learned."""
    assert isinstance(given, dict)
    network = credo.Network(given["states"], given["parents"])
    lines = [sentence(network, each) for each in given["said"]]
    frame = pl.DataFrame(given["columns"], schema=dict.fromkeys(given["columns"], pl.String))
    if given["spoiled"] is not None:
        text = mutated(Random(given["spoiled"]), "\n".join(lines).encode()).decode(errors="replace")
        found = credo.fit(network, frame, text, method="cmap", progress=False)
        assert all(np.isfinite(cpt).all() for cpt in found.network.cpts.values()), "a number that is none"
        return "spoiled and learned"
    fit = credo.fit(network, frame, lines, method="cml", progress=False)
    for name, configuration, counts, _ in given["said"]:
        rows = frame.filter(
            pl.all_horizontal(
                pl.lit(True),
                *(
                    pl.col(each) == network.states(each)[k]
                    for each, k in zip(network.parents[name], configuration, strict=True)
                ),
            )
        )
        seen = np.array([int((rows[name] == state).sum()) for state in network.states(name)])
        exact = (seen + counts) / (len(rows) + sum(counts))
        found = fit.network.cpts[name][tuple(configuration)]
        assert np.abs(found - exact).max() < 1e-6, f"another frequency; {found} for {exact}"
    if given["is drawn"]:
        drawn = credo.fit(network, frame, lines, method="posterior", posterior=FEW, progress=False)
        assert drawn.posterior is not None, "no draws"
        assert np.isfinite(drawn.posterior.draws).all(), "a draw that is none"
        assert (drawn.posterior.draws >= 0).all(), "a draw below zero"
        return "drawn"
    return "exact"


STUDIES = Kind("studies", make, check, ".json", seconds=30.0)
