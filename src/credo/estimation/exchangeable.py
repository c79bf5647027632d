"""What data cannot tell apart about hidden variables: their states, states of several at once, and the variables.

A permutation exchanges states of hidden variables, or hidden variables for each other, and so their parameters. Where
that leaves network, constraints, prior and kept CPTs unchanged, every estimate has a counterpart of the same objective
(label switching). Exchanging two states of one variable is tried first. Where a statement about another hidden variable
forbids that, an exchange of the other one's states may repair it, and so on: a search that follows what was broken.
Only variables that a broken constraint is about can repair it, so that the search takes the constraint with the fewest
of them, and ends where one has none left. It gives up after `MOST_EXAMINED`, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from credo.constraints.constraint_set import LinearConstraints, ProductConstraint
from credo.estimation.problem import Problem
from credo.findings import Finding
from credo.statistics.prior import pseudo_counts
from credo.types import Indices, Numbers

TOLERANCE = 1e-8  # to which constraints are distinguished
HARD, PRODUCT = 2.0, 2.0  # no confidence is as large, no other kind of constraint has this mark
MOST_EXAMINED = 2_000  # permutations of several variables that are examined
MOST_ROUNDS = 100  # of refining colours: how far neighbourhoods reach


@dataclass(frozen=True, slots=True)
class Exchanges:
    """All that can be exchanged without any difference."""

    groups: Mapping[str, list[list[int]]]  # hidden variable → its states in groups: within one, all can be exchanged
    several: tuple[Permutation, ...]  # of several variables at once
    all_examined: bool

    @property
    def variables(self) -> list[str]:
        """The variables with states that can be exchanged by themselves."""
        return [name for name, groups in self.groups.items() if any(len(group) > 1 for group in groups)]


def exchanges_of(problem: Problem, hidden: Iterable[str]) -> Exchanges:
    """Which states of hidden variables, and which hidden variables, can be exchanged."""
    hidden = tuple(hidden)
    symmetry = Symmetry.of(problem, hidden)
    groups = {name: _state_groups(symmetry, name) for name in hidden}
    budget = SearchBudget(MOST_EXAMINED)
    several = tuple(_permutations_of_several(symmetry, groups, budget))
    return Exchanges(groups, several, bool(budget.left))


def exchange_findings(problem: Problem, exchanges: Exchanges) -> Iterator[Finding]:
    """What can be exchanged, as findings."""
    for name, groups in exchanges.groups.items():
        states = problem.model.network.states(name)
        for group in groups:
            if len(group) > 1:
                which = "its states" if len(group) == len(states) else ", ".join(states[state] for state in group)
                message = f"{name} is hidden, and the knowledge does not distinguish {which}: their order is arbitrary."
                yield Finding("exchangeable", message, name)
    for each in exchanges.several:
        yield Finding("exchangeable", _message(problem, each), next(iter((*each.states, *each.variables))))
    if not exchanges.all_examined:
        message = (
            "There are many hidden variables that knowledge connects: not all ways to exchange their states were "
            "examined, and the order of more states may be arbitrary."
        )
        yield Finding("exchangeable", message)


def _state_groups(symmetry: Symmetry, name: str) -> list[list[int]]:
    groups: list[list[int]] = []
    for state in range(len(symmetry.problem.model.network.states(name))):
        group = next((g for g in groups if symmetry.holds(_transposition(symmetry, name, g[0], state))), None)
        if group is None:
            groups.append([state])
        else:
            group.append(state)
    return groups


# Permutations ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Permutation:
    """Hidden variables that take each other's place, and a permutation of the states of others."""

    variables: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def permuted(self) -> frozenset[str]:
        """The variables that are not left as they are."""
        return frozenset((*self.variables, *self.states))


