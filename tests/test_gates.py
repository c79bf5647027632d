"""Gates: fault trees in the language, against enumeration and values by hand."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import product
from math import comb, prod
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo.questions.answers import query_network
from tests.helpers.command_line import run

EVENTS = ("no", "yes")
RATES = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}


def by_enumeration(function, rates: dict[str, float] = RATES) -> float:
    """P(function of the events) as a sum over all of their states."""
    total = 0.0
    for values in product((False, True), repeat=len(rates)):
        weight = prod(rate if value else 1 - rate for rate, value in zip(rates.values(), values, strict=True))
        total += weight * bool(function(*values))
    return total


LINES = {
    "top is or of a, b, c, d": lambda a, b, c, d: a or b or c or d,
    "top is an or of a, b, not c, d": lambda a, b, c, d: a or b or not c or d,
    "top is and of a, b, c, d": lambda a, b, c, d: a and b and c and d,
    "top is and of not a, not b, c and d": lambda a, b, c, d: not a and not b and c and d,
    "top is 2 of a, b, c, d": lambda a, b, c, d: a + b + c + d >= 2,
    "top is at least 3 of a, b, c, not d": lambda a, b, c, d: a + b + c + (not d) >= 3,
    "top is 1 of a, b, c, d": lambda a, b, c, d: a or b or c or d,
    "top is 4 of a, b, c, d": lambda a, b, c, d: a and b and c and d,
    "top is xor of a, b, c, d": lambda a, b, c, d: (a + b + c + d) % 2,
    "top is nor of a, b, c, d": lambda a, b, c, d: not (a or b or c or d),
    "top is nand of a, b, c, d": lambda a, b, c, d: not (a and b and c and d),
    "top is max of a, b, c, d": lambda a, b, c, d: max(a, b, c, d),
    "top is min of a, b, c, d": lambda a, b, c, d: min(a, b, c, d),
    "top is or of a=no, b=yes, not c=yes, d": lambda a, b, c, d: not a or b or not c or d,
}


def asked(fit: credo.Fit, question: str) -> float:
    """The one number that a question asks for."""
    return float(fit.query(question).frame["probability"][0])


def learned(line: str, rates: dict[str, float] = RATES, rows: int = 1, **options: object) -> credo.Fit:
    """A fit in which the rates are fixed CPTs, and the gate's child has no column."""
    names = ", ".join([*rates, "top"])
    network = credo.declared_network(f"variables {names}: no, yes\n{line}").network
    network = network.with_cpts({name: [1 - rate, rate] for name, rate in rates.items()})
    table = pl.DataFrame({name: ["no"] * rows for name in rates})
    return credo.fit(network, table, line, fixed=list(rates), method="map", **options)


@pytest.mark.parametrize("line", LINES)
def test_a_gate_has_the_probability_that_enumeration_gives(line: str) -> None:
    function = LINES[line]
    fit = learned(line)
    assert asked(fit, "P(top=yes)") == pytest.approx(by_enumeration(function), abs=1e-14)
    for values in product((0, 1), repeat=4):
        assert fit.network.cpts["top"][values][1] == float(bool(function(*values)))


@pytest.mark.parametrize("line", LINES)
def test_a_gate_reads_back_as_it_is_written(line: str) -> None:
    network = credo.declared_network(f"variables a, b, c, d, top: no, yes\n{line}").network
    (statement,) = credo.Knowledge(network, line).statements
    (again,) = credo.Knowledge(network, str(statement)).statements
    assert again == statement


def test_same_and_not_follow_one_input() -> None:
    text = "variables a, b, c: no, yes\nb is the same as a\nc is not a\nP(a=yes) = 0.25"
    network = credo.declared_network(text).network.with_cpts({"a": [0.75, 0.25]})
    fit = credo.fit(network, pl.DataFrame({"a": ["no", "yes"]}), text, fixed=["a"])
    assert asked(fit, "P(b=yes)") == pytest.approx(0.25)
    assert asked(fit, "P(c=yes)") == pytest.approx(0.75)
    assert asked(fit, "P(c=yes | b=yes)") == pytest.approx(0.0)


