"""Experts' numbers, studies and families of few numbers in Python: each is read as the sentence of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from credo.errors import OptionError
from credo.knowledge.evidence import EffectStudy, ExpertNumber, Study, source_text
from credo.knowledge.expressions import conditions_text, number_text
from credo.knowledge.mistakes import PYTHON, KnowledgeError
from credo.knowledge.names import checked_name, checked_number, name_text
from credo.knowledge.parse import parse
from credo.knowledge.ranked_family import CASES, Bounds, InterpolatedFamily, RankedFamily

_Made = TypeVar("_Made", ExpertNumber, Study, EffectStudy, RankedFamily, InterpolatedFamily)


def expert_number(
    event: str,
    value: float | Sequence[float],
    *,
    cases: float | None = None,
    between: tuple[float, float] | None = None,
    certainty: float = 0.5,
) -> ExpertNumber:
    """State a number that an expert believes: `P(lung=yes | smoke=yes) is 12%, worth 50 cases`.

    Parameters
    ----------
    event : str
        What it is about, as inside P(…); without a state, `lung | smoke=yes`, a whole distribution.
    value : float, or a sequence of these
        The number; of a whole distribution one for each state, in their order.
    cases : float, optional
        How many cases that were seen it weighs.
    between : (float, float), optional
        Instead of cases: two numbers between which it lies.
    certainty : float
        With which probability it lies there; a half if not given.

    Returns
    -------
    ExpertNumber
        The statement.

    Raises
    ------
    KnowledgeError
        If the event cannot be read, or the numbers do not fit together.
    OptionError
        If neither or both of `cases` and `between` are given.

    Examples
    --------
    >>> import credo
    >>> print(credo.expert_number("lung=yes | smoke=yes", 0.12, cases=50))
    P(lung=yes | smoke=yes) is 0.12, worth 50 cases
    >>> print(credo.expert_number("tub=yes", 0.05, between=(0.02, 0.12), certainty=0.9))
    P(tub=yes) is 0.05, between 0.02 and 0.12 with 0.9 certainty
    """
    numbers = _numbers(value if isinstance(value, Iterable) else (value,))
    if (cases is None) == (between is None):
        raise OptionError("How firm is the number? Give cases=50, or between=(0.05, 0.2), and not both.")
    if cases is not None:
        weight = f"worth {_number(cases)} cases"
    else:
        assert between is not None
        low, high = between
        weight = f"between {_number(low)} and {_number(high)} with {_number(certainty)} certainty"
    return _read(f"P({event}) is {numbers}, {weight}", ExpertNumber)


def study(event: str, seen: float, total: float, *, source: str = "", variation: float | bool = False) -> Study:
    """State what was counted elsewhere: `in "trial 2019" 34 of 240 with smoke=yes had lung=yes`.

    Parameters
    ----------
    event : str
        What was counted, as inside P(…): `lung=yes | smoke=yes`.
    seen, total : float
        In how many cases, of how many.
    source : str
        Where it was published.
    variation : float or bool
        By how much the log odds differ from study to study, as a standard deviation; True if that is learned.

    Returns
    -------
    Study
        The statement.

    Raises
    ------
    KnowledgeError
        If the event cannot be read, or the counts do not fit together.

    Examples
    --------
    >>> import credo
    >>> print(credo.study("lung=yes | smoke=yes", 34, 240, source="trial 2019"))
    in "trial 2019" 34 of 240 with smoke=yes had lung=yes
    """
    counts = f"{_number(seen)} of {_number(total)}"
    return _read(f"{source_text(source)}P({event}) is {counts}{_variation(variation)}", Study)


def effect_study(
    measure: str,
    event: str,
    conditions: tuple[str, str],
    estimate: float,
    interval: tuple[float, float],
    *,
    level: float = 0.95,
    source: str = "",
    variation: float | bool = False,
) -> EffectStudy:
    """State a published ratio or difference: `odds ratio of lung=yes for smoke=yes against smoke=no is 3.1, 95% CI …`.

    Parameters
    ----------
    measure : str
        "odds ratio", "relative risk" or "risk difference".
    event : str
        What happens: `lung=yes`.
    conditions : (str, str)
        What is compared: `("smoke=yes", "smoke=no")`.
    estimate : float
        The number that was published.
    interval : (float, float)
        Its confidence interval.
    level : float
        The level of that.
    source, variation
        As for `study`.

    Returns
    -------
    EffectStudy
        The statement.

    Raises
    ------
    KnowledgeError
        If something cannot be read, or the numbers do not fit together.

    Examples
    --------
    >>> import credo
    >>> print(credo.effect_study("odds ratio", "lung=yes", ("smoke=yes", "smoke=no"), 3.1, (1.8, 5.4)))
    odds ratio of lung=yes for smoke=yes against smoke=no is 3.1, 95% CI 1.8 to 5.4
    """
    one, two = conditions
    low, high = interval
    share = number_text(checked_number(level) * 100.0)
    what = f"{measure} of {event} for {one} against {two} is {_number(estimate)}"
    text = f"{source_text(source)}{what}, {share}% CI {_number(low)} to {_number(high)}{_variation(variation)}"
    return _read(text, EffectStudy)


def ranked(
    child: str,
    weights: Mapping[str, float | Bounds] | Sequence[str],
    spread: float | Bounds | None = None,
    *,
    kind: str = "mean",
    negated: Sequence[str] = (),
    cases: float = CASES,
) -> RankedFamily:
    """State a CPT by weights: `quality is a weighted mean of staff (3), budget (1) with spread 0.1`.

    Parameters
    ----------
    child : str
        The variable.
    weights : mapping of str to float or to a pair of them, or sequence of str
        Its parents, and how much each matters; of a pair, and where there are names alone, that is learned.
    spread : float or pair of float, optional
        The standard deviation around the weighted mean, on a scale from 0 to 1; learned if not given, between two
        numbers if there are two.
    kind : str
        "mean", "max" or "min".
    negated : sequence of str
        Parents whose high states go with low ones of the child.
    cases : float
        How many cases each distribution weighs.

    Returns
    -------
    RankedFamily
        The statement.

    Raises
    ------
    KnowledgeError
        If a name or a number cannot be used.

    Examples
    --------
    >>> import credo
    >>> print(credo.ranked("quality", {"staff": 3, "budget": 1}, spread=0.1))
    quality is a weighted mean of staff (3), budget (1) with spread 0.1
    """
    of = f"{name_text(checked_name(child))} is a weighted {kind} of {_terms(weights, negated)}"
    width = "" if spread is None else f" with spread {' to '.join(map(_number, _pair(spread)))}"
    return _read(f"{of}{width}, worth {_number(cases)} cases", RankedFamily)


def interpolated(
    child: str,
    weights: Mapping[str, float | Bounds] | Sequence[str],
    worst: Sequence[float],
    best: Sequence[float],
    *,
    corners: Sequence[tuple[Mapping[str, str], Sequence[float]]] = (),
    negated: Sequence[str] = (),
    cases: float = CASES,
) -> InterpolatedFamily:
    """State a CPT by its two ends: `quality is interpolated by staff (3) from worst 70%, 30% to best 5%, 95%`.

    Parameters
    ----------
    child, weights, negated, cases
        As for `ranked`.
    worst, best : sequence of float
        The distribution in the worst and in the best configuration, from the lowest state to the highest.
    corners : sequence of pairs
        Other configurations, each with its distribution: `[({"staff": "high", "budget": "low"}, [0.4, 0.6])]`.

    Returns
    -------
    InterpolatedFamily
        The statement.

    Raises
    ------
    KnowledgeError
        If a name or a number cannot be used.

    Examples
    --------
    >>> import credo
    >>> print(credo.interpolated("quality", {"staff": 3, "budget": 1}, [0.7, 0.3], [0.05, 0.95]))
    quality is interpolated by staff (3), budget (1) from worst 0.7, 0.3 to best 0.05, 0.95
    """
    by = f"{name_text(checked_name(child))} is interpolated by {_terms(weights, negated)}"
    ends = f"from worst {_numbers(worst)} to best {_numbers(best)}"
    given = "".join(f" through {_numbers(values)} at {conditions_text(list(at.items()))}" for at, values in corners)
    return _read(f"{by} {ends}{given}, worth {_number(cases)} cases", InterpolatedFamily)


def _read(text: str, kind: type[_Made]) -> _Made:
    """The statement that a sentence makes, which was written in no line."""
    parsed = parse(text, PYTHON)
    if parsed.mistakes:
        raise KnowledgeError(replace(each, line=0) for each in parsed.mistakes)
    (found,) = parsed.statements
    assert isinstance(found, kind)
    return replace(found, span=None)


def _number(value: float) -> str:
    return number_text(checked_number(value))


def _numbers(values: Iterable[float]) -> str:
    return ", ".join(map(_number, values))


def _variation(variation: float | bool) -> str:
    if variation is False:
        return ""
    return f" with between-study variation{'' if variation is True else f' {_number(variation)}'}"


def _terms(weights: Mapping[str, float | Bounds] | Sequence[str], negated: Sequence[str]) -> str:
    named: dict[str, str]
    if isinstance(weights, Mapping):
        pairs = {checked_name(name): _pair(weight) for name, weight in weights.items()}
        named = {name: f" ({' to '.join(map(_number, pair))})" for name, pair in pairs.items()}
    else:
        named = dict.fromkeys(map(checked_name, weights), "")
    signs = ("", "not ")
    return ", ".join(f"{signs[name in negated]}{name_text(name)}{weight}" for name, weight in named.items())


def _pair(given: float | Bounds) -> Sequence[float]:
    return given if isinstance(given, Sequence) else (given,)
