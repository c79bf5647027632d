"""What the check of knowledge found, in its author's words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from credo.errors import listing
from credo.explain.contradictions import Contradiction
from credo.explain.plausibility import Plausibility
from credo.explain.statement_references import StatementReference
from credo.knowledge.evidence import ExpertNumber, curve_of, subject_of
from credo.results.conveniences import CheckConveniences


@dataclass(frozen=True, slots=True)
class Resolution:
    """A way out of a conflict: without this statement all the others hold.

    Attributes
    ----------
    statement
        The statement to leave out.
    probabilities
        An example where the others hold: `P(…)` and its value, for the probabilities that the conflict is about.
    """

    statement: StatementReference
    probabilities: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements that cannot all hold; leave out any one of them, and the others can.

    Attributes
    ----------
    statements
        The statements, the smallest set of its kind.
    slack_needed
        By how much each bound would have to give way for all of them to hold; None where products are among them, or
        probabilities that depend on several CPTs.
    resolutions
        For each statement an example where all the others hold. Empty where products are among the statements: then
        the conflict is proved, but not that every statement is part of it. Empty, too, where the probability
        depends on several CPTs.
    configurations
        For each statement the conditional distributions that it is about, such as `P(lung | smoke=yes)`.
    """

    statements: tuple[StatementReference, ...]
    slack_needed: float | None
    resolutions: tuple[Resolution, ...]
    configurations: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class RedundantStatement:
    """A statement that follows from others; from none, where it holds for all probabilities.

    Attributes
    ----------
    statement
        The statement.
    follows_from
        The statements that imply it.
    """

    statement: StatementReference
    follows_from: tuple[StatementReference, ...]


@dataclass(frozen=True, slots=True)
class DeterminedProbability:
    """A probability, such as `P(lung=yes | smoke=no)`, that the statements leave one value only.

    Attributes
    ----------
    probability
        The probability, as text.
    value
        Its only value.
    statements
        The statements that determine it.
    """

    probability: str
    value: float
    statements: tuple[StatementReference, ...]


@dataclass(frozen=True, slots=True)
class ForcedEquality:
    """An equality that nobody stated, but that statements force together: one raises what the other lowers.

    Attributes
    ----------
    equation
        The equality, as text.
    statements
        The statements that force it.
    """

    equation: str
    statements: tuple[StatementReference, ...]


@dataclass(frozen=True, slots=True)
class VacuousStatement:
    """A statement that holds whatever the probabilities are, and why.

    Attributes
    ----------
    statement
        The statement.
    reason
        Why it always holds.
    """

    statement: StatementReference
    reason: str


@dataclass(frozen=True, slots=True)
class ExcludedStatement:
    """A statement with a confidence that the statements without one rule out.

    Attributes
    ----------
    statement
        The statement.
    excluded_by
        The statements that rule it out.
    """

    statement: StatementReference
    excluded_by: tuple[StatementReference, ...]


@dataclass(frozen=True, slots=True)
class OrderUsed:
    """The order of states, from low to high, that statements about a variable were read with, and where it is from.

    Attributes
    ----------
    variable
        The variable.
    states
        Its states, from low to high.
    reason
        Where the order comes from.
    """

    variable: str
    states: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class DataUse:
    """A variable that could not be compared with every row of the data.

    Attributes
    ----------
    variable
        The variable.
    rows_used
        The rows in which neither it nor one of its parents is missing; rows with weights count as much as they weigh.
    rows
        All rows.
    hidden
        Which of the variable and its parents have no column.
    """

    variable: str
    rows_used: float
    rows: float
    hidden: tuple[str, ...]

    def __str__(self) -> str:
        if self.hidden:
            verb = "have no columns" if len(self.hidden) > 1 else "has no column"
            return f"{self.variable} was not compared with the data: {listing(self.hidden)} {verb}."
        return (
            f"{self.variable} was compared with {self.rows_used:,g} of {self.rows:,g} rows: in the others its value or "
            "that of one of its parents is missing."
        )


@dataclass(frozen=True, slots=True)
class StatementCheck:
    """One statement and what the check found about it.

    Attributes
    ----------
    statement
        The statement, with its line and its words.
    kind
        What kind of statement it is.
    guo_type
        Its number in [Guo, table 1], where it has one.
    constraints
        How many constraints on probabilities it became.
    confidence
        How sure its author is, between 0 and 1; None for a statement that must hold.
    plausibility
        Its probability before and after the data, on its own; None where it limits no probability.
    note
        Why it was not checked, where it was not.
    numbers
        How many numbers of CPTs its constraints are about.
    """

    statement: StatementReference
    kind: str
    guo_type: int | None
    constraints: int
    confidence: float | None
    plausibility: Plausibility | None
    note: str = ""
    numbers: int = 0


