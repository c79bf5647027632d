"""Pictures for notebooks and papers, drawn with matplotlib, which comes with `credo[plots]`.

Each function draws on the axes that it is given, or on new ones, and returns them. Colours suit light and dark styles
and can be distinguished by colour-blind people. `trace` and `rank` are drawn by ArviZ, which comes with `credo[arviz]`.
"""

from credo.plot.check_plots import conflicts
from credo.plot.decision_plots import expert_numbers, next_tests, tornado
from credo.plot.draw_plots import rank, trace
from credo.plot.effect_plots import effects
from credo.plot.fit_plots import cpt, history, knowledge
from credo.plot.network_plot import network

__all__ = [
    "conflicts",
    "cpt",
    "effects",
    "expert_numbers",
    "history",
    "knowledge",
    "network",
    "next_tests",
    "rank",
    "tornado",
    "trace",
]
