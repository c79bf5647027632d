"""Which methods there are, what each is for, and which one `auto` takes."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from credo.errors import OptionError, suggestion
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution


@dataclass(frozen=True, slots=True)
class Method:
    """One line of the table that `credo methods` prints, and where its `estimate(problem)` lives."""

    name: str
    title: str
    when: str
    home: str  # the module, and after a colon the function where it is not `estimate`; imported when it is used
    default_prior: float = 0.0  # pseudo-count that is added where the user gives no prior
    takes_prior: bool = False
    uses_knowledge: bool = True
    cross_validates: bool = False  # always, not only for soft statements

    def estimate(self, problem: Problem) -> Solution:
        """Run the method."""
        module, _, function = self.home.partition(":")
        solution: Solution = getattr(import_module(module), function or "estimate")(problem)
        return solution


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "ml",
            "maximum likelihood",
            "many data everywhere, no knowledge",
            "credo.estimation.counting",
            uses_knowledge=False,
        ),
        Method(
            "map",
            "counts and a prior's pseudo-counts",
            "few data, no knowledge but a prior",
            "credo.estimation.counting",
            1.0,
            takes_prior=True,
            uses_knowledge=False,
        ),
        Method(
            "me",
            "maximum entropy within the data's interval",
            "few data, no knowledge; a cautious baseline",
            "credo.estimation.entropy:estimate_without_knowledge",
            uses_knowledge=False,
        ),
        Method(
            "co",
            "gradient with a penalty on what the knowledge forbids",
            "comparing with published results; cml solves the same problem exactly, and faster",
            "credo.estimation.penalty",
        ),
        Method(
            "cml",
            "maximum likelihood under the knowledge",
            "the data should speak wherever the knowledge lets them",
            "credo.estimation.constrained",
        ),
        Method(
            "cmap",
            "the same with a prior's pseudo-counts",
            "few data and knowledge: exact, certified, quick",
            "credo.estimation.constrained",
            1.0,
            takes_prior=True,
        ),
        Method(
            "cme",
            "maximum entropy within the data's interval, under the knowledge",
            "few data and much knowledge, and nothing beyond them is to be assumed",
            "credo.estimation.entropy",
        ),
        Method(
            "qmap",
            "counts drawn towards the mean of what the knowledge allows",
            "comparing with published results; it may violate statements",
            "credo.estimation.interpolated:estimate_qmap",
            cross_validates=True,
        ),
        Method(
            "qmapc",
            "cml drawn towards the mean of what the knowledge allows",
            "very few data and much knowledge",
            "credo.estimation.interpolated:estimate_qmapc",
            cross_validates=True,
        ),
        Method(
            "cem",
            "gradient with a price on every statement, by its confidence",
            "comparing with published results, or knowledge that contradicts itself; cmap with confidences is quicker",
            "credo.estimation.cem",
            takes_prior=True,
        ),
        Method(
            "posterior",
            "the mean of all that data and knowledge leave, with intervals",
            "few data and knowledge: the most accurate, and it says how sure each number is",
            "credo.estimation.posterior_mean",
            takes_prior=True,
        ),
    )
}
AUTO = "posterior"
AUTO_WITH_PRIOR = "cmap"  # who gives a prior means it as it stands; the posterior adds what it learns


def choose_method(name: str, with_prior: bool = False) -> Method:
    """The method of that name; `auto` is the one that suits most."""
    if name == "auto":
        return METHODS[AUTO_WITH_PRIOR if with_prior else AUTO]
    if name not in METHODS:
        raise OptionError(f'There is no method "{name}".{suggestion(name, ("auto", *METHODS))}')
    return METHODS[name]
