"""The types of what credo returns: what a `Fit`, a `Check` and their explanations hold. `fit` and `check` make them."""

from typing import TYPE_CHECKING

from credo.lazy_names import lazy_names

# The module that defines each type.
_HOMES = {
    "credo.knowledge.first_model": ("FirstModel",),
    "credo.io.origin": ("Origin",),
    "credo.model.gates": ("GateForm", "GateInput"),
    "credo.io.network_from_table": ("NetworkFromTable",),
    "credo.io.partitions": ("PartitionedTable",),
    "credo.knowledge": ("Mistake",),
    "credo.estimation.solvers.certificate": ("Certificate",),
    "credo.estimation.solution": (
        "TiedLikelihood",
        "Uncertainty",
    ),
    "credo.posterior.beliefs": (
        "DoubtResult",
        "ExpertReliability",
        "StatementBelief",
    ),
    "credo.explain.misfits": (
        "PredictiveCheck",
        "PredictiveChecks",
    ),
    "credo.questions.answers": ("Answer",),
    "credo.statistics.network_comparison": ("Differences",),
    "credo.questions.decide": ("Decision",),
    "credo.questions.evidence_conflict": ("EvidenceConflict",),
    "credo.questions.net_benefit": ("NetBenefit",),
    "credo.questions.next_questions": (
        "AnswerChoice",
        "NextQuestions",
        "Question",
    ),
    "credo.questions.next_tests": ("NextTests",),
    "credo.questions.importance": ("Importance",),
    "credo.questions.sensitivity": ("Sensitivity",),
    "credo.results.audit": (
        "Step",
        "TableRecord",
    ),
    "credo.statistics.counts_file": ("CountsSummary",),
    "credo.updating": ("Reproduction",),
    "credo.results.check_results": (
        "Check",
        "Conflict",
        "DataUse",
        "DeterminedProbability",
        "ExcludedStatement",
        "ExpertCurve",
        "ForcedEquality",
        "OrderUsed",
        "RedundantStatement",
        "Resolution",
        "StatementCheck",
        "VacuousStatement",
    ),
    "credo.clustering": ("Clustering",),
    "credo.sites": ("Sites",),
    "credo.topic_models": ("Topics",),
    "credo.explain.contradictions": ("Contradiction",),
    "credo.explain.explanation": (
        "ConfigurationExplanation",
        "Effect",
        "Explanation",
        "StatementExplanation",
    ),
    "credo.explain.held_out": (
        "HeldOutComparison",
        "HeldOutScore",
    ),
    "credo.explain.learned_probabilities": ("LearnedProbability",),
    "credo.explain.next_observation": ("NextObservation",),
    "credo.explain.plausibility": (
        "Plausibility",
        "ProbabilityEstimate",
        "Verdict",
    ),
    "credo.explain.statement_references": ("StatementReference",),
    "credo.findings": ("Finding",),
    "credo.progress": ("ProgressEvent",),
    "credo.results.fit_results": ("Fit",),
}
_NAMES, __getattr__, __dir__ = lazy_names("credo.results", _HOMES)
__all__ = [*_NAMES]

if TYPE_CHECKING:
    from credo.clustering import Clustering
    from credo.estimation.solution import TiedLikelihood, Uncertainty
    from credo.estimation.solvers.certificate import Certificate
    from credo.explain.contradictions import Contradiction
    from credo.explain.explanation import ConfigurationExplanation, Effect, Explanation, StatementExplanation
    from credo.explain.held_out import HeldOutComparison, HeldOutScore
    from credo.explain.learned_probabilities import LearnedProbability
    from credo.explain.misfits import PredictiveCheck, PredictiveChecks
    from credo.explain.next_observation import NextObservation
    from credo.explain.plausibility import Plausibility, ProbabilityEstimate, Verdict
    from credo.explain.statement_references import StatementReference
    from credo.findings import Finding
    from credo.io.network_from_table import NetworkFromTable
    from credo.io.origin import Origin
    from credo.io.partitions import PartitionedTable
    from credo.knowledge import Mistake
    from credo.knowledge.first_model import FirstModel
    from credo.model.gates import GateForm, GateInput
    from credo.posterior.beliefs import DoubtResult, ExpertReliability, StatementBelief
    from credo.progress import ProgressEvent
    from credo.questions.answers import Answer
    from credo.questions.decide import Decision
    from credo.questions.evidence_conflict import EvidenceConflict
    from credo.questions.importance import Importance
    from credo.questions.net_benefit import NetBenefit
    from credo.questions.next_questions import AnswerChoice, NextQuestions, Question
    from credo.questions.next_tests import NextTests
    from credo.questions.sensitivity import Sensitivity
    from credo.results.audit import Step, TableRecord
    from credo.results.check_results import (
        Check,
        Conflict,
        DataUse,
        DeterminedProbability,
        ExcludedStatement,
        ExpertCurve,
        ForcedEquality,
        OrderUsed,
        RedundantStatement,
        Resolution,
        StatementCheck,
        VacuousStatement,
    )
    from credo.results.fit_results import Fit
    from credo.sites import Sites
    from credo.statistics.counts_file import CountsSummary
    from credo.statistics.network_comparison import Differences
    from credo.topic_models import Topics
    from credo.updating import Reproduction
