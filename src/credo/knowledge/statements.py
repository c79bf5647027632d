"""The types of statements, and what the language knows about each: one entry in `STATEMENTS`.

To add a statement, write a module like `influence.py` (a dataclass, the functions that read, check and name it, and
its `StatementRules`), a rule in `grammar.lark`, an entry here, and a lowering rule in `credo/constraints/lower.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from credo.knowledge import comparison
from credo.knowledge.comparison import APPROXIMATION, COMPARISON, Approximation, Comparison
from credo.knowledge.declarations import DECLARATIONS, Declaration
from credo.knowledge.evidence import (
    EFFECT_STUDY,
    EXPERT_NUMBER,
    STUDY,
    EffectStudy,
    ExpertNumber,
    Study,
    with_states,
)
from credo.knowledge.experts import check_experts, expert_of
from credo.knowledge.gate import GATE, Gate
from credo.knowledge.influence import INDEPENDENCE, INFLUENCE, SYNERGY, Independence, Influence, Synergy
from credo.knowledge.mistakes import MAX_MISTAKES, PYTHON, LineMistake, Mistake, describe
from credo.knowledge.names import Name
from credo.knowledge.network_names import NetworkNames
from credo.knowledge.noisy_family import NOISY_FAMILY, NoisyFamily
from credo.knowledge.ranked_family import INTERPOLATED_FAMILY, RANKED_FAMILY, InterpolatedFamily, RankedFamily
from credo.knowledge.shared_cpt import SHARED_CPT, SharedCPT
from credo.knowledge.state_order import ORDER, Order
from credo.knowledge.statement_base import Kind, StatementRules
from credo.knowledge.tied_rows import TIED_ROWS, TiedRows, data_mistakes
from credo.model.network import Network

__all__ = [
    "STATEMENTS",
    "Approximation",
    "Comparison",
    "EffectStudy",
    "ExpertNumber",
    "Gate",
    "Independence",
    "Influence",
    "InterpolatedFamily",
    "NoisyFamily",
    "Order",
    "RankedFamily",
    "SharedCPT",
    "Statement",
    "Study",
    "Synergy",
    "TiedRows",
    "arcs_of",
    "check_columns",
    "check_statements",
    "described",
    "kind_of",
    "mentions_in",
    "ordered_variables",
    "place_of",
    "to_text",
    "with_named_states",
    "words_of",
]

Statement = (
    Comparison
    | Approximation
    | Influence
    | Independence
    | Synergy
    | Order
    | NoisyFamily
    | Gate
    | RankedFamily
    | InterpolatedFamily
    | SharedCPT
    | TiedRows
    | ExpertNumber
    | Study
    | EffectStudy
)

STATEMENTS: dict[type, StatementRules] = {
    Comparison: COMPARISON,
    Approximation: APPROXIMATION,
    Influence: INFLUENCE,
    Independence: INDEPENDENCE,
    Synergy: SYNERGY,
    Order: ORDER,
    NoisyFamily: NOISY_FAMILY,
    Gate: GATE,
    RankedFamily: RANKED_FAMILY,
    InterpolatedFamily: INTERPOLATED_FAMILY,
    SharedCPT: SHARED_CPT,
    TiedRows: TIED_ROWS,
    ExpertNumber: EXPERT_NUMBER,
    Study: STUDY,
    EffectStudy: EFFECT_STUDY,
}


def to_text(statement: Statement | Declaration) -> str:
    """The statement as one line of the language, which reads back as the same statement."""
    if type(statement) not in STATEMENTS and type(statement) not in DECLARATIONS:
        raise TypeError(f"{statement!r} is not a statement")
    expert = expert_of(statement)
    return str(statement) if expert is None else f"{expert}: {statement}"


def words_of(statement: Statement | Declaration) -> str:
    """A statement as the user wrote it; built in Python, as its line of the language."""
    if statement.span is None:
        return to_text(statement)
    return statement.span.text[statement.span.column - 1 : statement.span.end_column - 1].strip()


def place_of(statement: Statement | Declaration) -> str:
    """`asia.credo, line 3`, `line 3`, or nothing for a statement built in Python."""
    span = statement.span
    if span is None or not span.line:
        return ""
    return f"{span.source}, line {span.line}" if span.source else f"line {span.line}"


def kind_of(statement: Statement, network: Network) -> Kind:
    """The kind of a statement, in the words of the papers."""
    return STATEMENTS[type(statement)].kind(statement, network)


def arcs_of(statement: Statement) -> set[tuple[str, str]]:
    """The arcs (parent, child) without which a statement is a mistake: those about probabilities need none."""
    return set(STATEMENTS[type(statement)].arcs(statement))


def ordered_variables(statement: Statement) -> Iterable[tuple[str, bool]]:
    """The variables whose states a statement takes from low to high, and whether it means nothing without the order."""
    return STATEMENTS[type(statement)].ordered_variables(statement)


def with_named_states(statement: Statement, network: Network) -> Statement:
    """The statement with `!=` replaced by the states that it stands for; those without one as they are."""
    if isinstance(statement, Comparison | Approximation):
        return comparison.with_named_states(statement, network)
    if isinstance(statement, ExpertNumber | Study | EffectStudy):
        return with_states(statement, network, comparison.named_probability)
    return statement


# Checks ---------------------------------------------------------------------------------------------------------------


def check_statements(
    statements: Sequence[Statement], network: Network, is_declared: bool = False
) -> tuple[Mistake, ...]:
    """Every mistake that statements make about a network and with each other, in the order of the statements.

    `is_declared` says that declarations beside the statements make the network, so that a line can add to it.
    """
    names = NetworkNames(network, is_declared)
    mistakes: list[Mistake] = []
    broken: set[int] = set()
    for number, statement in enumerate(statements):
        found = [*STATEMENTS[type(statement)].check(statement, names)]
        if found:
            broken.add(number)
            mistakes.extend(described(mistake, statement) for mistake in found)
            if len(mistakes) >= MAX_MISTAKES:
                return (*mistakes, described(_too_many(statement), statement))
    correct = [statement for number, statement in enumerate(statements) if number not in broken]
    mistakes.extend(described(mistake, statement) for statement, mistake in check_experts(correct))
    for rules in STATEMENTS.values():
        mistakes.extend(described(mistake, statement) for statement, mistake in rules.check_together(correct))
    return tuple(mistakes)


def mentions_in(statements: Iterable[Statement]) -> dict[str, list[tuple[Statement, str]]]:
    """Each variable that statements name, in their order, with the statements and the name there.

    They are what a network without any of them would be missing.
    """
    names = NetworkNames(Network({"no variable\0": ["-"]}))
    found: dict[str, list[tuple[Statement, str]]] = {}
    for statement in statements:
        for mistake in STATEMENTS[type(statement)].check(statement, names):
            if mistake.kind == "unknown-variable":
                name = Name(mistake.facts["name"], mistake.column, mistake.end_column)
                found.setdefault(str(name), []).append((statement, name))
    return found


def check_columns(
    statements: Iterable[Statement], columns: Sequence[str], rows: int | None = None
) -> tuple[Mistake, ...]:
    """Ties that name a column or a row which the data do not have."""
    return tuple(_tie_mistakes(statements, columns, rows))


def _tie_mistakes(statements: Iterable[Statement], columns: Sequence[str], rows: int | None) -> Iterator[Mistake]:
    for statement in statements:
        if isinstance(statement, TiedRows):
            for mistake in data_mistakes(statement, columns, rows):
                yield described(mistake, statement)


def described(mistake: LineMistake, statement: Statement | Declaration) -> Mistake:
    """The mistake in the user's own line; a statement built in Python is shown as its line of the language."""
    span = statement.span
    if span is None:
        return describe(mistake, 0, to_text(statement), PYTHON)
    if not mistake.column:  # a name without columns, built in Python and put into a statement that was read
        mistake = mistake._replace(column=span.column, end_column=span.end_column)
    return describe(mistake, span.line, span.text, span.source)


def _too_many(statement: Statement) -> LineMistake:
    """The last mistake of a list that is long enough, at the end of its line."""
    end = len(to_text(statement) if statement.span is None else statement.span.text)
    return LineMistake("too-many-mistakes", end + 1, end + 2)
