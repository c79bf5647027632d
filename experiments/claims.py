"""A claim of a paper, whether it held here, and the figures that say so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, whether it held here, and the figures that say so."""

    text: str
    held: bool
    figures: str


def claims_table(claims: Iterable[Claim]) -> str:
    """One line a claim."""
    lines = ["\n## Which claims held\n", "| claim | held | figures |", "|---|---|---|"]
    lines += [f"| {each.text} | {'yes' if each.held else '**no**'} | {each.figures} |" for each in claims]
    return "\n".join(lines) + "\n"