@dataclass(slots=True)
class SearchBudget:
    """How many permutations may still be examined."""

    left: int


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """What permutations are compared with, prepared once."""

    problem: Problem
    hidden: frozenset[str]
    learned: frozenset[str]
    children: Mapping[str, Sequence[str]]
    random: Numbers  # (parameters,) that identify constraints
    centred: Numbers  # the same with mean zero in each distribution
    linear_of: Mapping[str, Indices]  # variable → linear constraints on its CPT
    products_of: Mapping[str, Sequence[int]]
    hidden_in: Mapping[str, frozenset[str]]  # family → its hidden members
    given: Mapping[str, Numbers]  # family of a hidden member → what is said about it beside constraints

    @classmethod
    def of(cls, problem: Problem, hidden: Iterable[str]) -> Symmetry:
        """The constraints on each CPT, and the children of each variable."""
        network, layout, linear = problem.model.network, problem.layout, problem.model.constraints.linear
        children: dict[str, list[str]] = {name: [] for name in network.names}
        for child in network.names:
            for parent in network.parents[child]:
                children[parent].append(child)
        products_of: dict[str, list[int]] = {}
        for number, product in enumerate(problem.model.constraints.products):
            for name in {layout.locate(index)[0] for index in product.indices}:
                products_of.setdefault(name, []).append(number)
        linear_of: dict[str, Indices] = {}
        random = centred = np.zeros(0)
        if len(linear) or products_of:
            random = np.random.default_rng(0).standard_normal(layout.size)
            centred = random.copy()
            for name in layout.names:
                distributions = layout.view(centred, name)
                distributions -= distributions.mean(axis=1, keepdims=True)
            family = np.searchsorted(layout.cell_starts, linear.indices, side="right") - 1
            pairs = np.unique(np.column_stack([family, linear.entry_constraints]), axis=0)
            numbers, first = np.unique(pairs[:, 0], return_index=True)
            for number, own in zip(numbers.tolist(), np.split(pairs[:, 1], first[1:]), strict=False):
                linear_of[layout.names[number]] = own
        hidden, learned = frozenset(hidden), frozenset(problem.model.names)
        hidden_in = {name: hidden.intersection((name, *network.parents[name])) for name in network.names}
        given = {name: _given(problem, name, learned) for name in network.names if hidden_in[name]}
        return cls(problem, hidden, learned, children, random, centred, linear_of, products_of, hidden_in, given)

    def may_exchange(self, name: str, one: int, two: int) -> bool:
        """Whether two states could be exchanged if any other states were, too: a quick test of what is given.

        An exchange changes every kept CPT, and every prior, in which one state has other sums than the other. So the
        states of the effects of a noisy family, which a kept CPT compares, need no search.
        """
        network = self.problem.model.network
        for family in (name, *self.children[name]):
            given = self.given[family].reshape(network.shape(family))
            axis = (*network.parents[family], family).index(name)
            slices = [np.take(given, state, axis) for state in (one, two)]
            sums = [each.ravel() if family == name else each.reshape(-1, each.shape[-1]).sum(axis=0) for each in slices]
            if not np.allclose(np.sort(sums[0]), np.sort(sums[1]), rtol=0.0, atol=TOLERANCE):
                return False
        return True

    def holds(self, permutation: Permutation) -> bool:
        """Whether a permutation leaves everything unchanged."""
        return self.broken(permutation) is None

    def broken(self, permutation: Permutation) -> frozenset[str] | None:
        """None where a permutation leaves everything unchanged; else hidden variables of which one has to repair it."""
        network = self.problem.model.network
        families = dict.fromkeys(permutation.permuted)
        for name in permutation.permuted:
            families |= dict.fromkeys(self.children[name])
        where: list[tuple[Indices, Indices]] = []
        for family in families:
            target = permutation.variables.get(family, family)
            members = (*network.parents[family], family)
            images = [permutation.variables.get(member, member) for member in members]
            own = (*network.parents[target], target)
            if set(images) != set(own):
                # Another child of the images may take the place of this one.
                others = {child for image in images for child in self.children[image]} & self.hidden
                return self._free((*members, *own, *images, *others), permutation)
            if (family in self.learned) != (target in self.learned):
                return self._free((family, target), permutation)
            image = self._image(permutation, family, target, members, images)
            if not np.array_equal(self.given[family].ravel(), self.given[target].ravel()[image]):
                return self._free((*members, *own), permutation)
            if family in self.problem.layout:
                start = self.problem.layout.offsets[family]
                where.append((start + np.arange(len(image)), self.problem.layout.offsets[target] + image))
        if permutation.variables and not self._ties_are_equal(permutation):
            return frozenset()
        return self._broken_constraint(families, where, permutation)

    def _free(self, names: Iterable[str], permutation: Permutation) -> frozenset[str]:
        return self.hidden.intersection(names) - permutation.permuted

    def _image(
        self, permutation: Permutation, family: str, target: str, members: Sequence[str], images: Sequence[str]
    ) -> Indices:
        """Where each cell of a family is in the CPT of its image."""
        network = self.problem.model.network
        shape = [len(network.states(member)) for member in members]
        places = np.indices(shape)
        strides: dict[str, int] = {}
        stride = 1
        for member in (target, *reversed(network.parents[target])):
            strides[member] = stride
            stride *= len(network.states(member))
        cells = np.zeros(shape, dtype=np.int64)
        for axis, (member, image) in enumerate(zip(members, images, strict=True)):
            state = places[axis]
            if member in permutation.states:
                state = np.array(permutation.states[member])[state]
            cells += strides[image] * state
        return cells.ravel()

    def _ties_are_equal(self, permutation: Permutation) -> bool:
        def key(tie_variables: Iterable[str]) -> tuple[str, ...]:
            return tuple(sorted(tie_variables))

        ties = [(key(t.variables), t.by, t.rows, t.differ) for t in self.problem.model.constraints.ties]
        permuted = [
            (key(permutation.variables.get(v, v) for v in t.variables), t.by, t.rows, t.differ)
            for t in self.problem.model.constraints.ties
        ]
        return sorted(map(repr, ties)) == sorted(map(repr, permuted))

    def _broken_constraint(
        self, families: Iterable[str], where: Sequence[tuple[Indices, Indices]], permutation: Permutation
    ) -> frozenset[str] | None:
        """Which variables can repair a constraint that does not become one; None if all become one.

        Of several such constraints, it is the one that the fewest variables can repair.
        """
        if not len(self.random):
            return None
        constraints, layout = self.problem.model.constraints, self.problem.layout
        nothing = np.zeros(0, dtype=np.int64)
        touched = np.unique(np.concatenate([nothing, *(self.linear_of.get(name, nothing) for name in families)]))
        numbers = sorted({number for name in families for number in self.products_of.get(name, ())})
        if not len(touched) and not numbers:
            return None
        linear, products = constraints.linear.take(touched), [constraints.products[number] for number in numbers]
        used = np.unique(np.concatenate([linear.indices, *(np.array(each.indices) for each in products)]))
        image = used.copy()
        for cells, images in where:
            inside = (used >= cells[0]) & (used <= cells[-1])
            image[inside] = images[used[inside] - cells[0]]
        before = self._fingerprints(linear, products, used, used)
        after = self._fingerprints(linear, products, used, image)
        fewest: frozenset[str] | None = None
        for line in _without_counterpart(after, before):
            indices = (
                linear.indices[linear.starts[line] : linear.starts[line + 1]].tolist()
                if line < len(linear)
                else products[line - len(linear)].indices
            )
            members = {layout.locate(int(index))[0] for index in indices}
            free = frozenset[str]().union(*(self.hidden_in[name] for name in members)) - permutation.permuted
            if fewest is None or len(free) < len(fewest):
                fewest = free
            if not fewest:
                break
        return fewest

    def _fingerprints(
        self, linear: LinearConstraints, products: Sequence[ProductConstraint], used: Indices, image: Indices
    ) -> Numbers:
        """The constraints with each parameter of `used` taken to its place in `image`: a line for each.

        A constraint is identified by Σ coefficients · r for random r. Within each distribution, which sums to one, r
        has mean zero: P(x=a) ≥ 0.3 and P(x=b) ≤ 0.7 are the same constraint where x is a or b. An equality is the same
        with its sign turned.
        """
        layout = self.problem.layout
        place = image[np.searchsorted(used, linear.indices)]
        owners, count = linear.entry_constraints, len(linear)
        values = np.bincount(owners, linear.coefficients * self.centred[place], count)
        family = np.searchsorted(layout.cell_starts, linear.indices, side="right") - 1
        sizes = layout.sizes[layout.members[layout.member_starts[family + 1] - 1]]
        bounds = linear.bounds - np.bincount(owners, linear.coefficients / sizes, count)
        sign = np.where(linear.equality & (values < 0), -1.0, 1.0)
        confidences = np.where(linear.hard, HARD, linear.confidences)
        lines = np.column_stack((sign * values, sign * bounds, linear.equality, confidences))
        more = [
            (
                np.dot(product.exponents, self.random[image[np.searchsorted(used, product.indices)]]),
                product.log_bound,
                PRODUCT,
                HARD if product.confidence is None else product.confidence,
            )
            for product in products
        ]
        return np.concatenate((lines, np.array(more).reshape(-1, 4)))


