"""What every learner was given, as tables to read: features, statements, reasons, and what all rows say of them."""

from __future__ import annotations

from experiments.yang.domains import Domain
from experiments.yang.rows import Rows


def domain_table(domain: Domain, rows: Rows) -> str:
    """The features of a domain, each with its statement, its reason and what the rows say; then what acts together."""
    lines = [
        f"\n### {domain.name}\n",
        f"`{domain.target}`: {domain.column} is {' or '.join(domain.positive)}; {len(rows)} rows, "
        f"{int(rows.target.sum())} of them positive"
        + (f"; without {', '.join(domain.without)}" if domain.without else "")
        + ".\n",
        "| feature | is high where | said | why | rows say |",
        "|---|---|---|---|---|",
    ]
    for feature in domain.features:
        seen = _seen(rows, feature.name, feature.effect)
        lines.append(f"| {feature.name} | {feature.rule} | {feature.effect} | {feature.why} | {seen} |")
    acting = [f"- {' and '.join(each.names)} {each.how}: {each.why}." for each in domain.groups if each.how]
    return "\n".join([*lines, "", *acting, f"- `{domain.noisy}`"])


def contradicted(domain: Domain, rows: Rows) -> list[str]:
    """The features whose effect, other features left aside, goes the other way in all rows together."""
    return [
        feature.name
        for feature in domain.features
        if _effect(rows, feature.name) * (1 if feature.effect == "raises" else -1) < 0
    ]


def _effect(rows: Rows, name: str) -> float:
    high = rows.features[name].to_numpy() == 1
    return float(rows.target[high].mean() - rows.target[~high].mean())


def _seen(rows: Rows, name: str, effect: str) -> str:
    found = _effect(rows, name)
    against = found * (1 if effect == "raises" else -1) < 0
    return f"**{found:+.2f}, the other way**" if against else f"{found:+.2f}"
