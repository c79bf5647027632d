"""One interface for work on parts of the data, and the executor of this machine.

The data are cut into parts, by what the data are alone. An executor makes each part once, where it will be worked on,
and then maps functions over the parts. What they give is merged by a tree whose shape depends on the number of parts
alone, so that the sums are the same to the last bit, whoever works and however many of them there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from credo.distributed.spilling import Spilled, SpillFolder, bytes_of, spill

Result = TypeVar("Result")
Merge = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts that an executor holds, in the order of the data; only the executor knows where they are."""

    handles: Sequence[Any]
    owner: object = None  # what must live as long as the parts do

    def __len__(self) -> int:
        return len(self.handles)


class Executor(Protocol):
    """Who works on parts of the data."""

    def prepare(
        self,
        make: Callable[..., tuple[Result, Any]],
        items: Iterable[Any],
        merge: Merge,
        *shared: Any,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Result, Parts]:
        """`make(item, number, *shared)` of every item gives what is merged, and a part that stays where it was made.

        Items are numbered from 0. `progress` is called with the number of parts that are made.
        """

    def map_reduce(self, function: Callable[..., Result], parts: Parts, merge: Merge, *shared: Any) -> Result:
        """`function(part, number, *shared)` of all parts, merged; parts are numbered from 0."""

    def one(self, function: Callable[..., Result], item: Any, *shared: Any) -> Result:
        """`function(item, *shared)` where items can be read."""

    def share(self, value: Any) -> Any:
        """A value for `shared` that is sent once, however often it is used."""


@dataclass(slots=True)
class Tree:
    """Merges numbered results by a binary tree whose shape depends on their numbers alone.

    Result i is node i of level 0. Node i of level l + 1 is the nodes 2i and 2i + 1 of level l, merged as soon as both
    are there. So results may arrive in any order, and in several trees that are joined: what comes out is the same to
    the last bit. A tree holds few nodes if the numbers of its results follow each other.
    """

    merge: Merge
    nodes: dict[tuple[int, int], Any] = field(default_factory=dict)  # by level and number, those not merged yet

    def add(self, number: int, value: Any, level: int = 0) -> None:
        """A result, or what a node of a higher level gave."""
        self.nodes[level, number] = value
        pair = (level, number - number % 2), (level, number - number % 2 + 1)
        if all(node in self.nodes for node in pair):
            self.add(number // 2, self._merged(pair), level + 1)

    def join(self, other: Tree) -> None:
        """Add the nodes of another tree, of results with other numbers."""
        for (level, number), value in other.nodes.items():
            self.add(number, value, level)

    def result(self) -> Any:
        """All results, whose numbers start at 0, merged; the last node of a level may have no sibling."""
        if not self.nodes:
            raise ValueError("There is nothing to merge.")
        while len(self.nodes) > 1:
            level, number = min(self.nodes)  # the only one of its level
            self.add(number // 2, self.nodes.pop((level, number)), level + 1)
        return self.nodes.popitem()[1]

    def _merged(self, pair: tuple[tuple[int, int], tuple[int, int]]) -> Any:
        left, right = (self.nodes.pop(node) for node in pair)
        return self.merge(left, right)


@dataclass(frozen=True, slots=True)
class LocalExecutor:
    """This machine: one part after the other, each on all cores. Parts beyond `memory` bytes are kept on disk."""

    memory: int

    def prepare(
        self,
        make: Callable[..., tuple[Result, Any]],
        items: Iterable[Any],
        merge: Merge,
        *shared: Any,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[Result, Parts]:
        """Make all parts, and keep those on disk that memory has no room for."""
        handles: list[Any] = []
        tree, used, folder = Tree(merge), 0, None
        for number, item in enumerate(items):
            found, part = make(local(item), number, *shared)
            tree.add(number, found)
            size = bytes_of(part)
            if used + size > self.memory:
                folder = folder or SpillFolder()
                part = spill(part, f"{folder.path}/{number}.npz")
            else:
                used += size
            handles.append(part)
            if progress is not None:
                progress(number + 1)
        return tree.result(), Parts(handles, folder)

    def map_reduce(self, function: Callable[..., Result], parts: Parts, merge: Merge, *shared: Any) -> Result:
        """One part after the other."""
        tree = Tree(merge)
        for number, handle in enumerate(parts.handles):
            part = handle.load() if isinstance(handle, Spilled) else handle
            tree.add(number, function(part, number, *shared))
        found: Result = tree.result()
        return found

    def one(self, function: Callable[..., Result], item: Any, *shared: Any) -> Result:
        """At once."""
        return function(local(item), *shared)

    def share(self, value: Any) -> Any:
        """The value itself."""
        return value


def local(item: Any) -> Any:
    """An item as this machine works on it: what Dask would compute is computed here."""
    return item.compute(scheduler="synchronous") if hasattr(item, "__dask_graph__") else item
