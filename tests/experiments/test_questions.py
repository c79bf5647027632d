"""The simulated expert says what is true, or what is not; orders of questions end; errors fall."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
from experiments.questions.least_answers import answers_to_halve
from experiments.questions.report import write_report
from experiments.questions.trials import ANSWERS, STRATEGIES, answer_of, ask, error_of

import credo

NETWORK = credo.Network(
    [credo.Variable(name, ("no", "yes"), is_ordered=True) for name in ("smoke", "age", "lung")],
    {"lung": ["smoke", "age"]},
    {"smoke": [0.6, 0.4], "age": [0.5, 0.5], "lung": [[[0.95, 0.05], [0.8, 0.2]], [[0.7, 0.3], [0.4, 0.6]]]},
)


def fitted(statements: str = "") -> credo.Fit:
    structure = credo.Network(NETWORK.variables, NETWORK.parents)
    return credo.fit(structure, NETWORK.sample(20, seed=1), statements, method="posterior")


def test_answers_to_halve_are_counted_over_all_networks() -> None:
    one, other = np.array([[4.0, 2.0, 1.0], [0.0, 2.0, 1.0]]), np.array([[3.0, 0.0], [1.0, 2.0]])
    assert answers_to_halve([one, other], 0) == 1  # 10 → 3
    assert answers_to_halve([one, other], 1) == 2  # 10 → 8 → 4


def test_an_expert_who_is_right_never_contradicts_the_truth() -> None:
    fit, generator, skip = fitted(), np.random.default_rng(0), set[str]()
    said = []
    while (question := next(ask(fit, None, "random", skip, generator), None)) is not None:
        skip.update((question.text, question.about))
        said.append(answer_of(NETWORK, fit, question, 0.0, generator))
    assert len(said) > 10
    assert "smoke raises lung" in said
    for statement in filter(None, said):
        if bounds := re.fullmatch(r"(\S+) <= (P\(.*\)) <= (\S+)", statement):
            true = credo.fit(NETWORK, NETWORK.sample(5), fixed=NETWORK.names, method="ml").query(bounds[2])
            assert float(bounds[1]) - 1e-9 <= float(true) <= float(bounds[3]) + 1e-9
    together = "\n".join(filter(None, said))
    assert not credo.check(NETWORK, together).conflicts


def test_an_expert_who_is_wrong_says_something_else() -> None:
    fit, generator = fitted(), np.random.default_rng(0)
    for strategy in STRATEGIES:
        question = next(ask(fit, None, strategy, set(), generator))
        right = answer_of(NETWORK, fit, question, 0.0, generator)
        assert right != answer_of(NETWORK, fit, question, 1.0, generator)


def test_answers_reduce_the_error_and_the_report_counts_them(tmp_path) -> None:
    generator = np.random.default_rng(0)
    before = fitted()
    question = next(ask(before, None, "credo", set(), generator))
    after = fitted(answer_of(NETWORK, before, question, 0.0, generator))
    assert error_of(NETWORK, after, None) < error_of(NETWORK, before, None)
    rows = [
        {"network": "asia", "target": "probability", "expert": "right", "draw": 0, "strategy": strategy, "answers": k}
        | {"error": 1.0 / (1 + k * (2 if strategy == "credo" else 0.5))}
        for strategy in STRATEGIES
        for k in range(ANSWERS + 1)
    ]
    text = write_report(pl.DataFrame(rows), tmp_path)
    assert "| credo | 1.00 | 0.33 |" in text
    assert text.count("| 1 | 1 of 1 |\n") == 1
    assert text.count("| 2 | 1 of 1 |\n") == 3
