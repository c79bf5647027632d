"""Networks, valid and broken texts that several tests of the knowledge language use."""

from __future__ import annotations

import re
from typing import NamedTuple

from credo import CutPoints, Network, Variable
from credo.knowledge.decisions import CostDeclaration, DecisionDeclaration, UtilityDeclaration
from credo.knowledge.declarations import (
    CutDeclaration,
    DependenceDeclaration,
    MissingValuesDeclaration,
    VariableDeclaration,
)
from credo.knowledge.expressions import Linear, Probability, Product
from credo.knowledge.gate import GateTerm
from credo.knowledge.labels import GroupDeclaration, LabelDeclaration
from credo.knowledge.names import SeveralStates
from credo.knowledge.ranked_family import GivenCorner, WeightedParent
from credo.knowledge.site import SiteDeclaration
from credo.knowledge.statements import (
    Approximation,
    Comparison,
    EffectStudy,
    ExpertNumber,
    Gate,
    Independence,
    Influence,
    InterpolatedFamily,
    NoisyFamily,
    Order,
    RankedFamily,
    SharedCPT,
    Study,
    Synergy,
    TiedRows,
)

YES_NO = ("yes", "no")


def make_asia() -> Network:
    """The structure of Asia."""
    names = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    parents = {
        "tub": ["asia"],
        "lung": ["smoke"],
        "bronc": ["smoke"],
        "either": ["lung", "tub"],
        "xray": ["either"],
        "dysp": ["bronc", "either"],
    }
    return Network(dict.fromkeys(names, YES_NO), parents, name="asia")


def make_clinic() -> Network:
    """Variables with several states, some of which are not plain words, and names that need quotes."""
    states = {
        "ward": ("a", "b"),
        "dose": ("0.5", "1.0", "2"),
        "age": ("<5", "5-12", "12+"),
        "severity": ("mild", "moderate", "severe"),
        "heart attack": ("no", "yes"),
    }
    parents = {"severity": ["ward", "dose"], "heart attack": ["severity", "age"]}
    return Network(states, parents, name="clinic")


def make_measured() -> Network:
    """Variables whose numbers are cut into states."""
    variables = (
        Variable("age", ("young", "middle", "old"), CutPoints((40, 60))),
        Variable("bp", ("<140", "140+"), CutPoints((140,))),
        Variable("outcome", ("no", "yes")),
    )
    return Network(variables, {"outcome": ["age"]}, name="measured")


NETWORKS = {"asia": make_asia(), "clinic": make_clinic(), "measured": make_measured()}


def probability(variable: str, *states: str, **given_states: str) -> Probability:
    """P(variable in states | given states)."""
    return Probability(variable, states, tuple(given_states.items()))


def one(*states: str, **given_states: str) -> Linear:
    """One probability of the variable `a`."""
    return Linear(((1.0, probability("a", *states, **given_states)),))


def number(value: float) -> Linear:
    """A constant."""
    return Linear((), value)


AX = {f"b{k}": probability("a", "x", b=str(k)) for k in (1, 2, 3, 4)}

