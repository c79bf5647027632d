"""Which parts of a fit the data do not fit: rows that were observed against rows that the learned network produces.

Every variable is checked given its parents, and every pair of variables that no arrow joins. What is compared, and how
several checks are judged together, is in `statistics/posterior_predictive.py`; here are rows, draws, and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from credo.errors import OptionError, listing
from credo.explain.misfits import LEVEL, PredictiveCheck, PredictiveChecks
from credo.io.row_sample import MOST_ROWS, RowSample, with_rows
from credo.io.tables import read_table
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.network import Network
from credo.model.noisy import full_cpt
from credo.posterior.draws import PosteriorResult, cpt_draws, draw_count
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import Fit
from credo.statistics.completed_rows import BatchedCPTs, Completion, completion_of
from credo.statistics.posterior_predictive import (
    Discrepancies,
    family_discrepancies,
    link_discrepancies,
    links_of,
    p_values,
)
from credo.types import Codes, Numbers, TableLike

if TYPE_CHECKING:
    import polars as pl

REPLICATES = 200
MOST_SAVED = 1000  # checks, in the file of a fit
LEAST_ROWS = 200  # to which rows are reduced where there is not enough time for all of them
MOST_VALUES = 6_000_000  # of all rows that are simulated: about half a second
MOST_PRODUCTS = 4_000_000_000  # of numbers, in the tables of all pairs; the same
MOST_TABLES = 20_000_000  # numbers in these tables: 80 MB, and as much where values are missing
MOST_TERMS = 200_000  # that are multiplied to complete all rows once
MOST_CPT = 4096  # cells of the full CPT of a noisy family
VERY_MANY_ROWS = 10**9  # which NumPy cannot draw from without replacement
NO_ROWS = "The rows of the data are not in this fit: give them, as in predictive_checks(data)."
TIED = "Rows that are tied cannot be compared with rows that the network produces one by one."
FRACTIONS = "Rows whose weights are not whole numbers cannot be compared with rows that the network produces."
MANY_WEIGHTED = f"Of tables with weights, at most {MOST_ROWS:,} rows can be compared with what the network produces."
TOO_MANY_MISSING = "Too many values are missing in the same rows to complete them."
NOTHING = "There is nothing to compare: no variable has data."


def predictive_checks(fit: Fit, data: TableLike | None = None, replicates: int = REPLICATES) -> PredictiveChecks:
    """Compare the data with what the network produces; see `Fit.predictive_checks`.

    Raises
    ------
    OptionError
        If there are no rows to compare, or they cannot be compared.
    """
    if isinstance(replicates, bool) or not isinstance(replicates, int) or replicates < 20:
        raise OptionError(f"replicates is a whole number, 20 or more; it is {replicates!r}.")
    if fit.tied is not None or (fit._problem is not None and fit._problem.model.constraints.ties):
        raise OptionError(TIED)
    rng = np.random.default_rng([fit.seed, 3])
    network = fit.network
    sample = fit.row_sample
    if data is not None:
        sample = with_rows(None, read_table(network, data), rng)
    if sample is None:
        if fit.checks is None or not fit.checks.checks:
            raise OptionError(NO_ROWS if fit.checks is None else fit.checks.note)
        return fit.checks  # those that were made when it was saved
    codes = _rows(sample, len(network), rng)
    cpts, replicates = _cpts(fit, replicates)
    count = max(LEAST_ROWS, MOST_VALUES // (replicates * len(network)))
    completion = _completion(network, codes[:count])
    seen = [name for name, column in zip(network.names, codes.T, strict=True) if (column >= 0).any()]
    checked = [name for name in seen if name in cpts]
    if not checked:
        raise OptionError(NOTHING)
    links = links_of(network, seen)
    note = ""
    if links.pairs:
        most = int(MOST_PRODUCTS // (replicates * links.columns**2))
        if replicates * links.columns**2 > MOST_TABLES or most < LEAST_ROWS:
            note = "The network is too large to compare all pairs of variables that no arrow joins."
        elif most < len(completion.codes):
            completion = _completion(network, codes[:most])
    families = family_discrepancies(network, cpts, completion, checked, replicates, rng)
    parts, about = [families], [("family", name, "") for name in checked]
    if links.pairs and not note:
        parts.append(link_discrepancies(network, cpts, completion, links, replicates, rng))
        about += [("link", network.names[c], network.names[a]) for a, c in links.pairs]
    found = _checks(fit, about, parts)
    ordered = tuple(sorted(found, key=_worst_first))
    return PredictiveChecks(ordered, len(completion.codes), len(checked), len(found) - len(checked), note)


def checks_or_note(fit: Fit) -> PredictiveChecks:
    """The same for reports: why there are none, where there are none."""
    try:
        return predictive_checks(fit)
    except OptionError as error:
        return PredictiveChecks(note=str(error))


def checks_frame(found: PredictiveChecks) -> pl.DataFrame:
    """The checks as a frame; see `Fit.predictive_checks`."""
    import polars as pl

    texts, numbers = ("kind", "variable", "other", "where"), ("observed", "expected", "p_value", "adjusted")
    rows = [
        [getattr(check, name) or None for name in texts]
        + [getattr(check, name) for name in numbers]
        + [check.is_alarm, check.sentence or None]
        for check in found.checks
    ]
    kinds = {**dict.fromkeys(texts, str), **dict.fromkeys(numbers, float), "alarm": bool, "message": str}
    return pl.DataFrame(rows, schema=kinds, orient="row")


# Rows and draws -------------------------------------------------------------------------------------------------------


def _rows(sample: RowSample, variables: int, rng: np.random.Generator) -> Codes:
    """The rows to compare; a row with the weight 3 is there three times."""
    codes = sample.codes[:, :variables]
    if sample.weights is None:
        return codes
    weights = np.round(sample.weights).astype(np.int64)
    if np.abs(weights - sample.weights).max(initial=0.0) > 1e-9:
        raise OptionError(FRACTIONS)
    if not sample.is_whole:
        raise OptionError(MANY_WEIGHTED)
    total = int(weights.sum())
    if total >= VERY_MANY_ROWS:  # of so many, it makes no difference that no row is chosen twice
        weights = rng.multinomial(MOST_ROWS, weights / weights.sum())
    elif total > MOST_ROWS:
        weights = rng.multivariate_hypergeometric(weights, MOST_ROWS, method="marginals")
    return np.asarray(rng.permutation(np.repeat(codes, weights, axis=0)))


def _completion(network: Network, codes: Codes) -> Completion:
    """How the missing values of as many rows as there is time for are drawn."""
    count = len(codes)
    while True:
        found = completion_of(network, codes[:count], MOST_TERMS)
        if found is not None:
            return found
        if count <= LEAST_ROWS:
            raise OptionError(TOO_MANY_MISSING)
        count = max(LEAST_ROWS, count // 2)


def _cpts(fit: Fit, replicates: int) -> tuple[BatchedCPTs, int]:
    """Draws of the CPTs of all variables, (draws, configurations, states), and how many draws there are.

    Without draws, and where a CPT was kept, it is the learned one.
    """
    expansion = expand(fit.network)
    network, posterior = expansion.network, None if why_no_interval(fit) else fit.posterior
    if isinstance(posterior, PosteriorResult):
        replicates = min(replicates, draw_count(posterior))
    found: dict[str, Numbers] = {}

    def drawn(name: str) -> Numbers:
        if isinstance(posterior, PosteriorResult) and name in posterior.names:
            return np.asarray(cpt_draws(posterior, name, replicates))
        return network.cpt_array(name)[None]

    for name in fit.network.names:
        shape = fit.network.shape(name)
        if name not in expansion.effects:
            values = drawn(name)
        else:
            form = fit.network.forms[name]
            if isinstance(form, GateForm) and name in fit.network.cpts:
                found[name] = fit.network.cpts[name].reshape(1, -1, shape[-1])
                continue
            if isinstance(form, GateForm) or prod(shape) > MOST_CPT:
                raise OptionError(f"The full CPT of {name} is too large to compare what it produces with the data.")
            effects = [drawn(effect) for effect in expansion.effects[name]]
            parents, states = fit.network.parents[name], fit.network.states(name)
            values = np.stack(
                [
                    full_cpt(form.with_cpts([each[min(draw, len(each) - 1)] for each in effects]), parents, states)
                    for draw in range(max(map(len, effects)))
                ]
            )
        found[name] = np.ascontiguousarray(values.reshape(len(values), -1, shape[-1]))
    return found, replicates


# Words ----------------------------------------------------------------------------------------------------------------


def _checks(fit: Fit, about: Sequence[tuple[str, str, str]], parts: Sequence[Discrepancies]) -> list[PredictiveCheck]:
    network = fit.network
    single, together = p_values(parts)
    cells = [cell for part in parts for cell in part.cells]
    rows = np.concatenate([part.rows for part in parts])
    found = []
    for (kind, variable, other), (first, state), (observed, expected), p, adjusted in zip(
        about, cells, rows.tolist(), single.tolist(), together.tolist(), strict=True
    ):
        label = f"{variable}={network.states(variable)[state]}"
        if kind == "family":
            where = network.describe(variable, first, state)
            sentence = _family_sentence(fit, variable, first, label, observed, expected)
        else:
            where = f"{other}={network.states(other)[first]} and {label}"
            sentence = _link_sentence(network, variable, other, where, observed, expected)
        message = sentence if adjusted <= LEVEL else ""
        found.append(PredictiveCheck(kind, variable, other, where, observed, expected, p, adjusted, message))
    return found


def _worst_first(check: PredictiveCheck) -> tuple[float, float, float]:
    difference = abs(check.observed - check.expected) / max(1.0, check.expected) ** 0.5
    return check.adjusted, check.p_value, -difference


def _family_sentence(fit: Fit, variable: str, configuration: int, label: str, observed: float, expected: float) -> str:
    network = fit.network
    given = ", ".join(f"{parent}={state}" for parent, state in network.configuration(variable, configuration).items())
    where = f"with {given} " if given else ""
    advice = f"Check the statements about {variable}"
    if variable in network.forms:
        advice += ", and whether its causes act independently of each other"
    elif variable in fit.fixed:
        advice = f"Its CPT was kept as it was: let it be learned, or look for the reason in the data on {variable}"
    return (
        f"The data do not fit the CPT of {variable}: {_count(observed)} rows {where}have {label}, and about "
        f"{_count(expected)} are expected. {advice}."
    )


def _link_sentence(network: Network, variable: str, other: str, where: str, observed: float, expected: float) -> str:
    parents = network.parents[variable]
    by = f" by what {listing(parents)} {'says' if len(parents) == 1 else 'say'} about {variable}" if parents else ""
    return (
        f"The data show a stronger link between {other} and {variable} than the network allows: {_count(observed)} "
        f"rows have {where}, and about {_count(expected)} are expected{by}. Consider an arrow from {other} to "
        f"{variable}, or a common cause."
    )


def _count(rows: float) -> str:
    return f"{rows:,.0f}" if abs(rows - round(rows)) < 0.05 or rows >= 10 else f"{rows:.1f}"
