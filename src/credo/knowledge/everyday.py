"""Sentences as people write them, and the line of the language that says the same.

A line that cannot be read is searched for the network's own names: `glu=high`, `high glu` and `not smoke` become
events, and names alone variables. What remains, such as `E is twice as likely if E`, is looked up in `PATTERNS`. Words
of `P(…) is abuot 60%` are compared with those of the language. Every line that is offered was read again, and has no
mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from credo.errors import closest, listing
from credo.knowledge.declarations import DECLARATIONS
from credo.knowledge.gate import Gate
from credo.knowledge.gate_sentences import gates_meant
from credo.knowledge.mistakes import EXAMPLES, Mistake, kinds
from credo.knowledge.names import name_text, state_text, unquoted, without_comment
from credo.knowledge.parse import parse_line
from credo.knowledge.query import usual_event
from credo.knowledge.statements import check_statements
from credo.model.network import Network
from credo.model.state_texts import state_of_interest

MAX_LENGTH = 300  # characters of a line that is rewritten
_WITH_UNIT = re.compile(r'(?<![\w"])[^\W\d][\w\-]* \((?![\d.+\-])[^()="|]+\)(?!")')  # a name such as Age (years)
MAX_REWRITTEN = 50  # mistakes of a text for which lines are sought
_ABOUT_ARROWS = ("not-a-parent", "influence-reversed")
MAX_NAMES = 2_000  # of a network; searching a line for more takes long

# Words of the language, for those that are misspelt.
_SPELLINGS = """
is at least most about approximately between exactly raises lowers depends cut into quantiles with without
confidence within by likely unlikely very extremely twice half times as more than given among for against if then and
each other parent prevalence sensitivity specificity predictive value positive negative relative risk odds ratio of the
probability does not affect has have no effect on synergize sub-synergize noisy-or noisy-and noisy-max noisy-min leak
general effects order variable variables missing values rows share differ in equal percent
increases decreases causes reduces prevents doubles triples influence independent patients
"""
_WORDS = tuple(_SPELLINGS.split())


def with_own_words(
    mistakes: Sequence[Mistake], network: Network | None, is_declared: bool = False
) -> tuple[Mistake, ...]:
    """The mistakes with the line to write where that can be seen, and else with examples of the network's own names.

    `is_declared` says that lines of the text make the network, so that a line can add to it.
    """
    mistakes = [_with_quotes(each, network) for each in mistakes]
    if network is None or not len(network) or len(network) > MAX_NAMES:
        return tuple(mistakes)
    own = _own_examples(network)
    found: list[Mistake] = []
    for place, mistake in enumerate(mistakes):
        write, wrong = "", None
        if mistake.write:
            found.append(mistake)
            continue
        if place < MAX_REWRITTEN and mistake.line:
            write, wrong = line_to_write(mistake.text, network, is_declared)
        if write and wrong is None:
            found.append(replace(mistake, expected="", suggestion=f"Write: {write}", write=write))
            continue
        if wrong is not None:
            suggestion = f"If it means “{write}”: {wrong.message} {wrong.suggestion}"
            found.append(replace(mistake, expected=wrong.expected, suggestion=suggestion))
            continue
        expected, suggestion = mistake.expected, mistake.suggestion
        template = kinds()[mistake.kind]
        for name, example in own.items():
            field = f"{{{name}}}"
            if field in template["expected"]:
                expected = expected.replace(EXAMPLES[name], example)
            if field in template["suggestion"]:
                suggestion = suggestion.replace(EXAMPLES[name], example)
        if mistake.kind == "unknown-verb":
            expected, suggestion = _before_the_verb(mistake, network, own)
        found.append(replace(mistake, expected=expected, suggestion=suggestion))
    return tuple(found)


def _before_the_verb(mistake: Mistake, network: Network, own: Mapping[str, str]) -> tuple[str, str]:
    """What was expected and what to write where no verb was found: variables, if none stands there, else an example."""
    said = mistake.text[: mistake.column - 1].strip()
    names = {name.casefold() for name in network.names}
    parts = [unquoted(part) if part[:1] in ("'", '"') else part for part in map(str.strip, re.split(",|&|and ", said))]
    unknown = next((part for part in parts if part.casefold() not in names), None)
    if unknown is None:
        example = f"{own['parent']} raises {own['child']}, or P({own['event']} | {own['given']}) >= 0.3"
        return mistake.expected, f"Write, for instance, {example}."
    near = closest(unknown, network.names)
    hint = f'"{unknown}" is not a variable of the network.' + (f' Did you mean "{near}"?' if near else "")
    return f"a variable of the network ({listing(network.names)}), or P(…)", hint


def _with_quotes(mistake: Mistake, network: Network | None) -> Mistake:
    """The mistake with the line to write where a name such as Age (years) stands in it without quotes."""
    quoted = _WITH_UNIT.sub(r'"\g<0>"', mistake.text)
    if mistake.write or quoted == mistake.text or len(quoted) > MAX_LENGTH:
        return mistake
    statement, wrong = parse_line(quoted)
    known = {name.casefold(): name for name in network.names} if network is not None else {}
    has_another = any(known.get(name.casefold(), name) != name for name in _WITH_UNIT.findall(mistake.text))
    if statement is None or wrong or has_another:
        return mistake
    return replace(mistake, expected="", suggestion=f"Write: {quoted.strip()}", write=quoted.strip())


def line_to_write(line: str, network: Network, is_declared: bool = False) -> tuple[str, Mistake | None]:
    """The line of the language that says what this one was meant to say, and what is wrong about it, if anything.

    Empty where what was meant cannot be seen.
    """
    code = without_comment(line).strip().rstrip(".!").rstrip()
    if not code or len(code) > MAX_LENGTH:
        return "", None
    second: tuple[str, Mistake | None] = ("", None)
    for candidate in _candidates(code, network):
        if candidate == code or not candidate:
            continue
        statement, mistakes = parse_line(candidate)
        if statement is None or mistakes:
            continue
        if type(statement) in DECLARATIONS:
            return candidate, None
        wrong = check_statements([statement], network, is_declared)  # type: ignore[list-item]
        if is_declared and isinstance(statement, Gate) and not network.parents.get(statement.child):
            wrong = tuple(each for each in wrong if each.kind != "not-a-parent")  # a gate declares its arrows
        if not wrong:
            return candidate, None
        second = second if second[0] or wrong[0].kind not in _ABOUT_ARROWS else (candidate, wrong[0])
    return second


def _own_examples(network: Network) -> dict[str, str]:
    """What stands in the place of the examples' names: an arrow of the network, and states of its ends."""
    child = next((name for name in network.names if network.parents[name]), network.names[-1])
    parents = network.parents[child] or tuple(name for name in network.names if name != child)[:1] or (child,)
    event, given = usual_event(child, network), usual_event(parents[0], network)
    families = ", ".join(f"{{{name_text(each)}}}" for each in parents)
    return {
        "event": event,
        "given": given,
        "child": name_text(child),
        "parent": name_text(parents[0]),
        "family": f"{name_text(child)} is noisy-or of {families}",
    }


