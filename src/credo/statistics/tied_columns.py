"""The data along with the columns that tie rows together, and which rows these columns tie.

A missing column is a mistake in the knowledge. What is a missing value of a state is one of such a column, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from credo.errors import MissingColumnError
from credo.io.columns import MISSING_TEXTS, checked_values, text_of
from credo.io.dataset import Dataset
from credo.io.tables import stream_table
from credo.knowledge import Knowledge, KnowledgeError, check_columns
from credo.knowledge.statements import TiedRows
from credo.types import MISSING, Indices, Progress, TableLike, Weights


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
    if rows and (mistakes := check_columns(ties, named, rows)):
        raise KnowledgeError(mistakes)


def tie_values(dataset: Dataset, column: str) -> tuple[Indices, list[str]]:
    """The rows with a value in a column, which may be that of a variable, and these values as texts.

    Blanks around a value do not count, as in states.
    """
    if column not in dataset.others:
        codes = dataset.codes[:, dataset.names.index(column)]
        rows = np.flatnonzero(codes != MISSING)
        return rows, codes[rows].astype(str).tolist()
    values = checked_values(dataset.others[column])
    texts = [None if value is None else text_of(value).strip() for value in values.to_list()]
    known = [row for row, text in enumerate(texts) if text is not None and text not in MISSING_TEXTS]
    return np.array(known, dtype=np.int64), [text for text in texts if text is not None and text not in MISSING_TEXTS]
