"""A structure as people have it: arrows without states, which a table supplies.

Edge lists (`from,to` in CSV), lines `a -> b`, model strings of bnlearn (`[a][b|a]`), DOT, dagitty, and graphs of
networkx. They are recognised by their content and become declarations of the knowledge language, so that everything
behind them is as if they had been written there.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, NoReturn

from credo.errors import FormatError, NetworkError

TABLES = (".csv", ".tsv")
ENDINGS = (".dot", ".gv", ".dagitty", ".txt", *TABLES)

_SOURCES, _TARGETS = ("from", "source", "parent", "tail", "cause"), ("to", "target", "child", "head", "effect")
_MODEL_STRING = re.compile(r"\s*(?:\[[^\[\]]+\]\s*)+")
_GRAPH = re.compile(
    r"\s*(?:(?:strict\s+)?(?P<dot>digraph|graph)\b[^{]*|(?P<dagitty>dag|pdag|mag|pag)\b[^{\n]*)\{", re.IGNORECASE
)
_ARROW = re.compile(r"<?-+>|<-+|[→←↔⇒⟶⟵⟷]|(?<=\s)(?:o->|<-o|o-o|--+)(?=\s)")
_FORWARD, _BACKWARD = re.compile(r"-+>|[→⇒⟶]"), re.compile(r"<-+|[←⟵]")
_TOKEN = re.compile(
    r'\s*(?:"((?:[^"\\]|\\.)*)"(?::\w+)*|(<->|->|<-|--|@->|o->|o-o|→|←|↔)|([{}\[\];,=])'
    r'|((?:(?!->|--|<-|→|←|↔)[^\s{}\[\];,="<])+)|<((?:[^<>]|<[^<>]*>)*)>)'
)
_EDGES_OF_TETRAD = re.compile(r"\s*Graph Nodes:\s*(?P<nodes>[^\n]*)\n\s*Graph Edges:\s*(?P<edges>.*)", re.DOTALL)
_LINE_COMMENT = re.compile(r'(?:^|\s)(?:#|//)[^"]*$')
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*', re.DOTALL | re.MULTILINE)


@dataclass(slots=True)
class Arrows:
    """Variables in the order in which they are named, and the parents of each."""

    path: str | None = None
    parents: dict[str, list[str]] = field(default_factory=dict)

    def add(self, name: str) -> None:
        """A variable."""
        self.parents.setdefault(name, [])

    def connect(self, sources: Iterable[str], arrow: str, targets: Iterable[str], line: int | None = None) -> None:
        """Arrows between each of some variables and each of others."""
        forward, backward = _FORWARD.fullmatch(arrow), _BACKWARD.fullmatch(arrow)
        for one in sources:
            for other in targets:
                if not forward and not backward:
                    message = f"{one} {arrow} {other} has no direction. Write {one} -> {other} or {other} -> {one}."
                    raise FormatError(message, self.path, line)
                parent, child = (one, other) if forward else (other, one)
                self.add(parent)
                self.add(child)
                if parent not in self.parents[child]:
                    self.parents[child].append(parent)

    def require_no_cycle(self) -> None:
        """Raise if one comes back to a variable by following arrows."""
        try:
            TopologicalSorter(self.parents).prepare()
        except CycleError as error:
            cycle = error.args[1]
            message = f"These arrows form a cycle: {' -> '.join(cycle)}. Reverse one of them, or delete it."
            raise FormatError(message, self.path) from None


def refuse_table(path: str, header: str) -> NoReturn:
    """Raise the error for a CSV file that is no list of arrows."""
    message = (
        f"This is no list of arrows, which begins with a line `from,to`: it begins with `{header.strip()[:60]}`. If it "
        f"is the table, make a first model of it: credo start {path}"
    )
    raise FormatError(message, path)


def arrows_of_text(text: str, path: str | None = None) -> Arrows | None:
    """The structure that a text describes; None if it is none of the known kinds."""
    found = _recognised(text, path)
    if found is not None:
        found.require_no_cycle()
    return found


def _recognised(text: str, path: str | None) -> Arrows | None:
    if found := _MODEL_STRING.match(text):
        if found.end() < len(text):
            raise FormatError(f"This model string is not complete: `{text[found.end() :].strip()[:60]}`.", path)
        return _model_string(text, path)
    body = _COMMENT.sub(lambda match: match[1] or "", text)
    if found := _GRAPH.match(body):
        if (found["dot"] or "").lower() == "graph":
            raise FormatError("This graph has no directions: write digraph and ->.", path)
        return _graph(body[found.end() :], path, found["dot"] is not None)
    if found := _EDGES_OF_TETRAD.fullmatch(text):
        lines = [(0, name.strip()) for name in re.split("[;,]", found["nodes"]) if name.strip()]
        edges = enumerate(
            re.split(r"\n\s*\n", found["edges"])[0].splitlines(), text.count("\n", 0, found.start("edges")) + 1
        )
        return _arrow_lines([*lines, *((number, re.sub(r"^\s*\d+\.\s*", "", line)) for number, line in edges)], path)
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not lines:
        return None
    if (columns := _edge_columns(lines[0][1])) is not None:
        return _edge_list(lines[1:], *columns, path)
    lines = [(number, _LINE_COMMENT.sub("", line).strip()) for number, line in lines]
    has_arrow = [_ARROW.search(line) is not None for _, line in lines]
    if any(has_arrow) and all(arrow or " " not in line for (_, line), arrow in zip(lines, has_arrow, strict=True)):
        return _arrow_lines(lines, path)
    return None


def is_graph_object(source: object) -> bool:
    """Whether this is a graph of networkx, or a list of pairs of names: (parent, child)."""
    return type(source).__module__.partition(".")[0] == "networkx" or (
        isinstance(source, list) and bool(source) and all(map(_is_pair, source))
    )


def _is_pair(item: object) -> bool:
    """Whether this is a pair of names, and not of statements, which have blanks."""
    return isinstance(item, tuple) and len(item) == 2 and all(isinstance(e, str) and " " not in e for e in item)


def arrows_of_graph(graph: Any) -> Arrows:
    """The structure of a directed graph of networkx, or of pairs of names."""
    arrows = Arrows()
    if isinstance(graph, list):
        for parent, child in graph:
            arrows.connect([parent], "->", [child])
        arrows.require_no_cycle()
        return arrows
    if not graph.is_directed():
        raise NetworkError("This graph of networkx has no directions. A network needs a DiGraph.")
    for node in graph.nodes:
        arrows.add(str(node))
    if len(arrows.parents) < len(graph.nodes):
        raise NetworkError("Two nodes of this graph have the same name as text. Rename one of them.")
    for parent, child in graph.edges():
        arrows.connect([str(parent)], "->", [str(child)])
    arrows.require_no_cycle()
    return arrows


def _model_string(text: str, path: str | None) -> Arrows:
    """`[A][S][E|A:S]`, as bnlearn's modelstring writes it."""
    arrows = Arrows(path)
    families = [item.partition("|") for item in re.findall(r"\[([^\[\]]+)\]", text)]
    for child, _, _ in families:
        if child.strip() in arrows.parents:
            raise FormatError(f"The model string has {child.strip()} twice.", path)
        arrows.add(child.strip())
    for child, _, given in families:
        for parent in filter(None, map(str.strip, given.split(":"))):
            if parent not in arrows.parents:
                message = f"The model string has {parent} as a parent of {child.strip()}, but no [{parent}] of its own."
                raise FormatError(message, path)
            arrows.connect([parent], "->", [child.strip()])
    return arrows


