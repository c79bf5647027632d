"""What the present text, table and network still support of a fit, and what changed since it was learned, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from credo.io.origin import fingerprint
from credo.knowledge import Knowledge, words_of
from credo.knowledge.statements import to_text
from credo.model.network import Network
from credo.results.fit_results import Fit
from credo.studio.reading import Reading
from credo.studio.table import OpenTable

FEW = 3  # changes of one kind that are named
LONG = 90  # letters of a statement


@dataclass(frozen=True, slots=True)
class Support:
    """How far a fit is still that of what is open.

    Attributes
    ----------
    changes
        What changed since it was learned, a sentence each; none where it is current.
    variables
        The variables whose probabilities still are those of the fit: they and everything that they depend on have the
        states, cut points and parents that they were learned with. The fit is a network of these alone, too, so that
        evidence about them can be asked for; what was learned about others says nothing now.
    """

    changes: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()


def support(fit: Fit, reading: Reading, table: OpenTable | None) -> Support:
    """What a text, read together with a table, supports of a fit."""
    if reading.network is None or reading.knowledge is None:
        return Support((reading.message or "The text cannot be read at the moment.",))
    changes = (
        *_structure_changes(fit.network, reading.network),
        *_order_changes(fit.knowledge, reading.knowledge),
        *_statement_changes(fit.knowledge, reading.knowledge),
        *_table_changes(fit, table),
    )
    return Support(changes, _supported(fit.network, reading.network))


def _supported(learned: Network, present: Network) -> frozenset[str]:
    found: set[str] = set()
    for name in present.order:
        if name in learned and _is_same(learned, present, name) and found.issuperset(present.parents[name]):
            found.add(name)
    return frozenset(found)


def _is_same(learned: Network, present: Network, name: str) -> bool:
    """Whether a variable has the same states, cut points and parents; the order of states is no difference."""
    return _has_same_states(learned, present, name) and set(learned.parents[name]) == set(present.parents[name])


def _has_same_states(learned: Network, present: Network, name: str) -> bool:
    one, two = learned.variable(name), present.variable(name)
    points = [None if each.cuts is None else tuple(each.cuts.points) for each in (one, two)]
    return set(one.states) == set(two.states) and points[0] == points[1]


def _structure_changes(learned: Network, present: Network) -> Iterator[str]:
    old, new = set(learned.names), set(present.names)
    yield from _few("{} is new.", "{} are new.", [name for name in present.names if name not in old])
    yield from _few("{} is gone.", "{} are gone.", [name for name in learned.names if name not in new])
    both = [name for name in present.names if name in old]
    other = [name for name in both if not _has_same_states(learned, present, name)]
    yield from _few("{} has other states.", "{} have other states.", other)
    arcs = [{f"{parent} → {child}" for child in both for parent in each.parents[child]} for each in (present, learned)]
    yield from _few("The arrow {} is new.", "The arrows {} are new.", sorted(arcs[0] - arcs[1]))
    yield from _few("The arrow {} is gone.", "The arrows {} are gone.", sorted(arcs[1] - arcs[0]))


def _order_changes(learned: Knowledge, present: Knowledge) -> Iterator[str]:
    """Variables whose states are the same, but mean something else from low to high."""
    both = [name for name in present.network.names if name in learned.network]
    orders = [{name: each.orders[name].states for name in both} for each in (learned, present)]
    turned = [name for name in both if orders[0][name] != orders[1][name]]
    turned = [name for name in turned if set(orders[0][name]) == set(orders[1][name])]
    yield from _few("The states of {} have another order.", "The states of {} have other orders.", turned)


def _statement_changes(learned: Knowledge, present: Knowledge) -> Iterator[str]:
    old, new = (Counter(map(to_text, knowledge)) for knowledge in (learned, present))
    words = {to_text(each): f"“{_short(words_of(each))}”" for each in (*learned, *present)}
    lines = {to_text(each): f"line {each.span.line}, " for each in present if each.span is not None and each.span.line}
    added = [f"{lines.get(text, '')}{words[text]}" for text in new - old]
    yield from _few("A statement is new: {}.", "Statements are new: {}.", added)
    yield from _few("A statement is gone: {}.", "Statements are gone: {}.", [words[text] for text in old - new])


def _table_changes(fit: Fit, table: OpenTable | None) -> Iterator[str]:
    origin = fit.origin
    if table is None:
        if origin is None or origin.fingerprint:
            yield f"{(origin and origin.table) or 'The table'}, which it was learned from, is not open."
        return
    now = fingerprint(table.path, table.format)
    if origin is None or not origin.fingerprint:
        yield f"It is not known whether it was learned from {table.path.name}."
    elif not now:
        yield f"{table.path.name} is gone."
    elif now != origin.fingerprint:
        yield (
            f"{table.path.name} changed." if origin.table == table.path.name else f"It was learned from {origin.table}."
        )


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[: LONG - 1]}…"


def _few(one: str, several: str, what: Sequence[str]) -> Iterator[str]:
    if what:
        more = f" and {len(what) - FEW} more" if len(what) > FEW else ""
        yield (one if len(what) == 1 else several).format(", ".join(what[:FEW]) + more)
