"""The command line, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import credo
from credo import Network
from tests.helpers.command_line import run


@pytest.fixture
def files(tmp_path: Path, smoking: Network) -> Path:
    credo.write_network(smoking, tmp_path / "net.bif")
    (tmp_path / "data.csv").write_text("smoke,lung,w\nno,no,1\nyes,yes,2\nyes,no,1\n")
    return tmp_path


def test_learn_writes_a_network_and_prints_json(files: Path) -> None:
    done = run("learn", "net.bif", "data.csv", "--method", "map", "--out", "learned.bif", "--json", folder=files)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    learned = credo.read_network(files / "learned.bif")
    assert result["method"] == "map"
    assert result["rows"] == 3
    assert result["cpts"]["lung"]["probabilities"] == learned.cpt_array("lung").tolist()
    assert learned == credo.fit(files / "net.bif", files / "data.csv", method="map").network


def test_learn_says_what_it_did(files: Path) -> None:
    done = run("learn", "net.bif", "data.csv", "-m", "ml", folder=files)
    assert done.returncode == 0
    assert "the probabilities of 2 variables were learned from 3 rows of data" in done.stdout
    assert "P(lung | smoke)" in done.stdout
    assert "\x1b" not in done.stdout  # no colours where the output is no terminal


def test_learn_passes_its_options_on(files: Path) -> None:
    done = run(
        "learn",
        "net.bif",
        "data.csv",
        "--weights",
        "w",
        "--fixed",
        "smoke",
        "--prior",
        "bdeu:4",
        "--json",
        folder=files,
    )
    probabilities = json.loads(done.stdout)["cpts"]
    assert probabilities["smoke"]["probabilities"] == [0.5, 0.5]
    assert probabilities["lung"]["probabilities"][1] == pytest.approx([2 / 5, 3 / 5])
    done = run(
        "learn", "net.bif", "data.csv", "--prior-network", "net.bif", "--prior-weight", "8", "--method", "cmap",
        "--json",
        folder=files,
    )  # fmt: skip
    assert json.loads(done.stdout)["cpts"]["lung"]["probabilities"][1] == pytest.approx([8.2 / 10, 1.8 / 10])
    done = run("learn", "net.bif", "data.csv", "--method", "me", "--hidden-draws", "-1", folder=files)
    assert "above zero" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("learn", "net.bif", "dat.csv"), 'Did you mean "data.csv"'),
        (("learn", "nett.bif", "data.csv"), "net.bif"),
        (("learn", "net.bif", "data.csv", "--method", "mapp"), 'no method "mapp"'),
        (("learn", "net.bif", "data.csv", "--prior", "k3"), '"k3" is not a prior'),
        (("learn", "net.bif", "data.csv", "--prior", "1", "--prior-network", "net.bif"), "exclude each other"),
        (("learn", "net.bif", "data.csv", "--fixed", "lungs"), 'mean "lung"'),
        (("learn", "net.bif", "data.csv", "--weights", "smoke"), "variable of the network"),
        (("learn", "net.bif", "data.csv", "--out", "no/such/folder/x.bif"), "no/such/folder"),
    ],
)
def test_mistakes_end_in_one_paragraph_and_code_2(files: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments, folder=files)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_debug_shows_the_traceback(files: Path) -> None:
    done = run("learn", "net.bif", "dat.csv", "--debug", folder=files)
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"credo {credo.__version__}"
    assert "learn" in run("--help").stdout


def test_help_is_quick() -> None:
    """Half a second of work at most: the processor's time, since the machine may be busy with other tests."""
    before = os.times()
    run("--help")
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 0.5


def test_what_is_heavy_is_imported_when_it_is_needed() -> None:
    heavy = ("numpy", "polars", "scipy", "lark", "highspy")
    code = f"import sys, credo, credo.cli.app; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_methods_lists_every_method() -> None:
    from credo.estimation.methods import METHODS

    printed = run("methods").stdout
    assert all(name in printed for name in METHODS)


