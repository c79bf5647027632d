"""The pipeline from a table to a learned network."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import credo
from credo import EMOptions, FileError, Network, NetworkError, OptionError, TooLargeError
from credo.estimation.methods import METHODS
from credo.testing import random_network

PATIENTS = pl.DataFrame({"smoke": ["no", "no", "no", "yes", "yes"], "lung": ["no", "no", "no", "no", "yes"]})


def test_maximum_likelihood_by_hand(smoking: Network) -> None:
    fit = credo.fit(smoking.without_cpts(), PATIENTS, method="ml")
    assert fit.network.cpt_array("smoke").tolist() == [0.6, 0.4]
    assert fit.network.cpt_array("lung").tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert fit.log_likelihood == pytest.approx(3 * math.log(0.6) + 2 * math.log(0.4) + 2 * math.log(0.5))
    assert fit.status is credo.Status.EXACT
    assert (fit.method, fit.rows, fit.findings) == ("ml", 5, ())
    assert fit.history == (fit.log_likelihood,)
    assert fit.seconds > 0


def test_pseudo_counts_by_hand(smoking: Network) -> None:
    fit = credo.fit(smoking, PATIENTS, method="map")
    assert fit.network.cpt_array("smoke") == pytest.approx(np.array([4 / 7, 3 / 7]))
    assert fit.network.cpt_array("lung") == pytest.approx(np.array([[4 / 5, 1 / 5], [0.5, 0.5]]))


@pytest.mark.parametrize(
    ("prior", "lung_of_smokers"),
    [(0, 1 / 2), (2, 3 / 6), ("bdeu:8", 3 / 6), ({"lung": 3}, 4 / 8), ("k2", 2 / 4)],
)
def test_priors(smoking: Network, prior: object, lung_of_smokers: float) -> None:
    fit = credo.fit(smoking, PATIENTS, method="map", prior=prior)
    assert fit.network.cpt_array("lung")[1, 1] == pytest.approx(lung_of_smokers)


def test_another_network_as_prior(smoking: Network) -> None:
    fit = credo.fit(smoking, PATIENTS, method="map", prior=credo.NetworkPrior(smoking, 10))
    assert fit.network.cpt_array("lung")[1, 1] == pytest.approx((1 + 10 * 0.1) / 12)


def test_maximum_likelihood_finds_the_truth_with_many_data() -> None:
    truth = random_network({"a": 2, "b": 3, "c": 3}, {"c": ("a", "b")}, seed=2)
    fit = credo.fit(truth.without_cpts(), truth.sample(200_000, 1), method="ml")
    for name in truth.names:
        np.testing.assert_allclose(fit.network.cpt_array(name), truth.cpt_array(name), atol=0.02)


def test_no_other_tables_are_more_likely(mixed: Network) -> None:
    frame = mixed.sample(300, 1)
    fit = credo.fit(mixed.without_cpts(), frame, method="ml")
    for seed in range(20):
        other = random_network({"a": 2, "b": 3, "c": 4}, {"c": ("b", "a"), "b": ("a",)}, seed)
        assert other.log_likelihood(frame) < fit.log_likelihood
    assert fit.log_likelihood == pytest.approx(fit.network.log_likelihood(frame))


def test_the_names_of_states_and_their_order_change_nothing(mixed: Network) -> None:
    frame = mixed.sample(100, 1)
    turned = Network({name: mixed.states(name)[::-1] for name in reversed(mixed.names)}, {"c": ("a", "b"), "b": ("a",)})
    fit = credo.fit(mixed.without_cpts(), frame, method="map")
    other = credo.fit(turned, frame, method="map")
    expected = fit.network.cpt_array("c").transpose(1, 0, 2)[::-1, ::-1, ::-1]
    np.testing.assert_array_equal(other.network.cpt_array("c"), expected)


def test_configurations_without_data_are_named(smoking: Network) -> None:
    fit = credo.fit(smoking.without_cpts(), PATIENTS.filter(pl.col("smoke") == "no"), method="ml")
    assert fit.network.cpt_array("lung")[1].tolist() == [0.5, 0.5]
    (finding,) = fit.findings
    assert (finding.kind, finding.variable) == ("no data", "lung")
    assert finding.configurations == ({"smoke": "yes"},)
    assert "1 of 2 configurations" in str(finding)
    assert "smoke=yes" in str(finding)


def test_fixed_tables_stay(smoking: Network) -> None:
    fit = credo.fit(smoking, PATIENTS, method="ml", fixed=("lung",))
    assert fit.network.cpt_array("lung") is smoking.cpt_array("lung")
    assert fit.network.cpt_array("smoke").tolist() == [0.6, 0.4]


def test_a_fixed_table_that_the_data_contradict_is_reported(smoking: Network) -> None:
    network = smoking.with_cpts({"lung": [[1.0, 0.0], [1.0, 0.0]]})
    fit = credo.fit(network, PATIENTS, method="ml", fixed=["lung"])
    assert fit.log_likelihood == -math.inf
    assert "P(lung=yes | smoke=yes) = 0" in str(fit.findings[-1])
    json.dumps(fit.to_dict(), allow_nan=False)


def test_weights_count_rows(smoking: Network) -> None:
    heavy = credo.fit(smoking, PATIENTS, method="ml", weights=[1, 1, 1, 1, 3])
    repeated = credo.fit(smoking, pl.concat([PATIENTS, PATIENTS.tail(1), PATIENTS.tail(1)]), method="ml")
    assert heavy.network == repeated.network


def test_the_data_may_be_a_file(smoking: Network, tmp_path: Path) -> None:
    PATIENTS.write_csv(tmp_path / "p.csv")
    PATIENTS.write_parquet(tmp_path / "p.parquet")
    credo.write_network(smoking, tmp_path / "n.bif")
    fits = [credo.fit(tmp_path / "n.bif", tmp_path / name) for name in ("p.csv", "p.parquet")]
    assert fits[0].network == fits[1].network


@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "\0.csv", "x" * 5000 + ".parquet"])
def test_a_path_that_no_system_can_read(smoking: Network, name: str) -> None:
    with pytest.raises(FileError):
        credo.fit(smoking, name)


def test_the_labelled_table(smoking: Network) -> None:
    table = credo.fit(smoking, PATIENTS, method="ml").cpt("lung")
    assert table.columns == ["smoke", "lung=no", "lung=yes"]
    assert table.rows() == [("no", 1.0, 0.0), ("yes", 0.5, 0.5)]
    assert credo.fit(smoking, PATIENTS, method="ml").cpt("smoke").rows() == [(0.6, 0.4)]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "mapp"}, OptionError, 'no method "mapp".*mean "map"'),
        ({"method": "ml", "prior": 1}, OptionError, "takes no prior"),
        ({"fixed": ["lungs"]}, NetworkError, '"lungs".*mean "lung"'),
        ({"fixed": "lung"}, OptionError, "list of names"),
        ({"fixed": 3}, OptionError, "list of names"),
        ({"memory_limit": 10}, TooLargeError, "10 bytes"),
        ({"memory_limit": "1 GB"}, OptionError, "a number of bytes"),
        ({"memory_limit": -1}, OptionError, "a number of bytes"),
        ({"em": {"starts": 1}}, OptionError, r"em= takes EMOptions\(…\)"),
    ],
)
def test_options_that_make_no_sense(smoking: Network, options: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        credo.fit(smoking, PATIENTS, **options)


def test_a_fixed_cpt_must_be_there(smoking: Network) -> None:
    with pytest.raises(NetworkError, match="the network has no CPT"):
        credo.fit(smoking.without_cpts(), PATIENTS, fixed=["lung"])


def test_incomplete_rows_count_as_far_as_they_go(smoking: Network) -> None:
    """By hand: of five patients one has no value of lung; smoke is counted from all five, lung from four."""
    frame = PATIENTS.with_columns(pl.Series("lung", ["no", "no", None, "no", "yes"]))
    fit = credo.fit(smoking.without_cpts(), frame, method="ml")
    assert fit.network.cpt_array("smoke") == pytest.approx(np.array([0.6, 0.4]))
    assert fit.network.cpt_array("lung") == pytest.approx(np.array([[1.0, 0.0], [0.5, 0.5]]), abs=1e-6)
    assert fit.status is credo.Status.CONVERGED
    assert fit.rows == 5


def test_a_missing_cause_is_inferred_from_its_effect(smoking: Network) -> None:
    """The observed log-likelihood is what enumeration gives, and EM raised it at every step."""
    frame = pl.DataFrame({"smoke": ["no", "no", "yes", None, None], "lung": ["no", "no", "yes", "yes", "no"]})
    fit = credo.fit(smoking.without_cpts(), frame, method="map", em=EMOptions(starts=3))
    smoke, lung = fit.network.cpt_array("smoke"), fit.network.cpt_array("lung")
    seen = np.log([smoke[0] * lung[0, 0]] * 2 + [smoke[1] * lung[1, 1]])
    hidden = np.log([smoke @ lung[:, 1], smoke @ lung[:, 0]])
    assert fit.log_likelihood == pytest.approx(seen.sum() + hidden.sum())
    assert all(later >= earlier - 1e-9 for earlier, later in zip(fit.history, fit.history[1:], strict=False))


@pytest.mark.parametrize("method", METHODS)
def test_every_method_takes_incomplete_rows(smoking: Network, method: str) -> None:
    frame = pl.concat([PATIENTS] * 4).with_columns(pl.Series("lung", ["no", None, "no", "yes", "yes"] * 4))
    fit = credo.fit(
        smoking.without_cpts(), frame, "smoke raises lung by at least 0.1", method=method, em=EMOptions(starts=2)
    )
    assert fit.network.is_complete
    assert np.isfinite(fit.log_likelihood)
    if METHODS[method].uses_knowledge and method not in ("co", "qmap", "cem"):
        assert fit.violations().is_empty()


def test_auto_takes_what_suits(smoking: Network) -> None:
    assert credo.fit(smoking, PATIENTS).method == "posterior"
    assert credo.fit(smoking, PATIENTS, prior=1).method == "cmap"
    assert credo.fit(smoking, PATIENTS.select("smoke")).method == "posterior"


def test_the_posterior_says_how_sure_it_is(smoking: Network) -> None:
    fit = credo.fit(smoking, PATIENTS, "smoke raises lung", method="posterior")
    low, high = fit.interval_arrays("lung", 0.9)
    assert (low <= fit.network.cpt_array("lung")).all()
    assert (fit.network.cpt_array("lung") <= high).all()
    wider = fit.interval_arrays("lung", 0.99)
    assert (wider[0] <= low).all()
    assert (fit.deviation_array("lung") > 0).all()
    with pytest.raises(OptionError, match="between 0 and 1"):
        fit.interval("lung", 95)
    with pytest.raises(OptionError, match="no uncertainty"):
        credo.fit(smoking, PATIENTS, method="cmap").interval("lung")


def test_a_dataset_of_another_network_keeps_its_labels() -> None:
    one, other = Network({"lung": ["no", "yes"]}), Network({"lung": ["yes", "no"]})
    frame = pl.DataFrame({"lung": ["no"] * 9 + ["yes"]})
    fit = credo.fit(other, credo.read_table(one, frame), method="ml")
    assert fit.network.cpt_array("lung").tolist() == [0.1, 0.9]
    with pytest.raises(credo.DataError, match="states"):
        credo.fit(Network({"lung": ["no", "maybe"]}), credo.read_table(one, frame), method="ml")


@pytest.mark.parametrize(
    "codes", [np.array([[0], [7]], np.int8), np.array([0, 1], np.int8), np.array([[0.5]]), np.array([[-2]], np.int8)]
)
def test_a_dataset_made_by_hand_is_checked(codes: np.ndarray) -> None:
    with pytest.raises(credo.DataError):
        credo.fit(Network({"lung": ["no", "yes"]}), credo.Dataset(("lung",), codes), method="ml")


def test_knowledge_of_another_network_keeps_its_meaning() -> None:
    one, other = Network({"lung": ["no", "yes"]}), Network({"lung": ["yes", "no"]})
    knowledge = credo.Knowledge(one, "P(lung=yes) <= 0.1")
    fit = credo.fit(other, pl.DataFrame({"lung": ["yes"] * 9 + ["no"]}), knowledge, method="cml")
    assert fit.network.cpt_array("lung")[0] == pytest.approx(0.1)
    with pytest.raises(credo.KnowledgeError, match="lung"):
        credo.check(Network({"heart": ["no", "yes"]}), knowledge)
    assert len(knowledge + credo.Knowledge(one.with_cpts({"lung": [0.5, 0.5]}), "P(lung=yes) >= 0.01")) == 2


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True])
def test_seeds_are_whole_numbers(smoking: Network, seed: object) -> None:
    with pytest.raises(OptionError, match="seed"):
        credo.fit(smoking, PATIENTS, seed=seed)


def test_a_network_whose_cpts_are_all_fixed_is_as_it_was() -> None:
    network = credo.Network({"a": ["x", "y"], "b": ["x", "y"]}, {"b": ["a"]}, {"a": [0.3, 0.7], "b": np.eye(2)})
    for rows in (network.sample(5, seed=0), None):
        fit = credo.fit(network, rows, fixed=["a", "b"])
        assert fit.query("P(b=y)").probability == pytest.approx(0.7)
        assert any("Every CPT is fixed" in each.message for each in fit.findings)
