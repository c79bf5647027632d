"""One draw of data and statements, a share of which is reversed, learned under one treatment of what may be wrong.

- `doubt`: every statement may be wrong, with a reliability that is learned;
- `left out`: the statements that are wrong are known, and left out; the others must hold;
- `as given`: all must hold; only members of conflicts are left out;
- `checked`: those that the check finds contradicted by the data are left out first.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import rankdata

import credo
from credo.constraints.lower import lower
from credo.constraints.violations import excess_by_statement
from credo.explain.plausibility import Verdict
from credo.knowledge.experts import Expert
from credo.knowledge.statements import Statement
from credo.model.network import Network
from credo.testing import true_statements
from credo.types import Flags, Numbers
from experiments.guo.draws import NETWORKS, STATEMENTS
from experiments.guo.measure import mean_divergence
from experiments.guo.wrong import consistent, reverse_some
from experiments.running import Job, Record

ROWS = 200
BINS = 10
FIRST_WRONG, SECOND_WRONG = 5, 40  # percent of the statements of two experts
TREATMENTS = ("doubt", "left out", "checked", "as given")
EXPERTS = ("both", "first alone", "second alone", "as given")


def run_trial(job: Job) -> list[Record]:
    """One network, draw, share of wrong statements and treatment."""
    network, draw, share, treatment = job
    truth = credo.read_network(NETWORKS / f"{network}.bif")
    structure, frame = truth.without_cpts(), truth.sample(ROWS, seed=1000 + draw)
    statements = reverse_some(true_statements(truth, STATEMENTS, seed=draw), share, seed=draw)
    true = _true(truth, statements)
    started = time.perf_counter()
    kept = _kept(structure, frame, statements, true, treatment)
    fit = credo.fit(structure, frame, credo.Knowledge(structure, kept), doubt=treatment == "doubt", seed=draw)
    record = {
        "network": network,
        "draw": draw,
        "wrong": share,
        "treatment": treatment,
        "kl": mean_divergence(truth, fit.network),
        "seconds": time.perf_counter() - started,
        **_of_statements(fit, true, _reached(structure, frame, statements)),
    }
    return [record]


def run_experts(job: Job) -> list[Record]:
    """One network and draw with statements of two experts, one of whom is often wrong."""
    network, draw, treatment = job
    truth = credo.read_network(NETWORKS / f"{network}.bif")
    structure, frame = truth.without_cpts(), truth.sample(ROWS, seed=1000 + draw)
    halves = [
        reverse_some(true_statements(truth, STATEMENTS // 2, seed=2 * draw + half), share, seed=2 * draw + half)
        for half, share in enumerate((FIRST_WRONG, SECOND_WRONG))
    ]
    first, second = (
        [replace(statement, expert=Expert(name)) for statement in half]  # type: ignore[call-arg]
        for name, half in zip(("first", "second"), halves, strict=True)
    )
    chosen = {"both": [*first, *second], "first alone": first, "second alone": second}
    kept = consistent(structure, [*halves[0], *halves[1]]) if treatment == "as given" else chosen[treatment]
    started = time.perf_counter()
    fit = credo.fit(structure, frame, credo.Knowledge(structure, kept), seed=draw)
    found = {} if fit.doubt is None else {each.name: each for each in fit.doubt.experts}
    record: Record = {
        "network": network,
        "draw": draw,
        "treatment": treatment,
        "kl": mean_divergence(truth, fit.network),
        "seconds": time.perf_counter() - started,
    }
    for name, half in zip(("first", "second"), halves, strict=True):
        record[f"{name}_right"] = float(_true(truth, half).mean())
        for column in ("reliability", "low", "high"):
            record[f"{name}_{column}"] = getattr(found[name], column) if name in found else None
    return [record]


def _kept(
    structure: Network, frame: object, statements: list[Statement], true: Flags, treatment: str
) -> list[Statement]:
    if treatment == "doubt":
        return statements
    if treatment == "left out":
        return [statement for statement, holds in zip(statements, true.tolist(), strict=True) if holds]
    if treatment == "as given":
        return consistent(structure, statements)
    found = credo.check(structure, credo.Knowledge(structure, statements), data=frame).statements  # type: ignore[arg-type]
    contradicted = {
        each.statement.number
        for each in found
        if each.plausibility is not None and each.plausibility.verdict is Verdict.CONTRADICTED
    }
    return consistent(structure, [each for number, each in enumerate(statements) if number not in contradicted])


def _true(truth: Network, statements: Sequence[Statement]) -> Flags:
    """Which statements hold in the network that the data come from."""
    constraints = lower(credo.Knowledge(truth, statements))
    theta = constraints.layout.pack({name: truth.cpt_array(name) for name in constraints.layout.names})
    excess = excess_by_statement(constraints, theta)
    return np.array([not (number in excess and excess[number].is_violated) for number in range(len(statements))])


def _reached(structure: Network, frame: object, statements: Sequence[Statement]) -> Flags:
    """Which statements are about configurations that all have data."""
    from credo.io.tables import stream_table
    from credo.statistics.counts import count, layout_for_counts, merge_all

    constraints = lower(credo.Knowledge(structure, statements))
    families = layout_for_counts(structure)
    counts = merge_all([count(families, part) for part in stream_table(structure, frame)])  # type: ignore[arg-type]
    layout, linear = constraints.layout, constraints.linear
    totals = layout.pack({name: np.asarray(counts.of(name)) for name in layout.names})
    sums = np.add.reduceat(totals, layout.distribution_starts())
    unseen = sums[layout.distribution_of(linear.indices)] == 0
    missed = set(linear.statements[linear.entry_constraints[unseen]].tolist())
    return np.array([number not in missed for number in range(len(statements))])


def _of_statements(fit: credo.Fit, true: Flags, reached: Flags) -> Record:
    """How well the probabilities of statements rank and are calibrated; nothing where none was doubted."""
    names = ("auc", "auc_reached", "reliability", "low", "high", "right", "r_hat", "said", "held", "counted")
    if fit.doubt is None:
        return dict.fromkeys(names)
    said = np.array([each.probability for each in fit.doubt.statements])
    numbers = np.array([each.number for each in fit.doubt.statements])
    true, reached = true[numbers], reached[numbers]
    bins = np.minimum((said * BINS).astype(int), BINS - 1)
    (expert,) = (each for each in fit.doubt.experts if each.statements)
    sums = [np.bincount(bins, weights, BINS) for weights in (said, true, np.ones(len(said)))]
    texts = [";".join(f"{value:.6g}" for value in each) for each in sums]
    return dict(
        zip(
            names,
            (
                area_under_curve(said, true),
                area_under_curve(said[reached], true[reached]),
                expert.reliability,
                expert.low,
                expert.high,
                float(true.mean()),
                float(np.nanmax(fit.doubt.r_hat)),
                *texts,
            ),
            strict=True,
        )
    )


def area_under_curve(said: Numbers, true: Flags) -> float | None:
    """How likely a true statement is said to be more probable than a wrong one; half of the ties count."""
    right, wrong = int(true.sum()), int((~true).sum())
    if not right or not wrong:
        return None
    ranks = rankdata(said)
    return float((ranks[true].sum() - right * (right + 1) / 2) / (right * wrong))
