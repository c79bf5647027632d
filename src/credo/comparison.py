"""Two fits, or networks, compared: which probabilities and which statements differ, and what made the difference.

What made it is found by learning the second fit again without one change: without a statement that is new, with one
that was withdrawn, from the rows or with the options of the first. What such a fit says instead is the effect of that
change, where all the others were made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from credo.errors import CredoError, OptionError, counted, listing
from credo.explain.statement_references import StatementReference, references_to
from credo.fitting import learn
from credo.io.dataset import Dataset
from credo.io.network_files import NetworkLike, read_network
from credo.knowledge import Knowledge
from credo.knowledge.statements import Statement, to_text
from credo.model.network import Network
from credo.results.audit import Request
from credo.results.fit_results import Fit, require_level
from credo.saving.fits import is_saved_fit, load
from credo.statistics.network_comparison import CAUSES, Differences, compare_networks
from credo.types import Numbers
from credo.updating import kept_data

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?%?")
EXPLAINED = 3  # numbers that changed most, of which it is said what changed them
MOST_SECONDS = 20.0  # of learning again, by how long the second fit took
MOST_AGAIN = 10  # times that the second fit is learned again


def compare(
    first: Fit | NetworkLike, second: Fit | NetworkLike, level: float = 0.95, *, causes: bool = True
) -> Differences:
    """Compare two fits, or networks: which probabilities differ, by how much, and by which statements or rows.

    Parameters
    ----------
    first, second : Fit, Network, path, or an object of pgmpy or pyAgrum
        What to compare: the variables, their states and their parents are the same, in any order. A path is that of a
        saved fit or of a network.
    level : float
        The probability with which an interval contains the true value; fits by `posterior` have intervals.
    causes : bool
        Whether to say which statements, rows or options changed the numbers that changed most. Where there are several
        changes, the second fit is learned again without each, for about 20 seconds at most.

    Returns
    -------
    Differences
        The numbers that differ, the largest differences first, with the intervals of both; the statements that were
        added, removed, changed and reworded; and what made the largest differences. Printing it gives a summary,
        `to_dict()` what JSON can hold.

    Raises
    ------
    NetworkError
        If the two have other variables, states or parents.
    OptionError
        If the level is not between 0 and 1.

    Examples
    --------
    >>> import credo
    >>> coin = credo.Network({"coin": ["heads", "tails"]})
    >>> print(credo.compare(coin.with_cpts({"coin": [0.5, 0.5]}), coin.with_cpts({"coin": [0.6, 0.4]})))
    The largest differences, first and second:
      P(coin=tails): 50.0%, 40.0%
    The divergence KL(first ‖ second) is 0.020411 nats; what variables add: coin 0.0204
    """
    require_level(level)
    one, two = _loaded(first), _loaded(second)
    networks = [each.network if isinstance(each, Fit) else each for each in (one, two)]
    intervals = partial(_interval, one, level), partial(_interval, two, level)
    found = compare_networks(networks[0], networks[1], intervals, level)
    if isinstance(one, Fit) and isinstance(two, Fit):
        changes = _statement_changes(one.knowledge.statements, two.knowledge.statements)
        found = _with_statements(found, changes)
        return _with_causes(found, one, two, changes) if causes and len(found.parameters) else found
    return found


def _loaded(source: Fit | NetworkLike) -> Fit | Network:
    if isinstance(source, Fit):
        return source
    if isinstance(source, str | os.PathLike) and is_saved_fit(source):
        return load(Path(source))
    return read_network(source)


def _interval(source: Fit | Network, level: float, name: str) -> tuple[Numbers, Numbers] | None:
    """The interval of a CPT; None for a network, an optimum, a CPT that was kept, and a noisy family."""
    if not isinstance(source, Fit):
        return None
    try:
        return source.interval_arrays(name, level)
    except OptionError:
        return None


# Statements -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _StatementChange:
    """A statement of the first fit, of the second, or of both in other words or with other numbers."""

    old: StatementReference | None
    new: StatementReference | None
    is_reworded: bool = False

    def __str__(self) -> str:
        """As the subject of a sentence about what changed a number."""
        if self.old is None:
            return f"the new statement {self._text(self.new)}"
        if self.new is None:
            return f"withdrawing {self._text(self.old)}"
        return f"the changed statement {self._text(self.new)}"

    @staticmethod
    def _text(statement: StatementReference | None) -> str:
        assert statement is not None
        return statement.quoted


def _statement_changes(first: Sequence[Statement], second: Sequence[Statement]) -> list[_StatementChange]:
    """What differs between two sets of statements, which are matched by meaning, and then by all but their numbers."""
    old, new = (dict(zip(map(to_text, each), references_to(each), strict=True)) for each in (first, second))
    shared = [(old[text], new[text]) for text in old if text in new]
    found = [_StatementChange(*pair, True) for pair in shared if pair[0].text.split() != pair[1].text.split()]
    removed, added = ({text: own[text] for text in own if text not in other} for own, other in ((old, new), (new, old)))
    for text in list(removed):
        match = next((each for each in added if NUMBER.sub("#", each) == NUMBER.sub("#", text)), None)
        if match is not None:
            found.append(_StatementChange(removed.pop(text), added.pop(match)))
    found += [_StatementChange(each, None) for each in removed.values()]
    return found + [_StatementChange(None, each) for each in added.values()]


def _with_statements(found: Differences, changes: Sequence[_StatementChange]) -> Differences:
    return replace(
        found,
        added=tuple(str(each.new) for each in changes if each.old is None),
        removed=tuple(str(each.old) for each in changes if each.new is None),
        changed=tuple(
            (str(each.old), str(each.new)) for each in changes if each.old and each.new and not each.is_reworded
        ),
        reworded=tuple((str(each.old), str(each.new)) for each in changes if each.is_reworded),
    )


# What made the difference ---------------------------------------------------------------------------------------------


def _with_causes(found: Differences, first: Fit, second: Fit, changes: Sequence[_StatementChange]) -> Differences:
    """The differences with what changed the numbers that changed most, or why that is not known."""
    import polars as pl

    try:
        causes = _causes(first, second, [each for each in changes if not each.is_reworded])
    except CredoError as error:
        return replace(found, not_explained=f"What changed them is not known: {error}")
    largest = found.parameters.head(EXPLAINED)
    if not causes:
        return replace(
            found, not_explained="Statements, rows and options are the same: what changed them is not known."
        )
    if len(causes) == 1:  # it changed all of it
        ((name, _),) = causes
        rows = [(each["parameter"], name, each["first"], each["difference"]) for each in largest.to_dicts()]
        return replace(found, causes=pl.DataFrame(rows, schema=CAUSES, orient="row"))
    rows, unknown = [], []
    for name, learn_without in causes:
        try:
            other = learn_without().network
        except CredoError:  # statements that cannot hold without the others, rows that are impossible, …
            unknown.append(name)
            continue
        values = {
            each["parameter"]: each for each in compare_networks(other, second.network, most=None).parameters.to_dicts()
        }
        for each in largest.to_dicts():
            own = values.get(each["parameter"], {"first": each["second"], "difference": 0.0})
            rows.append((each["parameter"], name, own["first"], own["difference"]))
    table = pl.DataFrame(rows, schema=CAUSES, orient="row")
    note = f"What {listing(unknown)} did is not known: the second could not be learned without it." if unknown else ""
    return replace(found, causes=table, not_explained=note)


def _causes(first: Fit, second: Fit, changes: Sequence[_StatementChange]) -> list[tuple[str, Callable[[], Fit]]]:
    """What differs between two fits, each with how to learn the second without that difference."""
    if first._request is None or second._request is None:
        raise OptionError("one of the fits does not know how it was learned.")
    if not _same_order(first.knowledge.network, second.knowledge.network):
        raise OptionError("the two list variables or states in another order.")
    rows, known, request = kept_data(second), second.knowledge, second._request

    def again(known: Knowledge = known, rows: Dataset = rows, request: Request = request) -> Fit:
        none = not len(rows) and not rows.counted
        return learn(known, None if none else rows, request, trail=second.trail[:1], progress=False)

    causes: list[tuple[str, Callable[[], Fit]]] = []
    earlier = kept_data(first)
    if not _same_rows(earlier, rows):
        causes.append((_rows_text(first, second), partial(again, rows=earlier)))
    if not _same_request(first._request, request):
        causes.append(("other options", partial(again, request=first._request)))
    allowed = min(MOST_AGAIN, max(3, int(MOST_SECONDS / max(second.seconds, 1e-3)))) - len(causes)
    if len(changes) > allowed:
        statements = first.knowledge.statements
        own = partial(again, known=_knowledge(second, statements))
        causes.append((f"{counted(len(changes), 'changed statement')} together", own))
    else:
        causes += [(str(each), partial(again, known=_without(first, second, each))) for each in changes]
    return causes


def _without(first: Fit, second: Fit, change: _StatementChange) -> Knowledge:
    """The knowledge of the second fit, with one statement as it was in the first."""
    old = () if change.old is None else (first.knowledge.statements[change.old.number],)
    before = list(second.knowledge.statements)
    place = slice(len(before), None) if change.new is None else slice(change.new.number, change.new.number + 1)
    before[place] = old
    return _knowledge(second, before)


def _knowledge(fit: Fit, statements: Sequence[Statement]) -> Knowledge:
    return Knowledge(fit.knowledge.network, (*fit.knowledge.declarations, *statements))


def _same_order(first: Network, second: Network) -> bool:
    return all(
        one.name == two.name and one.states == two.states and first.parents[one.name] == second.parents[two.name]
        for one, two in zip(first.variables, second.variables, strict=True)
    )


def _same_rows(first: Dataset, second: Dataset) -> bool:
    one, two = ([each.codes, *(own.dense for own in each.counted)] for each in (first, second))
    return len(one) == len(two) and all(map(np.array_equal, one, two))


def _same_request(first: Request, second: Request) -> bool:
    names = ("method", "prior", "fixed", "seed", "doubt", "options")
    return all(getattr(first, name) == getattr(second, name) for name in names)


def _rows_text(first: Fit, second: Fit) -> str:
    """What the rows of the second fit are, beside those of the first."""
    old, new = ([str(table) for step in fit.trail for table in step.tables] for fit in (first, second))
    if second.trail[: len(first.trail)] == first.trail:
        names = listing(
            [table.name for step in second.trail[len(first.trail) :] for table in step.tables if table.name]
        )
        return f"{counted(second.rows - first.rows, 'new row')}{f' of {names}' if names else ''}"
    if old == new or not any(table.name for step in second.trail for table in step.tables):
        return f"other rows ({second.rows} instead of {first.rows})"
    names = listing([table.name or str(table) for step in second.trail for table in step.tables])
    return f"the rows of {names} ({second.rows} instead of {first.rows})"
