"""Interviews with experts who write anything: what is in the text stays there, and what is written can be read."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl

import credo
from credo.errors import CredoError
from credo.interview import interview, number_statement
from fuzz.kind import Input, Kind
from fuzz.names import network_from
from fuzz.statements import quoted

HELD = 0.02  # of the inputs: whole interviews, which learn after every answer
WORDS = (
    "12", "12%", "about 12", "0.5", "1 in 20", "5 to 20", "5%-20%", "between 5 and 20", "7,5 to 10", "15, 80% sure",
    "?", "later", "I don't know.", "stop", "1", "2", "3", "4", "more likely", "less", "neither", "it depends",
    "yes", "no", "0", "100", "101", "-3", "1e9", "1 in 0", "0 in 0", "20 to 5", "5 to", "to 5", "", "   ", "nan",
    "inf", "12 % sure", "5, 0% sure", "5, 100% sure", "5, 200% sure", "half", "50 – 60", "5…6", "1.2.3", "٣", "½",
    "9" * 400, "0." + "0" * 400 + "1", "1 in " + "9" * 400, "9" * 400 + " in " + "9" * 400, "#", "P(a=b) = 1", "“9”",
)  # fmt: skip
TOKENS = ("1", "5", "20", "0", ".", ",", "%", " ", " to ", " in ", "-", "–", "about ", "between ", " and ", " of ",
          "sure", "certain", ", 80% sure", "per cent", "e5", "x", "\n")  # fmt: skip


def make(choose: Random) -> Input:
    """Answers, and for some a network, rows and a target."""
    truth = network_from(choose, (2, 3), odd=0.0, most_parents=1, complete=1.0)
    words = [
        choose.choice(WORDS) if choose.random() < 0.5 else "".join(choose.choices(TOKENS, k=choose.randint(1, 6)))
        for _ in range(20)
    ]
    rows = truth.sample(choose.choice((1, 10, 60)), choose.getrandbits(32))
    name = choose.choice(truth.names)
    return {
        "states": {name: list(truth.states(name)) for name in truth.names},
        "parents": {name: list(truth.parents[name]) for name in truth.names},
        "columns": {name: rows[name].to_list() for name in truth.names},
        "target": choose.choice((None, f"P({quoted(name)}={quoted(truth.states(name)[0])})")),
        "expert": choose.choice(("anna", "Dr. Bayes", 'the "best"', "年", " ", "x" * 50)),
        "certain": choose.random() < 0.5,
        "words": words,
        "is held": choose.random() < HELD,
    }


def check(given: Input, folder: Path) -> str:
    """Numbers become statements that can be read, or none; an interview loses no line, and leaves a readable text."""
    assert isinstance(given, dict)
    network = credo.Network(given["states"], given["parents"])
    name = network.names[0]
    about = f"P({quoted(name)}={quoted(network.states(name)[0])})"
    if not network.parents[name]:
        for words in given["words"]:
            if line := number_statement(about, " ".join(words.split()).casefold()):
                try:
                    credo.Knowledge(network, line)
                except CredoError as error:
                    raise AssertionError(f"an answer that becomes no statement; {words[:50]!r}") from error
    if not given["is held"]:
        return "words"
    path = folder / "interview.credo"
    text = "\n".join(
        [
            *(f"variable {quoted(each)}: {', '.join(map(quoted, network.states(each)))}" for each in network.names),
            *(
                f"{quoted(each)} depends on {', '.join(map(quoted, network.parents[each]))}"
                for each in network.names
                if network.parents[each]
            ),
        ]
    )
    path.write_text(text, encoding="utf-8")
    frame = pl.DataFrame(given["columns"], schema=dict.fromkeys(given["columns"], pl.String))
    answers = iter(given["words"])

    def ask(prompt: str) -> str:
        found = next(answers, None)
        if found is None:
            raise EOFError
        now = path.read_text(encoding="utf-8")
        assert now.startswith(text), "a line of the text is lost"
        return found

    ended = interview(
        path, frame, given["expert"], given["target"], ask=ask, show=lambda text: None, is_certain=given["certain"],
        most=4,
    )  # fmt: skip
    now = path.read_text(encoding="utf-8")
    assert now.startswith(text), "a line of the text is lost"
    written = [line for line in now[len(text) :].splitlines() if line.strip() and not line.startswith("#")]
    assert len(written) == ended.answers, f"{ended.answers} answers, {len(written)} lines"
    credo.fit(path, frame, method="cmap", progress=False)
    return f"held, {min(ended.answers, 4)} answers"


INTERVIEWS = Kind("interviews", make, check, ".json", seconds=120.0)
