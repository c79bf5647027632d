"""Which orders of states the knowledge rests on, and which of them are not declared."""

from __future__ import annotations

from collections.abc import Sequence

from credo.findings import Finding
from credo.knowledge import Knowledge
from credo.knowledge.names import name_text, state_text
from credo.knowledge.state_order import LISTED, NATURAL, StateOrder
from credo.knowledge.statements import ordered_variables

ORDER_FINDING = "order of states"  # the kind of a finding
_FEW = 12  # variables that a finding names


def orders_used(knowledge: Knowledge) -> tuple[StateOrder, ...]:
    """The orders of the variables that influences, synergies and noisy families are about, each once."""
    used = dict.fromkeys(str(name) for each in knowledge.statements for name, _ in ordered_variables(each))
    return tuple(knowledge.orders[name] for name in used)


def order_findings(knowledge: Knowledge) -> list[Finding]:
    """The orders that are not declared: taken from the labels, or as the network lists the states."""
    used = orders_used(knowledge)
    findings = []
    for reason, source in ((NATURAL, "from their labels"), (LISTED, "as the network lists them")):
        orders = [order for order in used if order.reason == reason]
        if orders:
            more = f"; and {len(orders) - _FEW:,} more" if len(orders) > _FEW else ""
            shown = "; ".join(f"{order.variable}: {' < '.join(order.states)}" for order in orders[:_FEW])
            message = (
                f"It is not declared which states are low and which are high; they were ordered {source}: "
                f"{shown}{more}. If an order is wrong, write `{_reversed(orders)}`."
            )
            findings.append(Finding(ORDER_FINDING, message))
    return findings


def _reversed(orders: Sequence[StateOrder]) -> str:
    """The statement that reverses the first order."""
    first = orders[0]
    return f"order {name_text(first.variable)}: {' < '.join(state_text(state) for state in first.states[::-1])}"
