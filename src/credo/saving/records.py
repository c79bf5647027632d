"""Values as plain JSON and arrays, and back: dataclasses field by field, as their annotations say.

A new field of a dataclass is written and read without anybody remembering it; one of a kind that is not known here is
an error when a file is written, never left out. A file holds no names of classes but those that an annotation allows
to choose from, so that reading it makes nothing else.
"""

from __future__ import annotations

import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cache
from math import isfinite, prod
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from credo.errors import FormatError
from credo.estimation.method import Method
from credo.estimation.methods import METHODS
from credo.model.gates import GateForm
from credo.model.layout import Layout
from credo.model.network import Network, Variable
from credo.model.noisy import NoisyForm
from credo.saving.archive import Archive
from credo.types import Numbers

# What is written of a network: its fields, as a test compares.
NETWORK_PARTS: dict[str, Any] = {
    "name": str,
    "variables": tuple[Variable, ...],
    "parents": Mapping[str, tuple[str, ...]],
    "cpts": Mapping[str, Numbers],
    "forms": Mapping[str, NoisyForm],
}
# Beside them, where the network has some.
OPTIONAL_PARTS: dict[str, Any] = {"gates": Mapping[str, GateForm], "shared": Mapping[str, str]}
NOT_FINITE = ("nan", "inf", "-inf")


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """The annotation of each field of a dataclass."""
    hints = get_type_hints(kind, localns={"Method": Method})
    return {each.name: hints[each.name] for each in fields(kind)}


# Writing --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Writer:
    """Makes plain values; the arrays among them are collected by the place where they stand."""

    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)

    def record(self, value: Any, place: str, without: Collection[str] = (), kind: type | None = None) -> dict[str, Any]:
        """A dataclass as its fields, except for some."""
        hints = hints_of(kind or type(value))
        return {
            name: self.value(getattr(value, name), hint, _under(place, name))
            for name, hint in hints.items()
            if name not in without
        }

    def value(self, value: Any, hint: Any, place: str) -> Any:
        """A value of an annotated type."""
        if hint is Network:
            return self._network(value, place)
        if hint is Layout:
            return list(value.left_out)
        if hint is Method:
            return value.name
        if members := _union(hint):
            return self._one_of(value, members, place)
        if dtype := _dtype(hint):
            array = np.asarray(value)
            if array.dtype != dtype:
                raise TypeError(f"{place} holds {array.dtype}, not {dtype}")
            self.arrays[place] = array
            return {"array": place}
        origin, inside = get_origin(hint), get_args(hint)
        if origin is tuple:
            return self._tuple(tuple(value), inside, place)
        if origin is Sequence:
            return self._tuple(tuple(value), (*inside, ...), place)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(value, inside, place)
        if is_dataclass(hint):
            return self.record(value, place, kind=hint)  # type: ignore[arg-type]
        return _scalar_to_plain(value, hint, place)

    def _network(self, network: Network, place: str) -> dict[str, Any]:
        own = {name: cpt for name, cpt in network.cpts.items() if name not in network.forms}  # full CPTs are computed
        gates = {name: form for name, form in network.forms.items() if isinstance(form, GateForm)}
        noisy = {name: form for name, form in network.forms.items() if name not in gates}
        given = {part: getattr(network, part) for part in NETWORK_PARTS} | {"cpts": own, "forms": noisy}
        optional = {"gates": gates, "shared": dict(network.shared)}
        parts = NETWORK_PARTS | {part: hint for part, hint in OPTIONAL_PARTS.items() if optional[part]}
        return {part: self.value((given | optional)[part], hint, _under(place, part)) for part, hint in parts.items()}

    def _one_of(self, value: Any, members: Sequence[Any], place: str) -> Any:
        if value is None:
            return None
        hint: Any = next(member for member in members if _fits(value, member))
        plain = self.value(value, hint, place)
        records = _records(members)
        return {"kind": hint.__name__, **plain} if len(records) > 1 and hint in records else plain

    def _tuple(self, value: tuple[Any, ...], inside: Sequence[Any], place: str) -> Any:
        if len(inside) == 2 and inside[1] is Ellipsis:
            if dtype := _dtype(inside[0]):
                return self._joined(value, dtype, place, [list(array.shape) for array in value])
            return [self.value(each, inside[0], _under(place, str(number))) for number, each in enumerate(value)]
        pairs = zip(value, inside, strict=True)
        return [self.value(each, hint, _under(place, str(number))) for number, (each, hint) in enumerate(pairs)]

    def _mapping(self, value: Mapping[Any, Any], inside: Sequence[Any], place: str) -> Any:
        key, own = inside
        if dtype := _dtype(own):
            shapes = [[name, list(array.shape)] for name, array in value.items()]
            return self._joined(list(value.values()), dtype, place, shapes)
        items = enumerate(value.items())
        return [
            [_scalar_to_plain(name, key, place), self.value(each, own, _under(place, str(number)))]
            for number, (name, each) in items
        ]

    def _joined(self, arrays: Sequence[Any], dtype: np.dtype[Any], place: str, shapes: Any) -> dict[str, Any]:
        """Several arrays as one, and their shapes: thousands of small parts would make an archive slow."""
        if any(array.dtype != dtype for array in arrays):
            raise TypeError(f"{place} holds numbers of another kind than {dtype}")
        self.arrays[place] = np.concatenate([np.zeros(0, dtype), *(np.ravel(array) for array in arrays)])
        return {"array": place, "shapes": shapes}


