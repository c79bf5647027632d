"""The language guide and the example files: every statement has its heading, every example is read."""

from __future__ import annotations

import doctest
import inspect
import re
from pathlib import Path

import pytest

import credo
import credo.knowledge
from credo import Knowledge, KnowledgeError, Network, read_knowledge
from credo.knowledge.declarations import DECLARATIONS
from credo.knowledge.mistakes import kinds
from credo.knowledge.statements import STATEMENTS
from tests.helpers.knowledge_examples import NETWORKS

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+) ?(\w*)\n(.*?)```", GUIDE, re.DOTALL)
EXAMPLES = [(network, text) for language, network, text in BLOCKS if language == "credo"]
OF_GUIDE = {"asia": NETWORKS["asia"], "ward": NETWORKS["clinic"], "measured": NETWORKS["measured"]}

NO_YES = ("no", "yes")
BRAIN_TUMOUR = Network(
    {
        "metastatic_cancer": NO_YES,
        "serum_calcium": ("normal", "increased"),
        "brain_tumour": NO_YES,
        "coma": NO_YES,
        "severe_headaches": NO_YES,
        "ct_scan": ("negative", "positive"),
    },
    {
        "serum_calcium": ["metastatic_cancer"],
        "brain_tumour": ["metastatic_cancer"],
        "coma": ["brain_tumour", "serum_calcium"],
        "severe_headaches": ["brain_tumour"],
        "ct_scan": ["brain_tumour"],
    },
)


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda kind: kind.__name__)
def test_every_type_of_statement_has_a_heading_and_an_example(statement):
    section = re.search(rf"^## {statement.__name__}\n(.*?)(?=^## )", GUIDE, re.DOTALL | re.MULTILINE)
    assert section, f"docs/language.md has no heading {statement.__name__}"
    (network, text), *_ = re.findall(r"```credo (\w+)\n(.*?)```", section[1], re.DOTALL)
    assert any(isinstance(made, statement) for made in Knowledge(OF_GUIDE[network], text))


@pytest.mark.parametrize(("network", "text"), EXAMPLES)
def test_every_example_of_the_guide_is_read(network, text):
    knowledge = Knowledge(OF_GUIDE[network], text)
    code = [line.split("#")[0].strip() for line in text.splitlines()]
    lines = sum(bool(line) and not re.fullmatch("expert .*:", line) for line in code)  # which opens a block
    assert len(knowledge) + len(knowledge.declarations) == lines
    assert Knowledge(OF_GUIDE[network], knowledge.to_text()) == knowledge


def test_the_python_of_the_guide_runs():
    (code,) = (text for language, _, text in BLOCKS if language == "python")
    names = {"asia": NETWORKS["asia"]}
    exec(compile(code, "language.md", "exec"), names)
    assert len(names["know"]) == 24
    assert len(names["know"].declarations) == 1


def test_every_type_of_declaration_has_an_example():
    (section,) = re.findall(r"^## Declarations\n(.*?)(?=^## )", GUIDE, re.DOTALL | re.MULTILINE)
    text = "\n".join(found for _, found in re.findall(r"```credo (\w+)\n(.*?)```", section, re.DOTALL))
    made = Knowledge(OF_GUIDE["measured"], text).declarations
    assert {type(declaration) for declaration in made} == set(DECLARATIONS)
    for form in ("age is cut into 4 quantiles", "age is cut into 3 equal ranges"):
        assert form in section


@pytest.mark.parametrize("name", [*credo.knowledge.__all__, "quantity.Quantity", "statement_base.ComparingStatement"])
def test_the_examples_of_docstrings_run(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    value = credo.knowledge
    for part in name.split("."):
        value = getattr(value, part)
    if isinstance(value, type) or inspect.isfunction(value):
        for example in doctest.DocTestFinder(recurse=True).find(value, name, globs={}):
            failures: list[str] = []
            doctest.DocTestRunner().run(example, out=failures.append)
            assert not failures, "".join(failures)


def test_public_functions_have_all_sections():
    for name in (name for name in credo.__all__ if name in credo.knowledge.__all__):
        value = getattr(credo, name)
        sections = ["Examples"] if inspect.isclass(value) else ["Parameters", "Returns", "Raises", "Examples"]
        for section in sections:
            assert f"\n{section}\n---" in (inspect.getdoc(value) or ""), (name, section)


def test_the_message_in_the_guide_is_the_one_that_is_shown(tmp_path):
    (message,) = (text for language, _, text in BLOCKS if language == "text")
    path = tmp_path / "asia.credo"
    path.write_text("\nP(lung=yes | smok=yes) >= 0.1\n", encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        read_knowledge(NETWORKS["asia"], path)
    assert str(caught.value) == message.rstrip("\n")


@pytest.mark.parametrize(
    ("path", "network"), [("asia/asia.credo", NETWORKS["asia"]), ("brain-tumour/brain-tumour.credo", BRAIN_TUMOUR)]
)
def test_the_example_files_are_read(path, network):
    knowledge = read_knowledge(network, ROOT / "examples" / path)
    assert len(knowledge) >= 10
    assert len({type(statement) for statement in knowledge}) >= 4
    assert any(getattr(statement, "confidence", None) for statement in knowledge)
    assert Knowledge(network, knowledge.to_text()) == knowledge


def test_no_kind_of_mistake_is_without_words():
    for kind, row in kinds().items():
        assert row["message"][0].isupper() or row["message"][0] in "'\"{", kind
        assert row["message"].endswith((".", "?")), kind
