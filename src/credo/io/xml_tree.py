"""XML files as trees, and texts as XML can hold them; shared by XMLBIF and XDSL."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from xml.etree.ElementTree import Element

from credo.errors import FormatError, NetworkError
from credo.io.files import replacing, unreadable
from credo.types import PathLike

# What an XML 1.0 file can hold; a carriage return would come back as a line feed.
_HOLDABLE = re.compile("[\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")


def read_tree(path: PathLike) -> Element:
    """The root of an XML file."""
    try:
        return ElementTree.fromstring(Path(path).read_bytes())
    except OSError as error:
        raise unreadable(path, error) from None
    except ElementTree.ParseError as error:
        line = error.position[0] if error.position else None
        raise FormatError(f"This is not XML: {error}.", str(path), line) from None
    except (ValueError, LookupError) as error:  # an encoding that does not exist, or that the bytes do not follow
        raise FormatError(f"This is not XML: {error}.", str(path)) from None


def write_tree(root: Element, path: PathLike) -> None:
    """Write a tree to a file, indented; a failed write leaves the old file."""
    ElementTree.indent(root)
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    with replacing(path) as draft:
        draft.write_bytes(content + b"\n")


def checked_text(text: str) -> str:
    """The text, if XML can hold it."""
    if not _HOLDABLE.fullmatch(text) or text != text.strip():
        raise NetworkError(f"XML cannot hold the name {text!r} as it is. BIF can.")
    return text


def text_of(element: Element | None) -> str:
    """The text inside an element, without blanks around it."""
    return "" if element is None else "".join(element.itertext()).strip()
