"""Changes to the declarations in a text: variables, arcs, states and cut points, as a drawing makes them.

Each function takes a text and returns a new one. Comments, order and spacing of all other lines stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from credo.errors import NetworkError, counted, first_duplicate
from credo.knowledge.decisions import CostDeclaration, DecisionDeclaration, UtilityDeclaration
from credo.knowledge.declarations import CutDeclaration, Declaration, DependenceDeclaration, VariableDeclaration
from credo.knowledge.knowledge import raise_mistakes
from credo.knowledge.labels import GroupDeclaration, LabelDeclaration
from credo.knowledge.names import name_text, state_text, without_comment
from credo.knowledge.parse import Parsed, parse
from credo.knowledge.site import SiteDeclaration
from credo.knowledge.state_order import Order
from credo.knowledge.statements import Statement, arcs_of, mentions_in, to_text
from credo.knowledge.structure import structure_of
from credo.model.graphs import ancestors
from credo.model.network import Network

LEFT_OUT = "# left out: "
Rewrite = Callable[[Declaration], Sequence[Declaration]]


def declarations_of(network: Network) -> str:
    """A text that declares the variables of a network: their states, cut points and arcs.

    Parameters
    ----------
    network : Network
        The network; its CPTs are not part of the text.

    Returns
    -------
    str
        A declaration a line, for `credo.declared_network`.

    Examples
    --------
    >>> import credo
    >>> print(declarations_of(credo.Network({"a": ["no", "yes"], "b": ["0", "1"]}, {"b": ["a"]})))
    variable a: no, yes
    variable b: 0, 1
    b depends on a
    """
    lines: list[Declaration] = []
    for variable in network.variables:
        if variable.cuts is None:
            lines.append(VariableDeclaration((variable.name,), variable.states))
        else:
            lines.append(CutDeclaration(variable.name, tuple(variable.cuts.points), variable.states))
    for name in network.order:
        if network.parents[name]:
            lines.append(DependenceDeclaration((name,), network.parents[name]))
    return "\n".join(map(to_text, lines))


def add_variable(text: str, name: str, states: Sequence[str] = ()) -> str:
    """Declare a variable that the text does not name yet; without states, they are taken from the table."""
    _require_new_name(text, name)
    _check_states(name, states)
    return _with_line(text, VariableDeclaration((name,), tuple(states)))


def _require_new_name(text: str, name: str) -> None:
    if not name.strip():
        raise NetworkError("A variable needs a name.")
    if name in names_in(text):
        raise NetworkError(f"There is a variable {name} already.")


def rename_variable(text: str, old: str, new: str) -> str:
    """Give a variable another name, in declarations and in statements."""
    parsed = _parsed(text)
    if old == new:
        return text
    _require_new_name(text, new)
    places: dict[int, set[tuple[int, int]]] = {}
    for statement, name in _mentions(parsed, old):
        assert statement.span is not None
        column, end = getattr(name, "column", 0), getattr(name, "end_column", 0)
        if column:
            places.setdefault(statement.span.line, set()).add((column, end))
    lines = text.split("\n")
    for number, found in places.items():
        for column, end in sorted(found, reverse=True):
            line = lines[number - 1]
            lines[number - 1] = line[: column - 1] + name_text(new) + line[end - 1 :]
    return "\n".join(lines)


def remove_variable(text: str, name: str) -> str:
    """Take a variable out of all declarations; statements about it stay as comments."""
    parsed = _parsed(text)
    declared = {each.span.line for each in parsed.declarations if each.span is not None}
    about = {statement.span.line for statement, _ in _mentions(parsed, name) if statement.span is not None}
    kept = _left_out(text, about - declared)

    def without(declaration: Declaration) -> Sequence[Declaration]:
        if isinstance(declaration, CutDeclaration | LabelDeclaration):
            return () if declaration.variable == name else (declaration,)
        if isinstance(declaration, DecisionDeclaration | UtilityDeclaration | CostDeclaration):
            return () if name in declaration.variables else (declaration,)
        if isinstance(declaration, VariableDeclaration | GroupDeclaration):
            rest = _without(declaration.variables, name)
            return (replace(declaration, variables=rest),) if rest else ()
        if isinstance(declaration, SiteDeclaration) and name in declaration.variables:
            rest = _without(declaration.variables, name)
            return (replace(declaration, variables=rest),) if rest else ()
        if not isinstance(declaration, DependenceDeclaration):
            return (declaration,)
        children, parents = _without(declaration.children, name), _without(declaration.parents, name)
        if children and not parents:  # they are variables still
            return (VariableDeclaration(children),)
        return (replace(declaration, children=children, parents=parents),) if children else _declared(parents)

    return _without_needless(_rewritten(kept, without))


def add_arc(text: str, parent: str, child: str) -> str:
    """Make one variable depend on another."""
    parsed = _parsed(text)
    structure, _ = structure_of(parsed.declarations, parsed.statements)
    if parent == child:
        raise NetworkError(f"{child} cannot depend on itself.")
    if parent in structure.parents.get(child, ()):
        raise NetworkError(f"{child} depends on {parent} already.")
    if child in ancestors(structure.parents, [parent]):
        raise NetworkError(f"{parent} depends on {child}: an arrow back would close a cycle.")
    for declaration in parsed.declarations:
        if isinstance(declaration, DependenceDeclaration) and declaration.children == (child,):
            assert declaration.span is not None
            lines = text.split("\n")
            line = lines[declaration.span.line - 1]
            end = len(without_comment(line).rstrip().rstrip("."))
            lines[declaration.span.line - 1] = f"{line[:end]}, {name_text(parent)}{line[end:]}"
            return "\n".join(lines)
    return _with_line(text, DependenceDeclaration((child,), (parent,)))


def remove_arc(text: str, parent: str, child: str) -> str:
    """Make one variable independent of another; statements that need the arc stay as comments."""
    about = {each.span.line for each in parse(text).statements if each.span and (parent, child) in arcs_of(each)}
    found = False

    def without(declaration: Declaration) -> Sequence[Declaration]:
        nonlocal found
        is_arc = isinstance(declaration, DependenceDeclaration) and child in declaration.children
        if not is_arc or parent not in declaration.parents:  # type: ignore[union-attr]
            return (declaration,)
        assert isinstance(declaration, DependenceDeclaration)
        found = True
        others, rest = _without(declaration.children, child), _without(declaration.parents, parent)
        kept: list[Declaration] = [VariableDeclaration((child,))]
        if rest:
            kept = [replace(declaration, children=(child,), parents=rest)]
        if not others and not rest:
            kept.append(VariableDeclaration((parent,)))
        return [*([replace(declaration, children=others)] if others else []), *kept]

    changed = _rewritten(_left_out(text, about), without)
    if not found:
        raise NetworkError(f"No line says that {child} depends on {parent}.")
    return _without_needless(changed)


def set_states(text: str, name: str, states: Sequence[str]) -> str:
    """Declare the states of a variable, in this order; cut points of it are dropped."""
    _check_states(name, states)
    if len(states) < 1:
        raise NetworkError(f"{name} needs at least one state.")
    return _declared_anew(text, name, VariableDeclaration((name,), tuple(states)))


def set_cuts(text: str, name: str, points: Sequence[float], states: Sequence[str] = ()) -> str:
    """Declare where the numbers of a variable are cut; states, if they are named, are one more than points."""
    _check_states(name, states)
    if not points or any(low >= high for low, high in pairwise(points)):
        raise NetworkError(f"The cut points of {name} are numbers in ascending order.")
    if states and len(states) != len(points) + 1:
        cuts = f"{counted(len(points), 'cut point')} make{'s' if len(points) == 1 else ''}"
        raise NetworkError(f"{cuts} {len(points) + 1} states of {name}, not {len(states)}.")
    return _declared_anew(text, name, CutDeclaration(name, tuple(map(float, points)), tuple(states)))


def names_in(text: str) -> tuple[str, ...]:
    """The variables that a text names, in declarations and statements; lines with mistakes are skipped."""
    parsed = parse(text)
    structure, _ = structure_of(parsed.declarations, parsed.statements)
    return tuple(dict.fromkeys((*structure.mentions, *mentions_in(parsed.statements))))


# Parts ----------------------------------------------------------------------------------------------------------------


def _parsed(text: str) -> Parsed:
    """The text, in which no line may have a mistake: what it means would not be known."""
    parsed = parse(text)
    raise_mistakes(parsed.mistakes)
    return parsed


def _mentions(parsed: Parsed, name: str) -> list[tuple[Statement | Declaration, str]]:
    structure, _ = structure_of(parsed.declarations)
    return [*structure.mentions.get(name, ()), *mentions_in(parsed.statements).get(name, ())]


def _left_out(text: str, numbers: Collection[int]) -> str:
    """The text with some of its lines as comments."""
    lines = text.split("\n")
    return "\n".join(LEFT_OUT + line.lstrip() if number in numbers else line for number, line in enumerate(lines, 1))


def _without(names: Iterable[str], left_out: str) -> tuple[str, ...]:
    return tuple(each for each in names if each != left_out)


def _declared(names: Sequence[str]) -> Sequence[Declaration]:
    return (VariableDeclaration(tuple(names)),) if names else ()


def _check_states(name: str, states: Sequence[str]) -> None:
    if any(not state.strip() for state in states):
        raise NetworkError(f"A state of {name} has no name.")
    if (duplicate := first_duplicate(states)) is not None:
        raise NetworkError(f"{name} has the state {duplicate} twice.")


def _with_line(text: str, declaration: Declaration) -> str:
    """A declaration after the last one, or before the first line that is not a comment."""
    lines = text.split("\n")
    last = max((each.span.line for each in parse(text).declarations if each.span is not None), default=0)
    if not last:
        while last < len(lines) and lines[last].startswith("#"):
            last += 1
        if not text.strip():
            return to_text(declaration) + "\n"
    return "\n".join([*lines[:last], to_text(declaration), *lines[last:]])


def _rewritten(text: str, rewrite: Rewrite) -> str:
    """Each declaration replaced by others; lines whose declaration stays as it is are not touched."""
    lines: list[str | None] = list(text.split("\n"))
    for declaration in parse(text).declarations:
        assert declaration.span is not None
        fresh = rewrite(declaration)
        if list(fresh) == [declaration]:
            continue
        number = declaration.span.line - 1
        line = lines[number] or ""
        comment = line[len(without_comment(line)) :]
        written = [to_text(each) for each in fresh]
        if comment and written:
            written[0] += f"  {comment}"
        lines[number] = "\n".join(written) if written else (comment or None)
    return "\n".join(line for line in lines if line is not None)


def _without_needless(text: str) -> str:
    """Without declarations of a name alone where other lines name it, too."""
    parsed = parse(text)
    structure, _ = structure_of(parsed.declarations, parsed.statements)
    stated = mentions_in(parsed.statements)

    lines = {name: {each.span.line for each, _ in found if each.span} for name, found in structure.mentions.items()}

    def needed(declaration: Declaration) -> Sequence[Declaration]:
        if not isinstance(declaration, VariableDeclaration) or declaration.states:
            return (declaration,)
        assert declaration.span is not None
        needless = [name for name in declaration.variables if name in stated or lines[name] != {declaration.span.line}]
        for name in needless:
            lines[name].discard(declaration.span.line)  # so that one of two such lines stays
        rest = tuple(name for name in declaration.variables if name not in needless)
        return (replace(declaration, variables=rest),) if rest else ()

    return _rewritten(text, needed)


def _declared_anew(text: str, name: str, fresh: VariableDeclaration | CutDeclaration) -> str:
    """The text with one declaration of a variable's states in place of what it said about them before."""
    parsed = _parsed(text)
    placed = False

    def replaced(declaration: Declaration) -> Sequence[Declaration]:
        nonlocal placed
        if isinstance(declaration, VariableDeclaration) and name in declaration.variables:
            rest = _without(declaration.variables, name)
            own = () if placed else (fresh,)
            placed = True
            return (*((replace(declaration, variables=rest),) if rest else ()), *own)
        if isinstance(declaration, CutDeclaration) and declaration.variable == name:
            own = () if placed else (fresh,)
            placed = True
            return own
        return (declaration,)

    changed = _rewritten(text, replaced)
    orders = [each for each in parsed.statements if isinstance(each, Order) and each.variable == name]
    if orders and isinstance(fresh, VariableDeclaration):  # the order of the list is now the order of the states
        lines = changed.split("\n")
        for each in orders:
            assert each.span is not None
            words = each.span.text.strip()
            lines = [LEFT_OUT + line.lstrip() if line.strip() == words else line for line in lines]
        changed = "\n".join(lines)
    return changed if placed else _with_line(changed, fresh)


