"""The correction of likelihoods whose ties form cycles, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from credo import Dataset, Network
from credo.constraints.constraint_set import RowTie
from credo.statistics.counts import layout_for_counts
from credo.statistics.ties import loop_correction
from credo.statistics.ties.factors import factors_of, joined
from credo.statistics.ties.likelihood import TiedData
from tests.helpers.tied_likelihood import a_case, constrained, evaluate, tied


def cycles(seed: int) -> tuple[Network, np.ndarray, list[RowTie], TiedData] | None:
    """Several ties a row that form cycles, and whose messages converge."""
    network, codes, ties = a_case(np.random.default_rng([1, seed]), several=True)
    rows = tied(network, codes, ties)
    if rows.is_exact or not evaluate(network, rows).converged:
        return None
    return network, codes, ties, rows


def test_small_components_are_summed_up() -> None:
    corrections = []
    for seed in range(60):
        if (case := cycles(seed)) is None:
            continue
        network, codes, ties, rows = case
        found = rows.correction(rows.prepared.layout.pack(network.cpts))
        assert found is not None
        exact = constrained(network, codes, ties)
        assert evaluate(network, rows).log_likelihood + found.value == pytest.approx(exact, abs=1e-5)
        corrections.append(abs(found.value))
    assert len(corrections) > 10
    assert max(corrections) > 0.1


def test_draws_are_within_their_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_correction, "MOST_SUMMED", 0)
    scores = []
    for seed in range(60):
        if (case := cycles(seed)) is None:
            continue
        network, codes, ties, rows = case
        found = rows.correction(rows.prepared.layout.pack(network.cpts), seed)
        missing = constrained(network, codes, ties) - evaluate(network, rows).log_likelihood
        if found is not None:
            scores.append((found.value - missing) / max(found.error, 1e-3))
    assert len(scores) > 10
    assert np.mean(np.abs(scores) < 2.5) > 0.9


def test_without_cycles_there_is_nothing_to_correct() -> None:
    network, codes, ties = a_case(np.random.default_rng(0))
    rows = tied(network, codes, ties)
    found = rows.correction(rows.prepared.layout.pack(network.cpts))
    assert found == loop_correction.Correction(0.0, 0.0)


def test_a_tuple_with_too_many_states_is_divided() -> None:
    network = Network({name: [f"s{k}" for k in range(40)] for name in "abcd"}, {"b": ["a"], "c": ["b"], "d": ["c"]})
    codes = np.full((3, 4), -1, dtype=np.int8)
    factors, _ = factors_of(network, [RowTie(tuple("abcd"), None, (1, 2, 3), 0)], Dataset(network.names, codes))
    assert [scope.variables for scope in joined(factors, network, 2000).scopes] == [(0, 1), (2, 3)]
    assert [scope.variables for scope in joined(factors, network).scopes] == [(0,), (1,), (2,), (3,)]
    assert len(joined(factors, network, 40**4)) == 1
    assert layout_for_counts(network).names == network.names
