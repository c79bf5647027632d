"""Are conflicts found, and are they the smallest? `python -m benchmarks.checks`.

Random networks with true statements; in every second one a few statements are turned round. credo's check says whether
all can hold, and names the smallest sets that cannot. A linear program over the same constraints (SciPy's HiGHS) is the
judge: of the verdict, of every conflict, and of every conflict without each of its statements.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog

from benchmarks.recording import record
from credo.checking.check import check
from credo.constraints.lower import lower
from credo.knowledge import Knowledge, to_text
from credo.model.network import Network
from credo.testing import made_up_network, true_statements

KNOWLEDGES, VARIABLES, PER_VARIABLE, TURNED = 100, 8, 12, 6
TURN = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}


def main() -> None:
    """Check all, judge, and print how often the check was right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--knowledges", type=int, default=KNOWLEDGES)
    print_figures(measure(parser.parse_args().knowledges))


def measure(knowledges: int) -> dict[str, float]:
    """Counts of right verdicts and smallest conflicts, and processor times."""
    found = dict.fromkeys(("knowledges", "contradictory", "right", "conflicts", "smallest", "credo", "HiGHS"), 0.0)
    warm = made_up_network(VARIABLES, (2, 3), (0.25, 0.5, 0.25), seed=0)
    check(warm, "\n".join(map(to_text, true_statements(warm, 1))))  # loads everything before the first measurement
    for seed in range(knowledges):
        network = made_up_network(VARIABLES, (2, 3), (0.25, 0.5, 0.25), seed=seed)
        lines = [to_text(statement) for statement in true_statements(network, PER_VARIABLE, seed)]
        if seed % 2:
            lines = turned(lines, seed)
        started = time.process_time()
        checked = check(network, "\n".join(lines))
        found["credo"] += time.process_time() - started
        started = time.process_time()
        feasible = can_hold(network, lines)
        found["HiGHS"] += time.process_time() - started
        found["knowledges"] += 1
        found["contradictory"] += not feasible
        found["right"] += checked.feasible == feasible
        for conflict in checked.conflicts:
            own = [reference.text for reference in conflict.statements]
            found["conflicts"] += 1
            found["smallest"] += not can_hold(network, own) and all(
                can_hold(network, own[:i] + own[i + 1 :]) for i in range(len(own))
            )
    record("checks", f"{VARIABLES} variables, {PER_VARIABLE} statements each", dict(found))
    return found


def turned(lines: Sequence[str], seed: int) -> list[str]:
    """Some of the inequalities with their sign turned round."""
    texts = list(lines)
    places = [i for i, text in enumerate(texts) if sum(word in TURN for word in text.split(" ")) == 1]
    for i in np.random.default_rng(seed).choice(places, min(TURNED, len(places)), replace=False).tolist():
        texts[i] = " ".join(TURN.get(word, word) for word in texts[i].split(" "))
    return texts


def can_hold(network: Network, lines: Sequence[str]) -> bool:
    """Whether some CPTs satisfy all, by a linear program over all parameters."""
    constraints = lower(Knowledge(network, "\n".join(lines)))
    size = constraints.layout.size
    matrix, bounds, equal = constraints.linear.matrix(size), constraints.linear.bounds, constraints.linear.equality
    starts = constraints.layout.distribution_starts()
    sums = np.zeros((len(starts), size))
    sums[np.repeat(np.arange(len(starts)), np.diff(starts, append=size)), np.arange(size)] = 1.0
    from scipy.sparse import vstack

    solved = linprog(
        np.zeros(size),
        A_ub=matrix[~equal] if (~equal).any() else None,
        b_ub=bounds[~equal] if (~equal).any() else None,
        A_eq=vstack([matrix[equal], sums]) if equal.any() else sums,
        b_eq=np.concatenate([bounds[equal], np.ones(len(starts))]),
        bounds=(0, 1),
        method="highs",
    )
    return bool(solved.status == 0)


def print_figures(found: dict[str, float]) -> None:
    """What was found, in three lines."""
    count = f"{found['knowledges']:.0f} knowledges of {VARIABLES * PER_VARIABLE} statements"
    print(f"{count}, {found['contradictory']:.0f} contradictory: verdict right in {found['right']:.0f}")
    print(f"{found['conflicts']:.0f} conflicts named, {found['smallest']:.0f} of them as small as they claim to be")
    print(f"processor time: credo {found['credo']:.2f} s, HiGHS, which names none, {found['HiGHS']:.2f} s")


if __name__ == "__main__":
    main()
