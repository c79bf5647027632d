"""The result of learning as text: what was learned, the CPTs, and what a reader should know."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from shlex import quote

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from credo.errors import counted
from credo.estimation.methods import METHODS
from credo.explain.contradictions import CONTRADICTED
from credo.explain.statement_references import references_to
from credo.explain.summary import what_is_contradicted, what_was_learned, what_was_not_used
from credo.explain.violations import ONLY_CHECKED
from credo.findings import Finding
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.network import Network
from credo.posterior.beliefs import ExpertReliability
from credo.probability_texts import belief_digits, interval_digits, probability_digits
from credo.report.check_text import plain_text
from credo.results.fit_results import Fit
from credo.results.fit_statements import binding_statements, doubted_statements_of, has_multipliers, violated_statements
from credo.types import Numbers

FEW_VARIABLES = 12  # networks up to this size are shown CPT by CPT
FEW_CONFIGURATIONS = 16  # of one CPT
SCREEN = 48  # lines for the CPTs of a larger network
FRAME = 5  # lines of a table that are not numbers
MANY_CELLS = 2**20  # of a CPT whose evidence is not computed
FEW_FINDINGS = 8
FEW_STATEMENTS = 15
FEW_DOUBTED = 8  # statements that may be wrong
PROBABLY = 0.5  # a statement less probable than this is probably wrong
LONG_FINDING = 300  # letters
TECHNICAL = frozenset({"solver", "soft weight", "folds", "iterations", "equivalent sample size"})  # kinds of findings


def fit_summary(fit: Fit, written_to: Path | None = None, *, with_cpts: bool = True) -> RenderableType:
    """The result of learning, with its CPTs if these are few, for a terminal."""
    parts: list[RenderableType] = list(_opening(fit))
    if with_cpts:
        shown = chosen_cpts(fit)
        parts += [part for name in shown for part in _cpts(fit, name)]
        if fit.posterior is not None and not fit.no_interval:
            parts.append(Text("In brackets: 95% credible intervals."))
        parts += _about_the_others(fit, shown, written_to)
    parts += _statements_and_findings(fit)
    if written_to is not None:
        parts.append(Text(f"\nThe learned network is in {written_to}."))
    return Group(*parts)


def fit_plain_text(fit: Fit, *, with_hint: bool = True) -> str:
    """The result of learning without its CPTs, as plain text; the hint is about what to call in Python."""
    hint = Text(
        '\nfit.explain() explains the result, fit.report("report.html") writes a page, fit.cpt(name) is one CPT.'
    )
    return plain_text(Group(*_opening(fit), *_statements_and_findings(fit), *([hint] if with_hint else [])))


def first_sentence(fit: Fit) -> str:
    """What was learned, from what."""
    statements = len(fit.knowledge.statements)
    not_used = len(_only_checked(fit)) if METHODS[fit.method].uses_knowledge else statements
    return what_was_learned(fit.network.name, len(fit.network), fit.rows, statements, not_used)


def not_used_by_estimate(fit: Fit) -> list[str]:
    """The statements that the estimate did not use, which a reader must not overlook: a sentence or two for each."""
    return what_was_not_used(_only_checked(fit))


def contradicted_by_data(fit: Fit) -> tuple[str, list[str]]:
    """What the data contradict, which comes before everything else: a first sentence, and one for each statement."""
    found = [finding for finding in fit.findings if finding.kind == CONTRADICTED]
    if not found:
        return "", []
    which = "one statement" if len(found) == 1 else f"{len(found):,} statements"
    return f"The data contradict {which}.", what_is_contradicted(found)


def other_findings(fit: Fit) -> list[Finding]:
    """What is not among the first sentences; how the computation went comes last."""
    others = [finding for finding in fit.findings if finding.kind not in (CONTRADICTED, ONLY_CHECKED)]
    return sorted(others, key=lambda finding: (finding.kind in TECHNICAL, finding.kind == "iterations"))


def what_to_do(fit: Fit) -> str:
    """What to do about statements that the data contradict."""
    if not METHODS[fit.method].uses_knowledge:
        return "The method does not use the knowledge."
    found = "\n".join(contradicted_by_data(fit)[1])
    references = references_to(fit.knowledge.statements)
    contradicted = [
        statement
        for reference, statement in zip(references, fit.knowledge.statements, strict=True)
        if f"“{reference.text}”" in found
    ]
    if contradicted and all(getattr(each, "confidence", None) is not None for each in contradicted):
        return (
            "Correct the statement, or the data. A statement with a confidence gives way to data, the more so the "
            "lower its confidence is; or let all be doubted (--doubt; doubt=True in Python)."
        )
    return (
        "Correct the statement, or the data. A statement gives way to data only with a confidence, or where all are "
        "doubted (--doubt; doubt=True in Python)."
    )


def _about_the_others(fit: Fit, shown: Sequence[str], written_to: Path | None) -> list[RenderableType]:
    """How many CPTs are not shown, and how to see them."""
    others = [name for name in fit.network.names if name not in set(shown)]
    if not others:
        return []
    path = "learned.bif" if written_to is None else str(written_to)
    keep = "" if written_to is not None else "Add --out learned.bif to keep the network. "
    first = "those that the statements are about first, then those that the data say most about"
    return [
        Text(f"\nThese are the CPTs of {len(shown):,} of {len(fit.network):,} variables, {first}."),
        Text(f"{keep}credo show {quote(path)} {quote(others[0])} shows another."),
    ]


def _contradictions(fit: Fit) -> list[RenderableType]:
    first, sentences = contradicted_by_data(fit)
    if not sentences:
        return []
    return [
        Text(first, style="bold red"),
        *(Text(f"• {sentence}") for sentence in sentences),
        Text(f"{what_to_do(fit)}\n"),
    ]


def what_is_doubted(fit: Fit) -> list[str]:
    """How many statements are probably wrong, and how often each expert is right: a sentence each."""
    if fit.doubt is None:
        return []
    count = len(fit.doubt.statements)
    wrong = sum(each.probability < PROBABLY for each in fit.doubt.statements)
    which = "None" if not wrong else "One" if wrong == 1 else f"{wrong:,}"
    if count == 1:
        sentences = [f"The one statement that may be wrong is probably {'wrong' if wrong else 'true'}."]
    else:
        sentences = [
            f"{which} of {count:,} statements that may be wrong {'is' if wrong < 2 else 'are'} probably wrong."
        ]
    for expert in fit.doubt.experts:
        if expert.statements:
            who = f"Expert {expert.name} is" if expert.name else "The statements are"
            sentences.append(f"{who} right in {expert.reliability:.0%} of all cases ({_how_known(expert)}).")
    return sentences


def _how_known(expert: ExpertReliability) -> str:
    """Whether a reliability was given, or from how many statements it was learned, with its interval."""
    if expert.is_given:
        return "as given"
    count = counted(expert.statements, "statement")
    return f"{expert.low:.0%} to {expert.high:.0%}, learned from {count}"


def _doubted(fit: Fit) -> list[RenderableType]:
    """How probable the statements are that may be wrong; which comes before everything else, if one is wrong."""
    if fit.doubt is None:
        return []
    first, *others = what_is_doubted(fit)
    named = any(expert.name for expert in fit.doubt.experts if expert.statements)
    table = Table(box=None, pad_edge=False)
    for heading in ("line", "statement", *(("expert",) if named else ()), "probability", "without it"):
        table.add_column(heading, justify="left" if heading in ("statement", "expert") else "right")
    rows = doubted_statements_of(fit)
    for reference, belief in rows[:FEW_DOUBTED]:
        who = (Text(belief.expert or ""),) if named else ()
        numbers = map(belief_digits, (belief.probability, belief.without))
        table.add_row(Text(reference.place.removeprefix("line ")), Text(reference.text), *who, *numbers)
    if len(rows) > FEW_DOUBTED:
        table.add_row(
            "", Text(f"… and {len(rows) - FEW_DOUBTED:,} more, all of them at least as probable", style="dim")
        )
    caption = "probability: that the statement is true; without it: from the data and the other statements alone."
    return [Text(first, style="bold"), *map(Text, others), table, Text(f"{caption}\n", style="dim")]


def _opening(fit: Fit) -> Sequence[RenderableType]:
    details = f"Method: {fit.method}. Log-likelihood of the data: {fit.log_likelihood:,.4f}. Time: {fit.seconds:.2f} s."
    unused = [Text(f"• {sentence}", style="yellow") for sentence in not_used_by_estimate(fit)]
    learned = Text(first_sentence(fit), style="bold"), *unused, Text(fit.status.value), Text(details, style="dim")
    doubted = _doubted(fit)
    if fit.doubt is not None and any(each.probability < PROBABLY for each in fit.doubt.statements):
        return (*doubted, *_contradictions(fit), *learned)
    return (*_contradictions(fit), *learned, *doubted)


def _only_checked(fit: Fit) -> list[Finding]:
    return [finding for finding in fit.findings if finding.kind == ONLY_CHECKED]


def _statements_and_findings(fit: Fit) -> list[RenderableType]:
    parts: list[RenderableType] = []
    if has_multipliers(fit) and (binding := binding_statements(fit)):
        rows = [(each.statement.place, each.statement.text, f"{each.gain_per_point:.3g}") for each in binding]
        caption = "how much it matters: the gain in log-likelihood if the bound moved by one percentage point."
        parts += ["", _statement_table("Statements that shaped the result", "how much it matters", rows, caption)]
    doubted = set() if fit.doubt is None else {each.number for each in fit.doubt.statements}
    if violated := [each for each in violated_statements(fit) if each.statement.number not in doubted]:
        rows = [(each.statement.place, each.statement.text, f"{each.amount:.3g}") for each in violated]
        parts += ["", _statement_table("Statements that the result does not satisfy", "missed by", rows)]
    # By which algorithm a group of statements was solved is for the details of a report.
    if others := [finding for finding in other_findings(fit) if finding.kind != "solver"]:
        parts.append(Text("\nWhat you should know", style="bold"))
        parts += [Text(f"• {_shortened(str(finding))}") for finding in others[:FEW_FINDINGS]]
        if len(others) > FEW_FINDINGS:
            parts.append(Text(f"  … and {len(others) - FEW_FINDINGS} more (all of them with --json)."))
    return parts


def _statement_table(title: str, heading: str, rows: Sequence[tuple[str, str, str]], caption: str = "") -> Table:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, caption=caption, caption_justify="left",
        pad_edge=False,
    )  # fmt: skip
    table.add_column("line", justify="right")
    table.add_column("statement")
    table.add_column(heading, justify="right")
    for place, text, value in rows[:FEW_STATEMENTS]:
        table.add_row(Text(place.removeprefix("line ")), Text(text), value)
    if len(rows) > FEW_STATEMENTS:
        table.add_row("", Text(f"… and {len(rows) - FEW_STATEMENTS:,} more", style="dim"), "")
    return table


def _cpts(fit: Fit, name: str) -> list[RenderableType]:
    """The CPT of a variable; the small CPTs of a noisy family, one for each set of causes."""
    expansion = expand(fit.network)
    if name not in expansion.effects:
        return [_cpt(fit, fit.network, name)]
    form = fit.network.forms[name]
    if isinstance(form, GateForm):
        return [Text(f"{name} is {form}: its CPT is known.", style="bold")]
    title = Text(f"{name} is {form.kind} of {counted(len(form.causes), 'independent cause')}:", style="bold")
    return [title, *(_cpt(fit, expansion.network, effect) for effect in expansion.effects[name])]


def _cpt(fit: Fit, network: Network, name: str) -> RenderableType:
    """One CPT, a line for each configuration of the parents, with intervals where there are some."""
    parents, states = network.parents[name], network.states(name)
    title = f"P({name} | {', '.join(parents)})" if parents else f"P({name})"
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    headings = states if name not in fit.network else [f"{name}={state}" for state in states]
    for parent in parents:
        table.add_column(Text(parent))
    for heading in headings:
        table.add_column(Text(heading), justify="right")
    probabilities = network.cpt_array(name).reshape(-1, len(states))
    shown = [[probability_digits(value, 3) for value in row] for row in probabilities[:FEW_CONFIGURATIONS]]
    if fit.posterior is not None and not fit.no_interval:
        low, high = (end.reshape(probabilities.shape) for end in fit.interval_arrays(name))
        shown = [
            [f"{text} [{', '.join(interval_digits(low[index, k], high[index, k]))}]" for k, text in enumerate(texts)]
            for index, texts in enumerate(shown)
        ]
    for index, texts in enumerate(shown):
        table.add_row(*(Text(state) for state in network.configuration(name, index).values()), *map(Text, texts))
    if len(probabilities) > FEW_CONFIGURATIONS:
        table.caption = counted(len(probabilities) - FEW_CONFIGURATIONS, "more configuration")
    return table


def _shortened(text: str) -> str:
    return text if len(text) <= LONG_FINDING else f"{text[:LONG_FINDING]}…"


# Which CPTs are shown: all of a small network; of a large one those that matter most, as fit on a screen --------------


def chosen_cpts(fit: Fit) -> list[str]:
    """The variables whose CPTs are shown, those first that the data contradict or the knowledge is about.

    Then those whose data say most about how they depend on their parents. There is always one.
    """
    names = fit.network.names
    if len(names) <= FEW_VARIABLES:
        return list(names)
    contradicted = {finding.variable for finding in fit.findings if finding.kind == CONTRADICTED}
    about = _with_statements(fit)
    ranks = {name: (name not in contradicted, name not in about, -_evidence(fit, name)) for name in names}
    shown: list[str] = []
    lines = 0
    for name in sorted(names, key=lambda each: ranks[each]):
        own = _lines(fit, name)
        if not shown or lines + own <= SCREEN:
            shown.append(name)
            lines += own
    return shown


def _with_statements(fit: Fit) -> set[str]:
    """The variables whose CPTs constraints limit; a noisy family for its small CPTs."""
    if fit._problem is None:
        return set()
    owner = {small: name for name, effects in expand(fit.network).effects.items() for small in effects}
    return {owner.get(name, name) for name in fit._problem.constrained_configurations()}


def _evidence(fit: Fit, name: str) -> float:
    """Σ n(x, u) log [n(x, u) n / n(x) n(u)]: the gain in log-likelihood from knowing the parents."""
    network = fit.network
    if fit._problem is None or name in network.forms or not network.parents[name]:
        return 0.0
    if prod(network.shape(name)) > MANY_CELLS:
        return 0.0
    counts = fit.counts_array(name).reshape(network.configurations(name), -1)
    return _sum(counts) + _sum(counts.sum()) - _sum(counts.sum(axis=0)) - _sum(counts.sum(axis=1))


def _sum(counts: Numbers) -> float:
    """Σ n log n."""
    values = np.asarray(counts, dtype=np.float64).ravel()
    values = values[values > 0.0]
    return float(values @ np.log(values))


def _lines(fit: Fit, name: str) -> int:
    network = fit.network
    if name not in network.forms:
        return FRAME + min(FEW_CONFIGURATIONS, network.configurations(name))
    expansion = expand(network)
    small = expansion.effects.get(name, ())
    return 1 + sum(FRAME + min(FEW_CONFIGURATIONS, expansion.network.configurations(each)) for each in small)
