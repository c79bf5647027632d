"""Values and derivatives of statements about any probability of the network.

A probability P(x | e) is N/D with N = P(x, e) and D = P(e), sums over all variables that are not named. N and D are
multilinear in the CPTs: for one CPT θ, with the others fixed,

    N = Σ_jk θ_jk · ∂N/∂θ_jk.

One elimination computes the sums of all statements together: its batch axis runs over sums, whose events and conditions
are factors of single variables, ones for the states that they allow. The same steps backwards give all derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from credo.constraints.constraint_set import Constraints, NetworkConstraint, NetworkProbability
from credo.errors import TooLargeError
from credo.model.graphs import ancestors, reached_families
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.inference.batched import Plan, Scope, batch_fastest, gradients, in_chunks, make_plan, sum_out
from credo.tolerances import EQUALITY_WIDTH
from credo.types import Flags, Indices, Numbers

IMPOSSIBLE = 1e-250  # a condition less probable than this never occurs: nothing contradicts a statement about it
NO_CONDITION = -1
POINTS_AT_ONCE = 4096  # at which statements are evaluated
HOLDS = 1e-12  # by which sums of probabilities may miss a bound
TOGETHER_CELLS = 2**21  # of all cliques, up to which sums of different variables share one elimination
Allowed = tuple[tuple[str, tuple[int, ...]], ...]  # variables and the positions of the states that they may have


@dataclass(frozen=True, slots=True, eq=False)
class SumGroup:
    """Sums that one elimination computes: factors are the CPTs of `families`, then those of single variables."""

    plan: Plan
    families: tuple[str, ...]
    transposes: tuple[tuple[int, ...], ...]  # of the axes of each CPT, into ascending order of variables
    beside: tuple[Numbers, ...]  # (sums, states) which states each sum allows a variable
    numbers: Indices  # (sums,) which of all sums these are


@dataclass(frozen=True, eq=False)
class NetworkStatements:
    """All network constraints of a knowledge as arrays; term t is coefficients[t] · sum[above[t]] / sum[below[t]]."""

    layout: Layout
    network: Network  # with the CPTs that the layout does not have
    constraints: tuple[NetworkConstraint, ...]
    sums: tuple[Allowed, ...]
    groups: tuple[SumGroup, ...]
    owners: Indices  # (terms,) the constraint of each
    coefficients: Numbers  # (terms,)
    above: Indices  # (terms,)
    below: Indices  # (terms,) −1: no condition
    reached: tuple[frozenset[str], ...]  # whose CPTs matter to each constraint, among those of the layout

    @classmethod
    def of(cls, constraints: Constraints, network: Network, memory_limit: int | None = None) -> NetworkStatements:
        """The network constraints of a knowledge, planned for evaluation; `network` is the expanded one."""
        stated = constraints.network_constraints
        numbers: dict[Allowed, int] = {}
        owners, coefficients, above, below = [], [], [], []
        for owner, constraint in enumerate(stated):
            for coefficient, term in constraint.terms:
                owners.append(owner)
                coefficients.append(coefficient)
                above.append(numbers.setdefault(_together(term), len(numbers)))
                condition = _allowed(term.conditions)
                below.append(numbers.setdefault(condition, len(numbers)) if condition else NO_CONDITION)
        sums = tuple(numbers)
        groups = _groups(network, sums, np.arange(len(sums)), memory_limit)
        layout = constraints.layout
        reached = tuple(
            frozenset(name for name in relevant_families(network, each) if name in layout)
            | {layout.locate(index)[0] for index in each.indices}
            for each in stated
        )
        return cls(
            layout,
            network,
            stated,
            sums,
            groups,
            np.array(owners, dtype=np.int64),
            np.array(coefficients, dtype=np.float64),
            np.array(above, dtype=np.int64),
            np.array(below, dtype=np.int64),
            reached,
        )

    def __len__(self) -> int:
        return len(self.constraints)

    @cached_property
    def families(self) -> tuple[str, ...]:
        """Whose CPTs matter to any constraint, among those of the layout."""
        found = frozenset[str]().union(*self.reached)
        return tuple(name for name in self.layout.names if name in found)

    @cached_property
    def mask(self) -> Flags:
        """Which parameters matter to each constraint, (constraints, parameters)."""
        found = np.zeros((len(self), self.layout.size), dtype=np.bool_)
        for own, names in zip(found, self.reached, strict=True):
            for name in names:
                own[self.layout.slice_of(name)] = True
        return found

    @cached_property
    def bounds(self) -> Numbers:
        """The bound of each constraint."""
        return np.array([each.bound for each in self.constraints], dtype=np.float64)

    @cached_property
    def equality(self) -> Flags:
        """Which constraints are equalities."""
        return np.array([each.equality for each in self.constraints], dtype=np.bool_)

    @cached_property
    def confidences(self) -> Numbers:
        """The confidence of each constraint, NaN where it is hard."""
        return np.array([np.nan if each.confidence is None else each.confidence for each in self.constraints])

    @property
    def hard(self) -> Flags:
        """Which constraints have no confidence."""
        return np.isnan(self.confidences)

    @cached_property
    def statements(self) -> Indices:
        """The statement of each constraint."""
        return np.array([each.statement for each in self.constraints], dtype=np.int64)

    @cached_property
    def scales(self) -> Numbers:
        """What the numbers of each constraint were divided by."""
        return np.array([each.scale for each in self.constraints], dtype=np.float64)

    @cached_property
    def entries(self) -> tuple[Indices, Indices, Numbers]:
        """Single parameters in the constraints: the constraint, the parameter and the coefficient of each."""
        found = [
            (owner, index, coefficient)
            for owner, each in enumerate(self.constraints)
            for index, coefficient in zip(each.indices, each.coefficients, strict=True)
        ]
        owners = np.array([owner for owner, _, _ in found], dtype=np.int64)
        columns = np.array([index for _, index, _ in found], dtype=np.int64)
        return owners, columns, np.array([coefficient for _, _, coefficient in found], dtype=np.float64)

    # Values ----------------------------------------------------------------------------------------------------------

    def cpts(self, theta: Numbers) -> Mapping[str, Numbers]:
        """All CPTs, those that the layout does not have from the network."""
        own = self.layout.unpack(theta, self.layout.offsets)
        needed = {name for group in self.groups for name in group.families}
        return {name: own[name] if name in own else self.network.cpt_array(name) for name in needed}

    def sums_at(self, theta: Numbers) -> Numbers:
        """P(…) of every sum, (sums,)."""
        cpts, found = self.cpts(theta), np.ones(len(self.sums))
        for group in self.groups:
            for part in in_chunks(group.plan, len(group.numbers)):
                sums = sum_out(group.plan, _factors(group, cpts, part))
                found[group.numbers[part]] = sums.values * np.exp(sums.log_scale)
        return found

    def sums_of(self, thetas: Numbers) -> Numbers:
        """The same at many points, (points, parameters): (points, sums)."""
        found = np.ones((len(thetas), len(self.sums)))
        for group in self.groups:
            count = len(group.numbers)
            for part in in_chunks(group.plan, len(thetas) * count):
                points = np.arange(part.start, part.stop) // count
                which = np.arange(part.start, part.stop) % count
                factors = [
                    batch_fastest(self._cpts_of(name, thetas[points])).transpose(transpose)
                    for name, transpose in zip(group.families, group.transposes, strict=True)
                ]
                factors += [batch_fastest(factor[which]) for factor in group.beside]
                sums = sum_out(group.plan, factors)
                found[points, group.numbers[which]] = sums.values * np.exp(sums.log_scale)
        return found

    def _cpts_of(self, name: str, thetas: Numbers) -> Numbers:
        """One CPT at many points, the first axis."""
        if name in self.layout:
            return thetas[:, self.layout.slice_of(name)].reshape(len(thetas), *self.network.shape(name))
        return np.repeat(self.network.cpt_array(name)[None], len(thetas), axis=0)

    def derivatives_at(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The sums, and their derivatives with respect to all parameters, (sums, parameters)."""
        cpts, values = self.cpts(theta), np.ones(len(self.sums))
        slopes = np.zeros((len(self.sums), self.layout.size))
        for group in self.groups:
            for part in in_chunks(group.plan, len(group.numbers)):
                sums = sum_out(group.plan, _factors(group, cpts, part))
                scale, numbers = np.exp(sums.log_scale), group.numbers[part]
                values[numbers] = sums.values * scale
                back = gradients(group.plan, sums, first=len(group.families))
                for name, transpose, adjoint in zip(group.families, group.transposes, back, strict=True):
                    if name in self.layout:
                        own = np.transpose(adjoint, np.argsort(transpose)).reshape(len(adjoint), -1)
                        slopes[numbers, self.layout.slice_of(name)] += own * scale[:, None]
        return values, slopes

    def values_from(self, sums: Numbers, theta: Numbers) -> Numbers:
        """Σ … − bound of every constraint; NaN where a condition never occurs. Sums and θ may have a batch in front."""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = self.coefficients * np.where(
                self.below < 0, sums[..., self.above], sums[..., self.above] / _possible(sums[..., self.below])
            )
        found = np.zeros((*sums.shape[:-1], len(self))) - self.bounds
        for place, owner in enumerate(self.owners.tolist()):
            found[..., owner] += parts[..., place]
        owners, columns, coefficients = self.entries
        for owner, column, coefficient in zip(owners.tolist(), columns.tolist(), coefficients.tolist(), strict=True):
            found[..., owner] += coefficient * theta[..., column]
        return found

    def excess(self, theta: Numbers) -> Numbers:
        """By how much each constraint is violated, in probabilities; negative where it holds."""
        values = self.values_from(self.sums_at(theta), theta)
        return _excess(values, self.equality)

    def true(self, thetas: Numbers, numbers: Sequence[int]) -> Flags:
        """Which of these statements hold at many points, (points, parameters): (statements, points)."""
        found = np.ones((len(numbers), len(thetas)), dtype=np.bool_)
        for first in range(0, len(thetas), POINTS_AT_ONCE):
            own = thetas[first : first + POINTS_AT_ONCE]
            holds = self.drawn_excess(self.values_from(self.sums_of(own), own)) <= HOLDS
            for place, number in enumerate(numbers):
                found[place, first : first + len(own)] = holds[:, self.statements == number].all(axis=1)
        return found

    def drawn_excess(self, values: Numbers) -> Numbers:
        """By how much draws violate each constraint, equalities read with their width; negative where they hold."""
        return np.asarray(_excess(values, self.equality) - np.where(self.equality, EQUALITY_WIDTH, 0.0))

    def soft_cost(self, values: Numbers, weight: float) -> float:
        """(W/2)·C·violation² of all soft constraints, at these values."""
        soft = ~self.hard
        if not weight > 0.0 or not soft.any():
            return 0.0
        missed = np.maximum(_excess(values, self.equality)[soft], 0.0)
        return 0.5 * weight * float(self.confidences[soft] @ missed**2)

    def linearised(self, theta: Numbers) -> tuple[Numbers, Numbers]:
        """The values of all constraints and their derivatives, (constraints, parameters).

        Of a bound on one conditional probability, N/D ≤ c, it is the derivative of (N − c·D)/D⁰, which is exact for
        changes of one CPT. Where a condition never occurs, values are NaN and derivatives zero; they are zero for
        CPTs that do not matter, too.
        """
        sums, slopes = self.derivatives_at(theta)
        values = self.values_from(sums, theta)
        found = np.zeros((len(self), self.layout.size))
        single = np.bincount(self.owners, minlength=len(self)) == 1
        single &= np.array([not each.indices for each in self.constraints], dtype=np.bool_)
        for owner, coefficient, above, below in zip(
            self.owners.tolist(), self.coefficients.tolist(), self.above.tolist(), self.below.tolist(), strict=True
        ):
            if np.isnan(values[owner]):
                continue
            if below < 0:
                found[owner] += coefficient * slopes[above]
                continue
            ratio = self.bounds[owner] / coefficient if single[owner] else sums[above] / sums[below]
            found[owner] += coefficient * (slopes[above] - ratio * slopes[below]) / sums[below]
        found[~self.mask] = 0.0
        owners, columns, coefficients = self.entries
        kept = ~np.isnan(values[owners])
        np.add.at(found, (owners[kept], columns[kept]), coefficients[kept])
        return values, found


