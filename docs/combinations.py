"""Try which features work together in one fit, and write docs/combinations.md; a test compares the two.

Run from the repository's folder: python docs/combinations.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import polars as pl

import credo
from credo.errors import CredoError
from credo.estimation.methods import METHODS

PAGE = Path(__file__).resolve().with_name("combinations.md")
NETWORK = credo.Network(
    {
        "season": ["winter", "summer"],
        "flu": ["no", "yes"],
        "cold": ["no", "yes"],
        "fever": ["no", "yes"],
        "reading": ["normal", "high"],
        "test": ["negative", "positive"],
    },
    parents={"flu": ["season"], "cold": ["season"], "fever": ["flu", "cold"], "reading": ["fever"], "test": ["flu"]},
    cpts={
        "season": [0.5, 0.5],
        "flu": [[0.7, 0.3], [0.9, 0.1]],
        "cold": [[0.6, 0.4], [0.9, 0.1]],
        "fever": [[[0.95, 0.05], [0.6, 0.4]], [[0.3, 0.7], [0.1, 0.9]]],
        "reading": [[0.9, 0.1], [0.2, 0.8]],
        "test": [[0.95, 0.05], [0.15, 0.85]],
    },
)
ROWS = NETWORK.sample(40, seed=3)
FEW = credo.PosteriorOptions(chains=2, draws=30, warmup=30, max_draws=30)
# Findings that say that something is not used, or used otherwise.
LIMITS = ("not drawn", "only checked", "soft statements ignored", "not doubted")


@dataclass(frozen=True)
class Call:
    """What a fit is asked for."""

    rows: pl.DataFrame = field(default_factory=lambda: ROWS)
    lines: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)

    def with_line(self, line: str) -> Call:
        """One more statement."""
        return replace(self, lines=(*self.lines, line))

    def with_options(self, **options: Any) -> Call:
        """More options."""
        return replace(self, options={**self.options, **options})


@dataclass(frozen=True)
class Feature:
    """One thing that a fit can have."""

    name: str
    example: str
    add: Callable[[Call], Call]
    is_statement: bool = False  # about probabilities or rows


def _line(name: str, line: str, is_statement: bool = True) -> Feature:
    return Feature(name, f"`{line}`", lambda call: call.with_line(line), is_statement)


def _options(name: str, example: str, **options: Any) -> Feature:
    return Feature(name, f"`{example}`", lambda call: call.with_options(**options))


def _with_missing(call: Call) -> Call:
    cells = pl.when(pl.int_range(pl.len()) % 6 == 0).then(None).otherwise("reading").alias("reading")
    return replace(call, rows=call.rows.with_columns(cells))


def _with_hidden(call: Call) -> Call:
    return replace(call, rows=call.rows.drop("flu"))


def _with_weights(numbers: Sequence[float]) -> Callable[[Call], Call]:
    def add(call: Call) -> Call:
        repeated = [numbers[row % len(numbers)] for row in range(len(call.rows))]
        return replace(call, rows=call.rows.with_columns(pl.Series("count", repeated))).with_options(weights="count")

    return add


FEATURES = (
    Feature("missing values", "empty cells", _with_missing),
    Feature("a hidden variable", "no column of `flu`", _with_hidden),
    _line("a noisy family", "fever is noisy-or of {flu}, {cold} with leak", is_statement=False),
    _line("tied rows", "rows 2, 3 share reading"),
    _line("a statement", "P(test=positive | flu=yes) >= 0.6"),
    _line("an equality", "P(cold=yes | season=winter) = 0.4"),
    _line("a product", "P(cold=yes | season=winter) * P(cold=yes | season=summer) <= 0.3"),
    _line("a confidence", "P(test=positive | flu=no) <= 0.2 with confidence 0.8"),
    _line("any probability", "P(reading=high) <= 0.6"),
    _line("an expert", "expert nurse: P(cold=yes | season=winter) >= 0.3"),
    _line("an expert on any probability", "expert doctor: P(flu=yes | test=positive) >= 0.5"),
    _options("a prior", "prior=1.0", prior=1.0),
    Feature("weights", "`weights=` whole numbers", _with_weights((1, 2, 3))),
    Feature("fractions as weights", "`weights=` 0.7, 1.2, …", _with_weights((0.7, 1.2, 1.1))),
    _options("a fixed CPT", 'fixed=["season"]', fixed=["season"]),
    _options("complete rows", "em=EMOptions(complete_rows=True)", em=credo.EMOptions(complete_rows=True)),
    _options(
        "gradients",
        'em=EMOptions(trainer="gradient")',
        em=credo.EMOptions(trainer="gradient", starts=1, max_iterations=60),
    ),
)
# What `TOGETHER` leaves out: each of these excludes another, or means something else.
NOT_TOGETHER = ("an equality", "a product", "fractions as weights", "complete rows", "gradients")
TOGETHER = tuple(feature for feature in FEATURES if feature.name not in NOT_TOGETHER)


@dataclass(frozen=True)
class Outcome:
    """What became of a fit: the sentence of a refusal, or what a result says that it does not do."""

    refusal: str = ""
    limits: tuple[str, ...] = ()


def call_of(features: Iterable[Feature]) -> Call:
    """The call with these features, each once."""
    call = Call()
    for feature in dict.fromkeys(features):
        call = feature.add(call)
    return call


def fit_with(features: Sequence[Feature], method: str) -> credo.Fit:
    """Learn with these features."""
    call = call_of(features)
    options: dict[str, Any] = {"em": credo.EMOptions(starts=1, max_iterations=60), **call.options}
    text = "\n".join(call.lines) or None
    return credo.fit(NETWORK, call.rows, text, method=method, posterior=FEW, progress=False, **options)


def outcome(features: Sequence[Feature], method: str) -> Outcome:
    """Try the features together."""
    try:
        fit = fit_with(features, method)
    except CredoError as error:
        return Outcome(refusal=str(error))
    return Outcome(limits=tuple(str(each) for each in fit.findings if each.kind in LIMITS))


def pairs() -> list[tuple[Feature, Feature]]:
    """Each feature alone, as a pair with itself, and all pairs."""
    return list(combinations_with_replacement(FEATURES, 2))


def outcomes(method: str) -> dict[tuple[str, str], Outcome]:
    """What becomes of all pairs."""
    return {(first.name, second.name): outcome((first, second), method) for first, second in pairs()}


# The page -------------------------------------------------------------------------------------------------------------

INTRODUCTION = """# What combines with what

