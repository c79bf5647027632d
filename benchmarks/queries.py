"""Questions to Alarm and Andes with credo, pyAgrum and pgmpy: `python -m benchmarks.queries`.

One question with ten items of evidence, first and again with other states; a table of 10,000 patients; and questions
with an interval from 1,000 draws, which only credo has. All programs answer the same questions, and answers that differ
by more than 1e-9 are an error. Times are processor times: those of a process alone. pgmpy gets a part of the table,
and its time is scaled. The networks are read from `../shared/networks`, or made up in the same size.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import credo
from benchmarks.recording import record
from credo.io.pyagrum import load_pyagrum
from credo.model.network import Network
from credo.questions.answers import query_network
from credo.questions.predictions import predict_network
from credo.statistics.questions import relevant_evidence
from credo.testing import made_up_network
from credo.types import Numbers

NETWORKS = Path(__file__).resolve().parents[1] / ".." / "shared" / "networks"
SIZES = {"alarm": 37, "andes": 223}  # of the made-up networks
EVIDENCE = 10
ROWS = 10_000
PGMPY_ROWS = 30
LEARNED_FROM = 2000  # rows
REPEATS = 7
AGREEMENT = 1e-9

Case = dict[str, str]
Asking = Callable[[Case], Numbers]


@dataclass(frozen=True)
class Questions:
    """What is asked: the probabilities of a target's states, given evidence that matters."""

    network: Network
    target: str
    rows: pl.DataFrame  # a column for each item of evidence

    def cases(self, count: int) -> list[Case]:
        """The first rows, each as a case."""
        return self.rows.head(count).to_dicts()


