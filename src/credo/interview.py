"""An interview with an expert: ask what helps most, write the answer into the text, learn again, and go on.

All that is kept is the text itself: statements with the expert's name, and what the expert did not know as comments. So
an interview can end at any moment, and the next one goes on from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from credo.errors import CredoError, OptionError, counted
from credo.fitting import fit as learn
from credo.io.files import replacing
from credo.knowledge.experts import Expert, header_of
from credo.knowledge.expressions import number_text
from credo.knowledge.mistakes import python_error
from credo.knowledge.names import checked_name
from credo.probability_texts import belief_digits, short_percent
from credo.questions.decide import amount_text
from credo.questions.next_questions import LOSS, NextQuestions, Question
from credo.questions.question_goals import WHOLE, decision_evidence
from credo.types import TableLike

if TYPE_CHECKING:
    from credo.options import TableFormat
    from credo.results.fit_results import Fit

ENOUGH = 0.02  # of the interval: a question that is expected to narrow it by less does not matter
UNKNOWN, DEPENDS = "does not know", "says that neither holds, or it depends"

_NUMBER = r"(?:about\s+)?([0-9]+(?:[.,][0-9]+)?|[.,][0-9]+)\s*(%|per\s?cent)?"
_RANGE = re.compile(rf"(?:between\s+)?{_NUMBER}\s*(?:to|and|-|–|…|\.\.)\s*{_NUMBER}", re.IGNORECASE)
_ONE = re.compile(_NUMBER, re.IGNORECASE)
_SURE = re.compile(r"[,\s]\s*([0-9]+)\s*%?\s*(?:sure|certain)$", re.IGNORECASE)
_RATIO = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s+(?:in|of|out\s+of)\s+([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
_HELP = "Answer, or write: why, later, don't know, stop."


@dataclass(frozen=True, slots=True)
class Interview:
    """How an interview ended: how many answers were written, and why it ended."""

    answers: int
    reason: str


def interview(
    path: Path,
    data: TableLike | None,
    expert: str,
    target: str | None = None,
    *,
    ask: Callable[[str], str],
    show: Callable[[str], None],
    is_certain: bool = False,
    enough: float = ENOUGH,
    most: int | None = None,
    skip: Iterable[str] = (),
    seed: int = 0,
    table_format: TableFormat | None = None,
) -> Interview:
    """Ask an expert one question after the other, and write the answers into a text.

    Parameters
    ----------
    path
        The text, which declares its network; answers are appended to it, one at a time.
    data
        The table to learn from, if there is one.
    expert
        The name under which answers are written.
    target
        What to narrow: a question with one number as its answer; a decision, such as `treat | ecg=abnormal`; the whole
        network if not given.
    ask
        Shows a prompt and returns a line; raises EOFError at the end of the input.
    show
        Shows a text.
    is_certain
        Write statements that must hold; otherwise the expert may be wrong.
    enough
        The narrowing below which a question is not worth asking, as a share of the interval; for the whole network this
        is divided by the number of its variables.
    most
        How many questions to ask at most.
    skip
        Questions not to ask.
    seed, table_format
        As for `fit`.

    Returns
    -------
    Interview
        How many answers were written, and why it ended.
    """
    if not 0.0 < enough < 1.0:
        raise OptionError(f"The least narrowing is a share between 0 and 1, not {enough}.")
    if not expert.strip():
        raise OptionError("Give the expert a name: --expert anna.")
    who = Expert(checked_name(expert))
    header = header_of(f"{who}: -")
    if header is None or header.expert is None:
        raise python_error("not-text", repr(expert), what="A name")

    def learned() -> Fit:
        return learn(path, data, seed=seed, table_format=table_format, progress=False)

    fit = learned()
    skipped = {*skip, *asked_before(path, expert)}
    show(_state(fit, target))
    least = enough / len(fit.network) if target in (None, WHOLE) else enough  # a question is about one of its CPTs
    answers = asked = 0
    while most is None or asked < most:
        found = fit.next_questions(target, count=1, skip=tuple(skipped))
        if not found.questions or found.questions[0].narrowing < least or _is_settled(fit, target, found, enough):
            return _ended(answers, _enough(fit, target, found.questions, least), show)
        question = found.questions[0]
        asked += 1
        line = _answer(question, found.target, ask, show)
        if line is None:
            return _ended(answers, "It was stopped.", show)
        skipped.update((question.text, question.about))
        if line == "":
            continue  # later: it is asked again another time
        if line.startswith("#"):
            _append(path, f"# {expert} {line[1:].strip()}: {question.text}")
            continue
        before = path.read_text(encoding="utf-8-sig")
        # What a gate says is what a variable is, and nobody doubts that.
        must_hold = is_certain or question.kind == "gate"
        _append(path, f"{line}  # {expert}" if must_hold else f"{who}: {line}")
        try:
            fit, previous = learned(), fit
        except CredoError as error:
            with replacing(path) as draft:
                draft.write_text(before, encoding="utf-8")
            show(f"That cannot be, with what is known already; it was not written.\n{error}")
            continue
        answers += 1
        show("\n".join([f"Written: {line}", *_disbelief(fit), _moved(previous, fit, target)]))
    return _ended(answers, f"{counted(asked, 'question')} had been allowed.", show)


def asked_before(path: Path, expert: str) -> set[str]:
    """The questions that an expert had no statement for, which are comments in the text."""
    heads = tuple(f"# {expert} {what}: " for what in (UNKNOWN, DEPENDS))
    lines = path.read_text(encoding="utf-8-sig").splitlines() if path.exists() else ()
    return {line.partition(": ")[2].strip() for line in lines if line.startswith(heads)}


def _answer(question: Question, target: str, ask: Callable[[str], str], show: Callable[[str], None]) -> str | None:
    """The statement of an answer; a comment where there is none, empty for later, None to stop."""
    choices = [f"  {number}. {each.label}" for number, each in enumerate(question.answers, start=1)]
    number = "  A number of cases (12), or a range (5 to 20); how sure you are, if you like (5 to 20, 80% sure)."
    hint = number if question.kind == "number" else "\n".join(choices)
    show(f"\n{question.text}\n{hint}")
    while True:
        try:
            words = " ".join(ask("> ").split()).rstrip(".!").casefold().replace("’", "'")
        except EOFError:
            return None
        if words in ("stop", "quit", "q", "exit", "end"):
            return None
        if words in ("why", "why?", "why this one", "why this one?", "?"):
            show(question.why(target))
        elif words in ("later", "l", "skip"):
            return ""
        elif words in ("don't know", "i don't know", "dont know", "i dont know", "do not know", "no idea", "unknown"):
            return f"# {UNKNOWN}"
        elif (statement := _with_certainty(question, words)) is not None:
            return statement or f"# {DEPENDS}"
        else:
            show(f"That cannot be read as an answer. {_HELP}")


def _with_certainty(question: Question, words: str) -> str | None:
    """The statement of an answer that may end in how sure the expert is: `5 to 20, 80% sure`."""
    sure = _SURE.search(words)
    statement = statement_of(question, words[: sure.start()] if sure else words)
    if not sure or not statement or question.kind == "gate":
        return statement
    share = _hundredths(sure[1])
    return f"{statement} with confidence {number_text(share)}" if 0.0 < share < 1.0 else statement


def statement_of(question: Question, words: str) -> str | None:
    """The statement that an answer makes, empty where it makes none; None where the answer cannot be read.

    A plain number is one of 100 cases: `12` is 12%.
    """
    if question.kind == "number":
        return number_statement(question.about, words)
    for number, each in enumerate(question.answers, start=1):
        if words == str(number) or words == each.label.casefold():
            return each.statement
    close = [each for each in question.answers if words and each.label.casefold().startswith(words)]
    return close[0].statement if len(close) == 1 else None


def number_statement(about: str, words: str) -> str | None:
    """The statement that a number of cases, or a range, makes about a probability; None where it cannot be read."""
    if ratio := _RATIO.fullmatch(words):
        few, many = map(float, ratio.groups())
        return f"{about} is about {number_text(few / many)}" if 0.0 <= few <= many and 0.0 < many < inf else None
    if both := _RANGE.fullmatch(words):
        low, high = (_hundredths(both[place]) for place in (1, 3))
        if not 0.0 <= low <= high <= 1.0:
            return None
        return f"{about} is between {number_text(low)} and {number_text(high)}"
    if one := _ONE.fullmatch(words):
        value = _hundredths(one[1])
        return f"{about} is about {number_text(value)}" if 0.0 <= value <= 1.0 else None
    return None


def _hundredths(text: str) -> float:
    return float(f"{float(text.replace(',', '.')) / 100:.12g}")


def _append(path: Path, line: str) -> None:
    """Write a line at the end of the text; a crash leaves the text as it was or as it is then."""
    text = path.read_text(encoding="utf-8-sig")
    with replacing(path) as draft:
        draft.write_text(f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{line}\n", encoding="utf-8")


def _state(fit: Fit, target: str | None) -> str:
    if target is None or target == WHOLE:
        return f"Questions about {WHOLE}:"
    if (given := decision_evidence(fit, target)) is not None:
        return f"Now: {str(fit.decide(given or None)).splitlines()[0]}"
    return f"Now: {fit.query(target)}"


def _moved(before: Fit, after: Fit, target: str | None) -> str:
    """How the interval of the target moved."""
    if target is None or target == WHOLE:
        was, now = (each.next_questions(count=1).deviation for each in (before, after))
        return f"The uncertainty of {WHOLE} is {short_percent((now / was) ** 2 if was else 1.0)} of what it was before."
    if decision_evidence(after, target) is not None:
        lost = [amount_text(each.next_questions(target, count=1).deviation) for each in (before, after)]
        return f"{_state(after, target)}\nNow {LOSS} is {lost[1]} in expectation; it was {lost[0]}."
    (low, high), (least, most) = before.query(target).interval, after.query(target).interval
    change = (most - least) / (high - low) - 1.0 if high > low else 0.0
    word = f"narrower by {short_percent(-change)}" if change <= 0 else f"wider by {short_percent(change)}"
    return f"{after.query(target)}\nThe interval is {word}."


def _disbelief(fit: Fit) -> Iterator[str]:
    """A sentence where the last statement is more probably false than true."""
    last = len(fit.knowledge.statements) - 1
    for each in fit.doubt.statements if fit.doubt else ():
        if each.number == last and each.probability < 0.5:
            yield f"It does not fit with the rest: it is true with probability {belief_digits(each.probability)}."


def _is_settled(fit: Fit, target: str | None, found: NextQuestions, enough: float) -> bool:
    """Whether not knowing the probabilities costs next to nothing beside what the better option gains."""
    given = decision_evidence(fit, target)
    return given is not None and found.deviation < enough * fit.decide(given or None).gain


def _enough(fit: Fit, target: str | None, questions: tuple[Question, ...], enough: float) -> str:
    if decision_evidence(fit, target) is not None:
        return "More would not matter: no single answer is expected to change much of what to do."
    if not questions:
        return "There is nothing left to ask."
    return f"More would not matter: no question is expected to narrow the interval by {short_percent(enough)} or more."


def _ended(answers: int, reason: str, show: Callable[[str], None]) -> Interview:
    show(f"\n{reason} {counted(answers, 'answer')} {'is' if answers == 1 else 'are'} in the text.")
    return Interview(answers, reason)
