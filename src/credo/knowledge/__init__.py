"""What experts know: a language of statements, its Python form, and what is wrong with what they wrote."""

from credo.knowledge.knowledge import Knowledge, read_knowledge
from credo.knowledge.mistakes import KnowledgeError, Mistake
from credo.knowledge.orders import StateOrder
from credo.knowledge.text import to_text
from credo.knowledge.together import synergy_direction, synergy_directions

__all__ = [
    "Knowledge",
    "KnowledgeError",
    "Mistake",
    "StateOrder",
    "read_knowledge",
    "synergy_direction",
    "synergy_directions",
    "to_text",
]
