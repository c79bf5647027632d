"""What users get from `fit` and `check`: the results, with short ways to explanations, reports and text.

Reports are imported when they are asked for: learning takes a second, and should not wait for what draws pictures.
"""

from __future__ import annotations

from pathlib import Path

from credo.check_results import CheckResult
from credo.explain.explanation import Explanation
from credo.io.files import require_target, write_text
from credo.progress import WRITING_REPORT, ProgressEvent, ProgressListener, reporting
from credo.results import FitResult, explain_fit


class Fit(FitResult):
    """A learned network, how it was found, and what it can be asked. Printing it gives a summary.

    `fit` returns it. Pictures are functions of it: `credo.plot.cpt(fit, "lung")`, `credo.plot.network(fit)`,
    `credo.plot.knowledge(fit)`, `credo.plot.history(fit)`.
    """

    __slots__ = ()

    def explain(self, *, verbose: bool | None = None, progress: ProgressListener | None = None) -> Explanation:
        """Explain the result: what each statement did, whether the knowledge helped, what to observe next.

        Parameters
        ----------
        verbose
            Whether to show progress on the error stream; None shows it on a terminal and in a notebook.
        progress
            A function that receives a `ProgressEvent` at every step.

        Returns
        -------
        Explanation
            Print it for a summary of a few sentences. It is computed anew at every call: keep it, and pass it on to
            `report` and the functions of `credo.plot`.
        """
        return explain_fit(self, verbose=verbose, progress=progress)

    def report(
        self,
        path: str | Path,
        *,
        explanation: Explanation | None = None,
        verbose: bool | None = None,
        progress: ProgressListener | None = None,
    ) -> Path:
        """Write the result and its explanation as one HTML page that needs nothing else.

        Parameters
        ----------
        path
            The file to write.
        explanation
            What `explain` returned; computed if not given.
        verbose, progress
            As for `explain`.

        Returns
        -------
        Path
            Where the page is.
        """
        from credo.report.fit_page import fit_page

        require_target(path)  # before the work, not after it
        with reporting(verbose, progress) as notify:
            explained = explain_fit(self, verbose=False, progress=notify) if explanation is None else explanation
            notify(ProgressEvent(WRITING_REPORT))
            return write_text(path, fit_page(self, explained))

    def __str__(self) -> str:
        from credo.report.fit_text import fit_plain_text

        return fit_plain_text(self)

    def _repr_html_(self) -> str:
        from credo.report.notebook import fit_html

        return fit_html(self)


class Check(CheckResult):
    """Whether a knowledge can hold, and what it amounts to. Printing it gives everything that was found.

    `check` returns it. `credo.plot.conflicts(check)` draws its conflicts.
    """

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

        require_target(path)
        return write_text(path, check_page(self))

    def __str__(self) -> str:
        from credo.report.check_text import check_plain_text

        return check_plain_text(self)

    def _repr_html_(self) -> str:
        from credo.report.notebook import check_html

        return check_html(self)
