"""The input of the learners as readable tables: features, statements, reasons, and the effects in the data."""

from __future__ import annotations

from experiments.yang.domain_data import Rows
from experiments.yang.domains import Domain


def domain_table(domain: Domain, rows: Rows) -> str:
    """The features of a domain, each with its statement, its reason and its effect in the data; then the synergies."""
    lines = [
        f"\n### {domain.name}\n",
        f"`{domain.target}`: {domain.column} is {' or '.join(domain.positive)}; {len(rows)} rows, "
        f"{int(rows.target.sum())} of them positive"
        + (f"; without {', '.join(domain.without)}" if domain.without else "")
        + ".\n",
        "| feature | is high if | statement | reason | effect in the data |",
        "|---|---|---|---|---|",
    ]
    for feature in domain.features:
        seen = _effect_text(rows, feature.name, feature.effect)
        lines.append(f"| {feature.name} | {feature.rule} | {feature.effect} | {feature.why} | {seen} |")
    synergies = [f"- {' and '.join(group.names)} {group.how}: {group.why}." for group in domain.groups if group.how]
    return "\n".join([*lines, "", *synergies, f"- `{domain.noisy}`"])


def contradicted(domain: Domain, rows: Rows) -> list[str]:
    """The features whose marginal effect in all rows together has the opposite sign of the statement."""
    return [
        feature.name
        for feature in domain.features
        if _effect(rows, feature.name) * (1 if feature.effect == "raises" else -1) < 0
    ]


def _effect(rows: Rows, name: str) -> float:
    high = rows.features[name].to_numpy() == 1
    return float(rows.target[high].mean() - rows.target[~high].mean())


def _effect_text(rows: Rows, name: str, effect: str) -> str:
    found = _effect(rows, name)
    against = found * (1 if effect == "raises" else -1) < 0
    return f"**{found:+.2f}, opposite sign**" if against else f"{found:+.2f}"
