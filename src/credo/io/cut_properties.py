"""Cut points and orders in network files: as properties of a variable, or beside a file that has no properties.

The properties are `credo_cut_points`, the points; `credo_range_seen`, the lowest and the highest number seen, `?` where
one is not known; `credo_states`, a JSON list of the states, where the format cannot hold their names (read only if the
states of the file are still those that were written for them); and `credo_order`, which is `ascending` where the states
are declared to be listed from low to high.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from credo.errors import FormatError, NetworkError, first_duplicate
from credo.io.files import read_text, write_text
from credo.io.printed_numbers import NUMBER
from credo.model.cut_points import CutPoints
from credo.model.network import Network, Variable
from credo.model.state_texts import number_text
from credo.types import PathLike

POINTS, RANGE, STATES, ORDER = PROPERTIES = ("credo_cut_points", "credo_range_seen", "credo_states", "credo_order")
ASCENDING = "ascending"
IDENTIFIER, WORD = r"[A-Za-z_][A-Za-z0-9_]*", r"[A-Za-z0-9_]+"
BESIDE = ".cuts.json"  # the ending of a file beside


def cut_properties(variable: Variable, written: Sequence[str] | None = None) -> dict[str, str]:
    """The properties of a variable, none for most; `written` are the states that the file has instead."""
    cuts = variable.cuts
    found = {ORDER: ASCENDING} if variable.is_ordered else {}
    if cuts is not None:
        found[POINTS] = " ".join(map(repr, cuts.points))
        if cuts.lowest is not None or cuts.highest is not None:
            found[RANGE] = " ".join("?" if end is None else repr(end) for end in (cuts.lowest, cuts.highest))
    if written is not None and tuple(written) != variable.states:
        found[STATES] = json.dumps(variable.states)
    return found


def variable_with(name: str, states: Sequence[str], given: Sequence[tuple[str, str]]) -> Variable:
    """The variable that a file describes by properties; one that cannot be read, or is there twice, is an error."""
    if (duplicate := first_duplicate([key for key, _ in given if key in PROPERTIES])) is not None:
        raise NetworkError(f"A second property {duplicate} of {name}. Remove one of them.")
    properties = dict(given)
    order = properties.get(ORDER)
    if order not in (None, ASCENDING):
        raise NetworkError(f"The property {ORDER} of {name} is `{ASCENDING}`, not “{order[:40]}”.")
    cuts = _cut_points(name, properties)
    found = Variable(name, tuple(states), cuts, is_ordered=order is not None)
    if STATES in properties:
        own = replace(found, states=tuple(_state_names(name, len(states), properties[STATES])))
        if found.states in (identifiers(own), identifiers(own, WORD)):  # otherwise another program renamed the states
            return own
    return found


def _cut_points(name: str, properties: Mapping[str, str]) -> CutPoints | None:
    if POINTS not in properties:
        return None
    points = _numbers(name, POINTS, properties[POINTS].split())
    ends: list[float | None] = [None, None]
    if RANGE in properties:
        words = properties[RANGE].split()
        if len(words) != 2:
            raise NetworkError(f"The property {RANGE} of {name} has two numbers, not “{properties[RANGE][:40]}”.")
        ends = [None if word == "?" else _numbers(name, RANGE, [word])[0] for word in words]
    return CutPoints(tuple(points), *ends)


def property_of(text: str) -> tuple[str, str] | None:
    """Name and value of one of these properties in a text such as `credo_cut_points = 40.0 60.0`; None for another."""
    name, _, value = text.strip().partition("=")
    return (name.strip(), value.strip()) if name.strip() in PROPERTIES else None


def identifier(name: str, file_format: str) -> str:
    """A variable's name, for formats that have identifiers only."""
    if not re.fullmatch(IDENTIFIER, name):
        raise NetworkError(
            f'{file_format} cannot hold the name "{name}": letters, digits and underscores only, and no digit first. '
            "BIF can."
        )
    return name


def identifiers(variable: Variable, held: str = IDENTIFIER) -> tuple[str, ...]:
    """States for formats that have identifiers only, as GeNIe names ranges: `s1_below_40`, `s2_40_60`, `s3_60_up`.

    Other states keep what an identifier can hold: `s1_0`, `s2_at_most_5`. Where the format holds all, they stay;
    `held` is the pattern of what it holds.
    """
    if all(re.fullmatch(held, state) for state in variable.states):
        return variable.states
    if variable.cuts is None:
        return tuple(f"s{place}_{_word(state)}" for place, state in enumerate(variable.states, start=1))
    words = [re.sub(r"\W", "_", number_text(point).replace("-", "minus_")) for point in variable.cuts.points]
    between = [f"s{place + 2}_{low}_{words[place + 1]}" for place, low in enumerate(words[:-1])]
    return (f"s1_below_{words[0]}", *between, f"s{len(words) + 1}_{words[-1]}_up")


def _word(state: str) -> str:
    """The letters and digits of a state, others as underscores."""
    return re.sub(r"[^A-Za-z0-9]+", "_", state).strip("_")[:40]


def _numbers(name: str, what: str, words: Sequence[str]) -> list[float]:
    if not words or not all(NUMBER.fullmatch(word) for word in words):
        raise NetworkError(f"The property {what} of {name} is a list of numbers, not “{' '.join(words)[:40]}”.")
    return [float(word) for word in words]


def _state_names(name: str, count: int, text: str) -> list[str]:
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
        if isinstance(found, list) and len(found) == count and all(isinstance(state, str) for state in found):
            return found
    raise NetworkError(f"The property {STATES} of {name} is a list of {count} names in JSON, not “{text[:40]}”.")


# A file beside --------------------------------------------------------------------------------------------------------


def beside(path: PathLike) -> Path:
    """The file of cut points beside a network file: `net.uai.cuts.json` for `net.uai`."""
    return Path(f"{path}{BESIDE}")


def write_beside(network: Network, path: PathLike) -> bool:
    """Write the cut points beside a file without names, or remove those of another network; whether there are any."""
    target = beside(path)
    measured = {
        str(place): {
            "name": own.name,
            "states": list(own.states),
            "points": list(own.cuts.points),
            "lowest": own.cuts.lowest,
            "highest": own.cuts.highest,
        }
        for place, own in enumerate(network.variables)
        if own.cuts is not None
    }
    if not measured:
        with suppress(OSError):
            target.unlink(missing_ok=True)
        return False
    sizes = [len(own.states) for own in network.variables]
    write_text(target, json.dumps({"sizes": sizes, "variables": measured}, indent=1) + "\n")
    return True


def read_beside(network: Network, path: PathLike) -> Network:
    """The network with the cut points, and the states, that are in the file beside; itself if there is none."""
    target = beside(path)
    if not target.is_file():
        return network

    def wrong(what: str) -> FormatError:
        return FormatError(f"{what} Remove it to read the network without cut points.", str(target))

    try:
        found: Any = json.loads(read_text(target))
        if found["sizes"] != [len(own.states) for own in network.variables]:
            raise wrong(f"This file belongs to another network than {Path(path).name}.")
        variables = list(network.variables)
        for place, entry in found["variables"].items():
            cuts = CutPoints(tuple(entry["points"]), entry["lowest"], entry["highest"])
            variables[int(place)] = Variable(variables[int(place)].name, tuple(entry["states"]), cuts)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise wrong(f"This file holds no cut points ({type(error).__name__}).") from None
    return Network(variables, network.parents, network.cpts, network.name)
