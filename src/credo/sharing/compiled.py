"""A learned network as data that a page can evaluate: its factors under all draws, and the plan to sum them.

The plan is that of `credo.statistics.inference.batched` for the marginals of all variables when nothing is known. What
is known later multiplies the step that sums its variable out: 1 for an observed state and 0 for the others, or the
weights of an uncertain finding. An intervention replaces a CPT by one that is certain. So one plan serves every case,
exactly, and a page needs no other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from credo.errors import OptionError, QueryError, TooLargeError, readable_bytes
from credo.knowledge.query import Query
from credo.model.expansion import expand
from credo.model.graphs import ancestors
from credo.model.network import Network
from credo.posterior.draws import PosteriorResult
from credo.progress import ProgressEvent, ProgressListener
from credo.questions.answers import query
from credo.questions.question_draws import draws_for, why_no_interval
from credo.results.fit_results import Fit
from credo.statistics.questions import as_batch, batch_size, marginal_factors
from credo.types import Numbers

MOST_BYTES = 32_000_000  # of numbers; the page is a third larger, and mail takes no more
MOST_WORK = 15_000_000  # cells of all cliques under all draws: about a second for an answer in a browser


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a page evaluates.

    Attributes
    ----------
    network
        The network, in which noisy families are ordinary CPTs; its first variables are not always those of the fit.
    plan
        Factors and steps as JSON can hold them.
    numbers
        The cells of all factors, one after the other, each under all draws; then the CPTs themselves.
    draws
        How many draws there are; 1 without.
    note
        Why there are no intervals; empty where there are.
    """

    network: Network
    plan: Mapping[str, Any]
    numbers: Numbers
    draws: int
    note: str


def compiled(fit: Fit, names: Collection[str] | None = None) -> Compiled:
    """Compile a fit with its draws; of it only what some variables depend on, where these are named.

    Raises
    ------
    TooLargeError
        If a browser would wait too long for an answer, or the page would be too large to send.
    """
    network = expand(fit.network).network
    if names is not None:
        network = _ancestral(network, names)
    factors = marginal_factors(network, {})
    drawn, note = None, why_no_interval(fit)
    if not note:
        _require_small(network, factors.plan.cells, 1_000)
        drawn, note = draws_for(fit, network, factors)
    cpts = as_batch(network) if drawn is None else drawn
    count = batch_size(cpts)
    _require_small(network, factors.plan.cells, count)
    arrays = factors.arrays(cpts)
    parts: list[Numbers] = []
    described, offset = [], 0
    for array, name, scope in zip(arrays, factors.families, factors.plan.scopes, strict=False):
        cells = np.ascontiguousarray(np.moveaxis(array, 0, -1))  # the draws of one cell are neighbours
        described.append({"variable": network.names.index(name), "scope": scope, "draws": len(array), "at": offset})
        parts.append(cells.ravel())
        offset += cells.size
    own: list[int] = []  # of each CPT its means, and where it has draws the ends of its intervals behind them
    posterior = None if drawn is None else fit.posterior
    for name in network.names:
        own.append(offset)
        cpt = np.asarray(network.cpt_array(name), dtype=np.float64)
        ends = (cpt, cpt)
        if isinstance(posterior, PosteriorResult) and name in posterior.names:
            ends = posterior.interval(name)
        parts += [each.ravel() for each in ((cpt, *ends) if posterior is not None else (cpt,))]
        offset += sum(each.size for each in parts[len(parts) - (1 if posterior is None else 3) :])
    steps = [
        {"variable": step.variable, "factors": step.factors, "clique": step.clique, "message": step.message}
        for step in factors.plan.steps
    ]
    return Compiled(network, {"factors": described, "steps": steps, "means": own}, np.concatenate(parts), count, note)


def _ancestral(network: Network, names: Collection[str]) -> Network:
    """The network of some variables and everything that they depend on: the others change nothing about them."""
    kept = ancestors(network.parents, names)
    own = [each for each in network.variables if each.name in kept]
    parents = {each.name: network.parents[each.name] for each in own}
    return Network(own, parents, {name: network.cpt_array(name) for name in parents}, network.name)


def _require_small(network: Network, cells: int, draws: int) -> None:
    numbers = sum(network.configurations(name) * len(network.states(name)) for name in network.names) * draws
    if 8 * numbers <= MOST_BYTES and cells * draws <= MOST_WORK:
        return
    size, most = readable_bytes(8 * numbers * 4 // 3), readable_bytes(MOST_BYTES * 4 // 3)
    raise TooLargeError(
        f"This network is too large for a page that answers every question: it would have {size} (at most {most}), and "
        f"each answer would take {cells * draws:,} steps (at most {MOST_WORK:,}). Choose what people can say about a "
        "case and what they want to know, with --input and --target (inputs and targets in Python): the answers are "
        "then computed beforehand.",
        8 * numbers,
    )


# Answers computed beforehand ------------------------------------------------------------------------------------------


MOST_CASES = 10_000
COMPUTING = "Computing the answers"


def table_of_answers(fit: Fit, inputs: Sequence[str], targets: Sequence[str], progress: ProgressListener) -> Numbers:
    """The probability of each state of each target and the ends of its interval, for every case: (cases, numbers).

    Cases count the states of the inputs, the last one fastest; the first number of each stands for "not known". NaN
    stands for a case that is impossible, and for the ends of an interval that there is not.
    """
    network = fit.network
    if not inputs or not targets:
        raise OptionError("A form needs inputs, which people can say, and targets, which they want to know.")
    cases = prod(len(network.states(name)) + 1 for name in inputs)
    if cases > MOST_CASES:
        raise TooLargeError(
            f"With these {len(inputs)} inputs there are {cases:,} cases to compute beforehand; at most {MOST_CASES:,} "
            "fit into a page. Choose fewer inputs, or such with fewer states.",
            cases,
        )
    width = 3 * sum(len(network.states(name)) for name in targets)
    found = np.full((cases, width), np.nan)
    known = [(None, *network.states(name)) for name in inputs]
    for number, states in enumerate(product(*known)):
        evidence = {name: (state,) for name, state in zip(inputs, states, strict=True) if state is not None}
        found[number] = _answers(fit, evidence, targets, width)
        progress(ProgressEvent(COMPUTING, (number + 1) / cases))
    return found


def _answers(fit: Fit, evidence: Mapping[str, tuple[str, ...]], targets: Sequence[str], width: int) -> Numbers:
    numbers: list[float] = []
    for target in targets:
        if target in evidence:
            rows = [[float(state == evidence[target][0])] * 3 for state in fit.network.states(target)]
        else:
            try:
                answer = query(fit, Query({target: ()}, evidence))
            except QueryError:  # it is impossible
                return np.full(width, np.nan)
            frame = answer.frame.select("probability", "low", "high")
            rows = [[np.nan if each is None else each for each in row] for row in frame.iter_rows()]
        numbers += [each for row in rows for each in row]
    return np.array(numbers)
