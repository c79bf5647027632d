"""credo learns the tables of a Bayesian network from data and from what experts know."""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Where each public name lives. It is imported when it is first asked for, so that `import credo` costs nothing.
_HOMES = {
    "credo.network": ("Network", "Variable"),
    "credo.io.networks": ("read_network", "write_network"),
    "credo.io.tables": ("read_table",),
    "credo.io.dataset": ("Dataset",),
    "credo.knowledge": (
        "Knowledge",
        "KnowledgeError",
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
    "credo.check": ("check",),
    "credo.check_result": ("Check",),
    "credo.constraints.conflicts": ("ConflictError",),
    "credo.fit": ("fit",),
    "credo.cluster": ("Clustering", "cluster"),
    "credo.topics": ("Topics", "topics"),
    "credo.io.corpus": ("Corpus", "read_corpus"),
    "credo.result": ("Fit",),
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
    from credo.check import check
    from credo.check_result import Check
    from credo.cluster import Clustering, cluster
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
    from credo.fit import fit
    from credo.io.corpus import Corpus, read_corpus
    from credo.io.dataset import Dataset
    from credo.io.networks import read_network, write_network
    from credo.io.tables import read_table
    from credo.knowledge import (
        Knowledge,
        KnowledgeError,
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
    from credo.network import Network, Variable
    from credo.result import Fit
    from credo.statistics.prior import BDeu, Dirichlet, NetworkPrior
    from credo.topics import Topics, topics


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
