"""The functions behind the methods of `Network` that need later modules.

`Network` imports this module when such a method is called. It only collects: each function is defined in its own place.
"""

from __future__ import annotations

from credo.io.cpt_frames import labelled_cpt
from credo.io.declared_table import declared
from credo.io.pgmpy import from_pgmpy, to_pgmpy
from credo.io.pyagrum import from_pyagrum, to_pyagrum
from credo.model.network import Network
from credo.statistics.likelihood import kl, log_likelihood
from credo.statistics.predict import predict
from credo.statistics.sample import sample

__all__ = [
    "declared",
    "from_pgmpy",
    "from_pyagrum",
    "kl",
    "labelled_cpt",
    "log_likelihood",
    "network_html",
    "predict",
    "sample",
    "to_pgmpy",
    "to_pyagrum",
]


def network_html(network: Network) -> str:
    """What a notebook shows of a network."""
    from credo.drawing.network_html import network_html as html  # slow to import: only where it is shown

    return html(network)