def excesses_of(values: Numbers, equality: Flags) -> Numbers:
    """By how much constraints are violated at these values, −∞ where a condition never occurs."""
    return _excess(values, equality)


def _excess(values: Numbers, equality: Flags) -> Numbers:
    excess = np.where(equality, np.abs(values), values)
    return np.asarray(np.where(np.isnan(excess), -np.inf, excess), dtype=np.float64)


def _possible(sums: Numbers) -> Numbers:
    return np.where(sums > IMPOSSIBLE, sums, np.nan)


# Sums -----------------------------------------------------------------------------------------------------------------


def _allowed(parts: Iterable[tuple[str, tuple[int, ...]]]) -> Allowed:
    return tuple(sorted(parts))


def _together(term: NetworkProbability) -> Allowed:
    return _allowed((*term.events, *term.conditions))


def relevant_families(network: Network, constraint: NetworkConstraint) -> set[str]:
    """The variables whose CPTs can change a term: of the others, descendants of nothing named or d-separated.

    In the CPTs of what is named and of all ancestors, those that hang together with an event through variables that are
    not known make up P(events | conditions).
    """
    found: set[str] = set()
    for _, term in constraint.terms:
        known = {name for name, states in term.conditions if len(states) == 1}
        events = [name for name, _ in term.events]
        named = [*events, *(name for name, _ in term.conditions)]
        found |= reached_families(network.parents, events, named, known)
    return found


