"""How few answers fill a large CPT: divergence against the number of answers, form by form.

CPTs with at least three parents of published networks are refitted from a few answers. An answer is the distribution of
one configuration, as it is or with an expert's error (normal on the logarithm, 0.5); the worst and the best corner come
first, then the other corners, then random configurations. Compared are, by the mean divergence KL(true ‖ refitted) of
all configurations,

    uniform        nothing is known where nobody answered
    ranked         a ranked node whose weights and spread are fitted to the answers [Fenton, Neil and Caballero, 2007]
    interbeta      InterBeta between two corners, with weights fitted to the answers [Barons, Mascaro and Hanea, 2022]
    noisy-or       small CPTs of independent causes, fitted to the answers; of children with two states
    functional     additive effects on the log odds of each state, with a ridge, fitted to the answers
    credo          the posterior in which an answer weighs like 50 rows
    stated         the posterior in which an answer is an expert's statement, worth 50 cases
    form           `credo` around a weighted mean that is right with probability 0.7

Run: python -m experiments.large_cpts ../shared/networks/published --networks 12, and with --skip 12 for the next dozen
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize

import credo
from credo.model.ranked_nodes import interpolated_cpt, ranked_cpt

Numbers = NDArray[np.float64]
Answers = dict[tuple[int, ...], Numbers]
LEAST = 1e-3  # that every state keeps: a divergence from a zero would say nothing of the rest
ANSWERS = (3, 5, 10, 20, 30)
MOST_CONFIGURATIONS = 512
WEIGHT = 50.0  # rows that an answer weighs
ERROR = 0.5


def divergence(true: Numbers, refitted: Numbers) -> float:
    """The mean over configurations of KL(true ‖ refitted), in nats."""
    p = true.reshape(-1, true.shape[-1])
    q = smoothed(refitted).reshape(p.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(p > 0, p * np.log(p / q), 0.0).sum(axis=1).mean())


def smoothed(cpt: Numbers) -> Numbers:
    """The CPT with at least `LEAST` for each state."""
    q = np.maximum(cpt, LEAST)
    return np.asarray(q / q.sum(axis=-1, keepdims=True))


def asked(shape: tuple[int, ...], count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """The configurations that the expert is asked for: corners first, worst and best before the others."""
    sizes = shape[:-1]
    corners = list(product(*((0, size - 1) for size in sizes)))
    first = [corners[0], corners[-1]]
    others = [corner for corner in corners if corner not in first]
    rest = [each for each in np.ndindex(*sizes) if each not in corners]
    order = [*first, *rng.permutation(np.array(others)).tolist(), *rng.permutation(np.array(rest or others)).tolist()]
    return list(dict.fromkeys(tuple(int(state) for state in each) for each in order))[:count]


def answers_of(cpt: Numbers, count: int, error: float, rng: np.random.Generator) -> Answers:
    """What the expert says of the configurations that are asked for."""
    found = {}
    for configuration in asked(cpt.shape, count, rng):
        said = smoothed(cpt[configuration])
        said = said * np.exp(error * rng.standard_normal(said.shape))
        found[configuration] = said / said.sum()
    return found


# Forms ----------------------------------------------------------------------------------------------------------------


def misfit(cpt: Numbers, answers: Answers) -> float:
    """The mean divergence from the answers."""
    own = smoothed(cpt)
    return float(np.mean([said @ np.log(said / own[each]) for each, said in answers.items()]))


def turned(answers: Answers, shape: tuple[int, ...]) -> list[int]:
    """For each parent whether the child falls with it, by the answers."""
    scores = {each: float(said @ np.arange(len(said))) for each, said in answers.items()}
    middle = np.mean(list(scores.values()))
    return [
        int(sum((each[axis] - (size - 1) / 2) * (score - middle) for each, score in scores.items()) < 0)
        for axis, size in enumerate(shape[:-1])
    ]


def flipped(cpt: Numbers, axes: Sequence[int]) -> Numbers:
    """The CPT with some parents' states in reverse order."""
    for axis, turn in enumerate(axes):
        cpt = np.flip(cpt, axis) if turn else cpt
    return cpt


def uniform(answers: Answers, shape: tuple[int, ...]) -> Numbers:
    """The answers where there are some, and uniform distributions elsewhere."""
    cpt = np.full(shape, 1.0 / shape[-1])
    for each, said in answers.items():
        cpt[each] = said
    return cpt


