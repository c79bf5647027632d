"""Questions to a fit: numbers worked out by hand, intervals from draws, and honest refusals."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

import credo
from credo import ImpossibleRowError, OptionError, Query, QueryError

NETWORK = credo.Network(
    {"smoke": ["no", "yes"], "lung": ["no", "yes"], "xray": ["clear", "shadow"]},
    {"lung": ["smoke"], "xray": ["lung"]},
    {"smoke": [0.6, 0.4], "lung": [[0.95, 0.05], [0.8, 0.2]], "xray": [[0.9, 0.1], [0.25, 0.75]]},
)
ROWS = NETWORK.sample(200, seed=1)


@pytest.fixture(scope="module")
def exact() -> credo.Fit:
    return credo.fit(NETWORK, ROWS, method="ml")


@pytest.fixture(scope="module")
def sampled() -> credo.Fit:
    return credo.fit(NETWORK, ROWS, "smoke raises lung", method="posterior", seed=3)


def test_a_question_is_answered_by_bayes_rule(exact: credo.Fit) -> None:
    cpts = exact.network.cpts
    lung = cpts["smoke"] @ cpts["lung"]
    expected = lung[1] * cpts["xray"][1, 1] / (lung @ cpts["xray"][:, 1])
    answer = exact.query("P(lung=yes | xray=shadow)")
    assert float(answer) == pytest.approx(expected, abs=1e-12)
    assert answer.evidence_probability == pytest.approx(lung @ cpts["xray"][:, 1], abs=1e-12)


def test_an_intervention_cuts_the_parents(exact: credo.Fit) -> None:
    assert float(exact.query("P(smoke=yes | do(lung=yes))")) == pytest.approx(exact.network.cpts["smoke"][1])
    assert float(exact.query("P(xray=shadow | do(lung=yes))")) == pytest.approx(exact.network.cpts["xray"][1, 1])


def test_all_marginals_are_those_of_the_questions(exact: credo.Fit, sampled: credo.Fit) -> None:
    for fit in (exact, sampled):
        found = fit.marginals("xray=shadow").rows_by_key(["variable", "state"], unique=True)
        for name in ("smoke", "lung"):
            asked = fit.query(f"P({name} | xray=shadow)").frame
            for state, *numbers in asked.iter_rows():
                assert list(found[name, state]) == pytest.approx(numbers, abs=1e-12)
        assert found["xray", "shadow"][0] == 1.0


def test_all_marginals_under_an_intervention_cut_the_parents(exact: credo.Fit) -> None:
    found = exact.marginals(interventions={"lung": "yes"}).rows_by_key(["variable", "state"], unique=True)
    assert found["smoke", "yes"][0] == pytest.approx(exact.network.cpts["smoke"][1])
    assert found["xray", "shadow"][0] == pytest.approx(exact.network.cpts["xray"][1, 1])


def test_what_is_set_is_certain_under_all_draws() -> None:
    coin = credo.Network({"coin": ["heads", "tails"]})
    fit = credo.fit(coin, pl.DataFrame({"coin": ["heads"] * 4}), posterior=credo.PosteriorOptions(draws=20, warmup=20))
    found = fit.marginals(interventions={"coin": "tails"}).rows()
    assert found == [("coin", "heads", 0.0, 0.0, 0.0), ("coin", "tails", 1.0, 1.0, 1.0)]


def test_soft_evidence_multiplies_the_odds(exact: credo.Fit) -> None:
    before = exact.marginals().rows_by_key(["variable", "state"], unique=True)["lung", "yes"][0]
    after = exact.marginals(soft={"lung": {"yes": 3, "no": 1}}).rows_by_key(["variable", "state"], unique=True)
    assert after["lung", "yes"][0] == pytest.approx(3 * before / (1 + 2 * before))


def test_certain_soft_evidence_is_evidence(sampled: credo.Fit) -> None:
    soft = sampled.marginals(soft={"xray": {"shadow": 7}})
    hard = sampled.marginals("xray=shadow")
    assert soft["low"].to_list() == pytest.approx(hard["low"].to_list(), abs=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"evidence": "lung=yes", "interventions": {"lung": "no"}}, "lung is given twice"),
        ({"evidence": "lung=yes", "soft": {"lung": {"no": 1}}}, "lung is given twice"),
        ({"soft": {"lung": {"maybe": 1}}}, 'no state "maybe"'),
        ({"soft": {"lung": {"yes": -1}}}, "not negative"),
        ({"soft": {"lung": {}}}, "not all zero"),
        ({"soft": {"lung": 3}}, "a mapping from its states"),
    ],
)
def test_marginals_refuse_what_has_no_meaning(exact: credo.Fit, given: dict[str, object], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        exact.marginals(**given)  # type: ignore[arg-type]


def test_without_draws_there_is_no_interval_and_the_answer_says_why(exact: credo.Fit) -> None:
    answer = exact.query("P(lung=yes)")
    assert answer.frame["low"].to_list() == [None]
    assert "gives one estimate" in str(answer)
    with pytest.raises(OptionError, match="There is no interval"):
        _ = answer.interval


def test_an_answer_under_draws_is_their_mean_and_its_interval_holds_them(sampled: credo.Fit) -> None:
    answer = sampled.query("P(xray=shadow | smoke=yes)", level=0.9)
    low, high = answer.interval
    assert low < answer.probability < high
    wide = sampled.query("P(xray=shadow | smoke=yes)", level=0.99).interval
    assert wide[0] < low < high < wide[1]
    # A question about one number of a CPT has the interval of that number.
    one = sampled.query("P(lung=yes | smoke=yes)", level=0.95)
    row = sampled.interval("lung", 0.95).filter(pl.col("smoke") == "yes", pl.col("state") == "yes")
    assert one.interval == pytest.approx((row["low"][0], row["high"][0]), abs=0.02)
    assert one.probability == pytest.approx(row["probability"][0], abs=0.01)


def test_all_states_of_a_joint_target_sum_to_one(sampled: credo.Fit) -> None:
    frame = sampled.query("P(smoke, lung | xray=shadow)").frame
    assert frame.columns == ["smoke", "lung", "probability", "low", "high"]
    assert frame["probability"].sum() == pytest.approx(1.0)


def test_the_interval_covers_the_truth_as_often_as_it_claims() -> None:
    truth = float(credo.fit(NETWORK, ROWS, method="ml", fixed=NETWORK.names).query("P(lung=yes | xray=shadow)"))
    hits = 0
    for seed in range(10):
        rows = NETWORK.sample(100, seed=100 + seed)
        fit = credo.fit(NETWORK.without_cpts(), rows, method="posterior", seed=seed)
        low, high = fit.query("P(lung=yes | xray=shadow)", level=0.8).interval
        hits += low <= truth <= high
    assert hits >= 5  # 8 expected; fewer by chance one time in a hundred


def test_a_case_is_predicted(sampled: credo.Fit) -> None:
    frame = sampled.predict({"xray": "shadow", "smoke": None})
    assert frame["variable"].unique(maintain_order=True).to_list() == ["smoke", "lung"]
    answer = sampled.query("P(lung=yes | xray=shadow)")
    row = frame.filter(pl.col("variable") == "lung", pl.col("state") == "yes")
    assert row["probability"][0] == pytest.approx(answer.probability, abs=1e-12)
    assert (row["low"][0], row["high"][0]) == pytest.approx(answer.interval, abs=1e-12)


@pytest.mark.parametrize("kind", ["exact", "sampled"])
def test_a_table_is_predicted_row_by_row(kind: str, request: pytest.FixtureRequest) -> None:
    fit: credo.Fit = request.getfixturevalue(kind)
    table = pl.DataFrame({"smoke": ["no", None, "no", "yes"], "xray": ["clear", "shadow", "clear", None]})
    frame = fit.predict(table)
    assert len(frame) == 4
    for row, case in enumerate(table.iter_rows(named=True)):
        expected = fit.predict(case, "lung").filter(pl.col("state") == "yes")
        assert frame["lung=yes"][row] == pytest.approx(expected["probability"][0], abs=1e-12)
        if kind == "sampled":
            assert frame["lung=yes low"][row] == pytest.approx(expected["low"][0], abs=1e-12)
    assert ("lung=yes low" in frame.columns) is (kind == "sampled")


def test_what_a_table_shows_of_a_target_is_not_used(exact: credo.Fit) -> None:
    with_target = pl.DataFrame({"smoke": ["no"], "lung": ["yes"], "xray": ["clear"]})
    assert exact.predict(with_target, "lung").equals(exact.predict(with_target.drop("lung"), "lung"))
    with pytest.raises(OptionError, match="Every variable has a column"):
        exact.predict(with_target)


def test_the_most_probable_states(exact: credo.Fit) -> None:
    frame = exact.most_probable({"xray": "shadow"})
    assert frame["given"].to_list() == [False, False, True]
    assert frame["state"].to_list() == ["no", "no", "shadow"]


def _most_probable_by_enumeration(network: credo.Network, given: dict[str, str], do: dict[str, str]) -> float:
    """The largest P(all variables) among states that agree with what is given."""
    best = 0.0
    for states in product(*(network.states(name) for name in network.names)):
        case = dict(zip(network.names, states, strict=True))
        if all(case[name] == state for name, state in {**given, **do}.items()):
            best = max(best, _joint(network, case, do))
    return best


def _joint(network: credo.Network, case: dict[str, str], do: dict[str, str]) -> float:
    value = 1.0
    for name in network.names:
        if name not in do:
            place = tuple(network.states(each).index(case[each]) for each in (*network.parents[name], name))
            value *= float(network.cpt_array(name)[place])
    return value


@pytest.mark.parametrize("seed", range(6))
def test_effects_of_noisy_families_are_summed_over_in_the_most_probable_states(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = {"a": ["n", "y"], "b": ["n", "m", "y"], "c": ["n", "y"], "d": ["n", "y"]}
    cpts = {"a": rng.dirichlet([1, 1]), "b": rng.dirichlet([1, 1, 1], 2), "d": rng.dirichlet([1, 1], 2)}
    form = credo.NoisyForm(
        "noisy-or", (("a",), ("b",)), ("n", "y"), leak=True,
        cpts=(rng.dirichlet([1, 1], 2), rng.dirichlet([1, 1], 3), rng.dirichlet([1, 1])),
    )  # fmt: skip
    network = credo.Network(names, {"b": ["a"], "c": ["a", "b"], "d": ["c"]}, cpts, forms={"c": form})
    rows = pl.DataFrame({name: states[:1] for name, states in names.items()})
    fit = credo.fit(network, rows, method="ml", fixed=network.names)
    for given, do in (({}, {}), ({"d": "y"}, {}), ({"a": "y"}, {}), ({}, {"c": "y"}), ({"c": "y"}, {"a": "n"})):
        found = fit.most_probable(given, interventions=do)
        case = dict(found.select("variable", "state").iter_rows())
        assert _joint(network, case, do) == pytest.approx(_most_probable_by_enumeration(network, given, do), rel=1e-12)


def test_the_most_probable_states_of_a_noisy_family_with_many_parents_need_evidence() -> None:
    names = {**{f"x{i}": ["n", "y"] for i in range(40)}, "c": ["n", "y"]}
    causes = [f"x{i}" for i in range(40)]
    form = credo.NoisyForm("noisy-or", [(each,) for each in causes], ("n", "y"), cpts=[[[0.9, 0.1], [0.4, 0.6]]] * 40)
    network = credo.Network(names, {"c": causes}, {each: [0.7, 0.3] for each in causes}, forms={"c": form})
    fit = credo.fit(network, pl.DataFrame({name: ["n"] for name in names}), method="ml", fixed=network.names)
    with pytest.raises(credo.TooLargeError, match="Give the states of some of its parents"):
        fit.most_probable()
    found = fit.most_probable(dict.fromkeys(causes[3:], "n"))
    assert found.filter(variable="c")["state"].to_list() == ["y"]


def test_what_an_impossible_answer_is_sensitive_to() -> None:
    zeros = NETWORK.with_cpts({"lung": [[1.0, 0.0], [0.8, 0.2]], "xray": [[1.0, 0.0], [0.25, 0.75]]})
    fit = credo.fit(zeros, ROWS, method="ml", fixed=zeros.names)
    for question in ("P(lung=yes | smoke=no)", "P(xray=shadow | smoke=no)", "P(lung=no | xray=shadow)"):
        found = fit.sensitivity(question)
        changes = dict(found.parameters.select("parameter", "change_per_point").iter_rows())
        assert found.probability == 0.0
        for parameter, (name, place) in {
            "P(lung=yes | smoke=no)": ("lung", (0, 1)),
            "P(xray=shadow | lung=no)": ("xray", (0, 1)),
            "P(xray=shadow | lung=yes)": ("xray", (1, 1)),
        }.items():
            cpt = zeros.cpt_array(name).copy()
            cpt[place] += 1e-7
            cpt[(*place[:-1], 0)] -= 1e-7
            moved = credo.fit(zeros.with_cpts({name: cpt}), ROWS, method="ml", fixed=zeros.names)
            slope = 0.01 * float(moved.query(question)) / 1e-7
            assert changes.get(parameter, 0.0) == pytest.approx(slope, abs=1e-6)


def test_an_answer_is_sensitive_to_what_is_certain() -> None:
    certain = NETWORK.with_cpts({"lung": [[0.0, 1.0], [0.8, 0.2]]})
    fit = credo.fit(certain, ROWS, method="ml", fixed=certain.names)
    changes = dict(fit.sensitivity("P(lung=yes)").parameters.select("parameter", "change_per_point").iter_rows())
    assert changes["P(lung=yes | smoke=no)"] == pytest.approx(0.01 * 0.6)


def test_an_intervention_sets_one_state(exact: credo.Fit) -> None:
    for ask in (exact.marginals, exact.most_probable):
        with pytest.raises(QueryError, match="An intervention sets smoke to one state, not to no, yes"):
            ask(interventions={"smoke": ["no", "yes"]})
        with pytest.raises(QueryError, match="Evidence about smoke names no state"):
            ask({"smoke": []})


def test_soft_evidence_has_numbers_for_states() -> None:
    network = credo.Network({"b": ["0", "1", "2"]})
    fit = credo.fit(network, pl.DataFrame({"b": ["0", "1", "2", "2"]}), method="ml")
    as_texts = fit.marginals(soft={"b": {"0": 1, "1": 3}})
    assert as_texts.equals(fit.marginals(soft={"b": {0: 1, 1: 3}}))  # as evidence may be given
    for wrong in ({"0": "x"}, {"0": [1.0]}, {"0": None}):
        with pytest.raises(QueryError, match="oft evidence on b|likelihoods of b"):
            fit.marginals(soft={"b": wrong})  # type: ignore[dict-item]
    with pytest.raises(QueryError, match="Soft evidence is a mapping"):
        fit.marginals(soft=["b"])  # type: ignore[arg-type]


# Soft evidence is the same as the result of one more test, with these probabilities.
WITH_TEST = credo.Network(
    {**{name: NETWORK.states(name) for name in NETWORK.names}, "test": ["other", "seen"]},
    {**NETWORK.parents, "test": ["lung"]},
    {**NETWORK.cpts, "test": [[0.99, 0.01], [0.2, 0.8]]},
)
SOFT = {"lung": {"no": 0.01, "yes": 0.8}}


@pytest.fixture(scope="module")
def with_test() -> credo.Fit:
    return credo.fit(WITH_TEST, ROWS, method="ml", fixed=WITH_TEST.names)


@pytest.fixture(scope="module")
def without_test() -> credo.Fit:
    return credo.fit(NETWORK, ROWS, method="ml", fixed=NETWORK.names)


def test_soft_evidence_is_that_of_one_more_test(with_test: credo.Fit, without_test: credo.Fit) -> None:
    expected = with_test.most_probable("xray=clear, test=seen")["state"].to_list()
    assert without_test.most_probable("xray=clear", soft=SOFT)["state"].to_list() == expected[:-1]
    assert expected[:-1] != without_test.most_probable("xray=clear")["state"].to_list()
    one = without_test.sensitivity("P(smoke=yes | xray=shadow)", soft=SOFT)
    other = with_test.sensitivity("P(smoke=yes | xray=shadow, test=seen)")
    assert one.probability == pytest.approx(other.probability, abs=1e-12)
    changes = dict(other.parameters.select("parameter", "change_per_point").iter_rows())
    for parameter, change in one.parameters.select("parameter", "change_per_point").iter_rows():
        assert changes[parameter] == pytest.approx(change, abs=1e-12)
    without = dict(one.evidence.select("evidence", "without").iter_rows())
    expected_without = dict(other.evidence.select("evidence", "without").iter_rows())
    assert without["lung, uncertain"] == pytest.approx(expected_without["test=seen"], abs=1e-12)
    with pytest.raises(QueryError, match="xray is given twice"):
        without_test.sensitivity("P(smoke=yes | xray=shadow)", soft={"xray": {"clear": 1}})
    with pytest.raises(QueryError, match="xray is given twice"):
        without_test.most_probable("xray=shadow", soft={"xray": {"clear": 1}})


def test_bars_of_a_case_that_is_known_completely_and_impossible_are_refused() -> None:
    certain = NETWORK.with_cpts({"lung": [[1.0, 0.0], [0.8, 0.2]]})
    fit = credo.fit(certain, ROWS, method="ml", fixed=NETWORK.names)
    with pytest.raises(QueryError, match="probability zero"):
        fit.marginals("smoke=no, lung=yes, xray=clear")
    with pytest.raises(QueryError, match="probability zero"):
        fit.marginals("smoke=no, lung=yes")


def test_sensitivity_equals_the_change_of_the_answer(sampled: credo.Fit) -> None:
    question = "P(lung=yes | xray=shadow)"
    found = sampled.sensitivity(question)
    assert found.evidence["evidence"].to_list() == ["xray=shadow"]
    point = credo.fit(sampled.network, ROWS, method="ml", fixed=NETWORK.names)
    row = found.parameters.filter(pl.col("parameter") == "P(lung=yes | smoke=yes)")
    shifted = sampled.network.cpts["lung"].copy()
    shifted[1] += np.array([-1e-5, 1e-5])
    moved = credo.fit(sampled.network.with_cpts({"lung": shifted}), ROWS, method="ml", fixed=NETWORK.names)
    change = (float(moved.query(question)) - float(point.query(question))) / 1e-5
    assert 100 * row["change_per_point"][0] == pytest.approx(change, rel=1e-3)
    assert "Without this evidence" in str(found)


def test_impossible_evidence_and_unknown_names_are_errors(exact: credo.Fit) -> None:
    certain = NETWORK.with_cpts({"lung": [[1.0, 0.0], [0.8, 0.2]]})
    fit = credo.fit(certain, ROWS, method="ml", fixed=NETWORK.names)
    with pytest.raises(QueryError, match="probability zero to what is given: P\\(smoke=no, lung=yes\\)"):
        fit.query("P(xray | smoke=no, lung=yes)")
    with pytest.raises(QueryError, match="probability zero"):
        fit.predict({"smoke": "no", "lung": "yes"})
    with pytest.raises(QueryError, match="probability zero"):
        fit.most_probable({"smoke": "no", "lung": "yes"})
    with pytest.raises(ImpossibleRowError, match="Row 2 is impossible"):
        fit.predict(pl.DataFrame({"smoke": ["yes", "no"], "lung": ["yes", "yes"]}))
    with pytest.raises(QueryError, match='no variable "lnug"'):
        exact.predict({"lnug": "yes"})


def test_noisy_families_are_asked_through_their_expansion() -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"], "c": ["no", "yes"]}, {"c": ["a", "b"]})
    rng = np.random.default_rng(0)
    a, b = rng.random(300) < 0.4, rng.random(300) < 0.5
    c = (a & (rng.random(300) < 0.7)) | (b & (rng.random(300) < 0.5))
    rows = pl.DataFrame({n: np.where(v, "yes", "no") for n, v in (("a", a), ("b", b), ("c", c))})
    fit = credo.fit(network, rows, "c is a noisy-or of a, b", method="cmap")
    full = fit.network.cpt_array("c")
    assert float(fit.query("P(c=yes | a=yes, b=yes)")) == pytest.approx(full[1, 1, 1], abs=1e-9)


@pytest.mark.parametrize("question", [None, 5, ["lung"]])
def test_what_is_no_question_is_refused_in_a_sentence(exact: credo.Fit, question: object) -> None:
    for ask in (exact.query, exact.sensitivity):
        with pytest.raises(QueryError, match=r"A question is a text, not .*Write it like P\("):
            ask(question)  # type: ignore[operator]


def test_a_question_made_in_python_names_what_the_network_has(exact: credo.Fit) -> None:
    asked = Query({"lung": ("yes",)}, {"xray": ("shadow",)}, {"smoke": "no"})
    text = exact.query("P(lung=yes | xray=shadow, do(smoke=no))")
    assert exact.query(asked).probability == text.probability
    for wrong in (
        Query({"lungs": ()}),
        Query({"lung": ()}, {"lungs": ("yes",)}),
        Query({"lung": ()}, {}, {"lungs": "no"}),
    ):
        with pytest.raises(QueryError, match='The network has no variable "lungs"'):
            exact.query(wrong)
    with pytest.raises(QueryError, match='lung has no state "maybe"'):
        exact.sensitivity(Query({"lung": ("maybe",)}))


@pytest.mark.parametrize("level", ["x", None, True, 1.5, float("nan")])
def test_a_level_is_a_number_between_0_and_1(sampled: credo.Fit, level: object) -> None:
    for ask in (
        lambda: sampled.query("P(lung=yes)", level),  # type: ignore[arg-type]
        lambda: sampled.predict({"smoke": "no"}, level=level),  # type: ignore[arg-type]
        lambda: sampled.interval("lung", level),  # type: ignore[arg-type]
    ):
        with pytest.raises(OptionError, match="The level of an interval lies between 0 and 1; it is"):
            ask()


def test_targets_are_names(exact: credo.Fit) -> None:
    with pytest.raises(OptionError, match="targets is the name of a variable or a list of names, not 5"):
        exact.predict({"smoke": "no"}, targets=5)  # type: ignore[arg-type]


def test_evidence_may_be_a_text(exact: credo.Fit) -> None:
    expected = exact.most_probable({"xray": "shadow", "smoke": ["no", "yes"]})
    assert exact.most_probable("xray=shadow, smoke in {no, yes}").equals(expected)
    assert exact.most_probable("").equals(exact.most_probable())
    for wrong, message in {
        "xray": "xray needs a state, as in xray=shadow",
        "xray=shadow |": "it should end before “|”",
        "xray=shadow,": "the name of a variable is missing at the end",
        "xray=shadow, xray=clear": "xray occurs twice",
    }.items():
        with pytest.raises(QueryError) as caught:
            exact.most_probable(wrong)
        own = "{'lung': 'yes', 'smoke': 'yes'}"
        assert str(caught.value).startswith(f"The evidence “{wrong}”: {message}. Write it like {own}, or as a text")
    with pytest.raises(QueryError, match=r"Evidence is a mapping from variables to states, not \['xray'\]"):
        exact.most_probable(["xray"])  # type: ignore[arg-type]


def test_none_and_nan_are_missing_in_a_case(exact: credo.Fit) -> None:
    expected = exact.predict({"smoke": "no"})
    for missing in (None, float("nan"), np.nan):
        assert exact.predict({"smoke": "no", "xray": missing}).equals(expected)


def test_what_is_no_path_is_refused_in_a_sentence(exact: credo.Fit) -> None:
    for act in (exact.save, exact.report, credo.load):
        for path in (5, None):
            with pytest.raises(OptionError, match=f"A path is a text or a pathlib.Path, not {path}"):
                act(path)  # type: ignore[operator]


def test_a_number_of_a_cpt_is_the_one_that_the_cpt_shows(sampled: credo.Fit) -> None:
    lung, smoke = sampled.network.cpts["lung"], sampled.network.cpts["smoke"]
    for question, expected in {
        "P(lung=yes | smoke=yes)": lung[1, 1],
        "P(lung=yes | do(smoke=yes))": lung[1, 1],
        "P(lung in {no, yes} | smoke=no)": 1.0,
        "P(smoke=yes)": smoke[1],
        "P(xray=shadow | lung=yes, smoke=no)": sampled.network.cpts["xray"][1, 1],  # where smoke does not matter
    }.items():
        answer = sampled.query(question)
        assert answer.probability == pytest.approx(expected, abs=1e-14)
        assert question == "P(lung in {no, yes} | smoke=no)" or answer.interval[0] < expected < answer.interval[1]
    case = sampled.predict({"smoke": "yes"}, "lung")["probability"].to_list()
    assert case == lung[1].tolist()
    table = sampled.predict(pl.DataFrame({"smoke": ["yes", "no", "yes"]}), "lung")["lung=yes"].to_list()
    assert table == [lung[1, 1], lung[0, 1], lung[1, 1]]
    other = sampled.query("P(lung=yes | smoke=yes, xray=shadow)").probability
    assert abs(other - lung[1, 1]) > 0.1


def test_questions_keep_the_memory_limit_of_the_fit() -> None:
    names = [f"v{number}" for number in range(18)]
    rows = pl.DataFrame({name: ["n", "y"] * 3 for name in names})
    fit = credo.fit(credo.Network({name: ["n", "y"] for name in names}), rows, method="ml", memory_limit=1_000_000)
    with pytest.raises(credo.TooLargeError):
        fit.query(f"P({', '.join(names)})")


def test_what_no_arrows_join_with_the_target_is_said_to_change_nothing() -> None:
    network = credo.Network(
        {name: ["no", "yes"] for name in ("a", "b", "c", "alone")},
        {"b": ["a", "c"]},
        {
            "a": [0.5, 0.5],
            "c": [0.2, 0.8],
            "alone": [0.3, 0.7],
            "b": [[[0.5, 0.5], [0.4, 0.6]], [[0.3, 0.7], [0.1, 0.9]]],
        },
    )
    answer = network.query("P(a=yes | alone=yes)")
    assert answer.unconnected == "No arrows join alone with a: what is known of it changes nothing."
    assert answer.unconnected in str(answer)
    assert not network.query("P(a=yes | c=yes)").unconnected  # by b, which may be known
    assert not network.query("P(a=yes | b=yes)").unconnected


def test_an_answer_about_a_variable_with_one_state_says_that_nothing_was_learned_about_others() -> None:
    rows = pl.DataFrame({"a": ["no", "yes"] * 5, "b": ["no"] * 10})
    answer = credo.fit("b depends on a", rows).query("P(b=no | a=yes)")
    assert answer.unconnected.startswith("b has one state: nothing was learned about others")
