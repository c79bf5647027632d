"""Learning from tied rows: the objective never falls, the derivative vanishes at the end, and without ties it is EM."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import credo
from credo import Dataset, Dirichlet, EMOptions, Network, TieReading
from credo.constraints.constraint_set import RowTie
from credo.estimation.counting import counting_step
from credo.estimation.em.driver import EMResult, Iteration, run_em
from credo.estimation.em.steps import ROUNDING
from credo.estimation.solution import TiedLikelihood
from credo.estimation.tied import TiedEStep, countable, is_far_off, tied_e_step
from credo.network_methods import sample_codes
from credo.progress import ProgressEvent
from credo.statistics.counts import layout_for_counts
from credo.statistics.prior import prior_vector
from credo.statistics.ties.relaxation import TIGHT
from tests.helpers.amounts import seeds
from tests.helpers.enumeration import random_network, random_rows
from tests.helpers.tied_likelihood import constrained

THIRDS = np.full(3, 1 / 3)


def some_ties(generator: np.random.Generator, network: Network, codes: np.ndarray, count: int) -> list[RowTie]:
    """Pairs of rows that share a variable, hidden in both."""
    ties = []
    for _ in range(count):
        name = network.names[generator.integers(len(network))]
        rows = generator.permutation(len(codes))[:2]
        codes[rows, network.names.index(name)] = -1
        ties.append(RowTie((name,), None, tuple(sorted(int(row) + 1 for row in rows)), 0))
    return ties


def a_step(seed: int, rows: int = 30, ties: int = 12) -> tuple[Network, np.ndarray, list[RowTie], TiedEStep]:
    generator = np.random.default_rng(seed)
    network = random_network(generator, most=5)
    codes = random_rows(generator, network, rows, 0.4)
    said = some_ties(generator, network, codes, ties)
    step = tied_e_step(layout_for_counts(network), said, Dataset(network.names, codes), TieReading.SELECTED, None)
    return network, codes, said, step


@pytest.mark.parametrize("seed", range(30))
def test_the_objective_never_falls_and_ends_where_it_is_stationary(seed: int) -> None:
    network, _, _, step = a_step(seed)
    step = replace(step, tolerance=TIGHT)
    prior = Dirichlet(0.5)
    m_step = counting_step(step.prepared.layout, prior_vector(prior, step.prepared.layout))
    result = run_em(
        network,
        step.prepared,
        m_step,
        EMOptions(starts=1, max_iterations=3000, tolerance=1e-13),
        e_step=step,
        parameter_tolerance=1e-7,
    )
    steps = np.diff(result.history)
    assert (steps >= -ROUNDING * (1 + abs(result.objective))).all()
    assert result.converged
    theta, starts = step.prepared.layout.pack(result.cpts), step.prepared.layout.distribution_starts()
    found = step.rows.expected(theta, step.start())
    slope = found.seen - found.chance + 0.5  # for log θ; in each row a multiple of θ where it is stationary
    lengths = np.diff(starts, append=len(theta))
    along = slope - theta * np.repeat(np.add.reduceat(slope, starts), lengths)
    assert np.abs(along).max() < 1e-3

    def update() -> np.ndarray:  # the paper's iteration, with the prior's counts among those that were seen
        seen = found.seen + 0.5
        seen_rows, chance_rows = (
            np.repeat(np.add.reduceat(counts, starts), lengths) for counts in (seen, found.chance)
        )
        return (seen + theta * chance_rows) / (found.chance + theta * seen_rows) * theta

    np.testing.assert_allclose(update(), theta, atol=2e-4)  # [yao, eq. 6]


@pytest.mark.parametrize("seed", range(10))
def test_more_is_gained_than_by_em(seed: int) -> None:
    network, codes, ties, step = a_step(seed, rows=8, ties=2)
    if not step.rows.is_exact:
        pytest.skip("the oracle is exact, the ties are not")
    m_step = counting_step(step.prepared.layout, prior_vector(Dirichlet(1.0), step.prepared.layout))
    one = run_em(network, step.prepared, m_step, EMOptions(starts=3), e_step=step)
    other = run_em(network, step.prepared, m_step, EMOptions(starts=3))

    def objective(tables: dict[str, np.ndarray]) -> float:
        prior = sum(float(np.log(table).sum()) for table in tables.values())
        return constrained(network.with_cpts(tables), codes, ties) + prior

    assert one.objective == pytest.approx(objective(dict(one.cpts)), abs=1e-6)
    assert objective(dict(one.cpts)) >= objective(dict(other.cpts)) - 1e-6


def a_crowded_step(seed: int, variables: int = 15, rows: int = 80) -> tuple[Network, TiedEStep]:
    """A chain of which most values are hidden, and nearly all of those tied in pairs that agree."""
    generator = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(variables)]
    network = Network(
        {name: ["a", "b", "c"] for name in names}, {x: [y] for x, y in zip(names[1:], names, strict=False)}
    )
    network = network.with_cpts({name: generator.dirichlet(np.full(3, 0.15), 3) for name in names[1:]} | {"x0": THIRDS})
    drawn = sample_codes(network, rows, seed=seed)
    truth = np.column_stack([drawn[name] for name in names]).astype(np.int8)
    codes = np.where(generator.random(truth.shape) < 0.6, np.int8(-1), truth)
    ties = []
    for position, name in enumerate(names):
        hidden = generator.permutation(np.flatnonzero(codes[:, position] < 0))
        for state in range(3):
            same = hidden[truth[hidden, position] == state]
            for pair in zip(same[::2].tolist(), same[1::2].tolist(), strict=False):
                ties.append(RowTie((name,), None, tuple(row + 1 for row in pair), 0))
    return network, tied_e_step(
        layout_for_counts(network), ties, Dataset(network.names, codes), TieReading.SELECTED, None
    )


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_messages_that_settle_in_several_places_do_not_make_the_likelihood_too_good(seed: int) -> None:
    network, step = a_crowded_step(seed)
    m_step = counting_step(step.prepared.layout, prior_vector(Dirichlet(1.0), step.prepared.layout))
    result = run_em(network.without_cpts(), step.prepared, m_step, EMOptions(starts=1), e_step=step)
    theta = step.prepared.layout.pack(result.cpts)
    anew = step.rows.expected(theta, step.start(), step.tolerance)
    assert result.log_likelihood == pytest.approx(anew.log_likelihood, rel=1e-4)


@pytest.mark.parametrize("calls", [pytest.param(2, marks=pytest.mark.slow), 12])
def test_a_crowded_run_that_was_killed_goes_on_to_the_same_end(calls: int, tmp_path: Path) -> None:
    network, step = a_crowded_step(1)
    reported = []

    def killed(progress: Iteration) -> None:
        reported.append(progress)
        if len(reported) == calls:
            raise KeyboardInterrupt

    def run(checkpoint: Path | None = None, **options: Any) -> EMResult:
        m_step = counting_step(step.prepared.layout, prior_vector(Dirichlet(1.0), step.prepared.layout))
        return run_em(
            network.without_cpts(),
            step.prepared,
            m_step,
            EMOptions(starts=1, checkpoint=checkpoint),
            e_step=step,
            **options,
        )

    whole = run()
    with pytest.raises(KeyboardInterrupt):
        run(checkpoint=tmp_path / "run.npz", progress=killed)
    again = run(checkpoint=tmp_path / "run.npz")
    assert again.objective == whole.objective
    assert again.history == whole.history


def test_counts_are_never_negative_and_hold_rows_where_nothing_pulls() -> None:
    generator = np.random.default_rng(0)
    starts = np.array([0, 3, 5])
    theta = np.concatenate([generator.dirichlet(np.ones(n)) for n in (3, 2, 4)])
    for _ in range(200):
        seen, chance = generator.exponential(size=(2, 9))
        counts = countable(seen, chance, theta, starts)
        assert (counts >= 0).all()
        still = countable(seen, seen, theta, starts)
        sums = np.repeat(np.add.reduceat(still, starts), [3, 2, 4])
        np.testing.assert_allclose(still / sums, theta)


TWINS = """
rows with equal twin share variant
variant raises diabetes
"""
NETWORK = Network(
    {name: ["no", "yes"] for name in ("variant", "diabetes", "thirst")},
    {"diabetes": ["variant"], "thirst": ["diabetes"]},
).with_cpts(
    {
        "variant": np.array([0.6, 0.4]),
        "diabetes": np.array([[0.9, 0.1], [0.3, 0.7]]),
        "thirst": np.array([[0.8, 0.2], [0.1, 0.9]]),
    }
)


def twins(pairs: int, seed: int = 0) -> pl.DataFrame:
    """Pairs of rows with the same variant, which is hidden."""
    many = NETWORK.sample(20 * pairs, seed=seed).with_row_index("at")
    kept = []
    for state in ("no", "yes"):
        share = pairs * (3 if state == "no" else 2) // 5
        kept.append(many.filter(pl.col("variant") == state).head(2 * share))
    rows = pl.concat(kept).drop("at")
    return rows.with_columns(
        pl.Series("twin", [f"t{i // 2}" for i in range(len(rows))]), variant=pl.lit(None, pl.String)
    )


def test_twins_tell_of_a_variant_that_nobody_saw() -> None:
    fit = credo.fit(NETWORK.without_cpts(), twins(200), TWINS, method="cmap", seed=1)
    assert fit.cll is not None
    assert fit.tied is not None
    assert fit.tied.is_exact
    assert fit.pmi == pytest.approx(fit.cll - fit.log_likelihood)
    assert "400 values are tied into 200 shared values" in " ".join(map(str, fit.findings))
    assert fit.network.cpt_array("diabetes")[1, 1] - fit.network.cpt_array("diabetes")[0, 1] > 0.4
    assert fit.violations().is_empty()
    assert fit.to_dict()["cll"] == fit.cll


PARENTS = Network({"a": ["no", "yes"], "b": ["no", "yes"], "c": ["low", "mid", "high"]}, {"c": ["a", "b"]}).with_cpts(
    {
        "a": np.array([0.5, 0.5]),
        "b": np.array([0.4, 0.6]),
        "c": np.array([[[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]], [[0.4, 0.3, 0.3], [0.1, 0.2, 0.7]]]),
    }
)
CONVEX = {
    "a bound": "P(c=low | a=yes, b=yes) >= 0.5",
    "a sum": "P(c in {mid, high} | a=no, b=no) <= 0.3",
    "sums against sums": "P(c in {mid, high} | a=no, b=no) <= P(c in {low} | a=no, b=no)",
    "two rows": "P(c=high | a=no, b=no) <= P(c=high | a=no, b=yes) by at least 0.2",
    "two tables": "P(b=yes) <= P(a=yes)",
    "a linear form": "P(c=low | a=yes, b=yes) >= 2 * P(c=low | a=no, b=yes) + 0.1",
    "an equality": "P(c=high | a=no, b=yes) = P(c=high | a=yes, b=no)",
    "about": "P(b=yes) ~ 0.3 within 0.05",
    "an influence": "a raises c",
    "a synergy": "a and b synergize on c",
}


@pytest.mark.parametrize("kind", CONVEX)
def test_no_step_that_a_convex_statement_allows_rises_from_where_tied_learning_ends(kind: str) -> None:
    drawn = PARENTS.sample(24, seed=3).with_columns(pl.Series("pair", [f"p{i // 2}" for i in range(24)]))
    hidden = pl.int_range(pl.len()) < 12
    rows = drawn.with_columns(b=pl.when(~hidden).then(pl.col("b")), a=pl.when(pl.int_range(pl.len()) % 5 > 0).then("a"))
    rows = rows.with_columns(pair=pl.when(hidden).then(pl.col("pair")))
    structure = PARENTS.without_cpts()
    said = f"rows with equal pair share b\n{CONVEX[kind]}"
    fit = credo.fit(structure, rows, said, method="cmap", prior=1, em=EMOptions(starts=3, tolerance=1e-14))
    assert fit.tied is not None
    assert fit.tied.is_exact
    assert fit.violations().is_empty()
    free = credo.fit(structure, rows, "rows with equal pair share b", method="cmap", prior=1, em=EMOptions(starts=3))
    assert any(np.abs(free.network.cpts[n] - fit.network.cpts[n]).max() > 1e-3 for n in structure.names)  # it binds

    codes = np.column_stack(
        [rows[n].cast(pl.Enum(structure.states(n))).to_physical().cast(pl.Int8).fill_null(-1) for n in structure.names]
    )
    ties = [RowTie(("b",), None, (row + 1, row + 2), 0) for row in range(0, 12, 2)]

    def objective(tables: dict[str, np.ndarray]) -> float:
        prior = sum(float(np.log(table).sum()) for table in tables.values())
        return constrained(structure.with_cpts(tables), codes, ties) + prior

    here = {name: fit.network.cpts[name] for name in structure.names}
    for seed in range(12):  # towards other tables that the statement allows
        there = credo.fit(structure, PARENTS.sample(9, seed=seed), CONVEX[kind], method="cmap", prior=0.5).network
        ahead = {name: 0.999 * here[name] + 0.001 * there.cpts[name] for name in here}
        assert (objective(ahead) - objective(here)) / 0.001 < 0.02


def test_data_alone_leave_the_ties_out() -> None:
    fit = credo.fit(NETWORK.without_cpts(), twins(20), TWINS, method="ml")
    assert fit.cll is None


def test_merged_ties_are_chosen_by_name() -> None:
    fit = credo.fit(NETWORK.without_cpts(), twins(50), TWINS, method="cmap", em=EMOptions(tie_reading="merged"))
    conditioned = credo.fit(NETWORK.without_cpts(), twins(50), TWINS, method="cmap")
    assert fit.cll is not None
    assert conditioned.cll is not None
    assert fit.cll < conditioned.cll
    with pytest.raises(credo.OptionError, match="tie_reading is selected"):
        EMOptions(tie_reading="joined")
    with pytest.raises(credo.OptionError, match='"cll" is "selected" now'):
        EMOptions(tie_reading="cll")
    merged = EMOptions(tie_reading="merged")
    with pytest.raises(credo.OptionError, match="depends on variant"):
        credo.fit(NETWORK, twins(5).drop("diabetes"), "rows with equal twin share diabetes", em=merged)


def test_every_method_takes_ties(tmp_path) -> None:
    for method in ("cml", "cmap", "cme", "qmapc", "posterior", "cem"):
        fit = credo.fit(NETWORK.without_cpts(), twins(20), TWINS, method=method, em=EMOptions(starts=2))
        assert fit.cll is not None
        assert np.isfinite(fit.cll)


@pytest.mark.parametrize("reading", ["selected", "joint", "merged"])
def test_ties_are_drawn_and_have_intervals(reading: str) -> None:
    shown = NETWORK.sample(20, seed=5).with_columns(twin=pl.lit(None, pl.String))
    rows = pl.concat([twins(10), shown], how="diagonal_relaxed")
    fit = credo.fit(NETWORK.without_cpts(), rows, TWINS, em=EMOptions(starts=1, tie_reading=reading))
    assert (fit.method, fit.status.name) == ("posterior", "AVERAGED")
    found = fit.interval("variant")
    assert (found["low"] < found["probability"]).all()
    assert (found["probability"] < found["high"]).all()
    assert fit.query("P(diabetes=yes | variant=yes)").interval[0] > 0.0
    assert fit.cll is not None


def test_a_killed_run_goes_on_to_the_same_tables(tmp_path) -> None:
    rows = twins(50)
    whole = credo.fit(NETWORK.without_cpts(), rows, TWINS, method="cmap", em=EMOptions(starts=2))

    class Killed(Exception):
        pass

    def kill(event: ProgressEvent) -> None:
        if event.detail.startswith("start 2") and int(event.detail.rsplit(" ", 1)[1]) > 5:
            raise Killed

    path = tmp_path / "run.npz"
    with pytest.raises(Killed):
        credo.fit(
            NETWORK.without_cpts(), rows, TWINS, method="cmap", progress=kill, em=EMOptions(starts=2, checkpoint=path)
        )
    again = credo.fit(NETWORK.without_cpts(), rows, TWINS, method="cmap", em=EMOptions(starts=2, checkpoint=path))
    for name in NETWORK.names:
        np.testing.assert_array_equal(again.network.cpt_array(name), whole.network.cpt_array(name))


def test_tied_values_that_differ_are_an_error_with_the_rows() -> None:
    rows = twins(5).with_columns(pl.Series("variant", ["no", "yes", *[None] * 8]))
    with pytest.raises(credo.CredoError, match="Rows 1 and 2 are tied to share variant"):
        credo.fit(NETWORK, rows, TWINS)


# Several variables of the same rows -----------------------------------------------------------------------------------

STATES = ["0", "1"]
CORRELATED = Network(dict.fromkeys("abxy", STATES), {"b": ["a"], "x": ["a"], "y": ["b"]})
GROUPS = [["00", "00", "01"], ["11", "11"], ["00", "00"], ["10", "00"]]


def test_two_variables_of_the_same_rows_end_at_the_exact_optimum() -> None:
    """The exact likelihood by enumeration, and a general solver that starts where learning ended."""
    rows = [(str(g), x, y) for g, members in enumerate(GROUPS) for x, y in members]
    frame = pl.DataFrame(rows, schema=["g", "x", "y"], orient="row")
    fit = credo.fit(CORRELATED, frame, "rows with equal g share a and b", method="cmap", em=EMOptions(starts=2))
    assert fit.status is credo.Status.CONVERGED
    assert fit.tied is not None
    assert fit.tied.is_exact
    codes = np.array([(-1, -1, int(x), int(y)) for _, x, y in rows], dtype=np.int8)
    numbers = np.array([int(g) for g, _, _ in rows])
    ties = [RowTie(("a", "b"), None, tuple((np.flatnonzero(numbers == g) + 1).tolist()), 0) for g in range(len(GROUPS))]
    assert fit.cll == pytest.approx(constrained(fit.network, codes, ties), abs=1e-8)

    def network_of(point: np.ndarray) -> Network:
        p = 1 / (1 + np.exp(-point))
        tables = {"a": p[0], "b": p[1:3], "x": p[3:5], "y": p[5:7]}
        return CORRELATED.with_cpts({name: np.stack([1 - one, one], axis=-1) for name, one in tables.items()})

    def cost(point: np.ndarray) -> float:
        network = network_of(point)
        prior = sum(float(np.log(network.cpt_array(name)).sum()) for name in network.names)
        return -constrained(network, codes, ties) - prior

    ones = np.concatenate([np.atleast_1d(fit.network.cpt_array(name)[..., 1]) for name in CORRELATED.names])
    start = np.log(ones / (1 - ones))
    assert minimize(cost, start, method="BFGS", options={"maxiter": 20}).fun >= cost(start) - 1e-4


def test_cycles_that_remain_are_measured() -> None:
    frame = pl.DataFrame(
        {"g": [*"1122"], "h": [*"1212"], "x": [*"0011"], "y": [*"0101"]}, schema=dict.fromkeys("ghxy", pl.String)
    )
    text = "rows with equal g share a\nrows with equal h share b"
    fit = credo.fit(CORRELATED, frame, text, method="cmap", em=EMOptions(starts=1))
    assert fit.tied is not None
    assert not fit.tied.is_exact
    assert fit.tied.correction is not None
    codes = np.array([(-1, -1, int(x), int(y)) for x, y in zip(frame["x"], frame["y"], strict=True)], dtype=np.int8)
    ties = [RowTie(("a",), None, (1, 2), 0), RowTie(("a",), None, (3, 4), 0)]
    ties += [RowTie(("b",), None, (1, 3), 1), RowTie(("b",), None, (2, 4), 1)]
    exact = constrained(fit.network, codes, ties)
    assert fit.tied.value + fit.tied.correction == pytest.approx(exact, abs=1e-5)
    assert any("cycles" in f.message and "the exact one" in f.message for f in fit.findings if f.kind == "ties")


@pytest.mark.parametrize(
    ("correction", "error", "far"), [(None, 0.0, True), (0.5, 0.0, False), (-3.0, 0.1, True), (-3.0, 2.0, False)]
)
def test_an_error_that_matters_is_no_convergence(correction: float | None, error: float, far: bool) -> None:
    assert is_far_off(TiedLikelihood(-10.0, False, True, correction, error)) is far


def test_configurations_that_no_row_shows_matter_to_ties() -> None:
    """P(ties) depends on them too; the exact likelihood by enumeration, from many random points."""
    network = Network({"s": ["n", "y"], "d": ["1", "2", "3"], "x": ["n", "y"]}, {"x": ["s", "d"]})
    rows = pl.DataFrame({"s": ["n", "y", "y"], "d": ["1", "2", "3"], "x": ["n", "y", "n"]})

    def value(cpts: Mapping[str, np.ndarray]) -> float:
        joint = cpts["s"][:, None, None] * cpts["d"][None, :, None] * cpts["x"]
        yes = joint[..., 1].sum()
        seen = np.log([joint[0, 0, 0], joint[1, 1, 1], joint[1, 2, 0]]).sum()
        return float(seen - np.log(2 * yes * (1 - yes)))

    fit = credo.fit(network, rows, "rows 1, 2 differ in x", method="cml")
    assert fit.status.name == "CONVERGED"
    assert fit.cll == pytest.approx(value(fit.network.cpts), abs=1e-9)
    assert not [finding for finding in fit.findings if finding.kind == "no data"]
    rng = np.random.default_rng(0)
    for _ in range(2000):
        others = {name: rng.dirichlet(np.ones(cpt.shape[-1]), cpt.shape[:-1]) for name, cpt in fit.network.cpts.items()}
        for share in (0.01, 0.1, 1.0):
            mixed = {name: (1 - share) * cpt + share * others[name] for name, cpt in fit.network.cpts.items()}
            assert value(mixed) <= fit.cll + 1e-6


def test_what_a_row_shows_stays_possible_where_its_probability_falls() -> None:
    """P(data, ties) and P(ties) both fall to zero with P(a=y); their ratio does not, and has its supremum there."""
    network = Network({key: ["n", "y"] for key in "abc"}, {"b": ["a"], "c": ["a", "b"]})
    rows = pl.DataFrame({"a": [None, "y", "n", "n", "n"], "b": ["y"] * 5, "c": ["y", "n", None, None, None]})
    fit = credo.fit(network, rows, "rows 1, 5 share c and a\nrows 2, 4 differ in a", method="cml")
    assert fit.status.name == "CONVERGED"
    assert fit.cll == pytest.approx(np.log(0.5), abs=1e-4)
    assert 0.0 < fit.network.cpts["a"][1] < 0.02


def test_rows_are_tied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `auto` found out about rows when it chose a method is passed on to EM."""
    calls: list[int] = []
    for home in ("credo.estimation.missing_draws", "credo.estimation.tied"):
        module = importlib.import_module(home)
        own = module.tie_rows
        monkeypatch.setattr(module, "tie_rows", lambda *args, own=own, **kw: calls.append(1) or own(*args, **kw))
    credo.fit(NETWORK.without_cpts(), twins(20), TWINS, em=EMOptions(starts=1))
    assert len(calls) == 1