One fit may have missing values, hidden variables, noisy families, tied rows, statements of all kinds, experts, a prior,
weights and fixed CPTs. The tables below are generated: each cell is a fit that `python docs/combinations.py` tried, and
a test tries it again. ✓: they work together. A letter: they do not, or something is left out, and the sentence below
the table is what credo says. –: the method does not use statements.

| | feature | here |
|---|---|---|
"""


def page(found: Mapping[str, Mapping[tuple[str, str], Outcome]], alone: Mapping[tuple[str, str], Outcome]) -> str:
    """The page, from what became of pairs with each method, and of single features with all methods."""
    numbered = {feature.name: number for number, feature in enumerate(FEATURES, start=1)}
    parts = [INTRODUCTION]
    shown = {feature.name: feature.example.replace("|", r"\|") for feature in FEATURES}
    parts += [f"| {numbered[name]} | {name} | {example} |\n" for name, example in shown.items()]
    for method, pairs_of in found.items():
        parts.append(f"\n## With `{method}`\n\n")
        parts.append(f"| | | {' | '.join(map(str, numbered.values()))} |\n|---|---|{'---|' * len(numbered)}\n")
        sentences: dict[str, str] = {}
        for second in FEATURES:
            cells = [
                _cell(pairs_of[first.name, second.name], _limits_alone(pairs_of, first.name, second.name), sentences)
                for first in FEATURES[: numbered[second.name]]
            ]
            cells += [""] * (len(FEATURES) - len(cells))
            parts.append(f"| {numbered[second.name]} | {second.name} | {' | '.join(cells)} |\n")
        parts.append(_listed(sentences))
    parts.append("\n## With every method\n\n")
    parts.append(f"| method | {' | '.join(map(str, numbered.values()))} |\n|---|{'---|' * len(numbered)}\n")
    sentences = {}
    for method in METHODS:
        cells = [
            "–"
            if feature.is_statement and not METHODS[method].uses_knowledge
            else _cell(_of_any_method(alone[method, feature.name], method), (), sentences)
            for feature in FEATURES
        ]
        parts.append(f"| `{method}` | {' | '.join(cells)} |\n")
    parts.append(_listed(sentences))
    names = [feature.name for feature in TOGETHER]
    parts.append(
        f"\n## All together\n\nOne fit of `posterior` with {', '.join(names[:-1])} and {names[-1]} is among the tests, "
        "and [an experiment](../experiments/together/results/README.md) shows how much each part contributes.\n"
    )
    return "".join(parts)


def _limits_alone(found: Mapping[tuple[str, str], Outcome], *names: str) -> tuple[str, ...]:
    """What is said of one of the features without the other, and so is no news."""
    if names[0] == names[1]:
        return ()
    return tuple(sentence for name in names for sentence in found[name, name].limits)


def _of_any_method(found: Outcome, method: str) -> Outcome:
    """The same sentences without the name of the method, so that they are listed once."""
    return replace(found, refusal=re.sub(rf"\b{method}\b", "…", found.refusal))


def _cell(outcome: Outcome, known: Sequence[str], sentences: dict[str, str]) -> str:
    said = [outcome.refusal] if outcome.refusal else [each for each in outcome.limits if each not in known]
    return ", ".join(sentences.setdefault(each, _letter(len(sentences))) for each in said) or "✓"


def _letter(number: int) -> str:
    return chr(ord("a") + number) if number < 26 else f"a{chr(ord('a') + number - 26)}"


def _listed(sentences: Mapping[str, str]) -> str:
    lines = [f"- {letter}: {' '.join(sentence.split())}\n" for sentence, letter in sentences.items()]
    return "\n" + "".join(lines) if lines else ""


def everything() -> str:
    """Try everything, and write the page."""
    tried = {method: outcomes(method) for method in ("posterior", "cmap")}
    alone = {(method, feature.name): outcome((feature,), method) for method in METHODS for feature in FEATURES}
    return page(tried, alone)


if __name__ == "__main__":
    PAGE.write_text(everything(), encoding="utf-8")
