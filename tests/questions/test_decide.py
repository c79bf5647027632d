"""What to do: by hand, by enumeration on random networks, by pyAgrum's influence diagrams; intervals and refusals."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import credo
from tests.helpers.decision_oracle import as_text, choices, expected, random_problem

LINES = "decision treat: no, yes\nutility of lung=yes, treat=no is -100\nutility of treat=yes is -30"
NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["clear", "shadow"]},
    {"lung": ["smoke"], "xray": ["lung"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.8, 0.2]], "xray": [[0.9, 0.1], [0.25, 0.75]]},
)
ROWS = NETWORK.sample(200, seed=1)


def known(network: credo.Network, knowledge: str = "") -> credo.Fit:
    """A fit whose CPTs are those of the network."""
    return credo.fit(network, network.sample(5, seed=0), knowledge, fixed=network.names, method="ml")


@pytest.fixture(scope="module")
def sampled() -> credo.Fit:
    return credo.fit(NETWORK, ROWS, LINES, seed=3)


def test_the_choice_follows_the_threshold_of_medicine() -> None:
    fit = known(NETWORK, LINES)
    probability = float(fit.query("P(lung=yes | xray=shadow)"))
    found = fit.decide("xray=shadow")
    assert found.best == "treat=yes"
    assert found.options["utility"].to_list() == pytest.approx([-30.0, -100.0 * probability])
    assert found.gain == pytest.approx(100.0 * probability - 30.0)
    (row,) = found.thresholds.to_dicts()
    assert row == {
        "probability": "P(lung=yes | xray=shadow)",
        "now": pytest.approx(probability),
        "threshold": pytest.approx(0.3),
        "below": "treat=no",
        "above": "treat=yes",
    }
    flips = {row["utility"]: row["threshold"] for row in found.utilities.to_dicts()}
    assert flips["utility of treat=yes"] == pytest.approx(-100.0 * probability)
    assert flips["utility of lung=yes, treat=no"] == pytest.approx(-30.0 / probability)
    assert "treat=yes above P(lung=yes | xray=shadow) = 30.0%" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["best"] == "treat=yes"


@pytest.mark.filterwarnings("error")
def test_a_state_that_cannot_be_changes_no_decision() -> None:
    network = NETWORK.with_cpts({**NETWORK.cpts, "smoke": [1.0, 0.0]})
    fit = known(network, f"{LINES}\nutility of smoke=yes, lung=yes is -5")
    assert fit.decide().best == "treat=no"
    with pytest.raises(credo.QueryError, match="smoke"):
        fit.decide("smoke=yes")


@pytest.mark.parametrize("seed", range(60))
def test_expected_utilities_are_those_of_enumeration(seed: int) -> None:
    generator = np.random.default_rng(seed)
    network, decisions, lines = random_problem(generator)
    fit = known(network, as_text(decisions, lines))
    inside = [name for name in decisions if name in network]
    after = {n for n in network.names if _ancestors(network, n) & set(inside)}
    before = [name for name in network.names if name not in after]
    evidence = {
        name: tuple(generator.permutation(network.states(name))[: generator.integers(1, 3)].tolist())
        for name in generator.permutation(before)[: generator.integers(0, 3)].tolist()
    }
    found = fit.decide(evidence)
    exact = {
        ", ".join(f"{n}={s}" for n, s in choice.items()): expected(network, choice, lines, evidence)
        for choice in choices(decisions)
    }
    computed = dict(zip(found.options["option"], found.options["utility"], strict=True))
    assert computed == pytest.approx(exact, abs=1e-9)
    assert found.gain == pytest.approx(max(exact.values()) - sorted(exact.values())[-2], abs=1e-9)
    for row in found.utilities.iter_rows(named=True):  # at its threshold, another option is as good
        for factor, best in ((1.0, row["then"]), (1.0, found.best), (0.999, found.best)):
            changed = [*lines]
            place = _line_of(fit, row["utility"])
            amount = row["now"] + factor * (row["threshold"] - row["now"])
            changed[place] = (lines[place][0], amount)
            again = {
                ", ".join(f"{n}={s}" for n, s in choice.items()): expected(network, choice, changed, evidence)
                for choice in choices(decisions)
            }
            assert again[best] == pytest.approx(max(again.values()), abs=1e-9)


def _ancestors(network: credo.Network, name: str) -> set[str]:
    return {name}.union(*(_ancestors(network, parent) for parent in network.parents[name]))


def _line_of(fit: credo.Fit, text: str) -> int:
    utilities = [each for each in fit.knowledge.declarations if isinstance(each, credo.knowledge.UtilityDeclaration)]
    return next(number for number, each in enumerate(utilities) if str(each).startswith(f"{text} is "))


@pytest.mark.parametrize("seed", range(20))
def test_at_a_threshold_two_options_are_equally_good(seed: int) -> None:
    """The probability of an independent cause is changed to its threshold, and decided again."""
    generator = np.random.default_rng(seed)
    cpts = {"d": generator.dirichlet(np.ones(3)), "s": generator.dirichlet(np.ones(2), 3)}
    network = credo.Network({"d": ["a", "b", "c"], "s": ["no", "yes"]}, {"s": ["d"]}, cpts)
    lines = "decision act: x, y, z\n" + "\n".join(
        f"utility of d={d}, act={act} is {generator.integers(-20, 20)}" for d in "abc" for act in "xyz"
    )
    fit = known(network, lines)
    for row in fit.decide().thresholds.iter_rows(named=True):
        place = "abc".index(row["probability"][4])
        for step, best in ((-1e-6, row["below"]), (1e-6, row["above"])):
            q = row["threshold"] + step
            changed = cpts["d"] * (1 - q) / (1 - cpts["d"][place])
            changed[place] = q
            assert known(network.with_cpts({**cpts, "d": changed}), lines).decide().best == best


def test_a_decision_in_the_network_is_set_and_not_observed() -> None:
    network = credo.Network(
        {"ill": ["no", "yes"], "treat": ["no", "yes"], "dead": ["no", "yes"]},
        {"treat": ["ill"], "dead": ["ill", "treat"]},
        {
            "ill": [0.7, 0.3],
            "treat": [[0.9, 0.1], [0.2, 0.8]],
            "dead": [[[0.98, 0.02], [0.97, 0.03]], [[0.4, 0.6], [0.8, 0.2]]],
        },
    )
    text = "decision treat: no, yes\nutility of dead=yes is -100\nutility of treat=yes is -5"
    found = known(network, text).decide()
    values = dict(zip(found.options["option"], found.options["utility"], strict=True))
    assert values == pytest.approx(
        {"treat=no": -100 * (0.7 * 0.02 + 0.3 * 0.6), "treat=yes": -5 - 100 * (0.021 + 0.06)}
    )
    assert known(network, text).decide({"ill": "no"}).best == "treat=no"
    below = {row["probability"]: row for row in found.thresholds.to_dicts()}
    row = below["P(dead=yes | do(treat=yes))"]
    assert (row["below"], row["above"]) == ("treat=yes", "treat=no")
    assert row["threshold"] == pytest.approx((0.7 * 0.02 + 0.3 * 0.6) - 0.05)
    with pytest.raises(credo.QueryError, match="dead depends on the decision treat"):
        known(network, text).decide({"dead": "no"})
    with pytest.raises(credo.QueryError, match="treat is what is to be decided"):
        known(network, text).decide({"treat": "no"})


@pytest.mark.parametrize("seed", range(5))
def test_pyagrum_decides_alike(seed: int) -> None:
    gum = pytest.importorskip("pyagrum")
    generator = np.random.default_rng(seed)
    cpts = {
        "d": generator.dirichlet(np.ones(3)),
        "s": generator.dirichlet(np.ones(2), 3),
        "t": generator.dirichlet(np.ones(2), (3, 2)),
    }
    states = {"d": ["a", "b", "c"], "s": ["no", "yes"], "t": ["no", "yes"]}
    network = credo.Network(states, {"s": ["d"], "t": ["d", "s"]}, cpts)
    worth = generator.integers(-20, 20, (3, 2))
    lines = "decision act: x, y\n" + "\n".join(
        f"utility of d={'abc'[i]}, act={'xy'[j]} is {worth[i, j]}" for i in range(3) for j in range(2)
    )
    diagram = gum.InfluenceDiagram()
    for name, labels in states.items():
        diagram.addChanceNode(gum.LabelizedVariable(name, name, labels))
    diagram.addDecisionNode(gum.LabelizedVariable("act", "act", ["x", "y"]))
    diagram.addUtilityNode(gum.LabelizedVariable("u", "u", 1))
    for arc in (("d", "s"), ("d", "t"), ("s", "t"), ("d", "u"), ("act", "u"), ("t", "act")):
        diagram.addArc(*arc)
    for i, d in enumerate("abc"):
        diagram.cpt("s")[{"d": d}] = cpts["s"][i].tolist()
        for j, s in enumerate(("no", "yes")):
            diagram.cpt("t")[{"d": d, "s": s}] = cpts["t"][i, j].tolist()
        for j, act in enumerate("xy"):
            diagram.utility("u")[{"d": d, "act": act}] = float(worth[i, j])
    diagram.cpt("d").fillWith(cpts["d"].tolist())
    fit = known(network, lines)
    total = 0.0
    for t in ("no", "yes"):
        found = fit.decide({"t": t})
        total += float(fit.query(f"P(t={t})")) * found.options["utility"][0]
        engine = gum.ShaferShenoyLIMIDInference(diagram)
        engine.addEvidence("t", t)
        engine.makeInference()
        assert engine.MEU()["mean"] == pytest.approx(found.options["utility"][0], abs=1e-9)
    engine = gum.ShaferShenoyLIMIDInference(diagram)
    engine.makeInference()
    assert engine.MEU()["mean"] == pytest.approx(total, abs=1e-9)


def test_draws_give_intervals_and_how_sure_the_choice_is(sampled: credo.Fit) -> None:
    found = sampled.decide({"smoke": "yes", "xray": "shadow"})
    asked = sampled.query("P(lung=yes | smoke=yes, xray=shadow)")
    row = found.options.filter(option="treat=no").to_dicts()[0]
    assert row["utility"] == pytest.approx(-100 * float(asked), abs=1e-9)
    assert (row["low"], row["high"]) == pytest.approx((-100 * asked.interval[1], -100 * asked.interval[0]), abs=1e-9)
    assert sum(found.options["probability_best"]) == pytest.approx(1.0)
    assert found.gain_interval is not None
    assert found.gain_interval[0] < found.gain < found.gain_interval[1]
    assert " with probability " in str(found).splitlines()[0]
    certain = sampled.decide({"lung": "yes"})
    assert certain.options["utility"].to_list() == [-30.0, -100.0]
    assert certain.options["probability_best"].to_list() == [1.0, 0.0]


def test_what_is_certain_has_no_interval(sampled: credo.Fit) -> None:
    assert str(sampled.decide("lung=yes")).splitlines()[0] == (
        "Given lung=yes, treat=yes is better with probability >0.99, by 70."
    )


def test_a_fit_that_knows_no_decision_says_what_to_write(sampled: credo.Fit) -> None:
    fit = known(NETWORK)
    with pytest.raises(credo.OptionError, match="declares no decision. Add to the knowledge, or write into a file"):
        fit.decide()
    with pytest.raises(credo.OptionError, match="has no utilities"):
        fit.decide(utilities="decision treat: no, yes")
    assert fit.decide("smoke=no", utilities=LINES).best == "treat=no"
    with pytest.raises(credo.KnowledgeError, match="lung"):
        fit.decide(utilities=LINES.replace("lung", "lug"))
    with pytest.raises(credo.QueryError):
        fit.decide("smok=yes", utilities=LINES)
    with pytest.raises(credo.QueryError, match="treat is what is to be decided"):
        fit.decide("treat=yes", utilities=LINES)


def test_a_noisy_family_decides_through_its_effects() -> None:
    rows = pl.DataFrame(
        {"a": ["no", "yes"] * 20, "b": ["no", "no", "yes", "yes"] * 10, "top": ["no", "yes", "no", "yes"] * 10}
    )
    text = "variables a, b, top: no, yes\ntop is noisy-or of a, b\n" + LINES.replace("lung", "top")
    fit = credo.fit(text, rows, method="map", prior=1)
    found = fit.decide({"a": "yes"})
    value = dict(zip(found.options["option"], found.options["utility"], strict=True))["treat=no"]
    assert value == pytest.approx(-100 * float(fit.query("P(top=yes | a=yes)")))


# Net benefit on held-out rows -----------------------------------------------------------------------------------------


def test_net_benefit_is_that_of_vickers_and_elkin() -> None:
    rows = NETWORK.sample(300, seed=7)
    found = known(NETWORK, LINES).net_benefit(rows)
    fit = known(NETWORK, LINES)
    predicted = fit.predict(rows.drop("lung"), "lung")["lung=yes"].to_numpy()
    ill = (rows["lung"] == "yes").to_numpy()
    treated = predicted >= 0.3
    positive, wrong = (treated & ill).mean(), (treated & ~ill).mean()
    assert found.threshold == pytest.approx(0.3)
    assert found.event == "lung=yes"
    own = found.curve.filter(threshold=found.threshold).to_dicts()[0]
    assert own["model"] == pytest.approx(positive - wrong * 0.3 / 0.7)
    assert own["all"] == pytest.approx(ill.mean() - (~ill).mean() * 0.3 / 0.7)
    by = {row["strategy"]: row["utility"] for row in found.strategies.to_dicts()}
    assert by["decide by the model"] == pytest.approx(np.where(treated, -30, np.where(ill, -100, 0)).mean())
    assert by["treat=yes for everybody"] == -30
    # What deciding gains over treating nobody is the net benefit times what a treated patient gains.
    assert by["decide by the model"] - by["treat=no for everybody"] == pytest.approx(70 * own["model"])
    assert found.rows == 300
    assert "deciding by the model pays" in str(found)


def test_net_benefit_refuses_what_rows_do_not_show(sampled: credo.Fit) -> None:
    assert sampled.net_benefit(ROWS.head(30), given=["smoke"]).rows == 30
    with pytest.raises(credo.OptionError, match="lung is not known when deciding"):
        sampled.net_benefit(ROWS, given=["lung"])
    with pytest.raises(credo.OptionError, match="No row shows lung"):
        sampled.net_benefit(ROWS.drop("lung"))
    network = credo.Network(
        {"treat": ["no", "yes"], "dead": ["no", "yes"]},
        {"dead": ["treat"]},
        {"treat": [0.5, 0.5], "dead": [[0.9, 0.1]] * 2},
    )
    fit = known(network, "decision treat: no, yes\nutility of dead=yes is -100")
    with pytest.raises(credo.OptionError, match="dead depends on the decision"):
        fit.net_benefit(network.sample(10))


def test_a_decision_a_question_and_the_cpt_show_the_same_probability() -> None:
    network = credo.Network(
        {"smoke": ["no", "yes"], "lung": ["no", "yes"]},
        {"lung": ["smoke"]},
        {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.4, 0.6]]},
    )
    lines = "decision treat: no, yes\nutility of lung=yes, treat=no is -100\nutility of treat=yes is -30"
    many = credo.PosteriorOptions(draws=1500, max_draws=1500)  # more than a question is answered under
    fit = credo.fit(network, network.sample(40, seed=1), lines, posterior=many)
    for given, question in (("smoke=yes", "P(lung=yes | smoke=yes)"), (None, "P(lung=yes)")):
        decided = fit.decide(given)
        asked = float(fit.query(question))
        worth = dict(zip(decided.options["option"], decided.options["utility"], strict=True))
        assert worth["treat=no"] == pytest.approx(-100 * asked, abs=1e-9)
        assert decided.thresholds["now"][0] == pytest.approx(asked, abs=1e-9)
    assert float(fit.query("P(lung=yes | smoke=yes)")) == pytest.approx(fit.network.cpt_array("lung")[1, 1])


def test_evidence_may_exclude_all_that_a_utility_is_about() -> None:
    text = """
    variables disease, cured: no, yes
    variable drug: none, new
    cured depends on disease, drug
    decision drug: none, new
    utility of disease=yes, cured=no is -100
    utility of drug=new is -20
    """
    columns = {"disease": ["no", "yes"] * 20, "drug": ["none", "new"] * 20, "cured": ["yes", "no", "yes", "yes"] * 10}
    found = credo.fit(text, pl.DataFrame(columns)).decide("disease=no")
    assert found.best == "drug=none"
    assert found.gain == 20
    assert found.thresholds.is_empty()
