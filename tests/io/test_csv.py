"""CSV files: every row, every label, and a clear word about what does not fit."""

from __future__ import annotations

import csv
import gzip
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from fuzz.csv_reference import plain_reader
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credo import DataError, Dataset, Network, TableFormat, UnknownStateError
from credo.io import csv as csv_module
from credo.io import csv_records
from credo.io.csv import stream_csv
from credo.io.dataset import concatenate

NET = Network({"smoke": ("no", "yes"), "lung": ("no", "yes"), "grade": ("1", "2", "3 or more")}, {"lung": ["smoke"]})


def read(path: Path, network: Network = NET, others: tuple[str, ...] = ()) -> Dataset:
    return concatenate(list(stream_csv(path, network, others)))


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize(
    "text",
    [
        "smoke,lung,grade\nno,yes,1\nyes,?,3 or more\n",
        "smoke,lung,grade\nno,yes,1\nyes,?,3 or more",  # no line end at the end
        "smoke,lung,grade\r\nno,yes,1\r\nyes,?,3 or more\r\n",
        "\ufeffsmoke,lung,grade\nno,yes,1\nyes,,3 or more\n",
        "smoke;lung;grade\nno;yes;1\nyes;*;3 or more\n",
        "smoke\tlung\tgrade\nno\tyes\t1\nyes\tNA\t3 or more\n",
        "grade,id,lung,smoke\n1,17,yes,no\n3 or more,18,,yes\n",
        '"smoke","lung","grade"\n"no","yes","1"\n"yes","","3 or more"\n',
        "smoke, lung, grade\nno, yes, 1.0\nyes, ?, 3 or more\n",
        "smoke,lung,grade\nno,yes,1\n\nyes,?,3 or more\n\n",
    ],
)
def test_the_same_table_in_many_spellings(file: Path, text: str) -> None:
    dataset = read(write(file, text))
    assert dataset.codes.tolist() == [[0, 1, 0], [1, -1, 2]]
    assert dataset.hidden == ()


def test_a_variable_without_a_column_is_hidden(file: Path) -> None:
    dataset = read(write(file, "smoke,grade\nno,2\n"))
    assert dataset.hidden == ("lung",)
    assert dataset.codes.tolist() == [[0, -1, 1]]


def test_other_columns_are_kept_as_text(file: Path) -> None:
    dataset = read(write(file, 'twin,smoke\n7,no\n"a ""b"", c",yes\n?,no\n'), others=("twin",))
    assert dataset.others["twin"].to_list() == ["7", 'a "b", c', None]
    assert dataset.codes[:, 0].tolist() == [0, 1, 0]


def test_quoted_labels_may_hold_separators_quotes_and_line_ends(file: Path) -> None:
    network = Network({"x": ("a,b", 'c"d', "e\nf", "a long label that fills words")})
    dataset = read(write(file, 'x\n"a,b"\n"c""d"\n"e\nf"\na long label that fills words\n'), network)
    assert dataset.codes[:, 0].tolist() == [0, 1, 2, 3]


def test_blanks_may_follow_a_closing_quote(file: Path) -> None:
    dataset = read(write(file, '"smoke" ,lung,"grade" \n"no" ,"yes"\t,"1"  \r\n"no","yes","1"\n'))
    assert dataset.codes.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_two_quotes_are_one_only_within_quotes(file: Path) -> None:
    network = Network({"x": ('a"b', 'a""b')})
    assert read(write(file, 'x\n"a""b"\na"b\n'), network).codes[:, 0].tolist() == [0, 0]
    assert read(write(file, 'x\na""b\n"a""""b"\n'), network).codes[:, 0].tolist() == [1, 1]
    dataset = read(write(file, 'x,id\na"b,"a""b"\na"b,a""b\n'), network, ("id",))
    assert dataset.others["id"].to_list() == ['a"b', 'a""b']


def test_a_name_in_the_header_may_hold_a_line_end(file: Path) -> None:
    network = Network({"x\ny": ("0", "1")})
    assert read(write(file, '"x\ny",id\r\n1,5\r\n'), network).codes[:, 0].tolist() == [1]


def test_thousands_of_columns(file: Path) -> None:
    names = [f"gene number {i}" for i in range(12_000)]
    network = Network({names[7]: ("0", "1"), names[-1]: ("0", "1")})
    row = ["0"] * len(names)
    row[7] = "1"
    for separator in ",;\t":
        text = "\n".join([separator.join(names), separator.join(row)])
        assert read(write(file, text), network).codes.tolist() == [[1, 0]]


