"""Numbers that hard statements pin at zero: found once, without weight, and named where data contain them.

Where such a number has a weight, the objective is −∞ for all CPTs that the knowledge allows. EM expects counts wherever
its CPTs are above zero, so that it has to start with these numbers at zero: there they stay, and every M-step has an
optimum. A row that is impossible then contradicts the statements, whatever the CPTs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from credo.constraints.blocks import Block, shape_of, with_local_numbers
from credo.constraints.feasibility import NO_SLACK, NONE, InfeasibleError, interior_of
from credo.constraints.program import Program
from credo.core.block_program import VIOLATION_LIMIT
from credo.errors import ImpossibleRowError
from credo.estimation.problem import Problem
from credo.estimation.solvers.block_estimates import BlockEstimate
from credo.estimation.solvers.block_solver import Task, solve_tasks
from credo.findings import Finding
from credo.io.dataset import Dataset
from credo.statistics.inference.expected_counts import log_likelihood_of, prepare
from credo.statistics.partitioned_rows import PartitionedRows
from credo.types import Flags, Indices

CONTRADICTED = "impossible data"
NEGLIGIBLE = 1e-6  # expected counts shrink towards zero; from here on they are no data
SUSPECT = 1e-5  # a number that is above this at a feasible point is not pinned


def pinned_parameters(blocks: Sequence[Block]) -> Indices:
    """The parameters that hard linear constraints leave no value but zero, in ascending order.

    A feasible point shows of every parameter above zero that it is not pinned. So the blocks are solved for equal
    weights first, which is quick, and only those with a zero there are examined, once for each shape.
    """
    tasks = [_with_equal_weights(block) for block in blocks if block.linear.hard.any()]
    found: list[Indices] = [NONE]
    known: dict[tuple[bytes, ...], Indices] = {}
    for task, point in zip(tasks, solve_tasks(tasks), strict=True):
        if point.violation <= VIOLATION_LIMIT and point.theta.min() > SUSPECT:
            continue
        key = shape_of(task.block)
        if key not in known:
            interior = interior_of(with_local_numbers(task.block))
            if interior is None:
                raise InfeasibleError
            known[key] = interior.zero_parameters
        found.append(task.block.parameters[known[key]])
    return np.sort(np.concatenate(found))


def _with_equal_weights(block: Block) -> Task:
    return Task(replace(block.take(block.linear.hard), products=()), np.ones(block.size))


def pinned_cells(problem: Problem) -> Mapping[str, Flags]:
    """Which cells of each learned CPT are pinned at zero; CPTs without such are left out."""
    flags = np.zeros(problem.layout.size, dtype=np.bool_)
    flags[problem.model.pinned] = True
    parts = {name: flags[problem.layout.slice_of(name)] for name in problem.model.names if name in problem.layout}
    return {name: part for name, part in parts.items() if part.any()}


# Data that contradict -------------------------------------------------------------------------------------------------


def contradiction_of(problem: Problem, error: ImpossibleRowError) -> ImpossibleRowError:
    """The error of an impossible row with the statements that make it so; itself where it is impossible without."""
    assert problem.data.dataset is not None
    if isinstance(problem.data.dataset, PartitionedRows):
        row = problem.data.dataset.row(error.row - 1)
    else:
        row = problem.data.dataset.rows(np.arange(len(problem.data.dataset)) == error.row - 1)
    cells = _minimal_zeros(problem, row)
    if not cells:
        return error
    owners = {int(index): block for block in problem.model.blocks for index in block.parameters.tolist()}
    statements = sorted({number for cell in cells for number in statements_that_pin(owners[cell], cell)})
    return ImpossibleRowError(error.row, error.values, [number + 1 for number in statements], place=error.place)


def _minimal_zeros(problem: Problem, row: Dataset) -> list[int]:
    """A minimal set of pinned numbers that together make a row impossible; empty where they do not."""
    prepared = prepare(problem.data.counts.layout, replace(row, weights=None), problem.settings.memory_limit)
    own, layout = problem.layout, prepared.layout
    learned = {name: np.full(problem.model.network.shape(name), 0.5) for name in problem.model.names}
    positive = layout.pack({**problem.model.network.cpts, **learned})
    cells = [(int(index), own.locate(int(index))) for index in problem.model.pinned]
    places = {index: layout.offsets[name] + index - own.offsets[name] for index, (name, _, _) in cells}

    def is_impossible(zeros: Sequence[int]) -> bool:
        theta = positive.copy()
        theta[[places[index] for index in zeros]] = 0.0
        return log_likelihood_of(prepared, theta) == -np.inf

    members = list(places)
    if is_impossible(()) or not is_impossible(members):
        return []
    size = max(1, len(members) // 2)
    while True:  # leave out half of them, then smaller parts, then one by one
        at = 0
        while at < len(members):
            rest = members[:at] + members[at + size :]
            if is_impossible(rest):
                members = rest
            else:
                at += size
        if size == 1:
            return members
        size = max(1, size // 2)


def contradictions(problem: Problem, pinned: Iterable[tuple[Block, Indices]]) -> Iterator[Finding]:
    """What the data contain although the knowledge leaves it no probability, block by block."""
    data = problem.vector(with_prior=False)
    for block, zeros in pinned:
        for index in zeros[data[zeros] > NEGLIGIBLE].tolist():
            name = problem.layout.locate(index)[0]
            statements = statements_that_pin(block, index)
            numbers = ", ".join(str(statement + 1) for statement in statements)
            often = "once" if data[index] == 1.0 else f"{data[index]:g} times"
            yield Finding(
                CONTRADICTED,
                f"{name}: {problem.layout.describe(index)} must be zero by "
                f"{'statement' if len(statements) == 1 else 'statements'} {numbers}, but the data contain it "
                f"{often}. Correct the statements or the data, or add a confidence to a statement.",
                name,
            )


def pinned_at_zero(estimate: BlockEstimate) -> Indices:
    """The parameters of a block without a certificate that can only be zero, as indices into all parameters."""
    interior = None if estimate.certificate.holds else interior_of(estimate.block)
    return estimate.block.parameters[NONE if interior is None else interior.zero_parameters]


def statements_that_pin(block: Block, index: int) -> tuple[int, ...]:
    """A minimal set of hard statements that together force a parameter to zero."""
    program, objective = Program(block), (block.parameters == index).astype(np.float64)

    def active(statements: Sequence[int]) -> list[int]:
        """Those with a multiplier where the parameter is largest; none where it can be above zero."""
        program.switch_statements(statements)
        found = program.maximise(objective)
        if found is None or found.value > NO_SLACK:
            return []
        with_multiplier = set(block.linear.statements[found.multipliers > NO_SLACK].tolist())
        return [statement for statement in statements if statement in with_multiplier] or list(statements)

    members = sorted(set(block.linear.statements[block.linear.hard].tolist()))
    fewer = active(members)
    members = fewer if active(fewer) else members
    for candidate in reversed(members):  # later lines are dropped first, so that earlier ones are reported
        rest = [member for member in members if member != candidate]
        if rest and active(rest):
            members = rest
    return tuple(members)
