"""BIF, the interchange format of Bayesian networks: every name, every order, and every bit of every number.

Reading goes in two steps. The blocks of a text are scanned first, with names and numbers as text, so that blocks may
come in any order. Then names are resolved and numbers converted: all numbers of a CPT at once where they are plain,
otherwise entry by entry, which finds the line of a mistake. Cut points are properties of a variable
(`cut_properties.py`). Other properties and comments have no place in a `Network` and are skipped.

The specification puts names with blanks or signs in quotes; most programs write them as they are. So a name without
quotes is whatever stands between two separators, and the declared number of states decides how a list is divided
(`_split_states`). The states of a configuration are then looked up, not parsed.
"""

from __future__ import annotations

import gzip
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from math import comb, isnan, nan, prod
from typing import NamedTuple, NoReturn

import numpy as np

from credo.errors import NetworkError, counted, readable_count, suggestion
from credo.io.assembly import assemble, check_implied, mistake_in_family, structure_of
from credo.io.cut_properties import cut_properties, property_of, variable_with
from credo.io.files import read_text, replacing
from credo.io.printed_numbers import NUMBER
from credo.io.scanner import QUOTED, Scanner, quoted, unquoted, words
from credo.model.network import Network, Variable
from credo.types import Numbers, PathLike

# Large CPTs are mostly entries of plain numbers: one expression matches such an entry. Whatever it does not match is
# read word by word, which finds the line of the mistake.
_NUMBERS = re.compile(r"((?:[-+.,\s0-9eE]++|[nN][aA][nN]?)*+);")
_ENTRY = re.compile(rf'\s*+\(((?:[^()"]++|{QUOTED})*+)\){_NUMBERS.pattern}')
_BARE_ENTRY = re.compile(rf"\s*+\(([^\r\n]*?)\){_NUMBERS.pattern}")  # states that have brackets
_EMPTY_PLACE = re.compile(r",\s*(?:,|$)|^\s*,")
_NOT_GIVEN = re.compile(r"-?[nN][aA][nN]?")
_NAME_BEFORE_BRACE = re.compile(r'\s*+([^\s{}";][^{}";\r\n]*?)\s*(?=\{)')
_HEAD = re.compile(rf'\s*+\(((?:{QUOTED}|[^"{{}};])*?)\)\s*(?=\{{)')
_BLANK = re.compile(r"\s")
_STATE_LIST = re.compile(r"\{([^{};]*+)\}\s*+;")
_MOST_DIVISIONS = 10_000  # of a list of states that hold commas


def read_bif(path: PathLike) -> Network:
    """The network in a BIF file; a file whose name ends in `.gz` is decompressed."""
    return parse_bif(read_text(path), str(path))


def write_bif(network: Network, path: PathLike) -> None:
    """Write the network to a file, compressed if the name ends in `.gz`; a failed write leaves the old file."""
    content = format_bif(network).encode("utf-8")
    if str(path).lower().endswith(".gz"):
        content = gzip.compress(content, mtime=0)  # the same network gives the same bytes
    with replacing(path) as draft:
        draft.write_bytes(content)


def parse_bif(text: str, path: str | None = None) -> Network:
    """The network that a BIF text describes; `path` is for messages only."""
    scanner = Scanner(text, path)
    names: list[str] = []
    variables: dict[str, Variable] = {}
    found: list[_Block] = []
    while scanner.next_symbol():
        start = scanner.position
        match scanner.word("`network`, `variable` or `probability`"):
            case "network":
                if names:
                    scanner.fail("A second `network` block: a file holds one network.", start)
                names.append(_network_block(scanner))
            case "variable":
                variable = _variable_block(scanner, start)
                if variable.name in variables:
                    scanner.fail(f"Variable {variable.name} is declared twice.", start)
                variables[variable.name] = variable
            case "probability":
                found.append(_probability_block(scanner, start))
            case other:
                scanner.fail(f"Expected `network`, `variable` or `probability`, not `{other[:40]}`.", start)
    if not variables:
        scanner.fail("The file declares no variable: is it BIF?")
    blocks: dict[str, _Block] = {}
    for block in (_with_family(block, variables) for block in found):
        if block.child in blocks:
            scanner.fail(f"A second `probability` block for {block.child}.", block.position)
        if mistake := mistake_in_family(block.child, block.parents, variables, "block", "variable"):
            scanner.fail(mistake, block.position)
        blocks[block.child] = block
    return _network(scanner, names[0] if names else "network", variables, blocks)


