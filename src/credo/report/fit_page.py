"""The page of a fit: its summary, the network, what each statement did, and every conditional probability."""

from __future__ import annotations

from collections.abc import Sequence

from credo.drawing.network_svg import network_svg
from credo.drawing.svg import history_svg, tornado_svg
from credo.errors import OptionError, listing
from credo.explain.evidence_used import EvidenceUsed, evidence_used
from credo.explain.explanation import Effect, Explanation, StatementExplanation
from credo.explain.held_out import HeldOutComparison, HeldOutScore
from credo.explain.learned_probabilities import LearnedProbability
from credo.explain.misfits import PredictiveChecks
from credo.explain.summary import UNNAMED
from credo.model.expansion import expand
from credo.posterior.draws import PosteriorResult
from credo.probability_texts import belief_digits, count_digits, percent_digits, percents_with_ends, short_percent
from credo.questions.answers import Answer
from credo.questions.decide import decide
from credo.questions.marginals import Marginals, fit_marginals
from credo.questions.next_tests import NextTests
from credo.questions.question_draws import arrow_kinds
from credo.questions.sensitivity import sensitivity
from credo.report.audit_text import audit_section
from credo.report.check_text import estimate_text, factor_text
from credo.report.cpt_sections import Anchors, cpt_sections, probability_table
from credo.report.fit_text import (
    FEW_DOUBTED,
    TECHNICAL,
    contradicted_by_data,
    other_findings,
    what_is_doubted,
    what_to_do,
)
from credo.report.html import as_text, bullets, document, figure, folded, search_box, table
from credo.report.predictive_text import TITLE, checks_section
from credo.results.fit_results import Fit
from credo.results.fit_statements import doubted_statements_of
from credo.terminal import escape

_HEADINGS = ("about", "source", "given [95%]", "rows", "result [95%]", "counts as", "its share of what is known")


def evidence_section(fit: Fit) -> str:
    """A table with a row for each expert's number and each study; nothing where there are none."""
    if fit._problem is None or fit._problem.model.stated is None or not fit._problem.model.stated.evidence:
        return ""
    posterior = fit.posterior if isinstance(fit.posterior, PosteriorResult) else None
    learned = {name: fit.network.cpts[name] for name in fit._problem.model.names if name in fit.network.cpts}
    rows = [_row(each) for each in evidence_used(fit.knowledge, fit._problem, posterior, learned)]
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in _HEADINGS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(used: EvidenceUsed) -> tuple[str, ...]:
    source = used.source or used.statement.place or ""
    return used.subject, source, used.given, used.data, used.result, _weight(used), _share(used)


def _weight(used: EvidenceUsed) -> str:
    """Which part of its cases an expert's number has, where the expert may be wrong."""
    return "all" if used.weight is None else f"{used.weight:.0%}"


def _share(used: EvidenceUsed) -> str:
    return "" if used.share is None else f"{used.share:.0%}"


FEW_STATEMENTS = 30  # that are in sight
MAX_STATEMENTS = 8_000  # on one page
LEAST_GAIN = 1e-5  # below this a statement does not matter
LEAST_CHANGE = 5e-4
FEW_TESTS = 3  # observations that an answer names
MAX_BARS = 8  # of a tornado
FEW_BLOCKS = 5  # where the knowledge helped or did harm most
NO_GAIN = 0.01  # in log-likelihood
FEW_FINDINGS = 6  # that are in sight
MAX_FINDINGS = 40
LONG_FINDING = 1_000  # letters
HELD_OUT = "held-out"  # in notes about predictions

