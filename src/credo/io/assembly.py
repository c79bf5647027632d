"""From what a file says to a network: sizes that a short file could ask for, rounded digits, and lines of mistakes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import NoReturn

import numpy as np

from credo.errors import (
    FormatError,
    IncompleteCPTWarning,
    NetworkError,
    counted,
    first_duplicate,
    readable_bytes,
    readable_count,
    suggestion,
)
from credo.io.files import warn_caller
from credo.io.printed_numbers import RoundedSums
from credo.memory import memory_limit_or_default
from credo.model.gates import GateForm
from credo.model.network import Network, Variable
from credo.model.noisy import FULL_CELLS, NoisyForm
from credo.types import Numbers, PathLike

# Numbers that a file may ask for without holding them, all CPTs together (256 MB): by a default, by results instead of
# probabilities, or by a noisy family, whose full CPT is computed.
MOST_IMPLIED = 2**25
BYTES_PER_NUMBER = 24  # while a CPT is checked

Fail = Callable[[str, str], NoReturn]  # raises an error about a variable


def check_implied(structure: Network, names: Mapping[str, str], fail: Fail) -> None:
    """Refuse CPTs that are far larger than their description, before memory is taken.

    `names` are the variables whose CPTs the file does not hold number by number, each with what it has instead.
    """
    most = min(MOST_IMPLIED, memory_limit_or_default(None) // BYTES_PER_NUMBER)
    total = 0
    for name, instead in names.items():
        total += (numbers := prod(structure.shape(name)))
        if numbers > most:
            fail(
                name,
                f"The CPT of {name} would have {readable_count(numbers)} numbers, from {instead} alone; at most "
                f"{most:,} are allowed. Give {name} fewer parents.",
            )
        if total > most:
            fail(
                name,
                f"Up to here, CPTs would have {total:,} numbers ({readable_bytes(8 * total)}) that the file does not "
                f"hold, the last from {instead} of {name}; at most {most:,} are allowed.",
            )


def implied_by_noise(structure: Network, names: list[str]) -> dict[str, str]:
    """The noisy families whose full CPTs are computed, for `check_implied`."""
    return {name: "a noisy family" for name in names if prod(structure.shape(name)) <= FULL_CELLS}


def mistake_in_family(child: str, parents: Sequence[str], known: Collection[str], block: str, kind: str) -> str | None:
    """What is wrong with the names of a child and its parents, in the words of the format."""
    for name in (child, *parents):
        if name not in known:
            return f'The {block} of {child} names "{name}", which is not a {kind}.' + suggestion(name, tuple(known))
    if (duplicate := first_duplicate(parents)) is not None:
        return f"{kind.capitalize()} {child} has the parent {duplicate} twice."
    return None


def structure_of(
    variables: Sequence[Variable], parents: Mapping[str, Sequence[str]], name: str, path: str | None
) -> Network:
    """The network without CPTs; a cycle and the like are mistakes of the file."""
    try:
        return Network(variables, parents, name=name)
    except NetworkError as error:
        raise FormatError(str(error), path) from None


def assemble(
    structure: Network,
    cpts: Mapping[str, Numbers],
    path: PathLike | None,
    fail: Fail,
    forms: Mapping[str, NoisyForm | GateForm] | None = None,
    rounded: RoundedSums | None = None,
) -> Network:
    """The network with these CPTs; those that rounding explains are normalised, with a warning.

    `fail` gets the variable whose CPT is wrong, and the message. `rounded` already knows about the noisy families.
    """
    rounded = RoundedSums() if rounded is None else rounded
    cpts = {name: rounded.normalised(name, cpt) for name, cpt in _given_completely(structure, cpts, path).items()}
    for cpt in cpts.values():
        cpt.setflags(write=False)  # so that networks share it
    try:
        network = structure.with_cpts(cpts)
    except NetworkError:
        for name, cpt in cpts.items():  # find the one with the mistake
            try:
                structure.with_cpts({name: cpt})
            except NetworkError as error:
                fail(name, str(error))
        raise
    try:
        network = network.with_forms(forms) if forms else network
    except NetworkError as error:
        raise FormatError(str(error), None if path is None else str(path)) from None
    rounded.warn("The network" if path is None else path)
    return network


def _given_completely(structure: Network, cpts: Mapping[str, Numbers], path: PathLike | None) -> dict[str, Numbers]:
    """The CPTs that are given completely; one with distributions of NaN is not given, with a warning."""
    complete: dict[str, Numbers] = {}
    for name, cpt in cpts.items():
        missing = np.isnan(cpt).all(axis=-1)
        if not missing.any():
            complete[name] = cpt
            continue
        number = int(missing.sum())
        first = structure.describe(name, int(np.flatnonzero(missing)[0]))
        total = readable_count(missing.size)
        others = f" and {counted(number - 1, 'other configuration')} of {total}" if number > 1 else ""
        others = others or (f", one configuration of {total}," if missing.size > 1 else "")
        warn_caller(
            f"{'The network' if path is None else path}: {first}{others} "
            f"{'is' if number == 1 else 'are'} NaN in the file, so that {name} has no CPT. Learn it from a table, or "
            "give these numbers.",
            IncompleteCPTWarning,
        )
    return complete


def parents_first(network: Network) -> tuple[str, ...]:
    """The variables in the order of the network where parents come before their children, else in one where they do."""
    place = {name: number for number, name in enumerate(network.names)}
    is_ordered = all(place[parent] < place[name] for name in network.names for parent in network.parents[name])
    return network.names if is_ordered else network.order
