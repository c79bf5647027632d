"""Which CPTs a summary shows: all of a small network; of a large one those that matter most, as fit on a screen."""

from __future__ import annotations

from math import prod

import numpy as np

from credo.explain.contradictions import CONTRADICTED
from credo.model.expansion import expand
from credo.results.fit_results import FitResult
from credo.types import Numbers

FEW_VARIABLES = 12  # networks up to this size are shown CPT by CPT
FEW_CONFIGURATIONS = 16  # of one CPT
SCREEN = 48  # lines for the CPTs of a larger network
FRAME = 5  # lines of a table that are not numbers
MANY_CELLS = 2**20  # of a CPT whose evidence is not computed


def chosen_cpts(fit: FitResult) -> list[str]:
    """The variables whose CPTs are shown, those first that the data contradict or the knowledge is about.

    Then those whose data say most about how they depend on their parents. There is always one.
    """
    names = fit.network.names
    if len(names) <= FEW_VARIABLES:
        return list(names)
    contradicted = {finding.variable for finding in fit.findings if finding.kind == CONTRADICTED}
    about = _with_statements(fit)
    ranks = {name: (name not in contradicted, name not in about, -_evidence(fit, name)) for name in names}
    shown: list[str] = []
    lines = 0
    for name in sorted(names, key=lambda each: ranks[each]):
        own = _lines(fit, name)
        if not shown or lines + own <= SCREEN:
            shown.append(name)
            lines += own
    return shown


def _with_statements(fit: FitResult) -> set[str]:
    """The variables whose CPTs constraints limit; a noisy family for its small CPTs."""
    if fit.problem is None:
        return set()
    owner = {small: name for name, effects in expand(fit.network).effects.items() for small in effects}
    return {owner.get(name, name) for name in fit.problem.constrained_configurations()}


def _evidence(fit: FitResult, name: str) -> float:
    """Σ n(x, u) log [n(x, u) n / n(x) n(u)]: the gain in log-likelihood from knowing the parents."""
    network = fit.network
    if fit.problem is None or name in network.forms or not network.parents[name]:
        return 0.0
    if prod(network.shape(name)) > MANY_CELLS:
        return 0.0
    counts = fit.problem.counts.of(name)
    return _sum(counts) + _sum(counts.sum()) - _sum(counts.sum(axis=0)) - _sum(counts.sum(axis=1))


def _sum(counts: Numbers) -> float:
    """Σ n log n."""
    values = np.asarray(counts, dtype=np.float64).ravel()
    values = values[values > 0.0]
    return float(values @ np.log(values))


def _lines(fit: FitResult, name: str) -> int:
    network = fit.network
    if name not in network.forms:
        return FRAME + min(FEW_CONFIGURATIONS, network.configurations(name))
    expansion = expand(network)
    small = expansion.effects.get(name, ())
    return 1 + sum(FRAME + min(FEW_CONFIGURATIONS, expansion.network.configurations(each)) for each in small)
