"""The methods of `Network` whose work is done by later modules: labelled CPTs, sampling, prediction, other libraries.

Users look for them on the network. Each imports `credo.network_methods` when it is called: the only import against the
order of modules (see pyproject.toml).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from credo.options import TableFormat
from credo.types import PgmpyModel, PyagrumModel, Seed, SoftRows, TableLike

if TYPE_CHECKING:
    import polars as pl

    from credo.knowledge.query import Query
    from credo.model.bin_rules import BinRule
    from credo.model.network import Network
    from credo.questions.answers import Answer
    from credo.questions.importance import Importance


class NetworkConveniences:
    """What `Network`, its only subclass, does with the help of later modules."""

    __slots__ = ()

    def cpt(self, name: str) -> pl.DataFrame:
        """The CPT of a variable with labels.

        Parameters
        ----------
        name : str
            A variable.

        Returns
        -------
        polars.DataFrame
            A row for each configuration of the parents: a column of states for each parent, then a column
            `child=state` of probabilities for each state. For a noisy family whose full CPT is too large, its small
            CPTs one below the other, with empty cells for the parents that a set of causes does not contain.

        Raises
        ------
        NetworkError
            If the variable has no CPT.

        Examples
        --------
        >>> import credo
        >>> network = credo.Network({"smoke": ["no", "yes"]}, cpts={"smoke": [0.7, 0.3]})
        >>> network.cpt("smoke").row(0, named=True)
        {'smoke=no': 0.7, 'smoke=yes': 0.3}
        """
        from credo.network_methods import labelled_cpt

        return labelled_cpt(_network(self), name)

    def sample(self, rows: int, seed: Seed = 0) -> pl.DataFrame:
        """Draw rows from the joint distribution.

        Parameters
        ----------
        rows : int
            The number of rows.
        seed : int or numpy.random.Generator, default 0
            The same seed gives the same rows.

        Returns
        -------
        polars.DataFrame
            A column of states for each variable.

        Examples
        --------
        >>> import credo
        >>> network = credo.Network({"smoke": ["no", "yes"]}, cpts={"smoke": [0.0, 1.0]})
        >>> network.sample(2)["smoke"].to_list()
        ['yes', 'yes']
        """
        from credo.network_methods import sample

        return sample(_network(self), rows, seed)

    def log_likelihood(self, data: TableLike, *, table_format: TableFormat | None = None) -> float:
        """The log-likelihood of data, log P(data), with the natural logarithm.

        Parameters
        ----------
        data : path, frame or Dataset
            The rows. Missing values and hidden variables are summed out exactly.
        table_format : TableFormat, optional
            How the file is written, where it is not as usual: separator, decimal mark, encoding, sheet.

        Returns
        -------
        float
            The sum over rows; minus infinity if a row is impossible.

        Examples
        --------
        >>> import credo
        >>> import polars as pl
        >>> network = credo.Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]})
        >>> round(network.log_likelihood(pl.DataFrame({"coin": ["heads", "tails", None]})), 3)
        -1.386
        """
        from credo.network_methods import declared, log_likelihood

        return log_likelihood(_network(self), declared(data, table_format))

    def predict(
        self,
        data: TableLike,
        name: str,
        *,
        soft: SoftRows | None = None,
        table_format: TableFormat | None = None,
    ) -> pl.DataFrame:
        """The probability of each state of a variable in each row, given the values of the row.

        Parameters
        ----------
        data : path, frame or Dataset
            The rows; values may be missing. A value of the variable itself is certain.
        name : str
            The variable to predict.
        soft : mapping from str to mapping, optional
            Soft (virtual) evidence, as in `Fit.marginals`: for a variable, the likelihood of what was seen in each of
            its states, up to a common factor, as one number for all rows or a list with one for each row. States not
            listed have 0.
        table_format : TableFormat, optional
            How the file is written, where it is not as usual: separator, decimal mark, encoding, sheet.

        Returns
        -------
        polars.DataFrame
            A row for each row of the data, a column `name=state` for each state.

        Raises
        ------
        ImpossibleRowError
            If a row has probability zero.
        QueryError
            If the soft evidence names an unknown state, or is not made of likelihoods.

        Examples
        --------
        >>> import credo
        >>> import polars as pl
        >>> network = credo.Network(
        ...     {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     {"wet": ["rain"]},
        ...     {"rain": [0.5, 0.5], "wet": [[0.75, 0.25], [0.25, 0.75]]},
        ... )
        >>> network.predict(pl.DataFrame({"wet": ["yes"]}), "rain").row(0, named=True)
        {'rain=no': 0.25, 'rain=yes': 0.75}
        >>> network.predict(pl.DataFrame({"wet": ["yes"]}), "rain", soft={"rain": {"no": 3, "yes": 1}}).row(0)
        (0.5, 0.5)
        """
        from credo.network_methods import declared, predict

        return predict(_network(self), declared(data, table_format), name, soft)

    def query(self, question: str | Query) -> Answer:
        """Answer a question; a fit by `posterior` answers with an interval.

        Parameters
        ----------
        question : str or Query
            `P(lung=yes | xray=yes)`, as `Fit.query` takes it.

        Returns
        -------
        Answer
            Printing it gives a sentence; `probability` is its number.

        Raises
        ------
        QueryError
            If the question cannot be read, or what is given has probability zero.

        Examples
        --------
        >>> import credo
        >>> credo.Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.25, 0.75]}).query("P(coin=heads)").probability
        0.25
        """
        from credo.questions.answers import query_network

        return query_network(_network(self), question)

    def importance(self, question: str | Query) -> Importance:
        """How much each basic event matters for a top event: Fussell-Vesely and Birnbaum importance.

        Parameters
        ----------
        question : str or Query
            The top event, such as `P(top=failed)`.

        Returns
        -------
        Importance
            The events, those that matter most first.

        Raises
        ------
        QueryError
            If the question cannot be read, or has several numbers as its answer.
        """
        from credo.questions.importance import importance_in_network

        return importance_in_network(_network(self), question)

    def kl(self, other: Network) -> float:
        """The Kullback-Leibler divergence KL(self ‖ other) of the joint distributions, computed exactly.

        Parameters
        ----------
        other : Network
            A network with the same structure; variables, states and parents are matched by name.

        Returns
        -------
        float
            The divergence in nats; infinite if `other` excludes what this network does not.

        Raises
        ------
        NetworkError
            If the structures differ.

        Examples
        --------
        >>> import credo
        >>> fair = credo.Network({"coin": ["heads", "tails"]}, cpts={"coin": [0.5, 0.5]})
        >>> round(fair.kl(fair.with_cpts({"coin": [0.25, 0.75]})), 4)
        0.1438
        """
        from credo.network_methods import kl

        return kl(_network(self), other)

    @classmethod
    def from_data(
        cls,
        data: TableLike,
        *,
        edges: Iterable[tuple[str, str]] | None = None,
        parents: Mapping[str, Sequence[str]] | None = None,
        states: Mapping[str, Sequence[object]] | None = None,
        bins: Mapping[str, BinRule] | BinRule | None = None,
        variables: Sequence[str] | None = None,
        table_format: TableFormat | None = None,
    ) -> Network:
        """A network of the columns of a table; what is not said is taken from the table.

        Texts, truth values and up to ten different whole numbers are categories, and those that occur are the states;
        the categories of a pandas `Categorical` or a polars `Enum` are, in their order.
        Other numbers are measured: they are cut into three states with about as many rows each, at round numbers; into
        two where three would leave fewer than five rows for each number of a CPT. `credo.network_from_table` returns
        what was decided as findings, too.

        Parameters
        ----------
        data : path or frame
            The table.
        edges : sequence of pairs of str, optional
            The arcs, each as (parent, child).
        parents : mapping from str to sequence of str, optional
            The parents of each variable: another way to give the arcs.
        states : mapping from str to sequence, optional
            The states of some variables, in their order. A variable without a column is hidden.
        bins : mapping, or one rule for all measured columns, optional
            How measured columns are cut: a list of cut points, `CutPoints`, `Quantiles`, `EqualWidth`, `Supervised`, or
            a number of quantiles.
        variables : sequence of str, optional
            The variables. If not given, those that are named; all columns if none is.
        table_format : TableFormat, optional
            How the file is written, where it is not as usual: separator, decimal mark, encoding, sheet.

        Returns
        -------
        Network
            The network without CPTs.

        Raises
        ------
        MissingColumnError
            If a variable has neither a column nor states.
        DataError
            If a column cannot be a variable: it holds dates, names of single rows, or nothing.

        Examples
        --------
        >>> import credo, polars as pl
        >>> rows = pl.DataFrame({"age": [31, 48, 52, 77], "outcome": ["no", "no", "yes", "yes"]})
        >>> print(credo.Network.from_data(rows, edges=[("age", "outcome")], bins={"age": [40, 60]}))
        Network 'network': 2 variables, 1 arc, 0 CPTs
          age: <40, 40-60, 60+; cut at 40, 60
          outcome: no, yes; parents: age
        """
        from credo.network_methods import from_data

        return from_data(data, edges, parents, states, bins, variables, table_format)

    @classmethod
    def from_pgmpy(cls, model: PgmpyModel) -> Network:
        """A pgmpy model as a network.

        Parameters
        ----------
        model : pgmpy.models.DiscreteBayesianNetwork
            The model; names and states that are not texts become texts.

        Returns
        -------
        Network
            The same variables, parents and numbers.

        Raises
        ------
        NetworkError
            If the model does not list the states of a variable, or contradicts itself.
        """
        from credo.network_methods import from_pgmpy

        return from_pgmpy(model)

    def to_pgmpy(self) -> PgmpyModel:
        """The network as a pgmpy model.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork
            The model, with a `TabularCPD` for each CPT.

        Raises
        ------
        MissingExtraError
            If pgmpy is not installed.
        """
        from credo.network_methods import to_pgmpy

        return to_pgmpy(_network(self))

    @classmethod
    def from_pyagrum(cls, model: PyagrumModel) -> Network:
        """A pyAgrum network as a network.

        Parameters
        ----------
        model : pyagrum.BayesNet
            The network. A CPT of zeros, which pyAgrum gives to new variables, is left out.

        Returns
        -------
        Network
            The same variables, parents and numbers.

        Raises
        ------
        MissingExtraError
            If pyAgrum is not installed.
        """
        from credo.network_methods import from_pyagrum

        return from_pyagrum(model)

    def to_pyagrum(self) -> PyagrumModel:
        """The network as a pyAgrum network.

        Returns
        -------
        pyagrum.BayesNet
            The network; a missing CPT is filled with zeros, as pyAgrum does.

        Raises
        ------
        MissingExtraError
            If pyAgrum is not installed.
        """
        from credo.network_methods import to_pyagrum

        return to_pyagrum(_network(self))

    def _repr_html_(self) -> str:
        from credo.network_methods import network_html

        return network_html(_network(self))


def _network(conveniences: NetworkConveniences) -> Network:
    return cast("Network", conveniences)