def _network(scanner: Scanner, name: str, variables: dict[str, Variable], blocks: dict[str, _Block]) -> Network:
    parents = {child: block.parents for child, block in blocks.items()}
    structure = structure_of(tuple(variables.values()), parents, name, scanner.path)

    def fail(child: str, message: str) -> NoReturn:
        scanner.fail(message, blocks[child].position)

    check_implied(structure, {child: "a default" for child, block in blocks.items() if block.default}, fail)
    found = {child: _cpt(scanner, structure, block) for child, block in blocks.items()}
    cpts = {child: cpt for child, cpt in found.items() if cpt is not None}
    return assemble(structure, cpts, scanner.path, fail)


# Blocks as text -------------------------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """The numbers of one configuration, of a `table` or of a `default`, as text."""

    labels: str  # the states of the parents, in brackets
    numbers: str
    position: int  # in the file


class _Block(NamedTuple):
    """A `probability` block: the child, its parents, and the entries of its CPT."""

    head: str  # child and parents as text
    position: int
    entries: tuple[_Entry, ...]
    table: _Entry | None
    default: _Entry | None
    child: str = ""
    parents: tuple[str, ...] = ()


def _with_family(block: _Block, variables: Mapping[str, Variable]) -> _Block:
    """The block with its child and parents, whose names may hold blanks and brackets."""
    before, bar, after = block.head.partition("|")
    if '"' not in block.head:
        child = before.strip()
        parents = [name.strip() for name in after.split(",")] if bar and after.strip() else []
        if child in variables and all(name in variables for name in parents):
            return block._replace(child=child, parents=tuple(parents))
    names = words(block.head)  # the specification lets `|` and `,` be left out: the first name is the child
    return block._replace(child=names[0], parents=tuple(names[1:]))


def _network_block(scanner: Scanner) -> str:
    """The name of the network."""
    name = "network" if scanner.next_symbol() == "{" else _name(scanner, "the name of the network")
    scanner.expect("{", "after the name of the network")
    while not scanner.take("}"):
        start = scanner.skip_blanks()
        if scanner.word("`property` or `}`") != "property":
            scanner.fail("A `network` block holds properties only.", start)
        scanner.skip_property()
    return name


def _variable_block(scanner: Scanner, start: int) -> Variable:
    """A variable with its states; `start` is where the block starts."""
    name = _name(scanner, "the name of a variable")
    scanner.expect("{", f"after the name {name}")
    states: list[str] | None = None
    properties: list[tuple[str, str]] = []
    while not scanner.take("}"):
        position = scanner.skip_blanks()
        match scanner.word(f"`type`, `property` or `}}` in variable {name}"):
            case "property":
                properties += filter(None, [property_of(scanner.skip_property())])
            case "type":
                if states is not None:
                    scanner.fail(f"Variable {name} has a second type.", position)
                states = _state_list(scanner, name)
            case other:
                scanner.fail(f"Expected `type` or `property` in variable {name}, not `{other[:40]}`.", position)
    if states is None:
        scanner.fail(f"Variable {name} has no type: which states does it have?", start)
    try:
        return variable_with(name, states, properties)
    except NetworkError as error:
        scanner.fail(str(error), start)


def _name(scanner: Scanner, what: str) -> str:
    """A name before a brace, with or without quotes."""
    if match := _NAME_BEFORE_BRACE.match(scanner.text, scanner.position):
        scanner.position = match.end()
        return match[1]
    return scanner.word(what)


