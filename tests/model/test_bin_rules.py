"""How users say where numbers are cut."""

from __future__ import annotations

import numpy as np
import pytest

from credo import CutPoints, EqualWidth, NetworkError, OptionError, Quantiles, Supervised
from credo.model.bin_rules import as_rule


def test_rules_as_users_write_them() -> None:
    assert as_rule("age", 4) == as_rule("age", np.int64(4)) == Quantiles(4)
    assert as_rule("age", [40, 60]) == as_rule("age", np.array([40, 60])) == CutPoints((40, 60))
    for rule in (Quantiles(3), EqualWidth(3), Supervised("outcome"), CutPoints((1,))):
        assert as_rule("age", rule) is rule


@pytest.mark.parametrize("rule", ["4", True, 4.0, {40: 60}, object()])
def test_what_is_no_rule(rule: object) -> None:
    with pytest.raises(OptionError, match="The cut points of age are a list of numbers, a number of states"):
        as_rule("age", rule)


@pytest.mark.parametrize("rule", [Quantiles, EqualWidth, lambda bins: Supervised("x", bins)])
@pytest.mark.parametrize("bins", [1, 0, -2, 2.5, True, "3", 10**9])
def test_a_wrong_number_of_states(rule: type, bins: object) -> None:
    with pytest.raises(OptionError, match="needs a number of states, from 2 to 1,000, not"):
        rule(bins)


def test_cut_points_that_do_not_increase() -> None:
    with pytest.raises(NetworkError, match="60 comes before 40"):
        as_rule("age", [60, 40])
