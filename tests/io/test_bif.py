"""BIF loses nothing, and says where a text is wrong."""

import gzip
import os
from pathlib import Path

import pytest

import credo
from credo import FileError, FormatError, MissingFileError, Network, Variable
from credo.io.bif import format_bif, parse_bif, read_bif, write_bif
from tests.helpers.bif_texts import DOGS, TWO
from tests.helpers.published import PUBLISHED_NETWORKS


def test_a_text_with_everything_is_read_exactly() -> None:
    network = parse_bif(DOGS)
    assert network.name == "dog problem"
    assert network.variables == (Variable("light", ("on", "off")), Variable("out", ("x", "y z", "12+")))
    assert network.parents == {"light": ("out",), "out": ()}
    assert network.cpt_array("light").tolist() == [[0.6, 0.4], [0.05, 0.95], [0.1, 0.9]]
    assert network.cpt_array("out").tolist() == [0.2, 0.3, 0.5]


ROWS = TWO[TWO.index("  (no, low)") : -2]
FIRST = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]


@pytest.mark.parametrize(
    "entries",
    [
        ROWS,
        "".join(reversed(ROWS.splitlines(keepends=True))),
        "table 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4;",
        "default 0.6 0.4;" + ROWS.replace("  (yes, high) 0.6, 0.4;\n", ""),
        ROWS.replace(", ", " "),
        ROWS.replace("(no, low)", '( "no" /* off */ , low )'),
        ROWS.replace("\n", "\r\n"),
        "property p = 1;" + ROWS + "property http://x.y/* ;",
    ],
    ids=["rows", "rows backwards", "table", "default", "no commas", "quoted", "windows lines", "properties"],
)
def test_every_way_to_write_a_table(entries: str) -> None:
    network = parse_bif(TWO.replace(ROWS, entries))
    assert network.cpt_array("c")[..., 0].tolist() == FIRST
    assert "b" not in network.cpts


def test_a_block_without_numbers_or_no_block_is_structure() -> None:
    network = parse_bif(TWO.replace(ROWS, ""))
    assert network.parents["c"] == ("a", "b")
    assert set(network.cpts) == {"a"}
    assert parse_bif(format_bif(network)) == network


def test_blocks_may_come_before_the_variables_they_name() -> None:
    at = TWO.index("variable c")
    assert parse_bif(TWO[:at].replace("network two {\n}\n", TWO[at:])).cpt_array("c")[..., 0].tolist() == FIRST


def test_the_old_way_without_a_bar_takes_the_first_name_for_the_child() -> None:
    assert parse_bif(TWO.replace("( c | a, b )", '( "c" "a" "b" )')).parents["c"] == ("a", "b")


# (what is replaced, by what, the line, words of the message)
MISTAKES = [
    ("[ 3 ]", "[ 4 ]", 7, "declares 4 states and lists 3"),
    ("[ 3 ]", "[ x ]", 7, "not a whole number"),
    ("[ 3 ]", "[ 99999999999 ]", 7, "not a whole number"),
    ("{ low, mid, high }", "{ low, mid, low }", 6, "state low twice"),
    ("[ 3 ] { low, mid, high }", "[ 0 ] { }", 6, "no states"),
    ("low, mid, high }", "very, low, mid, high }", 7, "A name with commas needs quotes"),
    ("low, mid, high }", '"low, mid, high }', 7, "not closed"),
    ("variable b", "variable a", 6, "declared twice"),
    ("variable b", "varible b", 6, "Expected `network`, `variable` or `probability`, not `varible`"),
    ("variable b", 'variable ""', 6, "needs a name"),
    ("type discrete [ 3 ]", "type continuous [ 3 ]", 7, "only discrete"),
    ("type discrete [ 3 ] { low, mid, high };", "", 6, "has no type"),
    ("type discrete [ 3 ] { low, mid, high };", "kind x;", 7, "Expected `type` or `property`"),
    ("high };", "high }", 8, "Expected `;`"),
    ("( c | a, b )", "( c | a, bb )", 15, 'Did you mean "b"'),
    ("( c | a, b )", "( cc | a, b )", 15, 'Did you mean "c"'),
    ("( c | a, b )", "( c | a, a )", 15, "parent a twice"),
    ("( c | a, b )", "( a | c, b )", 15, "second `probability` block for a"),
    ("( c | a, b )", "( c | a, b", 15, "Expected a parent of c or `)`"),
    ("(no, mid) 0.2, 0.8;", "(no, middle) 0.2, 0.8;", 17, 'Did you mean "mid"'),
    ("(no, mid) 0.2, 0.8;", "(no) 0.2, 0.8;", 17, "the parents are: a, b"),
    ("(no, mid) 0.2, 0.8;", "(no, low) 0.2, 0.8;", 17, "P(c | a=no, b=low) is given twice"),
    ("  (no, mid) 0.2, 0.8;\n", "", 15, "P(c | a=no, b=mid) is missing."),
    ("0.2, 0.8;", "0.2, 0.8, 0.0;", 17, "has 3 numbers; it needs 2"),
    ("0.2, 0.8;", ", 0.8;", 17, "A number is missing"),
    ("0.2, 0.8;", ";", 17, "has 0 numbers; it needs 2"),
    ("0.2, 0.8;", "0.2, 0.8e;", 17, "Expected a number in the block of c, not `0.8e`"),
    ("0.2, 0.8;", "0.2, nan;", 17, "Expected a number in the block of c, not `nan`"),
    ("0.2, 0.8;", '0.2, "0.8";', 17, 'Expected a number in the block of c, not `"0.8"`'),
    ("table 0.25, 0.75;", 'table 0.25, "0.75";', 13, 'Expected a number in the block of a, not `"0.75"`'),
    ("0.2, 0.8;", "0.2, 0_8;", 17, "Expected a number in the block of c, not `0_8`"),
    ("0.2, 0.8;", "0.2, ٣;", 17, "Expected a number in the block of c, not `٣`"),
    ("0.2, 0.8;", "0.2, 0.8", 18, "Expected a number or `;`"),
    ("0.2, 0.8;", "0.2, 0.7;", 15, "P(c | a=no, b=mid) sums to 0.9"),
    ("0.2, 0.8;", "-0.2, 1.2;", 15, "is negative"),
    ("0.2, 0.8;", "0.2, 1e999;", 15, "not a finite number"),
    ("table 0.25, 0.75;", "table 0.25, 0.75; table 1, 0;", 13, "A second `table`"),
    ("table 0.25, 0.75;", "table 0.25, 0.75; default 1, 0;", 12, "Remove one of them"),
    ("table 0.25, 0.75;", "row 0.25, 0.75;", 13, "Expected a configuration in brackets"),
    ("table 0.25, 0.75;", "table 0.25, 0.5, 0.25;", 13, "has 3 numbers; it needs 2"),
    ("network two", "network one {} network two", 1, "one network"),
    ("network two {", "network two { name;", 1, "properties only"),
    ("network two {", "network two { property x", 1, "no `;`"),
    ("variable b {", "variable b { /* and so on", 6, "not closed with `*/`"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), MISTAKES, ids=[f"{m[2]}: {m[3]}" for m in MISTAKES])
