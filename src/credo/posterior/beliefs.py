"""What draws say of statements that may be wrong, and of the experts who made them."""

from __future__ import annotations

from dataclasses import dataclass, field

from credo.types import Flags, Numbers


@dataclass(frozen=True, slots=True)
class StatementBelief:
    """How probable one statement is.

    Attributes
    ----------
    number
        Its position in the knowledge, from 0.
    expert
        Whose it is; empty for statements outside of experts' blocks.
    probability
        That it is true, given the data and all statements.
    without
        The same from the data and the other statements alone; None where the draws do not show it, because the
        statement is true in nearly all of them.
    error
        The Monte-Carlo standard error of the probability.
    believed
        How probable the statement was by itself before the data: its confidence, or how reliable its expert was
        expected to be.
    """

    number: int
    expert: str
    probability: float
    without: float | None
    error: float
    believed: float


@dataclass(frozen=True, slots=True)
class ExpertReliability:
    """How often an expert is right.

    Attributes
    ----------
    name
        As the knowledge calls the expert; empty for statements outside of experts' blocks.
    reliability
        The posterior mean, or what was given.
    low, high
        The central 95% credible interval; both are the reliability where that was given.
    statements
        How many statements of the expert are doubted and have no confidence of their own.
    is_given
        Whether the reliability was given, so that nothing was learned about it.
    """

    name: str
    reliability: float
    low: float
    high: float
    statements: int
    is_given: bool


@dataclass(frozen=True, slots=True, eq=False)
class DoubtResult:
    """What draws say of statements that may be wrong, and of the experts who made them.

    Attributes
    ----------
    statements
        How probable each statement is.
    experts
        How often each expert is right.
    effective_sizes
        Of the draws of whether each statement is true, (statements,).
    r_hat
        The same chains compared, (statements,).
    truth
        Which statements are true in which draws, (chains, draws, statements).
    log_prior_correction
        By what each statement is more probable than its narrowness makes it, (statements,).
    """

    statements: tuple[StatementBelief, ...]
    experts: tuple[ExpertReliability, ...]
    effective_sizes: Numbers = field(repr=False)  # (statements,) of the draws of whether each is true
    r_hat: Numbers = field(repr=False)  # (statements,)
    truth: Flags = field(repr=False)  # (chains, draws, statements)
    log_prior_correction: Numbers = field(repr=False)  # (statements,)
