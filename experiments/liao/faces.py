"""A simulated model with the structure of [liao, figure 1]: fourteen hidden action units, with a detector for each.

The paper publishes neither its arcs nor its parameters. Our arcs follow its text (AU6 → AU12; AU2 and AU5 → AU1) and
the muscles that act together. The parameters are made up; units are as rare as in posed expressions.
"""

from __future__ import annotations

import numpy as np

from credo.model.network import Network

ABSENT, PRESENT = "0", "1"
STATES = (ABSENT, PRESENT)

# unit: (parents, P(present) for each configuration, the last parent varying fastest)
UNITS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "AU27": ((), (0.2,)),
    "AU6": ((), (0.25,)),
    "AU2": (("AU27",), (0.12, 0.75)),
    "AU5": (("AU27", "AU2"), (0.06, 0.35, 0.4, 0.85)),
    "AU1": (("AU2", "AU5"), (0.15, 0.35, 0.85, 0.95)),
    "AU4": (("AU1",), (0.35, 0.2)),
    "AU12": (("AU6",), (0.07, 0.88)),
    "AU7": (("AU4", "AU6"), (0.08, 0.3, 0.5, 0.65)),
    "AU9": (("AU7",), (0.05, 0.4)),
    "AU25": (("AU27", "AU12"), (0.2, 0.75, 0.95, 0.98)),
    "AU17": (("AU9", "AU25"), (0.4, 0.05, 0.65, 0.2)),
    "AU15": (("AU17",), (0.05, 0.45)),
    "AU24": (("AU17",), (0.06, 0.4)),
    "AU23": (("AU24", "AU7"), (0.05, 0.15, 0.5, 0.7)),
}
# unit: (P(detected | present), P(not detected | absent)), from the best detector to the worst
DETECTORS = {
    "AU27": (0.95, 0.98),
    "AU2": (0.94, 0.97),
    "AU12": (0.93, 0.96),
    "AU25": (0.92, 0.95),
    "AU1": (0.9, 0.94),
    "AU5": (0.88, 0.93),
    "AU4": (0.86, 0.92),
    "AU9": (0.84, 0.91),
    "AU6": (0.82, 0.9),
    "AU17": (0.8, 0.89),
    "AU15": (0.78, 0.88),
    "AU7": (0.75, 0.86),
    "AU24": (0.72, 0.84),
    "AU23": (0.7, 0.82),
}


def detector(unit: str) -> str:
    """The name of the detector of a unit: O2 for AU2."""
    return unit.replace("AU", "O")


def faces() -> Network:
    """The model from which data are drawn."""
    names = [*UNITS, *map(detector, UNITS)]
    parents = {unit: parents for unit, (parents, _) in UNITS.items()} | {detector(unit): (unit,) for unit in UNITS}
    structure = Network(dict.fromkeys(names, STATES), parents, name="action units")
    cpts = {unit: _binary(present).reshape(structure.shape(unit)) for unit, (_, present) in UNITS.items()}
    for unit, (hit, rejected) in DETECTORS.items():
        cpts[detector(unit)] = _binary((1 - rejected, hit))
    return structure.with_cpts(cpts)


def reliable_detectors(network: Network, reliability: float = 0.8) -> Network:
    """A start for EM: every detector is right with this probability, and units are present with probability 0.5."""
    cpts = {unit: np.full(network.shape(unit), 0.5) for unit in UNITS}
    cpts |= {detector(unit): _binary((1 - reliability, reliability)) for unit in UNITS}
    return network.with_cpts(cpts)


def _binary(present: tuple[float, ...]) -> np.ndarray:
    return np.column_stack((1 - np.array(present), present))