# Names in a line ------------------------------------------------------------------------------------------------------


class _Item(NamedTuple):
    """A variable that a line names, with what it says of its state, as the language writes that: `=high`, `!=high`."""

    variable: str
    said: str = ""  # empty for the variable alone

    def event(self, network: Network) -> str:
        return f"{name_text(self.variable)}{self.said}" if self.said else usual_event(self.variable, network)

    def otherwise(self, network: Network) -> str:
        """The opposite of the event."""
        states = network.states(self.variable)
        said = self.said or f"={state_text(states[state_of_interest(states)])}"
        if not said.startswith("=") or len(states) != 2:
            return f"{name_text(self.variable)}{_OPPOSITE[re.match('[<>=!]+', said)[0]]}{said.lstrip('<>=!')}"  # type: ignore[index]
        return next(
            f"{name_text(self.variable)}={state_text(each)}" for each in states if f"={state_text(each)}" != said
        )


_RELATION = "==?|!=|≠|<=|>=|<|>|≤|≥"
_OPPOSITE = {"=": "!=", "!=": "=", ">=": "<", "<": ">=", ">": "<=", "<=": ">"}


def _alternatives(words: Sequence[str]) -> str:
    """A pattern for one of these words, the longest first."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


def marked(code: str, network: Network) -> tuple[str, list[_Item]]:
    """The line with `@E0` for its first event, `@V1` for a variable that comes second, and so on."""
    by_name = {name.casefold(): name for name in network.names}
    owners: dict[str, list[str]] = {}
    for name in network.names:
        for state in network.states(name):
            owners.setdefault(state.casefold(), []).append(name)
    single = [state for state, own in owners.items() if len(own) == 1 and len(state) > 2 and not state[0].isdigit()]
    names = _alternatives(list(by_name))
    derived: dict[str, str] = {}  # smokers and smoking are smoke=yes
    for name in network.names:
        if len(network.states(name)) == 2 and len(name) > 3 and name.isalpha():
            stem = name.casefold().removesuffix("e")
            derived |= {stem + ending: name for ending in ("er", "ers", "ing", "ed") if stem + ending not in by_name}
    states = _alternatives([state for state in owners if state])
    pattern = re.compile(
        rf"(?P<no>\b(?:not|no|without)\s+)?(?:\b(?P<first>{states})\s+)?"
        rf"(?P<quote>[\"']?)(?<![\w.@])(?P<name>{names})(?P=quote)(?![\w.])"
        rf"(?:\s*(?P<relation>{_RELATION})\s*(?P<value>\"[^\"]*\"|'[^']*'|[+\-]?[\w.]+(?:[.\-/]\w+)*\+?)"
        rf"|(?:\s+(?:is|are|was|being))?\s+(?P<last>{states})(?![\w.]))?"
        rf"|(?<![\w.@=])(?P<alone>{_alternatives([*single, *derived]) or '(?!)'})(?![\w.])",
        re.IGNORECASE,
    )
    items: list[_Item] = []

    def mark(found: re.Match[str]) -> str:
        if found["alone"]:
            word = found["alone"].casefold()
            if word not in owners:
                name = derived[word]
                return _added(_Item(name, usual_event(name, network)[len(name_text(name)) :]), items)
            name = owners[word][0]
            return _added(_Item(name, _said(network, name, "=", found["alone"])), items)
        name = by_name[found["name"].casefold()]
        before = after = ""
        said = ""
        if found["value"]:
            value = found["value"]
            said = _said(network, name, found["relation"], unquoted(value) if value[0] in "\"'" else value)
        elif found["last"]:
            said = _said(network, name, "=", found["last"])
            after = "" if said else found[0][found.end("name") - found.start() + len(found["quote"]) :]
        if found["first"]:
            first = "" if said else _said(network, name, "=", found["first"])
            before = "" if first else f"{found['first']} "
            said = said or first
        if found["no"]:
            item = _Item(name, said)
            if len(network.states(name)) == 2 or said:
                return before + _added(_Item(name, item.otherwise(network)[len(name_text(name)) :]), items) + after
            before = found["no"] + before
        return before + _added(_Item(name, said), items) + after

    def mark_apart(found: re.Match[str]) -> str:  # a digit that follows is no part of the mark's number
        return mark(found) + " " * found.string[found.end() : found.end() + 1].isdigit()

    return pattern.sub(mark_apart, code), items


def _added(item: _Item, items: list[_Item]) -> str:
    items.append(item)
    return f"@{'E' if item.said else 'V'}{len(items) - 1}"


def _said(network: Network, name: str, relation: str, value: str) -> str:
    """`=high`, as the network spells the state; nothing where the variable has no such state."""
    relation = {"==": "=", "≠": "!=", "≤": "<=", "≥": ">="}.get(relation, relation)
    if relation not in ("=", "!="):
        return f"{relation}{value}"
    state = next((each for each in network.states(name) if each.casefold() == value.casefold()), None)
    state = state or closest(value, network.states(name))
    return "" if state is None else f"{relation}{state_text(state)}"


# Candidates -----------------------------------------------------------------------------------------------------------


def _candidates(code: str, network: Network, inside: bool = False) -> Iterator[str]:
    """Lines that may say the same, the likeliest first; not all of them can be read."""
    if re.search(r"@[EV]\d", code):  # looks like the marks below
        return
    pointed = re.sub(r"(?<![\w.,])(\d+),(\d+)(?!\d|,\d)", r"\1.\2", code)
    lowest = {state for name in network.names for state in network.states(name) if state.startswith("<")}
    for state in lowest:  # bmi=<25, where "<25" is a state
        pointed = re.sub(rf"=\s*{re.escape(state)}(?![\w.])", f'="{state}"', pointed)
    spelled = _spelled(pointed, network)
    yield from gates_meant(pointed)
    for text in dict.fromkeys((pointed, spelled, _reworded(pointed), _reworded(spelled))):
        yield text
        line, items = marked(text, network)
        yield _probabilities_completed(line, items, network)
        yield from _of_patterns(line, items, network)
        yield _with_states(line, items, network)
        if inside:  # one confidence is enough
            continue
        for found in filter(None, (pattern.fullmatch(text) for pattern in _CONFIDENT)):
            inner = found["statement"].strip(" ,")
            amount = found.groupdict().get("n", "0.8")
            if amount.endswith("%") or float(amount) > 1.0:
                amount = f"{float(amount.rstrip('% ')) / 100:g}"
            for statement in (inner, *_candidates(inner, network, inside=True)):
                yield f"{statement} with confidence {amount}"


def _spelled(code: str, network: Network) -> str:
    """The line with words of the language in the place of words that are close to them and mean nothing."""
    known = {*_WORDS, *(name.casefold() for name in network.names)}
    known |= {state.casefold() for name in network.names for state in network.states(name)}

    def spell(found: re.Match[str]) -> str:
        word = found[0]
        if len(word) < 3 or word.casefold() in known or word[0] in "\"'":
            return word
        # Short words are close to many, and a misspelt word begins as it should.
        near = [each for each in _WORDS if each[0] == word[0].lower() and abs(len(each) - len(word)) <= 2 < len(each)]
        return closest(word, near) or word

    return re.sub(r"\"[^\"]*\"|'[^']*'|[^\W\d][\w\-]*", spell, code)


def _any(words: str) -> str:
    """One of these words; `_` stands for a blank."""
    return f"(?:{'|'.join(words.split()).replace('_', chr(92) + 's+')})"


_RAISES = _any(
    "causes? raises? increases? promotes? favou?rs? elevates? worsens? leads?_to predisposes?_to predisposes?_for "
    "is_a_risk_factor_for is_an_important_risk_factor_for is_a_strong_risk_factor_for is_a_known_risk_factor_for "
    "is_a_risk_factor_of is_associated_with triggers? provokes? results?_in implies aggravates? boosts? produces?"
)
_LOWERS = _any(
    "lowers? decreases? reduces? prevents? inhibits? protects?_against protects?_from is_protective_against lessens? "
    "diminishes? alleviates? mitigates?"
)
_SAY = r"(?:is|are|was|were|be|lies?|stays?|remains?)"
_ABOUT = r"(?:close|near|similar)\s+to|nearly|almost|close|near|some|ca\.?|[~≈]|in\s+the\s+(?:range|order|region)\s+of"
_FRACTION_OF = {"half": "1/2", "third": "1/3", "quarter": "1/4", "fifth": "1/5", "tenth": "1/10"}
_TWICE = {"twice": "2 times", "half": "0.5 times"}
_TIMES_IN_WORDS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "ten": "10"}
_SOMETIMES_SAID = _any(
    "strongly slightly significantly greatly markedly substantially somewhat clearly definitely certainly usually "
    "generally typically directly mildly moderately considerably dramatically also really often always"
)
# What people write, and the words that the language, or a pattern below, has for it.
_REWORDED: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), write)
    for pattern, write in (
        (r"\bP\s*\(([^()|;]*);", r"P(\1 |"),
        (
            r"\bP\s*\(([^()|]*)\)\s+(?:given|if|when|among|for)\s+(.+?)\s*(?=\b(?:is|equals)\b|[<>=~≤≥≈]+\s*\d)",
            r"P(\1 | \2) ",
        ),
        (  # several states of one variable
            r"([^\W\d][\w\-]*)\s*=\s*([\w.\-]+)\s+or\s+(?:\1\s*=\s*)?([\w.\-]+)(?=\s*[),|]|$)(?!\s*=)",
            r"\1 in {\2, \3}",
        ),
        (r"\bin\s*\(([^()|=]+)\)", r"in {\1}"),
        (r"\b(?:should|must|will|would|can|may|might|could|ought\s+to|has\s+to)\s+be\b", "is"),
        (
            rf"\b({_SAY})\s+(?:probably|certainly|definitely|always|usually|normally|typically|somewhere|only|around)\b",
            r"\1",
        ),
        (r"(\d+)\s+out\s+of\s+(\d+)", r"\1/\2"),
        (
            r"(?<=\s)(an?\s+|one\s+|two\s+|three\s+)?(half|third|quarter|fifth|tenth)s?(?=\s*(?:$|and\b|with\b|,))",
            lambda found: _fraction(found[1] or "one", found[2].lower()),
        ),
        (r"\b(two|three|four|five|six|ten)(?=(?:-?fold|\s+times)\b)", lambda found: _TIMES_IN_WORDS[found[1].lower()]),
        (r"(\d)-?fold\b", r"\1 times"),
        (r"\b(?:much|far|a\s+(?:bit|little|lot)|slightly|somewhat|considerably)\s+(?=(?:more|less)\s+likely)", ""),
        (r"\blikelier\b", "more likely"),
        (r"(\d[\d.]*)\s+times\s+less\s+likely\b", lambda found: f"{1.0 / float(found[1]):.4g} times as likely"),
        (
            r"(\d[\d.]*)\s?(?:%|percent)\s+(more|less)\s+likely\b",
            lambda found: (
                f"{1.0 + (1 if found[2].lower() == 'more' else -1) * float(found[1]) / 100.0:g} times as likely"
            ),
        ),
        (
            r"\b(?:more\s+than|over|at\s+least)\s+(twice|half)\s+as",
            lambda found: f"at least {_TWICE[found[1].lower()]} as",
        ),
        (
            r"\b(?:less\s+than|under|at\s+most)\s+(twice|half)\s+as",
            lambda found: f"at most {_TWICE[found[1].lower()]} as",
        ),
        (r"\bis\s+(\d[\d.]*)\s*(?:to|-|–)\s*(\d[\d.]*)\s+times\b", r"is between \1 and \2 times"),
        (
            r"^(?:the\s+)?(?:risk|probability|chance|likelihood)\s+(?:of|for)\s+(.+?)\s+is\s+([\d.]+\s+times)\s+"
            r"(?:higher|greater|larger|as\s+(?:high|great|large))\s+",
            r"\1 is \2 as likely ",
        ),
        (r"\b(\d+(?:[.,]\d+)?)\s+(?:prozent|pour\s?cents?)\b", r"\1%"),
        (r"(?<![\w)])(?!(?:P|Pr|Prob)\s*\()[^\W\d]\w*\s*\(([^()]*[^()<>]=[^()]*)\)", r"\1"),
        (r"\b(?:is|=)\s+(?:(?:exactly\s+)?(?:the\s+same\s+as|equal\s+to|identical\s+(?:to|with)))\s", "= "),
        (
            r"\bis\s+(?:similar\s+to|about\s+the\s+same\s+as|about\s+equal\s+to|close\s+to|about)\s+(P\s*\([^()]*\))$",
            r"~ \1 within 0.05",
        ),
        (rf"\b{_SAY}\s+(?:{_ABOUT})\s*(?=[\d.])", "is about "),
        (r"(?<=\))\s*[~≈]\s*(?=[\d.]+\s*(?:%|percent)?$)", " is about "),
        (
            rf"(?:\s*\b(?:{_SAY}|ranges?|varies)\s+|(?<=\))\s*)(?:(?:in|within|from|between|∈)\s+)?[\[(]?(\d[\d.]*\s?%?)\s*"
            r"(?:,|;|-|–|—|to|and|\.\.+)\s*(\d[\d.]*\s?(?:%|percent)?)[\])]?$",
            lambda found: (
                f" is between {found[1].strip() + '%' * (found[2][-1:] == '%' and '%' not in found[1])} and {found[2]}"
            ),
        ),
        (r"\bis\s+never\s+(?:above|over|more\s+than|higher\s+than|greater\s+than)\b|\bnever\s+exceeds\b", "is at most"),
        (r"\bis\s+never\s+(?:below|under|less\s+than|lower\s+than)\b", "is at least"),
        (r"\bis\s+(?:at\s+the\s+most|maximally|up\s+to|no\s+higher\s+than|at\s+maximum)\b", "is at most"),
        (r"\bis\s+(?:at\s+the\s+least|minimally|no\s+lower\s+than|at\s+minimum)\b", "is at least"),
        (r"(?<=\))\s*is\s+(?:impossible|zero|nil)$", " = 0"),
        (r"(?<=\))\s*is\s+(?:certain|sure)$", " = 1"),
        (r"(?<=\))\s*is\s+(very\s+)?(?:high|large|common|frequent|probable)$", r" is \1likely"),
        (r"(?<=\))\s*is\s+(very\s+)?(?:low|small|uncommon|infrequent|improbable)$", r" is \1unlikely"),
        (r"(?<=\))\s*is\s+rare$", " is very unlikely"),
        (r"(?<=\))\s*is\s+very\s+rare$", " is extremely unlikely"),
        (
            r"(?<=\))\s*is\s+([\d.]+)\s*(?:%|percent(?:age)?)?\s*points?\s+(higher|larger|more|lower|smaller|less)\s+than\s+(P\s*\([^()]*\))$",
            lambda found: (
                f" = {found[3]} {'+' if found[2].lower() in 'higher larger more' else '-'} {float(found[1]) / 100:g}"
            ),
        ),
        (
            r"^P\s*\(([^()|]*)\|([^()]*)\)\s+is\s+(?:about|roughly|around|approximately)\s+(twice|double|half|[\d.]+\s+times)\s+"
            r"P\s*\(([^()|]*)\|([^()]*)\)$",
            lambda found: _about_times(*found.groups()),
        ),
        (r"\b(?:risk|rate)\s+ratio\b|^RR\b", "relative risk"),
        (r"^OR\b(?=\s+(?:of|for)\b)", "odds ratio"),
        (r"\b(?:vs\.?|versus|compared\s+(?:to|with)|relative\s+to)(?=\s)", "against"),
        (rf"\b{_SOMETIMES_SAID}\s+(?=(?:{_RAISES}|{_LOWERS})\b)", ""),
        (
            rf"\b(?:probably|presumably|possibly|perhaps)\s+(?=(?:{_RAISES}|{_LOWERS})\b)(.*)$",
            r"\1 with confidence 0.8",
        ),
        (r"\bis\s+(?:positively|directly)\s+(?:correlated|associated|related|linked)\s+(?:with|to)\b", "raises"),
        (r"\bis\s+(?:negatively|inversely)\s+(?:correlated|associated|related|linked)\s+(?:with|to)\b", "lowers"),
        (r"\b(?:positively\s+(?:affects|influences)|contributes\s+to|makes\s+more\s+likely)\b", "raises"),
        (r"\b(?:negatively\s+(?:affects|influences)|makes\s+less\s+likely)\b", "lowers"),
        (
            r"\b(?:is\s+(?:irrelevant|unimportant|unrelated)\s+(?:for|to)|plays\s+no\s+role\s+(?:in|for)"
            r"|(?:makes|has)\s+no\s+(?:difference|importance|relevance|bearing)\s+(?:to|for|on|in))\b",
            "does not affect",
        ),
        (
            r"\b(?:interact|(?:act|work)\s+synergistically|(?:potentiate|reinforce|strengthen)\s+each\s+other(?:'s\s+effect)?)"
            r"\s+(?:on|in|for)\b",
            "synergize on",
        ),
        (
            r"^the\s+more\s+(.+?),?\s+the\s+(more|less|higher|lower|likelier)\s+",
            lambda found: (
                f"the higher {found[1]}, the {'lower' if found[2].lower() in ('less', 'lower') else 'higher'} "
            ),
        ),
        (r"^(P\s*\([^()]*\))\s*:\s*(?=median\b)", r"\1 has "),
        (r"(?<=\))\s+(?:is|=)\s+(?=median\b)|(?<=\))\s+median\s+(?:is|=)\s+", " has median "),
        (r"\bhas\s+median\s+median\b", "has median"),
        (
            r"(?<=\bmedian)(\s+[\d.]+\s?%?),?\s*(?:with\s+|and\s+)?\(?(?:the\s+)?(?:quartiles?|IQR)\s*(?:of|from|:)?\s+"
            r"([\d.]+\s?%?)\s*(?:and|to|,|-|–)\s*([\d.]+\s?%?)\)?$",
            r"\1, half between \2 and \3",
        ),
        (r"\bwith\s+(\d+(?:\.\d+)?\s?%?)\s+(?:confidence|certainty)$", r"with confidence \1"),
        (r"\b(raises?|lowers?)\s+(.+?)\s+by\s+(?=[\d.]+\s?%?$)", r"\1 \2 by at least "),
    )
)


def _fraction(many: str, part: str) -> str:
    number, below = {"two": "2", "three": "3"}.get(many.strip().lower(), "1"), _FRACTION_OF[part][2:]
    return f"{number}/{below}"


def _about_times(event: str, given: str, ratio: str, other: str, otherwise: str) -> str:
    if event.strip() != other.strip():
        return ""
    times = {**_TWICE, "double": "2 times"}.get(ratio.lower(), ratio)
    return f"{event.strip()} is about {times} as likely given {given.strip()} as given {otherwise.strip()}"


def _reworded(code: str) -> str:
    """The line with words of the language in the place of others that mean the same."""
    for pattern, write in _REWORDED:
        code = pattern.sub(write, code)
    return code.strip()


def _probabilities_completed(line: str, items: Sequence[_Item], network: Network) -> str:
    """The line with states and a bar in each P(…), and with signs for `times` and `twice` between them."""

    def complete(found: re.Match[str]) -> str:
        def texts(part: str) -> list[str]:
            return [items[int(number)].event(network) for number in re.findall(r"@[EV](\d+)", part)]

        events, conditions = texts(found["events"]), texts(found["given"] or "")
        return f"P({', '.join(events)} | {', '.join(conditions)})" if conditions else f"P({', '.join(events)})"

    listed = r"@[EV]\d+(?:\s*(?:,|and|&)\s*@[EV]\d+)*"
    line = re.sub(
        rf"(?i:\bP|\bPr|\bprob(?:ability)?)\s*\(\s*(?P<events>{listed})\s*"
        rf"(?:(?:\||given|if|when|with|among|for)\s*(?P<given>{listed})\s*)?\)",
        complete,
        line,
    )
    line = re.sub(r"(?<=\d)\s*(?:x|times)\s*(?=P\()", " * ", line)
    line = re.sub(r"\bis\s+(?:twice|double)\s+(?:as\s+(?:likely|high|large|probable)\s+as\s+)?(?=P\()", "= 2 * ", line)
    line = re.sub(r"\bis\s+half\s+(?:as\s+(?:likely|high|large|probable)\s+as\s+|of\s+)?(?=P\()", "= 0.5 * ", line)
    line = re.sub(
        r"\bis\s+(\d[\d.]*)\s*(?:x|times|-?fold)\s+(?:as|more)\s+(?:likely|high|large|probable)\s+(?:as|than)\s+(?=P\()",
        r"= \1 * ",
        line,
    )
    line = re.sub(r"\bis\s+(\d[\d.]*)\s*\*", r"= \1 *", line)
    line = re.sub(r"(?<=\))\s*:\s*(?=\d)", " = ", line)
    line = re.sub(r"(?<=\))\s*~\s*(?=\d)", " is about ", line)
    return _restored(line, items)


def _with_states(line: str, items: Sequence[_Item], network: Network) -> str:
    """`sensitivity of xray for type is 90%`, with the states that are meant."""
    return re.sub(r"@[EV](\d+)", lambda found: items[int(found[1])].event(network), line)


def _restored(line: str, items: Sequence[_Item]) -> str:
    return re.sub(
        r"@[EV](\d+)", lambda found: f"{name_text(items[int(found[1])].variable)}{items[int(found[1])].said}", line
    )


# Patterns -------------------------------------------------------------------------------------------------------------


_PEOPLE = _any("patients? people persons? subjects? cases? those individuals? men women children adults")
_AMOUNT = (
    r"\d[\d.]*\s?(?:%|percent|per\s?cent)?"
    r"|(?:\d+|one|two|three)\s+in\s+(?:an?\s+)?(?:\d[\d,]*|two|three|four|five|six|seven|eight|nine|ten|twenty|hundred|thousand)"
)
_LEAST, _MOST = "at_least more_than over", "at_most less_than under up_to"
_ITEMS = r"@[EV]\d+(?:\s*(?:,|and|&|with)\s*@E\d+)*"
_OFTEN = _any("likely common probable frequent often frequently")
_WHO = _any("with who_have who_are having")
_PARTS = {
    "e": r"(?P<e>@[EV]\d+)",
    "f": r"(?P<f>@[EV]\d+)",
    "g": r"(?P<g>@[EV]\d+)",
    "c": rf"(?P<c>{_ITEMS})",
    "d": rf"(?P<d>{_ITEMS})",
    "people": _PEOPLE,
    "who": _WHO,
    "often": _OFTEN,
    "prep": rf"(?:(?:(?:in|among|for|with|of)\s+)?(?:the\s+)?{_PEOPLE}\s+{_WHO}|if(?:\s+there\s+is)?|"
    rf"{_any('when whenever where with given among amongst for in under in_the_presence_of')})",
    "quantity": rf"(?:(?P<about>{_any(f'about around roughly approximately ca only {_LEAST} {_MOST}')})\s+)?"
    rf"(?P<n>{_AMOUNT})",
    "of_cases": rf"(?:\s+of\s+(?:the\s+|all\s+)?(?:{_PEOPLE}|time))?",
    "ratio": r"(?:is|are|becomes?)\s+{factor}",
    "factor": r"(?:(?P<about>about|at\s+least|at\s+most)\s+)?(?P<ratio>twice|half|double|thrice|"
    rf"(?:\d[\d.]*|two|three|four|five|six|ten)(?:\s+times|-?\s?fold|\s?x))\s+(?:as|more)\s+{_OFTEN}",
    "verbal": rf"(?P<verbal>{_any('virtually_certain very_likely extremely_likely likely very_unlikely unlikely')}|"
    rf"{_any('extremely_unlikely very_probable probable improbable very_rare rare very_common common uncommon')})",
    "occurs": _any("is are occurs? happens?"),
    "amount": _AMOUNT,
    "points": r"(?:about )?(?P<rest>\d[\d.]*)\s?(?:%|percent(?:age)?)?\s?points?",
    "raises": _RAISES,
    "lowers": _LOWERS,
    "leads": r"(?:leads?\s+to|causes?|means?|implies|results?\s+in|=>|->|→|⇒)",
    "risk": r"(?:the\s+)?(?:risk|probability|chances?|likelihood|odds)\s+(?:of|for|that)",
    "chance": r"(?:(?:the\s+)?(?:risk|probability|chances?|likelihood|odds)\s+(?:of|for)\s+)?",
    "have": _any("have has had are is get gets develop develops show shows suffer_from suffers_from test tests"),
    "more": "(?P<more>more|less)",
}
_VERBAL = {
    "probable": "likely",
    "very probable": "very likely",
    "improbable": "unlikely",
    "rare": "very unlikely",
    "very rare": "extremely unlikely",
    "common": "likely",
    "very common": "very likely",
    "uncommon": "unlikely",
    "frequent": "likely",
    "infrequent": "unlikely",
}
_FACTORS = {"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "ten": "10", "thrice": "3"}


def _quantity(found: re.Match[str]) -> str:
    """`is at least 60%`; a bare number of prose is about that number."""
    word = re.sub(r"\s+", "_", found["about"] or "about").lower()
    how = "at least" if word in _LEAST.split() else "at most" if word in _MOST.split() else "about"
    return f"is {how} {found['n'].strip()}"


def _times(ratio: str, about: str | None, event: str, given: str, otherwise: str) -> str:
    number = re.split(r"\s+|-|fold|x", ratio)[0].lower()
    times = number if number in ("twice", "half") else "twice" if number == "double" else ""
    times = times or f"{_FACTORS.get(number, number)} times"
    if about:
        times = _TWICE.get(times, times)
    return f"{event} is {f'{about} ' if about else ''}{times} as likely given {given} as given {otherwise}"


class _Line(NamedTuple):
    """A sentence that matched, and the network's words for its parts."""

    found: re.Match[str]
    items: Sequence[_Item]
    network: Network

    def item(self, group: str) -> _Item:
        return self.items[int(self.found[group][2:])]

    def event(self, group: str = "e") -> str:
        return self.item(group).event(self.network)

    def given(self, group: str = "c") -> str:
        return ", ".join(
            self.items[int(number)].event(self.network) for number in re.findall(r"@[EV](\d+)", self.found[group])
        )

    def otherwise(self) -> str:
        """The second condition, or the opposite of the first, whose other events stay."""
        if self.found.groupdict().get("d"):
            return self.given("d")
        first, *others = re.findall(r"@[EV](\d+)", self.found["c"])
        return ", ".join(
            [self.items[int(first)].otherwise(self.network), *(self.items[int(n)].event(self.network) for n in others)]
        )

    def is_high(self, group: str) -> bool | None:
        """Whether an event is the high one of two states; None where it is neither."""
        item = self.item(group)
        states = self.network.states(item.variable)
        if not item.said or len(states) != 2 or item.said[:1] != "=":
            return None if item.said else True
        return item.event(self.network) == usual_event(item.variable, self.network)

    def influence(self, verb: str) -> str:
        """`smoke raises cough`; where states are named that are not the higher of two, two probabilities."""
        cause, effect = self.is_high("c"), self.is_high("e")
        if cause is None or effect is None:
            return self.compared(">=" if verb == "raises" else "<=")
        verb = verb if cause is effect else {"raises": "lowers", "lowers": "raises"}[verb]
        return f"{name_text(self.item('c').variable)} {verb} {name_text(self.item('e').variable)}"

    def compared(self, relation: str) -> str:
        return f"P({self.event()} | {self.given()}) {relation} P({self.event()} | {self.otherwise()})"

    def conditional(self, rest: str) -> str:
        return f"P({self.event()} | {self.given()}) {rest}"

    def times(self, ratio: str = "") -> str:
        about = self.found.groupdict().get("about")
        return _times(ratio or self.found["ratio"], about, self.event(), self.given(), self.otherwise())

    def times_by_parent(self) -> str:
        """`twice as likely` than what was not said: than without the first parent, to begin with."""
        parents = self.network.parents[self.item("e").variable]
        if not parents:
            return ""
        given = _Item(parents[0])
        about = self.found.groupdict().get("about")
        return _times(
            self.found["ratio"], about, self.event(), given.event(self.network), given.otherwise(self.network)
        )

    def verbal(self) -> str:
        word = re.sub(r"\s+", " ", self.found["verbal"]).lower()
        return f"is {_VERBAL.get(word, word)}"

    def conditional_in_words(self) -> str:
        return self.conditional(self.verbal())

    def share(self) -> str:
        return self.conditional(_quantity(self.found))

    def share_of_all(self) -> str:
        return f"P({self.event()}) {_quantity(self.found)}"

    def more_or_less(self) -> str:
        return self.compared(">=" if self.found["more"].lower() == "more" else "<=")

    def more_or_less_than_another(self) -> str:
        """`P(a | c) >= P(b | c)`: two events under the same condition, or under none."""
        given = f" | {self.given()}" if self.found.groupdict().get("c") else ""
        relation = ">=" if self.found["more"].lower() == "more" else "<="
        return f"P({self.event()}{given}) {relation} P({self.event('f')}{given})"

    def by_at_least(self, relation: str) -> str:
        return f"{self.compared(relation)} by at least {self.rest()}" if self.item("e").said else ""

    def influence_more_or_less(self) -> str:
        return self.influence("raises" if self.found["more"].lower() == "more" else "lowers")

    def lower(self, group: str) -> bool:
        return self.found[group].lower() == "low"

    def rest(self) -> str:
        return self.found["rest"]

    def synergy(self) -> str:
        one, other, effect = (name_text(self.item(group).variable) for group in "efg")
        return f"{one} and {other} synergize on {effect}"

    def odds_ratio(self) -> str:
        return self.ratio_of("odds ratio")

    def relative_risk(self) -> str:
        return self.ratio_of("relative risk")

    def does_not_affect(self, cause: str, effect: str) -> str:
        one, other = (name_text(self.item(each).variable) for each in (cause, effect))
        is_reversed = self.item(effect).variable in self.network.parents[self.item(cause).variable]
        return f"{other} does not affect {one}" if is_reversed else f"{one} does not affect {other}"

    def ratio_of(self, kind: str) -> str:
        """`odds ratio of cough=yes for smoke=yes against smoke=no is 2`, whichever of the two was named first."""
        effect, cause = self.item("e"), self.item("c")
        if effect.variable in self.network.parents[cause.variable]:
            effect, cause = cause, effect
        both = f"{cause.event(self.network)} against {cause.otherwise(self.network)}"
        return f"{kind} of {effect.event(self.network)} for {both} {self.found['rest']}"


