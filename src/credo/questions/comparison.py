"""Two fits, or networks, compared: which probabilities and which statements differ."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from credo.errors import OptionError
from credo.explain.statement_references import references_to
from credo.io.network_files import NetworkLike, read_network
from credo.knowledge.statements import Statement, to_text
from credo.model.network import Network
from credo.results.fit_results import Fit, require_level
from credo.saving.fits import is_saved_fit, load
from credo.statistics.network_comparison import Differences, compare_networks
from credo.types import Numbers

NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[-+]?\d+)?%?")


def compare(first: Fit | NetworkLike, second: Fit | NetworkLike, level: float = 0.95) -> Differences:
    """Compare two fits, or networks: which probabilities differ, by how much, and which statements changed.

    Parameters
    ----------
    first, second : Fit, Network, path, or an object of pgmpy or pyAgrum
        What to compare: the variables, their states and their parents are the same, in any order. A path is that of a
        saved fit or of a network.
    level : float
        The probability with which an interval contains the true value; fits by `posterior` have intervals.

    Returns
    -------
    Differences
        The numbers that differ, the largest differences first, with the intervals of both; and the statements that
        were added, removed, changed and reworded. Printing it gives a summary, `to_dict()` what JSON can hold.

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
        return with_statements(found, one.knowledge.statements, two.knowledge.statements)
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


def with_statements(found: Differences, first: Sequence[Statement], second: Sequence[Statement]) -> Differences:
    """The differences with those of statements, which are matched by meaning, and then by all but their numbers."""
    old, new = (dict(zip(map(to_text, each), references_to(each), strict=True)) for each in (first, second))
    shared = [(old[text], new[text]) for text in old if text in new]
    reworded = [(str(one), str(two)) for one, two in shared if one.text.split() != two.text.split()]
    removed, added = ({text: own[text] for text in own if text not in other} for own, other in ((old, new), (new, old)))
    changed = []
    for text in list(removed):
        match = next((each for each in added if NUMBER.sub("#", each) == NUMBER.sub("#", text)), None)
        if match is not None:
            changed.append((str(removed.pop(text)), str(added.pop(match))))
    return replace(
        found,
        added=tuple(map(str, added.values())),
        removed=tuple(map(str, removed.values())),
        changed=tuple(changed),
        reworded=tuple(reworded),
    )
