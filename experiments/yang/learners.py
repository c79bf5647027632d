"""The learners: six kinds of knowledge with three methods each, and other classifiers for comparison."""

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

from credo import EMOptions
from credo.sklearn import KnowledgeClassifier
from experiments.yang.domain_data import Rows
from experiments.yang.domains import Domain

# The six learners of the paper, in the order of its figure 3.
KINDS = ("data", "noisy-OR", "monotone", "synergy", "monotone + noisy-OR", "synergy + noisy-OR")
# Three methods: the paper's (a penalty that is raised until the statements hold; counting if there are none), the most
# probable CPTs, and the mean of all CPTs that data and knowledge allow.
METHODS = ("paper", "cmap", "posterior")
PEERS = ("logistic regression", "monotone boosting", "monotone boosting, small leaves")
GROUPS = (*METHODS, "peers")
STARTS = 2  # of EM, for noisy families
SMALL_LEAF = 3  # rows; scikit-learn's default of 20 cannot split 40 rows more than once


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner: its name in the results, and a function that makes the classifier."""

    kind: str
    make: Callable[[], Any]
    raw: bool = False  # whether it uses the original values instead of the binary features

    def probabilities(self, training: Rows, test: Rows) -> NDArray[np.float64]:
        """The probability of the target in each row of the test data."""
        tables = (training.raw, test.raw) if self.raw else (training.features, test.features)
        model = self.make().fit(tables[0], training.target)
        chances = model.predict_proba(tables[1])
        positive = list(model.classes_).index(1) if 1 in model.classes_ else None
        return np.zeros(len(test)) if positive is None else np.asarray(chances[:, positive], dtype=np.float64)


def learners(domain: Domain, group: str) -> Iterator[Learner]:
    """All learners of a group."""
    if group == "peers":
        yield from peers(domain)
        return
    for kind in KINDS:
        yield Learner(kind, _maker(domain, kind, group))


def knowledge_of(domain: Domain, kind: str) -> str:
    """The statements of a kind of knowledge."""
    texts = []
    if kind.startswith(("monotone", "synergy")):
        texts.append(domain.monotone)
    if kind.startswith("synergy"):
        texts.append(domain.synergies)
    if kind.endswith("noisy-OR"):
        texts.append(domain.noisy)
    return "\n".join(texts)


def settings_of(kind: str, group: str) -> dict[str, Any]:
    """The method and options of a learner.

    The paper trains all CPTs, also those of noisy families, by gradient with a penalty [yang, algorithm 1].
    """
    is_noisy = kind.endswith("noisy-OR")
    if group != "paper":
        return {"method": group, "options": {"em": EMOptions(starts=STARTS)} if is_noisy else {}}
    if is_noisy:
        return {"method": "cml", "options": {"em": EMOptions(starts=STARTS, trainer="gradient")}}
    return {"method": "ml" if kind == "data" else "co"}


def peers(domain: Domain) -> Iterator[Learner]:
    """Other classifiers, on the same binary features and on the original values."""
    signs = {feature.name: 1 if feature.effect == "raises" else -1 for feature in domain.features}

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
