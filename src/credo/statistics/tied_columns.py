"""The data along with the columns that tie rows together; a missing column is a mistake in the knowledge."""

from __future__ import annotations

from collections.abc import Iterator

from credo.errors import MissingColumnError
from credo.io.dataset import Dataset
from credo.io.tables import stream_table
from credo.knowledge import Knowledge, KnowledgeError, check_columns
from credo.knowledge.statements import TiedRows
from credo.types import Progress, TableLike, Weights


def stream_with_ties(
    knowledge: Knowledge, data: TableLike, weights: Weights | None = None, progress: Progress | None = None
) -> Iterator[Dataset]:
    """The data in parts, with the columns that tie rows together; a tie that does not fit the data is a mistake."""
    ties = [statement for statement in knowledge.statements if isinstance(statement, TiedRows)]
    named = tuple(dict.fromkeys(tie.by for tie in ties if tie.by is not None))
    rows = 0
    try:
        for part in stream_table(knowledge.network, data, weights=weights, others=named, progress=progress):
            rows += len(part)
            yield part
    except MissingColumnError as error:
        if mistakes := check_columns(ties, error.columns):
            raise KnowledgeError(mistakes) from None
        raise
    if mistakes := check_columns(ties, named, rows):
        raise KnowledgeError(mistakes)
