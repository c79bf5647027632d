"""`python -m experiments.yao topics`: topics of abstracts; words that co-occur share a topic [section 7.3].

The paper's 539 abstracts are not published; these are 398 abstracts of the AAAI conference of 2014. Topics are learned
without ties, with the paper's two groups of words, and with `wider` groups of other forms and close relatives of these
words, because the paper's words rarely co-occur in these abstracts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl

from credo.io.corpus import Corpus, read_corpus
from credo.options import EMOptions
from credo.topic_models import Topics
from credo.topic_models import topics as find_topics
from experiments.running import SHARED, Job, Record, add_options, require, run_jobs
from experiments.yao.topics_report import write_topics

RESULTS = Path(__file__).resolve().parent / "results"
TEXTS = SHARED / "texts" / "aaai14_abstracts.txt"
TOPICS, LISTED = 10, 50
GROUPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "none": (),
    "paper": (("bayesian", "network", "inference"), ("complexity", "polynomial", "np")),
    "wider": (
        ("bayesian", "network", "networks", "inference", "probabilistic", "graphical"),
        ("complexity", "polynomial", "np", "hard", "complete", "tractable"),
    ),
}
WORDS = tuple(word for group in GROUPS["wider"] for word in group)  # all words that are evaluated, tied or not
KEY = ("ties", "draw", "iterations")


def main(arguments: list[str]) -> None:
    """Run the remaining jobs and write the report."""
    parser = argparse.ArgumentParser(prog="experiments.yao topics", description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="of starts; the same with and without ties")
    parser.add_argument("--iterations", type=int, default=300, help="of EM, at most")
    add_options(parser, RESULTS)
    chosen = parser.parse_args(arguments)
    require(TEXTS, "The abstracts are")
    jobs = [(ties, draw, chosen.iterations) for draw in range(chosen.draws) for ties in GROUPS]
    file = chosen.out / "topics.csv"
    found = run_jobs(run_draw, jobs, KEY, file, processes=chosen.processes, minutes=chosen.minutes)
    found = found.filter(pl.col("iterations") == chosen.iterations)
    print(write_topics(found, GROUPS, co_occurrences(read_abstracts()), chosen.out))


def read_abstracts() -> Corpus:
    """The words of all abstracts, without stop words and words that occur in a single abstract."""
    return read_corpus(TEXTS.read_text(encoding="utf-8").splitlines())


def run_draw(job: Job) -> list[Record]:
    """One start with one choice of ties."""
    ties, draw, iterations = job
    records = topic_records(read_abstracts(), GROUPS[ties], TOPICS, WORDS, draw, iterations)
    return [{**dict(zip(KEY, job, strict=True)), **record} for record in records]


def topic_records(
    corpus: Corpus, groups: tuple[tuple[str, ...], ...], k: int, words: tuple[str, ...], seed: int, iterations: int
) -> list[Record]:
    """A record for each topic: its coherence, its most probable words, and its share of each evaluated word."""
    start = time.process_time()
    found = find_topics(
        corpus, k, together=groups, seed=seed, em=EMOptions(starts=1, max_iterations=iterations, tolerance=1e-6)
    )
    seconds = time.process_time() - start
    shares = word_shares(found, words)
    return [
        {
            "topic": topic,
            "coherence": coherence,
            "words": " ".join(found.words(topic, LISTED)),
            **{f"share {word}": share for word, share in zip(words, shares[topic].tolist(), strict=True)},
            "objective": found.fit.history[-1],
            "seconds": seconds,
        }
        for topic, coherence in enumerate(found.coherence().tolist())
    ]


def word_shares(found: Topics, words: tuple[str, ...]) -> np.ndarray:
    """P(topic | word), an array (topics, words); texts are weighted by their length."""
    corpus = found.corpus
    lengths = np.bincount(corpus.document, corpus.count, minlength=corpus.documents)
    places = np.searchsorted(corpus.vocabulary, list(words))
    joint = (lengths @ found.document_topics)[:, None] * found.word_probabilities[:, places]
    return joint / joint.sum(axis=0)


def co_occurrences(corpus: Corpus) -> dict[str, list[int]]:
    """For each choice of ties and group: the number of texts that contain at least two of its words."""
    found = {}
    for ties, groups in GROUPS.items():
        found[ties] = []
        for group in groups:
            inside = np.isin(corpus.word, np.searchsorted(corpus.vocabulary, list(group)))
            counts = np.bincount(corpus.document[inside], minlength=corpus.documents)
            found[ties].append(int((counts > 1).sum()))
    return found
