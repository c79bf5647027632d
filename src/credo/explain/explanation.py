"""The parts of an explanation: statements, configurations of parents, and everything together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from credo.explain.held_out import HeldOutComparison
from credo.explain.learned_probabilities import LearnedProbability
from credo.explain.next_observation import NextObservation
from credo.explain.plausibility import Plausibility, Verdict
from credo.explain.statement_references import StatementReference
from credo.terminal import escape
from credo.types import Numbers


class Effect(Enum):
    """What a statement did to the result; the value is what a reader sees."""

    VIOLATED = "is not satisfied"
    BINDING = "shaped the result"
    NOT_COMPUTED = "holds; what it changed was not computed"
    SATISFIED = "holds with room to spare"
    NO_EFFECT = "made no difference"
    NOT_USED = "was not used by the estimate"
    NO_CONSTRAINT = "does not limit probabilities"


@dataclass(frozen=True, slots=True)
class StatementExplanation:
    """One statement and its part in the result.

    Attributes
    ----------
    statement
        The statement, with its line and its words.
    effect
        What it did.
    gain_per_point
        How much it matters: the gain in log-likelihood if its bound moved by one percentage point.
    excess
        By how much the result misses it; negative where it holds, the room that is left.
    largest_change
        The largest change of a probability if the statement is left out.
    plausibility
        Its probability before and after the data, on its own; None where it cannot be compared with data.
    configurations
        The conditional distributions that it is about: the variable, and the number of the parents' configuration.
    confidence
        How sure its author is, between 0 and 1; None for a statement that must hold.
    learned
        Of a statement about probabilities that depend on several CPTs, these and what they are in the result, with
        intervals where the method gives them.
    """

    statement: StatementReference
    effect: Effect
    gain_per_point: float
    excess: float
    largest_change: float
    plausibility: Plausibility | None
    configurations: tuple[tuple[str, int], ...] = field(repr=False)
    confidence: float | None = None
    learned: tuple[LearnedProbability, ...] = ()

    @property
    def is_contradicted(self) -> bool:
        """Whether the data on their own contradict it."""
        return self.plausibility is not None and self.plausibility.verdict is Verdict.CONTRADICTED

    @property
    def is_important(self) -> bool:
        """Whether a reader wants to know of it: it changed something, is not satisfied, not used, or contradicted."""
        return self.is_contradicted or self.effect in (Effect.VIOLATED, Effect.BINDING, Effect.NOT_USED)

    def describe_effect(self) -> str:
        """What became of it, as a few words: `contradicted by the data; is not satisfied, by 0.2`.

        Returns
        -------
        str
            The words.
        """
        effect = self.effect.value
        if self.effect is Effect.VIOLATED:
            effect += f", by {self.excess:.2g}"
        elif self.effect is Effect.NOT_USED and self.excess > 0.0:
            effect += f", and is missed by {self.excess:.2g}"
        return f"contradicted by the data; {effect}" if self.is_contradicted else effect


@dataclass(frozen=True, slots=True, eq=False)
class ConfigurationExplanation:
    """One conditional distribution: what the data show, what the knowledge allows, what was learned.

    Arrays have one number for each state of the variable.

    Attributes
    ----------
    variable, index
        The variable, and the number of its parents' configuration, from 0, the last parent varying fastest.
    label
        The same for a reader: `P(lung | smoke=yes)`.
    observations
        In how many rows of the data the parents are in this configuration.
    frequencies
        The relative frequencies in these rows; None where there are none.
    low, high
        The range that the knowledge allows each probability; NaN where it was not computed.
    allowed_mean
        The mean over everything that the knowledge allows.
    learned
        The estimate.
    interval
        The ends of its 95% credible intervals, where the method gives them.
    changed_by
        The statements that changed the estimate: their number, and by how much, the largest change first.
    """

    variable: str
    index: int
    label: str
    observations: float
    frequencies: Numbers | None
    low: Numbers
    high: Numbers
    allowed_mean: Numbers
    learned: Numbers
    interval: tuple[Numbers, Numbers] | None
    changed_by: tuple[tuple[int, float], ...]

    @property
    def largest_change(self) -> float:
        """By how much one statement changed one of its probabilities, at most."""
        return self.changed_by[0][1] if self.changed_by else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """Why the result is what it is. Printing it gives the summary.

    Attributes
    ----------
    summary
        A few sentences for a reader who knows the subject, not the statistics.
    statements
        Each statement and what it did, the most important first.
    configurations
        For each variable its conditional distributions: what data, knowledge and result have to do with each other.
    leave_one_out
        How well each observation is predicted from all the others, with the knowledge and without; None where that is
        not available, and then `notes` give the reason.
    cross_validation
        The same with a tenth of the observations left out at a time.
    next_observations
        Where one more observation would be most informative, the best first.
    notes
        What could not be computed, and why.
    """

    summary: tuple[str, ...]
    statements: tuple[StatementExplanation, ...]
    configurations: Mapping[str, tuple[ConfigurationExplanation, ...]] = field(repr=False)
    leave_one_out: HeldOutComparison | None = field(repr=False)
    cross_validation: HeldOutComparison | None = field(repr=False)
    next_observations: tuple[NextObservation, ...]
    notes: tuple[str, ...] = ()

    def largest_change(self, name: str) -> float:
        """By how much one statement changed one probability of a variable's CPT, at most.

        Parameters
        ----------
        name
            The variable.

        Returns
        -------
        float
            The largest change; 0 where no statement changed anything.
        """
        return max((each.largest_change for each in self.configurations.get(name, ())), default=0.0)

    def __str__(self) -> str:
        return "\n".join([*self.summary, *self.notes])

    def _repr_html_(self) -> str:
        sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.summary)
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<ol>{sentences}</ol>{notes}"
