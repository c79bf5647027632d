"""`python -m experiments.yang.trainers`: compare the paper's gradient with EM by the likelihood that both maximise.

Both learn the three kinds of knowledge that include a noisy-OR from all rows of each domain, without a prior.
"""

from __future__ import annotations

import time
from pathlib import Path

from credo import EMOptions
from credo.sklearn import KnowledgeClassifier
from experiments.yang.domain_data import Rows, read_rows
from experiments.yang.domains import DOMAINS, Domain
from experiments.yang.learners import KINDS, knowledge_of

RESULTS = Path(__file__).resolve().parent / "results"
TRAINERS = ("em", "gradient")
EQUAL = 1e-6  # relative difference of likelihoods that counts as none
STARTS = 3


def main() -> None:
    """Fit, compare, print and write."""
    lines = ["# Two trainers of noisy-OR families, on all rows of each domain\n"]
    lines += [
        "| domain | kind | EM | gradient | EM − gradient | seconds of EM, of gradient |",
        "|---|---|---|---|---|---|",
    ]
    behind = compared = 0
    for domain in DOMAINS.values():
        rows = read_rows(domain)
        for kind in (kind for kind in KINDS if kind.endswith("noisy-OR")):
            (em, em_time), (gradient, gradient_time) = (
                _likelihood(domain, rows, kind, trainer) for trainer in TRAINERS
            )
            compared += 1
            behind += em < gradient - EQUAL * abs(gradient)
            lines.append(
                f"| {domain.name} | {kind} | {em:.4f} | {gradient:.4f} | {em - gradient:+.1e} | "
                f"{em_time:.1f}, {gradient_time:.1f} |"
            )
            print(lines[-1], flush=True)
    lines.append(f"\nThe likelihood of EM is at least as high in {compared - behind} of {compared} fits.")
    print(lines[-1])
    (RESULTS / "trainers.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _likelihood(domain: Domain, rows: Rows, kind: str, trainer: str) -> tuple[float, float]:
    started = time.process_time()
    options = {"em": EMOptions(starts=STARTS, trainer=trainer)}
    model = KnowledgeClassifier(knowledge_of(domain, kind), target=domain.target, method="cml", options=options)
    model.fit(rows.features, rows.target)
    assert model.fit_ is not None
    return model.fit_.log_likelihood, time.process_time() - started


if __name__ == "__main__":
    main()