def test_a_mistake_is_found_on_its_line(old: str, new: str, line: int, message: str) -> None:
    assert old in TWO
    if "no `;`" in message:
        text = TWO.replace(old, new).replace(";", "")
    else:
        text = TWO.replace(old, new)
    with pytest.raises(FormatError) as caught:
        parse_bif(text, "two.bif")
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.path == "two.bif"


def test_a_cycle_is_a_format_error() -> None:
    with pytest.raises(FormatError, match="cycle"):
        parse_bif(TWO.replace("( a )", "( a | c )").replace("table 0.25, 0.75;", ""), "two.bif")


def test_a_default_row_cannot_fill_the_memory() -> None:
    names = [f"v{i}" for i in range(60)]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for name in names)
    block = f"probability ( v0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(FormatError, match="would have"):
        parse_bif(text + block)
    with pytest.raises(FormatError, match="is missing, and"):
        parse_bif(text + block.replace("default", f"({', '.join('a' * 59)})"))


@pytest.mark.parametrize("cut", range(0, len(TWO) - 2, 7))
def test_a_file_that_is_cut_off_is_an_error_or_less_of_a_network(cut: int) -> None:
    try:
        network = parse_bif(TWO[:cut])
    except FormatError:
        return
    assert not network.is_complete


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no variable"),
        (bytes(range(256)), "not UTF-8"),
        (b"\x00\x01\x02", "null character"),
        (TWO.replace("low", "größe").encode("latin-1"), "not UTF-8"),
        (TWO.encode("utf-16"), "not UTF-8"),
    ],
)
def test_what_is_no_text_is_a_format_error(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "net.bif"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message) as caught:
        read_bif(path)
    assert caught.value.path == str(path)
    assert caught.value.line is not None


@pytest.mark.parametrize(
    "content",
    [b"not packed", gzip.compress(TWO.encode())[:-20], gzip.compress(b"")],
    ids=["not packed", "cut off", "nothing in it"],
)
def test_a_broken_packed_file_is_a_format_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "net.bif.gz"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        read_bif(path)


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "net.bif"
    path.write_bytes(b"\xef\xbb\xbf" + TWO.encode())
    assert read_bif(path) == parse_bif(TWO)


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".bif", ".bif.gz"])
def test_files_keep_everything(tmp_path: Path, ending: str) -> None:
    network = parse_bif(DOGS)
    path = tmp_path / f"dogs{ending}"
    write_bif(network, path)
    assert read_bif(path) == network
    assert os.listdir(tmp_path) == [path.name]


def test_a_failed_write_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "net.bif"
    path.write_text("precious")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError, match="No space left"):
        write_bif(parse_bif(TWO), path)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["net.bif"]


def test_writing_into_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="No such file"):
        write_bif(parse_bif(TWO), tmp_path / "none" / "net.bif")


