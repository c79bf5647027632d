"""Topics in texts, with words that are known to belong together: document → topic → word [yao, section 7.3].

Each pair of a text and a word in it is a row, weighted with its count; its topic is hidden. Words of one group that
stand in the same text share their topic there: the rows are tied, and `fit` learns from them what it learns from any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credo.arrays import Numbers
from credo.errors import OptionError, suggestion
from credo.findings import Finding
from credo.fitting import fit as learn
from credo.io.corpus import STOP_WORDS, Corpus, read_corpus
from credo.io.dataset import Dataset, code_type
from credo.knowledge import Knowledge
from credo.knowledge.statements import TiedRows
from credo.model.network import Network
from credo.options import EMOptions
from credo.progress import ProgressListener
from credo.results import Fit

# Pseudo-counts, small against the tokens of a text and of a topic: few topics a text, few words a topic.
PRIOR = {"topic": 0.1, "word": 0.01}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Topics:
    """The words of each topic and the topics of each text. Topics are numbered from 0."""

    fit: Fit
    corpus: Corpus
    together: tuple[tuple[str, ...], ...]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words, in alphabetical order."""
        return self.corpus.vocabulary

    @property
    def word_probabilities(self) -> Numbers:
        """P(word | topic), (topics, vocabulary)."""
        return self.fit.network.cpt_array("word")

    @property
    def document_topics(self) -> Numbers:
        """P(topic | document), (texts, topics); uniform for a text without words."""
        return self.fit.network.cpt_array("topic")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What a reader should know."""
        return self.fit.findings

    def words(self, topic: int, n: int = 10) -> list[str]:
        """The most probable words of a topic, the first the most probable."""
        count = len(self.word_probabilities)
        if not 0 <= topic < count:
            raise OptionError(f"Topics are numbered from 0 to {count - 1}; there is no topic {topic}.")
        return [self.vocabulary[word] for word in self._top(topic, n)]

    def coherence(self, n: int = 10) -> Numbers:
        """How much the n most probable words of each topic stand in the same texts, (topics,), from -1 to 1.

        The mean over pairs of words of log(P(u, v) / (P(u) P(v))) / -log P(u, v), where P is the share of the texts.
        """
        holds = self._holds()
        return np.array([_npmi(holds[:, self._top(topic, n)]) for topic in range(len(self.word_probabilities))])

    def together_share(self, n: int = 50) -> Numbers:
        """For each group of words, the largest share of it that is among the n most probable words of one topic."""
        top = [{self.vocabulary[word] for word in self._top(topic, n)} for topic in range(len(self.word_probabilities))]
        return np.array([max(len(words.intersection(group)) for words in top) / len(group) for group in self.together])

    def _top(self, topic: int, n: int) -> list[int]:
        return np.argsort(-self.word_probabilities[topic], kind="stable")[:n].tolist()  # type: ignore[no-any-return]

    def _holds(self) -> Any:
        """Which text holds which word, (texts, vocabulary)."""
        from scipy.sparse import csc_array

        corpus = self.corpus
        ones = np.ones(len(corpus.document))
        return csc_array((ones, (corpus.document, corpus.word)), shape=(corpus.documents, len(corpus.vocabulary)))

    def __repr__(self) -> str:
        topics = "\n".join(f"  {topic}: {' '.join(self.words(topic))}" for topic in range(len(self.word_probabilities)))
        return (
            f"<Topics: {len(self.word_probabilities)} of {self.corpus.documents:,} texts with {self.corpus.tokens:,} "
            f"words, {len(self.vocabulary):,} different; {self.fit.status.name.lower()}\n{topics}>"
        )


def topics(
    texts: Iterable[str | Iterable[str]] | Corpus,
    k: int,
    *,
    together: Sequence[Sequence[str]] = (),
    prior: Any = None,
    starts: int = 1,
    seed: int = 0,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    stop_words: Collection[str] = STOP_WORDS,
    min_length: int = 2,
    min_documents: int = 2,
    progress: ProgressListener | None = None,
) -> Topics:
    """Find `k` topics in texts: strings, or lists of words, or a `Corpus` that was counted already.

    `together` lists groups of words that share their topic wherever they stand in one text:
    `[["complexity", "np", "polynomial"]]`. A word is a run of letters, in lower case, no stop word, of at least
    `min_length` letters, in at least `min_documents` texts. `prior` are pseudo-counts as in `fit`, of the variables
    `topic` (given the document) and `word` (given the topic). `starts`, `seed`, `max_iterations`, `tolerance` and
    `progress` are those of `fit`. The same seed gives the same topics.
    """
    if isinstance(k, bool) or not hasattr(k, "__index__") or int(k.__index__()) < 1:
        raise OptionError(f"The number of topics is a whole number from 1; it is {k!r}.")
    corpus = (
        texts
        if isinstance(texts, Corpus)
        else read_corpus(texts, stop_words=stop_words, min_length=min_length, min_documents=min_documents)
    )
    groups = _checked_groups(together, corpus)
    network = topic_network(corpus, int(k.__index__()))
    knowledge = Knowledge(network, [TiedRows(("topic",), by=column) for column in _columns(groups)])
    fit = learn(
        network, topic_rows(corpus, network, groups), knowledge, method="cmap", prior=PRIOR if prior is None else prior,
        seed=seed, em=EMOptions(starts, max_iterations, tolerance), progress=progress,
    )  # fmt: skip
    return Topics(fit, corpus, groups)


def topic_network(corpus: Corpus, k: int) -> Network:
    """document → topic → word; documents are numbered from 1."""
    return Network(
        {
            "document": [str(i + 1) for i in range(corpus.documents)],
            "topic": [str(i) for i in range(k)],
            "word": corpus.vocabulary,
        },
        {"topic": ["document"], "word": ["topic"]},
        name="topics",
    )


def topic_rows(corpus: Corpus, network: Network, groups: Sequence[Sequence[str]] = ()) -> Dataset:
    """A row for each pair of a text and a word, and a column for each group: the text, in rows of the group's words."""
    import polars as pl

    codes = np.full((len(corpus.word), 3), -1, dtype=code_type(network))
    codes[:, 0], codes[:, 2] = corpus.document, corpus.word
    others = {}
    for column, group in zip(_columns(groups), groups, strict=True):
        inside = np.isin(corpus.word, np.searchsorted(corpus.vocabulary, list(group)))
        others[column] = pl.Series(column, corpus.document + 1).set(pl.Series(~inside), None)
    return Dataset(
        network.names, codes, corpus.count.astype(np.float64), ("topic",), others, variables=network.variables
    )


