"""The eleven domains of table 2: how each column became a binary feature, what is stated about it, and why.

The paper names its targets, sizes and numbers of parents, but the features and statements only for breast cancer; those
of the other domains are ours. They were written before anything was learned, from what is known about the domain and
the columns, and were not changed afterwards, even if the data contradict them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feature:
    """A column as a binary feature, and the direction of its effect on the target.

    It is high if its value is at least `at_least` (the lower end, for intervals; None stands for the median), or if it
    is one of `among`.
    """

    name: str
    column: str
    effect: str  # raises, lowers
    why: str
    at_least: float | None = None
    among: tuple[str, ...] = ()

    @property
    def rule(self) -> str:
        """When the feature is high, in words."""
        if self.among:
            return f"{self.column} is {' or '.join(self.among)}"
        return f"{self.column} ≥ {'the median' if self.at_least is None else f'{self.at_least:g}'}"


@dataclass(frozen=True, slots=True)
class Group:
    """Features that form one set of causes of the noisy-OR; two features also have a synergy."""

    names: tuple[str, ...]
    how: str = ""  # synergize, sub-synergize
    why: str = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain of table 2."""

    name: str
    table: str
    target: str
    column: str
    positive: tuple[str, ...]  # labels that count as positive
    rows: int  # as in the paper
    features: tuple[Feature, ...]
    groups: tuple[Group, ...]
    without: tuple[str, ...] = ()  # labels whose rows are excluded
    zero_is_missing: bool = False

    @property
    def monotone(self) -> str:
        """One statement for each feature."""
        return "\n".join(f"{feature.name} {feature.effect} {self.target}" for feature in self.features)

    @property
    def synergies(self) -> str:
        """One statement for each pair with a synergy."""
        pairs = [group for group in self.groups if group.how]
        return "\n".join(f"{' and '.join(group.names)} {group.how} on {self.target}" for group in pairs)

    @property
    def noisy(self) -> str:
        """The target as a noisy-OR of the groups."""
        sets = ", ".join(f"{{{', '.join(group.names)}}}" for group in self.groups)
        return f"{self.target} is noisy-or of {sets} with general effects"


HEART = Domain(
    "Heart Disease", "heart_cleveland", "disease", "num", ("1", "2", "3", "4"), 297,
    (
        Feature("old", "age", "raises", "vessels narrow with age", 55),
        Feature("male", "sex", "raises", "more common in men [yang, citing Jousilahti]", among=("1",)),
        Feature("cholesterol", "chol", "raises", "from 240 mg/dl on it is called high", 240),
        Feature("pressure", "trestbps", "raises", "from 140 mmHg on it is hypertension", 140),
        Feature("angina", "exang", "raises", "pain under exercise is a sign of narrow vessels", among=("1",)),
    ),
    (
        Group(("old", "male"), "sub-synergize", "the risk grows with age more sharply in women [yang]"),
        Group(("cholesterol", "pressure"), "synergize", "the paper's own example of synergy"),
        Group(("angina",)),
    ),
)  # fmt: skip

BREAST = Domain(
    "Breast Cancer", "breast_cancer", "recurrence", "Class", ("recurrence-events",), 286,
    (
        Feature("older", "age", "raises", "as in the paper, figure 2", 50),
        Feature("postmenopausal", "menopause", "raises", "as in the paper, figure 2", among=("ge40", "lt40")),
        Feature("large", "tumor-size", "raises", "as in the paper; cut in the middle of the sizes", 25),
        Feature("malignant", "deg-malig", "raises", "as in the paper; grade 3 of 3", 3),
        Feature("irradiated", "irradiat", "lowers", "as in the paper: what irradiation is for", among=("yes",)),
    ),
    (
        Group(("older", "postmenopausal"), "synergize", "as in the paper, figure 2"),
        Group(("large", "malignant"), "sub-synergize", "as in the paper, figure 2"),
        Group(("irradiated",)),
    ),
)  # fmt: skip

