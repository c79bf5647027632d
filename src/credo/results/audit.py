"""What a fit remembers of its own making: what was asked for, and each step from the first table to the last."""

from __future__ import annotations

from dataclasses import dataclass, field

from credo.options import Options, TableFormat
from credo.statistics.prior import Priors


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What was asked of `fit`, except for the network, the knowledge and the rows: an update asks for it again."""

    method: str = "auto"
    prior: Priors | None = None
    fixed: tuple[str, ...] = ()
    weights: str = ""  # the column with the weights of rows
    seed: int = 0
    doubted: bool = False
    wrong: float | None = None  # how probable it is that a doubted statement is wrong, where that was given
    options: Options = field(default_factory=Options)
    memory_limit: int | None = None

    @property
    def doubt(self) -> bool | float:
        """Which statements may be wrong, as `fit` takes it."""
        return self.doubted if self.wrong is None else self.wrong


@dataclass(frozen=True, slots=True)
class TableRecord:
    """A table that was learned from.

    Attributes
    ----------
    name
        The name of its file; empty for a table in memory.
    fingerprint
        Of the bytes of the file, and of what was declared about it; empty for a table in memory.
    format
        What was declared about the file; None where it is as usual.
    """

    name: str = ""
    fingerprint: str = ""
    format: TableFormat | None = None

    def __str__(self) -> str:
        return f"{self.name} (fingerprint {self.fingerprint[:12]})" if self.name else "a table in memory"


@dataclass(frozen=True, slots=True)
class Step:
    """One step in the making of a fit: learning, or an update.

    Attributes
    ----------
    date
        When, as ISO 8601 has it, in UTC.
    tables
        What was learned from in this step.
    rows
        How many rows these have.
    statements
        How many statements there were.
    added, withdrawn
        The statements that this step added and withdrew, as lines of the language.
    forget
        After how many rows an older row counts half; None where all rows count alike.
    kept
        How much of its weight each earlier row kept, where that was learned from how well these predict the new ones.
    share_chances
        How probable each such share was then (`credo.updating.SHARES`), for the next update.
    changes
        What changed most, as sentences; empty for the first step.
    version
        The version of credo.
    seed
        The seed of its random draws.
    who
        Who did it, where a name was given.
    """

    date: str
    tables: tuple[TableRecord, ...] = ()
    rows: int = 0
    statements: int = 0
    added: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    forget: float | None = None
    kept: float = 1.0
    share_chances: tuple[float, ...] = ()
    changes: tuple[str, ...] = ()
    version: str = ""
    seed: int = 0
    who: str = ""
