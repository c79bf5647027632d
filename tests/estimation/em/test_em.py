"""EM: against a plain loop over the enumerated joint, never falling, resumable, and clear about missing values."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credo import BDeu, DataError, Dataset, Dirichlet, EMOptions, FileError, Network, OptionError
from credo.errors import CheckpointWarning
from credo.estimation.counting import counting_step
from credo.estimation.em import checkpoint as checkpoints
from credo.estimation.em.driver import EMResult, Iteration, hidden_variable_findings, run_em
from credo.estimation.em.steps import Ended, MStep, Steps, extrapolate, init, next_limit, step
from credo.statistics.counts import Counts, layout_for_counts
from credo.statistics.inference.expected_counts import Prepared, prepare
from credo.statistics.prior import Priors, prior_vector
from credo.testing import alarm_like_network, random_network
from tests.helpers import enumeration
from tests.helpers.em_runs import NOTHING, incomplete_problem, learn, mixture, prepared_of

ROOT = Path(__file__).resolve().parents[3]


def assert_never_falls(history: tuple[float, ...]) -> None:
    assert all(after >= before - 1e-9 * abs(before) for before, after in pairwise(history))


# The steps ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("pseudo_count", [0.0, 0.5])
def test_steps_are_those_of_a_plain_loop(seed: int, pseudo_count: float) -> None:
    generator = np.random.default_rng(seed)
    network = enumeration.random_network(generator, most=5)
    dataset = Dataset(network.names, enumeration.random_rows(generator, network, 30, 0.5))
    prepared = prepare(layout_for_counts(network), dataset)
    if not len(prepared.observed_cells) and prepared.is_complete:
        pytest.skip("no data")
    steps = Steps.of(
        prepared, counting_step(prepared.layout, prior_vector(Dirichlet(pseudo_count), prepared.layout)), network.names
    )
    state = init(steps, prepared.layout.pack(network.cpts))
    plain = network
    for _ in range(4):
        counts, _ = enumeration.enumerated_counts(plain, dataset)
        tables = {}
        for name, table in counts.items():
            weights = table + pseudo_count
            totals = weights.sum(axis=-1, keepdims=True)
            tables[name] = np.where(totals > 0, weights / np.where(totals > 0, totals, 1), 1 / weights.shape[-1])
        plain = network.with_cpts(tables)
        for name, table in prepared.layout.unpack(state.theta).items():
            assert np.allclose(table, tables[name], atol=1e-9)
        _, log_likelihood = enumeration.enumerated_counts(plain, dataset)
        assert state.log_likelihood == pytest.approx(log_likelihood)
        penalty = pseudo_count and pseudo_count * sum(np.log(table).sum() for table in tables.values())
        assert state.objective == pytest.approx(log_likelihood + penalty)
        state, _ = step(steps, state, accelerate=False)


def test_the_first_step_by_hand() -> None:
    """One coin that is seen in two of three tosses: EM stays at what was seen."""
    network = Network({"x": ["a", "b"]}, cpts={"x": [0.5, 0.5]})
    prepared = prepared_of(network, [[0], [1], [1], [-1]])
    result = run_em(network, prepared, counting_step(prepared.layout, prior_vector(NOTHING, prepared.layout)))
    assert result.cpts["x"] == pytest.approx([1 / 3, 2 / 3])  # the row without a value is barren, and adds nothing
    assert result.converged


def capped(prepared: Prepared, cap: float) -> MStep:
    """No probability above `cap` (binary tables): the exact maximum clips the shares that were counted."""
    plain = counting_step(prepared.layout, prior_vector(Dirichlet(0.5), prepared.layout))

    def m_step(counts: Counts) -> tuple[dict[str, Any], float]:
        tables, _ = plain(counts)
        clipped = {name: np.clip(table, 1 - cap, cap) for name, table in tables.items()}
        return clipped, float(sum(0.5 * np.log(table).sum() for table in clipped.values()))

    return m_step


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_objective_never_falls_and_the_knowledge_always_holds(accelerate: bool, seed: int) -> None:
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(8)]
    parents = {name: tuple(generator.permutation(names[:i])[:2]) for i, name in enumerate(names)}
    network = random_network(dict.fromkeys(names, 2), parents, seed)
    codes = enumeration.random_rows(generator, network, 200, 0.4)
    codes[:, 2] = -1
    prepared = prepared_of(network, codes)
    steps = Steps.of(prepared, capped(prepared, 0.8), network.names)
    state = init(steps, prepared.layout.pack(network.cpts))
    for _ in range(40):
        before = state.objective
        state, _ = step(steps, state, accelerate)
        assert state.objective >= before - 1e-9 * abs(before)
        assert state.theta.max() <= 0.8 + 1e-12
        assert state.theta.min() >= 0.2 - 1e-12


@pytest.mark.parametrize("prior", [NOTHING, Dirichlet(1.0), BDeu(5.0)])
@pytest.mark.parametrize("accelerate", [False, True])
def test_the_objective_never_falls_on_larger_networks(prior: Priors, accelerate: bool) -> None:
    network, prepared = incomplete_problem()
    result = learn(network, prepared, prior, starts=2, accelerate=accelerate, max_iterations=150)
    for start in result.starts:
        assert_never_falls(start.history)
    assert np.isfinite(result.objective)


def test_acceleration_needs_fewer_steps_to_no_worse_a_point() -> None:
    network, prepared = mixture(3, 6, 2000)
    options: dict[str, Any] = {"starts": 1, "max_iterations": 5000, "tolerance": 1e-10}
    plain = learn(network, prepared, accelerate=False, **options)
    fast = learn(network, prepared, accelerate=True, **options)
    assert plain.converged
    assert fast.converged
    assert fast.iterations < plain.iterations / 2
    assert fast.objective >= plain.objective - 1e-3


def test_a_guess_keeps_rows_and_zeros() -> None:
    first, second, third = np.array([0.5, 0.5, 1, 0]), np.array([0.4, 0.6, 1, 0]), np.array([0.35, 0.65, 1, 0])
    guess, length = extrapolate((first, second, third), np.full(4, 10.0), np.array([0, 2]), 100.0)
    assert guess is not None
    assert length == pytest.approx(2)
    assert guess == pytest.approx([0.3, 0.7, 1, 0])  # the limit of 0.5, 0.4, 0.35, …
    assert extrapolate((first, second, third), np.full(4, 10.0), np.array([0, 2]), 1.0)[0] is None
    assert extrapolate((third, third, third), np.full(4, 10.0), np.array([0, 2]), 4.0)[0] is None
    assert [next_limit(4, 4, True), next_limit(4, 3, True), next_limit(16, 9, False)] == [16, 4, 4]


# Starts ---------------------------------------------------------------------------------------------------------------


def test_the_best_of_all_starts_is_kept_and_all_are_reported() -> None:
    network, prepared = mixture(4, 5, 400)
    result = learn(network, prepared, starts=4, max_iterations=60)
    assert [start.number for start in result.starts] == [0, 1, 2, 3]
    assert result.objective == max(start.objective for start in result.starts)
    assert result.starts[result.best].objective == result.objective
    assert result.iterations == sum(start.iterations for start in result.starts)
    assert len({round(start.objective, 9) for start in result.starts}) > 1


def test_the_same_seed_gives_the_same_result() -> None:
    network, prepared = mixture(3, 5, 300)
    results = [learn(network, prepared, starts=2, max_iterations=30, seed=seed) for seed in (3, 3, 4)]
    assert np.array_equal(results[0].cpts["class"], results[1].cpts["class"])
    assert results[0].history == results[1].history
    assert results[0].starts[1].history != results[2].starts[1].history


@pytest.mark.parametrize("own", [False, True])
def test_states_that_look_alike_are_moved_apart(own: bool) -> None:
    network, prepared = mixture(3, 6, 1500)
    uniform = {name: np.full(network.shape(name), 1 / network.shape(name)[-1]) for name in network.names}
    start = network.with_cpts(uniform) if own else network.without_cpts()
    result = run_em(
        start,
        prepared,
        counting_step(prepared.layout, prior_vector(NOTHING, prepared.layout)),
        EMOptions(starts=1, max_iterations=400),
    )
    table = result.cpts["f0"]
    assert len(np.unique(table.round(3), axis=0)) == 3
    assert result.log_likelihood > _one_class(network, prepared)


def _one_class(network: Network, prepared: Prepared) -> float:
    codes = prepared.dataset.codes[:, 1:]
    total = 0.0
    for column in codes.T:
        counts = np.bincount(column, minlength=3)
        total += float(counts[counts > 0] @ np.log(counts[counts > 0] / len(codes)))
    return total


def test_a_start_of_ones_own_is_where_it_begins() -> None:
    network, prepared = mixture(3, 6, 500)
    step_of = counting_step(prepared.layout, prior_vector(NOTHING, prepared.layout))
    converged = run_em(network, prepared, step_of, EMOptions(starts=1, max_iterations=3000, tolerance=1e-12))
    again = run_em(network.with_cpts(converged.cpts), prepared, step_of, EMOptions(starts=1))
    assert again.iterations <= 5
    assert again.objective == pytest.approx(converged.objective)


def test_tables_that_are_not_free_stay() -> None:
    network, prepared = incomplete_problem(100)
    fixed = network.names[3]
    free = tuple(name for name in network.names if name != fixed)
    m_step = counting_step(prepared.layout, prior_vector(Dirichlet(1.0), prepared.layout, free))
    result = run_em(network, prepared, m_step, EMOptions(starts=2, max_iterations=40), free=free, own_start=False)
    assert np.array_equal(result.cpts[fixed], network.cpt_array(fixed))
    network.with_cpts(result.cpts)  # all rows sum to one


def test_complete_data_need_one_step() -> None:
    network = alarm_like_network()
    prepared = prepared_of(network, enumeration.random_rows(np.random.default_rng(1), network, 100, 0.0))
    result = learn(network, prepared, Dirichlet(1.0))
    assert result.iterations <= 3
    assert len(result.starts) == 1


def test_progress_is_reported_with_the_likelihood() -> None:
    network, prepared = incomplete_problem(100)
    reported: list[Iteration] = []
    result = learn(network, prepared, Dirichlet(1.0), starts=2, progress=reported.append)
    assert {each.start for each in reported} == {0, 1}
    assert reported[-1].iteration == result.starts[1].iterations
    assert reported[-1].log_likelihood == result.starts[1].log_likelihood


def test_an_m_step_that_lowers_the_objective_stops_the_run() -> None:
    network, prepared = incomplete_problem(100)
    plain = counting_step(prepared.layout, prior_vector(Dirichlet(1.0), prepared.layout))
    calls = 0

    def worse(counts: Counts) -> tuple[Any, float]:
        nonlocal calls
        calls += 1
        tables, penalty = plain(counts)
        return tables, penalty - 100 * calls

    result = run_em(network, prepared, worse, EMOptions(starts=1))
    assert result.ended is Ended.FELL
    assert not result.converged
    assert_never_falls(result.history)


def test_an_m_step_that_is_exact_to_some_digits_converges_all_the_same() -> None:
    network, prepared = incomplete_problem(100)
    plain, noise = (
        counting_step(prepared.layout, prior_vector(Dirichlet(1.0), prepared.layout)),
        np.random.default_rng(1),
    )

    def rounded(counts: Counts) -> tuple[Any, float]:
        tables, penalty = plain(counts)
        return tables, penalty + 1e-6 * noise.standard_normal()

    result = run_em(network, prepared, rounded, EMOptions(starts=1, tolerance=1e-8))
    assert result.ended is Ended.CONVERGED
    assert_never_falls(result.history)


# Checkpoints ----------------------------------------------------------------------------------------------------------


class Killed(Exception):
    pass


def killed_after(steps: int) -> Callable[[Iteration], None]:
    left = steps

    def progress(_: Iteration) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    return progress


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("steps", [1, 7, 30])
def test_a_killed_run_goes_on_to_the_same_result(tmp_path: Path, steps: int, accelerate: bool) -> None:
    network, prepared = mixture(3, 5, 300)
    options: dict[str, Any] = {"starts": 3, "max_iterations": 40, "accelerate": accelerate}
    whole = learn(network, prepared, **options)
    path = tmp_path / "run.npz"
    with pytest.raises(Killed):
        learn(network, prepared, checkpoint=path, progress=killed_after(steps), **options)
    assert path.exists()
    resumed = learn(network, prepared, checkpoint=path, **options)
    assert resumed.history == whole.history
    assert resumed.starts == whole.starts
    for name in network.names:
        assert np.array_equal(resumed.cpts[name], whole.cpts[name])
    reported: list[Iteration] = []
    finished = learn(network, prepared, checkpoint=path, progress=reported.append, **options)
    assert finished.starts == whole.starts
    assert not reported


def test_a_process_that_dies_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    code = f"""
import os
from tests.helpers.em_runs import learn, mixture
network, prepared = mixture(3, 5, 300)
left = 5
def progress(_):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
learn(network, prepared, starts=2, max_iterations=40, checkpoint={str(tmp_path / "run.npz")!r}, progress=progress)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, cwd=ROOT)
    assert done.returncode == 9, done.stderr
    network, prepared = mixture(3, 5, 300)
    options: dict[str, Any] = {"starts": 2, "max_iterations": 40}
    resumed = learn(network, prepared, checkpoint=tmp_path / "run.npz", **options)
    assert resumed.starts == learn(network, prepared, **options).starts


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    network, prepared = mixture(3, 5, 200)
    path = tmp_path / "run.npz"
    learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)
    with pytest.raises(OptionError, match="belongs to another run"):
        learn(network, prepared, starts=1, max_iterations=5, checkpoint=path, seed=1)
    with pytest.raises(OptionError, match="belongs to another run"):
        learn(network, mixture(3, 5, 200, seed=2)[1], starts=1, max_iterations=5, checkpoint=path)
    with pytest.raises(OptionError, match="belongs to another run"):
        learn(network, prepared, starts=1, max_iterations=5, checkpoint=path, identity=("another M-step",))


