"""Gates in CPTs of zeros and ones: every gate comes back as one with the same CPT, and nothing else does."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import credo
from credo.model.gates import GateForm, GateInput, gate_cpt
from credo.model.recognised_gates import recognised_gate

STATES = {"a": ("no", "yes"), "b": ("no", "yes"), "c": ("low", "middle", "high"), "d": ("true", "false")}
CHILD = ("no", "yes")


def cpt_of(
    form: GateForm, states: tuple[str, ...] = CHILD, states_of: dict[str, tuple[str, ...]] = STATES
) -> np.ndarray:
    return gate_cpt(form, form.parents, states, states_of)


@pytest.mark.parametrize("kind", ["or", "and", "xor", "atleast"])
@pytest.mark.parametrize("is_negated", [False, True])
def test_every_gate_of_events_is_found_again(kind: str, is_negated: bool) -> None:
    for signs in product((False, True), repeat=4):
        events = {"a": ("no", "yes"), "b": ("no", "yes"), "c": ("low", "high", "middle"), "d": ("false", "true")}
        inputs = [GateInput(name, order, sign) for (name, order), sign in zip(events.items(), signs, strict=True)]
        form = GateForm(kind, tuple(inputs), CHILD, 2 if kind == "atleast" else 0, is_negated)
        cpt = cpt_of(form)
        found = recognised_gate(cpt, form.parents, CHILD, [STATES[name] for name in form.parents])
        assert found is not None, form
        assert (cpt_of(found) == cpt).all()
        assert [each.order[-1] for each in found.inputs] == ["yes", "yes", "middle", "true"]


def test_maximum_minimum_and_the_same() -> None:
    ranks = dict.fromkeys("ab", ("1", "2", "3"))
    inputs = tuple(GateInput(name, ranks[name]) for name in "ab")
    for form in (GateForm("max", inputs, ranks["a"]), GateForm("min", inputs, ranks["a"])):
        cpt = cpt_of(form, ranks["a"], ranks)
        assert recognised_gate(cpt, ("a", "b"), ranks["a"], [ranks["a"], ranks["b"]]) == form
    for turned, text in ((False, "same as a"), (True, "not a")):
        cpt = np.eye(2)[::-1] if turned else np.eye(2)
        assert str(recognised_gate(cpt, ("a",), CHILD, [CHILD])) == text


def test_other_functions_are_no_gates() -> None:
    two = [CHILD, CHILD, CHILD]
    found = 0
    for results in product((0, 1), repeat=8):
        cpt = np.eye(2)[np.array(results).reshape(2, 2, 2)]
        form = recognised_gate(cpt, ("a", "b", "c"), CHILD, two)
        if form is not None:
            found += 1
            assert (gate_cpt(form, ("a", "b", "c"), CHILD, dict(zip("abc", two, strict=True))) == cpt).all()
    # "or" and "and" with any signs (2 · 8), which negate each other; 2 of 3 with any signs (8); and two parities
    assert found == 26
    assert recognised_gate(np.full((2, 2), 0.5), ("a",), CHILD, [CHILD]) is None


def test_a_deterministic_node_of_a_file_is_a_gate_again(tmp_path: Path) -> None:
    text = "variables a, b, c, top, spare, odd: no, yes\ntop is 2 of a, not b, c\nspare is not a\nodd is xor of a, b\n"
    network = credo.declared_network(text).network
    network = network.with_cpts({name: [0.9, 0.1] for name in "abc"})
    network = credo.fit(network, None, text, fixed=["a", "b", "c"]).network
    credo.write_network(network, tmp_path / "m.xdsl")
    again = credo.read_network(tmp_path / "m.xdsl")
    assert {name: str(form) for name, form in again.forms.items()} == {
        "top": "2 of a, not b, c",
        "spare": "not a",
        "odd": "xor of a, b",
    }
    for name in network.names:
        assert (again.cpt_array(name) == network.cpt_array(name)).all()
    learned = credo.fit(again, again.sample(20, seed=1))
    assert (learned.network.cpt_array("top") == network.cpt_array("top")).all()