def _groups(
    network: Network, sums: Sequence[Allowed], numbers: Indices, memory_limit: int | None
) -> tuple[SumGroup, ...]:
    """All sums in one elimination, unless that has to look at too many variables together: then in halves."""
    if not len(numbers):
        return ()
    try:
        group = _group(network, [sums[number] for number in numbers.tolist()], numbers, memory_limit)
    except TooLargeError:
        if len(numbers) == 1:
            raise
        group = None
    if group is not None and (len(numbers) == 1 or group.plan.cells * len(numbers) <= TOGETHER_CELLS):
        return (group,)
    half = len(numbers) // 2
    halves = tuple(
        each for part in (numbers[:half], numbers[half:]) for each in _groups(network, sums, part, memory_limit)
    )
    cells = sum(each.plan.cells * len(each.numbers) for each in halves)
    return (group,) if group is not None and group.plan.cells * len(numbers) <= cells else halves


def _group(network: Network, sums: Sequence[Allowed], numbers: Indices, memory_limit: int | None) -> SumGroup:
    position = {name: place for place, name in enumerate(network.names)}
    named = {name for allowed in sums for name, _ in allowed}
    needed = ancestors(network.parents, named)
    families = tuple(name for name in network.names if name in needed)
    scopes: list[Scope] = []
    transposes = []
    for name in families:
        members = [position[member] for member in (*network.parents[name], name)]
        order = sorted(range(len(members)), key=members.__getitem__)
        scopes.append(tuple(members[i] for i in order))
        transposes.append((0, *(1 + i for i in order)))
    beside = []
    for name in (name for name in network.names if name in named):
        factor = np.ones((len(sums), len(network.states(name))))
        for number, allowed in enumerate(sums):
            for own, states in allowed:
                if own == name:
                    factor[number] = 0.0
                    factor[number, list(states)] = 1.0
        beside.append(batch_fastest(factor))
        scopes.append((position[name],))
    sizes = tuple(len(variable.states) for variable in network.variables)
    plan = make_plan(sizes, scopes, (), network.names, memory_limit)
    return SumGroup(plan, families, tuple(transposes), tuple(beside), numbers)


def _factors(group: SumGroup, cpts: Mapping[str, Numbers], part: slice) -> list[Numbers]:
    own = [
        cpts[name][None].transpose(transpose) for name, transpose in zip(group.families, group.transposes, strict=True)
    ]
    return [*own, *(factor[part] for factor in group.beside)]