# Reading --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reader:
    """Makes values of the annotated types; `network` is what layouts lay out."""

    archive: Archive
    network: Network | None = None

    def record(self, kind: type, plain: Any, place: str, **known: Any) -> Any:
        """A dataclass of its fields, and of those that are known without the file."""
        self._require(isinstance(plain, dict), place, "it is not a record")
        hints, given = hints_of(kind), dict(known)
        for each in fields(kind):
            if each.name in known:
                continue
            if each.name in plain:
                given[each.name] = self.value(hints[each.name], plain[each.name], _under(place, each.name))
            else:
                optional = each.default is not MISSING or each.default_factory is not MISSING
                self._require(optional, place, f"{each.name} is missing")
        unknown = set(plain) - set(hints) | set(plain) & set(known)
        self._require(not unknown, place, f"{', '.join(sorted(unknown))} is unknown")
        return kind(**given)

    def value(self, hint: Any, plain: Any, place: str) -> Any:
        """A value of an annotated type."""
        if hint is Network:
            is_network = isinstance(plain, dict) and set(plain) - set(OPTIONAL_PARTS) == set(NETWORK_PARTS)
            self._require(is_network, place, "it is not a network")
            hints = (NETWORK_PARTS | OPTIONAL_PARTS).items()
            parts = {part: self.value(own, plain[part], _under(place, part)) for part, own in hints if part in plain}
            parts["forms"] |= parts.pop("gates", {})
            return Network(**parts)
        if hint is Layout:
            return self._layout(plain, place)
        if hint is Method:
            self._require(isinstance(plain, str) and plain in METHODS, place, "it is not a method")
            return METHODS[plain]
        if members := _union(hint):
            return self._one_of(members, plain, place)
        if dtype := _dtype(hint):
            self._require(plain == {"array": place}, place, "it is not an array")
            return self.archive.array(place, dtype)
        origin, inside = get_origin(hint), get_args(hint)
        if origin is tuple:
            return self._tuple(inside, plain, place)
        if origin is Sequence:
            return self._tuple((*inside, ...), plain, place)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapping(inside, plain, place)
        if is_dataclass(hint):
            return self.record(hint, plain, place)  # type: ignore[arg-type]
        return self._scalar(hint, plain, place)

    def _layout(self, plain: Any, place: str) -> Layout:
        assert self.network is not None
        without = self._tuple((str, ...), plain, place)
        self._require(set(without) <= set(self.network.names), place, "it names unknown variables")
        return Layout.of(self.network, without=set(without))

    def _one_of(self, members: Sequence[Any], plain: Any, place: str) -> Any:
        if plain is None:
            self._require(type(None) in members, place, "it is missing")
            return None
        records = _records(members)
        if isinstance(plain, dict) and "kind" in plain and len(records) > 1:
            rest = {name: value for name, value in plain.items() if name != "kind"}
            kinds = {record.__name__: record for record in records}
            self._require(plain["kind"] in kinds, place, "it is of an unknown kind")
            return self.record(kinds[plain["kind"]], rest, place)
        others = [
            member for member in members if member is not type(None) and (len(records) < 2 or member not in records)
        ]
        self._require(bool(others), place, "its kind is missing")
        return self.value(others[0], plain, place)

    def _tuple(self, inside: Sequence[Any], plain: Any, place: str) -> tuple[Any, ...]:
        several = len(inside) == 2 and inside[1] is Ellipsis
        if several and (dtype := _dtype(inside[0])):
            self._require(
                isinstance(plain, dict) and set(plain) == {"array", "shapes"}, place, "it is not a list of arrays"
            )
            return tuple(self._separate(plain["array"], plain["shapes"], dtype, place))
        self._require(isinstance(plain, list), place, "it is not a list")
        hints = [inside[0]] * len(plain) if several else list(inside)
        self._require(len(hints) == len(plain), place, f"it has {len(plain)} members")
        return tuple(
            self.value(own, each, _under(place, str(number)))
            for number, (own, each) in enumerate(zip(hints, plain, strict=True))
        )

    def _mapping(self, inside: Sequence[Any], plain: Any, place: str) -> dict[Any, Any]:
        key, own = inside
        if dtype := _dtype(own):
            self._require(_is_joined(plain), place, "it holds no arrays")
            pairs = self._pairs(plain["shapes"], place)
            arrays = self._separate(plain["array"], [shape for _, shape in pairs], dtype, place)
            found = {self._scalar(key, name, place): array for (name, _), array in zip(pairs, arrays, strict=True)}
        else:
            pairs = self._pairs(plain, place)
            found = {
                self._scalar(key, name, place): self.value(own, each, _under(place, str(number)))
                for number, (name, each) in enumerate(pairs)
            }
        self._require(len(found) == len(pairs), place, "a name is there twice")
        return found

    def _pairs(self, plain: Any, place: str) -> list[Any]:
        valid = isinstance(plain, list) and all(isinstance(each, list) and len(each) == 2 for each in plain)
        self._require(valid, place, "it is not a list of pairs")
        return plain  # type: ignore[no-any-return]

    def _separate(self, name: Any, shapes: Any, dtype: np.dtype[Any], place: str) -> list[NDArray[Any]]:
        valid = isinstance(shapes, list) and all(
            isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape) for shape in shapes
        )
        self._require(name == place and valid, place, "its shapes are not shapes")
        flat, sizes = self.archive.array(place, dtype), [prod(shape) for shape in shapes]
        self._require(flat.shape == (sum(sizes),), place, f"its shapes are those of {sum(sizes)} numbers")
        ends = np.cumsum([0, *sizes]).tolist()
        return [flat[ends[k] : ends[k + 1]].reshape(shape) for k, shape in enumerate(shapes)]

    def _scalar(self, hint: Any, plain: Any, place: str) -> Any:
        if isinstance(hint, type) and issubclass(hint, Enum):
            named = {each.name: each for each in hint}
            self._require(isinstance(plain, str) and plain in named, place, "its value is unknown")
            return named[plain]
        if hint is float:
            if isinstance(plain, str) and plain in NOT_FINITE:
                return float(plain)
            self._require(type(plain) in (int, float) and abs(plain) < 2**1023, place, "it is not a number")
            return float(plain)
        self._require(type(plain) is hint, place, f"it is not of the type {getattr(hint, '__name__', hint)}")
        return plain

    def _require(self, condition: bool, place: str, problem: str) -> None:
        if not condition:
            raise damaged(self.archive, place, problem)


