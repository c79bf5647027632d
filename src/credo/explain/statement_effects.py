"""What a statement changed: the result without it, compared with the result.

For an optimum, only the blocks that a statement is part of are solved again without it, all in one call, at the most
probable CPTs under the knowledge (cmap with the fit's own prior), whatever the method.

For a posterior mean, the fit's own method learns again without the statement, with the same prior and seed, by chains
that are shorter where there is much to learn. All CPTs are learned, because they share their prior, but of the others
without their statements, which change nothing elsewhere and take most of the time. Statements that have nothing to do
with each other are left out together. They are taken in turn, the most important first, until chains have made half as
many steps as those of the fit; of the others it is said that this was not computed. No clock decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from credo.constraints.blocks import Block, stacked
from credo.constraints.constraint_set import NO_CONSTRAINTS
from credo.constraints.feasibility import NONE
from credo.errors import CredoError
from credo.estimation.constrained import multipliers_by_statement, optimum, without_pinned_prior
from credo.estimation.incomplete import estimate_incomplete
from credo.estimation.problem import Problem
from credo.estimation.soft_weight import DEFAULT_WEIGHT
from credo.estimation.solution import Solution, Uncertainty
from credo.estimation.solvers.block_estimates import BlockEstimate, estimate_blocks, solve_certified
from credo.estimation.solvers.block_solver import Task
from credo.estimation.solvers.certificate import Certificate
from credo.estimation.solvers.products import with_products
from credo.options import PosteriorOptions
from credo.posterior.draws import PosteriorResult
from credo.types import Numbers

LEAST_CHANGE = 1e-4  # of an optimum; below it a probability did not change
LEAST_CHANGE_OF_MEAN = 0.01  # below it a change may be sampling error, and matters to nobody
ERRORS = 3.0  # standard errors of both means within which a difference may be chance
LARGEST_ERROR = 0.015  # above it chains were too short for the error to be known itself: a change has to be twice as
ERRORS_IF_LARGE = 6.0  # far from chance, and where there is none, nothing is known
SHARE_OF_FIT = 0.33  # of the steps of the fit's chains: so many are made without statements
LEAST_WORK = 150_000  # numbers that chains move in all, in small networks: less than half a second
WARMUP, DRAWS = 80, 60  # of the shortest chains


@dataclass(frozen=True, slots=True)
class Change:
    """The largest change of a probability in one conditional distribution if a statement is left out."""

    variable: str
    index: int  # of the parents' configuration
    amount: float


@dataclass(frozen=True, slots=True)
class StatementEffect:
    """What a statement changed, the largest change first, and what it costs the data in log-likelihood."""

    changes: tuple[Change, ...]
    log_likelihood_gain: float  # of the data without it, at the most probable CPTs
    is_known: bool = True  # False where learning again would have taken too long

    @property
    def largest(self) -> float:
        """The largest change of a probability."""
        return self.changes[0].amount if self.changes else 0.0


def effects_of_statements(
    problem: Problem, mean: Numbers | None = None, posterior: Uncertainty | None = None
) -> dict[int, StatementEffect]:
    """The effect of each statement that constrains a block; on the posterior mean, `mean`, where there is one."""
    effects = effects_on_optimum(problem)
    if mean is None or posterior is None:
        return effects
    first = sorted(effects, key=lambda number: (-effects[number].largest, number))
    changes = changes_of_means(problem, mean, posterior, first)
    return {
        number: replace(each, changes=tuple(changes.get(number, ())), is_known=number in changes)
        for number, each in effects.items()
    }


def effects_by_configuration(
    effects: Mapping[int, StatementEffect],
) -> dict[tuple[str, int], list[tuple[int, float]]]:
    """The statements that changed each conditional distribution, with how much, the largest change first."""
    found: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for number, effect in effects.items():
        for change in effect.changes:
            found.setdefault((change.variable, change.index), []).append((number, change.amount))
    return {place: sorted(statements, key=lambda each: -each[1]) for place, statements in found.items()}


def effects_on_optimum(problem: Problem) -> dict[int, StatementEffect]:
    """The effect of each statement on the most probable CPTs."""
    vector, data = problem.vector(), problem.vector(with_prior=False)
    weight = DEFAULT_WEIGHT if problem.settings.soft_weight is None else problem.settings.soft_weight

    def solve(blocks: Sequence[Block]) -> list[BlockEstimate]:
        estimates = without_pinned_prior(problem, vector, estimate_blocks(blocks, vector, weight), weight)
        return with_products(estimates, problem.settings.seed)

    if problem.model.constraints.network_constraints:
        return _effects_with_network_constraints(problem, vector, data, weight)
    with_all = solve(problem.model.blocks)
    tasks = [(number, k) for k, block in enumerate(problem.model.blocks) for number in block.statements]
    without_one = solve([without_statement(problem.model.blocks[k], number) for number, k in tasks])
    return _compared(problem.model.blocks, tasks, with_all, without_one, data)


def _effects_with_network_constraints(
    problem: Problem, vector: Numbers, data: Numbers, weight: float
) -> dict[int, StatementEffect]:
    """The same where statements about any probability of the network join blocks, with their tangents at the optimum.

    Only statements with a multiplier change an optimum. One about a CPT is left out of its own block, in which the
    tangents of network constraints keep multipliers λ as costs Σ λ·∇g·θ; a network constraint of all that it joins.
    """
    found = optimum(problem, vector, weight)
    multipliers = multipliers_by_statement(found.estimates, problem.data.counts.total)
    network_statements = set(problem.model.constraints.network_statements)
    costs = np.zeros(problem.layout.size)
    for each in found.estimates:
        linear = each.block.linear
        binding = np.where(np.isin(linear.statements, list(network_statements)), each.multipliers, 0.0)
        values = linear.coefficients * binding[linear.entry_constraints]
        np.add.at(costs, each.block.parameters[linear.indices], values)
    blocks: list[Block] = []
    tasks, with_all, left_out = [], [], []
    for block in problem.model.blocks:
        own = [number for number in block.statements if multipliers.get(number, 0.0) > 0.0]
        theta, weights = found.theta[block.parameters], vector[block.parameters]
        for number in own:
            tasks.append((number, len(blocks)))
            task = Task(without_statement(block, number), weights, None, weight, costs[block.parameters])
            left_out.append(task if weights.any() else task._replace(entropies=np.ones(block.size)))
        blocks.append(block)
        with_all.append(BlockEstimate(Task(block, weights), theta, np.zeros(0), "", Certificate(0.0, 0.0), NONE))
    for each in found.estimates:
        for number in sorted(network_statements.intersection(each.block.statements)):
            if multipliers.get(number, 0.0) > 0.0:
                tasks.append((number, len(blocks)))
                # With all data: those that the statement made impossible were left out of the estimate.
                weights = vector[each.block.parameters]
                task = Task(without_statement(each.block, number), weights, None, weight)
                left_out.append(task if weights.any() else task._replace(entropies=np.ones(each.block.size)))
        if network_statements.intersection(each.block.statements):
            blocks.append(each.block)
            with_all.append(each._replace(theta=found.theta[each.block.parameters]))
    effects = _compared(blocks, tasks, with_all, solve_certified(left_out), data)
    every = {number for block in problem.model.blocks for number in block.statements} | network_statements
    return {number: effects.get(number, StatementEffect((), 0.0)) for number in sorted(every)}


def _compared(
    blocks: Sequence[Block],
    tasks: Sequence[tuple[int, int]],  # a statement, and the block without it
    with_all: Sequence[BlockEstimate],  # of each block
    without_one: Sequence[BlockEstimate],  # of each task
    data: Numbers,
) -> dict[int, StatementEffect]:
    """How the blocks without a statement differ from those with all of them."""
    if not tasks:
        return {}
    changes: dict[int, list[Change]] = {number: [] for number, _ in tasks}
    gains = dict.fromkeys(changes, 0.0)
    whole = stacked([blocks[k] for _, k in tasks])
    theta = np.concatenate([with_all[k].theta for _, k in tasks])
    other = np.concatenate([each.theta for each in without_one])
    owner = np.repeat(np.arange(len(tasks)), [len(blocks[k].configurations) for _, k in tasks])
    largest = np.maximum.reduceat(np.abs(theta - other), whole.distributions[:-1])
    for d in np.flatnonzero(largest > LEAST_CHANGE).tolist():
        changes[tasks[owner[d]][0]].append(Change(*whole.configurations[d], float(largest[d])))
    counts = data[whole.parameters]
    observed = counts > 0
    with np.errstate(divide="ignore"):
        gain = counts[observed] * (np.log(other[observed]) - np.log(theta[observed]))
    by_task = np.bincount(owner[whole.distribution_of[observed]], gain, len(tasks))
    for (number, _), amount in zip(tasks, by_task.tolist(), strict=True):
        gains[number] += amount
    return {
        number: StatementEffect(tuple(sorted(own, key=lambda change: -change.amount)), gains[number])
        for number, own in changes.items()
    }


def without_statement(block: Block, number: int) -> Block:
    """The block without the constraints of one statement."""
    kept = block.linear.statements != number
    if not block.products and not kept.any():
        return replace(block, linear=NO_CONSTRAINTS, constraint_numbers=block.constraint_numbers[:0])
    products = tuple(product for product in block.products if product.statement != number)
    return replace(block.take(kept), products=products)


def changes_of_means(
    problem: Problem, mean: Numbers, posterior: Uncertainty, first: Sequence[int]
) -> dict[int, list[Change]]:
    """How the posterior mean changes if a statement is left out: by learning again without it, with the same method.

    `mean` is the fit's own. Statements are taken in the order of `first` while the work allows, and what was not
    learned again is not in the result, nor what such chains cannot tell. A change counts where it exceeds the error of
    both means.
    """
    assert problem.settings.method is not None
    found: dict[int, list[Change]] = {}
    own_errors = _errors(problem, posterior)
    rounds, options = _rounds(problem, posterior, first)
    shorter = problem.with_settings(options=replace(problem.settings.options, posterior=options))
    for round_ in rounds:
        names = tuple(name for name in problem.model.names if any(name in own for own in round_.values()))
        solution = learned_without(shorter, tuple(round_), names)
        if solution is None or solution.posterior is None:
            continue
        theta = mean.copy()
        for name in names:
            problem.layout.view(theta, name)[:] = solution.cpts[name].reshape(-1, solution.cpts[name].shape[-1])
        errors = np.hypot(own_errors, _errors(problem, solution.posterior))
        for number in round_:
            changes = _changes(problem, np.abs(theta - mean), errors, number)
            if changes is not None:
                found[number] = changes
    return found


def _rounds(
    problem: Problem, posterior: Uncertainty, first: Sequence[int]
) -> tuple[list[dict[int, tuple[str, ...]]], PosteriorOptions]:
    """Which statements are left out together, each with the CPTs that it can change, and how long chains are.

    Statements whose CPTs have nothing to do with each other share a round.
    """
    rounds: list[dict[int, tuple[str, ...]]] = []
    for number in first:
        names = _joined_by_statements(problem, number)
        taken = (each for each in rounds if not any(set(own) & set(names) for own in each.values()))
        own_round = next(taken, None)
        if own_round is None:
            rounds.append(own_round := {})
        own_round[number] = names
    own = problem.settings.options.posterior
    kept = posterior.draws.shape[1] if isinstance(posterior, PosteriorResult) else own.draws
    is_joint = _joins_all(problem)
    steps = SHARE_OF_FIT * (own.warmup + kept * own.thinning)
    if not is_joint:
        cells = sum(prod(problem.model.network.shape(name)) for name in problem.model.names)
        steps = max(steps, LEAST_WORK / (own.chains * max(1, cells)))
    each = steps / max(1, len(rounds))
    warmup = int(min(own.warmup, max(WARMUP, each * own.warmup / (own.warmup + own.draws * own.thinning))))
    draws = int(min(own.draws, max(DRAWS, (each - warmup) / own.thinning)))
    most = max(1, int(steps // (warmup + draws * own.thinning)))
    return rounds[:most], replace(own, warmup=warmup, draws=draws, max_draws=draws)


def learned_without(problem: Problem, numbers: Sequence[int], names: Sequence[str] | None = None) -> Solution | None:
    """What the fit's own method learns without some statements; None where that is not known.

    Where only the CPTs in `names` are wanted, statements about others are left out, too.
    """
    assert problem.settings.method is not None
    if len(problem.model.zeros) and set(numbers) & set(problem.model.constraints.network_statements):
        return None  # zeros stand for such a statement by its place
    other = _without(problem, numbers, problem.model.names if names is None else names)
    try:
        return problem.settings.method.estimate(other) if other.data.dataset is None else estimate_incomplete(other)
    except CredoError:
        return None


def _joined_by_statements(problem: Problem, number: int) -> tuple[str, ...]:
    """The variables whose CPTs can change without a statement: those that it is about, and what others join with them.

    Missing values and statements about any probability join all CPTs.
    """
    model = problem.model
    if _joins_all(problem):
        return model.names
    together = [{name for name, _ in block.configurations} for block in model.blocks]
    found = set[str]().union(
        *(each for each, block in zip(together, model.blocks, strict=True) if number in block.statements)
    )
    while more := set[str]().union(*(each for each in together if each & found)) - found:
        found |= more
    return tuple(name for name in model.names if name in found)


def _joins_all(problem: Problem) -> bool:
    """Whether the draws of any CPT can depend on statements about any other."""
    model = problem.model
    return problem.data.dataset is not None or bool(model.constraints.network_constraints) or model.doubts is not None


def _without(problem: Problem, numbers: Sequence[int], names: Sequence[str]) -> Problem:
    """The problem without some statements, and of the others with those about some CPTs alone, and all influences."""
    stated = problem.model.constraints.without(numbers)
    wanted = np.zeros(stated.layout.size, dtype=bool)
    for name in names:
        stated.layout.view(wanted, name)[:] = True
    linear = stated.linear
    about_others = np.zeros(len(linear), dtype=bool)
    about_others[linear.entry_constraints[~wanted[linear.indices]]] = True
    constraints = replace(
        stated,
        linear=linear.take(~about_others),
        products=tuple(each for each in stated.products if wanted[list(each.indices)].all()),
    )
    return problem.with_constraints(constraints).with_settings(progress=None).with_model(pinned=NONE)


def _errors(problem: Problem, posterior: Uncertainty) -> Numbers:
    """The standard error of each mean, where the method knows it."""
    errors = getattr(posterior, "errors", None)
    if not errors:
        return np.zeros(problem.layout.size)
    shapes = {name: problem.model.network.shape(name) for name in problem.layout.names}
    return problem.layout.pack({name: errors.get(name, np.zeros(shapes[name])) for name in shapes})


def _changes(problem: Problem, differences: Numbers, errors: Numbers, number: int) -> list[Change] | None:
    """The changes of the distributions that share a block with the statement, the largest first.

    None where there are none, and errors are so large that one of some percentage points would not be seen.
    """
    is_vague = errors > LARGEST_ERROR
    least = np.maximum(LEAST_CHANGE_OF_MEAN, np.where(is_vague, ERRORS_IF_LARGE, ERRORS) * errors)
    notable = np.where(differences > least, differences, 0.0)
    is_network_constraint = number in problem.model.constraints.network_statements
    blocks = [block for block in problem.model.blocks if is_network_constraint or number in block.statements]
    found: dict[tuple[str, int], float] = {}
    for block in blocks:
        largest = np.maximum.reduceat(notable[block.parameters], block.distributions[:-1])
        for d in np.flatnonzero(largest > 0.0).tolist():
            found[block.configurations[d]] = float(largest[d])
    if is_network_constraint:
        for name in problem.layout.names:
            for index, amount in enumerate(problem.layout.view(notable, name).max(axis=-1).ravel().tolist()):
                if amount > 0.0:
                    found[name, index] = amount
    own = slice(None) if is_network_constraint else np.concatenate([block.parameters for block in blocks])
    if not found and is_vague[own].any():
        return None
    return sorted((Change(*place, amount) for place, amount in found.items()), key=lambda each: -each.amount)
