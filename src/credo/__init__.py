"""credo learns the conditional probability tables (CPTs) of Bayesian networks from data and expert knowledge.

`credo.fit` learns, `credo.check` checks what experts state; `credo.read_network`, `credo.Network` and `credo.Knowledge`
make what they take. Every error is a `credo.CredoError`. What results hold has its types in `credo.results`, and the
types of statements are in `credo.knowledge`, warnings in `credo.errors`.
"""

from typing import TYPE_CHECKING

from credo._version import __version__
from credo.lazy_names import lazy_names

# The module that defines each public name: what users make, call or catch.
_HOMES = {
    "credo.model.network": (
        "Network",
        "Variable",
    ),
    "credo.model.cut_points": ("CutPoints",),
    "credo.model.noisy": ("NoisyForm",),
    "credo.io.network_files": (
        "read_network",
        "write_network",
    ),
    "credo.io.tables": ("read_table",),
    "credo.model.bin_rules": (
        "EqualWidth",
        "Quantiles",
        "Supervised",
    ),
    "credo.io.network_from_table": ("network_from_table",),
    "credo.io.dataset": ("Dataset",),
    "credo.io.partitions": ("partitioned",),
    "credo.knowledge": (
        "Knowledge",
        "KnowledgeError",
        "P",
        "cut",
        "declared_network",
        "depends_on",
        "different",
        "does_not_affect",
        "expert",
        "gate",
        "lowers",
        "noisy_and",
        "noisy_max",
        "noisy_min",
        "noisy_or",
        "one_cpt",
        "study",
        "ranked",
        "interpolated",
        "expert_number",
        "effect_study",
        "order",
        "raises",
        "read_knowledge",
        "same",
        "sub_synergize",
        "synergize",
        "variable",
    ),
    "credo.knowledge.labels": (
        "group",
        "label",
    ),
    "credo.knowledge.decisions": (
        "cost",
        "decision",
        "utility",
    ),
    "credo.knowledge.site": ("site",),
    "credo.knowledge.query": ("Query",),
    "credo.comparison": ("compare",),
    "credo.estimation.methods": ("methods",),
    "credo.knowledge.first_model": ("first_model",),
    "credo.checking.check": ("check",),
    "credo.results.check_results": ("Check",),
    "credo.constraints.conflicts": ("ConflictError",),
    "credo.fitting": ("fit",),
    "credo.updating": ("summarise",),
    "credo.sites": ("fit_sites",),
    "credo.clustering": ("cluster",),
    "credo.topic_models": ("topics",),
    "credo.io.corpus": (
        "Corpus",
        "read_corpus",
    ),
    "credo.results.fit_results": ("Fit",),
    "credo.saving.fits": ("load",),
    "credo.statistics.prior": (
        "BDeu",
        "Dirichlet",
        "NetworkPrior",
    ),
    "credo.statistics.ties.factors": ("TieError",),
    "credo.options": (
        "EMOptions",
        "OptimiserOptions",
        "PosteriorOptions",
        "TableFormat",
        "TieReading",
    ),
    "credo.errors": (
        "CredoError",
        "DataError",
        "FileError",
        "FormatError",
        "ImpossibleRowError",
        "MissingColumnError",
        "ClusterError",
        "MissingExtraError",
        "MissingFileError",
        "NetworkError",
        "OptionError",
        "PriorError",
        "QueryError",
        "Status",
        "TooLargeError",
        "UnknownStateError",
        "UnknownVariableError",
    ),
}
_NAMES, __getattr__, __dir__ = lazy_names(
    "credo",
    _HOMES,
    modules=("errors", "knowledge", "plot", "results"),
    moved=("credo.results", "credo.knowledge", "credo.errors"),
)
__all__ = ["__version__", *_NAMES]

if TYPE_CHECKING:
    from credo.checking.check import check
    from credo.clustering import cluster
    from credo.comparison import compare
    from credo.constraints.conflicts import ConflictError
    from credo.errors import (
        ClusterError,
        CredoError,
        DataError,
        FileError,
        FormatError,
        ImpossibleRowError,
        MissingColumnError,
        MissingExtraError,
        MissingFileError,
        NetworkError,
        OptionError,
        PriorError,
        QueryError,
        Status,
        TooLargeError,
        UnknownStateError,
        UnknownVariableError,
    )
    from credo.estimation.methods import methods
    from credo.fitting import fit
    from credo.io.corpus import Corpus, read_corpus
    from credo.io.dataset import Dataset
    from credo.io.network_files import read_network, write_network
    from credo.io.network_from_table import network_from_table
    from credo.io.partitions import partitioned
    from credo.io.tables import read_table
    from credo.knowledge import (
        Knowledge,
        KnowledgeError,
        P,
        cut,
        declared_network,
        depends_on,
        different,
        does_not_affect,
        effect_study,
        expert,
        expert_number,
        gate,
        interpolated,
        lowers,
        noisy_and,
        noisy_max,
        noisy_min,
        noisy_or,
        one_cpt,
        order,
        raises,
        ranked,
        read_knowledge,
        same,
        study,
        sub_synergize,
        synergize,
        variable,
    )
    from credo.knowledge.decisions import cost, decision, utility
    from credo.knowledge.first_model import first_model
    from credo.knowledge.labels import group, label
    from credo.knowledge.query import Query
    from credo.knowledge.site import site
    from credo.model.bin_rules import EqualWidth, Quantiles, Supervised
    from credo.model.cut_points import CutPoints
    from credo.model.network import Network, Variable
    from credo.model.noisy import NoisyForm
    from credo.options import EMOptions, OptimiserOptions, PosteriorOptions, TableFormat, TieReading
    from credo.results.check_results import Check
    from credo.results.fit_results import Fit
    from credo.saving.fits import load
    from credo.sites import fit_sites
    from credo.statistics.prior import BDeu, Dirichlet, NetworkPrior
    from credo.statistics.ties.factors import TieError
    from credo.topic_models import topics
    from credo.updating import summarise
