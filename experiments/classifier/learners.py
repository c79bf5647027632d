"""What is compared: credo's default, with knowledge and without, and classifiers that people would use instead.

All see the same rows with raw numbers. Boosting takes the direction of each effect as monotone constraints. Leaves
are small, because the default of twenty rows cannot split forty rows more than once; nothing else is tuned, except
where a learner tunes itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegressionCV
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
LEARNERS: dict[str, Make] = {**CREDO, **RIVALS}