def test_a_checkpoint_that_is_damaged_is_refused(tmp_path: Path) -> None:
    """Cut off anywhere, or changed anywhere: an error that says what to do, or the same result."""
    network, prepared = mixture(2, 2, 20)
    path = tmp_path / "run.npz"
    result = learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)
    whole = path.read_bytes()
    for kept in range(0, len(whole), 97):
        path.write_bytes(whole[:kept])
        with pytest.raises(OptionError, match="Remove it to begin again"):
            learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)
    for at in range(0, len(whole), 61):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(OptionError):
            again = learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)
            assert again.starts == result.starts, at


def changed(array: np.ndarray, value: float) -> np.ndarray:
    """The same array with another first number."""
    return np.concatenate([[value], array[1:]])


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray | None]] = {
    "left out": lambda _: None,
    "shape": lambda array: array[:-1],
    "axes": lambda array: array[:, None],
    "text": lambda array: array.astype(str),
    "whole numbers": lambda array: array.astype(int),
    "other floats": lambda array: array.astype(np.float32),
    "not finite": lambda array: changed(array, np.nan),
    "no distribution": lambda array: changed(array, array[0] + 0.5),
    "negative": lambda array: np.concatenate([[-1.0, array[0] + array[1] + 1.0], array[2:]]),
}


