"""Files of every ending, and objects, through one door."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from credo.errors import FileError, FormatError, LossyFormatWarning, MissingExtraError, MissingFileError, NetworkError
from credo.io.network_files import ENDINGS, read_network, write_network
from credo.model.network import Network
from tests.helpers.published import PUBLISHED_NETWORKS

EXACT = (".bif", ".bif.gz", ".xmlbif", ".bifxml")


def example(**names: str) -> Network:
    """A child with two parents of different sizes, in an order that no format would choose by itself."""
    a, b, c = names.get("a", "a"), names.get("b", "b"), names.get("c", "c")
    random = np.random.default_rng(5)
    variables = {c: ["u", names.get("state", "v")], b: ["p", "q", "r"], a: ["x", "y"]}
    tables = {c: random.dirichlet([1, 1], (2, 3)), b: random.dirichlet([1, 1, 1]), a: random.dirichlet([1, 1])}
    return Network(variables, {c: [a, b]}, tables, names.get("name", "example"))


def by_name(network: Network, **labels: str) -> float:
    """One number of the child's table, looked up by labels."""
    at = tuple(network.states(member).index(labels[member]) for member in (*network.parents["c"], "c"))
    return float(network.cpt_array("c")[at])


@pytest.mark.parametrize("ending", EXACT)
@pytest.mark.parametrize("network", [example(), example(a="A B & <x>", state='12+ "é"'), example().without_cpts()])
def test_exact_formats_keep_everything(tmp_path: Path, ending: str, network: Network) -> None:
    write_network(network, tmp_path / f"net{ending}")
    again = read_network(tmp_path / f"net{ending}")
    assert again == network
    assert again.name == network.name
    assert os.listdir(tmp_path) == [f"net{ending}"]


@pytest.mark.parametrize(("ending", "error"), [(".xdsl", 0.0), (".net", 6e-8), (".dsl", 1e-6)])
def test_other_formats_keep_names_and_the_numbers_under_them(tmp_path: Path, ending: str, error: float) -> None:
    network = example()
    with pytest.warns(LossyFormatWarning, match="come back"):
        write_network(network, str(tmp_path / f"net{ending}"))
    again = read_network(str(tmp_path / f"net{ending}"))
    assert set(again.variables) == set(network.variables)
    for x in "xy":
        for p in "pqr":
            mine = by_name(network, a=x, b=p, c="v")
            assert by_name(again, a=x, b=p, c="v") == pytest.approx(mine, abs=error, rel=0)


def test_uai_keeps_numbers_and_orders_only(tmp_path: Path) -> None:
    network = example()
    with pytest.warns(LossyFormatWarning, match="UAI has no names"):
        write_network(network, tmp_path / "net.uai")
    again = read_network(tmp_path / "net.uai")
    assert again.names == ("x0", "x1", "x2")
    assert again.parents["x0"] == ("x2", "x1")
    assert again.cpt_array("x0").tobytes() == network.cpt_array("c").tobytes()


