"""What somebody arranged around a text: where boxes stand, which groups are folded, named cases; a file beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from credo.errors import OptionError, is_text
from credo.io.files import write_text

ENDING = ".studio.json"
MOST_BYTES = 5_000_000
MOST_PLACES, MOST_CASES = 10_000, 1_000
KINDS = ("evidence", "do", "soft")

View = dict[str, Any]


def view_file(knowledge: Path) -> Path:
    """The file beside a text."""
    return knowledge.with_name(knowledge.name.removesuffix(".credo") + ENDING)


def read_view(knowledge: Path) -> View:
    """What was arranged; what is not as it should be is forgotten."""
    try:
        path = view_file(knowledge)
        content = json.loads(path.read_bytes()) if path.stat().st_size <= MOST_BYTES else {}
        return checked_view(content)
    except (OSError, ValueError, RecursionError, OptionError):
        return {}


def write_view(knowledge: Path, view: View) -> None:
    """Keep what was arranged."""
    write_text(view_file(knowledge), json.dumps(view, ensure_ascii=False, indent=1))


def checked_view(content: Any) -> View:
    """What a page or a file says was arranged, refused where it is something else."""
    if not isinstance(content, Mapping) or not set(content) <= {"positions", "folded", "cases"}:
        raise OptionError("An arrangement has positions, folded groups and cases.")
    view: View = {}
    if "positions" in content:
        view["positions"] = _positions(content["positions"])
    if "folded" in content:
        folded = content["folded"]
        if not isinstance(folded, list) or len(folded) > MOST_PLACES or not all(map(_is_name, folded)):
            raise OptionError("Folded groups are a list of names.")
        view["folded"] = folded
    if "cases" in content:
        cases = content["cases"]
        if not isinstance(cases, list) or len(cases) > MOST_CASES:
            raise OptionError(f"Cases are a list of at most {MOST_CASES}.")
        view["cases"] = [_case(each) for each in cases]
    return view


def _positions(found: Any) -> dict[str, list[float]]:
    if not isinstance(found, Mapping) or len(found) > MOST_PLACES:
        raise OptionError("Positions are a mapping from variables to places.")
    for name, place in found.items():
        if not _is_name(name) or not isinstance(place, list) or len(place) != 2 or not all(map(_is_number, place)):
            raise OptionError("A position is two numbers.")
    return {name: [float(x), float(y)] for name, (x, y) in found.items()}


def _case(found: Any) -> dict[str, Any]:
    if not isinstance(found, Mapping) or not set(found) == {"name", "given"} or not _is_name(found["name"]):
        raise OptionError("A case has a name, and what is given.")
    given = found["given"]
    if not isinstance(given, Mapping) or not set(given) <= set(KINDS):
        raise OptionError("What is given is evidence, interventions and uncertain findings.")
    for kind in ("evidence", "do"):
        states = given.get(kind, {})
        if not isinstance(states, Mapping) or not all(_is_name(each) for item in states.items() for each in item):
            raise OptionError("Evidence is a mapping from variables to states.")
    soft = given.get("soft", {})
    if not isinstance(soft, Mapping) or not all(_are_weights(name, own) for name, own in soft.items()):
        raise OptionError("An uncertain finding is a weight for each state.")
    return {"name": found["name"], "given": {kind: dict(given.get(kind, {})) for kind in KINDS}}


def _are_weights(name: object, weights: object) -> bool:
    if not _is_name(name) or not isinstance(weights, Mapping):
        return False
    return all(_is_name(state) and _is_number(weight) and weight >= 0 for state, weight in weights.items())


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1_000 and is_text(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and abs(value) < 1e9