def test_writing_keeps_links_and_permissions(tmp_path: Path) -> None:
    path, link = tmp_path / "net.bif", tmp_path / "link.bif"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_bif(parse_bif(TWO), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert read_bif(path) == parse_bif(TWO)


@pytest.mark.skipif(not PUBLISHED_NETWORKS.is_dir(), reason="the published networks are not here")
@pytest.mark.parametrize("path", sorted(PUBLISHED_NETWORKS.glob("*.bif*")), ids=lambda path: path.name)
def test_published_networks_survive(path: Path) -> None:
    network = read_bif(path)
    assert network.is_complete
    assert parse_bif(format_bif(network)) == network


BARE = """network some net {
}
variable Age (years) {
  type discrete [ 3 ] { (0,18], (18,65], > 65 };
}
variable sampling place {
  type discrete [ 2 ] { at home, Asy/Patch };
}
variable treated {
  type discrete [ 3 ] { No, Yes, Yes, but late };
}
probability ( Age (years) ) {
  table 0.2, 0.5, 0.3;
}
probability ( sampling place | Age (years) ) {
  ((0,18]) 0.1, 0.9;
  ((18,65]) 0.2, 0.8;
  (> 65) 0.3, 0.7;
}
probability ( treated | sampling place, Age (years) ) {
  (at home, (0,18]) 0.1, 0.2, 0.7;
  (at home, (18,65]) 0.2, 0.2, 0.6;
  (at home, > 65) 0.3, 0.2, 0.5;
  (Asy/Patch, (0,18]) 0.4, 0.2, 0.4;
  (Asy/Patch, (18,65]) 0.5, 0.2, 0.3;
  (Asy/Patch, > 65) 0.6, 0.2, 0.2;
}
"""
NEEDS_QUOTES = [
    "some net",
    "Age (years)",
    "sampling place",
    "(18,65]",
    "(0,18]",
    "> 65",
    "at home",
    "Asy/Patch",
    "Yes, but late",
]


def test_names_without_quotes_read_as_with_quotes() -> None:
    quoted = BARE
    for name in NEEDS_QUOTES:
        quoted = quoted.replace(name, f'"{name}"')
    one, other = parse_bif(BARE), parse_bif(quoted)
    assert one.states("treated") == ("No", "Yes", "Yes, but late")
    assert one.names == ("Age (years)", "sampling place", "treated")
    assert_same(one, other)
    assert_same(parse_bif(format_bif(one)), one)


def assert_same(one: Network, other: Network) -> None:
    assert (one.name, one.variables, one.parents) == (other.name, other.variables, other.parents)
    for name in other.names:
        assert one.cpt_array(name).tolist() == other.cpt_array(name).tolist()


def test_published_networks_read_the_same_without_quotes() -> None:
    folder = Path(__file__).parents[3] / "shared" / "networks"
    pairs = [(path, folder / "published" / path.name) for path in sorted((folder / "published_unquoted").glob("*.bif"))]
    pairs = [(bare, quoted) for bare, quoted in pairs if quoted.exists()]
    if not pairs:
        pytest.skip("the published networks are not here")
    for bare, quoted in pairs:
        assert_same(credo.read_network(bare), credo.read_network(quoted))


def test_a_list_that_can_be_divided_in_two_ways_is_refused() -> None:
    with pytest.raises(FormatError, match="line 7: Variable sampling place declares 2 states"):
        parse_bif(BARE.replace("{ at home, Asy/Patch }", "{ at home, at work, so on }"))


def test_distributions_of_nan_are_not_given() -> None:
    with pytest.warns(
        credo.errors.IncompleteCPTWarning, match=r"P\(c \| a=no, b=low\) and 1 other configuration of 6 are NaN"
    ):
        network = parse_bif(TWO.replace("(no, low) 0.1, 0.9;", "(no, low) NaN, NaN;").replace("0.2, 0.8;", "nan nan;"))
    assert sorted(network.cpts) == ["a"]


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("(0,500], (500,1000], > 1,000", ["(0,500]", "(500,1000]", "> 1,000"]),
        ("0 - 999, 1,000 - 4,999, 5,000+", ["0 - 999", "1,000 - 4,999", "5,000+"]),
        ('"Yes, sure" , No, May be', ["Yes, sure", "No", "May be"]),
    ],
)
def test_commas_of_numbers_and_in_quotes_divide_no_states(text: str, states: list[str]) -> None:
    network = parse_bif(f"network n {{ }} variable Q {{ type discrete [ 3 ] {{ {text} }}; }}")
    assert list(network.states("Q")) == states


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("table NaN NaN;", r"P\(q\) is NaN in the file"),
        ("table -nan -nan;", r"P\(q\) is NaN in the file"),
    ],
)
def test_a_cpt_of_one_distribution_that_is_not_given(entries: str, said: str) -> None:
    with pytest.warns(credo.errors.IncompleteCPTWarning, match=said):
        network = parse_bif(
            f"network n {{ }} variable q {{ type discrete [ 2 ] {{ a, b }}; }} probability (q) {{ {entries} }}"
        )
    assert not network.cpts
