"""The way of the data, in order: network, knowledge, table, counts, estimate, findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from credo.checking import check, require_consistent
from credo.constraints.blocks import blocks_of
from credo.constraints.constraint_set import Constraints, with_fixed
from credo.constraints.feasibility import InfeasibleError
from credo.constraints.lower import lower
from credo.constraints.noisy_families import collapsed, with_noisy_families
from credo.errors import NetworkError, OptionError
from credo.estimation.em.driver import Progress as StepReport
from credo.estimation.incomplete import Iterations, checked_trainer, estimate_incomplete
from credo.estimation.methods import Method, choose_method
from credo.estimation.problem import Problem
from credo.estimation.solution import Solution, hidden_findings, rows_without_probability
from credo.explain.violations import only_checked
from credo.io.dataset import Dataset, concatenate, extended, peek
from credo.io.network_files import read_network
from credo.knowledge import Knowledge, knowledge_for
from credo.model.expansion import Expansion, expand
from credo.model.layout import check_size
from credo.options import checked_hidden_draws, checked_seed
from credo.results import Fit
from credo.statistics.counts import count_all, count_folds, layout_for_counts, merge_all
from credo.statistics.known_columns import read_for
from credo.statistics.likelihood import log_likelihood_of_counts
from credo.statistics.prior import Priors, as_prior, taken_apart
from credo.statistics.ties.likelihood import Reading

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
    hidden_draws: float | None = None,
    starts: int = 5,
    max_iterations: int = 1000,
    tolerance: float = 1e-8,
    accelerate: bool = True,
    trainer: str = "em",
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
    `hidden_draws` is how cautious me and cme are: the s of the imprecise Dirichlet model, 1 where nothing is said.
    `memory_limit` is how many bytes the tables may take; half of the machine's memory where nothing is said. The same
    `seed` gives the same result.

    Where values are missing or variables hidden, EM is run: from `starts` starts, each for at most `max_iterations`
    steps, until the objective moves by no more than `tolerance` of itself; a run that was killed goes on from its
    `checkpoint`. With `trainer="gradient"` the likelihood is climbed directly instead, with a growing penalty on what
    the knowledge forbids [yang, algorithm 1]; ml, map, cml and cmap can be trained so. Rows that the knowledge ties
    together are conditioned on their ties (`ties="cll"`), are a sample in which they were found to agree
    (`ties="joint"`), or are one draw of the tied value (`ties="merged"`). `progress` is told the share of the table
    that was read, `report` how each step of EM went.
    """
    started = perf_counter()
    structure = read_network(network)
    known = knowledge_for(structure, knowledge)
    whole = expand(with_noisy_families(known))  # the structure itself where no family is noisy
    chosen = choose_method(method, with_prior=prior is not None)
    believed = _prior_for(chosen, prior, whole)
    kept, free = _kept_and_free(whole, fixed)
    seed, trainer, reading = checked_seed(seed), checked_trainer(trainer), _reading(ties)
    hidden_draws = None if hidden_draws is None else checked_hidden_draws(hidden_draws)
    check_size(whole.network, memory_limit)

    constraints = with_fixed(lower(known), {name: whole.network.cpt_array(name) for name in kept})
    blocks = blocks_of(constraints)
    families = layout_for_counts(whole.network)
    first, rows = peek(_read(known, whole, data, weights, progress))
    folds = count_folds(families, rows, FOLDS, seed) if _needs_folds(chosen, constraints, soft_weight) else ()
    counts = merge_all(folds) if folds else count_all(families, rows)
    options = _given(range_weight=range_weight, relation_weight=relation_weight, hidden_draws=hidden_draws)
    problem = Problem(whole.network, free, counts, believed, constraints, blocks, folds, soft_weight, seed, options)

    if counts.missing() or (constraints.ties and chosen.uses_knowledge) or trainer != "em":
        if method == "auto":
            chosen, problem = _for_gaps(prior, problem, whole)
        iterations = Iterations(starts, max_iterations, tolerance, accelerate, checkpoint, report, trainer)
        table = concatenate(list(_read(known, whole, data, weights)))
        solution = _or_clash(
            known, lambda: estimate_incomplete(chosen, problem, table, iterations, memory_limit, reading)
        )
    else:
        solution = _or_clash(known, lambda: chosen.estimate(problem))

    result, log_likelihood = whole.network.with_cpts(solution.cpts), solution.log_likelihood
    if log_likelihood is None:
        log_likelihood = log_likelihood_of_counts(result, counts)
    learned = collapsed(whole, result.cpts, constraints, rescale=solution.posterior is None)
    findings = (*hidden_findings(first), *solution.findings, *rows_without_probability(result, counts, kept))
    return Fit(
        network=learned,
        knowledge=known,
        method=chosen.name,
        status=solution.status,
        log_likelihood=log_likelihood,
        rows=counts.rows,
        seconds=perf_counter() - started,
        findings=(*(each for each in findings if each.variable not in whole.extra), *only_checked(learned, known)),
        history=solution.history or (log_likelihood,),
        certificate=solution.certificate,
        multipliers=solution.multipliers,
        posterior=solution.posterior,
        tied=solution.tied,
        problem=problem if solution.expected is None else replace(problem, counts=solution.expected),
        is_incomplete=solution.expected is not None,
    )


