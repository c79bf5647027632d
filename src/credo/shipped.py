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
    for root in _roots():
        if (root / name).is_dir():
            return root / name
    raise OptionError(f'There is no example "{name}". Known: {listing(example_names())}.')


def example_names() -> list[str]:
    """The names of all examples.

    Returns
    -------
    list of str
        The names, in alphabetical order.
    """
    return sorted({folder.name for root in _roots() for folder in root.iterdir() if folder.is_dir()})


def example_about(name: str) -> str:
    """What an example is about: the first line of its text, which is a comment.

    Parameters
    ----------
    name : str
        The name of an example, such as "asia".

    Returns
    -------
    str
        A sentence.
    """
    texts = sorted(example(name).glob("*.credo"), key=lambda path: (path.stem != name, path.name))
    first = texts[0].read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix("#").strip()


def _roots() -> list[Path]:
    return [root for root in (_HERE / "examples", _HERE.parents[1] / "examples") if root.is_dir()]
