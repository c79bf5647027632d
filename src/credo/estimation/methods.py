"""The table of all methods, and which one `auto` takes.

A new method is a module with an `estimate` function and a `Method`, and its name here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credo.errors import OptionError, suggestion
from credo.estimation.constrained import CMAP, CML
from credo.estimation.counting import MAP, ML
from credo.estimation.method import Method
from credo.estimation.papers.entropy import CME, ME
from credo.estimation.papers.interpolation import QMAP, QMAPC
from credo.estimation.papers.penalty_methods import CEM, CO
from credo.estimation.posterior_mean import POSTERIOR

if TYPE_CHECKING:
    import polars as pl

METHODS: dict[str, Method] = {
    method.name: method for method in (ML, MAP, ME, CO, CML, CMAP, CME, QMAP, QMAPC, CEM, POSTERIOR)
}


def methods() -> pl.DataFrame:
    """The methods that `fit` takes, and when to use which: what `credo methods` shows.

    Returns
    -------
    polars.DataFrame
        A row for each: `method`, its name; `title`, what it is; `when` to use it; and `auto`, whether "auto" is it,
        without a prior.

    Examples
    --------
    >>> import credo
    >>> credo.methods().filter(auto=True)["method"].to_list()
    ['posterior']
    """
    import polars as pl

    rows = [(each.name, each.title, each.when, each is choose_method("auto")) for each in METHODS.values()]
    return pl.DataFrame(rows, schema=["method", "title", "when", "auto"], orient="row")


def choose_method(name: str, with_prior: bool = False) -> Method:
    """The method of that name; `auto` is the one that suits most.

    Without a prior that is the posterior mean. A prior that the user gives is meant as it stands, while the posterior
    adds what it learns about it: there it is cmap. So it is where missing values cannot be drawn, or would take too
    long (`missing_draws.py`).
    """
    if name == "auto":
        return CMAP if with_prior else POSTERIOR
    if name not in METHODS:
        raise OptionError(f'There is no method "{name}".{suggestion(name, ("auto", *METHODS))}')
    return METHODS[name]
