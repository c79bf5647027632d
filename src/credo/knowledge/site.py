"""Sites: the column that says where a row comes from, and which CPTs differ from site to site."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from credo.knowledge.mistakes import LineMistake
from credo.knowledge.names import Part, checked_name, checked_names, joined, mistake_at, name_text, repeated_names
from credo.knowledge.statement_base import Reported, Span, StatementBase, line_text


@dataclass(frozen=True, slots=True)
class SiteDeclaration(StatementBase):
    """`site: hospital`, or `site: hospital for lung, bronc`: CPTs differ from site to site around a common one.

    Attributes
    ----------
    column
        The column that says where a row comes from; it is no variable.
    variables
        Whose CPTs differ; all, if it is empty.
    span
        Where it is written; None for one that was made in Python.
    """

    column: str
    variables: tuple[str, ...] = ()
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        named = f" for {', '.join(name_text(name) for name in self.variables)}" if self.variables else ""
        return f"site: {name_text(self.column)}{named}"


def site(column: str, variables: Iterable[str] = ()) -> SiteDeclaration:
    """Say which column names the site of a row: `site: hospital`.

    Parameters
    ----------
    column : str
        The column, which is no variable.
    variables : iterable of str, optional
        The variables whose CPTs differ from site to site; all, if not given.

    Returns
    -------
    SiteDeclaration
        The declaration; `credo.fit_sites` learns each site.

    Raises
    ------
    KnowledgeError
        If a name is not a text, or `variables` is not a list.

    Examples
    --------
    >>> import credo
    >>> print(credo.site("hospital", ["lung"]))
    site: hospital for lung
    """
    return SiteDeclaration(checked_name(column), checked_names(variables))


def parse_site(children: list[Any]) -> Part:
    """`SITE name (FOR names)?`."""
    parts = [child for child in children if isinstance(child, Part)]
    column, named = parts[0], parts[1].value if len(parts) > 1 else ()
    mistakes: tuple[LineMistake, ...] = repeated_names(named, "declared-twice")
    mistakes += tuple(mistake_at(name, "empty-name") for name in (column.value, *named) if not name)
    return joined(SiteDeclaration(column.value, tuple(named)), parts, mistakes)


def declared_site(declarations: Iterable[object]) -> SiteDeclaration | None:
    """The declaration of sites among others, if there is one."""
    return next((each for each in declarations if isinstance(each, SiteDeclaration)), None)


def site_mistakes(declarations: Sequence[object], variables: Iterable[str]) -> Iterator[Reported]:
    """Two declarations of sites that differ, and a site that is a variable."""
    first, known = declared_site(declarations), {str(name) for name in variables}
    for each in declarations:
        if not isinstance(each, SiteDeclaration):
            continue
        if each != first:
            yield each, mistake_at(each.column, "site-otherwise", before=str(first), place=line_text(first))
        elif str(each.column) in known:
            yield each, mistake_at(each.column, "site-is-variable", name=name_text(each.column))