def test_one_endless_line_ends_soon(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_records, "LONGEST_HEADER", 1000)
    monkeypatch.setattr(csv_module, "LONGEST_RECORD", 2000)
    monkeypatch.setattr(csv_module, "CHUNK_BYTES", 1000)
    with pytest.raises(DataError, match="the first line"):
        read(write(file, "a" * 5000))
    with pytest.raises(DataError, match=r"row 2: longer than 2.0 kB"):
        read(write(file, "smoke,lung,grade\nno,yes,1\n" + "x" * 10_000))
    with pytest.raises(DataError, match="row 1: a double quote is opened"):
        read(write(file, 'smoke,lung,grade\n"' + "no,yes,1\n" * 1000))


def test_a_text_that_is_not_utf8_is_an_error_too(file: Path) -> None:
    with pytest.raises(DataError, match="row 2: the value of id is not UTF-8"):
        read(write(file, "smoke,id\nno,a\nno,\xf6\n".encode("latin-1")), others=("id",))


def test_packed_files(tmp_path: Path) -> None:
    path = write(tmp_path / "table.csv.gz", gzip.compress(b"smoke,lung,grade\nno,yes,1\n"))
    assert read(path).codes.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (
            "smoke,lung,grade\nno,yes,1\nno,yess,1\n",
            UnknownStateError,
            ["lung", "row 2", '"yess"', 'mean "yes"', "no, yes"],
        ),
        ("smoke,lung,grade\nno,yes,1\nno,yes\n", DataError, ["row 2", "2 fields", "header has 3"]),
        ("smoke,lung,grade\nno,yes,1,9\n", DataError, ["row 1", "4 fields"]),
        ("smoke,lung,grade\nno,yes,1\nno,yes", DataError, ["row 2", "2 fields"]),
        ("smoke,smoke,grade\nno,yes,1\n", DataError, ['two columns named "smoke"']),
        ("smok,lun\nno,yes\n", DataError, ["No column", '"smok"', '"smoke"']),
        ('smoke,lung,grade\nno,"yes,1\n', DataError, ["row 1", "not closed"]),
        ("", DataError, ["empty"]),
        ("\n\n", DataError, ["empty"]),
        ('smoke,lung,grade\nno,yes,1\nno,yes,"1"0\n', DataError, ["row 2", "closing double quote", '"1"0']),
        ('smoke,lung,grade\n"no"x,yes,1\n', DataError, ["row 1", "closing double quote"]),
        ('smoke,lung,grade\n"no""x" y,yes,1\n', DataError, ["row 1", "closing double quote"]),
        ('smoke;lung;grade\nno;yes;"1",0\n', DataError, ["row 1", "closing double quote"]),
        ('smoke,"lung"s,grade\nno,yes,1\n', DataError, ["header", "closing double quote"]),
        ('smoke,"lung,grade\nno,yes,1\n', DataError, ["header", "not closed"]),
        ("smoke,lung,grade\nno,yes,1\nno,y\0es,1\n", DataError, ["row 2", "null character"]),
        ("smoke,lung,grade\nno,yes,1\0\n", DataError, ["row 1", "null character"]),
        (b"\xff\xfes\0m\0", DataError, ["UTF-8"]),
        (b"sm\xf6ke\nno\n", DataError, ["UTF-8"]),
    ],
)
def test_what_does_not_fit(file: Path, text: str | bytes, error: type[Exception], words: list[str]) -> None:
    with pytest.raises(error) as caught:
        read(write(file, text))
    for word in words:
        assert word in str(caught.value)


def test_all_unknown_values_are_named_at_once(file: Path) -> None:
    with pytest.raises(UnknownStateError) as caught:
        read(write(file, "smoke,lung,grade\nmaybe,yes,1\nno,perhaps,4\nmaybe,no,1\n"))
    message = str(caught.value)
    assert all(word in message for word in ("maybe", "perhaps", '"4"'))
    assert message.count("maybe") == 1