_HOW_MANY = {
    **dict.fromkeys(("most", "majority"), "is more likely than not"),
    **dict.fromkeys(("few", "any"), "is very unlikely"),
    **dict.fromkeys(("none", "nobody", "no"), "= 0"),
    **dict.fromkeys(("all", "everyone", "everybody", "every"), "= 1"),
}
Write = Callable[[_Line], str]
PATTERNS: tuple[tuple[str, Write], ...] = (
    (r"{e} {ratio} {prep} {c}(?:,? (?:than|as)(?: {prep})? {d})?", _Line.times),
    (r"{prep} {c},?(?: then)? {e} {ratio}(?: (?:than|as)(?: {prep})? {d})?", _Line.times),
    (r"{c} makes? {e} {factor}", _Line.times),
    (
        r"(?:{people} {who} )?{c}(?: {people})? (?:is|are) {factor} to (?:have|get|develop|be|show) (?:an? )?{e}"
        r"(?: (?:than|as) (?:{people} {who} )?{d}(?: {people})?)?",
        _Line.times,
    ),
    (
        r"{c} {raises} {chance}{e} (?:by )?(?:about )?(?:(?:a factor of )(?P<rest>\d[\d.]*)|(?P<n>\d[\d.]*) times)",
        lambda line: line.times(f"{line.rest() or line.found['n']} times"),
    ),
    (
        r"{c} {raises} {risk} {e} by (?:about )?(?P<rest>\d[\d.]*)\s?(?:%|percent)",
        lambda line: line.times(f"{1.0 + float(line.rest()) / 100.0:g} times"),
    ),
    (
        r"{c} {lowers} {risk} {e} by (?:about )?(?P<rest>\d[\d.]*)\s?(?:%|percent)",
        lambda line: line.times(f"{1.0 - float(line.rest()) / 100.0:g} times"),
    ),
    (r"{c} {raises} {e} by at least (?P<rest>[\d.]+\s?%?)", lambda line: line.by_at_least(">=")),
    (r"{c} {lowers} {e} by at least (?P<rest>[\d.]+\s?%?)", lambda line: line.by_at_least("<=")),
    (r"{c} {raises} {chance}{e} by {points}", lambda line: f"{line.compared('=')} + {float(line.rest()) / 100.0:g}"),
    (r"{c} {lowers} {chance}{e} by {points}", lambda line: f"{line.compared('=')} - {float(line.rest()) / 100.0:g}"),
    (r"{e} {ratio}", _Line.times_by_parent),
    (r"{risk} {e} doubles {prep} {c}", lambda line: line.times("twice")),
    (r"{risk} {e} halves {prep} {c}", lambda line: line.times("half")),
    (r"{risk} {e} triples {prep} {c}", lambda line: line.times("3 times")),
    (r"{c} doubles {chance}{e}", lambda line: line.times("twice")),
    (r"{c} halves {chance}{e}", lambda line: line.times("half")),
    (r"{c} triples {chance}{e}", lambda line: line.times("3 times")),
    (r"{e} {occurs} {verbal} {prep} {c}", _Line.conditional_in_words),
    (r"{prep} {c},?(?: then)? {e} {occurs} {verbal}", _Line.conditional_in_words),
    (r"{c}, {e} {occurs} {verbal}", _Line.conditional_in_words),
    (r"{e} (?:is|are) {verbal}", lambda line: f"P({line.event()}) {line.verbal()}"),
    (r"{e} {occurs} {more} {often} {prep} {c}(?:,? than(?: {prep})? {d})?", _Line.more_or_less),
    (r"{prep} {c},?(?: then)? {e} (?:is|are) {more} {often}", _Line.more_or_less),
    (r"{e} (?:is|are) {more} {often} than {f}", _Line.more_or_less_than_another),
    (r"{e} (?:is|are) as {often} as {f}", lambda line: f"P({line.event()}) = P({line.event('f')})"),
    (
        r"{e} (?:is|are) (?:as|equally|just as) {often} {prep} {c},? (?:and|as)(?: {prep})? {d}",
        lambda line: line.compared("="),
    ),
    (r"{prep} {c},?(?: then)? {e} (?:is|are) {more} {often} than {f}", _Line.more_or_less_than_another),
    (
        r"(?:{people} {who} )?{c}(?: {people})? (?:is|are) {more} likely to (?:have|get|develop|be|show) {e}"
        r"(?: than (?:{people} {who} )?{d}(?: {people})?)?",
        _Line.more_or_less,
    ),
    (r"{c} makes? {e} {more} {often}", _Line.influence_more_or_less),
    (
        r"(?:between )?(?P<n>{amount}) ?(?:to|and|-|–) ?(?P<rest>{amount})(?: of)?(?: the| all)?(?: {people})?"
        r"(?: {who})? {c}(?: {people})? {have} (?:an? )?{e}",
        lambda line: line.conditional(f"is between {line.found['n']} and {line.rest()}"),
    ),
    (
        r"(?P<rest>most|the majority|few|hardly any|none|nobody|no|all|everyone|everybody|every)(?: of)?(?: the)?"
        r"(?: {people})?(?: {who})? {c}(?: {people})? {have} (?:an? )?{e}",
        lambda line: line.conditional(_HOW_MANY[line.rest().lower().split()[-1]]),
    ),
    (r"{quantity}(?: of)?(?: the| all)?(?: {people})?(?: {who})? {c}(?: {people})? {have} (?:an? )?{e}", _Line.share),
    (r"{quantity} of (?:the |all )?{people} {have} (?:an? )?{e}", _Line.share_of_all),
    (r"{quantity} {have} (?:an? )?{e}", _Line.share_of_all),
    (
        r"{e} (?:(?:is|are) (?:found|seen|present)|occurs?|happens?) in {quantity}"
        r" of (?:the |all )?(?:{people} {who} )?{c}",
        _Line.share,
    ),
    (r"{prep} {c},?(?: then)? {e}(?: (?:is|occurs?|happens?|has|in|with))* {quantity}{of_cases}", _Line.share),
    (r"(?:in )?{quantity}{of_cases},? {c} (?:{leads}|has|have) {e}", _Line.share),
    (r"{c} {leads} {e}(?: in| with|:|,)* {quantity}{of_cases}", _Line.share),
    (r"{e} (?:\||given|if) {c}\s*(?::|=|is|in)* ?{quantity}{of_cases}", _Line.share),
    (r"{risk} {e} {prep} {c} (?:is|are|=) {quantity}", _Line.share),
    (r"{e}\s*(?::|is|in|occurs in)* ?{quantity}{of_cases}", _Line.share_of_all),
    (
        r"{risk} {e} (?:is|are) (?:higher|greater|larger|increased|raised|elevated) {prep} {c}",
        lambda line: line.influence("raises"),
    ),
    (
        r"{risk} {e} (?:is|are) (?:lower|smaller|reduced|decreased) {prep} {c}",
        lambda line: line.influence("lowers"),
    ),
    (r"{risk} {e} (?P<rest>(?:is|lies|equals|<|>|=|≤|≥)\s?.*\d.*)", lambda line: f"P({line.event()}) {line.rest()}"),
    (
        r"{chance}{e} (?:increases?|rises?|grows?|goes up) with (?:the )?{c}",
        lambda line: line.influence("raises"),
    ),
    (
        r"{chance}{e} (?:decreases?|falls?|drops?|goes down) with (?:the )?{c}",
        lambda line: line.influence("lowers"),
    ),
    (r"{c} {raises} {chance}{e}", lambda line: line.influence("raises")),
    (r"{c} {lowers} {chance}{e}", lambda line: line.influence("lowers")),
    (
        r"(?:the )?(?P<one>high|low|great)er (?:the )?{c},?(?: means?| leads? to| implies| gives?)? "
        r"(?:an? |the )?(?P<two>high|low|great)er (?:the )?{chance}{e}",
        lambda line: line.influence("raises" if line.lower("one") == line.lower("two") else "lowers"),
    ),
    (r"(?:never|no) {e} {prep} {c}", lambda line: line.conditional("= 0")),
    (r"{e} (?:never|does not|cannot) (?:occurs?|happens?|exists?)? ?{prep} {c}", lambda line: line.conditional("= 0")),
    (r"{e} is impossible {prep} {c}", lambda line: line.conditional("= 0")),
    (r"{prep} {c},?(?: then)? {e} is impossible", lambda line: line.conditional("= 0")),
    (r"always {e} {prep} {c}", lambda line: line.conditional("= 1")),
    (r"{e} always (?:occurs |happens )?{prep} {c}", lambda line: line.conditional("= 1")),
    (
        r"{c} (?:does not|doesn't|do not|has no) "
        r"(?:affects?|influences?|changes?|effect on|influence on|impact on|cause) {e}",
        lambda line: line.does_not_affect("c", "e"),
    ),
    (r"{e} (?:does not|doesn't) depend on {c}", lambda line: line.does_not_affect("c", "e")),
    (r"{e} (?:is|are) independent (?:of|from) {c}", lambda line: line.does_not_affect("c", "e")),
    (r"{e} and {f} are (?:independent|unrelated)", lambda line: line.does_not_affect("f", "e")),
    (r"{e} and {f} (?:together|jointly|in combination) (?:raises?|increase|cause) {chance}{g}", _Line.synergy),
    (r"(?:the )?odds ratio (?:of|for) {e} (?:of|for|with|and|on|in) {c} (?P<rest>(?:is|=).*)", _Line.odds_ratio),
    (r"(?:the )?relative risk (?:of|for) {e} (?:of|for|with|and|on|in) {c} (?P<rest>(?:is|=).*)", _Line.relative_risk),
)
_CONFIDENCE = r"(?P<n>\d+(?:\.\d+)?(?:\s?%)?)"
_CONFIDENT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:I am|we are|I'm)\s+{_CONFIDENCE}\s+(?:sure|certain|confident)\s+(?:that\s+)?(?P<statement>.+)",
        rf"(?P<statement>.+?),?\s*\(?{_CONFIDENCE}\s+(?:sure|certain|confident|confidence|certainty)\)?",
        rf"(?P<statement>.+?),?\s*\(?(?:with\s+)?(?:confidence|certainty)\s*(?:of|:|=)?\s*{_CONFIDENCE}\)?",
        r"(?:probably|presumably|most likely|I think|I believe|we think|usually),?\s+(?:that\s+)?(?P<statement>.+)",
    )
)


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern with its parts; a group of one name may stand in it once."""
    for name, part in _PARTS.items():
        pattern = pattern.replace(f"{{{name}}}", part)
    seen: set[str] = set()

    def once(found: re.Match[str]) -> str:
        name = found[1]
        if name in seen:
            return "(?:"
        seen.add(name)
        return found[0]

    return re.compile(
        re.sub(r"\(\?P<(\w+)>", once, pattern.replace(" ", r"\s+").replace(r"\s+?", r"\s*")), re.IGNORECASE
    )


@cache
def _compiled_patterns() -> tuple[tuple[re.Pattern[str], Write], ...]:
    return tuple((_compiled(pattern), write) for pattern, write in PATTERNS)


def _of_patterns(line: str, items: Sequence[_Item], network: Network) -> Iterator[str]:
    text = re.sub(
        r"^(?:and|but|also|then|note that|as a rule,?|in general,?|usually,?|often,?)\s+", "", line, flags=re.IGNORECASE
    )
    text = re.sub(r"\b(?:the|an?)\s+(?=@)", "", text)
    for pattern, write in _compiled_patterns():
        if found := pattern.fullmatch(text):
            yield write(_Line(found, items, network))
