"""What is known of a probability as numbers: an expert's number with its weight, and the result of a study.

Neither is a constraint. `P(lung=yes | smoke=yes) is 12%, worth 50 cases` weighs like 6 of 50 cases that were seen;
`34 of 240 with smoke=yes had lung=yes` are such cases; a ratio with its confidence interval is a normal likelihood of
its logarithm. What estimators make of them is in `credo/constraints/evidence.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from math import exp, inf, log
from typing import Any

from credo.knowledge.experts import Expert
from credo.knowledge.expressions import (
    Linear,
    Probability,
    condition_state,
    conditions_text,
    each_in,
    event_mistakes,
    event_text,
    number_text,
    parse_whole_probability,
    single,
)
from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Name, OtherThan, Part, mistake_at, name_text, quoted, read_name, token_part
from credo.knowledge.network_names import NetworkNames, check_probability
from credo.knowledge.statement_base import Kind, Span, StatementBase, StatementRules
from credo.model.network import Network
from credo.probability_texts import percent_digits

SUM_TOLERANCE = 0.0051  # by which the numbers of a distribution may miss one: they are rounded to percent
CURVE_LEVEL, CURVE_WIDTH = 0.99, 24  # the part of a curve that is drawn, and in how many characters
ODDS_RATIO, RELATIVE_RISK, RISK_DIFFERENCE = "odds ratio", "relative risk", "risk difference"


@dataclass(frozen=True, slots=True)
class ExpertNumber(StatementBase):
    """`P(lung=yes | smoke=yes) is 12%, worth 50 cases`: a number that somebody believes, and how firmly.

    Attributes
    ----------
    probability
        What it is about; without states, the whole distribution of its variable.
    values
        The number; of a whole distribution one for each state, in their order.
    cases
        How many cases that were seen it weighs; None where `low` and `high` say it.
    is_all
        Whether that is all that is known but for data: no prior counts beside it.
    low, high
        Two numbers between which it lies with the probability `level`.
    level
        That probability.
    is_median
        Whether the number was called a median.
    """

    probability: Probability
    values: tuple[float, ...]
    cases: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = 0.5
    is_median: bool = False
    is_all: bool = False
    span: Span | None = field(default=None, compare=False)
    expert: Expert | None = field(default=None, kw_only=True)

    def __str__(self) -> str:
        numbers = ", ".join(map(number_text, self.values))
        if self.cases is not None:
            in_all = " in all" if self.is_all else ""
            return f"{_subject(self.probability)} is {numbers}, worth {number_text(self.cases)} cases{in_all}"
        assert self.low is not None
        assert self.high is not None
        ends = f"between {number_text(self.low)} and {number_text(self.high)}"
        if self.is_median:
            return f"{_subject(self.probability)} has median {numbers}, half {ends}"
        return f"{_subject(self.probability)} is {numbers}, {ends} with {number_text(self.level)} certainty"


@dataclass(frozen=True, slots=True)
class Study(StatementBase):
    """`in "trial 2019" 34 of 240 with smoke=yes had lung=yes`: how often something was seen.

    Attributes
    ----------
    probability
        What was counted.
    seen, total
        In how many cases, of how many.
    source
        Where it was published; empty if nobody said.
    variation
        How far the true log odds in a study are from those of the network, as a standard deviation; None: not at all.
    is_learned
        Whether that variation is learned from the studies of the same probability.
    """

    probability: Probability
    seen: float
    total: float
    source: str = ""
    variation: float | None = None
    is_learned: bool = False
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        given = f" with {conditions_text(self.probability.given)}" if self.probability.given else ""
        event = event_text(replace(self.probability, given=()))
        counts = f"{number_text(self.seen)} of {number_text(self.total)}"
        return f"{source_text(self.source)}{counts}{given} had {event}{_variation_text(self)}"


@dataclass(frozen=True, slots=True)
class EffectStudy(StatementBase):
    """`odds ratio of lung=yes for smoke=yes against smoke=no is 3.1, 95% CI 1.8 to 5.4`.

    Attributes
    ----------
    measure
        "odds ratio", "relative risk" or "risk difference".
    first, second
        The two probabilities that it compares.
    estimate, low, high, level
        The estimate, its confidence interval, and the level of that.
    source, variation, is_learned
        As those of a study that counts.
    """

    measure: str
    first: Probability
    second: Probability
    estimate: float
    low: float
    high: float
    level: float = 0.95
    source: str = ""
    variation: float | None = None
    is_learned: bool = False
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        event = event_text(replace(self.first, given=()))
        sides = f"for {conditions_text(self.first.given)} against {conditions_text(self.second.given)}"
        interval = f"{self.level * 100:g}% CI {number_text(self.low)} to {number_text(self.high)}"
        what = f"{self.measure} of {event} {sides} is {number_text(self.estimate)}, {interval}"
        return f"{source_text(self.source)}{what}{_variation_text(self)}"


Evidence = ExpertNumber | Study | EffectStudy


def _subject(probability: Probability) -> str:
    """`P(lung=yes | smoke=yes)`, or `P(lung | smoke=yes)` for a whole distribution."""
    if probability.states:
        return f"P({event_text(probability)})"
    given = f" | {conditions_text(probability.given)}" if probability.given else ""
    return f"P({name_text(probability.variable)}{given})"


def subject_of(statement: Evidence) -> str:
    """What a statement is about, for tables of reports."""
    if isinstance(statement, EffectStudy):
        event = event_text(replace(statement.first, given=()))
        sides = f"{conditions_text(statement.first.given)} against {conditions_text(statement.second.given)}"
        return f"{statement.measure} of {event} for {sides}"
    return _subject(statement.probability)


def source_text(source: str) -> str:
    """`in "trial 2019" `, before what was published there; empty if nobody said where."""
    return f"in {quoted(source)} " if source else ""


def _variation_text(statement: Study | EffectStudy) -> str:
    if statement.is_learned:
        return " with between-study variation"
    return "" if statement.variation is None else f" with between-study variation {number_text(statement.variation)}"


# A number that weighs as much -----------------------------------------------------------------------------------------


def equivalent_cases(statement: ExpertNumber) -> tuple[float, ...]:
    """How many cases of each kind the number weighs: of the event and of all else, or of each state."""
    if statement.cases is not None and len(statement.values) > 1:
        total = sum(statement.values)
        return tuple(statement.cases * value / total for value in statement.values)
    if statement.cases is not None:
        return statement.cases * statement.values[0], statement.cases * (1.0 - statement.values[0])
    assert statement.low is not None
    assert statement.high is not None
    tail = (1.0 - statement.level) / 2.0
    return fitted_beta((statement.low, statement.values[0], statement.high), (tail, 0.5, 1.0 - tail))


def fitted_beta(quantiles: tuple[float, ...], levels: tuple[float, ...]) -> tuple[float, float]:
    """The Beta distribution whose distribution function is nearest to these levels at these quantiles.

    min over (a, b) of Σ_i (F(q_i; a, b) − p_i)², as in the SHELF protocol for eliciting distributions.
    """
    from scipy.optimize import minimize
    from scipy.stats import beta

    middle = quantiles[len(quantiles) // 2]
    middle = min(max(middle, 1e-6), 1.0 - 1e-6)
    spread = max(quantiles[-1] - quantiles[0], 1e-6)
    start = max(2.0, 4.0 * middle * (1.0 - middle) / (0.4 * spread) ** 2)

    def miss(logs: Any) -> float:
        return float(((beta.cdf(quantiles, *map(exp, logs)) - levels) ** 2).sum())

    best = min(
        (
            minimize(miss, [log(middle * size), log((1.0 - middle) * size)], method="Nelder-Mead",
                     options={"xatol": 1e-10, "fatol": 1e-16, "maxiter": 4000})
            for size in (start, 4.0, 40.0)
        ),
        key=lambda found: found.fun,
    )  # fmt: skip
    return exp(best.x[0]), exp(best.x[1])


def beta_interval(first: float, second: float, level: float) -> tuple[float, float]:
    """The central interval of a Beta distribution."""
    from scipy.stats import beta

    low, high = beta.interval(level, first, second)
    return float(low), float(high)


def understood(statement: Evidence) -> str:
    """What was understood, as a sentence: "like having seen 6 of 50"."""
    if isinstance(statement, EffectStudy):
        ends = f"{statement.level:.0%} between {statement.low:g} and {statement.high:g}"
        return f"{statement.measure} {statement.estimate:g}, {ends}"
    if isinstance(statement, Study):
        return f"{statement.seen:g} of {statement.total:g} seen"
    cases = equivalent_cases(statement)
    if len(statement.values) > 1:
        return f"like having seen {', '.join(f'{each:.3g}' for each in cases)} of {sum(cases):.3g}"
    text = f"like having seen {cases[0]:.3g} of {sum(cases):.3g}"
    if statement.low is None or statement.high is None:
        return text
    low, high = beta_interval(cases[0], cases[1], statement.level)
    return f"{text}, {statement.level:.0%} between {percent_digits(low)} and {percent_digits(high)}"


def curve_of(statement: Evidence) -> tuple[float, float] | None:
    """The Beta distribution that an expert's number stands for; None where it is no curve."""
    if not isinstance(statement, ExpertNumber) or len(statement.values) > 2:
        return None
    first, second = equivalent_cases(statement)
    first, second = (second, first) if len(statement.values) == 2 else (first, second)
    low, high = beta_interval(first, second, CURVE_LEVEL) if min(first, second) > 0.0 else (0.0, 0.0)
    return (first, second) if low < high else None


