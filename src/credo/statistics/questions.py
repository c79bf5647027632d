"""The answers of a network to questions: any probability, given evidence and interventions, under one or many CPTs.

`cpts` have a batch axis in front, (batch or 1, parents…, child): the draws of a posterior, or one. An intervention
do(x = s) removes the CPT of x and sets x to s in those of its children. Evidence that leaves several states, and soft
evidence, is a factor over its variable alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from credo.errors import QueryError
from credo.knowledge.query import Query
from credo.model.graphs import ancestors, reached_families
from credo.model.network import Network
from credo.statistics.inference.batched import (
    Plan,
    Scope,
    beliefs,
    gradients,
    in_chunks,
    make_plan,
    most_probable,
    sum_out,
)
from credo.types import Codes, Numbers

BatchedCPTs = Mapping[str, Numbers]  # (batch or 1, parents…, child)


def as_batch(network: Network) -> dict[str, Numbers]:
    """The CPTs of a network as a batch of one."""
    return {name: network.cpt_array(name)[None] for name in network.names}


def batch_size(cpts: BatchedCPTs) -> int:
    """How many sets of CPTs there are."""
    return max((len(cpt) for cpt in cpts.values()), default=1)


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """The product that a question is about: CPTs with evidence inserted, and factors of single variables."""

    plan: Plan
    families: tuple[str, ...]  # the variables whose CPTs are the first factors
    transposes: tuple[tuple[int, ...], ...]  # of the axes that are left, into ascending order of variables
    selections: tuple[tuple[int | slice, ...], ...]  # the index that inserts evidence into a CPT
    beside: tuple[Numbers, ...]  # (1, states) of evidence that leaves several states, and of soft evidence

    def arrays(self, cpts: BatchedCPTs, part: slice = slice(None)) -> list[Numbers]:
        """The factors for a part of a batch."""
        found = []
        for name, transpose, selection in zip(self.families, self.transposes, self.selections, strict=True):
            cpt = cpts[name]
            own = cpt if len(cpt) == 1 else cpt[part]
            found.append(own[(slice(None), *selection)].transpose(transpose))
        return [*found, *self.beside]

    def inserted(self, network: Network, evidence: Mapping[str, int]) -> Factors:
        """The same with other states for the variables that are inserted."""
        return replace(
            self,
            selections=tuple(
                tuple(
                    evidence.get(member, index) if isinstance(index, int) else index
                    for member, index in zip((*network.parents[name], name), selection, strict=True)
                )
                for name, selection in zip(self.families, self.selections, strict=True)
            ),
        )

    def arrays_of_rows(self, network: Network, cpts: BatchedCPTs, columns: Mapping[str, Codes]) -> list[Numbers]:
        """The factors for rows under one set of CPTs: (rows or 1, scope…); the rows' states are in `columns`."""
        found = []
        for name, transpose, selection in zip(self.families, self.transposes, self.selections, strict=True):
            members = (*network.parents[name], name)
            axes = [axis for axis, index in enumerate(selection) if isinstance(index, int)]
            cpt = cpts[name][0]
            if not axes:
                found.append(cpt[None].transpose(transpose))
                continue
            last = range(cpt.ndim - len(axes), cpt.ndim)
            shape = tuple(cpt.shape[axis] for axis in axes)
            cells = np.ravel_multi_index(tuple(columns[members[axis]] for axis in axes), shape)
            moved = np.moveaxis(cpt, axes, last)
            rows = moved.reshape(*moved.shape[: last.start], -1)[..., cells]  # the rows vary fastest
            found.append(np.moveaxis(rows, -1, 0).transpose(transpose))
        return [*found, *self.beside]


def answer(
    network: Network,
    cpts: BatchedCPTs,
    query: Query,
    soft: Mapping[str, Numbers] | None = None,
    memory_limit: int | None = None,
) -> tuple[Numbers, Numbers]:
    """P(targets | evidence), (batch, an axis for each target), and log P(evidence), (batch,).

    A target with states has an axis of length one, with the probability of these states together. Where the evidence is
    impossible, values are NaN and the logarithm is minus infinity.
    """
    factors = factors_of(network, query.targets, query.evidence, query.interventions, soft, memory_limit)
    batch = batch_size(cpts)
    values = np.empty((batch, *(factors.plan.sizes[v] for v in factors.plan.kept)))
    log_scale = np.empty(batch)
    for part in in_chunks(factors.plan, batch):
        sums = sum_out(factors.plan, factors.arrays(cpts, part))
        values[part], log_scale[part] = sums.values, sums.log_scale
    total = values.reshape(len(values), -1).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        values = values / total.reshape(-1, *(1,) * (values.ndim - 1))
        log_evidence = np.log(total) + log_scale
    positions = [network.names.index(name) for name in query.targets]
    values = values.transpose(0, *(1 + factors.plan.kept.index(position) for position in positions))
    for axis, (name, states) in enumerate(query.targets.items(), start=1):
        if states:
            chosen = [network.states(name).index(state) for state in states]
            values = values.take(chosen, axis=axis).sum(axis=axis, keepdims=True)
    return values, log_evidence


