"""credo learns the tables of a Bayesian network from data and from what experts know."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. It is imported when it is first asked for, so that `import credo` costs nothing.
_HOMES = {
    "credo.model.network": ("Network", "Variable"),
    "credo.io.network_files": ("read_network", "write_network"),
    "credo.io.tables": ("read_table",),
    "credo.io.dataset": ("Dataset",),
    "credo.knowledge": (
        "Knowledge",
        "KnowledgeError",
        "KnowledgeFileError",
        "KnowledgeTypeError",
        "P",
        "different",
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
    ),
    "credo.checking": ("check",),
    "credo.check_results": ("Check",),
    "credo.constraints.conflicts": ("ConflictError",),
    "credo.fitting": ("fit",),
    "credo.clustering": ("Clustering", "cluster"),
    "credo.topic_models": ("Topics", "topics"),
    "credo.io.corpus": ("Corpus", "read_corpus"),
    "credo.results": ("Fit",),
    "credo.statistics.prior": ("BDeu", "Dirichlet", "NetworkPrior"),
    "credo.errors": (
        "CredoError",
        "DataError",
        "FormatError",
        "ImpossibleRowError",
        "MissingColumnError",
        "MissingExtraError",
        "NetworkError",
        "OptionError",
        "PriorError",
        "Status",
        "TooLargeError",
        "UnknownStateError",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]

if TYPE_CHECKING:
    from credo.check_results import Check
    from credo.checking import check
    from credo.clustering import Clustering, cluster
    from credo.constraints.conflicts import ConflictError
    from credo.errors import (
        CredoError,
        DataError,
        FormatError,
        ImpossibleRowError,
        MissingColumnError,
        MissingExtraError,
        NetworkError,
        OptionError,
        PriorError,
        Status,
        TooLargeError,
        UnknownStateError,
    )
    from credo.fitting import fit
    from credo.io.corpus import Corpus, read_corpus
    from credo.io.dataset import Dataset
    from credo.io.network_files import read_network, write_network
    from credo.io.tables import read_table
    from credo.knowledge import (
        Knowledge,
        KnowledgeError,
        KnowledgeFileError,
        KnowledgeTypeError,
        P,
        different,
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
    )
    from credo.model.network import Network, Variable
    from credo.results import Fit
    from credo.statistics.prior import BDeu, Dirichlet, NetworkPrior
    from credo.topic_models import Topics, topics


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'credo' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """Keeps `credo.fit` the function, also after something imported the module of that name."""

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType) and name in _HOMES.get(value.__name__, ()):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return __all__