def ranked(answers: Answers, shape: tuple[int, ...]) -> Numbers:
    """The best of weighted mean, max and min, with fitted weights and spread."""
    axes = turned(answers, shape)

    def cpt(kind: str, numbers: Numbers) -> Numbers:
        weights, spread = np.exp(np.clip(numbers[:-1], -4, 4)), float(np.exp(np.clip(numbers[-1], -4, 1)))
        return flipped(ranked_cpt(kind, weights.tolist(), shape[:-1], shape[-1], spread, points=2), axes)

    return _best([(lambda x, kind=kind: cpt(kind, x)) for kind in ("mean", "max", "min")], len(shape), answers, -1.5)


def interbeta(answers: Answers, shape: tuple[int, ...]) -> Numbers:
    """Between the two corners, with fitted weights."""
    axes = turned(answers, shape)
    low = tuple((size - 1) * turn for size, turn in zip(shape[:-1], axes, strict=True))
    high = tuple((size - 1) * (1 - turn) for size, turn in zip(shape[:-1], axes, strict=True))
    corners = list(answers)
    worst, best = (answers.get(each, answers[near]) for each, near in ((low, corners[0]), (high, corners[1])))

    def cpt(numbers: Numbers) -> Numbers:
        weights = np.exp(np.clip(numbers[:-1], -4, 4))
        return flipped(interpolated_cpt(weights.tolist(), shape[:-1], worst, best), axes)

    return _best([cpt], len(shape), answers, 0.0)


def _best(forms: Sequence[Callable[[Numbers], Numbers]], count: int, answers: Answers, last: float) -> Numbers:
    found = []
    for form in forms:
        start = np.array([*np.zeros(count - 1), last])
        simplex = np.vstack((start, start + 0.8 * np.eye(len(start))))
        options = {"maxfev": 250, "xatol": 0.02, "fatol": 1e-4, "initial_simplex": simplex}
        result = minimize(lambda x, form=form: misfit(form(x), answers), start, method="Nelder-Mead", options=options)
        found.append((float(result.fun), form(result.x)))
    return min(found, key=lambda each: each[0])[1]


def noisy_or(answers: Answers, shape: tuple[int, ...]) -> Numbers | None:
    """P(no) = Π over parents, and a leak; of children with two states."""
    if shape[-1] != 2:
        return None
    axes = turned(answers, shape)
    sizes = [size - 1 for size in shape[:-1]]

    def cpt(numbers: Numbers) -> Numbers:
        stays = 1 / (1 + np.exp(-numbers))
        no, first = np.full(shape[:-1], stays[0]), 1
        for axis, size in enumerate(sizes):
            own = np.array([1.0, *np.cumprod(stays[first : first + size])])
            no = no * own.reshape([-1 if place == axis else 1 for place in range(len(sizes))])
            first += size
        return flipped(np.stack((no, 1 - no), axis=-1), axes)

    start = np.ones(1 + sum(sizes))
    result = minimize(lambda x: misfit(cpt(x), answers) + 1e-3 * float(x @ x) / len(x), start, method="L-BFGS-B")
    return cpt(result.x)


def functional(answers: Answers, shape: tuple[int, ...]) -> Numbers:
    """Additive effects of the parents' states on the log odds, with a ridge."""
    sizes = shape[:-1]

    def row(each: tuple[int, ...]) -> Numbers:
        hot = [np.eye(size)[state] for size, state in zip(sizes, each, strict=True)]
        return np.concatenate(([1.0], *hot))

    x = np.array([row(each) for each in answers])
    y = np.array([np.log(said) - np.log(said).mean() for said in answers.values()])
    ridge = 0.1 * np.eye(x.shape[1])
    ridge[0, 0] = 1e-6
    effects = np.linalg.solve(x.T @ x + ridge, x.T @ y)
    logits = np.array([row(each) for each in np.ndindex(*sizes)]) @ effects
    q = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray((q / q.sum(axis=1, keepdims=True)).reshape(shape))


def around_a_form(answers: Answers, shape: tuple[int, ...]) -> Numbers:
    """The posterior around a ranked node that is right with probability 0.7."""
    names = [f"p{axis}" for axis in range(len(shape) - 1)]
    negated = [name for name, turn in zip(names, turned(answers, shape), strict=True) if turn]
    return posterior(answers, shape, f"{credo.ranked('child', names, negated=negated)} with confidence 0.7")


