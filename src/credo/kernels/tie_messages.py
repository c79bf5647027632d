"""The compiled loops of message passing between tied rows.

Each member of a tie has a column of soft evidence λ. From the marginal of its value, P ∝ λ·μ, the column is taken out
again: μ = P/λ is what the row itself says, and sums to one. A tie of n members has Z = Σ_x Π μ_j(x) and the belief
b(x) = Π μ_j(x) / Z, so that the next evidence of member i is Π_{j≠i} μ_j = b/μ_i up to a factor; a pair that differs
has Z = Σ_x μ_i(x)·(1 − μ_j(x)) and the evidence 1 − μ_j. A pair over a tuple of variables sums μ_j over the states that
go with x instead. Evidence is scaled to Σ λ·μ = 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credo.kernels.compiler import compiled

LEAST = 1e-100  # of evidence: what was zero under these tables can be seen again under the next
SMALL = 1e-150  # a product below this is scaled

jit = compiled(error_model="numpy")


@jit
def take_out(  # pragma: no cover
    counts: Any,  # expected counts of all cells
    cells: Any,  # (columns,) the first cell of each
    steps: Any,  # (columns,) from a state's cell to the next state's
    offsets: Any,  # (columns + 1,) where each begins in the arrays of messages
    weights: Any,  # (columns,)
    evidence: Any,
    which: Any,  # (columns,) those that were evaluated
    own: Any,  # out: μ
) -> float:
    """What each row says itself; the sum of w·log Σ λ·μ over columns."""
    total = 0.0
    for c in range(len(cells)):
        if not which[c]:
            continue
        first, last = offsets[c], offsets[c + 1]
        marginal, scale, cell = 0.0, 0.0, cells[c]
        for at in range(first, last):
            own[at] = counts[cell] / evidence[at]
            marginal += counts[cell]
            scale += own[at]
            cell += steps[c]
        for at in range(first, last):
            own[at] /= scale
        total += weights[c] * np.log(marginal / scale)
    return total


@jit
def put_in(cells: Any, steps: Any, offsets: Any, evidence: Any, theta: Any) -> None:  # pragma: no cover
    """Write the columns into the tables of the sensors."""
    for c in range(len(cells)):
        cell = cells[c]
        for at in range(offsets[c], offsets[c + 1]):
            theta[cell] = evidence[at]
            cell += steps[c]


@jit
def equality_message(own: Any, offsets: Any, column: int, x: int) -> float:  # pragma: no cover
    """The message of a member to an equal one, for the value x: μ of its row, or certainty where x is observed."""
    if column >= 0:
        return own[offsets[column] + x]
    return 1.0 if x == -1 - column else 0.0


@jit
def difference_message(own: Any, offsets: Any, column: int, x: int, k: int) -> float:  # pragma: no cover
    """The message of a member to one that differs, 1 − μ(x): exact also where μ(x) is almost one."""
    if column < 0:
        return 0.0 if x == -1 - column else 1.0
    at = offsets[column]
    if own[at + x] < 0.5:
        return 1.0 - own[at + x]
    others = 0.0
    for y in range(k):
        if y != x:
            others += own[at + y]
    return others


@jit
def _allows(starts: Any, sizes: Any, differs: Any, g: int, x: int, y: int) -> bool:  # pragma: no cover
    """Whether a pair may hold the states x and y of a tuple: each variable is shared, or differs."""
    for d in range(starts[g + 1] - 1, starts[g] - 1, -1):
        same = x % sizes[d] == y % sizes[d]
        if same == differs[d]:
            return False
        x //= sizes[d]
        y //= sizes[d]
    return True


@jit
def _compatible(  # pragma: no cover
    own: Any, offsets: Any, column: int, digit_starts: Any, digits: Any, differs: Any, g: int, x: int, k: int
) -> float:
    """What a member of a pair says of all states that go with the state x of the other one."""
    if digit_starts[g + 1] - digit_starts[g] == 1:
        return difference_message(own, offsets, column, x, k)
    total = 0.0
    for y in range(k):
        if _allows(digit_starts, digits, differs, g, x, y):
            total += equality_message(own, offsets, column, y)
    return total


@jit
def compensate(  # pragma: no cover
    starts: Any,  # (factors + 1,)
    differ: Any,  # (factors,)
    states: Any,  # (factors,)
    digit_starts: Any,  # (factors + 1,) where the variables of each begin
    digits: Any,  # their numbers of states
    differs: Any,  # whether the rows of a pair differ in them
    columns: Any,  # (members,) of each member; −1 − x where its value x is observed
    copies: Any,  # (members,)
    share: Any,  # (members,) of the weight of its column
    offsets: Any,  # (columns + 1,)
    own: Any,  # μ
    tilt: Any,  # (factors, most states) a factor of each belief beside the rows' own; empty where there is none
    evidence: Any,  # out: the next λ
    beliefs: Any,  # out, where there is a tilt: (factors, most states)
) -> Any:
    """Σ log Z of all factors, and the first factor that leaves no value (-1: none)."""
    evidence[:] = 0.0
    total = 0.0
    belief = np.empty(max(1, np.max(states)) if len(states) else 1)
    for g in range(len(states)):
        first, last, k = starts[g], starts[g + 1], states[g]
        if differ[g]:
            left, right = columns[first], columns[first + 1]
            z = 0.0
            for x in range(k):
                z += equality_message(own, offsets, left, x) * _compatible(
                    own, offsets, right, digit_starts, digits, differs, g, x, k
                )
            if not z > LEAST:
                if left < 0 or right < 0:
                    return total, g
                z = LEAST  # both are sure of the same, for now: each also receives other messages
            total += np.log(z)
            for x in range(k):
                if left >= 0:
                    evidence[offsets[left] + x] += (
                        share[first] * _compatible(own, offsets, right, digit_starts, digits, differs, g, x, k) / z
                    )
                if right >= 0:
                    evidence[offsets[right] + x] += (
                        share[first + 1] * _compatible(own, offsets, left, digit_starts, digits, differs, g, x, k) / z
                    )
            continue
        for x in range(k):
            belief[x] = tilt[g, x] if len(tilt) else 1.0
        for i in range(first, last):
            at = offsets[columns[i]]
            largest = 0.0
            if copies[i] == 1.0:
                for x in range(k):
                    belief[x] *= own[at + x]
                    largest = max(largest, belief[x])
            else:
                for x in range(k):
                    belief[x] *= own[at + x] ** copies[i]
                    largest = max(largest, belief[x])
            if largest < SMALL:
                if largest == 0.0:
                    return total, g
                total += np.log(largest)
                for x in range(k):
                    belief[x] /= largest
        z = 0.0
        for x in range(k):
            z += belief[x]
        total += np.log(z)
        for x in range(k):
            belief[x] /= z
            if len(tilt):
                beliefs[g, x] = belief[x]
        for i in range(first, last):
            at = offsets[columns[i]]
            for x in range(k):
                if own[at + x] > 0.0:
                    evidence[at + x] += share[i] * belief[x] / own[at + x]
    return total, -1


@jit
def change(  # pragma: no cover
    offsets: Any, crowd: Any, own: Any, before: Any, after: Any, keep: float, moves: Any
) -> None:
    """Damp the new evidence in place: λ = before^keep · after^(1 − keep); how far it moves each column's marginal.

    Evidence of n columns on one value, a row that differs from many, moves it n times as far: each moves by 1/n.
    """
    for c in range(len(offsets) - 1):
        first, last = offsets[c], offsets[c + 1]
        held, least = max(keep, 1.0 - 1.0 / crowd[c]), LEAST ** (1.0 / crowd[c])
        scale = 0.0
        for at in range(first, last):
            scale += before[at] * own[at]
        total, largest = 0.0, 0.0
        for at in range(first, last):
            largest = max(largest, abs(after[at] - before[at] / scale) * own[at])
            after[at] = max(after[at], least)
            if held > 0.0:
                after[at] = before[at] ** held * after[at] ** (1.0 - held)
            total += after[at] * own[at]
        for at in range(first, last):
            after[at] = max(after[at] / total, least)
        moves[c] = largest


@jit
def keep_previous(offsets: Any, which: Any, before: Any, after: Any) -> None:  # pragma: no cover
    """Keep the old evidence in place of the new where a column waits."""
    for c in range(len(which)):
        if not which[c]:
            for at in range(offsets[c], offsets[c + 1]):
                after[at] = before[at]
