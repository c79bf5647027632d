"""One trial: a truth drawn from the prior of `posterior`, data from the truth, and where the truth is among the draws.

Where truths come from the prior and data from truths, an exact posterior puts the truth into its central interval of
level L with probability L, and at a place among its draws that is uniform (simulation-based calibration, Talts and
others, 2018), whatever the data are. Statements are part of the prior: truths that violate one are drawn again. So
every departure, beyond chance, is a fault of the sampler or of what it is given.

Configurations that the data do not reach have another prior than those that they reach. Which these are is known only
after the data were drawn; then their distributions are drawn once more, which changes no data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import process_time

import numpy as np
import polars as pl

import credo
from credo.constraints.violations import excess_by_statement
from credo.estimation.prepare import PreparedModel, prepare_model
from credo.knowledge import knowledge_for
from credo.posterior.draws import PosteriorResult, cpt_draws
from credo.questions.answers import query_network
from credo.testing import with_missing_values
from credo.types import Flags, Numbers
from experiments.calibration.cases import EVERY, Case
from experiments.calibration.prior_draws import PriorDraw, draw_from_prior, with_unseen
from experiments.running import Job, Record

LEVELS = (0.5, 0.8, 0.95)
MOST_TRUTHS = 10_000  # that are drawn until one satisfies the statements
POOL = 20  # pairs of rows for each that is needed, of which those that agree are taken


def run_trial(job: Job) -> list[Record]:
    """One record for a case and a trial: how many numbers their intervals hold, and the places of truths."""
    name, trial = job
    case = EVERY[name]
    rng = np.random.default_rng([trial, *name.encode()])
    model = prepare_model(knowledge_for(case.network, case.knowledge))
    drawn, rows = truth_and_rows(case, model, rng)
    began = process_time()
    em = credo.EMOptions(tie_reading=case.reading)
    fit = credo.fit(case.network, rows, case.knowledge, method="posterior", seed=trial, em=em)
    record: Record = {"case": name, "trial": trial, "status": fit.status.name, "seconds": process_time() - began}
    found = fit.posterior
    assert isinstance(found, PosteriorResult)
    unseen = {each: _unseen(fit, each) for each in model.names}
    truth = drawn.cpts if case.truth else redrawn(model, drawn, unseen, rng).cpts
    compared = model.names if case.named and not case.truth else ()
    for level in LEVELS:
        record[f"within {level:.0%}"] = int(sum(_held(found, each, truth[each], level).sum() for each in compared))
    record["probabilities"] = int(sum(truth[each][..., 1:].size for each in compared))
    network = model.expansion.network
    true_network = network.with_cpts({**network.cpts, **truth})
    answered = [_answered(fit, true_network, question) for question in case.questions]
    record["answers"] = sum(each is not None for each in answered)
    record["answers within 95%"] = sum(each is True for each in answered)
    record["predictions"], record["predictions within 95%"] = _predicted(fit, true_network, case)
    places = [_places(found, each, truth[each], rng) for each in compared]
    record["places"] = " ".join(f"{place:.3f}" for place in np.concatenate([np.zeros(0), *places]))
    record["seconds"] = round(process_time() - began, 2)
    return [record]


# Truths and data ------------------------------------------------------------------------------------------------------


def truth_and_rows(case: Case, model: PreparedModel, rng: np.random.Generator) -> tuple[PriorDraw, pl.DataFrame]:
    """CPTs, and rows drawn from them as the case describes."""
    while True:
        truth = draw_truth(model, rng)
        if case.truth:
            truth = replace(truth, cpts={name: np.array(cpt, dtype=np.float64) for name, cpt in case.truth.items()})
        network = model.expansion.network
        network = network.with_cpts({**network.cpts, **truth.cpts})
        rows = network.sample(case.rows, seed=_seed(rng)).select(case.network.names)
        if case.pairs:
            tied = tied_pairs(case, network, rng)
            if tied is None:
                continue  # ties that were found to hold are part of the data: such truths are less probable
            rows = pl.concat([rows.with_columns(pair=pl.lit(None, pl.Int64)), tied])
        return truth, _with_missing(case, rows, rng)


def tied_pairs(case: Case, network: credo.Network, rng: np.random.Generator) -> pl.DataFrame | None:
    """Pairs of rows that share a variable, which they do not show; None where they were to agree and do not."""
    if case.reading == "merged":  # the value of a pair is drawn once, for a variable without parents
        first, states = network.sample(case.pairs, seed=_seed(rng)), network.states(case.shared)
        given = {}
        for state, sure in zip(states, np.eye(len(states)), strict=True):
            given[state] = network.with_cpts({**network.cpts, case.shared: sure}).sample(case.pairs, seed=_seed(rng))
        second = pl.concat([given[state][pair] for pair, state in enumerate(first[case.shared])])
    else:
        many = case.pairs * (POOL if case.reading == "selected" else 1)
        first, second = (network.sample(many, seed=_seed(rng)) for _ in range(2))
        agree = (first[case.shared] == second[case.shared]).to_numpy()
        if case.reading == "joint" and not agree.all():
            return None
        places = np.flatnonzero(agree)[: case.pairs]
        first, second = first[places], second[places]
    names = list(case.network.names)
    both = [part.select(names).with_row_index("pair") for part in (first, second)]
    hidden = pl.lit(None, first.schema[case.shared]).alias(case.shared)
    return pl.concat(both).with_columns(hidden, pl.col("pair").cast(pl.Int64)).select(*names, "pair")


def draw_truth(model: PreparedModel, rng: np.random.Generator) -> PriorDraw:
    """CPTs from the prior, given that the statements hold."""
    for _ in range(MOST_TRUTHS):
        truth = draw_from_prior(model.expansion.network, model.names, rng)
        if _holds(model, truth):
            return truth
    raise ValueError("No truth satisfies the statements: they are too unlikely under the prior.")


def redrawn(model: PreparedModel, truth: PriorDraw, unseen: Mapping[str, Flags], rng: np.random.Generator) -> PriorDraw:
    """The same with distributions without data drawn as such, given that the statements hold."""
    for _ in range(MOST_TRUTHS):
        found = with_unseen(truth, unseen, rng)
        if _holds(model, found):
            return found
    return truth


def _holds(model: PreparedModel, truth: PriorDraw) -> bool:
    theta = model.constraints.layout.pack({**model.expansion.network.cpts, **truth.cpts})
    excess = excess_by_statement(model.constraints, theta, hard_only=True)
    return not any(each.is_violated for each in excess.values())


def _with_missing(case: Case, rows: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    rows = rows.drop(case.hidden)
    if case.missing:
        names = [name for name in rows.columns if name != "pair"]
        others = rows.drop(names)
        shown = with_missing_values(rows.select(names), case.missing, seed=_seed(rng))
        rows = pl.concat([shown, others], how="horizontal") if others.width else shown
    for name, shown in case.rarely_shown.items():
        shows = rng.permutation(len(rows)) < shown
        rows = rows.with_columns(pl.when(pl.Series(shows)).then(name).alias(name))
    return rows


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


# Comparison -----------------------------------------------------------------------------------------------------------


def _unseen(fit: credo.Fit, name: str) -> Flags:
    """Which configurations have no data, (configurations,); half a row is expected of the others."""
    return np.asarray(fit.counts_array(name).sum(axis=-1).ravel() < 0.5)


def _held(found: PosteriorResult, name: str, truth: Numbers, level: float) -> Flags:
    """Which numbers of a CPT are in their intervals, but for the first state, which the others determine."""
    low, high = found.interval(name, level)
    return np.asarray(((low <= truth) & (truth <= high))[..., 1:])


def _places(found: PosteriorResult, name: str, truth: Numbers, rng: np.random.Generator) -> Numbers:
    """The share of draws below the truth, for all states but the first."""
    drawn = cpt_draws(found, name)
    below, equal = (drawn < truth).mean(axis=0), (drawn == truth).mean(axis=0)
    return np.asarray((below + rng.random(below.shape) * equal)[..., 1:].ravel())


def _answered(fit: credo.Fit, truth: credo.Network, question: str) -> bool | None:
    """Whether the interval holds the true answer; None if the truth never leads to what is given."""
    true = _true_answer(truth, question)
    low, high = fit.query(question).interval
    return None if true is None else bool(low <= true <= high)


def _true_answer(truth: credo.Network, question: str) -> float | None:
    try:
        return query_network(truth, question).probability
    except credo.QueryError:
        return None


def _predicted(fit: credo.Fit, truth: credo.Network, case: Case) -> tuple[int, int]:
    """How many predicted probabilities there are, of all states but the first, and how many intervals hold theirs."""
    if not case.evidence:
        return 0, 0
    given = ", ".join(f"{name}={state}" for name, state in case.evidence.items())
    frame = fit.predict(dict(case.evidence))
    if not case.named:
        frame = frame.filter(~pl.col("variable").is_in(list(case.hidden)))
    held = []
    for row in frame.iter_rows(named=True):
        if row["state"] != fit.network.states(row["variable"])[0]:
            true = _true_answer(truth, f"P({row['variable']}={row['state']} | {given})")
            if true is not None:
                held.append(row["low"] <= true <= row["high"])
    return len(held), sum(held)