def _state_list(scanner: Scanner, name: str) -> list[str]:
    start = scanner.skip_blanks()
    kind = scanner.word(f"the type of {name}")
    if kind != "discrete":
        scanner.fail(f"Variable {name} is of type `{kind[:40]}`; only discrete variables can be read.", start)
    scanner.expect("[", f"after the type of {name}")
    start = scanner.skip_blanks()
    count = scanner.word(f"the number of states of {name}")
    if not re.fullmatch(r"[0-9]{1,9}", count):
        scanner.fail(f"The number of states of {name} is not a whole number: `{count[:40]}`.", start)
    scanner.expect("]", f"after the number of states of {name}")
    scanner.skip_blanks()
    match = _STATE_LIST.match(scanner.text, scanner.position)
    if match is not None:
        has_quotes = '"' in match[1]
        found = _partly_quoted_states(match[1]) if has_quotes else _split_states(match[1], int(count))
        if found and len(found) == int(count):
            scanner.position = match.end()
            return found
    scanner.expect("{", f"before the states of {name}")
    states = scanner.words_until("}", f"a state of {name}")
    if len(states) != int(count):
        scanner.fail(
            f"Variable {name} declares {counted(int(count), 'state')} and lists {len(states)}. "
            "A name with commas needs quotes.",
            start,
        )
    scanner.expect(";", f"after the states of {name}")
    return states


def _partly_quoted_states(text: str) -> list[str] | None:
    """The states of a list in which some are quoted, and others hold blanks; None where commas are not between them."""
    pieces = [piece.strip() for piece in re.findall(rf"(?:{QUOTED}|[^,\"])++", text)]
    if any('"' in piece and not re.fullmatch(QUOTED, piece) for piece in pieces) or not all(pieces):
        return None
    return [unquoted(piece) for piece in pieces]


def _split_states(text: str, count: int) -> list[str] | None:
    """The states of a list without quotes; None if it does not have this number of them.

    A program that writes `{ a, b }` and does not quote names leaves blanks around a name as they are. Where there are
    more commas than separators, they are inside of brackets, as in `(0,500], (500,3000]`, inside of numbers, as in
    `> 1,000`, or before several words that begin in lower case, as in `No, Yes, Yes, but late`.
    """
    pieces = text.split(",")
    if not 0 < count <= len(pieces):
        return None
    if len(pieces) == count:
        stripped = [piece.strip() for piece in pieces]
        if "" not in stripped and not any(map(_BLANK.search, stripped)):
            return stripped
        inner = text[1:-1] if text[:1] == text[-1:] == " " and len(text) > 1 else text
        exact = inner.split(", ")
        states = stripped if len(exact) != count else exact
        return states if all(state.strip() for state in states) else None
    inside = _inside_brackets(pieces)
    inside_numbers = [each or _is_thousands(pieces, place) for place, each in enumerate(inside)]
    divisions = [each for each in (_joined(pieces, inside), _joined(pieces, inside_numbers)) if len(each) == count]
    divisions = divisions[:1] or _divisions(pieces, count)
    divisions = [division for division in divisions if len(set(division)) == count and all(division)]
    return divisions[0] if len(divisions) == 1 else None


def _joined(pieces: Sequence[str], is_continued: Sequence[bool]) -> list[str]:
    """The pieces, those that continue the one before joined to it."""
    states: list[str] = []
    for piece, continues in zip(pieces, is_continued, strict=True):
        if continues and states:
            states[-1] += "," + piece
        else:
            states.append(piece)
    return [state.strip() for state in states]


def _inside_brackets(pieces: Sequence[str]) -> list[bool]:
    """Whether a bracket is open before each piece; `(0,500]` is closed."""
    result: list[bool] = []
    depth = 0
    for piece in pieces:
        result.append(depth > 0)
        depth = max(depth + len(re.findall(r"[(\[]", piece)) - len(re.findall(r"[)\]]", piece)), 0)
    return result


def _is_thousands(pieces: Sequence[str], place: int) -> bool:
    """Whether the comma before a piece is inside of a number such as 1,000."""
    is_after_digit = place > 0 and re.search(r"(?<![\d.])\d{1,3}$", pieces[place - 1]) is not None
    return is_after_digit and re.match(r"\d{3}(?!\d)", pieces[place]) is not None