_ARROWS = (
    '<span class="raises">Solid blue arrows raise</span>, <span class="lowers">dashed orange arrows lower</span>, '
    '<span class="neutral">grey arrows</span> do neither clearly and throughout. '
)
_CHANGES = "The more colour behind a name, the more the statements changed the probabilities of the variable. "
_BARS = "Bars show how probable each state is when nothing else is known{}. "
_INTERVALS = "; the line across a bar is its 95% credible interval"
_CLICK = "Click on a variable to see its numbers."
_STATEMENTS_KEY = (
    "The most important come first. <b>How much it matters</b>: the gain in log-likelihood if its bound moved by one "
    "percentage point. <b>Largest change</b>: of a probability if the statement is left out. <b>Probability</b>: that "
    "the statement is true, by the data alone; in brackets, how many times as probable as before the data (the Bayes "
    "factor). <b>Where</b>: the configurations of the parents that it is about, by their numbers below; for a "
    "probability to which several variables contribute, such as a prevalence, what was learned, with its 95% interval."
)
_TORNADOS = {
    "parameters": "the answer, if each number were at the lower (orange) or upper (blue) end of its interval.",
    "findings": "the least and the greatest answer that knowing each of these variables could lead to.",
}
_DOUBTED_KEY = (
    "<b>Probability</b>: that the statement is true, given the data and all statements. <b>Without it</b>: the same "
    "from the data and the other statements alone."
)
_UNIMPORTANT = {
    Effect.NOT_COMPUTED: "hold; what they changed was not computed, which would take long",
    Effect.SATISFIED: "hold with room to spare",
    Effect.NO_EFFECT: "made no difference",
    Effect.NO_CONSTRAINT: "do not limit probabilities",
}


def fit_page(
    fit: Fit,
    explanation: Explanation,
    checks: PredictiveChecks | None = None,
    asked: Sequence[tuple[Answer, NextTests | None]] = (),
) -> str:
    """The whole report as HTML; `checks` say whether the network fits the data.

    `asked` are answers, which come first, with what to observe next in their case.
    """
    anchors = Anchors.of(expand(fit.network).network, explanation)
    marginals = fit_marginals(fit)
    sections = {
        "network": ("The network", _network(fit, explanation, marginals, anchors)),
        "decision": ("What to do", _decision(fit)),
        "rests": ("What the answers rest on", _tornados(fit, asked)),
        "probabilities": ("How probable each state is", probability_table(marginals, anchors)),
        "cpts": ("Every conditional probability", cpt_sections(explanation, anchors, fit.network)),
        "evidence": ("Experts and studies, rows, and the result", evidence_section(fit)),
        "statements": ("What each statement did", _statements(explanation.statements, anchors)),
        "fit": (TITLE, checks_section(checks)),
        "helped": ("Did the knowledge help?", _held_out(explanation, anchors)),
        "next": ("What to observe next", _next_observations(explanation, anchors)),
        "history": ("How learning went", _history(fit)),
        "trail": ("Where it comes from", audit_section(fit)),
        "details": ("Details", _details(fit, explanation)),
    }
    shown = {key: (title, content) for key, (title, content) in sections.items() if content}
    contradicted = set(contradicted_by_data(fit)[1])  # in sentences that the summary has, too
    summary = [sentence for sentence in explanation.summary if sentence not in contradicted]
    parts = [
        _answers(asked),
        _doubted(fit),
        _contradicted(fit, explanation),
        _misfits(checks),
        f'<ol class="summary">{"".join(f"<li>{escape(sentence)}</li>" for sentence in summary)}</ol>',
        _findings(fit, explanation),
        search_box("Find a variable or a statement", {key: title for key, (title, _) in shown.items()}),
        *(f'<h2 id="{key}">{escape(title)}</h2>{content}' for key, (title, content) in shown.items()),
    ]
    title = "What was learned" if fit.network.name in UNNAMED else f"{fit.network.name}: what was learned"
    return document(title, parts)


def _answers(asked: Sequence[tuple[Answer, NextTests | None]]) -> str:
    """What was asked, in sentences, and which observations would tell most in that case."""
    parts = []
    for answer, tests in asked:
        parts.append(f'<p class="answer">{"<br>".join(escape(line) for line in str(answer).splitlines())}</p>')
        if tests is not None and tests.best is not None:
            rows = tests.tests.filter(tests.tests["net"] > 0).head(FEW_TESTS).iter_rows(named=True)
            listed = ", ".join(f"{escape(row['test'])} ({_small_share(row['share'])})" for row in rows)
            about = f" where {escape(tests.given)}" if tests.given else ""
            parts.append(
                f'<p class="soft">To know more about {escape(tests.goal)}{about}, observe: {listed}. In brackets: '
                "which part of the uncertainty the observation is expected to remove.</p>"
            )
    return f'<div class="answers">{"".join(parts)}</div>' if parts else ""


