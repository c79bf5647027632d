"""A table with labels."""

import numpy as np
import polars as pl
import pytest

from credo import Network, NetworkError
from credo.network_methods import labelled_cpt


def family() -> Network:
    table = np.arange(6, dtype=float).reshape(3, 2, 1) / 10
    variables = {"a": ["x", "y", "z"], "b": ["p", "q"], "c": ["u", "v"]}
    tables = {"a": [0.25, 0.25, 0.5], "c": np.concatenate([table, 1 - table], axis=-1)}
    return Network(variables, {"c": ["a", "b"]}, tables)


def test_one_row_a_configuration_and_one_column_a_state() -> None:
    frame = labelled_cpt(family(), "c")
    assert frame.columns == ["a", "b", "c=u", "c=v"]
    assert frame.dtypes == [pl.String, pl.String, pl.Float64, pl.Float64]
    assert frame.row(3) == ("y", "q", 0.3, 0.7)
    assert frame.height == 6


def test_rows_are_those_that_the_network_counts() -> None:
    network = family()
    for row, labels in enumerate(labelled_cpt(network, "c").select("a", "b").iter_rows(named=True)):
        assert labels == network.configuration("c", row)


def test_a_root_has_one_row() -> None:
    assert labelled_cpt(family(), "a").rows() == [(0.25, 0.25, 0.5)]
    assert family().cpt("a").equals(labelled_cpt(family(), "a"))


def test_no_table_is_an_error() -> None:
    with pytest.raises(NetworkError, match="b has no CPT"):
        labelled_cpt(family(), "b")


def test_a_parent_called_like_a_state_is_an_error() -> None:
    network = Network({"c=u": ["x"], "c": ["u"]}, {"c": ["c=u"]}, {"c": [[1.0]]})
    with pytest.raises(NetworkError, match='two columns "c=u"'):
        labelled_cpt(network, "c")
