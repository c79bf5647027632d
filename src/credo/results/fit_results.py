"""What learning returns: the network, how it was found, and labelled answers about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isfinite, nan
from numbers import Real
from typing import TYPE_CHECKING

from credo.errors import OptionError, Status
from credo.estimation.problem import Problem
from credo.estimation.solution import TiedLikelihood, Uncertainty
from credo.estimation.solvers.certificate import Certificate
from credo.explain.misfits import PredictiveChecks
from credo.findings import Finding
from credo.io.origin import Origin
from credo.io.row_sample import RowSample
from credo.knowledge import Knowledge
from credo.model.expansion import expand
from credo.model.gates import GateForm
from credo.model.network import Network
from credo.results.audit import Request, Step
from credo.results.conveniences import FitConveniences
from credo.results.fit_statements import (
    believed_statements_of,
    binding_frame,
    binding_statements,
    doubted_frame,
    experts_frame,
    has_multipliers,
    reference_to_dict,
    violated_statements,
    violations_frame,
)
from credo.types import Json, Numbers

if TYPE_CHECKING:
    import polars as pl

    from credo.posterior.beliefs import DoubtResult

FROM_FILE = "network file"  # in place of a method, where numbers were read and not learned


@dataclass(frozen=True, slots=True)
class Fit(FitConveniences):
    """A learned network, how it was found, and what it can be asked. Printing it gives a summary.

    `fit` returns it. Pictures are functions of it: `credo.plot.cpt(fit, "lung")`, `credo.plot.network(fit)`,
    `credo.plot.knowledge(fit)`, `credo.plot.history(fit)`.

    Attributes
    ----------
    network
        The network with its learned CPTs.
    knowledge
        The statements that were used.
    method
        The method that was used, such as "posterior".
    status
        How the estimate ended; `status.value` is a sentence.
    log_likelihood
        The log-likelihood of the data under the learned network (natural logarithm).
    rows
        How many rows the data have.
    seconds
        How long learning took.
    findings
        What a user should know about the result, as sentences.
    history
        The objective after each iteration.
    certificate
        How far the estimate can be from the optimum; None for estimates that do not claim to be optimal.
    multipliers
        For each statement, by its number, the gain in log-likelihood per unit of its bound, where already known.
    posterior
        The posterior distribution of all CPTs, for methods that sample.
    tied
        The likelihood given the ties between rows; None where no rows are tied.
    is_incomplete
        Whether the counts are expected ones, because of missing values, hidden variables or ties.
    no_interval
        Why there are no intervals although the method samples; empty where there are some, and for other methods.
    checks
        Which parts the data do not fit, in a fit that was loaded; in others they are computed when asked for.
    row_sample
        Some rows of the data, for `predictive_checks`; None in a fit that was loaded.
    origin
        The table's file, its fingerprint, and when it was learned; None in files of earlier versions.
    trail
        The audit trail: when, from which tables and by which statements it was learned and updated.
    without_column
        The variables that have no column in the data: hidden ones, and gates that follow from other columns.
    """

    network: Network
    knowledge: Knowledge = field(repr=False)
    method: str
    status: Status
    log_likelihood: float
    rows: int
    seconds: float
    findings: tuple[Finding, ...] = field(default=(), repr=False)
    history: tuple[float, ...] = field(default=(), repr=False)
    certificate: Certificate | None = None
    multipliers: Mapping[int, float] = field(default_factory=dict, repr=False)
    posterior: Uncertainty | None = field(default=None, repr=False)
    tied: TiedLikelihood | None = None
    _problem: Problem | None = field(default=None, repr=False)
    is_incomplete: bool = field(default=False, repr=False)
    no_interval: str = field(default="", repr=False)
    checks: PredictiveChecks | None = field(default=None, repr=False, compare=False)
    row_sample: RowSample | None = field(default=None, repr=False, compare=False)
    origin: Origin | None = field(default=None, repr=False, compare=False)
    trail: tuple[Step, ...] = field(default=(), repr=False, compare=False)
    without_column: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _request: Request | None = field(default=None, repr=False, compare=False)

    @property
    def memory_limit(self) -> int | None:
        """The limit in bytes that it was learned with, which questions keep too; None: the default."""
        return None if self._problem is None else self._problem.settings.memory_limit

    @property
    def seed(self) -> int:
        """The seed that it was learned with."""
        return 0 if self._problem is None else self._problem.settings.seed

    @property
    def fixed(self) -> tuple[str, ...]:
        """The variables whose CPTs were kept, and not learned."""
        kept = set() if self._problem is None else set(self._problem.model.kept)
        effects = expand(self.network).effects
        return tuple(name for name in self.network.names if kept.issuperset(effects.get(name, (name,))))

    @property
    def cll(self) -> float | None:
        """The log-likelihood of the data given the ties between rows; None where there are none."""
        return None if self.tied is None else self.tied.value

    @property
    def pmi(self) -> float | None:
        """What the ties add to the log-likelihood: the pointwise mutual information of data and ties."""
        return None if self.tied is None else self.tied.value - self.log_likelihood

    def cpt(self, name: str) -> pl.DataFrame:
        """The learned CPT of a variable.

        Parameters
        ----------
        name
            The variable.

        Returns
        -------
        polars.DataFrame
            One row per configuration: a column for each parent, then a column `name=state` for each state.
        """
        return self.network.cpt(name)

    def counts(self, name: str) -> pl.DataFrame:
        """How many rows the data have for each probability of a variable.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family, as for `interval`.

        Returns
        -------
        polars.DataFrame
            One row per probability: a column for each parent, then `state`, `probability` and `count`.

        Raises
        ------
        OptionError
            If the variable is a noisy family.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}))
        >>> fit.counts("coin")["count"].to_list()
        [3.0, 1.0]
        """
        return one_row_per_probability(self, name, count=self.counts_array(name))

    def counts_array(self, name: str) -> Numbers:
        """The same numbers of rows as `counts` gives, as an array.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family.

        Returns
        -------
        ndarray
            How many rows there are, with axes (parents…, child); where values are missing, how many are expected.
        """
        self._require_own_cpt(name)
        import numpy as np

        if self._problem is None:
            raise OptionError("This fit was not learned from counts.")
        return np.asarray(self._problem.data.counts.of(name)).reshape(expand(self.network).network.shape(name))

    def interval(self, name: str, level: float = 0.95) -> pl.DataFrame:
        """The credible intervals of a variable's probabilities.

        Parameters
        ----------
        name
            The variable. A noisy family has intervals for each of its small CPTs, which are named like
            `attack by chol, bp`.
        level
            The probability with which each interval contains the true value.

        Returns
        -------
        polars.DataFrame
            One row per probability: a column for each parent, then `state`, `probability`, `low` and `high`.

        Raises
        ------
        OptionError
            If the method gives no uncertainty, or missing values could not be drawn, or the level is not between 0
            and 1.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}))
        >>> fit.interval("coin", 0.9).columns
        ['state', 'probability', 'low', 'high']
        """
        low, high = self.interval_arrays(name, level)
        return one_row_per_probability(self, name, low=low, high=high)

    def interval_arrays(self, name: str, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """The ends (low, high) of the same intervals as `interval` gives, as arrays.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family.
        level
            The probability that an interval contains, between 0 and 1.

        Returns
        -------
        tuple of ndarray
            The lower and the upper ends, with axes (parents…, child).
        """
        self._require_own_cpt(name)
        require_level(level)
        return self._require_posterior().interval(name, level)

    def deviation(self, name: str) -> pl.DataFrame:
        """The standard deviations of a variable's probabilities.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family, as for `interval`.

        Returns
        -------
        polars.DataFrame
            One row per probability: a column for each parent, then `state`, `probability` and `deviation`.

        Raises
        ------
        OptionError
            If the method gives no uncertainty, or missing values could not be drawn.
        """
        return one_row_per_probability(self, name, deviation=self.deviation_array(name))

    def deviation_array(self, name: str) -> Numbers:
        """The same standard deviations as `deviation` gives, as an array.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family.

        Returns
        -------
        ndarray
            The standard deviations, with axes (parents…, child).
        """
        self._require_own_cpt(name)
        deviations = self._require_posterior().deviations
        if name not in deviations:
            raise OptionError(f"There are no draws of {name}: its CPT was not learned.")
        return deviations[name]

    def binding(self) -> pl.DataFrame:
        """The statements that shaped the result, and how much each matters.

        A posterior mean is at no bound: there it is learned again without each statement, and those that change it are
        listed, as `explain` does; how much they matter is computed at the most probable CPTs, and may be zero.

        Returns
        -------
        polars.DataFrame
            `place`, the line of the statement, null for one made in Python; `statement`, its words; and
            `gain_per_point`: the gain in log-likelihood if its bound moved by one percentage point, which reports call
            "how much it matters". Largest first.

        Notes
        -----
        A gain of 1 per point says that the data would be e = 2.7 times as probable if the statement demanded one
        percentage point less. `explain` ranks by something else: by how far a probability moves if the statement is
        left out. A bound may be pressed hard and move little, and the other way round.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> rows = polars.DataFrame({"coin": ["heads"] * 30 + ["tails"] * 30})
        >>> fit = credo.fit(network, rows, "P(coin=heads) <= 0.4", method="cml")
        >>> fit.binding()["gain_per_point"].round(3).to_list()
        [0.25]
        """
        return binding_frame(self)

    def violations(self) -> pl.DataFrame:
        """The statements that the learned CPTs do not satisfy.

        Statements with a confidence may be among them, and all of them if the method does not enforce the knowledge.

        Returns
        -------
        polars.DataFrame
            `place`, the line of the statement, null for one made in Python; `statement`, its words; `amount`, by how
            much it is missed, in the unit in which it is written (for a product the share of its larger side that is
            too much, or that side itself if the other is zero); and `confidence`, null for a statement that must hold.
            Worst first.
        """
        return violations_frame(self)

    @property
    def doubt(self) -> DoubtResult | None:
        """How probable statements are and how reliable experts; None where no statement was doubted."""
        from credo.posterior.draws import PosteriorResult

        return self.posterior.doubt if isinstance(self.posterior, PosteriorResult) else None

    def statements(self) -> pl.DataFrame:
        """How probable each statement is that may be wrong, the least probable first.

        Returns
        -------
        polars.DataFrame
            `place`, the line of the statement, null for one made in Python; `statement`, its words; `expert`, null
            outside of experts' blocks; `probability` that it is true, given the data and all statements; `without`,
            the same from the data and the other statements alone; and `believed`, how probable it was by itself,
            before the data: its confidence, or how reliable its expert was expected to be.

        Raises
        ------
        OptionError
            If no statement was doubted.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> rows = polars.DataFrame({"coin": ["heads"] * 30 + ["tails"] * 30})
        >>> fit = credo.fit(network, rows, "P(coin=heads) <= 0.1", doubt=0.1)
        >>> fit.statements()["probability"].round(2).to_list()
        [0.0]
        """
        return doubted_frame(self)

    def experts(self) -> pl.DataFrame:
        """How often each expert is right.

        Returns
        -------
        polars.DataFrame
            `expert`, null for statements outside of experts' blocks; `reliability`, with the ends `low` and `high` of
            its 95% credible interval; `statements`, how many of the expert's may be wrong and have no confidence of
            their own; and `given`, whether the reliability was given instead of learned.

        Raises
        ------
        OptionError
            If no statement was doubted.
        """
        return experts_frame(self)

    def to_dict(self) -> dict[str, Json]:
        """Everything as dictionaries, lists, texts and finite numbers: what JSON can hold.

        `binding` is null where it would have to be computed first; call `binding()` for it.

        Returns
        -------
        dict
            The fields of the result by name.
        """
        network = self.network
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
            else {
                "violation": self.certificate.violation,
                "gap": self.certificate.gap if isfinite(self.certificate.gap) else None,
            },
            "binding": [
                {**reference_to_dict(each.statement), "gain_per_point": each.gain_per_point}
                for each in binding_statements(self)
            ]
            if has_multipliers(self)
            else None,
            "violations": [
                {**reference_to_dict(each.statement), "amount": each.amount, "confidence": each.confidence}
                for each in violated_statements(self)
            ],
            "statements": None
            if not (believed := believed_statements_of(self))
            else [
                {
                    **reference_to_dict(reference),
                    "expert": belief.expert or None,
                    "probability": belief.probability,
                    "without": belief.without,
                    "believed": belief.believed,
                }
                for reference, belief in believed
            ],
            "experts": None
            if self.doubt is None
            else [{**asdict(each), "name": each.name or None} for each in self.doubt.experts],
            "findings": [
                {
                    "kind": finding.kind,
                    "variable": finding.variable,
                    "message": str(finding),
                    "configurations": [dict(configuration) for configuration in finding.configurations],
                }
                for finding in self.findings
            ],
            "cpts": {
                name: {
                    "parents": list(network.parents[name]),
                    "states": list(network.states(name)),
                    "probabilities": network.cpt_array(name).tolist() if name in network.cpts else None,
                }
                for name in network.names
            },
            "noisy": {
                name: {
                    "kind": form.kind,
                    "leak": form.leak,
                    "causes": [
                        {"parents": list(parents), "probabilities": cpt.tolist()}
                        for parents, cpt in zip(form.causes, form.cpts, strict=True)
                    ],
                }
                for name, form in network.forms.items()
                if not isinstance(form, GateForm)
            },
            "gates": {name: str(form) for name, form in network.forms.items() if isinstance(form, GateForm)},
        }

    def _require_own_cpt(self, name: str) -> None:
        effects = expand(self.network).effects
        if name in effects:
            form = self.network.forms[name]
            if isinstance(form, GateForm):
                raise OptionError(f"{name} is {form}: its CPT is not learned, and has no interval.")
            raise OptionError(f"{name} is {form.kind}: ask for one of its small CPTs, {', '.join(effects[name])}.")
        if not any(name in small for small in effects.values()):
            self.network.variable(name)

    def _require_posterior(self) -> Uncertainty:
        if self.posterior is None:
            raise OptionError(
                f"The method {self.method} gives one estimate and no uncertainty. Learn with method=posterior for it."
            )
        if self.no_interval:
            raise OptionError(self.no_interval)
        return self.posterior


def fit_of_network(network: Network, knowledge: Knowledge | None = None) -> Fit:
    """A network with its numbers as if they had been learned, so that all can be asked of it but intervals."""
    return Fit(
        network, Knowledge(network, ()) if knowledge is None else knowledge, FROM_FILE, Status.EXACT, nan, 0, 0.0
    )


def one_row_per_probability(fit: Fit, name: str, **columns: Numbers) -> pl.DataFrame:
    """A frame in long form: the parents' states, the variable's state, its probability, and these columns."""
    import numpy as np
    import polars as pl

    network = expand(fit.network).network
    parents, learned = network.parents[name], network.cpt_array(name)
    taken = {"state", "probability", *columns} & set(parents)
    if taken:
        raise OptionError(
            f"{name} has a parent called {min(taken)}, which is the name of another column here: use "
            "interval_arrays or deviation_array instead."
        )
    indices = np.indices(learned.shape).reshape(learned.ndim, learned.size)  # the last axis varies fastest
    labels = [
        pl.Series(column, network.states(variable), dtype=pl.String).gather(index)
        for column, variable, index in zip((*parents, "state"), (*parents, name), indices, strict=True)
    ]
    values = {"probability": learned, **columns}
    return pl.DataFrame([*labels, *(pl.Series(column, array.ravel()) for column, array in values.items())])


def require_level(level: object) -> None:
    """Raise if the level of an interval is not a number between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, Real) or not 0 < float(level) < 1:
        raise OptionError(f"The level of an interval lies between 0 and 1; it is {level!r}.")