def _divisions(pieces: Sequence[str], count: int) -> list[list[str]]:
    """The divisions into so many states in which nothing that looks like a state of its own is joined to another."""
    if comb(len(pieces) - 1, count - 1) > _MOST_DIVISIONS:
        return []
    best: list[list[str]] = []
    for starts in itertools.combinations(range(1, len(pieces)), count - 1):
        is_continued = [place > 0 and place not in starts for place in range(len(pieces))]
        joined = [piece.strip() for piece, continues in zip(pieces, is_continued, strict=True) if continues]
        is_phrase = all(piece[:1].islower() and " " in piece for piece in joined)
        states = _joined(pieces, is_continued)
        if is_phrase and len(set(states)) == count:
            best.append(states)
    return best


def _probability_block(scanner: Scanner, start: int) -> _Block:
    """A `probability` block as text; `start` is where it starts."""
    head, child = _head(scanner)
    scanner.expect("{", f"after the head of the block of {child}")
    entries: list[_Entry] = []
    single: dict[str, _Entry] = {}
    while True:
        while entry := _ENTRY.match(scanner.text, scanner.position) or _bare_entry(scanner):
            entries.append(_Entry(entry[1], entry[2], entry.start(1)))
            scanner.position = entry.end()
        if scanner.take("}"):
            break
        position = scanner.skip_blanks()
        if scanner.next_symbol() == "(":
            _explain_entry(scanner, child)
        match scanner.word(f"a configuration, `table`, `default` or `}}` in the block of {child}"):
            case "property":
                scanner.skip_property()
            case ("table" | "default") as kind:
                if kind in single:
                    scanner.fail(f"A second `{kind}` in the block of {child}.", position)
                single[kind] = _plain_numbers(scanner, child)
            case other:
                expected = "a configuration in brackets, `table` or `default`"
                scanner.fail(f"Expected {expected} in the block of {child}, not `{other[:40]}`.", position)
    if "table" in single and (entries or "default" in single):
        scanner.fail(f"The block of {child} has a `table` and other entries as well. Remove one of them.", start)
    return _Block(head, start, tuple(entries), single.get("table"), single.get("default"))


def _head(scanner: Scanner) -> tuple[str, str]:
    """What stands in the brackets of a head, and its first word."""
    if (match := _HEAD.match(scanner.text, scanner.position)) and (found := words(match[1])):
        scanner.position = match.end()
        return match[1], found[0]
    scanner.expect("(", "after `probability`")
    start = scanner.position
    child = scanner.word("the name of a variable")
    if not scanner.take("|"):
        scanner.take(",")
    scanner.words_until(")", f"a parent of {child}")
    return scanner.text[start : scanner.position - 1], child


def _bare_entry(scanner: Scanner) -> re.Match[str] | None:
    """An entry whose states hold brackets and have no quotes."""
    if scanner.next_symbol() != "(":
        return None
    match = _BARE_ENTRY.match(scanner.text, scanner.position)
    return match if match and '"' not in match[1] and re.search(r"[()]", match[1]) else None


def _plain_numbers(scanner: Scanner, child: str) -> _Entry:
    start = scanner.position
    match = _NUMBERS.match(scanner.text, start)
    if match is None:
        _explain_numbers(scanner, child)
    scanner.position = match.end()
    return _Entry("", match[1], start)


def _explain_entry(scanner: Scanner, child: str) -> NoReturn:
    """Raise the error for an entry that does not follow the format."""
    scanner.expect("(", "")
    scanner.words_until(")", f"the state of a parent of {child}")
    _explain_numbers(scanner, child)


def _explain_numbers(scanner: Scanner, child: str) -> NoReturn:
    """Raise the error for numbers that do not follow the format."""
    while not scanner.take(";"):
        start = scanner.skip_blanks()
        scanner.word(f"a number or `;` in the block of {child}")
        word = scanner.text[start : scanner.position]  # with its quotes: a number has none
        if not NUMBER.fullmatch(word):
            scanner.fail(f"Expected a number in the block of {child}, not `{word[:40]}`.", start)
        scanner.take(",")
    raise AssertionError("unreachable: these numbers follow the format")


