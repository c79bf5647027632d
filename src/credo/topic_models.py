"""Topics of texts, with words that are known to belong together: document → topic → word [yao, section 7.3].

Each pair of a text and a word in it is a row, weighted with its count; its topic is hidden. Words of one group that
occur in the same text share their topic there: their rows are tied. `fit` learns the network.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.errors import OptionError, counted, suggestion
from credo.findings import Finding
from credo.fitting import fit as learn
from credo.io.corpus import Corpus, read_corpus
from credo.io.dataset import Dataset, code_type
from credo.io.partitions import partitioned_at
from credo.knowledge import Knowledge
from credo.knowledge.statements import TiedRows
from credo.memory import require_memory
from credo.model.network import Network
from credo.options import EMOptions, checked_whole_number, resolve_seed
from credo.progress import ProgressLike
from credo.results.fit_results import Fit
from credo.statistics.prior import PriorLike
from credo.types import Numbers, Seed, TableLike

if TYPE_CHECKING:
    from dask.distributed import Client

# Pseudo-counts, small compared with the words of a text and of a topic: texts have few topics, topics few words.
BYTES_PER_CELL = 40  # of CPTs and expected counts, for each topic, and of the names of topics
PRIOR = {"topic": 0.1, "word": 0.01}
EM_OPTIONS = EMOptions(starts=1, max_iterations=200, tolerance=1e-6)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Topics:
    """The topics that `credo.topics` found. Topics are numbered from 0.

    Attributes
    ----------
    fit : Fit
        The learned model.
    corpus : Corpus
        The texts as counts of words.
    together : tuple of tuple of str
        The groups of words that share their topic.
    """

    fit: Fit
    corpus: Corpus
    together: tuple[tuple[str, ...], ...]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words, in alphabetical order."""
        return self.corpus.vocabulary

    @property
    def word_probabilities(self) -> Numbers:
        """P(word | topic), an array (topics, vocabulary)."""
        return self.fit.network.cpt_array("word")

    @property
    def document_topics(self) -> Numbers:
        """P(topic | document), an array (texts, topics); uniform for a text without words."""
        return self.fit.network.cpt_array("topic")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to know about the result."""
        return self.fit.findings

    def words(self, topic: int, n: int = 10) -> list[str]:
        """The most probable words of a topic.

        Parameters
        ----------
        topic : int
            A topic, from 0.
        n : int, default 10
            How many words.

        Returns
        -------
        list of str
            The words, the most probable first.
        """
        count = len(self.word_probabilities)
        if not 0 <= topic < count:
            raise OptionError(f"Topics are numbered from 0 to {count - 1}; there is no topic {topic}.")
        return [self.vocabulary[word] for word in self._top(topic, n)]

    def coherence(self, n: int = 10) -> Numbers:
        """How often the most probable words of each topic occur in the same texts (normalised PMI).

        The mean over pairs of words of log(P(u, v) / (P(u) P(v))) / -log P(u, v), where P is the share of the texts.

        Parameters
        ----------
        n : int, default 10
            How many words of each topic.

        Returns
        -------
        ndarray, (topics,)
            From -1 to 1; higher is more coherent.
        """
        occurs = self._occurrences()
        return np.array([npmi(occurs[:, self._top(topic, n)]) for topic in range(len(self.word_probabilities))])

    def together_share(self, n: int = 50) -> Numbers:
        """The largest share of each group of words that is among the most probable words of one topic.

        Parameters
        ----------
        n : int, default 50
            How many words of each topic.

        Returns
        -------
        ndarray, (groups,)
            From 0 to 1; 1 if one topic has the complete group among its first words.
        """
        top = [{self.vocabulary[word] for word in self._top(topic, n)} for topic in range(len(self.word_probabilities))]
        return np.array([max(len(words.intersection(group)) for words in top) / len(group) for group in self.together])

    def _top(self, topic: int, n: int) -> list[int]:
        return np.argsort(-self.word_probabilities[topic], kind="stable")[:n].tolist()  # type: ignore[no-any-return]

    def _occurrences(self) -> Any:
        """Which word occurs in which text, a sparse array (texts, vocabulary)."""
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
    prior: PriorLike | None = None,
    seed: Seed = 0,
    em: EMOptions | None = None,
    stop_words: Collection[str] | None = None,
    min_length: int = 2,
    min_documents: int = 2,
    executor: Client | None = None,
    progress: ProgressLike = None,
) -> Topics:
    """Find `k` topics in texts, where some words are known to belong together.

    The model is document → topic → word, learned by EM.

    Parameters
    ----------
    texts : iterable of str or of lists of words, or Corpus
        The texts.
    k : int
        The number of topics.
    together : sequence of sequence of str, optional
        Groups of words that share their topic wherever they occur in one text, such as
        `[["complexity", "np", "polynomial"]]`.
    prior : number, str, prior or mapping, optional
        Pseudo-counts as in `credo.fit`, of the variables `topic` (given the document) and `word` (given the topic);
        `{"topic": 0.1, "word": 0.01}` if not given.
    em : EMOptions, optional
        Options of EM; one start, 200 iterations and a tolerance of 1e-6 if not given.
    seed : int or numpy.random.Generator, default 0
        The same seed gives the same topics.
    stop_words, min_length, min_documents
        Which words are used, as in `credo.read_corpus`.
    executor : dask.distributed.Client, optional
        A cluster that learns; texts are read here, and cut into partitions at the ends of texts.
    progress : callable, optional
        Called with a `ProgressEvent` now and then.

    Returns
    -------
    Topics
        The topics and the model.

    Raises
    ------
    DataError
        If no word is left.
    OptionError
        If a word of `together` is not among the words of the texts.

    Examples
    --------
    >>> texts = ["planning search heuristic", "search heuristic", "bayesian network", "network bayesian data"]
    >>> from credo import EMOptions
    >>> found = topics(texts, 2, together=[["bayesian", "network"]], em=EMOptions(starts=3))
    >>> found.vocabulary
    ('bayesian', 'heuristic', 'network', 'search')
    >>> found.together_share(2).tolist()
    [1.0]
    """
    k = checked_whole_number(k, "The number of topics")
    corpus = (
        texts
        if isinstance(texts, Corpus)
        else read_corpus(texts, stop_words=stop_words, min_length=min_length, min_documents=min_documents)
    )
    groups = _checked_groups(together, corpus)
    network = topic_network(corpus, k)
    knowledge = Knowledge(network, [TiedRows(("topic",), by=column) for column in _columns(groups)])
    dataset = topic_rows(corpus, network, groups)
    rows: TableLike = dataset if executor is None else partitioned_at(dataset, corpus.document)
    fit = learn(
        network, rows, knowledge, method="cmap", prior=PRIOR if prior is None else prior, seed=resolve_seed(seed),
        em=EM_OPTIONS if em is None else em, executor=executor, progress=progress,
    )  # fmt: skip
    return Topics(fit, corpus, groups)


def topic_network(corpus: Corpus, k: int) -> Network:
    """document → topic → word; documents are numbered from 1."""
    needed = BYTES_PER_CELL * k * (1 + corpus.documents + len(corpus.vocabulary))
    require_memory(needed, counted(k, "topic"), "Ask for fewer, or leave rare words out with min_documents.")
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
    """A row for each pair of a text and a word, and a column for each group: the text, in rows with its words."""
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
        found = [words if isinstance(words, str) else tuple(words) for words in together]  # type: ignore[attr-defined]
    except TypeError:
        raise OptionError(wrong) from None
    for words in found:
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise OptionError(wrong)
        group = tuple(dict.fromkeys(words))
        if len(group) < 2:
            raise OptionError(f"together: {list(words)!r} does not name two words.")
        for word in group:
            if word not in known:
                raise OptionError(
                    f'together: the word "{word}" is not among the words of the texts that are used. Check stop_words, '
                    f"min_length and min_documents.{suggestion(word, corpus.vocabulary)}"
                )
        groups.append(group)
    return tuple(groups)


def npmi(occurs: Any) -> float:
    """The mean over pairs of columns of the normalised pointwise mutual information of a (texts, words) array."""
    texts, words = occurs.shape
    if words < 2:
        return 0.0
    both = (occurs.T @ occurs).toarray() / texts
    alone = np.diag(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.log(both / np.outer(alone, alone)) / -np.log(both)
    values = np.where(both == 0, -1.0, np.where(both == 1, 1.0, values))
    return float(values[np.triu_indices(words, 1)].mean())
