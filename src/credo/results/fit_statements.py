"""What became of the statements of a fit: which shaped it, which it misses, which are doubted; and its explanation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from credo.constraints.constraint_set import Constraints
from credo.errors import OptionError
from credo.estimation import constrained
from credo.estimation.methods import METHODS
from credo.explain.build import PERCENTAGE_POINT, explain
from credo.explain.explanation import Effect, Explanation
from credo.explain.next_observation import NextObservation
from credo.explain.statement_references import StatementReference, references_to
from credo.explain.violations import Violation, unused_statements, violations_of
from credo.model.expansion import expand
from credo.progress import ProgressLike, reporting
from credo.types import Json

if TYPE_CHECKING:
    import polars as pl

    from credo.posterior.beliefs import DoubtResult, StatementBelief
    from credo.results.fit_results import Fit

# Binding statements ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BindingStatement:
    """A statement that shaped the result, and the gain in log-likelihood if its bound moved by a percentage point."""

    statement: StatementReference
    gain_per_point: float


def has_multipliers(fit: Fit) -> bool:
    """Whether the multipliers of the statements are known without further computation."""
    return bool(fit.multipliers) or fit.posterior is None


def multipliers_of(fit: Fit) -> Mapping[int, float]:
    """The multiplier of each statement: the gain in log-likelihood per unit of its bound.

    A posterior mean has none of its own: those at the most probable CPTs are computed here, when they are asked for.
    """
    if has_multipliers(fit) or fit._problem is None:
        return fit.multipliers
    return constrained.multipliers_of(fit._problem)


def binding_statements(fit: Fit) -> tuple[BindingStatement, ...]:
    """The statements that shaped the result, the one that matters most first."""
    references = references_to(fit.knowledge.statements)
    doubted = set() if fit.doubt is None else {each.number for each in fit.doubt.statements}  # at no bound
    multipliers = multipliers_of(fit)
    shaping = {number for number, multiplier in multipliers.items() if multiplier > 0.0} - doubted
    if fit.posterior is not None and fit._problem is not None:  # a mean is at no bound: what leaving each out changes
        shaping = _changing_the_mean(fit)
    found = [
        BindingStatement(references[number], PERCENTAGE_POINT * multipliers.get(number, 0.0))
        for number in sorted(shaping)
    ]
    return tuple(sorted(found, key=lambda each: -each.gain_per_point))


def _changing_the_mean(fit: Fit) -> set[int]:
    """The statements without which the posterior mean would be another: those that `explain` calls shaping."""
    found = explain_fit(fit, progress=False)
    return {each.statement.number for each in found.statements if each.effect is Effect.BINDING}


def binding_frame(fit: Fit) -> pl.DataFrame:
    """The same as a frame; `Fit.binding` describes its columns."""
    import polars as pl

    rows = [
        (each.statement.place or None, each.statement.text, each.gain_per_point) for each in binding_statements(fit)
    ]
    return pl.DataFrame(rows, schema={"place": str, "statement": str, "gain_per_point": float}, orient="row")


# Violated statements --------------------------------------------------------------------------------------------------


def stated_constraints(fit: Fit) -> Constraints | None:
    """What the knowledge says about parameters, where the fit still has it."""
    return None if fit._problem is None else fit._problem.model.stated


def violated_statements(fit: Fit) -> tuple[Violation, ...]:
    """The statements that the learned CPTs do not satisfy, the worst first."""
    return violations_of(fit.network, fit.knowledge, stated_constraints(fit))


def violations_frame(fit: Fit) -> pl.DataFrame:
    """The same as a frame; `Fit.violations` describes its columns."""
    import polars as pl

    found = violated_statements(fit)
    rows = [(each.statement.place or None, each.statement.text, each.amount, each.confidence) for each in found]
    return pl.DataFrame(
        rows, schema={"place": str, "statement": str, "amount": float, "confidence": float}, orient="row"
    )


# Doubted statements ---------------------------------------------------------------------------------------------------


def _require_doubt(fit: Fit) -> DoubtResult:
    if fit.doubt is None:
        raise OptionError("No statement was doubted. Learn with doubt=True, or put statements into an expert's block.")
    return fit.doubt


def doubted_statements_of(fit: Fit) -> list[tuple[StatementReference, StatementBelief]]:
    """The statements that may be wrong, the least probable first."""
    references = references_to(fit.knowledge.statements)
    found = sorted(
        _require_doubt(fit).statements, key=lambda each: (each.probability, each.without or 0.0, each.number)
    )
    return [(references[each.number], each) for each in found]


def believed_statements_of(fit: Fit) -> list[tuple[StatementReference, StatementBelief]]:
    """The same, with gates and forms that may be wrong, whose probability does not depend on draws."""
    references = references_to(fit.knowledge.statements)
    forms = () if fit._problem is None else fit._problem.data.form_beliefs
    drawn = [] if fit.doubt is None else doubted_statements_of(fit)
    return sorted([*drawn, *((references[each.number], each) for each in forms)], key=lambda each: each[1].probability)


def doubted_frame(fit: Fit) -> pl.DataFrame:
    """The same as a frame; `Fit.statements` describes its columns."""
    import polars as pl

    found = believed_statements_of(fit)
    if not found:
        _require_doubt(fit)
    texts, numbers = ("place", "statement", "expert"), ("probability", "without", "believed")
    rows = [
        [reference.place or None, reference.text, belief.expert or None, *(getattr(belief, name) for name in numbers)]
        for reference, belief in found
    ]
    return pl.DataFrame(rows, schema={**dict.fromkeys(texts, str), **dict.fromkeys(numbers, float)}, orient="row")


def experts_frame(fit: Fit) -> pl.DataFrame:
    """How reliable each expert is; `Fit.experts` describes the columns."""
    import polars as pl

    rows = [
        (each.name or None, each.reliability, each.low, each.high, each.statements, each.is_given)
        for each in _require_doubt(fit).experts
    ]
    numbers = dict.fromkeys(("reliability", "low", "high"), float)
    return pl.DataFrame(rows, schema={"expert": str, **numbers, "statements": int, "given": bool}, orient="row")


# The explanation ------------------------------------------------------------------------------------------------------


def explain_fit(fit: Fit, *, next_rows: Sequence[NextObservation] = (), progress: ProgressLike = None) -> Explanation:
    """Explain a fit: what each statement did, what each distribution rests on, what to observe next.

    Parameters
    ----------
    fit
        The result to explain.
    next_rows
        What to observe next, where that was computed for questions; else it is for the CPTs as a whole.
    progress
        Whether to show progress on the error stream; None shows it on a terminal and in a notebook. A function receives
        a `ProgressEvent` at every step instead.

    Returns
    -------
    Explanation
        Print it for a summary of a few sentences. It is computed again at every call.

    Raises
    ------
    OptionError
        If the fit was made without its counts.
    """
    if fit._problem is None:
        raise OptionError("This fit was made without its counts: learn again to have it explained.")
    with reporting(progress) as notify:
        return explain(
            expand(fit.network).network,
            fit._problem,
            fit.knowledge,
            multipliers=multipliers_of(fit),
            posterior=fit.posterior,
            has_intervals=not fit.no_interval,
            method=fit.method,
            is_incomplete=fit.is_incomplete,
            notify=notify,
            unused=unused_statements(
                fit.network,
                fit.knowledge,
                METHODS[fit.method].binds_any_probability,
                stated_constraints(fit),
            ),
            next_rows=next_rows,
        )


def reference_to_dict(statement: StatementReference) -> dict[str, Json]:
    """A statement as JSON can refer to it."""
    return {"statement": statement.text, "line": statement.line, "place": statement.place}