# Blocks as CPTs -------------------------------------------------------------------------------------------------------


def _cpt(scanner: Scanner, structure: Network, block: _Block) -> Numbers | None:
    """The CPT of a block with axes (parents…, child); None if the block holds no numbers."""
    if block.table is not None:
        return _cpt_of_table(scanner, structure.shape(block.child), block, block.table)
    if not block.entries and block.default is None:
        return None
    shape = structure.shape(block.child)
    configurations, states = prod(shape[:-1]), shape[-1]
    numbers = _configuration_numbers(scanner, structure, block)
    _check_configurations(scanner, structure, block, numbers, configurations)
    cpt = np.empty(shape, dtype=np.float64)
    distributions = cpt.reshape(configurations, states)
    if block.default is not None:
        distributions[:] = _values(scanner, block.child, [block.default], states)
    if numbers:
        distributions[numbers] = _values(scanner, block.child, block.entries, states)
    return cpt


def _cpt_of_table(scanner: Scanner, shape: tuple[int, ...], block: _Block, entry: _Entry) -> Numbers:
    """A `table` entry: axes (child, parents…), the last one varying fastest, as the specification and JavaBayes do."""
    values = _values(scanner, block.child, [entry], prod(shape))
    return np.array(np.moveaxis(values.reshape(shape[-1], *shape[:-1]), 0, -1), order="C")


def _values(scanner: Scanner, child: str, entries: Sequence[_Entry], count: int) -> Numbers:
    """The numbers of entries that each need `count` of them, as an array (entries, count)."""
    if all(entry.numbers.count(",") == count - 1 for entry in entries):
        try:
            flat = list(map(float, ",".join([entry.numbers for entry in entries]).split(",")))
            values = np.array(flat).reshape(len(entries), count)
            if not isnan(values.sum()):  # the common case: no number that is not given
                return values
            is_nan = np.isnan(values)
            if (is_nan.any(axis=1) == is_nan.all(axis=1)).all():
                return values
        except ValueError:
            pass  # numbers with blanks between them, or a mistake
    return np.array([_entry_values(scanner, child, entry, count) for entry in entries])


def _entry_values(scanner: Scanner, child: str, entry: _Entry, count: int) -> list[float]:
    start = scanner.text.index(entry.numbers, entry.position)
    if empty := _EMPTY_PLACE.search(entry.numbers):
        scanner.fail(f"A number is missing in the block of {child}.", start + empty.start())
    found = list(re.finditer(r"[^\s,]+", entry.numbers))
    is_given = not all(_NOT_GIVEN.fullmatch(match.group()) for match in found)
    numbers: list[float] = []
    for match in found:
        if is_given and not NUMBER.fullmatch(match.group()):
            message = f"Expected a number in the block of {child}, not `{match.group()[:40]}`."
            scanner.fail(message, start + match.start())
        numbers.append(float(match.group()) if is_given else nan)
    if len(numbers) != count:
        place = f"Configuration ({entry.labels.strip()})" if entry.labels.strip() else "The entry"
        scanner.fail(
            f"{place} of {child} has {counted(len(numbers), 'number')}; it needs {readable_count(count)}.",
            entry.position,
        )
    return numbers


def _configuration_numbers(scanner: Scanner, structure: Network, block: _Block) -> list[int]:
    """The number of each entry's configuration, with the last parent varying fastest."""
    lookups: list[dict[str, int]] = []
    stride = 1
    for parent in reversed(block.parents):
        states = structure.states(parent)
        lookups.insert(0, {state: stride * place for place, state in enumerate(states)})
        stride *= len(states)
    numbers: list[int] = []
    for entry in block.entries:
        labels = entry.labels.split(",")
        number = 0
        try:
            if len(labels) != len(lookups) or '"' in entry.labels:
                raise KeyError
            for lookup, label in zip(lookups, labels, strict=True):
                number += lookup[label.strip()]
        except KeyError:
            bare = None if '"' in entry.labels else _bare_labels(entry.labels, lookups)
            if bare is None:
                number = _configuration_number(scanner, block, entry, lookups)
            else:
                number = sum(lookup[label] for lookup, label in zip(lookups, bare, strict=True))
        numbers.append(number)
    return numbers


