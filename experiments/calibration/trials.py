"""One trial: a truth drawn from the prior of `posterior`, data from the truth, and whether intervals hold the truth.

Where truths come from the prior and data from truths, an exact posterior puts the truth into its central interval of
level L with probability L, whatever the data are. Statements are part of the prior: truths that violate one are drawn
again. So every departure, beyond chance, is a fault of the sampler or of what it is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

import credo
from credo.constraints.violations import excess_by_statement
from credo.estimation.prepare import PreparedModel, prepare_model
from credo.knowledge import knowledge_for
from credo.sampling.distributions import Hyperparameters
from credo.sampling.posterior import PosteriorResult
from credo.testing import with_missing_values
from credo.types import Numbers
from experiments.running import Job, Record

LEVELS = (0.5, 0.8, 0.95)
BINARY = ("no", "yes")
MOST_TRUTHS = 10_000  # that are drawn until one satisfies the statements


@dataclass(frozen=True)
class Case:
    """A network, what is known, and how much of the data is missing."""

    parents: Mapping[str, tuple[str, ...]]
    knowledge: str = ""
    missing: float = 0.0
    hidden: tuple[str, ...] = ()
    rows: int = 50
    three_states: tuple[str, ...] = field(default=())

    @property
    def network(self) -> credo.Network:
        """Two states each, or three."""
        states = {name: (*BINARY, "much") if name in self.three_states else BINARY for name in self.parents}
        return credo.Network(states, self.parents)


LINE: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "c": ("b",), "d": ("a", "c")}
CASES = {
    "complete": Case(LINE, three_states=("c",)),
    "10% missing": Case(LINE, missing=0.1, three_states=("c",)),
    "40% missing": Case(LINE, missing=0.4, three_states=("c",)),
    "40% missing, statements": Case(LINE, "a raises b\nP(d=yes | a=yes, c=no) <= 0.5", missing=0.4),
    "hidden class": Case(
        {"h": (), "x": ("h",), "y": ("h",), "z": ("h",)}, "h raises x by at least 0.2", hidden=("h",), rows=100
    ),
    "noisy-or": Case({"p": (), "q": (), "e": ("p", "q")}, "e is noisy-or of {p}, {q}", rows=100),
    "noisy-or, 20% missing": Case(
        {"p": (), "q": (), "e": ("p", "q")}, "e is noisy-or of {p}, {q}", missing=0.2, rows=100
    ),
}


def run_trial(job: Job) -> list[Record]:
    """One record for a case and a trial: how many of how many probabilities each interval holds."""
    name, trial = job
    case = CASES[name]
    rng = np.random.default_rng([trial, *name.encode()])
    model = prepare_model(knowledge_for(case.network, case.knowledge))
    truth = draw_truth(model, rng)
    expanded = model.expansion.network
    rows = expanded.with_cpts({**expanded.cpts, **truth}).sample(case.rows, seed=trial)
    rows = rows.select(each for each in case.network.names if each not in case.hidden)
    if case.missing:
        rows = with_missing_values(rows, case.missing, seed=trial)
    began = perf_counter()
    fit = credo.fit(case.network, rows, case.knowledge, method="posterior", seed=trial)
    seconds = perf_counter() - began
    sampled = fit.posterior
    assert isinstance(sampled, PosteriorResult)
    record: Record = {"case": name, "trial": trial, "status": fit.status.name, "seconds": round(seconds, 2)}
    for level in LEVELS:
        held = [_held(sampled, each, truth[each], level) for each in model.names]
        record[f"within {level:.0%}"] = int(sum(part.sum() for part in held))
    return [record | {"probabilities": int(sum(truth[each][..., 1:].size for each in model.names))}]


def _held(sampled: PosteriorResult, name: str, truth: Numbers, level: float) -> Numbers:
    """Which numbers of a CPT are in their intervals, but for the first state, which the others determine."""
    low, high = sampled.interval(name, level)
    return np.asarray(((low <= truth) & (truth <= high))[..., 1:], dtype=np.float64)


def draw_truth(model: PreparedModel, rng: np.random.Generator) -> dict[str, Numbers]:
    """CPTs from the prior of `sampling/posterior.py`, given that the statements hold."""
    layout = model.constraints.layout
    for _ in range(MOST_TRUTHS):
        truth = _from_prior(model, rng)
        theta = layout.pack({**model.expansion.network.cpts, **truth})
        if not any(each.is_violated for each in excess_by_statement(model.constraints, theta, hard_only=True).values()):
            return truth
    raise ValueError("No truth satisfies the statements: they are too unlikely under the prior.")


def _from_prior(model: PreparedModel, rng: np.random.Generator) -> dict[str, Numbers]:
    chosen, network = Hyperparameters(), model.expansion.network
    strengths, uniform = chosen.strengths()[1], len(chosen.uniform_strengths)
    pool = rng.dirichlet(np.ones(len(strengths)))
    truth = {}
    for name in model.names:
        *shape, states = network.shape(name)
        weights = rng.dirichlet(chosen.pooling_concentration * pool + 1e-12)
        mean = rng.dirichlet(np.full(states, chosen.mean_concentration))
        component = rng.choice(len(strengths), size=shape, p=weights)
        cpt = np.empty((*shape, states))
        for place in np.ndindex(*shape):
            g = component[place]
            base = np.full(states, 1.0 / states) if g < uniform else mean
            cpt[place] = rng.dirichlet(strengths[g] * base)
        truth[name] = cpt
    return truth
