"""The knowledge language: statements of experts as text and in Python, and the mistakes in them."""

from credo.knowledge.comparison import Approximation, Comparison
from credo.knowledge.corrections import corrections
from credo.knowledge.decisions import CostDeclaration, DecisionDeclaration, UtilityDeclaration
from credo.knowledge.declarations import (
    CutDeclaration,
    DependenceDeclaration,
    MissingValuesDeclaration,
    VariableDeclaration,
    cut,
    depends_on,
    variable,
)
from credo.knowledge.declared_network import declared_network
from credo.knowledge.evidence import EffectStudy, ExpertNumber, Study
from credo.knowledge.experts import Expert
from credo.knowledge.gate import Gate, GateTerm, gate
from credo.knowledge.influence import (
    Independence,
    Influence,
    Synergy,
    does_not_affect,
    lowers,
    raises,
    sub_synergize,
    synergize,
    synergy_direction,
    synergy_directions,
)
from credo.knowledge.knowledge import Knowledge, KnowledgeSource, expert, knowledge_for, read_knowledge
from credo.knowledge.labels import GroupDeclaration, LabelDeclaration
from credo.knowledge.mistakes import KnowledgeError, KnowledgeFileError, KnowledgeTypeError, Mistake
from credo.knowledge.noisy_family import NoisyFamily, noisy_and, noisy_max, noisy_min, noisy_or
from credo.knowledge.quantity import P, Quantity
from credo.knowledge.ranked_family import GivenCorner, InterpolatedFamily, RankedFamily, WeightedParent
from credo.knowledge.sentences_in_python import effect_study, expert_number, interpolated, ranked, study
from credo.knowledge.shared_cpt import SharedCPT, one_cpt
from credo.knowledge.site import SiteDeclaration
from credo.knowledge.state_order import Order, StateOrder, order
from credo.knowledge.statement_base import Span
from credo.knowledge.statements import check_columns, kind_of, place_of, to_text, words_of
from credo.knowledge.tied_rows import TiedRows, different, same

__all__ = [
    "Approximation",
    "Comparison",
    "CostDeclaration",
    "CutDeclaration",
    "DecisionDeclaration",
    "DependenceDeclaration",
    "EffectStudy",
    "Expert",
    "ExpertNumber",
    "Gate",
    "GateTerm",
    "GivenCorner",
    "GroupDeclaration",
    "Independence",
    "Influence",
    "InterpolatedFamily",
    "Knowledge",
    "KnowledgeError",
    "KnowledgeFileError",
    "KnowledgeSource",
    "KnowledgeTypeError",
    "LabelDeclaration",
    "MissingValuesDeclaration",
    "Mistake",
    "NoisyFamily",
    "Order",
    "P",
    "Quantity",
    "RankedFamily",
    "SharedCPT",
    "SiteDeclaration",
    "Span",
    "StateOrder",
    "Study",
    "Synergy",
    "TiedRows",
    "UtilityDeclaration",
    "VariableDeclaration",
    "WeightedParent",
    "check_columns",
    "corrections",
    "cut",
    "declared_network",
    "depends_on",
    "different",
    "does_not_affect",
    "effect_study",
    "expert",
    "expert_number",
    "gate",
    "interpolated",
    "kind_of",
    "knowledge_for",
    "lowers",
    "noisy_and",
    "noisy_max",
    "noisy_min",
    "noisy_or",
    "one_cpt",
    "order",
    "place_of",
    "raises",
    "ranked",
    "read_knowledge",
    "same",
    "study",
    "sub_synergize",
    "synergize",
    "synergy_direction",
    "synergy_directions",
    "to_text",
    "variable",
    "words_of",
]
