"""The flat arrays that the samplers' compiled loops take; nothing here needs a compiler.

A group is a block: its constraints, moves and distributions are the stretches that `group_*` name.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# Options of kernels that make no arrays: these need not count who holds one, which takes as long as their arithmetic.
BORROWING: dict[str, Any] = {"error_model": "numpy", "_nrt": False}
ROUNDING = 1e-12  # by which a statement may be missed


class Extras(NamedTuple):
    """Constraints that are evaluated at a point instead of bounding a move: products, in logarithms, and soft ones."""

    starts: Any  # (extras + 1,)
    indices: Any
    values: Any
    bounds: Any  # (extras,)
    weights: Any  # (extras,) NaN: a product that is hard; below zero: one that is soft, with the weight −w
    equality: Any  # (extras,)


class Geometry(NamedTuple):
    """Groups of distributions, their constraints Aθ ≤ b, and the sparse directions to move in.

    `delta_*` hold Av of each move v, so that a move visits the constraints that it changes and no others.
    """

    group_constraints: Any  # (groups + 1,)
    group_moves: Any  # (groups + 1,)
    group_distributions: Any  # (groups + 1,)
    distributions: Any  # (distributions + 1,)
    owners: Any  # (parameters,) the distribution of each
    constraint_starts: Any
    constraint_indices: Any
    constraint_values: Any
    bounds: Any  # (constraints,)
    move_starts: Any
    move_indices: Any
    move_values: Any
    delta_starts: Any
    delta_constraints: Any
    delta_values: Any
    extra_starts: Any  # (moves + 1,) which extras a move changes
    extra_list: Any
    chances: Any  # (moves,) how likely a sweep makes each
    rays: Any  # (moves,) whether its entries are states that are raised, see `set_ray`


class JointUpdates(NamedTuple):
    """Which parameters are proposed together, and which constraints bound each step of a proposal."""

    starts: Any  # (updates + 1,) into steps
    numbers: Any  # (steps,) the parameter that each step proposes
    check_starts: Any  # (steps + 1,)
    checks: Any  # constraints that bound a step
    reserves: Any  # (checks,) the least that parameters proposed after a step can add to its constraints
    lowest: Any  # (parameters,) between which values all constraints together leave a parameter, as far as was found
    highest: Any  # (parameters,)
    extra_starts: Any  # (updates + 1,)
    extras: Any
    chances: Any  # (updates,) how likely a sweep makes each


class Passes(NamedTuple):
    """What takes part in some of the passes of a sweep: numbers of each kind."""

    distributions: Any
    free: Any  # distributions of no block
    families: Any
    groups: Any
    updates: Any  # joint updates
    classes: Any  # of ranges that are not summed over


class Schedule(NamedTuple):
    """In how many passes of a sweep everything takes part: all in the first, what mixes slowly in others too."""

    distributions: Any  # (distributions,)
    changed: Any  # (distributions,) as the update that takes part in most passes and changes it
    components: Any  # (distributions,) z, as the CPT
    families: Any  # (families,) m and π, as the distribution of the CPT that takes part in most passes
    groups: Any  # (groups,) 0: never moved
    moves: Any  # (moves,)
    updates: Any  # (joint updates,)
    classes: Any  # (classes,) of ranges
    first: Any  # the first pass that is made, as an array of one number: 1 where all others stay as they are
    whole: Passes  # what may take part in the first pass,
    later: Passes  # and in others


class DistributionArrays(NamedTuple):
    """The conditional distributions that are sampled, those of blocks first, and the components of their prior."""

    starts: Any  # (distributions + 1,) into parameters
    families: Any  # (distributions,) whose CPT it belongs to
    counts: Any  # (parameters,)
    informative: Any  # (distributions,) all but those with parameters that can only be zero: another dimension
    flat: Any  # (distributions,) which have a flat prior, because equalities hold their states together
    constrained: Any  # how many distributions belong to blocks, as an array of one number
    cells: Any  # (families + 1,) into means
    seen: Any  # (distributions,) 1: it has data
    strengths: Any  # (2, components) s_g, by `seen`
    uniform_components: Any  # how many of the components have the uniform base, as an array of one number
    first_predicted: Any  # the first component whose base is predicted: the first that is not uniform, or none
    predicted: Any  # (parameters,) that base
    predicted_logs: Any  # (distributions, predicted components) log of 1/B(s_g·b_g)


class Ranges(NamedTuple):
    """Distributions that only a range of one sum of states bounds, in classes with equal ranges and counts.

    The members of a shared class are summed over where m and π are drawn, see `collapsed.py`; where no component has a
    base that is drawn, all distributions of classes are, and those of no block.
    """

    numbers: Any  # distributions, class after class
    class_starts: Any  # (classes + 1,)
    lows: Any  # (classes,) between which values the sum of the named states is
    highs: Any  # (classes,)
    shared: Any  # (classes,) which are summed over: their members are drawn when somebody needs them
    named: Any  # (parameters,)
    family_starts: Any  # (families + 1,) into classes
    shares: Any  # (families,) whether any of its classes is summed over as a whole
    summed_over: Any  # (distributions,)
    closed: Any  # (groups,) which need no moves
    given: Any  # distributions that are not summed over as a class, CPT after CPT
    given_starts: Any  # (families + 1,)
    uninformative: Any  # distributions from which nothing is learned about m and π
    fixed_logs: Any  # (classes, components) log L_g of shared classes, where it depends on no mean
    given_summed: Any  # (given,) which are summed over by themselves, since no component depends on a mean,
    given_values: Any  # (given, components) and their L_g, as parts of the largest


class Given(NamedTuple):
    """Room for what is computed of distributions whose θ is given, in the order of `Ranges.given`."""

    logs: Any  # (parameters,) log θ
    values: Any  # (given, components) Dir(θ | s_g·b_g), as a part of the largest
    inners: Any  # (given,) Σ m·log θ
    highest: Any  # (given,) the logarithm of the largest
    fixed: Any  # (given,) what components add that do not change
    norms: Any  # (families, 2, components) log of 1/B(s_g·b_g), by `seen`
    rests: Any  # (components,) the same of one CPT without two states whose means change,
    trial: Any  # (components,) and with them
    chances: Any  # (components,)


class ChainState(NamedTuple):
    """What a chain carries on."""

    theta: Any  # (parameters,)
    component: Any  # (distributions,) z
    means: Any  # (cells,) m
    weights: Any  # (families, components) π
    pool: Any  # (components,) w


class Mixture(NamedTuple):
    """What distributions are drawn from, in the order of parameters."""

    starts: Any  # (distributions + 1,)
    families: Any  # (distributions,)
    counts: Any  # (parameters,)
    totals: Any  # (distributions,) of counts
    cells: Any  # (families + 1,)
    means: Any  # (cells,)
    seen: Any  # (distributions,)
    strengths: Any  # (2, components)
    uniform_components: int
    first_predicted: int
    predicted: Any  # (parameters,)
    predicted_logs: Any  # (distributions, predicted components)
    density: Any  # (families, 2, components) log of π_g/B(s_g·b_g), of π_g alone where the base is predicted
    weights: Any  # (families, components) π


class CliqueTree(NamedTuple):
    """A clique tree, see `statistics/inference/clique_tree.py`; what is put into a clique is found by `maps`."""

    counts: Any  # (cliques,) cells of each
    family_starts: Any  # (cliques + 1,)
    family_inputs: Any  # (inputs, 2) the CPT, and where the map from cells of the clique to cells of the CPTs starts
    indicator_starts: Any
    indicator_inputs: Any  # (inputs, 2) the first indicator of a variable, and its map
    message_starts: Any
    message_inputs: Any  # (inputs, 2) the message, and its map
    maps: Any
    messages: Any  # (messages + 1,) the first cell of each; 2k goes from clique k to its parent, 2k + 1 back
    outs: Any  # (messages,) the map from the clique that sends it
    collecting: Any  # (messages to the root, 3) operations: kind, clique, message or CPT
    operations: Any  # (operations, 3) of a whole round


class GeneralArrays(NamedTuple):
    """Statements about any probability of the network: Σ coefficient · sum/sum + Σ coefficient · θ ≤ bound."""

    indicators: Any  # (states of all variables with indicators, sums)
    cpts: Any  # (cells,) of all CPTs in the tree, those that are not sampled too
    places: Any  # (parameters,) the cell of each sampled parameter, −1: of none
    parameters: Any  # (cells,) the sampled parameter of each cell, −1: of none
    family_starts: Any  # (CPTs + 1,) cells of each CPT
    term_starts: Any  # (statements + 1,)
    coefficients: Any  # (terms,)
    above: Any  # (terms,)
    below: Any  # (terms,) −1: no condition
    bounds: Any  # (statements,)
    weights: Any  # (statements,) NaN: hard; else W·C
    equality: Any  # (statements,) of soft ones
    single: Any  # (statements,) whether hard, with one term and no parameters: it bounds a line at one point
    entry_starts: Any  # (parameters + 1,) statements that name a single parameter
    entry_statements: Any
    entry_values: Any
    meanings: Any  # (statements,) what may be wrong, by number, the same for those in succession; −1: must hold
    straight: Any  # (statements,) whether what it says is linear along a line, times its one denominator
    constraint_starts: Any  # (CPTs + 1,)
    constraints: Any  # that a CPT can change
    sum_starts: Any  # (CPTs + 1,)
    sums: Any  # in these statements


class GeneralMoves(NamedTuple):
    """What is updated when a CPT is visited: distributions one by one, and what moves several of them."""

    distribution_starts: Any  # (CPTs + 1,)
    distributions: Any
    pair_starts: Any  # (distributions + 1,)
    pairs: Any  # moves of two states
    line_starts: Any  # (CPTs + 1,)
    lines: Any  # all other moves
    joint_starts: Any  # (CPTs + 1,)
    joints: Any  # joint updates
    group_starts: Any  # (CPTs + 1,)
    groups: Any  # of these distributions


class Underway(NamedTuple):
    """The CPT that is updated, and what statements about any probability need of it; empty where there are none."""

    first: Any  # its first cell
    derivatives: Any  # (cells of the CPT, sums)
    sums: Any  # (sums,) at the present point
    slopes: Any  # (sums,) how each changes along a line
    linear: Any  # (2, statements) what single parameters add to each, and how that changes along a line
    kept: Any  # (2, sums or statements) room for sums and linear before a move that may be undone
    constraints: Any  # that it can change,
    active: Any  # and the sums in these; `sums` and `slopes` of others are not up to date
