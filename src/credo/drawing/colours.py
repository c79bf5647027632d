"""The colours of all pictures, light and dark: those of Okabe and Ito, which colour-blind people can distinguish."""

from __future__ import annotations

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1c2430",
    "soft": "#5b6675",
    "line": "#d8dee6",
    "panel": "#f5f7fa",
    "learned": "#0072b2",
    "data": "#d55e00",
    "allowed": "#c9d8e6",
    "mean": "#5b6675",
    "raises": "#0072b2",
    "lowers": "#d55e00",
    "neutral": "#8a94a3",
    "changed": "#e69f00",
    "bad": "#b3261e",
    "binding": "#8a5a00",
    "good": "#00664d",
}
DARK = {
    "paper": "#14181f",
    "ink": "#e6eaf0",
    "soft": "#9aa5b4",
    "line": "#333b47",
    "panel": "#1c222b",
    "learned": "#56b4e9",
    "data": "#e69f00",
    "allowed": "#2f4152",
    "mean": "#9aa5b4",
    "raises": "#56b4e9",
    "lowers": "#e69f00",
    "neutral": "#7d8896",
    "changed": "#cc79a7",
    "bad": "#ff8a80",
    "binding": "#e6b455",
    "good": "#5fd3ac",
}


def css(selector: str) -> str:
    """The colours as variables of an element: the light ones, the dark ones where the reader prefers these."""
    light, dark = ("".join(f"--{name}:{value};" for name, value in each.items()) for each in (LIGHT, DARK))
    return f"{selector}{{{light}}}@media screen and (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"