def _given(problem: Problem, family: str, learned: frozenset[str]) -> Numbers:
    """What says something about a family beside constraints: its kept CPT, or its prior's pseudo-counts."""
    network = problem.model.network
    if family in network.shared or family in network.shared.values():
        # States of several variables would have to change places together, which is not looked for.
        return np.arange(float(np.prod(network.shape(family))))
    if family not in learned:
        return network.cpt_array(family)
    shape = (network.configurations(family), len(network.states(family)))
    return np.broadcast_to(pseudo_counts(problem.model.prior, network, family), shape)


def _without_counterpart(lines: Numbers, among: Numbers) -> Iterator[int]:
    """The lines that are not, within `TOLERANCE`, among others. Their first number nearly identifies them."""
    among = among[np.argsort(among[:, 0])]
    low = np.searchsorted(among[:, 0], lines[:, 0] - TOLERANCE)
    high = np.searchsorted(among[:, 0], lines[:, 0] + TOLERANCE)
    for number, (line, start, stop) in enumerate(zip(lines, low.tolist(), high.tolist(), strict=True)):
        if not (np.abs(among[start:stop] - line) <= TOLERANCE).all(axis=1).any():
            yield number


def _transposition(symmetry: Symmetry, name: str, one: int, two: int) -> Permutation:
    order = list(range(len(symmetry.problem.model.network.states(name))))
    order[one], order[two] = two, one
    return Permutation(states={name: tuple(order)})


