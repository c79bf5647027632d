"""What an answer and a decision rest on: exact ends of a tornado, findings, statements; and their pictures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import credo
from credo.probability_texts import percent_digits
from tests.helpers.command_line import run

NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["none", "early", "late"], "xray": ["clear", "shadow"], "cough": ["no", "yes"]},
    {"lung": ["smoke"], "xray": ["lung"], "cough": ["lung"]},
    {
        "smoke": [0.6, 0.4],
        "lung": [[0.9, 0.07, 0.03], [0.7, 0.2, 0.1]],
        "xray": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]],
        "cough": [[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]],
    },
)
QUESTION = "P(lung=late | xray=shadow)"
LINES = """\
decision treat: no, yes
utility of lung=late, treat=no is -100
utility of lung=early, treat=no is -40
utility of treat=yes is -12
P(lung=late | smoke=yes) <= 0.2
P(xray=shadow | lung=late) >= 0.6"""


@pytest.fixture(scope="module")
def fit() -> credo.Fit:
    return credo.fit(NETWORK, NETWORK.sample(120, seed=1), LINES, seed=1)


def changed(fit: credo.Fit, parameter: str, value: float) -> credo.Fit:
    """The fit with one number changed, and the others of its distribution in proportion; without draws."""
    network = fit.network
    for name in network.names:
        for j in range(network.configurations(name)):
            for k in range(len(network.states(name))):
                if network.describe(name, j, k) == parameter:
                    cpt = network.cpts[name].copy().reshape(-1, len(network.states(name)))
                    others = np.delete(cpt[j], k) * (1 - value) / (1 - cpt[j, k])
                    cpt[j] = np.insert(others, k, value)
                    made = network.with_cpts({**network.cpts, name: cpt.reshape(network.cpts[name].shape)})
                    lines = "\n".join(LINES.splitlines()[:4])
                    return credo.fit(made, NETWORK.sample(5, seed=0), lines, fixed=made.names, method="ml")
    raise AssertionError(parameter)


def ends_of(fit: credo.Fit, parameter: str) -> tuple[float, float]:
    for name in fit.network.names:
        for row, j in ((row, j) for j, row in enumerate(fit.interval(name).iter_rows(named=True))):
            states = len(fit.network.states(name))
            if fit.network.describe(name, j // states, j % states) == parameter:
                return row["low"], row["high"]
    raise AssertionError(parameter)


def test_the_ends_of_a_tornado_are_exact(fit: credo.Fit) -> None:
    found = fit.sensitivity(QUESTION)
    assert len(found.parameters) > 8
    for row in found.parameters.head(8).iter_rows(named=True):
        low, high = ends_of(fit, row["parameter"])
        for value, end in ((low, "at_low"), (high, "at_high")):
            exact = float(changed(fit, row["parameter"], value).query(QUESTION))
            assert row[end] == pytest.approx(exact, abs=1e-9)


def test_the_ends_of_a_decisions_tornado_are_exact(fit: credo.Fit) -> None:
    found = fit.decision_sensitivity("xray=shadow")
    best = found.query.split(" ")[2]
    assert found.unit == "utility"
    for row in found.parameters.head(8).iter_rows(named=True):
        low, _ = ends_of(fit, row["parameter"])
        options = dict(
            changed(fit, row["parameter"], low).decide("xray=shadow").options.select("option", "utility").iter_rows()
        )
        other = next(name for name in options if name != best)
        assert row["at_low"] == pytest.approx(options[best] - options[other], abs=1e-9)


def test_the_text_has_the_ends_that_the_tornado_draws(fit: credo.Fit) -> None:
    found = fit.sensitivity(QUESTION)
    (name, *ends), *_ = found.bars()
    value = next(row["value"] for row in found.parameters.to_dicts() if row["parameter"] == name)
    low, high = map(percent_digits, ends)
    assert f"  {name} = {percent_digits(value)}: {low} to {high}" in str(found)


def test_findings_have_the_answers_that_they_would_lead_to(fit: credo.Fit) -> None:
    plain = changed(fit, "P(smoke=yes)", float(fit.network.cpts["smoke"][1]))
    found = plain.sensitivity(QUESTION)
    assert set(found.findings["variable"]) == {"smoke", "cough"}
    for row in found.findings.iter_rows(named=True):
        name = row["variable"]
        answers = {s: float(plain.query(f"P(lung=late | xray=shadow, {name}={s})")) for s in plain.network.states(name)}
        assert row["low"] == pytest.approx(min(answers.values()), abs=1e-9)
        assert row["high"] == pytest.approx(max(answers.values()), abs=1e-9)
        assert row["high_state"] == max(answers, key=answers.__getitem__)
    gains = plain.decision_sensitivity("xray=shadow")
    best, other = gains.query.split(" ")[2], gains.query.split(" ")[4].rstrip(",")
    row = gains.findings.filter(variable="smoke").to_dicts()[0]
    exact = []
    for state in ("no", "yes"):
        options = dict(plain.decide({"xray": "shadow", "smoke": state}).options.select("option", "utility").iter_rows())
        exact.append(options[best] - options[other])
    assert [row["low"], row["high"]] == pytest.approx(sorted(exact), abs=1e-9)


def test_statements_are_compared_with_learning_without_them(fit: credo.Fit) -> None:
    found = fit.sensitivity(QUESTION, statements=True)
    assert len(found.statements) == 2
    for row in found.statements.iter_rows(named=True):
        rest = "\n".join(line for line in LINES.splitlines() if line != row["statement"])
        without = credo.fit(NETWORK, NETWORK.sample(120, seed=1), rest, seed=1).network
        exact = float(credo.fit(without, NETWORK.sample(5), fixed=without.names, method="ml").query(QUESTION))
        assert row["without"] == pytest.approx(exact, abs=0.02)  # two runs of a sampler
    assert "Learned without one of these statements" in str(found)
    assert len(fit.sensitivity(QUESTION).statements) == 0


def test_tornados_are_drawn(fit: credo.Fit, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    import credo.plot

    found = fit.sensitivity(QUESTION)
    for of in ("parameters", "findings", "evidence"):
        ax = credo.plot.tornado(found, of)
        assert len(ax.get_yticklabels()) == min(20, len(getattr(found, of)))
    widths = [
        max(abs(low - found.probability), abs(high - found.probability))
        for low, high in found.findings.select("low", "high").iter_rows()
    ]
    assert (
        credo.plot.tornado(found, "findings").get_yticklabels()[-1].get_text()
        == found.findings["variable"][int(np.argmax(widths))]
    )
    for broken in (lambda: credo.plot.tornado(found, "statements"), lambda: credo.plot.tornado(found, "bars")):
        with pytest.raises(credo.OptionError):
            broken()
    fit.save(tmp_path / "clinic.fit")
    done = run("sensitivity", "clinic.fit", QUESTION, "--picture", "tornado.svg", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "tornado.svg").read_text().count("<path") > 10
    decided = run("sensitivity", "clinic.fit", "--given", "xray=shadow", folder=tmp_path)
    assert decided.stdout.startswith("gain of treat=")
    assert "A picture is .png" in run("sensitivity", "clinic.fit", "--picture", "a.doc", folder=tmp_path).stderr


def test_the_report_draws_tornados_of_what_was_asked_and_says_what_to_do(fit: credo.Fit, tmp_path: Path) -> None:
    page = fit.report(tmp_path / "report.html", ask=[QUESTION, "P(lung | xray=shadow)"]).read_text(encoding="utf-8")
    assert page.count('class="tornado"') == 2  # numbers and findings; an answer of several numbers has none
    assert "What the answers rest on" in page
    assert str(fit.decide()).splitlines()[0].split(" (")[0] in page
    plain = credo.fit(NETWORK, NETWORK.sample(60, seed=1), method="ml").report(tmp_path / "plain.html").read_text()
    assert "What to do" not in plain.replace("What to do about", "")
    assert "tornado" not in plain.split("<body>")[1]
