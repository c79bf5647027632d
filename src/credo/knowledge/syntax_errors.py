"""What the mistake probably is where the parser stopped: a table over the text before, the text found and what was
expected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from credo.errors import closest
from credo.knowledge.comparison_mistakes import DASHED, dashed_range
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import quoted, without_comment

# The terminals of the grammar in messages; several may share a name, and an empty one is not mentioned.
WORDS = {
    "NAME": "a variable",
    "LABEL": "a state",
    "QUOTED": "",
    "NUMBER": "a number",
    "PROBABILITY": "P(…)",
    "P_OPEN": "P(…)",
    "RELATION": "a relation (<=, >=, <, >, =, ~)",
    "PLUS": "",
    "MINUS": "",
    "TIMES": "",
    "SLASH": "",
    "POWER": "",
    "LPAR": "",
    "RPAR": ")",
    "LBRACE": "{",
    "RBRACE": "}",
    "BAR": "| and conditions",
    "IF": "",
    "THEN": "then",
    "IS_TWICE": "",
    "COLON": ":",
    "SEPARATOR": "a comma",
    "VERB": "raises or lowers",
    "NO_EFFECT": "",
    "SYNERGIZE": "synergize or sub-synergize",
    "EACH": "each",
    "EACH_OTHER": "",
    "ALONE": "",
    "ON": "on",
    "IN": "in {…}",
    "IS": "is or of",
    "OF": "of",
    "DEPENDS_ON": "depends on",
    "IS_CUT_AT": "is cut at",
    "IS_CUT_INTO": "",
    "CUT_RULE": "quantiles or equal ranges",
    "VARIABLE": "variable",
    "ORDER": "order",
    "LABELLED": "",
    "GROUP": "",
    "DECISION": "",
    "UTILITY": "",
    "COST": "",
    "IS_MINUS": "",
    "DETAIL": "unit, note or source",
    "ROWS": "rows",
    "GATE": "or, and, max, min",
    "NOISY": "noisy-or, noisy-and, noisy-max or noisy-min",
    "IS_COUNT": "",
    "RANKED": "weighted mean, max or min",
    "SPREAD": "with spread",
    "INTERPOLATED": "is interpolated by",
    "FROM_WORST": "from worst",
    "TO_BEST": "to best",
    "WORTH": "worth",
    "CASES": "cases",
    "HAVE_ONE_CPT": "have one CPT",
    "CPT_OF": "",
    "IS_THAT_OF": "is that of",
    "NOT": "",
    "SAME_AS": "same as",
    "TIE": "share or differ in",
    "WITH_EQUAL": "with equal",
    "BY_AT_LEAST": "by at least",
    "WITHIN": "within",
    "WITH_CONFIDENCE": "with confidence",
    "LEAK": "with leak",
    "GENERAL_EFFECTS": "with general effects",
    "$END": "the end of the line",
}

# Verbs that people write, and the word of the language.
SYNONYMS = {
    "raises": "increases increase causes cause promotes favours favors elevates boosts worsens up rises raising raised",
    "lowers": "decreases decrease reduces reduce prevents prevent inhibits protects lessens down lowering lowered",
    "does not affect": "does doesn't unrelated irrelevant",
    "synergize on": "interact synergy reinforce amplify cooperate synergistically",
}
_VERB_OF_SYNONYM = {word: verb for verb, words in SYNONYMS.items() for word in words.split()}
_VERBS = ("raises", "lowers", "does not affect", "synergize", "sub-synergize", "is")


class Diagnosis(NamedTuple):
    """A kind of mistake and its conditions: `before` and `found` match, the parser accepts one of `accepts` and none of
    `refuses`.

    The caret marks what `found` matched, or starts at the group `mark` of `before`.
    """

    kind: str
    before: str = ""
    found: str = ""
    accepts: str = ""
    refuses: str = ""
    mark_only: bool = False  # the caret ends where the mark does


_IN_EVENT = r"(?<!\w)P\s*\([^()|]*"
_IN_CONDITION = r"(?<!\w)P\s*\([^()|]*\|[^()]*"
_NAME = r"[^\W\d][\w.\-/]*"
_IN_WORDS = "is|equals|at|less|more|greater|exceeds|below|above|about|between|not|never|no|within|stays|lies"

_NAMES = rf"(?:{_NAME}|\"[^\"]*\"|'[^']*')(?:\s*(?:,|\band\b|&)\s*(?:{_NAME}|\"[^\"]*\"|'[^']*'))*"
_DEPEND = r"(?:[Dd]epends?|dependent|depending|relies|rely|(?:caused|determined|influenced|affected|driven)(?=\s+by\s))"
_CUT = r"(?:cut|cuts|split|binned|divided|discreti[sz]ed|categori[sz]ed|grouped)"
_AMOUNT = r"[0-9.]+\s?(?:%|per\s?cent)?"
_CHANCE = r"(?i:risk|probability|chances?|likelihood|odds)"
_BEYOND = r"(?:over|above|under|below|beyond|from|until|(?:more|less|higher|lower|greater|older|younger)\s+than)"
_AFFECTS = (
    r"(?:affects?|influences?|impacts?|changes?|modifies|(?:has|have)\s+an?\s+(?:effect|influence|impact)\s+on"
    r"|matters?\s+(?:for|to))"
)
_HAS_STATES = r"(?:has|have|takes?|with)\s+(?:the\s+)?(?:states?|values?|levels?)"

DIAGNOSES: tuple[Diagnosis, ...] = (
    Diagnosis("quote-open", found=r"[\"'].*"),
    Diagnosis("curly-quote", found=r"[“”„‟‘’‚«»]"),
    Diagnosis("invisible-character", found="[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"),
    Diagnosis("semicolon", found=r";"),
    Diagnosis("width-place", found=r"±|\+/?[\-−]|\+\s*/\s*[\-−]"),
    Diagnosis("exclamation-mark", found=r"!+\s*(?=$|#)"),
    Diagnosis("bullet", before=r"^\s*(?P<mark>[\-−–*•·]|[0-9]+[.)])\s*$", found=r"(?=\w|\")"),
    Diagnosis("bullet", before=r"^\s*$", found=r"[*•·–](?=\s)"),
    Diagnosis("bullet", before=r"^\s*(?P<mark>[0-9]+)$", found=r"\)(?=\s)"),
    Diagnosis("range-with-dash", before=rf"(?<![\w.])(?P<mark>{_AMOUNT}\s*)$", found=rf"(?:[–—]|to(?!\w))\s*{_AMOUNT}"),
    Diagnosis("range-with-dash", before=rf"between\s+(?P<mark>{DASHED})\s*$", found=r"$", accepts="SEPARATOR"),
    Diagnosis("probability-in-words", before=r"^\s*(?P<mark>(?:[Tt]he|[Aa]n?)\s+)$", found=rf"{_CHANCE}\s+of\s.*"),
    Diagnosis("probability-in-words", before=rf"^\s*(?P<mark>{_CHANCE}\s+)$", found=r"of\s.*"),
    Diagnosis("threshold-influence", before=rf"^\s*(?P<mark>{_NAME}\s+)$", found=rf"{_BEYOND}\s+[0-9.]+"),
    Diagnosis("state-of-influence", before=r"\s(?:raise|lower)s?\s.*$", found=r"=\s*[\w.\-]+", accepts="BY_AT_LEAST"),
    Diagnosis("depends-words", found=rf"{_DEPEND}(?!\w)(?:\s+(?:from|of|upon|by|to)(?!\w))?", accepts="DEPENDS_ON"),
    Diagnosis("depends-words", before=r"(?P<mark>depends?\s+on\s*)$", found=r":", accepts="NAME"),
    Diagnosis("depends-words", before=r"depends?\s+on\s.*?(?P<mark>\bon\s+)$", found=_NAME, accepts="SEPARATOR"),
    Diagnosis("depends-words", before=r"(?<!\w)(?P<mark>is\s+)$", found=r"dependent(?!\w)(?:\s+\w+)?", accepts="NOISY"),
    Diagnosis("depends-words", before=r"(?<!\w)(?P<mark>is\s+)$", found=rf"{_DEPEND}\s+by(?!\w)", accepts="NOISY"),
    Diagnosis("depends-words", before=rf"^\s*(?P<mark>{_NAME}\s*~\s*{_NAME})\s*$", found=r"\+", accepts="IS_EXACTLY"),
    Diagnosis(
        "depends-words",
        before=rf"^\s*{_NAMES}\s+depends?\s+on\s[^()]*\s$",
        found=r"(?!with|by)\w+\s*$",
        accepts="SEPARATOR",
    ),
    Diagnosis("depends-words", before=rf"^\s*{_NAMES}\s*(?P<mark><)$", found=r"-+", accepts="LABEL"),
    Diagnosis("cut-words", found=rf"{_CUT}(?!\w)(?:\s+(?:in|into|at|by|on|with)(?!\w))?", accepts="IS_CUT_AT"),
    Diagnosis("cut-words", before=r"(?<!\w)(?P<mark>is\s+)$", found=rf"{_CUT}(?!\w)(?:\s+[a-z]+)?", accepts="NOISY"),
    Diagnosis("cut-separator", before=r"is\s+cut\s+at\s.*$", found=r"[\d.;:/|]+", accepts="SEPARATOR"),
    Diagnosis("cut-separator", before=r"is\s+cut\s+at\s*$", found=r"[:({\[]", accepts="LABEL"),
    Diagnosis("cut-rule", before=r"is\s+cut\s+into\s+\S+\s*$", found=r"\w+|$", accepts="CUT_RULE"),
    Diagnosis("states-separator", before=r"^\s*[Vv]ariables?\s.*:\s*$", found=r"[({\[]", accepts="LABEL"),
    Diagnosis("variable-words", found=rf"{_HAS_STATES}(?!\w)", accepts="DEPENDS_ON"),
    Diagnosis(
        "variable-words", before=r"^\s*[Vv]ariables?\s.*$", found=r"[=<>{(\[]|is(?!\w)|in(?!\w)|\w+", accepts="COLON"
    ),
    Diagnosis("states-listed", before=rf"^\s*(?P<mark>{_NAMES}\s*:.*)$", found=r",|and(?!\w)|&|\|", accepts="RELATION"),
    Diagnosis("state-codes", before=r"^\s*[Vv]ariables?\s.*:.*$", found=r"=\s*\S+", accepts="SEPARATOR"),
    Diagnosis("states-separator", before=r"^\s*[Vv]ariables?\s.*:.*$", found=r"[\w<>=|/;\"']+", accepts="SEPARATOR"),
    Diagnosis("cut-name-first", before=rf"^\s*{_NAME}\s*:\s*$", found=r"[<>=≤≥]+", accepts="LABEL"),
    Diagnosis("cut-sign-missing", before=rf"^\s*(?!order\s){_NAME}\s*:.*$", found=r"[\w\"']\S*", accepts="RELATION"),
    Diagnosis("lowercase-p", before=r"(?<!\w)(?P<mark>p|[Pp]r|[Pp]rob(?:ability)?|Prob|pr)\s*$", found=r"\("),
    Diagnosis("bare-event", before=rf"(?:^|\s)(?P<mark>{_NAME})\s*$", found=r"=\s*\w*", accepts="VERB"),
    Diagnosis(
        "bare-event",
        before=rf"^\s*(?P<mark>{_NAME}\s*=\s*\S+)\s*$",
        found=r"(?=[<>=~≤≥≈])|$",
        accepts="IS_EXACTLY",
        mark_only=True,
    ),
    Diagnosis("names-compared", before=rf"^\s*(?P<mark>{_NAME}\s*[<>~≤≥≈]+\s*{_NAME})\s*$", accepts="IS_EXACTLY"),
    Diagnosis("arrow", found=r"->|-->|→|=>|⇒", accepts="VERB"),
    Diagnosis("names-compared", before=rf"^\s*(?P<mark>{_NAME})\s*$", found=r"[<>~≤≥≈]+|[+*/\-]", accepts="VERB"),
    Diagnosis("function", before=rf"(?<!\w)(?P<mark>{_NAME})$", found=r"\("),
    Diagnosis("margin-words", found=r"by(?!\w)(?:\s+least)?", accepts="BY_AT_LEAST"),
    Diagnosis("ranked-negative", before=r"(?:weighted\s|interpolated\s+by).*\(\s*$", found=r"[-−]\s*[0-9.]+"),
    Diagnosis("ranked-negative", before=r"weighted\s.*with\s+(?:a\s+)?spread(?:\s+of)?\s*$", found=r"[-−]\s*[0-9.]+"),
    Diagnosis("gate-not", before=rf"\sis\s+(?P<mark>not\s+{_NAME})\s*$", found=rf",\s*{_NAME}"),
    Diagnosis("decimal-comma", before=r"(?<![\w.])(?P<mark>[0-9]+)$", found=r",[0-9]+"),
    Diagnosis("bad-number", found=r"[0-9][\w.,%]*|\.[0-9][\w.,%]*", accepts="NUMBER"),
    Diagnosis("amount-missing", before=r"(?:least|within|confidence)\s*$", accepts="NUMBER", refuses="PROBABILITY"),
    Diagnosis("missing-times", before=r"(?P<mark>[0-9.]+)\s*$", found=r"P\s*\(", accepts="TIMES"),
    Diagnosis("missing-relation", before=r"\)\s*$", found=r"P\s*\(|[0-9.]+", accepts="RELATION", refuses="LABEL"),
    Diagnosis("second-bar", before=rf"{_IN_CONDITION}$", found=r"\|"),
    Diagnosis("empty-probability", before=r"(?<!\w)(?P<mark>P\s*\(\s*)$", found=r"\)"),
    Diagnosis("empty-condition", before=r"(?P<mark>\|\s*)$", found=r"\)"),
    Diagnosis("condition-without-state", before=rf"{_IN_CONDITION}$", found=r"[),|]|$", accepts="IN"),
    Diagnosis("event-without-state", before=rf"{_IN_EVENT}$", found=r"[),|]|$", accepts="IN"),
    Diagnosis("state-missing", before=rf"(?:{_IN_EVENT}|{_IN_CONDITION})[=<>]\s*$", accepts="LABEL"),
    Diagnosis("missing-open-brace", before=r"(?<!\w)in\s*$", accepts="LBRACE"),
    Diagnosis("missing-brace", found=r"[)|:<>=]|$|in(?!\w)|with(?!\w)|\{", accepts="RBRACE", refuses="NAME LABEL"),
    Diagnosis("set-member-missing", before=r"\{[^{}]*,\s*$|\{\s*$", accepts="NAME LABEL"),
    Diagnosis("condition-missing", before=rf"{_IN_CONDITION},\s*$", accepts="NAME"),
    Diagnosis("square-bracket", found=r"[\[\]]"),
    Diagnosis("extra-bracket", found=r"[)}]", refuses="RPAR RBRACE NUMBER NAME LABEL"),
    Diagnosis("condition-with-or", before=r"P\s*\([^()]*$", found=r"or(?!\w)", accepts="RPAR"),
    Diagnosis("condition-with-or", before=r"^\s*(?:[Ii]f|[Ww]hen)\s.*$", found=r"or(?!\w)"),
    Diagnosis("direction-missing", before=rf"^\s*{_NAME}\s+$", found=rf"{_AFFECTS}\s+{_NAME}\s*$"),
    Diagnosis("name-with-space", before=rf"(?P<mark>{_NAME})\s+$", found=_NAME, accepts="IN", refuses="VERB"),
    Diagnosis("name-with-space", before=rf"(?P<mark>{_NAME})\s+$", found=rf"(?!with|by){_NAME}", accepts="RPAR RBRACE"),
    Diagnosis("missing-bracket", found=r"[<>=~≤≥≈]+|[+\-*/|]|$|with|by", accepts="RPAR", refuses="NUMBER"),
    Diagnosis("verb-missing", before=r"[\w\"']\s*$", found=r"$", accepts="VERB"),
    Diagnosis("unknown-verb", found=_NAME, accepts="VERB"),
    Diagnosis("on-missing", accepts="ON"),
    Diagnosis("colon-missing", before=r"^\s*[Oo]rder\s", accepts="COLON"),
    Diagnosis("order-empty", before=r":\s*$", found=r"$", accepts="LABEL"),
    Diagnosis("order-separator", before=r"[Oo]rder.*:.*$", found=r",|and(?!\w)|;|[^\W\d]\w*", accepts="RELATION"),
    Diagnosis("rows-what", before=r"[Rr]ows\s*$", accepts="WITH_EQUAL"),
    Diagnosis("differ-in", found=r"differs?(?!\w)(?:\s+(?:in|on|by)(?!\w))?", accepts="TIE"),
    Diagnosis("tie-missing", accepts="TIE"),
    Diagnosis("noisy-kind", accepts="NOISY"),
    Diagnosis("of-missing", accepts="OF"),
    Diagnosis("bare-name", before=r"[<>=~≤≥≈+\-−*×·/(]\s*$", found=_NAME, accepts="PROBABILITY"),
    Diagnosis("side-missing", before=r"[<>=~≤≥≈+\-−*×·/(]\s*$", accepts="PROBABILITY"),
    Diagnosis("side-missing", before=r"^\s*$", found=r"[<>=~≤≥≈]+|[+*×·/]", accepts="PROBABILITY"),
    Diagnosis("relation-in-words", before=r"\)\s*$", found=rf"(?:{_IN_WORDS})(?!\w)", accepts="RELATION"),
    Diagnosis(
        "two-statements", found=rf"(?:and|or|but|,|&)\s.*(?:P\s*\(|{_NAME}\s+(?:raises|lowers|is)\s).*", accepts="$END"
    ),
    Diagnosis(
        "several-children",
        before=rf"(?:raises?|lowers?|on)\s+(?:{_NAME}|\"[^\"]*\"|'[^']*')\s*$",
        found=r"(?:,\s*and|,|and|&)(?!\w)\s*\S+",
        accepts="BY_AT_LEAST",
    ),
    Diagnosis("unknown-ending", found=rf",?\s*{_NAME}(?:\s+{_NAME})*", accepts="WITH_CONFIDENCE"),
    Diagnosis("unfinished", found=r"$", refuses="$END"),
    Diagnosis("unexpected-character", found=r"[^\w\s<>=~(){}|,:+\-*/&^!%.]"),
    Diagnosis("variable-missing", accepts="NAME", refuses="PROBABILITY"),
    Diagnosis("state-missing", accepts="LABEL"),
    Diagnosis("trailing-text", found=r".+?(?=\s*$)", accepts="$END"),
)
_COMPILED = tuple(
    (
        diagnosis,
        re.compile(diagnosis.before),
        re.compile(diagnosis.found),
        diagnosis.accepts.split(),
        diagnosis.refuses.split(),
    )
    for diagnosis in DIAGNOSES
)
_MAX_BEFORE = 500  # characters that are looked back at: patterns take the square of it
_FOUND = re.compile(r"[\w.\-/]+|[<>=~!≤≥≈]+|.|$")


def diagnose(error: Any, line: str) -> LineMistake:
    """The mistake at the place where the parser stopped."""
    code = without_comment(line).rstrip()
    token = getattr(error, "token", None)
    at_end = (token is None and not hasattr(error, "allowed")) or getattr(token, "type", "") == "$END"
    position = len(code) if at_end else min(error.pos_in_stream, len(line))
    before, found = line[:position], "" if at_end else line[position:]
    accepted = _accepted(error)
    facts = {
        "expectation": expectation(_fitting(accepted, before)),
        "write": _corrected(code),
        "range": dashed_range(code[:_MAX_CORRECTED]),
        **_word_facts(before, found),
        **_cause_and_effect(before, found),
    }
    for diagnosis, before_pattern, found_pattern, accepts, refuses in _COMPILED:
        if (accepts and accepted.isdisjoint(accepts)) or not accepted.isdisjoint(refuses):
            continue
        head, tail = before_pattern.search(before, max(0, position - _MAX_BEFORE)), found_pattern.match(found)
        if head and tail:
            start = head.start("mark") if "mark" in before_pattern.groupindex else position
            end = position + (tail.end() if diagnosis.found else _FOUND.match(found).end())  # type: ignore[union-attr]
            if diagnosis.mark_only:
                end = head.end("mark")
            return LineMistake(diagnosis.kind, start + 1, max(end, start + 1) + 1, facts)
    end = position + _FOUND.match(found).end()  # type: ignore[union-attr]
    return LineMistake("unexpected", position + 1, end + 1, facts)


_MAX_CORRECTED = 300  # characters of a line that is rewritten for a suggestion
_EXAMPLE = "outcome depends on age, bp"
_LIST = r"(?P<rest>\S.*?)[\s.;)}\]]*"
_CORRECTIONS = tuple(
    (re.compile(pattern), correction)
    for pattern, correction in (
        (
            rf"\s*(?P<name>{_NAMES})\s+(?:is\s+|are\s+)?{_DEPEND}(?:\s+(?:on|from|of|upon|by|to)\s*:?)?\s+{_LIST}",
            "depends",
        ),
        (rf"\s*(?P<name>{_NAMES})\s*(?:<-+|←|~)\s*{_LIST}", "depends"),
        (rf"\s*(?P<name>{_NAME})\s*(?:->|-->|→|=>|⇒)\s*(?P<rest>{_NAME})\s*", "arc"),
        (rf"\s*(?P<name>{_NAME})\s+(?:is\s+)?{_CUT}(?:\s+(?:in|into|at|by|on|with))?\s+{_LIST}", "cut"),
        (rf"\s*(?P<name>{_NAME})\s+(?:is\s+)?{_CUT}(?P<rest>)(?!\w).*", "cut"),
        (rf"\s*[Vv]ariables?\s+(?P<name>{_NAMES})\s*(?:[=<>:{{(\[]+|is|are|in|has|have)*\s*{_LIST}", "variable"),
        (rf"\s*(?P<name>{_NAMES})\s+{_HAS_STATES}\s+{_LIST}", "variable"),
        (rf"\s*(?P<name>{_NAME})\s*:\s*(?P<rest>[\d.,\s+\-<>=≤≥]+)", "cut"),
        (rf"\s*(?P<name>{_NAMES})\s*:\s*{_LIST}", "variable"),
    )
)


def _corrected(line: str) -> str:
    """The declaration that a line was probably meant to be; an example of one where that cannot be seen."""
    if len(line) > _MAX_CORRECTED:
        return _EXAMPLE
    for pattern, correction in _CORRECTIONS:
        if found := pattern.fullmatch(line):
            name, rest = found["name"], found["rest"].strip(" ,")
            items = re.findall(r"\"[^\"]*\"|'[^']*'|[^\s,|/;:<>&={}()\[\]]+", rest)
            listed = ", ".join(item for item in items if item not in ("and", "or", "on", "+"))
            several = re.search(r",|&|\band\b", name) is not None
            if correction == "depends":
                return f"{name} depend{'' if several else 's'} on {listed}"
            if correction == "arc":
                return f"{rest} depends on {name}"
            if correction == "cut":
                numbers = {float(found): found for found in re.findall(r"(?<![\d.])-?\d+(?:\.\d+)?", rest)}
                return f"{name} is cut at {', '.join(numbers[key] for key in sorted(numbers)) or '40, 60'}"
            return f"variable{'s' if several else ''} {name}: {listed}"
    return _EXAMPLE


def _fitting(accepted: set[str], before: str) -> set[str]:
    """Without the endings that only other statements have."""
    foreign = {"LEAK", "GENERAL_EFFECTS"} if "noisy" not in before.lower() else {"BY_AT_LEAST", "WITH_CONFIDENCE"}
    return accepted - (foreign if re.search("[~≈]", before) else {*foreign, "WITHIN"})


def expectation(accepted: Iterable[str]) -> str:
    """The accepted terminals in words, in the order of `WORDS`."""
    words = dict.fromkeys(WORDS[name] for name in WORDS if name in set(accepted))
    *most, last = [word for word in words if word] or [""]
    return f"{', '.join(most)} or {last}" if most else last


def _accepted(error: Any) -> set[str]:
    """What can follow here. The lexer alone (`allowed`) would add what follows in other statements."""
    parser = getattr(error, "interactive_parser", None)
    found = parser.accepts() if parser is not None else getattr(error, "expected", None)
    return {str(name) for name in found or ()}


def _cause_and_effect(before: str, found: str) -> dict[str, str]:
    """The names around a verb that says no direction; examples where there are none."""
    both = re.fullmatch(rf"\s*({_NAME})\s+{_AFFECTS}\s+({_NAME})\s*", (before + found)[:_MAX_CORRECTED])
    return {"cause": both[1], "effect": both[2]} if both else {"cause": "smoke", "effect": "lung"}


def _word_facts(before: str, found: str) -> dict[str, str]:
    word = _FOUND.match(found)[0]  # type: ignore[index]
    last = re.search(rf"({_NAME})\s*$", before[-_MAX_CORRECTED:])  # of a long line the end is enough
    both = quoted(f"{last[1]} {word}") if last else quoted(word)
    # Short words are close to many: "over" to lowers, "risk" to is. A misspelled verb begins as it should.
    verbs = [verb for verb in _VERBS if verb[0] == word[:1].lower() and len(word) > len(verb) - 2]
    meant = _VERB_OF_SYNONYM.get(word.lower()) or closest(word, verbs)
    hint = f'Write "{meant}".' if meant else f"If this is one name, put it in quotes: {both}."
    return {"word": word, "quoted": both, "hint": hint}
