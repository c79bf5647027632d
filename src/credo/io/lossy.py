"""What a network file cannot hold is said aloud, as a warning that Python shows or collects."""

from __future__ import annotations

import os
import warnings

from credo.errors import LossyFormatWarning

_CALLERS = 4  # from here up to whoever called `write_network`


def warn_of_loss(path: str | os.PathLike[str], what: str) -> None:
    """Warn that a file was written which does not hold all of the network."""
    warnings.warn(f"{os.fspath(path)}: {what} BIF keeps everything.", LossyFormatWarning, stacklevel=_CALLERS)
