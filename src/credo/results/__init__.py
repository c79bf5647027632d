"""The types of what credo returns: what a `Fit`, a `Check` and their explanations hold. `fit` and `check` make them."""

from credo.lazy_names import lazy_names

_NAMES, __getattr__, __dir__ = lazy_names("credo.results", __file__)  # those that `__init__.pyi` lists
__all__ = [*_NAMES]