def _bare_labels(text: str, lookups: Sequence[Mapping[str, int]]) -> list[str] | None:
    """The states of a configuration whose names hold commas or have blanks around them; None if there are none."""
    exact = text.split(", ")
    if len(exact) == len(lookups) and all(label in lookup for label, lookup in zip(exact, lookups, strict=True)):
        return exact
    alternatives = ["|".join(map(re.escape, sorted(lookup, key=len, reverse=True))) for lookup in lookups]
    match = re.fullmatch(r"\s*,\s*".join(f"({states})" for states in alternatives), text.strip())
    return list(match.groups()) if match else None


def _configuration_number(scanner: Scanner, block: _Block, entry: _Entry, lookups: Sequence[Mapping[str, int]]) -> int:
    """The same for an entry whose labels are in quotes, have no commas between them, or are wrong."""
    labels = words(entry.labels)
    if len(labels) != len(lookups):
        parents = ", ".join(block.parents) or "none"
        scanner.fail(
            f"Configuration ({entry.labels.strip()}) of {block.child} has {counted(len(labels), 'state')}; the parents "
            f"are: {parents}.",
            entry.position,
        )
    for parent, lookup, label in zip(block.parents, lookups, labels, strict=True):
        if label not in lookup:
            message = f'A configuration of {block.child} has "{label}", which is not a state of {parent}.'
            scanner.fail(message + suggestion(label, tuple(lookup)), entry.position)
    return sum(lookup[label] for lookup, label in zip(lookups, labels, strict=True))


def _check_configurations(
    scanner: Scanner, structure: Network, block: _Block, numbers: Sequence[int], configurations: int
) -> None:
    """Raise if a configuration is given twice, or missing without a default."""
    seen: set[int] = set()
    for number, entry in zip(numbers, block.entries, strict=True):
        if number in seen:
            scanner.fail(f"{structure.describe(block.child, number)} is given twice.", entry.position)
        seen.add(number)
    if block.default is None and len(seen) < configurations:
        first = next(number for number in range(configurations) if number not in seen)
        left = configurations - len(seen) - 1
        more = f", and {readable_count(left)} more configurations" if left else ""
        scanner.fail(f"{structure.describe(block.child, first)} is missing{more}.", block.position)


# Writing --------------------------------------------------------------------------------------------------------------


def format_bif(network: Network) -> str:
    """The network as BIF text. A variable without a CPT gets a block without entries."""
    return "".join(_lines(network))


def _lines(network: Network) -> Iterator[str]:
    yield f"network {quoted(network.name)} {{\n}}\n"
    labels = {variable.name: [quoted(state) for state in variable.states] for variable in network.variables}
    for variable in network.variables:
        name, states = variable.name, labels[variable.name]
        yield f"variable {quoted(name)} {{\n  type discrete [ {len(states)} ] {{ {', '.join(states)} }};\n"
        for key, value in cut_properties(variable).items():
            yield f"  property {key} = {value};\n"
        yield "}\n"
    for name in network.names:
        yield from _probability_lines(network, name, labels)


def _probability_lines(network: Network, name: str, labels: dict[str, list[str]]) -> Iterator[str]:
    parents = network.parents[name]
    given = f" | {', '.join(map(quoted, parents))}" if parents else ""
    yield f"probability ( {quoted(name)}{given} ) {{\n"
    if name in network.cpts:
        distributions = network.cpts[name].reshape(-1, len(labels[name])).tolist()
        heads = _configurations([labels[parent] for parent in parents]) if parents else iter(["table"])
        for head, distribution in zip(heads, distributions, strict=True):
            # `repr` gives the shortest text that reads back as the same float.
            yield f"  {head} {', '.join(map(repr, distribution))};\n"
    yield "}\n"


def _configurations(labels: list[list[str]]) -> Iterator[str]:
    """`(a, b)` for each configuration, the last parent varying fastest."""
    for configuration in itertools.product(*labels):
        yield f"({', '.join(configuration)})"
