"""credo learns the conditional probability tables (CPTs) of Bayesian networks from data and expert knowledge.

`credo.fit` learns, `credo.check` checks what experts state; `credo.read_network`, `credo.Network` and `credo.Knowledge`
make what they take. Every error is a `credo.CredoError`. What results hold has its types in `credo.results`, and the
types of statements are in `credo.knowledge`, warnings in `credo.errors`.
"""

from credo._version import __version__
from credo.lazy_names import lazy_names

# `__init__.pyi` lists the public names, what users make, call or catch, with the modules that define them.
_NAMES, __getattr__, __dir__ = lazy_names(
    "credo",
    __file__,
    modules=("errors", "knowledge", "plot", "results"),
    moved=("credo.results", "credo.knowledge", "credo.errors"),
)
__all__ = ["__version__", *_NAMES]
