"""The seventeen tables: Yang's eleven domains, and six more whose features and statements are written down here.

Statements about the six were written from what the columns mean, before anything was learned. A feature whose effect is
not common knowledge, or whose coding is in doubt, has none: its effect is "". Categories become 0 and 1, numbers stay
numbers, for all learners alike.
"""

from __future__ import annotations

from experiments.yang.domains import DOMAINS, Domain, Feature

# Drawn by numpy.random.default_rng(17).permutation over the names in this order: the default of the classifier was
# designed on these five, and judged on the other twelve.
DESIGN_SEED, DESIGN_TABLES = 17, 5


def _yes(name: str, column: str, effect: str, why: str, *among: str) -> Feature:
    return Feature(name, column, effect, why, among=among or ("yes",))


GERMAN = Domain(
    "German Credit", "credit_g", "default", "class", ("bad",), 1000,
    (
        _yes("overdrawn", "checking_status", "raises", "an account in the red", "<0"),
        _yes("no_account", "checking_status", "", "", "no checking"),
        Feature("duration", "duration", "raises", "more time in which something can happen"),
        Feature("amount", "credit_amount", "raises", "more to pay back"),
        Feature("rate", "installment_commitment", "raises", "a larger share of the income"),
        Feature("age", "age", "lowers", "the young are poorer"),
        _yes("savings", "savings_status", "lowers", "something to fall back on", ">=1000", "500<=X<1000"),
        _yes("steady", "employment", "lowers", "four years in one place", ">=7", "4<=X<7"),
        _yes("owner", "housing", "lowers", "owns a home", "own"),
        _yes("property", "property_magnitude", "lowers", "owns land", "real estate"),
        _yes("plans", "other_payment_plans", "raises", "pays elsewhere too", "bank", "stores"),
        _yes("guarantor", "other_parties", "lowers", "somebody else answers for it", "guarantor"),
        _yes("critical", "credit_history", "", "", "critical/other existing credit"),
    ),
    (),
)  # fmt: skip

LYMPHOGRAPHY = Domain(
    "Lymphography", "lymphography", "lymphoma", "class", ("malign_lymph",), 142,
    (
        Feature("enlarged", "lym_nodes_enlar", "raises", "nodes grow in a lymphoma"),
        Feature("nodes", "no_of_nodes_in", "", ""),
        _yes("block", "block_of_affere", "lowers", "what grows in from elsewhere blocks the vessels"),
        _yes("block_c", "bl_of_lymph_c", "", ""),
        _yes("bypass", "by_pass", "", ""),
        _yes("extravasates", "extravasates", "", ""),
        _yes("uptake", "early_uptake_in", "", ""),
        _yes("round", "changes_in_lym", "", "", "round"),
        _yes("lacunar", "changes_in_node", "", "", "lacunar"),
        _yes("vesicles", "special_forms", "", "", "vesicles"),
        _yes("dislocation", "dislocation_of", "", ""),
        _yes("exclusion", "exclusion_of_no", "", ""),
    ),
    (),
    without=("fibrosis", "normal"),
)  # fmt: skip

TUMOR = Domain(
    "Primary Tumor", "primary_tumor", "lung_cancer", "class", ("lung",), 339,
    (
        _yes("old", "age", "", "", ">=60"),
        _yes("male", "sex", "raises", "men smoked more", "male"),
        _yes("squamous", "histologic-type", "raises", "a common type in the lung", "epidermoid", "anaplastic"),
        _yes("bone", "bone", "", ""),
        _yes("lung", "lung", "", ""),
        _yes("pleura", "pleura", "raises", "lies beside the lung"),
        _yes("peritoneum", "peritoneum", "lowers", "lies beside the organs of the abdomen"),
        _yes("liver", "liver", "", ""),
        _yes("brain", "brain", "raises", "cancer of the lung spreads there"),
        _yes("neck", "neck", "", ""),
        _yes("supraclavicular", "supraclavicular", "raises", "nodes above the lung"),
        _yes("axillar", "axillar", "lowers", "nodes of the breast"),
        _yes("mediastinum", "mediastinum", "raises", "lies between the lungs"),
        _yes("abdominal", "abdominal", "lowers", "nodes of the abdomen"),
    ),
    (),
)  # fmt: skip

