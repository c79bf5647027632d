"""What learning gives back: the network, how it was found, and what a reader should know."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from credo.errors import Status
from credo.estimators.solution import Finding
from credo.network import Network

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Fit:
    """A learned network and the story of it."""

    network: Network
    method: str
    status: Status
    log_likelihood: float  # of the data under the learned network, in nats
    rows: int
    seconds: float
    findings: tuple[Finding, ...] = field(default=(), repr=False)
    history: tuple[float, ...] = field(default=(), repr=False)  # the log-likelihood after each iteration

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
            "history": [value if isfinite(value) else None for value in self.history],
            "seconds": self.seconds,
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
                    "probabilities": self.network.table(name).tolist(),
                }
                for name in self.network.names
            },
        }
