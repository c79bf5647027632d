"""Compiled draws from gamma and Dirichlet distributions of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled
from credo.kernels.polytope_moves import SMALLEST, uniform
from credo.kernels.sampler_arrays import BORROWING


@compiled(**BORROWING)
def log_gamma_draw(shape: float, generator: Any) -> float:
    """The logarithm of a gamma variate [Marsaglia and Tsang, 2000], which a small shape cannot make underflow."""
    boost = 0.0
    if shape < 1.0:
        boost = np.log(uniform(generator)) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = np.sqrt(-2.0 * np.log(uniform(generator))) * np.cos(2.0 * np.pi * uniform(generator))
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(uniform(generator)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return np.log(d * v) + boost


@compiled(**BORROWING)
def draw_dirichlet(shape: Any, out: Any, generator: Any) -> None:
    highest = -np.inf
    for k in range(len(shape)):
        out[k] = log_gamma_draw(shape[k], generator)
        highest = max(highest, out[k])
    total = 0.0
    for k in range(len(shape)):
        out[k] = np.exp(out[k] - highest)
        total += out[k]
    for k in range(len(shape)):
        out[k] = max(out[k] / total, SMALLEST)
