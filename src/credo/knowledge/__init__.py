"""The knowledge language: statements of experts as text and in Python, and the mistakes in them."""

from credo.knowledge.corrections import corrections
from credo.knowledge.declarations import cut, depends_on, variable
from credo.knowledge.declared_network import declared_network
from credo.knowledge.independence import does_not_affect
from credo.knowledge.influence import lowers, raises, sub_synergize, synergize, synergy_direction, synergy_directions
from credo.knowledge.knowledge import Knowledge, KnowledgeSource, expert, knowledge_for, read_knowledge
from credo.knowledge.mistakes import KnowledgeError, KnowledgeFileError, KnowledgeTypeError, Mistake
from credo.knowledge.noisy_family import noisy_and, noisy_max, noisy_min, noisy_or
from credo.knowledge.quantity import P
from credo.knowledge.state_order import StateOrder, order
from credo.knowledge.statements import check_columns, kind_of, place_of, to_text, words_of
from credo.knowledge.tied_rows import different, same

__all__ = [
    "Knowledge",
    "KnowledgeError",
    "KnowledgeFileError",
    "KnowledgeSource",
    "KnowledgeTypeError",
    "Mistake",
    "P",
    "StateOrder",
    "check_columns",
    "corrections",
    "cut",
    "declared_network",
    "depends_on",
    "different",
    "does_not_affect",
    "expert",
    "kind_of",
    "knowledge_for",
    "lowers",
    "noisy_and",
    "noisy_max",
    "noisy_min",
    "noisy_or",
    "order",
    "place_of",
    "raises",
    "read_knowledge",
    "same",
    "sub_synergize",
    "synergize",
    "synergy_direction",
    "synergy_directions",
    "to_text",
    "variable",
    "words_of",
]
