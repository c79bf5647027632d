"""One draw of a small clinic with everything at once, learned with all of it or with one part left out.

Season has a CPT that is known; fever is a noisy-or of flu and cold; severity is never observed. A fifth of the other
values is missing. A register shows the season and two findings of more patients; equal rows are one row with a weight.
Twins, who share whether they have had flu, are tied. There are
statements that must hold, ones with a confidence, prevalences and diagnostic values, and two experts, one of whom is
often wrong. Half a pseudo-count for each state is added.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import polars as pl

import credo
from credo.knowledge.query import parse_query
from credo.model.network import Network
from credo.statistics.questions import answer, as_batch
from credo.types import Numbers
from experiments.guo.measure import mean_divergence
from experiments.running import Job, Record

ROWS, REGISTERED, TWINS, MISSING = 60, 100, 8, 0.2
IN_REGISTER = ("season", "test", "admitted")
YES = ["no", "yes"]
STATES = {
    "season": ["winter", "spring", "summer"],
    "flu": YES,
    "cold": YES,
    "fever": YES,
    "reading": ["normal", "raised", "high"],
    "test": ["negative", "positive"],
    "severity": ["mild", "severe"],
    "smoker": YES,
    "cough": YES,
    "admitted": YES,
}
PARENTS = {
    "flu": ["season"],
    "cold": ["season"],
    "fever": ["flu", "cold"],
    "reading": ["fever"],
    "test": ["flu"],
    "severity": ["flu"],
    "cough": ["severity", "smoker"],
    "admitted": ["severity"],
}
NOISY = "fever is noisy-or of {flu}, {cold} with general effects"
CARELESS_WRONG = 0.4  # of what the second expert says
PARTS = (
    "the noisy family", "ties", "statements", "confidences", "any probability", "experts", "the prior",
    "the fixed CPT",
)  # fmt: skip
TREATMENTS = ("everything", *(f"without {part}" for part in PARTS), "data alone")
OPTIONS = credo.PosteriorOptions(draws=200, warmup=200, max_draws=400)


def true_network(draw: int) -> Network:
    """CPTs at random, with a noisy-or of fever."""
    rng = np.random.default_rng([1, draw])
    bare = credo.Network(STATES, PARENTS)
    cpts: dict[str, Numbers] = {
        name: rng.dirichlet(np.full(len(STATES[name]), 0.8), bare.shape(name)[:-1]).reshape(bare.shape(name))
        for name in STATES
    }
    of_flu, of_cold = rng.uniform(0.5, 0.95), rng.uniform(0.2, 0.7)
    spared = np.multiply.outer([1.0, 1.0 - of_flu], [1.0, 1.0 - of_cold])
    cpts["fever"] = np.stack([spared, 1.0 - spared], axis=-1)
    cpts["flu"] = np.stack([1.0 - (rate := rng.uniform(0.1, 0.5, 3)), rate], axis=-1)
    cpts["cough"] = _rising(rng, 2, 2)
    cpts["admitted"] = _rising(rng, 2)
    return bare.with_cpts(cpts)


def _rising(rng: np.random.Generator, *shape: int) -> Numbers:
    """P(yes) that rises with the first parent, severity, so that its states can be distinguished."""
    low, high = rng.uniform(0.05, 0.35, shape[1:]), rng.uniform(0.6, 0.95, shape[1:])
    chance = np.stack([low, high])
    return np.stack([1.0 - chance, chance], axis=-1)


def table_of(truth: Network, draw: int) -> pl.DataFrame:
    """Rows with missing values, equal ones put together, and twins with a number of their own."""
    rng = np.random.default_rng([2, draw])
    rows = truth.sample(ROWS, seed=100 + draw).with_columns(twins=pl.lit(None, pl.Int64))
    more = truth.sample(40 * TWINS, seed=500 + draw).with_columns(twins=pl.lit(None, pl.Int64))
    pairs = []
    for first, second in zip(range(0, len(more), 2), range(1, len(more), 2), strict=True):
        if more["flu"][first] == more["flu"][second] and len(pairs) < TWINS:
            both = more[[first, second]].with_columns(twins=pl.lit(len(pairs) + 1, pl.Int64))
            pairs.append(both)
    table = pl.concat([rows, *pairs]).drop("severity")
    seen = [name for name in STATES if name != "severity"]
    for name in seen:
        missing = pl.Series(rng.random(len(table)) < MISSING)
        table = table.with_columns(pl.when(missing).then(None).otherwise(pl.col(name)).alias(name))
    register = truth.sample(REGISTERED, seed=900 + draw).select(IN_REGISTER)
    table = pl.concat([table, register], how="diagonal")
    return table.group_by([*seen, "twins"], maintain_order=True).len(name="weight")


def lines_of(truth: Network, draw: int) -> dict[str, list[str]]:
    """What is stated, by part; all of it is true but for some of the careless expert's statements."""
    rng = np.random.default_rng([3, draw])
    about = [
        *(f"{name}={STATES[name][-1]} | season={season}" for name in ("flu", "cold") for season in STATES["season"]),
        *(f"reading={state} | fever={fever}" for state in ("raised", "high") for fever in YES),
        *(f"test=positive | flu={flu}" for flu in YES),
        *(f"cough=yes | severity={severity}, smoker={smoker}" for severity in STATES["severity"] for smoker in YES),
        *(f"admitted=yes | severity={severity}" for severity in STATES["severity"]),
        *(f"severity=severe | flu={flu}" for flu in YES),
    ]
    order = [about[k] for k in rng.permutation(len(about))]

    def ranges(events: list[str], width: float, wrong: float = 0.0) -> list[str]:
        return [_range(_probability(truth, event), event, width, wrong, rng) for event in events]

    general = ["fever=yes", "reading=high", "cough=yes", "flu=yes | test=positive", "severity=severe | cough=yes"]
    careful, careless = order[6:12], order[8:]
    return {
        "statements": ranges(order[:4], 0.2),
        "confidences": [f"{line} with confidence 0.9" for line in ranges(order[4:6], 0.2)],
        "any probability": ranges(general, 0.15),
        "experts": [
            "expert careful:",
            *(f"    {line}" for line in ranges(careful, 0.2, 0.05)),
            "expert careless:",
            *(f"    {line}" for line in ranges([*careless, "fever=yes | season=winter"], 0.2, CARELESS_WRONG)),
        ],
    }