def marginal_factors(
    network: Network,
    evidence: Mapping[str, tuple[str, ...]],
    interventions: Mapping[str, str] | None = None,
    soft: Mapping[str, Numbers] | None = None,
    memory_limit: int | None = None,
) -> Factors:
    """The factors for the marginals of all variables: all CPTs, and what is seen of some."""
    return factors_of(network, {}, evidence, interventions or {}, soft, memory_limit, everything=True)


def marginals(
    network: Network,
    cpts: BatchedCPTs,
    evidence: Mapping[str, tuple[str, ...]],
    interventions: Mapping[str, str] | None = None,
    soft: Mapping[str, Numbers] | None = None,
    memory_limit: int | None = None,
) -> dict[str, Numbers]:
    """P(variable | evidence) of every variable, (batch, states): one pass forward and one back.

    It is NaN where the evidence is impossible.
    """
    do = interventions or {}
    factors = marginal_factors(network, evidence, do, soft, memory_limit)
    known = {**{name: states[0] for name, states in evidence.items() if len(states) == 1}, **do}
    unknown = {v: name for v, name in enumerate(network.names) if name not in known}
    batch = batch_size(cpts)
    found = {name: np.zeros((batch, len(network.states(name)))) for name in network.names}
    for name, state in known.items():
        found[name][:, network.states(name).index(state)] = 1.0
    for part in in_chunks(factors.plan, batch):
        sums = sum_out(factors.plan, factors.arrays(cpts, part))
        shares = beliefs(factors.plan, sums)
        for v, name in unknown.items():
            found[name][part] = shares[v]
        impossible = np.flatnonzero(sums.values == 0.0)
        for each in found.values() if impossible.size else ():
            each[part][impossible] = np.nan
    return found


def answer_rows(network: Network, cpts: BatchedCPTs, target: str, codes: Codes, observed: Sequence[str]) -> Numbers:
    """P(target | the row) under every set of CPTs, for rows in which the same variables are observed.

    The result is (batch, rows, states); NaN where a row is impossible. Whichever there is more of, rows or sets of
    CPTs, is the batch of the elimination; the other is looped over.
    """
    first = {name: (network.states(name)[0],) for name in observed}
    factors = factors_of(network, {target: ()}, first, {})
    batch, states = batch_size(cpts), len(network.states(target))
    position = {name: v for v, name in enumerate(network.names)}
    columns = {name: codes[:, position[name]].astype(np.int64) for name in observed}
    found = np.empty((batch, len(codes), states))
    by_rows = len(codes) > batch
    for number in range(batch if by_rows else len(codes)):
        if by_rows:
            whole = {name: cpt if len(cpt) == 1 else cpt[number : number + 1] for name, cpt in cpts.items()}
            for part in in_chunks(factors.plan, len(codes)):
                own = {name: column[part] for name, column in columns.items()}
                arrays = factors.arrays_of_rows(network, whole, own)
                found[number, part] = sum_out(factors.plan, arrays).values
        else:
            inserted = factors.inserted(network, {name: int(column[number]) for name, column in columns.items()})
            for part in in_chunks(factors.plan, batch):
                found[part, number] = sum_out(factors.plan, inserted.arrays(cpts, part)).values
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(found / found.sum(axis=2, keepdims=True), dtype=np.float64)


def relevant_evidence(network: Network, target: str, observed: Iterable[str]) -> tuple[str, ...]:
    """The observed variables on which P(target | observed) depends; the others are d-separated from the target.

    In the CPTs of the target, of what is observed and of all their ancestors, those that hang together with the
    target through variables that are not observed make up the answer. Without the rest, more may become barren.
    """
    given = {name for name in observed if name != target}
    while True:
        reached = reached_families(network.parents, [target], {target, *given}, given)
        relevant = {member for name in reached for member in (*network.parents[name], name)} & given
        if relevant == given:
            return tuple(name for name in network.names if name in given)
        given = relevant


def derivatives(
    network: Network,
    cpts: BatchedCPTs,
    query: Query,
    soft: Mapping[str, Numbers] | None = None,
    memory_limit: int | None = None,
    log_unit: float = 0.0,
) -> dict[str, Numbers]:
    """∂P(evidence)/∂θ / exp(log_unit) of each CPT that matters, with axes (batch, parents…, child).

    Targets with states count as evidence too, so that P(x, e) and P(e) can both be asked for. In the unit P(e) both
    are finite, where P(x, e) is zero and where P(e) is very small.
    """
    evidence = {**query.evidence, **{name: states for name, states in query.targets.items() if states}}
    several = dict(soft or {})
    for name, states in evidence.items():
        several[name] = several.get(name, 1.0) * _indicator(network, name, states)
    factors = factors_of(network, {}, {}, query.interventions, several, memory_limit)
    batch = batch_size(cpts)
    found = {name: np.zeros((batch, *network.shape(name))) for name in factors.families}
    for part in in_chunks(factors.plan, batch):
        sums = sum_out(factors.plan, factors.arrays(cpts, part))
        back = gradients(factors.plan, sums)
        scale = np.exp(sums.log_scale - log_unit)
        for name, transpose, selection, adjoint in zip(
            factors.families, factors.transposes, factors.selections, back, strict=False
        ):
            own = adjoint.transpose(np.argsort(transpose))
            found[name][part][:, *selection] = scale.reshape(-1, *(1,) * (own.ndim - 1)) * own
    return found


