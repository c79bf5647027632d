"""One trial: statements about CPTs, half of them replaced by prevalences and diagnostic values, and what is learned.

A prevalence is P(x) of a variable with parents, a diagnostic value P(x | y) of a variable and a descendant, or of a
variable and something else that its parents do not determine. Both are known within a range around the truth, as wide
as ranges of CPT numbers are in `credo.testing.true_statements`.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import numpy as np

import credo
from credo.knowledge.query import Query
from credo.model.graphs import ancestors
from credo.model.network import Network
from credo.statistics.questions import answer, as_batch
from credo.testing import true_statements
from experiments.guo.measure import SMALLEST, mean_divergence
from experiments.running import SHARED, Job, Record, require

NETWORKS: Path = SHARED / "networks"
PER_VARIABLE = 4  # statements, of which half are replaced
QUESTIONS = 60  # that are asked of the result, other than those that were stated
STATEMENT_SEED, DATA_SEED = 300, 7000
KINDS = ("none", "half", "half and general", "all")
OPTIONS = credo.PosteriorOptions(draws=150, warmup=150, max_draws=300)


def run_trial(job: Job) -> list[Record]:
    """One record for a network, a draw, a number of rows, a kind of knowledge and a method."""
    name, draw, rows, kind, method = job
    truth = credo.read_network(require(NETWORKS / f"{name}.bif", "The network"))
    bare = truth.without_cpts()
    rng = np.random.default_rng([STATEMENT_SEED + draw, len(truth)])
    about_cpts = list(true_statements(truth, PER_VARIABLE, seed=STATEMENT_SEED + draw))
    half = about_cpts[::2]
    known = [general_query(truth, rng) for _ in range(len(about_cpts) - len(half))]
    stated = [general_statement(truth, query, rng) for query in known]
    asked: list[Query] = []
    while len(asked) < QUESTIONS:
        query = general_query(truth, rng)
        if not any(_is_about_the_same(query, other) for other in known):
            asked.append(query)
    given = {"none": [], "half": half, "half and general": [*half, *stated], "all": about_cpts}[kind]
    frame = truth.sample(rows, seed=DATA_SEED + draw)
    began = perf_counter()
    fit = credo.fit(bare, frame, credo.Knowledge(bare, given), method=method, seed=draw, posterior=OPTIONS)
    seconds = perf_counter() - began
    return [
        {
            "network": name,
            "draw": draw,
            "rows": rows,
            "knowledge": kind,
            "method": method,
            "divergence": mean_divergence(truth, fit.network),
            "divergence of answers": float(np.mean([_divergence(truth, fit.network, query) for query in asked])),
            "statements": len(given),
            "violated": len(fit.violations()),
            "status": fit.status.name,
            "seconds": round(seconds, 2),
        }
    ]


def general_query(network: Network, rng: np.random.Generator) -> Query:
    """A prevalence or a diagnostic value, at random; its condition occurs."""
    cpts = as_batch(network)
    while True:
        name = str(rng.choice(network.names))
        state = str(rng.choice(network.states(name)))
        if rng.random() < 0.5:
            if network.parents[name]:
                return Query({name: (state,)})
            continue
        other = str(rng.choice(network.names))
        if other == name or network.parents[name] == (other,) or not _related(network, name, other):
            continue
        query = Query({name: (state,)}, {other: (str(rng.choice(network.states(other))),)})
        if np.exp(answer(network, cpts, query)[1][0]) > 0.001:
            return query


def general_statement(network: Network, query: Query, rng: np.random.Generator) -> str:
    """The probability that a query asks for, between two numbers."""
    value = probability(network, query)
    width = float(rng.choice([0.05, 0.1, 0.2]))
    low, high = max(0.0, value - width * rng.random()), min(1.0, value + width * max(rng.random(), 0.01))
    return f"{np.floor(1e4 * low) / 1e4:.4f} <= {query} <= {np.ceil(1e4 * high) / 1e4:.4f}"


def probability(network: Network, query: Query) -> float:
    """The answer of a network."""
    return float(answer(network, as_batch(network), query)[0].ravel()[0])


def _is_about_the_same(query: Query, other: Query) -> bool:
    """Whether two ask for states of the same variable under the same condition."""
    return set(query.targets) == set(other.targets) and dict(query.evidence) == dict(other.evidence)


def _related(network: Network, name: str, other: str) -> bool:
    """Whether the two have an ancestor in common: else one says nothing about the other."""
    return bool(ancestors(network.parents, [name]) & ancestors(network.parents, [other]))


def _divergence(truth: Network, learned: Network, query: Query) -> float:
    """Σ p log(p/q) over the event and its opposite."""
    p, q = probability(truth, query), np.clip(probability(learned, query), SMALLEST, 1.0 - SMALLEST)
    return float(sum(x * np.log(x / y) for x, y in ((p, q), (1.0 - p, 1.0 - q)) if x > 0.0))
