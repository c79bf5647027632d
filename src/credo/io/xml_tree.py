"""XML files as trees that know their lines, and texts as XML can hold them; shared by XMLBIF and XDSL."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn
from xml.parsers import expat

from credo.errors import FormatError, NetworkError
from credo.io.files import read_content, replacing
from credo.types import PathLike

# What an XML 1.0 file can hold; a carriage return would come back as a line feed.
_HOLDABLE = re.compile("[\t\n\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
DEEPEST = 100  # elements within each other; networks have five


@dataclass(slots=True)
class XmlElement:
    """An element: what was written in it, and where."""

    tag: str
    attributes: dict[str, str]
    path: str
    line: int
    children: Sequence[XmlElement] = ()
    pieces: Sequence[str] = ()  # of its own text

    def __iter__(self) -> Iterator[XmlElement]:
        return iter(self.children)

    def get(self, attribute: str, default: str = "") -> str:
        """An attribute."""
        return self.attributes.get(attribute, default)

    def all(self, *tags: str) -> list[XmlElement]:
        """The children with one of these tags, in the order of the file."""
        return [child for child in self.children if child.tag in tags]

    def only(self, tag: str) -> XmlElement | None:
        """The child with this tag, or None; a second one is an error, since nothing says which one counts."""
        found = self.all(tag)
        if len(found) > 1:
            found[1].fail(f"A second <{tag}> in this <{self.tag}>. Remove one of them.")
        return found[0] if found else None

    def text(self) -> str:
        """The text in it, without blanks around it."""
        if self.children:
            self.children[0].fail(f"Expected text alone in <{self.tag}>, not <{self.children[0].tag}>.")
        return "".join(self.pieces).strip()

    def text_of(self, tag: str) -> str:
        """The text of the only child with this tag; empty if there is none."""
        child = self.only(tag)
        return "" if child is None else child.text()

    def fail(self, message: str) -> NoReturn:
        """Raise a `FormatError` about this line."""
        raise FormatError(message, self.path, self.line)

    @contextmanager
    def located(self) -> Iterator[None]:
        """What is wrong with the network in here is an error about this line."""
        try:
            yield
        except NetworkError as error:
            self.fail(str(error))


@dataclass(frozen=True, slots=True)
class XmlDocument:
    """A file: its root, and the comments in it."""

    root: XmlElement
    comments: Sequence[str]


def read_tree(path: PathLike) -> XmlDocument:
    """The elements of an XML file. Entities of its own, which let a short file become a long one, are refused."""
    content = read_content(path)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = XmlElement("", {}, str(path), 1)
    stack, comments = [top], list[str]()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > DEEPEST:
            raise FormatError("Elements are nested too deeply for a network.", top.path, parser.CurrentLineNumber)
        element = XmlElement(tag, attributes, top.path, parser.CurrentLineNumber)
        append("children", element)
        stack.append(element)

    def append(field: str, item: XmlElement | str) -> None:
        # Most elements have no children, or no text: lists are made when they are needed.
        items = getattr(stack[-1], field)
        if items:
            items.append(item)
        else:
            setattr(stack[-1], field, [item])

    def entity(*_: Any) -> None:
        message = "This file declares an entity, which no network needs. Replace it by its text."
        raise FormatError(message, top.path, parser.CurrentLineNumber)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = lambda text: append("pieces", text)
    parser.CommentHandler = comments.append
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FormatError(f"This is not XML: {error}.", top.path, error.lineno) from None
    except (ValueError, LookupError) as error:  # an encoding that does not exist, or that the bytes do not follow
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"This is not XML: {error}.", top.path) from None
    return XmlDocument(top.children[0], comments)


def write_tree(root: ElementTree.Element, path: PathLike) -> None:
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