def test_max_and_min_take_ordered_states() -> None:
    text = "variables a, b, top, least: mild, moderate, severe\ntop is max of a, b\nleast is min of a, b"
    network = credo.declared_network(text).network.with_cpts({"a": [0.2, 0.3, 0.5], "b": [0.6, 0.3, 0.1]})
    fit = credo.fit(network, pl.DataFrame({"a": ["mild"]}), text, fixed=["a", "b"])
    assert asked(fit, "P(top=mild)") == pytest.approx(0.2 * 0.6)
    assert asked(fit, "P(top=severe)") == pytest.approx(1 - 0.5 * 0.9)
    assert asked(fit, "P(least=severe)") == pytest.approx(0.5 * 0.1)
    assert asked(fit, "P(least=mild)") == pytest.approx(1 - 0.8 * 0.4)


def test_forty_inputs_cost_little_and_keep_small_digits() -> None:
    rate, names = 1e-9, [f"e{number}" for number in range(40)]
    rates = dict.fromkeys(names, rate)
    inputs = ", ".join(names)
    fit = learned(f"top is or of {inputs}", rates)
    assert asked(fit, "P(top=yes)") == pytest.approx(-np.expm1(40 * np.log1p(-rate)), rel=1e-9)
    fit = learned(f"top is 2 of {inputs}", rates)
    exact = sum(comb(40, k) * rate**k * (1 - rate) ** (40 - k) for k in range(2, 41))
    assert asked(fit, "P(top=yes)") == pytest.approx(exact, rel=1e-9)
    assert asked(fit, "P(top=yes | e0=yes)") == pytest.approx(-np.expm1(39 * np.log1p(-rate)), rel=1e-9)
    rare = learned(f"top is and of {names[0]}, {names[1]}", dict.fromkeys(names[:2], 3e-5))
    assert "P(top=yes) = 9e-10" in str(rare.query("P(top=yes)"))


def test_setting_an_input_or_the_gate_is_exact() -> None:
    fit = learned("top is or of a, b, c, d")
    total = by_enumeration(LINES["top is or of a, b, c, d"])
    assert asked(fit, "P(top=yes | do(a=yes))") == pytest.approx(1.0)
    assert asked(fit, "P(a=yes | do(top=yes))") == pytest.approx(0.1)
    assert asked(fit, "P(a=yes | top=yes)") == pytest.approx(0.1 / total)


TREE = """
variables pump1, pump2, valve, train, top: no, yes
train is and of pump1, pump2
top is or of train, valve
"""


def test_rates_are_learned_from_complete_rows_without_em() -> None:
    rows = pl.DataFrame(
        {
            "pump1": ["no", "yes", "yes", "no"],
            "pump2": ["no", "no", "yes", "no"],
            "valve": ["no", "no", "no", "yes"],
            "top": ["no", "no", "yes", "yes"],
        }
    )
    fit = credo.fit(TREE, rows, method="ml")
    assert fit.network.cpts["pump1"][1] == pytest.approx(0.5)
    assert fit.network.cpts["valve"][1] == pytest.approx(0.25)
    assert not fit.is_incomplete
    assert asked(fit, "P(top=yes)") == pytest.approx(1 - (1 - 0.5 * 0.25) * 0.75)


def test_em_learns_the_rate_of_an_input_from_the_gate_alone() -> None:
    # Only the top event is seen; valve never fails, so that P(top) = P(pump1) P(pump2), and pump2 is known.
    text = TREE + "P(pump2=yes) = 0.5\nP(valve=yes) = 0"
    rows = pl.DataFrame({"top": ["yes"] * 3 + ["no"] * 9})
    fit = credo.fit(text, rows, method="cml")
    assert asked(fit, "P(top=yes)") == pytest.approx(0.25, abs=1e-6)
    assert fit.network.cpts["pump1"][1] == pytest.approx(0.5, abs=1e-5)


