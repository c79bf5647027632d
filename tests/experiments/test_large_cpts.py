"""The experiment about few answers: forms recover CPTs of their own kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from experiments.large_cpts import FORMS, answers_of, divergence, large_cpts, measure

import credo
from credo.model.ranked_nodes import ranked_cpt


def test_a_ranked_cpt_is_recovered_from_few_answers(tmp_path: Path) -> None:
    cpt = ranked_cpt("mean", (4.0, 1.0, 1.0), (3, 3, 3), 3, 0.1)
    said = answers_of(cpt, 10, 0.0, np.random.default_rng(0))
    found = {name: divergence(cpt, FORMS[name](said, cpt.shape)) for name in ("uniform", "ranked", "functional")}
    assert found["ranked"] < 0.1
    assert found["ranked"] < 0.5 * found["functional"] < found["uniform"]
    assert FORMS["noisy-or"](said, cpt.shape) is None


def test_the_table_has_every_form(tmp_path: Path) -> None:
    cpt = ranked_cpt("max", (2.0, 1.0, 1.0), (2, 2, 2), 2, 0.2)
    names = {name: ["s0", "s1"] for name in ("a", "b", "c", "y")}
    roots = {name: [0.5, 0.5] for name in ("a", "b", "c")}
    credo.write_network(credo.Network(names, {"y": ["a", "b", "c"]}, {**roots, "y": cpt}), tmp_path / "one.bif")
    ((name, read),) = large_cpts(tmp_path, 3)
    assert name == "one: y"
    assert np.allclose(read, cpt)
    table = measure(tmp_path, 1, [3], ["uniform", "noisy-or", "functional"])
    assert len(table) == 6
    assert table["divergence"].min() >= -1e-9