def curve(statement: Evidence) -> str:
    """The curve of an expert's number, as a line of blocks between the ends of its 99% interval; else nothing.

    Of a whole distribution with two states it is that of the second.
    """
    from scipy.stats import beta

    if (cases := curve_of(statement)) is None:
        return ""
    low, high = beta_interval(*cases, CURVE_LEVEL)
    width = (high - low) / CURVE_WIDTH
    heights = [beta.pdf(low + (k + 0.5) * width, *cases) for k in range(CURVE_WIDTH)]
    top = max(heights)
    blocks = "".join("▁▂▃▄▅▆▇█"[min(7, int(8 * height / top))] for height in heights)
    return f"{percent_digits(low)} {blocks} {percent_digits(high)}"


# Reading a line -------------------------------------------------------------------------------------------------------


def parse_worth(children: list[Any]) -> Part:
    """`P(…) is 12%, worth 50 cases`; several numbers are a whole distribution."""
    subject, *rest = children
    numbers = [child for child in rest if isinstance(child, Part)]
    *values, cases = numbers
    is_all = any(getattr(child, "type", None) == "IN_ALL" for child in rest)
    return _number(subject, values, numbers, cases=cases.value.constant, is_all=is_all)


def parse_certainty(children: list[Any]) -> Part:
    """`P(…) is 12%, between 5% and 20% with 90% certainty`."""
    subject, *rest = children
    numbers = [child for child in rest if isinstance(child, Part)]
    value, low, high, level = numbers
    return _number(subject, [value], numbers, low=low.value.constant, high=high.value.constant,
                   level=level.value.constant)  # fmt: skip


