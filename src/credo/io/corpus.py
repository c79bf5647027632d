"""Texts become counts: which word stands in which text, and how often.

A word is a run of letters, in lower case, at least `min_length` long, no stop word, that stands in at least
`min_documents` texts. Texts that are lists of words already are only held to the last of these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from credo.arrays import Indices
from credo.errors import DataError, OptionError

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
    """Each pair of a text and a word that stands in it, with how often it does."""

    vocabulary: tuple[str, ...]  # in alphabetical order
    documents: int  # how many texts there are; some may hold no word
    document: Indices  # (pairs,) text by text
    word: Indices  # (pairs,)
    count: Indices  # (pairs,)

    @property
    def tokens(self) -> int:
        """How many words all texts have together."""
        return int(self.count.sum())

    @classmethod
    def of_counts(cls, documents: Iterable[Mapping[str, int]], min_documents: int = 1) -> Corpus:
        """From the counts of the words of each text."""
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
            raise DataError(f"No word stands in at least {min_documents} of the {len(counted)} texts.")
        document, word, count = np.array(triples, dtype=np.int64).T
        return cls(vocabulary, len(counted), document.copy(), word.copy(), count.copy())


def read_corpus(
    texts: Iterable[str | Iterable[str]],
    *,
    stop_words: Collection[str] = STOP_WORDS,
    min_length: int = 2,
    min_documents: int = 2,
) -> Corpus:
    """The words of texts, each a string or a list of words."""
    if isinstance(texts, str):
        raise DataError("Texts are a list of strings, not one string.")
    for name, value in (("min_length", min_length), ("min_documents", min_documents)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise OptionError(f"{name} is a whole number from 1; it is {value!r}.")
    stopped = frozenset(word.lower() for word in stop_words)
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
