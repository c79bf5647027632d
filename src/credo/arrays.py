"""The array types that all of credo uses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.signedinteger]  # state numbers of data, -1 where a value is missing; the smallest integer that fits
