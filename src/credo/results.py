"""What learning gives back: the network, how it was found, and what a reader should know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credo.arrays import Numbers
from credo.errors import OptionError, Status
from credo.estimation.problem import Problem
from credo.estimation.solution import TiedLikelihood, Uncertainty
from credo.estimation.solvers.certificate import Certificate
from credo.explain.violations import Violation, line_of, violations_of
from credo.findings import Finding
from credo.knowledge import Knowledge, words_of
from credo.model.expansion import expand
from credo.model.network import Network
from credo.options import checked_page

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

    from credo.explain.parts import Explanation

LEAST_PRICE = 1e-6  # per data row; below it a price is rounding


@dataclass(frozen=True, slots=True)
class Binding:
    """A statement that the estimate leans on, and its price: log-likelihood per unit of its bound."""

    statement: str
    line: int
    price: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A learned network and the story of it."""

    network: Network
    knowledge: Knowledge = field(repr=False)
    method: str
    status: Status
    log_likelihood: float  # of the data under the learned network, in nats
    rows: int
    seconds: float
    findings: tuple[Finding, ...] = field(default=(), repr=False)
    history: tuple[float, ...] = field(default=(), repr=False)  # the log-likelihood after each iteration
    certificate: Certificate | None = None  # of estimates that claim to be optimal
    multipliers: Mapping[int, float] = field(default_factory=dict, repr=False)  # statement → price
    posterior: Uncertainty | None = field(default=None, repr=False)  # of methods that sample
    tied: TiedLikelihood | None = None  # where the knowledge ties rows together
    problem: Problem | None = field(
        default=None, repr=False
    )  # what was estimated: counts and the rows of the knowledge
    is_incomplete: bool = field(default=False, repr=False)  # whether the counts are expected ones
    _told: dict[str, Explanation] = field(default_factory=dict, repr=False, compare=False)  # worked out once

    @property
    def cll(self) -> float | None:
        """The log-likelihood of the data given the ties between rows; None where there are none."""
        return None if self.tied is None else self.tied.value

    @property
    def pmi(self) -> float | None:
        """What the ties add to the log-likelihood: the pointwise mutual information of data and ties."""
        return None if self.tied is None else self.tied.value - self.log_likelihood

    def interval(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The credible interval of each number of a table: (low, high), axes (parents…, child).

        A noisy family has one for each of its small tables, which are called like `attack by chol, bp`.
        """
        self._known(name)
        if not 0 < level < 1:
            raise OptionError(f"The level of an interval lies between 0 and 1; it is {level}.")
        return self._sampled().interval(name, level)

    def deviation(self, name: str) -> Numbers:
        """The standard deviation of each number of a table, axes (parents…, child)."""
        self._known(name)
        return self._sampled().deviations[name]

    def _known(self, name: str) -> None:
        effects = expand(self.network).effects
        if name in effects:
            form = self.network.forms[name]
            raise OptionError(f"{name} is {form.kind}: ask for one of its small tables, {', '.join(effects[name])}.")
        if not any(name in own for own in effects.values()):
            self.network.variable(name)

    def _sampled(self) -> Uncertainty:
        if self.posterior is None:
            raise OptionError(f"The method {self.method} gives one estimate and no uncertainty: use method=posterior.")
        return self.posterior

    def binding(self) -> tuple[Binding, ...]:
        """The statements that shaped the result, the dearest first: what the log-likelihood gains per unit of each.

        A posterior mean leans on no bound; there the prices are those at the most likely tables.
        """
        least = LEAST_PRICE * max(1.0, self.rows)
        found = [
            Binding(words_of(self.knowledge.statements[number]), line_of(self.knowledge.statements[number]), price)
            for number, price in self.multipliers.items()
            if price > least
        ]
        return tuple(sorted(found, key=lambda each: -each.price))

    def violations(self) -> tuple[Violation, ...]:
        """The statements that the learned tables do not satisfy, and by how much; soft ones may be among them."""
        return violations_of(self.network, self.knowledge)

    def explain(self) -> Explanation:
        """What each statement did, what each row stands on, whether the knowledge helped, and where to look next."""
        from credo.explain.explanation import explain

        if self.problem is None:
            raise OptionError("This fit was made without its counts: learn again to have it explained.")
        if "story" not in self._told:
            whole = expand(self.network).network
            given = self.problem, self.knowledge, self.multipliers, self.posterior, self.method, self.is_incomplete
            self._told["story"] = explain(whole, *given)
        return self._told["story"]

    def report(self, path: str | Path) -> Path:
        """Write the whole story as one page of HTML that needs nothing else; returns where it is."""
        from credo.report.page.build import page

        target = checked_page(path)
        target.write_text(page(self), encoding="utf-8")
        return target

    def plot_cpt(self, name: str, ax: Axes | None = None) -> Axes:
        """Draw a table: for each number the data, what the knowledge allows, what was learned, and its interval.

        This and the other pictures need matplotlib (`credo[plots]`), and return the axes that they drew on.
        """
        from credo.plot.cpt import plot_cpt

        return plot_cpt(self, name, ax)

    def plot_network(self, ax: Axes | None = None) -> Axes:
        """Draw the network: arrows by influence, circles by how far the knowledge moved their tables."""
        from credo.plot.network import plot_network

        return plot_network(self, ax)

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draw what was maximised after each step."""
        from credo.plot.history import plot_history

        return plot_history(self, ax)

    def plot_knowledge(self, ax: Axes | None = None) -> Axes:
        """Draw the statements that mattered: how far each moved a number, and what became of it."""
        from credo.plot.knowledge import plot_knowledge

        return plot_knowledge(self, ax)

    def _repr_html_(self) -> str:
        from credo.report.notebook import fit_html

        return fit_html(self)

    def cpt(self, name: str) -> pl.DataFrame:
        """The learned table of a variable with labels."""
        return self.network.cpt(name)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in the types that JSON has; configurations are named."""
        return {
            "method": self.method,
            "status": self.status.name.lower(),
            "message": self.status.value,
            "rows": self.rows,
            "log_likelihood": self.log_likelihood if isfinite(self.log_likelihood) else None,
            "cll": self.cll,
            "pmi": self.pmi,
            "history": [value if isfinite(value) else None for value in self.history],
            "seconds": self.seconds,
            "certificate": None
            if self.certificate is None
            else {"violation": self.certificate.violation, "gap": self.certificate.gap},
            "binding": [asdict(each) for each in self.binding()],
            "violations": [asdict(each) for each in self.violations()],
            "findings": [
                {
                    "kind": finding.kind,
                    "variable": finding.variable,
                    "message": str(finding),
                    "configurations": [dict(configuration) for configuration in finding.configurations],
                }
                for finding in self.findings
            ],
            "tables": {
                name: {
                    "parents": list(self.network.parents[name]),
                    "states": list(self.network.states(name)),
                    "probabilities": self.network.cpt_array(name).tolist() if name in self.network.cpts else None,
                }
                for name in self.network.names
            },
            "noisy": {
                name: {
                    "kind": form.kind,
                    "leak": form.leak,
                    "causes": [
                        {"parents": list(own), "probabilities": table.tolist()}
                        for own, table in zip(form.causes, form.cpts, strict=True)
                    ],
                }
                for name, form in self.network.forms.items()
            },
        }