def parse_median(children: list[Any]) -> Part:
    """`P(…) has median 12%, half between 9% and 16%`."""
    subject, *rest = children
    numbers = [child for child in rest if isinstance(child, Part)]
    value, low, high = numbers
    return _number(subject, [value], numbers, low=low.value.constant, high=high.value.constant, is_median=True)


def _number(subject: Part, values: list[Part], numbers: list[Part], **fields: Any) -> Part:
    mistakes = [*subject.mistakes, *(mistake for part in numbers for mistake in part.mistakes)]
    found = single(subject.value) if isinstance(subject.value, Linear) else None
    if found is None or found[0] != 1:
        mistakes.append(LineMistake("evidence-subject", subject.column, subject.end))
        return Part(None, subject.column, numbers[-1].end, tuple(mistakes))
    statement = ExpertNumber(found[1], tuple(value.value.constant for value in values), **fields)
    ends = [*statement.values, *(end for end in (statement.low, statement.high) if end is not None)]
    place = subject.column, numbers[-1].end
    if not all(0.0 <= end <= 1.0 for end in ends):
        mistakes.append(LineMistake("evidence-range", *place))
    elif statement.cases is not None and not 0 < statement.cases < inf:
        mistakes.append(LineMistake("evidence-cases", numbers[-1].column, numbers[-1].end))
    elif statement.cases is None and (ends[1:] != sorted(ends[1:]) or not _is_inside(statement)):
        mistakes.append(LineMistake("evidence-interval", *place))
    if len(statement.values) > 1 and abs(sum(statement.values) - 1.0) > SUM_TOLERANCE * len(statement.values):
        facts = {"sum": f"{sum(statement.values):.4g}"}
        mistakes.append(LineMistake("evidence-sum", values[0].column, values[-1].end, facts))
    return Part(statement, *place, tuple(mistakes))