def test_the_posterior_of_a_gate_is_that_of_its_input() -> None:
    # top = a or b, and b's rate is known: P(top) = 1 - 0.8 (1 - P(a)) in every draw.
    text = "variables a, b, top: no, yes\ntop is or of a, b\nP(b=yes) = 0.2"
    fit = credo.fit(text, pl.DataFrame({"top": ["yes", "yes", "no"]}), method="posterior", seed=1)
    top, cause = fit.query("P(top=yes)"), fit.query("P(a=yes)")
    for of_top, of_cause in zip((float(top), *top.interval), (float(cause), *cause.interval), strict=True):
        assert of_top == pytest.approx(1 - 0.8 * (1 - of_cause), abs=0.02)
    assert 0.3 < float(cause) < 0.8


@pytest.mark.parametrize(
    ("row", "line"),
    [
        ({"pump1": "yes", "pump2": "yes", "valve": "no", "train": "no", "top": "no"}, 3),
        ({"pump1": "no", "pump2": None, "valve": "no", "train": "yes", "top": "yes"}, 3),
        ({"pump1": None, "pump2": None, "valve": "yes", "train": None, "top": "no"}, 4),
        ({"pump1": "no", "pump2": None, "valve": "no", "train": None, "top": "yes"}, 4),
    ],
)
def test_a_row_that_contradicts_a_gate_is_named_with_its_line(row: dict[str, str | None], line: int) -> None:
    good = {"pump1": "no", "pump2": "yes", "valve": "no", "train": "no", "top": "no"}
    with pytest.raises(credo.ImpossibleRowError, match=f"line {line}") as found:
        credo.fit(TREE, pl.DataFrame([good, good, row]))
    assert found.value.row == 3
    assert "Row 3" in str(found.value)


def test_statements_about_the_top_event_limit_the_inputs() -> None:
    text = "variables a, b, top: no, yes\ntop is and of a, b\nP(top=yes) is at most 1%\nP(a=yes) = 0.5"
    rows = pl.DataFrame({"a": ["no", "yes"] * 5, "b": ["yes", "no"] * 5})
    fit = credo.fit(text, rows, method="cml")
    assert fit.network.cpts["b"][1] == pytest.approx(0.02, rel=1e-3)