FORMS = {
    "P(a=x | b=1) >= 0.9": Comparison((one("x", b="1"), number(0.9)), (">=",)),
    "0.1 <= P(a=x) <= 0.3": Comparison((number(0.1), one("x"), number(0.3)), ("<=", "<=")),
    "10% ≤ P(a=x) ≤ 30%": Comparison((number(0.1), one("x"), number(0.3)), ("<=", "<=")),
    "P(a=x) + P(a=y) <= 0.6": Comparison(
        (Linear(((1.0, probability("a", "x")), (1.0, probability("a", "y")))), number(0.6)), ("<=",)
    ),
    "P(a in {x, y}) <= 0.6": Comparison((one("x", "y"), number(0.6)), ("<=",)),
    "P(a in {x}) <= P(a in {y, z})": Comparison((one("x"), one("y", "z")), ("<=",)),
    "P(a=x | b=1) <= P(a=y | b=1)": Comparison((one("x", b="1"), one("y", b="1")), ("<=",)),
    "P(o2=0 | au2=0) >= P(o23=0 | au23=0)": Comparison(
        (Linear(((1.0, probability("o2", "0", au2="0")),)), Linear(((1.0, probability("o23", "0", au23="0")),))),
        (">=",),
    ),
    "P(a=x|b=1) + P(a=x|b=2) <= P(a=x|b=3) + P(a=x|b=4)": Comparison(
        (Linear(((1.0, AX["b1"]), (1.0, AX["b2"]))), Linear(((1.0, AX["b3"]), (1.0, AX["b4"])))), ("<=",)
    ),
    "P(a=x | b=1) ~ P(a=x | b=2) within 0.05": Approximation(one("x", b="1"), one("x", b="2"), 0.05),
    "P(a=x | b=1) ≈ P(a=x | b=2), within 5%": Approximation(one("x", b="1"), one("x", b="2"), 0.05),
    "P(a=x | b=1) = P(a=x | b=2)": Comparison((one("x", b="1"), one("x", b="2")), ("=",)),
    "P(a=x | b=1) == P(a=x | b=2)": Comparison((one("x", b="1"), one("x", b="2")), ("=",)),
    "2*P(a=x|b=1) - 0.5 <= P(a=x|b=2) / 3": Comparison(
        (Linear(((2.0, AX["b1"]),), -0.5), Linear(((1 / 3, AX["b2"]),))), ("<=",)
    ),
    "-(P(a=x|b=1) - 2*(P(a=x|b=2) + 0.1)) >= -0.5": Comparison(
        (Linear(((-1.0, AX["b1"]), (2.0, AX["b2"])), 0.2), number(-0.5)), (">=",)
    ),
    "P(a=x) <= 1/3": Comparison((one("x"), number(1 / 3)), ("<=",)),
    "P(a=x|b=1) * P(a=x|b=4) <= P(a=x|b=2) * P(a=x|b=3)": Comparison(
        (Product((AX["b1"], AX["b4"])), Product((AX["b2"], AX["b3"]))), ("<=",)
    ),
    "2 × P(a=x|b=1) · P(a=x|b=4) <= 0.5": Comparison((Product((AX["b1"], AX["b4"]), 2.0), number(0.5)), ("<=",)),
    "P(a=x | b=1) > P(a=x | b=2) by at least 0.05 with confidence 0.8": Comparison(
        (one("x", b="1"), one("x", b="2")), (">",), 0.05, 0.8
    ),
    "P(a=x | b=1 and c=2) < 0.3": Comparison((one("x", b="1", c="2"), number(0.3)), ("<",)),
    "smoke raises lung": Influence("smoke", "lung", "raises"),
    "exercise lowers risk": Influence("exercise", "risk", "lowers"),
    "smoke raises lung by at least 0.05 with confidence 0.8": Influence("smoke", "lung", "raises", 0.05, 0.8),
    "smoke raises lung, with confidence 80%  # sure": Influence("smoke", "lung", "raises", 0.0, 0.8),
    "shoe_size does not affect lung with confidence 0.9": Independence("shoe_size", "lung", 0.9),
    "chol and bp synergize on attack": Synergy(("chol", "bp"), "attack", "synergize"),
    "sex and age sub-synergize on chd": Synergy(("sex", "age"), "chd", "sub-synergize"),
    "a, b, and c synergise on d by at least 0.1": Synergy(("a", "b", "c"), "d", "synergize", 0.1),
    "order severity: mild < moderate < severe": Order("severity", ("mild", "moderate", "severe")),
    "order severity: severe > moderate > mild": Order("severity", ("mild", "moderate", "severe")),
    "order age: '<5' < 5-12 < 12+": Order("age", ("<5", "5-12", "12+")),
    "order severity, outcome and pain: low < high": Order("severity", ("low", "high"), ("outcome", "pain")),
    "order t: -1 < 0 < 1.5": Order("t", ("-1", "0", "1.5")),
    "attack is noisy-or of {chol, bp}, {age}, {smoke}": NoisyFamily(
        "attack", "noisy-or", (("chol", "bp"), ("age",), ("smoke",))
    ),
    "attack is noisy-or of {chol, bp}, age, {smoke}, with leak": NoisyFamily(
        "attack", "noisy-or", (("chol", "bp"), ("age",), ("smoke",)), True
    ),
    "attack is a noisy-max of {age} with a leak": NoisyFamily("attack", "noisy-max", (("age",),), True),
    "attack is noisy-and of {age} without leak": NoisyFamily("attack", "noisy-and", (("age",),)),
    "attack is noisy-or of {age} with leak and general effects": NoisyFamily(
        "attack", "noisy-or", (("age",),), True, True
    ),
    "attack is noisy-min of {age}": NoisyFamily("attack", "noisy-min", (("age",),)),
    "top is or of pump1, not pump2": Gate("top", "or", (GateTerm("pump1"), GateTerm("pump2", True))),
    "top is at least 2 of a, b and valve=stuck": Gate(
        "top", "count", (GateTerm("a"), GateTerm("b"), GateTerm("valve", state="stuck")), 2
    ),
    "copy is the same as main": Gate("copy", "same as", (GateTerm("main"),)),
    "spare is not main": Gate("spare", "not", (GateTerm("main"),)),
    "worst is the maximum of a, b": Gate("worst", "max", (GateTerm("a"), GateTerm("b"))),
    "pump1, pump2 and pump3 have one CPT": SharedCPT(("pump1", "pump2", "pump3")),
    "top is and of a, not b with confidence 0.9": Gate("top", "and", (GateTerm("a"), GateTerm("b", True)), 0, 0.9),
    "pump1, pump2 have nearly the same CPT": SharedCPT(("pump1", "pump2"), True),
    "CPT of eye_left is that of eye_right": SharedCPT(("eye_right", "eye_left")),
    "quality is a weighted mean of staff (3), not budget with spread 0.1": RankedFamily(
        "quality", "mean", (WeightedParent("staff", 3.0), WeightedParent("budget", None, True)), 0.1
    ),
    "quality is a weighted max of staff (3), budget (1) with spread 0.1, worth 20 cases": RankedFamily(
        "quality", "max", (WeightedParent("staff", 3.0), WeightedParent("budget", 1.0)), 0.1, 20.0
    ),
    "quality is a weighted min of staff, budget, worth 20 cases": RankedFamily(
        "quality", "min", (WeightedParent("staff"), WeightedParent("budget")), None, 20.0
    ),
    "quality is interpolated by staff, budget from worst 70%, 30% to best 5%, 95% through 50%, 50% at "
    "staff=high, budget=low, worth 5 cases": InterpolatedFamily(
        "quality",
        (WeightedParent("staff"), WeightedParent("budget")),
        (0.7, 0.3),
        (0.05, 0.95),
        5.0,
        (GivenCorner((("staff", "high"), ("budget", "low")), (0.5, 0.5)),),
    ),
    "quality is interpolated by staff (3), budget from worst 70%, 20%, 10% to best 5%, 15%, 80%": InterpolatedFamily(
        "quality", (WeightedParent("staff", 3.0), WeightedParent("budget")), (0.7, 0.2, 0.1), (0.05, 0.15, 0.8)
    ),
    "P(a=x | b=1) is 12%, worth 50 cases": ExpertNumber(Probability("a", ("x",), (("b", "1"),)), (0.12,), 50.0),
    "P(a | b=1) is 20%, 80%, worth 4 cases": ExpertNumber(Probability("a", (), (("b", "1"),)), (0.2, 0.8), 4.0),
    "P(a=x) has median 12%, half between 9% and 16%": ExpertNumber(
        Probability("a", ("x",)), (0.12,), None, 0.09, 0.16, is_median=True
    ),
    'in "trial 2019", 34 of 240 with b=1 had a=x with between-study variation 20%': Study(
        Probability("a", ("x",), (("b", "1"),)), 34.0, 240.0, "trial 2019", 0.2
    ),
    "odds ratio of a=x for b=1 against b=2 is 3.1, 95% CI 1.8 to 5.4": EffectStudy(
        "odds ratio", Probability("a", ("x",), (("b", "1"),)), Probability("a", ("x",), (("b", "2"),)), 3.1, 1.8, 5.4
    ),
    "rows with equal twin_id share variant": TiedRows(("variant",), by="twin_id"),
    "rows with the same 'twin id' share variant, allele and locus": TiedRows(
        ("variant", "allele", "locus"), by="twin id"
    ),
    "rows 2, 4 share variant": TiedRows(("variant",), rows=(2, 4)),
    "rows 2, 4 and 7 share variant": TiedRows(("variant",), rows=(2, 4, 7)),
    "rows 3, 9 differ in variant": TiedRows(("variant",), rows=(3, 9), differ=True),
    "rows 3, 9 and 12 differ  in variant and allele": TiedRows(("variant", "allele"), rows=(3, 9, 12), differ=True),
    "rows with equal match_id differ in variant": TiedRows(("variant",), by="match_id", differ=True),
    "rows with the same differ differ in share": TiedRows(("share",), by="differ", differ=True),
    'P("heart attack"="so, so" | "b|c"=1.0, b.d-e/f=A/B) >= 0.1': Comparison(
        (
            Linear(((1.0, Probability("heart attack", ("so, so",), (("b|c", "1.0"), ("b.d-e/f", "A/B")))),)),
            number(0.1),
        ),
        (">=",),
    ),
    "P raises order-of-things": Influence("P", "order-of-things", "raises"),
    '\'order\' raises "say \\"hi\\""': Influence("order", 'say "hi"', "raises"),
    "größe raises 年齢": Influence("größe", "年齢", "raises"),
}

