"""Answer sheets: the questions to an expert as a spreadsheet in plain words, and the filled one as statements.

A sheet has a row for each question and columns for a best guess, for what it is at least and at most, all out of 100,
and for how many cases the expert has in mind. What several experts answered is compared number by number, beside a
linear and a logarithmic pool of their distributions [Genest and Zidek, 1986]; how reliable each of them is, the
posterior learns.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from credo.constraints.noisy_families import with_stated_forms
from credo.errors import DataError, MissingExtraError, OptionError, listing
from credo.io.excel import EXCEL_ENDINGS
from credo.io.files import replacing
from credo.knowledge import ExpertNumber, Knowledge, KnowledgeError
from credo.knowledge.decisions import decision_problem
from credo.knowledge.expressions import Probability, number_text, probability_text
from credo.knowledge.labels import labels_of
from credo.knowledge.names import name_text
from credo.knowledge.shared_cpt import shared_cpts
from credo.model.network import Network
from credo.probability_texts import percent_digits

HEADER = ("expert", "question", "best guess of 100", "at least", "at most", "cases in mind", "comment", "about")
NUMBERS = HEADER[2:6]
LETTERS = "ABCDEFGH"  # of the columns in a spreadsheet
MOST_CONFIGURATIONS = 16  # of a variable's parents, beyond which corners are asked for
CERTAINTY = 0.9  # with which a best guess lies between the two ends
INDENT = "    "  # of lines in the block of an expert
NEARLY_ONE = 0.05  # by which best guesses of all states may miss one, and are made to add up
MOST_WRONG = 20  # cells that a message names


@dataclass(frozen=True, slots=True)
class SheetAnswer:
    """What an expert answered to one question; numbers out of one, None where the cell is empty.

    Attributes
    ----------
    expert
        Who answered.
    about
        What was asked, as `P(lung=yes | smoke=yes)`.
    guess, low, high
        The best guess, and what it is at least and at most.
    cases
        How many cases the expert has in mind.
    """

    expert: str
    about: str
    guess: float | None
    low: float | None
    high: float | None
    cases: float | None

    def line(self) -> str:
        """The answer as a line of the language."""
        if self.guess is not None and self.cases is not None:
            return f"{self.about} is {number_text(self.guess)}, worth {number_text(self.cases)} cases"
        if self.guess is not None and self.low is not None and self.high is not None:
            ends = f"between {number_text(self.low)} and {number_text(self.high)}"
            return f"{self.about} is {number_text(self.guess)}, {ends} with {number_text(CERTAINTY)} certainty"
        if self.low is not None and self.high is not None:
            return f"{self.about} is between {number_text(self.low)} and {number_text(self.high)}"
        if self.low is not None:
            return f"{self.about} is at least {number_text(self.low)}"
        if self.high is not None:
            return f"{self.about} is at most {number_text(self.high)}"
        assert self.guess is not None
        return f"{self.about} is about {number_text(self.guess)}"

    @property
    def middle(self) -> float | None:
        """The best guess, or the middle between the ends."""
        if self.guess is not None:
            return self.guess
        return None if self.low is None or self.high is None else (self.low + self.high) / 2


# Questions ------------------------------------------------------------------------------------------------------------


def write_sheet(knowledge: Knowledge, expert: str, path: Path) -> int:
    """Write the questions to an expert, as .xlsx or .csv; how many there are is returned."""
    checked_expert(expert)
    rows = [(expert, question, "", "", "", "", "", about) for question, about in questions(knowledge)]
    if not rows:
        raise OptionError("There is nothing to ask: no variable has a CPT that is learned.")
    if path.suffix.lower() == ".csv":
        with replacing(path) as draft, draft.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file).writerows([HEADER, *rows])
    elif path.suffix.lower() in EXCEL_ENDINGS:
        _write_workbook([HEADER, *rows], path)
    else:
        raise OptionError(f"A sheet of questions is an .xlsx or a .csv file, not {path.name}.")
    return len(rows)


def checked_expert(name: str) -> str:
    """The name of an expert; an error where it cannot be written in the language."""
    if not name.strip() or "\n" in name:
        raise OptionError("Say who the sheet is for, such as --for cardiologist.")
    return name


def questions(knowledge: Knowledge) -> Iterator[tuple[str, str]]:
    """Each question in plain words, and what it is about: the numbers of the CPTs that are learned.

    Of a CPT with many configurations the two extreme ones are asked for, and those that differ from them in one parent.
    """
    network = with_stated_forms(knowledge)
    decided = decision_problem(knowledge.declarations, network).options  # what is done is no question of belief
    shared, labels = shared_cpts(knowledge.statements, knowledge.network), labels_of(knowledge.declarations)
    for name in network.order:
        if name in network.forms or name in shared or name in decided:
            continue
        states = network.states(name)
        for configuration in _asked(network, name):
            given = network.configuration(name, configuration)
            with_words = [f"{labels.variable(each)} is {labels.state(each, state)}" for each, state in given.items()]
            where = f" in which {' and '.join(with_words)}" if with_words else ""
            for state in states[1:] if len(states) == 2 else states:
                event = f"{labels.variable(name)} is {labels.state(name, state)}"
                about = probability_text(Probability(name, (state,), tuple(given.items())))
                yield f"Out of 100 cases{where}: in how many do you expect that {event}?", about


def _asked(network: Network, name: str) -> Iterable[int]:
    count, sizes = network.configurations(name), network.shape(name)[:-1]
    if count <= MOST_CONFIGURATIONS:
        return range(count)
    found: dict[int, None] = {}
    for corner in (0, 1):
        ends = [corner * (size - 1) for size in sizes]
        found[int(np.ravel_multi_index(ends, sizes))] = None
        for axis, size in enumerate(sizes):
            other = [(1 - corner) * (size - 1) if place == axis else end for place, end in enumerate(ends)]
            found[int(np.ravel_multi_index(other, sizes))] = None
    return found


def _write_workbook(rows: Sequence[Sequence[str]], path: Path) -> None:
    try:
        from openpyxl import Workbook
        from openpyxl.styles import Alignment, Font
    except ImportError:
        raise MissingExtraError("openpyxl", "excel", "Writing Excel files") from None
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "questions"
    for row in rows:
        sheet.append([f"'{cell}" if cell.startswith("=") else cell for cell in row])
    for letter, width in zip(LETTERS, (16, 70, 18, 10, 10, 14, 30, 40), strict=True):
        sheet.column_dimensions[letter].width = width
        sheet[f"{letter}1"].font = Font(bold=True)
    for cell in sheet["B"]:
        cell.alignment = Alignment(wrap_text=True, vertical="top")
    sheet.freeze_panes = "C2"
    with replacing(path, ".xlsx") as draft:
        workbook.save(draft)


# Answers --------------------------------------------------------------------------------------------------------------


def read_sheets(paths: Sequence[Path], knowledge: Knowledge) -> list[SheetAnswer]:
    """The answers in filled sheets; all mistakes are named together, each with its cell."""
    answers: list[SheetAnswer] = []
    wrong: list[str] = []
    places: dict[tuple[str, str], str] = {}  # of who answered what
    for path in paths:
        rows = list(_rows(path))
        if not rows or tuple(str(cell or "").strip() for cell in rows[0][: len(HEADER)]) != HEADER:
            raise DataError(f"{path} is not a sheet of questions: its first row is not {listing(HEADER)}.")
        for number, row in enumerate(rows[1:], start=2):
            cells = dict(zip(HEADER, [*row, *[None] * len(HEADER)], strict=False))
            answer, mistakes = _answer(cells, number)
            if answer is not None:
                mistakes = _unreadable(answer, number, knowledge.network)
                asked = (answer.expert, answer.about)
                if asked in places:
                    mistakes.append(f"A{number}: {answer.expert} answered this in {places[asked]} already. Keep one.")
                places.setdefault(asked, f"{path.name}, C{number}")
            wrong += [f"{path.name}, {mistake}" for mistake in mistakes]
            answers += [answer] if answer is not None else []
    wrong += [] if wrong else _sums(answers, places, knowledge.network)
    if wrong:
        more = [f"… and {len(wrong) - MOST_WRONG} more."] if len(wrong) > MOST_WRONG else []
        raise DataError("\n".join([*wrong[:MOST_WRONG], *more]))
    if not answers:
        raise DataError(f"No question is answered in {listing([str(path) for path in paths])}.")
    return answers


def _sums(answers: Sequence[SheetAnswer], places: Mapping[tuple[str, str], str], network: Network) -> list[str]:
    """The best guesses of one expert for a distribution that are more than 100 together, or for all states less."""
    found: dict[tuple[str, Probability], list[SheetAnswer]] = {}
    for answer in answers:
        if answer.guess is not None:
            (stated,) = Knowledge(network, replace(answer, cases=1.0).line()).statements
            assert isinstance(stated, ExpertNumber)
            found.setdefault((answer.expert, replace(stated.probability, states=())), []).append(answer)
    wrong = []
    for (expert, asked), own in found.items():
        total = sum(answer.guess or 0.0 for answer in own)
        states = network.states(str(asked.variable))
        if total > 1.0 + NEARLY_ONE or (len(own) == len(states) and total < 1.0 - NEARLY_ONE):
            last = places[expert, own[-1].about]
            about = " | ".join(own[-1].about[2:-1].split(" | ")[1:])
            where = f" where {about}" if about else ""
            wrong.append(
                f"{last}: the best guesses for the {len(own)} states of {asked.variable}{where} are {100 * total:g} of "
                "100 together. Correct one of them, or leave it empty."
            )
    return wrong


def _rows(path: Path) -> Iterator[Sequence[Any]]:
    if path.suffix.lower() == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as file:
            yield from csv.reader(file)
        return
    if path.suffix.lower() not in EXCEL_ENDINGS:
        raise OptionError(f"A sheet of answers is an .xlsx or a .csv file, not {path.name}.")
    from credo.io.excel import rows_of_workbook

    yield from rows_of_workbook(path)


def _answer(cells: Mapping[str, Any], row: int) -> tuple[SheetAnswer | None, list[str]]:
    """What a row says, and its mistakes, each with the cell."""
    values: dict[str, float | None] = {}
    wrong = []
    for name in NUMBERS:
        place, cell = f"{LETTERS[HEADER.index(name)]}{row}", cells[name]
        text = str("" if cell is None else cell).strip()
        try:
            value = float(text.removesuffix("%").replace(",", ".")) if text else None
        except ValueError:
            value = None
            wrong.append(f"{place}: “{text}” is not a number. Write how many of 100, such as 12, or leave it empty.")
        if value is not None and name != "cases in mind" and not 0 <= value <= 100:
            wrong.append(f"{place}: {text} is not between 0 and 100.")
        if value is not None and name == "cases in mind" and not value > 0:
            wrong.append(f"{place}: {text} cases are none. Write a number above 0, or leave it empty.")
        values[name] = value
    guess, low, high = (None if value is None else value / 100 for value in (values[name] for name in NUMBERS[:3]))
    if not wrong and low is not None and high is not None and low > high:
        wrong.append(f"D{row}: at least {100 * low:g} is more than at most {100 * high:g} in E{row}.")
    elif not wrong and guess is not None and low is not None and guess < low:
        wrong.append(f"C{row}: the best guess {100 * guess:g} is below what it is at least, {100 * low:g} in D{row}.")
    elif not wrong and guess is not None and high is not None and guess > high:
        wrong.append(f"C{row}: the best guess {100 * guess:g} is above what it is at most, {100 * high:g} in E{row}.")
    if wrong or (guess is None and low is None and high is None):
        return None, wrong
    expert, about = str(cells["expert"] or "").strip(), str(cells["about"] or "").strip()
    if not expert or not about:
        empty = "A" if not expert else "H"
        return None, [f"{empty}{row}: this cell was written by credo, and is empty now. Copy it from the first sheet."]
    return SheetAnswer(expert, about, guess, low, high, values["cases in mind"]), []


def _unreadable(answer: SheetAnswer, row: int, network: Network) -> list[str]:
    """Why an answer is no statement about the network: what it is about was changed, or belongs to another network."""
    try:
        Knowledge(network, answer.line())
    except KnowledgeError as error:
        return [f"H{row}: {error.mistakes[0].message}"]
    return []


def statements_of(answers: Sequence[SheetAnswer], network: Network) -> str:
    """The answers as text of the language: a block for each expert."""
    blocks = []
    for expert in dict.fromkeys(answer.expert for answer in answers):
        lines = _lines([answer for answer in answers if answer.expert == expert], network)
        blocks.append("\n".join([f"expert {name_text(expert)}:", *(f"{INDENT}{line}" for line in lines)]))
    return "\n\n".join(blocks) + "\n"


def _lines(answers: Sequence[SheetAnswer], network: Network) -> Iterator[str]:
    """The answers of one expert; those about all states of one distribution, or all but one, are that distribution."""
    together: dict[Probability, dict[str, SheetAnswer]] = {}
    for answer in answers:
        if answer.guess is not None and answer.cases is not None:
            (stated,) = Knowledge(network, answer.line()).statements
            assert isinstance(stated, ExpertNumber)
            asked = stated.probability
            together.setdefault(replace(asked, states=()), {})[str(asked.states[0])] = answer
    merged: dict[str, str] = {}
    for asked, own in together.items():
        states, cases = network.states(str(asked.variable)), {each.cases for each in own.values()}
        shares = [None if state not in own else own[state].guess for state in states]
        given = sum(share or 0.0 for share in shares)
        if len(states) < 3 or len(cases) > 1 or len(own) < len(states) - 1:
            continue
        whole = [1.0 - given if share is None else share for share in shares]
        values = tuple(float(f"{max(each, 0.0) / sum(whole):.6g}") for each in whole)
        first, *rest = [each.about for each in own.values()]
        merged[first] = str(ExpertNumber(asked, values, cases.pop()))
        merged |= dict.fromkeys(rest, "")
    for answer in answers:
        if line := merged.get(answer.about, answer.line()):
            yield line


# Agreement ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Agreement:
    """What several experts said of one number.

    Attributes
    ----------
    about
        The number.
    answers
        Each expert's number.
    linear
        Its number in the mean of all distributions.
    logarithmic
        Its number in the distribution that is proportional to their geometric mean, state by state. What one expert
        calls impossible is impossible there; NaN where that leaves no state.
    spread
        How far the numbers are apart.
    farthest
        Whose number is farthest from the median of all.
    """

    about: str
    answers: Mapping[str, float]
    linear: float
    logarithmic: float
    spread: float
    farthest: str

    def sentence(self, is_anonymous: bool = False) -> str:
        """The comparison in words, without names for a second round."""
        ends = (percent_digits(end) for end in (min(self.answers.values()), max(self.answers.values())))
        logarithmic = "has no state left" if isnan(self.logarithmic) else percent_digits(self.logarithmic)
        pools = f"linear pool {percent_digits(self.linear)}, logarithmic pool {logarithmic}"
        text = f"{self.about}: {' to '.join(ends)} from {len(self.answers)} experts; {pools}"
        if is_anonymous or self.spread == 0.0:
            return text
        return f"{text}; farthest is {self.farthest} with {percent_digits(self.answers[self.farthest])}"


def agreement(answers: Sequence[SheetAnswer], network: Network) -> list[Agreement]:
    """The numbers that at least two experts answered, those first in which they are farthest apart."""
    found = []
    for asked, said in _by_distribution(answers, network).items():
        pools = _pools(said, network.states(str(asked.variable)))
        for states in dict.fromkeys(states for own in said.values() for states in own):
            numbers = {expert: own[states] for expert, own in said.items() if states in own}
            if len(numbers) < 2:
                continue
            values = np.array(list(numbers.values()))
            middle = float(np.median(values))
            farthest = max(numbers, key=lambda expert: abs(numbers[expert] - middle))
            about = probability_text(replace(asked, states=states))
            spread = float(values.max() - values.min())
            found.append(Agreement(about, numbers, *pools[states], spread, farthest))
    return sorted(found, key=lambda each: -each.spread)


States = tuple[str, ...]
Said = Mapping[str, Mapping[States, float]]  # the numbers of each expert for states of one distribution


def _by_distribution(
    answers: Sequence[SheetAnswer], network: Network
) -> dict[Probability, dict[str, dict[States, float]]]:
    """What each expert said of every distribution."""
    found: dict[Probability, dict[str, dict[States, float]]] = {}
    for answer in answers:
        if answer.middle is not None:
            whole = replace(answer, guess=answer.middle, low=None, high=None, cases=1.0)
            (stated,) = Knowledge(network, whole.line()).statements
            assert isinstance(stated, ExpertNumber)
            asked = stated.probability
            own = found.setdefault(replace(asked, states=()), {}).setdefault(answer.expert, {})
            own[tuple(map(str, asked.states))] = answer.middle
    return found


def _pools(said: Said, states: Sequence[str]) -> dict[States, tuple[float, float]]:
    """The linear and the logarithmic pool of each number.

    Distributions are pooled as a whole where all experts gave them, if need be with one state left open. Where they did
    not, the states that all of them gave are pooled beside the rest; and what only some gave beside all that it is not.
    """
    completed = [_completed(own, states) for own in said.values()]
    common = [(state,) for state in states if all((state,) in own for own in completed)]
    found: dict[States, tuple[float, float]] = {}
    if common:
        shares = [[own[state] for state in common] for own in completed]
        found |= dict(zip(common, _pooled(shares, len(common) == len(states)), strict=False))
    for state in {state for own in said.values() for state in own}.difference(found):
        found[state] = _pooled([[own[state]] for own in completed if state in own], False)[0]
    return found


def _completed(own: Mapping[States, float], states: Sequence[str]) -> dict[States, float]:
    """The numbers of one expert, with the state that was left open if it is the only one."""
    missing = [(state,) for state in states if (state,) not in own]
    if len(missing) != 1 or any(len(each) > 1 for each in own):
        return dict(own)
    return {**own, missing[0]: max(0.0, 1.0 - sum(own.values()))}


def _pooled(shares: Sequence[Sequence[float]], is_whole: bool) -> list[tuple[float, float]]:
    """Both pools of distributions, (experts, states), to which the rest is added if they are not whole.

    linear_k = Σ p_ek / n,    logarithmic_k ∝ Π p_ek^(1/n)
    """
    table = np.array(shares)
    if not is_whole:
        table = np.column_stack((table, np.maximum(0.0, 1.0 - table.sum(axis=1))))
    totals = table.sum(axis=1, keepdims=True)
    table = np.divide(table, totals, out=np.full_like(table, 1.0 / table.shape[1]), where=totals > 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(table).mean(axis=0)
    if not np.isfinite(logs).any():
        logarithmic = np.full(len(logs), np.nan)
    else:
        logarithmic = np.exp(logs - logs.max())
        logarithmic /= logarithmic.sum()
    return list(zip(table.mean(axis=0).tolist(), logarithmic.tolist(), strict=True))


def distances(compared: Sequence[Agreement]) -> dict[str, float]:
    """How far each expert is from the others on average: the mean distance from the median of all, number by number."""
    found: dict[str, list[float]] = {}
    for each in compared:
        middle = float(np.median(list(each.answers.values())))
        for expert, number in each.answers.items():
            found.setdefault(expert, []).append(abs(number - middle))
    return {expert: float(np.mean(values)) for expert, values in found.items()}
