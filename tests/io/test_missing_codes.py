"""Codes that stand for missing values: reported where they are likely, missing where they are declared."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

import credo

TABLE = """id,age,glu,type
1,40,-999,n/a
2,55,120,yes
3,-999,100.5,no
4,61,140,unknown
5,47,-999.0,yes
6,39,99,no
7,70,180,yes
8,65,130,no
9,52,111,yes
10,44,95,no
11,58,122,yes
12,62,133,no
"""
TEXT = "type depends on age, glu\nage is cut at 50\nglu is cut at 110\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "patients.csv"
    path.write_text(TABLE)
    return path


def missing(fit: credo.Fit) -> list[str]:
    return [str(each) for each in fit.findings if each.kind == "missing values"]


def test_likely_codes_are_findings(table: Path) -> None:
    with pytest.warns(credo.errors.MissingCodeWarning):
        texts = [str(each) for each in credo.fit("type depends on age, glu", table).findings]
    assert any("age: -999 in 1 row lies apart from all other numbers (39 to 70)" in text for text in texts)
    assert any("glu: -999 in 2 rows lies apart" in text and "missing values: -999" in text for text in texts)
    assert any("“n/a” in 1 row, “unknown” in 1 row" in text and '--missing "n/a, unknown"' in text for text in texts)


def test_ordinary_numbers_are_no_codes() -> None:
    rows = pandas.DataFrame({"x": [float(n) for n in range(985, 1010)] * 2, "y": ["no", "yes"] * 25})
    rows["z"] = [n - 10.5 for n in range(50)]
    rows.loc[3, "z"] = -9
    kinds = {each.kind for each in credo.fit("y depends on x, z", rows, method="cml").findings}
    assert "missing value codes" not in kinds


@pytest.mark.parametrize("way", ["text", "format", "frame"])
def test_declared_codes_are_missing(table: Path, way: str) -> None:
    line = "missing values: -999, n/a, unknown\n"
    if way == "format":
        fit = credo.fit(TEXT, table, table_format=credo.TableFormat(missing=(-999, "n/a", "unknown")))
    else:
        fit = credo.fit(TEXT + line, table if way == "text" else pandas.read_csv(table, keep_default_na=False))
    assert fit.network.states("type") == ("no", "yes")
    assert missing(fit) == ["type is missing in 2 of 12 rows, glu in 2, age in 1."]
    again = credo.check(TEXT + line + "P(type=yes) >= 0.1", data=table)
    assert not again.conflicts


def test_the_declaration_prints_as_it_is_read() -> None:
    network = credo.Network({"a": ["no", "yes"]})
    (declared,) = credo.Knowledge(network, 'missing values are -999, "a, b", ., <0.3').declarations
    assert declared.values == ("-999", "a, b", ".", "<0.3")
    assert str(declared) == 'missing values: -999, "a, b", ., <0.3'


def test_codes_are_reported_for_networks_that_have_cut_points(table: Path, tmp_path: Path) -> None:
    with pytest.warns(credo.errors.MissingCodeWarning):
        fit = credo.fit(TEXT, table, table_format=credo.TableFormat(missing=("n/a", "unknown")))
    credo.write_network(fit.network, tmp_path / "patients.bif")
    network = credo.read_network(tmp_path / "patients.bif")
    rows = pandas.read_csv(table, na_values=["n/a", "unknown"])
    for source in (table, rows):
        usual = {} if source is rows else {"table_format": credo.TableFormat(missing=("n/a", "unknown"))}
        with pytest.warns(credo.errors.MissingCodeWarning, match="lies apart from all other numbers"):
            again = credo.fit(network, source, **usual)
        assert [each.variable for each in again.findings if each.kind == "missing value codes"] == ["age", "glu"]


def test_a_number_that_ends_a_column_and_recurs_may_be_a_code() -> None:
    rows = pandas.DataFrame({"pres": [60 + n % 40 for n in range(90)] + [0] * 10, "cigarettes": [0, 5, 10, 20] * 25})
    rows["sex"] = ["f", "m", "m", "f", "9"] * 20
    rows["age"] = [20 + n % 60 for n in range(95)] + [99] * 5
    rows["ill"] = [1, 2, 2, 1, 9] * 20
    rows["y"] = ["no", "yes"] * 50
    with pytest.warns(credo.errors.MissingCodeWarning):
        fit = credo.fit("y depends on pres, cigarettes, sex, age, ill", rows, method="ml")
    said = {each.variable: each.message for each in fit.findings if "missing values of" in each.message}
    assert set(said) == {"pres", "sex", "age", "ill"}
    assert '`missing values of pres: 0` in the text, or give --missing "pres: 0"' in said["pres"]


@pytest.mark.parametrize("way", ["text", "format"])
def test_codes_of_single_columns(table: Path, way: str) -> None:
    other = table.with_name("other.csv")
    other.write_text(TABLE.replace("44,95", "99,95"))
    if way == "text":
        fit = credo.fit(TEXT + 'missing values: -999, n/a, unknown\nmissing values of glu, "type": 99\n', other)
    else:
        fit = credo.fit(TEXT, other, table_format=credo.TableFormat(missing=(-999, "n/a", "unknown", "glu: 99")))
    assert missing(fit) == ["glu is missing in 3 of 12 rows, type in 2, age in 1."]


def test_a_code_of_a_column_that_is_not_there(table: Path) -> None:
    with pytest.raises(credo.DataError, match='no column "gul". Did you mean "glu"'):
        credo.fit(TEXT + "missing values of gul: 0\n", table)


def test_words_among_numbers_can_be_declared(table: Path) -> None:
    table.write_text(TABLE.replace("61,140", ".,140").replace("47,-999.0", "n.a.,7"))
    with pytest.raises(
        credo.DataError, match='write `missing values: ., n.a.` in the text, or give --missing "., n.a."'
    ):
        credo.fit(TEXT, table)
