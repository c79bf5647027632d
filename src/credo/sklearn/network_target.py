"""The network of a target: made of the features unless it is given, learned by `credo.fit`, and asked row by row."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from credo.io.columns import MISSING
from credo.io.dataset import Dataset, code_type
from credo.model.network import Network, Variable
from credo.options import EMOptions, OptimiserOptions, PosteriorOptions, TableFormat
from credo.progress import ProgressLike
from credo.questions.predictions import prediction_draws
from credo.sklearn.columns import Column
from credo.sklearn.target import MOST_CELLS
from credo.statistics.predict import probabilities_of
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    import polars as pl
    from dask.distributed import Client

    from credo.results.fit_results import Fit

DRAWS = 1000  # for intervals


class FitOptions(TypedDict, total=False):
    """The options of `credo.fit` that are not parameters of the classifier itself."""

    fixed: Sequence[str]
    table_format: TableFormat | None
    doubt: bool | float
    em: EMOptions | None
    posterior: PosteriorOptions | None
    optimiser: OptimiserOptions | None
    memory_limit: int | None
    executor: Client | None
    progress: ProgressLike


class ManyFeaturesWarning(UserWarning):
    """There are too many features for one CPT of the target; a naive Bayes model is used instead."""


@dataclass(frozen=True, slots=True)
class NetworkTarget:
    """What was learned, and how rows become state numbers of the network."""

    fit: Fit
    predictor: Network  # the learned network, in which every declared state of a feature is possible
    columns: Mapping[str, Column]
    target: str
    class_codes: Indices  # the state number of each class

    def probabilities(self, frame: pl.DataFrame) -> Numbers:
        """The probability of each class, (rows, classes); uniform where all of them are impossible."""
        rows = self._rows(self.predictor, frame)
        probabilities = probabilities_of(self.predictor, rows, self.target)[:, self.class_codes]
        totals = probabilities.sum(axis=1, keepdims=True)
        uniform = np.full_like(probabilities, 1 / len(self.class_codes))
        return np.asarray(np.divide(probabilities, totals, out=uniform, where=totals > 0))

    def draws(self, frame: pl.DataFrame) -> Numbers:
        """The probability of each class under each draw, (draws, rows, classes)."""
        rows = self._rows(self.fit.network, frame)
        draws = prediction_draws(self.fit, rows.codes, self.target, DRAWS)[..., self.class_codes]
        return np.asarray(draws / draws.sum(axis=-1, keepdims=True))

    def _rows(self, network: Network, frame: pl.DataFrame) -> Dataset:
        """Rows whose class is not known."""
        unknown = np.full(len(frame), MISSING)
        return rows_of(network, frame, self.columns, self.target, unknown, None, strict=False)


def rows_of(
    network: Network,
    frame: pl.DataFrame,
    columns: Mapping[str, Column],
    target: str,
    classes: NDArray[Any],
    weights: Numbers | None,
    *,
    strict: bool,
) -> Dataset:
    """Rows as state numbers of the network."""
    codes = np.full((len(frame), len(network)), MISSING, dtype=code_type(network))
    for place, name in enumerate(network.names):
        if name == target:
            codes[:, place] = classes
        elif name in columns:
            codes[:, place] = columns[name].codes(frame[name], strict=strict)
    hidden = tuple(name for name in network.names if name != target and name not in columns)
    return Dataset(network.names, codes, weights, hidden, variables=network.variables)


def with_all_parents(features: Sequence[Variable], target: Variable) -> Network:
    """All features as parents of the target."""
    return Network([*features, target], {target.name: [feature.name for feature in features]}, name="classifier")


def naive_bayes_if_large(network: Network, target: str) -> Network:
    """The same network; with the features as children of the target, and a warning, if its CPT would be too large."""
    if prod(network.shape(target)) <= MOST_CELLS:
        return network
    names = network.parents[target]
    warnings.warn(
        f"{len(names)} features are too many for one CPT of {target}, and there is no knowledge of how they "
        "affect it: each feature is modelled as depending on the class alone (naive Bayes).",
        ManyFeaturesWarning,
        stacklevel=3,
    )
    return Network(network.variables, {name: [target] for name in names}, name="classifier")
