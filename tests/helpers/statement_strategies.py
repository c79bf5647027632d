"""Random statements for property tests: over names of any kind, or over a network."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import strategies as st

from credo.knowledge.expressions import Linear, Probability, Product
from credo.knowledge.statements import Approximation, Comparison, Influence, NoisyFamily, Order, Synergy, TiedRows

KEYWORDS = [
    "raises",
    "lowers",
    "P",
    "in",
    "and",
    "order",
    "rows",
    "with",
    "by",
    "within",
    "is",
    "of",
    "noisy-or",
    "share",
    "differ",
]
ODD = ["a b", "a-b", "x.y", "1.0", "<5", "12+", "-1", "5-12", "A/B", 'say "hi"', "it's", "back\\slash", "年齢", "größe",
       "a\nb", "tab\t", "\x07", "#",
       "|", "=", "{x}", "a,b", "e\u0301", "\u200b", " ", "P(x=y)", "..", "-", "+", "\ud800", "🫀"]  # fmt: skip

nasty_names = st.one_of(
    st.sampled_from(KEYWORDS),
    st.sampled_from(ODD),
    st.text(st.characters(), min_size=1, max_size=8),
    st.from_regex(r"[a-z]{1,6}", fullmatch=True),
)
coefficients = st.one_of(
    st.sampled_from([1.0, -1.0, 2.0, 0.5]),
    st.floats(-1e6, 1e6, allow_subnormal=False).filter(bool),
)
confidences = st.one_of(st.none(), st.floats(0.001, 0.999))
margins = st.one_of(st.just(0.0), st.floats(0.001, 1.0))


@st.composite
def statements(draw: st.DrawFn, names: st.SearchStrategy[str]):
    """A statement of any kind that has no mistake of form."""
    kind = draw(st.sampled_from([comparisons, products, approximations, influences, synergies, orders, families, ties]))
    return draw(kind(names))


@st.composite
def probabilities(draw: st.DrawFn, names: st.SearchStrategy[str], most: int = 3) -> Probability:
    states = draw(st.lists(names, min_size=1, max_size=most, unique=True))
    given = draw(st.lists(st.tuples(names, names), max_size=3, unique_by=lambda pair: pair[0]))
    taken = [name for name, _ in given]
    each = draw(st.lists(names.filter(lambda name: name not in taken), max_size=2, unique=True))
    further = draw(st.lists(st.tuples(names, st.tuples(names)), max_size=1))
    other = draw(st.booleans())
    alone = bool(given or each or other) and draw(st.booleans())
    return Probability(draw(names), tuple(states), tuple(given), tuple(each), other, tuple(further), alone)


@st.composite
def sums(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Linear:
    terms = draw(st.lists(st.tuples(coefficients, probabilities(names)), min_size=1, max_size=3))
    return Linear(tuple(terms), draw(st.one_of(st.just(0.0), st.floats(-0.5, 0.5))))


@st.composite
def comparisons(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Comparison:
    """One sum against another whose first probability they do not share, so that the relation is open."""
    left, right = draw(sums(names)), draw(sums(names))
    right = Linear(
        ((3.0, right.terms[0][1]), *right.terms[1:]), right.constant
    )  # no plain sum, which may hold nothing twice
    variable = draw(names)
    fresh = Probability(variable, ("open",), ())
    left = Linear(((7e6, fresh), (-7e6, Probability(variable, ("open too",), ())), *left.terms), left.constant)
    relation = draw(st.sampled_from(["<=", "<", ">=", ">", "="]))
    margin = 0.0 if relation == "=" else draw(margins)
    return Comparison((left, right), (relation,), margin, draw(confidences))


@st.composite
def products(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Comparison:
    one = probabilities(names, most=1)
    sides = tuple(Product((draw(one), draw(one)), draw(st.floats(0.001, 100))) for _ in range(draw(st.integers(2, 3))))
    relations = (draw(st.sampled_from(["<=", "<", ">=", ">"])),) * (len(sides) - 1)
    if any(left == right for left, right in pairwise(sides)):
        sides = (*sides[:1], Linear((), 0.25), *sides[2:])
    return Comparison(sides, relations, 0.0, draw(confidences))


@st.composite
def approximations(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Approximation:
    first, second = draw(probabilities(names)), draw(probabilities(names))
    left, right = Linear(((1.0, first),)), Linear(((1.0, second),))
    return Approximation(left, right, draw(st.floats(0.001, 1.0)), draw(confidences))


@st.composite
def influences(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Influence:
    parent, child = draw(st.lists(names, min_size=2, max_size=2, unique=True))
    return Influence(parent, child, draw(st.sampled_from(["raises", "lowers"])), draw(margins), draw(confidences))


@st.composite
def synergies(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Synergy:
    child, *parents = draw(st.lists(names, min_size=3, max_size=5, unique=True))
    kind = draw(st.sampled_from(["synergize", "sub-synergize"]))
    return Synergy(tuple(parents), child, kind, draw(margins), draw(confidences))


@st.composite
def orders(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Order:
    return Order(draw(names), tuple(draw(st.lists(names, min_size=1, max_size=5, unique=True))))


@st.composite
def families(draw: st.DrawFn, names: st.SearchStrategy[str]) -> NoisyFamily:
    child, *members = draw(st.lists(names, min_size=2, max_size=6, unique=True))
    cut = draw(st.integers(0, len(members) - 1))
    sets = tuple(tuple(part) for part in (members[:cut], members[cut:]) if part)
    kind = draw(st.sampled_from(["noisy-or", "noisy-and", "noisy-max", "noisy-min"]))
    return NoisyFamily(child, kind, sets, draw(st.booleans()), draw(st.booleans()))


@st.composite
def ties(draw: st.DrawFn, names: st.SearchStrategy[str]) -> TiedRows:
    by, *variables = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    differ = draw(st.booleans())
    if draw(st.booleans()):
        return TiedRows(tuple(variables), by=by, differ=differ)
    rows = draw(st.lists(st.integers(1, 10**9), min_size=2, max_size=5, unique=True))
    return TiedRows(tuple(variables), rows=tuple(rows), differ=differ)
