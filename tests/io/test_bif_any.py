"""Whatever network is written as BIF comes back whole; whatever text is read is a network or a `FormatError`."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credo import FormatError, Network, Variable
from credo.io.bif import format_bif, parse_bif, read_bif
from tests.helpers.bif_texts import DOGS, TWO

NAMES = st.text(st.characters(), min_size=1, max_size=8) | st.sampled_from(
    [
        "Asy/Patch",
        "<5",
        "12+",
        "0-3_days",
        "a b",
        'say "x"',
        "a//b",
        "/*",
        "\\n",
        "\n",
        "property",
        "table",
        "\ud800",
        "\0",
    ]
)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Any network: any names, any order, any bits, some tables missing."""
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    variables = [Variable(name, tuple(draw(st.lists(NAMES, min_size=1, max_size=4, unique=True)))) for name in names]
    order = draw(st.permutations(names))
    parents = {
        name: draw(st.lists(st.sampled_from(order[:i]), max_size=3, unique=True)) if i else []
        for i, name in enumerate(order)
    }
    structure = Network(variables, parents, name=draw(st.text(max_size=8)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables = {
        name: random.dirichlet(np.full(len(structure.states(name)), 0.2), structure.shape(name)[:-1])
        for name in names
        if draw(st.integers(0, 4))
    }
    # Sparse draws can underflow to a row of zeros.
    return structure.with_cpts({k: t for k, t in tables.items() if (abs(t.sum(axis=-1) - 1) < 1e-9).all()})


@given(networks())
@settings(max_examples=200, deadline=None)
def test_writing_and_reading_loses_nothing(network: Network) -> None:
    again = parse_bif(format_bif(network))
    assert again == network
    assert again.name == network.name
    for name, table in network.cpts.items():
        assert again.cpts[name].tobytes() == table.tobytes()


def test_every_bit_survives() -> None:
    random = np.random.default_rng(0)
    table = random.dirichlet(np.ones(7) * 0.01, 2000)
    table[0] = [0.0, -0.0, 5e-324, 1e-300, 0.1 + 0.2, 1 / 3, 1 - 0.3 - 1 / 3]
    network = Network({"p": [str(i) for i in range(2000)], "c": list("abcdefg")}, {"c": ["p"]}, {"c": table})
    assert parse_bif(format_bif(network)).cpts["c"].tobytes() == table.tobytes()


# Broken texts --------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [*'{}()[];,|"/\\\n', "//", "/*", "*/", "property ", "table ", "default ", "0.5", "a", "\0", "é"]
)


@given(st.sampled_from([DOGS, TWO]), st.data())
@settings(max_examples=500, deadline=None)
def test_a_mutated_text_is_a_network_or_a_format_error(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        kind = data.draw(st.sampled_from(["cut", "insert", "replace", "double"]))
        piece = data.draw(PIECES | st.text(max_size=3)) if kind in ("insert", "replace") else ""
        if kind == "double":
            piece = text[start : start + length] * 2
        text = text[:start] + piece + text[start + (0 if kind == "insert" else length) :]
    with suppress(FormatError):
        network = parse_bif(text, "net.bif")
        assert parse_bif(format_bif(network)) == network


@given(st.binary(max_size=200), st.integers(0, len(TWO)))
@settings(max_examples=100, deadline=None)
def test_bytes_in_a_file_are_a_network_or_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "net.bif"
    path.write_bytes(TWO.encode()[:at] + junk + TWO.encode()[at:])
    with suppress(FormatError):
        read_bif(path)