# Permutations of several variables ------------------------------------------------------------------------------------


def _permutations_of_several(
    symmetry: Symmetry, groups: Mapping[str, list[list[int]]], budget: SearchBudget
) -> Iterator[Permutation]:
    """Permutations that leave everything unchanged, while none of their parts does."""
    seen: set[frozenset[str]] = set()
    for name, own in groups.items():
        for one, two in combinations([group[0] for group in own], 2):
            if not symmetry.may_exchange(name, one, two):
                continue
            found = _repaired(symmetry, _transposition(symmetry, name, one, two), groups, budget)
            if found is not None and found.permuted not in seen:
                seen.add(found.permuted)
                yield found
    for left, right in _exchangeable_pairs(symmetry, groups):
        found = _repaired(symmetry, Permutation(variables={left: right, right: left}), groups, budget)
        if found is not None and found.permuted not in seen:
            seen.add(found.permuted)
            yield found


def _repaired(
    symmetry: Symmetry, permutation: Permutation, groups: Mapping[str, list[list[int]]], budget: SearchBudget
) -> Permutation | None:
    """The permutation, with others that repair what it breaks; None where nothing does."""
    if not budget.left:
        return None
    budget.left -= 1
    broken = symmetry.broken(permutation)
    if broken is None:
        return permutation
    for name in sorted(broken):
        for one, two in combinations([group[0] for group in groups.get(name, ())], 2):
            if not permutation.variables and not symmetry.may_exchange(name, one, two):
                continue
            states = {**permutation.states, **_transposition(symmetry, name, one, two).states}
            if (found := _repaired(symmetry, replace(permutation, states=states), groups, budget)) is not None:
                return found
    if permutation.variables:
        network = symmetry.problem.model.network
        free = sorted(broken)
        for left, right in combinations(free, 2):
            if len(network.states(left)) == len(network.states(right)):
                pairs = {**permutation.variables, left: right, right: left}
                if (found := _repaired(symmetry, replace(permutation, variables=pairs), groups, budget)) is not None:
                    return found
    return None


def _exchangeable_pairs(symmetry: Symmetry, groups: Mapping[str, list[list[int]]]) -> Iterator[tuple[str, str]]:
    """Pairs of hidden variables whose neighbourhoods look the same, by refining colours [weisfeiler & leman 1968]."""
    network = symmetry.problem.model.network
    colours = {
        name: len(network.states(name)) if name in symmetry.hidden else -1 - i for i, name in enumerate(network.names)
    }
    count = 0
    for _ in range(MOST_ROUNDS):
        keys = {
            name: (
                colours[name],
                tuple(sorted(colours[parent] for parent in network.parents[name])),
                tuple(sorted(colours[child] for child in symmetry.children[name])),
            )
            for name in groups
        }
        numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
        colours |= {name: numbers[key] for name, key in keys.items()}
        if len(numbers) == count:
            break
        count = len(numbers)
    classes: dict[int, list[str]] = {}
    for name in groups:
        classes.setdefault(colours[name], []).append(name)
    for members in classes.values():
        for other in members[1:]:  # all of a class can be exchanged where each can be for the first
            yield members[0], other


def _message(problem: Problem, permutation: Permutation) -> str:
    """What can be exchanged at once."""
    parts = []
    for left, right in permutation.variables.items():
        if left < right:
            parts.append(f"{left} and {right}")
    for name, order in permutation.states.items():
        states = problem.model.network.states(name)
        one = next(k for k, image in enumerate(order) if k != image)
        parts.append(f"{states[one]} and {states[order[one]]} of {name}")
    what = "; ".join(parts)
    if len(permutation.permuted) == 2 and permutation.variables:
        return f"{what} are hidden, and the knowledge does not distinguish them: they can change places in any result."
    names = ", ".join(sorted(permutation.permuted))
    return f"{names} are hidden, and can be exchanged together without any difference: {what} change places at once."
