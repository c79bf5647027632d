"""A fit that is saved and loaded answers as before, to the last bit; any other file is an error with a reason."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import CutPoints, FileError, Fit, FormatError, MissingFileError, TooLargeError, Variable
from credo.estimation.methods import METHODS
from credo.estimation.problem import Data, Model, Problem, Settings
from credo.saving import archive
from credo.saving.fits import DERIVED, LEFT_OUT, LISTENERS
from credo.saving.records import NETWORK_PARTS, OPTIONAL_PARTS, Reader, Writer, hints_of
from tests.helpers.noisy_families import noisy_network
from tests.helpers.problems import known_network

TRUTH, _ = known_network()
STATEMENTS = (
    "0.1 <= P(b=s0 | a=s0) <= 0.9  # an expert, by telephone",
    "P(d=s0 | b=s0) >= 0.05 with confidence 0.8",
    "P(d=s0) <= 0.99",  # several CPTs make it up: it is only checked
)
FEW = credo.PosteriorOptions(draws=50, max_draws=50, warmup=20)


def saved(fit: credo.Fit, folder: Path) -> credo.Fit:
    back = credo.load(fit.save(folder / "model.fit"))
    assert type(back) is credo.Fit
    return back


def require_same(one: credo.Fit, two: credo.Fit) -> None:
    """Everything that a user can ask, bit for bit."""
    names = one.network.names
    assert str(one) == str(two)
    assert json.dumps(one.to_dict()) == json.dumps(two.to_dict())
    assert one.network == two.network
    assert one.knowledge == two.knowledge
    assert str(one.knowledge) == str(two.knowledge)
    assert [each.span for each in one.knowledge] == [each.span for each in two.knowledge]
    for field in ("status", "findings", "history", "certificate", "multipliers", "tied", "rows", "seconds"):
        assert getattr(one, field) == getattr(two, field), field
    target, given = names[-1], {names[0]: one.network.states(names[0])[0]}
    question = f"P({target} | {names[0]}={given[names[0]]})"
    assert str(one.query(question)) == str(two.query(question))
    assert one.query(question).frame.equals(two.query(question).frame)
    assert one.predict(given).equals(two.predict(given))
    rows = one.network.sample(20, seed=1)
    assert one.predict(rows, target).equals(two.predict(rows, target))
    assert one.most_probable(given).equals(two.most_probable(given))
    number = f"P({target}={one.network.states(target)[0]} | {names[0]}={given[names[0]]})"
    assert str(one.sensitivity(number)) == str(two.sensitivity(number))
    assert one.sensitivity(number).parameters.equals(two.sensitivity(number).parameters)
    for name in names:
        if name in one.network.cpts:
            assert one.cpt(name).equals(two.cpt(name))
        if one.posterior is not None and name not in one.network.forms:
            assert one.interval(name, 0.9).equals(two.interval(name, 0.9))
            assert one.deviation(name).equals(two.deviation(name))


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    knowledge = credo.Knowledge(TRUTH, ["\n".join(STATEMENTS), credo.P("a=s0") <= 0.95], name="notes.credo")
    return credo.fit(TRUTH.without_cpts(), TRUTH.sample(60, 1), knowledge, method="posterior", seed=4, posterior=FEW)


@pytest.fixture(scope="module")
def content(fit: credo.Fit, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return fit.save(tmp_path_factory.mktemp("saved") / "model.fit").read_bytes()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_comes_back(method: str, tmp_path: Path) -> None:
    statements = STATEMENTS[:1] if METHODS[method].cross_validates else STATEMENTS
    made = credo.fit(
        TRUTH.without_cpts(),
        TRUTH.sample(40, 1),
        "\n".join(statements),
        method=method,
        optimiser=credo.OptimiserOptions(soft_weight=1.0),
        posterior=FEW,
    )
    require_same(made, saved(made, tmp_path))


def test_the_posterior_comes_back_with_what_explains_it(fit: credo.Fit, tmp_path: Path) -> None:
    back = saved(fit, tmp_path)
    require_same(fit, back)
    assert "notes.credo, line 1" in str(back.knowledge)
    assert str(fit.explain(progress=False)) == str(back.explain(progress=False))
    assert fit.binding().equals(back.binding())
    assert fit.violations().equals(back.violations())
    page, again = (each.report(tmp_path / "page.html", progress=False).read_text() for each in (fit, back))
    assert page == again


def test_hidden_variables_missing_values_fixed_cpts_and_priors_come_back(tmp_path: Path) -> None:
    rows = TRUTH.sample(40, 1).drop("b").with_columns(pl.when(pl.col("d") == "s0").then(pl.col("c")).alias("c"))
    made = credo.fit(
        TRUTH, rows, STATEMENTS[0], fixed=["a"], prior={"c": TRUTH, "d": "bdeu:4", "b": 1.5}, method="cmap"
    )
    back = saved(made, tmp_path)
    require_same(made, back)
    assert made._problem is not None
    assert back._problem is not None
    assert made._problem.data.dataset is not None
    assert back._problem.data.dataset is not None
    assert back._problem.data.dataset.codes.tolist() == made._problem.data.dataset.codes.tolist()
    left_out = credo.load(made.save(tmp_path / "without.fit", without_rows=True))
    assert left_out._problem is not None
    assert left_out._problem.data.dataset is None
    assert back.is_incomplete
    assert back._problem.model.kept == ("a",)
    assert str(made.explain(progress=False)) == str(back.explain(progress=False))


@pytest.mark.parametrize("method", ["posterior", "cmap"])
def test_noisy_families_come_back(method: str, tmp_path: Path) -> None:
    truth = noisy_network(np.random.default_rng(2), "noisy-max", leak=True, sizes=(2, 2))
    made = credo.fit(truth, truth.sample(50, 1), method=method, em=credo.EMOptions(starts=1), posterior=FEW)
    back = saved(made, tmp_path)
    require_same(made, back)
    for small, other in zip(made.network.forms["y"].cpts, back.network.forms["y"].cpts, strict=True):
        assert np.array_equal(small, other)


def test_a_noisy_family_that_a_statement_declares_comes_back(tmp_path: Path) -> None:
    network = credo.Network(
        {"flu": ["no", "yes"], "cold": ["no", "yes"], "cough": ["no", "yes"]}, {"cough": ["flu", "cold"]}
    )
    rows = pl.DataFrame({"flu": ["no", "yes"] * 8, "cold": ["no", "no", "yes", "yes"] * 4, "cough": ["no", "yes"] * 8})
    made = credo.fit(network, rows, "cough is noisy-or of {flu}, {cold}", method="posterior", posterior=FEW)
    require_same(made, saved(made, tmp_path))


def test_cut_points_come_back_with_the_numbers_that_were_seen(tmp_path: Path) -> None:
    age = Variable("age", ("young", "old"), CutPoints((50,), lowest=18, highest=91.5))
    network = credo.Network([age, Variable("ill", ("no", "yes"))], {"ill": ["age"]})
    rows = pl.DataFrame({"age": [20.0, 49.9, 50.0, 88.0], "ill": ["no", "no", "yes", "no"]})
    made = credo.fit(network, rows, method="map", prior=1)
    back = saved(made, tmp_path)
    require_same(made, back)
    for one, two in ((made.network, back.network), (made.knowledge.network, back.knowledge.network)):
        kept, found = one.variable("age").cuts, two.variable("age").cuts
        assert kept is not None
        assert found is not None
        assert (kept.points, kept.lowest, kept.highest) == (found.points, found.lowest, found.highest)


def test_tied_rows_come_back(tmp_path: Path) -> None:
    network = credo.Network({"twin": ["a", "b"], "sign": ["no", "yes"]}, {"sign": ["twin"]})
    rows = pl.DataFrame({"sign": ["no", "yes", "yes", "no"], "twin": ["a", None, None, "b"]})
    made = credo.fit(network, rows, "rows 1, 2 share twin", method="cmap", prior=1)
    assert made.tied is not None
    back = saved(made, tmp_path)
    require_same(made, back)
    assert back.cll == made.cll


def test_large_cpts_are_counted_sparsely_and_come_back(tmp_path: Path) -> None:
    names = [f"v{k}" for k in range(21)]
    network = credo.Network({name: ["no", "yes"] for name in names}, {"v20": names[:-1]})
    rows = pl.DataFrame({name: ["no", "yes", "yes"] for name in names})
    with pytest.warns(credo.errors.LargeCPTWarning):
        made = credo.fit(network, rows, method="map", prior=1)
    back = saved(made, tmp_path)
    assert made._problem is not None
    assert back._problem is not None
    assert made._problem.data.counts.sparse.keys() == {"v20"}
    assert np.array_equal(made._problem.data.counts.of("v20"), back._problem.data.counts.of("v20"))
    assert str(made) == str(back)


def test_the_same_fit_is_the_same_bytes(fit: credo.Fit, content: bytes, tmp_path: Path) -> None:
    assert fit.save(tmp_path / "again.fit").read_bytes() == content
    assert credo.load(tmp_path / "again.fit").save(tmp_path / "third.fit").read_bytes() == content


def test_no_row_of_the_data_is_in_the_file(content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert not [name for name in file.namelist() if "dataset" in name]
        written = json.loads(file.read("content.json"))["problem"]
    assert written.keys() == {each.name for each in fields(Problem)}
    for part, kind, without in (("model", Model, DERIVED), ("data", Data, LEFT_OUT), ("settings", Settings, LISTENERS)):
        assert written[part].keys() == {each.name for each in fields(kind) if each.name not in without}


def test_every_field_of_a_variable_is_kept() -> None:
    """A field that is added to `Variable` is in the file, or cannot be written at all: it is never left out."""
    variable, writer = Variable("a", ("x", "y")), Writer()
    plain = writer.record(variable, "variable")
    assert list(plain) == [each.name for each in fields(Variable)]
    reader = Reader(archive.Archive("", None, {}))
    assert reader.record(Variable, plain, "variable") == variable
    assert hints_of(Fit).keys() == {each.name for each in fields(Fit)}


# Mistakes -------------------------------------------------------------------------------------------------------------


def test_another_ending_is_refused_before_anything_is_written(fit: credo.Fit, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"ends in \.fit"):
        fit.save(tmp_path / "model.bif")
    with pytest.raises(MissingFileError, match="no folder"):
        fit.save(tmp_path / "nowhere" / "model.fit")
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(
    fit: credo.Fit, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.fit"
    path.write_bytes(content)

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive.npy, "write_array", fail)
    with pytest.raises(FileError, match="No space left"):
        fit.save(path)
    assert path.read_bytes() == content
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("size", [0, 1, 100, 5000, -1000, -1])
def test_a_file_that_is_cut_off_is_an_error(content: bytes, size: int, tmp_path: Path) -> None:
    path = tmp_path / "model.fit"
    path.write_bytes(content[:size])
    with pytest.raises(FormatError, match="not a saved fit, or it is damaged or cut off"):
        credo.load(path)


def test_a_foreign_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.fit"
    for text in (b"network x {}", b"\x80\x04K*.", b"PK\x03\x04"):
        path.write_bytes(text)
        with pytest.raises(FormatError, match="not a saved fit"):
            credo.load(path)
    with pytest.raises(MissingFileError, match="no such file"):
        credo.load(tmp_path / "modl.fit")
    with pytest.raises(FileError, match="folder"):
        credo.load(tmp_path)


def changed(content: bytes, change: Callable[[dict[str, Any], dict[str, bytes]], object]) -> bytes:
    """The file after a change of its JSON, or of its arrays."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    value = json.loads(members.pop("content.json"))
    change(value, members)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, text in {"content.json": json.dumps(value).encode(), **members}.items():
            file.writestr(name, text)
    return out.getvalue()


def npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asarray(array), allow_pickle=True)
    return out.getvalue()


CHANGES: dict[str, tuple[Callable[[dict[str, Any], dict[str, bytes]], object], str]] = {
    "version": (lambda value, _: value.update(version=9, credo="9.9"), "saved by credo 9.9, in version 9"),
    "format": (lambda value, _: value.update(format="other"), "not a saved fit"),
    "part": (lambda value, _: value.pop("given"), "other parts"),
    "field": (lambda value, _: value["fit"].pop("rows"), "rows is missing"),
    "unknown field": (lambda value, _: value["fit"].update(code="import os"), "code is unknown"),
    "type": (lambda value, _: value["fit"].update(rows="many"), "it is not of the type int"),
    "status": (lambda value, _: value["fit"].update(status="__class__"), "its value is unknown"),
    "method": (lambda value, _: value["problem"]["settings"].update(method="eval"), "it is not a method"),
    "statement": (lambda value, _: value["statements"][0].update(statement="a rises"), "cannot be read"),
    "unknown name": (lambda value, _: value["statements"][0].update(statement="P(zz=s0) <= 0.5"), "zz"),
    "states": (lambda value, _: value["given"]["variables"][0].update(states=["s0", "s0"]), "twice"),
    "number": (lambda value, _: value["fit"].update(multipliers=[[99, 1.0]]), "statement that is not there"),
    "multiplier": (lambda value, _: value["fit"].update(multipliers=[[0, "inf"]]), "a figure of the result"),
    "seconds": (lambda value, _: value["fit"].update(seconds="nan"), "a figure of the result is not a number"),
    "array": (lambda _, arrays: arrays.pop("posterior.draws.npy"), "“posterior.draws” is missing or damaged"),
    "dtype": (lambda _, arrays: arrays.update({"posterior.draws.npy": npy([1, 2])}), "it holds int64, not float64"),
    "pickle": (
        lambda _, arrays: arrays.update({"posterior.draws.npy": npy(np.array([print], dtype=object))}),
        "it holds object",
    ),
    "shape": (lambda _, arrays: arrays.update({"posterior.draws.npy": npy(np.ones((1, 1, 1)))}), "of other CPTs"),
    "huge": (
        lambda _, arrays: arrays.update(
            {"posterior.draws.npy": npy(np.ones(3)).replace(b"(3,), ", b"(9" + b"0" * 12 + b",), ")[:200]}
        ),
        "missing or damaged",
    ),
    "sums": (
        lambda _, arrays: arrays.update(
            {"network.cpts.npy": npy(1.5 * np.load(io.BytesIO(arrays["network.cpts.npy"])))}
        ),
        "sum",
    ),
    "draws": (
        lambda _, arrays: arrays.update(
            {"posterior.draws.npy": npy(0.5 * np.load(io.BytesIO(arrays["posterior.draws.npy"])))}
        ),
        "a draw is not a distribution",
    ),
    "seed": (lambda value, _: value["posterior"].update(seed=-1), "seed is negative"),
    "check": (lambda value, _: value["fit"]["checks"]["checks"][0].update(variable="zz"), "a check is of no variable"),
    "p-value": (lambda value, _: value["fit"]["checks"]["checks"][0].update(adjusted=2.0), "is not a probability"),
    "rows": (lambda value, _: value["fit"]["checks"]["checks"][0].update(observed="inf"), "rows is not a number"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_part_is_an_error_that_names_it(name: str, content: bytes, tmp_path: Path) -> None:
    change, message = CHANGES[name]
    path = tmp_path / "model.fit"
    path.write_bytes(changed(content, change))
    with pytest.raises(FormatError, match=message) as caught:
        credo.load(path)
    assert str(path) in str(caught.value)


def test_sizes_are_checked_before_memory_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bomb.fit"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("content.json", b" " * 10_000_000)
    monkeypatch.setattr(archive, "memory_limit_or_default", lambda _: 20_000_000)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was read"))
    with pytest.raises(TooLargeError, match=r"40\.0 MB of memory; 20\.0 MB are allowed"):
        credo.load(path)


def test_a_part_that_is_there_twice_is_an_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.fit"
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as file:
        file.writestr("content.json", b"{}")
    with pytest.raises(FormatError, match="occurs twice"):
        credo.load(path)


def test_what_cannot_be_written_is_an_error_and_never_left_out(fit: credo.Fit, tmp_path: Path) -> None:
    strange: Any = replace(fit, log_likelihood="high")
    with pytest.raises(TypeError, match="log_likelihood is a str"):
        strange.save(tmp_path / "model.fit")


def test_cut_points_and_the_range_seen_come_back(tmp_path: Path) -> None:
    age = Variable("age", ("young", "old"), credo.CutPoints((50,), 18, 90))
    network = credo.Network([age, Variable("out", ("no", "yes"))], {"out": ["age"]})
    rows = pl.DataFrame({"age": [20.5, 30.0, 95.0, 70.0], "out": ["no", "no", "yes", "yes"]})
    fit = credo.fit(network, rows, method="map")
    again = credo.load(fit.save(tmp_path / "ages.fit"))
    assert again.network == fit.network
    cuts = again.network.variable("age").cuts
    assert cuts is not None
    assert (cuts.points, cuts.lowest, cuts.highest) == ((50.0,), 20.5, 95.0)
    assert again.query("P(out | age=60)").query == "P(out | age=old)"


def test_every_field_of_a_network_is_written() -> None:
    derived = {"order", "_by_name"}
    assert {*NETWORK_PARTS, *OPTIONAL_PARTS} - {"gates"} == {each.name for each in fields(credo.Network)} - derived


@pytest.mark.parametrize(
    ("method", "statements"),
    [
        ("posterior", "expert joe: P(b=s0 | a=s0) >= 0.3\nP(d=s0) <= 0.9\nP(a=s0 | d=s0) >= 0.2"),
        ("posterior", "expert joe: P(d=s0) <= 0.4\nP(b=s0 | a=s0) >= 0.3"),
        ("map", "expert joe: P(a=s0) is about 0.305"),
        ("cmap", "P(d=s0, a=s0) = 0"),
        ("posterior", "P(d=s0, a=s0) = 0"),
    ],
)
def test_statements_that_may_be_wrong_and_impossible_events_are_explained_alike_after_loading(
    method: str, statements: str, tmp_path: Path
) -> None:
    made = credo.fit(TRUTH.without_cpts(), TRUTH.sample(40, 1), statements, method=method, posterior=FEW)
    back = saved(made, tmp_path)
    require_same(made, back)
    assert made._problem is not None
    assert back._problem is not None
    one, two = made._problem.model.constraints, back._problem.model.constraints
    assert one.network_constraints == two.network_constraints
    for column in ("indices", "coefficients", "bounds", "statements", "equality", "confidences"):
        assert np.array_equal(getattr(one.linear, column), getattr(two.linear, column), equal_nan=True), column
    explained, again = made.explain(progress=False), back.explain(progress=False)
    assert str(explained) == str(again)
    assert explained.next_observations == again.next_observations