def test_the_demo_runs(tmp_path: Path) -> None:
    done = run("demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The data contradict one statement." in done.stdout
    assert "220 rows of data" in done.stdout.replace("\n", " ")
    assert "95% interval" in done.stdout
    assert "risk.html" in done.stdout.splitlines()[-1]
    assert "<html" in (tmp_path / "demo" / "risk.html").read_text(encoding="utf-8")
    assert len(done.stdout.splitlines()) < 75  # a minute of reading
    learned = credo.read_network(tmp_path / "demo" / "learned.bif")
    assert learned.is_complete
    assert learned.variable("pressure").cuts == credo.CutPoints((140,))
    assert "contradicted by the data" in (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")


CONSISTENT = "smoke raises lung by at least 0.01\nP(smoke=yes) <= 0.6 with confidence 0.8\n"
CONFLICTING = "smoke raises lung by at least 0.1\nP(smoke=yes) <= 0.6\nP(lung=yes | smoke=yes) <= 0.05\n"


def test_reports_are_written_and_conflicts_drawn(files: Path) -> None:
    (files / "good.credo").write_text(CONSISTENT)
    (files / "bad.credo").write_text(CONFLICTING)
    done = run("learn", "net.bif", "data.csv", "-k", "good.credo", "--report", "fit.html", folder=files)
    assert done.returncode == 0, done.stderr
    assert "what was learned" in (files / "fit.html").read_text(encoding="utf-8")
    done = run("check", "net.bif", "bad.credo", "--report", "check.html", folder=files)
    assert done.returncode == 3
    assert "check.html" in done.stdout
    assert 'class="edge"' in (files / "check.html").read_text(encoding="utf-8")
    done = run("learn", "net.bif", "data.csv", "-k", "bad.credo", "--report", "conflict.html", folder=files)
    assert done.returncode == 3
    assert "A picture of it is in conflict.html." in done.stderr
    assert 'class="edge"' in (files / "conflict.html").read_text(encoding="utf-8")
    done = run("check", "net.bif", "good.credo", "--report", "nowhere/check.html", folder=files)
    assert done.returncode == 2
    assert "There is no folder nowhere" in done.stderr


def test_check_of_knowledge_that_can_hold(files: Path) -> None:
    (files / "know.credo").write_text(CONSISTENT)
    done = run("check", "net.bif", "know.credo", folder=files)
    assert done.returncode == 0, done.stderr
    assert "consistent" in done.stdout
    done = run("check", "net.bif", "know.credo", "--data", "data.csv", "--json", folder=files)
    record = json.loads(done.stdout)
    assert record["feasible"] is True
    assert len(record["statements"]) == 2


def test_check_of_knowledge_that_cannot_hold_ends_in_code_3(files: Path) -> None:
    (files / "know.credo").write_text(CONFLICTING)
    done = run("check", "net.bif", "know.credo", folder=files)
    assert done.returncode == 3
    assert "smoke raises lung by at least 0.1" in done.stdout
    assert "P(lung=yes | smoke=yes) <= 0.05" in done.stdout
    conflicts = json.loads(run("check", "net.bif", "know.credo", "--json", folder=files).stdout)["conflicts"]
    assert [[statement["line"] for statement in conflict["statements"]] for conflict in conflicts] == [[1, 3]]


def test_check_of_what_does_not_parse_ends_in_code_2(files: Path) -> None:
    (files / "know.credo").write_text("smok raises lung\nP(lung=yes | smoke=yes) >= 1.5\n")
    done = run("check", "net.bif", "know.credo", folder=files)
    assert done.returncode == 2
    assert "know.credo:1:1" in done.stderr
    assert "know.credo:2:" in done.stderr
    assert "^" in done.stderr
    assert "Traceback" not in done.stderr


def test_learning_with_knowledge(files: Path) -> None:
    (files / "know.credo").write_text("P(lung=yes | smoke=yes) <= 0.2\nsmoke raises lung\n")
    done = run("learn", "net.bif", "data.csv", "-k", "know.credo", "-m", "cml", "--json", folder=files)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["cpts"]["lung"]["probabilities"][1][1] == pytest.approx(0.2)
    assert result["certificate"]["gap"] < 1e-8
    assert result["binding"][0]["line"] == 1
    assert result["violations"] == []


def test_learning_with_knowledge_in_conflict_ends_in_code_3(files: Path) -> None:
    (files / "know.credo").write_text(CONFLICTING)
    done = run("learn", "net.bif", "data.csv", "--knowledge", "know.credo", folder=files)
    assert done.returncode == 3
    assert "line 1" in done.stderr
    assert "line 3" in done.stderr
    assert "line 2" not in done.stderr


def test_a_target_that_cannot_be_written_is_refused_before_the_work(files: Path) -> None:
    for target, words in (("x.foo", ".bif"), ("nodir/x.bif", "nodir")):
        done = run("learn", "net.bif", "data.csv", "--out", target, folder=files)
        assert done.returncode == 2
        assert words in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("learn", "net.bif", "data.csv", "--seed", "-1"), "seed"),
        (("learn", "net.bif", "data.csv", "--prior-weight", "3"), "--prior-network"),
    ],
)
def test_options_that_make_no_sense(files: Path, arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments, folder=files)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_rows_can_be_tied_together(files: Path) -> None:
    (files / "know.credo").write_text("rows 1, 2 differ in lung\n")
    done = run("learn", "net.bif", "data.csv", "-k", "know.credo", "--json", folder=files)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["cll"] is not None
    (files / "know.credo").write_text("rows 1, 2 share lung\n")
    done = run("learn", "net.bif", "data.csv", "-k", "know.credo", folder=files)
    assert done.returncode == 2
    assert "Rows 1 and 2 are tied to share lung, but row 1 holds no and row 2 holds yes" in done.stderr


def test_a_mistyped_column_is_pointed_at(files: Path) -> None:
    (files / "typo.csv").write_text("smoke,lungs\nno,no\nyes,yes\n")
    done = run("learn", "net.bif", "typo.csv", folder=files)
    assert done.returncode == 0, done.stderr
    assert "“lungs”" in done.stdout
    (files / "case.csv").write_text("smoke,Lung\nno,no\nyes,yes\n")
    done = run("learn", "net.bif", "case.csv", folder=files)
    assert done.returncode == 2
    assert 'credo: The column "Lung" is similar to the variable "lung", which has no column' in done.stderr


def test_the_data_are_compared_with_what_the_network_produces(tmp_path: Path) -> None:
    network = Network({"a": ["no", "yes"], "b": ["no", "yes"]}, cpts={"a": [0.5, 0.5], "b": [0.5, 0.5]})
    credo.write_network(network, tmp_path / "net.bif")
    (tmp_path / "data.csv").write_text("a,b\n" + "no,no\nyes,yes\n" * 20)
    done = run("learn", "net.bif", "data.csv", "-m", "map", "--checks", folder=tmp_path)
    assert "stronger link between a and b than the network allows" in " ".join(done.stdout.split())
    done = run("learn", "net.bif", "data.csv", "-m", "map", "--checks", "--json", folder=tmp_path)
    checks = json.loads(done.stdout)["checks"]
    assert [check["kind"] for check in checks["checks"] if check["alarm"]] == ["link"]
    assert "checks" not in json.loads(
        run("learn", "net.bif", "data.csv", "-m", "map", "--json", folder=tmp_path).stdout
    )
