"""Gates as engineers write them, such as `top = a or b`, and the line of the language that says the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = r"\"[^\"]+\"|'[^']+'|[^\W\d][\w.\-]*"
_INPUT = rf"(?:not\s+|!\s*|¬\s*)?(?:{_NAME})(?:\s*=\s*(?:{_NAME}|[\w.\-]+))?"
_KIND = r"or|and|nor|nand|xor|max|min|maximum|minimum"
_WORDS = {"any": "or", "either": "or", "one": "or", "all": "and", "each": "and", "both": "and", "none": "nor"}
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNT = rf"\d+|{'|'.join(_NUMBERS)}"
_TARGET = re.compile(
    rf"(?P<target>{_NAME})(?:\s*:?=\s*|\s+(?P<verb>is|are|equals|happens|occurs|fails)\s+|\s+(?=if|when))"
    r"(?:(?:exactly\s+)?(?:if(?:\s+and\s+only\s+if)?|iff|when(?:ever)?)\s+)?"
    rf"(?:an?\s+(?=(?:{_KIND}|copy)[\s\-]*(?:gate|of))|the\s+)?(?P<rest>.+)",
    re.IGNORECASE,
)
_CALLED = re.compile(
    rf"(?P<kind>{_KIND})[\s\-]*(?:gate)?\s*(?:(?:of|between|over|with|:)\s+)?\(?(?P<inputs>[^()]+)\)?", re.IGNORECASE
)
_COUNTED = re.compile(
    rf"(?:at\s+least\s+)?(?P<least>{_COUNT})\s*(?:or\s+more\s*)?(?:(?:out\s+of|of|oo|/)\s*(?:the\s+)?(?P<all>\d+)(?:\s*(?:of|:))?"
    r"|(?:out\s+of|of)(?:\s+the)?)\s+\(?(?P<inputs>[^()]+)\)?",
    re.IGNORECASE,
)
_SOME = re.compile(
    rf"(?:at\s+least\s+)?(?P<word>majority|{'|'.join(_WORDS)})\s+of(?:\s+the)?\s+\(?(?P<inputs>[^()]+)\)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"(?:either\s+|both\s+)?{_INPUT}(?:\s*(?:,|\bor\b|\band\b|\|\|?|&&?)\s*{_INPUT})+", re.IGNORECASE
)
_SAME = re.compile(rf"(?:the\s+)?(?:same\s+as|equal\s+to|identical\s+to|copy\s+of)\s+(?P<input>{_NAME})", re.IGNORECASE)


def gates_meant(line: str) -> Iterator[str]:
    """Lines with a gate that may say the same; not all of them can be read."""
    found = _TARGET.fullmatch(line)
    if found is None:
        return
    target, rest = found["target"], found["rest"].strip()
    if (own := _COUNTED.fullmatch(rest)) is not None:
        inputs = _inputs(own["inputs"])
        if own["all"] is None or int(own["all"]) == len(inputs):
            yield f"{target} is {_NUMBERS.get(own['least'].lower(), own['least'])} of {', '.join(inputs)}"
    elif (own := _SOME.fullmatch(rest)) is not None:
        inputs, word = _inputs(own["inputs"]), own["word"].lower()
        yield f"{target} is {_WORDS.get(word, len(inputs) // 2 + 1)} of {', '.join(inputs)}"
    elif (own := _CALLED.fullmatch(rest)) is not None:
        yield f"{target} is {own['kind'].lower()} of {', '.join(_inputs(own['inputs']))}"
    elif (own := _SAME.fullmatch(f"equal to {rest}" if found["verb"] == "equals" else rest)) is not None:
        yield f"{target} is same as {own['input']}"
    elif _BETWEEN.fullmatch(rest) is not None:
        words = {word.lower() for word in re.findall(r"\bor\b|\band\b|[|&]+", rest, re.IGNORECASE)}
        kinds = {"or" if word in ("or", "|", "||") else "and" for word in words}
        if len(kinds) == 1:
            yield f"{target} is {kinds.pop()} of {', '.join(_inputs(re.sub(r'^(either|both) ', '', rest)))}"


def _inputs(text: str) -> list[str]:
    parts = re.split(r"\s*(?:,|\bor\b|\band\b|[|&]+)\s*", text.replace("{", "").replace("}", ""), flags=re.IGNORECASE)
    return [re.sub(r"^(?:!|¬)\s*", "not ", part.strip()) for part in parts if part.strip()]