def _is_inside(statement: ExpertNumber) -> bool:
    assert statement.low is not None
    assert statement.high is not None
    return statement.low < statement.values[0] < statement.high and 0.0 < statement.level < 1.0


_WHOLE = re.compile(r"""P\s*\(\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s=|,{}()"']+)\s*(?=[|)])""")


def parse_distribution(children: list[Any]) -> Part:
    """`P(severity | age=old)`, a whole distribution: the same as with a state, and without it."""
    token = children[0]
    found = _WHOLE.match(str(token))
    assert found is not None
    variable = read_name(found[1], token.start_pos + 1 + found.start(1))
    place = found.end(1)
    with_state = type(token)(token.type, f"{str(token)[:place]}=x{str(token)[place:]}", token.start_pos)
    with_state.start_pos, with_state.end_pos = token.start_pos, token.end_pos
    part = parse_whole_probability([with_state])
    ((_, probability),) = part.value.terms
    moved = tuple((_shifted(name), _shifted(state)) for name, state in probability.given)
    return part._replace(value=Linear(((1.0, replace(probability, variable=variable, states=(), given=moved)),)))


def _shifted(name: str) -> str:
    """A name two columns to the left, where the state was put in."""
    return Name(str(name), name.column - 2, name.end_column - 2) if isinstance(name, Name) else name


def parse_study(children: list[Any]) -> Part:
    """`34 of 240 with smoke=yes had lung=yes`."""
    parts = [child for child in children if isinstance(child, Part)]
    seen, total, *conditions, event = parts
    given = conditions[0].value if conditions else []
    mistakes = event_mistakes([event], [part for part in given if part.value[1] is not None])
    probability = _term(event, given)
    return _study(probability, seen, total, seen.column, event.end, mistakes)


def parse_share(children: list[Any]) -> Part:
    """`P(lung=yes | smoke=yes) is 34 of 240`."""
    subject, seen, total = [child for child in children if isinstance(child, Part)]
    found = single(subject.value) if isinstance(subject.value, Linear) else None
    if found is None or found[0] != 1:
        wrong = (*subject.mistakes, LineMistake("evidence-subject", subject.column, subject.end))
        return Part(None, subject.column, total.end, wrong)
    return _study(found[1], seen, total, subject.column, total.end, subject.mistakes)


def parse_accuracy_study(children: list[Any]) -> Part:
    """`sensitivity of scan=positive for tumour=yes is 45 of 50`, and specificity, and predictive values."""
    word = str(children[0]).lower()
    test, condition, seen, total = [child for child in children if isinstance(child, Part)]
    event, given = (condition, test) if "predictive" in word else (test, condition)
    mistakes = event_mistakes([event], [given])
    probability = _term(event, [given])
    if "specificity" in word or "negative" in word:
        others = tuple((name, _other(state)) for name, state in probability.given)
        probability = replace(probability, states=tuple(map(_other, probability.states)), given=others)
    return _study(probability, seen, total, token_part(children[0]).column, total.end, mistakes)