CREDIT = Domain(
    "Credit Approval", "credit_approval", "approval", "A16", ("+",), 300,
    (
        Feature("record", "A9", "raises", "known as: no earlier default", among=("t",)),
        Feature("score", "A11", "raises", "known as: credit score", 3),
        Feature("years", "A8", "raises", "known as: years employed", 1),
        Feature("employed", "A10", "raises", "known as: employed", among=("t",)),
        Feature("income", "A15", "raises", "known as: income", 100),
    ),
    (
        Group(("record", "score"), "synergize", "a score counts only with a clean record"),
        Group(("years", "employed"), "synergize", "years of work count more while there is work"),
        Group(("income",)),
    ),
)  # fmt: skip

CAR = Domain(
    "Car Evaluation", "car", "acceptable", "class", ("acc", "good", "vgood"), 300,
    (
        Feature("seats", "persons", "raises", "two seats are too few for most", among=("4", "more")),
        Feature("safety", "safety", "raises", "nobody wants an unsafe car", among=("med", "high")),
        Feature("dear", "buying", "lowers", "a high price", among=("high", "vhigh")),
        Feature("upkeep", "maint", "lowers", "a high price of maintenance", among=("high", "vhigh")),
        Feature("doors", "doors", "raises", "more doors are handy", among=("4", "5more")),
        Feature("boot", "lug_boot", "raises", "more room for luggage", among=("med", "big")),
    ),
    (
        Group(("seats", "safety"), "synergize", "each is worth little without the other"),
        Group(("dear", "upkeep"), "synergize", "one high price can be borne, two cannot"),
        Group(("doors", "boot"), "sub-synergize", "either makes loading easy"),
    ),
)  # fmt: skip

PIMA = Domain(
    "Pima Indian Diabetes", "pima_diabetes", "diabetes", "class", ("tested_positive",), 300,
    (
        Feature("glucose", "plas", "raises", "from 140 mg/dl after two hours on, tolerance is impaired", 140),
        Feature("obese", "mass", "raises", "from a body mass index of 30 on", 30),
        Feature("old", "age", "raises", "the disease comes with age", 40),
        Feature("family", "pedi", "raises", "cases in the family, weighed by kinship", 0.5),
    ),
    (
        Group(("glucose", "obese"), "synergize", "obesity harms most where tolerance is impaired already"),
        Group(("old", "family"), "sub-synergize", "what is inherited shows early"),
    ),
    zero_is_missing=True,
)  # fmt: skip

CENSUS = Domain(
    "Census Income", "adult_sample5000", "rich", "income", (">50K",), 300,
    (
        Feature("educated", "education_num", "raises", "a bachelor's degree or more", 13),
        Feature(
            "skilled", "occupation", "raises", "work that is paid for knowledge",
            among=("Prof-specialty", "Exec-managerial", "Tech-support"),
        ),
        Feature("experienced", "age", "raises", "pay rises over a career", 35),
        Feature("overtime", "hours_per_week", "raises", "more hours, more pay", 41),
        Feature("married", "marital_status", "raises", "the settled earn more",
                among=("Married-civ-spouse", "Married-AF-spouse")),
        Feature("male", "sex", "raises", "men were paid more", among=("Male",)),
        Feature("gains", "capital_gain", "raises", "only those with capital gain from it", 1),
    ),
    (
        Group(("educated", "skilled"), "synergize", "a degree pays in work that needs it"),
        Group(("experienced", "overtime"), "synergize", "the hours of the experienced are dearer"),
        Group(("married", "male"), "sub-synergize", "either goes with being the one who earns"),
        Group(("gains",)),
    ),
)  # fmt: skip

IRIS = Domain(
    "Iris", "iris", "virginica", "class", ("Iris-virginica",), 100,
    (
        Feature("petal_long", "petallength", "raises", "virginica has the larger flower"),
        Feature("petal_wide", "petalwidth", "raises", "virginica has the larger flower"),
        Feature("sepal_long", "sepallength", "raises", "virginica has the larger flower"),
        Feature("sepal_wide", "sepalwidth", "raises", "virginica has the larger flower"),
    ),
    (
        Group(("petal_long", "petal_wide"), "sub-synergize", "petals grow in both directions: one tells the other"),
        Group(("sepal_long", "sepal_wide"), "synergize", "a sepal is large where it is long and wide"),
    ),
    without=("Iris-setosa",),
)  # fmt: skip

