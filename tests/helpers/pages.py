"""Fits and pages that the tests of reports share."""

from __future__ import annotations

import re
from dataclasses import replace

import credo
from credo.explain.statement_references import StatementReference
from credo.report.fit_page import fit_page
from credo.shipped import example
from credo.testing import andes_like_network, true_statements

STATEMENTS = 6_690  # thirty a variable of Andes


def demo() -> credo.Fit:
    """The example of the tutorial."""
    folder = example("brain-tumour")
    network = credo.read_network(folder / "brain-tumour.bif").without_cpts()
    return credo.fit(network, folder / "patients.csv", credo.read_knowledge(network, folder / "brain-tumour.credo"))


def large_page() -> str:
    """A page as large as that of Andes with thirty statements a variable: a few are explained, and listed often."""
    network = andes_like_network()
    drawn = true_statements(network, 2, seed=2)
    fit = credo.fit(network, network.sample(300, seed=3), credo.Knowledge(network, drawn), method="cmap")
    explanation = fit.explain()
    times = -(-STATEMENTS // len(explanation.statements))
    repeated = [
        replace(each, statement=_moved(each.statement, len(drawn) * time))
        for time in range(times)
        for each in explanation.statements
    ]
    return fit_page(fit, replace(explanation, statements=tuple(repeated[:STATEMENTS])))


def _moved(statement: StatementReference, lines: int) -> StatementReference:
    number = statement.number + lines
    return replace(statement, number=number, line=number + 1, place=f"line {number + 1}")


def anchors(text: str) -> tuple[set[str], set[str]]:
    """The places that a page has, and those that its links lead to."""
    return set(re.findall(r'\bid="?(\w+)', text)), set(re.findall(r'href="?#(\w+)', text))
