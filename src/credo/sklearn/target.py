"""The target of a classifier: its states, the directions that are stated about it, and the CPT that it may have."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credo.errors import TooLargeError, UnknownStateError, readable_bytes, suggestion
from credo.io.columns import MISSING, Lexicon, text_of
from credo.knowledge import Knowledge
from credo.knowledge.state_order import Order
from credo.knowledge.statement_base import FamilyStatement
from credo.knowledge.statements import Influence
from credo.model.network import Network, Variable
from credo.model.state_texts import plain

MOST_CELLS = 2**22  # of the target's CPT if it is not noisy: 32 MB, and far more than data can fill
LEAST_PROBABILITY = 1e-12  # of a declared state that no training row has, so that a later row can have it


def stated_directions(known: Knowledge, target: str) -> dict[str, int] | None:
    """1 for each feature that raises the target, −1 for each that lowers it; None if anything else is stated.

    Margins, confidences, experts who may be wrong and contradictions are something else.
    """
    found: dict[str, int] = {}
    for stated in known.statements:
        if isinstance(stated, Order):
            continue
        if not isinstance(stated, Influence) or stated.child != target:
            return None
        if stated.margin or stated.confidence is not None or stated.expert is not None:
            return None
        sign = 1 if stated.direction == "raises" else -1
        if found.setdefault(stated.parent, sign) != sign:
            return None
    return found


def state_of(label: Any) -> str:
    """The state that a class is in statements: whole numbers without a point, all else as it is written."""
    return text_of(plain(label))


def class_codes(variable: Variable, classes: NDArray[Any]) -> NDArray[np.int64]:
    """The number of the state of each class."""
    lexicon = Lexicon.of(variable)
    codes = []
    for label in classes.tolist():
        code = lexicon.by_text.get(state_of(label), lexicon.code(label))
        if code is None or code == MISSING:
            raise UnknownStateError(
                f'y holds "{label}", which is not a state of {variable.name}.{suggestion(str(label), variable.states)}'
            )
        codes.append(code)
    return np.array(codes, dtype=np.int64)


def require_fillable_cpt(knowledge: Knowledge, target: str) -> None:
    """Raise if the full CPT of the target would be far larger than data can fill, before it is allocated."""
    network = knowledge.network
    cells = prod(network.shape(target))
    noisy = any(isinstance(stated, FamilyStatement) and stated.child == target for stated in knowledge.statements)
    if noisy or cells <= MOST_CELLS:
        return
    parents, kind = network.parents[target], "noisy-or" if len(network.states(target)) == 2 else "noisy-max"
    raise TooLargeError(
        f"With all {len(parents)} features as its parents, the CPT of {target} has {float(cells):.1e} numbers "
        f"({readable_bytes(8 * cells)}). State in the knowledge which features act independently, for example "
        f'"{target} is {kind} of {{{parents[0]}}}, {{{parents[1]}, {parents[2]}}}, …"; or leave features out, or cut '
        "them into fewer ranges.",
        8 * cells,
    )


def with_positive_priors(network: Network) -> Network:
    """The learned classifier without impossible values of features: declared states may occur in later rows."""
    cpts = {}
    for name in network.names:
        if not network.parents[name]:
            cpt = np.maximum(network.cpt_array(name), LEAST_PROBABILITY)
            cpts[name] = cpt / cpt.sum()
    return network.with_cpts(cpts)