@pytest.fixture
def killed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Callable[..., EMResult]]:
    """The checkpoint of a run that was killed in its second start, and what learns again."""
    network, prepared = mixture(2, 3, 40)
    path = tmp_path / "run.npz"
    monkeypatch.setattr(checkpoints, "SAVING_SHARE", 1e9)  # each step is saved
    reported: list[int] = []

    def kill_in_second_start(each: Iteration) -> None:
        reported.append(each.start)
        if reported.count(1) == 3:
            raise Killed

    again = partial(learn, network, prepared, checkpoint=path, starts=2, max_iterations=20)
    with pytest.raises(Killed):
        again(progress=kill_in_second_start)
    return path, again


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["best", "theta", "counts"])
def test_a_checkpoint_with_other_arrays_is_refused(
    killed_run: tuple[Path, Callable[..., EMResult]], name: str, change: str
) -> None:
    if name == "counts" and change in ("no distribution", "negative"):
        pytest.skip("counts are no distributions")
    path, again = killed_run
    repack(path, lambda arrays: arrays.update({name: CHANGES[change](arrays[name])}))
    with pytest.raises(OptionError, match="is not a checkpoint, or it is damaged"):
        again()


@pytest.mark.parametrize(
    ("key", "value"),
    [("done", None), ("done", [{}]), ("done", "text"), ("current", {"limit": "1"}), ("history", [None])],
)
def test_a_checkpoint_with_another_state_is_refused(
    killed_run: tuple[Path, Callable[..., EMResult]], key: str, value: object
) -> None:
    path, again = killed_run
    repack(
        path, lambda arrays: arrays.update(state=np.array(json.dumps({**json.loads(str(arrays["state"])), key: value})))
    )
    with pytest.raises(OptionError, match="is not a checkpoint, or it is damaged"):
        again()


