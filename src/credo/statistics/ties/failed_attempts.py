"""The attempts at tied rows that failed, drawn given CPTs: how sampling divides by the probability of the ties.

Where rows were drawn until they agreed, the density of CPTs has a factor 1/P for each tie, P being the probability that
its rows agree. It is what attempts that failed sum to,

    1/P = Σ_k (1 − P)^k,

so that CPTs and failed attempts together have the density of ordinary rows, and CPTs alone the one that is wanted
[Rao, Lin and Dunson, 2016]. Given CPTs, m ties of one kind had k ~ NegativeBinomial(m, P) failed attempts. An attempt
at n equal values, each x with probability p(x), ends at the first value that differs:

    j values x, then a value y ≠ x, with chances p(x)^j · p(y)        (1 ≤ j < n),

which sum to 1 − Σ_x p(x)^n. An attempt at a pair that is to differ fails with two values that do not go together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credo.statistics.inference.draw_missing import WHOLE
from credo.statistics.ties.factors import Scope
from credo.statistics.ties.relaxation import Relaxation
from credo.types import Flags, Indices, Numbers

LEAST = 1e-12  # of the probability of a tie, which bounds how many attempts are drawn
MOST_COMBINATIONS = 256  # of values of the rows of a tie but one: where more may fail, chains hardly move


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """Ties of one kind: so many sets of rows that share the same variables, or pairs that differ in them."""

    column: int  # of the relaxation without data, whose marginal the values of each row have
    ties: int
    rows: int  # of each tie
    allowed: Flags | None  # (states, states) which values of a pair go together; None where all rows are equal


def agreements_of(chance: Relaxation, sizes: Indices) -> tuple[Agreement, ...]:
    """The kinds of ties over rows without values, none of which are in two ties."""
    factors = chance.members.factors
    found: dict[tuple[int, int, int], int] = {}
    totals = factors.totals
    for number in range(len(factors)):
        key = (
            int(chance.members.columns[factors.starts[number]]),
            round(float(totals[number])),
            int(factors.scope[number]) if factors.differ[number] else -1,
        )
        found[key] = found.get(key, 0) + 1
    return tuple(
        Agreement(column, ties, rows, pairs_of(factors.scopes[scope], sizes) if scope >= 0 else None)
        for (column, rows, scope), ties in found.items()
    )


def why_not_conditioned(chance: Relaxation) -> str:
    """Why failed attempts cannot be drawn, as a clause; empty where they can."""
    factors = chance.members.factors
    if not chance.is_direct:
        return (
            "rows are in several ties at once, on whose values together it is conditioned (tie_reading=joint is drawn)"
        )
    totals = factors.totals
    if (np.abs(totals - np.round(totals)) > WHOLE * np.maximum(totals, 1.0)).any():
        return "the weights of rows that are tied do not add up to a whole number"
    with np.errstate(over="ignore"):
        combinations = chance.states.astype(np.float64) ** (totals - 1.0)
    if combinations.max(initial=0.0) > MOST_COMBINATIONS:
        rows, states = int(totals[combinations.argmax()]), int(chance.states[combinations.argmax()])
        return f"{rows} rows of one tie agree on one of {states} values too rarely for the attempts to be drawn"
    return ""


def pairs_of(scope: Scope, sizes: Indices) -> Flags:
    """Which states of a tuple go together in a pair: each variable is shared, or differs. (states, states)"""
    digits = scope.digits(sizes)
    same = digits[:, None, :] == digits[None, :, :]
    return np.asarray((same != np.array(scope.differs)).all(axis=2))


def failed_rows(agreement: Agreement, chances: Numbers, rng: np.random.Generator, least: float = LEAST) -> Indices:
    """How many rows of failed attempts have each value, (states, chains), given its `chances`, (states, chains).

    Where ties are less probable than `least`, only as many attempts fail as if they were.
    """
    if agreement.allowed is None:
        return _failed_sets(agreement, chances, rng, least)
    return _failed_pairs(agreement, agreement.allowed, chances, rng, least)


def _failed_sets(agreement: Agreement, chances: Numbers, rng: np.random.Generator, least: float) -> Indices:
    states, chains = chances.shape
    longest = agreement.rows - 1
    if states == 1 or longest < 1:
        return np.zeros((states, chains), dtype=np.int64)
    attempts = _attempts(agreement.ties, (chances**agreement.rows).sum(axis=0), rng, least)
    own = chances.T[:, :, None]  # (chains, states, 1)
    lengths = np.arange(1, longest + 1)
    others = np.repeat(chances.T[:, None, :], states, axis=1)  # (chains, first value, the one that differs)
    others[:, np.arange(states), np.arange(states)] = 0.0
    rest = others.sum(axis=2, keepdims=True)
    runs = own**lengths * rest  # (chains, states, lengths)
    drawn = rng.multinomial(attempts, shares_of(runs.reshape(chains, -1))).reshape(runs.shape)
    last = rng.multinomial(drawn.sum(axis=2), shares_of(others))
    return np.asarray((drawn @ lengths + last.sum(axis=1)).T)


def _failed_pairs(
    agreement: Agreement, allowed: Flags, chances: Numbers, rng: np.random.Generator, least: float
) -> Indices:
    states, chains = chances.shape
    pairs = chances.T[:, :, None] * chances.T[:, None, :]
    success = (pairs * allowed).sum(axis=(1, 2))
    attempts = _attempts(agreement.ties, success, rng, least)
    failed = np.where(allowed, 0.0, pairs).reshape(chains, -1)
    drawn = rng.multinomial(attempts, shares_of(failed)).reshape(chains, states, states)
    return np.asarray((drawn.sum(axis=1) + drawn.sum(axis=2)).T)


def _attempts(ties: int, success: Numbers, rng: np.random.Generator, least: float) -> Indices:
    return np.asarray(rng.negative_binomial(ties, np.clip(success, least, 1.0)))


def shares_of(values: Numbers) -> Numbers:
    """Numbers that sum to one along the last axis; where all are zero, nothing is drawn of them."""
    values = np.maximum(values, 0.0)
    total = values.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0.0, values, 1.0) / np.where(total > 0.0, total, values.shape[-1]))
