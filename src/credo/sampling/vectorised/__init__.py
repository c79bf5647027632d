"""The samplers in plain NumPy: hundreds of chains advance at once, and nothing is compiled."""

from __future__ import annotations

CHAINS = 256  # that are advanced at once; array operations on fewer cost nearly as much
SUPERCHAINS = 16  # groups of chains that start at the same point, see `convergence.nested_r_hat`
AGREEING = 1.02  # nested R-hat: starting points move the mean by less than a twentieth of a standard deviation
WARMUP_SHARE = 0.1  # of the warm-up that a single long chain gets
TIED_WARMUP = 4  # times as long where rows are tied: failed attempts at ties hold CPTs fast
# Updates in a sweep of what CPTs share, which takes tens of them to get from a start to where it belongs.
WARMUP_ROUNDS, ROUNDS = 4, 2
LEAST_DRAWS = 16  # of each chain
MOST_SWEEPS = 400
MOST_SWEEPS_WITH_GENERAL = 160  # under statements about any probability, whose sweeps take longer
MOST_SWEEPS_WITH_MISSING = 1600  # missing values hold CPTs fast: given them, these change little in a sweep
# Cells that are visited to complete the rows, and probabilities, up to which there may be twice as many sweeps, for
# these are quick. Five rows with a hidden variable of four states under a synergy took a minute otherwise, in vain.
QUICK_CELLS, QUICK_PARAMETERS = 2**11, 24
SCATTERED = 64  # points near vertices, the first of which superchains start at; all show first directions
