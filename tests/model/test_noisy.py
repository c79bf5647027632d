"""Noisy families: full tables against the enumeration of all effects, one scale, and every mistake named."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from credo import Network, NetworkError, NoisyForm, TooLargeError
from credo.model.noisy import full_cpt
from tests.helpers.noisy_families import KINDS, enumerated, noisy_network, random_form

BINARY = ("no", "yes")
HAND = NoisyForm(
    "noisy-or",
    (("chol", "bp"), ("age",)),
    BINARY,
    True,
    (
        np.array([[[1.0, 0.0], [0.8, 0.2]], [[0.9, 0.1], [0.4, 0.6]]]),
        np.array([[1.0, 0.0], [0.7, 0.3]]),
        np.array([0.95, 0.05]),
    ),
)
HAND_NAMES = ("chol", "bp", "age")


def heart(form: NoisyForm | None = None) -> Network:
    bare = Network({**dict.fromkeys(HAND_NAMES, BINARY), "attack": BINARY}, {"attack": HAND_NAMES})
    return bare if form is None else bare.with_forms({"attack": form})


def test_a_number_worked_out_by_hand() -> None:
    table = heart(HAND).cpt_array("attack")
    assert table[1, 1, 1, 0] == pytest.approx(0.4 * 0.7 * 0.95)
    assert table[0, 0, 0, 1] == pytest.approx(0.05)


@pytest.mark.parametrize("leak", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_full_tables_are_those_of_all_effects_enumerated(kind: str, leak: bool) -> None:
    generator = np.random.default_rng(KINDS.index(kind))
    for _ in range(25):
        parents = {f"x{i}": int(size) for i, size in enumerate(generator.integers(1, 4, generator.integers(1, 4)))}
        form, states = random_form(generator, kind, parents, leak)
        found = full_cpt(form, list(parents), states)
        assert found == pytest.approx(enumerated(form, parents, states), abs=1e-12)
        assert found.sum(axis=-1) == pytest.approx(np.ones(found.shape[:-1]))


def test_states_that_are_listed_high_first_mean_the_same() -> None:
    turned = NoisyForm("noisy-or", HAND.sets, BINARY, True, tuple(table[..., ::-1] for table in HAND.cpts))
    network = Network({**dict.fromkeys(HAND_NAMES, BINARY), "attack": ("yes", "no")}, {"attack": HAND_NAMES})
    assert network.with_forms({"attack": turned}).cpt_array("attack")[..., ::-1] == pytest.approx(
        heart(HAND).cpt_array("attack")
    )


# One scale -----------------------------------------------------------------------------------------------------------


def rescaled(form: NoisyForm, states: tuple[str, ...], factors: list[float]) -> NoisyForm:
    """The same family with factors moved between the losing states of its causes."""
    loser = states.index(form.order[0] if form.takes_highest else form.order[1])
    tables = []
    for table, factor in zip(form.cpts, factors, strict=True):
        moved = np.empty_like(table)
        moved[..., loser] = table[..., loser] * factor
        moved[..., 1 - loser] = 1 - moved[..., loser]
        tables.append(moved)
    return form.with_cpts(tables)


@pytest.mark.parametrize("kind", ["noisy-or", "noisy-and", "noisy-max", "noisy-min"])
@pytest.mark.parametrize("leak", [False, True])
def test_the_kept_scale_changes_nothing_that_shows_and_is_the_same_for_all_scales(kind: str, leak: bool) -> None:
    generator = np.random.default_rng(3)
    for _ in range(20):
        parents = {"a": 2, "b": 3, "c": 2}
        form, states = random_form(generator, kind, parents, leak)
        kept = form.canonical(states)
        names = list(parents)
        assert full_cpt(kept, names, states) == pytest.approx(full_cpt(form, names, states), abs=1e-12)
        if len(states) > 2 or len(form.causes) < 2:
            continue
        loser = states.index(form.order[0] if form.takes_highest else form.order[1])
        room = 1 / max(float(table[..., loser].max()) for table in form.cpts[1:])
        factor = float(generator.uniform(1, room)) ** 0.5
        other = rescaled(form, states, [1 / factor, factor, *[1.0] * (len(form.causes) - 2)])
        assert full_cpt(other, names, states) == pytest.approx(full_cpt(form, names, states), abs=1e-12)
        assert other.same(form, states)
        assert other != form
        assert hash(other) == hash(form)
        for one, two in zip(other.canonical(states).cpts, kept.cpts, strict=True):
            assert one == pytest.approx(two, abs=1e-12)
        if leak:
            assert all(table[..., loser].max() == pytest.approx(1.0) for table in kept.cpts[:-1])


def test_networks_with_noisy_families_are_equal_whatever_their_scale() -> None:
    bare = Network({"a": BINARY, "b": BINARY, "y": BINARY}, {"y": ["a", "b"]}, {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    tables = (np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([[0.5, 0.5], [0.25, 0.75]]))
    form = NoisyForm("noisy-or", (("a",), ("b",)), BINARY, False, tables)
    one, two = (bare.with_forms({"y": each}) for each in (form, rescaled(form, BINARY, [0.5, 2.0])))
    assert one == two
    assert one != bare.with_forms({"y": rescaled(form, BINARY, [0.5, 1.9])})
    assert one != bare
    assert one.forms["y"] != "noisy"


def test_a_network_with_noisy_families_travels_whole() -> None:
    network = noisy_network(np.random.default_rng(0), "noisy-max", leak=True)
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert again.forms["y"].kind == "noisy-max"
    assert repr(again) == repr(network)
    assert "noisy-max" in repr(again.forms["y"])


def test_small_tables_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        heart(HAND).forms["attack"].cpts[0][0, 0, 0] = 0.5


def test_a_full_table_that_is_too_large_names_the_small_ones() -> None:
    names = [f"x{i}" for i in range(40)]
    tables = tuple(np.array([[1.0, 0.0], [0.9, 0.1]]) for _ in names)
    form = NoisyForm("noisy-or", tuple((name,) for name in names), BINARY, False, tables)
    network = Network({**dict.fromkeys(names, BINARY), "y": BINARY}, {"y": names}, forms={"y": form})
    assert "y" not in network.cpts
    with pytest.raises(TooLargeError, match=r"2\.2e\+12 numbers; it is kept as noisy-or of small CPTs"):
        network.cpt_array("y")


def test_a_full_table_takes_the_place_of_a_form_and_structure_keeps_it() -> None:
    network = heart(HAND)
    assert not network.with_cpts({"attack": network.cpt_array("attack")}).forms
    bare = network.without_cpts()
    assert bare.forms["attack"].cpts == ()
    assert not bare.is_complete
    assert network.with_cpts({name: [0.5, 0.5] for name in HAND_NAMES}).is_complete


# Mistakes ------------------------------------------------------------------------------------------------------------

MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: NoisyForm("noisy-xor", (("a",),), BINARY), "noisy-or, noisy-and, noisy-max or noisy-min, not 'noisy-xor'"),
    (lambda: NoisyForm("noisy-or", (), BINARY), "at least one set of causes"),
    (lambda: NoisyForm("noisy-or", ((),), BINARY), "no set is empty"),
    (lambda: NoisyForm("noisy-or", (("a",), ("a", "b")), BINARY), "The parent a of a noisy family is in two sets"),
    (lambda: NoisyForm("noisy-and", (("a",),), ("low", "mid", "high")), "noisy-and needs a child of two states"),
    (lambda: NoisyForm("noisy-or", (("a",),), BINARY, True, HAND.cpts[:1]), "has 2 causes, but 1 small CPT"),
    (lambda: NoisyForm("noisy-or", (("a",),), BINARY, False, (np.array([[0.5, 0.6]]),)), "sum to one"),
    (lambda: NoisyForm("noisy-or", (("a",),), BINARY, False, (np.array([[1.5, -0.5]]),)), "sum to one"),
    (lambda: NoisyForm("noisy-or", (("a",),), BINARY, False, (np.array([[np.nan, 1.0]]),)), "sum to one"),
    (lambda: heart(NoisyForm("noisy-or", (("chol", "pb"), ("age",)), BINARY)), '"pb" is not a parent of attack. Known'),
    (lambda: heart(NoisyForm("noisy-or", (("chol",), ("age",)), BINARY)), "The parent bp of attack is in no set"),
    (lambda: heart(NoisyForm("noisy-or", (("chol", "bp", "age"),), ("no", "si"))), "does not list exactly the states"),
    (lambda: heart(NoisyForm("noisy-or", HAND.sets, BINARY, True, HAND.cpts[::-1])), "has the shape"),
    (lambda: heart().with_forms({"heart": HAND}), 'no variable "heart"'),
]  # fmt: skip


@pytest.mark.parametrize(("make", "message"), MISTAKES)
def test_mistakes_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        make()
