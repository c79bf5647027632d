"""Statements that the data contradict: found by one rule everywhere, in words, and seldom where a statement is true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import credo
from credo import Knowledge, Network, read_table
from credo.constraints.blocks import one_block
from credo.constraints.boundaries import rules_out
from credo.constraints.constraint_set import Constraints, LinearConstraints
from credo.constraints.lower import lower
from credo.explain.contradictions import (
    CONTRADICTED,
    compare_with_data,
    contradictions,
    possibly_contradicted,
)
from credo.explain.explanation import Effect
from credo.explain.plausibility import Verdict, dirichlet_draws
from credo.explain.tail_bounds import tail_bounds
from credo.model.layout import Layout
from credo.report.notebook import fit_html
from credo.statistics.counts import Counts, count, layout_for_counts
from credo.testing import made_up_network, random_network, true_statements
from credo.tolerances import EQUALITY_WIDTH

PUMPS = Network({"pump1": ["ok", "failed"], "alarm": ["no", "yes"]}, parents={"alarm": ["pump1"]})
CELLS = {("ok", "no"): 180, ("ok", "yes"): 6, ("failed", "no"): 2, ("failed", "yes"): 12}
ROWS = pl.DataFrame(
    [cell for cell, times in CELLS.items() for _ in range(times)], schema=["pump1", "alarm"], orient="row"
)
RARE = "P(pump1=failed) <= 0.1%"
SENTENCE = (
    "Line 1, “P(pump1=failed) <= 0.1%”, is contradicted by the data: pump1=failed in 14 of 200 rows (7%). By the data "
    "alone, it is true with a probability below 0.01%."
)


def counts_of(network: Network, frame: pl.DataFrame) -> Counts:
    return count(layout_for_counts(network), read_table(network, frame))


# The bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_bounds_on_tails_hold(seed: int) -> None:
    network = made_up_network(4, seed=seed)
    rng = np.random.default_rng(seed)
    names = network.names
    text = "\n".join(
        f"P({names[0]}=state0) * P({names[1]}=state1{given(network, names[1])}) {relation} 0.3"
        for relation in ("<=", ">=")
    )
    statements = (*true_statements(network, 6, seed, across_variables=0.3), *Knowledge(network, text).statements)
    equality = Knowledge(network, f"P({names[0]}=state0) = {rng.random():.2f}").statements
    constraints = lower(Knowledge(network, (*statements, *equality)))
    block = one_block(constraints)
    assert block is not None
    concentration = 1.0 + rng.integers(0, [3, 40][seed % 2], block.size)
    bounds = tail_bounds(block, concentration, EQUALITY_WIDTH)
    theta = dirichlet_draws(rng, block, concentration, 4_000)
    values = block.linear.values(theta) - block.linear.bounds
    held = np.where(block.linear.equality, np.abs(values) <= EQUALITY_WIDTH, values <= 0.0).mean(axis=0)
    logs = [np.log(theta[:, list(each.indices)]) @ each.exponents <= each.log_bound for each in block.products]
    held = np.concatenate((held, [each.mean() for each in logs]))
    error = 4.5 * np.sqrt(np.maximum(held * (1 - held), 1e-3) / 4_000)
    assert (held <= bounds.holds + error).all()
    assert (1 - held <= bounds.fails + error).all()
    assert len(bounds.statements) == len(held)


def given(network: Network, name: str) -> str:
    states = ", ".join(f"{parent}=state0" for parent in network.parents[name])
    return f" | {states}" if states else ""


@pytest.mark.parametrize(("seed", "rows"), [(1, 20), (2, 300), (3, 5_000)])
def test_what_is_looked_at_first_leaves_no_contradiction_out(seed: int, rows: int) -> None:
    network, other = made_up_network(8, seed=seed), made_up_network(8, seed=seed)
    cpts = {name: np.roll(other.cpt_array(name), 1, axis=-1) for name in other.names}
    wrong = true_statements(other.with_cpts(cpts), 12, seed, across_variables=0.2)
    knowledge = Knowledge(network, (*true_statements(network, 12, seed), *wrong))
    constraints, counts = lower(knowledge), counts_of(network, network.sample(rows, seed=seed))
    everything = compare_with_data(constraints, counts).plausible
    expected = {number for number, each in everything.items() if each.verdict is Verdict.CONTRADICTED}
    assert expected
    assert expected <= possibly_contradicted(constraints, counts)
    found = contradictions(knowledge, constraints, counts)
    assert {each.statement.number for each in found} == expected


# How often -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [30, 300, 3_000])
def test_true_statements_are_seldom_contradicted(rows: int) -> None:
    """Truth and statements are drawn at random; by chance alone, data weigh 20 to 1 against few true statements."""
    stated = found = 0
    for seed in range(12):
        network = made_up_network(10, seed=seed)
        knowledge = Knowledge(network, true_statements(network, 6, seed))
        counts = counts_of(network, network.sample(rows, seed=seed))
        found += len(contradictions(knowledge, lower(knowledge), counts))
        stated += len(knowledge)
    assert stated == 720
    assert found <= 0.02 * stated


BINARY = random_network({"a": 2, "b": 2, "c": 2, "d": 3}, {"c": ("a", "b"), "d": ("c",)}, seed=0).with_cpts(
    {
        "a": [0.3, 0.7],
        "b": [0.6, 0.4],
        "c": [[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.4, 0.6]]],
        "d": [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]],
    }
)
MANY_ROWS = counts_of(BINARY, BINARY.sample(4_000, seed=0))


@pytest.mark.parametrize(
    "statement",
    [
        "P(a=s1) <= 0.5",
        "P(a=s1) <= 0.1 with confidence 0.6",
        "0.2 <= P(c=s1 | a=s0, b=s0) <= 0.3",
        "P(a=s1) = 0.6",
        "a lowers c",
        "c lowers d with confidence 0.9",
        "c lowers d by at least 0.1",
        "a and b synergize on c",
        "P(c=s1 | a=s1, b=s1) <= P(c=s1 | a=s0, b=s0)",
        "P(c=s1 | a=s0, b=s1) >= 2 * P(c=s1 | a=s1, b=s1)",
        "P(c=s1 | a=s0, b=s0) ~ P(c=s1 | a=s1, b=s1) within 0.1",
        "P(a=s1) * P(b=s1) >= 0.5",
        "P(d=s0 | c=s0) <= P(d=s1 | c=s0)",
        "P(d=s0 | c=s0) + P(d=s0 | c=s1) <= P(d=s1 | c=s0) + P(d=s1 | c=s1)",
        "a does not affect c",
        "P(d=s0 | c=s0) = P(d=s2 | c=s1) = 0.5",
    ],
)
def test_what_is_grossly_false_is_found(statement: str) -> None:
    knowledge = Knowledge(BINARY, statement)
    (found,) = contradictions(knowledge, lower(knowledge), MANY_ROWS)
    assert str(found).startswith(f"Line 1, “{statement}”, is contradicted by the data: ")
    assert "rows" in str(found)


def test_a_rare_and_grossly_false_statement_without_closed_form_is_found() -> None:
    """Before the data it holds in about one draw of a hundred thousand, after them in none."""
    network = random_network({"a": 4, "y": 4}, {"y": ("a",)}, seed=1)
    falling = np.linspace([0.55, 0.2, 0.15, 0.1], [0.1, 0.15, 0.2, 0.55], 4)[::-1]
    rows = network.with_cpts({"y": falling}).sample(4_000, seed=0)
    knowledge = Knowledge(network, "a raises y by at least 0.02")
    assert contradictions(knowledge, lower(knowledge), counts_of(network, rows))
    true = Knowledge(network, "a lowers y")
    assert not contradictions(true, lower(true), counts_of(network, rows))


def test_a_statement_of_very_many_configurations_is_found_by_a_ratio_of_tiny_probabilities() -> None:
    names = [f"p{number}" for number in range(11)]
    network = Network({name: ["no", "yes"] for name in (*names, "y")}, {"y": names})
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({name: rng.choice(["no", "yes"], 5_000) for name in names})
    rows = rows.with_columns(y=pl.col("p0"))
    wrong, true = (Knowledge(network, f"p0 {verb} y") for verb in ("lowers", "raises"))
    counts = counts_of(network, rows)
    (found,) = contradictions(wrong, lower(wrong), counts)
    assert "y=yes in " in str(found)
    assert contradictions(true, lower(true), counts) == ()
    assert compare_with_data(lower(true), counts).plausible[0].before_data.value == 0.0


# Where it is seen ----------------------------------------------------------------------------------------------------


def test_a_contradiction_is_the_first_thing_that_a_fit_says(tmp_path: Path) -> None:
    fit = credo.fit(PUMPS, ROWS, f"{RARE}\npump1 raises alarm", method="cmap")
    first = fit.findings[0]
    assert (first.kind, first.variable, str(first)) == (CONTRADICTED, "pump1", SENTENCE)
    assert sum(each.kind == CONTRADICTED for each in fit.findings) == 1
    text = " ".join(str(fit).split())
    assert text.startswith(f"The data contradict one statement. • {SENTENCE} Correct the statement, or the data.")
    assert text.count("is contradicted") == 1
    html = fit_html(fit)
    assert html.index("The data contradict one statement.") < html.index("were learned from")
    assert SENTENCE.split(": ")[1] in html
    explanation = fit.explain()
    assert explanation.summary[0] == SENTENCE
    assert explanation.statements[0].is_contradicted
    fit.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert page.index("is contradicted by the data: pump1=failed in 14 of 200 rows (7%)") < page.index("were learned")
    found = credo.check(PUMPS, f"{RARE}\npump1 raises alarm", data=ROWS)
    assert [str(each) for each in found.contradicted] == [SENTENCE]
    assert SENTENCE in " ".join(str(found).split())
    assert found.to_dict()["contradicted"][0]["evidence"] in SENTENCE


def test_influences_show_the_shares_that_contradict_them() -> None:
    fit = credo.fit(PUMPS, ROWS, "pump1 lowers alarm", method="ml")
    assert str(fit.findings[0]).startswith(
        "Line 1, “pump1 lowers alarm”, is contradicted by the data: alarm=yes in 12 of 14 rows with pump1=failed "
        "(86%); alarm=yes in 6 of 186 rows with pump1=ok (3.2%)."
    )
    assert "The method does not use the knowledge." in str(fit)


def test_missing_values_are_left_out_and_said_so() -> None:
    rows = ROWS.with_columns(alarm=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("alarm")))
    knowledge = "pump1 lowers alarm\nP(pump1=failed) >= 1%"
    fit = credo.fit(PUMPS, rows, knowledge)
    (first,) = [str(each) for each in fit.findings if each.kind == CONTRADICTED]
    assert first.endswith("Rows in which one of these values is missing were left out.")
    assert [first] == [str(each) for each in credo.check(PUMPS, knowledge, data=rows).contradicted]
    assert fit.explain().summary[0] == first


def test_hidden_variables_and_unseen_configurations_contradict_nothing() -> None:
    fit = credo.fit(PUMPS, ROWS.drop("alarm"), "pump1 lowers alarm\nP(alarm=yes | pump1=ok) <= 0.001")
    assert not [each for each in fit.findings if each.kind == CONTRADICTED]
    never = credo.fit(
        PUMPS, ROWS.filter(pl.col("pump1") == "ok"), "P(alarm=yes | pump1=failed) <= 0.001", method="cmap"
    )
    assert not [each for each in never.findings if each.kind == CONTRADICTED]


def test_a_statement_about_a_cpt_that_is_kept_is_compared_with_the_data_too() -> None:
    network = PUMPS.with_cpts({"pump1": [0.9995, 0.0005]})
    fit = credo.fit(network, ROWS, RARE, fixed=["pump1"], method="cmap")
    assert str(fit.findings[0]) == SENTENCE
    assert fit.explain().summary[0] == SENTENCE


def test_of_many_contradictions_the_first_are_named_and_the_others_counted() -> None:
    text = "\n".join(f"P(pump1=failed) <= 0.{number}%" for number in range(1, 9))
    fit = credo.fit(PUMPS, ROWS, text, method="cmap")
    assert sum(each.kind == CONTRADICTED for each in fit.findings) == 8
    assert "The data contradict 8 statements." in str(fit)
    assert "The data contradict 3 more statements." in str(fit)


def test_a_saved_fit_explains_contradictions_as_before(tmp_path: Path) -> None:
    rows = ROWS.with_columns(alarm=pl.when(pl.int_range(pl.len()) % 3 == 0).then(None).otherwise(pl.col("alarm")))
    network = Network(PUMPS.variables, PUMPS.parents, ordered=["pump1"])
    fit = credo.fit(network, rows, "pump1 lowers alarm")
    back = credo.load(fit.save(tmp_path / "pumps.fit"))
    assert back.explain().summary == fit.explain().summary
    assert back.network.variable("pump1").is_ordered


@pytest.mark.parametrize(
    "line", ["P(a=y) <= 0", "P(a=n) >= 1", "P(a=y) = 0", "P(b=y) <= 0", "P(b=n) >= 100%", "P(a=n, b=n) >= 1"]
)
def test_what_occurs_contradicts_that_it_is_impossible(line: str) -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["n", "y"] * 20, "b": ["n", "y"] * 20})
    fit = credo.fit(network, rows, line, method="cml")
    explained = fit.explain(progress=False)
    assert explained.statements[0].is_contradicted
    assert "is contradicted by the data" in str(explained)
    assert explained.statements[0].effect is Effect.BINDING
    assert "The data contradict one statement" in str(credo.check(network, line, data=rows))
    doubted = credo.fit(network, rows, line, doubt=True)
    assert doubted.statements()["probability"][0] < 0.01


@pytest.mark.parametrize("line", ["P(a=y) <= 0", "P(a=n) >= 1", "P(a=y) = 0", "P(b=y) <= 0"])
def test_what_never_occurs_supports_that_it_is_impossible(line: str) -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["n"] * 400, "b": ["n"] * 400})
    assert not credo.fit(network, rows, line, method="cml").explain(progress=False).statements[0].is_contradicted
    assert credo.fit(network, rows, line, doubt=True).statements()["probability"][0] > 0.9


@pytest.mark.parametrize(
    "line",
    [
        *("P(b=y | a=y) = 0", "P(b=n | a=y) = 1", "P(b=y | a=y) <= 0", "P(b=n | a=y) >= 1", "P(b=y) = 0"),
        *("P(b=n) >= 1", "P(b=y | each a) <= 0", "P(b=y | a=y) + P(b=y | a=n) <= 0"),
        *("P(b=n | a=y) - P(b=y | a=y) = 1", "P(b=y | a=y) = 0 with confidence 0.9"),
    ],
)
@pytest.mark.parametrize("rows", [4, 2_000])
def test_one_row_refutes_that_it_is_impossible(line: str, rows: int) -> None:
    network = credo.Network({"a": ["n", "y"], "b": ["n", "y"]}, {"b": ["a"]})
    table = pl.DataFrame({"a": ["n"] + ["y"] * rows, "b": ["n", "y"] + ["n"] * (rows - 1)})
    found = credo.check(network, line, data=table)
    assert [str(each.statement.text) for each in found.contradicted] == [line]
    knowledge = Knowledge(network, line)
    assert len(contradictions(knowledge, lower(knowledge), counts_of(network, table))) == 1
    without = table.with_row_index().filter(pl.col("index") != 1).drop("index")
    assert not credo.check(network, line, data=without).contradicted


@pytest.mark.parametrize("seed", range(300))
def test_what_constraints_rule_out_is_what_a_linear_program_leaves_no_probability(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, rng.integers(1, 4))
    network = Network({f"v{k}": [f"s{i}" for i in range(size)] for k, size in enumerate(sizes)})
    layout = Layout.of(network)
    owner, columns = np.repeat(np.arange(len(sizes)), sizes), np.arange(layout.size)
    chosen = rng.random(layout.size) < 0.7
    row = np.where(chosen, rng.choice([-1.0, 0.5, 1.0], layout.size), 0.0)
    if not row.any():
        return
    least, most = (sum(pick(row[owner == k]) for k in range(len(sizes))) for pick in (min, max))
    bound, equality = rng.choice([least, most, 0.5 * (least + most)]), bool(rng.random() < 0.5)
    kept = np.flatnonzero(row)
    linear = LinearConstraints(
        *(np.array([0, len(kept)]), columns[kept], row[kept], np.array([bound]), np.array([0])),
        *(np.array([equality]), np.array([np.nan])),
    )
    block = one_block(Constraints(layout, linear))
    assert block is not None
    observed = rng.integers(0, 2, layout.size).astype(float)
    sums = [(owner == k).astype(float) for k in range(len(sizes))]
    equations, sides = ([*sums, row], [1.0] * len(sums) + [bound]) if equality else (sums, [1.0] * len(sums))
    limits = {} if equality else {"A_ub": [row], "b_ub": [bound]}
    largest = [
        -linprog(-(columns == index).astype(float), A_eq=equations, b_eq=sides, **limits).fun for index in columns
    ]
    impossible = any(observed[index] and largest[index] < 1e-9 for index in columns)
    assert rules_out(block, observed[block.parameters], 0.5).any() == impossible