def statement_text(kind: str, *, parent: str = "", child: str = "") -> str:
    """A statement about an arc, as a click makes it: `raises`, `lowers` or `does not affect`."""
    if kind not in ("raises", "lowers", "does not affect"):
        raise NetworkError(f"“{kind}” is not a verb of a statement about an arrow.")
    return f"{name_text(parent)} {kind} {name_text(child)}"


def event_text(network: Network, name: str, state: str | None, given: Mapping[str, str]) -> str:
    """A probability as the language writes it; without a state, the whole distribution of the variable."""
    if state is not None and state not in network.states(name):
        raise NetworkError(f'{name} has no state "{state}".')
    event = name_text(name) if state is None else f"{name_text(name)}={state_text(state)}"
    conditions = ", ".join(f"{name_text(each)}={state_text(value)}" for each, value in given.items())
    return f"P({event} | {conditions})" if conditions else f"P({event})"


def probability_text(
    network: Network, name: str, state: str, given: dict[str, str], low: float, high: float, about: float | None = None
) -> str:
    """A statement about one number of a CPT, or about any probability, as dragging its bounds makes it."""
    probability = event_text(network, name, state, given)
    if about is not None:
        return f"{probability} is about {percent_text(about)}"
    if low <= 0.0 and high >= 1.0:
        raise NetworkError("From 0% to 100% is every probability: there is nothing to state.")
    if low > high:
        raise NetworkError("The lower bound is above the upper one.")
    if low <= 0.0:
        return f"{probability} is at most {percent_text(high)}"
    if high >= 1.0:
        return f"{probability} is at least {percent_text(low)}"
    if low == high:
        return f"{probability} = {percent_text(low)}"
    return f"{probability} is between {percent_text(low)} and {percent_text(high)}"


def percent_text(value: float) -> str:
    """A probability in percent, as statements that were clicked have it."""
    return f"{100 * value:.4g}%"
