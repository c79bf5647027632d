"""A process that was forked after credo had been used: it has none of its parent's threads, and works all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import polars as pl
import pytest

import credo
from credo import DataError, Network
from credo.io import forks
from credo.sklearn import KnowledgeClassifier
from credo.threads import map_in_threads

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")

ROWS = pd.DataFrame({"smoke": ["no", "yes", "yes", "no"] * 5, "lung": ["no", "yes", "no", None] * 5})
POLARS = pl.DataFrame({"smoke": ["no", "yes", "yes", "no"] * 5, "lung": ["no", "yes", "no", None] * 5})
NUMBERS = pd.DataFrame({"coin": [0, 1, 1] * 1000})


def in_fork(work: Callable[[], object]) -> int:
    """The exit status of a forked process that does this work; 14 where it does not end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of forks of processes with threads
        process = os.fork()
    if process == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        try:
            work()
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode(errors="replace"))
            os._exit(1)
        os._exit(0)
    return os.waitpid(process, 0)[1]


def refused(work: Callable[[], object]) -> None:
    with pytest.raises(DataError, match="forked"):
        work()


@pytest.mark.parametrize(
    "work",
    [
        lambda smoking: map_in_threads(lambda x: x * x, range(100)),
        lambda smoking: credo.fit(smoking, ROWS, "smoke raises lung", method="cmap"),
        lambda smoking: credo.fit(smoking, POLARS, method="map"),
        lambda smoking: credo.fit(Network({"coin": ["0", "1"]}), NUMBERS, method="map"),
        lambda smoking: smoking.predict(POLARS, "lung"),
        lambda smoking: refused(lambda: credo.fit(smoking, POLARS.lazy(), method="map")),
        lambda smoking: (
            KnowledgeClassifier()
            .fit(ROWS[["lung"]], ROWS["smoke"], sample_weight=np.arange(20))
            .predict(ROWS[["lung"]])
        ),
    ],
    ids=["threads", "pandas", "polars", "numbers", "predict", "lazy", "scikit-learn"],
)
def test_a_forked_process_works(smoking: Network, work: Callable[[Network], object]) -> None:
    credo.fit(smoking, POLARS, method="map")  # polars has its threads now …
    map_in_threads(lambda x: x, range(8))  # … and so has credo
    assert in_fork(lambda: work(smoking)) == 0


def test_frames_are_read_alike_without_queries(smoking: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    odd = pd.DataFrame({"smoke": ["no", " yes", "NA", None], "lung": ["yes", "?", "no", "no"]})
    numbers = Network({"x": ["0", "1", "2"]})
    column = pd.DataFrame({"x": [0.0, float("nan"), 2.0, 1.0]})
    normal = [credo.read_table(smoking, odd).codes.tolist(), credo.read_table(numbers, column).codes.tolist()]
    monkeypatch.setattr(forks, "_without_queries", True)
    plain = [credo.read_table(smoking, odd).codes.tolist(), credo.read_table(numbers, column).codes.tolist()]
    assert plain == normal
    with pytest.raises(credo.UnknownStateError, match='Column smoke, row 2: "maybe" is not a state'):
        credo.read_table(smoking, pd.DataFrame({"smoke": ["no", "maybe"]}))


@pytest.mark.slow
def test_joblib_with_forked_processes_ends() -> None:
    pytest.importorskip("joblib")
    code = """
import joblib, pandas as pd, credo
network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
rows = pd.DataFrame({"a": ["no", "yes", "yes", None] * 50, "b": ["no", "yes", "no", "no"] * 50})
credo.fit(network, rows, "a raises b")
jobs = [joblib.delayed(credo.fit)(network, rows, "a raises b", seed=seed) for seed in range(4)]
print(len(joblib.Parallel(n_jobs=2, backend="multiprocessing")(jobs)))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, timeout=300, check=False)
    assert done.stdout.split() == [b"4"], done.stderr
