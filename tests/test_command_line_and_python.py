"""What the command line can do, Python can, and the other way round."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import polars as pl
import pytest
import typer

import credo
from credo.cli.app import app
from credo.cli.learning_commands import learn
from tests.helpers.command_line import run

# For each command, what it is in Python.
IN_PYTHON = {
    "start": ["first_model"],
    "learn": ["fit", "Fit.save", "Fit.report", "Fit.predictive_checks", "Fit.to_dict", "partitioned"],
    "check": ["check", "Check.report", "Check.to_dict", "knowledge.corrections"],
    "methods": ["methods"],
    "update": ["Fit.update"],
    "history": ["Fit.trail"],
    "reproduce": ["Fit.reproduce"],
    "summarise": ["summarise"],
    "sites": ["fit_sites"],
    "query": ["Fit.query", "Network.query"],
    "sensitivity": ["Fit.sensitivity"],
    "importance": ["Fit.importance", "Network.importance"],
    "predict": ["Fit.predict", "Network.predict"],
    "show": ["Network.cpt", "Fit.cpt", "declared_network", "load"],
    "convert": ["read_network", "write_network"],
    "compare": ["compare", "Network.kl"],
    "sample": ["Network.sample"],
    "share": ["Fit.share"],
    "decide": ["Fit.decide", "Fit.net_benefit"],
    "next": ["Fit.next_tests"],
    "explain": ["Fit.explain"],
    "marginals": ["Fit.marginals", "Fit.most_probable"],
    "diagnostics": ["Fit.diagnostics"],
    "cluster": ["cluster"],
    "topics": ["topics", "read_corpus"],
}
# Programs that open a page, ask people (by questions or by spreadsheets) or write an example: what they make are the
# statements that functions above take.
PROGRAMS = {"studio", "demo", "interview", "sheet", "read-sheet"}
# Functions whose counterpart is a line of a knowledge file, or of what `learn` prints, or an object of Python.
LINES = {
    "P", "cost", "cut", "decision", "depends_on", "different", "does_not_affect", "expert", "gate", "group", "label",
    "lowers", "noisy_and", "noisy_max", "noisy_min", "noisy_or", "one_cpt", "effect_study", "expert_number",
    "interpolated", "ranked", "site", "study", "order", "raises", "same", "sub_synergize",
    "synergize", "utility", "variable", "read_knowledge", "read_table", "network_from_table",
}  # fmt: skip
# The options of `learn` in which arguments of `fit`, and fields of its options, are given.
OPTIONS = {
    "network": "network", "data": "data", "knowledge": "knowledge", "method": "method", "prior": "prior",
    "fixed": "fixed", "weights": "weights", "table_format": "separator", "seed": "seed", "doubt": "doubt",
    "em": "starts", "posterior": "draws", "optimiser": "soft_weight", "memory_limit": "memory_limit",
    "executor": "scheduler", "progress": "as_json",
}  # fmt: skip


def commands() -> set[str]:
    return set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def functions() -> set[str]:
    found = {name: getattr(credo, name) for name in credo.__all__}
    return {name for name, value in found.items() if inspect.isfunction(value)}


def test_every_command_is_in_python() -> None:
    assert commands() == set(IN_PYTHON) | PROGRAMS
    for names in IN_PYTHON.values():
        for name in names:
            value: object = credo
            for part in name.split("."):
                value = getattr(value, part)
            assert callable(value) or inspect.isdatadescriptor(value), name


def test_every_function_is_on_the_command_line() -> None:
    there = {name for names in IN_PYTHON.values() for name in names}
    assert functions() == (there & functions()) | LINES


def test_every_argument_of_fit_is_an_option_of_learn() -> None:
    assert set(OPTIONS) == set(inspect.signature(credo.fit).parameters)
    assert set(OPTIONS.values()) <= set(inspect.signature(learn).parameters)


# Commands beside functions

NETWORK = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
ROWS = pl.DataFrame({"smoke": ["no", "no", "yes", "yes"] * 5, "lung": ["no", "no", "yes", "no"] * 5})


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit")
    few = credo.PosteriorOptions(draws=50, max_draws=50)
    return credo.fit(NETWORK, ROWS, "smoke raises lung", posterior=few).save(folder / "lung.fit")


def test_marginals_and_diagnostics(saved: Path) -> None:
    fit = credo.load(saved)
    done = run("marginals", "lung.fit", "smoke=yes", "--json", folder=saved.parent)
    assert json.loads(done.stdout) == fit.marginals("smoke=yes").to_dicts()
    done = run("marginals", "lung.fit", "smoke=yes", "--most-probable", "--json", folder=saved.parent)
    assert json.loads(done.stdout) == fit.most_probable("smoke=yes").to_dicts()
    done = run("diagnostics", "lung.fit", "--json", folder=saved.parent)
    assert json.loads(done.stdout) == fit.diagnostics().to_dicts()


def test_explain(saved: Path) -> None:
    done = run("explain", "lung.fit", folder=saved.parent)
    assert done.returncode == 0
    assert done.stdout.split() == str(credo.load(saved).explain()).split()


def test_clusters_and_topics(tmp_path: Path) -> None:
    ROWS.write_csv(tmp_path / "rows.csv")
    done = run("cluster", "rows.csv", "2", "--json", folder=tmp_path)
    found = credo.cluster(ROWS, 2)
    assert [row["cluster"] for row in json.loads(done.stdout)] == found.labels.tolist()
    texts = ["heart blood heart", "blood heart", "engine wheel", "wheel engine engine"] * 3
    (tmp_path / "texts.txt").write_text("\n".join(texts))
    done = run("topics", "texts.txt", "2", "--json", folder=tmp_path)
    assert json.loads(done.stdout) == [credo.topics(texts, 2).words(topic) for topic in (0, 1)]


def test_methods_in_python() -> None:
    assert credo.methods().filter(auto=True)["method"].to_list() == ["posterior"]
    assert set(credo.methods()["method"]) >= {"posterior", "cmap", "ml"}
