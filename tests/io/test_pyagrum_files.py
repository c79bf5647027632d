"""Files that pyAgrum writes are read as it meant them, in every format that both know."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from credo import FormatError, Network, Variable, read_network, write_network
from credo.errors import LossyFormatWarning, RoundedNumbersWarning
from credo.io.pyagrum import from_pyagrum, load_pyagrum
from credo.model.alignment import aligned_cpt

ENDINGS = (".bif", ".bifxml", ".net", ".dsl", ".xdsl", ".uai")


def random_model(seed: int) -> Any:
    """A pyAgrum network of seven variables of different sizes, with up to four parents each."""
    pyagrum = load_pyagrum("A test")
    random = np.random.default_rng(seed)
    model = pyagrum.BayesNet("random")
    for i in random.permutation(7).tolist():
        states = [f"s{j}" for j in range(int(random.integers(2, 6)))]
        model.add(pyagrum.LabelizedVariable(f"v{i}", f"v{i}", states))
    order = random.permutation(7).tolist()
    for place, i in enumerate(order):
        for j in random.permutation(order[:place])[: int(random.integers(0, 5))].tolist():
            model.addArc(f"v{j}", f"v{i}")
    for name in model.names():
        cpt = model.cpt(name)
        shape = [cpt.variable(axis).domainSize() for axis in reversed(cpt.names)]
        cpt[:] = random.dirichlet(np.full(shape[-1], 0.5), shape[:-1])
    return model


def read_quietly(path: Path) -> Network:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoundedNumbersWarning)
        return read_network(path)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("seed", range(10))
def test_all_numbers_are_where_pyagrum_meant_them(tmp_path: Path, ending: str, seed: int) -> None:
    model = random_model(seed)
    expected = from_pyagrum(model)
    path = tmp_path / f"net{ending}"
    load_pyagrum("A test").saveBN(model, str(path))
    found = read_quietly(path)
    if ending == ".uai":  # no names: variables and states in their order
        assert [len(variable.states) for variable in found.variables] == [
            len(variable.states) for variable in expected.variables
        ]
        names = dict(zip(found.names, expected.names, strict=True))
        variables = [Variable(names[v.name], expected.states(names[v.name])) for v in found.variables]
        parents = {names[c]: [names[parent] for parent in given] for c, given in found.parents.items()}
        found = Network(variables, parents, {names[c]: cpt for c, cpt in found.cpts.items()})
    for name in expected.names:
        assert found.states(name) == expected.states(name)
        assert set(found.parents[name]) == set(expected.parents[name])
        assert np.abs(aligned_cpt(expected, found, name) - expected.cpt_array(name)).max() < 2e-6


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_pyagrum_reads_from_our_files_is_the_same(tmp_path: Path, ending: str) -> None:
    network = from_pyagrum(random_model(3))
    path = tmp_path / f"net{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LossyFormatWarning)
        write_network(network, path)
    if ending in (".xdsl", ".uai"):
        return  # pyAgrum takes the first parent for the fastest
    again = from_pyagrum(load_pyagrum("A test").loadBN(str(path)))
    for name in network.names:
        assert again.states(name) == network.states(name)
        assert np.abs(aligned_cpt(network, again, name) - network.cpt_array(name)).max() < 1e-6


def test_intervals_and_numbers_as_states_come_through(tmp_path: Path) -> None:
    pyagrum = load_pyagrum("A test")
    model = pyagrum.fastBN("a[3]->c[0,1.5,3]<-b{p|q}")
    for ending in (".bifxml", ".net", ".xdsl"):
        pyagrum.saveBN(model, str(tmp_path / f"net{ending}"))
        found = read_quietly(tmp_path / f"net{ending}")
        assert found.states("c") == ("[0;1.5[", "[1.5;3]")
        assert found.states("a") == ("0", "1", "2")


def two_parents(tmp_path: Path, ending: str) -> Path:
    pyagrum = load_pyagrum("A test")
    pyagrum.initRandom(1)
    path = tmp_path / f"net{ending}"
    pyagrum.saveBN(pyagrum.fastBN("a[2]->c[2]<-b[3]"), str(path))
    return path


@pytest.mark.parametrize(
    ("ending", "old", "new"),
    [
        (".xdsl", "created by pyAgrum", "edited"),
        (".xdsl", 'app="aGrUM', 'app="GeNIe'),
        (".uai", "   # c", " # c"),
        (".uai", "   # c", "   # c\n\n1 # x"),
    ],
)
def test_a_file_that_only_half_looks_like_pyagrum_is_refused(tmp_path: Path, ending: str, old: str, new: str) -> None:
    path = two_parents(tmp_path, ending)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(FormatError, match="not clear which parent varies fastest|needs a child"):
        read_quietly(path)


def test_without_its_signs_a_file_is_read_as_the_format_says(tmp_path: Path) -> None:
    path = two_parents(tmp_path, ".uai")
    as_pyagrum = read_quietly(path).cpts["x1"]
    path.write_text(re.sub("#.*", "", path.read_text()))
    as_uai = read_quietly(path).cpts["x1"]
    assert as_pyagrum.reshape(-1).tolist() != as_uai.reshape(-1).tolist()
    assert np.array_equal(as_pyagrum.transpose(1, 0, 2).reshape(-1), as_uai.reshape(-1))


def test_six_digits_are_read_with_a_warning(tmp_path: Path) -> None:
    pyagrum = load_pyagrum("A test")
    model = pyagrum.fastBN("a[6]")
    model.cpt("a")[:] = [0.123456499, 0.223456499, 0.123456499, 0.123456499, 0.123456499, 0.282717505]
    for ending in (".bifxml", ".dsl", ".xdsl", ".uai"):
        path = tmp_path / f"net{ending}"
        pyagrum.saveBN(model, str(path))
        with pytest.warns(RoundedNumbersWarning, match="One distribution does not sum to 1, .* 0.999998") as caught:
            network = read_network(path)
        assert Path(caught[0].filename) == Path(__file__)
        assert abs(network.cpts[network.names[0]].sum() - 1) < 1e-15
    with pytest.warns(RoundedNumbersWarning, match="The pyAgrum network"):
        again = from_pyagrum(pyagrum.loadBN(str(tmp_path / "net.dsl")))
    assert np.allclose(again.cpts["a"], network.cpts["x0"], atol=1e-7)