def most_probable_states(
    network: Network,
    cpts: BatchedCPTs,
    evidence: Mapping[str, tuple[str, ...]],
    interventions: Mapping[str, str] | None = None,
    soft: Mapping[str, Numbers] | None = None,
    memory_limit: int | None = None,
) -> tuple[dict[str, str], float]:
    """The states of all variables that are most probable together, given evidence, and log P(all of them).

    With soft evidence the largest product is that of the CPTs and the likelihoods.
    """
    do = interventions or {}
    factors = factors_of(network, {}, evidence, do, soft, memory_limit, everything=True)
    states, value = most_probable(factors.plan, factors.arrays(cpts))
    known = {name: network.states(name)[states[v]] for v, name in enumerate(network.names) if v in states}
    fixed = {name: values[0] for name, values in evidence.items() if name not in known}
    return {name: {**known, **fixed, **do}[name] for name in network.names}, value


def factors_of(
    network: Network,
    targets: Collection[str],
    evidence: Mapping[str, tuple[str, ...]],
    interventions: Mapping[str, str],
    soft: Mapping[str, Numbers] | None = None,
    memory_limit: int | None = None,
    everything: bool = False,
) -> Factors:
    """The factors of a question and the plan to sum them; variables that cannot matter are left out."""
    soft = dict(soft or {})
    inserted = {name: states[0] for name, states in evidence.items() if len(states) == 1 and name not in targets}
    for name, states in evidence.items():
        if name not in inserted:
            soft[name] = soft.get(name, np.ones(len(network.states(name)))) * _indicator(network, name, states)
    for name, state in interventions.items():
        if name in targets:
            soft[name] = _indicator(network, name, (state,))
        else:
            inserted[name] = state
    observed = frozenset(evidence) | frozenset(soft)
    shape = _shape_of_factors(
        network,
        frozenset(targets),
        observed,
        frozenset(inserted),
        frozenset(soft),
        frozenset(interventions),
        everything,
    )
    plan = make_plan(shape.sizes, shape.scopes, shape.kept, network.names, memory_limit)
    states_of = {name: network.states(name).index(state) for name, state in inserted.items()}
    selections = tuple(
        tuple(slice(None) if member is None else states_of[member] for member in members) for members in shape.members
    )
    beside = tuple(np.asarray(soft[name], dtype=np.float64)[None] for name in shape.single)
    return Factors(plan, shape.families, shape.transposes, selections, beside)


@dataclass(frozen=True, slots=True, eq=False)
class ShapeOfFactors:
    """What the factors of a question are, whatever the states of its evidence and the numbers of the CPTs."""

    families: tuple[str, ...]
    transposes: tuple[tuple[int, ...], ...]
    members: tuple[tuple[str | None, ...], ...]  # of each CPT: the variable where evidence is inserted, else None
    single: tuple[str, ...]  # the variables with a factor of their own
    scopes: tuple[Scope, ...]
    sizes: tuple[int, ...]
    kept: tuple[int, ...]


@lru_cache(maxsize=32)  # questions with other states, or under other draws, follow each other
def _shape_of_factors(
    network: Network,
    targets: frozenset[str],
    evidence: frozenset[str],
    inserted: frozenset[str],
    soft: frozenset[str],
    interventions: frozenset[str],
    everything: bool,
) -> ShapeOfFactors:
    names = network.names
    position = {name: v for v, name in enumerate(names)}
    needed = set(names) if everything else ancestors(network.parents, targets | evidence | soft, interventions)
    families = tuple(name for name in names if name in needed and name not in interventions)
    scopes: list[Scope] = []
    transposes, inserted_members = [], []
    for name in families:
        members = (*network.parents[name], name)
        left = [position[member] for member in members if member not in inserted]
        order = sorted(range(len(left)), key=left.__getitem__)
        scopes.append(tuple(left[i] for i in order))
        transposes.append((0, *(1 + i for i in order)))
        inserted_members.append(tuple(member if member in inserted else None for member in members))
    single = tuple(name for name in names if name in soft)
    scopes += [(position[name],) for name in single]
    sizes = tuple(len(variable.states) for variable in network.variables)
    kept = tuple(position[name] for name in targets)
    return ShapeOfFactors(families, tuple(transposes), tuple(inserted_members), single, tuple(scopes), sizes, kept)


def require_possible(log_evidence: Numbers, query: Query) -> None:
    """Refuse evidence that has probability zero."""
    if not np.isfinite(log_evidence).any():
        given = str(Query(query.evidence)) if query.evidence else "the soft evidence"
        raise QueryError(
            f"The network gives probability zero to what is given: {given} = 0. Check the evidence, or learn with a "
            "prior that leaves nothing impossible."
        )


def _indicator(network: Network, name: str, states: Iterable[str]) -> Numbers:
    wanted = set(states)
    return np.array([float(state in wanted) for state in network.states(name)])
