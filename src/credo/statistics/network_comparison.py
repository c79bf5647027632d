"""Two networks over the same variables compared: how far apart they are, family by family, and where most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from credo.model.alignment import aligned_cpt
from credo.model.network import Network
from credo.statistics.likelihood import kl_by_family
from credo.types import Json

if TYPE_CHECKING:
    import polars as pl

MOST_DIFFERENCES = 1000  # numbers that are listed at most, the largest differences first


@dataclass(frozen=True, slots=True)
class Differences:
    """How two networks differ.

    Attributes
    ----------
    kl : float
        KL(first ‖ second) in nats.
    families : polars.DataFrame
        `variable`, and `kl`, what its CPT adds to the divergence; the largest first.
    parameters : polars.DataFrame
        `parameter`, `first`, `second` and `difference`; the largest differences first.
    """

    kl: float
    families: pl.DataFrame = field(repr=False)
    parameters: pl.DataFrame = field(repr=False)

    def to_dict(self) -> dict[str, Json]:
        """The comparison as dictionaries, lists, texts and numbers; an infinite divergence is null."""
        families = [
            {**row, "kl": row["kl"] if np.isfinite(row["kl"]) else None} for row in self.families.iter_rows(named=True)
        ]
        return {
            "kl": self.kl if np.isfinite(self.kl) else None,
            "families": families,
            "parameters": self.parameters.to_dicts(),
        }


def compare_networks(first: Network, second: Network) -> Differences:
    """Compare the CPTs of two networks with the same variables, states and parents.

    Raises
    ------
    NetworkError
        If the networks are not over the same variables.
    """
    import polars as pl

    by_family = kl_by_family(first, second)
    rows: list[dict[str, Any]] = []
    for name in first.names:
        one, two = first.cpt_array(name), aligned_cpt(first, second, name)
        flat_one, flat_two = one.reshape(-1, one.shape[-1]), np.asarray(two).reshape(-1, one.shape[-1])
        for configuration, state in np.argwhere(flat_one != flat_two).tolist():
            values = float(flat_one[configuration, state]), float(flat_two[configuration, state])
            rows.append(
                {
                    "parameter": first.describe(name, configuration, state),
                    "first": values[0],
                    "second": values[1],
                    "difference": values[1] - values[0],
                }
            )
    rows.sort(key=lambda row: -round(abs(row["difference"]), 12))  # equal ones in the order of the CPT
    kinds = {"parameter": pl.String, **dict.fromkeys(("first", "second", "difference"), pl.Float64)}
    ordered = sorted(by_family.items(), key=lambda item: -item[1])
    families = pl.DataFrame(
        {"variable": [name for name, _ in ordered], "kl": [value for _, value in ordered]},
        schema={"variable": pl.String, "kl": pl.Float64},
    )
    return Differences(sum(by_family.values()), families, pl.DataFrame(rows[:MOST_DIFFERENCES], schema=kinds))
