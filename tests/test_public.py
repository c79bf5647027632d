"""The public names: all there, all from where the type checker sees them."""

from __future__ import annotations

import ast
import doctest
import enum
import importlib
import inspect
import itertools
import pickle
import re
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType

import pytest

import credo
import credo.knowledge
import credo.results
import credo.sklearn
from credo import errors
from credo.statistics.ties.factors import TieError


@pytest.mark.parametrize("name", credo.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(credo, name) is not None
    assert name in dir(credo)


def test_what_is_no_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'fitt'"):
        _ = credo.fitt


@pytest.mark.parametrize("module", [credo, credo.results])
def test_the_names_for_type_checkers_are_the_names_at_run_time(module: ModuleType) -> None:
    stub = ast.parse(Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    seen = [(each.module, alias) for each in stub.body if isinstance(each, ast.ImportFrom) for alias in each.names]
    assert {alias.asname for _, alias in seen} == set(module.__all__)
    for home, alias in seen:
        assert alias.name == alias.asname  # else checkers take it for an import of the stub's own
        assert getattr(module, alias.name) is getattr(importlib.import_module(str(home)), alias.name)


def test_there_are_few_names_and_few_arguments() -> None:
    """What users make, call or catch; types of what they get are in `credo.results`."""
    assert len(credo.__all__) <= 90
    assert len(inspect.signature(credo.fit).parameters) <= 16
    for name in credo.__all__:
        value = getattr(credo, name)
        assert not inspect.isclass(value) or value not in HELD, f"{name} is only ever part of a result"


HELD = [
    value for name in credo.results.__all__ if name not in credo.__all__ for value in [getattr(credo.results, name)]
]


@pytest.mark.parametrize(
    ("moved", "place"),
    [
        ({"complete_rows": True}, r"em=EMOptions\(complete_rows=True\)"),
        ({"tie_reading": "joint"}, r"em=EMOptions\(tie_reading=…\)"),
        ({"soft_weight": 1.0}, r"optimiser=OptimiserOptions\(soft_weight=…\)"),
        ({"trust": 0.9}, r"doubt=0\.1"),
        ({"verbose": False}, "progress=False"),
    ],
)
def test_an_argument_that_moved_says_where_it_is(moved: dict[str, object], place: str) -> None:
    rows = {"coin": ["heads", "tails"]}
    with pytest.raises(credo.OptionError, match=place):
        credo.fit("coin has states heads, tails", rows, **moved)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", credo.results.__all__)
def test_every_type_of_a_result_is_in_one_place(name: str) -> None:
    assert inspect.isclass(getattr(credo.results, name))
    assert name in dir(credo.results)


def test_a_name_that_moved_says_where_it_is() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Answer': it is credo\.results\.Answer"):
        _ = credo.Answer
    with pytest.raises(AttributeError, match=r"it is credo\.knowledge\.Influence"):
        _ = credo.Influence


def test_functions_stay_functions_after_their_module_was_imported() -> None:
    modules = ["fitting", "checking.check", "clustering", "topic_models", "cli.app"]
    imports = "import " + ", ".join(f"credo.{each}" for each in modules)
    code = f"{imports}; print(all(map(callable, (credo.fit, credo.check, credo.cluster, credo.topics))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_importing_credo_imports_nothing_large() -> None:
    code = "import sys, credo; print({'numpy', 'polars', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(credo.__file__).with_name("py.typed").exists()


# Errors --------------------------------------------------------------------------------------------------------------

ERRORS = [
    (errors.NetworkError("x"), ValueError),
    (errors.UnknownVariableError("lungs", ["lung"]), KeyError),
    (errors.FormatError("x", "net.bif", 3), ValueError),
    (errors.FileError("x", "net.bif"), OSError),
    (errors.MissingFileError("x", "net.bif"), FileNotFoundError),
    (errors.DataError("x"), ValueError),
    (errors.UnknownStateError("x"), ValueError),
    (errors.MissingColumnError("a", ["b"]), KeyError),
    (errors.ImpossibleRowError(3, ["a=b"]), ValueError),
    (errors.PriorError("x"), ValueError),
    (errors.OptionError("x"), ValueError),
    (errors.TooLargeError("x", 10), MemoryError),
    (errors.MissingExtraError("pgmpy", "pgmpy", "This"), ImportError),
    (TieError("x", [1, 2]), ValueError),
]


@pytest.mark.parametrize(("error", "built_in"), ERRORS, ids=[type(error).__name__ for error, _ in ERRORS])
def test_errors_are_also_built_in_ones(error: errors.CredoError, built_in: type[Exception]) -> None:
    assert isinstance(error, built_in)
    assert isinstance(error, errors.CredoError)
    assert "'" not in str(error)[:1], "no quotes around the message, as KeyError has them"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__


def test_what_public_objects_hold_and_return_is_public() -> None:
    """But for what is described as the inside of credo, and the objects of other libraries."""
    inside = {"Problem", "RowSample", "NumbersSeen", "Linear", "Probability"}
    for name, value in public().items():
        held = {}
        for base in value.__mro__ if inspect.isclass(value) else ():
            if base.__module__.startswith("credo."):
                held |= vars(base).get("__annotations__", {})
                for key, member in vars(base).items():
                    function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
                    if inspect.isfunction(function):
                        held[key] = function.__annotations__.get("return")
        if inspect.isfunction(value):
            held["return"] = value.__annotations__.get("return")
        home = vars(sys.modules[value.__module__]) if held else {}
        for key, annotation in held.items():
            for word in set() if key.startswith("_") else set(re.findall(r"\b[A-Z]\w+", str(annotation))) - inside:
                found = home.get(word)
                if (
                    inspect.isclass(found)
                    and found.__module__.startswith("credo.")
                    and found.__module__ != "credo.types"
                ):
                    homes = (credo, credo.results, credo.knowledge)
                    assert any(getattr(home, word, None) is found for home in homes), f"{name}.{key} is a {word}"


def test_every_error_of_this_list_is_public() -> None:
    for error, _ in ERRORS:
        assert getattr(credo, type(error).__name__) is type(error)


def test_built_in_errors_are_what_programs_catch(tmp_path: Path) -> None:
    network = credo.Network({"lung": ["no", "yes"]})
    with pytest.raises(KeyError, match='The network has no variable "lungs"'):
        network.states("lungs")
    for read in (
        lambda: credo.read_network(tmp_path / "none.bif"),
        lambda: credo.read_table(network, tmp_path / "none.csv"),
        lambda: credo.cluster(tmp_path / "none.csv", 2),
        lambda: credo.write_network(network, tmp_path / "none" / "net.bif"),
    ):
        with pytest.raises(FileNotFoundError):
            read()


# Documentation -------------------------------------------------------------------------------------------------------


def public() -> dict[str, object]:
    """What is in credo, and the types of results and of statements."""
    found = {name: getattr(credo, name) for name in credo.__all__}
    found |= {name: getattr(credo.results, name) for name in credo.results.__all__}
    return found | {name: getattr(credo.knowledge, name) for name in credo.knowledge.__all__ if name[0].isupper()}


def documented() -> dict[str, object]:
    """The public classes and functions, and their methods."""
    found: dict[str, object] = {}
    estimators = {name: getattr(credo.sklearn, name) for name in credo.sklearn.__all__}
    for name, value in (public() | estimators).items():
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        found[name] = value
        if inspect.isclass(value):
            own = [base for base in value.__mro__ if base.__module__.startswith("credo.")]
            for key, member in (pair for base in own for pair in vars(base).items()):
                if not key.startswith("_") and (inspect.isfunction(member) or isinstance(member, classmethod)):
                    found[f"{name}.{key}"] = getattr(value, key)
    return found


def test_parameters_in_the_documentation_are_those_of_the_code() -> None:
    for name, value in documented().items():
        text = inspect.getdoc(value) or ""
        if "Parameters\n----------" not in text or (inspect.isclass(value) and issubclass(value, BaseException)):
            continue
        section = re.split(r"\n\n(?=\w+\n-+\n)", text.split("Parameters\n----------\n")[1])[0]
        heads = [line.split(" : ")[0] for line in section.splitlines() if line and not line.startswith(" ")]
        listed = {part.strip().lstrip("*") for head in heads for part in head.split(",")}
        known = set(inspect.signature(value).parameters) - {"self"}
        assert listed == known, name


def pictures() -> dict[str, object]:
    return {f"plot.{name}": getattr(credo.plot, name) for name in credo.plot.__all__}


def test_every_public_name_has_the_sections_of_numpydoc() -> None:
    """Parameters where something is given, Returns where something is returned; a class may inherit its own."""
    lacking = []
    for name, value in (documented() | pictures()).items():
        is_class = inspect.isclass(value)
        if is_class and issubclass(value, (BaseException, enum.Enum)):  # their messages and members say it
            assert inspect.getdoc(value), name
            continue
        docs = [base.__doc__ or "" for base in value.__mro__] if is_class else [inspect.getdoc(value) or ""]
        signature = inspect.signature(value)
        takes = any(parameter != "self" for parameter in signature.parameters)
        if takes and not any(re.search(r"(Parameters|Attributes)\n *-{8,}\n", text) for text in docs):
            lacking.append(f"{name}: Parameters")
        returns = not is_class and signature.return_annotation not in (None, "None", inspect.Signature.empty)
        if returns and not any(re.search(r"Returns\n *-{7}\n", text) for text in docs):
            lacking.append(f"{name}: Returns")
    assert not lacking


def test_the_same_things_are_taken_in_the_same_order() -> None:
    """`fit(network, data, knowledge)`, and so everywhere."""
    orders: dict[frozenset[str], set[tuple[str, str]]] = {}
    for value in (documented() | pictures()).values():
        if inspect.isclass(value) and (issubclass(value, BaseException) or is_dataclass(value)):
            continue  # which users receive, or whose fields they name
        given = [
            parameter.name
            for parameter in inspect.signature(value).parameters.values()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.name != "self"
        ]
        for pair in itertools.combinations(given, 2):
            orders.setdefault(frozenset(pair), set()).add(pair)
    assert not [order for order in orders.values() if len(order) > 1]


@pytest.mark.parametrize("name", documented())
def test_examples_run(name: str) -> None:
    value = documented()[name]
    home = sys.modules[value.__module__]  # type: ignore[attr-defined]
    finder = doctest.DocTestFinder(recurse=False)
    for test in finder.find(value, name, module=home, globs=dict(vars(home))):
        assert not doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed, name