def main() -> None:
    """Print the times of all programs, in milliseconds and seconds."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print(f"{'':<8}{'':<34}{'credo':>12}{'pyAgrum':>12}{'pgmpy':>12}")
    for name in SIZES:
        questions = questions_about(network_named(name), ROWS)
        single(name, questions)
        if name == "alarm":
            table(name, questions, PGMPY_ROWS)
            draws(name, questions)


def network_named(name: str) -> Network:
    """The published network, or a made-up one with as many variables."""
    path = NETWORKS / f"{name}.bif"
    return (
        credo.read_network(path)
        if path.exists()
        else made_up_network(SIZES[name], (2, 3), (0.25, 0.5, 0.25), name=name)
    )


def questions_about(network: Network, rows: int, seed: int = 0) -> Questions:
    """The first variable of the order on which ten leaves depend, or as many as there are."""
    parents = {parent for own in network.parents.values() for parent in own}
    leaves = [name for name in reversed(network.order) if name not in parents]

    def about(name: str) -> tuple[str, ...]:
        return relevant_evidence(network, name, leaves)

    target = max(
        network.order, key=lambda name: len(relevant_evidence(network, name, leaves) if name in parents else ())
    )
    evidence = relevant_evidence(network, target, leaves)[:EVIDENCE]
    return Questions(network, target, network.sample(rows, seed).select(evidence))


# Programs -------------------------------------------------------------------------------------------------------------


def programs(questions: Questions) -> Iterator[tuple[str, Asking, Asking]]:
    """Each program's name, a function that answers from nothing but the network, and one that goes on from before."""
    network, target = questions.network, questions.target
    yield "credo", lambda case: ask_credo(fresh(network), target, case), lambda case: ask_credo(network, target, case)
    gum: Any = load_pyagrum("This benchmark")
    model = network.to_pyagrum()
    labels = [model.variable(target).labels().index(state) for state in network.states(target)]
    engine = gum.LazyPropagation(model)

    def ask_pyagrum(inference: Any, case: Case) -> Numbers:
        inference.setEvidence(case)
        inference.makeInference()
        return np.asarray(inference.posterior(target).toarray())[labels]

    yield "pyAgrum", lambda case: ask_pyagrum(gum.LazyPropagation(model), case), lambda case: ask_pyagrum(engine, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination

        other: Any = network.to_pgmpy()
    eliminating = VariableElimination(other)

    def ask_pgmpy(inference: Any, case: Case) -> Numbers:
        factor = inference.query([target], evidence=case, show_progress=False)
        order = [factor.name_to_no[target][state] for state in network.states(target)]
        return np.asarray(factor.values)[order]

    yield "pgmpy", lambda case: ask_pgmpy(VariableElimination(other), case), lambda case: ask_pgmpy(eliminating, case)


def ask_credo(network: Network, target: str, case: Case) -> Numbers:
    """The answer of credo to one question."""
    asked = credo.Query({target: ()}, {name: (state,) for name, state in case.items()})
    return query_network(network, asked).frame["probability"].to_numpy()


def fresh(network: Network) -> Network:
    """The same network as nothing that was cached knows it."""
    from credo.statistics import questions
    from credo.statistics.inference import batched

    questions._shape_of_factors.cache_clear()
    batched._make_plan.cache_clear()
    return network


# Measurements ---------------------------------------------------------------------------------------------------------


def single(name: str, questions: Questions) -> dict[str, tuple[float, float]]:
    """One question, first and again with other states: seconds of each program."""
    cases = questions.cases(REPEATS)
    found: dict[str, tuple[float, float]] = {}
    expected: Sequence[Numbers] = ()
    for program, first, again in programs(questions):
        once = [seconds(first, case) for case in cases]
        again(cases[0])
        later = [seconds(again, case) for case in cases]
        answers = [answer for _, answer in (*once, *later)]
        expected = expected or answers
        require_agreement(program, answers, expected)
        found[program] = min(time for time, _ in once), min(time for time, _ in later)
    for what, place in (("one question, the first time", 0), ("one question, with other states", 1)):
        line(name, what, {program: times[place] for program, times in found.items()}, "ms")
    return found


def table(name: str, questions: Questions, pgmpy_rows: int) -> dict[str, float]:
    """All rows of a table: seconds of each program."""
    network, target = questions.network, questions.target
    names = [f"{target}={state}" for state in network.states(target)]
    taken = [seconds(lambda rows: predict_network(network, rows, [target]), questions.rows) for _ in range(3)]
    expected = taken[0][1].select(names).to_numpy()
    found = {"credo": min(time for time, _ in taken)}
    for program, _, again in programs(questions):
        if program == "credo":
            continue
        count = len(questions.rows) if program == "pyAgrum" else min(pgmpy_rows, len(questions.rows))
        cases = questions.cases(count)
        used, answers = seconds(lambda given, ask=again: [ask(case) for case in given], cases)
        require_agreement(program, answers, expected[:count])
        found[program] = used * len(questions.rows) / count
    line(name, f"a table of {len(questions.rows):,} rows", found, "s")
    return found


def draws(name: str, questions: Questions, rows: int = LEARNED_FROM) -> None:
    """One question, a case and a part of the table under the draws of a posterior."""
    network, target = questions.network, questions.target
    fit = credo.fit(network.without_cpts(), network.sample(rows, seed=1), method="posterior", progress=False)
    case = questions.cases(1)[0]
    asked = credo.Query({target: ()}, {each: (state,) for each, state in case.items()})
    first, _ = seconds(fit.query, asked)
    again = min(seconds(fit.query, asked)[0] for _ in range(REPEATS))
    part = questions.rows.head(max(1, len(questions.rows) // 10))
    several, _ = seconds(lambda given: fit.predict(given, target), part)
    line(name, "with interval, the first time", {"credo": first}, "ms")
    line(name, "with interval, again", {"credo": again}, "ms")
    line(name, f"with intervals, {len(part):,} rows", {"credo": several}, "s")


def seconds(action: Callable[[Any], Any], given: Any) -> tuple[float, Any]:
    """The processor time that an action takes, and what it returns."""
    start = time.process_time()
    found = action(given)
    return time.process_time() - start, found


def require_agreement(program: str, answers: Sequence[Numbers], expected: Sequence[Numbers] | Numbers) -> None:
    """Refuse to compare the times of programs whose answers differ."""
    apart = max(float(np.abs(one - other).max()) for one, other in zip(answers, expected, strict=True))
    if apart > AGREEMENT:
        raise AssertionError(f"{program} differs by {apart:.2g}")


def line(name: str, what: str, times: Mapping[str, float], unit: str) -> None:
    """Print one line of the table, from seconds of each program."""
    record("queries", f"{name}, {what}", dict(times))
    cells = [f"{1e3 * each:.2f} ms" if unit == "ms" else f"{each:.2f} s" for each in times.values()]
    print(f"{name:<8}{what:<34}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
