"""Who learns: six kinds of knowledge, each by three methods, and what a user would take instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credo.sklearn import KnowledgeClassifier
from experiments.yang.domains import Domain
from experiments.yang.rows import Rows

# The six learners of the paper, in the order of its figure 3.
KINDS = ("data", "noisy-OR", "monotone", "synergy", "monotone + noisy-OR", "synergy + noisy-OR")
# How they learn: as the paper does, by a penalty that is raised until the statements hold, or by counting where there
# are none; the most probable tables; the mean of all tables that data and knowledge leave.
METHODS = ("paper", "cmap", "posterior")
PEERS = ("logistic regression", "monotone boosting", "monotone boosting, small leaves")
GROUPS = (*METHODS, "peers")
STARTS = 2  # of EM, where a family is noisy
SMALL_LEAF = 3  # rows; scikit-learn's default of 20 cannot split 40 rows more than once


@dataclass(frozen=True, slots=True)
class Learner:
    """A name for the tables, and what fits it."""

    kind: str
    make: Callable[[], Any]
    raw: bool = False  # whether it sees the numbers behind the features

    def probabilities(self, training: Rows, test: Rows) -> NDArray[np.float64]:
        """How probable the target is in each row of a test table."""
        tables = (training.raw, test.raw) if self.raw else (training.features, test.features)
        model = self.make().fit(tables[0], training.target)
        chances = model.predict_proba(tables[1])
        positive = list(model.classes_).index(1) if 1 in model.classes_ else None
        return np.zeros(len(test)) if positive is None else np.asarray(chances[:, positive], dtype=np.float64)


def learners(domain: Domain, group: str) -> Iterator[Learner]:
    """All of a group."""
    if group == "peers":
        yield from peers(domain)
        return
    for kind in KINDS:
        yield Learner(kind, _maker(domain, kind, group))


def knowledge_of(domain: Domain, kind: str) -> str:
    """The statements that a learner is given."""
    said = []
    if kind.startswith(("monotone", "synergy")):
        said.append(domain.monotone)
    if kind.startswith("synergy"):
        said.append(domain.synergies)
    if kind.endswith("noisy-OR"):
        said.append(domain.noisy)
    return "\n".join(said)


def settings_of(kind: str, group: str) -> dict[str, Any]:
    """The method of credo that a learner uses, and its options.

    The paper trains noisy families by gradient with a penalty [yang, algorithm 1], as it does all tables.
    """
    noisy = {"starts": STARTS} if kind.endswith("noisy-OR") else {}
    if group != "paper":
        return {"method": group, "options": noisy}
    if kind.endswith("noisy-OR"):
        return {"method": "cml", "options": {**noisy, "trainer": "gradient"}}
    return {"method": "ml" if kind == "data" else "co"}


def peers(domain: Domain) -> Iterator[Learner]:
    """What a user would take instead, on the same features and on the numbers behind them."""
    signs = {each.name: 1 if each.effect == "raises" else -1 for each in domain.features}

    def regression() -> Any:
        return make_pipeline(StandardScaler(), LogisticRegression())

    def boosting(leaf: int) -> Callable[[], Any]:
        return lambda: HistGradientBoostingClassifier(monotonic_cst=signs, min_samples_leaf=leaf, random_state=0)

    made = (regression, boosting(20), boosting(SMALL_LEAF))
    for raw in (False, True):
        for kind, make in zip(PEERS, made, strict=True):
            yield Learner(f"{kind}, raw" if raw else kind, make, raw)


def _maker(domain: Domain, kind: str, group: str) -> Callable[[], KnowledgeClassifier]:
    return lambda: KnowledgeClassifier(
        knowledge_of(domain, kind),
        target=domain.target,
        states=dict.fromkeys((*(each.name for each in domain.features), domain.target), (0, 1)),
        **settings_of(kind, group),
    )
