"""How much memory and time a stage takes, estimated from the size of the problem before it begins.

The constants are measured ones, rounded up. Inference has its own tables
(`statistics/inference/elimination.py`), because it knows more; everything else that grows with the knowledge is here.
A stage that does not fit is refused at once, with the figures and what to do; one that takes long says so in its
progress.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from credo.constraints.blocks import Block
from credo.errors import LargeCPTWarning, NetworkError, TooLargeError, counted, readable_bytes, readable_count
from credo.io.files import warn_caller
from credo.knowledge.names import name_text
from credo.memory import memory_limit_or_default
from credo.model.network import Network
from credo.progress import ProgressEvent, ProgressListener
from credo.tolerances import FOLDS

BYTES_PER_BLOCK, BYTES_PER_PARAMETER, BYTES_PER_ENTRY = 6_000, 500, 400  # of estimates, certificates and stacked arrays
BYTES_PER_FACTOR = 64  # of a sparse factor, and of what it is computed from
FILL = 4.0  # entries of factors for each entry of a system, times the logarithm of its size
ENTRIES_ALONE = 3  # of a state that no constraint names
SMALL_SYSTEM = 400  # unknowns up to which systems are dense
SECONDS_PER_BLOCK, SECONDS_PER_ENTRY = 1e-4, 2e-5
SECONDS_PER_PRODUCT = 0.5  # a block with statements about products; most take a thirtieth of it
COPIES_EXPLAINED = 3  # of the estimates: with all statements, without each, and for observations that are left out
DRAWS, DRAWN_BYTES = 20_000, 400_000_000  # that explanations and checks hold at a time, at most
PAGE_BYTES_PER_NUMBER = 600  # of a report's page: the number, its range, its bar and its text
CONFIGURATIONS_ON_PAGE = 4_096  # of a variable
LARGE_CPT = 2**16  # numbers of one CPT from which on answers take long: 16 parents of two states
LARGEST_CPT = 2**22  # and from which on learning would take minutes and gigabytes
LONG = 5.0  # seconds from which progress tells how long a stage will take

REDUCE_CONSTRAINTS = (
    "State less about the variables with the largest CPTs, give these fewer parents, or raise memory_limit."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a stage is expected to take, at most and roughly."""

    bytes: float
    seconds: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.bytes + other.bytes, self.seconds + other.seconds)


def require_small_cpts(network: Network, kept: Collection[str] = ()) -> None:
    """Refuse CPTs that nobody can fill or learn, and warn of those that take long, before anything is done."""
    for name in network.names:
        if name in network.forms or name in kept:
            continue
        parents, configurations = len(network.parents[name]), network.configurations(name)
        numbers = configurations * len(network.states(name))
        if numbers <= LARGE_CPT:
            continue
        facts = (
            f"{name} has {counted(parents, 'parent')}: its CPT has {readable_count(configurations)} configurations "
            f"with {readable_count(numbers)} numbers"
        )
        smaller = f"fewer parents, or causes that act independently (`{name_text(name)} is noisy-or of …`)"
        if numbers > LARGEST_CPT:
            raise NetworkError(f"{facts}; at most {LARGEST_CPT:,} can be learned. Give it {smaller}.")
        better = f"{smaller}; or a prior of few numbers (`{name_text(name)} is a weighted mean of …`)"
        warn_caller(f"{facts}. Few of them have data, and answers take long. Better: {better}.", LargeCPTWarning)


def estimating(blocks: Sequence[Block]) -> Cost:
    """One optimum of all blocks, by whatever method: their systems are solved one after the other."""
    entries = sum(len(block.linear.indices) for block in blocks)
    parameters = sum(block.size for block in blocks)
    largest = max((_system_bytes(block) for block in blocks), default=0.0)
    kept = BYTES_PER_BLOCK * len(blocks) + BYTES_PER_PARAMETER * parameters + BYTES_PER_ENTRY * entries
    with_products = sum(bool(block.products) for block in blocks)
    seconds = SECONDS_PER_BLOCK * len(blocks) + SECONDS_PER_ENTRY * entries + SECONDS_PER_PRODUCT * with_products
    return Cost(kept + largest, seconds)


def _system_bytes(block: Block) -> float:
    """The memory of one Newton system: dense where it is small, or where products make it so.

    A state that no constraint names has entries of its own and in the sum of its distribution, and fills nothing in.
    """
    constraints = len(block.linear)
    unknowns = block.size + constraints + len(block.configurations)
    if unknowns <= SMALL_SYSTEM or block.products:
        return 3 * 8.0 * unknowns**2
    named = len(np.unique(block.linear.indices))
    linked = named + constraints + len(block.configurations)
    entries = 2.0 * (len(block.linear.indices) + named) + linked
    filled = min(0.5 * linked**2, FILL * entries * log2(max(2, linked)))
    return BYTES_PER_FACTOR * (filled + ENTRIES_ALONE * (block.size - named))


def explaining(blocks: Sequence[Block], parameters: int) -> Cost:
    """Every block is solved again without each of its statements, and for observations that are left out."""
    variants = sum(len(block.statements) for block in blocks)
    once = estimating(blocks)
    times = COPIES_EXPLAINED + variants / max(1, len(blocks))
    drawn = 8.0 * FOLDS * parameters + _drawn_bytes(blocks)
    return Cost(times * once.bytes + drawn, (times + FOLDS) * once.seconds)


def checking(blocks: Sequence[Block]) -> Cost:
    """Linear programs for each shape of blocks, and draws of what is plausible."""
    once = estimating(blocks)
    return Cost(once.bytes + _drawn_bytes(blocks), 2.0 * once.seconds)


def _drawn_bytes(blocks: Sequence[Block]) -> float:
    """Draws of one block at a time: its parameters, and whether each constraint holds."""
    largest = max((block.size + len(block.linear) for block in blocks), default=0)
    return min(float(DRAWN_BYTES), 8.0 * DRAWS * largest)


def reporting_page(shapes: Sequence[tuple[int, int]]) -> Cost:
    """A page with the numbers of variables with these (configurations, states): text, and once more while written."""
    numbers = sum(min(configurations, CONFIGURATIONS_ON_PAGE) * states for configurations, states in shapes)
    return Cost(2.0 * PAGE_BYTES_PER_NUMBER * numbers, 2e-5 * numbers)


def check_memory(cost: Cost, memory_limit: int | None, task: str, remedy: str) -> None:
    """Refuse a stage that needs more memory than is allowed, before anything is allocated."""
    limit = memory_limit_or_default(memory_limit)
    if cost.bytes > limit:
        raise TooLargeError(
            f"{task} needs about {readable_bytes(cost.bytes)}, and {readable_bytes(limit)} are allowed. {remedy}",
            int(cost.bytes),
        )


def announce(cost: Cost, phase: str, notify: ProgressListener) -> None:
    """Tell how long a stage will take, where that is more than a few seconds."""
    if cost.seconds >= LONG:
        notify(ProgressEvent(phase, detail=f"about {readable_seconds(cost.seconds)}"))


def readable_seconds(seconds: float) -> str:
    """A duration for people, in one unit."""
    for unit, size in (("hour", 3600.0), ("minute", 60.0), ("second", 1.0)):
        count = round(seconds / size)
        if seconds >= 1.5 * size or unit == "second":
            return counted(count, unit)
    raise AssertionError("unreachable")
