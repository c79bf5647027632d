"""Statements about noisy families: which CPT each constrains, what carries over to the child, what is only checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import Knowledge, KnowledgeError, Network, NetworkError, NoisyForm
from credo.constraints.constraint_set import LinearConstraints
from credo.constraints.lower import lower
from credo.constraints.noisy_families import collapsed
from credo.explain.violations import only_checked, violations_of
from credo.model.expansion import expand
from tests.helpers.noisy_families import KINDS

BINARY, LEVELS = ("no", "yes"), ("low", "medium", "high")
NAMES = ("chol", "bp", "age", "smoke")
HEART = Network({**dict.fromkeys(NAMES, BINARY), "attack": BINARY}, {"attack": NAMES})
FAMILY = "attack is noisy-or of {chol, bp}, {age}, {smoke} with leak and general effects\n"
SMALL = "attack by chol, bp"

REWRITTEN = {
    "chol raises attack": (SMALL, 2),
    "age raises attack by at least 0.1": ("attack by age", 1),
    "smoke lowers attack with confidence 0.8": ("attack by smoke", 1),
    "chol and bp synergize on attack": (SMALL, 5),
    "chol and bp sub-synergize on attack": (SMALL, 5),
    "P(attack=yes | chol=yes, each bp alone) >= 0.2": (SMALL, 2),
    "0.1 <= P(attack=yes | age=yes alone) <= 0.3": ("attack by age", 2),
    "P(attack=yes | smoke=yes alone) = 0.3": ("attack by smoke", 1),
    "P(attack=yes | chol=yes, bp=no alone) ~ P(attack=yes | chol=no, bp=yes alone) within 0.1": (SMALL, 2),
    "P(attack=yes | chol=yes, bp=yes alone) >= P(attack=yes | chol=no, bp=no alone) by at least 0.1": (SMALL, 1),
    "P(attack=yes | chol=yes, each bp alone) <= 2 * P(attack=yes | chol=no, each bp alone)": (SMALL, 2),
}


@pytest.mark.parametrize("text", REWRITTEN)
def test_a_statement_binds_the_small_table_of_the_set_it_names(text: str) -> None:
    name, count = REWRITTEN[text]
    found = lower(Knowledge(HEART, FAMILY + text))
    bound = {found.layout.locate(index)[0] for row in found.linear for index in row.indices}
    assert bound == {name}
    assert len(found.linear) == count
    assert not found.unlowered


def test_the_constraints_are_those_of_a_network_with_that_cpt_alone() -> None:
    small = Network({"chol": BINARY, "bp": BINARY, "attack": BINARY}, {"attack": ["chol", "bp"]})
    text = "chol and bp synergize on attack by at least 0.01 with confidence 0.7"
    inside, alone = lower(Knowledge(HEART, FAMILY + text)), lower(Knowledge(small, text))
    shift = inside.layout.offsets[SMALL] - alone.layout.offsets["attack"]

    def content(linear: LinearConstraints, shift: int = 0) -> list[tuple[object, ...]]:
        return sorted((*(i + shift for i in r.indices), *r.coefficients, r.bound, r.confidence) for r in linear)

    assert content(inside.linear) == content(alone.linear, shift)


def test_products_constrain_the_cpts_of_sets_too() -> None:
    pairs = (("yes", "yes"), ("no", "no"), ("yes", "no"))
    high, low, mixed = (f"P(attack=yes | chol={chol}, bp={bp} alone)" for chol, bp in pairs)
    text = f"{high} * {low} <= {mixed}"
    found = lower(Knowledge(HEART, FAMILY + text))
    assert {found.layout.locate(index)[0] for row in found.products for index in row.indices} == {SMALL}


def test_a_statement_across_sets_of_two_families_binds_both() -> None:
    names = ("a", "b", "c", "d")
    network = Network({**dict.fromkeys(names, BINARY), "y": BINARY, "z": BINARY}, {"y": ["a", "b"], "z": ["c", "d"]})
    families = "y is noisy-or of {a}, {b} with general effects\nz is noisy-or of {c}, {d} with general effects\n"
    text = families + "P(y=yes | a=yes alone) <= P(z=yes | d=yes alone)"
    found = lower(Knowledge(network, text))
    assert {found.layout.locate(index)[0] for index in found.linear[0].indices} == {"y by a", "z by d"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("chol and age synergize on attack", "several of its sets"),
        ("P(attack=yes | chol=yes, smoke=yes) * P(chol=yes) >= 0.4", "depends on several CPTs"),
        ("P(attack=yes | chol=yes, bp=yes, age=yes, smoke=yes) * P(chol=yes) >= 0.01", "all of its causes"),
    ],
)
def test_a_statement_that_constrains_no_single_cpt_is_not_lowered_but_checked(text: str, why: str) -> None:
    knowledge = Knowledge(HEART, FAMILY + text)
    found = lower(knowledge)
    assert not len(found.linear)
    assert [each.statement for each in found.unlowered] == [1]
    assert why in found.unlowered[0].reason
    findings = only_checked(heart_with(np.random.default_rng(0)), knowledge)
    assert len(findings) == 1
    assert why in findings[0].message


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("P(attack=yes | chol=yes, smoke=yes) >= 0.4", 1),
        ("P(attack=yes) >= 0.01", 1),
        ("P(attack=yes | chol=yes, each bp, each age, each smoke) >= 0.01", 8),
    ],
)
def test_what_all_causes_make_up_together_is_a_general_constraint(text: str, count: int) -> None:
    knowledge = Knowledge(HEART, FAMILY + text)
    found = lower(knowledge)
    assert not len(found.linear)
    assert not found.unlowered
    assert [each.statement for each in found.network_constraints] == [1] * count
    (finding,) = only_checked(heart_with(np.random.default_rng(0)), knowledge)
    assert finding.message.endswith("The methods posterior, cmap or cml use it.")


def test_the_violation_of_an_unlowered_statement_is_measured_on_the_full_cpt() -> None:
    network = heart_with(np.random.default_rng(0))
    knowledge = Knowledge(
        network.without_cpts(), FAMILY + "P(attack=yes | chol=yes, smoke=yes, each bp, each age) >= 0.999"
    )
    missed = 0.999 - network.cpt_array("attack")[1, :, :, 1, 1].min()
    assert violations_of(network, knowledge)[0].amount == pytest.approx(missed)
    assert f"misses it by {missed:.2g}" in only_checked(network, knowledge)[0].message


def test_one_set_without_leak_is_the_child_itself() -> None:
    text = (
        "attack is noisy-or of {chol, bp, age, smoke} with general effects\n"
        "P(attack=yes | each chol, each bp, each age, each smoke) >= 0.01"
    )
    found = lower(Knowledge(HEART, text))
    assert len(found.linear) == 16
    assert not found.unlowered


def test_statements_on_other_variables_stay_as_they_are() -> None:
    found = lower(Knowledge(HEART, FAMILY + "P(age=yes) >= 0.1"))
    assert found.layout.locate(found.linear[0].indices[0])[0] == "age"


def heart_with(generator: np.random.Generator) -> Network:
    shapes = ((2, 2), (2,), (2,), ())
    tables = tuple(generator.dirichlet(np.ones(2), shape) for shape in shapes)
    form = NoisyForm("noisy-or", (("chol", "bp"), ("age",), ("smoke",)), BINARY, True, tables)
    return HEART.with_cpts({name: [0.5, 0.5] for name in NAMES}).with_forms({"attack": form})


# What carries over [yang, appendix B] --------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), st.booleans(), st.sampled_from(["synergize", "sub-synergize"]), st.integers(0, 10**6))
def test_a_synergy_within_a_set_carries_over_to_the_child(kind: str, leak: bool, verb: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    states = BINARY if kind in ("noisy-or", "noisy-and") else LEVELS
    bare = Network({"a": LEVELS, "b": BINARY, "c": BINARY, "y": states}, {"y": ["a", "b", "c"]})
    statement = f"a and b {verb} on y"
    form = NoisyForm(kind, (("a", "b"), ("c",)), states, leak)
    tables = (synergetic(verb, len(states), generator), *(generator.dirichlet(np.ones(len(states)), shape)
              for shape in ((2,), ())[: 1 + leak]))  # fmt: skip
    noisy = bare.with_cpts({"a": [0.2, 0.3, 0.5], "b": [0.5, 0.5], "c": [0.4, 0.6]}).with_forms(
        {"y": form.with_cpts(tables)}
    )
    assert not violations_of(
        noisy, Knowledge(bare, f"y is {kind} of {{a, b}}, {{c}}{' with leak' * leak} with general effects\n{statement}")
    )
    full = Network(noisy.variables, noisy.parents, noisy.cpts)
    assert not violations_of(full, Knowledge(bare, statement))


def synergetic(verb: str, states: int, generator: np.random.Generator) -> np.ndarray:
    """A small table (3, 2, states) with raising, (sub-)synergetic effects: a maximum under these statements."""
    import credo

    small = Network(
        {"a": LEVELS, "b": BINARY, "y": (BINARY if states == 2 else LEVELS)}, {"y": ["a", "b"]},
        {"a": [0.3, 0.3, 0.4], "b": [0.5, 0.5], "y": generator.dirichlet(np.ones(states), (3, 2))},
    )  # fmt: skip
    data = small.sample(60, seed=int(generator.integers(2**31)))
    return np.array(credo.fit(small, data, f"a and b {verb} on y", method="cmap").network.cpt_array("y"))


# The scale -----------------------------------------------------------------------------------------------------------


def test_ranges_on_a_small_table_keep_their_scale() -> None:
    network = heart_with(np.random.default_rng(1))
    expansion = expand(network)
    tables = {**expansion.network.cpts, "attack by age": np.array([[0.8, 0.2], [0.5, 0.5]])}
    bound = lower(Knowledge(HEART, FAMILY + "P(attack=yes | age=no alone) >= 0.2"))
    held = collapsed(expansion, tables, bound).forms["attack"].cpts[1]
    assert held == pytest.approx(tables["attack by age"])
    free = collapsed(expansion, tables, lower(Knowledge(HEART, FAMILY + "age raises attack")))
    assert free.forms["attack"].cpts[1][0] == pytest.approx([1.0, 0.0])
    assert free == collapsed(expansion, tables, bound)


# Mistakes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("network", "text", "kind"),
    [
        (HEART, "attack is noisy-or of {chol, bp}, {age}", "parent-left-out"),
        (HEART, "attack is noisy-or of {chol, bp}, {age}, {smoke, diet}", "unknown-variable"),
        (HEART, "attack is noisy-or of {chol, bp}, {age}, {smoke, bp}", "sets-overlap"),
        (HEART, "age is noisy-or of {chol}", "not-a-parent"),
        (
            Network({"a": BINARY, "y": LEVELS}, {"y": ["a"]}),
            "y is noisy-or of {a}",
            "noisy-child-states",
        ),
        (HEART, FAMILY + "attack is noisy-and of {chol}, {bp}, {age}, {smoke}", "family-twice"),
    ],
)
def test_mistakes_in_the_language(network: Network, text: str, kind: str) -> None:
    with pytest.raises(KnowledgeError) as error:
        Knowledge(network, text)
    assert [mistake.kind for mistake in error.value.mistakes] == [kind]


def test_an_order_in_which_nothing_carries_over_is_named() -> None:
    bare = Network({"a": BINARY, "y": LEVELS}, {"y": ["a"]})
    form = NoisyForm("noisy-max", (("a",),), ("medium", "low", "high"))
    with pytest.raises(NetworkError, match=r"has the order medium < low < high, .* order y: medium < low < high"):
        lower(Knowledge(bare.with_forms({"y": form}), "a raises y"))
    turned = NoisyForm("noisy-max", (("a",),), LEVELS[::-1])
    assert len(lower(Knowledge(bare.with_forms({"y": turned}), "a raises y")).linear) == 2


def test_no_cause_has_no_effect() -> None:
    network = Network(
        {"a": ["no", "yes"], "b": ["low", "mid", "high"], "c": ["no", "yes"], "y": ["bad", "fair", "good"]},
        {"y": ["a", "b", "c"]},
    )
    text = "order y: bad < fair < good\ny is {} of {{a, b}}, {{c}}{}"
    for kind in ("noisy-max", "noisy-min"):
        constraints = lower(Knowledge(network, text.format(kind, "")))
        zeros = {constraints.layout.describe(int(index)) for index in constraints.linear.indices}
        assert zeros == {
            "P(y by a, b=fair | a=no, b=low)",
            "P(y by a, b=good | a=no, b=low)",
            "P(y by c=fair | c=no)",
            "P(y by c=good | c=no)",
        }
        assert constraints.linear.equality.all()
        assert not len(lower(Knowledge(network, text.format(kind, " with general effects"))).linear)
