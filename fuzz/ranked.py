"""Ranked and interpolated families at random: without data they are the CPTs of their published formulas."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.special import ndtr

import credo
from fuzz.kind import Input, Kind

POINTS = 5  # of each parent's interval; fewer from six parents on, which are not made here
SCALES = (("low", "high"), ("low", "medium", "high"), ("s1", "s2", "s3", "s4"), ("a", "b", "c", "d", "e"))
NOISE = (" with spread", ", worth -3 cases", " worth", "%", " (")


def make(choose: Random) -> Input:
    """A family, its weights, and a spread or two ends."""
    parents = {f"p{k}": list(choose.choice(SCALES)) for k in range(choose.randint(1, 3))}
    child = list(choose.choice(SCALES))
    return {
        "parents": parents,
        "child": child,
        "kind": choose.choice(("mean", "max", "min", "interpolated")),
        "weights": [choose.choice((1, 2, 3, 5, 0.5, 10, 1.75, 100)) for _ in parents],
        "negated": [choose.random() < 0.2 for _ in parents],
        "spread": choose.choice((0.1, 0.02, 0.2, 0.0316, 0.5, 1, 3)),
        "ends": [_percentages(choose, len(child)) for _ in range(2)],
        "worth": choose.choice((None, 1, 20, 1000)),
        "noise": choose.choice(NOISE) if choose.random() < 0.1 else "",
    }


def _percentages(choose: Random, count: int) -> list[int]:
    cuts = sorted(choose.sample(range(1, 100), count - 1))
    return [high - low for low, high in zip((0, *cuts), (*cuts, 100), strict=True)]


def text_of(recipe: dict[str, Any]) -> str:
    """The variables, and the family as a sentence."""
    lines = [f"variable {name}: {', '.join(states)}" for name, states in recipe["parents"].items()]
    lines.append(f"variable x: {', '.join(recipe['child'])}")
    is_interpolated = recipe["kind"] == "interpolated"
    names = zip(recipe["parents"], recipe["weights"], recipe["negated"], strict=True)
    parents = ", ".join(f"{'not ' * (no and not is_interpolated)}{name} ({weight})" for name, weight, no in names)
    worst, best = (", ".join(f"{each}%" for each in end) for end in recipe["ends"])
    family = f"a weighted {recipe['kind']} of {parents} with spread {recipe['spread']}"
    if is_interpolated:
        family = f"interpolated by {parents} from worst {worst} to best {best}"
    worth = f", worth {recipe['worth']} cases" if recipe["worth"] else ""
    return "\n".join([*lines, f"x is {family}{worth}{recipe['noise']}"])


def ranked(recipe: dict[str, Any]) -> np.ndarray:
    """The CPT by the formula of ranked nodes, one configuration after the other."""
    sizes, states = [len(each) for each in recipe["parents"].values()], len(recipe["child"])
    weights, found = recipe["weights"], np.empty((*sizes, states))
    for configuration in product(*map(range, sizes)):
        means = []
        for steps in product(range(POINTS), repeat=len(sizes)):
            at = [(c + (k + 0.5) / POINTS) / size for c, k, size in zip(configuration, steps, sizes, strict=True)]
            at = [1.0 - x if no else x for x, no in zip(at, recipe["negated"], strict=True)]
            if recipe["kind"] == "mean":
                means.append(sum(w * x for w, x in zip(weights, at, strict=True)) / sum(weights))
            else:
                each = [(w * x + sum(at) - x) / (w + len(at) - 1) for w, x in zip(weights, at, strict=True)]
                means.append(max(each) if recipe["kind"] == "max" else min(each))
        cumulative = ndtr((np.linspace(0, 1, states + 1) - np.array(means)[:, None]) / recipe["spread"])
        masses = np.diff(cumulative, axis=1) / (cumulative[:, -1:] - cumulative[:, :1])
        found[configuration] = masses.mean(axis=0)
    return found


def check(given: Input, folder: Path) -> str:
    """The CPT is that of the formula; an interpolated one has its ends, distributions in between."""
    assert isinstance(given, dict)
    fit = credo.fit(text_of(given), method="map", progress=False)
    cpt = fit.network.cpts["x"]
    assert np.isfinite(cpt).all(), "a CPT with a number that is none"
    assert np.allclose(cpt.sum(axis=-1), 1.0, atol=1e-9), "a distribution that is none"
    order = [*given["parents"]]
    if given["noise"]:
        return "noisy"
    cpt = np.moveaxis(cpt, [fit.network.parents["x"].index(name) for name in order], range(len(order)))
    if given["kind"] != "interpolated":
        assert np.allclose(cpt, ranked(given), atol=1e-6), "a ranked family with another CPT"
        return given["kind"]
    worst, best = (np.array(end) / 100 for end in given["ends"])
    first, last = cpt[(0,) * len(order)], cpt[(-1,) * len(order)]
    assert np.allclose(first, worst, atol=1e-6), "another worst distribution"
    assert np.allclose(last, best, atol=1e-6), "another best distribution"
    return "interpolated"


RANKED = Kind("ranked", make, check, ".json")