def posterior(answers: Answers, shape: tuple[int, ...], knowledge: str = "") -> Numbers:
    """The posterior of a network with this one large CPT, in which answers are rows with weights."""
    names = [f"p{axis}" for axis in range(len(shape) - 1)]
    states = {name: [f"s{k}" for k in range(size)] for name, size in zip((*names, "child"), shape, strict=True)}
    network = credo.Network(states, {"child": names}, ordered=list(states))
    roots = {name: np.full(size, 1.0 / size) for name, size in zip(names, shape, strict=False)}
    rows: dict[str, list[object]] = {name: [] for name in (*states, "weight")}
    for each, said in answers.items():
        for state, share in enumerate(said):
            for name, place in zip((*names, "child"), (*each, state), strict=True):
                rows[name].append(f"s{place}")
            rows["weight"].append(float(WEIGHT * share))
    fit = credo.fit(network.with_cpts(roots), pl.DataFrame(rows), knowledge, fixed=names, weights="weight", seed=0)
    return np.asarray(fit.network.cpts["child"])


def stated(answers: Answers, shape: tuple[int, ...]) -> Numbers:
    """The posterior in which answers are statements of an expert."""
    names = [f"p{axis}" for axis in range(len(shape) - 1)]
    states = {name: [f"s{k}" for k in range(size)] for name, size in zip((*names, "child"), shape, strict=True)}
    roots = {name: np.full(size, 1.0 / size) for name, size in zip(names, shape, strict=False)}
    lines = []
    for each, said in answers.items():
        given = ", ".join(f"{name}=s{state}" for name, state in zip(names, each, strict=True))
        numbers = ", ".join(f"{share:.12f}" for share in [*said[:-1], 1 - sum(said[:-1].round(12))])
        lines.append(f"P(child | {given}) is {numbers}, worth {WEIGHT:g} cases")
    network = credo.Network(states, {"child": names}, ordered=list(states)).with_cpts(roots)
    fit = credo.fit(network, knowledge="\n".join(lines), fixed=names, seed=0)
    return np.asarray(fit.network.cpts["child"])


FORMS: dict[str, Callable[[Answers, tuple[int, ...]], Numbers | None]] = {
    "uniform": uniform,
    "ranked": ranked,
    "interbeta": interbeta,
    "noisy-or": noisy_or,
    "functional": functional,
    "credo": posterior,
    "stated": stated,
    "form": around_a_form,
}


def large_cpts(folder: Path, networks: int, skip: int = 0) -> Iterator[tuple[str, Numbers]]:
    """The largest CPT with at least three parents of some networks that have one, after those to skip."""
    paths = sorted(folder.glob("*.bif"))
    found = 0
    for path in paths:
        network = credo.read_network(path)
        sized = [
            (network.configurations(name), name)
            for name in network.cpts
            if len(network.parents[name]) >= 3 and network.configurations(name) <= MOST_CONFIGURATIONS
        ]
        found += bool(sized)
        if sized and skip < found <= skip + networks:
            _, name = max(sized)
            yield f"{path.stem}: {name}", np.asarray(network.cpts[name])


def measure(folder: Path, networks: int, answers: Sequence[int], forms: Sequence[str], skip: int = 0) -> pl.DataFrame:
    """The mean divergence of each form, by the number of answers and the expert's error."""
    rows = []
    for name, cpt in large_cpts(folder, networks, skip):
        for error, count in product((0.0, ERROR), answers):
            if count >= np.prod(cpt.shape[:-1]):
                continue
            said = answers_of(cpt, count, error, np.random.default_rng(count))
            for form in forms:
                refitted = FORMS[form](said, cpt.shape)
                if refitted is not None:
                    rows.append({"cpt": name, "error": error, "answers": count, "form": form,
                                 "divergence": divergence(cpt, refitted)})  # fmt: skip
    return pl.DataFrame(rows)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("--skip", type=int, default=0, help="so many networks, which others were measured on")
    parser.add_argument("--answers", type=int, nargs="*", default=list(ANSWERS))
    parser.add_argument("--forms", nargs="*", default=list(FORMS))
    given = parser.parse_args()
    found = measure(given.folder, given.networks, given.answers, given.forms, given.skip)
    every = found.filter(pl.col("form") != "noisy-or")  # which not every CPT can be
    lowest = every.filter(pl.col("divergence") == pl.col("divergence").min().over("error", "answers", "cpt"))
    with pl.Config(tbl_rows=100, tbl_cols=20, tbl_width_chars=200, float_precision=4):
        for what, table in (
            ("Mean divergence", found.group_by("error", "answers", "form").agg(pl.col("divergence").mean())),
            (
                "CPTs on which a form is lowest, noisy-or aside",
                lowest.group_by("error", "answers", "form").len("divergence"),
            ),
        ):
            print(f"{what}, of {found['cpt'].n_unique()} CPTs")
            print(table.pivot("form", index=["error", "answers"], values="divergence").sort("error", "answers"))


if __name__ == "__main__":
    main()
