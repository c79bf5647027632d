"""Two networks over the same variables compared: how far apart they are, family by family, and where most."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import counted
from credo.model.alignment import aligned, aligned_cpt
from credo.model.network import Network
from credo.plain_results import PlainResult
from credo.probability_texts import percent_digits, percents_with_ends
from credo.statistics.likelihood import kl_by_family
from credo.types import Json, Numbers

if TYPE_CHECKING:
    import polars as pl

MOST_DIFFERENCES = 1000  # numbers that are listed at most, the largest differences first
MOST_SHOWN = 20  # of these, in a text
MOST_CAUSES = 4  # of a number that changed, in a text
LEAST_SHARE = 0.1  # of a change: what did less is left out of a text
CAUSES = {"parameter": str, "cause": str, "without": float, "effect": float}
ENDS = ("first_low", "first_high", "second_low", "second_high")

Intervals = Callable[[str], tuple[Numbers, Numbers] | None]  # of the CPT of a variable; None where it has none


@dataclass(frozen=True, slots=True)
class Differences(PlainResult):
    """How two networks differ, and two fits in their statements. Printing it gives a summary.

    Attributes
    ----------
    kl : float
        KL(first ‖ second) in nats.
    families : polars.DataFrame
        `variable`, and `kl`, what its CPT adds to the divergence; the largest first.
    parameters : polars.DataFrame
        `parameter`, `first`, `second` and `difference`; and `first_low`, `first_high`, `second_low` and `second_high`,
        the ends of credible intervals, null where there are none. The largest differences first. Of a variable with two
        states one is listed: the other is what it lacks to one.
    level : float
        The probability with which an interval contains the true value.
    added, removed : tuple of str
        The statements of which only the second, or only the first, was learned from; in their authors' words.
    changed : tuple of (str, str)
        The statements that have other numbers in the second.
    reworded : tuple of (str, str)
        The statements that say the same in other words.
    causes : polars.DataFrame or None
        What changed the numbers that changed most: `parameter`, `cause`, `without`, the number of the second fit if it
        is learned without that change, and `effect`, its number less that. Because changes act together, effects need
        not add up to the difference.
    not_explained : str
        Of which changes that is not known, as a sentence.
    """

    kl: float
    families: pl.DataFrame = field(repr=False)
    parameters: pl.DataFrame = field(repr=False)
    level: float = 0.95
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    reworded: tuple[tuple[str, str], ...] = ()
    causes: pl.DataFrame | None = field(default=None, repr=False)
    not_explained: str = ""

    def to_dict(self) -> dict[str, Json]:
        """The comparison as dictionaries, lists, texts and numbers: what JSON can hold.

        Returns
        -------
        dict
            The fields by name; an infinite divergence is null.
        """
        found = PlainResult.to_dict(self)
        statements: dict[str, Json] = {name: found.pop(name) for name in ("added", "removed")}
        for name in ("changed", "reworded"):
            del found[name]
            statements[name] = [{"first": one, "second": two} for one, two in getattr(self, name)]
        return {**found, "causes": found["causes"] or [], "statements": statements}

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if not len(self.parameters):
            yield "The two networks have the same CPTs."
        else:
            rows = self.parameters.head(MOST_SHOWN).to_dicts()
            many = "" if len(self.parameters) <= MOST_SHOWN else f" ({MOST_SHOWN} of {len(self.parameters)})"
            yield f"The largest differences{many}, first and second:"
            for row in rows:
                yield f"  {row['parameter']}: {self._value(row, 'first')}, {self._value(row, 'second')}"
            parts = [f"{name} {kl:.3g}" for name, kl in self.families.iter_rows()][:MOST_SHOWN]
            yield f"The divergence KL(first ‖ second) is {self.kl:.6g} nats; what variables add: {', '.join(parts)}"
        yield from self._cause_lines()
        for name, words in (("removed", self.removed), ("added", self.added)):
            if words:
                yield f"{counted(len(words), 'statement')} {name}:"
                yield from (f"  {each}" for each in words)
        for name, pairs in (("changed", self.changed), ("reworded", self.reworded)):
            if pairs:
                yield f"{counted(len(pairs), 'statement')} {name}:"
                yield from (f"  {one} → {two}" for one, two in pairs)

    def _cause_lines(self) -> Iterator[str]:
        """What changed the numbers that changed most, the largest effect first."""
        if self.causes is not None and len(self.causes):
            yield "What changed them, as the second would be without it:"
            for row in self.parameters.head(self.causes["parameter"].n_unique()).to_dicts():
                own = sorted(
                    (each for each in self.causes.to_dicts() if each["parameter"] == row["parameter"]),
                    key=lambda each: -abs(each["effect"]),
                )
                yield f"  {row['parameter']}: {percent_digits(row['first'])} → {percent_digits(row['second'])}"
                large = [each for each in own if abs(each["effect"]) >= LEAST_SHARE * abs(row["difference"])]
                for each in large[:MOST_CAUSES]:
                    yield f"    {percent_digits(each['without'])} without {each['cause']}"
                if not large:
                    yield "    much the same without any one of the changes: several of them say it"
        if self.not_explained:
            yield self.not_explained

    def _value(self, row: dict[str, Any], which: str) -> str:
        low, high = row[f"{which}_low"], row[f"{which}_high"]
        if low is None or high is None:
            return percent_digits(row[which])
        value, first, last = percents_with_ends(row[which], low, high)
        return f"{value} ({self.level:.0%} interval {first} to {last})"


def compare_networks(
    first: Network,
    second: Network,
    intervals: tuple[Intervals, Intervals] = (lambda _: None, lambda _: None),
    level: float = 0.95,
    most: int | None = MOST_DIFFERENCES,
) -> Differences:
    """Compare the CPTs of two networks with the same variables, states and parents; and `intervals` of this level.

    `most` numbers are listed, those that differ most.

    Raises
    ------
    NetworkError
        If the networks are not over the same variables.
    """
    import polars as pl

    by_family = kl_by_family(first, second)
    rows: list[dict[str, Any]] = []
    for name in first.names:
        one, two = first.cpt_array(name), aligned_cpt(first, second, name)
        flat_one, flat_two = (np.asarray(each).reshape(-1, one.shape[-1]) for each in (one, two))
        ends = _ends(first, second, name, intervals)
        for configuration, state in np.argwhere(flat_one != flat_two).tolist():
            if state == 0 and one.shape[-1] == 2:
                continue  # what the other state lacks to one
            values = float(flat_one[configuration, state]), float(flat_two[configuration, state])
            rows.append(
                {
                    "parameter": first.describe(name, configuration, state),
                    "first": values[0],
                    "second": values[1],
                    "difference": values[1] - values[0],
                    **{end: float(array[configuration, state]) for end, array in ends.items()},
                }
            )
    rows.sort(key=lambda row: -round(abs(row["difference"]), 12))  # equal ones in the order of the CPT
    kinds = {"parameter": pl.String, **dict.fromkeys(("first", "second", "difference", *ENDS), pl.Float64)}
    ordered = sorted(by_family.items(), key=lambda item: -item[1])
    families = pl.DataFrame(ordered, schema={"variable": str, "kl": float}, orient="row")
    return Differences(sum(by_family.values()), families, pl.DataFrame(rows[:most], schema=kinds), level)


def _ends(first: Network, second: Network, name: str, intervals: tuple[Intervals, Intervals]) -> dict[str, Numbers]:
    """The ends of the intervals of a CPT, (configurations, states) in the order of the first network."""
    found: dict[str, Numbers] = {}
    for which, network, own in (("first", first, intervals[0](name)), ("second", second, intervals[1](name))):
        for end, array in zip(("low", "high"), own or (), strict=False):
            found[f"{which}_{end}"] = aligned(first, network, name, array).reshape(-1, array.shape[-1])
    return found
