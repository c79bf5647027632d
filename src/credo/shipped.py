"""The examples that come with the package, wherever it is installed."""

from __future__ import annotations

from pathlib import Path

from credo.errors import OptionError, listing

_HERE = Path(__file__).resolve().parent


def example(name: str) -> Path:
    """The folder of an example, inside an installed package or in the root of the project.

    Parameters
    ----------
    name : str
        The name of an example, such as "asia".

    Returns
    -------
    Path
        Its folder.

    Raises
    ------
    OptionError
        If there is no such example.
    """
    roots = [root for root in (_HERE / "examples", _HERE.parents[1] / "examples") if root.is_dir()]
    for root in roots:
        if (root / name).is_dir():
            return root / name
    known = sorted(folder.name for root in roots for folder in root.iterdir() if folder.is_dir())
    raise OptionError(f'There is no example "{name}". Known: {listing(known)}.')