@dataclass(frozen=True, slots=True)
class ExpertCurve:
    """An expert's number as the Beta distribution that it stands for.

    Attributes
    ----------
    number
        The position of the statement in the knowledge, from 0.
    subject
        What it is about.
    cases
        How many cases of the event and of all else it weighs: the parameters of the distribution.
    """

    number: int
    subject: str
    cases: tuple[float, float]


def expert_curves(statements: Iterable[object]) -> tuple[ExpertCurve, ...]:
    """The experts' numbers among statements that are Beta distributions."""
    return tuple(
        ExpertCurve(number, subject_of(each), cases)
        for number, each in enumerate(statements)
        if isinstance(each, ExpertNumber) and (cases := curve_of(each)) is not None
    )


@dataclass(frozen=True, slots=True)
class Check(CheckConveniences):
    """Whether the knowledge can hold, and what follows from it.

    Attributes
    ----------
    feasible
        Whether all statements without a confidence can hold at once.
    conflicts
        The smallest sets of statements that cannot: all of them, the smallest first.
    has_all_conflicts
        Whether these are all; False where the search ended at a limit.
    fewest_to_drop
        As few statements as possible without which no conflict is left; empty where not all conflicts are known.
    unresolved
        Statements of which it is not known whether they are part of a conflict.
    redundant
        Statements that follow from others.
    determined
        Probabilities that the statements leave one value only.
    vacuous
        Statements that hold whatever the probabilities are.
    forced_equalities
        Equalities that nobody stated.
    excluded
        Statements with a confidence that those without one rule out.
    statements
        Each statement, in its order.
    contradicted
        The statements that the data contradict, and what the data show instead.
    orders
        How the states of variables were ordered, from low to high.
    readings
        How statements in words were read, as signs.
    notes
        What was checked by other means than linear programs.
    not_checked
        What was not checked, and why.
    hidden
        Variables without a column in the data.
    data_use
        Variables that could not be compared with every row of the data.
    constraints
        How many constraints the statements became.
    blocks
        Into how many independent groups the constraints fall.
    with_data
        Whether statements were compared with data.
    seconds
        How long the check took.
    from_table
        What was taken from the data because the knowledge does not declare it: states, cut points, unused columns.
    suspected
        The smallest set of statements that a search found not to go together, where it is no proof; else empty.
    curves
        The experts' numbers that are Beta distributions.
    """

    feasible: bool
    conflicts: tuple[Conflict, ...]
    has_all_conflicts: bool
    fewest_to_drop: tuple[StatementReference, ...]
    unresolved: tuple[StatementReference, ...]
    redundant: tuple[RedundantStatement, ...]
    determined: tuple[DeterminedProbability, ...]
    vacuous: tuple[VacuousStatement, ...]
    forced_equalities: tuple[ForcedEquality, ...]
    excluded: tuple[ExcludedStatement, ...]
    statements: tuple[StatementCheck, ...]
    contradicted: tuple[Contradiction, ...]
    orders: tuple[OrderUsed, ...]
    readings: tuple[str, ...]
    notes: tuple[str, ...]
    not_checked: tuple[str, ...]
    hidden: tuple[str, ...]
    data_use: tuple[DataUse, ...]
    constraints: int
    blocks: int
    with_data: bool
    seconds: float
    from_table: tuple[str, ...] = ()
    suspected: tuple[StatementReference, ...] = ()
    curves: tuple[ExpertCurve, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 where the knowledge can hold, 3 where it contradicts itself or no CPTs were found where it holds."""
        return 0 if self.feasible and not self.suspected else 3

    @property
    def conflicting(self) -> frozenset[int]:
        """The numbers of the statements that are part of a conflict."""
        return frozenset(each.number for conflict in self.conflicts for each in conflict.statements)

    @property
    def unchecked(self) -> tuple[StatementCheck, ...]:
        """The statements of which it is not known whether they can hold with the others."""
        unresolved = {each.number for each in self.unresolved}
        return tuple(
            each
            for each in self.statements
            if (each.note or each.statement.number in unresolved) and each.statement.number not in self.conflicting
        )
