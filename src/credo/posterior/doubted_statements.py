"""Statements that may be wrong: whose they are, how far each is believed, and what the draws say of them.

An expert asserts a true statement s with probability r and a false one with 1 − r:

    p(θ | data, statements)  ∝  p(θ) · L(data | θ) · Π_s (r_s·w_s)^[θ ∈ C_s] · (1 − r_s)^[θ ∉ C_s]

C_s is where all constraints of s hold: a statement is true or false as a whole. An influence is true where the effects
of that parent in the base have its sign. r_s is the confidence that the
statement was given, or the reliability of its expert, which is given, or learned: r ~ Beta(a, b), and given which n
of N statements are true r ~ Beta(a + n, b + N − n). w_s = max(1, (1 − p_s)/p_s), p_s being the probability of the
statement before anything is known (`explain/doubting.py`), so that before any data a narrow statement is as probable
as its expert is reliable. Without w_s it would be nearly certainly false for being narrow, and would count against
its expert although nothing speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from credo.posterior.beliefs import ExpertReliability, StatementBelief
from credo.types import Flags, Indices, Numbers

BELIEVED = (9.0, 1.0)  # a and b of a reliability about which nothing is known: right nine times in ten
ROUNDING = 1e-12  # of a reliability's parameter
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
    log_prior_correction: Numbers  # (statements,) log w
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
        """log r·w/(1 − r) of each statement, with reliabilities drawn given what is `true`; both (statements,)."""
        learned = self.learned
        reliabilities = np.empty(len(self.experts))
        for number, expert in enumerate(self.experts):
            if expert.reliability is not None:
                reliabilities[number] = expert.reliability
            else:
                a, b = self.reliability_given(number, true[learned == number])
                reliabilities[number] = rng.beta(a, b)
        own = np.where(np.isnan(self.confidences), reliabilities[self.expert_of], self.confidences)
        own = np.clip(own, 1e-9, 1.0 - 1e-9)
        return np.asarray(np.log(own / (1.0 - own)) + self.log_prior_correction)

    def reliability_given(self, number: int, true: Flags) -> tuple[Numbers, Numbers]:
        """a and b of the reliability of an expert, given which of the statements are true, (statements, …)."""
        a, b = self.experts[number].prior
        held = true.sum(axis=0)
        return a + held, b + len(true) - held


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
        yield np.where(true[place], of_true * np.exp(-statements.log_prior_correction[place]), of_false)


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