def _tornados(fit: Fit, asked: Sequence[tuple[Answer, NextTests | None]]) -> str:
    """For each answer that is one number, how far it moves with the numbers of the CPTs, and with findings."""
    parts = []
    for answer in [answer for answer, _ in asked if len(answer.frame) == 1]:
        found = sensitivity(fit, answer.query)
        for of, caption in _TORNADOS.items():
            drawn = tornado_svg(found.probability, found.bars(of)[:MAX_BARS], percent_digits)
            parts.append(figure(drawn, f"{escape(answer.query)}: {caption}"))
    return "".join(parts)


def _decision(fit: Fit) -> str:
    """What to do where nothing is known about a case; nothing where the knowledge has no decision."""
    try:
        lines = str(decide(fit)).splitlines()
    except OptionError:  # no decision, or no utilities
        return ""
    return f"<p>{'<br>'.join(escape(line) for line in lines)}</p>"


def _network(fit: Fit, explanation: Explanation, marginals: Marginals, anchors: Anchors) -> str:
    """The picture of the network, and what its signs mean."""
    changes = {name: explanation.largest_change(name) for name in explanation.configurations}
    links = {name: f"#{anchors.cpt(name)}" for name in anchors.shown}
    bars = _BARS.format(_INTERVALS if marginals.with_intervals else "") if marginals.bars else ""
    changed = _CHANGES if any(change >= LEAST_CHANGE for change in changes.values()) else ""
    caption = f"{_ARROWS}{bars}{changed}{_CLICK}{f' {escape(marginals.note)}' if marginals.note else ''}"
    return figure(network_svg(fit.network, marginals.bars, changes, links, arrow_kinds(fit)), caption, kind="network")


def _doubted(fit: Fit) -> str:
    """How probable the statements are that may be wrong, which comes first: the least probable in sight."""
    if fit.doubt is None:
        return ""
    first, *others = what_is_doubted(fit)
    named = any(expert.name for expert in fit.doubt.experts if expert.statements)
    headings = ("statement", *(("expert",) if named else ()), "probability", "without it")
    rows = []
    for reference, belief in doubted_statements_of(fit)[:MAX_STATEMENTS]:
        link = f'<a href="#s{reference.number}">{escape(str(reference))}</a>'
        who = f"<td>{escape(belief.expert)}" if named else ""
        numbers = map(belief_digits, (belief.probability, belief.without))
        rows.append(f"<tr><td>{link}{who}{''.join(f'<td>{number}' for number in numbers)}")
    few, more = rows[:FEW_DOUBTED], rows[FEW_DOUBTED:]
    others_shown = folded(f"{len(more):,} more", table("statements doubted", headings, "".join(more))) if more else ""
    return (
        f'<div class="warning"><p><strong>{escape(first)}</strong> {escape(" ".join(others))}</p>'
        f'{table("statements doubted", headings, "".join(few))}{others_shown}<p class="soft">{_DOUBTED_KEY}</p></div>'
    )


def _contradicted(fit: Fit, explanation: Explanation) -> str:
    """What the data contradict, which comes first: a sentence for each statement, with a link to the table of them."""
    first, sentences = contradicted_by_data(fit)
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(sentence)}{_link(sentence, explanation)}</li>" for sentence in sentences)
    return (
        f'<div class="warning"><p><strong>{escape(first)}</strong></p><ul>{items}</ul>'
        f"<p>{escape(what_to_do(fit))}</p></div>"
    )


def _misfits(checks: PredictiveChecks | None) -> str:
    """That the network does not fit the data, near the beginning; a section has the details."""
    if checks is None or not checks.alarms:
        return ""
    names = dict.fromkeys(name for check in checks.alarms for name in (check.other, check.variable) if name)
    sentence = f"The network does not fit the data on {listing(list(names))}."
    return f'<div class="warning"><p><strong>{escape(sentence)}</strong> <a href=#fit>Show it.</a></p></div>'


def _link(sentence: str, explanation: Explanation) -> str:
    """A link from a sentence to the statement that it quotes."""
    found = (each for each in explanation.statements if each.is_contradicted and f"“{each.statement.text}”" in sentence)
    return next((f" <a href=#s{each.statement.number}>Show it.</a>" for each in found), "")


def _history(fit: Fit) -> str:
    if len(fit.history) <= 2:
        return ""
    caption = "The objective, which learning maximises, after each iteration of the best start."
    return figure(history_svg(fit.history), caption)