DECLARED = {
    "variable outcome: no, yes": VariableDeclaration(("outcome",), ("no", "yes")),
    "variables a, b and 'c d': low, 1, '<5'": VariableDeclaration(("a", "b", "c d"), ("low", "1", "<5")),
    "Variable outcome  # its states are in the table": VariableDeclaration(("outcome",)),
    "outcome depends on age, bp": DependenceDeclaration(("outcome",), ("age", "bp")),
    "a and b depend on c": DependenceDeclaration(("a", "b"), ("c",)),
    "age is cut at 40, 60": CutDeclaration("age", (40.0, 60.0)),
    "age is cut at -1.5 and 1e3": CutDeclaration("age", (-1.5, 1000.0)),
    "age is cut at 1e26, 1.5e300": CutDeclaration("age", (1e26, 1.5e300)),
    "age: young < 40 <= middle < 60 <= old": CutDeclaration("age", (40.0, 60.0), ("young", "middle", "old")),
    "bp: normal < 133.5 ≤ 'too high'": CutDeclaration("bp", (133.5,), ("normal", "too high")),
    "age is cut into 4 quantiles": CutDeclaration("age", rule="quantiles", parts=4),
    "age is cut into 3 equal ranges": CutDeclaration("age", rule="equal ranges", parts=3),
    "variable: a < 1 <= b": CutDeclaration("variable", (1.0,), ("a", "b")),
    "label: a < 1 <= b": CutDeclaration("label", (1.0,), ("a", "b")),
    'label outcome=yes: "died, or left"': LabelDeclaration("outcome", "yes", "died, or left"),
    "Label 'b p': pressure, unit mmHg, note \"of two\" source 'the ward'": LabelDeclaration(
        "b p", None, "pressure", "mmHg", "of two", "the ward"
    ),
    "group risks: age and 'b p'  # both": GroupDeclaration("risks", ("age", "b p")),
    "decision treat: no, yes": DecisionDeclaration("treat", ("no", "yes")),
    "Decision 'what to do': wait, 'treat now'": DecisionDeclaration("what to do", ("wait", "treat now")),
    "utility of outcome=yes, treat=no is -100": UtilityDeclaration((("outcome", "yes"), ("treat", "no")), -100.0),
    "The utility of treat=yes is −30.5.": UtilityDeclaration((("treat", "yes"),), -30.5),
    "utility of outcome in {mild, bad} and treat=yes is 4e2": UtilityDeclaration(
        (("outcome", SeveralStates.of(("mild", "bad"))), ("treat", "yes")), 400.0
    ),
    "cost of ecg is 2": CostDeclaration("ecg", 2.0),
    "costs of 'b p' is 0.25": CostDeclaration("b p", 0.25),
    "site: hospital": SiteDeclaration("hospital"),
    "Sites: hospital.": SiteDeclaration("hospital"),
    "Site: 'the ward' for lung and bronc  # where a row comes from": SiteDeclaration("the ward", ("lung", "bronc")),
    "site: a < 1 <= b": CutDeclaration("site", (1.0,), ("a", "b")),
    "missing values: -999, n/a, '?'  # codes": MissingValuesDeclaration(("-999", "n/a", "'?'")),
    'Missing value is "a, b"': MissingValuesDeclaration(("a, b",)),
}

