"""The table along with the columns that ties between rows name, and the user's own line where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from credo.errors import MissingColumnError
from credo.io.dataset import Dataset
from credo.io.tables import stream_table
from credo.knowledge import Knowledge, KnowledgeError, check_columns
from credo.knowledge.statements import TiedRows

if TYPE_CHECKING:
    from credo.io.csv import Progress


def read_for(
    knowledge: Knowledge, data: Any, weights: Any = None, progress: Progress | None = None
) -> Iterator[Dataset]:
    """The table in parts, with the columns that tie rows together; a tie that the table cannot serve is a mistake."""
    ties = [statement for statement in knowledge.statements if isinstance(statement, TiedRows)]
    named = tuple(dict.fromkeys(tie.by for tie in ties if tie.by is not None))
    rows = 0
    try:
        for part in stream_table(data, knowledge.network, weights=weights, others=named, progress=progress):
            rows += len(part)
            yield part
    except MissingColumnError as error:
        if mistakes := check_columns(ties, error.columns):
            raise KnowledgeError(mistakes) from None
        raise
    if mistakes := check_columns(ties, named, rows):
        raise KnowledgeError(mistakes)
