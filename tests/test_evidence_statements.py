"""Experts' numbers and published studies: factors on single numbers and on any probability of the network."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta

import credo
from credo.constraints.evidence import CountEvidence, LogRatioEvidence
from credo.constraints.lower import lower
from credo.explain.evidence_used import evidence_used
from credo.knowledge.evidence import equivalent_cases, fitted_beta
from credo.statistics.evidence import EvidenceDensity
from tests.helpers.command_line import run

NETWORK = "variables smoke, lung, xray: no, yes\nlung depends on smoke\nxray depends on lung\n"
COIN = "variable coin: heads, tails\n"


def coins(heads: int, tails: int) -> pl.DataFrame:
    return pl.DataFrame({"coin": ["heads"] * heads + ["tails"] * tails})


def draws(fit: credo.Fit) -> np.ndarray:
    assert fit.posterior is not None
    return fit.posterior.draws


# Numbers of single distributions are exactly counts -------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["6 of 50 had coin=heads", 'in "trial 2019", 6 of 50 had coin=heads', "P(coin=heads) is 6 of 50",
             "44 of 50 had coin=tails"],
)  # fmt: skip
def test_what_was_counted_weighs_like_rows(line: str) -> None:
    """Closed form by another way: rows that say the same give the same draws."""
    assert np.allclose(draws(credo.fit(COIN + line)), draws(credo.fit(COIN, coins(6, 44))), atol=1e-12)
    together = credo.fit(COIN + line, coins(3, 7))
    assert np.allclose(draws(together), draws(credo.fit(COIN, coins(9, 51))), atol=1e-12)
    assert together.rows == 10


LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def assert_beta(fit: credo.Fit, first: float, second: float, within: float = 0.05) -> None:
    """Draws of the first state of the first distribution have the quantiles of a Beta distribution."""
    found = np.quantile(draws(fit)[..., 0], LEVELS)
    assert beta.cdf(found, first, second) == pytest.approx(LEVELS, abs=within)


@pytest.mark.parametrize(
    ("line", "heads", "tails"),
    [
        ("P(coin=heads) is 12%, worth 50 cases", 6, 44),
        ("P(coin) is 12%, 88%, worth 50 cases", 6, 44),
        ("P(coin=heads) is 25%, worth 28 cases", 7, 21),
        ("P(coin=heads) is 25%, worth 28 cases\nP(coin=heads) >= 0.1%", 7, 21),  # linked by a statement
        ("P(coin=heads) is 50%, worth 4 cases", 2, 2),
        ("P(coin=heads) is 10%, worth 2 cases in all", 0.2, 1.8),
        ("P(coin) is 40%, 60%, worth 2 patients in all\nP(coin=heads) >= 0.01%", 0.8, 1.2),
        ("P(coin=heads) is 1e-9, worth 1e10 cases", 10, 1e10),
        ("P(coin) is 1e-9, 0.999999999, worth 1e10 cases", 10, 1e10),
        ("P(coin=heads) is 10%, worth 20 cases\nP(coin=heads) is 40%, worth 10 cases", 6, 24),
    ],
)
def test_a_number_of_an_expert_takes_the_place_of_the_prior(line: str, heads: float, tails: float) -> None:
    """Closed form: what an expert believes without rows, and a conjugate update with them."""
    assert_beta(credo.fit(COIN + line), heads, tails)
    assert_beta(credo.fit(COIN + line, coins(3, 7)), heads + 3, tails + 7)


def test_a_number_that_is_worth_next_to_nothing_leaves_the_prior() -> None:
    alone = draws(credo.fit(COIN, coins(2, 1)))
    for line in ("P(coin=heads) is 50%, worth 0.001 cases", "P(coin=heads) is 0%, worth 1 case"):
        assert np.isfinite(draws(credo.fit(COIN + line))).all()
    little = draws(credo.fit(COIN + "P(coin=heads) is 50%, worth 0.001 cases", coins(2, 1)))
    assert np.allclose(little, alone, atol=0.01)
    never = credo.fit(COIN + "P(coin=heads) is 0%, worth 50 cases").query("P(coin=heads)")
    assert never.interval is not None
    assert 0.005 < never.interval[1] < 0.1  # none of 50 is not impossible


def test_a_cpt_of_an_expert_comes_out_as_it_was_stated() -> None:
    text = "variables a, b: no, yes\nvariable c: low, medium, high\nc depends on a, b\nP(c | a, b), worth 40 cases:\n"
    rows = {"no, no": (90, 8, 2), "no, yes": (60, 30, 10), "yes, no": (20, 60, 20), "yes, yes": (10, 20, 70)}
    fit = credo.fit(text + "".join(f"  {key}: {p}%, {q}%, {r}%\n" for key, (p, q, r) in rows.items()))
    assert fit.network.cpts["c"].reshape(4, 3) == pytest.approx(np.array(list(rows.values())) / 100, abs=0.02)


def test_every_method_uses_them() -> None:
    line = "P(lung=yes | smoke=yes) is 12%, worth 50 cases\n"
    for method in ("cml", "cmap", "posterior"):
        fit = credo.fit(NETWORK + line, method=method)
        assert fit.network.cpts["lung"][1, 1] == pytest.approx(0.12, abs=0.03)
    assert credo.fit(NETWORK + line, method="cml").network.cpts["lung"][1, 1] == pytest.approx(0.12)
    assert credo.fit(NETWORK + line, method="ml").network.cpts["lung"][1, 1] == pytest.approx(0.5)  # no knowledge


def test_one_of_three_states_is_used_by_the_posterior_and_others_say_that_they_do_not() -> None:
    text = "variable a: low, medium, high\nP(a=low) is 20%, worth 500 cases"
    assert credo.fit(text).query("P(a=low)").probability == pytest.approx(0.2, abs=0.02)
    (finding,) = [each for each in credo.fit(text, method="cml").findings if each.kind == "evidence not used"]
    assert "more than two states" in finding.message


def test_they_combine_with_statements_missing_values_and_doubt() -> None:
    rows = pl.DataFrame({"smoke": ["yes", None, "no"] * 10, "lung": ["no", "no", None] * 10, "xray": ["no"] * 30})
    text = NETWORK + "P(lung=yes | smoke=yes) is 12%, worth 500 cases\nsmoke raises lung\n"
    for options in ({}, {"doubt": True}):
        fit = credo.fit(text, rows, **options)
        answer = fit.query("P(lung=yes | smoke=yes)")
        assert answer.probability == pytest.approx(0.12, abs=0.015)
        assert answer.interval is not None
        if not options:  # the influence must hold
            assert draws(fit)[..., fit.posterior.layout.offsets["lung"] + 1].max() < 0.25


def test_a_table_in_the_text_is_one_weight_for_a_cpt() -> None:
    rows = "P(lung | smoke), worth 50 cases:\n  no: 99%, 1%   # as in the registry\n  yes: 88%, 12%\n"
    sentences = "P(lung | smoke=no) is 99%, 1%, worth 50 cases\nP(lung | smoke=yes) is 88%, 12%, worth 50 cases\n"
    table, lines = (NETWORK + text + "smoke raises lung\n" for text in (rows, sentences))
    assert np.array_equal(draws(credo.fit(table)), draws(credo.fit(lines)))
    with pytest.raises(credo.KnowledgeError, match=r"(?s):5:.*has the states no, yes, but there are 3 numbers"):
        credo.fit(table.replace("99%, 1%", "98%, 1%, 1%"))


def test_the_numbers_of_an_expert_are_fitted_to_a_beta_distribution() -> None:
    for first, second in ((6.0, 44.0), (2.5, 3.0), (0.7, 9.0), (300.0, 20.0)):
        levels = (0.05, 0.5, 0.95)
        found = fitted_beta(tuple(beta.ppf(levels, first, second)), levels)
        assert np.allclose(found, (first, second), rtol=1e-3)
    (stated,) = credo.Knowledge(
        credo.declared_network(COIN).network, "P(coin=heads) has median 12%, half between 9% and 16%"
    ).statements
    cases = equivalent_cases(stated)
    assert beta.cdf([0.09, 0.12, 0.16], *cases) == pytest.approx([0.25, 0.5, 0.75], abs=0.01)


def test_the_interval_that_comes_out_is_that_of_the_expert() -> None:
    answer = credo.fit(COIN + "P(coin=heads) is 12%, between 5% and 20% with 95% certainty").query("P(coin=heads)")
    assert answer.probability == pytest.approx(0.12, abs=0.01)
    assert answer.interval == pytest.approx((0.05, 0.2), abs=0.02)


def test_a_network_as_a_prior_keeps_intervals() -> None:
    expert = credo.Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.12, 0.88]})
    fit = credo.fit(COIN, coins(3, 7), prior=credo.NetworkPrior(expert, 50))
    assert fit.method == "posterior"
    assert_beta(fit, 9, 51)
    by_name = credo.fit(COIN, coins(3, 7), prior={"coin": credo.NetworkPrior(expert, 50)})
    assert np.array_equal(draws(by_name), draws(fit))
    assert credo.fit(COIN, coins(3, 7), prior="k2").method == "cmap"


def test_a_network_file_has_a_weight_for_each_cpt(tmp_path: Path) -> None:
    text = "variables smoke, lung: no, yes\nlung depends on smoke\n"
    (tmp_path / "k.credo").write_text(text)
    states = {"smoke": ["no", "yes"], "lung": ["no", "yes"]}
    cpts = {"smoke": [0.7, 0.3], "lung": [[0.9, 0.1], [0.8, 0.2]]}
    credo.write_network(credo.Network(states, {"lung": ["smoke"]}, cpts), tmp_path / "expert.bif")
    weights = ("--prior-weight", "10", "--prior-weight", "lung=100")
    arguments = ("learn", "k.credo", "--prior-network", "expert.bif", "--save", "m.fit")
    done = run(*arguments, *weights, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = (
        "P(smoke) is 70%, 30%, worth 10 cases\nP(lung | smoke=no) is 90%, 10%, worth 100 cases\n"
        "P(lung | smoke=yes) is 80%, 20%, worth 100 cases\n"
    )
    stated = credo.fit(text + lines)
    assert np.allclose(draws(credo.load(tmp_path / "m.fit")), draws(stated), atol=1e-9)
    assert run(*arguments, "--prior-weight", "lung=many", folder=tmp_path).returncode == 2


# Any probability ------------------------------------------------------------------------------------------------------

SOME = NETWORK + (
    "34 of 240 had lung=yes\n"
    "P(smoke=yes | lung=yes) is 70%, worth 20 cases\n"
    "12 of 40 with xray=yes had smoke=yes with between-study variation 0.3\n"
    "9 of 60 with xray=no had lung=yes with between-study variation\n"
    "4 of 70 with xray=no had lung=yes with between-study variation\n"
    "odds ratio of xray=yes for smoke=yes against smoke=no is 3.1, 95% CI 1.8 to 5.4\n"
    "relative risk of lung=yes for xray=yes against xray=no is 2, 90% CI 1 to 4 with between-study variation 0.2\n"
    "risk difference of lung=yes for smoke=yes against smoke=no is 5%, 95% CI -1% to 11%\n"
)


def brute_force(cpts: dict[str, np.ndarray], events: dict[str, int], given: dict[str, int]) -> float:
    joint = {
        (s, d, x): cpts["smoke"][s] * cpts["lung"][s, d] * cpts["xray"][d, x]
        for s, d, x in itertools.product(range(2), repeat=3)
    }
    names = ("smoke", "lung", "xray")

    def total(fixed: dict[str, int]) -> float:
        return sum(p for key, p in joint.items() if all(key[names.index(n)] == v for n, v in fixed.items()))

    return total({**given, **events}) / total(given)


def density_of(text: str) -> tuple[EvidenceDensity, credo.Network]:
    knowledge = credo.Knowledge(credo.declared_network(text).network, text)
    constraints = lower(knowledge)
    return EvidenceDensity.of(constraints.evidence, constraints.layout, knowledge.network), knowledge.network


def random_theta(density: EvidenceDensity, seed: int) -> np.ndarray:
    random, layout = np.random.default_rng(seed), density.sums.layout
    theta = np.zeros(layout.size)
    for name in layout.names:
        view = layout.view(theta, name)
        view[:] = random.dirichlet(np.full(view.shape[-1], 2.0), size=view.shape[0])
    return theta


def test_derivatives_are_those_of_finite_differences() -> None:
    density, _ = density_of(SOME)
    for seed in range(3):
        theta = random_theta(density, seed)
        value, gradient = density.log_density(theta)
        assert value == pytest.approx(float(density.log_densities(theta)[0]), rel=1e-9)
        for place in range(len(theta)):
            step = np.zeros(len(theta))
            step[place] = 1e-6
            pair = density.log_densities(np.stack([theta + step, theta - step]))
            assert (pair[0] - pair[1]) / 2e-6 == pytest.approx(gradient[place], rel=2e-4, abs=2e-4)


def test_likelihoods_are_those_of_enumeration_and_quadrature() -> None:
    from scipy.integrate import quad
    from scipy.special import expit, logit
    from scipy.stats import norm

    density, network = density_of(NETWORK + "12 of 40 with xray=yes had smoke=yes with between-study variation 0.3\n")
    theta = random_theta(density, 1)
    cpts = {name: density.sums.layout.view(theta, name).reshape(network.shape(name)) for name in network.names}
    share = brute_force(cpts, {"smoke": 1}, {"xray": 1})

    def inside(z: float) -> float:
        p = expit(logit(share) + 0.3 * z)
        return p**12 * (1 - p) ** 28 * norm.pdf(z)

    assert float(density.log_densities(theta)[0]) == pytest.approx(np.log(quad(inside, -8, 8)[0]), abs=1e-6)
    plain, _ = density_of(NETWORK + "12 of 40 with xray=yes had smoke=yes\n")
    expected = 12 * np.log(share) + 28 * np.log(1 - share)
    assert float(plain.log_densities(theta)[0]) == pytest.approx(expected, rel=1e-12)
    ratio, _ = density_of(NETWORK + "odds ratio of xray=yes for smoke=yes against smoke=no is 3.1, 95% CI 1.8 to 5.4\n")
    one, two = (brute_force(cpts, {"xray": 1}, {"smoke": each}) for each in (1, 0))
    error = (np.log(5.4) - np.log(1.8)) / (2 * norm.ppf(0.975))
    expected = norm.logpdf(np.log(3.1), logit(one) - logit(two), error) + 0.5 * np.log(2 * np.pi)
    assert float(ratio.log_densities(theta)[0]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("is_conditional", [False, True])
def test_a_study_of_any_probability(is_conditional: bool) -> None:
    """Importance sampling by hand, from many more draws than credo had."""
    many = credo.PosteriorOptions(draws=20_000, max_draws=20_000)
    free = credo.fit(NETWORK, posterior=many)
    layout = free.posterior.layout
    flat = draws(free).reshape(-1, layout.size)
    cpts = {name: flat[:, layout.slice_of(name)].reshape(-1, *free.network.shape(name)) for name in layout.names}
    share = (cpts["smoke"] * cpts["lung"][..., 1]).sum(axis=1)
    if is_conditional:  # P(smoke=yes | lung=yes)
        share = cpts["smoke"][:, 1] * cpts["lung"][:, 1, 1] / share
    share = np.clip(share, 1e-12, 1 - 1e-12)
    log_weights = 34 * np.log(share) + 206 * np.log1p(-share)
    weights = np.exp(log_weights - log_weights.max())
    expected = np.average(cpts["lung"][:, 1, 1], weights=weights)
    line = "34 of 240 with lung=yes had smoke=yes\n" if is_conditional else "34 of 240 had lung=yes\n"
    fit = credo.fit(NETWORK + line)
    answer = fit.query("P(smoke=yes | lung=yes)" if is_conditional else "P(lung=yes)")
    assert answer.probability == pytest.approx(np.average(share, weights=weights), abs=0.006)
    assert answer.interval == pytest.approx(beta.interval(0.95, 34.5, 206.5), abs=0.02)
    assert fit.query("P(lung=yes | smoke=yes)").probability == pytest.approx(expected, abs=0.04)
    assert any(finding.kind == "weighed draws" for finding in fit.findings)
    assert fit.rows == 0
    assert fit.log_likelihood == pytest.approx(0.0, abs=1e-6)


def test_a_study_given_nothing_is_rows_that_show_nothing_else() -> None:
    """So that every method uses it, several of them need no luck with draws, and updates do not count it twice."""
    text = NETWORK + "34 of 240 had lung=yes\n70 of 240 had xray=yes\n"
    rows = pl.DataFrame({"smoke": ["yes", "no"] * 10, "lung": ["no"] * 20, "xray": ["no"] * 20})
    nothing = [None] * 240
    as_rows = pl.concat(
        [
            rows,
            pl.DataFrame({"smoke": nothing, "lung": ["yes"] * 34 + ["no"] * 206, "xray": nothing}, schema=rows.schema),
            pl.DataFrame({"smoke": nothing, "lung": nothing, "xray": ["yes"] * 70 + ["no"] * 170}, schema=rows.schema),
        ]
    )
    stated, shown = (credo.fit(text, rows, method="cmap"), credo.fit(NETWORK, as_rows, method="cmap"))
    assert np.allclose(stated.network.cpts["lung"], shown.network.cpts["lung"], atol=1e-4)
    assert stated.rows == 20
    several = credo.fit(text + "90 of 240 had smoke=yes\n")  # too much for draws of what is known without them
    assert several.query("P(lung=yes)").probability == pytest.approx(34 / 240, abs=0.02)
    assert several.query("P(xray=yes)").probability == pytest.approx(70 / 240, abs=0.02)
    twice = credo.fit(text, rows.head(8), method="cmap").update(rows.tail(12))
    assert np.allclose(twice.network.cpts["lung"], stated.network.cpts["lung"], atol=1e-6)


def test_draws_follow_evidence_that_says_much_more_than_the_rows() -> None:
    """By hand: 900 of 1000 beside 0 of 300 rows; which of two CPTs gives way is not known."""
    rows = pl.DataFrame({"smoke": ["no"] * 300, "lung": ["no"] * 300, "xray": ["no"] * 300})
    line = "900 of 1000 with smoke=no had xray=yes\n"
    answer = credo.fit(NETWORK + line, rows).query("P(xray=yes | smoke=no)")
    assert answer.probability == pytest.approx(900 / 1300, abs=0.02)
    assert answer.interval == pytest.approx((0.667, 0.717), abs=0.02)
    fit = credo.fit(NETWORK + line, rows, method="cmap")
    assert any(finding.kind == "evidence not used" for finding in fit.findings)


def test_many_numbers_about_single_states_and_several_cpts_are_combined() -> None:
    """Numbers of one state of three, from two experts: 20 and 30 of 100 and 60 of 200 are 110 of 400."""
    text = "variables a, b, c, d: low, medium, high\n" + "".join(
        f"P({name}=medium) is {share}%, worth {cases} cases\n"
        for name in "abcd"
        for share, cases in ((20, 100), (30, 100), (30, 200))
    )
    fit = credo.fit(text)
    for name in "abcd":
        answer = fit.query(f"P({name}=medium)")
        assert answer.probability == pytest.approx(110 / 400, abs=0.02)
        assert answer.interval == pytest.approx(beta.interval(0.95, 110, 290), abs=0.02)


# Several studies ------------------------------------------------------------------------------------------------------


def test_studies_that_disagree_widen_the_interval() -> None:
    counts = ((10, 100), (30, 100), (22, 80))
    pooled = "".join(f"{k} of {n} had coin=heads\n" for k, n in counts)
    varied = "".join(f"{k} of {n} had coin=heads with between-study variation\n" for k, n in counts)
    narrow, wide = (credo.fit(COIN + text).query("P(coin=heads)") for text in (pooled, varied))
    assert wide.interval[1] - wide.interval[0] > 1.5 * (narrow.interval[1] - narrow.interval[0])
    given = credo.fit(COIN + pooled.replace("heads\n", "heads with between-study variation 1\n")).query("P(coin=heads)")
    assert given.interval[1] - given.interval[0] > narrow.interval[1] - narrow.interval[0]


def test_effects_agree_with_a_package_for_meta_analysis() -> None:
    """The interval of a random-effects analysis with a given variance between studies is that of the likelihood."""
    meta = pytest.importorskip("statsmodels.stats.meta_analysis")
    estimates, errors, between = np.log([3.1, 1.4, 2.2]), np.array([0.28, 0.3, 0.2]), 0.35
    found = meta.combine_effects(estimates, errors**2 + between**2, use_t=False)
    center, error = found.mean_effect_fe, found.sd_eff_w_fe
    records = [
        LogRatioEvidence("odds ratio", *_two(), float(estimate), float(own), number, between)
        for number, (estimate, own) in enumerate(zip(estimates, errors, strict=True))
    ]
    network = credo.declared_network(NETWORK).network
    density = EvidenceDensity.of(records, lower(credo.Knowledge(network, "")).layout, network)
    grid = np.linspace(center - 5 * error, center + 5 * error, 2001)
    total = sum(quantity.spline(grid) for quantity in density.quantities)
    weights = np.exp(total - total.max())
    weights /= weights.sum()
    mean = weights @ grid
    assert mean == pytest.approx(center, abs=1e-4)
    assert np.sqrt(weights @ (grid - mean) ** 2) == pytest.approx(error, rel=1e-3)


def _two() -> tuple[object, object]:
    text = NETWORK + "odds ratio of lung=yes for smoke=yes against smoke=no is 2, 95% CI 1 to 4\n"
    (record,) = lower(credo.Knowledge(credo.declared_network(text).network, text)).evidence
    return record.first, record.second


@pytest.mark.parametrize("is_varied", [False, True])
def test_intervals_hold_what_they_say(is_varied: bool) -> None:
    """95 ± 3 of 100: over the prior, with and without variation between studies that is learned."""
    (asked,) = lower(
        credo.Knowledge(
            credo.declared_network(COIN).network, COIN + "1 of 2 had coin=heads with between-study variation"
        )
    ).evidence
    assert isinstance(asked, CountEvidence)
    network, random = credo.declared_network(COIN).network, np.random.default_rng(3)
    layout = lower(credo.Knowledge(network, "")).layout
    shares = np.linspace(0.0005, 0.9995, 1000)
    held, runs = 0, 400
    for _ in range(runs):
        share = random.random()
        between = abs(random.normal(0.0, 0.5)) if is_varied else 0.0
        studies = 1 / (1 + np.exp(-(np.log(share / (1 - share)) + between * random.normal(size=4))))
        seen = random.binomial(60, studies)
        records = [
            CountEvidence(asked.probabilities, (float(k), 60.0 - k), number, None, is_varied)
            for number, k in enumerate(seen)
        ]
        density = EvidenceDensity.of(records, layout, network)
        total = density.log_densities(np.column_stack([shares, 1 - shares]))
        weights = np.cumsum(np.exp(total - total.max()))
        low, high = np.interp([0.025, 0.975], weights / weights[-1], shares)
        held += low <= share <= high
    assert 0.92 <= held / runs <= 0.98


# What users see -------------------------------------------------------------------------------------------------------


def test_the_check_says_what_was_understood(tmp_path: Path) -> None:
    path = tmp_path / "k.credo"
    path.write_text(NETWORK + "P(lung=yes | smoke=yes) is 12%, worth 50 cases\n")
    shown = run("check", str(path)).stdout
    assert "like having seen 6 of 50" in shown
    assert "█" in shown  # and the curve


def test_the_report_shows_expert_rows_and_result_beside_each_other(tmp_path: Path) -> None:
    text = NETWORK + (
        "expert bob: P(lung=yes | smoke=yes) is 12%, worth 50 cases\n"
        'in "trial 2019" odds ratio of lung=yes for smoke=yes against smoke=no is 3.1, 95% CI 1.8 to 5.4\n'
    )
    rows = pl.DataFrame({"smoke": ["yes"] * 20 + ["no"] * 20, "lung": (["yes"] + ["no"] * 9) * 4, "xray": ["no"] * 40})
    fit = credo.fit(text, rows)
    page = fit.report(tmp_path / "report.html").read_text()
    for words in (
        "Experts and studies, rows, and the result",
        "trial 2019",
        "bob",
        "like having seen 6 of 50",
        "2 of 20",
    ):
        assert words in page
    again = credo.load(fit.save(tmp_path / "a.fit"))
    assert np.array_equal(draws(again), draws(fit))


def test_an_update_does_not_count_a_study_twice() -> None:
    text = COIN + "6 of 50 had coin=heads\n"
    updated = credo.fit(text, coins(1, 2)).update(coins(2, 5))
    assert np.allclose(draws(updated), draws(credo.fit(COIN, coins(9, 51))), atol=1e-12)
    withdrawn = updated.update(knowledge=COIN)
    assert np.allclose(draws(withdrawn), draws(credo.fit(COIN, coins(3, 7))), atol=1e-12)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("P(lung=yes) is 12, worth 50 cases", "between 0 and 1"),
        ("P(lung=yes) is 12%, worth 0 cases", "more than no cases"),
        ("P(lung=yes) is 12%, between 15% and 20% with 90% certainty", "lies between the two others"),
        ("P(lung) is 20%, 70%, worth 50 cases", "sum to 0.9"),
        ("P(lung) is 20%, 70%, 10%, worth 50 cases", "3 numbers"),
        ("340 of 240 had lung=yes", "some of all cases"),
        ("34 of 240 with smok=yes had lung=yes", 'Did you mean "smoke"'),
        ("odds ratio of lung=yes for smoke=yes against smoke=no is 3.1, 95% CI 5.4 to 1.8", "within its confidence"),
        ("34 of 240 had lung=yes with between-study variation 0", "above 0"),
        ("P(lung=yes | each smoke) is 12%, worth 50 cases", "one probability"),
    ],
)
def test_mistakes(line: str, words: str) -> None:
    with pytest.raises(credo.KnowledgeError, match=words):
        credo.fit(NETWORK + line + "\n")


def test_a_study_contributes_its_share_of_all_cases() -> None:
    text = NETWORK + 'in "a" 30 of 300 with smoke=yes had lung=yes\nin "b" 10 of 100 with smoke=yes had lung=yes\n'
    fit = credo.fit(text, posterior=credo.PosteriorOptions(draws=1000, max_draws=1000))
    assert fit._problem is not None
    used = evidence_used(fit.knowledge, fit._problem, fit.posterior, fit.network.cpts)
    shares = [each.share for each in used]
    assert shares[0] == pytest.approx(0.75, abs=0.12)
    assert shares[1] == pytest.approx(0.25, abs=0.05)
    optimum = credo.fit(text, method="cmap", prior=1)
    assert optimum._problem is not None
    assert [each.share for each in evidence_used(optimum.knowledge, optimum._problem, None, optimum.network.cpts)] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (credo.expert_number("lung=yes | smoke=yes", 0.12, cases=50), "P(lung=yes | smoke=yes) is 12%, worth 50 cases"),
        (
            credo.expert_number("lung | smoke=yes", [0.88, 0.12], cases=5),
            "P(lung | smoke=yes) is 88%, 12%, worth 5 cases",
        ),
        (
            credo.expert_number("lung=yes | smoke=no", 0.1, between=(0.05, 0.2), certainty=0.9),
            "P(lung=yes | smoke=no) is 10%, between 5% and 20% with 90% certainty",
        ),
        (
            credo.study("lung=yes | smoke=yes", 34, 240, source='the "A" trial', variation=True),
            "in 'the \"A\" trial' 34 of 240 with smoke=yes had lung=yes with between-study variation",
        ),
        (
            credo.effect_study(
                "risk difference", "lung=yes", ("smoke=yes", "smoke=no"), 0.2, (0.05, 0.35), variation=0.2
            ),
            "risk difference of lung=yes for smoke=yes against smoke=no is 20%, 95% CI 5% to 35% "
            "with between-study variation 20%",
        ),
        (credo.ranked("lung", {"smoke": 3}, 0.1, kind="max"), "lung is a weighted max of smoke (3) with spread 0.1"),
        (
            credo.interpolated("lung", {"smoke": 2}, [0.9, 0.1], [0.2, 0.8], negated=["smoke"], cases=20),
            "lung is interpolated by not smoke (2) from worst 90%, 10% to best 20%, 80%, worth 20 cases",
        ),
    ],
)
def test_python_makes_what_the_line_says(made: Any, line: str) -> None:
    known, same = credo.Knowledge(NET, [made]), credo.Knowledge(NET, line)
    assert known == same
    assert known.statements[0].span.line == 0
    assert credo.Knowledge(NET, known.to_text()) == known


def test_python_refuses_what_the_text_refuses() -> None:
    with pytest.raises(credo.KnowledgeError):
        credo.study("lung=yes", 50, 40)
    with pytest.raises(credo.OptionError, match="How firm"):
        credo.expert_number("lung=yes", 0.1)


NET = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]}, {"lung": ["smoke"]})


def test_studies_that_vary_contribute_as_in_a_random_effects_analysis() -> None:
    """Shares against w_i / Σ w, w_i = 1 / (σ_i² + τ²), with the τ² that the posterior has."""
    studies = [(30, 300), (45, 150), (8, 200), (300, 1500)]
    lines = [
        f'in "study {k}" {ill} of {n} had lung=yes with between-study variation' for k, (ill, n) in enumerate(studies)
    ]
    fit = credo.fit(
        "variable lung: no, yes\n" + "\n".join(lines), posterior=credo.PosteriorOptions(draws=4000, max_draws=4000)
    )
    used = evidence_used(fit.knowledge, fit._problem, fit.posterior, fit.network.cpts)
    shares = np.array([each.share for each in used])
    log_odds = np.array([np.log(ill / (n - ill)) for ill, n in studies])
    errors = np.array([1 / ill + 1 / (n - ill) for ill, n in studies])
    scales, mean = np.linspace(0.0, 2.5, 251), np.linspace(-5.0, 1.0, 1201)
    variance = errors[:, None] + scales**2  # (studies, scales)
    logs = -0.5 * ((log_odds[:, None, None] - mean) ** 2 / variance[..., None] + np.log(variance)[..., None]).sum(
        axis=0
    )
    chance = np.exp(logs - 0.5 * (scales[:, None] / 0.5) ** 2 - logs.max()).sum(axis=1)
    expected = 1.0 / (errors + chance @ scales**2 / chance.sum())
    assert shares / shares.sum() == pytest.approx(expected / expected.sum(), rel=0.15)
    assert shares[3] / shares[0] < 1.6  # not as 1,500 is to 300


def test_the_report_shows_the_state_that_was_stated() -> None:
    text = COIN + "variable sick: no, yes\nsick depends on coin\nP(coin=heads) is 12%, worth 50 cases\n"
    text += "P(sick | coin=heads) is 90%, 10%, worth 30 cases\n181 of 200 with coin=tails had sick=no\n"
    rows = pl.DataFrame({"coin": ["heads"] * 3 + ["tails"] * 7, "sick": ["no"] * 8 + ["yes"] * 2})
    fit = credo.fit(text, rows)
    used = evidence_used(fit.knowledge, fit._problem, fit.posterior, fit.network.cpts)
    assert [each.subject for each in used] == ["P(coin=heads)", "P(sick=yes | coin=heads)", "P(sick=no | coin=tails)"]
    assert [each.given.split(" ")[0] for each in used] == ["12.0%", "10.0%", "90.5%"]
    assert [each.data for each in used] == ["3 of 10", "0 of 3", "5 of 7"]
    for each, answer in zip(used, ("coin=heads", "sick=yes | coin=heads", "sick=no | coin=tails"), strict=True):
        assert float(each.result.split("%")[0]) / 100 == pytest.approx(float(fit.query(f"P({answer})")), abs=0.001)