MISTAKES = {
    "top is or of a, a": "twice",
    "top is 5 of a, b": "2 inputs",
    "top is 0 of a, b": "whole number",
    "top is 1.5 of a, b": "whole number",
    "top is or of a, top": "itself",
    "top is or of a, bb": '"bb"',
    "level is or of a, b": "two",
    "top is or of a, level": "level=",
    "top is max of a, level": "states",
    "top is or of a=maybe, b": '"maybe"',
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_in_a_gate_is_named_with_its_line(line: str) -> None:
    text = f"variables a, b, top: no, yes\nvariable level: low, medium, high\n{line}"
    with pytest.raises(credo.KnowledgeError, match=MISTAKES[line]) as found:
        credo.fit(text, pl.DataFrame({"a": ["no", "yes"], "b": ["no", "no"]}))
    assert found.value.mistakes[0].line == 3


def test_a_parent_that_the_gate_leaves_out_is_a_mistake() -> None:
    text = "variables a, b, top: no, yes\ntop depends on a, b\ntop is same as a"
    with pytest.raises(credo.KnowledgeError, match="leaves out") as found:
        credo.fit(text, pl.DataFrame({"a": ["no", "yes"], "b": ["no", "no"]}))
    assert found.value.mistakes[0].line == 3


def test_one_child_has_one_form() -> None:
    text = "variables a, b, top: no, yes\ntop is or of a, b\ntop is noisy-or of {a}, {b}"
    with pytest.raises(credo.KnowledgeError, match="line 2"):
        credo.fit(text, pl.DataFrame({"a": ["no", "yes"], "b": ["no", "no"]}))


def test_a_gate_made_in_python_is_the_line() -> None:
    assert str(credo.gate("top", "or", ["pump1", "not pump2"])) == "top is or of pump1, not pump2"
    assert str(credo.gate("top", 2, ["a", "b", "c=stuck"])) == "top is 2 of a, b, c=stuck"
    assert str(credo.gate("top", "not", ["a"])) == "top is not a"
    assert str(credo.gate("top", "same as", ["a"])) == "top is same as a"


def test_a_saved_fit_keeps_its_gates(tmp_path) -> None:
    names = [f"e{number}" for number in range(20)]
    fit = learned(f"top is 3 of {', '.join(names)}", dict.fromkeys(names, 0.1))
    fit.save(tmp_path / "tree.fit")
    again = credo.load(tmp_path / "tree.fit")
    assert again.network == fit.network
    assert asked(again, "P(top=yes)") == asked(fit, "P(top=yes)")


def test_the_most_probable_states_obey_the_gate() -> None:
    fit = learned("top is and of a, b, c, d")
    assert set(fit.most_probable({"top": "yes"})["state"]) == {"yes"}
    names = [f"e{number}" for number in range(40)]
    large = learned(f"top is 39 of {', '.join(names)}", {name: 0.1 + 0.01 * n for n, name in enumerate(names)})
    best = dict(large.most_probable({"top": "yes"}).select("variable", "state").iter_rows())
    assert [name for name in names if best[name] == "no"] == ["e0"]


@pytest.mark.parametrize("line", ["a raises top", "P(top=yes | a=yes, b=no) >= 0.5", "P(top=yes | a=yes) >= 0.5"])
def test_other_statements_about_the_child_of_a_gate_do_not_disturb(line: str) -> None:
    text = f"variables a, b, top: no, yes\ntop is or of a, b\n{line}"
    rows = pl.DataFrame({"a": ["no", "yes"] * 4, "b": ["yes", "no", "no", "no"] * 2})
    fit = credo.fit(text, rows, method="cmap")
    without = credo.fit(text.rpartition("\n")[0], rows, method="cmap")
    assert fit.network.cpts["b"][1] == pytest.approx(without.network.cpts["b"][1])
    assert not credo.check(text).conflicts


@pytest.mark.parametrize("ending", ["bif", "net", "xdsl", "xmlbif", "uai"])
def test_files_keep_what_a_gate_says(tmp_path, ending: str) -> None:
    fit = learned("top is 2 of a, not b, c, d")
    path = tmp_path / f"tree.{ending}"
    with pytest.warns(credo.errors.LossyFormatWarning) if ending != "xdsl" else nullcontext():
        credo.write_network(fit.network, path)
    again = credo.read_network(path)
    name = again.names[fit.network.names.index("top")]
    assert np.array_equal(again.cpts[name], fit.network.cpts["top"])


@pytest.mark.parametrize("ending", ["bif", "xdsl"])
def test_a_gate_that_is_too_large_for_a_cpt_becomes_its_steps(tmp_path, ending: str) -> None:
    names = [f"e{number}" for number in range(40)]
    fit = learned(f"top is 3 of {', '.join(names)}", dict.fromkeys(names, 0.1))
    with pytest.warns(credo.errors.LossyFormatWarning, match="gates? of top"):
        credo.write_network(fit.network, tmp_path / f"tree.{ending}")
    again = query_network(credo.read_network(tmp_path / f"tree.{ending}"), "P(top=yes)")
    assert float(again) == pytest.approx(asked(fit, "P(top=yes)"), rel=1e-12)


def test_partitions_of_a_table_name_the_row_that_contradicts_a_gate(tmp_path) -> None:
    good = {"pump1": "no", "pump2": "yes", "valve": "no", "train": "no", "top": "no"}
    for number, last in enumerate(("no", "yes")):
        pl.DataFrame([good, {**good, "top": last}]).write_parquet(tmp_path / f"{number}.parquet")
    with pytest.raises(credo.ImpossibleRowError, match=r"1\.parquet, row 2 .*line 4"):
        credo.fit(TREE, credo.partitioned(tmp_path))
    pl.DataFrame([good, good]).write_parquet(tmp_path / "1.parquet")
    assert credo.fit(TREE, credo.partitioned(tmp_path), method="ml").rows == 4


SMALL = """
variables a, b, c, mid, top: no, yes
mid is and of b, c
top is or of a, mid
P(a=yes) is 3e-9
P(b=yes) is between 1e-5 and 1e-4
P(c=no) = 0.99997
"""


def test_rates_that_have_one_value_have_it_in_every_draw() -> None:
    """By hand: top = 3e-9 + b · 3e-5, whatever b is."""
    fit = credo.fit(SMALL)
    assert fit.query("P(a=yes)").interval == pytest.approx((3e-9, 3e-9), rel=0.02)
    assert fit.query("P(c=yes)").interval == pytest.approx((3e-5, 3e-5), rel=0.02)
    b, top = fit.query("P(b=yes)"), fit.query("P(top=yes)")
    assert float(top) == pytest.approx(3e-9 + float(b) * 3e-5, rel=0.01)
    assert top.interval == pytest.approx([3e-9 + end * 3e-5 for end in b.interval], rel=0.03)


def test_a_small_probability_of_a_top_event_is_held_nearly() -> None:
    ranges = SMALL.replace("is 3e-9", "is between 1e-6 and 1e-3").replace("P(c=no) = 0.99997", "P(c=yes) <= 5%")
    ranges = ranges.replace("between 1e-5 and 1e-4", "between 1e-3 and 1e-1")
    fit = credo.fit(ranges + "P(top=yes) is 1e-4")
    assert fit.query("P(top=yes)").interval == pytest.approx((1e-4, 1e-4), rel=0.11)
    for name in "abc":  # what is reported is not at a bound that no draw is near
        number = fit.query(f"P({name}=yes)")
        assert number.interval[0] < float(number) < number.interval[1]


def test_small_probabilities_keep_their_digits_in_csv(tmp_path: Path) -> None:
    credo.fit(SMALL).save(tmp_path / "m.fit")
    lines = run("marginals", "m.fit", folder=tmp_path).stdout.splitlines()
    numbers = {tuple(line.split(",")[:2]): float(line.split(",")[2]) for line in lines[1:]}
    assert numbers["a", "yes"] == pytest.approx(3e-9, rel=0.01)
    assert 3e-9 < numbers["top", "yes"] < 7e-9


def test_a_gate_says_which_of_several_states_is_its_event() -> None:
    text = "variable valve: ok, stuck, leaking\nvariables a, top: no, yes\ntop is or of not valve=stuck, a"
    form = credo.fit(text, method="map").network.forms["top"]
    assert str(form) == "or of not valve=stuck, a"


def test_a_check_names_the_row_that_contradicts_a_gate() -> None:
    text = "variables a, b, mid, top: no, yes\nmid is or of a, b\ntop is and of mid, b"
    data = pl.DataFrame({"a": ["no", "yes", "no"], "b": ["no", "no", "no"], "top": ["no", "no", "yes"]})
    check = credo.check(text, data=data)
    assert {each.statement.text for each in check.contradicted} == {"mid is or of a, b", "top is and of mid, b"}
    assert all(each.evidence.startswith("row 3 has") and "top=yes" in each.evidence for each in check.contradicted)
    assert "row 3 has" in " ".join(str(check).split())
    assert not credo.check(text, data=data.head(2)).contradicted
    assert not credo.check(f"{text} with confidence 0.9", data=data).contradicted


def test_draws_of_the_rate_of_an_input_follow_what_is_seen_of_the_gate() -> None:
    text = TREE + "P(pump2=yes) = 0.5\nP(valve=yes) = 0"
    rows = pl.DataFrame({"top": ["yes"] * 100 + ["no"] * 300})
    fit = credo.fit(text, rows, method="posterior")
    answer = fit.query("P(pump1=yes)")
    assert answer.probability == pytest.approx(0.5, abs=0.05)
    assert 0.35 < answer.interval[0] < answer.interval[1] < 0.65
