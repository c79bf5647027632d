"""Random statements of every kind about a network, as lines of the knowledge language."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from credo.model.network import Network

PLAIN_NAME = re.compile(r"[a-z]\w*(?:[.\-]\w+)*")
KEYWORDS = {"order", "rows", "in", "and", "on", "of", "is", "with", "by", "within", "share", "raises", "lowers"}
FAR = ("1e4 * ", "1e7*", "1e-8 * ", "3e9*", "1e-12*", "1e13 * ")  # coefficients that differ by orders of magnitude
TINY = 0.1  # of the numbers
FAR_APART = 0.1  # of the sums
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def quoted(name: str) -> str:
    """A name as the language needs it."""
    if PLAIN_NAME.fullmatch(name) and name not in KEYWORDS:
        return name
    return '"' + "".join(ESCAPES.get(each, each) for each in name) + '"'


def random_statement(choose: Random, network: Network) -> str:
    """One line; names and states exist, but what it claims may be impossible, or a mistake of form."""
    return choose.choice(STATEMENTS)(choose, network)


def random_knowledge(choose: Random, network: Network, most: int = 8) -> list[str]:
    """Some lines."""
    return [random_statement(choose, network) for _ in range(choose.randint(0, most))]


def _number(choose: Random) -> str:
    value = choose.choice((choose.random(), round(choose.random(), 2), 0.05, 0.5, 0.0, 1.0))
    if choose.random() < TINY:
        value = choose.choice((1e-6, 1e-7, 3e-8, 1e-9, 2e-12, 1.0 - 1e-7, 1.0 - 4e-9))
        return repr(value)
    return choose.choice((f"{value:.3g}", f"{100 * value:.4g}%", repr(value), f"{value:.2e}"))


def _cell(choose: Random, network: Network, name: str | None = None, full: float = 0.7) -> str:
    """P(x=s | parents), with all parents, or some of them left out."""
    name = choose.choice(network.names) if name is None else name
    states = network.states(name)
    if choose.random() < 0.2 and len(states) > 1:
        some = choose.sample(states, choose.randint(1, len(states) - 1))
        event = f"{quoted(name)} in {{{', '.join(map(quoted, some))}}}"
    else:
        event = f"{quoted(name)}={quoted(choose.choice(states))}"
    parents = [each for each in network.parents[name] if choose.random() < full or choose.random() < 0.5]
    given = ", ".join(f"{quoted(each)}={quoted(choose.choice(network.states(each)))}" for each in parents)
    return f"P({event} | {given})" if given else f"P({event})"


def _soft(choose: Random, likely: float = 0.2) -> str:
    return f" with confidence {choose.choice((0.1, 0.5, 0.8, 0.99))}" if choose.random() < likely else ""


def _margin(choose: Random) -> str:
    return f" by at least {choose.choice((0.01, 0.05, 0.3))}" if choose.random() < 0.2 else ""


def range_statement(choose: Random, network: Network) -> str:
    low, high = sorted((round(choose.random(), 3), round(choose.random(), 3)))
    cell = _cell(choose, network)
    forms = (f"{cell} >= {_number(choose)}", f"{cell} <= {_number(choose)}", f"{low} <= {cell} <= {high}")
    return choose.choice(forms) + _soft(choose)


def comparison(choose: Random, network: Network) -> str:
    one = choose.choice(network.names)
    two = one if choose.random() < 0.7 else choose.choice(network.names)
    relation = choose.choice(("<=", ">=", "<", ">"))
    return f"{_cell(choose, network, one)} {relation} {_cell(choose, network, two)}{_margin(choose)}{_soft(choose)}"


def sums(choose: Random, network: Network) -> str:
    def side() -> str:
        terms = [_cell(choose, network) for _ in range(choose.randint(1, 3))]
        weights = [choose.choice(("", "", "2*", "0.5 * ", "3 * ")) for _ in terms]
        if choose.random() < FAR_APART:
            weights = [choose.choice(("", "", *FAR)) for _ in terms]
        constant = choose.choice(("", "", " + 0.1", " - 0.2"))
        return choose.choice((" + ", " + ", " - ")).join(w + t for w, t in zip(weights, terms, strict=True)) + constant

    return f"{side()} {choose.choice(('<=', '>='))} {choose.choice((side(), _number(choose)))}{_soft(choose)}"


def equality(choose: Random, network: Network) -> str:
    return f"{_cell(choose, network)} = {choose.choice((_cell(choose, network), _number(choose)))}{_soft(choose)}"


def approximation(choose: Random, network: Network) -> str:
    right = choose.choice((_cell(choose, network), _number(choose)))
    return f"{_cell(choose, network)} ~ {right} within {choose.choice((0.01, 0.1, 0.5))}{_soft(choose)}"


def product(choose: Random, network: Network) -> str:
    def pair() -> str:
        return f"{_cell(choose, network)} * {_cell(choose, network)}"

    return f"{pair()} {choose.choice(('<=', '>='))} {choose.choice((pair(), _cell(choose, network), '0.3'))}"


def influence(choose: Random, network: Network) -> str:
    arcs = [(parent, child) for child in network.names for parent in network.parents[child]]
    if not arcs:
        return range_statement(choose, network)
    parent, child = choose.choice(arcs)
    return f"{quoted(parent)} {choose.choice(('raises', 'lowers'))} {quoted(child)}{_margin(choose)}{_soft(choose)}"


def synergy(choose: Random, network: Network) -> str:
    able = [name for name in network.names if len(network.parents[name]) > 1]
    if not able:
        return influence(choose, network)
    child = choose.choice(able)
    parents = choose.sample(network.parents[child], choose.randint(2, len(network.parents[child])))
    verb = choose.choice(("synergize", "sub-synergize"))
    return f"{' and '.join(map(quoted, parents))} {verb} on {quoted(child)}{_margin(choose)}{_soft(choose)}"


def order(choose: Random, network: Network) -> str:
    name = choose.choice(network.names)
    states = choose.sample(network.states(name), len(network.states(name)))
    return f"order {quoted(name)}: {' < '.join(map(quoted, states))}"


def noisy_family(choose: Random, network: Network) -> str:
    able = [name for name in network.names if network.parents[name]]
    if not able:
        return order(choose, network)
    child = choose.choice(able)
    parents = choose.sample(network.parents[child], len(network.parents[child]))
    cut = choose.randrange(len(parents))
    sets = ", ".join(f"{{{', '.join(map(quoted, part))}}}" for part in (parents[:cut], parents[cut:]) if part)
    kind = choose.choice(("noisy-or", "noisy-and", "noisy-max", "noisy-min"))
    return f"{quoted(child)} is {kind} of {sets}{choose.choice(('', ' with leak'))}"


def tie(choose: Random, network: Network) -> str:
    names = " and ".join(map(quoted, choose.sample(network.names, min(len(network.names), choose.randint(1, 2)))))
    verb = choose.choice(("share", "share", "differ in"))
    if choose.random() < 0.5:
        return f"rows with equal group {verb} {names}"
    rows = sorted(choose.sample(range(1, 9), choose.randint(2, 3)))
    return f"rows {', '.join(map(str, rows))} {verb} {names}"


def declaration(choose: Random, network: Network) -> str:
    """A line about the variables themselves; most agree with the network."""
    name = choose.choice(network.names)
    others = [other for other in network.names if other != name or choose.random() < 0.05]
    parents = list(network.parents[name]) or choose.sample(others, min(len(others), 2))
    numbers = sorted(choose.choice((40, 60, -1.5, 133.5, 1e3, 0)) for _ in range(choose.randint(1, 3)))
    if choose.random() < 0.1:
        numbers = numbers[::-1]
    states = choose.sample(network.states(name), len(network.states(name)))
    named = quoted(states[0]) + "".join(f" < {n:g} <= {quoted(s)}" for n, s in zip(numbers, states[1:], strict=False))
    return choose.choice(
        (
            f"variable {quoted(name)}: {', '.join(map(quoted, network.states(name)))}",
            f"variables {quoted(name)}, {quoted(choose.choice(others))}: {', '.join(map(quoted, states))}",
            f"variable {quoted(name)}",
            f"{quoted(name)} depends on {', '.join(map(quoted, parents))}",
            f"{quoted(name)} is cut at {', '.join(f'{number:g}' for number in numbers)}",
            f"{quoted(name)}: {named}",
            f"{quoted(name)} is cut into {choose.randint(0, 9)} {choose.choice(('quantiles', 'equal ranges'))}",
            f"P({quoted(name)} {choose.choice(('<', '>='))} {numbers[0]:g}) <= 0.5",
        )
    )


STATEMENTS: tuple[Callable[[Random, Network], str], ...] = (
    *(range_statement, comparison, influence) * 3,
    *(sums, synergy, approximation) * 2,
    *(equality, product, order, noisy_family, tie),
)
