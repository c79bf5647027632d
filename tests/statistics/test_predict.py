"""Posterior probabilities row by row: by hand, against enumeration, with soft evidence, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from credo.errors import CredoError, DataError, ImpossibleRowError, NetworkError, OptionError
from credo.io import tables as tables_module
from credo.io.dataset import Dataset
from credo.model.network import Network
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
    for_all = smoking.predict(seen, "lung", soft={"lung": [1, 9]})
    assert for_all["lung=yes"].to_list() == pytest.approx([0.9 / 1.8, 0.9 / 1.8, 0.09 / 1.08])
    by_row = smoking.predict(seen, "lung", soft={"lung": [[1, 9], [1, 1], [0, 1]]})
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
    frame = network.predict(
        Dataset(network.names, codes), network.names[target], {network.names[other]: shared} if seed % 4 else None
    )
    everything = joint(network)
    shape = [-1 if i == other else 1 for i in range(len(network))]
    for row, likelihood, mine in zip(codes, shared, frame.rows(), strict=True):
        kept = given(everything, row)
        if seed % 4:
            kept = kept * likelihood.reshape(shape)
        assert mine == pytest.approx(marginal(kept, [target]) / kept.sum(), abs=1e-12)


def test_a_table_in_parts_is_predicted_as_a_whole(mixed: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixed.sample(57, 1).drop("b")
    soft = {"a": np.random.default_rng(1).random((57, 2))}
    whole = mixed.predict(frame, "b", soft)
    monkeypatch.setattr(tables_module, "BATCH_ROWS", 10)
    parts = mixed.predict(frame.lazy(), "b", soft)
    assert np.allclose(whole.to_numpy(), parts.to_numpy())


def test_an_impossible_row_is_named_by_its_number_in_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network({"x": ("a", "b"), "y": ("a", "b")}, {"y": ["x"]}, {"x": [1, 0], "y": [[1, 0], [0, 1]]})
    monkeypatch.setattr(tables_module, "BATCH_ROWS", 10)
    frame = pl.DataFrame({"y": ["a"] * 33 + ["b"]}).lazy()
    with pytest.raises(ImpossibleRowError, match="Row 34 is impossible.*y=b"):
        network.predict(frame, "x")


def test_soft_evidence_against_a_value_that_the_row_holds(smoking: Network) -> None:
    with pytest.raises(ImpossibleRowError, match="Row 2 .* smoke=no with the soft evidence on smoke"):
        smoking.predict(pl.DataFrame({"smoke": ["yes", "no"]}), "lung", soft={"smoke": [0, 1]})


@pytest.mark.parametrize(
    ("name", "soft", "kind", "message"),
    [
        ("cancer", None, NetworkError, 'no variable "cancer"'),
        ("lung", {"cancer": [1, 1]}, NetworkError, 'no variable "cancer"'),
        ("lung", {"lung": [1, 1, 1]}, OptionError, "2 numbers"),
        ("lung", {"lung": [0, 0]}, OptionError, "not all of them zero"),
        ("lung", {"lung": [-1, 2]}, OptionError, "not negative"),
        ("lung", {"lung": ["much", "little"]}, OptionError, "not made of numbers"),
        ("lung", {"lung": [[1, 1]]}, DataError, "more rows than likelihoods for lung"),
        ("lung", {"lung": [[1, 1]] * 3}, DataError, "2 rows, and lung 3 lists of likelihoods"),
    ],
)
def test_what_makes_no_sense_is_refused(
    smoking: Network, name: str, soft: Any, kind: type[CredoError], message: str
) -> None:
    with pytest.raises(kind, match=message):
        smoking.predict(pl.DataFrame({"smoke": ["yes", "no"]}), name, soft)
