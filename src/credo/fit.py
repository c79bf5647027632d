"""The way of the data, in order: network, knowledge, table, counts, estimate, findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from credo.check import check, require_consistent
from credo.constraints.blocks import blocks_of
from credo.constraints.context import words
from credo.constraints.fixed import with_fixed
from credo.constraints.lower import lower
from credo.constraints.rows import Constraints
from credo.errors import NetworkError, OptionError
from credo.estimators.incomplete import Iterations, estimate_incomplete
from credo.estimators.iterations.em import Progress as StepReport
from credo.estimators.methods import Method, choose_method
from credo.estimators.problem import Problem
from credo.estimators.solution import Solution, hidden_findings, rows_without_probability
from credo.estimators.solvers.block_estimates import Infeasible
from credo.io.dataset import concatenate, peek
from credo.io.networks import read_network
from credo.knowledge import Knowledge, knowledge_for
from credo.network import Network
from credo.options import checked_seed
from credo.result import Fit
from credo.statistics.counts import count_all, count_folds, merge_all
from credo.statistics.families import Families, check_size
from credo.statistics.known_columns import read_for
from credo.statistics.likelihood import log_likelihood_of_counts
from credo.statistics.prior import Priors, as_prior

if TYPE_CHECKING:
    from credo.io.csv import Progress

FOLDS = 10  # of cross-validation, as in [guo, algorithm 2]


def fit(
    network: Any,
    data: Any,
    knowledge: Any = None,
    *,
    method: str = "auto",
    prior: Any = None,
    fixed: Sequence[str] = (),
    weights: Any = None,
    seed: int = 0,
    soft_weight: float | None = None,
    range_weight: float | None = None,
    relation_weight: float | None = None,
    starts: int = 5,
    max_iterations: int = 1000,
    tolerance: float = 1e-8,
    accelerate: bool = True,
    checkpoint: str | Path | None = None,
    ties: str = "cll",
    memory_limit: int | None = None,
    progress: Progress | None = None,
    report: Callable[[StepReport], None] | None = None,
) -> Fit:
    """Learn the tables of a network from data and knowledge.

    `network` is a `Network`, a path, or an object of pgmpy or pyAgrum; `data` a path (CSV, Parquet, a folder of
    Parquet files) or a frame of pandas, polars, pyarrow, …; `knowledge` a `Knowledge`, or text or statements to make
    one of. `method` is one of `credo methods`. `prior` is a number of pseudo-counts, "k2", "bdeu:10", another network,
    or a mapping from variables to these. Tables of `fixed` variables stay as they are. `weights` names a column, or is
    an array with one number a row. `soft_weight` says how much statements with a confidence weigh; cross-validation
    chooses where nothing is said; with cem, `range_weight` and `relation_weight` weigh the two kinds on their own.
    `memory_limit` is how many bytes the tables may take; half of the machine's memory where nothing is said. The same
    `seed` gives the same result.

    Where values are missing or variables hidden, EM is run: from `starts` starts, each for at most `max_iterations`
    steps, until the objective moves by no more than `tolerance` of itself; a run that was killed goes on from its
    `checkpoint`. Rows that the knowledge ties together are conditioned on their ties (`ties="cll"`), or are one draw
    of the tied value (`ties="merged"`). `progress` is told the share of the table that was read, `report` how each
    step of EM went.
    """
    started = perf_counter()
    structure = read_network(network)
    known = knowledge_for(structure, knowledge)
    chosen = choose_method(method, with_prior=prior is not None)
    believed = _prior_for(chosen, prior, structure)
    free = _free_variables(structure, fixed)
    seed = checked_seed(seed)
    check_size(structure, memory_limit)

    constraints = with_fixed(lower(known), {name: structure.table(name) for name in fixed})
    _refuse_what_cannot_be_learned(chosen, constraints, known)
    blocks = blocks_of(constraints)
    families = Families.of(structure)
    first, rows = peek(read_for(known, data, weights, progress))
    folds = count_folds(families, rows, FOLDS, seed) if _needs_folds(chosen, constraints, soft_weight) else ()
    counts = merge_all(folds) if folds else count_all(families, rows)
    options = _given(range_weight=range_weight, relation_weight=relation_weight)
    problem = Problem(structure, free, counts, believed, constraints, blocks, folds, soft_weight, seed, options)

    if counts.gaps() or (constraints.ties and chosen.uses_knowledge):
        if method == "auto":
            chosen, problem = _for_gaps(prior, problem)
        iterations = Iterations(starts, max_iterations, tolerance, accelerate, checkpoint, report)
        whole = concatenate(list(read_for(known, data, weights)))
        merged = _is_merged(ties)
        solution = _or_clash(
            known, lambda: estimate_incomplete(chosen, problem, whole, iterations, memory_limit, merged)
        )
    else:
        solution = _or_clash(known, lambda: chosen.estimate(problem))

    learned = structure.with_tables(solution.tables)
    log_likelihood = solution.log_likelihood
    if log_likelihood is None:
        log_likelihood = log_likelihood_of_counts(learned, counts)
    return Fit(
        network=learned,
        knowledge=known,
        method=chosen.name,
        status=solution.status,
        log_likelihood=log_likelihood,
        rows=counts.rows,
        seconds=perf_counter() - started,
        findings=(*hidden_findings(first), *solution.findings, *rows_without_probability(learned, counts, fixed)),
        history=solution.history or (log_likelihood,),
        certificate=solution.certificate,
        prices=solution.prices,
        posterior=solution.posterior,
        tied=solution.tied,
    )


def _refuse_what_cannot_be_learned(method: Method, constraints: Constraints, knowledge: Knowledge) -> None:
    """Families of independent causes can be written and checked, but not learned from yet."""
    if not method.uses_knowledge:
        return
    numbers = [each.statement for group in (constraints.forms, constraints.unlowered) for each in group]
    if numbers:
        said = words(knowledge.statements[min(numbers)])
        raise OptionError(
            f"“{said}” can be checked, but no method learns from such a statement yet. Leave it out, or use ml or map, "
            "which learn from the data alone."
        )


def _is_merged(ties: str) -> bool:
    if ties not in ("cll", "merged"):
        raise OptionError(f"ties is cll (rows are conditioned on their ties) or merged (one draw a tie), not {ties!r}.")
    return ties == "merged"


def _or_clash(knowledge: Knowledge, estimate: Callable[[], Solution]) -> Solution:
    """Run an estimation; knowledge that cannot hold becomes an error with the smallest clashing sets."""
    try:
        return estimate()
    except Infeasible:
        require_consistent(check(knowledge.network, knowledge))
        raise OptionError("The knowledge cannot hold together with the tables that are to stay as they are.") from None


def _for_gaps(prior: Any, problem: Problem) -> tuple[Method, Problem]:
    """What `auto` takes where values are missing: the most probable tables, through EM."""
    method = choose_method("cmap")
    return method, replace(problem, prior=_prior_for(method, prior, problem.network))


def _given(**options: object) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _needs_folds(method: Method, constraints: Constraints, soft_weight: float | None) -> bool:
    soft = method.uses_knowledge and not constraints.linear.hard.all()
    return method.cross_validates or (soft and soft_weight is None)


def _prior_for(method: Method, prior: Any, network: Network) -> Priors:
    if prior is not None and not method.takes_prior:
        raise OptionError(f"The method {method.name} takes no prior. Use map or cmap, or leave the prior out.")
    return as_prior(method.default_prior if prior is None else prior, network)


def _free_variables(network: Network, fixed: Sequence[str]) -> tuple[str, ...]:
    """The variables whose tables are learned."""
    if isinstance(fixed, str):
        raise OptionError(f"fixed is a list of names, not the text {fixed!r}.")
    for name in fixed:
        if network.variable(name).name not in network.tables:
            raise NetworkError(f"The table of {name} is to stay as it is, but the network has none for it.")
    return tuple(name for name in network.names if name not in set(fixed))
