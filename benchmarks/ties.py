"""The cost of ties between rows, and topics compared with other programs: `python -m benchmarks.ties`.

Topics are learned from Associated Press articles (word counts in `../shared/texts/ap.ldac.gz`), or from a made-up
corpus of the same size if they are not there. An iteration is not the same work in all programs: credo's is one exact
E-step and M-step; scikit-learn and gensim run variational inference, which visits each document many times in one
iteration. Tied rows are measured on Alarm, or on a made-up network. Every time is the shortest of several, as
wall-clock time and as processor time (all cores together), which is less sensitive to other load.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.em_contenders import best_of, mixture, network_of
from benchmarks.recording import record
from credo.constraints.constraint_set import RowTie
from credo.estimation.counting import counting_step
from credo.estimation.em.driver import run_em
from credo.estimation.em.steps import Steps, init, step
from credo.estimation.tied import TiedEStep, tied_e_step
from credo.io.corpus import Corpus
from credo.io.dataset import Dataset
from credo.model.network import Network
from credo.network_methods import sample_codes
from credo.options import EMOptions, TieReading
from credo.statistics.counts import layout_for_counts
from credo.statistics.inference.expected_counts import Prepared, expected_cells, prepare
from credo.statistics.prior import Dirichlet, prior_vector
from credo.topic_models import topic_network, topic_rows
from credo.types import Numbers

TEXTS = Path(__file__).resolve().parents[2] / "shared" / "texts"
# The goals
TIED_TOPICS = 2.0  # an iteration with so many tied tokens, relative to one without
TIED_TOKENS = 50_000
TIED_ALARM = 10.0  # an outer iteration, relative to one of EM
GROWTH = 1.5  # the time per row with 100,000 rows, relative to 10,000 rows

Figures = dict[str, float]


def main() -> None:
    """Run all measurements and print which goals are met."""
    corpus, name = texts()
    print(f"Topics: {name}, {corpus.documents:,} texts, {corpus.tokens:,} words in {len(corpus.word):,} pairs")
    for topics in (10, 20):
        measure_topics(corpus, topics, TIED_TOKENS)
    measure_network("alarm", 512)
    measure_growth((1_000, 10_000, 100_000))


# Topics ---------------------------------------------------------------------------------------------------------------


def texts() -> tuple[Corpus, str]:
    """The articles, or a made-up corpus."""
    path = TEXTS / "ap.ldac.gz"
    if not path.exists():
        return made_up_corpus(), "made-up corpus"
    with gzip.open(path, "rt") as file:
        pairs = [[pair.split(":") for pair in line.split()[1:]] for line in file]
    return Corpus.of_counts([{f"w{int(w):05}": int(n) for w, n in text} for text in pairs]), "Associated Press"


def made_up_corpus(documents: int = 2_246, words: int = 10_473, length: int = 194, topics: int = 20) -> Corpus:
    """Texts drawn from topics whose words have frequencies like those of a natural language."""
    generator = np.random.default_rng(0)
    common = 1 / np.arange(1, words + 1)
    tables = generator.dirichlet(50 * common / common.sum() * np.log(words), topics)
    counts = []
    for _ in range(documents):
        mixed = generator.dirichlet(np.full(topics, 0.1)) @ tables
        drawn, often = np.unique(generator.choice(words, length, p=mixed / mixed.sum()), return_counts=True)
        counts.append({f"w{word:05}": int(n) for word, n in zip(drawn, often, strict=True)})
    return Corpus.of_counts(counts)


def measure_topics(corpus: Corpus, topics: int, tokens: int) -> None:
    """The time of an iteration: credo, credo with tied tokens, and other programs."""
    network = topic_network(corpus, topics)
    rows, families = topic_rows(corpus, network), layout_for_counts(network)
    prepared = prepare(families, rows)
    column = pairs_in_texts(corpus, tokens)
    tied = tied_e_step(
        families, [RowTie(("topic",), "tie", (), 0)], replace(rows, others={"tie": column}), TieReading.SELECTED, None
    )
    print(f"\n{topics} topics: an iteration")
    plain = one_iteration(network, prepared)
    with_ties = one_iteration(network, tied.prepared, tied)
    print_line(f"{topics} topics", "credo", plain)
    print_line(f"{topics} topics", f"credo, {tokens:,} tied", with_ties, plain)
    for peer, measure in (("scikit-learn", scikit_learn), ("gensim", gensim)):
        try:
            print_line(f"{topics} topics", peer, measure(corpus, topics), plain)
        except ImportError:
            print(f"  {peer:<24}  is not installed: pip install -e '.[bench]'")
    print_goal(f"with {tokens:,} tied tokens at most {TIED_TOPICS:g}×", TIED_TOPICS, with_ties, plain)


def pairs_in_texts(corpus: Corpus, tokens: int) -> pl.Series:
    """A column that ties pairs of words of a text until so many tokens are tied."""
    order = np.random.default_rng(0).permutation(len(corpus.word) - 1)
    label, tied, count = np.full(len(corpus.word), -1), 0, corpus.count
    for number, at in enumerate(order.tolist()):
        if tied >= tokens:
            break
        if corpus.document[at] == corpus.document[at + 1] and label[at] < 0 and label[at + 1] < 0:
            label[at : at + 2] = number
            tied += int(count[at] + count[at + 1])
    return pl.Series("tie", label).set(pl.Series(label < 0), None)


def one_iteration(network: Network, prepared: Prepared, e_step: TiedEStep | None = None) -> Figures:
    """The time of an E-step and an M-step, after a few steps of EM."""
    steps = Steps.of(
        prepared, counting_step(prepared.layout, prior_vector(Dirichlet(0.1), prepared.layout)), network.names, e_step
    )
    generator = np.random.default_rng(0)
    state = init(steps, random_cpts(network, prepared, generator))
    for _ in range(3):
        state, _ = step(steps, state, accelerate=False)
    return best_of(lambda: step(steps, state, accelerate=False))


def random_cpts(network: Network, prepared: Prepared, generator: np.random.Generator) -> Numbers:
    cpts = {}
    for name in network.names:
        states = len(network.states(name))
        cpts[name] = generator.dirichlet(np.full(states, 5.0), network.configurations(name))
    return prepared.layout.pack(cpts)


def scikit_learn(corpus: Corpus, topics: int) -> Figures:
    """A batch iteration of `LatentDirichletAllocation` on two cores."""
    from scipy.sparse import csr_matrix
    from sklearn.decomposition import LatentDirichletAllocation

    shape = corpus.documents, len(corpus.vocabulary)
    table = csr_matrix((corpus.count.astype(float), (corpus.document, corpus.word)), shape=shape)

    def run(iterations: int, cores: int) -> None:
        LatentDirichletAllocation(
            topics, learning_method="batch", max_iter=iterations, evaluate_every=0, n_jobs=cores, random_state=0
        ).fit(table)

    # Its workers are processes whose time cannot be read: processor time is measured on one core.
    both, one = difference(lambda iterations: run(iterations, 2)), difference(lambda iterations: run(iterations, 1))
    return {"seconds": both["seconds"], "busy": one["busy"]}


def gensim(corpus: Corpus, topics: int) -> Figures:
    """A pass of `LdaModel` over all texts at once; it uses one core."""
    from gensim.models import LdaModel

    cuts = np.searchsorted(corpus.document, np.arange(1, corpus.documents))
    both = zip(np.split(corpus.word, cuts), np.split(corpus.count, cuts), strict=True)
    table = [list(zip(words.tolist(), counts.tolist(), strict=True)) for words, counts in both]
    names = dict(enumerate(corpus.vocabulary))

    def run(iterations: int) -> None:
        LdaModel(
            table, topics, names, passes=iterations, chunksize=len(table), update_every=0, eval_every=None,
            random_state=0,
        )  # fmt: skip

    return difference(run)


def difference(run: Callable[[int], None], more: int = 4, repeats: int = 3) -> Figures:
    """The time of one more iteration: the shortest long run minus the shortest short run."""
    best = {iterations: {"seconds": np.inf, "busy": np.inf} for iterations in (1, 1 + more)}
    for _ in range(repeats):
        for iterations, figures in best.items():
            start, busy = time.perf_counter(), time.process_time()
            run(iterations)
            figures["seconds"] = min(figures["seconds"], time.perf_counter() - start)
            figures["busy"] = min(figures["busy"], time.process_time() - busy)
    return {key: (best[1 + more][key] - best[1][key]) / more for key in ("seconds", "busy")}


# Networks -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """Rows drawn from a network, with ties between hidden values."""

    network: Network
    dataset: Dataset
    ties: list[RowTie]


def tied_case(network: Network, rows: int, hide: float = 0.4, variables: int = 20, share: float = 0.5) -> Case:
    """Hidden values of some variables, a share of them tied in pairs that agree."""
    generator = np.random.default_rng(0)
    drawn = sample_codes(network, rows, seed=0)
    truth = np.column_stack([drawn[name] for name in network.names]).astype(np.int16)
    codes = truth.copy()
    codes[generator.random(codes.shape) < hide] = -1
    ties = []
    for position in generator.permutation(len(network))[:variables].tolist():
        hidden = generator.permutation(np.flatnonzero(codes[:, position] < 0))
        hidden = hidden[: int(share * len(hidden))]
        for state in np.unique(truth[hidden, position]):
            same = hidden[truth[hidden, position] == state]
            for pair in zip(same[::2].tolist(), same[1::2].tolist(), strict=False):
                ties.append(RowTie((network.names[position],), None, tuple(row + 1 for row in pair), 0))
    return Case(network, Dataset(network.names, codes), ties)


def measure_network(name: str, rows: int) -> None:
    """The mean time of an outer iteration in a run to convergence, relative to one of EM."""
    network = network_of(name)
    assert network is not None
    case = tied_case(network, rows)
    e_step = tied_e_step(layout_for_counts(network), case.ties, case.dataset, TieReading.SELECTED, None)
    print(f"\n{name}: {rows:,} rows, {len(case.ties):,} pairs of hidden values tied; an iteration")
    m_step = counting_step(e_step.prepared.layout, prior_vector(Dirichlet(1.0), e_step.prepared.layout))

    def run(tied: bool) -> int:
        extra: dict[str, Any] = {"e_step": e_step} if tied else {}
        bare = network.without_cpts()
        return run_em(bare, e_step.prepared, m_step, EMOptions(starts=1, accelerate=False), **extra).iterations

    plain = {key: value / run(False) for key, value in best_of(lambda: run(False)).items()}
    tied = {key: value / run(True) for key, value in best_of(lambda: run(True)).items()}
    print_line(name, "EM", plain)
    print_line(name, "tied", tied, plain)
    print_goal(f"an outer iteration at most {TIED_ALARM:g}× one of EM", TIED_ALARM, tied, plain)


# Growth ---------------------------------------------------------------------------------------------------------------


def measure_growth(sizes: tuple[int, ...]) -> None:
    """The time of an evaluation by the number of rows, ties and tied members."""
    print("\nA mixture of 5 classes with 20 features: an evaluation, and its preparation")
    per_row = [growth_line(rows, rows // 4, 2) / rows for rows in sizes]
    rows = sizes[-1] // 10
    for ties in (rows // 100, rows // 20, rows // 4):
        growth_line(rows, ties, 2)
    for members in (2, 10, 50):
        growth_line(rows, rows // 100, members)
    ratio = per_row[-1] / per_row[-2]
    met = "met" if ratio <= GROWTH else "NOT MET"
    goal = f"the time per row with {sizes[-1]:,} rows is at most {GROWTH:g}× that with {sizes[-2]:,}"
    print(f"  {met:<12}  {goal}: {ratio:.2f}×")


def growth_line(rows: int, ties: int, members: int) -> float:
    """Print the time per row, and the additional time per tied member."""
    network = mixture()
    drawn = sample_codes(network, rows, seed=0)
    codes = np.column_stack([drawn[name] for name in network.names]).astype(np.int8)
    tied = np.random.default_rng(0).permutation(rows)[: ties * members]
    tied = tied[np.argsort(codes[tied, 0], kind="stable")]  # nearly all members agree
    codes[:, 0] = -1
    groups = tied.reshape(ties, members) + 1
    row_ties = [RowTie(("class",), None, tuple(group), 0) for group in groups.tolist()]
    start = time.perf_counter()
    e_step = tied_e_step(layout_for_counts(network), row_ties, Dataset(network.names, codes), TieReading.SELECTED, None)
    preparing = time.perf_counter() - start
    theta = e_step.prepared.layout.pack(network.cpts)
    _, _, memory = e_step(theta, e_step.start())
    found = best_of(lambda: e_step(theta, memory))["busy"]
    untied = best_of(lambda: expected_cells(e_step.prepared, theta))["busy"]
    print(
        f"  {rows:7,} rows, {ties:6,} ties of {members:2}: {1e3 * found:8.2f} ms, "
        f"{1e6 * found / rows:6.2f} µs per row, "
        f"{1e6 * (found - untied) / (ties * members):6.2f} µs more per tied member; "
        f"prepare {1e6 * preparing / rows:6.1f} µs per row",
        flush=True,
    )
    return found


# Printing -------------------------------------------------------------------------------------------------------------


def print_line(case: str, label: str, figures: Figures, base: Figures | None = None) -> None:
    """Print times, and their ratio to the base."""
    record("ties", f"{case}: {label}", dict(figures))
    text = f"  {label:<24}  {1e3 * figures['seconds']:9.2f} ms wall-clock {1e3 * figures['busy']:9.2f} ms processor"
    if base is not None:
        text += "".join(f"  {figures[key] / base[key]:8.2f}×" for key in ("seconds", "busy"))
    print(text, flush=True)


def print_goal(text: str, limit: float, figures: Figures, base: Figures) -> None:
    """Print whether a goal is met, by processor time."""
    ratio = figures["busy"] / base["busy"]
    print(f"  {'met' if ratio <= limit else 'NOT MET':<12}  {text}: {ratio:.2f}× processor time", flush=True)


if __name__ == "__main__":
    main()
