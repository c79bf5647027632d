"""The methods of `Fit` and `Check` whose work is done by later modules: questions, pages, files, draws for other tools.

Users look for them on what `fit` and `check` returned. Each imports what it needs when it is called, and these imports,
like those of `Network`, are the only ones against the order of modules (see pyproject.toml).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from credo.constraints.stage_costs import check_memory, reporting_page
from credo.errors import OptionError
from credo.explain.explanation import Explanation
from credo.io.dialects import declared
from credo.io.files import PAGE_TARGETS, require_target, write_text
from credo.knowledge.knowledge import KnowledgeSource
from credo.knowledge.query import Query
from credo.options import TableFormat
from credo.plain_results import PlainResult
from credo.progress import WRITING_REPORT, ProgressEvent, ProgressLike, reporting
from credo.results.fit_statements import explain_fit
from credo.types import Soft, TableLike, Weights

PAGE_REMEDY = "Use the text of print(fit), or fit.to_dict(), or learn with a higher memory_limit."

if TYPE_CHECKING:
    import arviz
    import polars as pl
    import xarray

    from credo.knowledge import KnowledgeSource
    from credo.questions.answers import Answer
    from credo.questions.decide import Decision
    from credo.questions.evidence_conflict import EvidenceConflict
    from credo.questions.importance import Importance
    from credo.questions.net_benefit import NetBenefit
    from credo.questions.next_questions import NextQuestions
    from credo.questions.next_tests import NextTests
    from credo.questions.sensitivity import Sensitivity
    from credo.results.check_results import Check
    from credo.results.fit_results import Fit
    from credo.updating import Reproduction


class FitConveniences:
    """What `Fit`, its only subclass, does with the help of later modules."""

    __slots__ = ()

    def explain(self, *, progress: ProgressLike = None) -> Explanation:
        """Explain the result: what each statement did, whether the knowledge helped, what to observe next.

        Parameters
        ----------
        progress
            Whether to show progress on the error stream; None shows it on a terminal and in a notebook. A function
            receives a `ProgressEvent` at every step instead.

        Returns
        -------
        Explanation
            Print it for a summary of a few sentences. It is computed again at every call: keep it, and pass it on to
            `report` and the functions of `credo.plot`.
        """
        return explain_fit(cast("Fit", self), progress=progress)

    def report(
        self,
        path: str | Path,
        *,
        ask: Sequence[str] = (),
        explanation: Explanation | None = None,
        progress: ProgressLike = None,
    ) -> Path:
        """Write the result, its explanation and its predictive checks as one HTML page that needs nothing else.

        Parameters
        ----------
        path
            The file to write.
        ask
            Questions such as `P(lung=yes | xray=yes)`: their answers come first, and what to observe next is for them.
        explanation
            What `explain` returned; computed if not given.
        progress
            As for `explain`.

        Returns
        -------
        Path
            Where the page is.
        """
        from credo.questions.next_rows import next_rows
        from credo.questions.next_tests import next_for
        from credo.questions.predictive_checks import checks_or_note
        from credo.report.fit_page import fit_page

        require_target(path, PAGE_TARGETS)  # before the work, not after it
        fit = cast("Fit", self)
        network = fit.network
        shapes = [(network.configurations(name), len(network.states(name))) for name in network.names]
        check_memory(reporting_page(shapes), fit.memory_limit, "The page of this report", PAGE_REMEDY)
        with reporting(progress) as notify:
            rows = next_rows(fit, ask) if ask else []
            explained = explain_fit(fit, next_rows=rows, progress=notify) if explanation is None else explanation
            notify(ProgressEvent(WRITING_REPORT))
            asked = [(self.query(question), next_for(fit, question)) for question in ask]
            return write_text(path, fit_page(fit, explained, checks_or_note(fit), asked))

    def share(
        self,
        path: str | Path,
        *,
        inputs: Sequence[str] = (),
        targets: Sequence[str] = (),
        title: str = "",
        progress: ProgressLike = None,
    ) -> Path:
        """Write one HTML file that answers for any evidence, in any browser and without a connection.

        It computes what `query` does, exactly and under the same draws. It holds no rows of data.

        Parameters
        ----------
        path
            The file to write.
        inputs
            What people can say about a case; every variable, if not given.
        targets
            What they can ask for; every variable, if not given.
        title
            The heading; the name of the network, or of the target, if not given.
        progress
            As for `explain`, where answers have to be computed beforehand.

        Returns
        -------
        Path
            Where the page is.

        Raises
        ------
        TooLargeError
            If the network is too large for a browser; with inputs and targets, answers are computed beforehand.
        """
        from credo.sharing.page import share_page

        require_target(path, PAGE_TARGETS)  # before the work, not after it
        with reporting(progress) as notify:
            page = share_page(cast("Fit", self), inputs=inputs, targets=targets, title=title, progress=notify)
        return write_text(path, page)

    def query(self, question: str | Query, level: float = 0.95) -> Answer:
        """Answer a question, with a credible interval where the posterior was sampled.

        Parameters
        ----------
        question
            `P(lung=yes | xray=yes)`; several targets, `P(lung=yes, bronc=yes | …)`; all states of a target,
            `P(lung | …)`; and interventions, `P(lung=yes | do(smoke=no))`.
        level
            The probability with which the interval contains the true value.

        Returns
        -------
        Answer
            Printing it gives a sentence; `probability`, `interval` and `frame` hold its numbers.

        Raises
        ------
        QueryError
            If the question cannot be read, or what is given has probability zero.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}), method="ml")
        >>> fit.query("P(coin=heads)").probability
        0.75
        """
        from credo.questions import answers

        return answers.query(cast("Fit", self), question, level)

    def predict(
        self,
        data: Mapping[str, object] | TableLike,
        targets: Sequence[str] | str | None = None,
        level: float = 0.95,
        *,
        table_format: TableFormat | None = None,
    ) -> pl.DataFrame:
        """Predict what is missing in one case, or in every row of a table.

        Parameters
        ----------
        data
            One case, as a mapping from variables to states, None or NaN where a value is missing; or a table, as for
            `fit`.
        targets
            The variables to predict: if not given, all that are not in the case, or have no column in the table. What
            a table shows of a target itself is not used.
        level
            The probability with which an interval contains the true value.
        table_format
            How the file of a table is written, where it is not as usual: separator, decimal mark, encoding, sheet.

        Returns
        -------
        polars.DataFrame
            For a case, a row for each state of each target: `variable`, `state`, `probability`, `low`, `high`. For a
            table, a row for each of its rows: a column `name=state` for each state of each target and, where the
            posterior was sampled, `name=state low` and `name=state high`.

        Raises
        ------
        QueryError
            If a variable or state is unknown, or the case has probability zero.
        """
        from credo.questions import predictions

        if table_format is not None and isinstance(data, Mapping):
            raise OptionError("table_format describes the file of a table, but this is one case.")
        table = data if isinstance(data, Mapping) else declared(data, table_format)
        return predictions.predict(cast("Fit", self), table, targets, level)

    def marginals(
        self,
        evidence: Mapping[str, object] | str | None = None,
        *,
        interventions: Mapping[str, object] | None = None,
        soft: Soft | None = None,
        level: float = 0.95,
    ) -> pl.DataFrame:
        """Compute how probable each state of each variable is, given evidence: the bars of a picture of the network.

        Parameters
        ----------
        evidence
            A mapping from variables to states, or a text such as `xray=yes, smoke=no`.
        interventions
            Variables that are set to a state, whatever their parents are.
        soft
            Soft evidence: for a variable, how probable what was seen is in each of its states, up to a common factor;
            `{"xray": {"yes": 3, "no": 1}}` makes `yes` three times as likely as before. States not listed have 0.
        level
            The probability with which an interval contains the true value.

        Returns
        -------
        polars.DataFrame
            A row for each state of each variable, those of the evidence included: `variable`, `state`, `probability`,
            `low`, `high`. The last two are null where the posterior was not sampled.

        Raises
        ------
        QueryError
            If a variable or state is unknown, a variable is given twice, or what is given has probability zero.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}), method="ml")
        >>> fit.marginals(soft={"coin": {"heads": 1, "tails": 3}})["probability"].to_list()
        [0.5, 0.5]
        """
        from credo.questions import marginals

        return marginals.marginals_given(
            cast("Fit", self), evidence, interventions=interventions, soft=soft, level=level
        )

    def most_probable(
        self,
        evidence: Mapping[str, object] | str | None = None,
        *,
        interventions: Mapping[str, object] | None = None,
        soft: Soft | None = None,
    ) -> pl.DataFrame:
        """Find the states of all variables that are most probable together, given evidence.

        Parameters
        ----------
        evidence
            A mapping from variables to states, or a text such as `xray=yes, smoke=no`.
        interventions
            Variables that are set to a state, whatever their parents are.
        soft
            Soft evidence: for a variable, how probable what was seen is in each of its states, up to a common factor.

        Returns
        -------
        polars.DataFrame
            A row for each variable: `variable`, `state`, and `given`, whether its state is part of the evidence.

        Raises
        ------
        QueryError
            If a variable or state is unknown, a variable is given twice, or what is given has probability zero.
        """
        from credo.questions import answers

        return answers.most_probable(cast("Fit", self), evidence, interventions, soft)

    def decide(
        self,
        evidence: Mapping[str, object] | str | None = None,
        *,
        utilities: KnowledgeSource | None = None,
        level: float = 0.95,
    ) -> Decision:
        """Compute the expected utility of every option, how sure the choice is, and what would change it.

        Parameters
        ----------
        evidence
            What is known before deciding: a mapping from variables to states, or a text such as `ecg=abnormal`.
        utilities
            Lines such as `decision treat: no, yes` and `utility of treat=yes is -30`, in place of those that the fit
            was learned with.
        level
            The probability with which an interval contains the true value.

        Returns
        -------
        Decision
            The options, the best first, and the probabilities and utilities at which the choice changes.

        Raises
        ------
        OptionError
            If there is no decision, or it has no utilities.
        QueryError
            If the evidence names what is decided or depends on it, cannot be read, or has probability zero.

        Notes
        -----
        Expected utilities are exact under each draw of all CPTs. A decision that is a variable of the network is set,
        as by do(…): what was done in the data says nothing about this case.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"disease": ["no", "yes"]})
        >>> rows = polars.DataFrame({"disease": ["no"] * 3 + ["yes"]})
        >>> lines = ["decision treat: no, yes", "utility of treat=yes is -30"]
        >>> lines.append("utility of disease=yes, treat=no is -100")
        >>> print(credo.fit(network, rows, lines, method="ml").decide())
        treat=no is better, by 5.
          treat=no: expected utility -25
          treat=yes: expected utility -30
        What would change that:
          treat=yes above P(disease=yes) = 30.0%, treat=no below it; now it is 25.0%
          treat=yes, if the utility of treat=yes were above -25; it is -30 now
          treat=yes, if the utility of disease=yes, treat=no were below -120; it is -100 now
        There is no interval: the method ml gives one estimate. Learn with method=posterior for one.
        """
        from credo.questions.decide import decide

        return decide(cast("Fit", self), evidence, utilities, level)

    def next_tests(
        self,
        evidence: Mapping[str, object] | str | None = None,
        target: str | None = None,
        *,
        candidates: Sequence[str] | None = None,
        utilities: KnowledgeSource | None = None,
        level: float = 0.95,
    ) -> NextTests:
        """Rank what could be observed next in a case, by what it is expected to tell or to gain.

        Parameters
        ----------
        evidence
            What is known: a mapping from variables to states, or a text such as `age=54`.
        target
            The variable that tests are for, which are then ranked by expected information. Without it they are ranked
            by the expected utility of deciding after the test, less its cost.
        candidates
            The variables that could be observed; if not given, all that have a column in the data and are not known,
            except the target, what utilities are about (unless it has a cost), and what depends on the decision.
        utilities
            Lines in place of those that the fit was learned with, as for `decide`.
        level
            The probability with which an interval contains the true value.

        Returns
        -------
        NextTests
            The tests, the best first, and how sure the ranking is under the draws.

        Raises
        ------
        OptionError
            If there is neither a target nor a decision, or nothing is left to observe.
        QueryError
            If a variable is unknown or known already, or the evidence has probability zero.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"ill": ["no", "yes"], "ecg": ["no", "yes"]}, {"ecg": ["ill"]})
        >>> rows = polars.DataFrame({"ill": ["no"] * 3 + ["yes"], "ecg": ["no"] * 3 + ["yes"]})
        >>> print(credo.fit(network, rows, method="ml").next_tests(target="ill").best)
        ecg
        """
        from credo.questions.next_tests import next_tests

        return next_tests(cast("Fit", self), evidence, target, candidates, utilities, level)

    def next_questions(
        self, target: str | Query | None = None, *, count: int = 20, reliability: float = 0.9, skip: Sequence[str] = ()
    ) -> NextQuestions:
        """Rank questions to an expert by how much an answer is expected to narrow a target.

        Parameters
        ----------
        target
            A question whose answer is one number, such as `P(lung=yes | xray=yes)`; a decision, with what is known:
            `treat`, or `treat | xray=yes`; the whole network if not given.
        count
            How many questions to return.
        reliability
            How often the expert is right, from 0.5 to 1.
        skip
            What not to ask: texts of questions, or what they are about.

        Returns
        -------
        NextQuestions
            The questions in plain words, those that help most first.

        Raises
        ------
        OptionError
            If there are no draws.
        QueryError
            If the target cannot be read, or is not one number.

        Notes
        -----
        Questions are influences, comparisons of two configurations, and numbers in configurations that occur. Each
        draw of all CPTs says what somebody who knew it would answer; the expected variance after the answer follows
        from the draws that agree with it. Nothing is learned again.
        """
        from credo.questions.next_questions import next_questions

        return next_questions(cast("Fit", self), target, count, reliability, skip)

    def conflict(self, evidence: Mapping[str, object] | str, *, level: float = 0.95) -> EvidenceConflict:
        """Compute whether findings fit together, and what would explain it where they do not.

        Parameters
        ----------
        evidence
            The findings: a mapping from variables to states, or a text such as `age=young, ecg=abnormal`.
        level
            The probability with which the interval contains the true value.

        Returns
        -------
        EvidenceConflict
            Hugin's measure in bits, the states that would explain a conflict, and the finding that does not fit.

        Raises
        ------
        QueryError
            If a variable or state is unknown, or the evidence has probability zero.
        """
        from credo.questions.evidence_conflict import evidence_conflict

        return evidence_conflict(cast("Fit", self), evidence, level)

    def net_benefit(
        self,
        data: TableLike,
        *,
        given: Sequence[str] | None = None,
        utilities: KnowledgeSource | None = None,
        table_format: TableFormat | None = None,
    ) -> NetBenefit:
        """Compare deciding by the model with one option for everybody, on rows that it was not learned from.

        Parameters
        ----------
        data
            Held-out rows, as for `fit`, which show what utilities are about.
        given
            The variables that are known when deciding; if not given, all but those that utilities are about and those
            that depend on the decision.
        utilities
            Lines in place of those that the fit was learned with, as for `decide`.
        table_format
            How the file of the table is written, where it is not as usual.

        Returns
        -------
        NetBenefit
            The mean utility of each strategy, and for two options a decision curve.

        Raises
        ------
        OptionError
            If there is no decision, utilities are about what depends on it, or no row shows what they are about.
        """
        from credo.questions.net_benefit import net_benefit

        return net_benefit(cast("Fit", self), declared(data, table_format), given, utilities)

    def sensitivity(self, question: str | Query, *, soft: Soft | None = None, statements: bool = False) -> Sensitivity:
        """Find which numbers of the CPTs, which findings and which statements move an answer most.

        Parameters
        ----------
        question
            A question whose answer is one number, such as `P(lung=yes | xray=yes)`.
        soft
            Soft evidence: for a variable, how probable what was seen is in each of its states, up to a common factor.
        statements
            Whether to learn again without each statement, which takes as long as learning for each.

        Returns
        -------
        Sensitivity
            The numbers, findings, evidence and statements, those that matter most first; `credo.plot.tornado` draws it.

        Raises
        ------
        QueryError
            If the question cannot be read, has several numbers as its answer, or what is given has probability zero.
        """
        from credo.questions.sensitivity import sensitivity

        return sensitivity(cast("Fit", self), question, soft, statements)

    def decision_sensitivity(
        self,
        evidence: Mapping[str, object] | str | None = None,
        *,
        utilities: KnowledgeSource | None = None,
        statements: bool = False,
    ) -> Sensitivity:
        """Find what the gain of the best option over the second depends on.

        Parameters
        ----------
        evidence, utilities
            As for `decide`.
        statements
            Whether to learn again without each statement.

        Returns
        -------
        Sensitivity
            The numbers, findings, evidence and statements, those that matter most first, in units of utility.

        Raises
        ------
        OptionError
            If there is no decision, or it has no utilities.
        QueryError
            If the evidence names what is decided or depends on it, cannot be read, or has probability zero.
        """
        from credo.questions.sensitivity import decision_sensitivity

        return decision_sensitivity(cast("Fit", self), evidence, utilities, statements)

    def importance(self, question: str | Query, *, level: float = 0.95) -> Importance:
        """Find how much each basic event matters for a top event, as in the analysis of fault trees.

        Parameters
        ----------
        question
            The top event: `P(top=yes)`, or `top` for its highest state.
        level
            The probability with which an interval contains the true value.

        Returns
        -------
        Importance
            Birnbaum and Fussell-Vesely importance of each event, with intervals where there are draws; those that
            matter most first. Gates are no events.

        Raises
        ------
        QueryError
            If the question cannot be read, has evidence, or is about an event that is impossible.
        """
        from credo.questions.importance import importance

        return importance(cast("Fit", self), question, level)

    def to_arviz(self, names: Sequence[str] | str | None = None) -> arviz.InferenceData | xarray.DataTree:
        """The draws of all CPTs as ArviZ takes them, for its pictures, summaries and comparisons.

        Parameters
        ----------
        names
            The variables whose CPTs are wanted; all if not given. A noisy family has its small CPTs, which are named
            like `attack by chol, bp`.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            What the installed version of ArviZ takes: an `InferenceData` before version 1, a `DataTree` from then on.
            Its group `posterior` has a variable for each CPT, with dimensions `chain`, `draw`, a dimension
            `parent_state` for each parent, such as `smoke_state`, and that of the variable itself; states are the
            coordinates. A variable whose name is also that of a dimension has an underscore behind it. CPTs that were
            kept are the same in every draw. All CPTs of one draw belong together.

        Raises
        ------
        OptionError
            If there are no draws: the method gives one estimate, or missing values could not be drawn.
        NetworkError
            If there is no such variable.
        MissingExtraError
            If ArviZ is not installed; `pip install 'credo[arviz]'` installs it.
        TooLargeError
            If the draws need more memory than is allowed.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}))
        >>> draws = fit.to_arviz().posterior
        >>> draws.coin.dims
        ('chain', 'draw', 'coin_state')
        >>> bool(draws.coin.sel(coin_state="heads").mean() > 0.5)
        True
        """
        from credo.questions import labelled_draws

        return labelled_draws.to_arviz(cast("Fit", self), names)

    def diagnostics(self, name: str | None = None) -> pl.DataFrame:
        """How far the draws can be trusted, number by number, or the worst of each variable.

        Parameters
        ----------
        name
            The variable, or a small CPT of a noisy family; all variables if not given.

        Returns
        -------
        polars.DataFrame
            For a variable, a row for each probability: a column for each parent, then `state`, `probability`,
            `deviation`, and the three columns that follow. For all variables, a row for each, that with the smallest
            effective size first: `variable`, `error`, how much another seed would change the mean (its standard error);
            `effective_size`, how many independent draws would give such a mean; and `r_hat`, near 1 where all chains
            agree: the worst of each.

        Raises
        ------
        OptionError
            If there are no draws.

        Notes
        -----
        A mean is trusted if its effective size is 100 or more and R-hat at most 1.05; the finding “not mixed” lists
        the others. R-hat is that of split chains, as `arviz.rhat(…, method="split")` computes it.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}))
        >>> fit.diagnostics().columns
        ['variable', 'error', 'effective_size', 'r_hat']
        """
        from credo.questions import labelled_draws

        return labelled_draws.diagnostics(cast("Fit", self), name)

    def predictive_checks(self, data: TableLike | None = None, replicates: int = 200) -> pl.DataFrame:
        """Compare the data with what the learned network produces: which parts of it do not fit?

        Every variable is checked given its parents, and every pair of variables that no arrow joins. Rows are
        simulated from the network, under another draw of all CPTs each time; where values are missing, they are drawn
        too.

        Parameters
        ----------
        data
            The rows to compare, as for `fit`; if not given, those that the fit was learned from, or 5,000 of them. A
            fit that was loaded has no rows: without data, what was found when it was saved.
        replicates
            How often the rows are simulated.

        Returns
        -------
        polars.DataFrame
            A row for each check, the worst first: `kind`, “family” or “link”; `variable`; `other`, the variable that an
            arrow to it would come from, null for a family; `where` the data and the network differ most, with the
            numbers of rows that were `observed` and are `expected` there; `p_value`, how often simulated rows look at
            least as bad in this check; `adjusted`, how often they look at least as bad in any check; `alarm`, whether
            that is in at most 5% of the cases; and `message`, what an alarm says in words.

        Raises
        ------
        OptionError
            If there are no rows to compare, or they cannot be compared: they are tied, have fractions as weights, or
            have too many missing values.

        Notes
        -----
        If the network and the knowledge are right, there is an alarm in at most about one of twenty fits. That there is
        none does not say that they are right: with few rows, only strong links are found.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"smoke": ["no", "yes"], "lung": ["no", "yes"]})
        >>> rows = polars.DataFrame({"smoke": ["no", "yes"] * 20, "lung": ["no", "yes"] * 20})
        >>> credo.fit(network, rows).predictive_checks().filter(kind="link")["alarm"].to_list()
        [True]
        """
        from credo.questions.predictive_checks import checks_frame, predictive_checks

        return checks_frame(predictive_checks(cast("Fit", self), data, replicates))

    def save(self, path: str | Path, *, without_rows: bool = False, who: str = "") -> Path:
        """Write the fit to a file, with its draws, knowledge, counts and predictive checks; `credo.load` reads it.

        Parameters
        ----------
        path
            The file to write; its name ends in `.fit`.
        without_rows
            Whether to leave out the rows. Of complete rows a fit only has counts. Rows with missing values, and tied
            rows, are in the file so that `update` can add to them, unless they are left out.
        who
            Who made the last step, for the audit trail.

        Returns
        -------
        Path
            Where the file is.

        Raises
        ------
        FormatError
            If the name does not end in `.fit`.
        FileError
            If the file cannot be written.

        Examples
        --------
        >>> import credo, os, polars, tempfile
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}))
        >>> path = fit.save(os.path.join(tempfile.mkdtemp(), "coin.fit"))
        >>> credo.load(path).query("P(coin=heads)").interval == fit.query("P(coin=heads)").interval
        True
        """
        from credo.questions.predictive_checks import MOST_SAVED, checks_or_note
        from credo.saving.fits import check_fit_target, save_fit

        check_fit_target(path)  # before the work, not after it
        fit = cast("Fit", self)
        if who:
            fit = replace(fit, trail=(*fit.trail[:-1], replace(fit.trail[-1], who=who)))
        if fit.row_sample is None:
            return save_fit(fit, path, without_rows)
        return save_fit(replace(fit, checks=checks_or_note(fit).worst(MOST_SAVED)), path, without_rows)

    def update(
        self,
        data: TableLike | Sequence[TableLike] | None = None,
        knowledge: KnowledgeSource | None = None,
        *,
        forget: float | Literal["auto"] | None = None,
        weights: Weights | None = None,
        table_format: TableFormat | None = None,
        who: str = "",
        progress: ProgressLike = None,
    ) -> Fit:
        """Learn from more rows, or by other statements, beside what this fit was learned from.

        The result is that of learning from all rows together, with the same options and the same seed.

        Parameters
        ----------
        data
            The new rows, as for `fit`; None where only statements change.
        knowledge
            All statements that hold from now on, as for `fit`; None leaves them as they are.
        forget
            After how many newer rows a row counts half, for processes that change; None counts all rows alike. With
            `"auto"`, each earlier row counts as much as it helps to predict the new ones: all of it where nothing
            changes, next to nothing after a jump.
        weights
            The column, or the numbers, that say how often each new row counts; if not given, the column as before.
        table_format
            How the file of the new rows is written, where it is not as usual.
        who
            Who updates, for the audit trail.
        progress
            As for `fit`.

        Returns
        -------
        Fit
            The new fit; this one is unchanged.

        Raises
        ------
        OptionError
            If the rows that counts do not replace were not kept, or the new text has other states or arrows.
        UnknownStateError
            If a value of the new rows is not a state.

        Examples
        --------
        >>> import credo, polars
        >>> network = credo.Network({"coin": ["heads", "tails"]})
        >>> fit = credo.fit(network, polars.DataFrame({"coin": ["heads"] * 3 + ["tails"]}), method="ml")
        >>> fit.update(polars.DataFrame({"coin": ["tails"] * 4})).query("P(coin=heads)").probability
        0.375
        """
        from credo.updating import update

        return update(
            cast("Fit", self), data, knowledge, forget=forget, weights=weights, table_format=table_format, who=who,
            progress=progress,
        )  # fmt: skip

    def reproduce(self, folder: str | Path | None = None) -> Reproduction:
        """Learn again from the recorded inputs, and see whether every bit agrees.

        Parameters
        ----------
        folder
            Where the tables are; the current folder if not given. They are found by name and fingerprint. Where one is
            missing or has changed, the counts and rows that the fit keeps are taken.

        Returns
        -------
        Reproduction
            Printing it gives a sentence; `agrees` says whether all numbers are the same.
        """
        from credo.updating import reproduce

        return reproduce(cast("Fit", self), folder)

    def __str__(self) -> str:
        from credo.report.fit_text import fit_plain_text

        return fit_plain_text(cast("Fit", self))

    def _repr_html_(self) -> str:
        from credo.report.notebook import fit_html

        return fit_html(cast("Fit", self))


class CheckConveniences(PlainResult):
    """What `Check`, its only subclass, does with the help of later modules."""

    __slots__ = ()

    def report(self, path: str | Path) -> Path:
        """Write the check as one HTML page that needs nothing else, with a picture of each conflict.

        Parameters
        ----------
        path
            The file to write.

        Returns
        -------
        Path
            Where the page is.
        """
        from credo.report.check_page import check_page

        require_target(path, PAGE_TARGETS)
        return write_text(path, check_page(cast("Check", self)))

    def __str__(self) -> str:
        from credo.report.check_text import check_plain_text

        return check_plain_text(cast("Check", self))

    def _repr_html_(self) -> str:
        from credo.report.notebook import check_html

        return check_html(cast("Check", self))
