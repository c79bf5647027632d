"""Checks, explanations and pages of small random problems: they end, agree with a linear program, and can be shown."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import polars as pl

import credo
from credo.constraints.lower import lower
from credo.knowledge import Knowledge
from credo.model.network import Network
from fuzz.fits import learn, make, network_of, truth_of
from fuzz.kind import Input, Kind
from fuzz.oracles import missed_by, polytope_of

EXPLAINED = 0.1  # of the inputs: explaining takes longer than learning


def make_check(choose: Random) -> Input:
    """A problem of `fits`; some are learned and explained, too."""
    recipe = make(choose)
    assert isinstance(recipe, dict)
    return {**recipe, "explain": choose.random() < EXPLAINED, "with data": choose.random() < 0.5}


def check(given: Input, folder: Path) -> str:
    """What the check says of conflicts is right, and everything can be printed, written as JSON and shown as a page."""
    assert isinstance(given, dict)
    network = network_of(given)
    knowledge = Knowledge(network, "\n".join(given["knowledge"]))
    frame = pl.DataFrame(given["columns"], schema=dict.fromkeys(given["columns"], pl.String))
    found = credo.check(network, knowledge, data=frame if given["with data"] else None, progress=False)
    check_against_linear_program(found, knowledge, truth_of(given))
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found), "a check cannot be printed"
    page = folder / "page.html"
    found.report(page)
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>"), "a page that is cut off"
    if not given["explain"] or not found.feasible:
        return "feasible" if found.feasible else "conflict"
    fit = learn(given, network, knowledge)
    assert str(fit.explain(progress=False)), "an explanation cannot be printed"
    fit.report(page, progress=False)
    assert page.read_text(encoding="utf-8").rstrip().endswith("</html>"), "a page that is cut off"
    return "explained"


def check_against_linear_program(found: credo.Check, knowledge: Knowledge, truth: Network) -> None:
    """Feasible means that a point exists; a conflict has no point with its statements, and one without any of them."""
    constraints = lower(knowledge)
    if not constraints.forms:
        missed = missed_by(constraints, truth)
        for conflict in found.conflicts:
            numbers = {statement.number for statement in conflict.statements}
            assert numbers & missed, "statements that hold somewhere are called a conflict"
    if constraints.products:
        return
    least = polytope_of(constraints).least_violation()
    general = {
        constraint.statement for constraint in constraints.network_constraints
    }  # which the program knows nothing of
    if found.feasible:
        assert least <= 1e-6, f"statements that cannot all hold are called feasible; by {least:g}"
        return
    assert least > 1e-10 or general, "statements that can all hold are called a conflict"
    for conflict in found.conflicts:
        numbers = {statement.number for statement in conflict.statements}
        if numbers & general:
            continue
        assert polytope_of(constraints, numbers).least_violation() > 1e-10, "a conflict that is none"
        for number in numbers:
            rest = polytope_of(constraints, numbers - {number}).least_violation()
            assert rest <= 1e-6, f"a conflict that could be smaller; by {rest:g}"


CHECKS = Kind("checks", make_check, check, ".json", seconds=60.0)
