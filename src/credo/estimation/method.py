"""A method of estimation as an object: its estimator, its M-step, its documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from credo.estimation.em.steps import MStep
    from credo.estimation.exchangeable import Exchanges
    from credo.estimation.problem import Problem
    from credo.estimation.solution import Solution
    from credo.statistics.inference.expected_counts import PreparedRows
    from credo.statistics.ties.likelihood import TiedData
from credo.types import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Incomplete:
    """Rows with missing values, and where EM ended."""

    prepared: PreparedRows
    expected: Numbers  # counts of all cells
    cpts: Mapping[str, Numbers]
    exchanges: Exchanges  # what nothing tells apart
    tied: TiedData | None = None  # the same rows with their ties,
    start: Numbers | None = None  # and the counts that the last M-step was given


@dataclass(frozen=True, slots=True)
class Method:
    """One method of `credo methods`.

    Attributes
    ----------
    name
        What users write.
    title, when
        Its documentation: what it computes, and what it is for.
    estimate
        From a prepared problem to a solution.
    m_step
        The exact M-step of a method that maximises an objective: from a problem to a function of expected counts.
        Without one, EM runs the M-step of cmap (of map, where the knowledge is not used), and `estimate` is given the
        expected counts that it ends with.
    estimate_drawing
        The same for a method that draws missing values too: from a problem, its incomplete rows and where EM ended to
        a solution. Where they cannot be drawn, `estimate` is given the expected counts that EM ended with.
    default_prior
        The pseudo-count that is added where the user gives no prior.
    takes_prior
        Whether the user may give one.
    uses_knowledge
        Whether statements influence the estimate.
    cross_validates
        Whether it always needs folds of the data, not only for the weight of soft statements.
    maximises_likelihood
        Whether it maximises likelihood times prior, so that the gradient trainer can do it too.
    weighs_all_statements
        Whether every statement is a penalty with a weight of its own, so that no weight for soft ones is chosen.
    ignores_soft_statements
        Whether statements with a confidence have no influence.
    doubts
        Whether it can find out which statements are wrong.
    binds_any_probability
        Whether statements about probabilities that depend on several CPTs influence the estimate, too.
    """

    name: str
    title: str
    when: str
    estimate: Callable[[Problem], Solution]
    m_step: Callable[[Problem], MStep] | None = None
    estimate_drawing: Callable[[Problem, Incomplete], Solution] | None = None
    default_prior: float = 0.0
    takes_prior: bool = False
    uses_knowledge: bool = True
    cross_validates: bool = False
    maximises_likelihood: bool = False
    weighs_all_statements: bool = False
    ignores_soft_statements: bool = False
    doubts: bool = False
    binds_any_probability: bool = False

    @property
    def keeps_hard_statements(self) -> bool:
        """Whether statements without a confidence hold in every estimate."""
        return self.uses_knowledge and not self.weighs_all_statements