def _other(state: str) -> str:
    return OtherThan(state, getattr(state, "column", 0), getattr(state, "end_column", 0))


def _study(
    probability: Probability, seen: Part, total: Part, column: int, end: int, mistakes: Iterable[LineMistake]
) -> Part:
    found = [*mistakes, *seen.mistakes, *total.mistakes]
    if not 0.0 <= seen.value.constant <= total.value.constant or not 0.0 < total.value.constant < inf:
        found.append(LineMistake("study-counts", seen.column, total.end))
    return Part(Study(probability, seen.value.constant, total.value.constant), column, end, tuple(found))


def parse_effect(children: list[Any]) -> Part:
    """`odds ratio of lung=yes for smoke=yes against smoke=no is 3.1, 95% CI 1.8 to 5.4`."""
    measure = re.sub(r"\s+", " ", str(children[0]).lower()).removeprefix("the ").removesuffix(" of")
    event, one, two, estimate, low, high = [child for child in children if isinstance(child, Part)]
    level = next(str(child) for child in children if getattr(child, "type", "") == "CONFIDENCE_INTERVAL")
    share = float(re.search(r"[\d.]+", level)[0]) / 100.0  # type: ignore[index]
    given = [part for side in (one, two) for part in side.value if part.value[1] is not None]
    mistakes = [*event_mistakes([event], given), *estimate.mistakes, *low.mistakes, *high.mistakes]
    values = [part.value.constant for part in (low, estimate, high)]
    if any(getattr(child, "type", "") == "IS_MINUS" for child in children):
        values[1] = -values[1]
    is_ordered = values[0] <= values[1] <= values[2] and values[0] < values[2] and 0.0 < share < 1.0
    if not is_ordered or (measure != RISK_DIFFERENCE and values[0] <= 0.0):
        mistakes.append(LineMistake("study-interval", estimate.column, high.end))
    statement = EffectStudy(
        measure, _term(event, one.value), _term(event, two.value), values[1], values[0], values[2], share
    )
    return Part(statement, token_part(children[0]).column, high.end, tuple(mistakes))


def _term(event: Part, conditions: list[Part]) -> Probability:
    name, states, _ = event.value
    given = tuple((part.value[0], condition_state(part)) for part in conditions if part.value[1])
    return Probability(name, states, given, *each_in(conditions))


def parse_sourced(children: list[Any]) -> Part:
    """`in "trial 2019" …`, or `…` alone; then `with between-study variation 20%`, or learned."""
    source = next((child for child in children if getattr(child, "type", "") == "IN_SOURCE"), None)
    body, *variation = [child for child in children if isinstance(child, Part)]
    learned = any(getattr(child, "type", "") == "LEARNED_VARIATION" for child in children)
    found, mistakes = body.value, list(body.mistakes)
    column = body.column if source is None else source.start_pos + 1
    if found is not None and source is not None:
        text = re.search(r"""["'].*["']""", str(source))
        assert text is not None
        found = replace(found, source=str(read_name(text[0], 0)))
    if found is not None and learned:
        found = replace(found, is_learned=True)
    end = body.end
    for part in variation:
        end = part.end
        mistakes.extend(part.mistakes)
        if not 0.0 < part.value.constant < 10.0:
            mistakes.append(LineMistake("study-variation", part.column, part.end))
        elif found is not None:
            found = replace(found, variation=part.value.constant)
    return Part(found, column, end, tuple(mistakes))


# A whole CPT as a table in the text -----------------------------------------------------------------------------------

_QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""  # in which commas, colons and brackets are part of a name
_TABLE = re.compile(
    rf"""(?P<indent>\s*)P\s*\(\s*(?P<child>(?:{_QUOTED}|[^|()"'])+?)\s*\|\s*(?P<parents>(?:{_QUOTED}|[^()"'])+?)\s*\)"""
    r"""\s*,\s*worth\s+(?P<cases>[^:]+?)\s+cases\s*:\s*(?:\#.*)?"""
)
_ROW = re.compile(rf"""(?P<indent>\s*)(?P<states>(?:{_QUOTED}|[^:#"'])+?)\s*:\s*(?P<numbers>[^#]+?)\s*(?:\#.*)?""")
_ITEM = re.compile(rf"""(?:{_QUOTED}|[^,"'])+""")


@dataclass(frozen=True, slots=True)
class TableHeader:
    """`P(lung | smoke, age), worth 50 cases:`, above one line for each configuration."""

    indentation: int
    child: str
    parents: tuple[str, ...]
    cases: str

    def sentence(self, line: str) -> str | None:
        """The sentence that `no, old: 99%, 1%` stands for; None where the line is not such a row."""
        found = _ROW.fullmatch(line)
        states = () if found is None else tuple(state.strip() for state in _ITEM.findall(found["states"]))
        if found is None or len(states) != len(self.parents):
            return None
        given = ", ".join(f"{name}={state}" for name, state in zip(self.parents, states, strict=True))
        return f"P({self.child} | {given}) is {found['numbers']}, worth {self.cases} cases"


def table_header(line: str) -> TableHeader | None:
    """The header of a CPT in the text; None for any other line."""
    if "worth" not in line or (found := _TABLE.fullmatch(line)) is None:
        return None
    parents = tuple(name.strip() for name in _ITEM.findall(found["parents"]))
    return TableHeader(len(found["indent"]), found["child"], parents, found["cases"])


# Checks ---------------------------------------------------------------------------------------------------------------


def probabilities_of(statement: Evidence) -> tuple[Probability, ...]:
    """The probabilities that a statement is about."""
    return (statement.first, statement.second) if isinstance(statement, EffectStudy) else (statement.probability,)


def check_evidence(statement: Evidence, names: NetworkNames) -> Iterator[LineMistake]:
    """Unknown names and states, `each`, and distributions with another number of states."""
    for probability in probabilities_of(statement):
        yield from check_probability(probability, names)
        if probability.each or probability.each_other or probability.alone:
            yield mistake_at(probability.variable, "evidence-each", name=probability.variable)
    if isinstance(statement, ExpertNumber) and not statement.probability.states:
        variable = statement.probability.variable
        states = names.network.states(variable) if variable in names.network else None
        if states is not None and len(statement.values) != len(states):
            facts = {"name": name_text(variable), "count": len(statement.values), "states": ", ".join(states)}
            yield mistake_at(variable, "evidence-states", **facts)
    if isinstance(statement, EffectStudy) and not (statement.first.given and statement.second.given):
        yield mistake_at(statement.first.variable, "evidence-each", name=statement.first.variable)


def with_states(statement: Evidence, network: Network, named: Any) -> Evidence:
    """The statement with `!=` and thresholds replaced by the states that they stand for, by the function `named`."""
    if isinstance(statement, EffectStudy):
        return replace(statement, first=named(statement.first, network), second=named(statement.second, network))
    return replace(statement, probability=named(statement.probability, network))


EXPERT_NUMBER = StatementRules(
    "an expert's number",
    {"cases": parse_worth, "certainty": parse_certainty, "median": parse_median, "distribution": parse_distribution},
    check_evidence,
    lambda statement, network: Kind("expert's number"),
)
STUDY = StatementRules(
    "a study",
    {"study": parse_study, "share": parse_share, "accuracy_study": parse_accuracy_study, "sourced": parse_sourced},
    check_evidence,
    lambda statement, network: Kind("study"),
)
EFFECT_STUDY = StatementRules(
    "a study", {"effect": parse_effect}, check_evidence, lambda statement, network: Kind("study")
)
