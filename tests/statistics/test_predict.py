"""Posterior probabilities row by row: by hand, against enumeration, with soft evidence, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from credo import CredoError, DataError, Dataset, ImpossibleRowError, Network, NetworkError, QueryError
from credo.io import tables as tables_module
from tests.helpers.enumeration import given, joint, marginal, random_network, random_rows


def test_by_hand(smoking: Network) -> None:
    frame = smoking.predict(pl.DataFrame({"lung": ["yes", "no", None]}), "smoke")
    assert frame.columns == ["smoke=no", "smoke=yes"]
    assert frame["smoke=yes"].to_list() == pytest.approx([0.1 / 0.11, 0.9 / 1.89, 0.5])


def test_what_a_row_holds_is_certain(smoking: Network) -> None:
    frame = smoking.predict(pl.DataFrame({"lung": ["yes", "no"], "smoke": ["no", None]}), "smoke")
    assert frame.row(0) == (1.0, 0.0)
    assert frame.row(1) == pytest.approx((0.99 / 1.89, 0.9 / 1.89))


def test_a_barren_variable_is_predicted_too(smoking: Network) -> None:
    frame = smoking.predict(pl.DataFrame({"smoke": ["yes", "no"]}), "lung")
    assert frame["lung=yes"].to_list() == pytest.approx([0.1, 0.01])


def test_soft_evidence_by_hand(smoking: Network) -> None:
    seen = pl.DataFrame({"smoke": ["yes", "yes", "no"]})
    for_all = smoking.predict(seen, "lung", soft={"lung": {"no": 1, "yes": 9}})
    assert for_all["lung=yes"].to_list() == pytest.approx([0.9 / 1.8, 0.9 / 1.8, 0.09 / 1.08])
    by_row = smoking.predict(seen, "lung", soft={"lung": {"no": [1, 1, 0], "yes": [9, 1, 1]}})
    assert by_row["lung=yes"].to_list() == pytest.approx([0.5, 0.1, 1.0])


@pytest.mark.parametrize("seed", range(150))
def test_against_enumeration(seed: int) -> None:
    generator = np.random.default_rng(seed)
    network = random_network(generator, most=6, zeros=0.2 * (seed % 2))
    codes = random_rows(generator, network, 8, generator.random())
    target, other = (int(i) for i in generator.integers(0, len(network), 2))
    sizes = [len(network.states(name)) for name in network.names]
    soft = generator.random((8, sizes[other])) + 0.01
    shared = soft[:1].repeat(8, axis=0) if seed % 3 else soft
    name = network.names[other]
    evidence = {name: dict(zip(network.states(name), shared.T, strict=True))} if seed % 4 else None
    frame = network.predict(Dataset(network.names, codes), network.names[target], soft=evidence)
    everything = joint(network)
    shape = [-1 if i == other else 1 for i in range(len(network))]
    for row, likelihood, mine in zip(codes, shared, frame.rows(), strict=True):
        kept = given(everything, row)
        if seed % 4:
            kept = kept * likelihood.reshape(shape)
        assert mine == pytest.approx(marginal(kept, [target]) / kept.sum(), abs=1e-12)


def test_a_table_in_parts_is_predicted_as_a_whole(mixed: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixed.sample(57, 1).drop("b")
    soft = {"a": dict(zip(mixed.states("a"), np.random.default_rng(1).random((2, 57)), strict=True))}
    whole = mixed.predict(frame, "b", soft=soft)
    monkeypatch.setattr(tables_module, "BATCH_ROWS", 10)
    parts = mixed.predict(frame.lazy(), "b", soft=soft)
    assert np.allclose(whole.to_numpy(), parts.to_numpy())


def test_an_impossible_row_is_named_by_its_number_in_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network({"x": ("a", "b"), "y": ("a", "b")}, {"y": ["x"]}, {"x": [1, 0], "y": [[1, 0], [0, 1]]})
    monkeypatch.setattr(tables_module, "BATCH_ROWS", 10)
    frame = pl.DataFrame({"y": ["a"] * 33 + ["b"]}).lazy()
    with pytest.raises(ImpossibleRowError, match="Row 34 is impossible.*y=b"):
        network.predict(frame, "x")


def test_soft_evidence_against_a_value_that_the_row_holds(smoking: Network) -> None:
    with pytest.raises(ImpossibleRowError, match="Row 2 .* smoke=no with the soft evidence on smoke"):
        smoking.predict(pl.DataFrame({"smoke": ["yes", "no"]}), "lung", soft={"smoke": {"yes": 1}})


@pytest.mark.parametrize(
    ("name", "soft", "kind", "message"),
    [
        ("cancer", None, NetworkError, 'no variable "cancer"'),
        ("lung", {"cancer": {"yes": 1}}, NetworkError, 'no variable "cancer"'),
        ("lung", [1, 1], QueryError, 'Soft evidence is a mapping such as {"xray"'),
        ("lung", {"lung": [1, 9]}, QueryError, 'mapping from its states to likelihoods, such as {"no": 1, "yes": 3}'),
        ("lung", {"lung": {"ja": 1}}, QueryError, 'lung has no state "ja"'),
        ("lung", {"lung": {"no": 0}}, QueryError, "not all zero"),
        ("lung", {"lung": {"no": -1, "yes": 2}}, QueryError, "not negative"),
        ("lung", {"lung": {"no": "much", "yes": "little"}}, QueryError, "not made of numbers"),
        ("lung", {"lung": {"no": [[1]]}}, QueryError, "one number for each state, or a list with one for each row"),
        ("lung", {"lung": {"no": [1, 1], "yes": [1, 1, 1]}}, QueryError, "differ in length: 2, 3"),
        ("lung", {"lung": {"no": [1], "yes": 1}}, DataError, "2 rows, but the soft evidence on lung has 1 likelihood "),
        ("lung", {"lung": {"no": [1, 1, 1], "yes": 1}}, DataError, "has 3 likelihoods for each state"),
    ],
)
def test_what_makes_no_sense_is_refused(
    smoking: Network, name: str, soft: Any, kind: type[CredoError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        smoking.predict(pl.DataFrame({"smoke": ["yes", "no"]}), name, soft=soft)
