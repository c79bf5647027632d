"""What the XML formats share: a file as a tree, and numbers as text."""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ElementTree
from math import prod
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from credo.errors import FormatError, NetworkError
from credo.io.bif_blocks import NUMBER
from credo.model.network import Table

# What an XML 1.0 file can hold; a carriage return would come back as a line feed.
_HOLDABLE = re.compile("[\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def read_tree(path: str | os.PathLike[str]) -> Element:
    """The root of an XML file."""
    try:
        return ElementTree.fromstring(Path(path).read_bytes())
    except OSError as error:
        raise FormatError(f"This file cannot be read: {error.strerror or error}.", str(path)) from None
    except ElementTree.ParseError as error:
        line = error.position[0] if error.position else None
        raise FormatError(f"This is not XML: {error}.", str(path), line) from None
    except (ValueError, LookupError) as error:  # an encoding that does not exist, or that the bytes do not follow
        raise FormatError(f"This is not XML: {error}.", str(path)) from None


def tree_bytes(root: Element) -> bytes:
    """The tree as a file, indented."""
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def checked_text(text: str) -> str:
    """A name, if XML can hold it."""
    if not _HOLDABLE.fullmatch(text) or text != text.strip():
        raise NetworkError(f"XML cannot hold the name {text!r} as it is. BIF can.")
    return text


def text_of(element: Element | None) -> str:
    """The text inside an element, without blanks around it."""
    return "" if element is None else "".join(element.itertext()).strip()


def numbers_of(text: str, shape: tuple[int, ...], what: str) -> Table:
    """Numbers with blanks between them, as an array of this shape."""
    words = text.split()
    if len(words) != prod(shape):
        raise NetworkError(f"{what} has {len(words)} numbers; it needs {prod(shape)}.")
    for word in words:
        if not NUMBER.fullmatch(word):
            raise NetworkError(f"{what} has `{word[:40]}` where a number is expected.")
    return np.array([float(word) for word in words]).reshape(shape)


def number_text(table: Table) -> str:
    """The numbers of an array, each as the shortest text that reads back as the same float."""
    return " ".join(map(repr, table.ravel().tolist()))
