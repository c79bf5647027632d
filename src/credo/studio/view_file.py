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
PARTS = {"positions": 10_000, "folded": 10_000, "cases": 1_000}  # what is kept by names, and of how many
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
        return _checked(_with_names(content))
    except (OSError, ValueError, KeyError, TypeError, RecursionError, OptionError):
        return {}


def write_view(knowledge: Path, view: View) -> None:
    """Keep what was arranged."""
    write_text(view_file(knowledge), json.dumps(view, ensure_ascii=False, indent=1))


def with_changes(view: View, changes: Mapping[str, Any]) -> View:
    """What was arranged, with other things under some names; None takes a name away."""
    if not set(changes) <= set(PARTS) or not all(isinstance(each, Mapping) for each in changes.values()):
        raise OptionError("An arrangement has positions, folded groups and cases, by their names.")
    parts = {key: {**view.get(key, {}), **own} for key, own in changes.items()}
    fresh = {key: {name: value for name, value in own.items() if value is not None} for key, own in parts.items()}
    return {**view, **_checked(fresh)}


def _with_names(content: Any) -> Any:
    """What an earlier version kept as lists."""
    if isinstance(content, dict) and isinstance(folded := content.get("folded"), list):
        content["folded"] = dict.fromkeys(folded, True)
    if isinstance(content, dict) and isinstance(cases := content.get("cases"), list):
        content["cases"] = {each["name"]: each["given"] for each in cases}
    return content


def _checked(content: Any) -> View:
    """What a page or a file says was arranged, refused where it is something else."""
    if not isinstance(content, Mapping) or not set(content) <= set(PARTS):
        raise OptionError("An arrangement has positions, folded groups and cases.")
    for key, own in content.items():
        if not isinstance(own, Mapping) or len(own) > PARTS[key] or not all(map(_is_name, own)):
            raise OptionError(f"The {key} are a mapping from at most {PARTS[key]:,} names.")
    if not all(each is True for each in content.get("folded", {}).values()):
        raise OptionError("A folded group is marked by true.")
    return {
        key: {name: CHECKS[key](value) for name, value in own.items()} if key in CHECKS else dict(own)
        for key, own in content.items()
    }


def _position(found: Any) -> list[float]:
    if not isinstance(found, list) or len(found) != 2 or not all(map(_is_number, found)):
        raise OptionError("A position is two numbers.")
    return [float(each) for each in found]


def _given(given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not set(given) <= set(KINDS):
        raise OptionError("What is given is evidence, interventions and uncertain findings.")
    for kind in ("evidence", "do"):
        states = given.get(kind, {})
        if not isinstance(states, Mapping) or not all(_is_name(each) for item in states.items() for each in item):
            raise OptionError("Evidence is a mapping from variables to states.")
    soft = given.get("soft", {})
    if not isinstance(soft, Mapping) or not all(_are_weights(name, own) for name, own in soft.items()):
        raise OptionError("An uncertain finding is a weight for each state.")
    return {kind: dict(given.get(kind, {})) for kind in KINDS}


def _are_weights(name: object, weights: object) -> bool:
    if not _is_name(name) or not isinstance(weights, Mapping):
        return False
    return all(_is_name(state) and _is_number(weight) and weight >= 0 for state, weight in weights.items())


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 1_000 and is_text(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and abs(value) < 1e9


CHECKS = {"positions": _position, "cases": _given}