def _details(fit: Fit, explanation: Explanation) -> str:
    """How the result was computed, for those who know the statistics."""
    technical = bullets(str(finding) for finding in fit.findings if finding.kind in TECHNICAL)
    notes = "".join(f"<p>{escape(note)}</p>" for note in explanation.notes if HELD_OUT not in note) + technical
    return (
        f"<p>{escape(fit.status.value)} Method: {escape(fit.method)}. Log-likelihood of the data: "
        f"{fit.log_likelihood:,.4f}.</p>{notes}"
    )


def _statements(statements: Sequence[StatementExplanation], anchors: Anchors) -> str:
    """What each statement did: the important ones in sight, the others folded."""
    if not statements:
        return ""
    few = len(statements) <= FEW_STATEMENTS
    important = [each for each in statements if each.is_important or few]
    parts = [
        f'<p class="soft">{_STATEMENTS_KEY}</p>',
        _important_table(important[:FEW_STATEMENTS], anchors),
    ]
    if important[FEW_STATEMENTS:]:
        rest = _important_table(important[FEW_STATEMENTS:MAX_STATEMENTS], anchors)
        parts.append(folded(f"{len(important) - FEW_STATEMENTS:,} more had an effect", rest))
    room = MAX_STATEMENTS - len(important)
    for effect, description in _UNIMPORTANT.items():
        own = [each for each in statements if each.effect is effect and not each.is_important and not few]
        if own:
            parts.append(folded(f"{len(own):,} {description}", _unimportant_table(own[: max(0, room)], anchors)))
            room -= len(own)
    if room < 0:
        parts.append(f'<p class="soft">{-room:,} of them are only in <code>fit.explain().statements</code>.</p>')
    return "".join(parts)


# Closing tags and quotes that HTML does not need are left out of rows, since there may be thousands.


def _important_table(statements: Sequence[StatementExplanation], anchors: Anchors) -> str:
    rows = []
    for each in statements:
        kind = "contradicted" if each.is_contradicted else each.effect.name.lower()
        gain = f"{each.gain_per_point:.3g}" if each.gain_per_point >= LEAST_GAIN else "–"
        change = f"{each.largest_change:.3f}" if each.largest_change >= LEAST_CHANGE else "–"
        rows.append(
            f"<tr id=s{each.statement.number} class={kind}><td>{_statement(each)}<td>{as_text(each.describe_effect())}"
            f"<td>{gain}<td>{change}<td>{_probability(each)}<td>{_where(each, anchors)}"
        )
    headings = ("statement", "what it did", "how much it matters", "largest change", "probability", "where")
    return table("statements important", headings, "".join(rows))


def _unimportant_table(statements: Sequence[StatementExplanation], anchors: Anchors) -> str:
    rows = (
        f"<tr id=s{each.statement.number}><td>{_statement(each)}<td>{_probability(each)}<td>{_where(each, anchors)}"
        for each in statements
    )
    return table("statements others", ("statement", "probability", "where"), "".join(rows))


def _statement(each: StatementExplanation) -> str:
    place, text = each.statement.place, as_text(each.statement.text)
    return f"<i>{as_text(place)}</i> {text}" if place else text


def _where(each: StatementExplanation, anchors: Anchors) -> str:
    """The configurations that it is about, or what the probabilities that it names became."""
    if not each.learned:
        return anchors.links(each.configurations)
    return "<br>".join(as_text(_sentence(own)) for own in each.learned)


def _sentence(learned: LearnedProbability) -> str:
    """`P(lung=yes | xray=yes) is 61.2% (53.9% to 68.0%)`."""
    if learned.interval is None:
        return f"{learned.text} is {percent_digits(learned.value)}"
    value, low, high = percents_with_ends(learned.value, *learned.interval)
    return f"{learned.text} is {value} ({low} to {high})"


def _probability(each: StatementExplanation) -> str:
    found = each.plausibility
    if found is None or found.after_data is None:
        return "–"
    factor = "" if found.bayes_factor is None else f" ({as_text(factor_text(found))}×)"
    return f"{as_text(estimate_text(found.after_data))}{factor}"