# Statements about Asia.
LINES = [
    "smoke raises lung by at least 0.05 with confidence 0.8",
    "P(lung=yes | smoke=yes) >= 0.05",
    "0.1 <= P(smoke=yes) <= 0.6",
    "bronc and either sub-synergize on dysp",
    "dysp is noisy-or of {bronc}, {either} with leak",
    "order lung: no < yes",
    "rows with equal twin_id share lung, tub",
    "rows 2, 4 share lung",
    "rows with equal match_id differ in lung",
    "rows 3, 9 differ in lung, tub",
    "P(lung=yes | smoke=yes) ~ P(bronc=yes | smoke=no) within 0.3",
    "2*P(lung=yes) - P(bronc=yes | smoke=no) + 0.25 <= 0.5",
]


class Example(NamedTuple):
    """A broken text, and the position of the mistake in it."""

    text: str
    line: int
    column: int
    end_column: int


def marked(example: str) -> Example:
    """The text of an example without its caret line, and the position of the carets."""
    text: list[str] = []
    place = (0, 0, 0)
    for line in example.rstrip("\n").split("\n"):
        if re.fullmatch(r"[ ^]*\^[ ^]*", line):
            place = (len(text), line.index("^") + 1, len(line) + 1)
        else:
            text.append(line)
    return Example("\n".join(text), *place)
