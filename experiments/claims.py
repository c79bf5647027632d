"""Claims of a paper, and whether they held in our rerun."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What is claimed, whether it held here, and the figures that support the answer."""

    text: str
    held: bool
    figures: str


def claims_table(claims: Iterable[Claim]) -> str:
    """A Markdown table with one line for each claim."""
    lines = ["\n## Which claims held\n", "| claim | held | figures |", "|---|---|---|"]
    lines += [f"| {claim.text} | {'yes' if claim.held else '**no**'} | {claim.figures} |" for claim in claims]
    return "\n".join(lines) + "\n"
