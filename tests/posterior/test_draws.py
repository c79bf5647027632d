"""One set of joint draws is behind intervals, questions and everything else that a fit says about uncertainty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

import credo
from credo import PosteriorOptions
from credo.posterior.draws import PosteriorResult, chain_draws, cpt_draws, draw_count, draw_order
from tests.helpers.amounts import amounts

STATES: Mapping[str, list[str]] = {"a": ["no", "yes"], "b": ["no", "yes"], "c": ["low", "mid", "high"]}
PARENTS = {"b": ["a"], "c": ["a", "b"]}
SMALL = PosteriorOptions(chains=2, draws=50)


def learned(knowledge: str = "", missing: bool = False, **options: object) -> credo.Fit:
    """Three variables and a few rows, which leave some configurations without data."""
    rows = {
        "a": ["no", "no", "yes", "yes", "no", "no", None if missing else "no"],
        "b": ["no", "no", "yes", "yes", "no", "yes", "no"],
        "c": ["low", "low", "high", None if missing else "mid", "low", "mid", "high"],
    }
    network = credo.Network(STATES, PARENTS)
    return credo.fit(network, pl.DataFrame(rows), knowledge, method="posterior", **options)  # type: ignore[arg-type]


def sampled(fit: credo.Fit) -> PosteriorResult:
    assert isinstance(fit.posterior, PosteriorResult)
    return fit.posterior


FITS = {
    "nothing binds": ("", False),
    "a statement binds": ("P(c=high | a=yes, b=yes) >= 0.6", False),
    "missing values": ("P(c=high | a=yes, b=yes) >= 0.6", True),
}


@pytest.fixture(scope="module", params=FITS)
def fit(request: pytest.FixtureRequest) -> credo.Fit:
    return learned(*FITS[request.param])


def test_every_cpt_has_draws_and_each_is_a_distribution(fit: credo.Fit) -> None:
    posterior = sampled(fit)
    for name in STATES:
        draws = chain_draws(posterior, name)
        assert draws.shape == (*posterior.draws.shape[:2], *fit.network.cpt_array(name).shape)
        assert draws.min() >= 0.0
        assert draws.sum(axis=-1) == pytest.approx(1.0)


def test_means_and_deviations_are_those_of_the_draws(fit: credo.Fit) -> None:
    """Averages over exact distributions are better than those of draws, but of the same numbers."""
    posterior = sampled(fit)
    for name in STATES:
        drawn = cpt_draws(posterior, name)
        sizes = np.minimum((posterior.deviations[name] / posterior.errors[name]) ** 2, len(drawn))
        tolerance = 5.0 * posterior.deviations[name] / np.sqrt(sizes)
        assert (np.abs(drawn.mean(axis=0) - fit.network.cpt_array(name)) <= tolerance).all()
        assert drawn.std(axis=0) == pytest.approx(fit.deviation_array(name), rel=0.15)


def test_intervals_are_quantiles_of_the_draws(fit: credo.Fit) -> None:
    compared = 0
    for name in STATES:
        expected = np.quantile(cpt_draws(sampled(fit), name), [0.05, 0.95], axis=0)
        low, high = fit.interval_arrays(name, 0.9)
        limits = sampled(fit).limits
        assert limits is not None
        least, most = limits[:, sampled(fit).layout.slice_of(name)].reshape(2, *low.shape)
        inside = (low > least) & (high < most)  # elsewhere it ends at 0, at 1, or at the limit of a statement
        assert np.array([low, high])[:, inside] == pytest.approx(expected[:, inside])
        compared += int(inside.sum())
    assert compared


def test_fewer_draws_are_the_first_of_all(fit: credo.Fit) -> None:
    posterior = sampled(fit)
    for name in STATES:
        every = cpt_draws(posterior, name)
        assert (cpt_draws(posterior, name, 100) == every[:100]).all()
        order = draw_order(draw_count(posterior))
        assert (chain_draws(posterior, name).reshape(every.shape)[order] == every).all()


def test_questions_are_answered_under_the_same_draws(fit: credo.Fit) -> None:
    a, b, c = (cpt_draws(sampled(fit), name, 1000) for name in STATES)
    joint = np.einsum("na,nab,nabc->nbc", a, b, c)[:, 1, 2]
    found = fit.query("P(b=yes, c=high)")
    assert found.probability == pytest.approx(joint.mean())
    assert found.interval == pytest.approx(np.quantile(joint, [0.025, 0.975]))
    case = fit.predict({"b": "yes"}, "c").filter(pl.col("state") == "high")
    given = joint / np.einsum("na,nab->nb", a, b)[:, 1]
    assert case["low"][0] == pytest.approx(np.quantile(given, 0.025))
    rows = fit.predict(pl.DataFrame({"b": ["yes"]}), "c")
    assert rows["c=high high"][0] == pytest.approx(np.quantile(given, 0.975))


def test_the_same_seed_gives_the_same_draws_and_another_others() -> None:
    network, rows = credo.Network({"x": ["p", "q"]}), pl.DataFrame({"x": ["p"]})
    fits = [credo.fit(network, rows, method="posterior", seed=seed, posterior=SMALL) for seed in (1, 1, 2)]
    first, again, other = (chain_draws(sampled(fit), "x") for fit in fits)
    assert (first == again).all()
    both = min(first.shape[1], other.shape[1])
    assert not (first[:, :both] == other[:, :both]).any()


@pytest.mark.parametrize("total", [1, 2, 7, 64, 1000, 4096])
def test_the_order_of_draws_has_each_once_and_spreads_beginnings(total: int) -> None:
    order = draw_order(total)
    assert sorted(order.tolist()) == list(range(total))
    for count in (8, 100, 500):
        if count < total / 2:
            gaps = np.diff(np.sort(order[:count]), prepend=0, append=total)
            assert gaps.max() <= 4 * total / count


@pytest.mark.parametrize("count", amounts(4, 40))
def test_another_seed_moves_a_mean_by_as_much_as_its_error_says(count: int) -> None:
    """Two rows of one variable with three states: each seed gives nearly the same mean, and the errors are honest."""
    network, rows = credo.Network({"x": ["p", "q", "r"]}), pl.DataFrame({"x": ["p", "p"]})
    fits = [credo.fit(network, rows, method="posterior", seed=seed) for seed in range(count)]
    means = np.array([fit.network.cpt_array("x")[0] for fit in fits])
    errors = np.array([sampled(fit).errors["x"][0] for fit in fits])
    assert all(fit.status is credo.Status.AVERAGED for fit in fits)
    assert means.max() - means.min() < 0.06
    assert means.std(ddof=1) < 2.0 * np.sqrt((errors**2).mean())
    lows = np.array([fit.interval_arrays("x")[0][0] for fit in fits])
    assert lows.max() - lows.min() < 0.1


@pytest.mark.parametrize("chains", [4, 3])
@pytest.mark.parametrize("text", ["", "a raises b"])
def test_so_many_chains_are_drawn_as_were_asked_for(text: str, chains: int) -> None:
    network = credo.Network({"a": ["no", "yes"], "b": ["no", "yes"]}, {"b": ["a"]})
    rows = pl.DataFrame({"a": ["no", "yes"] * 10, "b": ["no", "no", "yes", "yes"] * 5})
    fit = credo.fit(network, rows, text, posterior=credo.PosteriorOptions(chains=chains, draws=30, max_draws=30))
    assert fit.posterior.draws.shape[:2] == (chains, 30)  # type: ignore[union-attr]


def test_draws_that_do_not_fit_are_refused() -> None:
    network = credo.Network({"coin": ["heads", "tails"]})
    many = credo.PosteriorOptions(draws=10**10, max_draws=10**10)
    with pytest.raises(credo.TooLargeError, match="ask for fewer draws or chains"):
        credo.fit(network, pl.DataFrame({"coin": ["heads"]}), posterior=many)


@pytest.mark.parametrize("draws", [1, 2, 3])
def test_chains_of_a_few_draws_go_on_to_the_most_that_are_allowed(draws: int) -> None:
    text = "variables a, b: no, yes\nb depends on a\na raises b with confidence 0.8"
    table = pl.DataFrame({"a": ["no", "yes"], "b": [None, "yes"]})
    options = credo.PosteriorOptions(chains=2, draws=draws, warmup=5, max_draws=6)
    fit = credo.fit(text, table, posterior=options)
    assert fit.posterior is not None
    assert fit.posterior.draws.shape[1] == 6
