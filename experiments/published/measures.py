"""How far an estimate is from the truth, and how often intervals hold it.

- `weighted`: Σ_j P(j) KL(θ_j ‖ θ'_j) in nats, the mean over all CPTs; j are the configurations of the parents;
- `unweighted`: the mean over all configurations of all CPTs;
- `queries`: the mean absolute error of P(x | e), over random questions with one to three observed variables.

Estimates below 1e-6 are replaced by 1e-6, so that a wrong zero is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import credo
from credo.errors import CredoError
from credo.knowledge.query import Query
from credo.model.network import Network
from credo.questions.answers import query_network
from credo.questions.marginals import marginals_of_network
from credo.types import Flags, Numbers
from experiments.guo.measure import SMALLEST, mean_divergence
from experiments.running import Record

MEASURES = ("weighted", "unweighted", "queries")
KINDS = ("numbers", "edges", "shares", "large shares", "answers")  # of true values that intervals should hold
LEVELS = (0.5, 0.8, 0.95)
QUERIES = 20
MOST_OBSERVED = 3
MANY_CONFIGURATIONS = 8  # of a variable whose share is also counted apart


def random_queries(network: Network, seed: int, count: int = QUERIES) -> list[tuple[Query, float]]:
    """Questions P(x | e), whose evidence is part of a row of data, and their true answers."""
    rng = np.random.default_rng([seed, 2])
    names = list(network.names)
    rows = network.sample(count, seed=seed).to_dicts()
    found = []
    for row in rows:
        chosen = [str(each) for each in rng.permutation(names)[: 1 + rng.integers(1, MOST_OBSERVED + 1)]]
        states = network.states(chosen[0])
        target = {chosen[0]: (states[int(rng.integers(len(states)))],)}
        query = Query(target, {name: (row[name],) for name in chosen[1:]})
        found.append((query, answer_of(network, query)))
    return found


def answer_of(network: Network, query: Query) -> float:
    """P(x | e) under one set of CPTs; where these rule the evidence out, all states are as probable."""
    try:
        return float(query_network(network, query).probability)
    except CredoError:
        (name,) = query.targets
        return 1.0 / len(network.states(name))


def floored(network: Network) -> Network:
    """The same network without numbers below 1e-6."""
    cpts = {name: np.maximum(network.cpt_array(name), SMALLEST) for name in network.names}
    return network.with_cpts({name: cpt / cpt.sum(axis=-1, keepdims=True) for name, cpt in cpts.items()})


def accuracy(
    truth: Network,
    estimate: Network,
    queries: list[tuple[Query, float]],
    ask: Callable[[Query], float] | None = None,
) -> Record:
    """The three measures; `ask` answers questions where the estimate is not one set of CPTs."""
    ask = ask or (lambda query: answer_of(estimate, query))
    errors = [abs(ask(query) - true) for query, true in queries]
    return {
        "weighted": truth.kl(floored(estimate)) / len(truth),
        "unweighted": mean_divergence(truth, estimate),
        "queries": float(np.mean(errors)),
    }


def within(kind: str, level: float) -> str:
    """The name of the column that counts true values within intervals of a level."""
    return f"{kind} within {level:.0%}"


@dataclass
class Tally:
    """How many numbers of one kind there are, and how many their intervals hold, by level."""

    total: int = 0
    held: dict[float, int] = field(default_factory=lambda: dict.fromkeys(LEVELS, 0))

    def add(self, level: float, inside: Flags) -> None:
        """Count numbers at one level."""
        self.held[level] += int(inside.sum())
        self.total += int(inside.size) if level == LEVELS[-1] else 0


def coverage(truth: Network, fit: credo.Fit, queries: list[tuple[Query, float]]) -> Record:
    """How many numbers of CPTs, shares and answers there are, and how many of them intervals of each level hold.

    First states are left out, because the others determine them; in questions every state is asked for. `edges` are
    the numbers of CPTs that are 0 or 1; `large shares` those of variables with at least eight configurations.
    """
    tallies = {kind: Tally() for kind in KINDS}
    true_shares = marginals_of_network(truth)["probability"].to_numpy()
    owners = [(name, k) for name in truth.names for k in range(len(truth.states(name)))]
    later = np.array([k > 0 for _, k in owners])
    large = np.array([truth.configurations(name) >= MANY_CONFIGURATIONS for name, _ in owners])
    for level in LEVELS:
        for name in truth.names:
            low, high = fit.interval_arrays(name, level)
            true = truth.cpt_array(name)
            inside = _held(true, low, high)[..., 1:]
            tallies["numbers"].add(level, inside)
            tallies["edges"].add(level, inside[(true[..., 1:] == 0.0) | (true[..., 1:] == 1.0)])
        frame = fit.marginals(level=level)
        inside = _held(true_shares, frame["low"].to_numpy(), frame["high"].to_numpy())
        tallies["shares"].add(level, inside[later])
        tallies["large shares"].add(level, inside[later & large])
        for query, true_answer in queries:
            low, high = fit.query(query, level).interval
            tallies["answers"].add(level, _held(np.array([true_answer]), low, high))
    record: Record = {}
    for kind, tally in tallies.items():
        record[kind] = tally.total
        record |= {within(kind, level): held for level, held in tally.held.items()}
    return record


def _held(true: Numbers, low: Numbers | float, high: Numbers | float) -> Flags:
    """Which numbers are in their intervals, up to rounding."""
    return np.asarray((low <= true + 1e-12) & (true <= high + 1e-12))