def _columns(groups: Sequence[Sequence[str]]) -> list[str]:
    return [f"together {number + 1}" for number in range(len(groups))]


def _checked_groups(together: object, corpus: Corpus) -> tuple[tuple[str, ...], ...]:
    """Groups of words of the texts, each word once."""
    wrong = 'together is a list of lists of words, such as [["complexity", "np"]].'
    if isinstance(together, str):
        raise OptionError(wrong)
    known, groups = set(corpus.vocabulary), []
    try:
        found = [each if isinstance(each, str) else tuple(each) for each in together]  # type: ignore[attr-defined]
    except TypeError:
        raise OptionError(wrong) from None
    for each in found:
        if isinstance(each, str) or not all(isinstance(word, str) for word in each):
            raise OptionError(wrong)
        group = tuple(dict.fromkeys(each))
        if len(group) < 2:
            raise OptionError(f"together: {list(each)!r} names no two words.")
        for word in group:
            if word not in known:
                raise OptionError(
                    f'together: the word "{word}" is not among the words of the texts that are used. Mind stop words, '
                    f"min_length and min_documents.{suggestion(word, corpus.vocabulary)}"
                )
        groups.append(group)
    return tuple(groups)


def _npmi(holds: Any) -> float:
    """Normalised pointwise mutual information of the columns of a (texts, words) table, the mean over pairs."""
    texts, words = holds.shape
    if words < 2:
        return 0.0
    both = (holds.T @ holds).toarray() / texts
    alone = np.diag(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(both / np.outer(alone, alone)) / -np.log(both)
    values = np.where(both == 0, -1.0, np.where(both == 1, 1.0, values))
    return float(values[np.triu_indices(words, 1)].mean())
