"""The way of the data, in order: network, table, counts, estimate, findings."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from credo.errors import NetworkError, OptionError
from credo.estimators.counting import estimate_by_counting
from credo.estimators.methods import Method, choose_method
from credo.estimators.solution import rows_without_probability
from credo.io.networks import read_network
from credo.io.tables import stream_table
from credo.network import Network
from credo.result import Fit
from credo.statistics.counts import count_all
from credo.statistics.families import Families, check_size
from credo.statistics.likelihood import log_likelihood_of_counts, require_complete
from credo.statistics.prior import Priors, as_prior

if TYPE_CHECKING:
    from credo.io.csv import Progress


def fit(
    network: Any,
    data: Any,
    *,
    method: str = "auto",
    prior: Any = None,
    fixed: Sequence[str] = (),
    weights: Any = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Learn the tables of a network from data.

    `network` is a `Network`, a path, or an object of pgmpy or pyAgrum; `data` a path (CSV, Parquet, a folder of
    Parquet files) or a frame of pandas, polars, pyarrow, …. `method` is one of `credo methods`. `prior` is a number of
    pseudo-counts, "k2", "bdeu:10", another network, or a mapping from variables to these. Tables of `fixed` variables
    stay as they are. `weights` names a column, or is an array with one number a row. `memory_limit` is how many bytes
    the tables may take; half of the machine's memory where nothing is said.
    """
    started = perf_counter()
    structure = read_network(network)
    chosen = choose_method(method)
    believed = _prior_for(chosen, prior, structure)
    free = _free_variables(structure, fixed)
    check_size(structure, memory_limit)

    counts = count_all(Families.of(structure), stream_table(data, structure, weights=weights, progress=progress))
    require_complete(counts)
    solution = estimate_by_counting(structure, counts, believed, free)

    learned = structure.with_tables(solution.tables)
    log_likelihood = log_likelihood_of_counts(learned, counts)
    return Fit(
        network=learned,
        method=chosen.name,
        status=solution.status,
        log_likelihood=log_likelihood,
        rows=counts.rows,
        seconds=perf_counter() - started,
        findings=(*solution.findings, *rows_without_probability(learned, counts, fixed)),
        history=(log_likelihood,),
    )


def _prior_for(method: Method, prior: Any, network: Network) -> Priors:
    if prior is not None and not method.takes_prior:
        raise OptionError(f"The method {method.name} takes no prior. Use method=map, or leave the prior out.")
    return as_prior(method.default_prior if prior is None else prior, network)


def _free_variables(network: Network, fixed: Sequence[str]) -> tuple[str, ...]:
    """The variables whose tables are learned."""
    if isinstance(fixed, str):
        raise OptionError(f"fixed is a list of names, not the text {fixed!r}.")
    for name in fixed:
        if network.variable(name).name not in network.tables:
            raise NetworkError(f"The table of {name} is to stay as it is, but the network has none for it.")
    return tuple(name for name in network.names if name not in set(fixed))
