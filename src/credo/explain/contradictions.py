"""What the data contradict: which statements, and what the data show instead.

One rule for the check, the fit and its explanation: the verdict of `Plausibility`. A fit asks it of those statements
alone that can be contradicted: one whose probability given the data is certainly above 1/20 cannot, and bounds on tails
show that of most statements at once. A statement that calls impossible what a row shows is contradicted by that row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from credo.constraints.blocks import Block, one_block
from credo.constraints.boundaries import rules_out, without_room
from credo.constraints.constraint_set import Constraints
from credo.errors import listing
from credo.explain.learned_probabilities import learned_probabilities
from credo.explain.likelihood_ratio import chance_of_data
from credo.explain.network_plausibility import network_plausibilities
from credo.explain.plausibility import LEAST_ODDS, Plausibility, Verdict, plausibilities
from credo.explain.row_shares import NEGLIGIBLE, RowShare, row_shares
from credo.explain.statement_references import StatementReference, references_to
from credo.explain.tail_bounds import TailBounds, tail_bounds
from credo.findings import Finding
from credo.knowledge import Knowledge
from credo.knowledge.names import states_given
from credo.knowledge.statements import Influence, Synergy
from credo.model.layout import Layout
from credo.model.network import Network
from credo.statistics.counts import Counts
from credo.tolerances import EQUALITY_WIDTH
from credo.types import Indices, Numbers

CONTRADICTED = "contradicted by the data"  # the kind of a finding
_PRIOR = 1.0
_FEW_SHARES = 4  # that a sentence names
_LEAST_SHOWN = 1e-4


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A statement that the data contradict.

    Attributes
    ----------
    statement
        The statement, with its line and its words.
    evidence
        What the data show instead, and how strongly they speak, as sentences.
    variable
        The variable whose CPT it is about.
    """

    statement: StatementReference
    evidence: str
    variable: str | None

    def __str__(self) -> str:
        reference = self.statement
        name = f"{reference.subject}, “{reference.text}”," if reference.place else f"“{reference.text}”"
        return f"{name} is contradicted by the data: {self.evidence}"


@dataclass(frozen=True, slots=True, eq=False)
class DataComparison:
    """Each statement before and after the data; those not compared are without the latter.

    `too_small` are the statements whose probability is too small for a number.
    """

    plausible: Mapping[int, Plausibility]
    too_small: frozenset[int] = frozenset()


def compare_with_data(
    constraints: Constraints,
    counts: Counts | None,
    *,
    statements: Iterable[int] | None = None,
    below: float | None = None,
    seed: int = 0,
    knowledge: Knowledge | None = None,
) -> DataComparison:
    """The plausibility of every statement, or of some; without data where they say nothing of a statement's variables.

    With the `knowledge`, statements about probabilities that depend on several CPTs are compared with shares of the
    rows, and where there are none with draws of CPTs from the data alone.
    With `below`, only those are wanted whose probability given the data may be below it.
    """
    counts_of = None if counts is None else counts.configuration
    impossible = set() if counts is None else refuted_by_rows(constraints, counts)
    network_statements = set(constraints.network_statements)
    if statements is not None:
        statements, network_statements = (
            set(statements) - network_statements,
            network_statements.intersection(statements),
        )
    plausible = plausibilities(
        constraints, counts_of, statements=statements, impossible=impossible, below=below, prior=_PRIOR, seed=seed
    )
    if counts is not None:
        plausible |= _tested(plausible, constraints, counts, impossible)
    too_small = {
        number
        for number, plausibility in plausible.items()
        if plausibility.is_too_small and plausibility.verdict is not Verdict.CONTRADICTED
    }
    unobserved = set() if counts is None else set(plausible) - _observed(constraints, counts)
    plausible |= {number: plausible[number].without_data() for number in too_small | unobserved}
    if knowledge is not None and counts is not None:
        shares = row_shares(knowledge, constraints, counts)
        plausible |= {number: share.plausibility for number, share in shares.items()}
        plausible |= network_plausibilities(constraints, counts, network_statements.difference(shares), seed)
    return DataComparison(plausible, frozenset(too_small))


