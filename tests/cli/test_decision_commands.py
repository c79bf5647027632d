"""The commands about what comes after a prediction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import credo
from tests.helpers.command_line import run

NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["clear", "shadow"]},
    {"lung": ["smoke"], "xray": ["lung"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.8, 0.2]], "xray": [[0.9, 0.1], [0.25, 0.75]]},
)
TEXT = """\
variables smoke, lung: no, yes
lung depends on smoke
xray depends on lung
decision treat: no, yes
utility of lung=yes, treat=no is -100
utility of treat=yes is -30
cost of xray is 0.5
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("clinic")
    (found / "clinic.credo").write_text(TEXT)
    NETWORK.sample(150, seed=1).write_csv(found / "patients.csv")
    NETWORK.sample(100, seed=2).write_csv(found / "others.csv")
    credo.fit(found / "clinic.credo", found / "patients.csv").save(found / "clinic.fit")
    return found


def test_decide(folder: Path) -> None:
    done = run("decide", "clinic.fit", "--given", "xray=shadow", folder=folder)
    assert done.returncode == 0, done.stderr
    fit = credo.load(folder / "clinic.fit")
    assert done.stdout.strip() == str(fit.decide("xray=shadow"))
    both = run("decide", "clinic.credo", "patients.csv", "-g", "xray=shadow", "--json", folder=folder)
    assert json.loads(both.stdout) == fit.decide("xray=shadow").to_dict()
    held_out = run("decide", "clinic.fit", "--held-out", "others.csv", "--json", folder=folder)
    assert json.loads(held_out.stdout)["net_benefit"]["rows"] == 100


def test_mistakes_are_one_sentence(folder: Path) -> None:
    for arguments, words in (
        (("decide", "clinic.fit", "--given", "xray=shade"), 'xray has no state "shade"'),
        (("decide", "clinic.fit", "--given", "treat=yes"), "treat is what is to be decided"),
        (("decide", "clinic.fit", "others.csv"), "--held-out others.csv"),
        (("decide", "clinic.pdf"), "clinic.pdf is no saved fit (.fit), network (.bif, …) or knowledge (.credo)"),
    ):
        done = run(*arguments, folder=folder)
        assert done.returncode != 0
        assert words in done.stderr
        assert "Traceback" not in done.stderr


def test_next(folder: Path) -> None:
    fit = credo.load(folder / "clinic.fit")
    done = run("next", "clinic.fit", "--given", "smoke=yes", "--for", "lung", folder=folder)
    assert done.stdout.strip() == str(fit.next_tests("smoke=yes", "lung"))
    found = run("next", "clinic.fit", "--given", "smoke=yes", "--json", folder=folder)
    assert json.loads(found.stdout) == fit.next_tests("smoke=yes").to_dict()
    one = run("next", "clinic.fit", "--for", "lung", "-t", "smoke", "--picture", "tests.png", folder=folder)
    assert one.returncode == 0, one.stderr
    assert (folder / "tests.png").stat().st_size > 1000
    assert "Did you mean" in run("next", "clinic.fit", "--for", "lugn", folder=folder).stderr


def test_a_network_file_answers_with_its_own_numbers(folder: Path) -> None:
    credo.write_network(NETWORK, folder / "own.bif")
    (folder / "half.bif").write_text(
        "network x {}\nvariable a { type discrete [2] { no, yes }; }\nvariable b { type discrete [2] { no, yes }; }\n"
        "probability (a) { table 0.5, 0.5; }\n"
    )
    (folder / "smoking.credo").write_text(
        "decision smoke: no, yes\nutility of lung=yes is -100\nutility of smoke=yes is 5\n"
    )
    done = run("next", "own.bif", "--given", "smoke=yes", "--for", "lung", folder=folder)
    assert "observe xray next" in done.stdout, done.stderr
    assert "no interval" in done.stdout
    done = run("decide", "own.bif", "--utilities", "smoking.credo", folder=folder)
    assert done.stdout.startswith("smoke=no is better, by 10"), done.stderr  # 100 · (0.2 − 0.05) − 5
    done = run("sensitivity", "own.bif", "P(lung=yes | smoke=yes)", folder=folder)
    assert done.stdout.startswith("P(lung=yes | smoke=yes) = 20.0%"), done.stderr
    for arguments, words in (
        (("sensitivity", "own.bif", "P(lung=yes)", "--statements"), "no statements were learned"),
        (("next", "half.bif", "--for", "a"), "half.bif has no numbers for b: learn them first"),
        (("next", "own.bif", "others.csv", "--for", "lung"), "has its numbers already: leave others.csv out"),
        (("next", "none.bif", "--for", "lung"), "There is no such file"),
        (("sensitivity", "others.csv", "P(lung=yes)"), "neither a saved fit nor a network"),
    ):
        done = run(*arguments, folder=folder)
        assert done.returncode != 0
        assert words in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
