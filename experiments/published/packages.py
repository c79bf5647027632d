"""Other packages on the same rows: pyAgrum's EM, pgmpy, and R's bnlearn.

Names and labels are numbered on the way, because pyAgrum and R read text files. With missing values, pgmpy and
bnlearn's `bayes` learn each CPT from the rows that are complete in its variables; bnlearn's `hard-em` alternates
between imputing all values and learning from these. bnlearn's `hdir` [Azzimonti, Corani and Zaffalon, 2019] wants one
variable that is a parent of all others, its groups. No network here has one, so it learns CPT by CPT: configurations of
the parents are the groups.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl

from credo.errors import CredoError
from credo.model.network import Network
from credo.types import Numbers

PYTHON, R = ("pyagrum", "pgmpy"), ("bnlearn", "bnlearn hard-em", "bnlearn hdir")
SECONDS = 300  # that R may take
SAMPLE_SIZE = 10.0  # of pgmpy's BDeu prior
SCRIPT = """
suppressPackageStartupMessages(library(bnlearn))
arguments <- commandArgs(TRUE)
setwd(arguments[1])
set.seed(1)
sizes <- read.csv("sizes.csv")
rows <- read.csv("rows.csv", colClasses = "character", na.strings = "?")
for (i in seq_len(nrow(sizes)))
  rows[[sizes$name[i]]] <- factor(rows[[sizes$name[i]]], levels = as.character(seq_len(sizes$states[i]) - 1))
structure <- model2network(readLines("model.txt"))
bayes <- function() bn.fit(structure, rows, method = "bayes", iss = 1)
write_cpt <- function(name, cpt) {
  if (length(dim(cpt)) == 1) names(dimnames(cpt)) <- name
  # The first dimension varies fastest; its name and those of the parents are the header.
  write(c(paste(names(dimnames(cpt)), collapse = " "), format(as.vector(cpt), digits = 17)), paste0(name, ".cpt"))
}
if (arguments[2] == "hdir") {
  for (name in sizes$name) {
    own <- parents(structure, name)
    if (length(own) == 0) {
      write_cpt(name, bayes()[[name]]$prob)
      next
    }
    group <- interaction(rows[rev(own)], lex.order = TRUE)
    shape <- vapply(own, function(each) nlevels(rows[[each]]), 0)
    pair <- data.frame(group = factor(as.integer(group), levels = seq_len(nlevels(group))), child = rows[[name]])
    found <- bn.fit(model2network("[group][child|group]"), pair, method = "hdir", group = "group")$child$prob
    # Configurations with the last parent slowest, as in an array whose first dimension varies fastest.
    cpt <- array(as.vector(found), c(nlevels(rows[[name]]), shape))
    dimnames(cpt) <- setNames(lapply(dim(cpt), seq_len), c(name, own))
    write_cpt(name, cpt)
  }
} else {
  fitted <- bayes()
  if (arguments[2] == "hard-em")
    fitted <- bn.fit(structure, rows, method = "hard-em", fit = "bayes", fit.args = list(iss = 1), start = fitted)
  for (name in sizes$name) write_cpt(name, fitted[[name]]$prob)
}
"""


@cache
def has_bnlearn() -> bool:
    """Whether R is there with its package bnlearn."""
    if shutil.which("Rscript") is None:
        return False
    wanted = ["Rscript", "-e", 'quit(status = !requireNamespace("bnlearn", quietly = TRUE))']
    return subprocess.run(wanted, capture_output=True, check=False).returncode == 0


def installed() -> list[str]:
    """The methods of this module whose packages are here."""
    found = [name for name in PYTHON if find_spec(name) is not None]
    return [*found, *(R if has_bnlearn() else ())]


def by_pyagrum(structure: Network, frame: pl.DataFrame) -> Network:
    """EM with one added to every count."""
    import pyagrum

    model, codes = _numbered(structure, frame)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.csv"
        codes.write_csv(file, null_value="?")
        graph = model.to_pyagrum()
        learner = pyagrum.BNLearner(str(file), graph, ["?"])
        learner.useSmoothingPrior(1.0)
        learner.useEM(1e-4)
        return _with_names(structure, model, Network.from_pyagrum(learner.learnParameters(graph.dag())))


def by_pgmpy(structure: Network, frame: pl.DataFrame) -> Network:
    """BDeu with an equivalent sample size of ten, each CPT from rows that are complete in its variables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # that it will move
        from pgmpy.estimators import BayesianEstimator
        from pgmpy.models import DiscreteBayesianNetwork

        model, codes = _numbered(structure, frame)
        graph = DiscreteBayesianNetwork()
        graph.add_nodes_from(model.names)
        graph.add_edges_from((parent, name) for name in model.names for parent in model.parents[name])
        states = {name: list(model.states(name)) for name in model.names}
        estimator = BayesianEstimator(graph, codes.to_pandas(), state_names=states)
        graph.add_cpds(*estimator.get_parameters(prior_type="BDeu", equivalent_sample_size=SAMPLE_SIZE))
    return _with_names(structure, model, Network.from_pgmpy(graph))


