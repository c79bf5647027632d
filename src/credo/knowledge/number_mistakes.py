"""What numbers outside 0 and 1 were probably meant to be, as they are written: `130%`, `5-10%`, `between 5 and 10%`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from credo.knowledge.mistakes import LineMistake

_AMOUNT = r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s?(%|per\s?cent)?"
DASHED = rf"{_AMOUNT}\s*(?:[\-−–—]|to)\s*{_AMOUNT}"  # 5-10%, 5% to 10%
_DASHED = re.compile(DASHED)
_AROUND = re.compile(rf"{_AMOUNT}\s*(?:±|\+\s*/?\s*[\-−])\s*{_AMOUNT}")
_ONE_IN = re.compile(r"\sin\s", re.IGNORECASE)
_PAIR = re.compile(rf"{_AMOUNT}\s*(?:and|,|&)\s*{_AMOUNT}")


def as_written(mistakes: Iterable[LineMistake], line: str) -> tuple[LineMistake, ...]:
    """The mistakes of a line, where those about bounds fit the text that they mark."""
    found: list[LineMistake] = []
    lacks_percent = False
    for mistake in mistakes:
        if lacks_percent and mistake.kind == "bound-outside":
            continue  # said of both bounds
        found.append(_as_written(mistake, line[mistake.column - 1 : mistake.end_column - 1]))
        lacks_percent = lacks_percent or found[-1].kind == "percent-missing"
    return tuple(found)


def _as_written(mistake: LineMistake, text: str) -> LineMistake:
    if mistake.kind == "bounds-crossed" and (pair := _PAIR.fullmatch(text)) and _lacks_percent(pair):
        return mistake._replace(kind="percent-missing", facts={"write": f"between {_range(pair)}"})
    if mistake.kind != "bound-outside":
        return mistake
    if (around := _AROUND.fullmatch(text)) and _lacks_percent(around, is_ascending=False):
        return mistake._replace(kind="percent-missing", facts={"write": f"{around[1]}% ± {around[3]}%"})
    if dashed := _DASHED.fullmatch(text):
        return mistake._replace(kind="range-with-dash", facts={"range": _range(dashed)})
    if text.endswith(("%", "cent")):
        return mistake._replace(kind="percent-outside")
    if _ONE_IN.search(text):  # no percentage without its sign
        return mistake._replace(facts={**mistake.facts, "hint": ""})
    return mistake


def dashed_range(text: str) -> str:
    """`5% and 10%`, for a text in which a range such as `5–10%` is written; an example if there is none."""
    found = _DASHED.search(text)
    return _range(found) if found else "5% and 10%"


def _lacks_percent(pair: re.Match[str], is_ascending: bool = True) -> bool:
    return not pair[2] and pair[4] is not None and (not is_ascending or float(pair[1]) < float(pair[3]))


def _range(pair: re.Match[str]) -> str:
    """`5% and 10%`: the sign of percent belongs to both numbers, or to numbers above 1."""
    is_percent = pair[2] or pair[4] or max(float(pair[1]), float(pair[3])) > 1
    low, high = sorted((pair[1], pair[3]), key=float)
    return f"{low}% and {high}%" if is_percent else f"{low} and {high}"
