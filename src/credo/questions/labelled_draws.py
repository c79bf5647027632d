"""The draws behind a fit, labelled for other tools, and how far they can be trusted.

Every number that a fit reports with an interval comes from these draws (`posterior/draws.py`), chain by chain.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.constraints.stage_costs import Cost, check_memory
from credo.errors import MissingExtraError, OptionError, counted
from credo.model.expansion import expand
from credo.posterior.convergence import r_hat
from credo.posterior.draws import PosteriorResult, chain_draws, draw_count
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import Fit, one_row_per_probability
from credo.types import Numbers

if TYPE_CHECKING:
    import arviz
    import polars as pl
    import xarray

FEWER = "Name the variables that you need, or learn with a higher memory_limit."
COPIES = 3  # of a CPT's draws, while they are brought into the order of the chains


def to_arviz(fit: Fit, names: Sequence[str] | str | None = None) -> arviz.InferenceData | xarray.DataTree:
    """The draws of CPTs as ArviZ takes them; see `Fit.to_arviz`."""
    installed = import_arviz("Handing draws to ArviZ")
    draws = labelled_draws(fit, names)
    if not takes_trees(installed):
        return installed.InferenceData(posterior=draws)
    import xarray

    return xarray.DataTree.from_dict({"posterior": draws})


def import_arviz(purpose: str) -> Any:
    """ArviZ, without what it says of its own future once a day; an error if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            import arviz
    except ImportError:
        raise MissingExtraError("arviz", "arviz", purpose) from None
    return arviz


def takes_trees(arviz: Any) -> bool:
    """Whether it is version 1 or later: trees of xarray are what `InferenceData` was, whose name it still has."""
    return int(arviz.__version__.partition(".")[0]) >= 1


def labelled_draws(fit: Fit, names: Sequence[str] | str | None = None) -> xarray.Dataset:
    """The same as a dataset of xarray: a variable for each CPT, with axes (chain, draw, parents' states, own state)."""
    try:
        import xarray
    except ImportError:
        raise MissingExtraError("xarray", "arviz", "Labelling draws") from None
    posterior, network = sampled_posterior(fit), expand(fit.network).network
    wanted = cpt_names(fit, names)
    shape = posterior.draws.shape[:2]
    cells = [network.cpt_array(name).size for name in wanted if name in posterior.names]
    cost = Cost(8.0 * draw_count(posterior) * (sum(cells) + COPIES * max(cells, default=0)), 0.0)
    limit = fit.memory_limit
    check_memory(cost, limit, f"Labelling the draws of {counted(len(wanted), 'CPT')}", FEWER)
    axes = {name: [*network.parents[name], name] for name in wanted}
    dimensions = {each: f"{each}_state" for name in wanted for each in axes[name]}
    taken = {"chain", "draw", *dimensions.values()}
    arrays = {}
    for name in wanted:
        if name in posterior.names:
            values = chain_draws(posterior, name)
        else:
            fixed = network.cpt_array(name)
            values = np.broadcast_to(fixed, (*shape, *fixed.shape))
        key = name
        while key in taken:  # a dimension of xarray cannot have the name of a variable
            key += "_"
        arrays[key] = (("chain", "draw", *(dimensions[each] for each in axes[name])), values)
    coordinates: dict[str, Any] = {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}
    coordinates |= {dimension: list(network.states(each)) for each, dimension in dimensions.items()}
    from credo._version import __version__

    about = {"inference_library": "credo", "inference_library_version": __version__, "method": fit.method}
    return xarray.Dataset(arrays, coordinates, about)


def diagnostics(fit: Fit, name: str | None = None) -> pl.DataFrame:
    """How far the draws of a CPT can be trusted, or the worst of each CPT; see `Fit.diagnostics`."""
    import polars as pl

    posterior = sampled_posterior(fit)
    if name is not None:
        (only,) = cpt_names(fit, name)
        if only not in posterior.names:
            raise OptionError(f"The CPT of {only} was not learned: there are no draws of it.")
        sizes, mixed = _effective_sizes(posterior, only), _r_hat(posterior, only)
        return one_row_per_probability(
            fit,
            only,
            deviation=posterior.deviations[only],
            error=posterior.errors[only],
            effective_size=sizes,
            r_hat=mixed,
        )
    rows = []
    for each in cpt_names(fit):
        if each in posterior.names:
            sizes, mixed = _effective_sizes(posterior, each), _r_hat(posterior, each)
            error = float(posterior.errors[each].max())
            rows.append((each, error, float(sizes.min()), float(mixed.max())))
    kinds = {"variable": pl.String, "error": pl.Float64, "effective_size": pl.Float64, "r_hat": pl.Float64}
    return pl.DataFrame(rows, schema=kinds, orient="row").sort("effective_size", maintain_order=True)


def sampled_posterior(fit: Fit) -> PosteriorResult:
    """The draws of a fit; an error that says why where there are none."""
    reason = why_no_interval(fit)
    if reason:
        raise OptionError(reason.replace("There is no interval", "There are no draws", 1))
    assert isinstance(fit.posterior, PosteriorResult)
    return fit.posterior


def cpt_names(fit: Fit, names: Sequence[str] | str | None = None) -> list[str]:
    """The CPTs of variables, or of all: a noisy family has its small ones."""
    expansion = expand(fit.network)
    wanted = [names] if isinstance(names, str) else list(fit.network.names if names is None else names)
    found: dict[str, None] = {}
    for name in wanted:
        if name not in expansion.network.names:
            fit.network.variable(name)  # an error with a suggestion
        found |= dict.fromkeys(expansion.effects.get(name, (name,)))
    return list(found)


def _effective_sizes(posterior: PosteriorResult, name: str) -> Numbers:
    """How many independent draws each mean is worth, (parents…, child): variance / error²; none where nothing varies.

    Where draws are kept that is their effective sample size; averages over exact distributions are worth more.
    """
    variances, errors = posterior.deviations[name] ** 2, posterior.errors[name] ** 2
    sizes = np.full(variances.shape, float(draw_count(posterior)))
    np.divide(variances, errors, out=sizes, where=errors > 0.0)
    return np.where(np.isnan(errors), np.nan, sizes)


def _r_hat(posterior: PosteriorResult, name: str) -> Numbers:
    """R-hat of the draws of each number, (parents…, child)."""
    draws = chain_draws(posterior, name)
    flat = draws.reshape(*draws.shape[:2], -1)
    return r_hat(flat).reshape(draws.shape[2:])