def _tested(
    plausible: Mapping[int, Plausibility], constraints: Constraints, counts: Counts, impossible: Collection[int]
) -> dict[int, Plausibility]:
    """Those that odds call contradicted, with the chance of such data if they are true."""
    linear, found = constraints.linear, {}
    suspects = [
        number
        for number, each in plausible.items()
        if each.verdict is Verdict.CONTRADICTED and number not in impossible
    ]
    if not suspects:
        return {}
    layout = constraints.layout
    vector = layout.pack({name: counts.of(name).reshape(layout.network.shape(name)) for name in layout.names})
    products = {product.statement for product in constraints.products}
    for number in suspects:
        own = linear.take(linear.statements == number)
        own = replace(own, confidences=np.full(len(own), np.nan))
        if number not in products and (own.lengths > 0).all():
            chance = chance_of_data(Constraints(layout, own), vector)
            found[number] = replace(plausible[number], chance_of_data=chance)
    return found


def contradictions(
    knowledge: Knowledge, constraints: Constraints, counts: Counts, seed: int = 0
) -> tuple[Contradiction, ...]:
    """The statements that the data contradict; quick where they contradict few.

    Of those about probabilities that depend on several CPTs, only those that shares of the rows contradict: draws take
    longer, and are left to checks and explanations.
    """
    suspects = possibly_contradicted(constraints, counts)
    plausible: Mapping[int, Plausibility] = {}
    if suspects:
        plausible = compare_with_data(constraints, counts, statements=suspects, below=LEAST_ODDS, seed=seed).plausible
    return contradictions_among(plausible, knowledge, constraints, counts)


def contradictions_among(
    plausible: Mapping[int, Plausibility], knowledge: Knowledge, constraints: Constraints, counts: Counts
) -> tuple[Contradiction, ...]:
    """Those of the statements with the verdict that the data contradict them, in the order of the knowledge.

    Statements about probabilities that depend on several CPTs are compared with shares of the rows here.
    """
    shares = (
        row_shares(knowledge, constraints, counts) if constraints.unlowered or constraints.network_constraints else {}
    )
    plausible = {**plausible, **{number: share.plausibility for number, share in shares.items()}}
    chosen = sorted(number for number, each in plausible.items() if each.verdict is Verdict.CONTRADICTED)
    references = references_to(knowledge.statements) if chosen else ()
    found = []
    for number in chosen:
        if number in shares:
            evidence, variable = _share_evidence(shares[number], constraints, counts)
        elif number in constraints.network_statements:
            evidence, variable = _network_evidence(number, plausible[number], knowledge, constraints, counts)
        else:
            evidence, variable = _evidence(number, plausible[number], knowledge, constraints, counts)
        found.append(Contradiction(references[number], evidence, variable))
    return tuple(found)


def contradiction_findings(found: Iterable[Contradiction]) -> list[Finding]:
    """The same as findings of a fit."""
    return [Finding(CONTRADICTED, str(each), each.variable) for each in found]


def possibly_contradicted(constraints: Constraints, counts: Counts) -> set[int]:
    """Every statement that the data contradict, and some that they do not.

    By Boole's inequality a statement fails with at most the sum of the probabilities with which its constraints fail.
    Where that leaves it the least probability of a statement that is not contradicted, nothing more has to be
    computed; nor where none of its distributions has data, since the data do not change its probability.
    """
    block = one_block(replace(constraints, linear=constraints.linear.compared_with_data()))
    if block is None:
        return set()
    observed = _counts_of_parameters(block, constraints.layout, counts)
    bounds = tail_bounds(block, observed + _PRIOR, EQUALITY_WIDTH)
    highest = int(bounds.statements.max(initial=0)) + 1
    fails = np.bincount(bounds.statements, bounds.fails, highest)
    with_data = np.add.reduceat(observed, block.distributions[:-1]) > 0.0
    seen = np.zeros(highest, dtype=np.bool_)
    owners = block.linear.statements[block.linear.entry_constraints]
    np.logical_or.at(seen, owners, with_data[block.distribution_of[block.linear.indices]])
    for product in block.products:
        seen[product.statement] |= bool(with_data[block.distribution_of[list(product.indices)]].any())
    # Twice the least probability, so that an estimate from draws, which has an error, gives the same verdict.
    suspects = set(np.flatnonzero(seen & (fails > 1.0 - 2.0 * LEAST_ODDS)).tolist())
    return suspects | refuted_by_rows(constraints, counts)


