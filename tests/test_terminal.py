"""Text for a terminal: nothing in it is a command, every encoding can show it, and brackets are brackets."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import credo
from credo import Network, progress
from credo.terminal import console, encodable, escape, printable, printable_json, say
from tests.helpers.command_line import run

ESCAPE = "\x1b[2J\x1b]0;title\x07"
ODD = f"no{ESCAPE}\u202e[bold]:smile:"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é ≈ 漢", "plain é ≈ 漢"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("bell\x07 back\x08 delete\x7f return\r", "bell\\x07 back\\x08 delete\\x7f return\\r"),
        ("\x9b31m", "\\x9b31m"),
        ("left\u202eright", "left\\u202eright"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_control_characters_become_visible(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_every_encoding_shows_something() -> None:
    assert encodable("≈0.5 • “é” 漢", "ascii") == '~0.5 * "\\xe9" \\u6f22'
    assert encodable("≈0.5 • “é” 漢", "cp1252") == "~0.5 • “é” \\u6f22"
    assert encodable("≈0.5", "utf-8") == encodable("≈0.5", None) == encodable("≈0.5", "no-such-encoding") == "≈0.5"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_streams_of_every_encoding_are_written_to(encoding: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    say("≈ " + ODD, stream)
    console(file=stream).print("≈ [/x] " + ODD)
    progress._Line._write(progress._Line(stream), "≈ " + ODD)
    stream.flush()
    assert b"\x1b" not in raw.getvalue()
    assert b"[bold]:smile:" in raw.getvalue()
    assert b"[/x]" in raw.getvalue()


def test_consoles_with_colours_show_no_escapes_of_others() -> None:
    stream = io.StringIO()
    console(file=stream, force_terminal=True, color_system="standard").print("a\x1b[2Jb", style="bold")
    assert stream.getvalue() == "\x1b[1ma\\x1b[2Jb\x1b[0m\n"


@pytest.fixture
def odd_files(tmp_path: Path) -> Path:
    network = Network({f"a{ESCAPE}": [ODD, "yes"], "b[/x]": ["no", "yes"]}, {"b[/x]": [f"a{ESCAPE}"]})
    credo.write_network(network, tmp_path / "net.bif")
    data = "".join(f'"{state}",{other}\n' for state in (ODD, "yes") for other in ("no", "yes"))
    (tmp_path / "data.csv").write_text(f'"a{ESCAPE}",b[/x]\n{data}', encoding="utf-8")
    (tmp_path / "bad.csv").write_text(f'"a{ESCAPE}",b[/x]\n{ESCAPE},no\n', encoding="utf-8")
    (tmp_path / "know.credo").write_text('P("b[/x]"=yes) <= 0.4\n', encoding="utf-8")
    return tmp_path


def test_names_reach_the_terminal_as_text(odd_files: Path) -> None:
    page = "[bold]d[/x].html"
    (odd_files / "[bold]d[").mkdir()
    done = run("learn", "net.bif", "data.csv", "-k", "know.credo", "-m", "cmap", "--report", page, folder=odd_files)
    assert done.returncode == 0, done.stderr
    assert (odd_files / page).exists()
    assert f"is in {page}" in done.stdout
    assert "P(b[/x]" in done.stdout
    assert "[bold]" in done.stdout
    assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)


UNSAFE = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F)]))
UNSAFE += "\u2066\u2067\u2068\u2069\ufeff"
KEPT = "é 漢 שלום مرحبا e\u0301 👩\u200d🔬"  # combining letters and joiners are parts of words


def test_json_escapes_what_a_terminal_obeys_and_means_the_same() -> None:
    text = json.dumps({UNSAFE + KEPT: [UNSAFE, "\ud800"]}, ensure_ascii=False)
    shown = printable_json(text)
    assert json.loads(shown) == json.loads(text)
    assert KEPT in shown
    assert not set(UNSAFE + "\ud800") & set(shown)


@pytest.mark.parametrize(
    "command",
    [
        ["sample", "net.bif", "-n", "3"],
        ["show", "net.bif"],
        ["learn", "net.bif", "data.csv", "-k", "know.credo", "-m", "map"],
        ["check", "net.bif", "know.credo"],
    ],
)
def test_json_reaches_the_terminal_as_text(tmp_path: Path, command: list[str]) -> None:
    names = {"c\x9b31m": ["a\u202eb", "é\u2066"], "d": ["no", "yes"]}
    network = Network(names, {}, {"c\x9b31m": [0.5, 0.5], "d": [0.5, 0.5]})
    credo.write_network(network, tmp_path / "net.bif")
    (tmp_path / "data.csv").write_text("c\x9b31m,d\na\u202eb,no\né\u2066,yes\n", encoding="utf-8")
    (tmp_path / "know.credo").write_text('P("c\\u009b31m"="a\u202eb") <= 0.4\n', encoding="utf-8")
    done = run(*command, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not set(UNSAFE.replace("\n", "")) & set(done.stdout)
    assert "a\\u202eb" in done.stdout
    assert "a\u202eb" in json.dumps(json.loads(done.stdout), ensure_ascii=False)


def test_html_shows_what_may_not_stand_in_a_page() -> None:
    assert escape('\x1b[2J<b>\u202e"\ttab\n') == "\\x1b[2J&lt;b&gt;\\u202e&quot;\ttab\n"
    assert escape(KEPT) == KEPT


def test_names_in_errors_are_text(odd_files: Path) -> None:
    done = run("learn", "net.bif", "bad.csv", "-m", "map", folder=odd_files)
    assert done.returncode == 2
    assert "\\x1b[2J" in done.stderr
    assert not set("\x1b\x07") & set(done.stderr)
    done = run("learn", f"{ESCAPE}.bif", "bad.csv", f"--{ESCAPE}", folder=odd_files)
    assert done.returncode == 2
    assert "No such option" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [["methods"], ["show", "net.bif", "--json"]])
def test_output_that_cannot_be_written_ends_in_one_sentence(tmp_path: Path, arguments: list[str]) -> None:
    credo.write_network(Network({"a": ["no", "yes"]}, {}, {"a": [0.5, 0.5]}), tmp_path / "net.bif")
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "credo", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left" in done.stderr


@pytest.mark.parametrize("encoding", ["cp1252", pytest.param("ascii", marks=pytest.mark.slow)])
def test_the_command_line_ends_well_in_old_encodings(odd_files: Path, encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
    commands = [
        ("check", "net.bif", "know.credo", "--data", "data.csv"),
        ("learn", "net.bif", "data.csv", "-m", "map", "--json"),
        ("learn", "net.bif", "bad.csv"),
    ]
    for arguments in commands[:1] if encoding == "cp1252" else commands:
        command = [sys.executable, "-m", "credo", *arguments]
        done = subprocess.run(command, capture_output=True, cwd=odd_files, env=environment, check=False, timeout=120)
        assert b"Traceback" not in done.stderr, done.stderr
        assert done.returncode == (2 if "bad.csv" in arguments else 0), done.stderr
        if "--json" in arguments:
            assert json.loads(done.stdout)["rows"] == 4
