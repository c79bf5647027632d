"""Each rule against constraints written by hand, and all of them against the direct meaning on random CPTs."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest

from credo import Network, TooLargeError
from credo.constraints.constraint_set import LinearConstraint, ProductConstraint, RowTie
from credo.constraints.lower import LOWERING_RULES, lower
from credo.knowledge.expressions import Linear, Probability, Product
from credo.knowledge.statements import (
    STATEMENTS,
    Approximation,
    Comparison,
    Influence,
    NoisyFamily,
    Order,
    Synergy,
    TiedRows,
)
from tests.helpers.lowering_oracle import HandMade, Ordered, theta_of, truth

LADDERS = {"no": ("no", "yes"), "low": ("low", "medium", "high")}


def p(variable: str, state: str, **given: str) -> Probability:
    """P(variable=state | given); `each` is a parent that stands for every one of its states."""
    each = tuple(given.pop("each", "").split())
    return Probability(variable, tuple(state.split()), tuple(given.items()), each)


def one(variable: str, state: str, **given: str) -> Linear:
    return Linear(((1.0, p(variable, state, **given)),))


def number(value: float) -> Linear:
    return Linear((), value)


@pytest.fixture
def net() -> Network:
    return Network(
        {"b": ["1", "2", "3"], "c": ["no", "yes"], "a": ["x", "y", "z"], "d": ["no", "yes"], "only": ["here"]},
        parents={"a": ["b", "c"], "d": ["c", "only"]},
    )


# Offsets: b 0..2, c 3..4, a 5..22 (configuration = 2·b + c, three states), d 23..26 (configuration = c), only 27.


def constraints_of(
    net: Network, *statements: object, orders: dict[str, Ordered] | None = None
) -> list[LinearConstraint]:
    return list(lower(HandMade(net, statements, orders or {})).linear)


def test_every_kind_of_statement_has_its_rule() -> None:
    assert set(LOWERING_RULES) == set(STATEMENTS)
    assert all(rule.__doc__ for rule in LOWERING_RULES.values())


def test_range_gives_two_constraints_a_configuration(net: Network) -> None:
    statement = Comparison((number(0.1), one("a", "y", b="2", each="c"), number(0.3)), ("<=", "<="))
    assert constraints_of(net, statement) == [
        LinearConstraint((5 + 6 + 1,), (-1.0,), -0.1, 0),
        LinearConstraint((5 + 9 + 1,), (-1.0,), -0.1, 0),
        LinearConstraint((5 + 6 + 1,), (1.0,), 0.3, 0),
        LinearConstraint((5 + 9 + 1,), (1.0,), 0.3, 0),
    ]


def test_each_state_of_a_parent_is_the_same_on_both_sides(net: Network) -> None:
    statement = Comparison(
        (one("a", "x", b="1", each="c"), one("a", "x", b="2", each="c")), (">",), margin=0.05, confidence=0.8
    )
    assert constraints_of(net, statement) == [
        LinearConstraint((11, 5), (1.0, -1.0), -0.05, 0, confidence=0.8),
        LinearConstraint((14, 8), (1.0, -1.0), -0.05, 0, confidence=0.8),
    ]


def test_each_state_of_a_parent_on_one_side_only_ranges_there(net: Network) -> None:
    statement = Comparison((one("d", "no", c="yes", only="here"), one("a", "x", b="1", each="c")), ("<=",))
    assert constraints_of(net, statement) == [
        LinearConstraint((25, 5), (1.0, -1.0), 0.0, 0),
        LinearConstraint((25, 8), (1.0, -1.0), 0.0, 0),
    ]


def test_parameters_that_meet_in_some_configurations_add_up(net: Network) -> None:
    # c is named on the left and free on the right: with c=no both sides are one number and nothing is constrained.
    statement = Comparison((one("a", "x", b="1", c="no"), one("a", "x", b="1", each="c")), ("<=",))
    constraints = lower(HandMade(net, (statement,)))
    assert list(constraints.linear) == [LinearConstraint((5, 8), (1.0, -1.0), 0.0, 0)]
    assert constraints.always_true == {0: 1}


def test_equal_terms_add_up_and_false_ones_stay_as_a_constraint_without_entries(net: Network) -> None:
    doubled = Comparison((Linear(((1.0, p("c", "no")), (2.0, p("c", "no")))), number(0.5)), ("<=",))
    same = Comparison((one("c", "no"), one("c", "no")), ("<=",))
    apart = Comparison((one("c", "no"), one("c", "no")), (">=",), margin=0.1)
    constraints = lower(HandMade(net, (doubled, same, apart)))
    added = LinearConstraint((3,), (1.0,), 0.5 / 3.0, 0, scale=3.0)
    assert list(constraints.linear) == [added, LinearConstraint((), (), -0.1, 2)]
    assert constraints.always_true == {1: 1}


def test_sets_of_states_sum(net: Network) -> None:
    statement = Comparison((one("b", "1 2"), one("b", "2 3")), ("<=",))
    assert constraints_of(net, statement) == [LinearConstraint((0, 2), (1.0, -1.0), 0.0, 0)]


def test_equality_and_approximation(net: Network) -> None:
    exact = Comparison((one("b", "1"), one("b", "2")), ("=",))
    about = Approximation(one("b", "1"), one("b", "2"), 0.05)
    assert constraints_of(net, exact, about) == [
        LinearConstraint((0, 1), (1.0, -1.0), 0.0, 0, equality=True),
        LinearConstraint((0, 1), (1.0, -1.0), 0.05, 1),
        LinearConstraint((1, 0), (1.0, -1.0), 0.05, 1),
    ]


def test_influence_over_cumulative_sums_with_reversed_orders(net: Network) -> None:
    orders = {"a": Ordered(("z", "y", "x")), "c": Ordered(("yes", "no"))}
    found = constraints_of(net, Influence("c", "a", "raises", margin=0.1), orders=orders)
    # b=1: low is c=yes (parameters 8..10), high is c=no (5..7); thresholds {z}, {z, y}.
    assert found[0] == LinearConstraint((7, 10), (1.0, -1.0), -0.1, 0)
    assert found[3] == LinearConstraint((7, 6, 10, 9), (1.0, 1.0, -1.0, -1.0), -0.1, 0)
    assert len(found) == 3 * 2


def test_synergy_is_equation_five_and_both_monotonicities() -> None:
    net = Network({"x": list("01"), "y": list("01"), "t": list("01")}, parents={"t": ["x", "y"]})
    # t given (x, y): low states at 4, 6, 8, 10 for 00, 01, 10, 11.
    up = constraints_of(net, Synergy(("x", "y"), "t", "synergize", margin=0.2))
    assert [set(zip(constraint.indices, constraint.coefficients, strict=True)) for constraint in up] == [
        {(8, 1.0), (4, -1.0)},
        {(10, 1.0), (6, -1.0)},
        {(6, 1.0), (4, -1.0)},
        {(10, 1.0), (8, -1.0)},
        {(4, 1.0), (10, 1.0), (8, -1.0), (6, -1.0)},
    ]
    assert [constraint.bound for constraint in up] == [0.0, 0.0, 0.0, 0.0, -0.2]
    down = constraints_of(net, Influence("x", "t", "lowers"), Synergy(("x", "y"), "t", "synergize"))
    assert dict(zip(down[-1].indices, down[-1].coefficients, strict=True)) == {4: -1.0, 10: -1.0, 8: 1.0, 6: 1.0}


def test_products_are_linear_in_logarithms() -> None:
    net = Network({"b": list("1234"), "a": list("xy")}, parents={"a": ["b"]})
    left = Product((p("a", "x", b="1"), p("a", "x", b="4")), 2.0)
    right = Product((p("a", "x", b="2"), p("a", "x", b="3")))
    constraints = lower(HandMade(net, (Comparison((left, right), ("=",)),)))
    there = ProductConstraint((4, 10, 6, 8), (1.0, 1.0, -1.0, -1.0), -log(2.0), 0)
    back = ProductConstraint((6, 8, 4, 10), (1.0, 1.0, -1.0, -1.0), log(2.0), 0)
    assert constraints.products == (there, back)


def test_products_that_are_linear_after_all_and_constants_without_logarithm() -> None:
    net = Network({"b": list("12"), "a": list("xy")}, parents={"a": ["b"]})
    u, v = p("a", "x", b="1"), p("a", "x", b="2")
    shared = Comparison((Product((u, v)), Linear(((0.5, v),))), ("<=",))
    vanishing = Comparison((Product((u, v)), number(0.0)), ("<=",))
    always = Comparison((Product((u, v)), number(-0.5)), (">=",))
    never = Comparison((Product((u, v)), number(-0.5)), ("<=",))
    constraints = lower(HandMade(net, (shared, vanishing, always, never)))
    assert constraints.linear[0] == LinearConstraint((2,), (1.0,), pytest.approx(0.5), 0)
    assert constraints.products[0] == ProductConstraint((2, 4), (1.0, 1.0), -inf, 1)
    assert constraints.always_true == {2: 1}
    assert LinearConstraint((), (), -0.5, 3) in list(constraints.linear)


def test_the_eight_types_of_guo() -> None:
    net = Network({"b": list("1234"), "a": list("xy"), "i": list("xy")}, parents={"a": ["b"], "i": ["b"]})

    def a(b: str, state: str = "x") -> tuple[float, Probability]:
        return (1.0, p("a", state, b=b))

    types = {
        1: Comparison((Linear((a("1"),)), Linear((a("1", "y"),))), ("<=",)),
        2: Comparison((Linear((a("1"),)), one("i", "y", b="2")), ("<=",)),
        3: Comparison((Linear((a("1"), a("1", "y"))), number(1.0)), ("=",)),
        4: Comparison((Linear((a("1"), a("2"))), Linear((a("3"), a("4")))), ("<=",)),
        5: Comparison((Linear((a("1"),)), Linear((a("2"),))), ("<=",)),
        6: Approximation(Linear((a("1"),)), one("i", "y", b="2"), 0.1),
        7: Comparison((number(0.2), Linear((a("1"),)), number(0.4)), ("<=", "<=")),
        8: Comparison((Product((a("1")[1], a("2")[1])), Product((a("3")[1], a("4")[1]))), ("<=",)),
    }
    constraints = lower(HandMade(net, tuple(types.values())))
    assert np.bincount(constraints.linear.statements, minlength=8).tolist() == [1, 1, 1, 1, 1, 2, 2, 0]
    assert [product.statement for product in constraints.products] == [7]


def test_forms_ties_and_orders_make_no_constraints_themselves_and_a_family_of_seventy_parents_is_never_expanded() -> (
    None
):
    causes = [f"c{i}" for i in range(70)]
    net = Network(
        {**{cause: ["no", "yes"] for cause in causes}, "t": ["no", "yes"], "u": ["no", "yes"]},
        parents={"t": causes, "u": ["c0"]},
    )
    statements = (
        NoisyFamily("t", "noisy-or", tuple((cause,) for cause in causes), general_effects=True),
        Influence("c0", "t", "raises"),
        Comparison((Linear(((1.0, replace(p("t", "yes", c0="yes"), alone=True)),)), number(0.5)), (">=",)),
        Influence("c0", "u", "raises"),
        TiedRows(("u",), rows=(2, 4)),
        TiedRows(("u",), by="match", differ=True),
        Order("u", ("no", "yes")),
    )
    constraints = lower(HandMade(net, statements))
    assert not constraints.unlowered
    assert constraints.linear.statements.tolist() == [1, 2, 3]
    assert constraints.layout.size < 500
    assert constraints.forms[0].child == "t"
    assert constraints.ties == (RowTie(("u",), None, (2, 4), 4), RowTie(("u",), "match", (), 5, differ=True))


def test_too_many_constraints_are_refused_before_they_are_made() -> None:
    causes = [f"c{i}" for i in range(40)]
    net = Network({**{cause: ["no", "yes"] for cause in causes}, "t": ["no", "yes"]}, parents={"t": causes})
    with pytest.raises(TooLargeError, match="549,755,813,888 constraints") as caught:
        lower(HandMade(net, (Influence("c0", "t", "raises"),)))
    assert caught.value.bytes_needed > 1e12


# The direct meaning, on random tables -------------------------------------------------------------------------------


def random_network(rng: np.random.Generator) -> Network:
    names = ["u", "v", "w", "t", "s"]
    sizes = {name: int(rng.integers(1 if name == "w" else 2, 4)) for name in names}
    states = {name: [f"{name}{i}" for i in range(size)] for name, size in sizes.items()}
    parents = {"t": list(rng.permutation(["u", "v", "w"])), "s": ["v", "u"], "v": ["u"] if rng.random() < 0.5 else []}
    return Network(states, parents)


def random_tables(rng: np.random.Generator, net: Network, grain: int) -> Network:
    """Tables of multiples of 1/grain, so that equalities hold now and then; sorted at times, so that influences do."""
    tables = {}
    for name in net.names:
        shape = net.shape(name)
        flat = rng.multinomial(grain, rng.dirichlet(np.ones(shape[-1])), size=int(np.prod(shape[:-1]))) / grain
        if rng.random() < 0.5:
            tail = np.sort(np.cumsum(flat, axis=1), axis=0)[:: rng.choice([-1, 1])]
            flat = np.diff(tail, axis=1, prepend=0.0)
        tables[name] = flat.reshape(shape)
    return net.with_cpts(tables)


def random_probability(rng: np.random.Generator, net: Network) -> Probability:
    name = str(rng.choice(["t", "t", "s", "v"]))
    given = tuple((q, str(rng.choice(net.states(q)))) for q in rng.permutation(net.parents[name]) if rng.random() < 0.6)
    states = net.states(name)
    count = int(rng.integers(1, len(states))) if len(states) > 1 else 1
    each = tuple(q for q in net.parents[name] if q not in dict(given))
    return Probability(name, tuple(str(s) for s in rng.choice(states, count, replace=False)), given, each)


def random_linear(rng: np.random.Generator, net: Network) -> Linear:
    if rng.random() < 0.2:
        return number(round(float(rng.random()), 1))
    coefficients = rng.choice([1.0, 1.0, 1.0, 2.0, -1.0], size=int(rng.integers(1, 3)))
    constant = float(rng.choice([0.0, 0.0, 0.25]))
    return Linear(tuple((float(c), random_probability(rng, net)) for c in coefficients), constant)


def random_product(rng: np.random.Generator, net: Network) -> Product | Linear:
    if rng.random() < 0.3:
        return number(float(rng.choice([-0.5, 0.0, 0.1, 0.5])))
    factors = [random_probability(rng, net) for _ in range(2)]
    coefficient = float(rng.choice([1.0, 1.0, 2.0, 0.5, -1.0]))
    return Product(tuple(replace(factor, states=factor.states[:1]) for factor in factors), coefficient)


def random_statement(rng: np.random.Generator, net: Network) -> object:
    margin = float(rng.choice([0.0, 0.0, 0.1]))
    kind = rng.integers(6)
    if kind == 0:
        length = int(rng.integers(2, 4))
        relations = tuple(rng.choice(["<=", "<", ">=", ">", "="], size=length - 1))
        return Comparison(tuple(random_linear(rng, net) for _ in range(length)), relations, margin)
    if kind == 1:
        return Approximation(random_linear(rng, net), random_linear(rng, net), float(rng.choice([0.1, 0.4])))
    if kind in (2, 3):
        child = str(rng.choice(["t", "s"]))
        direction = str(rng.choice(["raises", "lowers"]))
        return Influence(str(rng.choice(net.parents[child])), child, direction, margin)  # type: ignore[arg-type]
    if kind == 4:
        child = str(rng.choice(["t", "s"]))
        parents = tuple(str(q) for q in rng.permutation(net.parents[child])[: rng.integers(2, 4)])
        return Synergy(parents, child, str(rng.choice(["synergize", "sub-synergize"])), margin)  # type: ignore[arg-type]
    return Comparison((random_product(rng, net), random_product(rng, net)), (str(rng.choice(["<=", ">="])),))  # type: ignore[arg-type]


def constraints_hold(knowledge: HandMade, theta: np.ndarray, statement: int) -> bool:
    constraints = lower(knowledge)
    linear = constraints.linear.take(constraints.linear.statements == statement)
    values = linear.values(theta) - linear.bounds
    if not np.all(np.where(linear.equality, np.abs(values), values) <= 1e-9):
        return False
    with np.errstate(divide="ignore"):
        logs = np.log(theta)
    for product in constraints.products:
        up = sum(e * logs[i] for i, e in zip(product.indices, product.exponents, strict=True) if e > 0)
        down = sum(-e * logs[i] for i, e in zip(product.indices, product.exponents, strict=True) if e < 0)
        if product.statement == statement and not up <= product.log_bound + down + 1e-9:
            return False
    return True


@pytest.mark.parametrize("seed", range(40))
def test_constraints_mean_what_the_statement_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    seen = {True: 0, False: 0}
    for _ in range(60):
        net = random_tables(rng, random_network(rng), int(rng.choice([2, 4, 1000])))
        orders = {name: Ordered(tuple(str(s) for s in rng.permutation(net.states(name)))) for name in ("t", "u")}
        statement = random_statement(rng, net)
        statements: tuple[object, ...] = (statement,)
        if isinstance(statement, Synergy) and rng.random() < 0.6:
            direction = str(rng.choice(["raises", "lowers"]))
            statements = (statement, Influence(statement.parents[0], statement.child, direction))  # type: ignore[arg-type]
        knowledge = HandMade(net, statements, orders)
        expected = truth(knowledge, statement)
        zero = any(isinstance(side, Product) for side in getattr(statement, "sides", ())) and (theta_of(net) == 0).any()
        if zero:
            continue  # a factor that is zero on both sides cancels in logarithms
        assert constraints_hold(knowledge, theta_of(net), 0) == expected, (statement, orders)
        seen[expected] += 1
    assert min(seen.values()) >= 2


@pytest.mark.parametrize("direction", ["raises", "lowers"])
@pytest.mark.parametrize("kind", ["synergize", "sub-synergize"])
def test_synergy_says_that_one_effect_is_stronger_where_the_other_is_high(direction: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    plain = Network({"x": list("012"), "y": list("012"), "t": list("01")}, parents={"t": ["x", "y"]})
    agreed = 0
    for _ in range(200):
        f, g = np.sort(rng.random(3)), np.sort(rng.random(3))
        strength = np.outer(f, g) if rng.random() < 0.5 else 1 - np.outer(1 - f, 1 - g)  # effects grow, or fade
        high = strength if direction == "raises" else 1 - strength
        tables = {"x": np.full(3, 1 / 3), "y": np.full(3, 1 / 3), "t": np.stack((1 - high, high), axis=2)}
        net = plain.with_cpts(tables)
        statements = (Synergy(("x", "y"), "t", kind), Influence("y", "t", direction))  # type: ignore[arg-type]
        knowledge = HandMade(net, statements)
        expected = truth(knowledge, statements[0])
        assert constraints_hold(knowledge, theta_of(net), 0) == expected
        agreed += expected
    assert 60 < agreed < 140