def _probability(network: Network, event: str) -> float:
    values, _ = answer(network, as_batch(network), parse_query(network, f"P({event})"))
    return float(values.ravel()[0])


def _range(value: float, event: str, width: float, wrong: float, rng: np.random.Generator) -> str:
    """A range around the truth; around another number, far from it, where the statement is to be wrong."""
    if rng.random() < wrong:
        value = (value + 0.5) % 1.0
    low = max(0.0, value - width * rng.uniform(0.3, 0.7))
    high = min(1.0, low + width)
    return f"{low:.4f} <= P({event}) <= {high:.4f}"


def run_trial(job: Job) -> list[Record]:
    """One draw and treatment."""
    draw, treatment = job
    truth = true_network(draw)
    table, stated = table_of(truth, draw), lines_of(truth, draw)
    started = time.process_time()
    fit = learned(truth, table, stated, treatment)
    experts = {} if fit.doubt is None else {each.name: each for each in fit.doubt.experts}
    return [
        {
            "draw": draw,
            "treatment": treatment,
            "kl": mean_divergence(truth, _named_alike(truth, fit.network)),
            "status": fit.status.name,
            "drawn": not fit.no_interval,
            "violated": len(_broken(fit)),
            "careful": experts["careful"].reliability if "careful" in experts else None,
            "careless": experts["careless"].reliability if "careless" in experts else None,
            "seconds": time.process_time() - started,
        }
    ]


def learned(truth: Network, table: pl.DataFrame, stated: Mapping[str, list[str]], treatment: str) -> credo.Fit:
    """The fit with all parts that a treatment keeps."""
    left_out = set(PARTS) if treatment == "data alone" else {treatment.removeprefix("without ")}
    text = [line for part, lines in stated.items() if part not in left_out for line in lines]
    if "the noisy family" not in left_out:
        text.insert(0, NOISY)
    if "ties" not in left_out:
        text.insert(0, "rows with equal twins share flu")
    bare = truth.without_cpts().with_cpts({"season": truth.cpt_array("season")})
    return credo.fit(
        bare,
        table,
        "\n".join(text) or None,
        method="posterior",
        weights="weight",
        prior=None if "the prior" in left_out else 0.5,
        fixed=() if "the fixed CPT" in left_out else ["season"],
        em=credo.EMOptions(starts=2),
        posterior=OPTIONS,
        progress=False,
    )


def _broken(fit: credo.Fit) -> list[int]:
    """Statements that must hold, and that the CPTs miss."""
    doubted = set() if fit.doubt is None else {each.number for each in fit.doubt.statements}
    missed = fit.violations()["statement"].to_list()
    texts = {str(each): number for number, each in enumerate(fit.knowledge.statements)}
    return [texts[text] for text in missed if text in texts and texts[text] not in doubted]


def _named_alike(truth: Network, found: Network) -> Network:
    """The states of severity as the truth calls them, whichever of the two is nearer."""
    cpts = {name: found.cpt_array(name) for name in found.names}
    swapped = dict(cpts)
    swapped["severity"] = cpts["severity"][:, ::-1]
    for name in ("cough", "admitted"):
        swapped[name] = cpts[name][::-1]
    plain = Network(truth.variables, truth.parents, cpts)
    other = Network(truth.variables, truth.parents, swapped)
    return min(plain, other, key=lambda network: mean_divergence(truth, network))
