"""Texts as counts: which word occurs in which text, and how often."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from credo.errors import DataError, OptionError
from credo.options import checked_whole_number
from credo.types import Indices

LETTERS = re.compile(r"[^\W\d_]+")
_STOP_WORDS = """
a about above after again against all also am an and any are aren as at be because been before being below between
both but by can cannot could couldn did didn do does doesn doing don down during each few for from further had hadn
has hasn have haven having he her here hers herself him himself his how however i if in into is isn it its itself ll
may me might mightn more most must mustn my myself no nor not now of off on once only or other our ours ourselves out
over own re s same shall shan she should shouldn so some such t than that the their theirs them themselves then there
these they this those through thus to too under until up upon us ve very was wasn we were weren what when where
whether which while who whom why will with within without won would wouldn you your yours yourself yourselves
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """The words of texts: each pair of a text and a word that occurs in it, with its count.

    Attributes
    ----------
    vocabulary : tuple of str
        The words, in alphabetical order.
    documents : int
        The number of texts; some may have no words.
    document : ndarray of int, (pairs,)
        The text of each pair, from 0, in increasing order.
    word : ndarray of int, (pairs,)
        The word of each pair, as a place in `vocabulary`.
    count : ndarray of int, (pairs,)
        How often the word occurs in the text.

    Examples
    --------
    >>> corpus = Corpus.of_counts([{"net": 2, "data": 1}, {"net": 1}])
    >>> corpus.vocabulary, corpus.tokens
    (('data', 'net'), 4)
    """

    vocabulary: tuple[str, ...]
    documents: int
    document: Indices
    word: Indices
    count: Indices

    @property
    def tokens(self) -> int:
        """The number of words of all texts together."""
        return int(self.count.sum())

    @classmethod
    def of_counts(cls, documents: Iterable[Mapping[str, int]], min_documents: int = 1) -> Corpus:
        """A corpus from the counts of words of each text.

        Parameters
        ----------
        documents : iterable of mapping from str to int
            The counts of each text.
        min_documents : int, default 1
            Words that occur in fewer texts are left out.

        Returns
        -------
        Corpus
            The corpus.

        Raises
        ------
        DataError
            If no word is left.
        """
        counted = list(documents)
        seen = Counter(word for counts in counted for word in counts)
        vocabulary = tuple(sorted(word for word, texts in seen.items() if texts >= min_documents))
        number = {word: i for i, word in enumerate(vocabulary)}
        triples = [
            (text, number[word], count)
            for text, counts in enumerate(counted)
            for word, count in sorted(counts.items())
            if word in number
        ]
        if not triples:
            raise DataError(f"No word occurs in at least {min_documents} of the {len(counted)} texts.")
        document, word, count = np.array(triples, dtype=np.int64).T
        return cls(vocabulary, len(counted), document.copy(), word.copy(), count.copy())


def read_corpus(
    texts: Iterable[str | Iterable[str]],
    *,
    stop_words: Collection[str] | None = None,
    min_length: int = 2,
    min_documents: int = 2,
) -> Corpus:
    """Count the words of texts.

    In a string, a word is a run of letters, in lower case, with at least `min_length` letters, that is not a stop
    word. A list of words is used as it is.

    Parameters
    ----------
    texts : iterable of str or of lists of words
        The texts.
    stop_words : collection of str, optional
        Words to leave out of strings; common English words if not given.
    min_length : int, default 2
        Shorter words of strings are left out.
    min_documents : int, default 2
        Words that occur in fewer texts are left out.

    Returns
    -------
    Corpus
        The counts.

    Raises
    ------
    DataError
        If a text is neither a string nor a list of words, or no word is left.

    Examples
    --------
    >>> read_corpus(["The data of a network", "Network data"]).vocabulary
    ('data', 'network')
    """
    if isinstance(texts, str):
        raise DataError("Texts are a list of strings, not one string.")
    if hasattr(type(texts), "columns") or isinstance(texts, Mapping) or not isinstance(texts, Iterable):
        kind = type(texts).__name__
        raise DataError(f'Texts are a list of strings, not a {kind}. Of a table, give one column: table["text"].')
    checked_whole_number(min_length, "min_length")
    checked_whole_number(min_documents, "min_documents")
    if isinstance(stop_words, str):
        raise OptionError(f"stop_words is a list of words, such as [{stop_words!r}], not one string.")
    stopped = STOP_WORDS if stop_words is None else frozenset(word.lower() for word in stop_words)
    return Corpus.of_counts(
        [_count(place, text, stopped, min_length) for place, text in enumerate(texts)], min_documents
    )


def _count(place: int, text: str | Iterable[str], stopped: Collection[str], min_length: int) -> Counter[str]:
    if isinstance(text, str):
        words = LETTERS.findall(text.lower())
        return Counter(word for word in words if len(word) >= min_length and word not in stopped)
    try:
        words = list(text)
    except TypeError:
        raise DataError(f"Text {place + 1} is neither a string nor a list of words, but {text!r}.") from None
    for word in words:
        if not isinstance(word, str) or not word:
            raise DataError(f"Text {place + 1}: a word is a string that is not empty, not {word!r}.")
    return Counter(words)