@pytest.mark.parametrize("chunk", [40, 100, 1000])
def test_chunks_and_threads_change_nothing(file: Path, monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    generator = np.random.default_rng(1)
    codes = np.column_stack([generator.integers(-1, size, 500) for size in (2, 2, 3)])
    labels = [
        [(*variable.states, "?")[k] for k in column] for variable, column in zip(NET.variables, codes.T, strict=True)
    ]
    with file.open("w", newline="") as out:
        csv.writer(out).writerows([NET.names, *zip(*labels, strict=True)])
    monkeypatch.setattr(csv_module, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(csv_module, "SMALL_PIECE", 16 if chunk > 40 else 10_000)
    parts = list(stream_csv(file, NET))
    assert len(parts) > 1
    assert concatenate(parts).codes.tolist() == codes.tolist()


@pytest.mark.parametrize("length", [10, 60, 130, 700])
def test_a_record_longer_than_a_piece_is_not_lost(file: Path, monkeypatch: pytest.MonkeyPatch, length: int) -> None:
    monkeypatch.setattr(csv_module, "CHUNK_BYTES", 100)
    monkeypatch.setattr(csv_module, "SMALL_PIECE", 16)
    monkeypatch.setattr(csv_module, "cpu_count", lambda: 4)
    write(file, "smoke,id\nno,a\n" + f"yes,{'x' * length}\n" * 3 + "no,b\n")
    dataset = read(file, others=("id",))
    assert dataset.codes[:, 0].tolist() == [0, 1, 1, 1, 0]
    assert dataset.others["id"].to_list() == ["a", *["x" * length] * 3, "b"]


def test_rows_are_counted_over_chunks(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_module, "CHUNK_BYTES", 64)
    monkeypatch.setattr(csv_module, "SMALL_PIECE", 32)
    write(file, "smoke,lung,grade\n" + "no,yes,1\n" * 99 + "no,yes,7\n")
    with pytest.raises(UnknownStateError, match="row 100:"):
        read(file)


def test_progress_reaches_the_end(file: Path) -> None:
    shares: list[float] = []
    list(stream_csv(write(file, "smoke\nno\nyes\n"), NET, progress=shares.append))
    assert shares[-1] == 1.0


LABEL = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n\t"), min_size=1, max_size=20)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_labels_survive(tmp_path: Path, data: st.DataObject) -> None:
    """What Python's csv module writes is read back to the letter, whatever the labels are."""
    states = data.draw(
        st.lists(LABEL, min_size=1, max_size=6, unique_by=str.strip).filter(lambda s: all(x.strip() for x in s))
    )
    network = Network({"x": tuple(states), "y": ("0", "1")})
    codes = data.draw(st.lists(st.integers(0, len(states) - 1), min_size=1, max_size=20))
    path = tmp_path / "any.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("y", "x"), *((0, states[k]) for k in codes)])
    assert read(path, network).codes[:, 0].tolist() == codes


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.binary(max_size=60))
def test_any_bytes_give_a_table_or_a_clear_error(tmp_path: Path, noise: bytes) -> None:
    path = write(tmp_path / "noise.csv", b"smoke,lung,grade\nno,yes,1\n" + noise)
    try:
        dataset = read(path)
    except DataError:
        return
    assert len(dataset) >= 1


def test_lines_that_end_with_a_carriage_return_alone_are_an_error(tmp_path: Path) -> None:
    for text in ("smoke,lung\rno,yes\r", "smoke\rno\r"):
        with pytest.raises(DataError, match="carriage return alone"):
            read(write(tmp_path / "old.csv", text))


def test_a_carriage_return_within_a_short_line_is_no_other_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="row 2: 4 fields, but the header has 3"):
        read(write(tmp_path / "odd.csv", "smoke,lung,grade\nno,yes,1\nno,yes,1,\r2\n"))


def test_archives_that_are_none_or_cut_off_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a gzip file, though its name says so"):
        read(write(tmp_path / "plain.csv.gz", "smoke,lung\nno,yes\n"))
    rng = np.random.default_rng(0)
    rows = "".join(f"{a},{b}\n" for a, b in rng.choice(["no", "yes"], (5000, 2)))
    packed = gzip.compress(f"smoke,lung\n{rows}".encode())
    with pytest.raises(DataError, match="is cut off"):
        read(write(tmp_path / "cut.csv.gz", packed[: len(packed) // 2]))
    broken = packed[:200] + bytes([packed[200] ^ 255]) + packed[201:]
    with pytest.raises(DataError):
        read(write(tmp_path / "broken.csv.gz", broken))


def test_a_cell_that_is_not_utf8_gets_a_hint(tmp_path: Path) -> None:
    network = Network({"ville": ["Orléans", "Paris"]})
    with pytest.raises(UnknownStateError, match="row 2.*save the file as UTF-8"):
        read(write(tmp_path / "latin.csv", "ville\nParis\nOrléans\n".encode("latin-1")), network)


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(noise=st.text(st.sampled_from('no,yes1"\n\r?é'), max_size=60))
def test_plain_and_compiled_read_the_same(tmp_path: Path, noise: str) -> None:
    """The same codes, or the same error, whatever quotes, line ends and separators stand where."""
    path = write(tmp_path / "noise.csv", "smoke,id\nno,yes\n" + noise)
    found: list[object] = []
    for reader in (nullcontext, plain_reader):
        with pytest.MonkeyPatch.context() as patch, reader():
            patch.setattr(csv_module, "CHUNK_BYTES", 1000)
            try:
                dataset = read(path, others=("id",))
                found.append((dataset.codes.tolist(), dataset.others["id"].to_list()))
            except DataError as error:
                found.append(str(error))
    assert found[0] == found[1]


@pytest.mark.parametrize("separator", [" ", "\t", "|"])
def test_a_blank_behind_a_quote_may_be_the_separator(file: Path, separator: str) -> None:
    text = f'smoke{separator}lung\n"no"{separator}"yes"\nyes{separator}no\n'
    parts = stream_csv(write(file, text), NET, table_format=TableFormat(separator=separator))
    assert concatenate(list(parts)).codes[:, :2].tolist() == [[0, 1], [1, 0]]
