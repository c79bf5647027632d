"""Pictures of the draws behind a fit, drawn by ArviZ."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import OptionError
from credo.model.expansion import expand
from credo.plot.fit_plots import require_fit
from credo.questions.labelled_draws import cpt_names, diagnostics, import_arviz, labelled_draws, takes_trees
from credo.results.fit_results import Fit

if TYPE_CHECKING:
    import xarray
    from arviz_plots import PlotCollection

MAX_TRACES = 6  # probabilities in one picture
MAX_RANKS = 6
TITLE_LETTERS = 36  # in a line above a picture


def trace(fit: Fit, name: str, **options: object) -> NDArray[np.object_] | PlotCollection:
    """Draw how the draws of a variable's probabilities came one after the other, and how they are distributed.

    Chains that agree lie on top of each other, and look like a hedge without a direction. Of a large CPT the numbers
    with the smallest effective sizes are drawn.

    Parameters
    ----------
    fit
        The result of `fit`, with draws.
    name
        The variable, or a small CPT of a noisy family, such as `attack by chol, bp`.
    options
        What else `arviz.plot_trace` takes.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, or arviz_plots.PlotCollection
        What the installed version of ArviZ returns.

    Raises
    ------
    OptionError
        If the CPT has no draws.
    MissingExtraError
        If ArviZ is not installed.
    """
    arviz = import_arviz("A picture of draws")
    draws = _worst(fit, name, MAX_TRACES)
    if takes_trees(arviz):
        return arviz.plot_trace_dist(_tree(draws), **options)
    size = {"figsize": (9.0, 1.7 * len(draws.data_vars)), "backend_kwargs": {"layout": "constrained"}}
    with _quiet():
        return arviz.plot_trace(draws, **{"compact": False, **size, **options})


def rank(fit: Fit, name: str, **options: object) -> NDArray[np.object_] | PlotCollection:
    """Draw how the draws of each chain rank among those of all chains.

    Where all chains agree, all bars of a chain are about equally high; a slope or a heap shows a chain that differs.

    Parameters
    ----------
    fit, name
        As for `trace`.
    options
        What else `arviz.plot_rank` takes.

    Returns
    -------
    ndarray of matplotlib.axes.Axes, or arviz_plots.PlotCollection
        What the installed version of ArviZ returns.

    Raises
    ------
    OptionError
        If the CPT has no draws.
    MissingExtraError
        If ArviZ is not installed.
    """
    arviz = import_arviz("A picture of draws")
    draws = _worst(fit, name, MAX_RANKS)
    if takes_trees(arviz):
        return arviz.plot_rank(_tree(draws), **options)
    columns = min(2, len(draws.data_vars))
    rows = -(-len(draws.data_vars) // columns)
    wrapped = draws.rename_vars({name: fill(str(name), TITLE_LETTERS) for name in draws.data_vars})
    size = {
        "figsize": (4.8 * columns, (1.6 + 0.18 * draws.sizes["chain"]) * rows),
        "backend_kwargs": {"layout": "constrained"},
    }
    with _quiet():
        return arviz.plot_rank(wrapped, **{"grid": (rows, columns), **size, **options})


@contextmanager
def _quiet() -> Iterator[None]:
    """Without warnings of matplotlib about names that ArviZ uses: no user can change that."""
    from matplotlib import MatplotlibDeprecationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MatplotlibDeprecationWarning)
        yield


def _tree(draws: xarray.Dataset) -> Any:
    import xarray

    return xarray.DataTree.from_dict({"posterior": draws})


def _worst(fit: Fit, name: str, most: int) -> xarray.Dataset:
    """The draws of a CPT, a variable of xarray for each probability: of large CPTs those that are known worst."""
    require_fit(fit)
    names = cpt_names(fit, name)
    if len(names) > 1:
        raise OptionError(f"{name} is a noisy family: draw one of its small CPTs, {', '.join(names)}.")
    network, (only,) = expand(fit.network).network, names
    sizes = diagnostics(fit, only)["effective_size"].to_numpy().reshape(network.shape(only))
    states = sizes.shape[-1]
    flat = sizes.reshape(-1, states)
    shown = [(j, k) for j in range(len(flat)) for k in (range(1, 2) if states == 2 else range(states))]
    shown = sorted(sorted(shown, key=lambda cell: float(flat[cell]))[:most])
    draws = labelled_draws(fit, only)
    (values,) = draws.data_vars.values()
    cells = {}
    for j, k in shown:
        place = np.unravel_index(j, sizes.shape[:-1]) if sizes.ndim > 1 else ()
        chosen = values[(slice(None), slice(None), *map(int, place), k)]
        other = [each for each in chosen.coords if each not in chosen.dims]
        cells[network.describe(only, j, k)] = chosen.drop_vars(other)
    return draws.drop_vars(list(draws.variables)).assign(cells)
