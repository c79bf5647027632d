"""One trial: a published network, how alike five sites are, and a draw of sites and rows, learned in several ways.

The distributions of a site lie around those of the network, θ ~ Dirichlet(c·θ₀), or have nothing in common with it and
with each other, θ ~ Dirichlet(1, …, 1). Which site is how large is drawn.

    credo      `credo.fit_sites`
    pooled     one fit to all rows
    alone      a fit to the rows of each site
    related    the hierarchical model of related data sets [Azzimonti, Corani and Scutari, 2022]: the distributions of
               all sites in one configuration lie around one that is learned, with a strength of K for K states
    shrunk     the same, with a strength that is drawn for each configuration [after Dombowsky and Dunson, 2025]
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

import credo
from credo.io.tables import read_table
from credo.statistics.counts import count, layout_for_counts
from credo.types import Numbers
from experiments.prior.rivals import hierarchical, shrunk
from experiments.running import SHARED, Job, Record

FOLDER = SHARED / "networks" / "published"
NETWORKS = ("covid1", "criminal1", "electricvehicle", "engines", "enrollment", "lawschool", "oxygen", "waterlead")
ALIKE = {"nothing": 0.0, "c = 2": 2.0, "c = 20": 20.0, "c = 200": 200.0, "equal": np.inf}
SIZES = (20, 50, 100, 200, 500)
METHODS = ("credo", "pooled", "alone", "related", "shrunk")
KEY = ("network", "alike", "draw")
LEAST = 1e-4  # that a perturbed Dirichlet distribution has at least in each shape: zeros stay nearly zero


def run_trial(job: Job) -> list[Record]:
    """The divergence of each site's truth from what each method learns of it: a row for each size and method."""
    name, alike, draw = job
    warnings.simplefilter("ignore")
    network = credo.read_network(FOLDER / f"{name}.bif")
    rng = np.random.default_rng([draw, NETWORKS.index(name), list(ALIKE).index(alike)])
    truths = [perturbed(network, ALIKE[alike], rng) for _ in SIZES]
    sizes = rng.permutation(SIZES).tolist()
    tables = [truth.sample(size, seed=int(rng.integers(2**31))) for truth, size in zip(truths, sizes, strict=True)]
    structure = credo.Network(network.variables, network.parents, name=network.name)
    records: list[Record] = []
    for method, learned in learners(structure, tables):
        for truth, size, found in zip(truths, sizes, learned, strict=True):
            divergence = truth.kl(found) / len(network)
            records.append(
                {**dict(zip(KEY, job, strict=True)), "rows": size, "method": method, "divergence": divergence}
            )
    return records


def perturbed(network: credo.Network, strength: float, rng: np.random.Generator) -> credo.Network:
    """The network of a site."""
    if strength == np.inf:
        return network
    cpts = {}
    for name in network.names:
        common = network.cpt_array(name)
        shapes = np.maximum(strength * common, LEAST) if strength else np.ones_like(common)
        logs = np.log(rng.standard_gamma(shapes + 1.0)) - rng.standard_exponential(shapes.shape) / shapes
        found = np.exp(logs - logs.max(axis=-1, keepdims=True))
        cpts[name] = found / found.sum(axis=-1, keepdims=True)
    return network.with_cpts(cpts)


def learners(structure: credo.Network, tables: Sequence[pl.DataFrame]) -> Iterator[tuple[str, Sequence[credo.Network]]]:
    """What each method learns for the sites."""
    together = pl.concat([each.with_columns(site=pl.lit(f"s{k}")) for k, each in enumerate(tables)])
    sites = credo.fit_sites(structure, together, "site", progress=False)
    yield "credo", [sites.fits[f"s{k}"].network for k in range(len(tables))]
    pooled = credo.fit(structure, together.drop("site"), progress=False).network
    yield "pooled", [pooled] * len(tables)
    yield "alone", [credo.fit(structure, each, progress=False).network for each in tables]
    layout = layout_for_counts(structure)
    counts = [count(layout, read_table(structure, each)) for each in tables]
    stacked = {name: np.stack([each.of(name) for each in counts]) for name in structure.names}
    for method, model in (("related", hierarchical), ("shrunk", shrunk)):
        groups = {f"{name} {j}": own[:, j] for name, own in stacked.items() for j in range(own.shape[1])}
        yield method, networks_of(structure, stacked, model(structure, groups))


def networks_of(
    structure: credo.Network, stacked: Mapping[str, Numbers], means: Mapping[str, Numbers]
) -> list[credo.Network]:
    """The network of each site, from means of each configuration, (sites, states)."""
    cpts = {
        name: np.stack([means[f"{name} {j}"] for j in range(own.shape[1])], axis=1) for name, own in stacked.items()
    }
    sites = len(next(iter(stacked.values())))
    return [
        structure.with_cpts({name: cpts[name][k].reshape(structure.shape(name)) for name in structure.names})
        for k in range(sites)
    ]