def repack(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change what an archive holds; what becomes None is left out."""
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def test_a_checkpoint_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who tests may be allowed to read everything: the system's answer is replaced."""
    network, prepared = mixture(2, 2, 20)
    path = tmp_path / "run.npz"
    learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match="cannot be read: Permission denied"):
        learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)


def test_a_checkpoint_that_cannot_be_saved_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, prepared = mixture(2, 2, 20)
    path = tmp_path / "run.npz"
    usual = learn(network, prepared, starts=2, max_iterations=5)
    with monkeypatch.context() as full:

        def refuse(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        full.setattr(Path, "write_bytes", refuse)
        with pytest.warns(CheckpointWarning, match=r"run\.npz.*No space left on device.*Learning goes on"):
            result = learn(network, prepared, starts=2, max_iterations=5, checkpoint=path)
    assert list(tmp_path.iterdir()) == []
    assert result.log_likelihood == usual.log_likelihood
    assert learn(network, prepared, starts=2, max_iterations=5, checkpoint=path).log_likelihood == usual.log_likelihood


def test_a_checkpoint_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network, prepared = mixture(2, 2, 20)
    path = tmp_path / "run.npz"
    monkeypatch.setattr(checkpoints, "VERSION", 0)
    learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)
    monkeypatch.undo()
    with pytest.raises(OptionError, match="another version of credo"):
        learn(network, prepared, starts=1, max_iterations=5, checkpoint=path)