def by_bnlearn(structure: Network, frame: pl.DataFrame, method: str) -> Network:
    """`bayes` with an imaginary sample size of one, its default; `hard-em` with it; or `hdir`."""
    model, codes = _numbered(structure, frame)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codes.write_csv(folder / "rows.csv", null_value="?")
        sizes = {"name": list(model.names), "states": [len(model.states(each)) for each in model.names]}
        pl.DataFrame(sizes).write_csv(folder / "sizes.csv")
        nodes = (f"[{each}{'|' * bool(model.parents[each])}{':'.join(model.parents[each])}]" for each in model.names)
        (folder / "model.txt").write_text("".join(nodes) + "\n", encoding="ascii")
        (folder / "learn.R").write_text(SCRIPT, encoding="ascii")
        command = ["Rscript", str(folder / "learn.R"), name, method]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        if done.returncode:
            raise CredoError(f"bnlearn: {done.stderr.strip().splitlines()[-1]}")
        cpts = dict(_read_cpts(folder, model))
    return _with_names(structure, model, model.with_cpts(cpts))


def _read_cpts(folder: Path, model: Network) -> Iterator[tuple[str, Numbers]]:
    for name in model.names:
        header, *values = (folder / f"{name}.cpt").read_text(encoding="ascii").split("\n", 1)
        axes = header.split()
        shape = [len(model.states(each)) for each in axes]
        cpt = np.array(values[0].split(), dtype=np.float64).reshape(shape, order="F")
        yield name, cpt.transpose([axes.index(each) for each in (*model.parents[name], name)])


def _numbered(structure: Network, frame: pl.DataFrame) -> tuple[Network, pl.DataFrame]:
    """The network with the names v0, v1, … and the labels 0, 1, …, and its rows."""
    short = {name: f"v{number}" for number, name in enumerate(structure.names)}
    states = {short[name]: [str(k) for k in range(len(structure.states(name)))] for name in structure.names}
    parents = {short[name]: [short[each] for each in structure.parents[name]] for name in structure.names}
    codes = frame.select(
        pl.col(name)
        .cast(pl.String)
        .replace_strict(dict(zip(structure.states(name), states[own], strict=True)))
        .alias(own)
        for name, own in short.items()
    )
    return Network(states, parents), codes


def _with_names(structure: Network, model: Network, learned: Network) -> Network:
    """The learned CPTs under the names of the structure, with its order of parents."""
    both = zip(structure.names, model.names, strict=True)
    return structure.with_cpts({name: _in_order(model, learned, own) for name, own in both})


def _in_order(model: Network, learned: Network, name: str) -> Numbers:
    axes = (*learned.parents[name], name)
    cpt = learned.cpt_array(name).transpose([axes.index(each) for each in (*model.parents[name], name)])
    # Labels may have been sorted.
    for axis, each in enumerate((*model.parents[name], name)):
        cpt = cpt.take([learned.states(each).index(state) for state in model.states(each)], axis=axis)
    return np.asarray(cpt)
