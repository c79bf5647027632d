"""Small networks, statements, tables and options at random, learned by every method, and held to the oracles."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl

import credo
from credo.constraints.conflicts import ConflictError
from credo.errors import CredoError
from credo.estimation.methods import METHODS
from credo.knowledge import Knowledge
from credo.model.network import Network
from fuzz.kind import Input, Kind
from fuzz.names import network_from
from fuzz.oracles import (
    check_conflict,
    check_distributions,
    check_history,
    check_no_conflict,
    check_optimum,
    check_statements_hold,
    holds_in,
)
from fuzz.statements import random_statement
from fuzz.stationarity import check_stationary

LARGER = 0.01  # of the inputs, for what only larger problems reach
EXPENSIVE = 0.1  # of the statements about products, of soft weights that are cross-validated, of methods that draw
CHEAP = ("ml", "map", "me", "cml", "cml", "cmap", "cmap", "cme", "cem")


def make(choose: Random) -> Input:
    """A network, true statements and some others, rows from the network, a method and options."""
    is_large = choose.random() < LARGER
    method = choose.choice(("auto", *METHODS) if choose.random() < EXPENSIVE else CHEAP)
    truth = network_from(choose, (6, 12) if is_large else (1, 4), odd=0.05, most_parents=2, complete=1.0)
    rows = choose.choice((400, 2000)) if is_large else choose.choice((1, 2, 5, 20, 40))
    knowledge = _statements(choose, truth, 20 if is_large else 5)
    weights = None
    if choose.random() < 0.2:
        weights = [choose.choice((0.0, 1.0, 2.0, 0.5, 1e-9, 1e6)) for _ in range(rows)]
    return {
        "states": {name: list(truth.states(name)) for name in truth.names},
        "parents": {name: list(truth.parents[name]) for name in truth.names},
        "cpts": {name: truth.cpt_array(name).tolist() for name in truth.names},
        "knowledge": knowledge,
        "columns": _columns(choose, truth, rows),
        "weights": weights,
        "start": choose.random() < 0.2,
        "method": method,
        "options": _options(choose, truth, method),
        "twice": choose.random() < 0.25,
        "choices": choose.getrandbits(32),
    }


def _statements(choose: Random, truth: Network, most: int) -> list[str]:
    """Lines without mistakes; most of them hold in the truth, so that most inputs can be learned."""
    lines: list[str] = []
    wrong = choose.choice((0.0, 0.0, 0.6))
    for _ in range(choose.randint(0, most)):
        line = random_statement(choose, truth)
        if " * P(" in line and choose.random() > EXPENSIVE:
            continue
        try:
            Knowledge(truth, "\n".join((*lines, line)))
            alone = Knowledge(truth, line)
            if " with confidence " in line or choose.random() < wrong or holds_in(alone, truth) or "noisy" in line:
                lines.append(line)
        except CredoError:
            continue
    return lines


def _columns(choose: Random, truth: Network, rows: int) -> dict[str, list[str | None]]:
    missing = choose.choice((0.0, 0.0, 0.2, 0.7))
    frame = truth.sample(rows, choose.getrandbits(32))
    columns: dict[str, list[str | None]] = {
        name: [None if choose.random() < missing else cell for cell in frame[name].to_list()] for name in truth.names
    }
    if len(columns) > 1 and choose.random() < 0.15:
        del columns[choose.choice(list(columns))]
    columns["group"] = [choose.choice((None, "1", "2", "3")) for _ in range(rows)]
    return columns


def _options(choose: Random, truth: Network, method: str) -> dict[str, Any]:
    """Options, most of which the method takes."""
    options: dict[str, Any] = {"seed": choose.randrange(3)}
    takes_prior = method == "auto" or METHODS[method].takes_prior
    if choose.random() < (0.3 if takes_prior else 0.02):
        options["prior"] = choose.choice((0.5, 1, "k2", "bdeu:3", 1e-6, 1e6))
    if choose.random() < 0.1:
        options["fixed"] = [choose.choice(truth.names)]
    if choose.random() > EXPENSIVE:
        options["optimiser"] = {"soft_weight": choose.choice((0.0, 1.0, 100.0))}
    options["em"] = {
        "tie_reading": choose.choice(("selected", "selected", "joint", "merged")),
        "starts": choose.choice((1, 2)),
        "max_iterations": choose.choice((1, 5, 60)),
        "accelerate": choose.random() < 0.7,
        "trainer": "gradient" if method in ("ml", "map", "cml", "cmap") and choose.random() < 0.05 else "em",
    }
    options["posterior"] = {"chains": 2, "draws": choose.choice((1, 5)), "warmup": 5, "max_draws": 5}
    if choose.random() < 0.2:
        options.setdefault("optimiser", {})["hidden_draws"] = choose.choice((0.1, 2.0))
    if choose.random() < 0.2:
        options.setdefault("optimiser", {}).update(range_weight=choose.choice((0.0, 1.0, 1e4)), relation_weight=1.0)
    return options


def check(given: Input, folder: Path) -> str:
    """What the method promises holds, or it ends in a CredoError that is right."""
    assert isinstance(given, dict)
    network = network_of(given)
    knowledge = Knowledge(network, "\n".join(given["knowledge"]))
    try:
        fit = learn(given, network, knowledge)
    except ConflictError:
        check_conflict(knowledge, truth_of(given), bool(given["options"].get("fixed")))
        return "ConflictError"
    choose = Random(given["choices"])
    check_distributions(fit)
    check_statements_hold(fit)
    if given["options"]["em"]["trainer"] == "em":  # the gradient trainer raises its penalty as it goes
        check_history(fit)
    check_optimum(fit, choose)
    check_stationary(fit, given["columns"], given["weights"])
    if fit.method not in ("ml", "map", "me", "cem"):
        check_no_conflict(knowledge)
    for name in given["options"].get("fixed", ()):
        assert np.array_equal(fit.network.cpt_array(name), network.cpt_array(name)), "a fixed CPT changed"
    json.dumps(fit.to_dict(), allow_nan=False)
    assert str(fit), "a result cannot be printed"
    if given["twice"]:
        again = learn(given, network, knowledge)
        for name, cpt in fit.network.cpts.items():
            assert np.array_equal(cpt, again.network.cpts[name]), f"another result with the same seed; {fit.method}"
    return fit.status.name.lower()


def truth_of(recipe: dict[str, Any]) -> Network:
    """The network that the rows are from, and that most statements are true of."""
    return Network(recipe["states"], recipe["parents"]).with_cpts(recipe["cpts"])


def network_of(recipe: dict[str, Any]) -> Network:
    """The network to learn: with CPTs to start from, or with those that stay fixed."""
    structure = Network(recipe["states"], recipe["parents"])
    if recipe["start"]:
        return structure.with_cpts(recipe["cpts"])
    return structure.with_cpts({name: recipe["cpts"][name] for name in recipe["options"].get("fixed", ())})


def learn(recipe: dict[str, Any], network: Network, knowledge: Knowledge) -> credo.Fit:
    """Learn what a recipe says."""
    options = dict(recipe["options"])
    for name, kind in (
        ("em", credo.EMOptions), ("posterior", credo.PosteriorOptions), ("optimiser", credo.OptimiserOptions),
    ):  # fmt: skip
        if name in options:
            options[name] = kind(**options[name])
    frame = pl.DataFrame(recipe["columns"], schema=dict.fromkeys(recipe["columns"], pl.String))
    return credo.fit(
        network, frame, knowledge, method=recipe["method"], weights=recipe["weights"], progress=False, **options
    )


FITS = Kind("fits", make, check, ".json", seconds=60.0)
