"""What is compared: credo's default, with knowledge and without, and classifiers that people would use instead.

All see the same rows with raw numbers. Boosting takes the direction of each effect as monotone constraints. Leaves
are small, because the default of twenty rows cannot split forty rows more than once. Learners that are called tuned
choose the rest by the log-loss of three folds of the training rows (logistic regression: five).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credo.sklearn import KnowledgeClassifier
from experiments.classifier.tables import signs, statements
from experiments.classifier.tan import TreeAugmentedBayes
from experiments.yang.domains import Domain

SMALL_LEAF = 3
TREES = 100  # of each boosting
FOLDS, STAGES = 3, (10, 25, 50, 100, 200)  # for what is tuned: folds, and numbers of trees
Make = Callable[[Domain, int], Any]  # a table and a number of rows become a classifier


def _credo(table: Domain, rows: int, *, informed: bool) -> Any:
    return KnowledgeClassifier(statements(table) if informed else None, target=table.target)


def _logistic(table: Domain, rows: int) -> Any:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    tuned = LogisticRegressionCV(
        Cs=8, cv=folds, scoring="neg_log_loss", max_iter=500, l1_ratios=(0,), use_legacy_attributes=False
    )
    return make_pipeline(StandardScaler(), tuned)


def _forest(table: Domain, rows: int) -> Any:
    return RandomForestClassifier(200, min_samples_leaf=SMALL_LEAF, random_state=0)


def _hist(table: Domain, rows: int) -> Any:
    return HistGradientBoostingClassifier(monotonic_cst=signs(table), min_samples_leaf=SMALL_LEAF, random_state=0)


def _lightgbm(table: Domain, rows: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=TREES, min_child_samples=SMALL_LEAF, monotone_constraints=signs(table), n_jobs=1, verbose=-1
    )


def _xgboost(table: Domain, rows: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(
        n_estimators=TREES, max_depth=3, learning_rate=0.1, monotone_constraints=tuple(signs(table)), n_jobs=1
    )


def _catboost(table: Domain, rows: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=2 * TREES, depth=4, monotone_constraints=signs(table), thread_count=1, verbose=False,
        allow_writing_files=False, random_seed=0,
    )  # fmt: skip


def _explainable(table: Domain, rows: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(
        monotone_constraints=signs(table), outer_bags=4, interactions=0, max_rounds=500, min_samples_leaf=SMALL_LEAF,
        n_jobs=1, random_state=0,
    )  # fmt: skip


class Tuned:
    """A learner with the settings, and as many of its trees, that predict held-out folds best."""

    def __init__(self, make: Callable[..., Any], settings: Sequence[Mapping[str, Any]], trees: str = "") -> None:
        self.make, self.settings, self.trees = make, settings, trees

    def fit(self, X: Any, y: NDArray[np.int64]) -> Tuned:
        """Choose, then learn from all rows."""
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
        counts = STAGES if self.trees else (0,)
        losses = np.zeros((len(self.settings), len(counts)))
        for place, settings in enumerate(self.settings):
            for training, held_out in folds.split(X, y):
                model = self.make(**settings).fit(X.iloc[training], y[training])
                for stage, count in enumerate(counts):
                    chances = self._chances(model, X.iloc[held_out], count)
                    losses[place, stage] += log_loss(y[held_out], np.clip(chances, 0.01, 0.99), labels=[0, 1])
        place, stage = np.unravel_index(losses.argmin(), losses.shape)
        self.model_ = self.make(**self.settings[place]).fit(X, y)
        self.count_, self.classes_ = counts[stage], np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        """By the trees that were chosen."""
        return self._chances(self.model_, X, self.count_)

    def _chances(self, model: Any, X: Any, count: int) -> Any:
        if not self.trees:
            return model.predict_proba(X)
        return model.predict_proba(X, **{self.trees: (0, count) if self.trees == "iteration_range" else count})


def _tuned_lightgbm(table: Domain, rows: int) -> Any:
    from lightgbm import LGBMClassifier

    make = partial(
        LGBMClassifier, n_estimators=STAGES[-1], learning_rate=0.05, monotone_constraints=signs(table), n_jobs=1,
        verbose=-1,
    )  # fmt: skip
    settings = [{"num_leaves": leaves, "min_child_samples": least} for leaves in (2, 6) for least in (3, 8)]
    return Tuned(make, settings, "num_iteration")


def _tuned_xgboost(table: Domain, rows: int) -> Any:
    from xgboost import XGBClassifier

    make = partial(
        XGBClassifier, n_estimators=STAGES[-1], learning_rate=0.05, monotone_constraints=tuple(signs(table)), n_jobs=1
    )
    settings = [{"max_depth": depth, "min_child_weight": least} for depth in (1, 3) for least in (1, 3)]
    return Tuned(make, settings, "iteration_range")


def _tuned_catboost(table: Domain, rows: int) -> Any:
    from catboost import CatBoostClassifier

    make = partial(
        CatBoostClassifier, iterations=STAGES[-1], learning_rate=0.05, monotone_constraints=signs(table),
        thread_count=1, verbose=False, allow_writing_files=False, random_seed=0,
    )  # fmt: skip
    return Tuned(make, [{"depth": depth, "l2_leaf_reg": l2} for depth in (2, 4) for l2 in (3, 10)], "ntree_end")


def _tuned_explainable(table: Domain, rows: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    make = partial(
        ExplainableBoostingClassifier, monotone_constraints=signs(table), outer_bags=4, interactions=0,
        min_samples_leaf=SMALL_LEAF, n_jobs=1, random_state=0,
    )  # fmt: skip
    return Tuned(make, [{"max_rounds": rounds} for rounds in (30, 100, 300)])


def _gaussian_process(table: Domain, rows: int) -> Any:
    return make_pipeline(StandardScaler(), GaussianProcessClassifier(ConstantKernel(1.0) * RBF(3.0), random_state=0))


def _naive(table: Domain, rows: int) -> Any:
    return GaussianNB(var_smoothing=1e-3)


def _tan(table: Domain, rows: int) -> Any:
    return TreeAugmentedBayes()


CREDO = {"credo": partial(_credo, informed=True), "credo, no statements": partial(_credo, informed=False)}
RIVALS: dict[str, Make] = {
    "logistic regression": _logistic,
    "random forest": _forest,
    "HistGradientBoosting": _hist,
    "LightGBM": _lightgbm,
    "XGBoost": _xgboost,
    "CatBoost": _catboost,
    "explainable boosting": _explainable,
    "Gaussian process": _gaussian_process,
    "naive Bayes": _naive,
    "TAN, HDP smoothing": _tan,
}
TUNED: dict[str, Make] = {
    "LightGBM, tuned": _tuned_lightgbm,
    "XGBoost, tuned": _tuned_xgboost,
    "CatBoost, tuned": _tuned_catboost,
    "explainable boosting, tuned": _tuned_explainable,
}
LEARNERS: dict[str, Make] = {**CREDO, **RIVALS, **TUNED}
