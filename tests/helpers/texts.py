"""Texts as a test compares them."""

from __future__ import annotations

from html import unescape


def one_line(text: str) -> str:
    """A text without its line breaks, and without what HTML writes in another way."""
    return " ".join(unescape(text).split())
