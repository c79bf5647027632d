"""Files of every ending, and objects, through one door."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from credo import FileError, FormatError, MissingFileError, Network, NetworkError, read_network, write_network
from credo.errors import LossyFormatWarning
from credo.io.network_files import FORMATS
from tests.helpers.published import PUBLISHED_NETWORKS

EXACT = (".bif", ".bif.gz", ".xmlbif", ".bifxml")
ENDINGS = tuple(ending for known in FORMATS if known.write for ending in known.endings)


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


@pytest.mark.parametrize(
    "network", [example(), example(state='12+ "é" \\ % ; ) é', name='a "b"'), example(state="[0;1.5[")]
)
def test_net_keeps_everything(tmp_path: Path, network: Network) -> None:
    write_network(network, tmp_path / "net.net")  # warnings are errors here
    again = read_network(tmp_path / "net.net")
    assert again == network
    assert again.name == network.name


@pytest.mark.parametrize("ending", [".xdsl", ".dsl"])
def test_other_formats_keep_names_and_the_numbers_under_them(tmp_path: Path, ending: str) -> None:
    network = example()
    with pytest.warns(LossyFormatWarning, match="come back"):
        write_network(network, str(tmp_path / f"net{ending}"))
    again = read_network(str(tmp_path / f"net{ending}"))
    assert set(again.variables) == set(network.variables)
    for x in "xy":
        for p in "pqr":
            mine = by_name(network, a=x, b=p, c="v")
            assert by_name(again, a=x, b=p, c="v") == mine


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
DSL = """net n {
 node a {
  TYPE = CPT; // a
  HEADER = { ID = a; NAME = "a; } \\" b"; }; PARENTS = (); /* none } */
  DEFINITION = { NAMESTATES = (x, y); PROBABILITIES = (0.1, 0.9); };
 };
 node b { TYPE = CPT; PARENTS = (); DEFINITION = { NAMESTATES = (p, q, r); PROBABILITIES = (0.2, 0.3, 0.5); }; };
 node c { TYPE = CPT; PARENTS = (a, b); DEFINITION = { NAMESTATES = (u, v);
  PROBABILITIES = (0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5, 0.5, 0.6, 0.4); };
  EXTRA_DEFINITION = { DOCUMENTATION = { }; DOCUMENTATION = { }; }; };
 OBSERVATION_COST = { node a { PARENTS = (); COSTS = (0.0); }; };
}; // end
"""
SAMPLES = {".dsl": DSL, ".xdsl": XDSL, ".xmlbif": XMLBIF, ".uai": UAI, ".net": NET}


@pytest.mark.parametrize("ending", SAMPLES)
def test_the_first_parent_runs_slowest_as_each_specification_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"net{ending}"
    path.write_text(SAMPLES[ending])
    network = read_network(path)
    a, b, c = ("x0", "x1", "x2") if ending == ".uai" else ("a", "b", "c")
    table = network.cpt_array(c)[..., 0]
    if network.parents[c] == (b, a):
        table = table.T
    assert np.abs(table - [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]).max() < 1e-300
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
    (".net", "potential (c", "potental (c", "line 4: Expected `net`, `node` or `potential`, not `potental`"),
    (".net", "node b", "node a", "line 2: Node a is declared twice"),
    (".net", "potential (b)", "potential (a)", "line 3: A second `potential` of a"),
    (".net", "net {", "net { } net {", "one network"),
    (".net", "(c | a b)", "(c | a bb)", 'names "bb".*Did you mean "b"'),
    (".net", "(c | a b)", "(c | a a)", "parent a twice"),
    (".net", "(c | a b)", "(c a b)", "one child"),
    (".net", "potential (a) {", "potential (a | c) {", "cycle"),
    (".net", "0.4 0.6)", "0.4 0.6 0.1)", "line 4: The potential of c has 13 numbers; it needs 12"),
    (".net", "0.4 0.6)", "0.4 0.5)", r"line 4: P\(c \| a=y, b=p\) sums to 0.9"),
    (".net", "(0.4 0.6)(0.5 0.5)", "(0.4 0.6 0.5 0.5)", "do not fit its parents"),
    (".net", "((0.4 0.6)", "(((0.4 0.6)", "is not closed"),
    (".net", "(0.4 0.6)", "(0.4 0.6))", "do not fit"),
    (".net", "0.4 0.6)", "0.4 nan)", "Expected a number in the data of c, not `nan`"),
    (".net", "0.4 0.6)", "0.4 0.6.1)", "Expected a number in the data of c, not `0.6.1`"),
    (".net", "data = (0.1 0.9);", "data = normal (0, 1);", "Expected a number in the data of a, not `normal`"),
    (".net", "data = (0.1 0.9);", "data = (0.1 0.9); data = (0.1 0.9);", "second `data`"),
    (".net", "data = (0.1 0.9);", "data = (0.1 0.9)", "has no `;`"),
    (".net", "data = (0.1 0.9);", "model_data = (x);", "given by a model"),
    (".net", "node a", "continuous node a", "only discrete chance nodes"),
    (".net", "node a", "decision a", "only discrete chance nodes"),
    (".net", '("x" "y");', '("x" "y"; ', r"Expected a state of a or `\)`"),
    (".net", '("x" "y");', '("x" "x");', "state x twice"),
    (".net", 'states = ("x" "y");', "", "line 2: Node a has no states"),
    (".net", 'states = ("x" "y");', 'states = ("x" "y"); states = ("x" "y");', "second list of states"),
    (".net", 'states = ("x" "y");', 'label = "x', "has no `;`"),
    (".dsl", "TYPE = CPT", "TYPE = DECISION", "line 3: Node a is of type DECISION"),
    (".dsl", "net n", "nets n", "Expected `net`"),
    (".dsl", " node b", " node a", "A second node a"),
    (".dsl", " node b", " submodel b", "Expected `node` or an attribute, not `submodel`"),
    (".dsl", "(0.1, 0.9)", "(0.1, 0.8, 0.1)", "Node a has 3 numbers; it needs 2"),
    (".dsl", "(0.1, 0.9)", "(0.1, 0.8)", r"line 2: P\(a\) sums to 0.9"),
    (".dsl", "(0.1, 0.9)", "(0.1,, 0.9)", "A number is missing"),
    (".dsl", "(0.1, 0.9)", "(0.1, x)", "not `x`"),
    (".dsl", "(0.1, 0.9)", "(0.1, 0.9.1)", "not `0.9.1`"),
    (".dsl", "(0.1, 0.9)", "(0.1, 0.9", "not a list of numbers|Expected a number"),
    (".dsl", "PARENTS = (a, b);", "PARENTS = (a, b); PARENTS = (b, a);", "A second PARENTS"),
    (".dsl", "PARENTS = (a, b);", "PARENTS = (a, bb);", 'Did you mean "b"'),
    (".dsl", "NAMESTATES = (x, y);", "NAMESTATES = (x, x);", "state x twice"),
    (".dsl", "NAMESTATES = (x, y);", "NAMESTATES = (x, y); NAMESTATES = (x, y);", "A second NAMESTATES"),
    (".dsl", "ID = a;", "ID = a; ID = zz;", "line 4: A second ID of a"),
    (".dsl", "ID = a;", "ID = a; ID = a;", "line 4: A second ID of a"),
    (".dsl", "ID = a;", "ID = zz;", "line 4: The ID of node a is `zz`"),
    (".dsl", "HEADER = {", "HEADER = { ID = a; }; HEADER = {", "line 4: A second HEADER of a"),
    (".dsl", "TYPE = CPT; // a", "TYPE = CPT; TYPE = CPT;", "A second TYPE of a"),
    (".dsl", "(0.1, 0.9);", "(0.1, 0.9); PROBABILITIES = (0.2, 0.8);", "A second PROBABILITIES of a"),
    (".dsl", "TYPE = CPT; // a", "", "Node a has no TYPE"),
    (".dsl", "}; // end", "}; net", "Expected the end of the file"),
    (".dsl", "}; // end", "", "end of the file"),
    (".xdsl", "<parents>a b</parents>", "<parents>a b</parents><parents>b a</parents>", "line 5: A second <parents>"),
    (".xdsl", "<probabilities>0.1 0.9<", "<probabilities>1 0</probabilities><probabilities>0.1 0.9<", "A second <prob"),
    (".xdsl", "</nodes>", "</nodes><nodes/>", "A second <nodes>"),
    (".xdsl", '<cpt id="b">', '<cpt id="a">', "line 4: A second node a"),
    (".xdsl", "0.1 0.9<", "0.10.9 0.8<", "`0.10.9` where a number is expected"),
    (".xdsl", "0.1 0.9<", "0.1 <x/>0.9<", "Expected text alone in <probabilities>"),
    (".xdsl", "<smile", '<!DOCTYPE x [<!ENTITY a "b">]><smile', "declares an entity"),
    (".xmlbif", "<FOR>b</FOR>", "<FOR>b</FOR><TABLE>1 0 0</TABLE>", "line 7: A second <TABLE>"),
    (".xmlbif", "<FOR>b</FOR>", "<FOR>b</FOR><FOR>c</FOR>", "A second <FOR>"),
    (".xmlbif", "</NETWORK>", "</NETWORK><NETWORK></NETWORK>", "A second <NETWORK>"),
    (".xmlbif", "<NAME>b</NAME>", "<NAME>b</NAME><NAME>bb</NAME>", "line 4: A second <NAME>"),
    (".xmlbif", "0.1 0.9<", "0.1 0.8<", r"line 6: P\(a\) sums to 0.9"),
    (".uai", ".6 .4\n", ".6 .4\n0.5\n", "line 11: Expected the end of the file"),
    (".uai", ".6 .4\n", ".6 .4\nEOF\n", "line 11: Expected a number, not `EOF`"),
    (".uai", "3 2 3 2", "3 2 0 2", "x1 has no states"),
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
    (".xdsl", example(a="1a"), "cannot hold.*letters, digits and underscores"),
    (".xdsl", example().without_cpts(), "has no CPT"),
    (".uai", example().without_cpts(), "has no CPT"),
    (".net", example(a="a b"), "cannot hold"),
    (".net", example().without_cpts(), "has no CPT"),
    (".net", example(state="a\0b"), "cannot hold"),
    (".net", example(state="\ud800"), "cannot hold"),
    (".net", example(name="\n"), "cannot hold"),
    (".dsl", example(a="1a"), "cannot hold"),
    (".dsl", example().without_cpts(), "has no CPT"),
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


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")
@pytest.mark.parametrize("ending", [".xdsl", ".dsl"])
@pytest.mark.parametrize("state", ["0", "<5", "12+", "two words", "Łódź", "\ud800", "s1_0"])
def test_states_that_are_no_identifiers_come_back(tmp_path: Path, ending: str, state: str) -> None:
    network = example(state=state)
    path = tmp_path / f"net{ending}"
    write_network(network, path)
    found = read_network(path)
    assert found.states("c") == ("u", state)
    np.testing.assert_array_equal(found.cpt_array("c"), network.cpt_array("c"))


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")
def test_states_that_another_program_renamed_keep_their_new_names(tmp_path: Path) -> None:
    path = tmp_path / "net.xdsl"
    write_network(example(state="0"), path)
    text = path.read_text()
    assert 'id="s2_0"' in text
    path.write_text(text.replace('id="s2_0"', 'id="none"'))
    assert read_network(path).states("c") == ("s1_u", "none")


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
    with pytest.raises(FileError):
        read_network(path)


@pytest.mark.filterwarnings("ignore::credo.errors.LossyFormatWarning")
def test_files_need_no_other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    for ending in ENDINGS:
        write_network(example(), tmp_path / f"net{ending}")
        read_network(tmp_path / f"net{ending}")


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


@pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".xdsl", ".dsl"])
def test_an_order_with_parents_first_stays(ending: str, tmp_path: Path) -> None:
    """Whatever other such orders there are."""
    cpts = {"a": [0.25, 0.75], "b": np.eye(2), "c": [0.5, 0.5]}
    network = Network(dict.fromkeys("abc", ("u", "v")), {"b": ["a"]}, cpts)
    write_network(network, tmp_path / f"net{ending}")  # warnings are errors here
    assert read_network(tmp_path / f"net{ending}") == network


def test_a_loss_says_what_is_lost(tmp_path: Path) -> None:
    turned = Network({"b": ["u", "v"], "a": ["u", "v"]}, {"b": ["a"]}, {"a": [0.25, 0.75], "b": np.eye(2)})
    with pytest.warns(LossyFormatWarning, match="parents before children: variables come back as a, b") as caught:
        write_network(turned, tmp_path / "net.xdsl")
    assert Path(caught[0].filename) == Path(__file__)  # it points at the caller
    with pytest.warns(LossyFormatWarning, match="parents before children: variables come back as a, b"):
        write_network(turned, tmp_path / "net.dsl")
    thirds = Network({"a": ["u", "v"]}, {}, {"a": [1 / 3, 2 / 3]})
    for ending in (".net", ".dsl"):
        write_network(thirds, tmp_path / f"net{ending}")  # nothing is lost: warnings are errors here
        assert read_network(tmp_path / f"net{ending}") == thirds


def test_only_networks_are_written_and_only_to_paths(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="not a str"):
        write_network("asia", tmp_path / "x.bif")  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="not to a int"):
        write_network(example(), 5)  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="not a int"):
        Network.from_pgmpy(5)