GLASS = Domain(
    "Glass Identification", "glass", "nonfloat", "Type", ("build wind non-float",), 146,
    (
        Feature("alumina", "Al", "raises", "float glass is made with little alumina"),
        Feature("potash", "K", "raises", "comes with the alumina of feldspar"),
        Feature("magnesia", "Mg", "lowers", "the recipe of float glass asks for it"),
        Feature("refraction", "RI", "lowers", "float glass refracts a little more"),
        Feature("iron", "Fe", "raises", "older furnaces took less pure sand", 0.1),
    ),
    (
        Group(("alumina", "potash"), "sub-synergize", "both come from feldspar: one tells the other"),
        Group(("magnesia", "refraction"), "sub-synergize", "either points to the recipe of float glass"),
        Group(("iron",)),
    ),
    without=("headlamps", "vehic wind float", "containers", "tableware"),
)  # fmt: skip

ECOLI = Domain(
    "Ecoli", "ecoli", "membrane", "class", ("im", "imU", "imS", "imL", "om", "omL"), 284,
    (
        Feature("spanning", "alm1", "raises", "a score for regions that span membranes; scores go from 0 to 1", 0.5),
        Feature("spanning_rest", "alm2", "raises", "the same score without the signal", 0.5),
        Feature("signal", "mcg", "raises", "a score for signal sequences, which lead out of the plasm", 0.5),
        Feature("signal_heijne", "gvh", "raises", "another score for signal sequences", 0.5),
        Feature("outer", "aac", "raises", "a score for the amino acids of outer proteins", 0.5),
    ),
    (
        Group(("spanning", "spanning_rest"), "sub-synergize", "two scores of one thing"),
        Group(("signal", "signal_heijne"), "sub-synergize", "two scores of one thing"),
        Group(("outer",)),
    ),
    without=("pp",),
)  # fmt: skip

THYROID = Domain(
    "Thyroid Disease", "new_thyroid", "hyperthyroid", "class", ("2",), 185,
    (
        Feature("thyroxin", "total_thyroxin", "raises", "above the normal range, which ends at 12.5 µg/dl", 12.5),
        Feature("triiodothyronine", "total_triiodothyronine", "raises", "above normal, which ends near 2 ng/ml", 2),
        Feature("uptake", "T3_resin_uptake", "raises", "above normal, which ends near 115%", 115),
        Feature("tsh", "basal_TSH", "lowers", "hormone in excess stops TSH; below 1 it is low", 1),
        Feature("response", "max_TSH_diff", "lowers", "and its answer to TRH, which is blunted below 2", 2),
    ),
    (
        Group(("thyroxin", "triiodothyronine"), "sub-synergize", "either hormone in excess is the disease"),
        Group(("tsh", "response"), "sub-synergize", "either shows that the pituitary is not held back"),
        Group(("uptake",)),
    ),
    without=("3",),
)  # fmt: skip

HEPATITIS = Domain(
    "Hepatitis", "hepatitis", "death", "Class", ("1",), 144,
    (
        # 1 means yes, contrary to the documentation of the file: otherwise seven of eight patients would have ascites.
        Feature("ascites", "ASCITES", "raises", "fluid: the liver fails", among=("1",)),
        Feature("varices", "VARICES", "raises", "veins that may bleed", among=("1",)),
        Feature("jaundice", "BILIRUBIN", "raises", "from 2 mg/dl on it is seen", 2),
        Feature("damage", "SGOT", "raises", "cells of the liver die", 100),
        Feature("spiders", "SPIDERS", "raises", "a sign of chronic disease", among=("1",)),
    ),
    (
        Group(("ascites", "varices"), "sub-synergize", "both come from pressure in the portal vein"),
        Group(("jaundice", "damage"), "synergize", "damage matters most where the liver does not keep up"),
        Group(("spiders",)),
    ),
)  # fmt: skip

DOMAINS = {
    each.name: each
    for each in (HEART, BREAST, CREDIT, CAR, PIMA, CENSUS, IRIS, GLASS, ECOLI, THYROID, HEPATITIS)
}  # fmt: skip