def _edge_columns(header: str) -> tuple[str, int, int] | None:
    """The separator of an edge list, and the places of the two columns."""
    for separator in (",", ";", "\t"):
        names = [name.strip().strip('"').lower() for name in header.split(separator)]
        for source, target in zip(_SOURCES, _TARGETS, strict=True):
            if source in names and target in names:
                return separator, names.index(source), names.index(target)
    return None


def _edge_list(lines: Sequence[tuple[int, str]], separator: str, source: int, target: int, path: str | None) -> Arrows:
    arrows = Arrows(path)
    for number, line in lines:
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
        if not any(cells):
            continue
        if len(cells) <= max(source, target) or not (cells[source] or cells[target]):
            raise FormatError(f"Expected an arrow, from and to, not `{line[:60]}`.", path, number)
        if cells[source] and cells[target]:
            arrows.connect([cells[source]], "->", [cells[target]], number)
        else:
            arrows.add(cells[source] or cells[target])  # a variable without arrows
    return arrows


def _arrow_lines(lines: Sequence[tuple[int, str]], path: str | None) -> Arrows:
    """Lines such as `a -> b`, `a -> b -> c` and `a, b -> c`, or a variable alone."""
    arrows = Arrows(path)
    for number, line in lines:
        line = line.rstrip(";")
        signs = [match.group() for match in _ARROW.finditer(line)]
        groups = [[_bare(name) for name in part.split(",")] for part in _ARROW.split(line)]
        if not signs:
            arrows.add(_bare(line))
        elif not all(name for group in groups for name in group):
            raise FormatError(f"An arrow needs a variable on both sides, as in a -> b: `{line[:60]}`.", path, number)
        for place, sign in enumerate(signs):
            arrows.connect(groups[place], sign, groups[place + 1], number)
    return arrows


