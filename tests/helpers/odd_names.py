"""A network with names that formats and other programs must escape."""

from __future__ import annotations

import numpy as np

from credo import Network


def family() -> Network:
    """A variable with two parents; names and states hold spaces, accents and punctuation."""
    random = np.random.default_rng(3)
    variables = {"c": ["u", "v"], "a b": ["<5", "12+", "ü"], "é": ["Asy/Patch", "0", "1", "a|b"]}
    cpts = {
        "c": random.dirichlet([0.3, 0.3], (3, 4)),
        "a b": random.dirichlet([1, 1, 1]),
        "é": random.dirichlet([1, 1, 1, 1]),
    }
    return Network(variables, {"c": ["a b", "é"]}, cpts, "my net")