def refuted_by_rows(constraints: Constraints, counts: Counts) -> set[int]:
    """The statements that leave no probability to something that was observed, be it once."""
    linear = constraints.linear
    edges = linear.take(linear.equality | without_room(linear, constraints.layout))
    block = one_block(replace(constraints, linear=edges, products=()))
    if block is None:
        return set()
    observed = _counts_of_parameters(block, constraints.layout, counts)
    return set(block.linear.statements[rules_out(block, observed, NEGLIGIBLE)].tolist())


def _counts_of_parameters(block: Block, layout: Layout, counts: Counts) -> Numbers:
    """The count of each parameter of a block."""
    found = np.empty(block.size)
    families = np.searchsorted(layout.cell_starts, block.parameters, side="right") - 1
    firsts = np.flatnonzero(np.diff(families, prepend=-1))
    for first, last in zip(firsts.tolist(), [*firsts[1:].tolist(), block.size], strict=True):
        name = layout.names[families[first]]
        found[first:last] = counts.cells(name, block.parameters[first:last] - layout.offsets[name])
    return found


def _observed(constraints: Constraints, counts: Counts) -> set[int]:
    """The statements about a variable of which at least one row shows the state and those of its parents."""
    layout = constraints.layout
    missing = counts.missing()
    seen = np.array([counts.total - missing.get(name, 0.0) > 0.0 for name in layout.names], dtype=np.bool_)
    linear = constraints.linear
    families = np.searchsorted(layout.cell_starts, linear.indices, side="right") - 1
    found = set(linear.statements[linear.entry_constraints[seen[families]]].tolist())
    found |= set(linear.statements[linear.lengths == 0].tolist())
    for product in constraints.products:
        families = np.searchsorted(layout.cell_starts, product.indices, side="right") - 1
        if seen[families].any():
            found.add(product.statement)
    return found


# What the data show instead -------------------------------------------------------------------------------------------


def _evidence(
    number: int, plausibility: Plausibility, knowledge: Knowledge, constraints: Constraints, counts: Counts
) -> tuple[str, str | None]:
    """The shares that contradict a statement most, how strongly they do, and the variable of the first of them."""
    linear = constraints.linear
    own = linear.take(linear.statements == number).compared_with_data()
    products = tuple(product for product in constraints.products if product.statement == number)
    layout = constraints.layout
    block = one_block(Constraints(layout, own, products))
    assert block is not None
    observed = _counts_of_parameters(block, layout, counts)
    bounds = tail_bounds(block, observed + _PRIOR, EQUALITY_WIDTH)
    indices, weights = _worst_constraint(block, bounds, observed)
    is_about_order = isinstance(knowledge.statements[number], Influence | Synergy)
    shares, variables = _shares(block, indices, weights, observed, layout.network, is_about_order)
    instance = "for instance, " if len(set(block.distribution_of[indices].tolist())) < len(block.configurations) else ""
    sentences = [f"{instance}{'; '.join(shares)}.", _strength(plausibility)]
    return " ".join([*sentences, *_remarks(variables, constraints, counts)]), variables[0]


def _share_evidence(share: RowShare, constraints: Constraints, counts: Counts) -> tuple[str, str | None]:
    """The same for a statement about a probability that depends on several CPTs."""
    term = share.probability
    event = listing([f"{name}={' or '.join(states)}" for name, states in term.events])
    condition = f" with {listing([_shown(*each) for each in term.given])}" if term.given else ""
    shown = f"{event} in {share.hits:,g} of {share.rows:,g} rows{condition} ({_percent(share.hits / share.rows)})."
    remarks = _remarks([share.family], constraints, counts)
    return " ".join([shown, _strength(share.plausibility), *remarks]), term.variable


