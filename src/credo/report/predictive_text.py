"""Whether the network fits the data, for a terminal and for the page of a fit."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from credo.explain.misfits import LEVEL, PredictiveCheck, PredictiveChecks
from credo.probability_texts import count_digits, percent_digits
from credo.report.html import as_text, bullets, table
from credo.terminal import escape

FEW = 5  # comparisons that are shown although nothing is wrong with them
MAX_ALARMS = 20
TITLE = "Does the network fit the data?"
HEADINGS = ("where they differ most", "rows seen", "rows expected", "chance")
KEY = (
    "Chance: how often data that the learned network itself produces differ at least as much, in any of these "
    f"comparisons. Where it is at most {LEVEL:.0%}, something does not fit."
)


def checks_text(found: PredictiveChecks) -> RenderableType:
    """What was found, for a terminal."""
    parts: list[RenderableType] = [Text(f"\n{TITLE}", style="bold"), Text(found.summary())]
    parts += [Text(f"• {check.sentence}", style="yellow") for check in found.alarms[:MAX_ALARMS]]
    if found.checks:
        shown = Table(box=None, pad_edge=False, caption=KEY, caption_justify="left")
        for number, heading in enumerate(HEADINGS):
            shown.add_column(heading, justify="right" if number else "left")
        for row in _rows(found):
            shown.add_row(*map(Text, row))
        parts.append(shown)
    return Group(*parts)


def checks_section(found: PredictiveChecks | None) -> str:
    """The same as a section of the page; empty where nothing was compared."""
    if found is None:
        return ""
    sentences = [check.sentence for check in found.alarms[:MAX_ALARMS]]
    parts = [f"<p>{escape(found.summary())}</p>", bullets(sentences) if sentences else ""]
    if found.checks:
        rows = "".join(f"<tr>{''.join(f'<td>{as_text(cell)}' for cell in row)}" for row in _rows(found))
        parts += [f'<p class="soft">{KEY}</p>', table("numbers", HEADINGS, rows)]
    return "".join(parts)


def _rows(found: PredictiveChecks) -> Sequence[tuple[str, ...]]:
    """The alarms, or a few of those that come nearest to one."""
    return [_row(check) for check in found.checks[: max(FEW, min(len(found.alarms), MAX_ALARMS))]]


def _row(check: PredictiveCheck) -> tuple[str, ...]:
    return check.where, count_digits(check.observed), f"{check.expected:,.1f}", percent_digits(check.adjusted)
