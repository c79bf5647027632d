"""Short files that ask for much: each is refused, or read, at once. Sizes are checked before memory is taken."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path
from time import process_time

import pytest

from credo import CredoError, FormatError, TooLargeError, read_network
from credo.io import files

MOST_SECONDS, MOST_BYTES = 2.0, 50_000_000


def bif_variables(count: int) -> str:
    return "".join(f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(count))


def bif_family(parents: int, entries: str) -> str:
    names = ", ".join(f"v{i}" for i in range(1, parents + 1))
    return bif_variables(parents + 1) + f"probability ( v0 | {names} ) {{ {entries} }}"


def xdsl_states(count: int) -> str:
    return "".join(f'<state id="s{i}"/>' for i in range(count))


def xdsl(*nodes: str) -> str:
    return f'<smile id="x"><nodes>{"".join(nodes)}</nodes></smile>'


PARENTS = [f"p{i}" for i in range(15)]
BINARY = '<state id="a"/><state id="b"/>'
ROOTS = [f'<cpt id="{name}">{BINARY}<probabilities>0 1</probabilities></cpt>' for name in PARENTS]
NOISY = [
    f'<noisymax id="n{i}">{BINARY}<parents>{" ".join(PARENTS)}</parents>'
    f"<parameters>{'0 1 ' * 31}</parameters></noisymax>"
    for i in range(520)
]
NET_NODES = "".join(f"node v{i} {{ states = (a b); }}\n" for i in range(36))
ALL_BUT_FIRST = [f"v{i}" for i in range(1, 36)]

COSTLY = {
    "no states": (".uai", "BAYES 2 0 2000000000 2 1 0 2 0 1 0 0"),
    "many states": (".uai", "BAYES 1 2000000000 1 1 0 2000000000 0.5 0.5"),
    "many variables": (".uai", "BAYES 2000000000 2 2"),
    "large scope": (".uai", "BAYES 1 2 1 2000000000 0 0 0"),
    "large CPT": (".uai", "BAYES 9 " + "9 " * 9 + "9 " + "9 0 1 2 3 4 5 6 7 8 " + "1 1 " * 8 + "387420489 0.5"),
    "open properties": (".bif", "// x\n" + "property " * 26_000),
    "open quotes": (".bif", "// x\n" + '\\"' * 120_000),
    "comments": (".bif", "/*" * 60_000),
    "quotes in a property": (".bif", "network x { property " + '"a\n' * 120_000),
    "default": (".bif", bif_family(27, "default 0.5, 0.5;")),
    "2000 parents": (".bif", bif_family(2000, "table 0.5, 0.5;")),
    "results": (
        ".xdsl",
        xdsl(
            f'<cpt id="a">{xdsl_states(6000)}<probabilities>1{" 0" * 5999}</probabilities></cpt>',
            f'<deterministic id="b">{xdsl_states(6000)}<parents>a</parents>'
            f"<resultingstates>{' s1' * 6000}</resultingstates></deterministic>",
        ),
    ),
    "noisy families": (".xdsl", xdsl(*ROOTS, *NOISY)),
    "entities": (".xmlbif", '<!DOCTYPE x [<!ENTITY a "aaa"><!ENTITY b "&a;&a;">]><BIF>&b;</BIF>'),
    "depth": (".xmlbif", "<a>" * 300_000),
    "parents in NET": (".net", NET_NODES + f"potential (v0 | {' '.join(ALL_BUT_FIRST)}) {{ data = (0.5 0.5); }}"),
    "brackets in NET": (".net", "node a { states = (x y); } potential (a) { data = " + "(" * 50_000),
    "brackets in a value": (".net", "net { x = " + "(" * 50_000 + '"'),
    "quotes in NET": (".net", "net { x = " + '"\\' * 150_000),
    "parents in DSL": (
        ".dsl",
        f"net x {{ node v0 {{ TYPE = CPT; PARENTS = ({', '.join(ALL_BUT_FIRST)}); DEFINITION = {{ NAMESTATES = (a, b); "
        "PROBABILITIES = (1, 0); }; }; "
        + "".join(
            f"node {name} {{ TYPE = CPT; DEFINITION = {{ NAMESTATES = (a, b); PROBABILITIES = (1, 0); }}; }};\n"
            for name in ALL_BUT_FIRST
        )
        + "};",
    ),
    "long names": (
        ".bif",
        f"variable {'a' * 50_000} {{ type discrete [ 1 ] {{ u }}; }} probability ( {'b' * 50_000} ) {{ table 1; }}",
    ),
    "zeros": (".bif.gz", "variable a { type discrete [ 1 ] { u }; }" + " " * 20_000_000),
}


@pytest.mark.parametrize(("ending", "text"), COSTLY.values(), ids=COSTLY)
def test_a_costly_file_is_refused_at_once(tmp_path: Path, ending: str, text: str) -> None:
    path = tmp_path / f"net{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    tracemalloc.start()
    try:
        start = process_time()
        with pytest.raises(FormatError) as caught:
            read_network(path)
        seconds, (_, peak) = process_time() - start, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.path == str(path)
    assert peak < MOST_BYTES
    assert seconds < 10 * MOST_SECONDS  # tracemalloc takes most of it


def test_a_name_may_be_long(tmp_path: Path) -> None:
    name = "a" * 17_000
    path = tmp_path / "net.net"
    path.write_text(f"node {name} {{ states = (x y); }}")
    assert read_network(path).names == (name,)


def test_a_default_of_a_size_that_fits_is_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    path.write_text(bif_family(12, f"default 0.5, 0.5; ({', '.join('b' * 12)}) 1, 0;"))
    cpt = read_network(path).cpts["v0"]
    assert cpt.sum() == 2**12
    assert cpt[(1,) * 12].tolist() == [1, 0]


def test_a_file_larger_than_memory_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "memory_limit_or_default", lambda limit: 1000)
    for ending in (".bif", ".uai", ".net", ".dsl", ".xdsl", ".xmlbif", ".bif.gz"):
        path = tmp_path / f"net{ending}"
        path.write_bytes(b"x" * 1000)
        with pytest.raises(TooLargeError, match=r"1.0 kB may take 16.0 kB of memory"):
            read_network(path)


@pytest.mark.parametrize("ending", [".bif", ".uai", ".net", ".dsl", ".xdsl", ".xmlbif"])
@pytest.mark.parametrize(
    "content", [b"", b"\0", b"\xff\xfe\0", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc3", b"BAYES \xb2", "BAYES ²".encode()]
)
def test_what_is_no_text_is_a_typed_error(tmp_path: Path, ending: str, content: bytes) -> None:
    path = tmp_path / f"net{ending}"
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        read_network(path)
    assert caught.value.path == str(path)


@pytest.mark.parametrize("damage", ["cut", "flipped", "not packed", "empty", "twice"])
def test_a_damaged_archive_is_a_typed_error_or_read(tmp_path: Path, damage: str) -> None:
    whole = gzip.compress(b"variable a { type discrete [ 1 ] { u }; }\n" * 1)
    content = {
        "cut": whole[:-9],
        "flipped": whole[:20] + bytes([whole[20] ^ 255]) + whole[21:],
        "not packed": b"variable a",
        "empty": b"",
        "twice": whole + gzip.compress(b"\n"),
    }[damage]
    path = tmp_path / "net.bif.gz"
    path.write_bytes(content)
    if damage == "twice":
        assert read_network(path).names == ("a",)
    else:
        with pytest.raises(CredoError, match="gzip|no variable|Expected"):
            read_network(path)