def _reading(ties: str) -> Reading:
    try:
        return Reading(ties)
    except ValueError:
        raise OptionError(
            "ties is cll (rows were drawn until they agreed), joint (rows were drawn, and found to agree) or merged "
            f"(one draw for all tied rows), not {ties!r}."
        ) from None


def _or_clash(knowledge: Knowledge, estimate: Callable[[], Solution]) -> Solution:
    """Run an estimation; knowledge that cannot hold becomes an error with the smallest clashing sets."""
    try:
        return estimate()
    except InfeasibleError:
        require_consistent(check(knowledge.network, knowledge))
        raise OptionError("The knowledge cannot hold together with the tables that are to stay as they are.") from None


def _for_gaps(prior: Any, problem: Problem, whole: Expansion) -> tuple[Method, Problem]:
    """What `auto` takes where values are missing: the most probable tables, through EM."""
    method = choose_method("cmap")
    return method, replace(problem, prior=_prior_for(method, prior, whole))


def _given(**options: object) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _needs_folds(method: Method, constraints: Constraints, soft_weight: float | None) -> bool:
    soft = method.uses_knowledge and not constraints.linear.hard.all()
    return method.cross_validates or (soft and soft_weight is None)


def _prior_for(method: Method, prior: Any, whole: Expansion) -> Priors:
    if prior is not None and not method.takes_prior:
        raise OptionError(f"The method {method.name} takes no prior. Use map, cmap or posterior, or give none.")
    return taken_apart(as_prior(method.default_prior if prior is None else prior, whole.original), whole)


def _read(
    knowledge: Knowledge, whole: Expansion, data: Any, weights: Any, progress: Progress | None = None
) -> Iterator[Dataset]:
    """The table in parts, with a column for each variable of the network that is learned."""
    for part in read_for(knowledge, data, weights, progress):
        yield extended(part, whole.network)


def _kept_and_free(whole: Expansion, fixed: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables whose tables stay as they are, and those whose tables are learned."""
    if isinstance(fixed, str):
        raise OptionError(f"fixed is a list of names, not the text {fixed!r}.")
    kept: dict[str, None] = {}
    for name in fixed:
        whole.original.variable(name)
        for own in whole.effects.get(name, (name,)):
            if own not in whole.network.cpts:
                raise NetworkError(f"The table of {name} is to stay as it is, but the network has none for it.")
            kept[own] = None
    free = tuple(name for name in whole.network.names if name not in kept and name not in whole.winners)
    return tuple(kept), free