def _held_out(explanation: Explanation, anchors: Anchors) -> str:
    """Whether the knowledge helped; nothing where there is no knowledge, or no way to know."""
    ways = {
        "one observation at a time": explanation.leave_one_out,
        "a tenth of them at a time": explanation.cross_validation,
    }
    available = {name: comparison for name, comparison in ways.items() if comparison is not None and comparison.scores}
    if not available:
        return ""
    rows = "".join(_comparison(name, comparison) for name, comparison in available.items())
    headings = ("left out", "with the knowledge", "without it", "gain")
    return (
        '<p class="soft">Some observations are left out, everything is learned from '
        "the others, and those left out are predicted. The numbers are log-likelihoods of the observations that the "
        f"knowledge is about: higher is better.</p>{table('numbers', headings, rows)}"
        f"{_where_it_helped(next(iter(available.values())), anchors)}"
        + "".join(f'<p class="soft">{as_text(note)}</p>' for note in explanation.notes if HELD_OUT in note)
    )


def _comparison(name: str, comparison: HeldOutComparison) -> str:
    with_knowledge = sum(score.with_knowledge for score in comparison.scores)
    without = sum(score.without_knowledge for score in comparison.scores)
    return f"<tr><td>{escape(name)}<td>{with_knowledge:,.2f}<td>{without:,.2f}<td>{comparison.gain:+,.2f}"


def _where_it_helped(comparison: HeldOutComparison, anchors: Anchors) -> str:
    ordered = sorted(comparison.scores, key=lambda score: score.gain)
    worst = [score for score in ordered[:FEW_BLOCKS] if score.gain < -NO_GAIN]
    best = [score for score in reversed(ordered[-FEW_BLOCKS:]) if score.gain > NO_GAIN]
    sentences = []
    if best:
        sentences.append(f"It helped most with {', '.join(_score(score, anchors) for score in best)}.")
    if worst:
        sentences.append(f"It did most harm with {', '.join(_score(score, anchors) for score in worst)}.")
    return f'<p class="soft">{" ".join(sentences)}</p>' if sentences else ""


def _score(score: HeldOutScore, anchors: Anchors) -> str:
    names = list(dict.fromkeys(name for name, _ in score.configurations))
    links = " and ".join(f'<a href="#{anchors.cpt(name)}">{escape(name)}</a>' for name in names[:2])
    return f"{links}{' and others' if len(names) > 2 else ''} ({score.gain:+.2g})"


def _next_observations(explanation: Explanation, anchors: Anchors) -> str:
    if not explanation.next_observations:
        return ""
    is_asked = explanation.next_observations[0].share is not None
    rows = "".join(
        f"<tr><td>{anchors.link(each.variable, each.index)}<td>{count_digits(each.observations)}"
        f"<td>± {each.deviation:.3f}{f'<td>{_small_share(each.share)}' if each.share is not None else ''}"
        for each in explanation.next_observations
    )
    purpose = (
        "would narrow the answers most. The last column says which part of their variance it is expected to remove"
        if is_asked
        else "would be most informative"
    )
    headings = ("distribution", "observed so far", "uncertainty", *(("narrows the answers",) if is_asked else ()))
    return (
        f'<p class="soft">One more row of these {purpose}. The uncertainty is the typical standard deviation of the '
        f"probabilities.</p>{table('numbers', headings, rows)}"
    )


def _small_share(share: float) -> str:
    """A part of the uncertainty, which is as good as none below 0.1%."""
    return short_percent(share) if share >= 0.001 else "&lt;0.1%"


def _findings(fit: Fit, explanation: Explanation) -> str:
    """What else a reader should know: a few in sight, the others folded; not what the summary says already."""
    in_summary = set(explanation.summary)
    others = [finding for finding in other_findings(fit) if finding.kind not in TECHNICAL]
    texts = [text for text in map(str, others) if text not in in_summary]
    if not texts:
        return ""
    shown = [text if len(text) <= LONG_FINDING else f"{text[:LONG_FINDING]} …" for text in texts[:MAX_FINDINGS]]
    rest = shown[FEW_FINDINGS:]
    more = f"<p>{len(texts) - MAX_FINDINGS:,} more are in <code>fit.findings</code>.</p>"
    folded_away = bullets(rest) + (more if len(texts) > MAX_FINDINGS else "")
    folds = folded(f"{len(texts) - FEW_FINDINGS:,} more", folded_away) if rest else ""
    return f'<h2 id="findings">What you should know</h2>{bullets(shown[:FEW_FINDINGS])}{folds}'
