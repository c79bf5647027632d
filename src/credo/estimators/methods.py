"""Which methods there are, what each is for, and which one `auto` takes."""

from __future__ import annotations

from dataclasses import dataclass

from credo.errors import OptionError, suggestion


@dataclass(frozen=True, slots=True)
class Method:
    """One line of the table that `credo methods` prints."""

    name: str
    title: str
    when: str
    default_prior: float  # pseudo-count that is added where the user gives no prior
    takes_prior: bool


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("ml", "maximum likelihood", "many data in every row of every table", 0.0, takes_prior=False),
        Method(
            "map", "counts and a prior's pseudo-counts", "few data, and no knowledge but a prior", 1.0, takes_prior=True
        ),
    )
}
AUTO = "map"


def choose_method(name: str) -> Method:
    """The method of that name; `auto` is the one that suits most."""
    if name == "auto":
        return METHODS[AUTO]
    if name not in METHODS:
        raise OptionError(f'There is no method "{name}".{suggestion(name, ("auto", *METHODS))}')
    return METHODS[name]
