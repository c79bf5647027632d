"""The page of a fit: its summary, the network, what each statement did, and every conditional probability."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from credo.drawing.svg import history_svg, network_svg
from credo.explain.explanation import Effect, Explanation, StatementExplanation
from credo.explain.held_out import HeldOutComparison, HeldOutScore
from credo.explain.summary import UNNAMED
from credo.model.expansion import expand
from credo.report.check_text import estimate_text, factor_text
from credo.report.cpt_sections import Anchors, cpt_sections
from credo.report.html import as_text, bullets, document, figure, folded, search_box, table
from credo.results import FitResult

FEW_STATEMENTS = 30  # that are in sight
MAX_STATEMENTS = 8_000  # on one page
LEAST_GAIN = 1e-5  # below this a statement does not matter
LEAST_CHANGE = 5e-4
FEW_BLOCKS = 5  # where the knowledge helped or did harm most
NO_GAIN = 0.01  # in log-likelihood
FEW_FINDINGS = 40
LONG_FINDING = 1_000  # letters

_NETWORK_CAPTION = (
    '<span class="raises">Solid blue arrows raise</span>, <span class="lowers">dashed orange arrows lower</span>, '
    '<span class="neutral">grey arrows</span> do neither throughout. The fuller a circle, the more the knowledge '
    "changed the probabilities of the variable; click on it to see them."
)
_STATEMENTS_KEY = (
    "The most important come first. <b>How much it matters</b>: the gain in log-likelihood if its bound moved by one "
    "percentage point. <b>Largest change</b>: of a probability if the statement is left out. <b>Probability</b>: that "
    "the statement is true, by the data alone; in brackets, how many times as probable as before the data (the Bayes "
    "factor). <b>Where</b>: the configurations of the parents that it is about, by their numbers below."
)
_UNIMPORTANT = {
    Effect.SATISFIED: "hold with room to spare",
    Effect.NO_EFFECT: "made no difference",
    Effect.NO_CONSTRAINT: "do not limit probabilities",
}


def fit_page(fit: FitResult, explanation: Explanation) -> str:
    """The whole report as HTML."""
    anchors = Anchors.of(expand(fit.network).network, explanation)
    changes = {name: explanation.largest_change(name) for name in explanation.configurations}
    links = {name: f"#{anchors.cpt(name)}" for name in anchors.shown}
    sentences = "".join(f"<li>{escape(sentence)}</li>" for sentence in explanation.summary)
    parts = [
        f'<ol class="summary">{sentences}</ol>',
        f'<p class="soft">{escape(fit.status.value)} Method: {escape(fit.method)}. '
        f"Log-likelihood of the data: {fit.log_likelihood:,.4f}.</p>",
        *(f'<p class="soft">{escape(note)}</p>' for note in explanation.notes),
        search_box("Find a variable or a statement"),
        figure(network_svg(fit.network, changes, links), _NETWORK_CAPTION),
        _statements(explanation.statements, anchors),
        _held_out(explanation, anchors),
        _next_observations(explanation, anchors),
        cpt_sections(explanation, anchors),
    ]
    if len(fit.history) > 2:
        caption = "The objective, which learning maximises, after each iteration of the best start."
        parts.append(f"<h2>How learning went</h2>{figure(history_svg(fit.history), caption)}")
    parts.append(_findings(fit))
    title = "What was learned" if fit.network.name in UNNAMED else f"{fit.network.name}: what was learned"
    return document(title, parts)


def _statements(statements: Sequence[StatementExplanation], anchors: Anchors) -> str:
    """What each statement did: the important ones in sight, the others folded."""
    if not statements:
        return ""
    few = len(statements) <= FEW_STATEMENTS
    important = [each for each in statements if each.is_important or few]
    parts = [
        f'<h2>What each statement did</h2><p class="soft">{_STATEMENTS_KEY}</p>',
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
            f"<td>{gain}<td>{change}<td>{_probability(each)}<td>{anchors.links(each.configurations)}"
        )
    headings = ("statement", "what it did", "how much it matters", "largest change", "probability", "where")
    return table("statements important", headings, "".join(rows))


def _unimportant_table(statements: Sequence[StatementExplanation], anchors: Anchors) -> str:
    rows = (
        f"<tr id=s{each.statement.number}><td>{_statement(each)}<td>{_probability(each)}"
        f"<td>{anchors.links(each.configurations)}"
        for each in statements
    )
    return table("statements others", ("statement", "probability", "where"), "".join(rows))


def _statement(each: StatementExplanation) -> str:
    place, text = each.statement.place, as_text(each.statement.text)
    return f"<i>{as_text(place)}</i> {text}" if place else text


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
        '<h2>Did the knowledge help?</h2><p class="soft">Some observations are left out, everything is learned from '
        "the others, and those left out are predicted. The numbers are log-likelihoods of the observations that the "
        f"knowledge is about: higher is better.</p>{table('numbers', headings, rows)}"
        f"{_where_it_helped(next(iter(available.values())), anchors)}"
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
    rows = "".join(
        f"<tr><td>{anchors.link(each.variable, each.index)}<td>{each.observations:,.4g}<td>± {each.deviation:.3f}"
        for each in explanation.next_observations
    )
    return (
        '<h2>What to observe next</h2><p class="soft">One more observation of these would be most informative. The '
        "uncertainty is the typical standard deviation of the probabilities.</p>"
        f"{table('numbers', ('distribution', 'observed so far', 'uncertainty'), rows)}"
    )


def _findings(fit: FitResult) -> str:
    if not fit.findings:
        return ""
    texts = [str(finding) for finding in fit.findings[:FEW_FINDINGS]]
    shown = bullets(text if len(text) <= LONG_FINDING else f"{text[:LONG_FINDING]} …" for text in texts)
    more = len(fit.findings) - FEW_FINDINGS
    rest = f"<p>{more:,} more are in <code>fit.findings</code>.</p>" if more > 0 else ""
    return f"<h2>What you should know</h2>{shown}{rest}"
