"""The clusterer: what scikit-learn asks of one, and that ties hold."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from credo import DataError, OptionError
from credo.sklearn import TiedClustering, UnseenValueWarning


def samples(rows: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Category codes from three clusters, and the clusters."""
    generator = np.random.default_rng(seed)
    truth = generator.integers(3, size=rows)
    tables = generator.dirichlet(np.full(4, 0.5), size=(5, 3))
    codes = [[generator.choice(4, p=tables[j, cluster]) for j in range(5)] for cluster in truth]
    return np.array(codes), truth


def test_it_is_a_clusterer_by_the_rules_of_scikit_learn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(TiedClustering(n_init=1, max_iter=20), on_fail=None, on_skip=None)
    assert not {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}
    assert sum(each["status"] == "passed" for each in results) > 40


def test_ties_hold_in_the_labels_and_indices_count_from_zero() -> None:
    codes, truth = samples()
    codes, truth = codes[:50], truth[:50]
    ties = [truth[i] if i < 20 else None for i in range(len(codes))]
    apart = [(i, j) for i in range(3) for j in range(i) if truth[i] != truth[j]]
    found = TiedClustering(3).fit(codes, ties=ties, apart=apart)
    for cluster in range(3):
        assert len(set(found.labels_[:20][truth[:20] == cluster])) == 1
    assert all(found.labels_[i] != found.labels_[j] for i, j in apart)
    assert found.probabilities_.shape == (50, 3)
    np.testing.assert_array_equal(found.predict(codes)[20:], found.labels_[20:])
    np.testing.assert_array_equal(TiedClustering(3).fit_predict(codes, ties=ties, apart=apart), found.labels_)


def test_arrays_and_frames_of_any_kind_are_the_same_samples() -> None:
    codes, _ = samples()
    names = [f"x{i}" for i in range(5)]
    want = TiedClustering(3).fit(codes)
    assert not hasattr(want, "feature_names_in_")
    for features in (codes.astype(float), pd.DataFrame(codes, columns=names), pl.DataFrame(codes, schema=names)):
        found = TiedClustering(3).fit(features)
        np.testing.assert_array_equal(found.labels_, want.labels_)
        np.testing.assert_array_equal(found.predict(features), want.predict(codes))
        assert found.n_features_in_ == 5
    assert list(found.feature_names_in_) == names
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again.predict(features), found.predict(features))
    assert clone(found).get_params() == found.get_params()


def test_what_was_never_seen_is_missing_and_said() -> None:
    codes, _ = samples()
    found = TiedClustering(3).fit(codes)
    strange = codes.copy()
    strange[0, 0] = 9
    incomplete = codes.astype(float)
    incomplete[0, 0] = np.nan
    with pytest.warns(UnseenValueWarning, match="x0"):
        got = found.predict_proba(strange)
    np.testing.assert_allclose(got, found.predict_proba(incomplete))
    incomplete[:, 1] = np.nan  # a feature that nobody saw
    with pytest.warns(UnseenValueWarning, match="x1"):
        TiedClustering(2).fit(incomplete).predict(codes)


def test_what_cannot_be_used_is_said() -> None:
    codes, _ = samples()
    with pytest.raises(NotFittedError):
        TiedClustering().predict(codes)
    with pytest.raises(DataError, match="one entry per sample"):
        TiedClustering().fit(codes, ties=[1, 2])
    with pytest.raises(OptionError, match="indices go from 0 to 89"):
        TiedClustering().fit(codes, apart=[(0, 90)])
    with pytest.raises(OptionError, match="list of pairs"):
        TiedClustering().fit(codes, apart=[1])
    with pytest.raises(OptionError, match="bins"):
        TiedClustering(bins=0).fit(codes)
    with pytest.raises(DataError, match="No feature holds a value"):
        TiedClustering().fit(np.full((3, 2), np.nan))


def test_credo_does_without_scikit_learn_until_it_is_asked_for() -> None:
    code = "import sys, credo; credo.cluster, credo.topics; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")
def test_a_frame_may_be_learned_from_and_an_array_predicted() -> None:
    frame = pd.DataFrame({"fever": ["high", "high", "none", "none"] * 5, "rash": ["no", "no", "yes", "yes"] * 5})
    clustering = TiedClustering(2, random_state=0).fit(frame)
    assert clustering.predict(frame.to_numpy(dtype=object)).tolist() == clustering.predict(frame).tolist()