def _network_evidence(
    number: int, plausibility: Plausibility, knowledge: Knowledge, constraints: Constraints, counts: Counts
) -> tuple[str, str | None]:
    """The same where no share of rows shows it: what the probabilities are in CPTs learned from the data alone."""
    network = counts.layout.network
    cpts = {}
    for name in network.names:
        pseudo = counts.of(name) + _PRIOR
        cpts[name] = (pseudo / pseudo.sum(axis=1, keepdims=True)).reshape(network.shape(name))
    found = learned_probabilities(network.with_cpts(cpts), knowledge.statements[number])
    values = listing([f"{each.text} is {_percent(each.value)}" for each in found])
    shown = [f"in CPTs learned from the data alone, {values}."] if found else []
    terms = [term for each in constraints.network_constraints if each.statement == number for _, term in each.terms]
    variables = [name for term in terms for name, _ in (*term.events, *term.conditions)]
    return " ".join([*shown, _strength(plausibility), *_remarks(variables, constraints, counts)]), variables[0]


def _shown(name: str, state: str) -> str:
    return f"{name}={' or '.join(states_given(state))}"


def _remarks(variables: Iterable[str], constraints: Constraints, counts: Counts) -> list[str]:
    """Which rows were counted, where that is not plain."""
    sentences = []
    if any(counts.missing().get(name) for name in variables):
        sentences.append("Rows in which one of these values is missing were left out.")
    if constraints.ties:
        sentences.append("Rows that are tied were counted one by one.")
    return sentences


def _worst_constraint(block: Block, bounds: TailBounds, observed: Numbers) -> tuple[Indices, Numbers]:
    """The constraint that the data miss by most standard deviations: its parameters, and their coefficients."""
    starts = block.linear.starts
    with_data = np.add.reduceat(observed, block.distributions[:-1]) > 0.0
    entries = [
        (block.linear.indices[start:stop], block.linear.coefficients[start:stop])
        for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    entries += [(np.array(each.indices), np.array(each.exponents, dtype=np.float64)) for each in block.products]
    excess = [
        value if with_data[block.distribution_of[own]].any() else -np.inf
        for (own, _), value in zip(entries, bounds.excess.tolist(), strict=True)
    ]
    return entries[int(np.argmax(excess))]


def _shares(
    block: Block, indices: Indices, weights: Numbers, observed: Numbers, network: Network, is_about_order: bool
) -> tuple[list[str], list[str]]:
    """`lung=yes in 3 of 50 rows with smoke=yes (6%)` for each sum in a constraint; and their variables."""
    texts, variables = [], []
    for distribution in dict.fromkeys(block.distribution_of[indices].tolist()):
        name, configuration = block.configurations[distribution]
        start, stop = int(block.distributions[distribution]), int(block.distributions[distribution + 1])
        groups: dict[float, list[int]] = {}
        for index, weight in zip(indices.tolist(), weights.tolist(), strict=True):
            if start <= index < stop:
                groups.setdefault(weight, []).append(index - start)
        if is_about_order:  # the lower states were compared, but a reader thinks of the higher ones
            lower = {state for states in groups.values() for state in states}
            groups = {0.0: [state for state in range(stop - start) if state not in lower]}
        rows = float(observed[start:stop].sum())
        given = network.configuration(name, configuration)
        condition = f" with {listing([f'{parent}={state}' for parent, state in given.items()])}" if given else ""
        for states in groups.values() if rows else ():
            labels = " or ".join(network.states(name)[state] for state in sorted(states))
            count = float(observed[start + np.array(states)].sum())
            texts.append(f"{name}={labels} in {count:,g} of {rows:,g} rows{condition} ({_percent(count / rows)})")
        if not rows:
            texts.append(f"no rows{condition}")
        variables.append(name)
    if len(texts) > _FEW_SHARES:
        texts = [*texts[:_FEW_SHARES], f"and {len(texts) - _FEW_SHARES} more"]
    return texts, variables


def _strength(plausibility: Plausibility) -> str:
    """How strongly the data speak, for a reader without statistics."""
    after = plausibility.after_data
    assert after is not None
    probability = after.value if after.upper_bound is None else after.upper_bound
    if probability < _LEAST_SHOWN:
        return f"By the data alone, it is true with a probability below {_percent(_LEAST_SHOWN)}."
    amount = "of about" if after.upper_bound is None else "below"
    return f"By the data alone, it is true with a probability {amount} {_percent(probability)}."


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g}%" if share < 0.995 else f"{100.0 * share:.4g}%"