def _bare(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


# DOT and dagitty ------------------------------------------------------------------------------------------------------

Token = tuple[str, str]  # kind ("name", "arrow" or "symbol") and text


def _tokens(text: str, path: str | None) -> Iterator[Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            if not text[position:].strip():
                return
            raise FormatError(f"Expected a name or an arrow in the graph, not `{text[position:].strip()[:40]}`.", path)
        quoted, arrow, symbol, bare, html = match.groups()
        if html is not None:
            yield "name", re.sub("<[^<>]*>", "", html).strip()
        elif quoted is not None:
            yield "name", quoted.replace('\\"', '"')
        elif arrow:
            yield "arrow", arrow
        else:
            yield ("symbol", symbol) if symbol else ("name", bare)
        position = match.end()


@dataclass(slots=True)
class _GraphReader:
    """The statements between the braces of a graph; a group in braces stands for all its variables."""

    tokens: list[Token]
    arrows: Arrows
    is_dot: bool
    place: int = 0
    setting: str = ""  # "edge" after the word in `edge [dir=back]`
    edge_attributes: dict[str, str] = field(default_factory=dict)  # of all arrows that follow
    labels: dict[str, str] = field(default_factory=dict)  # of nodes

    def next(self) -> Token:
        """The next token, which is not skipped."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ("end", "the end")

    def take(self, *symbols: str) -> bool:
        """Skip a symbol if it comes next."""
        kind, text = self.next()
        if kind != "symbol" or text not in symbols:
            return False
        self.place += 1
        return True

    def statements(self) -> list[str]:
        """Read up to the closing brace; the variables that were named."""
        named: list[str] = []
        while not self.take("}"):
            if self.next()[0] == "end":
                self.fail("The graph is not closed with `}`.")
            if not self.take(";", ","):
                named += self.chain()
        return named

    def chain(self) -> list[str]:
        """Variables with arrows between them, such as `a -> {b c}`, and what brackets say of all of them."""
        groups = [self.group()]
        signs: list[str] = []
        while self.next()[0] == "arrow":
            signs.append(self.next()[1])
            self.place += 1
            groups.append(self.group())
        attributes = dict(self.edge_attributes) if signs else {}
        while self.take("["):
            attributes |= self.attributes()
        if not signs:
            if "label" in attributes and len(groups[0]) == 1:
                self.labels[groups[0][0]] = attributes["label"]
            elif self.setting == "edge":
                self.edge_attributes |= attributes
        for place, sign in enumerate(signs):
            if self.is_dot and attributes.get("style") == "invis":
                continue  # only moves the drawing
            drawn = _drawn(attributes) if self.is_dot and sign == "->" else sign
            self.arrows.connect(groups[place], drawn, groups[place + 1])
        return [name for group in groups for name in group]

    def group(self) -> list[str]:
        """A variable or a group in braces; nothing for a setting such as `rankdir=LR` or `node [shape=box]`."""
        self.setting = ""
        if self.take("{"):
            return self.statements()
        kind, name = self.next()
        if kind != "name":
            self.fail(f"Expected a variable in the graph, not `{name}`.")
        self.place += 1
        if name.lower() == "subgraph":
            if self.next()[0] == "name":
                self.place += 1
            return self.statements() if self.take("{") else []
        if self.take("="):
            self.place += 1
            return []
        if name.lower() in ("node", "edge", "graph") and self.next() == ("symbol", "["):
            self.setting = name.lower()
            return []
        if self.is_dot or name.partition(":")[0] in self.arrows.parents:
            name = name.partition(":")[0]
        self.arrows.add(name)
        return [name]

    def attributes(self) -> dict[str, str]:
        """The settings up to the bracket that closes."""
        found: dict[str, str] = {}
        while not self.take("]"):
            kind, name = self.next()
            if kind == "end":
                self.fail("A bracket `[` of the graph is not closed.")
            self.place += 1
            if kind == "name" and self.take("="):
                found[name.lower()] = self.next()[1]
                self.place += 1
        return found

    def fail(self, message: str) -> NoReturn:
        """Raise an error about the file."""
        raise FormatError(message, self.arrows.path)


def _drawn(attributes: Mapping[str, str]) -> str:
    """The arrow as DOT draws `a -> b` with these attributes: `dir=back` turns it, `arrowhead=none` leaves a line."""
    which = attributes.get("dir", "forward")
    ends = [
        attributes.get(end, "normal") if which in (direction, "both") else "none"
        for end, direction in (("arrowtail", "back"), ("arrowhead", "forward"))
    ]
    if any("dot" in end for end in ends):  # a circle: the end is not known
        return "o->"
    tail, head = (end != "none" for end in ends)
    return {(False, True): "->", (True, False): "<-", (True, True): "<->"}.get((tail, head), "--")


def _graph(body: str, path: str | None, is_dot: bool) -> Arrows:
    arrows = Arrows(path)
    reader = _GraphReader(list(_tokens(body, path)), arrows, is_dot)
    reader.statements()
    if not arrows.parents:
        raise FormatError("The graph has no variable.", path)
    labels = {name: reader.labels.get(name, "") for name in arrows.parents}
    is_numbered = is_dot and all(re.fullmatch(r"(?:[nN](?:ode)?_?)?\d+", name) for name in labels)
    if is_numbered and all(labels.values()) and len(set(labels.values())) == len(labels):
        families = {labels[name]: [labels[parent] for parent in parents] for name, parents in arrows.parents.items()}
        return Arrows(path, families)  # programs number nodes, and write their names as labels
    return arrows