@pytest.mark.parametrize(
    ("name", "words"),
    [(".", "This is a folder"), ("none/run.npz", "There is no folder"), ("x" * 300, "too long"), ("\0", "null")],
)
def test_a_checkpoint_that_cannot_be_a_file_is_refused(tmp_path: Path, name: str, words: str) -> None:
    network, prepared = mixture(2, 2, 20)
    steps: list[Iteration] = []
    with pytest.raises(FileError, match=words):
        learn(network, prepared, checkpoint=Path(f"{tmp_path}/{name}"), progress=steps.append)
    assert steps == []


@pytest.mark.parametrize("content", [b"", b"nonsense", pickle.dumps({"state": 1})])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes) -> None:
    network, prepared = mixture(2, 2, 20)
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(OptionError, match="is not a checkpoint"):
        learn(network, prepared, checkpoint=path)


# Missing values that say something, and options that say nothing ------------------------------------------------------


def test_no_data_left_is_an_error() -> None:
    network = random_network({"a": 2, "b": 2}, {"b": ("a",)}, 1)
    nothing = prepared_of(network, [[-1, -1], [-1, -1]])
    with pytest.raises(DataError, match="nothing to learn from"):
        learn(network, nothing)
    with pytest.raises(DataError, match="nothing to learn from"):
        learn(network, prepared_of(network, [[0, -1], [1, 1]], np.zeros(2)))


def test_missing_values_that_a_reader_should_know_of() -> None:
    sizes = {"hidden": 2, "seen": 2, "leaf": 3, "constant": 1}
    network = random_network(sizes, {"seen": ("hidden", "constant"), "leaf": ("seen",)}, 1)
    prepared = prepared_of(network, [[-1, 0, -1, -1], [-1, 1, -1, -1], [-1, 1, -1, -1]])
    findings = {finding.variable: finding.message for finding in hidden_variable_findings(prepared)}
    assert "EM inferred its states" in findings["hidden"]
    assert "no data inform its CPT" in findings["leaf"]
    assert "one state" in findings["constant"]
    assert set(findings) == {"hidden", "leaf", "constant"}
    result = learn(network, prepared, starts=2)
    assert all(np.isfinite(table).all() for table in result.cpts.values())
    assert result.cpts["leaf"] == pytest.approx(np.full((2, 3), 1 / 3))
    assert result.log_likelihood == pytest.approx(np.log(1 / 3) + 2 * np.log(2 / 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"starts": 0}, "At least one start"),
        ({"max_iterations": 0}, "At least one iteration"),
        ({"tolerance": -1.0}, "tolerance is -1.0"),
        ({"tolerance": float("nan")}, "tolerance is nan"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    network, prepared = mixture(2, 2, 20)
    with pytest.raises(OptionError, match=message):
        learn(network, prepared, **options)
