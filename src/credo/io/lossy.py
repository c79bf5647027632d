"""What a network file cannot hold is said aloud, as a warning that Python shows or collects."""

from __future__ import annotations

import os
import warnings

from credo.errors import LossyFormatWarning

_CALLERS = 4  # from here up to whoever called `write_network`
BIF = "BIF keeps everything."
NOISY = "XDSL keeps noisy families, and a pickle keeps everything."


def warn_of_loss(path: str | os.PathLike[str], what: str, instead: str = BIF, callers: int = _CALLERS) -> None:
    """Warn that a file was written, or an object made, which does not hold all of the network."""
    warnings.warn(f"{os.fspath(path)}: {what} {instead}".rstrip(), LossyFormatWarning, stacklevel=callers)
