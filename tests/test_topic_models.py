"""Topics in texts: found where they were put, and words that belong together stay together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import credo
from credo import DataError, OptionError

SUBJECTS = {
    "garden": ["rose", "tulip", "soil", "seed", "water", "bloom"],
    "kitchen": ["bread", "flour", "oven", "salt", "butter", "dough"],
    "harbour": ["ship", "anchor", "sailor", "rope", "tide", "wharf"],
}


def some_texts(count: int = 60, seed: int = 0) -> list[str]:
    """Each text is mostly of one subject."""
    generator = np.random.default_rng(seed)
    texts = []
    for number in range(count):
        own = list(SUBJECTS.values())[number % 3]
        every = [word for words in SUBJECTS.values() for word in words]
        words = [str(generator.choice(own if generator.random() < 0.9 else every)) for _ in range(15)]
        texts.append("The " + " and ".join(words) + ". 42!")
    return texts


def test_topics_are_found_where_they_were_put() -> None:
    found = credo.topics(some_texts(), 3, em=credo.EMOptions(starts=3))
    tops = {frozenset(found.words(topic, 6)) for topic in range(3)}
    assert tops == {frozenset(words) for words in SUBJECTS.values()}
    assert "the" not in found.vocabulary
    assert list(found.vocabulary) == sorted(found.vocabulary)
    assert found.word_probabilities.shape == (3, 18)
    assert found.document_topics.shape == (60, 3)
    np.testing.assert_allclose(found.document_topics.sum(axis=1), 1)
    assert len(set(found.document_topics[::3].argmax(axis=1))) == 1
    assert (found.coherence(6) > 0.1).all()
    assert len(found.together_share()) == 0
    assert "Topics: 3 of 60 texts with 900 words, 18 different" in repr(found)


def test_words_that_belong_together_share_their_topic() -> None:
    texts = some_texts()
    texts = [text + (" rose anchor" * 2 if number % 3 == 0 else "") for number, text in enumerate(texts)]
    group = ["rose", "anchor"]
    found = credo.topics(texts, 3, together=[group], em=credo.EMOptions(starts=3))
    assert found.fit.cll is not None
    assert found.together_share(8).tolist() == [1.0]
    assert any("tied" in str(finding) for finding in found.findings)


def test_a_word_that_is_alone_in_its_text_is_not_tied() -> None:
    texts = [["a", "b", "b"], ["a", "c"], ["b", "c"], ["d", "a"]]
    found = credo.topics(texts, 2, together=[["a", "b"], ["c", "d"]], min_documents=1)
    assert "2 values are tied into 1 shared value" in " ".join(map(str, found.findings))


def test_coherence_is_normalised_mutual_information() -> None:
    found = credo.topics([["a", "b"], ["a", "b"], ["c"], ["a", "c"]], 1, min_documents=1)
    share = {"ab": 0.5, "ac": 0.25, "a": 0.75, "b": 0.5, "c": 0.5}
    want = [
        np.log(share["ab"] / (share["a"] * share["b"])) / -np.log(share["ab"]),
        np.log(share["ac"] / (share["a"] * share["c"])) / -np.log(share["ac"]),
        -1.0,  # b and c never meet
    ]
    assert found.coherence()[0] == pytest.approx(np.mean(want))


def test_the_same_seed_gives_the_same_topics_and_a_corpus_those_of_its_texts() -> None:
    texts = some_texts(30)
    one, other = credo.topics(texts, 3, seed=4), credo.topics(credo.read_corpus(texts), 3, seed=4)
    np.testing.assert_array_equal(one.word_probabilities, other.word_probabilities)


def test_words_are_runs_of_letters_in_lower_case() -> None:
    corpus = credo.read_corpus(["It's an Übung, x y2k np-hard!", "übung NP hard"], min_documents=1)
    assert corpus.vocabulary == ("hard", "np", "übung")
    assert corpus.tokens == 6
    assert credo.read_corpus(["the the"], stop_words=(), min_documents=1).count.tolist() == [2]
    assert credo.read_corpus(["aa bb", "bb cc"]).vocabulary == ("bb",)


def test_a_text_without_words_keeps_its_place() -> None:
    found = credo.topics([["a", "b"], [], ["a", "b"]], 2)
    np.testing.assert_allclose(found.document_topics[1], 0.5)


def test_what_cannot_be_used_is_said() -> None:
    texts = some_texts(6)
    with pytest.raises(DataError, match="not one string"):
        credo.topics("a text", 2)
    with pytest.raises(DataError, match="No word occurs in at least 2"):
        credo.topics(["one", "two"], 2)
    with pytest.raises(DataError, match="Text 2 is neither"):
        credo.topics([["a"], 3], 2)
    with pytest.raises(DataError, match="Text 1: a word"):
        credo.topics([["a", 1]], 2)
    for k in (0, True, "two"):
        with pytest.raises(OptionError, match="whole number, at least 1"):
            credo.topics(texts, k)
    with pytest.raises(OptionError, match='the word "rosee" is not among'):
        credo.topics(texts, 2, together=[["rosee", "soil"]])
    for together in ("rose", ["rose"], 3, [[1, 2]]):
        with pytest.raises(OptionError, match="together is a list of lists"):
            credo.topics(texts, 2, together=together)
    with pytest.raises(OptionError, match="does not name two words"):
        credo.topics(texts, 2, together=[["rose", "rose"]])
    with pytest.raises(OptionError, match="min_length"):
        credo.topics(texts, 2, min_length=0)
    with pytest.raises(OptionError, match="from 0 to 1"):
        credo.topics(texts, 2).words(2)


def test_too_many_topics() -> None:
    with pytest.raises(credo.TooLargeError, match="topics would take"):
        credo.topics(some_texts(6), 10**12)


def test_stop_words_are_a_list() -> None:
    with pytest.raises(OptionError, match="stop_words is a list of words"):
        credo.topics(some_texts(6), 2, stop_words="english")


@pytest.mark.parametrize(
    "given", [5, None, pl.DataFrame({"text": ["a b"]}), pl.LazyFrame({"text": ["a b"]}), {"a": "b"}]
)
def test_texts_are_no_table_and_no_number(given: Any) -> None:
    with pytest.raises(DataError, match="Texts are a list of strings, not a"):
        credo.topics(given, 2)
