"""A scikit-learn classifier that learns from data and expert knowledge.

By default features act on the target additively, and each distribution may deviate from that (`additive.py`). Where
knowledge says more than directions of effects, or the user names a method, a network is learned (`network_target.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from credo.errors import DataError, OptionError, listing, suggestion
from credo.fitting import fit as learn
from credo.io.columns import no_weight
from credo.io.network_files import NetworkLike, read_network
from credo.io.tables import header_of
from credo.knowledge import Knowledge, KnowledgeSource, knowledge_for
from credo.knowledge.knowledge import items_of
from credo.knowledge.mistakes import KnowledgeError, Mistake
from credo.knowledge.sources import read_sources
from credo.knowledge.state_order import Order
from credo.knowledge.statements import mentions_in
from credo.model.network import Network, Variable
from credo.questions.question_draws import why_no_interval
from credo.results.fit_results import require_level
from credo.sklearn.additive_target import AdditiveTarget, NumberedFeatures, learn_additive_target
from credo.sklearn.columns import (
    Column,
    Features,
    RandomState,
    TabularMixin,
    declared_categories,
    learn_column,
    with_thresholds,
)
from credo.sklearn.effects import DirectionResult, direction_results, effect_curves
from credo.sklearn.network_target import FitOptions, NetworkTarget, naive_bayes_if_large, rows_of, with_all_parents
from credo.sklearn.target import class_codes, require_fillable_cpt, state_of, stated_directions, with_positive_priors
from credo.statistics.prior import PriorLike
from credo.types import Indices, Numbers

if TYPE_CHECKING:
    import polars as pl

    from credo.results.fit_results import Fit

BINS = 3
DOUBT = 0.1  # as of an expert of whom nothing is known
MOST_ROWS = 20_000  # that the additive model learns from: with more, a network takes less time and loses little
ROWS_AT_ONCE = 2**12  # whose draws are in memory together


UNNAMED = "y"  # the target, where nothing says what it is called
UNNAMED_TARGET = (
    'y has no name, as in cross_val_predict and other tools that pass an array: say what it is called, by target="…".'
)
UNNAMED_FEATURES = (
    "The features are an array, whose columns are called x0, x1, …: give a frame. A scaler or another step before "
    'keeps the names with set_output(transform="pandas").'
)
ENCODED_CLASSES = (
    "The classes of y are numbers here: cross_val_predict with predict_proba passes the numbers of the classes instead "
    "of their names. Write {target}=0 or {target}=1 in statements, in the alphabetical order of the classes."
)


def _name_of(y: Any) -> str | None:
    name = getattr(y, "name", None)
    return None if name in (None, "") else str(name)


class KnowledgeClassifier(TabularMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predict a target from features, with knowledge about how the features affect it.

    The default needs no tuning. Features act additively on the target, each by a curve that rises or falls as
    statements say unless the rows contradict them; each distribution may deviate from that, as far as rows say. This
    model is used where nothing more than directions is known (`age raises attack`), for two classes, and without
    statements for any number of classes.

    Otherwise, or if `method`, `prior`, `network` or `options` are given, one network is learned. Without a `network`
    every feature is a parent of the target (the inverted naive Bayes of [yang]); with one, the whole network is
    learned, and the target is predicted from the values of a row. Where there are so many features that the CPT of the
    target would be too large, and there is no knowledge, they become children of the target instead (naive Bayes), with
    a `ManyFeaturesWarning`.

    Texts, truth values and at most ten whole numbers are categories: those that `states` lists for a column, else those
    that its type lists (`pandas.Categorical`, `polars.Enum`), else those that occur. All other numbers are cut into
    ranges. Values may be missing and are summed out, given those of the other features. A value that does not
    occur in the training rows is treated as missing, with an `UnseenValueWarning`. A configuration that does not occur
    is predicted as the method does: by knowledge and prior, or uniformly. If all training rows are of one class, that
    class is predicted.

    Parameters
    ----------
    knowledge : str, Knowledge or sequence of statements, optional
        Statements as for `credo.fit`. They call features by the names of the columns (x0, x1, … for an array).
    target : str, optional
        The name of the target in statements. If not given, the name of `y`; if that has none, the only name of
        statements that is not a column, or "y".
    network : Network or path, optional
        A network that contains the target.
    model : {"auto", "additive", "network"}, default "auto"
        The additive model, or one network; "auto" decides as described above.
    doubt : float, default 0.1
        How probable it is that a stated direction is wrong, in the additive model, before any row is seen; 0 means that
        it holds in every draw. A network keeps to all statements, unless `options={"doubt": True}`.
    method : str, default "auto"
        A method of `credo.fit`, for the network.
    prior : number, str, Network, prior or mapping, optional
        Pseudo-counts as in `credo.fit`.
    bins : int or mapping, default 3
        How numbers are cut for a network: the number of ranges, which hold about as many rows each and are called 1,
        2, …; or a mapping from columns to such a number or to thresholds: [40, 60] gives the states `<40`, `40-60` and
        `60+`.
    states : mapping from str to sequence, optional
        The categories of columns and of the target, in order, whether they occur or not.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None, default 0
        The seed of `credo.fit`.
    options : dict, optional
        Further options of `credo.fit` by name, such as `{"posterior": credo.PosteriorOptions(draws=2000)}`.

    Attributes
    ----------
    fit_ : credo.Fit
        The learned network with its findings and its report. The additive model does without it: it is then learned
        when it is first asked for.
    model_ : {"additive", "network"}
        Which of the two predicts.
    classes_ : ndarray
        The classes of the training rows. Further states of the target get no probability.
    target_ : str
        The name of the target.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": ["young", "old", "old", "young"], "smoke": ["no", "yes", "no", "yes"]})
    >>> y = pd.Series(["no", "yes", "no", "no"], name="attack")
    >>> model = KnowledgeClassifier("smoke raises attack", method="cmap", prior=1).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'yes', 'no', 'no']
    """

    def __init__(
        self,
        knowledge: KnowledgeSource | Knowledge | None = None,
        *,
        target: str | None = None,
        network: NetworkLike | None = None,
        model: str = "auto",
        doubt: float = DOUBT,
        method: str = "auto",
        prior: PriorLike | None = None,
        bins: int | Mapping[str, int | Sequence[float]] = BINS,
        states: Mapping[str, Sequence[object]] | None = None,
        random_state: RandomState = 0,
        options: FitOptions | None = None,
    ) -> None:
        self.knowledge = knowledge
        self.target = target
        self.network = network
        self.model = model
        self.doubt = doubt
        self.method = method
        self.prior = prior
        self.bins = bins
        self.states = states
        self.random_state = random_state
        self.options = options

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> KnowledgeClassifier:
        """Learn from features and classes.

        Parameters
        ----------
        X : array or frame, (rows, features)
            The features.
        y : array_like, (rows,)
            The class of each row.
        sample_weight : array_like, (rows,), optional
            How often each row counts.

        Returns
        -------
        KnowledgeClassifier
            The estimator itself.
        """
        import polars as pl

        frame = self._frame(X, reset=True)
        labels = self._labels(y, len(frame))
        weights = np.asarray(_check_sample_weight(sample_weight, labels, dtype=np.float64, ensure_non_negative=True))
        self.classes_, which = np.unique(labels, return_inverse=True)
        self.target_ = self._target_name(y, frame.columns)
        self._seed_used = self._seed()
        if not (kept := weights > 0).all():
            if not kept.any():
                raise no_weight()
            frame = pl.DataFrame([frame[name].filter(kept) for name in frame.columns])
            which, weights = which[kept], weights[kept]

        self._fit: Fit | None = None
        self._additive: AdditiveTarget | None = None
        self._by_network: NetworkTarget | None = None
        if self.network is not None:
            network = read_network(self.network)
            self._columns = self._network_columns(network, frame.columns)
        else:
            self._columns = self._own_columns(frame, weights, declared_categories(X))
            network = with_all_parents([column.variable for column in self._columns.values()], self._target_variable())
        self._class_codes = class_codes(network.variable(self.target_), self.classes_)
        has_one_class = len(network.states(self.target_)) == 1  # about which statements say nothing
        known = knowledge_for(network, None) if has_one_class else self._known(network, X, y)
        directions = None if has_one_class else self._directions(known, len(frame))
        if directions is not None:
            self._additive = self._learn_additive(known, directions, frame, which, weights)
        elif self.network is None and not has_one_class:
            if not self.knowledge:
                network = naive_bayes_if_large(network, self.target_)
                known = self._known(network, X, y)
            require_fillable_cpt(known, self.target_)
        self._options()
        self._learned_from = (
            known,
            rows_of(network, frame, self._columns, self.target_, self._class_codes[which], weights, strict=True),
        )
        self.model_ = "network" if self._additive is None else "additive"
        if self._additive is None and not has_one_class:
            predictor = self.fit_.network if self.network is not None else with_positive_priors(self.fit_.network)
            self._by_network = NetworkTarget(self.fit_, predictor, self._columns, self.target_, self._class_codes)
        return self

    @property
    def fit_(self) -> Fit:
        """The learned network, with its findings and its report."""
        check_is_fitted(self)
        if self._fit is None:
            known, rows = self._learned_from
            if not self.knowledge and self.network is None:
                network = naive_bayes_if_large(known.network, self.target_)
                known = known if network is known.network else knowledge_for(network, None)
            elif self.network is None:
                require_fillable_cpt(known, self.target_)
            self._fit = learn(
                known.network,
                rows,
                known,
                method=self.method,
                prior=self.prior,
                seed=self._seed_used,
                **self._options(),
            )
        return self._fit

    def predict_proba(self, X: Features) -> Numbers:
        """The probability of each class in each row.

        Parameters
        ----------
        X : array or frame, (rows, features)
            The features.

        Returns
        -------
        ndarray, (rows, classes)
            The probabilities, classes in the order of `classes_`.
        """
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        if len(self.classes_) == 1:
            return np.ones((len(frame), 1))
        if self._additive is not None:
            return self._additive.means(frame)
        return self._network().probabilities(frame)

    def predict_interval(self, X: Features, level: float = 0.95) -> tuple[Numbers, Numbers]:
        """How far the probability of each class in each row is known: the ends of its credible interval.

        Parameters
        ----------
        X : array or frame, (rows, features)
            The features.
        level : float, default 0.95
            The probability that the interval holds.

        Returns
        -------
        low, high : ndarray, (rows, classes)
            The ends, classes in the order of `classes_`.

        Raises
        ------
        OptionError
            If the method of the network gives one estimate and no draws.

        Examples
        --------
        >>> model = KnowledgeClassifier("x0 raises y").fit([[0], [0], [1], [1]] * 5, [0, 0, 1, 1] * 5)
        >>> low, high = model.predict_interval([[0], [1]])
        >>> bool((low < model.predict_proba([[0], [1]])).all())
        True
        """
        require_level(level)
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        if len(self.classes_) == 1:
            return np.ones((len(frame), 1)), np.ones((len(frame), 1))
        if self._additive is None and (reason := why_no_interval(self.fit_)):
            raise OptionError(reason)
        predictor = self._network() if self._additive is None else self._additive
        ends = [np.empty((2, 0, len(self.classes_)))]
        for first in range(0, len(frame), ROWS_AT_ONCE):
            draws = predictor.draws(frame[first : first + ROWS_AT_ONCE])
            ends.append(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0))
        low, high = np.concatenate(ends, axis=1)
        return low, high

    def effect_curves(self, level: float = 0.95) -> pl.DataFrame:
        """How each feature acts on the target: the probability if all training rows had one of its values.

        Parameters
        ----------
        level : float, default 0.95
            The probability that the interval holds.

        Returns
        -------
        polars.DataFrame
            A row for each value: `class` (the second of two, or each of more), `feature`, `value` as text, `number`
            (measured values, or the places of states in their order), `probability`, `low`, `high`.

        Raises
        ------
        OptionError
            If one network was learned instead of the additive model.

        Examples
        --------
        >>> model = KnowledgeClassifier("x0 raises y").fit([[0], [0], [1], [1]] * 5, [0, 0, 1, 1] * 5)
        >>> model.effect_curves()["value"].to_list()
        ['0', '1']
        """
        require_level(level)
        return effect_curves(self._require_additive(), [state_of(label) for label in self.classes_.tolist()], level)

    def statement_results(self, level: float = 0.95) -> tuple[DirectionResult, ...]:
        """What became of each statement, in their order: whether it is right, and what it changed.

        Parameters
        ----------
        level : float, default 0.95
            The probability that the intervals of changes hold.

        Returns
        -------
        tuple of DirectionResult
            Each prints as a sentence. The model is learned again without each of them, which takes as long as `fit`.

        Raises
        ------
        OptionError
            If one network was learned instead of the additive model: `fit_` then has what its statements did.

        Examples
        --------
        >>> model = KnowledgeClassifier("x0 raises y").fit([[0], [0], [1], [1]] * 5, [0, 0, 1, 1] * 5)
        >>> model.statement_results()[0].statement
        'x0 raises y'
        """
        require_level(level)
        target = self._require_additive()
        states = self._learned_from[0].orders[self.target_].states
        highest = int(state_of(self.classes_[1]) == states[-1])
        return direction_results(target, self.target_, highest, level)

    def _require_additive(self) -> AdditiveTarget:
        check_is_fitted(self)
        if self._additive is None:
            raise OptionError("One network was learned here: fit_ has its CPTs, its report and what statements did.")
        return self._additive

    def predict(self, X: Features) -> NDArray[Any]:
        """The most probable class of each row; of equally probable ones the first of `classes_`.

        Parameters
        ----------
        X : array or frame, (rows, features)
            The features.

        Returns
        -------
        ndarray, (rows,)
            The classes.
        """
        best = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    # The additive model ----------------------------------------------------------------------------------------------

    def _directions(self, known: Knowledge, rows: int) -> dict[str, int] | None:
        """1 and −1 for features with a stated direction; None if one network is to be learned alone."""
        if self.model not in ("auto", "additive", "network"):
            raise OptionError(f'model is "auto", "additive" or "network", not {self.model!r}.')
        doubt: Any = self.doubt
        if not (isinstance(doubt, Real) and 0.0 <= float(doubt) <= 0.5):
            raise OptionError(f"doubt is a probability from 0 to 0.5; it is {doubt!r}.")
        if self.model == "network":
            return None
        settings = {"method": self.method != "auto", "prior": self.prior is not None, "options": bool(self.options)}
        settings["network"] = self.network is not None
        if any(settings.values()):
            if self.model == "additive":
                given = [name for name, is_given in settings.items() if is_given]
                raise OptionError(f'model="additive" learns by itself: {listing(given)} cannot be given with it.')
            return None
        found = stated_directions(known, self.target_)
        reason = ""
        if found is None:
            reason = "The knowledge says more than in which direction features act"
        elif found and len(self.classes_) > 2:
            reason = "There are statements, and more than two classes"
        elif len(self.classes_) < 2 or len(known.network.states(self.target_)) > len(self.classes_):
            reason = "There is a class without training rows"
        elif rows > MOST_ROWS:
            reason = f"There are more than {MOST_ROWS} rows"
        if reason and self.model == "additive":
            raise OptionError(f'{reason}: learn one network, with model="network".')
        return None if reason else found

    def _learn_additive(
        self, known: Knowledge, directions: Mapping[str, int], frame: pl.DataFrame, labels: Indices, weights: Numbers
    ) -> AdditiveTarget:
        ordered = {name for stated in known.statements if isinstance(stated, Order) for name in stated.variables}
        measured = {
            name
            for name in set(frame.columns) - ordered - set(self.states or {})
            if frame[name].dtype.is_numeric() and isinstance(self._bins(name, frame.columns), int)
        }
        orders = {name: known.orders[name].states for name in directions}
        second = known.network.states(self.target_)[self._class_codes[1]]
        is_highest = known.orders[self.target_].states[-1] == second
        return learn_additive_target(
            NumberedFeatures(self._columns, orders, measured),
            {name: sign if is_highest else -sign for name, sign in directions.items()},
            frame,
            labels,
            weights,
            classes=len(self.classes_),
            seed=self._seed_used,
            reliability=1.0 - self.doubt,
        )

    def _network(self) -> NetworkTarget:
        assert self._by_network is not None
        return self._by_network

    # Validation ------------------------------------------------------------------------------------------------------

    def _labels(self, y: Any, rows: int) -> NDArray[Any]:
        if y is None:
            raise ValueError("KnowledgeClassifier requires y to be passed, but the target y is None.")
        labels: NDArray[Any] = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
        if len(labels) != rows:
            raise ValueError(f"X has {rows} rows, but y has {len(labels)}.")
        return labels

    def _known(self, network: Network, X: Any, y: Any) -> Knowledge:
        """The knowledge about the network; where it names what is not there, the error says how names get lost."""
        try:
            return knowledge_for(network, self.knowledge)
        except KnowledgeError as error:
            mistakes = [self._with_hint(each, X, y) for each in error.mistakes]
            raise KnowledgeError(mistakes) from None

    def _with_hint(self, mistake: Mistake, X: Any, y: Any) -> Mistake:
        if mistake.kind == "unknown-variable" and header_of(X) is None:
            return replace(mistake, suggestion=UNNAMED_FEATURES)
        if mistake.kind == "unknown-variable" and self.target_ == UNNAMED and _name_of(y) is None:
            return replace(mistake, suggestion=UNNAMED_TARGET)
        about_target = mistake.message.startswith(f'"{self.target_}"')
        if mistake.kind == "unknown-state" and about_target and _name_of(y) is None:
            return replace(mistake, suggestion=ENCODED_CLASSES.format(target=self.target_))
        return mistake

    def _target_name(self, y: Any, columns: list[str]) -> str:
        name = self.target if self.target is not None else _name_of(y)
        name = self._only_other_name(columns) if name is None else name
        if name in columns:
            raise DataError(f"The features have a column {name}, the name of the target. Leave it out, or set target.")
        return name

    def _only_other_name(self, columns: list[str]) -> str:
        """The name of a target that has none: the only one that the knowledge uses beside those of the features."""
        if self.network is not None:
            others = [name for name in read_network(self.network).names if name not in columns]
        else:
            parsed = read_sources(items_of(self.knowledge if self.knowledge is not None else ()), names=columns)
            others = [name for name in mentions_in(parsed.statements) if name not in columns]
        return str(others[0]) if len(others) == 1 else UNNAMED

    def _own_columns(self, frame: pl.DataFrame, weights: Numbers, listed: Mapping[str, Any]) -> dict[str, Column]:
        """How each feature is read, without a network."""
        states = self._mapping("states", frame.columns, {self.target_})
        declared = {**listed, **states}
        return {
            name: learn_column(frame[name], weights, self._bins(name, frame.columns), declared.get(name))
            for name in frame.columns
        }

    def _network_columns(self, network: Network, columns: list[str]) -> dict[str, Column]:
        """How the features that are variables of the network are read; the others are ignored."""
        network.variable(self.target_)
        found = {}
        for name in columns:
            if name in network:
                variable, bins = network.variable(name), self._bins(name, columns)
                given = None if isinstance(bins, int) else with_thresholds(name, bins).thresholds
                if given is not None and len(variable.states) != len(given) + 1:
                    raise OptionError(f"{len(given)} thresholds cannot cut {name} into {len(variable.states)} states.")
                found[name] = Column(variable, given)
        if not found:
            raise DataError(f"No feature is a variable of the network.{suggestion(columns[0], network.names)}")
        return found

    def _target_variable(self) -> Variable:
        declared = (self.states or {}).get(self.target_)
        states = self.classes_.tolist() if declared is None else declared
        return Variable(self.target_, tuple(state_of(label) for label in states))

    def _bins(self, name: str, columns: list[str]) -> Any:
        """A number of ranges, or thresholds."""
        bins = self.bins
        if isinstance(bins, Mapping):
            bins = self._mapping("bins", columns).get(name, BINS)
        if hasattr(bins, "__index__") and not isinstance(bins, bool):
            if int(bins) < 1:
                raise OptionError(f"bins is a number of ranges, at least 1; it is {bins!r}.")
            return int(bins)
        if isinstance(self.bins, Mapping) and not isinstance(bins, bool | str):
            return bins
        raise OptionError(f"bins is a whole number, or a mapping from columns to numbers or thresholds; not {bins!r}.")

    def _mapping(self, what: str, columns: list[str], more: Set[str] = frozenset()) -> Mapping[str, Any]:
        given = getattr(self, what)
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise OptionError(f"{what} is a mapping from columns, not {given!r}.")
        for name in given:
            if name not in columns and name not in more:
                raise OptionError(f'{what} names "{name}", which is not a column.{suggestion(str(name), columns)}')
        return given

    def _options(self) -> FitOptions:
        given: FitOptions = self.options or {}
        for name in given:
            if name not in (known := list(FitOptions.__annotations__)):
                raise OptionError(f'There is no option "{name}" of credo.fit to set here.{suggestion(name, known)}')
        return given
