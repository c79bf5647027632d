"""What experts know: a language of statements, its Python form, and what is wrong with what they wrote."""

from credo.knowledge.build import (
    P,
    different,
    lowers,
    noisy_and,
    noisy_max,
    noisy_min,
    noisy_or,
    order,
    raises,
    same,
    sub_synergize,
    synergize,
)
from credo.knowledge.cross_checks import synergy_direction, synergy_directions
from credo.knowledge.knowledge import Knowledge, knowledge_for, read_knowledge
from credo.knowledge.mistakes import KnowledgeError, Mistake
from credo.knowledge.orders import StateOrder
from credo.knowledge.resolve import check_columns
from credo.knowledge.text import to_text

__all__ = [
    "Knowledge",
    "KnowledgeError",
    "Mistake",
    "P",
    "StateOrder",
    "check_columns",
    "different",
    "knowledge_for",
    "lowers",
    "noisy_and",
    "noisy_max",
    "noisy_min",
    "noisy_or",
    "order",
    "raises",
    "read_knowledge",
    "same",
    "sub_synergize",
    "synergize",
    "synergy_direction",
    "synergy_directions",
    "to_text",
]
