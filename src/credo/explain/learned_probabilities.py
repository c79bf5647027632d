"""What the probabilities that a statement names are in a result: prevalences, diagnostic values and others.

With draws they are answered as `fit.query` answers a question: the mean over the draws, and the interval that holds 95%
of them. Otherwise they are those of the learned CPTs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from credo.knowledge.expressions import Probability, probabilities_in, probability_text
from credo.knowledge.network_names import each_of
from credo.knowledge.query import query_of
from credo.knowledge.statements import Approximation, Comparison, Statement
from credo.model.network import Network
from credo.posterior.cpt_answers import intervals_asked_for
from credo.posterior.draws import PosteriorResult, draws_of, probability_intervals
from credo.statistics.questions import answer, as_batch, factors_of

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class LearnedProbability:
    """A probability that a statement names, and what it is in the result.

    Attributes
    ----------
    text
        The probability as it is written: `P(lung=yes | xray=yes)`.
    value
        What it is.
    interval
        The ends of its 95% credible interval; None where the method gives none.
    """

    text: str
    value: float
    interval: tuple[float, float] | None = None


def learned_probabilities(
    network: Network, statement: Statement, posterior: PosteriorResult | None = None
) -> tuple[LearnedProbability, ...]:
    """The probabilities that a statement names in an expanded network, and under its draws if there are any.

    Nothing for one about many states at once, by `each`; a condition that never occurs leaves no number.
    """
    if not isinstance(statement, Comparison | Approximation):
        return ()
    terms = list(dict.fromkeys(term for side in statement.sides for term in probabilities_in(side)))
    if any(term.alone or each_of(term, network) for term in terms):
        return ()
    return tuple(each for term in terms for each in _learned(network, term, posterior))


def _learned(network: Network, term: Probability, posterior: PosteriorResult | None) -> Iterator[LearnedProbability]:
    asked, text = query_of(term), probability_text(term)
    draws = None
    if posterior is not None:
        draws = draws_of(posterior, network, factors_of(network, asked.targets, asked.evidence, asked.interventions))
    values, log_evidence = answer(network, as_batch(network) if draws is None else draws, asked)
    possible = np.minimum(values.reshape(len(values), -1)[np.isfinite(log_evidence), 0], 1.0)
    if not len(possible):
        return
    ends = None
    if draws is not None:
        known = intervals_asked_for(posterior, network, asked, LEVEL)
        ends = probability_intervals(possible, LEVEL) if known is None else known[:, 0]
    yield LearnedProbability(text, float(possible.mean()), None if ends is None else (float(ends[0]), float(ends[1])))
