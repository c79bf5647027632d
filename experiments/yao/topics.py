"""`python -m experiments.yao topics`: topics of abstracts, with words that share one where they meet [section 7.3].

The paper's 539 abstracts are not published; these are 398 of the AAAI conference of 2014. Learned are topics without
ties, with the paper's two groups of words, and with `wider` groups: other forms and close relatives of the same words,
because in these abstracts the paper's words rarely meet.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import polars as pl

from credo.io.corpus import Corpus, read_corpus
from credo.topic_models import Topics
from credo.topic_models import topics as find_topics
from experiments.running import SHARED, Job, Line, add_options, require, run_jobs
from experiments.yao.topics_story import write_topics

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
WORDS = tuple(word for group in GROUPS["wider"] for word in group)  # all that are looked at, whoever ties them
KEY = ("ties", "draw", "iterations")


def main(words: list[str]) -> None:
    """Run what is left to run, write it, and say what was found."""
    parser = argparse.ArgumentParser(prog="experiments.yao topics", description=__doc__)
    parser.add_argument("--draws", type=int, default=5, help="of starts; with and without ties from the same ones")
    parser.add_argument("--iterations", type=int, default=300, help="of EM, at most")
    add_options(parser, RESULTS)
    chosen = parser.parse_args(words)
    require(TEXTS, "The abstracts are")
    jobs = [(ties, draw, chosen.iterations) for draw in range(chosen.draws) for ties in GROUPS]
    file = chosen.out / "topics.csv"
    found = run_jobs(run_draw, jobs, KEY, file, processes=chosen.processes, minutes=chosen.minutes)
    found = found.filter(pl.col("iterations") == chosen.iterations)
    print(write_topics(found, GROUPS, meetings(read_abstracts()), chosen.out))


def read_abstracts() -> Corpus:
    """The words of all abstracts, without stop words and words that stand in one abstract alone."""
    return read_corpus(TEXTS.read_text(encoding="utf-8").splitlines())


def run_draw(job: Job) -> list[Line]:
    """One start, with one choice of ties."""
    ties, draw, iterations = job
    lines = topic_lines(read_abstracts(), GROUPS[ties], TOPICS, WORDS, draw, iterations)
    return [{**dict(zip(KEY, job, strict=True)), **line} for line in lines]


def topic_lines(
    corpus: Corpus, groups: tuple[tuple[str, ...], ...], k: int, words: tuple[str, ...], seed: int, iterations: int
) -> list[Line]:
    """A line for each topic: its coherence, its most probable words, and how much of each chosen word it has."""
    start = time.perf_counter()
    found = find_topics(corpus, k, together=groups, seed=seed, max_iterations=iterations)
    seconds = time.perf_counter() - start
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
    """P(topic | word), (topics, words), where texts count by their length."""
    corpus = found.corpus
    lengths = np.bincount(corpus.document, corpus.count, minlength=corpus.documents)
    places = np.searchsorted(corpus.vocabulary, list(words))
    joint = (lengths @ found.document_topics)[:, None] * found.word_probabilities[:, places]
    return joint / joint.sum(axis=0)


def meetings(corpus: Corpus) -> dict[str, list[int]]:
    """For each choice of ties and group: in how many texts at least two of its words stand."""
    found = {}
    for ties, groups in GROUPS.items():
        found[ties] = []
        for group in groups:
            inside = np.isin(corpus.word, np.searchsorted(corpus.vocabulary, list(group)))
            counts = np.bincount(corpus.document[inside], minlength=corpus.documents)
            found[ties].append(int((counts > 1).sum()))
    return found
