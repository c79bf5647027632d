"""What every method promises, whatever it does inside; a new line in `METHODS` is held to it without being named."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import credo
from credo import Knowledge, Network
from credo.estimation.methods import METHODS
from credo.findings import Finding
from tests.helpers.problems import known_network

EVERY = pytest.mark.parametrize("method", METHODS)
INFORMED = pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.uses_knowledge])

# How far two ways of writing one problem may lead apart. Optima that just touch a bound are flat there: hence 1e-6.
CLOSE = {"ml": 1e-12, "map": 1e-12, "me": 1e-12, "cml": 1e-6, "cmap": 1e-6, "cme": 1e-6, "co": 1e-3, "cem": 1e-3}
SAMPLED = 0.06  # methods that draw
MAY_VIOLATE = {"qmap", "cem"}  # [guo, theorem 1]; [liao, eq. 5] holds to no statement, so that they may conflict
HOLDS = {"co": 1e-6}  # the others: to 1e-8, below which `violations` calls it rounding


def learned(method: str, rows: int = 60, seed: int = 0) -> credo.Fit:
    truth, knowledge = known_network(statements=8)
    return credo.fit(truth.without_cpts(), truth.sample(rows, 1), knowledge, method=method, seed=seed)


def turned(network: Network) -> Network:
    """The same network with its variables, parents and states listed the other way round; without tables."""
    variables = {name: network.states(name)[::-1] for name in reversed(network.names)}
    return Network(variables, {name: tuple(reversed(network.parents[name])) for name in network.names})


def turned_table(table: np.ndarray) -> np.ndarray:
    axes = (*reversed(range(table.ndim - 1)), table.ndim - 1)
    return np.flip(table.transpose(axes))


@EVERY
def test_tables_are_distributions(method: str) -> None:
    fit = learned(method)
    assert set(fit.network.cpts) == set(fit.network.names)
    for table in fit.network.cpts.values():
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=-1), 1.0, atol=1e-12)
    assert np.isfinite(fit.log_likelihood)
    assert fit.method == method


@EVERY
def test_the_same_seed_gives_the_same_tables(method: str) -> None:
    assert learned(method, seed=3).network == learned(method, seed=3).network


@EVERY
def test_the_order_of_variables_parents_and_states_changes_nothing(method: str) -> None:
    truth, knowledge = known_network(statements=8)
    frame = truth.sample(60, 1)
    other = turned(truth)
    one = credo.fit(truth.without_cpts(), frame, knowledge, method=method)
    two = credo.fit(other, frame, Knowledge(other, knowledge.statements), method=method)
    for name in truth.names:
        expected = turned_table(one.network.cpt_array(name))
        np.testing.assert_allclose(two.network.cpt_array(name), expected, atol=CLOSE.get(method, SAMPLED))


@EVERY
def test_the_order_of_the_data_changes_nothing(method: str) -> None:
    """Methods that cross-validate deal the rows into folds, and may settle on something near."""
    truth, knowledge = known_network(statements=8)
    frame = truth.sample(60, 1)
    one = credo.fit(truth.without_cpts(), frame, knowledge, method=method)
    two = credo.fit(truth.without_cpts(), frame.reverse(), knowledge, method=method)
    apart = 0.15 if METHODS[method].cross_validates else CLOSE.get(method, SAMPLED)
    for name in truth.names:
        np.testing.assert_allclose(two.network.cpt_array(name), one.network.cpt_array(name), atol=apart)


@EVERY
def test_findings_are_sentences(method: str) -> None:
    fit = learned(method, rows=5)
    for finding in fit.findings:
        assert isinstance(finding, Finding)
        assert finding.kind
        assert str(finding)[-1] in ".!"
    assert fit.to_dict()["method"] == method


@EVERY
def test_fixed_tables_stay(method: str) -> None:
    truth, knowledge = known_network(statements=4)
    fit = credo.fit(truth, truth.sample(30, 1), knowledge, method=method, fixed=["b", "d"])
    for name in ("b", "d"):
        np.testing.assert_array_equal(fit.network.cpt_array(name), truth.cpt_array(name))


@EVERY
def test_without_knowledge(method: str) -> None:
    truth, _ = known_network()
    fit = credo.fit(truth.without_cpts(), truth.sample(40, 1), method=method)
    for table in fit.network.cpts.values():
        np.testing.assert_allclose(table.sum(axis=-1), 1.0, atol=1e-12)


@EVERY
def test_a_variable_with_one_state(method: str) -> None:
    network = Network({"only": ("here",), "x": ("no", "yes")}, {"x": ["only"]})
    frame = pl.DataFrame({"only": ["here"] * 3, "x": ["no", "yes", "no"]})
    fit = credo.fit(network, frame, "P(x=yes) >= 0.1", method=method)
    assert fit.network.cpt_array("only").tolist() == [1.0]


@EVERY
def test_configurations_without_data(method: str) -> None:
    """Half of the configurations are never seen, statements or not."""
    truth, knowledge = known_network(statements=8)
    frame = truth.sample(40, 1).filter(pl.col("a") == "s0")
    fit = credo.fit(truth.without_cpts(), frame, knowledge, method=method)
    assert np.isfinite(fit.network.cpt_array("c")).all()
    np.testing.assert_allclose(fit.network.cpt_array("c").sum(axis=-1), 1.0, atol=1e-12)


@EVERY
def test_much_data_lead_to_the_truth(method: str) -> None:
    truth, knowledge = known_network(statements=4)
    fit = credo.fit(truth.without_cpts(), truth.sample(50_000, 1), knowledge, method=method)
    for name in ("a", "b", "d"):
        np.testing.assert_allclose(fit.network.cpt_array(name), truth.cpt_array(name), atol=0.04)


@INFORMED
@pytest.mark.parametrize("rows", [2, 60])
def test_statements_hold(method: str, rows: int) -> None:
    if method in MAY_VIOLATE:
        pytest.skip("this method does not promise it")
    fit = learned(method, rows)
    assert (fit.violations()["amount"].max() or 0.0) <= HOLDS.get(method, 1e-8)
    assert fit.status is not credo.Status.VIOLATED


@INFORMED
def test_conflicting_knowledge_is_an_error(method: str) -> None:
    if method == "cem":
        pytest.skip("this method penalises conflicts")
    truth, _ = known_network()
    text = "P(b=s0 | a=s0) <= 0.2\nP(b=s0 | a=s1) >= 0.4\nP(b=s0 | a=s1) <= P(b=s0 | a=s0)"
    with pytest.raises(credo.CredoError) as caught:
        credo.fit(truth.without_cpts(), truth.sample(20, 1), text, method=method)
    assert caught.value.exit_code == 3


@EVERY
def test_a_table_without_rows_is_an_error(method: str) -> None:
    truth, knowledge = known_network()
    with pytest.raises(credo.DataError):
        credo.fit(truth.without_cpts(), truth.sample(5, 1).clear(), knowledge, method=method)
