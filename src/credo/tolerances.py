"""Tolerances and counts that several parts of credo share, each with its reason."""

from __future__ import annotations

DECIMAL_ROUNDING = 1e-12  # what rounding of decimals may leave in a sum: 0.1 + 0.2 <= 0.3 is not a contradiction
SUM_TOLERANCE = 1e-6  # by which the sum of a distribution that was given may differ from one: files print six digits
EQUALITY_WIDTH = 0.002  # an equality has no volume: wherever one is needed, |difference| ≤ this; see docs/methods.md
EQUALITY_SHARE = 0.01  # and no more than this of the larger side; of a number, nor of what it lacks to 1
FOLDS = 10  # of cross-validation, as in [guo, algorithm 2]
