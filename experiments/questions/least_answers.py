"""How few answers could halve the divergence of the whole network, whatever the order of the questions?

Answers are exact here, and each is about one number. An order that knows the truth asks first where the learned CPTs
are most wrong; one that knows what the draws know asks first where they expect the CPTs to be most wrong.
`python -m experiments.questions.least_answers` prints both for the networks of the long interviews.
"""

from __future__ import annotations

import numpy as np

import credo
from credo.posterior.draws import cpts_under_draws, draw_count
from credo.questions.question_goals import configuration_probabilities, entropies
from credo.types import Numbers
from experiments.questions.trials import DRAWS, FOLDER, NETWORKS, ROWS

LONG = ("asia", "criminal1", "enrollment", "fingermarks1", "intentionalattacks", "project", "ropesegment", "vessel1")


def contributions(name: str) -> Numbers:
    """What each number of the network adds to its true and to its expected divergence, (2, numbers)."""
    truth = credo.read_network(FOLDER / f"{name}.bif")
    generator = np.random.default_rng([0, NETWORKS.index(name)])
    rows = truth.sample(ROWS, seed=int(generator.integers(2**31)))
    structure = credo.Network(truth.variables, truth.parents, name=truth.name)
    fit = credo.fit(structure, rows, method="posterior", posterior=DRAWS, progress=False)
    found = []
    for child in truth.names:
        states = len(truth.states(child))
        cpt, learned = (each.cpt_array(child).reshape(-1, states) for each in (truth, fit.network))
        drawn = cpts_under_draws(fit.posterior, fit.network, draw_count(fit.posterior), child)  # type: ignore[arg-type]
        drawn = drawn.reshape(len(drawn), -1, states)
        mean = drawn.mean(axis=0)
        wrong = (entropies(cpt, learned) - entropies(cpt, cpt)).sum(axis=-1) * configuration_probabilities(truth, child)
        expected = (entropies(mean, mean) - entropies(drawn, drawn).mean(axis=0)).sum(axis=-1)
        expected *= configuration_probabilities(fit.network, child)
        free = states - 1  # one number follows from the others
        found.append(np.repeat([wrong, expected], free, axis=1) / free)
    return np.concatenate(found, axis=1)


def answers_to_halve(contributions: list[Numbers], by: int) -> int:
    """After how many answers the sum over all networks of what is left in the first row is half of what it was.

    Questions are asked in the order of the row `by`, the largest first.
    """
    most = max(each.shape[1] for each in contributions)
    left = np.zeros(most + 1)
    for each in contributions:
        own = each[0, np.argsort(-each[by], kind="stable")]
        left[: len(own) + 1] += own.sum() - np.concatenate([[0.0], own.cumsum()])
    return int(np.argmax(left <= 0.5 * left[0]))


def main() -> None:
    """Print both numbers of answers."""
    found = [contributions(name) for name in LONG]
    print(f"An order that knows the truth: {answers_to_halve(found, 0)} answers.")
    print(f"An order that knows what the draws know: {answers_to_halve(found, 1)} answers.")


if __name__ == "__main__":
    main()
