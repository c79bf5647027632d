"""Statements that may be wrong: whose they are, how far each is believed, and what the draws say of them.

An expert asserts a true statement s with probability r and a false one with 1 − r:

    p(θ | data, statements)  ∝  p(θ) · L(data | θ) · Π_s (r_s·w_s)^[θ ∈ C_s] · (1 − r_s)^[θ ∉ C_s]

C_s is where all constraints of s hold: a statement is true or false as a whole. r_s is the confidence that the
statement was given, or the reliability of its expert, which is given, or learned: r ~ Beta(a, b), and given which n
of N statements are true r ~ Beta(a + n, b + N − n). w_s = max(1, (1 − p_s)/p_s), p_s being the probability of the
statement before anything is known (`explain/doubting.py`), so that before any data a narrow statement is as probable
as its expert is reliable. Without w_s it would be nearly certainly false for being narrow, and would count against
its expert although nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from credo.constraints.blocks import Block
from credo.constraints.constraint_set import LinearConstraints, joined
from credo.errors import OptionError
from credo.posterior.beliefs import ExpertReliability, StatementBelief
from credo.sampling.general_updates import DrawnGeneral
from credo.tolerances import EQUALITY_WIDTH
from credo.types import Flags, Indices, Numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BELIEVED = (9.0, 1.0)  # a and b of a reliability about which nothing is known: right nine times in ten
ROUNDING = 1e-12
LEAST_FALSE = 10  # draws in which a statement is false, to know how probable it is by itself;
LEAST_WEIGHED = 30  # and what all draws are worth, weighted as if it had not been made


@dataclass(frozen=True, slots=True)
class Expert:
    """Someone whose statements may be wrong.

    Attributes
    ----------
    name
        As the knowledge calls the expert; empty for whoever made the statements outside of experts' blocks.
    reliability
        How often the expert is right, where that is given; None: it is learned.
    prior
        a and b of the Beta distribution of a learned reliability.
    """

    name: str = ""
    reliability: float | None = None
    prior: tuple[float, float] = BELIEVED


@dataclass(frozen=True, slots=True, eq=False)
class DoubtedStatements:
    """The statements that may be wrong, and how far each is believed before the data."""

    numbers: Indices  # (statements,) in the knowledge
    experts: tuple[Expert, ...]
    expert_of: Indices  # (statements,)
    confidences: Numbers  # (statements,) NaN: the reliability of its expert counts
    log_widening: Numbers  # (statements,) log w
    false: Flags  # (statements,) which fixed CPTs contradict, so that nothing can make them true

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def learned(self) -> Indices:
        """The expert whose reliability each statement informs; −1 where it informs none."""
        given = np.array([expert.reliability is not None for expert in self.experts], dtype=np.bool_)
        informs = np.isnan(self.confidences) & ~given[self.expert_of]
        return np.where(informs, self.expert_of, -1)

    def log_odds(self, true: Flags, rng: np.random.Generator) -> Numbers:
        """log r·w/(1 − r) of each statement, (statements, chains), with reliabilities drawn given what is `true`."""
        learned, chains = self.learned, true.shape[1]
        reliabilities = np.empty((len(self.experts), chains))
        for number, expert in enumerate(self.experts):
            if expert.reliability is not None:
                reliabilities[number] = expert.reliability
            else:
                a, b = self.reliability_given(number, true[learned == number])
                reliabilities[number] = rng.beta(a, b)
        own = np.where(np.isnan(self.confidences)[:, None], reliabilities[self.expert_of], self.confidences[:, None])
        own = np.clip(own, 1e-9, 1.0 - 1e-9)
        return np.asarray(np.log(own / (1.0 - own)) + self.log_widening[:, None])

    def reliability_given(self, number: int, true: Flags) -> tuple[Numbers, Numbers]:
        """a and b of the reliability of an expert, given which of the statements are true, (statements, …)."""
        a, b = self.experts[number].prior
        held = true.sum(axis=0)
        return a + held, b + len(true) - held


# Constraints ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class DoubtedConstraints:
    """The constraints of doubted statements on the parameters of all blocks, equalities as two of them."""

    linear: LinearConstraints  # `statements` are meanings
    statements: DoubtedStatements
    meanings: Indices  # (statements,) the same number for statements that say the same
    blocks: Flags  # which blocks are updated under them
    parameters: int  # how many all blocks have
    general: DrawnGeneral | None = None  # the statements about any probability, doubted ones among them
    places: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))  # of these, among the statements

    def true(self, theta: Numbers) -> Flags:
        """Which statements hold at points, (…, parameters of blocks): (statements, …)."""
        flat = theta.reshape(prod(theta.shape[:-1]), theta.shape[-1])  # there may be no parameters
        broken = self.linear.matrix(flat.shape[1]) @ flat.T > self.linear.bounds[:, None] + ROUNDING
        wrong = np.asarray(self.members @ broken.astype(np.float64) > 0.0, dtype=np.bool_)[self.meanings]
        if self.general is not None and len(self.places):
            numbers = self.statements.numbers[self.places].tolist()
            wrong[self.places] = ~self.general.true(flat[:, : self.parameters], numbers)
        wrong[self.statements.false] = True
        return ~wrong.reshape(len(self.statements), *theta.shape[:-1])

    @property
    def general_meanings(self) -> dict[int, int]:
        """The meaning of each doubted statement about any probability, by its number."""
        return {int(self.statements.numbers[place]): int(self.meanings[place]) for place in self.places}

    @property
    def count(self) -> int:
        """How many different meanings there are."""
        return int(self.meanings.max(initial=-1)) + 1

    @property
    def members(self) -> csr_array:
        """Which constraints each meaning has, (meanings, constraints)."""
        from scipy.sparse import csr_array

        statements, every = self.linear.statements, np.arange(len(self.linear))
        return csr_array((np.ones(len(every)), (statements, every)), shape=(self.count, len(every)))

    @property
    def speakers(self) -> csr_array:
        """Which statements have each meaning and can be true, (meanings, statements)."""
        from scipy.sparse import csr_array

        every = np.arange(len(self.meanings))
        possible = (~self.statements.false).astype(np.float64)
        return csr_array((possible, (self.meanings, every)), shape=(self.count, len(every)))


def apart(
    blocks: Sequence[Block], statements: DoubtedStatements, general: DrawnGeneral | None = None
) -> tuple[tuple[Block, ...], DoubtedConstraints]:
    """The blocks without the constraints of doubted statements, and these constraints.

    The distributions stay where they are: those that nothing else constrains still belong to their block. With
    `general` statements, the blocks are those that `with_general_blocks` makes.
    """
    position = np.full(max([*(int(n) + 1 for n in statements.numbers), 0]), -1, dtype=np.int64)
    position[statements.numbers] = np.arange(len(statements))
    kept, parts, firsts, has = [], [], [], []
    places, reached = _general_places(statements, general)
    first = 0
    for block in blocks:
        own = block.linear.statements
        doubted = (own >= 0) & (own < len(position))
        doubted[doubted] = position[own[doubted]] >= 0
        has.append(bool(doubted.any()))
        if doubted.any():
            _require_inequalities(block, ~doubted)
            parts.append(block.linear.take(doubted))
            firsts.append(first)
            block = replace(
                block, linear=block.linear.take(~doubted), constraint_numbers=block.constraint_numbers[~doubted]
            )
        elif not block.products and not block.linear.equality.any():
            has[-1] = any(name in reached for name, _ in block.configurations)
        kept.append(block)
        first += block.size
    linear = joined(parts, firsts)
    linear = as_inequalities(replace(linear, statements=position[linear.statements]))
    starts = np.concatenate([[0], *(np.diff(block.distributions) for block in blocks)]).cumsum()
    linear, meanings = _without_repetition(linear, len(statements), starts, set(places.tolist()))
    flags = np.array(has, dtype=np.bool_)
    return tuple(kept), DoubtedConstraints(linear, statements, meanings, flags, first, general, places)


def _general_places(statements: DoubtedStatements, general: DrawnGeneral | None) -> tuple[Indices, set[str]]:
    """The doubted statements about any probability, and whose CPTs they reach."""
    if general is None:
        return np.zeros(0, dtype=np.int64), set()
    stated = general.region.statements
    numbers = set(stated.statements.tolist())
    places = [place for place, number in enumerate(statements.numbers.tolist()) if number in numbers]
    doubted = set(statements.numbers[places].tolist())
    owned = zip(stated.statements.tolist(), stated.reached, strict=True)
    return np.array(places, dtype=np.int64), {name for number, own in owned if number in doubted for name in own}


def _without_repetition(
    linear: LinearConstraints, count: int, starts: Indices, others: Collection[int] = ()
) -> tuple[LinearConstraints, Indices]:
    """The constraints of statements that differ, renumbered, and the number of each statement.

    "P(no) ≤ 0.3" and "P(yes) ≥ 0.7" are the same: constraints are compared in the form in which the last state of a
    distribution has no coefficient, and the largest coefficient is one. `others` have no such constraints, and each a
    meaning of its own.
    """
    keys: list[list[tuple[object, ...]]] = [[(number,)] if number in others else [] for number in range(count)]
    owners = np.searchsorted(starts, linear.indices, side="right") - 1
    for number, statement in enumerate(linear.statements.tolist()):
        entries = slice(linear.starts[number], linear.starts[number + 1])
        form: dict[int, float] = {}
        bound = float(linear.bounds[number])
        for d in np.unique(owners[entries]).tolist():
            own = linear.indices[entries][owners[entries] == d]
            values = np.zeros(starts[d + 1] - starts[d])
            np.add.at(values, own - starts[d], linear.coefficients[entries][owners[entries] == d])
            bound -= float(values[-1])
            form |= {int(starts[d]) + k: float(v) for k, v in enumerate(values - values[-1]) if abs(v) > ROUNDING}
        largest = max(map(abs, form.values()), default=1.0)
        rounded = tuple((i, round(value / largest, 9)) for i, value in sorted(form.items()))
        keys[statement].append((rounded, round(bound / largest, 9)))
    known: dict[object, int] = {}
    meanings = np.array([known.setdefault(frozenset(key), len(known)) for key in keys], dtype=np.int64)
    firsts = np.zeros(count, dtype=np.bool_)
    firsts[np.unique(meanings, return_index=True)[1]] = True
    kept = linear.take(firsts[linear.statements])
    return replace(kept, statements=meanings[kept.statements]), meanings


def _require_inequalities(block: Block, hard: Flags) -> None:
    """Refuse what must hold beside doubted statements and is no inequality."""
    equal = block.linear.statements[hard & block.linear.equality]
    for number, what in (
        *((product.statement, "compares products of probabilities") for product in block.products),
        *((int(number), "is an equality") for number in equal),
    ):
        raise OptionError(
            f"Statement {number + 1} {what} and must hold, but other statements about the same CPT may be wrong: the "
            "draws that weigh these move two numbers at a time, which it does not allow. Write a range instead, leave "
            "it out, or do not doubt the others."
        )


def as_inequalities(linear: LinearConstraints) -> LinearConstraints:
    """The constraints with two inequalities for each equality, sorted by statement."""
    equal = linear.equality
    above = replace(linear, bounds=linear.bounds + np.where(equal, EQUALITY_WIDTH, 0.0), equality=equal & False)
    lower = linear.take(equal)
    below = replace(
        lower,
        coefficients=-lower.coefficients,
        bounds=EQUALITY_WIDTH - lower.bounds,
        equality=np.zeros(len(lower), dtype=np.bool_),
    )
    both = joined((above, below))
    return both.take(np.argsort(both.statements, kind="stable"))


# What the draws say ---------------------------------------------------------------------------------------------------


def weights_without(statements: DoubtedStatements, true: Flags) -> Iterator[Numbers]:
    """The weight of each draw as if a statement had not been made, for each; `true` is (statements, draws).

    1/(r·w) where it is true, 1/(1 − r) where not. Where r is learned, it depends on what is true: E[1/r] and
    E[1/(1 − r)] given that are known, since r is then a Beta variable.
    """
    learned = statements.learned
    reliable = {number: statements.reliability_given(number, true[learned == number]) for number in set(learned) - {-1}}
    for place in range(len(statements)):
        number, given = int(learned[place]), statements.confidences[place]
        if number >= 0:
            a, b = reliable[number]
            of_true, of_false = ((a + b - 1.0) / np.maximum(each - 1.0, ROUNDING) for each in (a, b))
        else:
            if np.isnan(given):
                given = statements.experts[statements.expert_of[place]].reliability or 0.0
            of_true, of_false = 1.0 / max(given, ROUNDING), 1.0 / max(1.0 - given, ROUNDING)
        yield np.where(true[place], of_true * np.exp(-statements.log_widening[place]), of_false)


def beliefs(statements: DoubtedStatements, true: Flags, errors: Numbers) -> Iterator[StatementBelief]:
    """How probable each statement is; `true` is (statements, draws)."""
    for place, weights in enumerate(weights_without(statements, true)):
        expert = statements.experts[statements.expert_of[place]]
        believed = float(statements.confidences[place])
        if np.isnan(believed):
            believed = expert.prior[0] / sum(expert.prior) if expert.reliability is None else expert.reliability
        yield StatementBelief(
            int(statements.numbers[place]),
            expert.name,
            float(true[place].mean()),
            probability_without(weights, true[place]),
            float(errors[place]),
            believed,
        )


def probability_without(weights: Numbers, true: Flags) -> float | None:
    """The probability of a statement as if it had not been made; None where too few draws show what it would be.

    A statement that is true in nearly all draws may be so because it was made: nothing was seen of the rest. One that
    is false although it was made is no more probable without that.
    """
    if int((~true).sum()) < LEAST_FALSE or weights.sum() ** 2 < LEAST_WEIGHED * (weights @ weights):
        return None
    return float(weights @ true / weights.sum())


def reliabilities(statements: DoubtedStatements, true: Flags, seed: int) -> Iterator[ExpertReliability]:
    """Each expert's reliability: a mixture of Beta distributions, one for each draw of what is true."""
    learned = statements.learned
    rng = np.random.default_rng([seed, len(statements)])
    for number, expert in enumerate(statements.experts):
        own = (statements.expert_of == number) & np.isnan(statements.confidences)
        if not own.any():  # nothing depends on how reliable this one is
            continue
        if expert.reliability is not None:
            given = expert.reliability
            yield ExpertReliability(expert.name, given, given, given, int(own.sum()), True)
        else:
            a, b = statements.reliability_given(number, true[learned == number])
            low, high = np.quantile(rng.beta(a, b), (0.025, 0.975)).tolist()
            yield ExpertReliability(expert.name, float((a / (a + b)).mean()), low, high, int(own.sum()), False)
