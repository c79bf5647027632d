"""How probable each state is when nothing is observed: the bars in the picture of a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from credo.drawing.network_boxes import Bar
from credo.errors import TooLargeError
from credo.model.expansion import expand
from credo.model.network import Network
from credo.questions.marginals import all_marginals
from credo.results.fit_results import Fit
from credo.statistics.questions import as_batch, marginal_factors, marginals

MOST_CELLS = 2**25  # of all cliques, under all draws together: about a second

TOO_LARGE = (
    "How probable each state is by itself is not shown: in a network like this it would take too long to compute."
)


@dataclass(frozen=True, slots=True)
class Marginals:
    """The states of each variable; none where exact inference would take too long, and then the reason.

    Attributes
    ----------
    bars
        For each variable, its states with their probabilities and intervals.
    note
        Why there are no probabilities; empty where there are.
    """

    bars: Mapping[str, Sequence[Bar]]
    note: str = ""

    @property
    def with_intervals(self) -> bool:
        """Whether probabilities have their intervals."""
        return any(bar.low is not None for own in self.bars.values() for bar in own)


def fit_marginals(fit: Fit, most_cells: int = MOST_CELLS) -> Marginals:
    """The probabilities of all states under a fit."""
    try:
        frame = all_marginals(fit, most_cells)
    except TooLargeError:
        return Marginals({}, f"{TOO_LARGE} fit.query asks for the probability of one variable.")
    bars: dict[str, Sequence[Bar]] = {}
    for name, state, probability, low, high in frame.iter_rows():
        bars[name] = [*bars.get(name, ()), Bar(state, probability, low, high)]
    return Marginals(bars)


def network_marginals(network: Network, most_cells: int = MOST_CELLS) -> Marginals:
    """The probabilities of all states of a network alone; none where it lacks CPTs."""
    expanded = expand(network).network
    if any(name not in expanded.cpts for name in expanded.names):
        return Marginals({}, "How probable each state is by itself is not known: there are variables without a CPT.")
    if marginal_factors(expanded, {}).plan.cells > most_cells:
        return Marginals({}, TOO_LARGE)
    found = marginals(expanded, as_batch(expanded), {})
    return Marginals(
        {
            name: [Bar(state, float(p)) for state, p in zip(network.states(name), found[name][0], strict=True)]
            for name in network.names
        }
    )
