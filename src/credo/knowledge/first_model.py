"""A first model of a table, as a text that a user goes on with: variables, cut points, orders, doubts, and arrows.

Everything that was guessed is said in a comment beside it. Arrows are a star around a target, or none; where pyAgrum is
installed, arrows that the data suggest are comments, with their strength.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import OptionError, UnknownVariableError, counted, listing
from credo.findings import Finding
from credo.io.categories import read_frame
from credo.io.column_values import column_values, looks_like_identifier
from credo.io.missing_codes import is_plausible_elsewhere, missing_values_line, suspected_codes
from credo.io.network_from_table import network_of_columns
from credo.knowledge.names import name_text, state_text
from credo.knowledge.state_order import natural_order
from credo.model.network import Network, Variable
from credo.model.state_texts import number_text
from credo.types import TableLike

if TYPE_CHECKING:
    import polars as pl

MOST_PROPOSED = 60  # arrows that are worth proposing
MOST_ROWS = 50_000  # that structure learning looks at


@dataclass(frozen=True, slots=True)
class FirstModel:
    """The text of a `.credo` file, and the network that it declares.

    Attributes
    ----------
    text : str
        Variables, cut points, doubts as comments, and arrows to begin with.
    network : Network
        What it declares.
    """

    text: str
    network: Network


def first_model(
    data: TableLike, name: str = "the table", target: str | None = None, tiers: Sequence[Sequence[str]] = ()
) -> FirstModel:
    """A first model of a table.

    Parameters
    ----------
    data : path or frame
        The table.
    name : str
        How comments call it.
    target : str, optional
        A variable that all others get an arrow from.
    tiers : sequence of sequence of str
        Variables, those first that come first in time; no arrow that is proposed goes from a later to an earlier tier.

    Returns
    -------
    FirstModel
        The text and its network.
    """
    frame = read_frame(data, lambda columns: columns)
    columns = {column: column_values(frame[column]) for column in frame.columns}
    for wanted in [*([target] if target else []), *(each for tier in tiers for each in tier)]:
        if wanted not in columns:
            raise UnknownVariableError(wanted, tuple(columns))
    identifiers = [each for each in columns if each != target and looks_like_identifier(columns[each])]
    constants = [each for each, values in columns.items() if values.distinct == 1 and each not in identifiers]
    left_out = {*identifiers, *constants}
    used = [each for each in columns if each not in left_out]
    if target in constants:
        values = columns[target]
        raise OptionError(
            f"{target} is {values.categories[0] if values.categories else 'the same'} in every row: nothing can be "
            "learned about what makes it differ."
        )
    made = network_of_columns(frame.select(used), {}, {}, None, None, {})
    network = made.network
    others = [each for each in network.names if each != target]
    lines = [
        f"# A first model of {name}: {counted(len(frame), 'row')}, {counted(len(frame.columns), 'column')}.",
        "# Change what is wrong, add what you know, and learn:",
        "#     credo learn THIS_FILE TABLE",
        "",
        *_doubts(frame, network, identifiers, constants, made.findings),
        "# Variables, their states from low to high, and where numbers are cut. Write states in another order if these",
        "# are not in the right one.",
        *(_variable_line(network.variable(each)) for each in network.names),
        "",
        *_arrows(frame, network, target, others, tiers),
        "# What you know, one statement a line, such as:",
        *_examples(network, target),
    ]
    return FirstModel("\n".join(lines) + "\n", network)


def _doubts(
    frame: pl.DataFrame,
    network: Network,
    identifiers: Sequence[str],
    constants: Sequence[str],
    findings: Sequence[Finding],
) -> Iterator[str]:
    """Comments about columns that are not what they seem."""
    columns = {name: column_values(frame[name]) for name in network.names}
    codes: dict[str, list[str]] = {}
    for name, values in columns.items():
        numbers = {} if values.numbers is None else suspected_codes(values.numbers)
        for code in [*map(number_text, numbers), *values.doubtful]:
            codes.setdefault(code, []).append(name)
    if codes:
        where = "; ".join(f"{code} in {listing(names)}" for code, names in codes.items())
        yield f"# These look like codes for missing values: {where}."
        option = ", ".join(
            each
            for code, names in codes.items()
            for each in ([code] if not is_plausible_elsewhere(code) else [f"{name}: {code}" for name in names])
        )
        yield f'# If they are, run credo start again with --missing "{option}", or remove the # from what follows:'
        general = [code for code in codes if not is_plausible_elsewhere(code)]
        if general:
            yield f"# {missing_values_line(general)}"
        for code in codes:
            if code not in general:
                yield f"# {missing_values_line([code], codes[code])}"
        yield ""
    if identifiers:
        yield f"# Left out, because every row has another value, as identifiers do: {listing(identifiers)}."
    if constants:
        yield f"# Left out, because all rows have the same value: {listing(constants)}."
    for finding in findings:
        if finding.kind == "column left out":
            yield f"# {finding.message}"
    if identifiers or constants or any(finding.kind == "column left out" for finding in findings):
        yield ""


def _variable_line(variable: Variable) -> str:
    name = name_text(variable.name)
    if variable.cuts is not None:
        return f"{name} is cut at {', '.join(map(number_text, variable.cuts.points))}"
    order = natural_order(variable.states)
    states = order or variable.states
    text = f"variable {name}: {', '.join(map(state_text, states))}"
    if order is None:
        return f"{text}  # in alphabetical order: which is low, which is high?" if len(states) < 10 else text
    return text if variable.is_ordered or len(states) == 2 else f"{text}  # this order was guessed from the words"


def _arrows(
    frame: pl.DataFrame, network: Network, target: str | None, others: Sequence[str], tiers: Sequence[Sequence[str]]
) -> Iterator[str]:
    if target is not None:
        yield f"# Arrows: everything depends on {target}, and on nothing else. A start that predicts {target} well and"
        yield "# is true of few subjects: replace what you know better."
        yield from (f"{name_text(each)} depends on {name_text(target)}" for each in others)
    else:
        yield "# Arrows, such as: outcome depends on age, dose. Without them every variable stands by itself, and"
        yield "# P(outcome | age) is P(outcome)."
    yield ""
    proposed = _proposed(frame, network, tiers)
    if proposed is None:
        yield "# With pip install 'credo[agrum]', arrows that the data suggest are listed here."
    elif proposed:
        yield "# Arrows that the data suggest (pyAgrum's greedy search), the strongest first, with bits of information."
        yield "# They fit the data, which is no proof of a cause: the direction is often a matter of chance."
        for parent, child, strength in proposed[:MOST_PROPOSED]:
            yield f"# {name_text(child)} depends on {name_text(parent)}  # {strength:.3f}"
    yield ""


def _proposed(
    frame: pl.DataFrame, network: Network, tiers: Sequence[Sequence[str]]
) -> list[tuple[str, str, float]] | None:
    """Arrows that structure learning finds, with the mutual information of their ends; None without pyAgrum."""
    try:
        import pyagrum
    except ImportError:
        return None
    import pandas

    from credo.io.tables import read_table

    rows = read_table(network, frame.head(MOST_ROWS))
    codes = np.asarray(rows.codes)
    if not len(codes) or len(network.names) < 2:
        return []
    codes = codes[(codes >= 0).all(axis=1)].astype(np.int64)
    places = [rows.names.index(each) for each in network.names]
    names = [f"v{number}" for number in range(len(places))]
    kept = [number for number, place in enumerate(places) if len(codes) and len(np.unique(codes[:, place])) > 1]
    if len(kept) < 2 or len(codes) < 10:
        return []
    table = pandas.DataFrame({names[number]: [f"s{code}" for code in codes[:, places[number]]] for number in kept})
    learner = pyagrum.BNLearner(table)
    learner.useGreedyHillClimbing()
    ordered = [[names[network.names.index(each)] for each in tier if each in network.names] for tier in tiers]
    ordered = [[each for each in tier if each in table.columns] for tier in ordered]
    if sum(map(bool, ordered)) > 1:
        ranked: dict[str, int] = {each: place for place, tier in enumerate(ordered) for each in tier}
        for one, rank in ranked.items():
            for other, later in ranked.items():
                if rank > later:
                    learner.addForbiddenArc(one, other)
    dag = learner.learnDAG()
    found = []
    for tail, head in dag.arcs():
        parent, child = (int(learner.names()[node][1:]) for node in (tail, head))
        strength = _information(codes[:, places[parent]], codes[:, places[child]])
        found.append((network.names[parent], network.names[child], strength))
    return sorted(found, key=lambda each: -each[2])


def _information(one: Any, other: Any) -> float:
    """The mutual information of two columns of codes, in bits."""
    joint = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(joint, (one, other), 1.0)
    joint /= joint.sum()
    independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum())


def _examples(network: Network, target: str | None) -> Iterator[str]:
    names = [each for each in network.names if each != target]
    about = network.variable(target or names[-1])
    state = state_text((natural_order(about.states) or about.states)[-1])
    event = f"{name_text(about.name)}={state}"
    yield f"# P({event}) is about 30%"
    if names and names[0] != about.name:
        other = network.variable(names[0])
        low, high = other.states[0], other.states[-1]
        cause = name_text(other.name)
        yield f"# P({event} | {cause}={state_text(high)}) >= P({event} | {cause}={state_text(low)})"


def tiers_of(text: str) -> list[list[str]]:
    """`age, sex before disease before symptoms` as a list of lists."""
    return [
        [name.strip().strip('"') for name in tier.split(",") if name.strip()] for tier in re.split(r"\bbefore\b", text)
    ]


def default_target(path: str) -> str:
    """The name of the knowledge file for a table: `patients.csv` → `patients.credo`."""
    return f"{PurePath(path).name.partition('.')[0] or 'model'}.credo"
