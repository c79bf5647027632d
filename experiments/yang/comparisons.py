"""Compare two learners over the domains, fold by fold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from experiments.yang.trials import FOLDS

LEVEL = 0.05  # as in the paper


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference of two learners in a domain, and its p-value."""

    domain: str
    mean: float
    p: float

    @property
    def sign(self) -> int:
        """1 or -1 if the difference is significant, otherwise 0."""
        return int(np.sign(self.mean)) if self.p < LEVEL else 0


def paired_p(differences: np.ndarray, test_to_training: float = 1 / (FOLDS - 1)) -> float:
    """The p-value for repeated cross-validation, whose training sets overlap [Nadeau and Bengio 2003, eq. 9].

    t = mean / √((1/J + n_test/n_training) · s²) with J differences.
    """
    count = len(differences)
    if count < 2 or not np.any(differences != differences[0]):
        return 1.0 if not count or differences[0] == 0 else 0.0
    error = np.sqrt((1 / count + test_to_training) * differences.var(ddof=1))
    return float(2 * stats.t.sf(abs(differences.mean()) / error, count - 1))


def differences(folds: pl.DataFrame, group: str, better: str, worse: str) -> Iterator[Difference]:
    """The difference of two learners of a group, in each domain."""
    wide = folds.filter(pl.col("group") == group).pivot(on="learner", index=["domain", "repeat", "fold"], values="auc")
    for (domain,), folds_of_domain in wide.group_by("domain", maintain_order=True):
        values = (folds_of_domain[better] - folds_of_domain[worse]).to_numpy()
        yield Difference(str(domain), float(values.mean()), paired_p(values))


def summary(found: list[Difference]) -> str:
    """`better in 9 of 11 (4 significantly), significantly worse in 0, +0.013 on average`."""
    better = sum(each.mean > 0 for each in found)
    up, down = (sum(each.sign == sign for each in found) for sign in (1, -1))
    mean = np.mean([each.mean for each in found])
    return f"better in {better} of {len(found)} ({up} significantly), significantly worse in {down}; {mean:+.3f}"
