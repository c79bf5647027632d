"""Made-up networks, tables and true statements, for tests, benchmarks and evaluations.

Every generator takes a seed and gives the same result for the same seed on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from credo.knowledge.expressions import Linear, Probability
from credo.knowledge.statements import Approximation, Comparison, Statement
from credo.model.network import Network
from credo.types import Numbers

# How often a variable of Alarm has 0, 1, 2, 3 or 4 parents, roughly.
FEW_PARENTS = (0.3, 0.3, 0.25, 0.1, 0.05)
UP_TO_FOUR_PARENTS = (0.2, 0.2, 0.2, 0.2, 0.2)


# Networks -------------------------------------------------------------------------------------------------------------


def random_network(sizes: Mapping[str, int], parents: Mapping[str, Sequence[str]], seed: int) -> Network:
    """A network of a given structure whose conditional distributions are drawn from Dirichlet(1).

    Parameters
    ----------
    sizes : mapping of str to int
        The number of states of each variable; the states are named ``s0``, ``s1``, …
    parents : mapping of str to sequence of str
        The parents of each variable; variables not listed have no parents.
    seed : int
        The seed of the random generator.

    Returns
    -------
    Network
        The network, with a CPT for every variable.

    Examples
    --------
    >>> network = random_network({"a": 2, "b": 3}, {"b": ("a",)}, seed=1)
    >>> network.states("b"), network.cpt_array("b").shape
    (('s0', 's1', 's2'), (2, 3))
    """
    structure = Network({name: [f"s{k}" for k in range(size)] for name, size in sizes.items()}, parents)
    return structure.with_cpts(_random_cpts(structure, np.random.default_rng(seed), 1.0))


def made_up_network(
    variables: int,
    states: tuple[int, int] = (2, 4),
    parent_weights: Sequence[float] = UP_TO_FOUR_PARENTS,
    *,
    concentration: float = 1.0,
    seed: int = 0,
    name: str = "made up",
) -> Network:
    """A network with a random structure and random CPTs.

    Parameters
    ----------
    variables : int
        The number of variables.
    states : tuple of int, default (2, 4)
        The smallest and the largest number of states of a variable.
    parent_weights : sequence of float
        The probabilities of 0, 1, 2, … parents; a variable never has more parents than there are variables before it.
    concentration : float, default 1.0
        Each conditional distribution is drawn from a symmetric Dirichlet distribution with this parameter.
    seed : int, default 0
        The seed of the random generator.
    name : str, default "made up"
        The name of the network.

    Returns
    -------
    Network
        The network, with a CPT for every variable.

    Examples
    --------
    >>> network = made_up_network(5, states=(3, 3), parent_weights=(0, 0, 1))
    >>> [len(network.parents[name]) for name in network.names]
    [0, 1, 2, 2, 2]
    """
    generator = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(variables)]
    labels = {each: [f"state{k}" for k in range(generator.integers(states[0], states[1] + 1))] for each in names}
    counts = [min(i, int(generator.choice(len(parent_weights), p=parent_weights))) for i in range(variables)]
    parents = {
        each: generator.choice(names[:i], count, replace=False).tolist() if i else []
        for i, (each, count) in enumerate(zip(names, counts, strict=True))
    }
    structure = Network(labels, parents, name=name)
    return structure.with_cpts(_random_cpts(structure, generator, concentration))


def alarm_like_network() -> Network:
    """A made-up network of the size of Alarm: 37 variables with two to four states and up to four parents.

    Returns
    -------
    Network
        The network, always the same.
    """
    return made_up_network(37, (2, 4), FEW_PARENTS, concentration=0.5, seed=1, name="like Alarm")


def andes_like_network() -> Network:
    """A made-up network of the size of Andes: 223 binary variables with up to four parents.

    Returns
    -------
    Network
        The network, always the same.
    """
    return made_up_network(223, (2, 2), UP_TO_FOUR_PARENTS, name="like Andes")


def _random_cpts(structure: Network, generator: np.random.Generator, concentration: float) -> dict[str, Numbers]:
    cpts = {}
    for name in structure.names:
        parameters = np.full(len(structure.states(name)), concentration)
        distributions = generator.dirichlet(parameters, structure.configurations(name))
        cpts[name] = distributions.reshape(structure.shape(name))
    return cpts


# Tables ---------------------------------------------------------------------------------------------------------------


def with_missing_values(frame: pl.DataFrame, fraction: float, seed: int) -> pl.DataFrame:
    """The same table with values missing completely at random.

    A value that is missing at one fraction is also missing at every larger fraction.

    Parameters
    ----------
    frame : polars.DataFrame
        The complete table.
    fraction : float
        The probability that a value is missing.
    seed : int
        The seed of the random generator.

    Returns
    -------
    polars.DataFrame
        The table with nulls in place of the missing values.

    Examples
    --------
    >>> with_missing_values(pl.DataFrame({"a": ["x"] * 1000}), 0.2, seed=1)["a"].null_count()
    188
    """
    missing = np.random.default_rng(seed).random(frame.shape) < fraction
    return frame.select(
        pl.when(pl.Series(~missing[:, i])).then(pl.col(name)).alias(name) for i, name in enumerate(frame.columns)
    )


# Statements -----------------------------------------------------------------------------------------------------------


def true_statements(
    network: Network, per_variable: int, seed: int = 0, *, across_variables: float = 0.0
) -> tuple[Statement, ...]:
    """True statements about a network, drawn at random from its CPTs: the knowledge of an expert who is never wrong.

    The statements are of types 1, 4, 5, 6 and 7 of [guo, table 1]. A type that a CPT is too small for is not drawn.

    Parameters
    ----------
    network : Network
        The network with the true CPTs.
    per_variable : int
        The number of statements about each variable's CPT.
    seed : int, default 0
        The seed of the random generator.
    across_variables : float, default 0.0
        The probability that a statement compares with a CPT of another variable (type 2). Such statements connect the
        blocks of different variables.

    Returns
    -------
    tuple of Statement
        The statements, variable by variable.

    Examples
    --------
    >>> network = random_network({"a": 2, "b": 2}, {"b": ("a",)}, seed=1)
    >>> len(true_statements(network, 3))
    6
    """
    rng = np.random.default_rng(seed)
    drawn: list[Statement] = []
    for name in network.names:
        configurations, states = network.configurations(name), len(network.states(name))
        kinds: list[Callable[[np.random.Generator, Network, str], Statement]] = [_range]
        if states > 1:
            kinds.append(_within_distribution)
        if configurations > 1:
            kinds += [_across_configurations, _approximation]
        if configurations > 3:
            kinds.append(_sum_comparison)
        for _ in range(per_variable):
            elsewhere = rng.random() < across_variables and len(network) > 1
            draw = _across_variables if elsewhere else kinds[rng.integers(len(kinds))]
            drawn.append(draw(rng, network, name))
    return tuple(drawn)


def _range(rng: np.random.Generator, network: Network, name: str) -> Statement:
    term, value = _term(network, name, *_cell(rng, network, name))
    width = float(rng.choice([0.05, 0.1, 0.2]))
    low, high = max(0.0, value - width * rng.random()), min(1.0, value + width * max(rng.random(), 0.01))
    lower, upper = Linear((), _rounded_down(low)), Linear((), _rounded_up(high))
    has_lower, has_upper = lower.constant > 0.0, upper.constant < 1.0  # a bound of 0 or 1 excludes nothing
    if has_lower and has_upper and rng.random() < 0.3:
        return Comparison((lower, term, upper), ("<=", "<="))
    if has_lower and (not has_upper or rng.random() < 0.5):
        return Comparison((term, lower), (">=",))
    return Comparison((term, upper), ("<=",))


def _within_distribution(rng: np.random.Generator, network: Network, name: str) -> Statement:
    configuration, _ = _cell(rng, network, name)
    first, second = rng.choice(len(network.states(name)), 2, replace=False)
    return _ordered(_term(network, name, configuration, first), _term(network, name, configuration, second))


def _across_configurations(rng: np.random.Generator, network: Network, name: str) -> Statement:
    _, state = _cell(rng, network, name)
    first, second = rng.choice(network.configurations(name), 2, replace=False)
    return _ordered(_term(network, name, first, state), _term(network, name, second, state))


def _approximation(rng: np.random.Generator, network: Network, name: str) -> Statement:
    _, state = _cell(rng, network, name)
    configurations = rng.choice(network.configurations(name), 2, replace=False)
    (left, first), (right, second) = (_term(network, name, each, state) for each in configurations)
    if abs(first - second) > 0.9:  # a tolerance that wide would exclude nothing
        return _ordered((left, first), (right, second))
    return Approximation(left, right, _rounded_up(abs(first - second) + 0.05))


def _sum_comparison(rng: np.random.Generator, network: Network, name: str) -> Statement:
    _, state = _cell(rng, network, name)
    configurations = rng.choice(network.configurations(name), 4, replace=False)
    terms = [_term(network, name, each, state) for each in configurations]
    left = Linear(terms[0][0].terms + terms[1][0].terms), terms[0][1] + terms[1][1]
    right = Linear(terms[2][0].terms + terms[3][0].terms), terms[2][1] + terms[3][1]
    return _ordered(left, right)


def _across_variables(rng: np.random.Generator, network: Network, name: str) -> Statement:
    other = str(rng.choice([each for each in network.names if each != name]))
    own, foreign = _cell(rng, network, name), _cell(rng, network, other)
    return _ordered(_term(network, name, *own), _term(network, other, *foreign))


def _ordered(one: tuple[Linear, float], two: tuple[Linear, float]) -> Statement:
    if abs(one[1] - two[1]) < 1e-9:  # no expert would rank two equal numbers
        return Approximation(one[0], two[0], 0.05)
    low, high = (one, two) if one[1] <= two[1] else (two, one)
    return Comparison((low[0], high[0]), ("<=",))


def _cell(rng: np.random.Generator, network: Network, name: str) -> tuple[int, int]:
    return int(rng.integers(network.configurations(name))), int(rng.integers(len(network.states(name))))


def _term(network: Network, name: str, configuration: int, state: int) -> tuple[Linear, float]:
    given = tuple(network.configuration(name, int(configuration)).items())
    probability = Probability(name, (network.states(name)[state],), given)
    value = float(network.cpt_array(name).reshape(-1, len(network.states(name)))[configuration, state])
    return Linear(((1.0, probability),)), value


def _rounded_down(value: float) -> float:
    return float(np.floor(value * 1000) / 1000)


def _rounded_up(value: float) -> float:
    return float(np.ceil(value * 1000) / 1000)
