"""The types that all of credo uses: arrays, and what users may give as a table, a path, a seed or a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.signedinteger]  # state numbers of data, -1 where a value is missing; the smallest integer that fits
MISSING = -1  # among them


class FrameLike(Protocol):
    """A table with named columns: a frame of pandas, polars, pyarrow, Modin, DuckDB or whatever else narwhals reads."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


class PgmpyModel(Protocol):
    """What is used of a pgmpy `DiscreteBayesianNetwork`."""

    @property
    def nodes(self) -> Any:
        """The variables, with their attributes."""

    def get_cpds(self, node: Any = None) -> Any:
        """The `TabularCPD` of a variable."""

    def get_parents(self, node: Any) -> Any:
        """The parents of a variable."""


class PyagrumModel(Protocol):
    """What is used of a pyAgrum `BayesNet`."""

    def nodes(self) -> Any:
        """The numbers of the variables."""

    def variable(self, node: Any) -> Any:
        """A variable with its labels."""

    def cpt(self, node: Any) -> Any:
        """The CPT of a variable."""

    def propertyWithDefault(self, name: str, default: str) -> str:
        """A property of the network."""

    def setProperty(self, name: str, value: str) -> Any:
        """Set a property of the network."""


PathLike = str | os.PathLike[str]
TableLike = PathLike | FrameLike  # of data; a credo.Dataset has columns too
Weights = str | ArrayLike  # the name of a column, or one number per row
Soft = Mapping[str, Mapping[str, float]]  # soft evidence: variable -> state -> likelihood of what was seen
SoftRows = Mapping[str, Mapping[str, ArrayLike]]  # the same, where a likelihood may be a list with one for each row
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Seed = int | np.random.Generator
Progress = Callable[[float], None]  # called with the share of the work that is done
