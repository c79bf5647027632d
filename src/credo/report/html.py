"""The frame of an HTML page, with style and script inside, and the elements that pages are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib.resources import files

from credo.drawing.colours import css
from credo.drawing.network_svg import NETWORK_STYLE
from credo.terminal import escape, printable

# A page that names patients must not call another machine.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def document(title: str, parts: Iterable[str]) -> str:
    """A whole page; the parts are HTML already."""
    style, script = ((files("credo.report") / name).read_text("utf-8") for name in ("style.css", "script.js"))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><link rel="icon" href="data:,">'
        f"<style>{css(':root')}{NETWORK_STYLE}{style}</style></head><body><main><h1>{escape(title)}</h1>{''.join(parts)}</main>"
        f"<script>{script}</script></body></html>"
    )


def figure(picture: str, caption: str, kind: str = "") -> str:
    """A picture with its caption; nothing where there is no picture."""
    classes = f"wide {kind}".strip()
    return (
        f'<figure><div class="{classes}">{picture}</div><figcaption>{caption}</figcaption></figure>' if picture else ""
    )


def search_box(label: str, contents: Mapping[str, str] | None = None) -> str:
    """Where a reader types a part of a name, and links to the sections of the page, by their anchors."""
    links = " · ".join(f'<a href="#{anchor}">{escape(title)}</a>' for anchor, title in (contents or {}).items())
    return (
        f'<nav><label for="search">{escape(label)}</label> <input id="search" type="search" autocomplete="off" '
        f'placeholder="part of its name"> <span id="found" role="status"></span>'
        f"{f'<div>{links}</div>' if links else ''}</nav>"
    )


def table(kind: str, headings: Iterable[str], rows: str) -> str:
    """A table; its rows are HTML already, and its kind is the class that styles them."""
    head = "".join(f"<th>{escape(heading)}" for heading in headings)
    return f'<table class="{kind}"><thead><tr>{head}</thead><tbody>{rows}</tbody></table>'


def folded(title: str, content: str) -> str:
    """Content that a reader opens."""
    return f"<details><summary>{escape(title)}</summary>{content}</details>"


def bullets(lines: Iterable[str]) -> str:
    """A list of lines of plain text, in which `what is typed` looks so."""
    return f"<ul>{''.join(f'<li>{_with_code(line)}</li>' for line in lines)}</ul>"


def _with_code(line: str) -> str:
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(line))


def as_text(text: str) -> str:
    """Text between tags: there only these two characters mean something else, and no control character may stand."""
    return printable(text).replace("&", "&amp;").replace("<", "&lt;")
