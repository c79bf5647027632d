"""credo learns the conditional probability tables (CPTs) of Bayesian networks from data and expert knowledge.

`credo.fit` learns, `credo.check` checks what experts state; `credo.read_network`, `credo.Network` and `credo.Knowledge`
make what they take. Every error is a `credo.CredoError`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from credo._version import __version__

# The module that defines each public name. It is imported on first use, so that `import credo` stays fast.
_HOMES = {
    "credo.model.network": ("Network", "Variable"),
    "credo.model.cut_points": ("CutPoints",),
    "credo.model.noisy": ("NoisyForm",),
    "credo.io.origin": ("Origin",),
    "credo.io.network_files": ("read_network", "write_network"),
    "credo.io.tables": ("read_table",),
    "credo.model.bin_rules": ("EqualWidth", "Quantiles", "Supervised"),
    "credo.io.network_from_table": ("NetworkFromTable", "network_from_table"),
    "credo.io.dataset": ("Dataset",),
    "credo.io.partitions": ("PartitionedTable", "partitioned"),
    "credo.knowledge": (
        "Knowledge",
        "KnowledgeError",
        "KnowledgeFileError",
        "KnowledgeTypeError",
        "Mistake",
        "P",
        "corrections",
        "cut",
        "declared_network",
        "depends_on",
        "different",
        "does_not_affect",
        "expert",
        "lowers",
        "noisy_and",
        "noisy_max",
        "noisy_min",
        "noisy_or",
        "order",
        "raises",
        "read_knowledge",
        "same",
        "sub_synergize",
        "synergize",
        "variable",
    ),
    "credo.knowledge.comparison": ("Approximation", "Comparison"),
    "credo.knowledge.influence": ("Influence", "Synergy"),
    "credo.knowledge.noisy_family": ("NoisyFamily",),
    "credo.knowledge.tied_rows": ("TiedRows",),
    "credo.knowledge.independence": ("Independence",),
    "credo.knowledge.experts": ("Expert",),
    "credo.knowledge.statement_base": ("Span",),
    "credo.knowledge.state_order": ("Order", "StateOrder"),
    "credo.knowledge.declarations": (
        "CutDeclaration",
        "DependenceDeclaration",
        "MissingValuesDeclaration",
        "VariableDeclaration",
    ),
    "credo.knowledge.labels": ("GroupDeclaration", "LabelDeclaration", "group", "label"),
    "credo.knowledge.quantity": ("Quantity",),
    "credo.estimation.solvers.certificate": ("Certificate",),
    "credo.estimation.solution": ("TiedLikelihood", "Uncertainty"),
    "credo.posterior.beliefs": ("DoubtResult", "ExpertReliability", "StatementBelief"),
    "credo.explain.misfits": ("PredictiveCheck", "PredictiveChecks"),
    "credo.knowledge.query": ("Query",),
    "credo.questions.answers": ("Answer",),
    "credo.questions.sensitivity": ("Sensitivity",),
    "credo.checking.check": ("check",),
    "credo.results.check_results": (
        "Check",
        "Conflict",
        "DataUse",
        "DeterminedProbability",
        "ExcludedStatement",
        "ForcedEquality",
        "OrderUsed",
        "RedundantStatement",
        "Resolution",
        "StatementCheck",
        "VacuousStatement",
    ),
    "credo.constraints.conflicts": ("ConflictError",),
    "credo.fitting": ("fit",),
    "credo.clustering": ("Clustering", "cluster"),
    "credo.topic_models": ("Topics", "topics"),
    "credo.io.corpus": ("Corpus", "read_corpus"),
    "credo.explain.contradictions": ("Contradiction",),
    "credo.explain.explanation": (
        "ConfigurationExplanation",
        "Effect",
        "Explanation",
        "StatementExplanation",
    ),
    "credo.explain.held_out": ("HeldOutComparison", "HeldOutScore"),
    "credo.explain.learned_probabilities": ("LearnedProbability",),
    "credo.explain.next_observation": ("NextObservation",),
    "credo.explain.plausibility": ("Plausibility", "ProbabilityEstimate", "Verdict"),
    "credo.explain.statement_references": ("StatementReference",),
    "credo.findings": ("Finding",),
    "credo.progress": ("ProgressEvent",),
    "credo.results.fit_results": ("Fit",),
    "credo.saving.fits": ("load",),
    "credo.statistics.prior": ("BDeu", "Dirichlet", "NetworkPrior"),
    "credo.statistics.ties.factors": ("TieError",),
    "credo.options": (
        "EMOptions",
        "EntropyOptions",
        "PenaltyOptions",
        "PosteriorOptions",
        "TableFormat",
        "TieReading",
    ),
    "credo.errors": (
        "CheckpointWarning",
        "CredoError",
        "DataError",
        "FileError",
        "FormatError",
        "ImpossibleRowError",
        "IncompleteCPTWarning",
        "LargeCPTWarning",
        "LossyFormatWarning",
        "MissingColumnError",
        "ClusterError",
        "MissingExtraError",
        "MissingFileError",
        "NetworkError",
        "OptionError",
        "OutsideRangeWarning",
        "PriorError",
        "QueryError",
        "RoundedNumbersWarning",
        "SamplingError",
        "Status",
        "TooLargeError",
        "UnknownStateError",
        "UnknownVariableError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]

if TYPE_CHECKING:
    from credo.checking.check import check
    from credo.clustering import Clustering, cluster
    from credo.constraints.conflicts import ConflictError
    from credo.errors import (
        CheckpointWarning,
        ClusterError,
        CredoError,
        DataError,
        FileError,
        FormatError,
        ImpossibleRowError,
        IncompleteCPTWarning,
        LargeCPTWarning,
        LossyFormatWarning,
        MissingColumnError,
        MissingExtraError,
        MissingFileError,
        NetworkError,
        OptionError,
        OutsideRangeWarning,
        PriorError,
        QueryError,
        RoundedNumbersWarning,
        SamplingError,
        Status,
        TooLargeError,
        UnknownStateError,
        UnknownVariableError,
    )
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
    from credo.fitting import fit
    from credo.io.corpus import Corpus, read_corpus
    from credo.io.dataset import Dataset
    from credo.io.network_files import read_network, write_network
    from credo.io.network_from_table import NetworkFromTable, network_from_table
    from credo.io.origin import Origin
    from credo.io.partitions import PartitionedTable, partitioned
    from credo.io.tables import read_table
    from credo.knowledge import (
        Knowledge,
        KnowledgeError,
        KnowledgeFileError,
        KnowledgeTypeError,
        Mistake,
        P,
        corrections,
        cut,
        declared_network,
        depends_on,
        different,
        does_not_affect,
        expert,
        lowers,
        noisy_and,
        noisy_max,
        noisy_min,
        noisy_or,
        order,
        raises,
        read_knowledge,
        same,
        sub_synergize,
        synergize,
        variable,
    )
    from credo.knowledge.comparison import Approximation, Comparison
    from credo.knowledge.declarations import (
        CutDeclaration,
        DependenceDeclaration,
        MissingValuesDeclaration,
        VariableDeclaration,
    )
    from credo.knowledge.experts import Expert
    from credo.knowledge.independence import Independence
    from credo.knowledge.influence import Influence, Synergy
    from credo.knowledge.labels import GroupDeclaration, LabelDeclaration, group, label
    from credo.knowledge.noisy_family import NoisyFamily
    from credo.knowledge.quantity import Quantity
    from credo.knowledge.query import Query
    from credo.knowledge.state_order import Order, StateOrder
    from credo.knowledge.statement_base import Span
    from credo.knowledge.tied_rows import TiedRows
    from credo.model.bin_rules import EqualWidth, Quantiles, Supervised
    from credo.model.cut_points import CutPoints
    from credo.model.network import Network, Variable
    from credo.model.noisy import NoisyForm
    from credo.options import EMOptions, EntropyOptions, PenaltyOptions, PosteriorOptions, TableFormat, TieReading
    from credo.posterior.beliefs import DoubtResult, ExpertReliability, StatementBelief
    from credo.progress import ProgressEvent
    from credo.questions.answers import Answer
    from credo.questions.sensitivity import Sensitivity
    from credo.results.check_results import (
        Check,
        Conflict,
        DataUse,
        DeterminedProbability,
        ExcludedStatement,
        ForcedEquality,
        OrderUsed,
        RedundantStatement,
        Resolution,
        StatementCheck,
        VacuousStatement,
    )
    from credo.results.fit_results import Fit
    from credo.saving.fits import load
    from credo.statistics.prior import BDeu, Dirichlet, NetworkPrior
    from credo.statistics.ties.factors import TieError
    from credo.topic_models import Topics, topics


def __getattr__(name: str) -> Any:
    if name == "plot":  # a module: credo.plot.network(fit)
        return _imported("credo.plot")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'credo' has no attribute {name!r}")
    value = getattr(_imported(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def _imported(module: str) -> Any:
    """Import a module; an interrupt waits, since half an import of a large library spoils the next one."""
    from credo.interrupts import uninterrupted

    with uninterrupted():
        return import_module(module)


def __dir__() -> list[str]:
    return [*__all__, "plot"]
