"""Several models of one target, averaged with weights that say how well each predicts rows it has not seen.

The weights π of the models maximise the likelihood of the mixture on held-out rows ("stacking") [Yao, Vehtari, Simpson
and Gelman, 2018], with a Dirichlet prior that decides where rows are few:

    Σ_i w_i · log Σ_m π_m · p_m(y_i | all rows but i)  +  Σ_m a_m · log π_m

No model is learned again for a held-out row. Its probability under the posterior without the row is a mean over draws
with the weights 1/p(y_i | draw), which are cut off at √S times their mean [Ionides, 2008]; S is the number of draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from credo.types import Numbers

# a_m, in rows. A network is only needed where features interact. Its prior is learned from all rows, so that what it
# predicts for held-out rows is somewhat too good; it has to be clearly better before it counts for much.
PRIOR = {"additive": 20.0, "network": 2.0}
ROUNDS = 200
SMALLEST = 1e-12
DRAWS = 1000  # of the mixture, for intervals


def held_out(probabilities: Numbers) -> Numbers:
    """p(y_i | all rows but i), from the probability of each row's own class under each draw, (draws, rows)."""
    inverse = 1.0 / np.maximum(probabilities, SMALLEST)
    weights = np.minimum(inverse, inverse.mean(axis=0) * len(probabilities) ** 0.5)
    return np.asarray((weights * probabilities).sum(axis=0) / weights.sum(axis=0))


def stacking_weights(predictions: Mapping[str, Numbers], weights: Numbers) -> dict[str, float]:
    """The weight of each model, from its predictions of held-out rows, by EM."""
    stacked = np.maximum(np.stack(list(predictions.values())), SMALLEST)  # (models, rows)
    prior = np.array([PRIOR[name] for name in predictions])
    shares = prior / prior.sum()
    for _ in range(ROUNDS):
        joint = shares[:, None] * stacked
        counts = (joint / joint.sum(axis=0)) @ weights + prior
        shares = counts / counts.sum()
    return dict(zip(predictions, shares.tolist(), strict=True))


def mixture_draws(draws: Sequence[Numbers], shares: Numbers) -> Numbers:
    """Draws of the mixture: of each model, (draws, …), as many as its weight says."""
    parts = []
    for values, share in zip(draws, shares, strict=True):
        wanted = round(share * DRAWS)
        parts.append(values[np.linspace(0, len(values) - 1, wanted).round().astype(np.int64)])
    return np.concatenate(parts)
