"""How a mistake could be corrected: lines that an editor can offer, each of which was read again and has no mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator

from credo.knowledge.declarations import DECLARATIONS
from credo.knowledge.mistakes import Mistake
from credo.knowledge.names import name_text, state_text, without_comment
from credo.knowledge.parse import parse_line
from credo.knowledge.statements import check_statements
from credo.model.network import Network

MOST_OFFERED = 3
_MEANT = re.compile(r'Did you mean:? "?(?P<meant>.+?)"?\?')
_WRITE = re.compile(
    r'\bWrite:? (?:"(?P<word>[^"]+)"\.$|(?P<write>.+?)(?:, (?:or|which|list|and)\b|; | for | instead | if |\.?$))'
)
_NUMBER_IS = re.compile(r"\bis (?P<number>[0-9.]+%?)\.")
_ABOUT_ONE_NUMBER = ("bound-outside", "confidence-range")  # whose place is the number alone
_LEAVE_OUT = re.compile(r"\b(?:Leave it out|Delete it|Delete the mark|leave it out)\b")
_QUOTES = str.maketrans("“”„‟«»‘’‚‛", '""""""\'\'\'\'')


def corrections(mistake: Mistake, network: Network | None = None) -> tuple[str, ...]:
    """Lines that could stand in place of one with a mistake.

    Each is made of what the mistake suggests, and was read again: it has no mistake, in its form and, where the network
    is given, about it.

    Parameters
    ----------
    mistake : Mistake
        The mistake, as `KnowledgeError.mistakes` holds it.
    network : Network, optional
        The network that the statement is about.

    Returns
    -------
    tuple of str
        The lines, the likeliest first; empty where nobody can guess what was meant.

    Raises
    ------
    TypeError
        If this is not a mistake.

    Examples
    --------
    >>> import credo
    >>> network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})
    >>> try:
    ...     credo.Knowledge(network, "smok raises lung  # as everybody knows")
    ... except credo.KnowledgeError as error:
    ...     print(credo.knowledge.corrections(error.mistakes[0], network))
    ('smoke raises lung  # as everybody knows',)
    """
    if not isinstance(mistake, Mistake):
        raise TypeError(f"Corrections are those of a Mistake, not of {mistake!r}.")
    lines = dict.fromkeys(line.rstrip() for line in _candidates(mistake))
    found = dict.fromkeys(line for line in lines if line != mistake.text.rstrip() and _is_correct(line, network))
    return tuple(found)[:MOST_OFFERED]


def _candidates(mistake: Mistake) -> Iterator[str]:
    text, start, end = mistake.text, mistake.column - 1, mistake.end_column - 1
    before, place, after = text[:start], text[start:end], text[end:]
    comment = _comment(text)
    if mistake.write:
        yield _with_comment(mistake.write, comment)
    if match := _MEANT.search(mistake.suggestion):
        meant = match["meant"]
        for written in dict.fromkeys((name_text(meant), state_text(meant), meant)):
            yield before + written + after
        yield _with_comment(meant, comment)
    if match := _WRITE.search(mistake.suggestion):
        write = match["word"] or match["write"]
        yield before + write + after
        yield _with_comment(write, comment)
        yield before + write.rstrip(".") + " " + place + after
    if mistake.kind in _ABOUT_ONE_NUMBER and (match := _NUMBER_IS.search(mistake.suggestion)):
        yield before + match["number"] + after
    if _LEAVE_OUT.search(mistake.suggestion):
        yield before.rstrip() + (" " if before.strip() and after.strip() else "") + after.lstrip()
        yield before + after
    if place.translate(_QUOTES) != place or text.translate(_QUOTES) != text:
        yield text.translate(_QUOTES)
    yield before + ")" + after.removeprefix(")") if "bracket" in mistake.message.lower() else text


def _comment(text: str) -> str:
    return text[len(without_comment(text)) :]


def _with_comment(line: str, comment: str) -> str:
    return f"{line}  {comment}" if comment else line


def _is_correct(line: str, network: Network | None) -> bool:
    statement, mistakes = parse_line(line)
    if statement is None or mistakes:
        return False
    if network is None or type(statement) in DECLARATIONS:
        return True
    return not check_statements([statement], network)  # type: ignore[list-item]
