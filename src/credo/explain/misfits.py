"""Which parts of a result the data do not fit, as data; `credo/questions/predictive_checks.py` finds them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from credo.errors import counted
from credo.findings import Finding
from credo.types import Json

LEVEL = 0.05  # the share of right networks in which there is an alarm, at most
MISFIT = "misfit"


@dataclass(frozen=True, slots=True)
class PredictiveCheck:
    """One check, and what it found.

    Attributes
    ----------
    kind
        "family": a variable given its parents; "link": two variables that no arrow joins.
    variable
        The variable; of a link the later one, which an arrow would lead to.
    other
        The variable that an arrow would come from; empty for a family.
    where
        Where the data and the network differ most.
    observed, expected
        How many rows are there, and how many the network expects; averages where values are missing.
    p_value
        How often rows that the network itself produces look at least as bad in this check.
    adjusted
        How often they look at least as bad in any check: small values are alarms.
    sentence
        What an alarm says, for a reader who knows no statistics; empty where there is none.
    """

    kind: str
    variable: str
    other: str
    where: str
    observed: float
    expected: float
    p_value: float
    adjusted: float
    sentence: str

    @property
    def is_alarm(self) -> bool:
        """Whether the data speak against this part of the network."""
        return self.adjusted <= LEVEL


@dataclass(frozen=True, slots=True)
class PredictiveChecks:
    """All checks, the worst first, or why there are none.

    Attributes
    ----------
    checks
        The checks, the worst first.
    rows
        How many rows were compared.
    families, links
        How many variables were checked given their parents, and how many pairs of variables.
    note
        Why there are no checks, or none of links.
    """

    checks: tuple[PredictiveCheck, ...] = ()
    rows: int = 0  # that were compared
    families: int = 0  # how many were checked,
    links: int = 0  # and how many pairs
    note: str = ""  # why there are no checks, or none of links

    @property
    def alarms(self) -> tuple[PredictiveCheck, ...]:
        """The checks that speak against the network."""
        return tuple(check for check in self.checks if check.is_alarm)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The alarms as findings."""
        return tuple(Finding(MISFIT, check.sentence, check.variable) for check in self.alarms)

    def worst(self, count: int) -> PredictiveChecks:
        """The same with the worst checks alone, and all alarms.

        Parameters
        ----------
        count
            How many checks to keep; more where there are more alarms.

        Returns
        -------
        PredictiveChecks
            The same with fewer checks.
        """
        return replace(self, checks=self.checks[: max(count, len(self.alarms))])

    def summary(self) -> str:
        """Whether the network fits the data, in a sentence or two.

        Returns
        -------
        str
            The sentences.
        """
        if not self.checks:
            return self.note
        what = f"{counted(self.families, 'variable')} given {'its' if self.families == 1 else 'their'} parents"
        what += f" and {counted(self.links, 'pair')} that no arrow joins" if self.links else ""
        verb = "was" if self.rows == 1 else "were"
        which = f"{counted(self.rows, 'row')} {verb} compared with what the learned network produces: {what}."
        count = len(self.alarms)
        found = (
            "Nothing speaks against the network."
            if not count
            else f"{count:,} of these {'does' if count == 1 else 'do'} not fit."
        )
        return f"{which} {found}{f' {self.note}' if self.note else ''}"

    def to_dict(self) -> dict[str, Json]:
        """The checks as dictionaries, lists, texts and numbers: what JSON can hold.

        Returns
        -------
        dict
            The fields by name, and for each check whether it is an alarm.
        """
        checks = [{**asdict(check), "alarm": check.is_alarm} for check in self.checks]
        return {"rows": self.rows, "note": self.note, "checks": checks}
