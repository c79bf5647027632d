"""How probable a doubted statement is without itself: what a fit that leaves it out says, or not known."""

from __future__ import annotations

import numpy as np
import pandas as pd

import credo

PARENTS = [f"p{k}" for k in range(2)]


def test_without_is_not_known_where_all_draws_agree() -> None:
    """An influence that is made is true in every draw, which says nothing of leaving it out."""
    rng = np.random.default_rng(0)
    states = ["low", "middle", "high"]
    codes = rng.integers(3, size=(300, 2))
    disease = rng.random(300) < 1 / (1 + np.exp(2.0 - 1.5 * codes.sum(axis=1) / 2))
    table = pd.DataFrame({name: [states[c] for c in codes[:, k]] for k, name in enumerate(PARENTS)})
    table["type"] = np.where(disease, "yes", "no")
    network = credo.Network({**dict.fromkeys(PARENTS, states), "type": ["no", "yes"]}, parents={"type": PARENTS})
    fit = credo.fit(network, table, [credo.raises(name, "type") for name in PARENTS], doubt=True)
    for belief in fit.doubt.statements:
        if belief.probability > 0.999:
            assert belief.without is None
    frame = fit.statements()
    assert frame["without"].null_count() == sum(each.without is None for each in fit.doubt.statements)
    shown = str(fit)
    if frame["without"].null_count():
        assert "not known" in shown


def test_without_is_known_where_draws_disagree() -> None:
    table = pd.DataFrame({"coin": ["heads"] * 6 + ["tails"] * 4})
    network = credo.Network({"coin": ["heads", "tails"]})
    fit = credo.fit(network, table, "P(coin=heads) <= 0.5", doubt=0.2)
    (belief,) = fit.doubt.statements
    assert belief.without is not None
    assert belief.without < belief.probability