XDSL = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="genie"><nodes>
<cpt id="a"><state id="x"/><state id="y"/><probabilities>0.1 0.9</probabilities></cpt>
<cpt id="b"><state id="p"/><state id="q"/><state id="r"/><probabilities>0.2 0.3 0.5</probabilities></cpt>
<cpt id="c"><state id="u"/><state id="v"/><parents>a b</parents>
<probabilities>0.1 0.9 0.2 0.8 0.3 0.7 0.4 0.6 0.5 0.5 0.6 0.4</probabilities></cpt>
<deterministic id="d"><state id="u"/><state id="v"/><parents>a</parents>
<resultingstates>v u</resultingstates></deterministic>
</nodes></smile>
"""
XMLBIF = """<?xml version="1.0"?>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME> a </NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><OUTCOME>p</OUTCOME><OUTCOME>q</OUTCOME><OUTCOME>r</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>c</NAME><OUTCOME>u</OUTCOME><OUTCOME>v</OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.1 0.9</TABLE></DEFINITION>
<DEFINITION><FOR>b</FOR><TABLE>0.2 0.3 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>c</FOR><GIVEN>a</GIVEN><GIVEN>b</GIVEN>
<TABLE>0.1 0.9 <!-- x, p --> 0.2 0.8 0.3 0.7 0.4 0.6 0.5 0.5 0.6 0.4</TABLE></DEFINITION>
</NETWORK></BIF>
"""
UAI = "BAYES\n3 2 3 2\n3\n1 0 # a\n1 1\n3 0 1 2\n\n2 .1 .9\n3 .2 .3 .5\n12 .1 .9 .2 .8 .3 .7 .4 .6 .5 .5 .6 .4\n"
NET = """net { name = "x"; }
node a { states = ("x" "y"); } node b { states = ("p" "q" "r"); } node c { states = ("u" "v"); }
potential (a) { data = (0.1 0.9); } potential (b) { data = (0.2 0.3 0.5); }
potential (c | a b) { data = (((0.1 0.9)(0.2 0.8)(0.3 0.7))((0.4 0.6)(0.5 0.5)(0.6 0.4))); }
"""
SAMPLES = {".xdsl": XDSL, ".xmlbif": XMLBIF, ".uai": UAI, ".net": NET}


@pytest.mark.parametrize("ending", SAMPLES)
def test_the_first_parent_runs_slowest_as_each_specification_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"net{ending}"
    path.write_text(SAMPLES[ending])
    network = read_network(path)
    a, b, c = ("x0", "x1", "x2") if ending == ".uai" else ("a", "b", "c")
    table = network.cpt_array(c)[..., 0]
    if network.parents[c] == (b, a):
        table = table.T
    assert np.abs(table - [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]).max() < (3e-8 if ending == ".net" else 1e-300)
    if ending == ".xdsl":
        assert network.cpt_array("d").tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("ending", SAMPLES)
@pytest.mark.parametrize("seed", range(30))
def test_broken_files_are_format_errors(tmp_path: Path, ending: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    text = SAMPLES[ending]
    for _ in range(random.integers(1, 4)):
        start = int(random.integers(0, len(text)))
        piece = str(random.choice(["", "", "\0", "<", "0.5", "99", "-1", "é", "x", " "]))
        text = text[:start] + piece + text[start + int(random.integers(0, 9)) :]
    path = tmp_path / f"net{ending}"
    path.write_text(text, encoding="utf-8")
    try:
        read_network(path)
    except FormatError as error:
        caught = error
    else:
        return
    assert caught.path == str(path)


MISTAKES = [
    (".xdsl", "deterministic", "equation", "only <cpt>, <noisymax> and <deterministic>"),
    (".xdsl", "0.1 0.9<", "0.1 0.8 0.1<", "has 3 numbers; it needs 2"),
    (".xdsl", "0.1 0.9<", "0.1 nan<", "where a number is expected"),
    (".xdsl", "v u<", "v w<", 'results in "w"'),
    (".xdsl", "v u<", "v<", "has 1 resulting states"),
    (".xdsl", "smile", "smiles", "Expected <smile>"),
    (".xmlbif", 'TYPE="nature"', 'TYPE="decision"', "only `nature`"),
    (".xmlbif", "<GIVEN>b<", "<GIVEN>bb<", 'Did you mean "b"'),
    (".xmlbif", "<FOR>b<", "<FOR>a<", "one definition"),
    (".xmlbif", "</NETWORK>", "", "This is not XML"),
    (".xmlbif", "BIF", "BUF", "Expected <BIF>"),
    (".uai", "BAYES", "MARKOV", "type BAYES"),
    (".uai", "12 .1", "11 .1", "size 11"),
    (".uai", "1 1\n", "1 7\n", "Expected a variable"),
    (".uai", "1 1\n", "1 0\n", "child of its own"),
    (".uai", "3\n1", "2\n1", "2 functions for 3"),
    (".uai", ".6 .4\n", ".6 x\n", "Expected a number"),
    (".uai", ".6 .4\n", "\n", "end of the file"),
    (".uai", ".6 .4\n", ".6 .5\n", "sums to 1.1"),
    (".net", "potential (c", "potental (c", "pyAgrum cannot read"),
]


@pytest.mark.parametrize(("ending", "old", "new", "message"), MISTAKES)
def test_a_mistake_is_named(tmp_path: Path, ending: str, old: str, new: str, message: str) -> None:
    assert old in SAMPLES[ending]
    path = tmp_path / f"net{ending}"
    path.write_text(SAMPLES[ending].replace(old, new))
    with pytest.raises(FormatError, match=message):
        read_network(path)


UNWRITABLE = [
    (".xmlbif", example(a="a\0"), "XML cannot hold"),
    (".xmlbif", example(a=" a"), "XML cannot hold"),
    (".xmlbif", example(state="\ud800"), "XML cannot hold"),
    (".xdsl", example(state="<5"), "letters, digits and underscores"),
    (".xdsl", example().without_cpts(), "has no CPT"),
    (".uai", example().without_cpts(), "has no CPT"),
    (".net", example(a="a b"), "cannot hold"),
    (".net", example().without_cpts(), "has no CPT"),
    (".net", example(state="a\0b"), "pyAgrum"),
    (".dsl", example(state="12+"), "cannot hold"),
]


@pytest.mark.parametrize(("ending", "network", "message"), UNWRITABLE)
def test_what_a_format_cannot_hold_is_an_error_and_the_old_file_stays(
    tmp_path: Path, ending: str, network: Network, message: str
) -> None:
    path = tmp_path / f"net{ending}"
    path.write_text("precious")
    with pytest.raises(FormatError, match=message) as caught:
        write_network(network, path)
    assert caught.value.path == str(path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == [path.name]


def test_objects_are_taken_as_they_are() -> None:
    network = example()
    assert read_network(network) is network
    assert read_network(network.to_pgmpy()) == network
    assert read_network(network.to_pyagrum()) == network


@pytest.mark.parametrize("source", [None, 7, {"a": ["x"]}, b"net.bif"])
def test_anything_else_is_an_error(source: object) -> None:
    with pytest.raises(NetworkError, match="A network is a path"):
        read_network(source)


@pytest.mark.parametrize("name", ["net.txt", "net", "net.gz", "net.bif.zip", ".bashrc"])
def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    for action in (lambda path: read_network(path), lambda path: write_network(example(), path)):
        with pytest.raises(FormatError, match=r"Known endings: \.bif, \.bif\.gz"):
            action(tmp_path / name)


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")
def test_endings_may_be_in_capitals(tmp_path: Path) -> None:
    for ending in ENDINGS:
        write_network(example(), tmp_path / f"NET{ending.upper()}")
        assert len(read_network(tmp_path / f"NET{ending.upper()}")) == 3


def test_a_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "asia.bif").write_text("x")
    with pytest.raises(MissingFileError, match=r'no such file. Did you mean "asia.bif"\?'):
        read_network(tmp_path / "assia.bif")
    with pytest.raises(FileNotFoundError, match="does not exist either"):
        read_network(tmp_path / "none" / "asia.bif")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_folder_is_not_a_file(tmp_path: Path, ending: str) -> None:
    folder = tmp_path / f"net{ending}"
    folder.mkdir()
    with pytest.raises(FileError, match="folder"):
        read_network(folder)
    with pytest.raises(FileError):
        write_network(example(), folder)
    assert os.listdir(tmp_path) == [folder.name]


def test_odd_paths_are_typed_errors(tmp_path: Path) -> None:
    for path in ("", ".", "\0.bif", "x" * 5000 + ".bif", str(tmp_path)):
        with pytest.raises((FormatError, FileError)):
            read_network(path)
        with pytest.raises((FormatError, FileError)):
            write_network(example(), path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the administrator may read everything")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_without_permission_is_an_error(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"net{ending}"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises((FileError, FormatError)):  # FormatError: pyAgrum reads the file itself
        read_network(path)


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")
def test_formats_of_our_own_need_no_other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    for ending in (*EXACT, ".xdsl", ".uai"):
        write_network(example(), tmp_path / f"net{ending}")
        read_network(tmp_path / f"net{ending}")
    with pytest.raises(MissingExtraError):
        write_network(example(), tmp_path / "net.net")


@pytest.mark.skipif(not PUBLISHED_NETWORKS.is_dir(), reason="the published networks are not here")
@pytest.mark.parametrize("name", ["asia", "child", "hailfinder", "win95pts"])
def test_published_networks_survive_the_exact_formats(tmp_path: Path, name: str) -> None:
    network = read_network(PUBLISHED_NETWORKS / f"{name}.bif")
    for ending in EXACT:
        write_network(network, tmp_path / f"net{ending}")
        assert read_network(tmp_path / f"net{ending}") == network


def test_nothing_is_said_of_a_loss_that_is_none(tmp_path: Path) -> None:
    network = Network({"x0": ["0", "1"], "x1": ["0", "1"]}, {"x1": ["x0"]}, {"x0": [0.25, 0.75], "x1": np.eye(2)})
    write_network(network, tmp_path / "net.uai")  # warnings are errors here
    named = Network({"a": ["u", "v"], "b": ["u", "v"]}, {"b": ["a"]}, {"a": [0.25, 0.75], "b": np.eye(2)})
    for ending in (".xdsl", ".net", ".dsl"):
        write_network(named, tmp_path / f"net{ending}")
        assert read_network(tmp_path / f"net{ending}") == named


def test_a_loss_says_what_is_lost(tmp_path: Path) -> None:
    turned = Network({"b": ["u", "v"], "a": ["u", "v"]}, {"b": ["a"]}, {"a": [0.25, 0.75], "b": np.eye(2)})
    with pytest.warns(LossyFormatWarning, match="parents before children: variables come back as a, b") as caught:
        write_network(turned, tmp_path / "net.xdsl")
    assert Path(caught[0].filename) == Path(__file__)  # it points at the caller
    thirds = Network({"a": ["u", "v"]}, {}, {"a": [1 / 3, 2 / 3]})
    with pytest.warns(LossyFormatWarning, match=r"Numbers come back changed by up to \de-08"):
        write_network(thirds, tmp_path / "net.net")


def test_only_networks_are_written_and_only_to_paths(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="not a str"):
        write_network("asia", tmp_path / "x.bif")  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="not to a int"):
        write_network(example(), 5)  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="not a int"):
        Network.from_pgmpy(5)