SOYBEAN = Domain(
    "Soybean", "soybean", "brown_spot", "class", ("brown-spot",), 274,
    (
        _yes("early", "date", "raises", "it begins on the lower leaves of young plants", "april", "may", "june"),
        _yes("wet", "precip", "raises", "rain splashes its spores", "gt-norm"),
        _yes("warm", "temp", "", "", "gt-norm"),
        _yes("hail", "hail", "", ""),
        _yes("again", "crop-hist", "raises", "it lives on in what was left", "same-lst-two-yrs", "same-lst-sev-yrs"),
        _yes("low", "area-damaged", "", "", "low-areas"),
        _yes("severe", "severity", "", "", "pot-severe", "severe"),
        _yes("thin", "plant-stand", "", "", "lt-normal"),
        _yes("shredded", "leaf-shread", "", "", "present"),
        _yes("stem", "stem", "", "", "abnorm"),
        _yes("pods", "fruit-pods", "lowers", "a disease of leaves", "diseased"),
        _yes("bodies", "fruiting-bodies", "", "", "present"),
    ),
    (),
    without=(
        "phytophthora-rot", "brown-stem-rot", "anthracnose", "diaporthe-stem-canker", "charcoal-rot",
        "rhizoctonia-root-rot", "powdery-mildew", "downy-mildew", "bacterial-blight", "bacterial-pustule",
        "purple-seed-stain", "phyllosticta-leaf-spot", "diaporthe-pod-&-stem-blight", "cyst-nematode",
        "2-4-d-injury", "herbicide-injury",
    ),
)  # fmt: skip

VOTE = Domain(
    "Congressional Votes", "vote", "republican", "Class", ("republican",), 435,
    tuple(
        _yes(name, column, effect, why, "y")
        for name, column, effect, why in (
            ("infants", "handicapped-infants", "lowers", "protection by the state"),
            ("water", "water-project-cost-sharing", "", ""),
            ("budget", "adoption-of-the-budget-resolution", "lowers", "the budget of the Democrats"),
            ("fees", "physician-fee-freeze", "raises", "the policy of Reagan"),
            ("salvador", "el-salvador-aid", "raises", "the policy of Reagan"),
            ("religion", "religious-groups-in-schools", "raises", "conservative"),
            ("satellites", "anti-satellite-test-ban", "lowers", "disarmament"),
            ("contras", "aid-to-nicaraguan-contras", "", ""),
            ("missile", "mx-missile", "", ""),
            ("immigration", "immigration", "", ""),
            ("synfuels", "synfuels-corporation-cutback", "", ""),
            ("education", "education-spending", "", ""),
            ("superfund", "superfund-right-to-sue", "", ""),
            ("crime", "crime", "raises", "law and order"),
            ("exports", "duty-free-exports", "", ""),
        )
    ),
    (),
)  # fmt: skip

ZOO = Domain(
    "Zoo", "zoo", "predator", "predator", ("true",), 101,
    (
        _yes("toothed", "toothed", "raises", "teeth to bite with", "true"),
        _yes("venomous", "venomous", "raises", "venom kills prey", "true"),
        _yes("aquatic", "aquatic", "raises", "most of what swims eats what swims", "true"),
        _yes("domestic", "domestic", "lowers", "farms keep what grazes", "true"),
        _yes("hair", "hair", "", "", "true"),
        _yes("eggs", "eggs", "", "", "true"),
        _yes("airborne", "airborne", "", "", "true"),
        _yes("backbone", "backbone", "", "", "true"),
        _yes("fins", "fins", "", "", "true"),
        Feature("legs", "legs", "", ""),
        _yes("tail", "tail", "", "", "true"),
        _yes("large", "catsize", "", "", "true"),
    ),
    (),
)  # fmt: skip

TABLES = {**DOMAINS, **{each.name: each for each in (GERMAN, LYMPHOGRAPHY, TUMOR, SOYBEAN, VOTE, ZOO)}}


def design_tables() -> tuple[str, ...]:
    """The tables on which the default was designed; all others judge it."""
    import numpy as np

    places = np.random.default_rng(DESIGN_SEED).permutation(len(TABLES))[:DESIGN_TABLES]
    return tuple(list(TABLES)[place] for place in sorted(places.tolist()))


def statements(table: Domain) -> str:
    """What is stated about the features, one line each."""
    return "\n".join(f"{each.name} {each.effect} {table.target}" for each in table.features if each.effect)


def signs(table: Domain) -> list[int]:
    """The same as monotone constraints: 1, −1, or 0 where nothing is stated."""
    return [{"raises": 1, "lowers": -1}.get(each.effect, 0) for each in table.features]