def damaged(archive: Archive, place: str, problem: str) -> FormatError:
    """The error for a part of a file that is not as it should be."""
    return FormatError(
        f"This file is damaged, or it was not written by credo. {place or 'The file'}: {problem}.", archive.path
    )


def _is_joined(plain: Any) -> bool:
    return isinstance(plain, dict) and set(plain) == {"array", "shapes"}


# Annotations ----------------------------------------------------------------------------------------------------------


def _union(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else ()


def _records(members: Sequence[Any]) -> list[Any]:
    return [member for member in members if is_dataclass(member)]


def _dtype(hint: Any) -> np.dtype[Any] | None:
    """The dtype of an annotated array; None for what is not an array."""
    if get_origin(hint) is not np.ndarray:
        return None
    found: np.dtype[Any] = np.dtype(get_args(get_args(hint)[1])[0])
    return found


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value is of this member of a union."""
    origin = get_origin(hint)
    if origin is not None:
        return isinstance(value, origin)
    if hint is float:
        return isinstance(value, float | int)
    return hint is not type(None) and (isinstance(value, hint) or (hint is str and isinstance(value, Path)))


def _scalar_to_plain(value: Any, hint: Any, place: str) -> Any:
    if isinstance(value, Enum) and isinstance(hint, type) and isinstance(value, hint):
        return value.name
    if isinstance(value, np.generic):
        value = value.item()
    if hint is float and isinstance(value, float | int) and not isinstance(value, bool):
        return float(value) if isfinite(value) else str(float(value))
    if hint is str and isinstance(value, Path):
        return str(value)
    if hint in (bool, int, str) and type(value) is hint:
        return value
    raise TypeError(f"{place} is a {type(value).__name__}, which a file cannot hold as {hint}")


def _under(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
